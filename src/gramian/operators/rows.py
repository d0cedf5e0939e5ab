"""Streams of rows: blocks that come one after the other and are never all in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gramian.config import memory_budget
from gramian.progress import Tracker
from gramian.results import Array

#: Bytes of a block: worth the trouble of sharing it out, and small enough that its memory is used again for the next.
BLOCK = 24 * 2**20
#: Of the memory budget a block takes no more than this share: one is read while another is worked on.
SHARE = 16
#: Smaller blocks than this are put together before they are worked on.
WORTHWHILE = 2**20


class Piece(NamedTuple):
    """A block of rows, how to name the place of one of them, and the share of all rows that has been read with it."""

    values: Array
    place: Callable[[int], str]
    share: float | None = None


class Rows(ABC):
    """Rows that stream by in blocks.

    Attributes
    ----------
    source : str
        Where they come from, for messages.
    columns : tuple of str or None
        Names of the columns, if they have names.
    n_rows : int or None
        How many rows there are, if that is known before they are read.
    about : int or None
        How many there are, more or less, as far as can be told without reading them.
    again : bool
        Whether they can be read more than once.
    reader : int
        Bytes that reading takes beside the blocks, about.
    text : bool
        Whether the entries are labels, not numbers; only answers of an estimator are.
    block : int or None
        Rows of a block, if that was asked for.
    y : Rows or None
        The second block of columns of the same rows, if the stream has one.
    """

    source: str = "the stream"
    columns: tuple[str, ...] | None = None
    n_rows: int | None = None
    about: int | None = None
    again: bool = True
    reader: int = 0
    text: bool = False
    block: int | None = None
    y: Rows | None = None

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, made up if they have none."""
        return self.columns or tuple(f"x{at}" for at in range(self.n_features))

    @abstractmethod
    def _read(self) -> Iterator[Piece]:
        """Read the blocks, once."""

    def pieces(self) -> Iterator[Piece]:
        """Blocks with their places, all of one width, none of them tiny but the last."""
        least = self.block or min(block_rows(self.n_features), max(1, WORTHWHILE // (8 * max(self.n_features, 1))))
        return _worthwhile(self._read(), self.n_features, self.source, least)

    def blocks(self) -> Iterator[Array]:
        """Blocks of rows, (m, d) arrays in double or single precision."""
        return (piece.values for piece in self.pieces())

    def __iter__(self) -> Iterator[Array]:
        return self.blocks()

    def toarray(self) -> Array:
        """All rows in memory."""
        blocks = list(self.blocks())
        return np.concatenate(blocks) if blocks else np.zeros((0, self.n_features))

    def _like(self, other: Rows) -> None:
        """Have the rows of another stream, in other columns."""
        self.source, self.n_rows, self.about = other.source, other.n_rows, other.about
        self.again, self.block, self.reader = other.again, other.block, other.reader

    def __repr__(self) -> str:
        count = "rows" if self.n_rows is None else f"{self.n_rows:,} rows"
        return f"<{type(self).__name__}: {self.source}, {count} of {self.n_features:,} columns>"


class Mapped(Rows):
    """What a function makes of the blocks of another stream.

    Its names are for files: an estimator that sees it next sees columns without names, as of an array.
    """

    def __init__(
        self, parent: Rows, function: Callable[[Array], Array], width: int, names: tuple[str, ...] | None
    ) -> None:
        self.parent, self.function, self.width, self.given = parent, function, width, names
        self._like(parent)

    @property
    def n_features(self) -> int:
        return self.width

    @property
    def names(self) -> tuple[str, ...]:
        return self.given or super().names

    def _read(self) -> Iterator[Piece]:
        for piece in self.parent.pieces():
            self._gate(piece)
            found = np.asarray(self.function(piece.values))
            yield piece._replace(values=found.reshape(len(piece.values), self.width))

    def _gate(self, piece: Piece) -> None:
        """Refuse what the function should not see."""


class Part(Rows):
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


class Beside(Rows):
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
    return max(1, min(BLOCK, memory_budget() // SHARE) // (itemsize * max(d, 1)))


def _worthwhile(pieces: Iterator[Piece], d: int, source: str, least: int) -> Iterator[Piece]:
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


def neighbours(X: Rows, Y: Rows | None) -> bool:
    """Whether two streams are all the columns of one, the first before the second."""
    if not (isinstance(X, Part) and isinstance(Y, Part) and X.parent is Y.parent):
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
