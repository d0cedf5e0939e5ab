"""What a page is made of: checks, sections, and in them pictures, tables and code. Values only, no HTML."""

from __future__ import annotations

import base64
import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.estimators.result_tables import PERCENT, ResultTable
from gramian.figures.grammar import Figure, number
from gramian.reports.sentences import Check, say
from gramian.results import Sentence, percent

#: Rows of a table that a page shows, and that its CSV file holds, at the most; tables of columns are shown whole.
TABLE_SHOWN_ROWS, CSV_MAX_ROWS, ALL_ROWS = 20, 5_000, 5_000
#: In order of gravity; the words are shown, so that no colour alone says anything.
CHECK_GRADES = ("error", "warning", "note", "good")


@dataclass(frozen=True)
class Grid:
    """A table: names of the columns, and rows of numbers and text.

    ``total`` is the number of rows there would be, if not all of them are here.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: Sequence[Sentence] = ()
    total: int | None = None
    shown: int = TABLE_SHOWN_ROWS

    kind = "grid"

    @property
    def cells(self) -> list[list[str]]:
        """The rows a page shows, as text."""
        return [[cell_text(cell) for cell in row] for row in self.rows[: self.shown]]

    @property
    def numeric(self) -> list[bool]:
        """Which columns hold numbers, to be set flush right."""
        first = self.rows[0] if len(self.rows) else ()
        return [not isinstance(cell, str) for cell in first]

    @property
    def said(self) -> Sequence[Sentence]:
        """How much of the table is shown, if not all of it."""
        there, total = min(len(self.rows), CSV_MAX_ROWS), max(self.total or 0, len(self.rows))
        if total > there:
            return [say("rows_kept", shown=min(there, self.shown), total=total, kept=there)]
        return [say("rows_shown", shown=self.shown, total=there)] if there > self.shown else []

    @property
    def file(self) -> str:
        """Name of the CSV file."""
        return f"{slug(self.title)}.csv"

    @property
    def address(self) -> str:
        """The CSV file, as an address that holds it."""
        text = io.StringIO(newline="")
        writer = csv.writer(text)
        writer.writerow(self.columns)
        writer.writerows([_plain(cell) for cell in row] for row in self.rows[:CSV_MAX_ROWS])
        return "data:text/csv;charset=utf-8;base64," + base64.b64encode(text.getvalue().encode()).decode()


def grid_of(table: ResultTable, title: str, note: Sequence[Sentence] = (), shown: int = TABLE_SHOWN_ROWS) -> Grid:
    """A table of results on a page; shares are written as percent."""
    rows = [list(row) for row in table.head(CSV_MAX_ROWS).rows]
    for at, name in enumerate(table.columns):
        if table.formats.get(name) == PERCENT:
            for row in rows:
                row[at + 1] = None if row[at + 1] is None else percent(row[at + 1])
    return Grid(title, [table.of, *table.columns], rows, note, total=len(table), shown=shown)


@dataclass(frozen=True)
class Picture:
    """A figure for plotly, sentences that say what it shows, and the numbers behind it."""

    title: str
    says: Sequence[Sentence]
    figure: Figure
    grid: Grid

    kind = "picture"


@dataclass(frozen=True)
class Facts:
    """Labelled lines."""

    title: str
    lines: Sequence[tuple[str, str]]

    kind = "facts"


@dataclass(frozen=True)
class Code:
    """A program."""

    title: str
    text: str

    kind = "code"


Part = Grid | Picture | Facts | Code


@dataclass(frozen=True)
class Section:
    """Part of a page: a heading, a few sentences, and what belongs to them."""

    title: str
    says: Sequence[Sentence] = ()
    parts: Sequence[Part] = ()

    @property
    def id(self) -> str:
        """Its place in the page."""
        return slug(self.title)


@dataclass(frozen=True)
class Page:
    """A report."""

    title: str
    subtitle: str
    checks: Sequence[Check]
    sections: Sequence[Section]
    colophon: str


def slug(text: str) -> str:
    """A word for an address or a file, from a title.

    >>> slug("Scores, rows 1 to 20")
    'scores-rows-1-to-20'
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "part"


def brief(value: float) -> str:
    """A number for the middle of a sentence.

    >>> brief(0.123456), brief(-12.345)
    ('0.123', '-12.3')
    """
    return f"{float(value):.3g}"


def counted(count: int, noun: str, verb: str = "") -> str:
    """A number with its noun and its verb; a verb of several is given.

    >>> counted(1, "row", "are"), counted(2000, "row", "are"), counted(1, "component")
    ('1 row is', '2,000 rows are', '1 component')
    """
    one = {"are": "is"}.get(verb, f"{verb}s")
    return f"{count:,} {noun}{'' if count == 1 else 's'}{f' {one if count == 1 else verb}' if verb else ''}"


def cell_text(cell: str | float | None) -> str:
    """What a cell of a table shows."""
    if cell is None:
        return "–"
    return str(cell) if isinstance(cell, (str, bool, np.bool_)) else number(cell)


def _plain(cell: object) -> object:
    """A cell for a file: all digits, nothing where there is nothing."""
    if cell is None or (isinstance(cell, (float, np.floating)) and not math.isfinite(cell)):
        return ""
    return cell.item() if isinstance(cell, np.generic) else cell
