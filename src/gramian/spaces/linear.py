"""The space of the columns themselves: directions are explicit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.operators import Data, Dense, Normal
from gramian.projection import LinearProjection
from gramian.results import Array, Mix, SolverTrace
from gramian.solvers.base import Solver
from gramian.solvers.dense import svd
from gramian.solvers.eigen import DENSE_LIMIT, SOLVERS, eigen, null_tolerance, orient, residuals
from gramian.spaces.base import SingularBasis

ROUTES = ("covariance", "svd", "dual")
#: Multiplications below which a direct SVD, the most accurate route, takes no time worth saving.
CHEAP = 1e8
#: An eigenproblem of A'A keeps about ``eps / ratio`` of an eigenvalue; below this ratio, half the digits are gone.
ILL_CONDITIONED = 1e-8


@dataclass(frozen=True, kw_only=True)
class LinearBasis(SingularBasis):
    """Singular basis with explicit directions V, d x k."""

    data: Data
    directions: Array

    @property
    def total_variance(self) -> float:
        """Variance of the whole space, divisor n - 1."""
        return self.data.squares() / (self.n - 1) * self.data.unit**2

    def scores(self) -> Array:
        return self.data.times(self.directions) * self.data.unit

    def projection(self, mix: Mix) -> LinearProjection:
        scale = self.data.scale
        return LinearProjection(
            mean=self.data.mean,
            weights=self.directions @ mix.forward / scale[:, None],
            back=mix.back @ self.directions.T * scale,
        )

    def _truncated(self, k: int) -> dict[str, Any]:
        return {"directions": self.directions[:, :k]}


class LinearSpace:
    """Centred (and scaled) columns of a table.

    Parameters
    ----------
    X : array or CSR matrix
        Rows, n x d.
    center, scale : bool
        Subtract the column means; divide by the standard deviations.
    """

    def __init__(self, X: Any, *, center: bool = True, scale: bool = False) -> None:
        self.data = Data(X, center=center, scale=scale)

    def basis(
        self, rank: int | None, solver: str | Solver = "auto", rng: np.random.Generator | None = None
    ) -> LinearBasis:
        """Return the leading ``rank`` components (all if None), by one of four routes that agree.

        ``"covariance"`` (d x d), ``"svd"``, ``"dual"`` (n x n) are dense; any other solver works on products.
        """
        data, limit = self.data, min(self.data.n, self.data.d)
        k = limit if rank is None else min(rank, limit)
        route, reason = self.choose(k, solver)
        values, V, certificate, trace = self._solve(route, reason, k, rng)
        if solver == "auto" and route != "svd" and _ill_conditioned(values, k) and self._fits():
            reason = f"eigenvalues span more than {1 / ILL_CONDITIONED:.0e}, which the {route} route cannot resolve"
            values, V, certificate, trace = self._solve("svd", reason, k, rng)
        V = _complete(V, k)
        V = V * orient(V)
        values = np.concatenate([values, np.zeros(k - len(values))])
        total = data.squares()
        singular = np.sqrt(values) * data.unit
        _check_range(singular, values, data.n)
        return LinearBasis(
            singular=singular,
            shares=values / total if total > 0 else np.zeros(k),
            n=data.n,
            limit=limit,
            residuals=certificate,
            trace=trace,
            data=data,
            directions=V,
        )

    def choose(self, k: int, solver: str | Solver) -> tuple[str | Solver, str]:
        """Return the route and the reason for it."""
        if solver != "auto":
            if solver == "svd" and self.data.sparse:
                raise ValueError("solver='svd' would make sparse X dense. Use 'covariance', 'dual' or 'auto'.")
            if isinstance(solver, str) and solver not in (*ROUTES, *SOLVERS):
                known = ", ".join(["auto", *ROUTES, *SOLVERS])
                raise ValueError(f"solver={solver!r} is not known. Use one of: {known}.")
            return solver, "as asked"
        n, d = self.data.n, self.data.d
        if not self.data.sparse and n * d * min(n, d) <= CHEAP:
            return "svd", f"{n:,} x {d:,} is small"
        if d <= n and d <= DENSE_LIMIT and 24 * d**2 <= memory_budget():
            return "covariance", f"{d:,} columns, fewer than {n:,} rows"
        if n <= DENSE_LIMIT and 24 * n**2 <= memory_budget():
            return "dual", f"{n:,} rows, fewer than {d:,} columns"
        side = min(n, d)
        return "krylov", f"a {side:,} x {side:,} matrix would take {format_bytes(8 * side**2)}"

    def _solve(
        self, route: str | Solver, reason: str, k: int, rng: np.random.Generator | None
    ) -> tuple[Array, Array, Array, SolverTrace]:
        data = self.data
        side = "left" if route == "dual" or (route not in ROUTES and data.d > data.n) else "right"
        normal = Normal(data, side)
        if route == "svd":
            s, V = svd(data.toarray())
            kept = min(k, int((s > null_tolerance(max(data.n, data.d), s.max(initial=0))).sum()))
            values, V = s[:kept] ** 2, V[:, :kept]
            return values, V, residuals(normal @ V, V, values), SolverTrace("svd", reason)
        if route in ("covariance", "dual"):
            spectrum = eigen(Dense(normal.toarray(), positive=True), k, "auto", rng)
            trace = SolverTrace(str(route), reason, *_rest(spectrum.trace))
        else:
            spectrum = eigen(normal, k, route, rng)
            trace = SolverTrace(spectrum.trace.solver, reason, *_rest(spectrum.trace))
        V = spectrum.vectors
        if side == "left":
            # If AA'u = s^2 u then A'u / s is the direction; rounding is taken out by normalising.
            V = data.adjoint(V)
            V /= np.linalg.norm(V, axis=0)
        return spectrum.values, V, spectrum.residuals, trace

    def _fits(self) -> bool:
        return not self.data.sparse and 24 * self.data.n * self.data.d <= memory_budget()


def _rest(trace: SolverTrace) -> tuple[str, bool, str]:
    return trace.products, trace.converged, trace.stopped


def _ill_conditioned(values: Array, k: int) -> bool:
    return len(values) < k or bool(values[-1] < ILL_CONDITIONED * values[0])


def _complete(V: Array, k: int) -> Array:
    """Add orthonormal directions of zero variance until there are k: any will do, so take the same ones each time."""
    missing = k - V.shape[1]
    if missing == 0:
        return V
    extra = np.random.default_rng(0).standard_normal((V.shape[0], missing))
    Q, _ = np.linalg.qr(np.column_stack([V, extra]))
    return np.column_stack([V, Q[:, V.shape[1] :]])


def _check_range(singular: Array, values: Array, n: int) -> None:
    """Refuse data whose variances leave the range of double precision: they would read as infinite or as nothing."""
    if not len(values) or values[0] == 0:
        return
    with np.errstate(over="ignore", under="ignore"):
        variance = (singular[0] / np.sqrt(max(n - 1, 1))) ** 2
    if not np.finfo(np.float64).tiny < variance < np.inf:
        word, remedy = ("overflow", "Divide") if variance > 1 else ("underflow", "Multiply")
        raise ValueError(
            f"the variances of X {word} double precision (largest singular value {singular[0]:.1e}). "
            f"{remedy} X by a constant, or use scale=True."
        )
