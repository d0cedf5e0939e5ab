"""The Gram engine: products with a kernel matrix that is never formed."""

from __future__ import annotations

import weakref
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gramian.config import one_blas_thread, one_thread, within_budget
from gramian.engine.product import Rows, Strips, each_tile, striped, symmetric_product, transposed_times, upper
from gramian.engine.tiles import SIDE, spans, tile_spans
from gramian.kernels import Kernel
from gramian.kernels.pairwise import PreparedRows, prepared
from gramian.operators.centering import DENSE_ONE_PRODUCT_MAX_ROWS, ColumnOperator, Dense
from gramian.operators.remote import Remote
from gramian.operators.source import Piece
from gramian.results import Array

#: Bytes up to which any Gram matrix is kept. Memory touched for the first time costs about as much as five products.
KEPT_GRAM_MAX_BYTES = 10**8
#: Columns from which on one is kept wherever it fits: to make an entry again takes longer than to read it ten times.
KEPT_GRAM_MIN_COLUMNS = 256


#: Arrays in memory whose rows are also on a cluster, by identity, for as long as they live.
_mirrors: dict[int, tuple[weakref.ref[Any], Remote]] = {}


class CrossGram:
    """``K(X, Y)`` between two sets of rows, made tile by tile, used and thrown away.

    ``kernel``: with resolved parameters. ``X``, ``Y``: dense or CSR, n x d and m x d; Y may be prepared. ``dtype``:
    precision of tiles and products.

    Cost
    ----
    A product with k vectors takes n m (d + k) multiplications and n m evaluations of the scalar map; its memory is one
    tile per thread, whatever n and m.
    """

    def __init__(self, kernel: Kernel, X: Rows, Y: Rows | PreparedRows, dtype: DTypeLike = np.float64) -> None:
        rows, self.dtype = prepared(Y), np.dtype(dtype)
        # Rows of a fit that are asked about again: half of the tiles are enough, if a tile takes long.
        self.symmetric = kernel.is_symmetric and X.shape[1] >= KEPT_GRAM_MIN_COLUMNS and _are_equal(X, rows.rows)
        self.X = rows.rows if self.symmetric else X
        self.pairs = kernel.against(self.X, rows, self.dtype)
        self.shape = self.pairs.shape

    def __matmul__(self, V: Array) -> Array:
        """Return ``K(X, Y) V``."""
        V = np.ascontiguousarray(V, dtype=self.dtype)
        if self.symmetric:
            return symmetric_product(self.pairs, V, self.X.shape[1])
        out = np.zeros((self.shape[0], V.shape[1]), dtype=self.dtype)

        def add(r: slice, c: slice, tile: Array) -> None:
            out[r] += striped(tile, V[c])

        each_tile(self.pairs, self._strips(), add)
        return out

    def with_sizes(self, V: Array) -> tuple[Array, Array]:
        """Return ``K(X, Y) V``, and the sizes of the terms it sums, ``|K(X, Y)| |V|``."""
        V = np.ascontiguousarray(V, dtype=self.dtype)
        out, sizes = (np.zeros((self.shape[0], V.shape[1]), dtype=self.dtype) for _ in range(2))

        def add(r: slice, c: slice, tile: Array) -> None:
            out[r] += striped(tile, V[c])
            sizes[r] += striped(np.abs(tile, out=tile), np.abs(V[c]))

        each_tile(self.pairs, self._strips(), add)
        return out, sizes

    def both(self, V: Array, U: Array) -> tuple[Array, Array]:
        """Return ``K(X, Y) V`` and ``K(Y, X) U``: each tile serves twice, in one thread."""
        V, U = (np.ascontiguousarray(given, dtype=self.dtype) for given in (V, U))
        out, back = (np.zeros((size, V.shape[1]), dtype=self.dtype) for size in self.shape)

        def add(r: slice, c: slice, tile: Array) -> None:
            out[r] += striped(tile, V[c])
            back[c] += transposed_times(tile, U[r])

        with one_thread():
            each_tile(self.pairs, self._strips(), add)
        return out, back

    def _strips(self) -> Strips:
        if 0 < self.shape[0] * self.shape[1] <= SIDE**2:
            return [(slice(0, self.shape[0]), [slice(0, self.shape[1])])]
        rows, cols = (tile_spans(size, self.X.shape[1], self.dtype) for size in self.shape)
        return [(r, cols) for r in rows]

    def toarray(self) -> Array:
        """Return the whole block."""
        out = np.empty(self.shape, dtype=self.dtype)

        def write(r: slice, c: slice, tile: Array) -> None:
            out[r, c] = tile

        each_tile(self.pairs, [(r, [c]) for r, cols in self._strips() for c in cols], write)
        return out


