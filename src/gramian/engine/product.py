"""Products of a symmetric matrix of kernel values with a few vectors: each tile serves twice."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from gramian.engine.pairs import Pairs, striped, transposed_times
from gramian.engine.tiles import tile_spans, wide_spans
from gramian.engine.vector_loops import PANELS, ROWS, in_lines, lanes_of, vector_loops
from gramian.results import Array

#: Share of a register that may carry nothing for loops of our own to be quicker than BLAS.
SPARE = 0.75


class TwoProducts:
    """Sums of ``tile @ V[cols]`` and, beside the diagonal, ``tile.T @ V[rows]``; each thread has its own.

    Parameters
    ----------
    pairs : Pairs
        What makes tiles.
    V : (n, k) array
    side : int
        No tile is larger.
    """

    def __init__(self, pairs: Pairs, V: Array, side: int) -> None:
        self.pairs, self.V, self.total = pairs, V, np.zeros_like(V)
        self.room = np.empty(side**2, dtype=V.dtype)

    def add(self, rows: slice, cols: slice) -> None:
        """Use a tile for its own rows and for those across the diagonal."""
        tile = self.tile(rows, cols)
        self.total[rows] += striped(tile, self.V[cols])
        if rows != cols:
            self.total[cols] += transposed_times(tile, self.V[rows])

    def tile(self, rows: slice, cols: slice) -> Array:
        """Make a tile; the next is written over it."""
        shape = rows.stop - rows.start, cols.stop - cols.start
        return self.pairs.tile(rows, cols, self.room[: shape[0] * shape[1]].reshape(shape))


class InOnePass(TwoProducts):
    """The same with each number of the tile loaded once, or never stored; V fills rows of lanes."""

    def __init__(self, pairs: Pairs, V: Array, side: int) -> None:
        super().__init__(pairs, V, side)
        self.total, self.across = in_lanes(self.total), in_lanes(np.zeros((side, V.shape[1]), dtype=V.dtype))

    def add(self, rows: slice, cols: slice) -> None:
        loops, (n, m) = vector_loops(self.V.dtype), (rows.stop - rows.start, cols.stop - cols.start)
        if loops is None or n % ROWS:
            return super().add(rows, cols)
        vectors, across = (self.V[cols], self.V[rows], self.total[rows]), self.across[:m]
        across[:] = 0.0  # summed by itself first: a long sum keeps fewer digits
        if self.pairs.factors is None or m % (PANELS * loops.lanes):
            loops.both_products(self.tile(rows, cols), *vectors, across)
        else:
            left, right = self.pairs.factors
            loops.powers_times(left[rows], right[:, cols], *vectors, across)
        if rows != cols:
            self.total[cols] += across


def two_products(pairs: Pairs, V: Array, d: int) -> tuple[list[slice], Callable[[], TwoProducts]]:
    """Return blocks of rows, and what makes the sums for a thread: the quicker way for these vectors."""
    (n, k), lanes = V.shape, lanes_of(V.dtype)
    width, usual = lanes * -(-k // lanes), tile_spans(n, d, V.dtype)
    suits = (
        width <= PANELS * lanes and width - k <= SPARE * lanes and (pairs.factors is not None or V.dtype == np.float32)
    )
    if not suits or vector_loops(V.dtype) is None:
        return usual, partial(TwoProducts, pairs, V, usual[0].stop)
    blocks = usual if pairs.factors is None else wide_spans(n)
    return blocks, partial(InOnePass, pairs, in_lanes(V, width), blocks[0].stop)


def in_lanes(V: Array, width: int | None = None) -> Array:
    """A copy with columns of zeros up to that width, which begins where a line of the cache does."""
    k = V.shape[1]
    out = in_lines((len(V), width or k), V.dtype)
    out[:, :k], out[:, k:] = V, 0.0
    return out
