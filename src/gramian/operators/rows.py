"""Streams of rows: blocks that come one after the other and are never all in memory."""

from __future__ import annotations

import atexit
import queue
import threading
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from gramian.config import memory_budget, one_blas_thread
from gramian.operators.compressed import Compressed, from_rows, without_constants
from gramian.operators.matrix import column_sums
from gramian.operators.moments import Accumulator, ColumnSums, Moments
from gramian.operators.source import Gate, Loses, Names, Piece, Refuse, Source, View, Weights, accept, counted
from gramian.progress import Tracker
from gramian.results import Array

#: Bytes of a block: worth the trouble of sharing it out, and small enough that its memory is used again for the next.
BLOCK_BYTES = 24 * 2**20
#: Of the memory budget a block takes no more than this share: one is read while another is worked on.
BLOCK_BUDGET_DIVISOR = 16
#: Smaller blocks than this are put together before they are worked on.
MIN_BLOCK_BYTES = 2**20


class Rows(Source):
    """A stream: rows that are read in blocks.

    ``about``: an estimate of their number, made without reading them. ``reader``: bytes that
    reading takes beside the blocks, about. ``text``: whether the entries are labels, not numbers; only answers of an
    estimator are. ``block``: rows of a block, if that was asked for. ``y``: the second block of columns of the same
    rows, if the stream has one.
    """

    source: str = "the stream"
    weighted: bool = False
    about: int | None = None
    reader: int = 0
    text: bool = False
    block: int | None = None
    y: Rows | None = None
    _triangle: Compressed | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, made up if they have none."""
        return self.columns or tuple(f"x{at}" for at in range(self.n_features))

    @abstractmethod
    def _read(self) -> Iterator[Piece]:
        """Read the blocks, once."""

    def pieces(self) -> Generator[Piece]:
        """Blocks with their places, all of one width, none of them tiny but the last."""
        least = self.block or min(block_rows(self.n_features), max(1, MIN_BLOCK_BYTES // (8 * max(self.n_features, 1))))
        return _combined(self._read(), self.n_features, self.source, least)

    def __iter__(self) -> Iterator[Array]:
        return self.blocks()

    def moments(
        self, weights: Weights = None, beside: View = None, *, refuse: Refuse = accept, loses: Loses | None = None
    ) -> Moments:
        _refuse_weights(weights)
        views, kept = Views(self, beside), None
        total, rows, keeps, settled = Accumulator(views.width), 0, not views.again, False
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            for pieces in views.pieces("reading"):
                if not total.add([piece.values for piece in pieces]):  # the sums have looked at every entry
                    refuse(*views.split(pieces))
                self.dtype = self.dtype if rows else pieces[0].values.dtype
                rows += len(pieces[0].values)
                if not settled and rows > views.width:  # enough to tell what the others will be like
                    keeps, settled = keeps and loses is not None and loses(total.moments()), True
                part = from_rows(*views.values(pieces)) if keeps else None
                kept = part if part is None or kept is None else kept + part
                del pieces  # or they would be kept while the next are read
        if not rows:
            raise ValueError(f"{self.source} has no rows: 0 samples. Give at least 2.")
        self._triangle = None if kept is None else without_constants(kept)
        return total.moments()

    def triangle(self, weights: Weights = None, beside: View = None, *, why: str = "") -> Compressed:
        _refuse_weights(weights)
        if self._triangle is not None:
            return self._triangle
        views = Views(self, beside)
        if not views.again:
            raise ValueError(
                f"{why}, which one pass over the rows cannot resolve, and {self.source} can be read only once. "
                "Give a function that returns a new iterator, or a file."
            )
        parts = (from_rows(*views.values(pieces)) for pieces in views.pieces("reading again"))
        return without_constants(reduce(Compressed.__add__, parts))

    def column_sums(self, weights: Weights = None, *, refuse: Refuse = accept) -> ColumnSums:
        """Means and squared deviations of the columns; every block goes through ``refuse``."""
        _refuse_weights(weights)
        total = ColumnSums(0.0, np.zeros(self.n_features), np.zeros(self.n_features))
        for piece in watched(self.pieces(), "reading", self.n_rows):
            refuse(piece)
            total = total + column_sums(piece.values)
        return total

    def answers(
        self, function: Callable[[Array], Array], names: Names | None = None, *, gate: Gate | None = None
    ) -> Any:
        """What a function makes of the rows: a stream of a stream, lazy in dask.

        ``names`` are those of its columns; ``gate`` refuses blocks that the function should not see.
        """
        sample = function(np.zeros((1, self.n_features)))
        found = MappedRows(self, function, sample.size, names, gate)
        found.text = sample.dtype.kind not in "biuf"
        return found

    def take(self, rows: Array) -> Array:
        """Some rows, in the order of their numbers ``rows``."""
        found = np.empty((len(rows), self.n_features), dtype=self.dtype)
        start = 0
        for block in self.blocks():
            here = (rows >= start) & (rows < start + len(block))
            found[here] = block[rows[here] - start]
            start += len(block)
        return found

    def toarray(self) -> Array:
        """All rows in memory, dense."""
        blocks = list(self.blocks())
        return np.concatenate(blocks) if blocks else np.zeros((0, self.n_features))

    def _like(self, other: Rows) -> None:
        """Have the rows of another stream, in other columns."""
        self.source, self.n_rows, self.about = other.source, other.n_rows, other.about
        self.again, self.block, self.reader = other.again, other.block, other.reader

    def __repr__(self) -> str:
        count = "rows" if self.n_rows is None else f"{self.n_rows:,} rows"
        return f"<{type(self).__name__}: {self.source}, {count} of {self.n_features:,} columns>"


class MappedRows(Rows):
    """What a function makes of the blocks of another stream.

    Its names are for files: an estimator that sees it next sees columns without names, as of an array.
    """

    def __init__(
        self,
        parent: Rows,
        function: Callable[[Array], Array],
        width: int,
        names: tuple[str, ...] | None,
        gate: Gate | None = None,
    ) -> None:
        self.parent, self.function, self.width, self.given, self.gate = parent, function, width, names, gate
        self._like(parent)

    @property
    def n_features(self) -> int:
        return self.width

    @property
    def names(self) -> tuple[str, ...]:
        return self.given or super().names

    def _read(self) -> Iterator[Piece]:
        for piece in self.parent.pieces():
            if self.gate:
                self.gate(piece)
            found = np.asarray(self.function(piece.values))
            yield piece._replace(values=found.reshape(len(piece.values), self.width))


class ColumnSlice(Rows):
    """Some neighbouring columns of another stream; ``y``, if given, are others of the same stream."""

    def __init__(self, parent: Rows, part: slice, y: Rows | None = None) -> None:
        self.parent, self.part, self.y = parent, part, y
        self._like(parent)
        self.columns = None if parent.columns is None else parent.columns[part]

    @property
    def n_features(self) -> int:
        return len(range(self.parent.n_features)[self.part])

    @property
    def names(self) -> tuple[str, ...]:
        return self.parent.names[self.part]

    def _read(self) -> Iterator[Piece]:
        return (piece._replace(values=piece.values[:, self.part]) for piece in self.parent.pieces())


class SideBySide(Rows):
    """The columns of two streams of the same rows, beside each other."""

    def __init__(self, X: Rows, Y: Rows, columns: Sequence[str]) -> None:
        self.X, self.Y, self.columns = X, Y, tuple(columns)
        self.source, self.n_rows, self.again = X.source, X.n_rows, X.again and Y.again

    @property
    def n_features(self) -> int:
        return self.X.n_features + self.Y.n_features

    def _read(self) -> Iterator[Piece]:
        for x, y in in_step(self.X, self.Y):
            yield x._replace(values=np.hstack([x.values, y.values]))


@dataclass(frozen=True)
class Places:
    """Names places of rows in blocks that were put together."""

    pieces: tuple[Piece, ...]

    def __call__(self, row: int) -> str:
        for piece in self.pieces:
            if row < len(piece.values):
                return piece.place(row)
            row -= len(piece.values)
        raise IndexError(row)


def block_rows(d: int, itemsize: int = 8) -> int:
    """Rows of a block of d columns, by the memory budget."""
    return max(1, min(BLOCK_BYTES, memory_budget() // BLOCK_BUDGET_DIVISOR) // (itemsize * max(d, 1)))


def _combined(pieces: Iterator[Piece], d: int, source: str, least: int) -> Generator[Piece]:
    """Refuse pieces of another width, and put small ones together."""
    waiting: list[Piece] = []
    for at, piece in enumerate(pieces):
        if piece.values.shape[1] != d:
            raise ValueError(f"{source}: block {at} has {piece.values.shape[1]} columns, those before it have {d}.")
        if len(piece.values):
            waiting.append(piece)
        if sum(len(held.values) for held in waiting) >= least:
            yield _together(waiting)
            waiting = []
        del piece  # or it would be kept while the next is read
    if waiting:
        yield _together(waiting)


def _together(pieces: list[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]
    values = np.concatenate([piece.values for piece in pieces])
    return Piece(values, Places(tuple(pieces)), pieces[-1].share)


class Views:
    """Blocks of a stream, and of a second view of the same rows if there is one."""

    def __init__(self, X: Rows, Y: Source | Array | None = None) -> None:
        self.X, self.Y = X, Y if Y is None or isinstance(Y, Rows) else ArrayRows(Y)
        self.width = X.n_features + (0 if self.Y is None else self.Y.n_features)
        self.again = X.again and (self.Y is None or self.Y.again)

    def pieces(self, task: str) -> Iterator[tuple[Piece, ...]]:
        """Blocks as they are read: of one stream, of both views together, or of two streams in step."""
        found: Iterator[tuple[Piece, ...]]
        if self.Y is None or split_of_one(self.X, self.Y):
            whole = self.X if self.Y is None else self.X.parent  # type: ignore[attr-defined]
            found = ((piece,) for piece in whole.pieces())
        else:
            found = in_step(self.X, self.Y)
        return watched(found, task, self.X.n_rows)

    def split(self, pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """A block of X and, if there are two views, of Y."""
        if len(pieces) == 2 or self.Y is None:
            return pieces
        d, (both,) = self.X.n_features, pieces
        return both._replace(values=both.values[:, :d]), both._replace(values=both.values[:, d:])

    def values(self, pieces: tuple[Piece, ...]) -> tuple[Array, ...]:
        """Rows of X and, if there are two views, of Y."""
        return tuple(piece.values for piece in self.split(pieces))


def _refuse_weights(weights: Weights) -> None:
    if weights is not None:
        raise ValueError("sample_weight goes with rows in memory, not with a stream. Repeat rows in the stream.")


def split_of_one(X: Rows, Y: Rows | None) -> bool:
    """Whether two streams are all the columns of one, the first before the second."""
    if not (isinstance(X, ColumnSlice) and isinstance(Y, ColumnSlice) and X.parent is Y.parent):
        return False
    all_columns = range(X.parent.n_features)
    return [*all_columns[X.part], *all_columns[Y.part]] == [*all_columns]


def in_step(X: Rows, Y: Rows) -> Iterator[tuple[Piece, Piece]]:
    """Blocks of two streams with the same rows in each."""
    left, right = X.pieces(), Y.pieces()
    x, y = next(left, None), next(right, None)
    seen = 0
    while x is not None and y is not None:
        m = min(len(x.values), len(y.values))
        yield _cut(x, slice(0, m)), _cut(y, slice(0, m))
        seen += m
        x = _cut(x, slice(m, None)) if len(x.values) > m else next(left, None)
        y = _cut(y, slice(m, None)) if len(y.values) > m else next(right, None)
    if x is not None or y is not None:
        longer, shorter = (X, Y) if x is not None else (Y, X)
        raise ValueError(
            f"the two streams must have the same rows: {shorter.source} ends after {seen:,}, {longer.source} goes on."
        )


def _cut(piece: Piece, part: slice) -> Piece:
    start, place = part.start, piece.place
    return piece._replace(values=piece.values[part], place=place if not start else lambda row: place(start + row))


def watched(pieces: Iterable[Any], task: str, n_rows: int | None) -> Iterator[Any]:
    """Pieces (or pairs of them) as they come, while their rows are reported as progress."""
    seen, tracker = 0, Tracker(task, n_rows or float("inf"), "rows")
    for piece in pieces:
        one = piece if isinstance(piece, Piece) else piece[0]
        seen, share = seen + len(one.values), one.share
        yield piece
        del piece, one  # or they would be kept while the next are read
        tracker.reach(seen, n_rows or (seen / share if share else float("inf")))


Item = TypeVar("Item")


class ArrayRows(Rows):
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


class BlockRows(Rows):
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
            order = column_order(labels, found, place)
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


def column_order(labels: Labels | None, found: Labels | None, place: str) -> list[int] | None:
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


def read_ahead(items: Generator[Item, None, None]) -> Iterator[Item]:
    """Items that a thread reads, one read_ahead of the caller, so that reading and work overlap.

    Closing the iterator, as an interrupt does, ends the thread after the item that it is at. So does the end of the
    process, if a traceback still holds the iterator: Python would end the thread within Arrow, which aborts then.
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

    def stop() -> None:
        wanted.put(False)
        thread.join()

    wanted.put(True)
    thread.start()
    atexit.register(stop)
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
        atexit.unregister(stop)
        stop()