def _are_equal(X: Rows, Y: Rows) -> bool:
    """Whether dense rows are the same numbers."""
    dense = isinstance(X, np.ndarray) and isinstance(Y, np.ndarray) and len(X) > 0
    if not dense or X.shape != Y.shape or X.dtype != Y.dtype:
        return False
    return X is Y or (np.array_equal(X[0], Y[0]) and np.array_equal(X, Y))


#: Copies of rows that must find room in the memory budget for prepared ones to be kept.
KEPT_ROWS_ROOM = 4


def kept_or_anew(rows: PreparedRows) -> PreparedRows:
    """Prepared rows that stay, or, where memory is short, the same rows prepared for one use."""
    return rows if within_budget(KEPT_ROWS_ROOM * 8 * rows.shape[0] * rows.shape[1]) else PreparedRows(rows.rows)


class Anchored:
    """A value with a ``kernel`` and ``anchors``, which new rows are compared with: these are prepared once.

    What was prepared stays with the value for all later answers, and is no part of a saved model or a pickle.
    """

    kernel: Kernel
    anchors: Any

    @cached_property
    def prepared(self) -> PreparedRows:
        """The anchors, ready for new rows."""
        return PreparedRows(self.anchors)

    def similarities(self, X: Rows, dtype: DTypeLike = np.float64) -> CrossGram:
        """Kernel values between rows and the anchors, in tiles."""
        return CrossGram(self.kernel, X, kept_or_anew(self.prepared), dtype)


class Gram(ColumnOperator):
    """``K(X, X)``, symmetric: each tile above the diagonal serves twice.

    ``kernel``: with resolved parameters. ``X``: dense or CSR, n x d. ``dtype``: precision of tiles and products.
    ``remote``: the same rows on a cluster, if they are there too: products are made there, over pairs of blocks.

    Cost
    ----
    A product with k vectors takes n^2/2 (d + 4k) multiplications and n^2/2 evaluations of the scalar map; its memory is
    one tile and one n x k sum per thread. On a cluster n x k numbers go there and come back a few times each.
    """

    narrow_pays = True

    def __init__(self, kernel: Kernel, X: Rows, dtype: DTypeLike = np.float64, remote: Remote | None = None) -> None:
        self.kernel, self.X, self.dtype, self.remote = kernel, X, np.dtype(dtype), remote
        self.positive = kernel.positive_definite
        self.pairs = kernel.pairs(X, X, self.dtype)
        self.n = X.shape[0]

    def __matmul__(self, V: Array) -> Array:
        """Return ``K V``."""
        V = np.ascontiguousarray(V, dtype=self.dtype)
        if self.remote is not None:
            return self.remote.gram_product(self.kernel, V)
        return symmetric_product(self.pairs, V, self.X.shape[1])

    def diagonal(self) -> Array:
        return self.kernel.diagonal(self.X)

    def rows(self, chosen: Array | slice) -> Array:
        """Return the rows ``K(X[chosen], X)``."""
        return CrossGram(self.kernel, self.X[chosen], self.X, self.dtype).toarray()

    def columns(self, chosen: Array) -> Array:
        return self.rows(chosen).T

    def toarray(self) -> Array:
        out = np.empty((self.n, self.n))
        pairs = self.pairs if self.dtype == np.float64 else self.kernel.pairs(self.X, self.X, np.float64)
        if self.n <= DENSE_ONE_PRODUCT_MAX_ROWS:
            with one_blas_thread():
                tile = pairs.tile(slice(0, self.n), slice(0, self.n), out)
            return (tile + tile.T) / 2  # the same to the bit on both sides of the diagonal
        blocks = tile_spans(self.n, self.X.shape[1], self.dtype)

        def fill(rows: slice, cols: slice, tile: Array) -> None:
            tile = (tile + tile.T) / 2 if rows == cols else tile
            out[rows, cols] = tile
            out[cols, rows] = tile.T

        each_tile(pairs, upper(blocks), fill)
        return out

    def kept(self) -> ColumnOperator:
        """Return the matrix itself where making tiles again for every product would cost more than reading it."""
        if not self._worth_keeping():
            return self
        # A copy in single precision costs a third of a product, and halves the others: for rows that have no more.
        return Dense(self.toarray(), positive=self.positive, narrow_pays=self.X.dtype == np.float32)

    def _worth_keeping(self) -> bool:
        # Of rows that are on a cluster too a large matrix is made there, in parts.
        return worth_keeping(self.kernel, self.n, self.X.shape[1] if self.remote is None else 0)

    def astype(self, dtype: DTypeLike) -> Gram:
        return self if self.dtype == dtype else Gram(self.kernel, self.X, dtype, self.remote)


