"""Counts, sums and costs of the rows nearest to each mean: what a step of k-means needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.operators.features import FeatureMap, MapBuffers
from gramian.operators.nearest import SIMILARITY_ROUNDING
from gramian.results import Array, Matrix


@dataclass(frozen=True)
class KMeansStep:
    r"""Sums over rows, each counted for the mean it is nearest to; tallies add.

    ``counts`` (k,): rows nearest to each mean. ``sums`` (k, r): sums of their features. ``trace``, ``kept``:
    :math:`\sum_i k(x_i, x_i)`, and what the features keep of it. ``cost``: sum of squared distances to the nearest
    means. ``far``, ``farthest``: squared distance and features of the row that is farthest from its nearest mean.
    """

    counts: Array
    sums: Array
    trace: float
    kept: float
    cost: float
    far: float
    farthest: Array

    def __add__(self, other: KMeansStep) -> KMeansStep:
        farther = other if other.far > self.far else self
        return KMeansStep(
            self.counts + other.counts,
            self.sums + other.sums,
            self.trace + other.trace,
            self.kept + other.kept,
            self.cost + other.cost,
            farther.far,
            farther.farthest,
        )

    @property
    def means(self) -> Array:
        """Means of the rows of each cluster; zero where there are none."""
        return self.sums / np.maximum(self.counts, 1)[:, None]

    @property
    def objective(self) -> float:
        """Sum of squared distances of the rows to the means of their own clusters."""
        return max(0.0, self.trace - float(self.counts @ np.square(self.means).sum(axis=1)))


def kmeans_step(features: FeatureMap, X: Matrix, means: Array) -> KMeansStep:
    """Count rows for their nearest means (k, r); of equally near ones for the first.

    Cost
    ----
    A row takes r kernel values, about ``r^2 / 2`` multiplications to map it, and 2 k r to compare and to add it.
    """
    k, halves = len(means), np.square(means).sum(axis=1) / 2
    kernel, numbers = features.kernel, np.arange(len(means))[:, None]

    def step(rows: slice, buffer: MapBuffers, found: list[KMeansStep]) -> None:
        F = buffer.mapped(X[rows])
        own = np.asarray(kernel.diagonal(X[rows]), dtype=np.float64)
        near = F @ means.T - halves
        largest = near.max(axis=1, keepdims=True)
        labels = (near >= largest - SIMILARITY_ROUNDING * (np.abs(near) + 2 * halves)).argmax(axis=1)
        squares = np.maximum(own - 2 * largest[:, 0], 0.0)
        at = int(squares.argmax())
        part = KMeansStep(
            np.bincount(labels, minlength=k).astype(np.float64),
            (labels == numbers).astype(np.float64) @ F,
            float(own.sum()),
            float(np.einsum("ij,ij->", F, F)),
            float(squares.sum()),
            float(squares[at]),
            F[at].copy(),
        )
        found[:] = [found[0] + part] if found else [part]

    hands: list[list[KMeansStep]] = features.visit(X, np.float64, step, list, report=False)
    first, *rest = [found[0] for found in hands]
    return sum(rest, start=first)
