"""Where streams of rows come from: arrays, iterators, and any of them read one block ahead."""

from __future__ import annotations

import queue
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from gramian.operators.rows import Piece, Rows, block_rows
from gramian.results import Array

Item = TypeVar("Item")


class Sliced(Rows):
    """Rows of an array in memory."""

    def __init__(self, X: Any, columns: tuple[str, ...] | None = None, block: int | None = None) -> None:
        self.X, self.columns, self.block = as_block(X), columns, block
        self.n_rows, self.source = len(self.X), "the array"

    @property
    def n_features(self) -> int:
        return self.X.shape[1]

    def _read(self) -> Iterator[Piece]:
        n, size = len(self.X), self.block or block_rows(self.n_features)
        for start in range(0, n, size):
            values = self.X[start : start + size]
            yield Piece(values, counted(self.source, start), min(1.0, (start + size) / n))


class Iterated(Rows):
    """Blocks from an iterator, which can be read once, or from a function that returns one, which can be read again."""

    def __init__(
        self,
        source: Iterable[Any] | Callable[[], Iterable[Any]],
        columns: tuple[str, ...] | None,
        block: int | None = None,
    ) -> None:
        self.block = block
        self.again = callable(source)
        self.source = "the function of blocks" if callable(source) else "the iterator of blocks"
        self.make = source if callable(source) else None
        first = iter(self.make() if self.make else source)  # type: ignore[arg-type]
        try:
            head = next(first)
        except StopIteration:
            raise ValueError(f"{self.source} is empty: there are no rows. Give at least one block.") from None
        self.width = as_block(head, f"{self.source}: block 0").shape[1]
        # Of what can be made again nothing is kept; of an iterator the first block must not be lost.
        self.once: Iterator[Any] | None = None if self.make else chain([head], first)
        if columns is not None and len(columns) != self.width:
            raise ValueError(f"columns names {len(columns)} columns; the blocks have {self.width}. Name each of them.")
        self.labels, self.columns = named(labels_of(head), columns)

    @property
    def n_features(self) -> int:
        return self.width

    def _read(self) -> Iterator[Piece]:
        blocks = self.once if self.make is None else iter(self.make())
        if blocks is None:
            raise ValueError(
                "the rows came from an iterator, which can be read only once. Give a function that returns a new "
                "iterator each time, or a file."
            )
        self.once = None
        labels = self.labels
        for at, block in enumerate(blocks):
            place, found = f"{self.source}: block {at}", labels_of(block)
            labels = labels or found
            values = as_block(block, place)
            order = places_of(labels, found, place)
            # Always a copy: the next block may come in the same memory, and blocks are held while others are read.
            yield Piece(np.array(values) if order is None else values[:, order], counted(self.source, 0, f"block {at}"))


Labels = tuple[Any, ...]


def labels_of(block: Any) -> Labels | None:
    """What a data frame or Arrow table calls its columns; nothing if the block is no such thing."""
    found = getattr(block, "column_names", None)  # Arrow, whose columns are the columns themselves
    found = getattr(block, "columns", None) if found is None else found
    return None if found is None else tuple(found)


def named(labels: Labels | None, columns: tuple[str, ...] | None) -> tuple[Labels | None, tuple[str, ...] | None]:
    """Labels in the order in which columns are wanted, and the names of the columns, if they have names.

    Names that are those of a frame in another order say which order; others are new names for columns as they stand.
    """
    if columns is not None:
        return (columns if labels is not None and sorted(map(str, labels)) == sorted(columns) else labels), columns
    text = labels is not None and all(isinstance(label, str) for label in labels)
    return labels, labels if text else None


def places_of(labels: Labels | None, found: Labels | None, place: str) -> list[int] | None:
    """Where the wanted columns stand in a frame; nothing if they stand as wanted, or have no labels."""
    if labels is None or found is None or found == labels:
        return None
    wanted, given = Counter(labels), Counter(found)
    odd = next((label for label in (*labels, *found) if wanted[label] != 1 or given[label] != 1), None)
    if odd is not None:
        raise ValueError(
            f"{place} has other columns than those before it: {odd!r} is {wanted[odd]} times in the first and "
            f"{given[odd]} times in this one. Give every block the same columns, in any order."
        )
    where = {label: at for at, label in enumerate(found)}
    return [where[label] for label in labels]


def counted(source: str, start: int, part: str = "") -> Callable[[int], str]:
    """Name rows by their number in a source, or in a part of it."""
    return lambda row: f"{source}: {part and part + ', '}row {start + row} (counted from 0)"


def as_block(block: Any, place: str = "the array") -> Array:
    """Return rows as doubles, or as single precision if they come so; one dimension is one column."""
    if np.ma.isMaskedArray(block):
        raise ValueError(f"{place} is a masked array, whose mask would be lost. Fill it with filled(value).")
    if hasattr(block, "tocsr"):
        raise TypeError(f"{place} is a sparse matrix; a stream takes dense blocks. Give toarray() of each block.")
    values = np.asarray(block)
    if values.ndim == 1 and values.dtype.kind in "biuf":
        values = values[:, None]
    if values.ndim != 2:
        raise ValueError(f"{place} has shape {values.shape}; rows and columns, m x d, are expected.")
    if values.dtype.kind not in "biufO":
        raise ValueError(f"{place} has dtype {values.dtype}; real numbers are expected.")
    if values.dtype in (np.float64, np.float32) and values.dtype.isnative:
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{place} holds what is no number (dtype {values.dtype}). Choose numeric columns.") from None


def ahead(items: Generator[Item, None, None]) -> Iterator[Item]:
    """Items that a thread reads, one ahead of the caller, so that reading and work overlap.

    Closing the iterator, as an interrupt does, ends the thread after the item that it is at.
    """
    # No lock of Python's is shared: an interrupt between taking and releasing one would leave it taken for ever.
    ready: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
    wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()

    def read() -> None:
        try:
            while wanted.get():
                ready.put((True, next(items)))
        except BaseException as failure:  # also the end; all of it is the caller's to see
            ready.put((False, failure))
        finally:
            items.close()

    thread = threading.Thread(target=read, name="gramian-reader", daemon=True)
    wanted.put(True)
    thread.start()
    try:
        while True:
            good, item = ready.get()
            if not good:
                break
            wanted.put(True)
            yield item
            del item  # or it would be kept while the next is awaited
        if not isinstance(item, StopIteration):
            raise item
    finally:
        wanted.put(False)
        thread.join()
