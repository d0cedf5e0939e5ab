"""Columns of rows that streamed by: known by their moments, and by a triangular factor where squares lose digits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gramian.operators import Compressed, Moments
from gramian.operators.matrix import column_scale
from gramian.results import SolverTrace
from gramian.solvers.base import Solver
from gramian.solvers.dense import svd
from gramian.solvers.eigen import null_tolerance, residuals
from gramian.spaces.linear import COMFORTABLE, ILL_CONDITIONED, LinearBasis, MomentSpace, finished, ill_conditioned

#: Routes that one or two passes over the rows allow.
ROUTES = ("auto", "covariance", "svd")


class PassingSpace:
    """Centred (and scaled) columns of a stream.

    Parameters
    ----------
    moments : Moments
        Of all rows.
    triangle : callable
        Given a reason, returns the triangular factor of the centred rows, from another pass if need be, or raises.
    resolves : bool
        Whether it will not raise.
    center, scale : bool
        Subtract the column means; divide by the standard deviations.
    """

    def __init__(
        self,
        moments: Moments,
        triangle: Callable[[str], Compressed],
        resolves: bool,
        *,
        center: bool = True,
        scale: bool = False,
    ) -> None:
        self.moments, self.triangle, self.resolves = moments, triangle, resolves
        self.center, self.scale = center, scale

    def basis(
        self, rank: int | None, solver: str | Solver = "auto", rng: np.random.Generator | None = None
    ) -> LinearBasis:
        """Return the leading ``rank`` components (all if None), by the moments unless digits ask for the factor."""
        if solver not in ROUTES:
            raise ValueError(
                f"solver={solver!r} needs the rows in memory, and X is a stream. Use one of: {', '.join(ROUTES)}."
            )
        reason, m = "as asked", self.moments
        with np.errstate(over="ignore", invalid="ignore"):
            size = float(np.trace(m.scatter)) + m.weight * float(m.mean @ m.mean)
        if not COMFORTABLE[0] < size < COMFORTABLE[1] and size != 0:  # also if it is NaN
            reason = "squares of X leave double precision"
        elif solver != "svd":
            basis = MomentSpace(m, center=self.center, scale=self.scale).basis(rank, "auto", rng)
            basis = replace(basis, trace=replace(basis.trace, reason="one pass over the rows"))
            values = basis.eigenvalues
            lost = bool(((values > 0) & (values < ILL_CONDITIONED * values[0])).any())
            if solver == "covariance" or not (lost or (self.resolves and ill_conditioned(basis))):
                return basis
            reason = f"eigenvalues span more than {1 / ILL_CONDITIONED:.0e}"
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
        limit = min(len(mean), int(np.ceil(n)))
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
