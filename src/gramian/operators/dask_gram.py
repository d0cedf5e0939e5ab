"""Products with a kernel matrix over pairs of blocks, on the workers of a cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.config import one_thread
from gramian.engine.tiles import spans
from gramian.operators.dask_chunks import values_of
from gramian.operators.dask_tasks import Graph, run_batches
from gramian.operators.gram import CrossGram, Gram
from gramian.progress import part_done
from gramian.results import Array

#: Rows of a block: at the most, at the least, and blocks of a table between the two.
MOST, LEAST, BLOCKS = 8192, 512, 16
#: Blocks of a side of a square of pairs. Rows are held, and vectors travel, for one or two squares at a time.
SQUARE = 16


def block_side(n: int) -> int:
    """Rows of a block: whatever the chunks, so that their number decides no digits."""
    return min(MOST, max(LEAST, -(-n // BLOCKS)))


def product(rows: Any, kernel: Any, V: Array) -> Array:
    """Return ``K V``.

    Blocks are cut from the chunks of the rows on the workers; each pair above the diagonal serves twice, and sums over
    a square of pairs are made before they come back.
    """
    n = len(V)
    blocks = spans(n, block_side(n))
    groups = [range(part.start, part.stop) for part in spans(len(blocks), SQUARE)]
    squares = [(above, beside) for at, above in enumerate(groups) for beside in groups[at:]]
    out = np.zeros_like(V)
    plan = [[*above] if above is beside else [*above, *beside] for above, beside in squares]
    batches = (_square(rows, kernel, V, blocks, above, beside) for above, beside in squares)
    for done, (places, sums) in enumerate(zip(plan, run_batches(batches, "Gram product"), strict=True)):
        for at, part in zip(places, sums, strict=True):
            out[blocks[at]] += part
        part_done((done + 1) / len(squares))
    return out


def _square(
    rows: Any, kernel: Any, V: Array, blocks: list[slice], above: range, beside: range
) -> tuple[Graph, list[Any]]:
    """Tasks for the pairs of blocks above and beside; sums for those above, then for those beside."""
    graph = Graph(rows.graph)
    used, known = sorted({*above, *beside}), graph.constant(kernel)
    x = {i: graph.add("rows", values_of, rows.span(blocks[i].start, blocks[i].stop)) for i in used}
    v = {i: graph.constant(V[blocks[i]]) for i in used}
    left: dict[int, list[Any]] = {i: [] for i in above}
    right: dict[int, list[Any]] = left if above is beside else {j: [] for j in beside}
    for i in above:
        for j in (j for j in beside if j >= i):
            pair = graph.add("gram", _pair, known, x[i], x[j], v[i], v[j], i == j)
            left[i].append((pair, 0))
            if i != j:
                right[j].append((pair, 1))
    sums = [*left.values()] if above is beside else [*left.values(), *right.values()]
    return graph, [graph.add("add", _sum, [pair for pair, _ in terms], [side for _, side in terms]) for terms in sums]


def _pair(kernel: Any, X: Array, Y: Array, V: Array, U: Array, same: bool) -> tuple[Array, Array | None]:
    """``K(X, Y) U`` and ``K(Y, X) V`` of the vectors V of X and U of Y."""
    with one_thread():
        if same:
            return Gram(kernel, X, V.dtype) @ V, None
        return CrossGram(kernel, X, Y, V.dtype).both(U, V)


def _sum(pairs: list[tuple[Array, Array]], sides: list[int]) -> Array:
    """Sum in a fixed order."""
    first, *rest = (pair[side] for pair, side in zip(pairs, sides, strict=True))
    total = first.copy()
    for term in rest:
        total += term
    return total
