"""Similarities of training rows to each other, and means of rows in feature space: what clustering asks for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from gramian.config import memory_budget, one_blas_thread
from gramian.engine.product import to_dense
from gramian.engine.tiles import row_blocks
from gramian.kernels import Kernel
from gramian.kernels.pairwise import squared_norms
from gramian.operators.centering import Dense, moved
from gramian.operators.features import FeatureMap
from gramian.operators.gram import Anchored, Gram, cross_product, remote_of, worth_keeping
from gramian.operators.nearest import SIMILARITY_ROUNDING, Sized, resolve_ties
from gramian.operators.remote import Table, each
from gramian.results import Array, Matrix

#: Numbers of rows, or all of them.
Chosen = Array | slice
ALL = slice(None)


class Similarities(ABC):
    """A symmetric matrix of similarities that may be asked for products with few of its columns.

    ``route`` says in a few words how products are made.
    """

    n: int
    positive: bool
    route: ClassVar[str]

    @abstractmethod
    def part(self, rows: Chosen, chosen: Chosen, V: Array) -> Array:
        """Return ``K[rows][:, chosen] V``."""

    def some(self, chosen: Array, V: Array) -> Array:
        """Return ``K[:, chosen] V``: the product with a block that is zero but for the chosen rows."""
        return self.part(ALL, chosen, V)

    def __matmul__(self, V: Array) -> Array:
        """Return ``K V``."""
        return self.part(ALL, ALL, V)

    @abstractmethod
    def among(self, chosen: Array) -> Similarities:
        """Return the similarities of the chosen rows to each other."""

    @abstractmethod
    def columns(self, chosen: Array) -> Array:
        """Return ``K[:, chosen]``."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Return ``k(x, x)`` for every row."""


class KeptGram(Dense, Similarities):
    """A matrix that exists."""

    route = "the Gram matrix was kept"

    def part(self, rows: Chosen, chosen: Chosen, V: Array) -> Array:
        with one_blas_thread():  # the same numbers as the columns, in rows that lie in one piece
            return (self.A[chosen].T if rows is ALL else self.A[np.ix_(rows, chosen)]) @ V  # type: ignore[arg-type]

    def among(self, chosen: Array) -> Similarities:
        return KeptGram(self.A[np.ix_(chosen, chosen)], positive=self.positive)


class TiledGram(Gram, Similarities):
    """Tiles of a kernel, made, used and thrown away."""

    route = "tiles of the Gram matrix were made as needed"

    def part(self, rows: Chosen, chosen: Chosen, V: Array) -> Array:
        return cross_product(self.kernel, self.X if rows is ALL else self.X[rows], self.X[chosen], V)

    def among(self, chosen: Array) -> Similarities:
        return similarities(self.kernel, self.X[chosen])


class ThinProducts(Similarities):
    """``X X'`` by two thin products: the linear kernel needs no matrix of pairs."""

    route = "two thin products in place of the Gram matrix"

    def __init__(self, X: Matrix) -> None:
        self.X = X.astype(np.float64, copy=False)
        self.n, self.positive = X.shape[0], True

    def part(self, rows: Chosen, chosen: Chosen, V: Array) -> Array:
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
    kind = way_of_holding(kernel, X.shape[0], X.shape[1] if remote_of(X) is None else 0)
    if kind is ThinProducts:
        return ThinProducts(X)
    if kind is TiledGram:
        return TiledGram(kernel, X, remote=remote_of(X))
    A = to_dense(X).astype(np.float64, copy=False) if kernel.given else Gram(kernel, X).toarray()
    return KeptGram(A, positive=kernel.positive_definite)


def way_of_holding(kernel: Kernel, n: int, d: int) -> type[Similarities]:
    """Return how the similarities of n rows of d columns are held."""
    if kernel.given:
        return KeptGram
    if kernel.linear:
        return ThinProducts
    return KeptGram if worth_keeping(kernel, n, d) else TiledGram


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
        self._diagonal: Array | None = None

    def part(self, rows: Chosen, chosen: Chosen, V: Array) -> Array:
        X, Z = (self.X if some is ALL else self.X[some] for some in (rows, chosen))
        return self.features.times(X, self.features.sums(Z, V))

    def among(self, chosen: Array) -> Similarities:
        return mapped_similarities(self.features, self.X[chosen])

    def columns(self, chosen: Array) -> Array:
        return self.features.times(self.X, self.features.features(self.X[chosen]).T)

    def diagonal(self) -> Array:
        if self._diagonal is None:
            self._diagonal = self.features.squares(self.X)
        return self._diagonal


class KeptFeatures(ThinProducts):
    """``F F'`` of mapped rows in memory."""

    route = "rows were mapped once and kept"


