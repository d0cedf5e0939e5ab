"""Text files that are read block by block: the first lines say how they are written, and the rest must agree."""

from __future__ import annotations

import codecs
import gzip
import re
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.operators.rows import Piece
from gramian.tables.assemble import stack
from gramian.tables.encodings import MARKS, PROBE, unmarked
from gramian.tables.records import guess_delimiter
from gramian.tables.row_files import NOTHING, RowFile
from gramian.tables.table import Column, Dialect, Sheet, TableError
from gramian.tables.text import COMMA_REMARK, read_text

#: Bytes that are looked at to find out how the text is written, and that are parsed at a time.
HEAD, CHUNK = 2**18, 4 * 2**20
#: A line longer than this is no row.
LONGEST_LINE = 2**28
EMPTY = "is empty, left out"


class TextRows(RowFile):
    """Lines of delimited text, packed or not."""

    def _open(self) -> None:
        with open(self.path, "rb") as file:
            start = file.read(PROBE)
        self.packed = start.startswith(b"\x1f\x8b")
        marked = (name for mark, name in MARKS if start.startswith(mark) and name != "utf-8")
        self.encoding = self.dialect.encoding or next(marked, None) or unmarked(start)
        chunks = self._chunks(HEAD)
        head = next(chunks, b"")
        read = max(self._at if self.packed else len(head), 1)
        chunks.close()
        told = replace(self.dialect, encoding=None)
        if not self.dialect.separator and re.search(rb"\S", head):
            told = replace(told, separator=guess_delimiter(head, self.source))
        sheet = read_text(head, self.source, told)
        decimal = told.decimal or ("," if COMMA_REMARK in sheet.remarks else None)
        self.all = [column.name for column in sheet.columns]
        self.sheet = [_without_rows(column) for column in sheet.columns]
        # There is a header if rows are fewer than lines that hold something.
        bare = read_text(head, self.source, replace(told, header=False, decimal=decimal))
        self.header = sheet.rows < bare.rows if self.dialect.header is None else self.dialect.header
        self.named = self.header
        self.lines = max(1, round(sheet.rows * self.seen[0] / read))
        self.body = replace(told, header=False, decimal=decimal or ("." if not told.thousands else None))

    @property
    def about(self) -> int:
        """Number of rows, if all lines are as long as the first ones."""
        return self.lines

    def read(self, names: list[str], size: int) -> Iterator[Piece]:
        lines, first = 0, True
        total = max(self.seen[0], 1)
        for chunk in self._chunks(CHUNK):
            sheet = self._parse(chunk, lines, header=first and self.header)
            lines, first = lines + _line_ends(chunk), False
            if sheet is None:
                continue
            known = {column.name: column for column in sheet.columns}
            columns = [self._numbers(known[name], sheet) for name in names]
            values = stack(columns, sheet.rows)
            share = min(1.0, self._at / total)
            for start in range(0, sheet.rows, size):
                yield Piece(values[start : start + size], _places(self.source, sheet, start), share)

    def _parse(self, chunk: bytes, lines: int, *, header: bool) -> Sheet | None:
        if not re.search(rb"\S", chunk):
            return None
        body: Dialect = replace(self.body, header=header)
        sheet = read_text(chunk, self.source, body, before=lines)
        if len(sheet.columns) != len(self.all):
            raise TableError(
                f"{self.source}: {sheet.place(0)} has {len(sheet.columns):,} cells, the lines before have "
                f"{len(self.all):,}. Give every row the same cells, and quote cells that hold a delimiter."
            )
        named = zip(self.all, sheet.columns, strict=True)
        return None if not sheet.rows else replace(sheet, columns=[replace(c, name=name) for name, c in named])

    def _numbers(self, column: Column, sheet: Sheet) -> Column:
        if column.numbers is not None:
            return column
        if column.remark == EMPTY:
            return replace(column, numbers=np.full(sheet.rows, np.nan))
        if column.refusal:
            raise TableError(f"{self.source}: {column.refusal}.")
        what = column.remark.removesuffix(", kept as a label")
        where = "" if " line " in what else f" from {sheet.place(0)} on"
        raise TableError(
            f"{self.source}: column {column.name!r} {what}{where}, and is numbers in the lines before. "
            "Correct it, or choose other columns."
        )

    def _chunks(self, size: int) -> Generator[bytes, None, None]:
        """Whole lines of the text as UTF-8, or as the bytes they are if the encoding is left to each block."""
        decode = None if self.encoding is None else codecs.getincrementaldecoder(self.encoding)()
        rest = b""
        with open(self.path, "rb") as file:
            stream: Any = gzip.GzipFile(fileobj=file) if self.packed else file
            while True:
                try:
                    data = stream.read(size)
                    last = len(data) < size
                    text = data if decode is None else decode.decode(data, final=last).encode()
                except (EOFError, OSError, gzip.BadGzipFile) as error:
                    raise TableError(f"{self.source} is cut short or damaged ({error}). Fetch it again.") from error
                except UnicodeError as error:
                    raise TableError(f"{self.source} is not {self.encoding} text: the file is damaged.") from error
                self._at = file.tell()
                rest += text.removeprefix("\ufeff".encode()) if not rest else text
                if last:
                    break
                end = _last_line(rest)
                if end:
                    yield rest[:end]
                    rest = rest[end:]
                elif len(rest) > LONGEST_LINE:
                    raise TableError(f"{self.source} has a line of more than {LONGEST_LINE:,} bytes; it is no table.")
        if rest:
            yield rest


def _last_line(data: bytes) -> int:
    """Where the last whole line ends; a line end between quotes ends no line."""
    mark = b"\n" if b"\n" in data else b"\r"
    end = data.rfind(mark) + 1 if mark == b"\n" or not data.endswith(b"\r") else data.rfind(mark, 0, -1) + 1
    while end and data.count(b'"', 0, end) % 2:
        end = data.rfind(mark, 0, end - 1) + 1
    return end


def _line_ends(data: bytes) -> int:
    return data.count(b"\n") if b"\n" in data else data.count(b"\r")


def _without_rows(column: Column) -> Column:
    return replace(
        column,
        numbers=None if column.numbers is None else NOTHING,
        text=None if column.text is None else [],
        days=None if column.days is None else NOTHING,
    )


def _places(source: str, sheet: Sheet, start: int) -> Any:
    return lambda row: f"{source}: {sheet.place(start + row)}"
