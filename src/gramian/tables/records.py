"""Delimited text, record by record in plain Python: for the first line, and to name places in messages."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from gramian.tables.table import TableError

#: In this order: a line of decimal commas split at its commas would still read as numbers.
DELIMITERS = ("\t", ";", ",")


class Record(NamedTuple):
    """One record: the line it starts on, its cells, and where the text goes on after it."""

    line: int
    cells: list[str]
    end: int


@dataclass(frozen=True)
class Records:
    """The records of a text; lines that are empty do not count."""

    text: str
    delimiter: str
    source: str

    def __iter__(self) -> Iterator[Record]:
        stream = io.StringIO(self.text, newline="")
        reader = csv.reader(stream, delimiter=self.delimiter)
        line = 1
        try:
            for cells in reader:
                if cells:
                    yield Record(line, cells, stream.tell())
                line = reader.line_num + 1
        except csv.Error as error:
            raise TableError(f"{self.source}: line {line} cannot be read ({error}).") from error

    def line(self, at: int) -> int:
        """Line on which the record number ``at`` starts."""
        return next(record.line for number, record in enumerate(self) if number == at)

    def numeric_cells(self, at: int) -> list[int]:
        """Places of the cells of record number ``at`` that read as numbers; none if there is no such record."""
        try:
            found = next((record.cells for number, record in enumerate(self) if number == at), [])
        except TableError:  # a cell too long for Python's reader may still suit a faster one
            return []
        return [place for place, cell in enumerate(found) if is_number(cell)]

    def ragged(self) -> str:
        """Say which record is the first with more or fewer cells than the first; nothing if there is none."""
        expected = None
        for line, cells, _ in self:
            expected = expected or len(cells)
            if len(cells) != expected:
                return f"line {line} has {len(cells)} cells, line 1 has {expected}"
        return ""


def guess_delimiter(text: str) -> str:
    """Return the delimiter of the first line, looking outside quotes.

    >>> guess_delimiter('"Miller, Ann";1,5;2'), guess_delimiter("a,b"), guess_delimiter("a")
    (';', ',', ',')
    """
    found = re.search(r"[^\r\n]+", text)
    line = re.sub(r'"[^"]*"', "", found.group()) if found else ""
    return next((delimiter for delimiter in DELIMITERS if delimiter in line), ",")


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number.

    >>> [is_number(cell) for cell in ("1", " -2.5e3 ", "nan", "", "1_000", "x")]
    [True, True, True, False, False, False]
    """
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
