"""Sheets of Excel. Nothing in them is ever executed."""

from __future__ import annotations

import datetime
import warnings
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.tables.numerals import ABSENT, SPREADSHEET_ERRORS, doubtful, is_number, judged
from gramian.tables.table import (
    MAX_UNPACKED_RATIO,
    Column,
    Dialect,
    Sheet,
    TableError,
    TableFile,
    allowance,
    check_ratio,
    check_size,
    readable,
    too_wide,
)

if TYPE_CHECKING:
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet


#: Bytes that a cell takes as a Python object; empty cells before a full one count.
CELL_BYTES = 64
EXCEL_MAX_ROWS = 2**20
#: Cells that may all be empty without harm.
MAX_EMPTY_CELLS = 10**7
Moment = datetime.date | datetime.time | datetime.timedelta
EPOCH = datetime.datetime(1970, 1, 1)


class ExcelFile(TableFile):
    """The first sheet of a workbook, or the one that ``sheet`` names; formulas give their stored values."""

    def whole(self) -> Sheet:
        path, source, dialect = self.path, self.source, self.dialect
        try:
            from openpyxl import load_workbook
        except ModuleNotFoundError:
            raise TableError(f"{source}: Excel files need openpyxl: pip install 'gramian[io]'.") from None
        # Opened here, since openpyxl leaves a file open that it cannot read.
        with (
            readable(source, "Excel file", " Save it again."),
            open(path, "rb") as file,
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # of styles and validation rules, which do not matter here
            with zipfile.ZipFile(path) as archive:
                members = archive.infolist()
            unpacked = sum(member.file_size for member in members)
            check_ratio(sum(member.compress_size for member in members), unpacked, source)
            check_size(unpacked, source, "the unpacked workbook")
            with closing(load_workbook(file, read_only=True, data_only=True, keep_links=False)) as book:
                names = [sheet.title for sheet in book.worksheets]
                if dialect.sheet is not None and dialect.sheet not in names:
                    known = ", ".join(names[:5])
                    raise TableError(f"{source}: there is no sheet {dialect.sheet!r}. There are: {known}.")
                if not names:
                    raise TableError(f"{source} has no sheet with cells.")
                name = names[0] if dialect.sheet is None else dialect.sheet
                numbers, rows = _rows(book[name], source, dialect.most)
        others = [other for other in names if other != name]
        told = (f"sheet {name!r} was read; there are others: {', '.join(others[:5])}",) if others else ()
        return _sheet(rows, numbers, source, dialect, () if dialect.sheet else told)


def _rows(sheet: ReadOnlyWorksheet, source: str, widest: int) -> tuple[list[int], list[Sequence[Any]]]:
    """Rows that are not empty, and their numbers as Excel shows them."""
    sheet.reset_dimensions()  # the size a sheet declares may be anything; what it holds is counted
    numbers, rows, cells, full, most = [], [], 0, 0, allowance() // CELL_BYTES
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if len(row) > widest:
            raise TableError(too_wide(source, widest))
        cells += len(row)
        full += len(row) - row.count(None)
        if number > EXCEL_MAX_ROWS or cells > min(most, MAX_EMPTY_CELLS + MAX_UNPACKED_RATIO * full):
            raise TableError(
                f"{source}: the sheet has cells beyond row {number - 1:,}, more than Excel or the memory holds. "
                "Delete what lies outside the table, or save it as CSV."
            )
        while row and row[-1] is None:
            row = row[:-1]
        if row:
            numbers.append(number)
            rows.append(row)
    if not rows:
        raise TableError(f"{source}: the sheet {sheet.title!r} is empty.")
    return numbers, rows


def _sheet(
    rows: list[Sequence[Any]], numbers: list[int], source: str, dialect: Dialect, told: tuple[str, ...]
) -> Sheet:
    width = max(map(len, rows))
    # Cells that are empty at the end of a row are not stored, so many short rows may stand for a large sheet.
    check_size(width * len(rows) * 8, source, "the sheet")
    rows = [(*row, *[None] * (width - len(row))) for row in rows]
    figures = sum(_is_figure(cell) for cell in rows[0])
    header = figures < width if dialect.header is None else dialect.header
    names = [f"x{at}" for at in range(width)]
    if header:
        names = ["" if cell is None else str(cell).strip() for cell in rows[0]]

    def place(row: int) -> str:
        return f"row {numbers[row + header]}"

    columns = [
        _column(name, cells, dialect, place)
        for name, cells in zip(names, zip(*rows[header:], strict=True), strict=False)
    ]
    failed = ((row, cell) for row, cells in enumerate(rows[header:]) for cell in cells if cell in SPREADSHEET_ERRORS)
    doubts = [f"{cell!r} in {place(row)}, an error of a spreadsheet, is read as missing" for row, cell in failed]
    return Sheet(columns, len(rows) - header, place, told, tuple(doubts[:1]))


def _column(name: str, cells: Sequence[Any], dialect: Dialect, place: Callable[[int], str]) -> Column:
    text = ["" if cell is None else str(cell) for cell in cells]
    full = [cell for cell in cells if not _is_absent(cell)]
    if name in dialect.as_text:
        return Column(name, text=text)
    if not full:
        return Column(name, remark="is empty, as are formulas that were never computed, left out")
    if all(isinstance(cell, Moment) for cell in full):
        return Column(name, text=text, remark="is a date or time, kept as a label", days=_days(cells))
    if any(isinstance(cell, Moment) for cell in full):
        return Column(name, text=text, remark="has dates among other cells, kept as a label")
    if all(_is_figure(cell) or (isinstance(cell, str) and is_number(cell)) for cell in full):
        remark = "has numbers stored as text, read as numbers" if any(isinstance(cell, str) for cell in full) else ""
        numbers = np.array([np.nan if _is_absent(cell) else float(cell) for cell in cells])
        return Column(name, numbers=numbers, remark=remark)
    if any(_is_figure(cell) for cell in full):
        at = next(at for at, cell in enumerate(cells) if cell in full and not _is_figure(cell) and not is_number(cell))
        told = f"{text[at][:40]!r} in {place(at)}"
        doubt = doubtful(told, sum(_is_figure(cell) or is_number(str(cell)) for cell in full), len(full))
        return Column(name, text=text, remark=f"has text ({told}), kept as a label", doubt=doubt)
    words = Column(name, text=text, remark="is text, kept as a label")
    decimal = dialect.decimal or ("," if dialect.thousands == "." else ".")
    return judged(words, dialect.thousands, decimal, place)


def _is_absent(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip() in ABSENT)


def _is_figure(cell: object) -> bool:
    return isinstance(cell, (int, float))  # true and false count as 1 and 0


def _days(cells: Sequence[Any]) -> np.ndarray:
    def days(cell: Moment) -> float:
        if isinstance(cell, datetime.timedelta):
            return cell / datetime.timedelta(days=1)
        if isinstance(cell, datetime.time):
            cell = datetime.datetime.combine(EPOCH.date(), cell.replace(tzinfo=None))
        elif not isinstance(cell, datetime.datetime):
            cell = datetime.datetime.combine(cell, datetime.time())
        return (cell.replace(tzinfo=None) - EPOCH) / datetime.timedelta(days=1)

    return np.array([days(cell) if isinstance(cell, Moment) else np.nan for cell in cells])
