"""Columns of Arrow tables; Parquet files and Arrow's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as arrow_ipc
import pyarrow.parquet as arrow_parquet

from gramian.results import Array
from gramian.tables.table import Column, Dialect, Kind, Sheet, check_shape, check_size, counted, readable

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
    """Turn an Arrow column into numbers, text or neither."""
    if pa.types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
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
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return _is_numeric(kind) or _is_text(kind) or pa.types.is_temporal(kind)


def _as_text(data: pa.ChunkedArray) -> list[str]:
    if pa.types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    try:
        values = data.to_pylist()
    except (ValueError, OverflowError, LookupError):  # years that Python's calendar does not have, unknown time zones
        kind = data.type
        values = data.cast(pa.timestamp(kind.unit) if pa.types.is_timestamp(kind) else pa.int64()).cast(pa.string())
        values = values.to_pylist()
    return ["" if value is None else str(value) for value in values]


def read_parquet(path: Path, source: str, dialect: Dialect) -> Sheet:
    """Read all columns of a Parquet file, whose footer says how large they are."""
    with readable(source, "Parquet file", files=True), arrow_parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        _check_footer(file.metadata, source, dialect.most)
        # Of a wide table some columns at a time; columns within columns, and names that repeat, are read at once.
        step = ARROW_MAX_COLUMNS if len(set(names)) == len(names) == file.metadata.num_columns else max(len(names), 1)
        parts = [names[at : at + step] for at in range(0, len(names), step)] or [None]
        columns: list[Column] = []
        for part in parts:
            data = file.read(part)
            data.validate(full=True)
            found = to_columns(data, dialect.as_text)
            columns += found if len(parts) == 1 else compact(found, data.num_rows)
        return Sheet(columns, data.num_rows, counted)


def _check_footer(footer: arrow_parquet.FileMetaData, source: str, most: int) -> None:
    if footer.num_columns and footer.num_rows:
        check_shape(footer.num_rows, footer.num_columns, source, most=most)
    groups = (footer.row_group(at) for at in range(footer.num_row_groups))
    check_size(sum(max(group.total_byte_size, 0) for group in groups), source)


def read_arrow(path: Path, source: str, dialect: Dialect) -> Sheet:
    """Read an Arrow file, also called Feather, or an Arrow stream."""
    with readable(source, "Arrow file", files=True):
        check_size(path.stat().st_size, source)
        buffer = pa.py_buffer(path.read_bytes())
        opened = arrow_ipc.open_file if buffer.slice(0, 6).to_pybytes() == b"ARROW1" else arrow_ipc.open_stream
        with opened(pa.BufferReader(buffer)) as reader:
            check_shape(0, max(len(reader.schema), 1), source, most=dialect.most)
            data = reader.read_all()
        # Arrow trusts the lengths and offsets that a file declares until it is told to look.
        data.validate(full=True)
        check_size(data.nbytes, source)
        return Sheet(to_columns(data, dialect.as_text), data.num_rows, counted)
