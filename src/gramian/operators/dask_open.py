"""From collections of dask, and from functions that read, to rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np

from gramian.operators.dask import DaskRows
from gramian.operators.dask_chunks import chunk_of, fused
from gramian.operators.dask_tasks import Graph, run_tasks
from gramian.results import Array


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
    """Return rows that functions make, a chunk each; ``named`` says whether the columns came with names."""
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
