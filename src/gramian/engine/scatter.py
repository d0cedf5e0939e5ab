"""Sums of ``A'A`` over blocks of rows, half of them as they are symmetric, and factors F taken out as ``F'F``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gramian.engine.product import Pairs, striped
from gramian.engine.tiles import for_each, spans, threads_for
from gramian.engine.vector_loops import VectorLoops, in_lanes, in_lines, loops_if_worth, vector_loops
from gramian.results import Array

#: Rows whose products are summed in single precision before the sum is added in double.
FLOAT32_SUM_ROWS = 8192
#: Columns of a growing factor that a thread visits at a time.
FACTOR_STRIP_COLUMNS = 2048


class Scatter:
    """Sums in double precision of products in the precision of the rows; each thread has its own."""

    def __init__(self, width: int, dtype: np.dtype) -> None:
        self.width, self.product = width, np.empty((width, width), dtype=dtype)
        self.sums = np.zeros((width, width))

    def room(self, rows: int) -> Array:
        """Room for a block of rows; columns beyond the width stay 0."""
        return np.zeros((rows, self.width), dtype=self.product.dtype)

    def add(self, A: Array) -> None:
        """Add ``A'A`` of rows in that room."""
        np.matmul(A.T, A, out=self.product)  # NumPy sees the transpose and computes half
        self.sums += self.product

    def add_reflected(self, prepare: Callable[[], Pairs], Y: Array, B: Array, pilot: Array, beside: Array) -> bool:
        """Add ``A'A`` of what :func:`write_reflected` would write, and of columns beside it; False if there is no way.

        Nothing of A is stored as a whole.
        """
        return False

    def settle(self) -> Array:
        """Return the sums so far, as they lie; they change with the next rows."""
        return self.sums

    def toarray(self, sums: Array) -> Array:
        """Return sums that lie like these as a symmetric matrix, in room of its own."""
        return sums.copy() if sums is self.sums else sums


