"""Arrays and data frames of dask: the only module that knows dask.

Blocks are described, never scattered: whatever a lost worker takes along is made again from the graph.
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

from gramian.config import one_thread
from gramian.operators.dask_tasks import run_tasks
from gramian.operators.remote import Remote, place_of, starts
from gramian.operators.row_sources import as_block
from gramian.operators.rows import WORTHWHILE, Piece
from gramian.results import Array

#: Results added at a time. Few, so that sums start while other blocks are still read.
FAN = 4
#: Blocks that come through this process at a time, where rows are wanted here.
AHEAD = 2


class DaskRows(Remote):
    """Rows of a dask array or data frame.

    Parameters
    ----------
    parts : (r, c) array of delayed objects
        The chunks.
    lengths : list of int or None
        Rows of each chunk, where they are known.
    widths : sequence of int
        Columns of each chunk.
    dtype : dtype
    lazy : collection
        What ``parts`` came from, as an array.
    columns : tuple of str, optional
    """

    source = "the dask array"

    def __init__(
        self,
        parts: Array,
        lengths: Sequence[int | None],
        width: int,
        dtype: Any,
        lazy: Any,
        columns: tuple[str, ...] | None = None,
        *,
        single: bool = False,
    ) -> None:
        self.parts, self.known, self.width, self.lazy = parts, list(lengths), width, lazy
        self.columns, self.single = columns, single
        self.dtype = np.dtype(np.float32 if dtype == np.float32 else np.float64)
        counts = [length for length in self.known if length is not None]
        self.n_rows = sum(counts) if len(counts) == len(self.known) else None
        if columns is not None:
            self.source = "the dask data frame"

    @property
    def n_features(self) -> int:
        return self.width

    @property
    def lengths(self) -> list[int]:
        return self._counted

    @cached_property
    def _counted(self) -> list[int]:
        if self.n_rows is None:
            self.known = run_tasks([delayed(len, pure=False)(row[0]) for row in self.parts], "counting rows")
            self.n_rows = sum(self.known)  # type: ignore[arg-type]
        return self.known  # type: ignore[return-value]

    def total(self, function: Callable[..., Any], *beside: Any, task: str) -> Any:
        steps = parts = self._tasks(function, beside, task)
        while len(parts) > 1:
            parts = [_named(_sum, "add")(parts[at : at + FAN]) for at in range(0, len(parts), FAN)]
        return run_tasks(parts, task, steps)[0]

    def each(self, function: Callable[..., Array], *beside: Any, task: str) -> Array:
        return np.concatenate(run_tasks(self._tasks(function, beside, task), task))

    def take(self, rows: Array) -> Array:
        edges = np.concatenate([[0], np.cumsum(self.lengths)])
        order = np.argsort(rows, kind="stable")
        found = np.empty((len(rows), self.width), dtype=self.dtype)
        tasks, places = [], []
        for block, (start, stop) in enumerate(pairwise(edges)):
            here = order[np.searchsorted(rows[order], start) : np.searchsorted(rows[order], stop)]
            if len(here):
                pieces = self._pieces(block, block + 1)
                tasks.append(_named(_some, "rows")(pieces, rows[here] - start))
                places.append(here)
        for here, values in zip(places, run_tasks(tasks, "rows"), strict=True):
            found[here] = values
        return found

    def whole(self) -> Any:
        found = run_tasks([delayed(part) for part in self.parts.ravel()], "rows")
        if hasattr(found[0], "iloc"):
            from dask.dataframe.dispatch import concat

            return concat(found)
        c = self.parts.shape[1]
        rows = [found[at] if c == 1 else np.hstack(found[at : at + c]) for at in range(0, len(found), c)]
        return np.concatenate(rows)

    def answers(self, function: Callable[[Array], Array]) -> Any:
        with one_thread():
            sample = function(np.zeros((1, self.width), dtype=self.dtype))
        X = self.lazy.rechunk({1: -1}) if self.lazy.ndim == 2 else self.lazy[:, None]
        model = delayed(function, pure=False, traverse=False)
        narrow: dict[str, Any] = {"drop_axis": 1} if sample.ndim == 1 else {"chunks": (X.chunks[0], (sample.shape[1],))}
        none = sample[:0]
        return da.map_blocks(_answer, X, model, none=none, dtype=sample.dtype, meta=none, **narrow)

    def _read(self) -> Iterator[Piece]:
        for block in range(len(self.parts)):
            (values,) = run_tasks([_named(_values, "rows")(self._pieces(block, block + 1))], "rows")
            yield Piece(values, place_of(self.source, starts(self.known)[block], block))

    def _tasks(self, function: Callable[..., Any], beside: Sequence[Any], task: str) -> list[Any]:
        """One task for each group of chunks, with the same rows of everything beside."""
        groups = self._groups()
        others = [self._cut(given, groups) for given in beside]
        first = starts(self.known)
        return [
            _named(_apply, task)(
                function,
                (self.source, first[start], start),
                self._pieces(start, stop),
                [cut[at] for cut in others],
            )
            for at, (start, stop) in enumerate(groups)
        ]

    def _groups(self) -> list[tuple[int, int]]:
        """Neighbouring chunks that are worth a task together."""
        if self.n_rows is None:
            return [(at, at + 1) for at in range(len(self.parts))]
        least, found, start, rows = max(1, WORTHWHILE // (8 * max(self.width, 1))), [], 0, 0
        for at, length in enumerate(self.lengths):
            rows += length
            if rows >= least or at == len(self.parts) - 1:
                found.append((start, at + 1))
                start, rows = at + 1, 0
        return found

    def _pieces(self, start: int, stop: int) -> list[Any]:
        return [[list(row), None] for row in self.parts[start:stop]]

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
        return [[[[given[start:stop]], None]] for start, stop in spans]

    def span(self, start: int, stop: int) -> list[Any]:
        """Recipe of the rows from ``start`` to ``stop``: chunks, and which of their rows."""
        edges = np.concatenate([[0], np.cumsum(self.lengths)])
        found = []
        for block in range(int(np.searchsorted(edges, start, side="right")) - 1, len(self.parts)):
            if edges[block] >= stop:
                break
            low, high = max(start - edges[block], 0), min(stop, edges[block + 1]) - edges[block]
            if high > low:
                found.append([list(self.parts[block]), (int(low), int(high))])
        return found or [[list(self.parts[0]), (0, 0)]]


def rows_of(given: Any) -> DaskRows:
    """Return the rows of a dask array, data frame or series; refuse what holds no numbers."""
    if hasattr(given, "to_dask_array"):
        return _frame_rows(given)
    if not isinstance(given, da.Array):
        raise TypeError(f"X is a {type(given).__name__}; of dask an array, a data frame or a series is expected.")
    if given.ndim not in (1, 2):
        raise ValueError(f"X has shape {given.shape}; rows and columns are expected. Reshape your data to m x d.")
    if given.dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {given.dtype}; real numbers are expected. Convert it with X.astype(float).")
    if given.ndim == 2 and not given.shape[1] >= 0:
        raise ValueError("X has columns of unknown number. Use X.compute_chunk_sizes() first.")
    lengths = [None if np.isnan(length) else int(length) for length in given.chunks[0]]
    parts = given.to_delayed().reshape(len(lengths), -1)
    width = 1 if given.ndim == 1 else int(given.shape[1])
    return DaskRows(parts, lengths, width, given.dtype, given, single=given.ndim == 1)


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
    parts = np.empty((frame.npartitions, 1), dtype=object)
    parts[:, 0] = frame.to_delayed()
    narrow = all(getattr(kind, "numpy_dtype", kind) == np.float32 for _, kind in kinds)
    named = not single and all(isinstance(name, str) for name in frame.columns)
    return DaskRows(
        parts,
        [None] * len(parts),
        len(kinds),
        np.float32 if narrow else np.float64,
        frame.to_dask_array(),
        tuple(name for name, _ in kinds) if named else None,
        single=single,
    )


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """A task whose name on the dashboard says what is done."""
    key = f"{name.replace(' ', '_')}-{uuid4().hex}"
    return partial(delayed(function, pure=False, traverse=False), dask_key_name=key)


def _sum(parts: list[Any]) -> Any:
    with one_thread():
        return reduce(add, parts)


def _values(pieces: list[Any]) -> Array:
    """Rows from chunks: beside each other, then cut, then one below the other."""
    rows = []
    for chunks, part in pieces:
        values = [as_block(_plain(chunk)) for chunk in chunks]
        whole = values[0] if len(values) == 1 else np.hstack(values)
        rows.append(whole if part is None else whole[part[0] : part[1]])
    return rows[0] if len(rows) == 1 else np.concatenate(rows)


def _plain(chunk: Any) -> Any:
    """A chunk as an array; pandas has dtypes with gaps of their own."""
    if not hasattr(chunk, "to_numpy"):
        return chunk
    narrow = chunk.to_numpy().dtype == np.float32
    return chunk.to_numpy(dtype=np.float32 if narrow else np.float64, na_value=np.nan)


def _some(pieces: list[Any], chosen: Array) -> Array:
    return _values(pieces)[chosen]


def _apply(
    function: Callable[..., Any], place: tuple[str, int | None, int], pieces: list[Any], others: list[Any]
) -> Any:
    """What a function says of a block and of the same rows of others; one thread does it."""
    name = place_of(*place)
    values = _values(pieces)
    beside = [None if other is None else Piece(_values(other), name) for other in others]
    for other in beside:
        if other is not None and len(other.values) != len(values):
            raise ValueError(
                f"block {place[2]} of X has {len(values)} rows and the one that goes with it {len(other.values)}; they "
                "must have the same number."
            )
    with one_thread():
        return function(Piece(values, name), *beside)


def _answer(block: Array, function: Callable[[Array], Array], none: Array) -> Array:
    if not len(block):
        return none
    with one_thread():
        return function(as_block(block))
