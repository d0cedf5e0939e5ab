"""The only place where anything is centred: columns of data, and kernels in feature space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.operators.base import Operator
from gramian.operators.tiles import row_blocks
from gramian.results import Array


def column_means(X: Any, weights: Array | None = None) -> Array:
    """Column means in double precision, with the rounding of the first pass taken out by a second."""
    share = np.full(X.shape[0], 1 / X.shape[0]) if weights is None else weights / weights.sum()
    if sp.issparse(X):
        return np.asarray(X.T @ share, dtype=np.float64).ravel()
    mean = np.zeros(X.shape[1])
    for rows in row_blocks(*X.shape):  # shares first: a sum of extreme values would overflow before the mean does
        mean += share[rows] @ X[rows]
    rest = sum(share[rows] @ (X[rows] - mean) for rows in row_blocks(*X.shape))
    return mean + rest


@dataclass(frozen=True)
class KernelCentring:
    r"""Centring in feature space, from the training means alone.

    Definition
    ----------
    With :math:`m = K1/n` and :math:`H = I - 11'/n`: training :math:`HKH`, a new row :math:`(k(x) - m)'H`.

    Attributes
    ----------
    means : (n,) array
        Row means :math:`m` of the training Gram matrix.
    """

    means: Array

    def trace(self, diagonal: Array) -> float:
        """Trace of ``HKH``: ``tr K - 1'K1/n``."""
        return float(diagonal.sum() - self.means.sum())

    def apply(self, K: Array) -> Array:
        """Centre the training Gram matrix, in place."""
        K -= self.means[:, None]
        K -= self.means[None, :]
        K += self.means.mean()
        return K

    def fold(self, coefficients: Array) -> tuple[Array, Array]:
        """Move the centring of new rows into the coefficients: ``(k - m)'H A = k'B + b``."""
        B = centre_columns(coefficients)
        return B, -self.means @ B


class Centred(Operator):
    """``H K H``. The means are picked up by the first product, as one more vector."""

    def __init__(self, inner: Any, means: Array | None = None) -> None:
        self.inner, self._means = inner, means
        self.n, self.dtype, self.positive = inner.n, inner.dtype, inner.positive
        self.narrow_pays = inner.narrow_pays

    def __matmul__(self, V: Array) -> Array:
        V = centre_columns(V)
        if self._means is None:
            product = self.inner @ np.column_stack([V, np.ones(self.n, dtype=V.dtype)])
            self._means = product[:, -1].astype(np.float64) / self.n
            return centre_columns(product[:, :-1])
        return centre_columns(self.inner @ V)

    @property
    def centring(self) -> KernelCentring:
        """The training means; costs a product if none was made yet."""
        if self._means is None:
            self._means = (self.inner @ np.ones((self.n, 1)))[:, 0].astype(np.float64) / self.n
        return KernelCentring(self._means)

    def trace(self) -> float:
        """Trace of the centred matrix."""
        return self.centring.trace(self.inner.diagonal())

    def toarray(self) -> Array:
        K = self.inner.toarray()
        self._means = K.mean(axis=1)
        return self.centring.apply(K)

    def astype(self, dtype: Any) -> Centred:
        # Means in single precision would stain the certificate: the new operator finds its own.
        return self if self.dtype == dtype else Centred(self.inner.astype(dtype))

    def sketch(self, rank: int, rng: np.random.Generator) -> Array:
        return centre_columns(self.inner.sketch(rank, rng))


def centre_columns(V: Array) -> Array:
    """Return ``H V``."""
    return V - V.mean(axis=0)
