"""Matrices in files of NumPy and HDF5. Nothing in them is ever executed."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from gramian.results import Array
from gramian.tables.table import (
    MAX_COLUMNS,
    Column,
    Dialect,
    Sheet,
    TableError,
    check_matrix,
    check_ratio,
    check_shape,
    check_size,
    counted,
    pick_matrix,
    readable,
)

if TYPE_CHECKING:
    import h5py

#: Members of a zip of arrays that name the columns, the first that is there.
_NAME_MEMBERS = ("columns", "names", "feature_names")
#: A zip directory with more members than this is no table.
MAX_MEMBERS = 1000


def read_npy(path: Path, source: str, dialect: Dialect) -> Sheet:
    """Read a matrix of numbers; columns are named x0, x1, ..."""
    with readable(source, ".npy file of numbers"):
        # Mapped, not loaded: a header that promises more than the file holds is refused before memory is asked for.
        matrix = np.lib.format.open_memmap(path, mode="r")
    return matrix_sheet(matrix, source, most=dialect.most)


def read_npz(path: Path, source: str, dialect: Dialect) -> Sheet:
    """Read the matrix ``X`` of a zip of arrays, or the only one, or the one that ``sheet`` names."""
    with readable(source, ".npz file of numbers"), zipfile.ZipFile(path) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()[: MAX_MEMBERS + 1]}
        if len(members) > MAX_MEMBERS:
            raise TableError(f"{source} has more than {MAX_MEMBERS:,} members; it is no table.")
        name = _pick(archive, members, dialect.sheet, source)
        matrix = _member(archive, members[name], source, dialect.most)
        names = next((members[key] for key in _NAME_MEMBERS if key in members and key != name), None)
        columns = None if names is None else _texts(_member(archive, names, source))
    return matrix_sheet(matrix, source, columns, dialect.most)


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


def read_hdf5(path: Path, source: str, dialect: Dialect) -> Sheet:
    """Read the only matrix of the file, or the dataset that ``sheet`` names."""
    with open_hdf5(path, source, dialect) as item:
        return _read_dataset(item, source, dialect.most)


@contextmanager
def open_hdf5(path: Path, source: str, dialect: Dialect) -> Iterator[h5py.Dataset]:
    """Open the only matrix of the file, or the dataset that ``sheet`` names."""
    try:
        import h5py
    except ModuleNotFoundError:
        raise TableError(f"{source}: HDF5 files need h5py: pip install 'gramian[io]'.") from None
    with readable(source, "HDF5 file", files=True), h5py.File(path, "r") as file:
        item = _pick_dataset(file, h5py.Dataset, dialect.sheet, source)
        # What was never written takes no room in the file, and what lies elsewhere is not its own.
        if item.is_virtual or item.external:
            raise TableError(f"{source}: the dataset lies in other files. Copy it into one.")
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


def _read_dataset(item: h5py.Dataset, source: str, most: int) -> Sheet:
    # The shape is only declared: look before reading.
    if not item.dtype.names:
        check_shape(item.shape[0], item.shape[1], source, item.dtype.itemsize, most)
        return matrix_sheet(item[()], source, column_names(item))
    check_shape(item.shape[0], len(item.dtype.names), source, item.dtype.itemsize, most)
    records = item[()]
    return Sheet([_field(name, records[name]) for name in records.dtype.names], len(records), counted)


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
