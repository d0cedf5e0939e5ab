"""Similarities in features of low rank: mapped rows that are kept, or mapped anew for every product."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from gramian.config import memory_budget
from gramian.operators.features import FeatureMap
from gramian.operators.means import FeatureMeans
from gramian.operators.similarities import Similarities, Thin
from gramian.results import Array


class Passes(Similarities):
    """``F F'`` by two passes over the rows, which are mapped on the way and not kept."""

    positive = True
    route = "rows are mapped in every pass"

    def __init__(self, features: FeatureMap, X: Any) -> None:
        self.features, self.X, self.n = features, X, X.shape[0]

    def __matmul__(self, V: Array) -> Array:
        return self.features.times(self.X, self.features.sums(self.X, V))

    def some(self, chosen: Array, V: Array) -> Array:
        return self.features.times(self.X, self.features.sums(self.X[chosen], V))

    def part(self, rows: Array, chosen: Array, V: Array) -> Array:
        return self.features.times(self.X[rows], self.features.sums(self.X[chosen], V))

    def among(self, chosen: Array) -> Similarities:
        return mapped_similarities(self.features, self.X[chosen])

    def columns(self, chosen: Array) -> Array:
        return self.features.times(self.X, self.features.features(self.X[chosen]).T)

    def diagonal(self) -> Array:
        return self._squares

    @cached_property
    def _squares(self) -> Array:
        return self.features.squares(self.X)


class Kept(Thin):
    """``F F'`` of mapped rows in memory."""

    route = "rows were mapped once and kept"


def mapped_similarities(features: FeatureMap, X: Any) -> Similarities:
    """Return the products of mapped rows, kept if they take no more than a quarter of the memory budget."""
    if 8 * X.shape[0] * features.size > memory_budget() // 4:
        return Passes(features, X)
    return Kept(features.features(X))


def mapped_means(
    features: FeatureMap, X: Any, coefficients: Array, squares: Array, origin: Array | None
) -> FeatureMeans:
    """Return the means ``coefficients'F`` as sums over landmarks, seen from ``origin``.

    They lie in the span of the landmarks, so that distances to them are those of the whole feature space.
    """
    sums = features.lift(features.sums(X, coefficients))
    return FeatureMeans(features.kernel, features.anchors, sums, squares, origin)
