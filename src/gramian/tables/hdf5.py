"""HDF5 files: a matrix, or a list of records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gramian.tables.arrays import matrix_sheet
from gramian.tables.limits import check_shape
from gramian.tables.table import Column, Dialect, Sheet, TableError, counted, first_line

#: Attributes of a dataset that name its columns, the first that is there.
NAMES = ("columns", "column_names", "names")
#: Objects of a file that are looked at for a matrix.
MOST_OBJECTS = 10_000


def read_hdf5(path: Path, source: str, dialect: Dialect) -> Sheet:
    """Read the only matrix of the file, or the dataset that ``sheet`` names."""
    with open_hdf5(path, source, dialect) as item:
        return _read(item, source, dialect.most)


@contextmanager
def open_hdf5(path: Path, source: str, dialect: Dialect) -> Iterator[Any]:
    """Open the only matrix of the file, or the dataset that ``sheet`` names."""
    try:
        import h5py
    except ModuleNotFoundError:
        raise TableError(f"{source}: HDF5 files need h5py: pip install 'gramian[io]'.") from None
    try:
        with h5py.File(path, "r") as file:
            item = _pick(file, h5py.Dataset, dialect.sheet, source)
            # What was never written takes no room in the file, and what lies elsewhere is not its own.
            if item.is_virtual or item.external:
                raise TableError(f"{source}: the dataset lies in other files. Copy it into one.")
            yield item
    except TableError:
        raise
    except Exception as error:  # a damaged file makes the library raise nearly anything
        raise TableError(f"{source} is not a readable HDF5 file ({first_line(error)}).") from error


def _pick(file: Any, kind: type, wanted: str | None, source: str) -> Any:
    found: dict[str, Any] = {}
    seen = 0

    def visit(name: str, item: Any) -> bool | None:
        nonlocal seen
        seen += 1
        if isinstance(item, kind) and _is_table(item):
            found[name] = item
        return True if seen >= MOST_OBJECTS else None

    file.visititems(visit)
    if wanted is not None:
        name = wanted.strip("/")
        if name not in found:
            raise TableError(
                f"{source}: there is no matrix {wanted!r}. There are: {', '.join([*found][:5]) or 'none'}."
            )
        return found[name]
    if len(found) != 1:
        what = f"the matrices {', '.join(map(repr, [*found][:5]))}; say which with sheet=" if found else "no matrix"
        raise TableError(f"{source} has {what}.")
    return next(iter(found.values()))


def _is_table(item: Any) -> bool:
    if item.dtype.names:
        return len(item.shape) == 1
    return len(item.shape) == 2 and item.dtype.kind in "biufc"


def _read(item: Any, source: str, most: int) -> Sheet:
    # The shape is only declared: look before reading.
    if not item.dtype.names:
        check_shape(item.shape[0], item.shape[1], source, item.dtype.itemsize, most)
        return matrix_sheet(item[()], source, column_names(item))
    check_shape(item.shape[0], len(item.dtype.names), source, item.dtype.itemsize, most)
    records = item[()]
    return Sheet([_field(name, records[name]) for name in records.dtype.names], len(records), counted)


def column_names(item: Any) -> list[str] | None:
    """Names of columns in the attributes of a dataset, if there are as many as columns."""
    names = next((item.attrs[name] for name in NAMES if name in item.attrs), None)
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
