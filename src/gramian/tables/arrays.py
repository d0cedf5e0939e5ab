"""NumPy's own files: one array, or a zip of several. Nothing in them is ever executed."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np

from gramian.results import Array
from gramian.tables.limits import check_ratio, check_shape
from gramian.tables.table import MOST_COLUMNS, Column, Dialect, Sheet, TableError, counted, first_line

#: Members of a zip of arrays that name the columns, the first that is there.
NAMES = ("columns", "names", "feature_names")
#: A zip directory with more members than this is no table.
MOST_MEMBERS = 1000


def read_npy(path: Path, source: str, dialect: Dialect) -> Sheet:
    """Read a matrix of numbers; columns are named x0, x1, ..."""
    try:
        # Mapped, not loaded: a header that promises more than the file holds is refused before memory is asked for.
        matrix = np.lib.format.open_memmap(path, mode="r")
    except OSError:
        raise
    except Exception as error:  # a damaged header makes NumPy raise nearly anything
        raise TableError(f"{source} is not a readable .npy file of numbers ({first_line(error)}).") from error
    return matrix_sheet(matrix, source, most=dialect.most)


def read_npz(path: Path, source: str, dialect: Dialect) -> Sheet:
    """Read the matrix ``X`` of a zip of arrays, or the only one, or the one that ``sheet`` names."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()[: MOST_MEMBERS + 1]}
            if len(members) > MOST_MEMBERS:
                raise TableError(f"{source} has more than {MOST_MEMBERS:,} members; it is no table.")
            name = _pick(archive, members, dialect.sheet, source)
            matrix = _member(archive, members[name], source, dialect.most)
            names = next((members[key] for key in NAMES if key in members and key != name), None)
            columns = None if names is None else _texts(_member(archive, names, source))
    except (TableError, OSError):
        raise
    except Exception as error:  # zip, zlib, lzma and NumPy each have errors of their own
        raise TableError(f"{source} is not a readable .npz file of numbers ({first_line(error)}).") from error
    return matrix_sheet(matrix, source, columns, dialect.most)


def matrix_sheet(matrix: Array, source: str, names: Sequence[str] | None = None, most: int = MOST_COLUMNS) -> Sheet:
    """Make a sheet of a matrix."""
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise TableError(f"{source}: the array has shape {matrix.shape}; rows and columns, n x d, are expected.")
    if matrix.dtype.kind not in "biuf":
        raise TableError(f"{source}: the array has dtype {matrix.dtype}; real numbers are expected.")
    check_shape(len(matrix), matrix.shape[1], source, most=most)
    if names is not None and len(names) != matrix.shape[1]:
        raise TableError(f"{source}: there are {len(names)} names for {matrix.shape[1]} columns.")
    with np.errstate(over="ignore"):  # what is beyond double precision becomes infinite, and is refused as such
        values = np.array(matrix, dtype=np.float64)
    named = names if names is not None else [f"x{at}" for at in range(values.shape[1])]
    columns = [Column(name, numbers=values[:, at]) for at, name in enumerate(named)]
    return Sheet(columns, len(values), counted)


def _pick(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], wanted: str | None, source: str) -> str:
    if wanted is not None:
        if wanted not in members:
            raise TableError(f"{source}: there is no array {wanted!r}. There are: {', '.join([*members][:5])}.")
        return wanted
    if "X" in members:
        return "X"
    arrays = []
    for name, info in members.items():
        if info.filename.endswith(".npy") and name not in NAMES:
            with archive.open(info) as file:
                shape, _, dtype = read_header(file)
            if len(shape) == 2 and dtype.kind in "biuf":
                arrays.append(name)
    if len(arrays) != 1:
        found = f"the matrices {', '.join(map(repr, arrays[:5]))}; say which with sheet=" if arrays else "no matrix"
        raise TableError(f"{source} has {found}.")
    return arrays[0]


def read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether columns come first, and type of the array that follows."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError(f"format version {version} holds no plain numbers")


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: str, most: int = MOST_COLUMNS) -> Array:
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