def mapped_similarities(features: FeatureMap, X: Matrix) -> Similarities:
    """Return the products of mapped rows, kept if they take no more than a quarter of the memory budget."""
    if 8 * X.shape[0] * features.size > memory_budget() // 4:
        return MappedEachPass(features, X)
    return KeptFeatures(features.features(X))


@dataclass(frozen=True)
class FeatureMeans(Anchored):
    r"""Points :math:`m_k = \sum_i b_{ik} \phi(x_i)` of the feature space.

    Distances are :math:`\|\phi(x) - m_k\|^2 = k(x, x) - 2 \sum_i b_{ik} k(x, x_i) + \|m_k\|^2`.

    ``anchors``: the :math:`x_i`. ``coefficients`` (n, k): the :math:`b_{ik}`. ``squares`` (k,): the :math:`\|m_k\|^2`.
    ``origin`` (d,): point that was subtracted from the anchors, and will be from new rows. ``training`` (n,): diagonal
    of a precomputed matrix, by which the training rows are recognised. ``reach``: length of the longest row of which
    means were written down: their rounding is a part of it. 0 if they are sums.
    """

    kernel: Kernel
    anchors: Any
    coefficients: Array
    squares: Array
    origin: Array | None = None
    training: Array | None = None
    reach: float = 0.0

    @property
    def size(self) -> int:
        """Number of means."""
        return len(self.squares)

    def nearness(self, X: Matrix) -> Array:
        r"""Return :math:`m_k'\phi(x) - \|m_k\|^2/2`, m x k: the nearer, the larger; ``k(x, x)`` is not needed.

        Values that differ from the largest by rounding only are set to it: those means are equally near.
        """
        return resolve_ties(X, self._sized(X), self._sized)

    def squared_distances(self, X: Matrix) -> Array:
        """Return squared distances, m x k; an indefinite kernel has negative ones, and what is but rounding is 0."""
        X = moved(X, self.origin)
        own = own_similarities(self.kernel, X, self.training)[:, None]
        squares = own - 2 * (self.similarities(X) @ self.coefficients - self.squares / 2)
        squares[np.abs(squares) <= SIMILARITY_ROUNDING * (np.abs(own) + np.abs(self.squares))] = 0.0
        return squares

    def _sized(self, X: Matrix) -> Sized:
        X = moved(X, self.origin)
        found, sizes = self.similarities(X).with_sizes(self.coefficients)
        if self.reach:
            sizes = np.maximum(sizes, self.reach * np.sqrt(self.kernel.diagonal(X))[:, None])
        return found - self.squares / 2, (sizes + np.abs(self.squares)).max(axis=1)


def feature_means(
    kernel: Kernel, X: Matrix, coefficients: Array, squares: Array | None = None, origin: Array | None = None
) -> FeatureMeans:
    """Return the means ``coefficients'Phi(X)`` of rows seen from ``origin``, keeping what is needed of them.

    ``squares``: those of the means; not needed of the linear kernel.
    """
    if kernel.linear:  # features are the rows themselves: the means can be written down
        reach = float(np.sqrt(kernel.diagonal(X).max()))
        means = np.asarray(coefficients.T @ X)
        squares = squared_norms(means) if squares is None else squares
        return FeatureMeans(kernel, means, np.eye(len(squares)), squares, origin, reach=reach)
    assert squares is not None  # for the type checker
    if kernel.given:  # new rows hold their similarities to all training rows
        return FeatureMeans(kernel, kernel.anchors(X), coefficients, squares, None, np.array(X.diagonal()))
    used = np.flatnonzero(coefficients.any(axis=1))
    if len(used) < X.shape[0]:
        return FeatureMeans(kernel, X[used], coefficients[used], squares)
    return FeatureMeans(kernel, kernel.anchors(X), coefficients, squares)


def own_similarities(kernel: Kernel, X: Matrix, training: Array | None) -> Array:
    """Return ``k(x, x)`` for each row.

    Rows of a precomputed kernel do not hold it, unless they are those of the training rows all over again.
    """
    if not kernel.given or training is None:
        return kernel.diagonal(X)
    again = X.shape[0] == X.shape[1] and np.array_equal(X.diagonal(), training)
    if not again or abs(X - X.T).max() > 1e-5 * abs(X).max():
        raise ValueError(
            f"kernel='precomputed' tells no distances of new rows: X, {X.shape[0]} x {X.shape[1]}, holds similarities "
            "to the training rows, not of the new rows to themselves. Give a kernel of rows, or use predict."
        )
    return np.asarray(training, dtype=np.float64)


def mapped_means(
    features: FeatureMap, X: Matrix, coefficients: Array, squares: Array, origin: Array | None
) -> FeatureMeans:
    """Return the means ``coefficients'F`` as sums over landmarks, seen from ``origin``.

    They lie in the span of the landmarks, so that distances to them are those of the whole feature space.
    """
    sums = features.lift(features.sums(X, coefficients))
    return FeatureMeans(features.kernel, features.anchors, sums, squares, origin)
