"""Text columns that may be numbers: decimal commas, thousands separators, stray words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from gramian.tables.numerals import COMMA, FLAGS, GROUPING, MISSING, POINT, grouped, is_numeral, proves_comma, trouble
from gramian.tables.table import Column

#: Cells looked at to tell a column of numbers with a stray word from a column of words.
SAMPLE = 1000
ABSENT = frozenset(MISSING)


def find_mark(columns: Iterable[Sequence[str]]) -> str:
    """Return the decimal mark: a comma if a column of nothing but numbers proves it."""
    for cells in columns:
        if any(map(proves_comma, cells[:SAMPLE])) and all(is_numeral(c) or c.strip() in ABSENT for c in cells):
            return ","
    return "."


def looks_numeric(cells: Sequence[str]) -> bool:
    """Whether there is a number among the first cells that are not missing."""
    full = (cell for cell in cells if cell.strip() not in ABSENT)
    return any(map(is_numeral, islice(full, SAMPLE)))


def explain(column: Column, decimal: str, place: Callable[[int], str]) -> Column:
    """Name the cell that makes a column of numbers a column of text; refuse to guess if all cells are numbers."""
    cells = column.text or []
    if not looks_numeric(cells):
        return column
    shape = POINT if decimal == "." else COMMA
    word = odd = None
    for row, cell in enumerate(cells):
        if shape.fullmatch(cell) or cell.strip() in ABSENT:
            continue
        odd = row if odd is None else odd
        if not is_numeral(cell):
            word = row
            break
    if word is not None:
        told = f"{shorten(cells[word])} in {place(word)}"
        doubt = doubtful(told, sum(map(is_numeral, cells)), sum(cell.strip() not in ABSENT for cell in cells))
        return replace(column, remark=f"has text ({told}), kept as a label", doubt=doubt)
    if odd is None:
        return column
    where, what = place(odd), f"{shorten(cells[odd])} {trouble(cells[odd], decimal)}"
    remark = f"is not read as numbers ({where}: {what}), kept as a label"
    return replace(column, remark=remark, refusal=f"{where}, column {column.name!r}: {what}")


def doubtful(cell: str, numbers: int, full: int) -> str:
    """Say that a cell makes text of a column, if more than half of those that are not missing are numbers."""
    return f"{cell} is no number, but {numbers:,} of {full:,} cells are" if 2 * numbers > full else ""


def read_numerals(column: Column, thousands: str | None, decimal: str) -> Column | None:
    """Read text as numbers with this decimal mark and thousands separator; nothing if some cell is none."""
    cells = column.text or []
    if not looks_numeric(cells):
        return None
    shape = (POINT if decimal == "." else COMMA).pattern + (f"|{grouped(thousands, decimal)}" if thousands else "")
    number, marks = re.compile(shape, FLAGS), re.compile(GROUPING[thousands] if thousands else "(?!)")
    numbers = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        if number.fullmatch(cell):
            numbers[row] = float(marks.sub("", cell.strip()).replace(decimal, "."))
        elif cell.strip() not in ABSENT:
            return None
    what = (
        f"had thousands separators ({thousands!r}), which were taken out" if thousands else "is text, read as numbers"
    )
    return Column(column.name, numbers=numbers, remark=what)


def shorten(cell: str) -> str:
    """Quote a cell for a message."""
    return repr(cell) if len(cell) <= 40 else repr(cell[:37] + "...")