class PanelScatter(Scatter):
    """The same by compiled loops: panels of columns, each with the rows down to its end, one after the other.

    What lies below the diagonal is not read.
    """

    def __init__(self, width: int, dtype: np.dtype, loops: VectorLoops) -> None:
        self.width, self.loops, self.pending_rows = width, loops, 0
        self.panels = spans(loops.panel * -(-width // loops.panel), loops.panel)
        size = sum(panel.stop for panel in self.panels) * loops.panel
        self.sums = np.zeros(size)
        self.product = self.sums if dtype == np.float64 else in_lanes(np.empty((0, 0), dtype), size, 1)[0]

    def room(self, rows: int) -> Array:
        return in_lanes(np.empty((0, 0), self.product.dtype), self.panels[-1].stop, rows)

    def add(self, A: Array) -> None:
        self.loops.scatter(A, self.product)
        self._count(len(A))

    def add_reflected(self, prepare: Callable[[], Pairs], Y: Array, B: Array, pilot: Array, beside: Array) -> bool:
        pairs = prepare()
        if pairs.factors is None or _loops_to_reflect(pairs, Y) is None:
            return False
        left, right = pairs.factors
        U, back, own = _operands(Y, B, pilot, len(left), self.loops.lanes)
        size, width = self.panels[-1].stop, U.shape[1]
        rest = in_lanes(beside, size - right.shape[1])
        U, back, right = in_lanes(U, width, size), in_lanes(back, size), in_lanes(right, size)
        self.loops.powers_scatter(left, right, U, back, own, rest, self.product)
        self._count(len(left))
        return True

    def _count(self, rows: int) -> None:
        self.pending_rows += rows
        if self.pending_rows >= FLOAT32_SUM_ROWS:
            self.settle()

    def settle(self) -> Array:
        if self.pending_rows and self.product is not self.sums:
            self.sums += self.product
            self.product[:] = 0.0
        self.pending_rows = 0
        return self.sums

    def toarray(self, sums: Array) -> Array:
        out, size, at = np.empty((self.width, self.width)), self.loops.panel, 0
        for panel in self.panels:
            part = sums[at : at + panel.stop * size].reshape(panel.stop, size)
            above, beside = np.split(part[: self.width, : self.width - panel.start], [panel.start])
            out[: panel.start, panel], out[panel, : panel.start] = above, above.T
            out[panel, panel] = np.triu(beside) + np.triu(beside, 1).T
            at += panel.stop * size
        return out


def total_of(parts: list[Scatter]) -> Array:
    """Return the sum over threads, as a symmetric matrix."""
    first, *rest = (part.settle() for part in parts)
    total = first
    for sums in rest:
        total = total + sums
    return parts[0].toarray(total)


def scatter_for(width: int, dtype: np.dtype, n: int) -> Scatter:
    """Return sums for about n rows: the quicker way."""
    loops = loops_if_worth(dtype, n * width**2)
    return PanelScatter(width, dtype, loops) if loops else Scatter(width, dtype)


def write_reflected(
    pairs: Pairs,
    pieces: Callable[[Pairs], Iterator[tuple[slice, Array]]],
    Y: Array,
    B: Array,
    pilot: Array,
    out: Array,
) -> None:
    """Write ``C - (C Y) B - pilot`` of the tiles C of a block of rows; ``pieces`` makes them some rows at a time."""
    loops, k = _loops_to_reflect(pairs, Y), Y.shape[1]
    U, back, own = _operands(Y, B, pilot, len(out) if loops else 0, loops.lanes if loops else 1)
    if loops and pairs.factors:
        loops.powers_less(*pairs.factors, U, back, own, out)
        return
    for rows, C in pieces(pairs):
        own = striped(C, U)
        own[:, k] = 1.0
        np.subtract(C, own @ back, out=out[rows])


def _loops_to_reflect(pairs: Pairs, Y: Array) -> VectorLoops | None:
    loops = vector_loops(pairs.dtype) if pairs.factors else None
    return loops if loops and Y.shape[1] < loops.most and pairs.shape[0] % loops.rows == 0 else None


def _operands(Y: Array, B: Array, pilot: Array, n: int, lanes: int) -> tuple[Array, Array, Array]:
    """Y and B with a column and a row more for the pilot, in rows of lanes; its coefficient of one in n rows."""
    m, k = Y.shape
    width = lanes * -(-(k + 1) // lanes)
    back, own = np.zeros((width, m), dtype=B.dtype), np.zeros((n, width), dtype=Y.dtype)
    back[:k], back[k], own[:, k] = B, pilot, 1.0
    return in_lanes(Y, width), back, own


class GrowingFactor:
    """A matrix F, count x n at the most, that grows by rows ``inverse (values - F[:, chosen]' F)``.

    It lies in panels of its columns, each of which is in one piece: compiled loops then need no copy.
    """

    def __init__(self, n: int, count: int, dtype: np.dtype) -> None:
        self.n, self.dtype, self.size = n, dtype, 0
        self.loops = loops_if_worth(dtype, n * float(count) ** 2)
        self.width = self.loops.panel if self.loops else -(-n // -(-n // FACTOR_STRIP_COLUMNS))
        self.F = in_lines((-(-n // self.width), count, self.width), dtype)

    def columns(self, chosen: Array) -> Array:
        """Some columns, as rows."""
        return self.F[chosen // self.width, : self.size, chosen % self.width]

    def extend(self, chosen: Array, inverse: Array, values: Callable[[slice, Array], object], left: Array) -> None:
        """Add a row for each of the chosen columns, and take its squares out of ``left``, (n,).

        ``values(columns, out)`` writes their values in some columns; the inverse is lower triangular.
        """
        at, k = self.size, len(chosen)
        rows = self.loops.rows if self.loops else 1  # of which the loops want a multiple
        own = np.zeros((rows * -(-k // rows), at), dtype=self.dtype)
        own[:k] = self.columns(chosen)
        strips = _strips(len(self.F), max(1, FACTOR_STRIP_COLUMNS // self.width))

        def add(panels: slice, room: Array) -> None:
            columns = slice(panels.start * self.width, min(panels.stop * self.width, self.n))
            size = columns.stop - columns.start
            values(columns, room[:, :size])
            room[:, size:] = 0.0  # the last panel is filled up
            self._eliminate(room, own, inverse, self.F[panels])
            G = self.F[panels, at : at + k]
            left[columns] -= np.einsum("pij,pij->pj", G, G).ravel()[:size]
            np.maximum(left[columns], 0.0, out=left[columns])

        for_each(strips, add, lambda: np.zeros((k, strips[0].stop * self.width), dtype=self.dtype))
        self.size += k

    def squares(self, since: int, w: Array) -> Array:
        """Sums of the squares of each row from one on, with weights w of the columns."""
        spread = np.zeros((len(self.F), self.width))
        spread.ravel()[: len(w)] = w
        return np.einsum("pij,pj->i", np.square(self.F[:, since : self.size]), spread)

    def _eliminate(self, tile: Array, own: Array, inverse: Array, F: Array) -> None:
        """Write ``inverse (tile - own F)`` to the next rows of some panels."""
        panels, k, at = len(F), len(tile), self.size
        tile = tile[:, : panels * self.width]
        if self.loops and at and k >= self.loops.rows:
            self.loops.eliminate(tile, own, inverse, F, at)
        else:
            rest = tile.reshape(k, panels, self.width).swapaxes(0, 1) - own[:k] @ F[:, :at]
            np.matmul(inverse, rest, out=F[:, at : at + k])


def _strips(panels: int, most: int) -> list[slice]:
    """Cut panels into strips of at most so many, as many for each thread."""
    count = -(-panels // most)
    threads = threads_for(count)
    return spans(panels, -(-panels // (threads * -(-count // threads))))
