"""Methods for symmetric linear systems: Cholesky or spectrum of the dense matrix, and minimal residuals by products."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np
import scipy.linalg

from gramian import lapack
from gramian.config import one_blas_thread, pinned_if_small, within_budget
from gramian.engine.tiles import spans
from gramian.operators import Operator
from gramian.progress import Tracker, part_done, track
from gramian.results import Array, SolverTrace
from gramian.solvers.dense import CholeskyFactor, NotPositive

OVERFLOW = "the linear system overflows double precision. Divide X and y by constants, or standardise their columns."
#: Largest relative residual of a converged solution, where the solver has no tolerance of its own.
ACCEPTED_RESIDUAL = 1e-6
#: Largest matrix whose whole spectrum is computed for a linear system.
SPECTRUM_LIMIT = 4_000
#: Rows up to which negative eigenvalues are counted.
COUNT_NEGATIVE_MAX_ROWS = 2_000
#: Relative residual above which a Cholesky factor is mostly rounding.
CHOLESKY_MAX_RESIDUAL = 1e-3
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Found:
    """A solution as a solver found it.

    ``deleted``: ``x_i / (M^-1)_ii``: what row i of the right side lacks if the system is solved without row and column
    i; NaN where that is not determined, None where the inverse was not at hand. ``singular``, ``rank``: whether the
    matrix was found to be singular, so that this is a solution of least squares, and its rank if known. ``largest``:
    size of the largest eigenvalue, if known. ``left``: ``B - (A + shift I) X`` in double precision if the solver has
    it, so that the certificate costs nothing more. ``instead``: how it was solved if not by the solver's own way, and
    why. ``n_negative``, ``most_negative``, ``counted``: negative eigenvalues met of A, the size of the largest of them,
    and whether these are all there are.
    """

    solution: Array
    products: str = ""
    converged: bool = True
    stopped: str = ""
    deleted: Array | None = None
    singular: bool = False
    rank: int | None = None
    largest: float = 0.0
    left: Array | None = None
    instead: tuple[str, str] | None = None
    n_negative: int = 0
    most_negative: float = 0.0
    counted: bool = True


@dataclass(frozen=True, kw_only=True)
class LinearSolution(Found):
    """Solution of ``(A + shift I) X = B`` with its certificate.

    ``residuals`` (q,): ``|b - (A + shift I) x| / |b|`` in double precision; of the normal equations if the matrix is
    singular.
    """

    residuals: Array
    trace: SolverTrace


class LinearSolver(Protocol):
    """Solves ``(A + shift I) X = B`` for a symmetric operator."""

    name: ClassVar[str]

    def solve(
        self, operator: Operator, B: Array, shift: float, rng: np.random.Generator, null: Array | None = None
    ) -> Found:
        """Return a solution; ``null`` holds orthonormal columns known to be orthogonal to A and B."""
        ...


#: Sums of squares between this and its inverse have neither overflowed nor lost digits.
LEAST_SQUARE = 1e-200


def lengths(V: Array, *, zero: float = 1.0) -> Array:
    """Lengths of columns without overflow; ``zero`` for those of length 0."""
    squares = np.einsum("ij,ij->j", V, V)
    if squares.min(initial=1.0) > LEAST_SQUARE and squares.max(initial=1.0) < 1 / LEAST_SQUARE:
        return np.sqrt(squares)
    largest = np.abs(V).max(axis=0, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    size = scale * np.linalg.norm(V / scale, axis=0)
    return np.where(largest > 0, size, zero)


def negligible(n: int, largest: float, shift: float) -> float:
    """Size up to which a negative eigenvalue of A is rounding, or does not show beside the shift."""
    return n * np.finfo(np.float64).eps * largest + 1e-4 * shift


def origin(operator: Operator) -> float:
    """Size of the entries before a projection, where the operator knows it: their rounding remains after it."""
    return float(getattr(operator, "origin", 0.0))


@dataclass(frozen=True)
class Cholesky:
    r"""Form the matrix and factor it: ``A + shift I = LL'``.

    Where that fails, because A is indefinite or singular to rounding, the eigenvalues decide: the solution is that of
    least squares, of least norm, and up to 4,000 rows.

    Parameters
    ----------
    inverse : bool
        Whether to compute the diagonal of the inverse, which gives the leave-one-out residuals.

    Cost
    ----
    ``n^3 / 3`` multiplications and additions, twice with leave-one-out residuals; ``8 n^2`` bytes.
    """

    inverse: bool = True

    name: ClassVar[str] = "cholesky"

    def solve(
        self, operator: Operator, B: Array, shift: float, rng: np.random.Generator, null: Array | None = None
    ) -> Found:
        with track("factorisation", expected=2) as tracker:
            A, level = _lifted(operator, null)
            try:
                A[np.diag_indices(operator.n)] += shift
                least = operator.n * EPS * np.maximum(A.diagonal(), origin(operator))
                with one_blas_thread():
                    factor = CholeskyFactor(A, part_done)
                    if (factor.pivots() <= least).any():
                        raise NotPositive("a pivot is no more than rounding")
                    tracker.advance(2)
                    X = factor.solve(B)
                    # One step of iterative refinement removes the rounding of the tiles.
                    X += factor.solve(B - (operator @ X + shift * X))
                    left = B - (operator @ X + shift * X)
                    if (
                        operator.n <= SPECTRUM_LIMIT
                        and (lengths(left, zero=0.0) > CHOLESKY_MAX_RESIDUAL * lengths(B)).any()
                    ):
                        raise NotPositive("the factor is mostly rounding")
                    inverse = factor.inverse_diagonal() if self.inverse else None
            except NotPositive:
                return _by_spectrum(operator, B, shift, null)
        share = np.ones(operator.n)
        if null is not None and inverse is not None:
            known = np.einsum("ij,ij->i", null, null)
            share -= known
            inverse -= known / (level + shift)
        deleted = None if inverse is None else _deleted(X, inverse, share)
        number, size = (0, 0.0) if operator.positive else _negative(operator, shift)
        counted = not number or size > 0
        return Found(X, deleted=deleted, left=left, n_negative=number, most_negative=size, counted=counted)


def _lifted(operator: Operator, null: Array | None) -> tuple[Array, float]:
    """The matrix with a level given to its known null space: that of its diagonal, so that nothing cancels."""
    A = operator.toarray()
    level = float(np.abs(A.diagonal()).mean()) or 1.0
    if not np.isfinite(A.sum()):
        raise ValueError(OVERFLOW)
    if null is not None:
        for rows in spans(len(A)):
            A[rows] += level * (null[rows] @ null.T)
    return A, level


def _by_spectrum(operator: Operator, B: Array, shift: float, null: Array | None) -> Found:
    """Least squares of least norm, from all eigenvalues."""
    if operator.n > SPECTRUM_LIMIT:
        raise NotPositive(f"the {operator.n:,} x {operator.n:,} matrix is not positive definite")
    values, V = spectrum(operator, null)
    found = from_spectrum(values, V, B, shift, origin(operator))
    return replace(
        found, instead=("eigenvalues", "there is no Cholesky factor: the matrix is not positive definite to rounding")
    )


def from_spectrum(
    values: Array, V: Array, B: Array, shift: float, size: float = 0.0, squares: Array | None = None
) -> Found:
    """Solve from all eigenpairs.

    ``size`` is that of numbers whose rounding the values hold, if larger than they are; ``squares`` may hold the
    squared eigenvectors for several shifts.
    """
    n = len(V)
    squares = np.square(V) if squares is None else squares
    total = values + shift
    largest = max(float(np.abs(total).max(initial=0.0)), size)
    kept = np.abs(total) > n * EPS * max(largest, float(np.abs(values).max(initial=0.0)))
    inverse = np.where(kept, 1 / np.where(kept, total, 1.0), 0.0)
    with pinned_if_small(n**2 * B.shape[1]):
        C = V.T @ B
        X = V @ (C * inverse[:, None])
        deleted = _deleted(X, squares @ inverse, squares.sum(axis=1))
        if not kept.all():
            # The limit as the ridge goes to zero: the null space decides where row i has a share in it.
            share = squares[:, ~kept].sum(axis=1)[:, None]
            rest = V[:, ~kept] @ C[~kept]
            deleted = np.where(share > 1e-8, rest / np.where(share > 1e-8, share, 1.0), deleted)
    negative = values[values < -negligible(n, max(float(np.abs(values).max(initial=0.0)), size), shift)]
    return Found(
        X,
        deleted=deleted,
        singular=not kept.all(),
        rank=int(kept.sum()),
        largest=largest,
        n_negative=len(negative),
        most_negative=float(-negative.min(initial=0.0)),
    )


def spectrum(operator: Operator, null: Array | None) -> tuple[Array, Array]:
    """All eigenpairs of a symmetric operator, ascending, without those of a known null space."""
    m = 0 if null is None else null.shape[1]
    A, _ = _lifted(operator, None)
    largest = float(np.abs(A).sum(axis=1).max())
    if null is not None:
        # Below all others and all rounding, so that the first m eigenvectors are those of the null space alone.
        below = -2 * max(largest, origin(operator)) or -1.0
        for rows in spans(len(A)):
            A[rows] += below * (null[rows] @ null.T)
    values, V = lapack.eigh(A.T, overwrite=True)
    return values[m:] if largest else np.zeros(len(V) - m), V[:, m:]


def _negative(operator: Operator, shift: float) -> tuple[int, float]:
    """Number of negative eigenvalues of A and the size of the largest; (1, 0) if they exist but were not counted."""
    A = operator.toarray()
    size = origin(operator)
    A[np.diag_indices(operator.n)] += negligible(operator.n, max(float(np.abs(A).sum(axis=1).max()), size), shift)
    try:
        with one_blas_thread():
            CholeskyFactor(A, part_done)
        return 0, 0.0
    except NotPositive:
        if operator.n > COUNT_NEGATIVE_MAX_ROWS:
            return 1, 0.0
    values = lapack.eigvalsh(operator.toarray())
    negative = values[values < -negligible(operator.n, max(float(np.abs(values).max()), size), shift)]
    return len(negative), float(-negative.min(initial=0.0))


def _deleted(X: Array, inverse: Array, share: Array) -> Array:
    """``x_i / (M^-1)_ii``; NaN where a row lies in the null space, so that the rest does not determine it."""
    known = (share > 1e-10) & (inverse != 0)
    return np.where(known[:, None], X / np.where(known, inverse, 1.0)[:, None], np.nan)


def fits(n: int, copies: int = 2) -> bool:
    """Whether dense matrices of that size fit the memory budget."""
    return within_budget(copies * 8 * n**2)


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
                # A correction for the true residual removes the rounding of the short recurrences.
                step, count, ritz, stuck = self._sweep(operator, R, shift, self.max_iter - spent, tracker)
                spent, lowest = spent + count + 1, min(lowest, ritz[0])
                singular, largest = singular or stuck, max(largest, float(np.abs(ritz).max()))
                rest = B / sizes - (operator @ (X + step) + shift * (X + step))
                # At the level of rounding a correction may be worse: only columns that gain take it.
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
        """Run the recurrences; return the correction, the products, Ritz values, and whether this is least squares."""
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
            # |A r| at rounding: this is the least-squares solution, and further steps would only add null space.
            stuck |= (shift == 0) & (np.hypot(g, d) <= np.maximum(0.1 * self.tol * size, floor))
            gamma = np.hypot(g, beta)
            alive = gamma > eps * (np.abs(alpha) + np.abs(delta) + beta)  # else the Krylov space is exhausted
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
