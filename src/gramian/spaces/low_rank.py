"""Features of low rank: explicit again, so that moments are all a method needs to know of the rows."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from gramian import lapack
from gramian.config import pinned_if_small
from gramian.lapack import orient
from gramian.operators import Dense
from gramian.operators.features import FeatureMap
from gramian.operators.mapped_moments import MappedMoments
from gramian.projection import KernelProjection
from gramian.results import Array, Matrix, Mix, SolverTrace
from gramian.solvers.eigen import Solver, eigen, null_tolerance
from gramian.solvers.linear_methods import lengths
from gramian.spaces.base import SingularBasis
from gramian.spaces.ridge_fit import KernelFunction, RidgeFit

#: Features up to which one thread does the small dense algebra.
ONE_THREAD_MAX_FEATURES = 2000
#: Why leave-one-out residuals are not there.
NO_LEAVE_ONE_OUT = "with landmarks the rows are seen once and not again. Use landmarks=None, or cross-validation"
#: Ridges larger than this part of the trace are as a rule far above the rounding of sums, in single precision too:
#: nothing is singular then, and no eigenvalues are needed to see it.
SAFE_RIDGE_PER_TRACE = 1e-6


@dataclass(frozen=True, kw_only=True)
class LowRankBasis(SingularBasis):
    """Singular basis with directions V, r x k, in the space of the features, and their mean."""

    features: FeatureMap
    directions: Array
    mean: Array
    rows: Matrix = None

    def scores(self) -> Array:
        return self.projection().scores(self.rows)

    def projection(self, mix: Mix | None = None) -> KernelProjection:
        V = self.directions if mix is None else lapack.interruptible(np.matmul, self.directions, mix.forward)
        return projection(self.features, V, self.mean)

    def _truncated(self, k: int) -> dict[str, Any]:
        return {"directions": self.directions[:, :k]}


class LowRankSpace:
    """Centred features of one view of mapped rows, from their moments; the rows themselves for training scores."""

    def __init__(self, features: FeatureMap, moments: MappedMoments, view: int = 0, rows: Matrix = None) -> None:
        part = moments.part(view)
        self.features, self.rows, self.n = features, rows, moments.moments.weight
        self.scatter, self.mean = moments.moments.scatter[part, part], moments.moments.mean[part]
        self.lost = moments.lost(view)
        if not np.isfinite(self.scatter).all():
            raise ValueError("squares of features overflow. Divide X by a constant, or standardise its columns.")

    def basis(
        self, rank: int | None, solver: str | Solver = "auto", rng: np.random.Generator | None = None
    ) -> LowRankBasis:
        """Return the leading ``rank`` components (all of them if None)."""
        r = self.features.size
        with pinned_if_narrow(r):
            spectrum = eigen(Dense(self.scatter, positive=True), min(r, rank or r), solver, rng)
        # What the landmarks leave counts in full: shares are of all the variance, not of what was kept.
        total = float(np.trace(self.scatter)) + self.lost
        V = spectrum.vectors
        anchored = self.features.times(self.features.anchors, V) - self.mean @ V if self.features.from_points else V
        return LowRankBasis(
            singular=np.sqrt(spectrum.values),
            shares=None if not total else spectrum.values / total,
            n=self.n,
            limit=r,
            residuals=spectrum.residuals,
            trace=spectrum.trace,
            features=self.features,
            directions=V * (orient(anchored) if V.shape[1] else 1.0),
            mean=self.mean,
            rows=self.rows,
        )


def pinned_if_narrow(r: int) -> AbstractContextManager[None]:
    """One BLAS thread for matrices of up to 2,000 features: where others use the machine too, threads wait for them."""
    return pinned_if_small(0 if r <= ONE_THREAD_MAX_FEATURES else r**3)


def projection(features: FeatureMap, B: Array, mean: Array) -> KernelProjection:
    """Scores ``(f(x) - mean)'B`` as a sum over landmarks."""
    about = features.lift(mean) if features.from_points else None
    return KernelProjection(features.kernel, features.anchors, features.lift(B), -mean @ B, about)


class LowRankRidge:
    r"""``sum w_i (y_i - v'f(x_i) - b)^2 + ridge |v|^2`` from the moments of features and of targets beside them.

    .. math:: (F_c'WF_c + \lambda I)\, v = F_c'W y_c, \qquad f(x) = k(x, Z)\, R v + b

    Without ``intercept`` nothing is centred.
    """

    def __init__(self, features: FeatureMap, moments: MappedMoments, *, intercept: bool) -> None:
        self.features, r = features, features.size
        found = moments.moments
        squares, mean = (found.scatter, found.mean) if intercept else (found.about_origin(), np.zeros(found.d))
        self.S, self.cross = squares[:r, :r], squares[:r, r:]
        self.mean, self.level = mean[:r], mean[r:]
        if not (np.isfinite(self.S).all() and np.isfinite(self.cross).all()):
            raise ValueError("squares of features or y overflow. Divide X by a constant, or standardise its columns.")

    def fit(self, ridge: float) -> RidgeFit:
        """Fit one ridge."""
        r = len(self.S)
        with pinned_if_narrow(r):
            weights, rank = self._solve(ridge)
        rest = self.cross - self.S @ weights - ridge * weights
        dual, offsets = self.features.lift(weights), (self.level - self.mean @ weights)[None, :]
        return RidgeFit(
            KernelFunction(self.features.kernel, self.features.anchors, dual, offsets),
            dual,
            offsets,
            lengths(rest, zero=0.0) / lengths(self.cross),
            SolverTrace("primal", f"{r:,} features stand for the rows", "one pass for the moments of the features"),
            None,
            NO_LEAVE_ONE_OUT,
            singular=rank < r,
            rank=rank,
            size=r,
        )

    def _solve(self, ridge: float) -> tuple[Array, int]:
        """Weights, and the number of directions that are not rounding."""
        if ridge > SAFE_RIDGE_PER_TRACE * float(np.trace(self.S)):
            shifted = self.S + ridge * np.eye(len(self.S))
            with suppress(scipy.linalg.LinAlgError):  # where rounding is larger all the same, eigenvalues are cut below
                return lapack.solve_positive(shifted, self.cross), len(self.S)
        values, V = lapack.eigh(self.S)
        values = np.maximum(values, 0.0) + ridge
        kept = values > null_tolerance(len(self.S), values.max(initial=0.0))
        return (V[:, kept] / values[kept]) @ (V[:, kept].T @ self.cross), int(kept.sum())
