"""A centred and scaled table of numbers, dense or CSR, behind one face."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.operators.base import Dense, Operator
from gramian.operators.centering import column_means
from gramian.operators.tiles import row_blocks
from gramian.results import Array


class Data:
    r"""``A = (X - 1 mu') / scale``, never stored: dense rows are centred block by block, sparse ones implicitly.

    Centring before multiplying keeps the digits of data far from the origin; a sparse table keeps its zeros.

    Parameters
    ----------
    X : array or CSR matrix
        Rows, n x d.
    center : bool
        Subtract the column means.
    scale : bool
        Divide by the column standard deviations (divisor n - 1). Constant columns are left alone.
    """

    def __init__(self, X: Any, *, center: bool = True, scale: bool = False) -> None:
        self.X, (self.n, self.d) = X, X.shape
        self.mean = column_means(X) if center else np.zeros(self.d)
        self.scale = np.ones(self.d)
        # A power of two brings extreme data where squares neither overflow nor vanish, without rounding.
        self.unit = self._unit()
        self.column_squares = self._column_squares()
        if scale:
            deviations = np.sqrt(self.column_squares / max(self.n - 1, 1)) * self.unit
            constant = deviations <= 10 * np.finfo(np.float64).eps * np.abs(self.mean)
            self.scale = np.where(constant | (deviations == 0), 1.0, deviations)
            self.unit = 1.0
            self.column_squares = self._column_squares()

    @property
    def sparse(self) -> bool:
        """Whether the rows are CSR."""
        return sp.issparse(self.X)

    def squares(self) -> float:
        """Sum of all squared entries of ``A / unit``."""
        return float(self.column_squares.sum())

    def block(self, rows: slice) -> Array:
        """Rows of ``A / unit`` as a fresh array in double precision."""
        X = self.X[rows].toarray() if self.sparse else self.X[rows]
        return (X - self.mean) / (self.scale * self.unit)

    def toarray(self) -> Array:
        """The whole of ``A / unit``."""
        return self.block(slice(0, self.n))

    def times(self, V: Array) -> Array:
        """Return ``A V / unit``."""
        V = V / (self.scale * self.unit)[:, None]
        if self.sparse:
            return self.X @ V - self.mean @ V
        return np.concatenate([(self.X[rows] - self.mean) @ V for rows in row_blocks(self.n, self.d)])

    def adjoint(self, U: Array) -> Array:
        """Return ``A' U / unit``."""
        if self.sparse:
            total = self.X.T @ U - np.outer(self.mean, U.sum(axis=0))
        else:
            total = np.zeros((self.d, U.shape[1]))
            for rows in row_blocks(self.n, self.d):
                total += (self.X[rows] - self.mean).T @ U[rows]
        return total / (self.scale * self.unit)[:, None]

    def scatter(self) -> Array:
        """Return ``A'A / unit^2``, d x d."""
        if self.sparse:
            A, mean = self._uncentred()
            return (A.T @ A).toarray() - self.n * np.outer(mean, mean)
        total = np.zeros((self.d, self.d))
        for rows in row_blocks(self.n, self.d):
            A = self.block(rows)
            total += A.T @ A
        return total

    def gram(self) -> Array:
        """Return ``AA' / unit^2``, n x n; columns are visited in blocks so that no second copy of X is made."""
        if self.sparse:
            A, mean = self._uncentred()
            cross = A @ mean
            return (A @ A.T).toarray() - cross[:, None] - cross[None, :] + mean @ mean
        total = np.zeros((self.n, self.n))
        for cols in row_blocks(self.d, self.n):
            A = (self.X[:, cols] - self.mean[cols]) / (self.scale[cols] * self.unit)
            total += A @ A.T
        return total

    def _uncentred(self) -> tuple[Any, Array]:
        """Sparse rows and mean, both divided by scale and unit."""
        weight = 1 / (self.scale * self.unit)
        return sp.csr_array(self.X @ sp.diags_array(weight)), self.mean * weight

    def _unit(self) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            largest = max(abs(self.X.max()), abs(self.X.min())) if self.X.shape[0] else 0.0
            spread = float(largest) + float(np.abs(self.mean).max(initial=0))
        if 1e-60 < spread < 1e60 or spread == 0:
            return 1.0
        return float(2.0 ** np.round(np.log2(min(spread, np.finfo(np.float64).max))))

    def _column_squares(self) -> Array:
        weight = self.scale * self.unit
        if self.sparse:
            A, mean = self._uncentred()
            squares = np.asarray(A.multiply(A).sum(axis=0), dtype=np.float64).ravel()
            return np.maximum(squares - self.n * mean**2, 0)
        total = np.zeros(self.d)
        for rows in row_blocks(self.n, self.d):
            A = (self.X[rows] - self.mean) / weight
            total += np.einsum("ij,ij->j", A, A)
        return total


class Normal(Operator):
    """``A'A`` (side "right") or ``AA'`` (side "left") of a table, by two thin products."""

    def __init__(self, data: Data, side: str) -> None:
        self.data, self.side, self.positive = data, side, True
        self.n, self.dtype = (data.d if side == "right" else data.n), np.dtype(np.float64)

    def __matmul__(self, V: Array) -> Array:
        if self.side == "right":
            return self.data.adjoint(self.data.times(V))
        return self.data.times(self.data.adjoint(V))

    def toarray(self) -> Array:
        return self.data.scatter() if self.side == "right" else self.data.gram()

    def dense(self) -> Dense:
        """The same matrix, formed."""
        return Dense(self.toarray(), positive=True)

    def astype(self, dtype: Any) -> Normal:
        return self  # thin products are cheap enough in double precision
