"""New points to scores, and back: what a fitted estimator keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.config import PINNED_MAX_MULTIPLICATIONS, pinned_if_small
from gramian.engine.tiles import for_each, row_blocks
from gramian.kernels import Kernel
from gramian.operators.centering import moved
from gramian.operators.gram import Anchored
from gramian.results import Array, Matrix


@dataclass(frozen=True)
class LinearProjection:
    r"""Affine map to scores and its inverse on the span of the components.

    Definition
    ----------
    .. math:: t = W'(x - \mu), \qquad \hat x = \mu + B't
    """

    mean: Array
    weights: Array  #: (d, k), columns of W: directions times mix, scaling included
    back: Array  #: (k, d), rows of B

    @property
    def size(self) -> int:
        """Number of scores of a row."""
        return self.weights.shape[1]

    def scores(self, X: Matrix) -> Array:
        """Scores of rows, n x k, in double precision."""
        return centred_product(X, self.mean, self.weights)

    def inverse(self, scores: Array) -> Array:
        """Rows on the span of the components that have these scores."""
        return scores @ self.back + self.mean


def centred_product(X: Matrix, mean: Array, W: Array) -> Array:
    """``(X - mean) W`` of rows, dense or CSR."""
    if sp.issparse(X):
        return np.asarray(X @ W - mean @ W)
    blocks = row_blocks(*X.shape)
    if len(blocks) == 1:
        with pinned_if_small(min(X.size * W.shape[1], PINNED_MAX_MULTIPLICATIONS)):
            return np.subtract(X, mean, dtype=np.float64) @ W
    out = np.empty((X.shape[0], W.shape[1]))

    def write(rows: slice, room: Array) -> None:
        # Centre before multiplying: far from the origin the difference of two products has no digits left.
        np.matmul(np.subtract(X[rows], mean, out=room[: rows.stop - rows.start]), W, out=out[rows])

    for_each(blocks, write, lambda: np.empty((blocks[0].stop, X.shape[1])))
    return out


@dataclass(frozen=True)
class KernelProjection(Anchored):
    r"""Scores from kernel values between new rows and anchors, with the centring folded in.

    Definition
    ----------
    .. math:: t = B'k(x) + b, \qquad k(x)_i = k(x, x_i)

    ``mean`` has the coefficients of the mean of the training rows in those of the anchors; they are the same for all if
    the anchors are those rows.
    """

    kernel: Kernel
    anchors: Any  #: training rows, or landmarks
    coefficients: Array  #: (n, k): B
    offset: Array  #: (k,): b
    mean: Array | None = None
    origin: Array | None = None  #: (d,): what anchors are seen from, and rows before anything else

    @property
    def size(self) -> int:
        """Number of scores of a row."""
        return len(self.offset)

    def scores(self, X: Matrix) -> Array:
        """Scores of rows, m x k; kernel values are not kept."""
        if self.origin is not None and sp.issparse(X):  # a shift would make them dense, and the scores are linear in it
            away = self.similarities(self.origin[None]) @ self.coefficients
            return self.similarities(X) @ self.coefficients + (self.offset - away)
        return self.similarities(moved(X, self.origin)) @ self.coefficients + self.offset

    def sized(self, X: Matrix) -> tuple[Array, Array]:
        """Scores of rows as they are, and the largest sum of the sizes of their terms, (m,): what rounding is part of.

        A dot product rounds in units of the lengths of its rows, also where they are at right angles.
        """
        scores, sizes = self.similarities(X).with_sizes(self.coefficients)
        if self.kernel.rounds_by_length:
            lengths = (np.sqrt(np.abs(self.kernel.diagonal(rows))) for rows in (X, self.anchors))
            sizes = np.maximum(sizes, np.outer(next(lengths), next(lengths) @ np.abs(self.coefficients)))
        return scores + self.offset, (sizes + np.abs(self.offset)).max(axis=1)


Projection = LinearProjection | KernelProjection
