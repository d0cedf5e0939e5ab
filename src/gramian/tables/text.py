"""Text with columns: what separates cells, a header or none, how numbers are written."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from gramian.results import Array
from gramian.tables.arrow import ARROW_GROUP_COLUMNS, ARROW_MAX_COLUMNS, DATE, EMPTY, compact, to_columns, to_days
from gramian.tables.decoding import GZIP_START, PROBE_BYTES, Decoder, gunzip, line_ends
from gramian.tables.numerals import (
    ABSENT,
    COMMA,
    GROUPING,
    MISSING_CELLS,
    POINT,
    SPREADSHEET_ERRORS,
    WORD,
    count_numerals,
    find_mark,
    judged,
)
from gramian.tables.records import (
    Record,
    Records,
    check_quotes,
    guess_delimiter,
    spread,
    unquoted,
)
from gramian.tables.table import Column, Dialect, Kind, Sheet, TableError

#: Arrow parses a block at a time, no row may straddle two, and their size is counted in 32 bits.
PARSE_BLOCK_BYTES, MAX_PARSE_BLOCK_BYTES = 2**20, 2**30
#: Cells of the first rows that are looked at for decimal commas.
PROBE_CELLS = 20_000
Types = dict[str, pa.DataType]
BLANK_LINE = re.compile(rb"(?:(?<=[\r\n])|\A) +(?=[\r\n]|\Z)")
LEADING_LINES = re.compile(rb"(?: *[\r\n]+)+")
FAILED_FORMULA = re.compile("|".join(map(re.escape, SPREADSHEET_ERRORS)).encode())


def read_text(data: bytes, source: str, dialect: Dialect) -> Sheet:
    """Read delimited text; what the dialect leaves open the first lines say."""
    return read_rows(begin(data, source, dialect), dialect)


@dataclass(frozen=True)
class Opening:
    """What the first lines say: where records end, the first of them, and whether it names the columns.

    ``start`` is where rows begin; 0 if there is no header, or if the records are some that come later in the text.
    """

    records: Records
    first: Record
    header: bool
    start: int
    remarks: tuple[str, ...]

    @property
    def width(self) -> int:
        return len(self.first.cells)

    @property
    def names(self) -> list[str]:
        return [cell.strip() for cell in self.first.cells] if self.header else [f"x{at}" for at in range(self.width)]

    def place(self, row: int) -> str:
        return f"line {self.records.line(row + (self.start > 0))}"

    def later(self, data: bytes, before: int) -> Opening:
        """Take other records of the same text, which so many lines come before."""
        data = _single_spaces(data) if self.records.delimiter == " " else data
        return replace(self, records=replace(self.records, data=data, before=before), start=0)


def begin(data: bytes, source: str, dialect: Dialect) -> Opening:
    """Look at the first lines of a file, packed or not, in any encoding."""
    check(dialect)
    if data.startswith(GZIP_START):
        data = gunzip(data, source)
    decoder = Decoder(data[:PROBE_BYTES], len(data), source, dialect.encoding)
    text = decoder.feed(data, last=True)
    return look(text, tuple(decoder.remarks), source, dialect)


def look(data: bytes, remarks: tuple[str, ...], source: str, dialect: Dialect) -> Opening:
    """Look at the first lines of text in UTF-8."""
    if not re.search(rb"\S", data):
        raise TableError(f"{source} is empty.")
    blank = LEADING_LINES.match(data)
    if blank is not None and b" " in blank.group():
        data = blank.group().replace(b" ", b"") + data[blank.end() :]
    delimiter = dialect.separator or guess_delimiter(data, source)
    if delimiter == " ":
        data = _single_spaces(data)
    records = Records(data, delimiter, source, most=dialect.most)
    first = records.head(1)[0]
    numbers = count_numerals(first.cells)
    header = numbers < len(first.cells) if dialect.header is None else dialect.header
    if header and dialect.header is None and 2 * numbers >= len(first.cells):
        share = f"{numbers} of its {len(first.cells)} cells are numbers"
        remarks = (*remarks, f"line {first.line} was read as the header, though {share}")
    return Opening(records, first, header, first.end if header else 0, remarks)


def read_rows(opening: Opening, dialect: Dialect) -> Sheet:
    """Read the rows of an opened text."""
    records = opening.records
    check_quotes(records.data, records.delimiter, records.source, records.before)
    try:
        return _read_rows(opening, dialect)
    except TableError:
        # A line of blanks is a row with one cell to Arrow, and no row at all to the people who write them.
        head, body = records.data[: opening.start], records.data[opening.start :]
        if opening.width == 1 or not BLANK_LINE.search(body):
            raise
        body = unquoted(BLANK_LINE.pattern, b"", body, records.delimiter)
        return _read_rows(replace(opening, records=replace(records, data=head + body)), dialect)


def _read_rows(opening: Opening, dialect: Dialect) -> Sheet:
    records, names, remarks = opening.records, opening.names, opening.remarks
    # A line that holds a separator is a row, and so is one of blanks if there is one column.
    if not re.compile(rb"[^\r\n ]").search(records.data, opening.start):
        return Sheet([Column(name) for name in names], 0, opening.place, remarks)
    text = frozenset(at for at, name in enumerate(names) if name in dialect.as_text)
    decimal = dialect.decimal or {"": None, ".": ","}.get(dialect.thousands or "", ".")
    probe = records.cells(1 if decimal else max(1, min(100, PROBE_CELLS // opening.width)), opening.start)
    parser = Parser(opening, text, decimal or find_mark(zip(*probe, strict=False)))
    columns, rows = parser.columns(names, probe[0] if probe else [])
    late = [column.text for column in columns if column.text is not None and column.name not in dialect.as_text]
    if dialect.decimal is None and not dialect.thousands and parser.decimal == "." and find_mark(late) == ",":
        parser = replace(parser, decimal=",")
        columns, rows = parser.columns(names, [])
    if parser.decimal == "," and dialect.decimal is None:
        remarks = (*remarks, "numbers have a decimal comma")
    doubts: tuple[str, ...] = ()
    error = FAILED_FORMULA.search(records.data, opening.start) if b"#" in records.data else None
    if error is not None:
        line = records.before + line_ends(records.data[: error.start()]) + 1
        doubts = (f"{error.group().decode()!r} in line {line}, an error of a spreadsheet, is read as missing",)
    for at, column in enumerate(columns):
        if column.text is not None and column.days is None and column.name not in dialect.as_text:
            columns[at] = column = judged(column, dialect.thousands, parser.decimal, opening.place)
        if _is_empty(column):
            columns[at] = Column(column.name, remark=EMPTY, kind=Kind.EMPTY)
    return Sheet(columns, rows, opening.place, remarks, doubts, parser.decimal)


def _is_empty(column: Column) -> bool:
    """Whether a column has no value: Arrow knows that of cells without blanks around them."""
    if column.numbers is not None:
        first = column.numbers[:1].tolist()  # mostly a number, and of 100,000 columns NumPy asks each for a microsecond
        return all(number != number for number in first) and bool(np.isnan(column.numbers).all())
    return column.text is not None and column.days is None and all(cell.strip() in ABSENT for cell in column.text)


@dataclass(frozen=True)
class Parser:
    """Arrow's parser of the rows; it names columns 0, 1, ... as names of a file may repeat."""

    opening: Opening
    text: frozenset[int]
    decimal: str

    def is_number(self, cell: str) -> bool:
        """Whether Arrow would take a cell for a number, and everybody else too."""
        return (POINT if self.decimal == "." else COMMA).fullmatch(cell) is not None

    def columns(self, names: list[str], probe: list[str]) -> tuple[list[Column], int]:
        """Parse and count all rows; cells of one row of them, the probe, say which columns should be numbers.

        Arrow takes 14 kB for each column beside its cells, so a wide table is read some columns at a time.
        """
        opening = self.opening
        if opening.width <= ARROW_MAX_COLUMNS:
            return self._columns(names, probe)
        values = None if self.text else self._flat()
        if values is not None:
            return [Column(name, numbers=column) for name, column in zip(names, values.T, strict=True)], len(values)
        step = -(-opening.width // -(-opening.width // ARROW_GROUP_COLUMNS))
        parts = [slice(at, min(at + step, opening.width)) for at in range(0, opening.width, step)]
        texts = spread(opening.records, opening.start, opening.width, parts)
        if texts is None:
            raise self._refusal("")
        columns: list[Column] = []
        rows = 0
        for part in parts:
            first = opening.first._replace(cells=opening.first.cells[part], end=0)
            records = replace(opening.records, data=texts.pop(0))
            text = frozenset(at - part.start for at in self.text if part.start <= at < part.stop)
            parser = replace(self, opening=replace(opening, records=records, first=first, start=0), text=text)
            found, rows = parser._columns(names[part], probe[part])
            columns += compact(found, rows)
        return columns, rows

    def _flat(self) -> Array | None:
        """All cells as numbers, read as one long column; nothing if some are none, or rows differ in length."""
        body, delimiter = self.opening.records.data[self.opening.start :], self.opening.records.delimiter.encode()
        lines = [] if b'"' in body else [line for line in re.split(rb"[\r\n]", body) if line]
        if not lines or any(line.count(delimiter) != self.opening.width - 1 for line in lines):
            return None
        turned = b"\n".join([*lines, b""]).replace(delimiter, b"\n")
        del body, lines
        cells = _lent(turned)
        del turned
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(cells),
                arrow_csv.ReadOptions(column_names=["0"], block_size=PARSE_BLOCK_BYTES),
                arrow_csv.ParseOptions(delimiter=delimiter.decode(), quote_char=False, ignore_empty_lines=False),
                self._conversion({"0": pa.float64()}),
            )
        except pa.ArrowInvalid:
            return None
        return table.column(0).to_numpy().reshape(-1, self.opening.width)

    def _conversion(self, types: Types, only: list[str] | None = None) -> arrow_csv.ConvertOptions:
        return arrow_csv.ConvertOptions(
            column_types=types, include_columns=only, decimal_point=self.decimal, null_values=MISSING_CELLS
        )

    def _columns(self, names: list[str], probe: list[str]) -> tuple[list[Column], int]:
        # To find types takes most of the time of a wide table, and one row nearly always knows the numbers.
        known = {str(at): pa.float64() for at, cell in enumerate(probe) if self.is_number(cell)}
        known |= {str(at): pa.string() for at, cell in enumerate(probe) if WORD.fullmatch(cell) and cell not in ABSENT}
        known |= {str(at): pa.string() for at in self.text}
        try:
            table = self._parse(known)
        except pa.ArrowInvalid:  # a word among the numbers, or a row with too few cells
            try:
                table = self._parse({str(at): pa.string() for at in self.text})
            except pa.ArrowInvalid as error:
                raise self._refusal(str(error)) from error
        return self._as_they_stand(table, names), table.num_rows

    def _parse(self, types: Types, only: list[str] | None = None) -> pa.Table:
        data, start = self.opening.records.data, self.opening.start
        body, quoted = _lent(data, start), data.find(b'"', start) >= 0
        names = [*map(str, range(self.opening.width))]

        def parse(block: int) -> pa.Table:
            return arrow_csv.read_csv(
                pa.BufferReader(body),
                arrow_csv.ReadOptions(column_names=names, block_size=min(block, MAX_PARSE_BLOCK_BYTES)),
                arrow_csv.ParseOptions(delimiter=self.opening.records.delimiter, newlines_in_values=quoted),
                self._conversion(types, only),
            )

        try:
            return parse(max(PARSE_BLOCK_BYTES, 16 * self.opening.first.end))
        except pa.ArrowInvalid as error:
            if "straddl" not in str(error):
                raise
            return parse(body.size + 1)

    def _as_they_stand(self, table: pa.Table, names: list[str]) -> list[Column]:
        """Turn Arrow's columns into ours; labels shall read as in the file, not as Arrow would write them."""
        temporal = [at for at, kind in enumerate(table.schema.types) if pa.types.is_temporal(kind)]
        whole = [at for at, kind in enumerate(table.schema.types) if pa.types.is_integer(kind)]
        if whole and not re.search(rb"0[xX][0-9a-fA-F]", self.opening.records.data):
            whole = []
        again = sorted([*temporal, *whole])
        raw = self._parse({str(at): pa.string() for at in again}, [*map(str, again)]) if again else table
        shown = table
        for at in again:
            text = raw.column(str(at))
            # Arrow takes 0x1F for a number; nobody else does.
            if at in temporal or any("x" in cell.lower() for cell in text.to_pylist()):
                shown = shown.set_column(at, str(at), text)
        columns = to_columns(shown, names=names)
        for at in temporal:
            columns[at] = replace(columns[at], remark=DATE, days=to_days(table.column(at)))
        return columns

    def _refusal(self, error: str) -> TableError:
        records, first = self.opening.records, self.opening.first
        reason = records.ragged(len(first.cells), first.line)
        remedy = "Give every row the same cells, and quote cells that hold a delimiter."
        why = f": {reason}. {remedy}" if reason else f" cannot be read as a table ({' '.join(error.split())[:200]})."
        return TableError(records.source + why)


