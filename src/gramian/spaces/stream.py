"""Columns of rows that streamed by: known by their moments, and by a triangular factor where squares lose digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gramian.operators import Compressed, Moments
from gramian.operators.matrix import column_scale
from gramian.operators.moments import row_count
from gramian.results import SolverTrace
from gramian.solvers.dense import svd
from gramian.solvers.eigen import null_tolerance, residuals
from gramian.solvers.eigen_methods import Solver
from gramian.spaces.linear import (
    ILL_CONDITIONED_RATIO,
    SUM_OF_SQUARES_RANGE,
    LinearBasis,
    MomentSpace,
    finished,
    ill_conditioned,
)

#: Routes that one or two passes over the rows allow.
STREAM_ROUTES = ("auto", "covariance", "svd")


class StreamSpace:
    """Centred (and scaled) columns of a stream.

    ``moments``: of all rows. ``triangle``: given a reason, returns the triangular factor of the centred rows, from
    another pass if need be, or raises. ``center``, ``scale``: subtract the column means; divide by the standard
    deviations.
    """

    def __init__(
        self, moments: Moments, triangle: Callable[[str], Compressed], *, center: bool = True, scale: bool = False
    ) -> None:
        self.moments, self.triangle = moments, triangle
        self.center, self.scale = center, scale
        self.limit = min(moments.d, row_count(moments.weight))

    def standardized(self) -> MomentSpace:
        """The same columns, each of unit variance, by their moments."""
        return MomentSpace(self.moments, center=self.center, scale=self.scale).standardized()

    def basis(
        self, rank: int | None, solver: str | Solver = "auto", rng: np.random.Generator | None = None
    ) -> LinearBasis:
        """Return the leading ``rank`` components (all if None), by the moments unless digits ask for the factor."""
        if solver not in STREAM_ROUTES:
            raise ValueError(
                f"solver={solver!r} needs the rows in memory, and X is a stream. "
                f"Use one of: {', '.join(STREAM_ROUTES)}."
            )
        reason = "as asked"
        if out_of_range(self.moments):
            reason = "squares of X leave double precision"
        elif solver != "svd":
            basis = MomentSpace(self.moments, center=self.center, scale=self.scale).basis(rank, "auto", rng)
            if solver == "covariance" or not ill_conditioned(basis):
                return replace(basis, trace=replace(basis.trace, reason="one pass over the rows"))
            reason = f"eigenvalues span more than {1 / ILL_CONDITIONED_RATIO:.0e}"
        return self._accurate(rank, reason)

    def _accurate(self, rank: int | None, reason: str) -> LinearBasis:
        views = self.triangle(reason)
        unit, n, mean = float(views.units.max()), views.weight, views.mean
        A = views.rows * (views.units / unit)
        if not self.center:
            A, mean = np.vstack([A, np.sqrt(n) * (mean / unit)]), np.zeros_like(mean)
        scale = np.ones(len(mean))
        if self.scale:
            deviations = np.sqrt(np.einsum("ij,ij->j", A, A) / (n - 1))
            scale = column_scale(deviations, mean / unit) * unit
            A, unit = A * (unit / scale), 1.0
        limit = min(len(mean), row_count(n))
        k = limit if rank is None else min(rank, limit)
        s, V = svd(A)
        kept = min(k, int((s > null_tolerance(int(max(n, len(mean))), s.max(initial=0))).sum()))
        values, V = s[:kept] ** 2, V[:, :kept]
        return finished(
            values,
            V,
            k,
            column_squares=np.einsum("ij,ij->j", A, A),
            fourth=float((s**4).sum()),
            unit=unit,
            n=n,
            limit=limit,
            residuals=residuals(A.T @ (A @ V), V, values),
            trace=SolverTrace("svd", f"{reason}: orthogonal triangulation of the rows, then their singular values"),
            mean=mean,
            scale=scale,
        )


def out_of_range(moments: Moments) -> bool:
    """Whether squares of rows are so large or small that they cannot be trusted."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.trace(moments.scatter)) + moments.weight * float(moments.mean @ moments.mean)
    return not (SUM_OF_SQUARES_RANGE[0] < size < SUM_OF_SQUARES_RANGE[1] or size == 0)  # also if it is NaN


def moments_unresolved(moments: Moments, *, center: bool, scale: bool) -> bool:
    """Whether moments do not resolve all the variances that they are moments of."""
    if out_of_range(moments):
        return True
    return ill_conditioned(MomentSpace(moments, center=center, scale=scale).basis(None))
