"""What a page is made of: checks, sections, and in them pictures, tables and code. Values only, no HTML."""

from __future__ import annotations

import base64
import csv
import io
import math
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from gramian.estimators.result_tables import PERCENT, ResultTable
from gramian.figures.grammar import Figure, number
from gramian.reports.sentences import Check, say
from gramian.results import ROUNDING, Sentence

#: Rows of a table that a page shows, and that its CSV file holds, at the most; tables of columns are shown whole.
TABLE_SHOWN_ROWS, CSV_MAX_ROWS, ALL_ROWS = 20, 5_000, 5_000
#: Components of which tables of rows, columns and groups have numbers.
SHOWN_COMPONENTS = 5
#: Letters that half the width of a page has room for, that a cell takes beside its own, and after which texts wrap.
HALF_PAGE_LETTERS, CELL_ROOM_LETTERS, CELL_WRAPS_LETTERS = 76, 2.5, 18
#: Share of the largest number of a column below which another would lose its digits if both had as many.
LEAST_ALIGNED_SHARE = 1e-3
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
    across: int | None = None  #: Columns that a page shows, if not all
    percents: Container[str] = ()  #: Columns of shares, which a page writes as percent and the CSV file as numbers

    kind = "grid"

    @property
    def heads(self) -> Sequence[str]:
        """Names of the columns that a page shows."""
        return self.columns[: self.across]

    @property
    def cells(self) -> list[list[str]]:
        """The rows a page shows, as text."""
        rows = [row[: self.across] for row in self.rows[: self.shown]]
        parts = zip(self.heads, zip(*rows, strict=True), strict=True) if rows else ()
        columns = [
            [cell if isinstance(cell, str) else share_text(cell) for cell in cells]
            if name in self.percents
            else _aligned(cells)
            for name, cells in parts
        ]
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def whole(self) -> bool:
        """Whether the table needs the whole width of a page: lines of it are wider than half, though texts wrap."""
        letters = 0.0
        for head, numeric, *cells in zip(self.heads, self.numeric, *self.cells, strict=False):
            longest = max(map(len, cells), default=0)
            least = longest if numeric else min(longest, CELL_WRAPS_LETTERS)
            letters += max(least, *map(len, head.split())) + CELL_ROOM_LETTERS
        return letters > HALF_PAGE_LETTERS

    @property
    def numeric(self) -> list[bool]:
        """Which columns hold numbers, to be set flush right."""
        first = self.rows[0] if len(self.rows) else ()
        return [not isinstance(cell, str) for cell in first]

    @property
    def said(self) -> Sequence[Sentence]:
        """How much of the table is shown, if not all of it."""
        there, total = min(len(self.rows), CSV_MAX_ROWS), max(self.total or 0, len(self.rows))
        cut = [] if len(self.heads) == len(self.columns) else [say("columns_shown", count=len(self.columns))]
        if total > there:
            return [say("rows_kept", shown=min(there, self.shown), total=total, kept=there), *cut]
        return [*([say("rows_shown", shown=self.shown, total=there)] if there > self.shown else []), *cut]

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
    """A table of results on a page."""
    shares = frozenset(name for name, how in table.formats.items() if how == PERCENT)
    rows = list(table.head(CSV_MAX_ROWS).rows)
    return Grid(title, [table.of, *table.columns], rows, note, total=len(table), shown=shown, percents=shares)


@dataclass(frozen=True)
class Picture:
    """A figure for plotly, sentences that say what it shows, and the numbers behind it."""

    title: str
    says: Sequence[Sentence]
    figure: Figure
    grid: Grid

    open: bool = False  #: Whether the numbers stand beside the picture, and not behind it

    kind = "picture"
    whole = False


@dataclass(frozen=True)
class Facts:
    """Labelled lines."""

    title: str
    lines: Sequence[tuple[str, str]]

    kind = "facts"
    whole = False


@dataclass(frozen=True)
class Code:
    """A program."""

    title: str
    text: str

    kind = "code"
    whole = True


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

    @property
    def blocks(self) -> list[list[Part]]:
        """Parts that follow each other in two columns of a wide screen; one that has the whole width is alone."""
        runs = groupby(self.parts, key=lambda part: part.whole)
        blocks = [block for whole, run in runs for block in ([[part] for part in run] if whole else [list(run)])]
        return [_with_numbers(block) for block in blocks]


def _with_numbers(block: Sequence[Part]) -> list[Part]:
    """Parts with the tables of open pictures as parts of their own; a picture that stands alone is open."""
    if len(block) == 1 and isinstance(block[0], Picture):
        grid, title = block[0].grid, block[0].title
        title = grid.title if grid.title != title else f"{title}: numbers"
        grid = replace(grid, title=title, shown=min(grid.shown, TABLE_SHOWN_ROWS))
        block = [replace(block[0], open=not grid.whole, grid=grid)]
    parts = [(part, part.grid) if isinstance(part, Picture) and part.open else (part,) for part in block]
    return [each for pair in parts for each in pair]


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


def share_text(share: float | None) -> str:
    """A share with one digit after the point; what is not all is not written as all, nor what is not nothing as such.

    >>> share_text(0.1234), share_text(0.99999), share_text(1e-9), share_text(1.0)
    ('12.3 %', '> 99.9 %', '< 0.1 %', '100.0 %')
    """
    if share is None or not math.isfinite(share):
        return "–"
    text = f"{100 * share:.1f} %"
    if text == "100.0 %" and share < 1 - ROUNDING:
        return "> 99.9 %"
    return "< 0.1 %" if text == "0.0 %" and share > 0 else text


def _aligned(cells: Sequence[Any]) -> list[str]:
    """Cells of a column; fractions have as many digits after the point as the largest needs, if no digits are lost."""
    fractions = [float(cell) for cell in cells if isinstance(cell, (float, np.floating)) and math.isfinite(cell)]
    sizes = [abs(value) for value in fractions if value]
    if not sizes or max(sizes) >= 1e6 or min(sizes) < max(LEAST_ALIGNED_SHARE * max(sizes), 5e-4):
        return [cell_text(cell) for cell in cells]
    how = f",.{max(0, 3 - max(math.floor(math.log10(max(sizes))), 0))}f"
    known = [isinstance(cell, (float, np.floating)) and math.isfinite(cell) for cell in cells]
    return [f"{cell:{how}}" if of_them else cell_text(cell) for cell, of_them in zip(cells, known, strict=True)]


def _plain(cell: object) -> object:
    """A cell for a file: all digits, nothing where there is nothing."""
    if cell is None or (isinstance(cell, (float, np.floating)) and not math.isfinite(cell)):
        return ""
    return cell.item() if isinstance(cell, np.generic) else cell
