"""Matrices in files of NumPy, HDF5 and Zarr, and sheets of Excel. Nothing in them is ever executed."""

from __future__ import annotations

import datetime
import io
import math
import warnings
import zipfile
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from gramian.operators.rows import block_rows
from gramian.operators.source import Piece
from gramian.operators.source import counted as row_places
from gramian.results import Array
from gramian.tables.records import ABSENT, SPREADSHEET_ERRORS, doubtful, is_number, judged
from gramian.tables.table import (
    MAX_COLUMNS,
    MAX_UNPACKED_RATIO,
    NO_NUMBERS,
    Column,
    Dialect,
    RowFile,
    Sheet,
    TableError,
    TableFile,
    allowance,
    check_matrix,
    check_ratio,
    check_shape,
    check_size,
    counted,
    first_line,
    pick_matrix,
    readable,
    too_wide,
)

if TYPE_CHECKING:
    import h5py
    from openpyxl.worksheet._read_only import ReadOnlyWorksheet

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


#: Bytes that a cell takes as a Python object; empty cells before a full one count.
CELL_BYTES = 64
EXCEL_MAX_ROWS = 2**20
#: Cells that may all be empty without harm.
MAX_EMPTY_CELLS = 10**7
Moment = datetime.date | datetime.time | datetime.timedelta
EPOCH = datetime.datetime(1970, 1, 1)


