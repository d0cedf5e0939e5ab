"""Sums of ``A'A`` over blocks of rows: half of them, since they are symmetric."""

from __future__ import annotations

import numpy as np

from gramian.engine.tiles import spans
from gramian.engine.vector_loops import VectorLoops, in_lines, loops_if_worth
from gramian.results import Array

#: Rows whose squares are summed in single precision before the sum is added in double.
SINGLE = 8192


class Squares:
    """Sums in double precision of products in the precision of the rows; each thread has its own.

    Parameters
    ----------
    width : int
        Columns.
    dtype : dtype
        Of the rows.
    """

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

    def settle(self) -> Array:
        """Return the sums so far, as they lie; they change with the next rows."""
        return self.sums

    def toarray(self, sums: Array) -> Array:
        """Return sums that lie like these as a symmetric matrix, in room of its own."""
        return sums.copy() if sums is self.sums else sums


class SquaresInPanels(Squares):
    """The same by loops of our own: panels of columns, each with the rows down to its end, one after the other.

    What lies below the diagonal is not read.
    """

    def __init__(self, width: int, dtype: np.dtype, loops: VectorLoops) -> None:
        self.width, self.loops, self.single = width, loops, 0
        self.panels = spans(loops.panel * -(-width // loops.panel), loops.panel)
        size = sum(panel.stop for panel in self.panels) * loops.panel
        self.sums = np.zeros(size)
        self.product = self.sums if dtype == np.float64 else in_lines((size,), dtype)

    def room(self, rows: int) -> Array:
        return _filled(np.empty((0, 0), self.product.dtype), (rows, self.panels[-1].stop))

    def add(self, A: Array) -> None:
        self._begin()
        self.loops.scatter(A, self.product)
        self._end(len(A))

    def add_powers(self, left: Array, right: Array, U: Array, back: Array, own: Array, beside: Array) -> None:
        """Add ``A'A`` of columns ``C - (own + C U) back`` with ``C = 2 ** (left right)``, and of others beside them."""
        size, width = self.panels[-1].stop, U.shape[1]
        rest = _filled(beside, (len(left), size - right.shape[1]))
        U, back, right = (
            _filled(V, shape) for V, shape in ((U, (size, width)), (back, (width, size)), (right, (len(right), size)))
        )
        self._begin()
        self.loops.powers_scatter(left, right, U, back, own, rest, self.product)
        self._end(len(left))

    def _begin(self) -> None:
        if self.single == 0 and self.product is not self.sums:
            self.product[:] = 0.0

    def _end(self, rows: int) -> None:
        self.single += rows
        if self.single >= SINGLE:
            self.settle()

    def settle(self) -> Array:
        if self.single and self.product is not self.sums:
            self.sums += self.product
        self.single = 0
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


def _filled(V: Array, shape: tuple[int, int]) -> Array:
    """A copy in the corner of a larger matrix of zeros."""
    out = in_lines(shape, V.dtype)
    out[:] = 0.0
    out[: V.shape[0], : V.shape[1]] = V
    return out


def total_of(parts: list[Squares]) -> Array:
    """Return the sum over threads, as a symmetric matrix."""
    first, *rest = (part.settle() for part in parts)
    total = first
    for sums in rest:
        total = total + sums
    return parts[0].toarray(total)


def squares_for(width: int, dtype: np.dtype, n: int) -> Squares:
    """Return sums for about n rows: the quicker way."""
    loops = loops_if_worth(dtype, n * width**2)
    return SquaresInPanels(width, dtype, loops) if loops else Squares(width, dtype)
