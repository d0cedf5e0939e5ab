"""Kernels that fall with the Euclidean distance: their nearest neighbours are the plain ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from gramian.engine.product import Product
from gramian.engine.tiles import Meter, row_blocks, run, share, spans, threads_for
from gramian.kernels.pairwise import Rows, squared_norms
from gramian.operators.centering import column_means
from gramian.operators.nearest import EXTRA_CANDIDATES, smallest
from gramian.results import Array

#: Rows searched again at a time.
RECHECKED_ROWS_PER_BLOCK = 4096


class EuclideanSearch:
    """Nearest rows by Euclidean distance, exact, ties by the first index.

    Candidates are found in single precision, or by a tree; their distances are computed again from differences in
    double precision. A bound on the rounding of the search tells for which rows no other candidate could be nearer; the
    rest are searched again in double precision.

    ``X``, ``Y``: dense or CSR, m x d and n x d; the nearest of Y are sought. ``own``: X and Y are the same rows, and no
    row is its own neighbour.
    """

    def __init__(self, X: Rows, Y: Rows, *, own: bool = False) -> None:
        self.X, self.Y, self.own = X, Y, own
        self.sparse = sp.issparse(Y)
        self.mean = np.zeros(Y.shape[1]) if self.sparse else column_means(Y)
        self.nx, self.ny = self._norms(X), self._norms(Y)
        largest = float(max(self.nx.max(), self.ny.max()))
        if not largest < np.finfo(np.float64).max / 8:
            raise ValueError(
                "squared distances overflow: the rows of X are too far apart. Divide X by a constant, or standardise "
                "its columns."
            )
        # Single precision has a smaller range: rows are measured in a unit near their own size.
        self.unit = float(2.0 ** np.round(np.log2(largest) / 2)) if largest > 0 else 1.0

    def find(self, k: int) -> tuple[Array, Array]:
        """Return squared distances and indices of the k nearest, m x k."""
        wide = min(k + EXTRA_CANDIDATES, self.Y.shape[0] - self.own)
        values, columns = smallest(self._pairs(np.float32), wide, own=self.own)
        return self.settle(columns, self.unit**2 * values[:, -1] - self._rounding(np.float32), k)

    def settle(self, candidates: Array, beyond: Array, k: int) -> tuple[Array, Array]:
        """Choose the k nearest of the candidates, m x c.

        Squared distances to all others are at least ``beyond``; where that does not decide, the search is repeated.
        """
        squares = self._exact(candidates)
        order = np.lexsort((candidates, squares))[:, :k]
        squares, columns = np.take_along_axis(squares, order, axis=1), np.take_along_axis(candidates, order, axis=1)
        if candidates.shape[1] < self.Y.shape[0] - self.own:
            doubtful = np.flatnonzero(~(squares[:, -1] < beyond))
            for at in range(0, len(doubtful), RECHECKED_ROWS_PER_BLOCK):
                rows = doubtful[at : at + RECHECKED_ROWS_PER_BLOCK]
                squares[rows], columns[rows] = self._again(rows, squares[rows, -1], k)
        return squares, columns

    def _again(self, rows: Array, bound: Array, k: int) -> tuple[Array, Array]:
        """Search for some rows in double precision; whatever rounding leaves in doubt is computed from differences."""

        def exact(i: Array, j: Array) -> Array:
            squares = self._apart(rows[i], j) / self.unit**2
            return np.where(rows[i] == j, np.inf, squares) if self.own else squares

        slack = self._rounding(np.float64)[rows] / self.unit**2
        pairs = self._pairs(np.float64, rows)
        squares, columns = smallest(pairs, k, bound=bound / self.unit**2, slack=slack, exact=exact)
        return squares * self.unit**2, columns

    def _pairs(self, dtype: DTypeLike, rows: Array | slice = slice(None)) -> Product:
        # Norms ride along as two extra columns, so one matrix product writes squared distances.
        unit2 = self.unit**2
        nx, ny = self.nx[rows] / unit2, self.ny / unit2
        left = self._prepared(self.X[rows], -2 / self.unit, nx, np.ones_like(nx), dtype)
        return Product(left, self._prepared(self.Y, 1 / self.unit, np.ones_like(ny), ny, dtype), dtype)

    def _prepared(self, X: Rows, factor: float, first: Array, second: Array, dtype: DTypeLike) -> Rows:
        if self.sparse:
            extra = sp.csr_array(np.column_stack([first, second]))
            return sp.csr_array(sp.hstack([X * factor, extra]), dtype=dtype)
        out = np.empty((X.shape[0], X.shape[1] + 2), dtype=dtype)
        for rows in row_blocks(*X.shape):
            out[rows, :-2] = (X[rows] - self.mean) * factor
        out[:, -2], out[:, -1] = first, second
        return out

    def _rounding(self, dtype: DTypeLike) -> Array:
        """How far a squared distance from such a product may be from the truth: d + 10 roundings of its parts."""
        unit_roundoff = float(np.finfo(dtype).eps) / 2
        return (self.Y.shape[1] + 10) * unit_roundoff * (np.sqrt(self.nx) + np.sqrt(self.ny.max())) ** 2

    def _norms(self, X: Rows) -> Array:
        if self.sparse:
            return squared_norms(X.astype(np.float64, copy=False))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.concatenate([squared_norms(X[rows] - self.mean) for rows in row_blocks(*X.shape)])

    def _exact(self, columns: Array) -> Array:
        """Squared distances of each row to some of the others, from differences."""
        out = np.empty(columns.shape)
        blocks = spans(len(columns))

        def work(panels: Sequence[int], meter: Meter) -> None:
            for rows in (blocks[p] for p in panels):
                each = np.repeat(np.arange(rows.start, rows.stop), columns.shape[1])
                out[rows] = self._apart(each, columns[rows].ravel()).reshape(-1, columns.shape[1])
                meter.tick()

        run(work, share(len(blocks), threads_for(len(blocks))))
        return out

    def _apart(self, i: Array, j: Array) -> Array:
        """Squared distances of pairs."""
        out, step = np.empty(len(i)), max(1, 2**18 // self.Y.shape[1])
        for at in range(0, len(i), step):
            X, Y = self.X[i[at : at + step]], self.Y[j[at : at + step]]
            out[at : at + step] = squared_norms(X.astype(np.float64) - Y)
        return out
