"""Columns of Arrow tables, which the readers of text and Parquet share."""

from __future__ import annotations

from typing import Any

from gramian.tables.table import Column

try:
    import pyarrow as pa
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as arrow_parquet
except ModuleNotFoundError:
    raise ModuleNotFoundError('gramian.tables needs pyarrow: pip install "gramian[io]"', name="pyarrow") from None

__all__ = ["arrow_csv", "arrow_parquet", "is_numeric", "pa", "to_column"]


def to_column(name: str, data: Any) -> Column:
    """Turn an Arrow column into numbers, text or neither."""
    if pa.types.is_dictionary(data.type):
        data = data.cast(data.type.value_type)
    kind = data.type
    if data.null_count == len(data) > 0:
        return Column(name, remark="is empty, left out")
    if is_numeric(kind):
        # Unsafe only in that whole numbers beyond 2^53 are rounded, as any conversion to double rounds them.
        return Column(name, numbers=data.cast(pa.float64(), safe=False).to_numpy())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Column(name, text=[value or "" for value in data.to_pylist()], remark="is text, kept as a label")
    if pa.types.is_temporal(kind):
        text = ["" if value is None else str(value) for value in data.to_pylist()]
        return Column(name, text=text, remark="is a date or time, kept as a label")
    return Column(name, remark=f"holds {kind}, left out")


def is_numeric(kind: Any) -> bool:
    """Whether an Arrow type is a real number; true and false count as 1 and 0."""
    tests = (pa.types.is_boolean, pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(test(kind) for test in tests)
