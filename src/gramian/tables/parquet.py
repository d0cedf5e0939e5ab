"""Parquet files."""

from __future__ import annotations

from pathlib import Path

from gramian.tables.arrow import arrow_parquet, pa, to_column
from gramian.tables.table import Column, Sheet, TableError

#: Name under which pandas stores the index of a data frame.
PANDAS_INDEX = "__index_level_0__"


def read_parquet(path: Path, source: str) -> Sheet:
    """Read all columns of a Parquet file."""
    try:
        with arrow_parquet.ParquetFile(path) as file:
            data = file.read()
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise TableError(f"{source} is not a readable Parquet file ({reason}).") from error
    columns = [
        _index(column) if name == PANDAS_INDEX else to_column(name, column)
        for name, column in zip(data.column_names, data.columns, strict=True)
    ]
    return Sheet(columns, data.num_rows, lambda row: f"row {row} (counted from 0)")


def _index(data: pa.ChunkedArray) -> Column:
    text = ["" if value is None else str(value) for value in data.to_pylist()]
    return Column("row", text=text, remark="is the index of a data frame, kept as a label")
