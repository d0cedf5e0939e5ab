"""Products by tiles: of two sets of rows, their exponentials, and of a symmetric matrix of tiles with a few vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from gramian.config import one_blas_thread
from gramian.engine.tiles import Meter, run, share, threads_for, tile_spans, wide_spans
from gramian.engine.vector_loops import LINE, LOOPS_MAX_COLUMNS, in_lanes, vector_loops
from gramian.progress import part_done
from gramian.results import Array, Matrix

Rows = Matrix
#: Rows multiplied at a time at the most, and multiplications up to which BLAS takes its route for small matrices, which
#: does not copy its operands first. Worth a third of the time where few columns are summed over.
STRIPE, BLAS_SMALL_MULTIPLICATIONS = 64, 10**6
#: Pairs of rows from which on compiled loops are worth the fifth of a second it takes to compile them. In single
#: precision, which is for large tables anyway, they always are.
LOOPS_MIN_PAIRS = {np.dtype(np.float32): 1, np.dtype(np.float64): 10**8}
#: Share of a register that may carry nothing for compiled loops to be quicker than BLAS.
SPARE = 0.75


class Pairs(ABC):
    """Two prepared sets of rows, and tiles of what lies between them."""

    shape: tuple[int, int]
    dtype: np.dtype
    #: No entry of any tile is larger in size than this.
    reach: float = float("inf")
    #: (L, R) if tiles are ``2 ** (L R)`` of narrow dense rows, for loops that make and use them in one pass.
    factors: tuple[Array, Array] | None = None

    @abstractmethod
    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        """Write the tile ``rows x cols`` into ``out`` (C-ordered, of that shape) and return it."""

    def tile_in(self, rows: slice, cols: slice, room: Array) -> Array:
        """Make a tile in flat room that is large enough; the next is written over it."""
        shape = rows.stop - rows.start, cols.stop - cols.start
        return self.tile(rows, cols, room[: shape[0] * shape[1]].reshape(shape))


#: Rows of tiles, each with the columns of its tiles.
Strips = Sequence[tuple[slice, Sequence[slice]]]


def upper(blocks: list[slice]) -> Strips:
    """Tiles of a symmetric matrix from the diagonal on."""
    return [(rows, blocks[at:]) for at, rows in enumerate(blocks)]


def each_tile(
    pairs: Pairs,
    strips: Strips,
    use: Callable[[slice, slice, Array], None],
    watch: Callable[[int], None] | None = None,
) -> None:
    """Make all tiles and ``use(rows, cols, tile)``; strips are dealt to threads, of which each has room for one tile.

    The first tile is as large as any.
    """
    if len(strips) == 1 and len(strips[0][1]) == 1:  # nothing to share out, or to stop between tiles
        rows, (cols,) = strips[0]
        with one_blas_thread():
            room = np.empty((rows.stop - rows.start) * (cols.stop - cols.start), dtype=pairs.dtype)
            use(rows, cols, pairs.tile_in(rows, cols, room))
        return

    def work(panels: Sequence[int], meter: Meter) -> None:
        rows, (cols, *_) = strips[0]
        room = np.empty((rows.stop - rows.start) * (cols.stop - cols.start), dtype=pairs.dtype)
        for rows, across in (strips[i] for i in panels):
            for cols in across:
                use(rows, cols, pairs.tile_in(rows, cols, room))
                meter.tick()

    run(work, share(len(strips), threads_for(len(strips))), watch)


class Product(Pairs):
    """Tiles of ``L R'``, dense or CSR; dense rows R are best held column by column (Fortran's order)."""

    def __init__(self, left: Rows, right: Rows, dtype: DTypeLike) -> None:
        self.left, self.right = left, right
        self.shape, self.dtype = (left.shape[0], right.shape[0]), np.dtype(dtype)

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        L, R = self.left[rows], self.right[cols]
        if is_sparse(L) or is_sparse(R):
            out[...] = to_dense(L @ R.T)
            return out
        return striped(L, R.T, out)


@cache
def exponent_base(dtype: np.dtype) -> tuple[float, Callable[..., Array]]:
    """Return ``(unit, function)`` with ``function(unit * x) = exp(x)``: powers of two where those are quicker.

    NumPy has vector code for ``exp`` on most processors. Where it has it for ``exp2`` too, that takes half the time in
    single precision and a fifth less in double; where it has not, ``exp2`` is a loop over single numbers.
    """
    introspect = getattr(np.lib, "introspect", None)  # new in NumPy 2.0
    found = introspect.opt_func_info(func_name="^exp2$") if introspect else {}
    symbol = dtype.char
    targets = found.get("exp2", {}).get(symbol + symbol, {"current": "baseline"})
    return (1.0, np.exp) if targets["current"].startswith("baseline") else (float(np.log2(np.e)), np.exp2)


def compiled_from(d: int) -> int | None:
    """Pairs of rows of d columns from which on compiled loops make exponentials in either precision, or None."""
    return max(LOOPS_MIN_PAIRS.values()) if d < LOOPS_MAX_COLUMNS else None


def _factors(inner: Pairs) -> tuple[Array, Array] | None:
    """What exponents are a product of, if it is one of narrow dense rows, laid out as the loops want them."""
    if (
        not isinstance(inner, Product)
        or inner.left.shape[1] > LOOPS_MAX_COLUMNS
        or inner.shape[0] * inner.shape[1] < LOOPS_MIN_PAIRS[inner.dtype]
    ):
        return None
    L, R = inner.left, inner.right
    if sp.issparse(L) or sp.issparse(R) or not (L.flags.c_contiguous and R.flags.f_contiguous):
        return None
    return (L, R.T) if vector_loops(inner.dtype) else None


class Exponential(Pairs):
    """Tiles of ``exp(a m(x, y))``; ``prepare(factor, dtype)`` returns the tiles of ``factor m(x, y)``.

    Numbers that leave the normal range cost twenty times as much as others. Where distances reach that far, such
    exponents are raised to the edge of the range and their powers, below the smallest normal number, become 0.

    Dense rows of few columns take one pass in place of two where there are :mod:`~gramian.engine.vector_loops`.
    """

    def __init__(self, prepare: Callable[[float, DTypeLike], Pairs], factor: float, dtype: DTypeLike) -> None:
        unit, self.power = exponent_base(np.dtype(dtype))
        self.inner = prepare(factor * unit, dtype)
        self.shape, self.dtype = self.inner.shape, self.inner.dtype
        limits = np.finfo(self.dtype)
        self.edge = self.dtype.type(unit * np.log(2) * (limits.minexp + 1))
        self.far = not self.inner.reach < -self.edge
        self.smallest = self.power(self.edge)
        self.factors = _factors(self.inner)
        if self.factors and self.power is np.exp:  # the loops make powers of two, also where NumPy is slow at them
            self.factors = self.factors[0] * self.dtype.type(np.log2(np.e)), self.factors[1]

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        loops = vector_loops(self.dtype) if self.factors else None
        if loops and self.factors and all(map(int.__ge__, out.shape, loops.smallest)):
            left, right = self.factors
            return loops.powers_of_two(left[rows], right[:, cols], out)
        exponents = self.inner.tile(rows, cols, out)
        if not self.far or exponents.min(initial=0.0) > self.edge:
            return self.power(exponents, out=exponents)
        np.maximum(exponents, self.edge, out=exponents)
        values = self.power(exponents, out=exponents)
        values -= self.smallest
        return values


def striped(A: Array, B: Array, out: Array | None = None) -> Array:
    """``A B`` of which one side is narrow, by stripes of rows of A."""
    (n, d), m = A.shape, B.shape[1]
    stripe = next(
        (rows for rows in (STRIPE, STRIPE // 2) if n % rows == 0 and rows * d * m <= BLAS_SMALL_MULTIPLICATIONS), None
    )
    if stripe is None:
        return np.matmul(A, B, out=out)
    product = np.matmul(A.reshape(-1, stripe, d), B, out=None if out is None else out.reshape(-1, stripe, m))
    return product.reshape(n, m)


def transposed_times(tile: Array, V: Array) -> Array:
    """``tile.T @ V`` for a narrow V; in single precision the plain way is as quick."""
    n, m = tile.shape
    if m % STRIPE or tile.dtype == np.float32:
        return tile.T @ V
    return (tile.reshape(n, -1, STRIPE).transpose(1, 2, 0) @ V).reshape(m, -1)


@cache
def manhattan_loop() -> Callable[[Array, Array, float, Array], None]:
    """What writes ``factor * sum_c |X[i, c] - Y[j, c]|`` into its last argument, without a 3-d temporary."""
    import numba  # takes half a second: only those who use this distance wait for it

    @numba.njit(nogil=True, fastmath={"reassoc", "contract"}, boundscheck=False)
    def tile(X: Array, Y: Array, factor: float, out: Array) -> None:  # pragma: no cover  (compiled)
        for i in range(X.shape[0]):
            for j in range(Y.shape[0]):
                total = X.dtype.type(0)
                for c in range(X.shape[1]):
                    total += abs(X[i, c] - Y[j, c])
                out[i, j] = factor * total

    return tile


def is_sparse(X: object) -> TypeGuard[sp.csr_array]:
    """Whether rows are sparse."""
    return sp.issparse(X)


def to_dense(X: Rows) -> Array:
    """Rows as a dense array."""
    return X.toarray() if is_sparse(X) else np.asarray(X)


class TwoProducts:
    """Sums of ``tile @ V[cols]`` and, beside the diagonal, ``tile.T @ V[rows]``; each thread has its own."""

    def __init__(self, pairs: Pairs, V: Array, side: int) -> None:
        self.pairs, self.V, self.total = pairs, V, np.zeros_like(V)
        self.room = np.empty(side**2, dtype=V.dtype)

    def add(self, rows: slice, cols: slice) -> None:
        """Use a tile for its own rows and for those across the diagonal."""
        tile = self.pairs.tile_in(rows, cols, self.room)
        self.total[rows] += striped(tile, self.V[cols])
        if rows != cols:
            self.total[cols] += transposed_times(tile, self.V[rows])


class InOnePass(TwoProducts):
    """The same with each number of the tile loaded once, or never stored; V fills rows of lanes."""

    def __init__(self, pairs: Pairs, V: Array, side: int) -> None:
        super().__init__(pairs, V, side)
        self.total, self.across = in_lanes(self.total), in_lanes(np.zeros((side, V.shape[1]), dtype=V.dtype))

    def add(self, rows: slice, cols: slice) -> None:
        loops, (n, m) = vector_loops(self.V.dtype), (rows.stop - rows.start, cols.stop - cols.start)
        if loops is None or n % loops.rows:
            return super().add(rows, cols)
        vectors, across = (self.V[cols], self.V[rows], self.total[rows]), self.across[:m]
        across[:] = 0.0  # summed by itself first: a long sum keeps fewer digits
        if self.pairs.factors is None or m % loops.most:
            loops.both_products(self.pairs.tile_in(rows, cols, self.room), *vectors, across)
        else:
            left, right = self.pairs.factors
            loops.powers_times(left[rows], right[:, cols], *vectors, across)
        if rows != cols:
            self.total[cols] += across


def two_products(pairs: Pairs, V: Array, d: int) -> tuple[list[slice], Callable[[], TwoProducts]]:
    """Return blocks of rows, and what makes the sums for a thread: the quicker way for these vectors."""
    (n, k), widest = V.shape, LINE // V.itemsize
    usual = tile_spans(n, d, V.dtype)
    suits = -k % widest <= SPARE * widest and (pairs.factors is not None or V.dtype == np.float32)
    loops = vector_loops(V.dtype) if suits and k <= 2 * widest else None  # no register is wider than a line
    if loops is None or k > loops.most:
        return usual, partial(TwoProducts, pairs, V, usual[0].stop)
    blocks, width = usual if pairs.factors is None else wide_spans(n), loops.lanes * -(-k // loops.lanes)
    return blocks, partial(InOnePass, pairs, in_lanes(V, width), blocks[0].stop)


def symmetric_product(pairs: Pairs, V: Array, d: int) -> Array:
    """Product of tiles between rows of d columns and themselves with V: each tile above the diagonal serves twice."""
    blocks, sums = two_products(pairs, V, d)

    def work(panels: Sequence[int], meter: Meter) -> Array:
        own = sums()
        for i in panels:
            for j in range(i, len(blocks)):
                own.add(blocks[i], blocks[j])
                meter.tick()
        return own.total

    tiles = len(blocks) * (len(blocks) + 1) / 2
    hands = share(len(blocks), threads_for(len(blocks)))
    first, *rest = run(work, hands, lambda done: part_done(done / tiles))
    for total in rest:
        first += total
    return first[:, : V.shape[1]]