def mirror(X: Array, remote: Remote) -> None:
    """Remember that the rows of an array are also on a cluster."""
    key = id(X)
    _mirrors[key] = weakref.ref(X, lambda _: _mirrors.pop(key, None)), remote


def remote_of(X: Any) -> Remote | None:
    """Where the rows of this very array came from; None if they were here from the start."""
    known = _mirrors.get(id(X))
    return known[1] if known is not None and known[0]() is X else None


def gram_of(kernel: Kernel, X: Rows) -> ColumnOperator:
    """Return the Gram matrix of rows: kept where that is quicker, else with products where the rows came from."""
    return Gram(kernel, X, remote=remote_of(X)).kept()


def cross_product(kernel: Kernel, X: Rows, Z: Rows, V: Array) -> Array:
    """Return ``K(X, Z) V``, made where the rows X came from."""
    remote = remote_of(X)
    if remote is None:
        return CrossGram(kernel, X, Z) @ V
    return remote.each(partial(_block_product, kernel, Z, V), task="Gram product")


def _block_product(kernel: Kernel, Z: Rows, V: Array, piece: Piece) -> Array:
    return CrossGram(kernel, piece.values, Z) @ V


def worth_keeping(kernel: Kernel, n: int, d: int) -> bool:
    """Whether a Gram matrix of n rows of d columns is made once and kept: where reading it again is quicker."""
    size = 8 * n**2
    wide = d >= KEPT_GRAM_MIN_COLUMNS and not kernel.given  # one that is given is read as it is
    quicker = size <= KEPT_GRAM_MAX_BYTES or wide or kernel.costly
    return quicker and within_budget(4 * size)


#: Sides of the tiles of a kept block, by the bytes of a number: larger ones are slower to turn over on their way across
#: the diagonal, and cover more below it.
BLOCK_SIDE = {4: 384, 8: 192}
#: Columns of a precomputed matrix copied at a time.
PRECOMPUTED_COLUMNS_PER_COPY = 1024


class KernelBlocks:
    """``K(X, X) + offset``, of which principal blocks and products with chosen columns can be had.

    ``kernel``: with resolved parameters. ``X``: dense or CSR, n x d; the matrix itself if the kernel is precomputed.
    ``offset``: number added to every entry.

    Cost
    ----
    A block of m rows takes m^2 / 2 kernel values and is kept by whoever asked for it; a product with m columns takes
    n m values and no memory to speak of.
    """

    def __init__(self, kernel: Kernel, X: Rows, offset: float = 0.0) -> None:
        self.kernel, self.X, self.offset = kernel, X, offset
        self.n, self.positive = X.shape[0], kernel.positive_definite
        self.given = kernel.given

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64) + self.offset

    def block(self, chosen: Array, out: Array) -> Array:
        """Write the symmetric block of the chosen rows and columns into ``out``."""
        A = self.X if len(chosen) == self.n else self.X[chosen]
        if self.given and len(chosen) < self.n:
            A = A[:, chosen]
        pairs = self.kernel.pairs(A, A, out.dtype)

        def fill(rows: slice, cols: slice, tile: Array) -> None:
            if self.offset:
                tile += tile.dtype.type(self.offset)
            out[rows, cols] = tile
            out[cols, rows] = tile.T

        each_tile(pairs, upper(spans(len(chosen), BLOCK_SIDE[out.dtype.itemsize])), fill)
        return out

    def product(self, chosen: Array, V: Array, dtype: DTypeLike) -> Array:
        """Return ``K[:, chosen] V``, n x k, in double precision; kernel values are made in ``dtype``."""
        total = np.zeros((self.n, V.shape[1]))
        if self.given:
            for part in spans(len(chosen), PRECOMPUTED_COLUMNS_PER_COPY):
                columns = self.X[:, chosen[part]]
                total += CrossGram(self.kernel, columns, columns, dtype) @ V[part]
        elif len(chosen):
            total = np.asarray(CrossGram(self.kernel, self.X, self.X[chosen], dtype) @ V, dtype=np.float64)
        return total + self.offset * V.sum(axis=0) if self.offset else total
