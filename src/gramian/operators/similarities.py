"""Similarities of training rows to each other, whole or a few columns at a time: what clustering asks for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from gramian.config import memory_budget, one_blas_thread
from gramian.engine.product import to_dense
from gramian.engine.tiles import row_blocks
from gramian.kernels import Kernel
from gramian.kernels.pairwise import Rows, squared_norms
from gramian.operators.base import Dense
from gramian.operators.feature_means import FeatureMeans
from gramian.operators.features import FeatureMap
from gramian.operators.gram import CrossGram, Gram, cross_product, gram_of, worth_keeping
from gramian.operators.remote import Table, each
from gramian.results import Array, Matrix


class Similarities(ABC):
    """A symmetric matrix of similarities that may be asked for products with few of its columns.

    ``route`` says in a few words how products are made.
    """

    n: int
    positive: bool
    route: ClassVar[str]

    @abstractmethod
    def __matmul__(self, V: Array) -> Array:
        """Return ``K V``."""

    @abstractmethod
    def some(self, chosen: Array, V: Array) -> Array:
        """Return ``K[:, chosen] V``: the product with a block that is zero but for the chosen rows."""

    @abstractmethod
    def part(self, rows: Array, chosen: Array, V: Array) -> Array:
        """Return ``K[rows][:, chosen] V``."""

    @abstractmethod
    def among(self, chosen: Array) -> Similarities:
        """Return the similarities of the chosen rows to each other."""

    @abstractmethod
    def columns(self, chosen: Array) -> Array:
        """Return ``K[:, chosen]``."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Return ``k(x, x)`` for every row."""


class KeptGram(Similarities):
    """A matrix that exists."""

    route = "the Gram matrix was kept"

    def __init__(self, matrix: Dense) -> None:
        self.matrix, self.A = matrix, matrix.A
        self.n, self.positive = matrix.n, matrix.positive

    def __matmul__(self, V: Array) -> Array:
        return self.matrix @ V

    def some(self, chosen: Array, V: Array) -> Array:
        with one_blas_thread():
            return self.A[chosen].T @ V

    def part(self, rows: Array, chosen: Array, V: Array) -> Array:
        with one_blas_thread():
            return self.A[np.ix_(rows, chosen)] @ V

    def among(self, chosen: Array) -> Similarities:
        return KeptGram(Dense(self.A[np.ix_(chosen, chosen)], positive=self.positive))

    def columns(self, chosen: Array) -> Array:
        return self.A[:, chosen]

    def diagonal(self) -> Array:
        return self.A.diagonal()


class TiledGram(Similarities):
    """Tiles of a kernel, made, used and thrown away."""

    route = "tiles of the Gram matrix were made as needed"

    def __init__(self, gram: Gram) -> None:
        self.gram, self.kernel, self.X = gram, gram.kernel, gram.X
        self.n, self.positive = gram.n, gram.positive

    def __matmul__(self, V: Array) -> Array:
        return self.gram @ V

    def some(self, chosen: Array, V: Array) -> Array:
        return cross_product(self.kernel, self.X, self.X[chosen], V)

    def part(self, rows: Array, chosen: Array, V: Array) -> Array:
        return CrossGram(self.kernel, self.X[rows], self.X[chosen]) @ V

    def among(self, chosen: Array) -> Similarities:
        return similarities(self.kernel, self.X[chosen])

    def columns(self, chosen: Array) -> Array:
        return self.gram.columns(chosen)

    def diagonal(self) -> Array:
        return self.gram.diagonal()


class ThinProducts(Similarities):
    """``X X'`` by two thin products: the linear kernel needs no matrix of pairs."""

    route = "two thin products in place of the Gram matrix"

    def __init__(self, X: Rows) -> None:
        self.X = X.astype(np.float64, copy=False)
        self.n, self.positive = X.shape[0], True

    def __matmul__(self, V: Array) -> Array:
        with one_blas_thread():
            return np.asarray(self.X @ (self.X.T @ V))

    def some(self, chosen: Array, V: Array) -> Array:
        with one_blas_thread():
            return np.asarray(self.X @ (self.X[chosen].T @ V))

    def part(self, rows: Array, chosen: Array, V: Array) -> Array:
        with one_blas_thread():
            return np.asarray(self.X[rows] @ (self.X[chosen].T @ V))

    def among(self, chosen: Array) -> Similarities:
        return ThinProducts(self.X[chosen])

    def columns(self, chosen: Array) -> Array:
        return to_dense(self.X @ self.X[chosen].T)

    def diagonal(self) -> Array:
        return squared_norms(self.X)


def similarities(kernel: Kernel, X: Matrix) -> Similarities:
    """Return the similarities of rows to each other, held in the way that suits kernel and size."""
    if kernel.given:
        return KeptGram(Dense(to_dense(X).astype(np.float64, copy=False), positive=kernel.positive_definite))
    kind = way_of_holding(kernel, X.shape[0])
    if kind is ThinProducts:
        return ThinProducts(X)
    gram = gram_of(kernel, X)
    return KeptGram(Dense(gram.toarray(), positive=gram.positive)) if kind is KeptGram else TiledGram(gram)


def way_of_holding(kernel: Kernel, n: int) -> type[Similarities]:
    """Return how the similarities of n rows are held."""
    if kernel.given:
        return KeptGram
    if kernel.linear:
        return ThinProducts
    return KeptGram if worth_keeping(kernel, n) else TiledGram


def natural_order(kernel: Kernel, X: Table) -> Array:
    """Return an order of the rows that depends on their values alone, equal rows side by side.

    Rows are sorted by a fixed random combination of their columns; those of a precomputed matrix stay as they are.
    """
    if kernel.given:
        return np.arange(X.shape[0])
    direction = np.random.default_rng(0).standard_normal((X.shape[1],))
    return np.argsort(each(X, partial(_sort_keys, direction), task="order of rows"), kind="stable")


def _sort_keys(direction: Array, X: Matrix) -> Array:
    if sp.issparse(X):
        return np.asarray(X @ direction)
    with np.errstate(over="ignore", invalid="ignore"):
        # Summed row by row: a matrix product may round equal rows differently.
        return np.concatenate([(X[rows] * direction).sum(axis=1) for rows in row_blocks(*X.shape)])


class MappedEachPass(Similarities):
    """``F F'`` by two passes over the rows, which are mapped on the way and not kept."""

    positive = True
    route = "rows are mapped in every pass"

    def __init__(self, features: FeatureMap, X: Matrix) -> None:
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


class KeptFeatures(ThinProducts):
    """``F F'`` of mapped rows in memory."""

    route = "rows were mapped once and kept"


def mapped_similarities(features: FeatureMap, X: Matrix) -> Similarities:
    """Return the products of mapped rows, kept if they take no more than a quarter of the memory budget."""
    if 8 * X.shape[0] * features.size > memory_budget() // 4:
        return MappedEachPass(features, X)
    return KeptFeatures(features.features(X))


def mapped_means(
    features: FeatureMap, X: Matrix, coefficients: Array, squares: Array, origin: Array | None
) -> FeatureMeans:
    """Return the means ``coefficients'F`` as sums over landmarks, seen from ``origin``.

    They lie in the span of the landmarks, so that distances to them are those of the whole feature space.
    """
    sums = features.lift(features.sums(X, coefficients))
    return FeatureMeans(features.kernel, features.anchors, sums, squares, origin)
