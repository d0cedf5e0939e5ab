"""Quadratic problems in a box by an interior point method, for matrices that can be factored beside a diagonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import DTypeLike

from gramian import lapack
from gramian.engine.product import to_dense
from gramian.results import Array, Matrix

#: Iterations at the most, and iterations without gain before it stops.
INTERIOR_MAX_ITERATIONS, INTERIOR_ITERATIONS_WITHOUT_GAIN = 200, 25
#: Gap between the two objectives, relative to their size, at which it stops.
INTERIOR_GAP = 1e-14


class Factorable(Protocol):
    """A positive matrix Q that can be multiplied, and solved with when a diagonal is added."""

    def __matmul__(self, a: Array) -> Array: ...
    def factor(self, D: Array) -> Callable[[Array], Array]: ...  # solves (Q + diag D) x = r


class Narrow:
    """``ZZ'`` for n x d features Z, dense or CSR: solved by way of a d x d factor."""

    def __init__(self, Z: Matrix) -> None:
        self.Z, self.n = Z, Z.shape[0]

    def diagonal(self) -> Array:
        return np.asarray((self.Z * self.Z).sum(axis=1)).ravel()

    def block(self, chosen: Array, out: Array) -> Array:
        rows = self.Z[chosen]
        out[...] = to_dense(rows @ rows.T)
        return out

    def product(self, chosen: Array, V: Array, dtype: DTypeLike) -> Array:
        return np.asarray(self.Z @ (self.Z[chosen].T @ V), dtype=np.float64)

    def __matmul__(self, a: Array) -> Array:
        return np.asarray(self.Z @ (self.Z.T @ a))

    def factor(self, D: Array) -> Callable[[Array], Array]:
        scaled = sp.csr_array(sp.diags_array(1 / D) @ self.Z) if sp.issparse(self.Z) else self.Z / D[:, None]
        inner = to_dense(self.Z.T @ scaled)
        inner[np.diag_indices(len(inner))] += 1
        found = (lapack.cholesky(inner, lower=True), True)
        return lambda r: r / D - scaled @ scipy.linalg.cho_solve(found, scaled.T @ r, check_finite=False)


def rows_times(y: Array, Z: Matrix) -> Matrix:
    """``diag(y) Z``."""
    return sp.csr_array(sp.diags_array(y) @ Z) if sp.issparse(Z) else y[:, None] * Z


class Whole:
    """A matrix held in memory."""

    def __init__(self, Q: Array) -> None:
        self.Q = Q

    def __matmul__(self, a: Array) -> Array:
        return self.Q @ a

    def factor(self, D: Array) -> Callable[[Array], Array]:
        Q = self.Q.copy()
        Q[np.diag_indices(len(Q))] += D
        found = (lapack.cholesky(Q, lower=True), True)
        return lambda r: scipy.linalg.cho_solve(found, r, check_finite=False)


def interior_point(Q: Factorable, C: Array, tick: Callable[[], None]) -> tuple[Array, int]:
    r"""Minimise :math:`\tfrac12 a'Qa - \sum_i a_i` for :math:`0 \le a_i \le C_i`.

    ``tick`` is called before each iteration; it may raise to stop. Returns the point, with coefficients at a bound
    exactly there, and the iterations it took: 20 to 60 factorisations (Ferris, Munson, Interior-point methods for
    massive support vector machines, SIAM Journal on Optimization 2002).
    """
    n = len(C)
    a = np.minimum(0.5 * C, 1.0)
    z, u = np.ones(n), np.ones(n)  # multipliers of the lower and of the upper bound
    best, answer, since, iteration = np.inf, (a, z, u), 0, 0
    while iteration < INTERIOR_MAX_ITERATIONS and since < INTERIOR_ITERATIONS_WITHOUT_GAIN:
        tick()
        t = C - a
        slope = Q @ a - 1
        residual = slope - z + u
        gap = float(a @ z + t @ u)
        error = max(gap / (1 + abs(float(a @ slope))), float(np.abs(residual).max()))
        since = 0 if error < 0.9 * best else since + 1
        if error < best:
            best, answer = error, (a, z, u)
        if best <= INTERIOR_GAP:
            break
        try:
            solve = _refined(Q, z / a + u / t)
        except scipy.linalg.LinAlgError:  # not positive definite to rounding
            break
        # Mehrotra's predictor and corrector: the step that the predictor allows sets the centring.
        step, dz, du = _direction(solve, residual, a, t, z, u, 0.0, 0.0, 0.0)
        reach = _reach((a, step), (t, -step), (z, dz), (u, du))
        after = float((a + reach * step) @ (z + reach * dz) + (t - reach * step) @ (u + reach * du))
        mu = max(after / gap, 0.0) ** 3 * gap / (2 * n)
        step, dz, du = _direction(solve, residual, a, t, z, u, mu, step * dz, -step * du)
        reach = min(1.0, 0.995 * _reach((a, step), (t, -step), (z, dz), (u, du)))
        if not np.isfinite(step).all() or reach < 1e-14:
            break
        a = np.clip(a + reach * step, 1e-300, np.nextafter(C, 0))
        z, u = z + reach * dz, u + reach * du
        iteration += 1
    a, z, u = answer
    # A coefficient whose multiplier exceeds its distance from the bound is at the bound.
    a = np.where((C - a) / C < u, C, a)
    return np.where(a / a.max() < z, 0.0, a), iteration


def _refined(Q: Factorable, D: Array) -> Callable[[Array], Array]:
    """Solve with one step of iterative refinement: D spans many orders of magnitude."""
    once = Q.factor(D)

    def solve(r: Array) -> Array:
        x = once(r)
        return x + once(r - D * x - Q @ x)

    return solve


def _direction(
    solve: Callable[[Array], Array],
    residual: Array,
    a: Array,
    t: Array,
    z: Array,
    u: Array,
    mu: float,
    second_z: Array | float,
    second_u: Array | float,
) -> tuple[Array, Array, Array]:
    """Newton direction towards ``a z = t u = mu``, with the second-order terms of a predictor."""
    low, high = (mu - second_z) / a - z, (mu - second_u) / t - u
    step = solve(low - high - residual)
    return step, low - z / a * step, high + u / t * step


def _reach(*pairs: tuple[Array, Array]) -> float:
    """Longest step up to 1 that keeps everything positive."""
    shrinking = [(-v[s < 0] / s[s < 0]).min(initial=np.inf) for v, s in pairs]
    return float(min(1.0, *shrinking))
