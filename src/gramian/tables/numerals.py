"""Cells that are numbers, in one country or another, and columns of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from gramian.tables.table import Column

#: What a spreadsheet shows for a formula that failed.
SPREADSHEET_ERRORS = ("#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NULL!", "#SPILL!")
#: What stands for a missing number. In columns of words these are words.
MISSING_CELLS = (
    *("", "NA", "na", "N/A", "n/a", "NaN", "nan", "NAN", "-nan", "-NaN", "<NA>", "NaT"),
    *("NULL", "Null", "null", "None", "none", "?", ".", "-"),
    *("#N/A", "#NA", "#N/A N/A", *SPREADSHEET_ERRORS),
    *("1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
#: Characters between groups of three digits: in the order asked, a comma is English, a point German, a blank French.
GROUPING = {",": ",", ".": r"\.", "'": "['\u2019]", " ": "[ \u00a0\u202f\u2009]"}
EXPONENT = r"(?:[eE][-+]?\d+)?"
WORD_NUMBERS = r"|[-+]?(?:inf|infinity|nan)"


def plain(decimal: str) -> str:
    """Regular expression of a number without thousands separators."""
    mark = re.escape(decimal)
    return rf"\s*(?:[-+]?(?:\d+(?:{mark}\d*)?|{mark}\d+){EXPONENT}{WORD_NUMBERS})\s*"


def grouped(separator: str, decimal: str) -> str:
    """Regular expression of a number with thousands separators."""
    return rf"\s*[-+]?\d{{1,3}}(?:{GROUPING[separator]}\d{{3}})+(?:{re.escape(decimal)}\d*)?\s*"


#: Every pair of a thousands separator and a decimal mark that differ.
CONVENTIONS = tuple((separator, decimal) for separator in GROUPING for decimal in ".," if separator != decimal)
#: Digits of other scripts are numbers to Python, but to no reader of tables.
FLAGS = re.IGNORECASE | re.ASCII
POINT, COMMA = re.compile(plain("."), FLAGS), re.compile(plain(","), FLAGS)
GROUPED = re.compile("|".join(grouped(separator, decimal) for separator, decimal in CONVENTIONS), FLAGS)
NUMERAL = re.compile("|".join(pattern.pattern for pattern in (POINT, COMMA, GROUPED)), FLAGS)
MAYBE_THOUSANDS = re.compile(grouped(",", "."), FLAGS)
#: What can only be a word: no number, date or truth value begins so.
WORD = re.compile(r"\s*(?!(?:true|false|inf|nan)\b)[^\W\d_][^,]*", re.IGNORECASE | re.DOTALL)


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number with a decimal point."""
    return POINT.fullmatch(cell) is not None


def count_numerals(cells: Iterable[str]) -> int:
    """How many cells read as numbers in some country."""
    return sum(map(is_numeral, cells))


def is_numeral(cell: str) -> bool:
    """Whether a cell reads as a number in some country."""
    return NUMERAL.fullmatch(cell) is not None


def proves_comma(cell: str) -> bool:
    """Whether a cell can only be a number with a decimal comma."""
    if "," not in cell:
        return False
    if re.match(r"\s*[-+]?0,", cell) and COMMA.fullmatch(cell):
        return True  # no thousand begins with a zero
    either = COMMA.fullmatch(cell) or re.fullmatch(grouped(".", ","), cell)
    return bool(either) and not MAYBE_THOUSANDS.fullmatch(cell)


def trouble(cell: str, decimal: str) -> str:
    """Say why a cell that is a number in some country is not read as one, and what to do."""
    here = "decimal commas" if decimal == "," else "a decimal point"
    if MAYBE_THOUSANDS.fullmatch(cell) and COMMA.fullmatch(cell):
        return "may be a decimal comma or a thousands separator; say decimal=',' or thousands=','"
    if COMMA.fullmatch(cell):
        return f"has a decimal comma, but numbers of this file have {here}; say decimal=',' or use one mark throughout"
    if POINT.fullmatch(cell):
        return f"has a decimal point, but numbers of this file have {here}; say decimal='.' or use one mark throughout"
    found = next((s for s, d in CONVENTIONS if re.fullmatch(grouped(s, d), cell)), ",")
    return f"has a thousands separator; take those out, or say thousands={found!r}"


#: Cells looked at to tell a column of numbers with a stray word from a column of words.
_SAMPLE_CELLS = 1000
ABSENT = frozenset(MISSING_CELLS)


def find_mark(columns: Iterable[Sequence[str]]) -> str:
    """Return the decimal mark: a comma if a column of nothing but numbers proves it."""
    for cells in columns:
        if any(map(proves_comma, cells[:_SAMPLE_CELLS])) and all(is_numeral(c) or c.strip() in ABSENT for c in cells):
            return ","
    return "."


def looks_numeric(cells: Sequence[str]) -> bool:
    """Whether there is a number among the first cells that are not missing."""
    full = (cell for cell in cells if cell.strip() not in ABSENT)
    return any(map(is_numeral, islice(full, _SAMPLE_CELLS)))


def judged(column: Column, thousands: str | None, decimal: str, place: Callable[[int], str]) -> Column:
    """A text column as numbers, if all its cells are; otherwise with the reason why it is text."""
    return _read_numerals(column, thousands, decimal) or _explain(column, decimal, place)


def _explain(column: Column, decimal: str, place: Callable[[int], str]) -> Column:
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
        doubt = doubtful(told, count_numerals(cells), sum(cell.strip() not in ABSENT for cell in cells))
        return replace(column, remark=f"has text ({told}), kept as a label", doubt=doubt)
    if odd is None:
        return column
    where, what = place(odd), f"{shorten(cells[odd])} {trouble(cells[odd], decimal)}"
    remark = f"is not read as numbers ({where}: {what}), kept as a label"
    return replace(column, remark=remark, refusal=f"{where}, column {column.name!r}: {what}")


def doubtful(cell: str, numbers: int, full: int) -> str:
    """Say that a cell makes text of a column, if more than half of those that are not missing are numbers."""
    return f"{cell} is no number, but {numbers:,} of {full:,} cells are" if 2 * numbers > full else ""


def _read_numerals(column: Column, thousands: str | None, decimal: str) -> Column | None:
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
    told = (
        f"had thousands separators ({thousands!r}), which were taken out" if thousands else "is text, read as numbers"
    )
    return Column(column.name, numbers=numbers, remark=told)


def shorten(cell: str) -> str:
    """Quote a cell for a message."""
    return repr(cell) if len(cell) <= 40 else repr(cell[:37] + "...")
