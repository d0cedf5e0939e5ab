"""Delimited text, record by record in plain Python: for the first lines, and to name places in messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from gramian.tables.numerals import is_number
from gramian.tables.table import TableError

#: In this order: a line of decimal commas split at its commas would still read as numbers.
DELIMITERS = ("\t", ";", "|", ",")
#: Rare between columns and common in names, so it must be in two lines.
BAR = "|"
LINE_END = re.compile(rb"\r\n|\r|\n")


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

    @cached_property
    def _cell(self) -> re.Pattern[bytes]:
        # A quote counts at the start of a cell only, as in Arrow; what follows the closing one belongs to the cell.
        mark = re.escape(self.delimiter.encode())
        return re.compile(rb'(?:"((?:[^"]|"")*+)"([^\r\n%b]*+)|([^\r\n%b]*+))(%b|\r\n|\r|\n|\Z)' % (mark, mark, mark))

    def __iter__(self) -> Iterator[Record]:
        at, line, size = 0, 1 + self.before, len(self.data)
        while at < size:
            start, cells = line, []
            while True:
                found = self._cell.match(self.data, at)
                if found is None:
                    raise TableError(f"{self.source}: line {line} has a quote that never ends. Close or remove it.")
                quoted, after, bare, end = found.groups()
                at = found.end()
                if quoted is None:
                    if bare.startswith(b'"'):
                        raise TableError(f"{self.source}: line {line} has a quote that never ends. Close or remove it.")
                    cells.append(bare.decode())
                else:
                    line += len(LINE_END.findall(quoted))
                    cells.append((quoted.replace(b'""', b'"') + after).decode())
                if end != self.delimiter.encode():
                    break
            line += 1
            if len(cells) > 1 or cells[0] or quoted is not None:
                yield Record(start, cells, at)

    def line(self, at: int) -> int:
        """Line on which the record number ``at`` starts."""
        return next(islice(iter(self), at, None)).line

    def head(self, count: int) -> list[Record]:
        """Return the first records."""
        return list(islice(iter(self), count))

    def ragged(self, expected: int, first: int) -> str:
        """Say which record is the first with more or fewer cells than the first one has; nothing if there is none."""
        for line, cells, _ in self:
            if len(cells) != expected:
                return f"line {line} has {len(cells):,} cells, line {first} has {expected:,}"
        return ""


def guess_delimiter(data: bytes, source: str) -> str:
    """Return the delimiter of the first line, looking outside quotes; one that the second line has as often wins.

    >>> [guess_delimiter(data, "") for data in (b'"Miller, Ann";1,5;2', b"a,b", b"a", b"mm|in,kg\\n1,2")]
    [';', ',', ',', ',']
    """
    present = []
    for delimiter in DELIMITERS:
        try:
            counts = [len(record.cells) for record in Records(data, delimiter, source).head(2)]
        except TableError:  # quotes that end with another delimiter only
            continue
        if counts[0] > 1:
            if len(set(counts)) == 1 and (delimiter != BAR or len(counts) == 2):
                return delimiter
            present.append(delimiter)
    if not present and _in_columns(data, source):
        return " "
    return next((delimiter for delimiter in present if delimiter != BAR), ",")


def _in_columns(data: bytes, source: str) -> bool:
    """Whether blanks separate cells: the first lines have as many words, several, and below them only numbers."""
    lines = [record.cells[0].split() for record in Records(data, "\t", source).head(2)]
    return len(lines[0]) > 1 and len(lines[0]) == len(lines[-1]) and all(map(is_number, lines[-1]))
