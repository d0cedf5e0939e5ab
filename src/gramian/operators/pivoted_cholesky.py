"""Randomly pivoted Cholesky: a low-rank factor of a positive matrix from some of its columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import scipy.linalg

from gramian.engine.tiles import Meter, run, share, spans, threads_for
from gramian.engine.vector_loops import ROWS, in_lines, loops_if_worth
from gramian.kernels import Kernel
from gramian.results import Array


class ColumnAccess(Protocol):
    """A positive matrix of which columns and diagonal can be had."""

    n: int

    def columns(self, chosen: Array) -> Array:
        """Return some columns."""
        ...

    def diagonal(self) -> Array:
        """Return the diagonal."""
        ...


def pivoted_factor(matrix: ColumnAccess, rank: int, rng: np.random.Generator, block: int = 32) -> Array:
    r"""Return F, n x at most rank, with :math:`A \approx FF'`.

    Definition
    ----------
    Pivots are drawn in blocks with probability proportional to what the factor still leaves of the diagonal; each block
    adds the Cholesky factor of the remainder restricted to it.

    Cost
    ----
    ``rank`` columns of the matrix, ``n rank^2`` multiplications, ``n rank`` numbers.

    References
    ----------
    Chen, Epperly, Tropp, Webber, Randomly pivoted Cholesky, Communications on Pure and Applied Mathematics 2024.
    """
    left = np.array(matrix.diagonal(), dtype=np.float64)
    F, filled = np.zeros((matrix.n, rank)), 0
    floor = left.sum() * np.finfo(np.float64).eps * matrix.n
    while filled < rank and left.sum() > floor:
        drawn = rng.choice(matrix.n, size=min(block, rank - filled), p=left / left.sum())
        pivots = np.unique(drawn)
        G = matrix.columns(pivots) - F[:, :filled] @ F[pivots, :filled].T
        # A block may hold near copies: the eigenvectors of its core that carry nothing are left out.
        values, Y = scipy.linalg.eigh(G[pivots])
        kept = values > 1e-10 * values[-1]
        if not kept.any():
            break
        new = G @ (Y[:, kept] / np.sqrt(values[kept]))
        F[:, filled : filled + new.shape[1]] = new
        filled += new.shape[1]
        left = np.maximum(left - np.einsum("ij,ij->i", new, new), 0.0)
        left[pivots] = 0.0
    return F[:, :filled]


#: Rows visited by a thread at a time.
PIVOT_STRIP_ROWS = 2048
#: Rows to choose for each column from which on a prepared copy of the rows is small beside what is kept anyway.
PREPARED_MIN_PIVOTS_PER_COLUMN = 8


class PivotedCholesky:
    r"""The matrix :math:`K - K(X, Z) K(Z, Z)^{-1} K(Z, X)` of chosen rows Z.

    Definition
    ----------
    It is :math:`K - F'F` with the Cholesky factor :math:`F = L^{-1} K(Z, X)`, which grows by some rows at a time. F
    lies in panels of its columns, each of which is in one piece: the loops for the vector unit then need no copy.

    Parameters
    ----------
    kernel : Kernel
        Positive, with resolved parameters.
    X : rows
        Dense or CSR, n x d.
    count : int
        Most rows that will be chosen.

    Attributes
    ----------
    chosen : array
        Rows so far.
    left : (n,) array
        The diagonal; exactly 0 at chosen rows.
    dtype : dtype
        Precision of F.

    Cost
    ----
    ``n count`` numbers; for each chosen row n kernel values and ``2 n`` multiplications for each one before it.
    """

    def __init__(self, kernel: Kernel, X: Any, count: int) -> None:
        self.kernel, self.X, n = kernel, X, X.shape[0]
        self.dtype: np.dtype[Any] = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self.loops = loops_if_worth(self.dtype, n * float(count) ** 2)
        self.width = self.loops.panel if self.loops else -(-n // -(-n // PIVOT_STRIP_ROWS))
        self.F = in_lines((-(-n // self.width), count, self.width), self.dtype)
        self.chosen, self.left = np.empty(0, dtype=np.intp), np.array(kernel.diagonal(X), dtype=np.float64)
        self._values = _values(kernel, X, self.dtype, count)

    def among(self, rows: Array) -> Array:
        """The part of the matrix that belongs to some rows."""
        A = self._columns(rows).astype(np.float64)
        return self.kernel.block(self.X[rows], self.X[rows]) - A @ A.T

    def choose(self, rows: Array, L: Array) -> None:
        """Take out more rows; L is the Cholesky factor of the part of the matrix that belongs to them."""
        at, n, k = len(self.chosen), len(self.left), len(rows)
        inverse = scipy.linalg.solve_triangular(L, np.eye(k), lower=True, check_finite=False)
        inverse, new = np.ascontiguousarray(inverse, dtype=self.dtype), slice(at, at + k)
        own = np.zeros((ROWS * -(-k // ROWS), at), dtype=self.dtype)  # rows in eights, as the loops want them
        own[:k] = self._columns(rows)
        strips = _strips(len(self.F), max(1, PIVOT_STRIP_ROWS // self.width))

        def work(turns: Sequence[int], meter: Meter) -> None:
            room = np.zeros((k, strips[0].stop * self.width), dtype=self.dtype)
            for panels in (strips[i] for i in turns):
                columns = slice(panels.start * self.width, min(panels.stop * self.width, n))
                size = columns.stop - columns.start
                self._values(rows, columns, room[:, :size])
                room[:, size:] = 0.0  # the last panel is filled up
                self._eliminate(room, own, inverse, self.F[panels], at)
                G = self.F[panels, new]
                self.left[columns] -= np.einsum("pij,pij->pj", G, G).ravel()[:size]
                np.maximum(self.left[columns], 0.0, out=self.left[columns])
                meter.tick()

        run(work, share(len(strips), threads_for(len(strips))))
        self.chosen = np.concatenate([self.chosen, rows])
        self.left[self.chosen] = 0.0

    def taken(self, since: int, w: Array) -> Array:
        """What each chosen row since the first few has taken of the trace, with weights w."""
        spread = np.zeros((len(self.F), self.width))
        spread.ravel()[: len(w)] = w
        return np.einsum("pij,pj->i", np.square(self.F[:, since : len(self.chosen)]), spread)

    def _columns(self, rows: Array) -> Array:
        """Columns of F as rows."""
        return self.F[rows // self.width, : len(self.chosen), rows % self.width]

    def _eliminate(self, tile: Array, own: Array, inverse: Array, F: Array, at: int) -> None:
        """Write ``inverse (tile - own F)`` to the next rows of some panels."""
        panels, k = len(F), len(tile)
        tile = tile[:, : panels * self.width]
        if self.loops and at and k >= ROWS:
            self.loops.eliminate(tile, own, inverse, F, at)
        else:
            rest = tile.reshape(k, panels, self.width).swapaxes(0, 1) - own[:k] @ F[:, :at]
            np.matmul(inverse, rest, out=F[:, at : at + k])


def _strips(panels: int, most: int) -> list[slice]:
    """Cut panels into strips of at most so many, as many for each thread."""
    count = -(-panels // most)
    threads = threads_for(count)
    return spans(panels, -(-panels // (threads * -(-count // threads))))


def _values(kernel: Kernel, X: Any, dtype: np.dtype, count: int) -> Callable[[Array, slice, Array], Array]:
    """Return what writes kernel values between chosen rows and others.

    Rows of few columns are prepared once for all; others as they are visited, so that there is no copy of them.
    """
    if PREPARED_MIN_PIVOTS_PER_COLUMN * X.shape[1] <= count:
        return kernel.pairs(X, X, dtype).tile

    def values(chosen: Array, rows: slice, out: Array) -> Array:
        pairs = kernel.pairs(X[chosen], X[rows], dtype)
        return pairs.tile(slice(0, pairs.shape[0]), slice(0, pairs.shape[1]), out)

    return values
