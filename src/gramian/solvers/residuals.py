"""Minimal residuals: symmetric systems that may be indefinite or singular, by products alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg

from gramian.config import one_blas_thread
from gramian.operators import Operator
from gramian.progress import Tracker, track
from gramian.results import Array
from gramian.solvers.systems import OVERFLOW, Found, lengths, negligible, origin


@dataclass(frozen=True)
class MinimalResiduals:
    r"""Solve ``(A + shift I) X = B`` for any symmetric A.

    Definition
    ----------
    .. math:: x_k = \arg\min_x |b - (A + \lambda I) x|, \qquad x \in \mathrm{span}\{b, Ab, \dots, A^{k-1} b\}

    Parameters
    ----------
    tol : float
        Largest relative residual of each column, in double precision.
    max_iter : int
        Products before giving up; the residuals then say how far it came.

    Cost
    ----
    A product in double precision an iteration, memory for ``7 q`` vectors. Nothing preconditions it: small ridges need
    many iterations.

    References
    ----------
    Paige, Saunders, Solution of sparse indefinite systems of linear equations, SIAM Journal on Numerical Analysis 1975.
    """

    tol: float = 1e-6
    max_iter: int = 1_000

    name: ClassVar[str] = "minres"

    def solve(
        self, operator: Operator, B: Array, shift: float, rng: np.random.Generator, null: Array | None = None
    ) -> Found:
        sizes = lengths(B)
        X, R, spent, lowest, singular, largest = np.zeros_like(B), B / sizes, 0, np.inf, False, 0.0
        with one_blas_thread(), track("linear system", expected=50) as tracker:
            worst = np.inf
            while spent < self.max_iter:
                left = lengths(R, zero=0.0)
                if left.max(initial=0.0) <= self.tol or left.max() > 0.5 * worst or singular:
                    break
                worst = left.max()
                # A correction to what is left: rounding of the short recurrences is then no longer felt.
                step, count, ritz, stuck = self._sweep(operator, R, shift, self.max_iter - spent, tracker)
                spent, lowest = spent + count + 1, min(lowest, ritz[0])
                singular, largest = singular or stuck, max(largest, float(np.abs(ritz).max()))
                rest = B / sizes - (operator @ (X + step) + shift * (X + step))
                # Beyond rounding the recurrences may lead away: what is no better is not taken.
                better = lengths(rest, zero=0.0) < left
                X, R = np.where(better, X + step, X), np.where(better, rest, R)
        singular = singular and bool(lengths(R, zero=0.0).max(initial=0.0) > self.tol)
        converged = singular or bool(lengths(R, zero=0.0).max(initial=0.0) <= self.tol)
        largest = max(largest, origin(operator))
        seen = lowest < -negligible(operator.n, largest, shift)
        reason = f"max_iter={self.max_iter} reached" if spent >= self.max_iter else "the residual falls no further"
        return Found(
            X * sizes,
            products=f"{spent} products in float64",
            converged=converged,
            stopped="" if converged else reason,
            singular=singular,
            largest=largest,
            n_negative=int(seen),
            most_negative=-lowest if seen else 0.0,
            counted=False,
        )

    def _sweep(
        self, operator: Operator, R: Array, shift: float, limit: int, tracker: Tracker
    ) -> tuple[Array, int, Array, bool]:
        """Run the recurrences; return the correction, the products, eigenvalues seen, and whether A sees no more."""
        left = lengths(R, zero=0.0)
        X, V, V_old = np.zeros_like(R), R / np.where(left > 0, left, 1.0), np.zeros_like(R)
        W, W_old = np.zeros_like(R), np.zeros_like(R)
        beta, bar, d, e = np.zeros_like(left), left.copy(), np.zeros_like(left), np.zeros_like(left)
        c, s, stuck, first = -np.ones_like(left), np.zeros_like(left), left == np.inf, int(left.argmax())
        diagonal, beside, eps, size = [], [], float(np.finfo(np.float64).eps), np.zeros_like(left)
        floor = operator.n * eps * origin(operator)
        for count in range(1, limit + 1):
            P = operator @ V + shift * V
            alpha = np.einsum("ij,ij->j", V, P)
            if not np.isfinite(alpha).all():
                raise ValueError(OVERFLOW)
            P -= alpha * V + beta * V_old
            beta = lengths(P, zero=0.0)
            diagonal.append(alpha[first] - shift)
            beside.append(beta[first])
            # One plane rotation a step keeps the tridiagonal matrix triangular.
            e_old, delta, g = e, c * d + s * alpha, s * d - c * alpha
            e, d = s * beta, -c * beta
            size = np.maximum(size, np.abs(alpha) + beta)
            # |A r| next to nothing: this is least squares, and further steps would stir the null space.
            stuck |= (shift == 0) & (np.hypot(g, d) <= np.maximum(0.1 * self.tol * size, floor))
            gamma = np.hypot(g, beta)
            alive = gamma > eps * (np.abs(alpha) + np.abs(delta) + beta)  # else the column has nowhere left to go
            gamma = np.where(alive, gamma, 1.0)
            c, s = np.where(alive, g / gamma, 0.0), np.where(alive, beta / gamma, 1.0)
            W, W_old = np.where(alive, (V - e_old * W_old - delta * W) / gamma, 0.0), W
            X += np.where(stuck, 0.0, c * bar * W)
            bar = s * bar
            tracker.advance(count + 10)
            done = stuck | (np.abs(bar) <= 0.5 * self.tol) | (beta <= eps * (np.abs(alpha) + np.abs(delta)))
            if done.all():
                break
            V_old, V = V, P / np.where(beta > 0, beta, 1.0)
        ritz = scipy.linalg.eigvalsh_tridiagonal(np.array(diagonal), np.array(beside[:-1]))
        return X, count, ritz, bool(stuck.any())
