"""Columns of Arrow tables; Parquet files and Arrow's own, whole or in blocks."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc as arrow_ipc
import pyarrow.parquet as arrow_parquet

from gramian.config import format_bytes, memory_budget
from gramian.operators.source import Piece
from gramian.operators.source import counted as row_places
from gramian.results import Array
from gramian.tables.assemble import stack
from gramian.tables.table import (
    Column,
    Kind,
    RowFile,
    Sheet,
    TableError,
    check_shape,
    check_size,
    counted,
    first_line,
    readable,
)

#: Name under which pandas stores the index of a data frame.
PANDAS_INDEX = "__index_level_0__"
EMPTY, DATE = "is empty, left out", "is a date or time, kept as a label"
#: Arrow takes 7 to 14 kB for each column beside its cells: of more columns than this it reads some at a time.
ARROW_MAX_COLUMNS, ARROW_GROUP_COLUMNS = 1024, 256
FLOAT = pa.float64()
SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def to_columns(
    table: pa.Table | pa.RecordBatch, as_text: frozenset[str] = frozenset(), names: Sequence[str] | None = None
) -> list[Column]:
    """Turn all columns of an Arrow table into numbers, text or neither; ``names`` in the place of its own."""
    columns = []
    for known, name, data in zip(table.schema.names, names or table.schema.names, table.columns, strict=True):
        if pa.types.is_dictionary(data.type):
            data = data.cast(data.type.value_type)
        if known == PANDAS_INDEX:
            remark = "is the index of a data frame, kept as a label"
            columns.append(Column("row", text=_as_text(data), remark=remark))
        elif name in as_text and _readable(data.type):
            columns.append(Column(name, text=_as_text(data)))
        else:
            columns.append(_to_column(name, data))
    return columns


def compact(columns: list[Column], rows: int) -> list[Column]:
    """Put numbers of many columns beside each other, without what Arrow keeps for each of them."""
    numeric = [column for column in columns if column.numbers is not None]
    values = np.empty((rows, len(numeric)))
    for at, column in enumerate(numeric):
        values[:, at] = column.numbers
    views = iter(values.T)
    return [column if column.numbers is None else replace(column, numbers=next(views)) for column in columns]


def _to_column(name: str, data: pa.ChunkedArray) -> Column:
    kind = data.type
    if data.null_count == len(data) > 0:
        return Column(name, remark=EMPTY, kind=Kind.EMPTY)
    if kind == FLOAT:
        return Column(name, numbers=data.to_numpy())
    if _is_numeric(kind):
        # Unsafe only in that whole numbers beyond 2^53 are rounded, as any conversion to double rounds them.
        truth = Kind.TRUTH if pa.types.is_boolean(kind) else Kind.PLAIN
        return Column(name, numbers=data.cast(FLOAT, safe=False).to_numpy(), kind=truth)
    if _is_text(kind):
        return Column(name, text=_as_text(data), remark="is text, kept as a label")
    if pa.types.is_temporal(kind):
        return Column(name, text=_as_text(data), remark=DATE, days=to_days(data))
    return Column(name, remark=f"holds {kind}, left out")


def _is_numeric(kind: pa.DataType) -> bool:
    """Whether an Arrow type is a real number; true and false count as 1 and 0."""
    tests = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def to_days(data: pa.ChunkedArray) -> Array | None:
    """Dates and moments as days since 1970-01-01, times of the day and durations as parts of a day."""
    kind = data.type
    if pa.types.is_date32(kind):
        unit = 1
    elif pa.types.is_date64(kind):
        unit = 86_400 * SECONDS["ms"]
    elif pa.types.is_time(kind) or pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        unit = 86_400 * SECONDS[kind.unit]
    else:
        return None  # intervals of months have no length in days
    narrow = pa.types.is_date32(kind) or pa.types.is_time32(kind)
    whole = data.cast(pa.int32()).cast(pa.int64()) if narrow else data.cast(pa.int64())
    return np.asarray(whole.cast(pa.float64(), safe=False).to_numpy() / unit)


def _is_text(kind: pa.DataType) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _readable(kind: pa.DataType) -> bool:
    return _is_numeric(kind) or _is_text(kind) or pa.types.is_temporal(kind)


def _as_text(data: pa.ChunkedArray) -> list[str]:
    try:
        values = data.to_pylist()
    except (ValueError, OverflowError, LookupError):  # years that Python's calendar does not have, unknown time zones
        kind = data.type
        values = data.cast(pa.timestamp(kind.unit) if pa.types.is_timestamp(kind) else pa.int64()).cast(pa.string())
        values = values.to_pylist()
    return ["" if value is None else str(value) for value in values]


#: Bytes of a column that are read at a time; a whole row group may be larger than the memory.
PARQUET_BUFFER_BYTES = 2**20
#: Bytes of pages of a column on their way, and copies of what was decoded.
PARQUET_PAGE_BYTES, PARQUET_COPIES = 5 * 2**20, 4


class ParquetFile(RowFile):
    """Row groups of a Parquet file, a few thousand rows at a time."""

    def whole(self) -> Sheet:
        with readable(self.source, "Parquet file", files=True), arrow_parquet.ParquetFile(self.path) as file:
            names = file.schema_arrow.names
            _check_footer(file.metadata, self.source, self.dialect.most)
            # Of a wide table some columns at a time; columns within columns, and names that repeat, are read at once.
            step = (
                ARROW_MAX_COLUMNS if len(set(names)) == len(names) == file.metadata.num_columns else max(len(names), 1)
            )
            parts = [names[at : at + step] for at in range(0, len(names), step)] or [None]
            columns: list[Column] = []
            for part in parts:
                data = file.read(part)
                data.validate(full=True)
                found = to_columns(data, self.dialect.as_text)
                columns += found if len(parts) == 1 else compact(found, data.num_rows)
            return Sheet(columns, data.num_rows, counted)

    def _open(self) -> None:
        with readable(self.source, "Parquet file", files=True), self._file() as file:
            found = file.metadata
            self.n_rows, self.groups = found.num_rows, found.num_row_groups
            self.longest = max((found.row_group(at).num_rows for at in range(self.groups)), default=0)
            self.schema = file.schema_arrow
            self.sheet = to_columns(self.schema.empty_table())

    def reader(self, d: int, size: int) -> int:
        # Measured: pages and dictionaries of each column, and some copies of what is decoded.
        return d * PARQUET_PAGE_BYTES + PARQUET_COPIES * 8 * d * min(size, self.longest)

    def _file(self) -> arrow_parquet.ParquetFile:
        return arrow_parquet.ParquetFile(self.path, buffer_size=PARQUET_BUFFER_BYTES, pre_buffer=False)

    def read(self, names: list[str], size: int) -> Iterator[Piece]:
        single, done = _single(self.schema, names), 0
        with self._file() as file:
            for group in range(self.groups):
                start, part = 0, f"row group {group}"
                place = f"{self.source}: {part}"
                try:
                    for values in self._blocks(file, group, names, size, place, single=single):
                        done += len(values)
                        yield Piece(values, row_places(self.source, start, part), done / (self.n_rows or 1))
                        start += len(values)
                except (pa.ArrowException, OSError) as error:
                    self.check()
                    raise TableError(f"{place} cannot be read ({first_line(error)}). Write it again.") from error

    def _blocks(
        self, file: arrow_parquet.ParquetFile, group: int, names: list[str], size: int, place: str, *, single: bool
    ) -> Iterator[Array]:
        n = file.metadata.row_group(group).num_rows
        if (
            len(names) > ARROW_MAX_COLUMNS and n <= size
        ):  # some columns at a time, since each takes 7 kB while it is read
            values = np.empty((n, len(names)), np.float32 if single else np.float64)
            for at in range(0, len(names), ARROW_MAX_COLUMNS):
                some = names[at : at + ARROW_MAX_COLUMNS]
                table = file.read_row_group(group, some)
                table.validate(full=True)
                values[:, at : at + ARROW_MAX_COLUMNS] = to_values(table, some, place, single=single)
            yield values
            return
        for batch in file.iter_batches(size, row_groups=[group], columns=names):
            batch.validate(full=True)
            yield to_values(batch, names, place, single=single)


def _check_footer(footer: arrow_parquet.FileMetaData, source: str, most: int) -> None:
    if footer.num_columns and footer.num_rows:
        check_shape(footer.num_rows, footer.num_columns, source, most=most)
    groups = (footer.row_group(at) for at in range(footer.num_row_groups))
    check_size(sum(max(group.total_byte_size, 0) for group in groups), source)


class ArrowFile(RowFile):
    """Record batches of an Arrow file or stream."""

    def whole(self) -> Sheet:
        with readable(self.source, "Arrow file", files=True):
            check_size(self.path.stat().st_size, self.source)
            with self._file() as reader:
                check_shape(0, max(len(reader.schema), 1), self.source, most=self.dialect.most)
                data = reader.read_all()
            # Arrow trusts the lengths and offsets that a file declares until it is told to look.
            data.validate(full=True)
            check_size(data.nbytes, self.source)
            return Sheet(to_columns(data, self.dialect.as_text), data.num_rows, counted)

    def _open(self) -> None:
        with readable(self.source, "Arrow file", files=True), self._file() as reader:
            self.schema = reader.schema
            self.sheet = to_columns(self.schema.empty_table())
            size = 0 if self.stream else self.seen[0] / max(reader.num_record_batches, 1)
        if size > memory_budget() / 2:
            raise TableError(
                f"{self.source}: its record batches take {format_bytes(size)} each, the memory budget is "
                f"{format_bytes(memory_budget())}. Write it in smaller batches, or as Parquet."
            )

    def _file(self) -> Any:
        with open(self.path, "rb") as start:
            self.stream = start.read(6) != b"ARROW1"
        # Plain reads, not a map: a file that shrinks under a map ends the process.
        file = pa.OSFile(os.fspath(self.path))
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
                        yield Piece(values, row_places(self.source, start, part), share)
                    at += 1
            except (pa.ArrowException, OSError) as error:
                self.check()
                raise TableError(f"{self.source}: record batch {at} cannot be read ({first_line(error)}).") from error


def _single(schema: pa.Schema, names: list[str]) -> bool:
    return all(schema.field(name).type == pa.float32() for name in names)


def to_values(batch: pa.Table | pa.RecordBatch, names: list[str], place: str, *, single: bool) -> Array:
    """Numbers of the named columns of a record batch or table; what is absent is not a number."""
    absent = next((name for name in names if batch.schema.get_field_index(name) < 0), None)
    if absent is not None:
        raise TableError(f"{place} has no column {absent!r}.")
    table = batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch])
    columns = to_columns(table.select(names))
    for at, column in enumerate(columns):
        if column.text is not None:
            raise TableError(f"{place}: column {column.name!r} {column.remark}. Choose other columns.")
        if column.numbers is None:
            columns[at] = Column(column.name, numbers=np.full(batch.num_rows, np.nan))
    values = stack(columns, batch.num_rows)
    return values.astype(np.float32) if single else values
