"""Columns of Arrow tables, which the readers of text, Parquet, Arrow files and data frames share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramian.results import Array
from gramian.tables.table import Column

try:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv
    import pyarrow.ipc as arrow_ipc
    import pyarrow.parquet as arrow_parquet
except ModuleNotFoundError:
    raise ModuleNotFoundError('gramian.tables needs pyarrow: pip install "gramian[io]"', name="pyarrow") from None

__all__ = [
    "EMPTY",
    "GROUP",
    "WIDE",
    "arrow_csv",
    "arrow_ipc",
    "arrow_parquet",
    "compact",
    "is_numeric",
    "pa",
    "to_column",
    "to_columns",
    "to_days",
]

#: Name under which pandas stores the index of a data frame.
PANDAS_INDEX = "__index_level_0__"
EMPTY = "is empty, left out"
#: Arrow takes 7 to 14 kB for each column beside its cells: of more columns than this it reads some at a time.
WIDE, GROUP = 1024, 256
FLOAT = pa.float64()
SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def to_columns(table: pa.Table, as_text: frozenset[str] = frozenset()) -> list[Column]:
    """Turn all columns of an Arrow table into numbers, text or neither."""
    columns = []
    for name, data in zip(table.column_names, table.columns, strict=True):
        if name == PANDAS_INDEX:
            remark = "is the index of a data frame, kept as a label"
            columns.append(Column("row", text=_as_text(data), remark=remark))
        elif name in as_text and _readable(data.type):
            columns.append(Column(name, text=_as_text(data)))
        else:
            columns.append(to_column(name, data))
    return columns


def compact(columns: list[Column], rows: int) -> list[Column]:
    """Put numbers of many columns beside each other, without what Arrow keeps for each of them."""
    numeric = [column for column in columns if column.numbers is not None]
    values = np.empty((rows, len(numeric)))
    for at, column in enumerate(numeric):
        values[:, at] = column.numbers
    views = iter(values.T)
    return [column if column.numbers is None else replace(column, numbers=next(views)) for column in columns]


def to_column(name: str, data: Any) -> Column:
    """Turn an Arrow column into numbers, text or neither."""
    if pa.types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    kind = data.type
    if data.null_count == len(data) > 0:
        return Column(name, remark=EMPTY)
    if kind == FLOAT:
        return Column(name, numbers=data.to_numpy())
    if is_numeric(kind):
        # Unsafe only in that whole numbers beyond 2^53 are rounded, as any conversion to double rounds them.
        return Column(name, numbers=data.cast(FLOAT, safe=False).to_numpy(), truth=pa.types.is_boolean(kind))
    if _is_text(kind):
        return Column(name, text=_as_text(data), remark="is text, kept as a label")
    if pa.types.is_temporal(kind):
        return Column(name, text=_as_text(data), remark="is a date or time, kept as a label", days=to_days(data))
    return Column(name, remark=f"holds {kind}, left out")


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type is a real number; true and false count as 1 and 0."""
    tests = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(test(kind) for test in tests)


def to_days(data: Any) -> Array | None:
    """Dates and moments as days since 1970-01-01, times of the day and durations as parts of a day."""
    kind = data.type
    if pa.types.is_date32(kind):
        whole, unit = data.cast(pa.int32()).cast(pa.int64()), 1
    elif pa.types.is_date64(kind):
        whole, unit = data.cast(pa.int64()), 86_400 * SECONDS["ms"]
    elif pa.types.is_time32(kind):
        whole, unit = data.cast(pa.int32()).cast(pa.int64()), 86_400 * SECONDS[kind.unit]
    elif pa.types.is_time64(kind) or pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        whole, unit = data.cast(pa.int64()), 86_400 * SECONDS[kind.unit]
    else:
        return None  # intervals of months have no length in days
    return np.asarray(whole.cast(pa.float64(), safe=False).to_numpy() / unit)


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _readable(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return is_numeric(kind) or _is_text(kind) or pa.types.is_temporal(kind)


def _as_text(data: Any) -> list[str]:
    if pa.types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    try:
        values = data.to_pylist()
    except (ValueError, OverflowError, LookupError):  # years that Python's calendar does not have, unknown time zones
        kind = data.type
        values = data.cast(pa.timestamp(kind.unit) if pa.types.is_timestamp(kind) else pa.int64()).cast(pa.string())
        values = values.to_pylist()
    return ["" if value is None else str(value) for value in values]
