"""Files that are read block by block: NumPy, HDF5, Zarr, Parquet and Arrow."""

from __future__ import annotations

import io
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc as arrow_ipc
import pyarrow.parquet as arrow_parquet

from gramian.config import format_bytes, memory_budget
from gramian.operators.source import Piece, counted
from gramian.results import Array
from gramian.tables.arrays import column_names, open_hdf5, read_header
from gramian.tables.arrow import ARROW_MAX_COLUMNS, to_columns
from gramian.tables.assemble import stack
from gramian.tables.table import Column, Dialect, TableError, check_matrix, first_line, pick_matrix, readable

NO_NUMBERS = np.empty(0)


class RowFile(ABC):
    """A file whose rows are read in blocks.

    ``sheet`` holds the columns as they are known before rows are read, numeric ones with empty ``numbers``; ``named``:
    the file names its columns; ``all_numeric``: all numeric columns are wanted, rather than some that were named.
    """

    named: bool = True
    all_numeric: bool = False
    n_rows: int | None = None
    sheet: list[Column]

    def __init__(self, path: Path, dialect: Dialect) -> None:
        self.path, self.source, self.dialect = path, os.fspath(path), dialect
        self.seen = _stamp(path)
        self._open()
        self.check()

    @property
    def about(self) -> int:
        """Number of rows that a file of this size has if they take eight bytes a number."""
        return max(1, self.seen[0] // (8 * max(len(self.sheet), 1)))

    def reader(self, d: int, size: int) -> int:
        """Bytes that it takes to read blocks of ``size`` rows of d columns, beside the blocks; about."""
        return 0

    @abstractmethod
    def _open(self) -> None:
        """Learn columns and number of rows."""

    @abstractmethod
    def read(self, names: list[str], size: int) -> Iterator[Piece]:
        """Blocks of the named columns, ``size`` rows each."""

    def check(self) -> None:
        """Refuse to go on with a file that is not the one that was opened."""
        now = _stamp(self.path)
        if now != self.seen:
            what = f"{self.seen[0]:,} bytes before, {now[0]:,} now" if now[0] != self.seen[0] else "it was written to"
            raise TableError(f"{self.source} changed while it was read ({what}). Read it again when it is complete.")


def _stamp(path: Path) -> tuple[int, int]:
    """Bytes and time of the last change; a Zarr array is a folder."""
    parts = [part.stat() for part in (path, *(path.rglob("*") if path.is_dir() else ()))]
    return sum(part.st_size for part in parts), max(part.st_mtime_ns for part in parts)


class NpyFile(RowFile):
    """One matrix in NumPy's own format, by plain reads: pages of a map would count as memory of the process."""

    named = False

    def _open(self) -> None:
        with readable(self.source, ".npy file of numbers"), open(self.path, "rb") as file:
            shape, self.fortran, self.dtype = read_header(file)
            self.start = file.tell()
        check_matrix(shape, self.dtype, self.source)
        self.n_rows, self.d = shape
        if self.start + math.prod(shape) * self.dtype.itemsize > self.seen[0]:
            raise TableError(f"{self.source} is cut short: it is smaller than its shape {shape} says. Save it again.")
        self.sheet = numeric(f"x{at}" for at in range(self.d))

    def read(self, names: list[str], size: int) -> Iterator[Piece]:
        places = [int(name[1:]) for name in names]
        whole, n = places == list(range(self.d)), self.n_rows or 0
        with open(self.path, "rb", buffering=0) as file:
            for start in range(0, n, size):
                rows = min(size, n - start)
                if self.fortran:
                    values = np.stack([self._fill(file, j * n + start, rows) for j in places], axis=1)
                else:
                    values = self._fill(file, start * self.d, rows * self.d).reshape(rows, self.d)
                    values = values if whole else values[:, places]
                yield Piece(as_floats(values), counted(self.source, start), (start + rows) / n)

    def _fill(self, file: io.FileIO, at: int, count: int) -> Array:
        """Read entries in the order of the file."""
        values = np.empty(count, self.dtype)
        view, done = values.view(np.uint8).data, 0
        file.seek(self.start + at * self.dtype.itemsize)
        while done < len(view):
            got = file.readinto(view[done:])
            if not got:
                self.check()
                raise TableError(f"{self.source} is cut short at entry {at:,}. Save it again.")
            done += got
        return values


class SlicedFile(RowFile):
    """A matrix behind a library that reads slices of it."""

    @abstractmethod
    def matrix(self) -> AbstractContextManager[Any]:
        """Open the matrix."""

    def _open(self) -> None:
        with self.matrix() as item:
            records = item.dtype.names
            if records:
                self.n_rows = item.shape[0]
                kinds = ((name, item.dtype[name]) for name in records)
                self.sheet = [
                    Column(name, numbers=NO_NUMBERS)
                    if kind.kind in "biuf" and not kind.shape
                    else Column(name, remark=f"holds {kind}, left out")
                    for name, kind in kinds
                ]
                return
            check_matrix(item.shape, item.dtype, self.source)
            names = column_names(item)
            self.named, self.n_rows = names is not None, item.shape[0]
            self.sheet = numeric(names or (f"x{at}" for at in range(item.shape[1])))

    def read(self, names: list[str], size: int) -> Iterator[Piece]:
        n, places = self.n_rows or 0, {column.name: at for at, column in enumerate(self.sheet)}
        chosen = [places[name] for name in names]
        whole = chosen == list(range(len(self.sheet)))
        with self.matrix() as item:
            for start in range(0, n, size):
                try:
                    values = item[start : start + size]
                except Exception as error:  # a damaged chunk makes these libraries raise nearly anything
                    self.check()
                    where = f"rows {start:,} to {min(start + size, n):,}"
                    raise TableError(f"{self.source}: {where} cannot be read ({first_line(error)}).") from error
                if item.dtype.names:
                    values = np.stack([values[name].astype(np.float64) for name in names], axis=1)
                elif not whole:
                    values = values[:, chosen]
                yield Piece(as_floats(values), counted(self.source, start), min(1.0, (start + size) / n))


class Hdf5File(SlicedFile):
    """A dataset of an HDF5 file."""

    def matrix(self) -> AbstractContextManager[Any]:
        return open_hdf5(self.path, self.source, self.dialect)


class ZarrFile(SlicedFile):
    """An array of a Zarr folder, or the only one of a group."""

    def matrix(self) -> AbstractContextManager[Any]:
        return nullcontext(self._array)

    @cached_property
    def _array(self) -> Any:
        try:
            import zarr
        except ModuleNotFoundError:
            raise TableError(f"{self.source}: Zarr arrays need zarr: pip install zarr.") from None
        with readable(self.source, "Zarr array", files=True):
            found = zarr.open(self.source, mode="r")
            if hasattr(found, "shape"):
                return found
            arrays = {name: item for name, item in found.arrays() if len(item.shape) == 2}
        return arrays[pick_matrix(sorted(arrays), self.dialect.sheet, self.source)]


def numeric(names: Iterable[str]) -> list[Column]:
    """Columns of numbers, before any are read."""
    return [Column(name, numbers=NO_NUMBERS) for name in names]


def as_floats(values: Array) -> Array:
    """Doubles, or single precision if they are stored so."""
    kept = values.dtype in (np.float64, np.float32) and values.dtype.isnative
    return values if kept else values.astype(np.float32 if values.dtype.str[1:] == "f4" else np.float64)


#: Bytes of a column that are read at a time; a whole row group may be larger than the memory.
PARQUET_BUFFER_BYTES = 2**20
#: Bytes of pages of a column on their way, and copies of what was decoded.
PARQUET_PAGE_BYTES, PARQUET_COPIES = 5 * 2**20, 4


class ParquetRows(RowFile):
    """Row groups of a Parquet file, a few thousand rows at a time."""

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
                        yield Piece(values, counted(self.source, start, part), done / (self.n_rows or 1))
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


class ArrowRows(RowFile):
    """Record batches of an Arrow file or stream."""

    def _open(self) -> None:
        with readable(self.source, "Arrow file", files=True):
            with open(self.path, "rb") as file:
                self.stream = file.read(6) != b"ARROW1"
            with self._file() as reader:
                self.schema = reader.schema
                self.sheet = to_columns(self.schema.empty_table())
                size = 0 if self.stream else self.seen[0] / max(reader.num_record_batches, 1)
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
