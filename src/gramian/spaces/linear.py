"""The space of the columns themselves: directions are explicit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.operators import Data, Dense, Moments, Normal, moments_of
from gramian.operators.matrix import column_scale
from gramian.operators.moments import row_count
from gramian.results import Array, SolverTrace
from gramian.solvers.dense import svd
from gramian.solvers.eigen import DENSE_LIMIT, EIGEN_SOLVERS, eigen, null_tolerance, residuals
from gramian.solvers.eigen_methods import Solver
from gramian.spaces.linear_basis import ILL_CONDITIONED, LinearBasis, finished, ill_conditioned

ROUTES = ("covariance", "svd", "dual")
#: Multiplications below which a direct SVD, the most accurate route, takes no time worth saving.
CHEAP = 1e8
#: Variances in this range have squares and sums that stay far from the ends of double precision.
COMFORTABLE = (1e-100, 1e100)


class MomentSpace:
    """Columns known by their moments alone: the rows may have come from anywhere, in any order.

    Parameters
    ----------
    moments : Moments
    center, scale : bool
        Subtract the column means; divide by the standard deviations.
    """

    def __init__(self, moments: Moments, *, center: bool = True, scale: bool = False) -> None:
        self.moments, self.center = moments, center
        self.weight, self.limit = moments.weight, min(moments.d, row_count(moments.weight))
        self.mean = moments.mean if center else np.zeros(moments.d)
        scatter = moments.scatter if center else moments.about_origin()
        sizes = np.sqrt(np.diag(scatter) / (moments.weight - 1)) if scale else np.ones(moments.d)
        self.scale = column_scale(sizes, self.mean) if scale else sizes
        self.scatter = scatter / np.outer(self.scale, self.scale) if scale else scatter

    def standardized(self) -> MomentSpace:
        """The same columns, divided by their standard deviations."""
        return MomentSpace(self.moments, center=self.center, scale=True)

    def basis(
        self, rank: int | None, solver: str | Solver = "auto", rng: np.random.Generator | None = None
    ) -> LinearBasis:
        """Return the leading ``rank`` components (all if None) from the scatter matrix."""
        k = self.limit if rank is None else min(rank, self.limit)
        spectrum = eigen(Dense(self.scatter, positive=True), k, solver, rng)
        trace = replace(spectrum.trace, solver="covariance")
        return finished(
            spectrum.values,
            spectrum.vectors,
            k,
            column_squares=np.diag(self.scatter),
            fourth=float((self.scatter**2).sum()),
            n=self.weight,
            limit=self.limit,
            residuals=spectrum.residuals,
            trace=trace,
            mean=self.mean,
            scale=self.scale,
        )


class LinearSpace:
    """Centred (and scaled) columns of a table.

    Parameters
    ----------
    X : array or CSR matrix
        Rows, n x d.
    center, scale : bool
        Subtract the column means; divide by the standard deviations.
    weights : (n,) array, optional
        Frequencies of the rows.
    check : callable, optional
        Called before rows are trusted to be finite, unless one pass over them has shown it on its way.
    """

    def __init__(
        self,
        X: Any,
        *,
        center: bool = True,
        scale: bool = False,
        weights: Array | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        self.check = check or (lambda: None)
        self._moments: Moments | None = None
        self.X, (self.n, self.d) = X, X.shape
        self.limit = min(self.d, self.n if weights is None else row_count(float(weights.sum())))
        self.center, self.scale, self.weights = center, scale, weights

    @cached_property
    def data(self) -> Data:
        """The rows as the routes that visit them more than once see them."""
        return Data(self.X, center=self.center, scale=self.scale, weights=self.weights)

    def basis(
        self, rank: int | None, solver: str | Solver = "auto", rng: np.random.Generator | None = None
    ) -> LinearBasis:
        """Return the leading ``rank`` components (all if None), by one of four routes that agree.

        ``"covariance"`` (d x d), ``"svd"``, ``"dual"`` (n x n) are dense; any other solver works on products.
        """
        k = self.limit if rank is None else min(rank, self.limit)
        route, reason = self.choose(solver)
        basis = self._one_pass(k, reason, rng) if route == "covariance" else None
        if basis is None:
            self.check()
            basis = self._solve(route, reason, k, rng)
        if solver == "auto" and route != "svd" and ill_conditioned(basis) and self._fits():
            reason = f"eigenvalues span more than {1 / ILL_CONDITIONED:.0e}, which the {route} route cannot resolve"
            basis = self._solve("svd", reason, k, rng)
        return basis

    def standardized(self) -> LinearSpace | MomentSpace:
        """The same columns, divided by their standard deviations; from moments, if one pass has left them."""
        if self._moments is not None and COMFORTABLE[0] < np.trace(self._moments.scatter) < COMFORTABLE[1]:
            return MomentSpace(self._moments, center=self.center, scale=True)
        return LinearSpace(self.X, center=self.center, scale=True, weights=self.weights)

    def moments(self) -> Moments | None:
        """Moments of the rows if they are at hand, or cheap; None otherwise."""
        # They are d x d: of a wide table with few rows they would cost far more than the fit.
        if self._moments is None and max(self.n, self.d) * self.d**2 <= CHEAP:
            self._moments = moments_of(self.X, self.weights)
        return self._moments

    def choose(self, solver: str | Solver) -> tuple[str | Solver, str]:
        """Return the route and the reason for it."""
        return choose(self.n, self.d, solver, sparse=not isinstance(self.X, np.ndarray))

    def _one_pass(self, k: int, reason: str, rng: np.random.Generator | None) -> LinearBasis | None:
        """Components from one pass over the rows; None if their squares leave the comfortable range."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._moments = moments_of(self.X, self.weights)
            size = float(np.trace(found.scatter)) + found.weight * float(found.mean @ found.mean)
        if not COMFORTABLE[0] < size < COMFORTABLE[1]:  # also if it is NaN
            return None
        basis = MomentSpace(found, center=self.center, scale=self.scale).basis(k, "auto", rng)
        return replace(basis, trace=replace(basis.trace, reason=reason), rows=self.X)

    def _solve(self, route: str | Solver, reason: str, k: int, rng: np.random.Generator | None) -> LinearBasis:
        data = self.data
        side = "left" if route == "dual" or (route not in ROUTES and data.d > data.n) else "right"
        normal = Normal(data, side)
        if route == "svd":
            s, V = svd(data.toarray())
            kept = min(k, int((s > null_tolerance(max(data.n, data.d), s.max(initial=0))).sum()))
            values, V = s[:kept] ** 2, V[:, :kept]
            certificate, trace = residuals(normal @ V, V, values), SolverTrace("svd", reason)
            fourth: float | None = float((s**4).sum())
        else:
            dense = route in ("covariance", "dual")
            operator: Any = Dense(normal.toarray(), positive=True) if dense else normal
            fourth = float((operator.A**2).sum()) if dense else None
            spectrum = eigen(operator, k, "auto" if dense else route, rng)
            values, V, certificate = spectrum.values, spectrum.vectors, spectrum.residuals
            trace = replace(spectrum.trace, reason=reason)
            trace = replace(trace, solver=str(route)) if dense else trace
        if side == "left":
            # If AA'u = s^2 u then A'u / s is the direction; rounding is taken out by normalising.
            V = data.adjoint(V)
            V /= np.linalg.norm(V, axis=0)
        return finished(
            values,
            V,
            k,
            column_squares=data.column_squares,
            fourth=fourth,
            unit=data.unit,
            n=data.weight,
            limit=self.limit,
            residuals=certificate,
            trace=trace,
            mean=data.mean,
            scale=data.scale,
            rows=self.X,
        )

    def _fits(self) -> bool:
        return isinstance(self.X, np.ndarray) and 24 * self.n * self.d <= memory_budget()


def choose(n: int, d: int, solver: str | Solver, *, sparse: bool = False) -> tuple[str | Solver, str]:
    """Return the route for n rows of d columns, and the reason for it."""
    if solver != "auto":
        if solver == "svd" and sparse:
            raise ValueError("solver='svd' would make sparse X dense. Use 'covariance', 'dual' or 'auto'.")
        if isinstance(solver, str) and solver not in (*ROUTES, *EIGEN_SOLVERS):
            known = ", ".join(["auto", *ROUTES, *EIGEN_SOLVERS])
            raise ValueError(f"solver={solver!r} is not known. Use one of: {known}.")
        return solver, "as asked"
    if not sparse and n * d * min(n, d) <= CHEAP:
        return "svd", f"{n:,} x {d:,} is small"
    if d <= n and d <= DENSE_LIMIT and 24 * d**2 <= memory_budget():
        return "covariance", f"{d:,} columns, fewer than {n:,} rows"
    if n <= DENSE_LIMIT and 24 * n**2 <= memory_budget():
        return "dual", f"{n:,} rows, fewer than {d:,} columns"
    side = min(n, d)
    return "krylov", f"a {side:,} x {side:,} matrix would take {format_bytes(8 * side**2)}"