def _lent(data: bytes, start: int = 0) -> pa.Buffer:
    """Text in memory of Arrow's own.

    Arrow's threads let go of a text some microseconds after the call has returned. For memory of Python's they need the
    interpreter, and if that has ended they abort the process: 10 of 40 that refused a file on a busy machine.
    It is given back to the system at once: Arrow's usual memory kept 4 MB more of a text of 1 MB.
    """
    buffer = pa.allocate_buffer(len(data) - start, memory_pool=pa.system_memory_pool())
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8, offset=start)
    return buffer


def _single_spaces(data: bytes) -> bytes:
    """Leave one blank between cells that stand in columns."""
    data = unquoted(rb"(?:(?<=[\r\n])|\A)[ \t]+|[ \t]+(?=[\r\n]|\Z)", b"", data, " ")
    return unquoted(rb"[ \t]+", b" ", data, " ")


def check(dialect: Dialect) -> None:
    """Refuse words that say no way in which text is written."""
    separator, decimal, thousands = dialect.separator, dialect.decimal, dialect.thousands
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0'):
        raise TableError(f"separator={separator!r} must be one character, such as ',', ';' or '\\t'.")
    if decimal not in (None, ".", ","):
        raise TableError(f"decimal={decimal!r} must be '.' or ','.")
    if thousands is not None and (thousands not in GROUPING or thousands == decimal):
        known = " ".join(repr(mark) for mark in GROUPING if mark != decimal)
        raise TableError(f"thousands={thousands!r} must be one of: {known}.")
    if decimal is not None and decimal == separator and separator != ",":
        raise TableError(f"decimal={decimal!r} and separator={separator!r} must differ.")
