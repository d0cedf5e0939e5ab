"""From a path to a table: one reader for each kind of file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from gramian.tables.arrays import read_npy, read_npz
from gramian.tables.assemble import Roles, make_table
from gramian.tables.calls import remembered
from gramian.tables.encode import Categories
from gramian.tables.excel import read_excel
from gramian.tables.hdf5 import read_hdf5
from gramian.tables.limits import allowance, check_size
from gramian.tables.parquet import read_arrow, read_parquet
from gramian.tables.plain import LARGE, read_plain
from gramian.tables.table import Dialect, Sheet, Table, TableError
from gramian.tables.text import read_text

Reader = Callable[[Path, str, Dialect], Sheet]


def _read_csv(path: Path, source: str, dialect: Dialect) -> Sheet:
    size = path.stat().st_size
    check_size(size, source, "the text")
    plain = read_plain(path, source, dialect) if size >= LARGE else None
    return plain or read_text(path.read_bytes(), source, dialect)


def _read_tsv(path: Path, source: str, dialect: Dialect) -> Sheet:
    return _read_csv(path, source, dialect if dialect.separator else replace(dialect, separator="\t"))


#: Ending of the file name -> reader of (path, name for messages, how it is written). A new format joins here.
READERS: dict[str, Reader] = {
    ".csv": _read_csv,
    ".tsv": _read_tsv,
    ".txt": _read_csv,
    ".parquet": read_parquet,
    ".arrow": read_arrow,
    ".feather": read_arrow,
    ".xlsx": read_excel,
    ".npy": read_npy,
    ".npz": read_npz,
    ".h5": read_hdf5,
    ".hdf5": read_hdf5,
}
#: Text may also be packed; the reader finds that out by itself.
PACKED = ".gz"


@remembered
def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    labels: Sequence[str] = (),
    ids: str | None = None,
    missing: str = "refuse",
    categories: Categories = "label",
    dates: str | Sequence[str] = "label",
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    sheet: str | None = None,
) -> Table:
    """Read a table from a file; its ending says what it is.

    Numeric columns become features, text columns labels. What is not said about a text file is found out: columns are
    split at tabs, semicolons, bars or commas, whichever of them (in this order) the first two lines agree on; if every
    cell of the first line is a number there is no header, and columns are named x0, x1, ...; text that is not UTF-8 is
    UTF-16 or Latin-1. All numbers of a file have one decimal mark, a comma if some column proves it. Thousands
    separators are refused unless named.

    Parameters
    ----------
    path : str or path
        A file that ends in .csv, .tsv, .txt (or these and .gz), .parquet, .arrow, .feather, .xlsx, .npy, .npz, .h5 or
        .hdf5; ``"-"`` reads delimited text from standard input.
    columns : sequence of str, optional
        The columns to use as features, in this order: names, ranges ``"a:b"`` and patterns ``"x_*"``. All numeric ones
        if not given; none, if empty and ``labels`` are named.
    labels : sequence of str
        Columns that are labels even if they hold numbers.
    ids : str, optional
        Column that names the rows, each differently; it becomes ``row_ids``.
    missing : {"refuse", "drop", "keep", "as found"}
        Refuse missing values, drop rows that have any among the features, or keep them as NaN. Infinite ones are
        refused, but for "as found", which leaves all to the caller.
    categories : "label", "encode", sequence of str, or mapping of str to sequence of str
        Text columns to turn into indicator columns, ``name=value`` each: none, all, those named; a mapping also
        fixes their values and the order of these, as for rows that a fitted model is to see.
    dates : "label", "encode" or sequence of str
        Dates to turn into days since 1970-01-01 (times into parts of a day): none, all, those named.
    separator, decimal, thousands, encoding : str, optional
        How text is written, if what is found out is wrong. Thousands: a comma, point, blank or apostrophe.
    header : bool, optional
        Whether the first line or row names the columns.
    sheet : str, optional
        Which sheet of a workbook, array of a .npz file, or dataset of an HDF5 file. If not given: the first sheet, the
        array ``X`` or the only matrix.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        One line that names the file, the place and the remedy.

    Cost
    ----
    The file in memory once, and its numbers once or twice; of a large text file that holds plain numbers only, just
    these. What would not fit is refused before it is read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("kind;length;width\\niris;5,1;3,5\\nrose;4;\\n")
    ...     table = read_table(path, missing="drop")
    >>> table.columns, table.values.tolist(), table.labels
    (('length', 'width'), [[5.1, 3.5]], {'kind': ['iris']})
    >>> table.dropped[-1]
    "1 of 2 rows were dropped: values are missing in 'width' (1)"
    """
    roles = Roles(columns, labels, ids, missing, categories, dates)
    return load(path, roles, Dialect(separator, decimal, thousands, encoding, header, sheet, roles.as_text))


def load(path: str | os.PathLike[str], roles: Roles, dialect: Dialect) -> Table:
    """Read a table of which all is said that there is to say; see :func:`read_table`."""
    source = "standard input" if os.fspath(path) == "-" else os.fspath(path)
    try:
        if source == "standard input":
            data = sys.stdin.buffer.read(allowance() + 1)
            check_size(len(data), source, "the text")
            return make_table(read_text(data, source, dialect), source, roles)
        return make_table(_reader(Path(path), source)(Path(path), source, dialect), source, roles)
    except OSError as error:
        raise TableError(f"{source} cannot be read: {error.strerror or error}.") from error
    except MemoryError as error:
        raise TableError(f"{source} needs more memory than there is. Choose fewer rows or columns.") from error


def _reader(path: Path, source: str) -> Reader:
    if path.is_dir():
        raise TableError(f"{source} is a folder, not a table.")
    if not path.exists():
        raise TableError(f"{source}: there is no such file.")
    packed = path.suffix.lower() == PACKED
    ending = Path(path.stem).suffix.lower() if packed else path.suffix.lower()
    reader = READERS.get(ending)
    if reader is None or (packed and reader not in (_read_csv, _read_tsv)):
        known = f"{', '.join(READERS)}, and .csv.gz, .tsv.gz, .txt.gz"
        raise TableError(f"{source}: files that end in {path.suffix or 'nothing'!r} are not read. Known: {known}.")
    return reader
