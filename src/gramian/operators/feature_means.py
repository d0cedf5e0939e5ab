"""Means of rows in the feature space of a kernel, and how far new rows are from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.kernels import Kernel
from gramian.operators.centering import moved
from gramian.operators.gram import CrossGram
from gramian.operators.nearest import SIMILARITY_ROUNDING, Sized, resolve_ties
from gramian.results import Array, Matrix


@dataclass(frozen=True)
class FeatureMeans:
    r"""Points :math:`m_k = \sum_i b_{ik} \phi(x_i)` of the feature space.

    Definition
    ----------
    .. math:: \|\phi(x) - m_k\|^2 = k(x, x) - 2 \sum_i b_{ik} k(x, x_i) + \|m_k\|^2

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
        squares = own - 2 * self._nearness(X)
        squares[np.abs(squares) <= SIMILARITY_ROUNDING * (np.abs(own) + np.abs(self.squares))] = 0.0
        return squares

    def _sized(self, X: Matrix) -> Sized:
        X = moved(X, self.origin)
        found, sizes = CrossGram(self.kernel, X, self.anchors).with_sizes(self.coefficients)
        if self.reach:
            sizes = np.maximum(sizes, self.reach * np.sqrt(self.kernel.diagonal(X))[:, None])
        return found - self.squares / 2, (sizes + np.abs(self.squares)).max(axis=1)

    def _nearness(self, X: Matrix) -> Array:
        return CrossGram(self.kernel, X, self.anchors) @ self.coefficients - self.squares / 2


def feature_means(
    kernel: Kernel, X: Matrix, coefficients: Array, squares: Array, origin: Array | None = None
) -> FeatureMeans:
    """Return the means ``coefficients'Phi(X)`` of rows seen from ``origin``, keeping what is needed of them."""
    if kernel.linear:  # features are the rows themselves: the means can be written down
        reach = float(np.sqrt(kernel.diagonal(X).max()))
        means = np.asarray(coefficients.T @ X)
        return FeatureMeans(kernel, means, np.eye(len(squares)), squares, origin, reach=reach)
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
