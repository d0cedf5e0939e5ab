"""Parquet and Arrow files that are read block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.operators.rows import Piece, counted
from gramian.results import Array
from gramian.tables.arrow import WIDE, arrow_ipc, arrow_parquet, pa, to_column, to_columns
from gramian.tables.assemble import stack
from gramian.tables.row_files import RowFile
from gramian.tables.table import Column, TableError, first_line

#: Bytes of a column that are read at a time; a whole row group may be larger than the memory.
BUFFER = 2**20
#: Bytes of pages of a column on their way, and copies of what was decoded.
PAGES, DECODED = 5 * 2**20, 4


class ParquetRows(RowFile):
    """Row groups of a Parquet file, a few thousand rows at a time."""

    def _open(self) -> None:
        try:
            with self._file() as file:
                found = file.metadata
                self.n_rows, self.groups = found.num_rows, found.num_row_groups
                self.longest = max((found.row_group(at).num_rows for at in range(self.groups)), default=0)
                self.schema = file.schema_arrow
                self.sheet = to_columns(self.schema.empty_table())
        except (pa.ArrowException, OSError, ValueError) as error:
            raise TableError(f"{self.source} is not a readable Parquet file ({first_line(error)}).") from error

    def reader(self, d: int, size: int) -> int:
        # Measured: pages and dictionaries of each column, and some copies of what is decoded.
        return d * PAGES + DECODED * 8 * d * min(size, self.longest)

    def _file(self) -> Any:
        return arrow_parquet.ParquetFile(self.path, buffer_size=BUFFER, pre_buffer=False)

    def read(self, names: list[str], size: int) -> Iterator[Piece]:
        single, done = _single(self.schema, names), 0
        with self._file() as file:
            for group in range(self.groups):
                start, part = 0, f"row group {group}"
                place = f"{self.source}: {part}"
                try:
                    for values in self._blocks(file, group, names, size, place, single=single):
                        done += len(values)
                        yield Piece(values, counted(self.source, start, part), done / (self.n_rows or 1))
                        start += len(values)
                except (pa.ArrowException, OSError) as error:
                    self.check()
                    raise TableError(f"{place} cannot be read ({first_line(error)}). Write it again.") from error

    def _blocks(
        self, file: Any, group: int, names: list[str], size: int, place: str, *, single: bool
    ) -> Iterator[Array]:
        n = file.metadata.row_group(group).num_rows
        if len(names) > WIDE and n <= size:  # some columns at a time, since each takes 7 kB while it is read
            values = np.empty((n, len(names)), np.float32 if single else np.float64)
            for at in range(0, len(names), WIDE):
                some = names[at : at + WIDE]
                table = file.read_row_group(group, some)
                table.validate(full=True)
                values[:, at : at + WIDE] = to_values(table, some, place, single=single)
            yield values
            return
        for batch in file.iter_batches(size, row_groups=[group], columns=names):
            batch.validate(full=True)
            yield to_values(batch, names, place, single=single)


class ArrowRows(RowFile):
    """Record batches of an Arrow file or stream."""

    def _open(self) -> None:
        try:
            with open(self.path, "rb") as file:
                self.stream = file.read(6) != b"ARROW1"
            with self._file() as reader:
                self.schema = reader.schema
                self.sheet = to_columns(self.schema.empty_table())
                if not self.stream:
                    self._check_batches(reader.num_record_batches)
        except (pa.ArrowException, OSError, ValueError) as error:
            if isinstance(error, TableError):
                raise
            raise TableError(f"{self.source} is not a readable Arrow file ({first_line(error)}).") from error

    def _check_batches(self, count: int) -> None:
        size = self.seen[0] / max(count, 1)
        if size > memory_budget() / 2:
            raise TableError(
                f"{self.source}: its record batches take {format_bytes(size)} each, the memory budget is "
                f"{format_bytes(memory_budget())}. Write it in smaller batches, or as Parquet."
            )

    def _file(self) -> Any:
        # Plain reads, not a map: a file that shrinks under a map ends the process.
        file = pa.OSFile(self.source)
        return arrow_ipc.open_stream(file) if self.stream else arrow_ipc.open_file(file)

    def read(self, names: list[str], size: int) -> Iterator[Piece]:
        single = _single(self.schema, names)
        with self._file() as reader:
            batches = reader if self.stream else map(reader.get_batch, range(reader.num_record_batches))
            total = None if self.stream else reader.num_record_batches
            at = 0
            try:
                for batch in batches:
                    batch.validate(full=True)
                    for start in range(0, batch.num_rows, size):
                        part = f"record batch {at}"
                        values = to_values(batch.slice(start, size), names, f"{self.source}: {part}", single=single)
                        share = None if total is None else (at + 1) / total
                        yield Piece(values, counted(self.source, start, part), share)
                    at += 1
            except (pa.ArrowException, OSError) as error:
                self.check()
                raise TableError(f"{self.source}: record batch {at} cannot be read ({first_line(error)}).") from error


def _single(schema: pa.Schema, names: list[str]) -> bool:
    return all(schema.field(name).type == pa.float32() for name in names)


def to_values(batch: Any, names: list[str], place: str, *, single: bool) -> Array:
    """Numbers of the named columns of a record batch or table; what is absent is not a number."""
    columns = []
    for name in names:
        at = batch.schema.get_field_index(name)
        if at < 0:
            raise TableError(f"{place} has no column {name!r}.")
        data = batch.column(at)
        column = to_column(name, data if isinstance(data, pa.ChunkedArray) else pa.chunked_array([data]))
        if column.numbers is None:
            if column.text is not None:
                raise TableError(f"{place}: column {name!r} {column.remark}. Choose other columns.")
            column = Column(name, numbers=np.full(batch.num_rows, np.nan))
        columns.append(column)
    values = stack(columns, batch.num_rows)
    return values.astype(np.float32) if single else values
