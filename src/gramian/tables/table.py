"""What a table is, the columns and files it is read from, and the sizes that are refused before memory is asked for."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Self

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.estimators.warnings import GramianWarning, warn
from gramian.operators.rows import block_rows
from gramian.operators.source import Piece
from gramian.results import Array

#: More columns than this: rows and columns are swapped.
MAX_COLUMNS = 10**6
#: Bytes of a table that is read whatever the budget, which is for the work beside the data.
ALWAYS_READ_BYTES = 256 * 10**6
#: Text of numbers shrinks three- to twentyfold; what shrinks more than this is made to fill the memory.
MAX_UNPACKED_RATIO = 200
#: Up to here a high ratio does no harm: a table of zeros is small.
HARMLESS_BYTES = 64 * 10**6
#: Characters of a message.
MAX_MESSAGE_LENGTH = 1000


class TableError(ValueError):
    """A file that cannot be read as a table; one line says why and what to do.

    Examples
    --------
    >>> from gramian.tables import TableError, as_table
    >>> try:
    ...     as_table({"kind": ["iris", "rose"]})
    ... except TableError as error:
    ...     print(str(error)[:51])
    the data frame: there is no numeric column among 1.
    """

    def __init__(self, message: str) -> None:
        # Names of files and columns may hold line ends, and may be longer than anyone would read.
        line = re.sub(r"\s*[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]\s*", " ", message)
        super().__init__(line if len(line) <= MAX_MESSAGE_LENGTH else f"{line[:500]} ... {line[-500:]}")


class TableWarning(GramianWarning):
    """A reader left out or turned what may have been meant otherwise: a column of numbers with a word in it, say.

    Examples
    --------
    >>> import pathlib, tempfile, warnings
    >>> from gramian.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     path = pathlib.Path(folder, "t.csv")
    ...     _ = path.write_text("a,b\\n1,2\\n3,n/a?\\n5,6\\n")
    ...     table = read_table(path)
    >>> table.columns, str(caught[0].message).partition("t.csv: ")[2][:54]
    (('a',), "column 'b' is not used: 'n/a?' in line 3 is no number,")
    """


@dataclass(frozen=True)
class Table:
    """Numbers of a file, ready for an estimator.

    Attributes
    ----------
    values : (n, d) array
        Features in double precision, all finite; NaN where missing if that was asked for.
    columns : tuple of str
        Their names.
    labels : dict of str to list of str
        Text columns, kept beside the features.
    dropped : tuple of str
        What is not among the features, and why, and what had to be guessed to read the file, a sentence each.
    source : str
        Where the table comes from.
    row_ids : tuple of str, optional
        What each row is called, all different, if a column of ids was named.
    ids : str
        Name of that column.
    levels : dict of str to tuple of str
        Categories that were encoded, each with its values in the order of its indicator columns.
    dates : tuple of str
        Columns of dates that were turned into days.
    rows : tuple of int, optional
        If rows were dropped: which rows of the file these are, counted from 0.
    call : str
        The call of Python that read the table; empty if no single call made it.

    Examples
    --------
    >>> from gramian.tables import as_table
    >>> table = as_table({"kind": ["iris", "rose"], "length": [5.1, 4.0]})
    >>> table.columns, table.values.tolist(), table.dropped
    (('length',), [[5.1], [4.0]], ("column 'kind' is text, kept as a label",))
    """

    values: Array
    columns: tuple[str, ...]
    labels: dict[str, list[str]]
    dropped: tuple[str, ...]
    source: str
    row_ids: tuple[str, ...] | None = None
    ids: str = ""
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dates: tuple[str, ...] = ()
    rows: tuple[int, ...] | None = None
    call: str = ""

    @property
    def row_names(self) -> tuple[str, ...]:
        """What rows are called in messages: their ids, or their numbers in the file, counted from 1."""
        if self.row_ids is not None:
            return self.row_ids
        return tuple(str(row + 1) for row in (range(len(self.values)) if self.rows is None else self.rows))

    @property
    def annotations(self) -> dict[str, list[str]]:
        """Row ids, if there are any, and then the labels; scores are written beside them.

        If rows were dropped and have no ids, their numbers in the file, counted from 1, stand in a column ``row``.
        """
        if self.row_ids is not None:
            return {self.ids: list(self.row_ids), **self.labels}
        if self.rows is None:
            return self.labels
        name = next(name for name in ("row", "row_number", "row_of_file") if name not in self.labels)
        return {name: [str(row + 1) for row in self.rows], **self.labels}


class Kind(Enum):
    """What else is known of a column; one field for all, since a table may have a million columns."""

    PLAIN = "numbers or text"
    TRUTH = "1 for true and 0 for false"
    EMPTY = "no cell has a value"
    COUNTS_FROM_0 = "only counts the rows, from 0"
    COUNTS_FROM_1 = "only counts the rows, from 1"


@dataclass(frozen=True, slots=True)
class Column:
    """A column as a reader found it.

    It has numbers (NaN where missing), or text, or neither, and ``remark`` says why; ``days`` if the text is dates;
    ``refusal`` if it is numbers that cannot be told for sure, an error only for those who want it as a feature;
    ``doubt`` says why text may have been meant as numbers.
    """

    name: str
    numbers: Array | None = None
    text: list[str] | None = None
    remark: str = ""
    days: Array | None = None
    refusal: str = ""
    kind: Kind = Kind.PLAIN
    doubt: str = ""


@dataclass(frozen=True)
class Sheet:
    """All columns of a file; ``place`` names a row as a person would look it up, such as "line 7".

    ``remarks`` say how it was read, ``doubts`` what of that may not have been meant; ``decimal`` is a point or a comma.
    """

    columns: list[Column]
    rows: int
    place: Callable[[int], str]
    remarks: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    decimal: str = "."


@dataclass(frozen=True)
class Dialect:
    """How a file is written, as far as its reader was told; ``None`` is detected. ``most`` limits the columns."""

    separator: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | None = None
    as_text: frozenset[str] = frozenset()
    most: int = MAX_COLUMNS

    def of(self, path: Path) -> Dialect:
        """The same for a file whose ending says how its cells are separated."""
        return replace(self, separator="\t") if ending(path) == ".tsv" and self.separator is None else self


def say_doubts(columns: Iterable[Column], doubts: Iterable[str], source: str) -> None:
    """Warn of what a reader left out or turned and what may not have been meant."""
    for column in columns:
        if column.doubt:
            told = f"column {column.name!r} is not used: {column.doubt}"
            warn(f"{source}: {told}. Correct or empty the cell, or choose other columns.", TableWarning)
    for doubt in doubts:
        warn(f"{source}: {doubt}.", TableWarning)


def counted(row: int) -> str:
    """Name a row of a file that has no lines."""
    return f"row {row} (counted from 0)"


def first_line(error: BaseException) -> str:
    """Return what another library says of a failure, fit for the middle of a sentence."""
    return " ".join((str(error) or type(error).__name__).split("\n")[0].split())[:200].rstrip(".")


def allowance() -> int:
    """Bytes that a table may take."""
    return max(memory_budget(), ALWAYS_READ_BYTES)


@contextmanager
def readable(source: str, what: str, advice: str = "", *, files: bool = False) -> Iterator[None]:
    """Name the file when a library fails on it: damaged ones make them raise nearly anything.

    Errors of the system are passed on unless libraries raise them for damaged ``files`` as well.
    """
    try:
        yield
    except TableError:
        raise
    except MemoryError as error:
        raise TableError(f"{source} needs more memory than there is. Choose fewer rows or columns.") from error
    except Exception as error:
        if isinstance(error, OSError) and not files:
            raise
        raise TableError(f"{source} is not a readable {what} ({first_line(error)}).{advice}") from error


def check_size(size: int, source: str, what: str = "the table") -> None:
    """Refuse what would not fit into memory, before any of it is asked for."""
    if size > ALWAYS_READ_BYTES and size > allowance():  # what is free of the machine is asked for large tables only
        raise TableError(
            f"{source}: {what} would take {format_bytes(size)}, the memory budget is {format_bytes(allowance())}. "
            "Raise it with gramian.config(memory=...), or read fewer rows or columns."
        )


def too_wide(source: str, most: int) -> str:
    """Say that there are too many columns."""
    return f"{source} has more than {most:,} columns. Are rows and columns swapped? If not, choose some of them."


def check_shape(rows: int, columns: int, source: str, itemsize: int = 8, most: int = MAX_COLUMNS) -> None:
    """Refuse a matrix that is too large or has too many columns."""
    if columns > most:
        raise TableError(too_wide(source, most))
    check_size(rows * columns * max(itemsize, 8), source)


def check_matrix(shape: tuple[int, ...], dtype: np.dtype, source: str, most: int = MAX_COLUMNS) -> None:
    """Refuse what is no matrix of real numbers."""
    if len(shape) != 2 or shape[1] < 1 or shape[0] < 0:
        raise TableError(f"{source}: the array has shape {shape}; rows and columns, n x d, are expected.")
    if dtype.kind not in "biuf":
        raise TableError(f"{source}: the array has dtype {dtype}; real numbers are expected.")
    if shape[1] > most:
        raise TableError(too_wide(source, most))


def pick_matrix(names: Iterable[str], wanted: str | None, source: str) -> str:
    """The matrix of a file that ``sheet=`` names, or the only one."""
    known = list(names)
    if wanted is not None and wanted not in known:
        raise TableError(f"{source}: there is no matrix {wanted!r}. There are: {', '.join(known[:5]) or 'none'}.")
    if wanted is None and len(known) != 1:
        found = f"the matrices {', '.join(map(repr, known[:5]))}; say which with sheet=" if known else "no matrix"
        raise TableError(f"{source} has {found}.")
    return known[0] if wanted is None else wanted


def ending(path: Path) -> str:
    """Ending that says what a file is; packed text is text."""
    return Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()


def check_ratio(packed: int, unpacked: int, source: str) -> None:
    """Refuse a small file that grows into a large one."""
    if unpacked > HARMLESS_BYTES and unpacked > MAX_UNPACKED_RATIO * packed:
        raise TableError(
            f"{source} grows more than {MAX_UNPACKED_RATIO}-fold when unpacked, as files made to fill the memory do. "
            "If you trust it, unpack it first."
        )


NO_NUMBERS = np.empty(0)


class TableFile(ABC):
    """A file of one format that is read whole."""

    def __init__(self, path: Path, dialect: Dialect, source: str = "") -> None:
        self.path, self.dialect, self.source = path, dialect, source or os.fspath(path)

    @abstractmethod
    def whole(self) -> Sheet:
        """Read all columns and rows."""


class RowFile(TableFile):
    """A file that is read whole or, once it is open, in blocks of rows.

    ``sheet`` holds the columns as they are known before rows are read, numeric ones with empty ``numbers``; ``named``:
    the file names its columns; ``all_numeric``: all numeric columns are wanted, rather than some that were named.
    """

    named: bool = True
    all_numeric: bool = False
    n_rows: int | None = None
    sheet: list[Column]

    def open(self) -> Self:
        """Learn columns and number of rows."""
        self.seen = _stamp(self.path)
        self._open()
        self.check()
        return self

    def whole(self) -> Sheet:
        """Read all rows by blocks, of a file that has nothing but numbers."""
        self.open()
        n, d = self.n_rows or 0, len(self.sheet)
        check_size(8 * n * d, self.source)
        values, done = np.empty((n, d)), 0
        for piece in self.read([column.name for column in self.sheet], self.whole_block(d)):
            values[done : done + len(piece.values)] = piece.values
            done += len(piece.values)
        columns = [replace(column, numbers=numbers) for column, numbers in zip(self.sheet, values.T, strict=True)]
        return Sheet(columns, n, counted)

    def whole_block(self, d: int) -> int:
        """Rows that are read at a time of a file that is read whole."""
        return block_rows(d)

    @property
    def about(self) -> int:
        """Number of rows that a file of this size has if they take eight bytes a number."""
        return max(1, self.seen[0] // (8 * max(len(self.sheet), 1)))

    def reader(self, d: int, size: int) -> int:
        """Bytes that it takes to read blocks of ``size`` rows of d columns, beside the blocks; about."""
        return 0

    @abstractmethod
    def _open(self) -> None: ...

    @abstractmethod
    def read(self, names: list[str], size: int) -> Iterator[Piece]:
        """Blocks of the named columns, ``size`` rows each."""

    def check(self) -> None:
        """Refuse to go on with a file that is not the one that was opened."""
        now = _stamp(self.path)
        if now != self.seen:
            what = f"{self.seen[0]:,} bytes before, {now[0]:,} now" if now[0] != self.seen[0] else "it was written to"
            raise TableError(f"{self.source} changed while it was read ({what}). Read it again when it is complete.")


def _stamp(path: Path) -> tuple[int, int]:
    """Bytes and time of the last change; a Zarr array is a folder."""
    parts = [part.stat() for part in (path, *(path.rglob("*") if path.is_dir() else ()))]
    return sum(part.st_size for part in parts), max(part.st_mtime_ns for part in parts)
