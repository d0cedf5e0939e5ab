"""One interface for rows, wherever they are: in memory, in a stream of blocks, or in dask.

::

    Source    InMemory   an array or CSR matrix
              Rows       blocks that are read one after the other (operators/rows.py)
              Remote     blocks of dask, to which functions are sent (operators/remote.py)

An estimator asks a source for sums over all rows, or for the first of them; it need not know which of the three it
has. What is not in memory also gives means of columns, some rows, and what a function makes of each block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gramian.engine.product import to_dense
from gramian.engine.tiles import row_blocks
from gramian.operators.compressed import Compressed, from_rows
from gramian.operators.moments import Moments, moments_of
from gramian.results import Array, Matrix


class Piece(NamedTuple):
    """A block of rows, how to name the place of one of them, and the share of all rows that has been read with it."""

    values: Array
    place: Callable[[int], str]
    share: float | None = None


#: Frequencies of rows: an array, or rows of dask.
Weights: TypeAlias = "ArrayLike | Source | None"
#: A second view of the same rows.
View: TypeAlias = "Source | Array | None"
#: Looks at a block before it is used.
Gate: TypeAlias = Callable[[Piece], None]
#: Whether moments lose digits.
Loses: TypeAlias = Callable[[Moments], bool]
#: Names of columns.
Names: TypeAlias = tuple[str, ...]


class Refuse(Protocol):
    """Raises if a block of rows, of a second view of them, or of their weights holds what a method cannot use."""

    def __call__(self, piece: Piece, second: Piece | None = None, weights: Piece | None = None) -> None:
        """Look at a block."""


def accept(piece: Piece, second: Piece | None = None, weights: Piece | None = None) -> None:
    """Refuse nothing."""


class Source(ABC):
    """Rows of one width.

    Attributes
    ----------
    source : str
        Where they come from, for messages.
    columns : tuple of str or None
        Names of the columns, if they have names.
    n_rows : int or None
        How many rows there are, if that is known before they are read.
    dtype : dtype
        Single precision, or double for everything else; of a stream, that of the first block read.
    again : bool
        Whether they can be read more than once.
    weighted : bool
        Whether rows can have weights.
    array : array, CSR matrix or None
        The rows themselves, if they are in memory.
    """

    source: str = "the array"
    columns: tuple[str, ...] | None = None
    n_rows: int | None = None
    dtype: np.dtype = np.dtype(np.float64)
    again: bool = True
    weighted: bool = True
    array: Matrix | None = None

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def shape(self) -> tuple[int | None, int]:
        """Rows, if their number is known, and columns."""
        return self.n_rows, self.n_features

    @abstractmethod
    def pieces(self) -> Generator[Piece]:
        """Blocks of rows with their places."""

    def blocks(self) -> Iterator[Array]:
        """Blocks of rows, (m, d) arrays in double or single precision."""
        return (piece.values for piece in self.pieces())

    @abstractmethod
    def moments(
        self, weights: Weights = None, beside: View = None, *, refuse: Refuse = accept, loses: Loses | None = None
    ) -> Moments:
        """Weight, mean and scatter of all rows, in one pass.

        ``weights`` (n,): frequencies, if rows can have weights. ``beside``: A second view of the same rows; the moments
        are then those of all columns, X before Y. ``refuse``: called with every block whose sums are not finite, and
        with every block that has weights. ``loses``: whether moments lose digits that :meth:`triangle` will be asked
        for: of rows that can be read only once the triangular factor is made on the same pass then.
        """

    @abstractmethod
    def triangle(self, weights: Weights = None, beside: View = None, *, why: str = "") -> Compressed:
        """Triangular factor of the centred rows: nothing was squared, so no digits are lost.

        Rows that can be read only once have one if :meth:`moments` made it; else they raise, naming the reason ``why``.
        """

    def first(self, n: int, *, gate: Gate | None = None) -> Matrix:
        """The first rows, n or more: whole blocks, as they come, each of which passes the gate."""
        held: list[Array] = []
        with closing(self.pieces()) as pieces:
            for piece in pieces:
                if gate is not None:
                    gate(piece)
                held.append(piece.values)
                if sum(map(len, held)) >= n:
                    break
        return np.concatenate(held) if len(held) > 1 else held[0] if held else np.zeros((0, self.n_features))


class InMemory(Source):
    """Rows of an array or CSR matrix of floating-point numbers; what goes beside them is in memory too."""

    array: Matrix

    def __init__(self, X: Matrix, columns: tuple[str, ...] | None = None) -> None:
        self.array, self.columns, self.n_rows, self.dtype = X, columns, X.shape[0], X.dtype

    @property
    def n_features(self) -> int:
        return int(self.array.shape[1])

    def pieces(self) -> Generator[Piece]:
        for rows in row_blocks(*self.array.shape):
            yield Piece(to_dense(self.array[rows]), counted(self.source, rows.start))

    def first(self, n: int, *, gate: Gate | None = None) -> Matrix:
        """All rows, which have passed a gate."""
        return self.array

    def moments(
        self, weights: Any = None, beside: View = None, *, refuse: Refuse = accept, loses: Loses | None = None
    ) -> Moments:
        with np.errstate(over="ignore", invalid="ignore"):
            found = moments_of(self.array, weights, beside=_matrix(beside))
            size = float(np.trace(found.scatter))
        if not np.isfinite(size):
            for piece in self.pieces():
                refuse(piece)
        return found

    def triangle(self, weights: Any = None, beside: View = None, *, why: str = "") -> Compressed:
        return from_rows(self.array, _matrix(beside), weights)


def _matrix(beside: View) -> Any:
    """A second view as moments and factors take it."""
    return beside.array if isinstance(beside, Source) else beside


def counted(source: str, start: int, part: str = "") -> Callable[[int], str]:
    """Name rows by their number in a source, or in a part of it."""
    return lambda row: f"{source}: {part and part + ', '}row {start + row} (counted from 0)"
