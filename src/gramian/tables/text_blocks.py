"""Text files as streams: read in blocks that end where records end, each held against what the first one says."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gramian.operators.source import Piece
from gramian.tables.assemble import named_columns, stack
from gramian.tables.decoding import GZIP_START, PROBE_BYTES, Decoder, line_ends, unpacked
from gramian.tables.records import (
    check_quotes,
    end_of_records,
    guess_delimiter,
)
from gramian.tables.table import NO_NUMBERS, Column, Kind, RowFile, Sheet, TableError, check_size
from gramian.tables.text import check, look, read_rows, read_text

#: Bytes of a file from which on its blocks are worth a look, which is lost if they hold more than numbers; their size.
PLAIN_MIN_BYTES, PLAIN_BLOCK_BYTES = 8 * 2**20, 2**21
#: Bytes of the first block, which says how the text is written, and of the others.
FIRST_BLOCK_BYTES, TEXT_BLOCK_BYTES = 2**19, 4 * 2**20
#: Bytes in which the quotes of the first two lines end.
MAX_QUOTED_HEAD_BYTES = 2**23
#: A line longer than this is no row.
MAX_LINE_BYTES = 2**28
TWO_LINES = re.compile(rb"[^\r\n][\r\n]+[^\r\n]+[\r\n]")


class Part(NamedTuple):
    """Text in UTF-8, whether it is the last, the share of the file that has been read with it, and lines before it."""

    text: bytes
    last: bool
    share: float
    before: int = 0


class TextFile(RowFile):
    """Lines of delimited text, packed or not.

    The first block is read as a file of its own. What it says of the delimiter, the header, the decimal mark and which
    columns are numbers holds for the blocks that follow; one that contradicts it is refused with its line.
    """

    def whole(self) -> Sheet:
        size = self.path.stat().st_size
        check_size(size, self.source, "the text")
        plain = self._plain() if size >= PLAIN_MIN_BYTES else None
        return plain or read_text(self.path.read_bytes(), self.source, self.dialect)

    def _plain(self) -> Sheet | None:
        """Numbers of all blocks; nothing if there is more than numbers, which takes a look at the whole text."""
        try:
            self.open()
            if any(column.numbers is None or column.remark for column in self.sheet):
                return None
            values, done = np.empty((self.about, len(self.sheet))), 0
            for sheet, share in self._sheets(PLAIN_BLOCK_BYTES):
                both = list(zip(self.sheet, sheet.columns, strict=True))
                if sheet.doubts or any(column.numbers is not None and column.remark for _, column in both):
                    return None
                stop = done + sheet.rows
                if stop > len(values):
                    values.resize((round(stop / share), len(both)), refcheck=False)
                values[done:stop] = stack([self._numbers(before, column, sheet) for before, column in both], sheet.rows)
                done = stop
        except TableError:
            return None
        values.resize((done, len(self.sheet)), refcheck=False)
        columns = [replace(column, numbers=values[:, at]) for at, column in enumerate(self.sheet)]
        return Sheet(columns, done, self._place, self.remarks)

    def _place(self, row: int) -> str:
        for sheet, _ in self._sheets():
            if row < sheet.rows:
                return sheet.place(row)
            row -= sheet.rows
        raise IndexError(row)

    def _open(self) -> None:
        check(self.dialect)
        text, _, share, _ = self._head()
        opening = look(text, tuple(self.decoder.remarks), self.source, self.dialect)
        sheet = read_rows(opening, self.dialect)
        self.sheet = [_without_rows(column) for column in named_columns(sheet, self.source)]
        self.named, self.known, self.remarks = opening.header, sheet.rows, sheet.remarks
        self.lines = max(1, round(sheet.rows / share))
        self.opening = replace(opening, records=replace(opening.records, data=b""))
        mark = "," if sheet.decimal == "," else None if self.dialect.thousands else "."
        self.body = replace(self.dialect, decimal=self.dialect.decimal or mark)

    @property
    def about(self) -> int:
        """Number of rows, if all lines are as long as the first ones."""
        return self.lines

    def read(self, names: list[str], size: int) -> Iterator[Piece]:
        places = {column.name: at for at, column in enumerate(self.sheet)}
        chosen = [places[name] for name in names]
        done = 0
        for sheet, share in self._sheets():
            if self.all_numeric:
                self._check_left_out(sheet, done)
            values = stack([self._numbers(self.sheet[at], sheet.columns[at], sheet) for at in chosen], sheet.rows)
            for start in range(0, sheet.rows, size):
                yield Piece(values[start : start + size], _places(self.source, sheet, start), share)
            done += sheet.rows

    def _sheets(self, size: int = 0) -> Iterator[tuple[Sheet, float]]:
        """Blocks of rows, each as the reader of files sees it."""
        delimiter, first = self.opening.records.delimiter, True
        told = replace(self.body, separator=delimiter, header=self.named)
        with closing(self._records(size or TEXT_BLOCK_BYTES, lambda text: end_of_records(text, delimiter))) as blocks:
            for text, _, share, lines in blocks:
                if first and not text.strip():
                    continue
                opening = look(text, (), self.source, told) if first else self.opening.later(text, lines)
                sheet = read_rows(opening, self.body)
                first = False
                if sheet.rows:
                    yield sheet, share

    def _check_left_out(self, sheet: Sheet, done: int) -> None:
        """Refuse rows in which a column is a feature that was none in the first block, if all of them are wanted."""
        for before, column in zip(self.sheet, sheet.columns, strict=True):
            if before.kind is Kind.EMPTY and column.refusal:
                raise TableError(f"{self.source}: {column.refusal}.")
            if before.kind is Kind.EMPTY and column.numbers is not None:
                row = int(np.flatnonzero(~np.isnan(column.numbers))[0])
                raise self._late(before, "has a number", f"is empty in the first {self.known:,} rows", sheet.place(row))
            if before.kind in (Kind.COUNTS_FROM_0, Kind.COUNTS_FROM_1) and column.text is None:
                expected = np.arange(done, done + sheet.rows) + (before.kind is Kind.COUNTS_FROM_1)
                wrong = np.flatnonzero(expected != self._numbers(before, column, sheet).numbers)
                if len(wrong):
                    raise self._late(before, "stops counting rows", "counts them before", sheet.place(int(wrong[0])))

    def _late(self, column: Column, what: str, before: str, place: str) -> TableError:
        return TableError(
            f"{self.source}: {place}: column {column.name!r} {what}, and {before}. Choose columns with columns=, or "
            "read the file whole."
        )

    def _numbers(self, before: Column, column: Column, sheet: Sheet) -> Column:
        if column.kind is Kind.EMPTY:
            return replace(column, numbers=np.full(sheet.rows, np.nan))
        if column.numbers is not None and (column.kind is Kind.TRUTH) == (before.kind is Kind.TRUTH):
            return column
        if column.refusal:
            raise TableError(f"{self.source}: {column.refusal}.")
        now, then = ("true and false" if one.kind is Kind.TRUTH else "numbers" for one in (column, before))
        what = column.remark.removesuffix(", kept as a label") or f"is {now}"
        where = "" if " line " in what else f" from {sheet.place(0)} on"
        raise TableError(
            f"{self.source}: column {before.name!r} {what}{where}, and is {then} in the lines before. "
            "Correct it, choose other columns with columns=, or read the file whole."
        )

    def _head(self) -> Part:
        """Whole records of the first block, two at least if the file has them."""

        def end(text: bytes) -> int:
            wanted = self.dialect.separator
            try:
                wanted = wanted or guess_delimiter(text, self.source, whole=len(text) > MAX_QUOTED_HEAD_BYTES)
            except TableError:  # a quote that ends below
                return 0
            found = end_of_records(text, wanted)
            return found if TWO_LINES.search(text, 0, found) else 0

        with closing(self._records(FIRST_BLOCK_BYTES, end)) as parts:
            return next(parts)

    def _records(self, size: int, end: Callable[[bytes], int]) -> Generator[Part, None, None]:
        """Text cut where a function says that records end, about ``size`` bytes at a time."""
        waiting, rest, enough, lines = [b""], 0, 0, 0
        for text, last, share, _ in self._parts(size):
            waiting.append(text)
            rest += len(text)
            if not last and rest < enough:
                continue
            held = b"".join(waiting)
            stop = len(held) if last else end(held)
            # Twice as many before another look, or a quote that never ends would be looked for in every prefix.
            enough = 0 if stop else 2 * rest
            if stop or last:
                part = Part(held[:stop], last, share * stop / max(len(held), 1), lines)
                waiting, lines = [held[stop:]], lines + line_ends(part.text)
                rest -= stop
                del text, held
                yield part
            elif rest > MAX_LINE_BYTES:
                check_quotes(held, self.opening.records.delimiter if lines else ",", self.source, lines)
                raise TableError(f"{self.source} has a line of more than {MAX_LINE_BYTES:,} bytes; it is no table.")
            else:
                waiting = [held]

    def _parts(self, size: int) -> Iterator[Part]:
        """Text of the file as UTF-8, about ``size`` bytes at a time."""
        total = max(self.seen[0], 1)
        with open(self.path, "rb") as file:
            packed = file.peek(len(GZIP_START)).startswith(GZIP_START)
            length = None if packed else self.seen[0] or None
            with unpacked(file, self.source) if packed else nullcontext(file) as stream:
                start = stream.peek(PROBE_BYTES)[:PROBE_BYTES]
                self.decoder = Decoder(start, length, self.source, self.dialect.encoding)
                last = False
                while not last:
                    data = stream.read(size)
                    last = not stream.peek(1)
                    yield Part(self.decoder.feed(data, last=last), last, min(1.0, file.tell() / total))


def _without_rows(column: Column) -> Column:
    return replace(
        column,
        numbers=None if column.numbers is None else NO_NUMBERS,
        text=None if column.text is None else [],
        days=None if column.days is None else NO_NUMBERS,
    )


def _places(source: str, sheet: Sheet, start: int) -> Any:
    return lambda row: f"{source}: {sheet.place(start + row)}"
