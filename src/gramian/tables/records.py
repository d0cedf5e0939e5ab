"""Records of delimited text: where they end, which sign separates their cells, and the cells."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np

from gramian.results import Array
from gramian.tables.decoding import line_ends
from gramian.tables.numerals import is_number
from gramian.tables.table import MAX_COLUMNS, TableError, too_wide

#: In this order: a line of decimal commas split at its commas would still read as numbers.
DELIMITERS = ("\t", ";", "|", ",")
#: Rare between columns and common in names, so it must be in two lines.
BAR = "|"
NEVER_ENDS = "{source}: line {line} has a quote that never ends. Close or remove it."


@cache
def _quoted(delimiter: str) -> bytes:
    """Pattern of a quoted cell: the quote stands where a cell begins, and a doubled one does not end it."""
    return rb'(?<![^%b\r\n])"[^"]*+(?:""[^"]*+)*+"' % _marks(delimiter)


@cache
def _marks(delimiter: str) -> bytes:
    """What separates cells, for a class of characters; before cells in columns are put in order, tabs do as well."""
    return rb" \t" if delimiter == " " else re.escape(delimiter.encode())


@cache
def _text(delimiter: str, apart: bytes = b"") -> bytes:
    """Pattern of text in which every quoted cell ends; outside of them stands no sign of ``apart``."""
    return rb'(?:[^"%b]++|%b|(?<=[^%b\r\n])")*+' % (apart, _quoted(delimiter), _marks(delimiter))


def end_of_records(data: bytes, delimiter: str) -> int:
    """Where the last whole record ends; a line end between quotes ends none, nor one that may be half of two signs."""
    stop = len(data) - data.endswith(b"\r")
    if b'"' not in data:
        return max(data.rfind(b"\n", 0, stop), data.rfind(b"\r", 0, stop)) + 1
    found = re.compile(rb"(?:%b(?:\r\n|\r|\n))*+" % _text(delimiter, rb"\r\n")).match(data, 0, stop)
    return 0 if found is None else found.end()


def check_quotes(data: bytes, delimiter: str, source: str, before: int = 0) -> None:
    """Refuse text with a quote that never ends: all that follows would be one cell."""
    found = re.compile(_text(delimiter)).match(data) if b'"' in data else None
    if found is not None and found.end() < len(data):
        raise TableError(NEVER_ENDS.format(source=source, line=before + line_ends(data[: found.end()]) + 1))


def unquoted(pattern: bytes, replacement: bytes, data: bytes, delimiter: str) -> bytes:
    """Replace what a pattern finds outside of quoted cells."""
    if b'"' not in data:
        return re.sub(pattern, replacement, data)
    either = rb"(?P<quoted>%b)|%b" % (_quoted(delimiter), pattern)
    return re.sub(either, lambda found: found["quoted"] or replacement, data)


class Record(NamedTuple):
    """One record: the line it starts on, its cells, and where the bytes go on after it."""

    line: int
    cells: list[str]
    end: int


@dataclass(frozen=True)
class Records:
    """The records of UTF-8 text, which ``before`` lines come before; lines that are empty do not count."""

    data: bytes
    delimiter: str
    source: str
    before: int = 0
    most: int = MAX_COLUMNS

    @cached_property
    def _cell(self) -> re.Pattern[bytes]:
        # A quote counts at the start of a cell only, as in Arrow; what follows the closing one belongs to the cell.
        mark = re.escape(self.delimiter.encode())
        return re.compile(rb'(?:"((?:[^"]|"")*+)"([^\r\n%b]*+)|([^\r\n%b]*+))(%b|\r\n|\r|\n|\Z)' % (mark, mark, mark))

    def __iter__(self) -> Iterator[Record]:
        return self._taken_apart(0)

    def _taken_apart(self, at: int) -> Iterator[Record]:
        line, size, mark = 1 + self.before, len(self.data), self.delimiter.encode()
        while at < size:
            start, cells = line, []
            while True:
                found = self._cell.match(self.data, at)
                if found is None:
                    raise TableError(NEVER_ENDS.format(source=self.source, line=line))
                quoted, after, bare, end = found.groups()
                at = found.end()
                if quoted is None:
                    if bare.startswith(b'"'):
                        raise TableError(NEVER_ENDS.format(source=self.source, line=line))
                    cells.append(bare.decode())
                else:
                    line += line_ends(quoted)
                    cells.append((quoted.replace(b'""', b'"') + after).decode())
                if end != mark:
                    break
                if len(cells) >= self.most:  # before a line that has no end fills the memory
                    raise TableError(too_wide(self.source, self.most))
            line += 1
            if len(cells) > 1 or cells[0] or quoted is not None:
                yield Record(start, cells, at)

    def line(self, at: int) -> int:
        """Line on which the record number ``at`` starts."""
        return next(islice(iter(self), at, None)).line

    def head(self, count: int) -> list[Record]:
        return list(islice(iter(self), count))

    def cells(self, count: int, start: int) -> list[list[str]]:
        """Cells of the first records from some byte on, where one begins."""
        return [record.cells for record in islice(self._taken_apart(start), count)]

    def lines(self, at: int = 0) -> Iterator[tuple[bytes, Array]]:
        """Text of each record from some byte on, and where its cells end; to take them apart costs 20 times as much."""
        record = re.compile(_text(self.delimiter, rb"\r\n"))
        while at < len(self.data):
            line = record.match(self.data, at).group()  # type: ignore[union-attr]
            at += len(line)
            if self.data.startswith(b'"', at):
                number = self.before + line_ends(self.data[:at]) + 1
                raise TableError(NEVER_ENDS.format(source=self.source, line=number))
            at += 1
            if not line:  # also between the two signs of a line end
                continue
            marks = np.frombuffer(line, np.uint8) == ord(self.delimiter)
            for cell in re.finditer(_quoted(self.delimiter), line) if b'"' in line else ():
                marks[cell.start() : cell.end()] = False
            if np.count_nonzero(marks) >= self.most:  # before eight bytes for each of them fill the memory
                raise TableError(too_wide(self.source, self.most))
            yield line, np.append(np.flatnonzero(marks), len(line))

    def ragged(self, expected: int, first: int) -> str:
        """Say which record is the first with more or fewer cells than the first one has; nothing if there is none."""
        for line, cells, _ in self:
            if len(cells) != expected:
                return f"line {line} has {len(cells):,} cells, line {first} has {expected:,}"
        return ""


def spread(records: Records, start: int, width: int, parts: Sequence[slice]) -> list[bytes] | None:
    """Text of some neighbouring columns each, one record a line; nothing if a record has more or fewer cells."""
    found: list[list[bytes]] = [[] for _ in parts]
    for line, ends in records.lines(start):
        if len(ends) != width:
            return None
        edges = [-1, *ends.tolist()]
        for part, lines in zip(parts, found, strict=True):
            lines.append(line[edges[part.start] + 1 : edges[part.stop]])
    return [b"\n".join(lines) + b"\n" for lines in found]


def guess_delimiter(data: bytes, source: str, *, whole: bool = True) -> str:
    """Return the delimiter of the first line, looking outside quotes; one that the second line has as often wins.

    If ``data`` is not the whole text, a quote that does not end in it is an error: what follows may say otherwise.
    """
    present = []
    for delimiter in DELIMITERS:
        try:
            counts = [len(ends) for _, ends in islice(Records(data, delimiter, source).lines(), 2)]
        except TableError:  # quotes that end with another delimiter only
            if not whole:
                raise
            continue
        if counts and counts[0] > 1:
            if len(set(counts)) == 1 and (delimiter != BAR or len(counts) == 2):
                return delimiter
            present.append(delimiter)
    if not present and _in_columns(data, source):
        return " "
    return next((delimiter for delimiter in present if delimiter != BAR), ",")


def _in_columns(data: bytes, source: str) -> bool:
    """Whether blanks separate cells: the first lines have as many words, several, and below them only numbers."""
    lines = [record.cells[0].split() for record in Records(data, "\t", source).head(2)]
    return bool(lines) and len(lines[0]) > 1 and len(lines[0]) == len(lines[-1]) and all(map(is_number, lines[-1]))