class ExcelFile(TableFile):
    """The first sheet of a workbook, or the one that ``sheet`` names; formulas give their stored values."""

    def whole(self) -> Sheet:
        path, source, dialect = self.path, self.source, self.dialect
        try:
            from openpyxl import load_workbook
        except ModuleNotFoundError:
            raise TableError(f"{source}: Excel files need openpyxl: pip install 'gramian[io]'.") from None
        # Opened here, since openpyxl leaves a file open that it cannot read.
        with (
            readable(source, "Excel file", " Save it again."),
            open(path, "rb") as file,
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # of styles and validation rules, which do not matter here
            with zipfile.ZipFile(path) as archive:
                members = archive.infolist()
            unpacked = sum(member.file_size for member in members)
            check_ratio(sum(member.compress_size for member in members), unpacked, source)
            check_size(unpacked, source, "the unpacked workbook")
            with closing(load_workbook(file, read_only=True, data_only=True, keep_links=False)) as book:
                names = [sheet.title for sheet in book.worksheets]
                if dialect.sheet is not None and dialect.sheet not in names:
                    known = ", ".join(names[:5])
                    raise TableError(f"{source}: there is no sheet {dialect.sheet!r}. There are: {known}.")
                if not names:
                    raise TableError(f"{source} has no sheet with cells.")
                name = names[0] if dialect.sheet is None else dialect.sheet
                numbers, rows = _rows(book[name], source, dialect.most)
        others = [other for other in names if other != name]
        told = (f"sheet {name!r} was read; there are others: {', '.join(others[:5])}",) if others else ()
        return _sheet(rows, numbers, source, dialect, () if dialect.sheet else told)


def _rows(sheet: ReadOnlyWorksheet, source: str, widest: int) -> tuple[list[int], list[Sequence[Any]]]:
    """Rows that are not empty, and their numbers as Excel shows them."""
    sheet.reset_dimensions()  # the size a sheet declares may be anything; what it holds is counted
    numbers, rows, cells, full, most = [], [], 0, 0, allowance() // CELL_BYTES
    for number, row in enumerate(sheet.iter_rows(values_only=True), start=1):
        if len(row) > widest:
            raise TableError(too_wide(source, widest))
        cells += len(row)
        full += len(row) - row.count(None)
        if number > EXCEL_MAX_ROWS or cells > min(most, MAX_EMPTY_CELLS + MAX_UNPACKED_RATIO * full):
            raise TableError(
                f"{source}: the sheet has cells beyond row {number - 1:,}, more than Excel or the memory holds. "
                "Delete what lies outside the table, or save it as CSV."
            )
        while row and row[-1] is None:
            row = row[:-1]
        if row:
            numbers.append(number)
            rows.append(row)
    if not rows:
        raise TableError(f"{source}: the sheet {sheet.title!r} is empty.")
    return numbers, rows


def _sheet(
    rows: list[Sequence[Any]], numbers: list[int], source: str, dialect: Dialect, told: tuple[str, ...]
) -> Sheet:
    width = max(map(len, rows))
    # Cells that are empty at the end of a row are not stored, so many short rows may stand for a large sheet.
    check_size(width * len(rows) * 8, source, "the sheet")
    rows = [(*row, *[None] * (width - len(row))) for row in rows]
    figures = sum(_is_figure(cell) for cell in rows[0])
    header = figures < width if dialect.header is None else dialect.header
    names = [f"x{at}" for at in range(width)]
    if header:
        names = ["" if cell is None else str(cell).strip() for cell in rows[0]]

    def place(row: int) -> str:
        return f"row {numbers[row + header]}"

    columns = [
        _column(name, cells, dialect, place)
        for name, cells in zip(names, zip(*rows[header:], strict=True), strict=False)
    ]
    failed = ((row, cell) for row, cells in enumerate(rows[header:]) for cell in cells if cell in SPREADSHEET_ERRORS)
    doubts = [f"{cell!r} in {place(row)}, an error of a spreadsheet, is read as missing" for row, cell in failed]
    return Sheet(columns, len(rows) - header, place, told, tuple(doubts[:1]))


def _column(name: str, cells: Sequence[Any], dialect: Dialect, place: Callable[[int], str]) -> Column:
    text = ["" if cell is None else str(cell) for cell in cells]
    full = [cell for cell in cells if not _is_absent(cell)]
    if name in dialect.as_text:
        return Column(name, text=text)
    if not full:
        return Column(name, remark="is empty, as are formulas that were never computed, left out")
    if all(isinstance(cell, Moment) for cell in full):
        return Column(name, text=text, remark="is a date or time, kept as a label", days=_days(cells))
    if any(isinstance(cell, Moment) for cell in full):
        return Column(name, text=text, remark="has dates among other cells, kept as a label")
    if all(_is_figure(cell) or (isinstance(cell, str) and is_number(cell)) for cell in full):
        remark = "has numbers stored as text, read as numbers" if any(isinstance(cell, str) for cell in full) else ""
        numbers = np.array([np.nan if _is_absent(cell) else float(cell) for cell in cells])
        return Column(name, numbers=numbers, remark=remark)
    if any(_is_figure(cell) for cell in full):
        at = next(at for at, cell in enumerate(cells) if cell in full and not _is_figure(cell) and not is_number(cell))
        told = f"{text[at][:40]!r} in {place(at)}"
        doubt = doubtful(told, sum(_is_figure(cell) or is_number(str(cell)) for cell in full), len(full))
        return Column(name, text=text, remark=f"has text ({told}), kept as a label", doubt=doubt)
    words = Column(name, text=text, remark="is text, kept as a label")
    decimal = dialect.decimal or ("," if dialect.thousands == "." else ".")
    return judged(words, dialect.thousands, decimal, place)


def _is_absent(cell: object) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip() in ABSENT)


def _is_figure(cell: object) -> bool:
    return isinstance(cell, (int, float))  # true and false count as 1 and 0


def _days(cells: Sequence[Any]) -> np.ndarray:
    def days(cell: Moment) -> float:
        if isinstance(cell, datetime.timedelta):
            return cell / datetime.timedelta(days=1)
        if isinstance(cell, datetime.time):
            cell = datetime.datetime.combine(EPOCH.date(), cell.replace(tzinfo=None))
        elif not isinstance(cell, datetime.datetime):
            cell = datetime.datetime.combine(cell, datetime.time())
        return (cell.replace(tzinfo=None) - EPOCH) / datetime.timedelta(days=1)

    return np.array([days(cell) if isinstance(cell, Moment) else np.nan for cell in cells])
