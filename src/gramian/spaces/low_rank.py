"""Features of low rank: explicit again, so that moments are all a method needs to know of the rows."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from gramian import lapack
from gramian.config import pinned_if_small
from gramian.lapack import orient
from gramian.operators import Dense
from gramian.operators.features import FeatureMap
from gramian.operators.mapped_moments import MappedMoments
from gramian.projection import KernelProjection
from gramian.results import Array, Matrix, Mix
from gramian.solvers.eigen import Solver, eigen
from gramian.spaces.base import SingularBasis

#: Features up to which one thread does the small dense algebra.
ONE_THREAD_MAX_FEATURES = 2000


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
