"""Large text files of nothing but plain numbers: parsed while they are read, so that the text is never in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import numpy as np

from gramian.engine.tiles import Meter, run, share, threads_for
from gramian.results import Array
from gramian.tables.arrow import pa
from gramian.tables.table import Column, Dialect, Sheet, TableError
from gramian.tables.text import COMMA_REMARK, Parser, begin

#: Bytes of a file from which on this way is worth a second look at those that turn out not to be plain.
LARGE = 8 * 2**20
#: Bytes that say how a file is written.
HEAD = 2**20


class NotPlain(Exception):
    """Signs that need a closer look stand in the text."""


class Watched:
    """A file that stops being read at the first sign that is not plain; Arrow asks it for a block at a time."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.closed = file, False

    def read(self, size: int) -> bytes:
        """Return the next bytes, after a look at them while they are in the cache."""
        data = self.file.read(size)
        if not plain(data):
            raise NotPlain
        return data

    def close(self) -> None:
        """Leave the file to those who opened it."""


def plain(data: bytes) -> bool:
    """Whether bytes mean themselves: no quote, no other encoding, nothing that is no text."""
    return data.isascii() and b'"' not in data and b"\0" not in data


def read_plain(path: Path, source: str, dialect: Dialect) -> Sheet | None:
    """Read a file whose cells are all numbers or missing; nothing if it is another, which takes a closer look."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        head = head[: head.rfind(b"\n") + 1]
        try:
            opening = begin(head, source, dialect)
            rows = opening.probe()
        except TableError:
            return None
        # Names of columns may be quoted or in any script; what had to be recoded is not what stands in the file.
        if opening.records.data != head or not plain(head[opening.start :]):
            return None
        parser = Parser(opening, frozenset(), opening.decimal(dialect, rows))
        numbers = bool(rows) and len(rows[0]) == opening.width and all(map(parser.is_number, rows[0]))
        if not numbers or not dialect.as_text.isdisjoint(opening.names) or opening.records.delimiter == " ":
            return None
        file.seek(opening.start)
        types = {str(at): pa.float64() for at in range(opening.width)}
        try:
            table = parser.parse(pa.PythonFile(Watched(file), "r"), types, quoted=False)
        except (NotPlain, pa.ArrowInvalid):
            return None
    if any(column.null_count == len(column) for column in table.columns):
        return None

    def place(row: int) -> str:
        return replace(opening, records=replace(opening.records, data=path.read_bytes())).place(row)

    remarks = opening.remarks if parser.decimal == "." or dialect.decimal else (*opening.remarks, COMMA_REMARK)
    values = _values(table)
    columns = [Column(name, numbers=values[:, at]) for at, name in enumerate(opening.names)]
    return Sheet(columns, table.num_rows, place, remarks)


def _values(table: pa.Table) -> Array:
    """Numbers of all columns beside each other, put there a batch at a time while it is in the cache."""
    values = np.empty((table.num_rows, table.num_columns))
    batches = table.to_batches()
    ends = np.cumsum([batch.num_rows for batch in batches])

    def put(turns: Sequence[int], meter: Meter) -> None:
        for at in turns:
            meter.tick()
            rows = values[ends[at] - batches[at].num_rows : ends[at]]
            for column, numbers in enumerate(batches[at].columns):
                rows[:, column] = numbers.to_numpy(zero_copy_only=False)

    run(put, share(len(batches), threads_for(len(batches))))
    return values
