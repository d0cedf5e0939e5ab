"""Text in plain Python: bytes to UTF-8, packed or not, in any encoding; records of cells; numbers of cells."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import islice
from typing import BinaryIO, NamedTuple

import numpy as np

from gramian.results import Array
from gramian.tables.table import MAX_COLUMNS, Column, TableError, check_ratio, check_size, too_wide

#: Byte order marks; those of UTF-32 first, since one of them begins like one of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: How other files begin, which someone may have given the name of a text file.
SIGNATURES = {
    b"PAR1": "a Parquet file; it should end in .parquet",
    b"ARROW1": "an Arrow file; it should end in .arrow",
    b"\x93NUMPY": "a NumPy file; it should end in .npy",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file; it should end in .h5",
    b"PK\x03\x04": "a zip file; it should end in .xlsx if it comes from Excel, in .npz if from NumPy",
    b"\x1f\x8b": "a gzip file; it should end in .csv.gz",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save it as .xlsx",
    b"%PDF": "a PDF file; export the table as CSV",
    b"SQLite format 3": "an SQLite database; export the table as CSV",
}
#: Bytes that no text has: control characters, but for tab, line ends, form feed and the end mark of old systems.
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x19\x1b-\x1f]")
PROBE_BYTES = 4096
#: Bytes 128 to 159 of Western Windows, where that says what they are.
WINDOWS = {at: text for at in range(128, 160) if (text := bytes([at]).decode("cp1252", "ignore"))}


class Decoder:
    """Bytes of a text file to UTF-8 without a mark, at once or piece by piece.

    Without ``encoding`` the ``start`` of the file says what it is, and what is not UTF-8 later on is Latin-1; ``size``
    is the number of all bytes, if that is known.
    """

    def __init__(self, start: bytes, size: int | None, source: str, encoding: str | None = None) -> None:
        other = next((what for sign, what in SIGNATURES.items() if start.startswith(sign)), None)
        if other:
            raise TableError(f"{source} looks like {other}.")
        self.source, self.remarks, self.lines, self.rest = source, list[str](), 0, b""
        self.begun = self.beyond_ascii = self.half = False
        self.single = 0  # line from which on the text is no UTF-8
        mark, found = next(((mark, name) for mark, name in MARKS if start.startswith(mark)), (b"", "utf-8"))
        if encoding is None and not mark and (wide := unmarked(start, size)):
            found, self.remarks = wide, ["the text is UTF-16 without a mark"]
        elif encoding is None and found != "utf-8":
            self.remarks = [f"the text is {found[:6].upper()}"]
        self.name = encoding or found
        self.skip = len(mark) if encoding is None else 0
        self.wide: codecs.IncrementalDecoder | None = None
        if encoding is not None or found != "utf-8":
            try:
                b"".decode(self.name)  # also refuses codecs that are not of text
                self.wide = codecs.getincrementaldecoder(self.name)()
            except LookupError:
                raise TableError(
                    f"encoding={encoding!r} is not known. Use a name such as 'utf-8' or 'latin-1'."
                ) from None

    def feed(self, data: bytes, *, last: bool) -> bytes:
        """Return the next bytes as UTF-8; those of half a character wait for the other half."""
        data, self.skip = data[self.skip :] if self.skip else data, max(self.skip - len(data), 0)
        text = self._narrow(self.rest + data, last=last) if self.wide is None else self._wide(data, last=last)
        self.lines += line_ends(text) - (self.half and text.startswith(b"\n"))
        self.half = text.endswith(b"\r") if text else self.half
        return text

    def _narrow(self, data: bytes, *, last: bool) -> bytes:
        self.rest = b""
        if b"\0" in data:
            line = self.lines + line_ends(data[: data.index(b"\0")]) + 1
            raise TableError(
                f"{self.source}: line {line} has NUL bytes: this is not a text file. Export the table as UTF-8 CSV."
            )
        if data.isascii():
            return data
        if not self.single:
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                if not last and error.end == len(data) and len(data) - error.start < 4:
                    self.rest = data[error.start :]
                    data = data[: error.start]
                else:
                    self._turn(self.lines + line_ends(data[: error.start]) + 1)
        if not self.single:
            self.beyond_ascii |= not data.isascii()
            return data
        if CONTROL.search(data):
            raise TableError(
                f"{self.source}: line {self.single} is not text in any known encoding. Export the table as UTF-8 CSV."
            )
        try:
            return data.decode("cp1252").encode()
        except UnicodeDecodeError:  # bytes that Western Windows leaves open are those of Latin-1
            return data.decode("latin-1").translate(WINDOWS).encode()

    def _turn(self, line: int) -> None:
        """Take the text for that of Western Windows, a superset of Latin-1, as what is text but not UTF-8 mostly is."""
        if self.beyond_ascii:
            raise TableError(
                f"{self.source}: line {line} is not UTF-8, and characters before it are. Say encoding= of the file."
            )
        self.single = line
        told = f"the text is not UTF-8 (line {line}) and was read as Latin-1 (Windows-1252); say encoding= if it is not"
        self.remarks.append(told)

    def _wide(self, data: bytes, *, last: bool) -> bytes:
        assert self.wide is not None
        try:
            text = self.wide.decode(data, final=last)
        except (UnicodeError, ValueError) as error:
            raise TableError(
                f"{self.source} is not {self.name} text: the file is damaged, or another encoding."
            ) from error
        if text and not self.begun:
            self.begun, text = True, text.removeprefix("\ufeff")
        if "\0" in text:
            raise TableError(f"{self.source} has NUL characters: this is not {self.name} text.")
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            raise TableError(f"{self.source} is not {self.name} text: it has half characters.") from error


def unmarked(data: bytes, size: int | None = None) -> str | None:
    """Tell UTF-16 without a mark by its zeros: every other byte, if most characters are Western."""
    probe = data[:PROBE_BYTES]
    if (len(data) if size is None else size) % 2 or not probe or b"\0" not in probe:
        return None
    half = len(probe) // 2
    zeros = {"utf-16-be": probe[0::2].count(0), "utf-16-le": probe[1::2].count(0)}
    name, most = max(zeros.items(), key=lambda item: item[1])
    return name if most > 0.7 * half and min(zeros.values()) < 0.05 * half else None


@contextmanager
def unpacked(file: BinaryIO, source: str) -> Iterator[io.BufferedReader]:
    """Read a gzip file, of one or more members, as what it holds."""
    try:
        yield io.BufferedReader(gzip.GzipFile(fileobj=file))
    except EOFError:
        raise TableError(f"{source} is cut short: the gzip stream has no end. Fetch or pack it again.") from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise TableError(f"{source} is not a readable gzip file ({error}). Fetch or pack it again.") from error


def gunzip(packed: bytes, source: str) -> bytes:
    """Unpack a gzip file, all of it or none."""
    parts: list[bytes] = []
    with unpacked(io.BytesIO(packed), source) as stream:
        while part := stream.read(2**20):
            parts.append(part)
            check_ratio(len(packed), len(parts) * 2**20, source)
            check_size(len(parts) * 2**20, source, "the unpacked text")
    return b"".join(parts)


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


#: Bytes that NumPy compares at a time, so that its answers stay in the cache; of fewer bytes ``count`` is as fast.
COMPARED_BYTES = 2**17


def line_ends(data: bytes) -> int:
    """Number of lines that end in some text: by a line feed, a carriage return, or both."""
    if len(data) < COMPARED_BYTES:
        ends = data.count(b"\n")
    else:  # ``count`` takes four to ten times as long
        signs, starts = np.frombuffer(data, np.uint8), range(0, len(data), COMPARED_BYTES)
        ends = sum(int(np.count_nonzero(signs[at : at + COMPARED_BYTES] == ord("\n"))) for at in starts)
    return ends + data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else ends


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
