"""Matrices in files of NumPy, HDF5 and Zarr. Nothing in them is ever executed."""

from __future__ import annotations

import io
import math
import zipfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from gramian.operators.rows import block_rows
from gramian.operators.source import Piece
from gramian.operators.source import counted as row_places
from gramian.results import Array
from gramian.tables.table import (
    MAX_COLUMNS,
    NO_NUMBERS,
    Column,
    RowFile,
    Sheet,
    TableError,
    TableFile,
    check_matrix,
    check_ratio,
    check_shape,
    check_size,
    counted,
    first_line,
    pick_matrix,
    readable,
)

if TYPE_CHECKING:
    import h5py

#: Members of a zip of arrays that name the columns, the first that is there.
_NAME_MEMBERS = ("columns", "names", "feature_names")
#: A zip directory with more members than this is no table.
MAX_MEMBERS = 1000


class NpyFile(RowFile):
    """One matrix in NumPy's own format, by plain reads: pages of a map would count as memory of the process."""

    named = False

    def _open(self) -> None:
        with readable(self.source, ".npy file of numbers"), open(self.path, "rb") as file:
            shape, self.fortran, self.dtype = read_header(file)
            self.start = file.tell()
        check_matrix(shape, self.dtype, self.source, self.dialect.most)
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
                yield Piece(as_floats(values), row_places(self.source, start), (start + rows) / n)

    def whole_block(self, d: int) -> int:
        return max(self.n_rows or 0, 1) if self.fortran else block_rows(d)  # a column lies in one piece

    def _fill(self, file: io.FileIO, at: int, count: int) -> Array:
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


class NpzFile(TableFile):
    """A zip of arrays: the matrix ``X``, or the only one, or the one that ``sheet`` names."""

    def whole(self) -> Sheet:
        with readable(self.source, ".npz file of numbers"), zipfile.ZipFile(self.path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()[: MAX_MEMBERS + 1]}
            if len(members) > MAX_MEMBERS:
                raise TableError(f"{self.source} has more than {MAX_MEMBERS:,} members; it is no table.")
            name = _pick(archive, members, self.dialect.sheet, self.source)
            matrix = _member(archive, members[name], self.source, self.dialect.most)
            names = next((members[key] for key in _NAME_MEMBERS if key in members and key != name), None)
            columns = None if names is None else _texts(_member(archive, names, self.source))
        return matrix_sheet(matrix, self.source, columns, self.dialect.most)


def matrix_sheet(matrix: Array, source: str, names: Sequence[str] | None = None, most: int = MAX_COLUMNS) -> Sheet:
    """Make a sheet of a matrix."""
    check_matrix(matrix.shape, matrix.dtype, source, most)
    check_size(8 * matrix.size, source)
    if names is not None and len(names) != matrix.shape[1]:
        raise TableError(f"{source}: there are {len(names)} names for {matrix.shape[1]} columns.")
    with np.errstate(over="ignore"):  # what is beyond double precision becomes infinite, and is refused as such
        values = np.array(matrix, dtype=np.float64)
    named = names if names is not None else [f"x{at}" for at in range(values.shape[1])]
    columns = [Column(name, numbers=values[:, at]) for at, name in enumerate(named)]
    return Sheet(columns, len(values), counted)


def _pick(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], wanted: str | None, source: str) -> str:
    if wanted is not None or "X" in members:
        return pick_matrix(members, wanted or "X", source)
    matrices = []
    for name, info in members.items():
        if info.filename.endswith(".npy") and name not in _NAME_MEMBERS:
            with archive.open(info) as file:
                shape, _, dtype = read_header(file)
            if len(shape) == 2 and dtype.kind in "biuf":
                matrices.append(name)
    return pick_matrix(matrices, None, source)


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether columns come first, and type of the array that follows."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError(f"format version {version} holds no plain numbers")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: str, most: int = MAX_COLUMNS) -> Array:
    """Read one array, after its size in the zip's directory, in its header and the memory budget agree."""
    with archive.open(info) as file:
        shape, fortran, dtype = read_header(file)
        if dtype.hasobject or any(side < 0 for side in shape):
            raise TableError(
                f"{source}: array {info.filename!r} holds objects or has no size; plain numbers, and for names "
                "plain text (.astype(str)), are expected."
            )
        size = math.prod(shape) * dtype.itemsize
        if size != info.file_size - file.tell():
            raise TableError(f"{source}: array {info.filename!r} of shape {shape} is not as large as the file says.")
        if len(shape) == 2:
            check_shape(shape[0], shape[1], source, dtype.itemsize, most)
        check_ratio(info.compress_size, info.file_size, source)
        data = file.read(size)
        if len(data) != size or file.read(1):
            raise TableError(f"{source}: array {info.filename!r} is cut short. Save it again.")
    return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")


