"""Parquet files, and Arrow's own."""

from __future__ import annotations

from pathlib import Path

from gramian.tables.arrow import WIDE, arrow_ipc, arrow_parquet, compact, pa, to_columns
from gramian.tables.limits import check_shape, check_size
from gramian.tables.table import Column, Dialect, Sheet, TableError, counted, first_line


def read_parquet(path: Path, source: str, dialect: Dialect) -> Sheet:
    """Read all columns of a Parquet file, whose footer says how large they are."""
    try:
        with arrow_parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            _check(file.metadata, source, dialect.most)
            # Of a wide table some columns at a time; columns within columns, and names that repeat, are read at once.
            step = WIDE if len(set(names)) == len(names) == file.metadata.num_columns else max(len(names), 1)
            parts = [names[at : at + step] for at in range(0, len(names), step)] or [None]
            columns: list[Column] = []
            for part in parts:
                data = file.read(part)
                data.validate(full=True)
                found = to_columns(data, dialect.as_text)
                columns += found if len(parts) == 1 else compact(found, data.num_rows)
        return Sheet(columns, data.num_rows, counted)
    except TableError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:  # the last for names that are no text
        raise TableError(f"{source} is not a readable Parquet file ({first_line(error)}).") from error


def _check(footer: arrow_parquet.FileMetaData, source: str, most: int) -> None:
    if footer.num_columns and footer.num_rows:
        check_shape(footer.num_rows, footer.num_columns, source, most=most)
    groups = (footer.row_group(at) for at in range(footer.num_row_groups))
    check_size(sum(max(group.total_byte_size, 0) for group in groups), source)


def read_arrow(path: Path, source: str, dialect: Dialect) -> Sheet:
    """Read an Arrow file, also called Feather, or an Arrow stream."""
    try:
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
    except TableError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(f"{source} is not a readable Arrow file ({first_line(error)}).") from error
