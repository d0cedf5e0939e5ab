"""Chunks of a collection as something that a task makes for itself, so that rows do not travel between workers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
from dask.core import get_dependencies

from gramian.operators.dask_tasks import Box
from gramian.operators.row_sources import as_block
from gramian.results import Array

#: The owner of a task that more than one chunk needs.
SHARED = object()
#: A chunk in a graph: how it is made (None if it is the one thing given), and keys of what it is made from.
Chunk = list[Any]


@dataclass(frozen=True)
class Recipe:
    """Tasks that lead to one chunk and to no other; ``given`` are names of what comes from outside."""

    tasks: dict[Any, Any]
    key: Any
    given: tuple[Any, ...]

    def made(self, values: list[Any]) -> Any:
        """The chunk, made in this thread."""
        outside = {name: (Box(value),) for name, value in zip(self.given, values, strict=True)}
        return dask.get({**self.tasks, **outside}, self.key)


def fused(graph: dict[Any, Any], parts: list[list[Any]]) -> list[list[Chunk]]:
    """Return chunks with all tasks that serve no other chunk; what several share, or a cluster holds, stays outside.

    A scheduler may run a task on another worker than the one before it. Where a chunk is made inside the task that uses
    it, there is nothing to send.
    """
    owner: dict[Any, Any] = {}
    needs: dict[Any, set[Any]] = {}
    for key in (key for row in parts for key in row):
        stack = [key]
        while stack:
            node = stack.pop()
            if node in owner and owner[node] in (key, SHARED):
                continue
            owner[node] = SHARED if node in owner else key
            if node not in needs:
                needs[node] = set() if _held(graph, node) else get_dependencies(graph, node)
            stack += needs[node]
    return [[_chunk(graph, owner, needs, key) for key in row] for row in parts]


def _chunk(graph: dict[Any, Any], owner: dict[Any, Any], needs: dict[Any, set[Any]], key: Any) -> Chunk:
    if owner[key] is SHARED or _held(graph, key):
        return [None, [_link(graph, key)]]
    tasks, given, stack = {}, [], [key]
    while stack:
        node = stack.pop()
        if node in tasks or node in given:
            continue
        if owner[node] is SHARED or _held(graph, node):
            given.append(node)
        else:
            tasks[node] = graph[node]
            stack += needs[node]
    return [Recipe(tasks, key, tuple(given)), [_link(graph, node) for node in given]]


def _link(graph: dict[Any, Any], node: Any) -> Any:
    """What stands for a node among the arguments of a task: its key, or what the cluster holds."""
    return graph[node] if _held(graph, node) else node


def _held(graph: dict[Any, Any], node: Any) -> bool:
    """Whether a node is a result that a cluster holds already, as after ``persist``."""
    return type(graph[node]).__name__ == "Future"


def chunk_of(chunk: Chunk) -> Any:
    """A chunk, once what it is made from is there."""
    recipe, values = chunk
    return values[0] if recipe is None else recipe.made(values)


def count_of(chunk: Chunk) -> int:
    """Rows of a chunk."""
    return len(chunk_of(chunk))


def values_of(pieces: list[Any]) -> Array:
    """Rows from chunks: beside each other, then cut, then one below the other."""
    rows = []
    for chunks, part in pieces:
        values = [as_block(_plain(chunk_of(chunk))) for chunk in chunks]
        whole = values[0] if len(values) == 1 else np.hstack(values)
        rows.append(whole if part is None else whole[part[0] : part[1]])
    return rows[0] if len(rows) == 1 else np.concatenate(rows)


def _plain(chunk: Any) -> Any:
    """A chunk as an array; pandas has dtypes with gaps of their own."""
    if not hasattr(chunk, "to_numpy"):
        return chunk
    narrow = chunk.to_numpy().dtype == np.float32
    return chunk.to_numpy(dtype=np.float32 if narrow else np.float64, na_value=np.nan)
