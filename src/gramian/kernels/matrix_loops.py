"""Loops of plain matrix algebra for the vector unit: where BLAS copies operands first, or computes what is known."""

from __future__ import annotations

from typing import Any

from gramian.kernels.vector_code import INDEX, Definitions
from gramian.kernels.vector_loops import DEEP, ROWS, WIDE


def _panel_products(w: Any) -> None:
    """``sums += A'A`` of some rows that lie in panels of columns.

    Sums lie in panels too, with rows down to the diagonal and what lies beside it in its lanes. The rows in a panel
    stay in the first level of the cache, while eight columns at a time pass by.
    """
    size = WIDE * w.lanes
    width = INDEX(size)

    def panel(j: Any, _: Any) -> tuple[()]:
        own, rows = w.place(w.packed, j, w.count), w.plus(j, size)
        before = w.build.sdiv(w.build.mul(j, rows), INDEX(2))  # numbers in the panels before this one
        sums = w.build.gep(w.sums, [before])

        def block(i: Any, first: int) -> tuple[()]:
            within, right = w.build.srem(i, width), INDEX(first * w.lanes)
            left = w.place(w.packed, w.build.sub(i, within), w.count, within)

            def numbers(c: Any) -> list[Any]:
                place = w.place(left, c, width)
                return [w.build.gep(place, [INDEX(r)]) for r in range(ROWS)]

            nothing = [w.constant(0.0)] * (ROWS * (WIDE - first))
            found = w.multiply(w.count, numbers, lambda c: w.place(own, c, width, right), nothing)
            for r in range(ROWS):
                place = w.place(sums, w.plus(i, r), width, right)
                w.add_to(place, found[r * (WIDE - first) : (r + 1) * (WIDE - first)])
            return ()

        w.loop(w.plus(j, w.lanes), ROWS, lambda i, _: block(i, 0))
        for first in range(1, WIDE):  # of the diagonal block the lanes from the diagonal on
            for r in range(0, w.lanes, ROWS):
                block(w.plus(j, first * w.lanes + r), first)
        return ()

    w.loop(w.m, size, panel)


def _scatter(w: Any) -> None:
    """The same of rows that lie one after the other: some at a time are copied into panels."""
    size = WIDE * w.lanes

    def some(k: Any, _: Any) -> tuple[()]:
        count = w.least(w.build.sub(w.n, k), INDEX(DEEP))

        def copy(row: Any, _: Any) -> tuple[()]:
            source, target = w.place(w.A, w.build.add(k, row), w.A_width), w.place(w.packed, row, INDEX(size))

            def across(j: Any, _: Any) -> tuple[()]:
                for p in range(WIDE):
                    w.store(w.load(w.build.gep(source, [j]), p), w.place(target, j, count), p)
                return ()

            w.loop(w.m, size, across)
            return ()

        w.loop(count, 1, copy)
        w.call("panel_products", w.packed, w.sums, count, w.m)
        return ()

    w.loop(w.n, DEEP, some)


def _eliminate(w: Any) -> None:
    """``F[p, at:] = inverse (tile[:, p] - own F[p, :at])`` for panels p of columns; the inverse is lower triangular.

    Some rows of a panel at a time, as many as stay in the first level of the cache, are used for all rows of the tile.
    """
    width = INDEX(WIDE * w.lanes)

    def panel(p: Any, _: Any) -> tuple[()]:
        F, tile = w.place(w.F, w.build.mul(p, w.depth), width), w.place(w.tile, p, width)

        def copy(i: Any, _: Any) -> tuple[()]:
            source = w.place(tile, i, w.tile_width)
            write(w.room, i, [w.load(source, q) for q in range(WIDE)])
            return ()

        def some(c: Any, _: Any) -> tuple[()]:
            own, above = w.build.gep(w.own, [c]), w.place(F, c, width)
            count = w.least(w.build.sub(w.at, c), INDEX(DEEP))

            def less(i: Any, _: Any) -> tuple[()]:
                start = [w.load(w.place(w.room, i, width), at) for at in range(ROWS * WIDE)]
                numbers = w.lines(own, i, ROWS, w.at)
                write(w.room, i, w.multiply(count, numbers, lambda c: w.place(above, c, width), start, negative=True))
                return ()

            w.loop(w.n, ROWS, less)
            return ()

        def solved(i: Any) -> None:
            numbers, nothing = w.lines(w.inverse, i, ROWS, w.n), [w.constant(0.0)] * (ROWS * WIDE)
            new = w.multiply(w.plus(i, ROWS), numbers, lambda c: w.place(w.room, c, width), nothing)
            write(w.place(F, w.at, width), i, new)

        w.loop(w.n, 1, copy)
        w.loop(w.at, DEEP, some)
        w.blocks(w.n, ROWS, solved)
        return ()

    def write(array: Any, i: Any, values: list[Any]) -> None:
        for at, value in enumerate(values):
            w.store(value, w.place(array, i, width), at)

    w.loop(w.panels, 1, panel)


#: Name -> arrays, sizes, and what writes the body.
MATRIX_LOOPS: Definitions = {
    "panel_products": ("packed sums", "count m", _panel_products),
    "scatter": ("A sums packed", "n m A_width", _scatter),
    "eliminate": ("tile own inverse F room", "n at depth panels tile_width", _eliminate),
}