def _texts(names: Array) -> list[str]:
    if names.ndim != 1 or names.dtype.kind not in "US":
        raise ValueError("the names of columns are not a list of text")
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names.tolist()]


#: Attributes of a dataset that name its columns, the first that is there.
_NAME_ATTRIBUTES = ("columns", "column_names", "names")
#: Objects of a file that are looked at for a matrix.
MAX_OBJECTS = 10_000


class SlicedFile(RowFile):
    """A matrix behind a library that reads slices of it."""

    @abstractmethod
    def matrix(self) -> AbstractContextManager[Any]:
        """Open the matrix."""

    def _open(self) -> None:
        with self.matrix() as item:
            if item.dtype.names:
                self.n_rows = item.shape[0]
                self.sheet = [_field(name, np.empty(0, item.dtype[name])) for name in item.dtype.names]
                return
            check_matrix(item.shape, item.dtype, self.source, self.dialect.most)
            names = column_names(item)
            self.named, self.n_rows = names is not None, item.shape[0]
            self.sheet = numeric(names or (f"x{at}" for at in range(item.shape[1])))

    def read(self, names: list[str], size: int) -> Iterator[Piece]:
        n, places = self.n_rows or 0, {column.name: at for at, column in enumerate(self.sheet)}
        whole = names == [column.name for column in self.sheet]
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
                    values = values[:, [places[name] for name in names]]
                yield Piece(as_floats(values), row_places(self.source, start), min(1.0, (start + size) / n))


class Hdf5File(SlicedFile):
    """The only matrix of an HDF5 file, or the dataset that ``sheet`` names."""

    def whole(self) -> Sheet:
        with self.matrix() as item:
            if not item.dtype.names:
                return super().whole()
            # The shape is only declared: look before reading.
            check_shape(item.shape[0], len(item.dtype.names), self.source, item.dtype.itemsize, self.dialect.most)
            records = item[()]
        return Sheet([_field(name, records[name]) for name in records.dtype.names], len(records), counted)

    @contextmanager
    def matrix(self) -> Iterator[h5py.Dataset]:
        try:
            import h5py
        except ModuleNotFoundError:
            raise TableError(f"{self.source}: HDF5 files need h5py: pip install 'gramian[io]'.") from None
        with readable(self.source, "HDF5 file", files=True), h5py.File(self.path, "r") as file:
            item = _pick_dataset(file, h5py.Dataset, self.dialect.sheet, self.source)
            # What was never written takes no room in the file, and what lies elsewhere is not its own.
            if item.is_virtual or item.external:
                raise TableError(f"{self.source}: the dataset lies in other files. Copy it into one.")
            yield item


def _pick_dataset(file: h5py.File, kind: type, wanted: str | None, source: str) -> h5py.Dataset:
    found: dict[str, h5py.Dataset] = {}
    seen = 0

    def visit(name: str, item: object) -> bool | None:
        nonlocal seen
        seen += 1
        if isinstance(item, kind) and _is_table(item):
            found[name] = item
        return True if seen >= MAX_OBJECTS else None

    file.visititems(visit)
    return found[pick_matrix(found, None if wanted is None else wanted.strip("/"), source)]


def _is_table(item: h5py.Dataset) -> bool:
    if item.dtype.names:
        return len(item.shape) == 1
    return len(item.shape) == 2 and item.dtype.kind in "biufc"


def column_names(item: h5py.Dataset) -> list[str] | None:
    """Names of columns in the attributes of a dataset, if there are as many as columns."""
    names = next((item.attrs[name] for name in _NAME_ATTRIBUTES if name in item.attrs), None)
    if names is None or np.shape(names) != (item.shape[1],):
        return None
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names]


def _field(name: str, data: np.ndarray) -> Column:
    if data.ndim == 1 and data.dtype.kind in "biuf":
        return Column(name, numbers=data.astype(np.float64))
    if data.ndim == 1 and data.dtype.kind in "SO":
        text = [cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell) for cell in data.tolist()]
        return Column(name, text=text, remark="is text, kept as a label")
    return Column(name, remark=f"holds {data.dtype}, left out")


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
    if values.dtype in (np.float64, np.float32) and values.dtype.isnative:
        return values
    with np.errstate(over="ignore"):  # what is beyond double precision becomes infinite, and is refused as such
        return values.astype(np.float32 if values.dtype.str[1:] == "f4" else np.float64)
