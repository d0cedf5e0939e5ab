"""Rows of dask arrays and data frames. This module and ``dask_tasks`` are the only ones that know dask.

Blocks are described, never scattered: what a lost worker held is made again from the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial, reduce
from itertools import pairwise
from operator import add
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from dask import delayed
from numpy.typing import DTypeLike

from gramian.config import one_thread
from gramian.engine.tiles import spans
from gramian.kernels import Kernel
from gramian.operators.dask_tasks import Graph, chunk_of, count_of, fused, run_batches, run_tasks, values_of
from gramian.operators.gram import CrossGram, Gram
from gramian.operators.remote import Beside, Remote, place_of, starts
from gramian.operators.rows import MIN_BLOCK_BYTES, as_block
from gramian.operators.source import Gate, Names, Piece
from gramian.progress import part_done
from gramian.results import Array

#: Results added at a time. Few, so that sums start while other blocks are still read.
SUMMANDS_PER_TASK = 4


class DaskRows(Remote):
    """Rows of a dask array or data frame.

    ``graph``: how chunks are made. ``parts``: the chunks. ``lengths``: rows of each chunk, where they are known.
    ``widths``: columns of each chunk. ``lazy``: what ``parts`` came from, as an array.
    """

    source = "the dask array"

    def __init__(
        self,
        graph: dict[Any, Any],
        parts: list[list[Any]],
        lengths: Sequence[int | None],
        width: int,
        dtype: DTypeLike,
        lazy: da.Array,
        columns: tuple[str, ...] | None = None,
        *,
        single: bool = False,
    ) -> None:
        self.graph, self.parts = graph, fused(graph, parts)
        self.known, self.width, self.lazy = list(lengths), width, lazy
        self.columns, self.single = columns, single
        self.dtype = np.dtype(np.float32 if dtype == np.float32 else np.float64)
        counts = [length for length in self.known if length is not None]
        self.n_rows = sum(counts) if len(counts) == len(self.known) else None
        if columns is not None:
            self.source = "the dask data frame"

    @property
    def n_features(self) -> int:
        return self.width

    @cached_property
    def lengths(self) -> list[int]:
        if self.n_rows is None:
            graph = Graph(self.graph)
            keys = [graph.add("count", count_of, row[0]) for row in self.parts]
            self.known = run_tasks(graph, keys, "counting rows")
            self.n_rows = sum(self.known)  # type: ignore[arg-type]
        return self.known  # type: ignore[return-value]

    def total(self, function: Callable[..., Any], *beside: Beside, task: str) -> Any:
        graph, parts = self._tasks(function, beside, task)
        steps = parts
        while len(parts) > 1:
            parts = [graph.add("add", _added, parts[part]) for part in spans(len(parts), SUMMANDS_PER_TASK)]
        return run_tasks(graph, parts, task, steps)[0]

    def each(self, function: Callable[..., Array], *beside: Beside, task: str) -> Array:
        return np.concatenate(run_tasks(*self._tasks(function, beside, task), task))

    def gram_product(self, kernel: Kernel, V: Array) -> Array:
        """Return ``K V``.

        Blocks are cut from the chunks of the rows on the workers; each pair above the diagonal serves twice, and sums
        over a square of pairs are made before they come back.
        """
        n = len(V)
        blocks = spans(n, block_side(n))
        groups = [range(part.start, part.stop) for part in spans(len(blocks), GRAM_BLOCKS_PER_SQUARE)]
        squares = [(above, beside) for at, above in enumerate(groups) for beside in groups[at:]]
        out = np.zeros_like(V)
        batches = (_square(self, kernel, V, blocks, above, beside) for above, beside in squares)
        results = run_batches(batches, "Gram product")
        for done, ((above, beside), sums) in enumerate(zip(squares, results, strict=True)):
            for at, part in zip(above if above is beside else [*above, *beside], sums, strict=True):
                out[blocks[at]] += part
            part_done((done + 1) / len(squares))
        return out

    def take(self, rows: Array) -> Array:
        edges = np.concatenate([[0], np.cumsum(self.lengths)])
        order = np.argsort(rows, kind="stable")
        found = np.empty((len(rows), self.width), dtype=self.dtype)
        graph, keys, places = Graph(self.graph), [], []
        for block, (start, stop) in enumerate(pairwise(edges)):
            here = order[np.searchsorted(rows[order], start) : np.searchsorted(rows[order], stop)]
            if len(here):
                keys.append(graph.add("rows", _some, self._pieces(block, block + 1), rows[here] - start))
                places.append(here)
        for here, values in zip(places, run_tasks(graph, keys, "rows"), strict=True):
            found[here] = values
        return found

    def whole(self) -> Any:
        graph = Graph(self.graph)
        found = run_tasks(graph, [graph.add("rows", chunk_of, chunk) for row in self.parts for chunk in row], "rows")
        if hasattr(found[0], "iloc"):
            from dask.dataframe.dispatch import concat

            return concat(found)
        c = len(self.parts[0])
        rows = [found[at] if c == 1 else np.hstack(found[at : at + c]) for at in range(0, len(found), c)]
        return np.concatenate(rows)

    def answers(
        self, function: Callable[[Array], Array], names: Names | None = None, *, gate: Gate | None = None
    ) -> Any:
        function = function if gate is None else partial(_gated, gate, function)
        with one_thread():
            sample = function(np.zeros((1, self.width), dtype=self.dtype))
        X = self.lazy.rechunk({1: -1}) if self.lazy.ndim == 2 else self.lazy[:, None]
        model = delayed(function, pure=False, traverse=False)
        narrow: dict[str, Any] = {"drop_axis": 1} if sample.ndim == 1 else {"chunks": (X.chunks[0], (sample.shape[1],))}
        none = sample[:0]
        return da.map_blocks(_answer, X, model, none=none, dtype=sample.dtype, meta=none, **narrow)

    def _read(self) -> Iterator[Piece]:
        first = starts(self.known)
        for block, (values,) in enumerate(run_batches(map(self._block, range(len(self.parts))), "rows")):
            yield Piece(values, place_of(self.source, first[block], block))

    def _block(self, block: int) -> tuple[Graph, list[Any]]:
        graph = Graph(self.graph)
        return graph, [graph.add("rows", values_of, self._pieces(block, block + 1))]

    def _tasks(self, function: Callable[..., Any], beside: Sequence[Any], task: str) -> tuple[Graph, list[Any]]:
        """One task for each group of chunks, with the same rows of everything beside."""
        groups = self._groups()
        others = [self._cut(given, groups) for given in beside]
        graph = Graph(self.graph, *(given.graph for given in beside if isinstance(given, DaskRows)))
        first, sent = starts(self.known), graph.constant(function)
        keys = [
            graph.add(
                task,
                _apply,
                sent,
                [self.source, first[start], start],
                self._pieces(start, stop),
                [cut[at] for cut in others],
            )
            for at, (start, stop) in enumerate(groups)
        ]
        return graph, keys

    def _groups(self) -> list[tuple[int, int]]:
        """Neighbouring chunks that are worth a task together."""
        if self.n_rows is None:
            return [(at, at + 1) for at in range(len(self.parts))]
        least, found, start, rows = max(1, MIN_BLOCK_BYTES // (8 * max(self.width, 1))), [], 0, 0
        for at, length in enumerate(self.lengths):
            rows += length
            if rows >= least or at == len(self.parts) - 1:
                found.append((start, at + 1))
                start, rows = at + 1, 0
        if len(found) > 1 and rows == 0 and not self.lengths[-1] and found[-1][0] == len(self.parts) - 1:
            found[-2:] = [(found[-2][0], len(self.parts))]  # a last chunk without rows is no work of its own
        return found

    def _pieces(self, start: int, stop: int) -> list[Any]:
        return [[row, None] for row in self.parts[start:stop]]

    def _cut(self, given: Any, groups: list[tuple[int, int]]) -> list[Any]:
        """The rows of each group, of something that has the same rows."""
        if given is None:
            return [None] * len(groups)
        same = isinstance(given, DaskRows) and len(given.parts) == len(self.parts)
        if same and (given.known == self.known or None in given.known or None in self.known):
            return [given._pieces(start, stop) for start, stop in groups]
        edges = np.concatenate([[0], np.cumsum(self.lengths)])
        spans = [(int(edges[start]), int(edges[stop])) for start, stop in groups]
        if isinstance(given, DaskRows):
            if sum(given.lengths) != edges[-1]:
                raise ValueError(
                    f"X has {edges[-1]:,} rows and what goes with it {sum(given.lengths):,}; they must have the same "
                    "number."
                )
            return [given.span(*span) for span in spans]
        return [[[[[None, [given[start:stop]]]], None]] for start, stop in spans]

    def span(self, start: int, stop: int) -> list[Any]:
        """Recipe of the rows from ``start`` to ``stop``: chunks, and which of their rows."""
        edges = np.concatenate([[0], np.cumsum(self.lengths)])
        found = []
        for block in range(int(np.searchsorted(edges, start, side="right")) - 1, len(self.parts)):
            if edges[block] >= stop:
                break
            low, high = max(start - edges[block], 0), min(stop, edges[block + 1]) - edges[block]
            if high > low:
                found.append([self.parts[block], [int(low), int(high)]])
        return found or [[self.parts[0], [0, 0]]]


def _added(parts: list[Any]) -> Any:
    with one_thread():
        return reduce(add, parts)


def _some(pieces: list[Any], chosen: Array) -> Array:
    return values_of(pieces)[chosen]


def _apply(function: Callable[..., Any], place: list[Any], pieces: list[Any], others: list[Any]) -> Any:
    """The result of a function of a block and of the same rows of others, in one thread."""
    name = place_of(*place)
    values = values_of(pieces)
    beside = [None if other is None else Piece(values_of(other), name) for other in others]
    for other in beside:
        if other is not None and len(other.values) != len(values):
            raise ValueError(
                f"block {place[2]} of X has {len(values)} rows and the one that goes with it {len(other.values)}; they "
                "must have the same number."
            )
    with one_thread():
        return function(Piece(values, name), *beside)


def _gated(gate: Callable[[Piece], None], function: Callable[[Array], Array], block: Array) -> Array:
    gate(Piece(block, _within_block))
    return function(block)


def _within_block(row: int) -> str:
    return f"row {row} of a block (counted from 0)"


def _answer(block: Array, function: Callable[[Array], Array], none: Array) -> Array:
    if not len(block):
        return none
    with one_thread():
        return function(as_block(block))


def rows_of(given: Any) -> Any:
    """Return the rows of a dask array, data frame or series; refuse what holds no numbers.

    Text in one dimension are labels, of which every row's is needed: they come here as they are.
    """
    if hasattr(given, "to_dask_array"):
        frame = given
        if frame.ndim == 1 and getattr(frame.dtype, "kind", "O") not in "biuf":
            given = frame.to_dask_array()
        else:
            return _frame_rows(frame)
    if not isinstance(given, da.Array):
        raise TypeError(f"X is a {type(given).__name__}; of dask an array, a data frame or a series is expected.")
    if given.ndim not in (1, 2):
        raise ValueError(f"X has shape {given.shape}; rows and columns are expected. Reshape your data to m x d.")
    if given.ndim == 1 and given.dtype.kind in "OSUT":
        keys, graph = _keys(given.to_delayed().reshape(-1, 1), given)
        made = Graph(graph)
        chunks = [made.add("labels", chunk_of, chunk) for (chunk,) in fused(graph, keys)]
        return np.concatenate(run_tasks(made, chunks, "labels"))
    if given.dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {given.dtype}; real numbers are expected. Convert it with X.astype(float).")
    if given.ndim == 2 and not given.shape[1] >= 0:
        raise ValueError("X has columns of unknown number. Use X.compute_chunk_sizes() first.")
    lengths = [None if np.isnan(length) else int(length) for length in given.chunks[0]]
    parts, graph = _keys(given.to_delayed().reshape(len(lengths), -1), given)
    width = 1 if given.ndim == 1 else int(given.shape[1])
    return DaskRows(graph, parts, lengths, width, given.dtype, given, single=given.ndim == 1)


def _frame_rows(frame: Any) -> DaskRows:
    single = frame.ndim == 1
    kinds = (
        [(str(frame.name), frame.dtype)]
        if single
        else [(str(c), frame.dtypes.iloc[at]) for at, c in enumerate(frame.columns)]
    )
    for name, kind in kinds:
        if getattr(kind, "kind", "O") not in "biuf":
            raise ValueError(
                f"column {name!r} of the dask data frame has dtype {kind}, no numbers. Choose numeric columns."
            )
    parts, graph = _keys([[part] for part in frame.to_delayed()], frame)
    narrow = all(getattr(kind, "numpy_dtype", kind) == np.float32 for _, kind in kinds)
    named = not single and all(isinstance(name, str) for name in frame.columns)
    return DaskRows(
        graph,
        parts,
        [None] * len(parts),
        len(kinds),
        np.float32 if narrow else np.float64,
        frame.to_dask_array(),
        tuple(name for name, _ in kinds) if named else None,
        single=single,
    )


def made_rows(
    readers: Sequence[Callable[[], Array]],
    lengths: Sequence[int | None],
    names: Sequence[str],
    named: bool,
    source: str,
) -> DaskRows:
    """Return rows that functions make, a chunk each; ``named``: whether the columns came with names."""
    name = f"read-{uuid4().hex}"
    counts = tuple(np.nan if length is None else length for length in lengths)
    graph = {(name, at, 0): (reader,) for at, reader in enumerate(readers)}
    lazy = da.Array(graph, name, (counts, (len(names),)), dtype=np.float64)
    found = rows_of(lazy)
    found.columns = tuple(names) if named else None
    found.source = source
    return found


def _keys(parts: Any, collection: Any) -> tuple[list[list[Any]], dict[Any, Any]]:
    """Keys of chunks, and the graph that they are part of, from what dask gives as delayed objects."""
    seen: dict[int, Any] = {id(part.dask): part.dask for row in parts for part in row}
    graph = {key: task for given in seen.values() for key, task in given.items()}
    if any(part.key not in graph for row in parts for part in row):  # what a cluster holds is left out of those
        graph = {**dict(collection.__dask_graph__()), **graph}
    return [[part.key for part in row] for row in parts], graph


#: Rows of a block: at the most, at the least, and blocks of a table between the two.
GRAM_BLOCK_MAX_ROWS, GRAM_BLOCK_MIN_ROWS, GRAM_BLOCKS_PER_TABLE = 8192, 512, 16
#: Blocks of a side of a square of pairs. Rows are held, and vectors travel, for one or two squares at a time.
GRAM_BLOCKS_PER_SQUARE = 16


def block_side(n: int) -> int:
    """Rows of a block: whatever the chunks, so that their number decides no digits."""
    return min(GRAM_BLOCK_MAX_ROWS, max(GRAM_BLOCK_MIN_ROWS, -(-n // GRAM_BLOCKS_PER_TABLE)))


def _square(
    rows: DaskRows, kernel: Kernel, V: Array, blocks: list[slice], above: range, beside: range
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
    return graph, [graph.add("add", _sum_of_sides, *map(list, zip(*terms, strict=True))) for terms in sums]


def _pair(kernel: Kernel, X: Array, Y: Array, V: Array, U: Array, same: bool) -> tuple[Array, Array | None]:
    """``K(X, Y) U`` and ``K(Y, X) V`` of the vectors V of X and U of Y."""
    with one_thread():
        if same:
            return Gram(kernel, X, V.dtype) @ V, None
        return CrossGram(kernel, X, Y, V.dtype).both(U, V)


def _sum_of_sides(pairs: list[tuple[Array, Array]], sides: list[int]) -> Array:
    """Sum in a fixed order."""
    first, *rest = (pair[side] for pair, side in zip(pairs, sides, strict=True))
    total = first.copy()
    for term in rest:
        total += term
    return total
