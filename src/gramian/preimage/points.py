"""Points of a feature space, known by their weights on training rows, and the results of looking for their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.config import memory_budget, thread_count
from gramian.engine.tiles import spans
from gramian.kernels import Kernel
from gramian.kernels.pairwise import squared_norms
from gramian.operators import CrossGram, Gram
from gramian.operators.centering import column_means
from gramian.results import Array

#: Kernel values of a block of points held at a time by each thread.
ENTRIES = 2**20


@dataclass(frozen=True)
class PreImage:
    r"""Rows whose features are near given points, and how near.

    Attributes
    ----------
    points : (m, d) array
        Rows x.
    residuals : (m,) array
        Distances :math:`\|\phi(x) - P\|` in feature space. Squares cancel in them: below 1e-8 times the size of
        :math:`\phi(x)` they are rounding.
    methods : (m,) array of str
        What found each row: "fixed_point", "distance", "learned", or "nearest" (the nearest training row).
    fell_back : (m,) bool array
        Points that no method could place; their nearest training row stands in.

    Examples
    --------
    >>> from gramian.preimage import preimage
    >>> found = preimage("rbf(sigma=2)", [[0.0], [1.0], [9.0]], [[0.5], [0.5], [0.0]])
    >>> found.points.round(4), found.fallbacks
    (array([[0.5]]), 0)
    """

    points: Array
    residuals: Array
    methods: Array
    fell_back: Array

    @property
    def fallbacks(self) -> int:
        """Number of points that fell back to the nearest training row."""
        return int(self.fell_back.sum())


class FeaturePoints:
    r"""Points of a feature space and what can be known of them without their rows.

    Definition
    ----------
    .. math:: P_i = \sum_q s_{iq} \sum_j a_{jq}\,\phi(x_j), \qquad
              \langle P_i, \phi(x_j) \rangle = (S (KA)')_{ij}, \quad \|P_i\|^2 = (S A'KA S')_{ii}

    Parameters
    ----------
    kernel : Kernel
        Positive definite, with resolved parameters.
    anchors : rows
        Dense or CSR, n x d: the rows :math:`x_j`.
    weights : (n, q) array
        A: directions.
    coordinates : (m, q) array
        S: points along them.

    Cost
    ----
    One product of the Gram matrix with q vectors.
    """

    def __init__(self, kernel: Kernel, anchors: Any, weights: Array, coordinates: Array) -> None:
        self.kernel, self.anchors, self.weights, self.coordinates = kernel, anchors, weights, coordinates
        self.n, self.m = anchors.shape[0], len(coordinates)
        self.images = Gram(kernel, anchors) @ weights
        self.metric = weights.T @ self.images
        self.metric = (self.metric + self.metric.T) / 2
        with np.errstate(over="ignore", invalid="ignore"):
            self.squares = np.maximum(np.einsum("iq,iq->i", coordinates @ self.metric, coordinates), 0)
        if not np.isfinite(self.squares).all():
            raise ValueError(
                "points of the feature space overflow: their squared norms are not finite. Scale them down."
            )
        self.diagonal = kernel.diagonal(anchors)
        mean = column_means(anchors)
        # |x - mean|^2, without making sparse rows dense
        self.spread = np.maximum(squared_norms(anchors) - 2 * (anchors @ mean) + mean @ mean, 0)

    @property
    def size(self) -> float:
        """Root mean square distance of the anchors to their mean."""
        return float(np.sqrt(self.spread.mean()))

    def blocks(self) -> list[slice]:
        """Cut the points so that a few blocks of kernel values fit the memory budget."""
        entries = min(ENTRIES, memory_budget() // (8 * 8 * thread_count()))
        return spans(self.m, max(1, min(512, entries // max(self.n, 1))))

    def similarities(self, rows: slice) -> Array:
        """``<P, phi(x_j)>`` of some points and all anchors."""
        return self.coordinates[rows] @ self.images.T

    def squared_distances(self, rows: slice) -> Array:
        """``||P - phi(x_j)||^2`` of some points and all anchors; rounding may leave it a little below zero."""
        return self.diagonal - 2 * self.similarities(rows) + self.squares[rows, None]

    def nearest(self) -> Array:
        """The nearest anchor of each point; the lowest index if several are."""
        return np.concatenate([self.squared_distances(rows).argmin(axis=1) for rows in self.blocks()])

    def without_pull(self, nearest: Array) -> Array:
        """Whether a point is similar to nothing: no more than rounding to its nearest anchor, or less than nothing."""
        terms = self.coordinates * self.images[nearest]
        return terms.sum(axis=1) <= np.finfo(np.float64).eps ** 0.5 * np.abs(terms).sum(axis=1)

    def rounding(self) -> Array:
        """Size of the rounding of ``||phi(x) - P||^2``."""
        return 16 * np.finfo(np.float64).eps * (self.squares + self.diagonal.max())

    def residuals(self, points: Array) -> Array:
        """``||phi(x) - P||`` of one row for each point."""
        similar = np.sum((CrossGram(self.kernel, points, self.anchors) @ self.weights) * self.coordinates, axis=1)
        return np.sqrt(np.maximum(self.kernel.diagonal(points) - 2 * similar + self.squares, 0))


def dense(rows: Any) -> Array:
    """Rows as a dense array in double precision."""
    return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)
