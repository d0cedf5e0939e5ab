"""A centred and scaled table of numbers, dense or CSR, weighted or not, behind one face."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from gramian.engine.product import to_dense
from gramian.engine.tiles import row_blocks, spans
from gramian.kernels.pairwise import far_means, moved
from gramian.lapack import interruptible
from gramian.operators.centering import Operator, column_means
from gramian.operators.moments import ColumnRanges, ColumnSums, column_scale
from gramian.results import Array, Matrix


class Data:
    r"""``A = diag(w)^1/2 (X - 1 mu') / scale``, never stored.

    Dense rows are centred block by block, sparse ones implicitly: centring before multiplying keeps the digits of data
    far from the origin; a sparse table keeps its zeros. Everything is divided by ``unit``, a power of two that brings
    extreme data where squares neither overflow nor vanish, without rounding.

    ``X``: rows, n x d. ``center``: subtract the column means. ``scale``: divide by the column standard deviations
    (divisor: weight - 1). Constant columns are left alone. ``weights`` (n,): frequencies w of the rows. ``unit``,
    ``mean``: if they are known, which saves two passes each.
    """

    def __init__(
        self,
        X: Matrix,
        *,
        center: bool = True,
        scale: bool = False,
        weights: Array | None = None,
        unit: float | None = None,
        mean: Array | None = None,
    ) -> None:
        self.n, self.d = X.shape
        shift = far_means(X, X) if center and sp.issparse(X) else np.zeros(self.d)
        self.X = moved(X, shift) if shift.any() else X
        self.root = None if weights is None else np.sqrt(weights)
        self.weight = float(self.n if weights is None else weights.sum())
        if not center:
            mean = np.zeros(self.d)
        self.centre = column_means(self.X, weights) if mean is None or shift.any() else mean
        self.mean = shift + self.centre
        self.scale = np.ones(self.d)
        self.unit = self._unit() if unit is None else unit
        if scale:
            deviations = np.sqrt(self.column_squares / (self.weight - 1)) * self.unit
            self.scale, self.unit = column_scale(deviations, self.mean), 1.0
            del self.column_squares  # those of the columns as they were

    @cached_property
    def column_squares(self) -> Array:
        """Sums of squares of the columns of ``A / unit``."""
        if sp.issparse(self.X):
            A, mean = self._uncentred()
            squares = np.asarray(A.multiply(A).sum(axis=0), dtype=np.float64).ravel()
            return np.maximum(squares - self.weight * mean**2, 0)
        total = np.zeros(self.d)
        for rows in row_blocks(self.n, self.d):
            A = self.block(rows)
            total += np.einsum("ij,ij->j", A, A)
            del A
        return total

    def toarray(self) -> Array:
        """The whole of ``A / unit``, as a fresh array in double precision."""
        return self.block(slice(0, self.n))

    def times(self, V: Array) -> Array:
        """Return ``A V / unit``."""
        V = V / (self.scale * self.unit)[:, None]
        if sp.issparse(self.X):
            return self._rooted(self.X @ V - self.centre @ V)
        blocks = [(self.X[rows] - self.centre) @ V for rows in row_blocks(self.n, self.d)]
        return self._rooted(np.concatenate(blocks))

    def adjoint(self, U: Array) -> Array:
        """Return ``A' U / unit``."""
        U = self._rooted(U)
        if sp.issparse(self.X):
            total = self.X.T @ U - np.outer(self.centre, U.sum(axis=0))
        else:
            total = np.zeros((self.d, U.shape[1]))
            for rows in row_blocks(self.n, self.d):
                total += (self.X[rows] - self.centre).T @ U[rows]
        return total / (self.scale * self.unit)[:, None]

    def scatter(self) -> Array:
        """Return ``A'A / unit^2``, d x d."""
        if sp.issparse(self.X):
            A, mean = self._uncentred()
            return (A.T @ A).toarray() - self.weight * np.outer(mean, mean)
        total = np.zeros((self.d, self.d))
        for rows in row_blocks(self.n, self.d):
            A = self.block(rows)
            total += A.T @ A
            del A  # or it would be kept while the next is made
        return total

    def gram(self) -> Array:
        """Return ``AA' / unit^2``, n x n; columns are visited in blocks so that no second copy of X is made."""
        if sp.issparse(self.X):
            A, mean = self._uncentred()
            root = np.ones(self.n) if self.root is None else self.root
            cross = np.outer(A @ mean, root)
            return (A @ A.T).toarray() - cross - cross.T + mean @ mean * np.outer(root, root)
        total, product = np.zeros((self.n, self.n)), np.empty((self.n, self.n))
        for cols in spans(self.d, columns_of_a_block(self.n)):
            A = self.X[:, cols] - self.centre[cols]
            A /= self.scale[cols] * self.unit
            total += interruptible(np.matmul, A, A.T, out=product)
            del A
        return total if self.root is None else total * np.outer(self.root, self.root)

    def block(self, rows: slice, out: Array | None = None) -> Array:
        """Some rows of ``A / unit``, written to ``out`` if that is given."""
        A = np.subtract(to_dense(self.X[rows]), self.centre, out=out, dtype=np.float64)
        if self.unit != 1 or (self.scale != 1).any():
            A /= self.scale * self.unit
        if self.root is not None:
            A *= self.root[rows, None]
        return A

    def _rooted(self, U: Array) -> Array:
        return U if self.root is None else U * self.root[:, None]

    def _uncentred(self) -> tuple[Any, Array]:
        """Sparse weighted rows, and the mean, both divided by scale and unit."""
        divisor = 1 / (self.scale * self.unit)
        A = sp.csr_array(self.X @ sp.diags_array(divisor))
        return (A if self.root is None else sp.csr_array(sp.diags_array(self.root) @ A)), self.centre * divisor

    def _unit(self) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            largest = float(max(abs(self.X.max()), abs(self.X.min())))
            spread = largest + float(np.abs(self.centre).max())
        if 1e-60 < spread < 1e60 or spread == 0:
            return 1.0
        limits = np.finfo(np.float64)  # its ends are kept clear of: the inverse of a unit is finite too
        return float(2.0 ** np.round(np.log2(min(max(spread, limits.tiny), limits.max))))


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

    def astype(self, dtype: DTypeLike) -> Normal:
        return self  # thin products are cheap enough in double precision


def columns_of_a_block(n: int) -> int:
    """Columns whose products with each other are summed at a time: many, for sums over blocks take time as well."""
    return max(512, min(2048, 2**22 // n))


def column_sums(X: Array, weights: Array | None = None) -> ColumnSums:
    """Return the sums of rows in memory."""
    data = Data(X, weights=weights)
    with np.errstate(over="ignore"):
        return ColumnSums(data.weight, data.mean, data.column_squares * np.square(data.unit))


def column_ranges(X: Array, weights: Array | None = None) -> ColumnRanges:
    """Return the sums of a block of rows, which may be empty, and its largest entry."""
    if not len(X) or (weights is not None and not weights.any()):
        return ColumnRanges(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
    sums = column_sums(X, weights)
    return ColumnRanges(float(sums.weight), sums.mean, sums.squares, float(max(X.max(), -X.min())))
