"""Text files with columns: comma, semicolon or tab between cells, a header or none."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from gramian.tables.arrow import arrow_csv, pa, to_column
from gramian.tables.records import Records, guess_delimiter, is_number
from gramian.tables.table import Column, Sheet, TableError

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Arrow parses a block at a time, no row may straddle two, and their size is counted in 32 bits.
LARGEST_BLOCK = 2**30
#: Cells looked at to tell a column of numbers with a stray word from a column of words.
SAMPLE = 1000


def read_tsv(data: bytes, source: str) -> Sheet:
    """Read text whose columns are split at tabs."""
    return read_text(data, source, "\t")


def read_text(data: bytes, source: str, delimiter: str | None = None) -> Sheet:
    """Read UTF-8 text; the first line says which delimiter it uses, unless it is given."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    text = _decode(data, source)
    records = Records(text, delimiter or guess_delimiter(text), source)
    first = next(iter(records))
    numbers = sum(map(is_number, first.cells))
    header = numbers < len(first.cells)
    names = [cell.strip() for cell in first.cells] if header else [f"x{at}" for at in range(len(first.cells))]
    start = first.end if header else 0

    def place(row: int) -> str:
        return f"line {records.line(row + header)}"

    if not re.compile(r"\S").search(text, start):
        return Sheet([Column(name) for name in names], 0, place)
    body = _parse(data, len(text[:start].encode()), records, len(names))
    columns = [_explain(to_column(name, found), place) for name, found in zip(names, body.columns, strict=True)]
    remarks = (f"line {first.line} was read as the header, though {numbers} of its {len(names)} cells are numbers",)
    return Sheet(columns, body.num_rows, place, remarks if header and 2 * numbers >= len(names) else ())


def _decode(data: bytes, source: str) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TableError(f"{source}: line {line} is not UTF-8 text. Save the file as UTF-8.") from error
    if "\0" in text:
        raise TableError(f"{source} has NUL bytes: it is binary or UTF-16. Save the file as UTF-8 text.")
    if not text.strip():
        raise TableError(f"{source} is empty.")
    return text


def _parse(data: bytes, start: int, records: Records, width: int) -> pa.Table:
    """Let Arrow parse the rows from byte ``start`` on; columns are named 0, 1, ... as names of a file may repeat."""
    body = pa.py_buffer(data).slice(start)
    reading = arrow_csv.ReadOptions(
        column_names=[*map(str, range(width))], block_size=min(body.size + 1, LARGEST_BLOCK)
    )
    parsing = arrow_csv.ParseOptions(delimiter=records.delimiter, newlines_in_values=b'"' in data)

    def parse(types: dict[str, pa.DataType]) -> pa.Table:
        converting = arrow_csv.ConvertOptions(column_types=types)
        table = arrow_csv.read_csv(pa.BufferReader(body), reading, parsing, converting)
        dates = [field.name for field in table.schema if pa.types.is_temporal(field.type)]
        # A label shall read as in the file, not as Arrow would write a date.
        return parse({**types, **dict.fromkeys(dates, pa.string())}) if dates else table

    try:
        # To find types takes most of the time of a wide table, and the second record nearly always knows the numbers.
        return parse({str(at): pa.float64() for at in records.numeric_cells(1)})
    except pa.ArrowInvalid:
        pass  # a word among the numbers, or a row with too few cells
    try:
        return parse({})
    except pa.ArrowInvalid as error:
        reason = records.ragged() or str(error).splitlines()[0]
        raise TableError(
            f"{records.source}: {reason}. Give every row the same cells, and quote cells that hold a delimiter."
        ) from error


def _explain(column: Column, place: Callable[[int], str]) -> Column:
    """Name the word that makes a column of numbers a column of text."""
    if column.text is None or not any(map(is_number, column.text[:SAMPLE])):
        return column
    row = next((at for at, cell in enumerate(column.text) if cell.strip() and not is_number(cell)), None)
    if row is None:
        return column
    return replace(column, remark=f"has text ({column.text[row]!r} in {place(row)}), kept as a label")
