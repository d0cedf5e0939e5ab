"""Tables from files and data frames, and two views of the same rows."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from gramian.construction import arguments, as_written
from gramian.tables.arrays import Hdf5File, NpyFile, NpzFile, matrix_sheet
from gramian.tables.arrow import ArrowFile, ParquetFile, to_columns
from gramian.tables.assemble import (
    DROP_LATER,
    Categories,
    Roles,
    make_table,
    split_names,
    take_rows,
    without_rows,
)
from gramian.tables.excel import ExcelFile
from gramian.tables.table import (
    Dialect,
    Sheet,
    Table,
    TableError,
    TableFile,
    allowance,
    check_size,
    counted,
    ending,
    first_line,
)
from gramian.tables.text import read_text
from gramian.tables.text_blocks import TextFile

#: Ending of the file name -> reader. A new format joins here; a :class:`RowFile` is read as a stream as well.
FORMATS: dict[str, type[TableFile]] = {
    ".csv": TextFile,
    ".tsv": TextFile,
    ".txt": TextFile,
    ".parquet": ParquetFile,
    ".arrow": ArrowFile,
    ".feather": ArrowFile,
    ".xlsx": ExcelFile,
    ".npy": NpyFile,
    ".npz": NpzFile,
    ".h5": Hdf5File,
    ".hdf5": Hdf5File,
}
#: What is written before the treatment of missing values.
BEFORE_MISSING = ("columns", "x_columns", "y_columns", "y_labels", "labels", "ids")
Read = TypeVar("Read", bound=Callable[..., Any])


def _remembered(read: Read) -> Read:
    """Let the tables that a reader returns know the call."""
    signature = inspect.signature(read)
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}

    @functools.wraps(read)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        found = read(*args, **kwargs)
        bound = signature.bind(*args, **kwargs).arguments
        bound.update(bound.pop("options", {}))  # what is passed on to another reader
        files = [bound.pop(name) for name in ("path", "other") if bound.get(name) is not None]
        named = {
            name: value
            for name, value in bound.items()
            if as_written(value) not in (None, as_written(defaults.get(name)))
        }
        if "missing" in named:  # after labels and ids, wherever those stand in the signature
            named = {**{key: named[key] for key in named if key in BEFORE_MISSING}, **named}
        call = f"{read.__name__}({arguments(files, **named)})"
        return replace(found, call=call) if isinstance(found, Table) else tuple(replace(t, call=call) for t in found)

    return wrapped  # type: ignore[return-value]


@_remembered
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

    Numeric columns become features, text columns labels. What is not given for a text file is detected: columns are
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
        How text is written, if what is detected is wrong. Thousands: a comma, point, blank or apostrophe.
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
    "1 of 2 rows was dropped: values are missing in 'width' (1)"
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
        path = Path(path)
        return make_table(_format(path, source)(path, dialect.of(path), source).whole(), source, roles)
    except OSError as error:
        raise TableError(f"{source} cannot be read: {error.strerror or error}.") from error
    except MemoryError as error:
        raise TableError(f"{source} needs more memory than there is. Choose fewer rows or columns.") from error


def _format(path: Path, source: str) -> type[TableFile]:
    if path.is_dir():
        raise TableError(f"{source} is a folder, not a table.")
    if not path.exists():
        raise TableError(f"{source}: there is no such file.")
    found = FORMATS.get(ending(path))
    if found is None or (path.suffix.lower() == ".gz" and found is not TextFile):
        known = f"{', '.join(FORMATS)}, and .csv.gz, .tsv.gz, .txt.gz"
        raise TableError(f"{source}: files that end in {path.suffix or 'nothing'!r} are not read. Known: {known}.")
    return found


def place_in_file(path: str | os.PathLike[str], row: int, **dialect: Any) -> str:
    """What a row of a file, counted from 0, is called in refusals, such as "line 7"."""
    path, told = Path(path), Dialect(**dialect)
    return _format(path, str(path))(path, told.of(path), str(path)).whole().place(row)


def as_table(
    frame: Any,
    columns: Sequence[str] | None = None,
    *,
    labels: Sequence[str] = (),
    ids: str | None = None,
    missing: str = "refuse",
    categories: Categories = "label",
    dates: str | Sequence[str] = "label",
    source: str = "the data frame",
) -> Table:
    """Make a table of a data frame.

    Parameters
    ----------
    frame : data frame
        Of pandas, polars or anything else that speaks Arrow's interface; a mapping of columns; a matrix.
    columns, labels, ids, missing, categories, dates
        As for :func:`read_table`.
    source : str
        What to call the frame in messages.

    Returns
    -------
    Table

    Examples
    --------
    >>> table = as_table({"kind": ["iris", "rose"], "length": [5.1, 4.0]})
    >>> table.columns, table.values.tolist(), table.labels
    (('length',), [[5.1], [4.0]], {'kind': ['iris', 'rose']})
    """
    roles = Roles(columns, labels, ids, missing, categories, dates)
    if isinstance(frame, np.ndarray):
        return make_table(matrix_sheet(frame, source), source, roles)
    try:
        data = _to_arrow(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(f"{source} cannot be read as a table ({first_line(error)}).") from error
    return make_table(Sheet(to_columns(data, roles.as_text), data.num_rows, counted), source, roles)


def _to_arrow(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, dict):
        return pa.table(frame)
    if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        if not frame.columns.is_unique:
            repeated = frame.columns[frame.columns.duplicated()][0]
            raise ValueError(f"two columns are named {repeated!r}")
        return pa.Table.from_pandas(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    raise TypeError(f"{type(frame).__name__} is no data frame")


def split_table(
    table: Table, x_columns: Sequence[str] | None = None, y_columns: Sequence[str] | None = None
) -> tuple[Table, Table]:
    """Split a table into two views of its rows.

    Parameters
    ----------
    table : Table
    x_columns, y_columns : sequence of str, optional
        Columns of either view: names, ranges ``"a:b"`` and patterns ``"x_*"``. One that is not given has the columns
        that the other has not.

    Returns
    -------
    x, y : Table
        Both with the labels and row ids of the table.

    Examples
    --------
    >>> from gramian.tables import as_table
    >>> x, y = split_table(as_table({"x_1": [1, 2], "x_2": [3, 4], "fat": [5, 6]}), y_columns=["fat"])
    >>> x.columns, y.columns
    (('x_1', 'x_2'), ('fat',))
    """
    known, source = table.columns, table.source
    if x_columns is None and y_columns is None:
        raise TableError(f"{source}: say x_columns or y_columns, which of the {len(known)} columns are which view.")
    views = split_names(known, x_columns, y_columns, source)
    idle = len(known) - sum(map(len, views))
    told = (f"{idle} of {len(known)} numeric columns are in neither view",) if idle else ()
    places = {name: at for at, name in enumerate(known)}

    def view(names: list[str]) -> Table:
        values = np.ascontiguousarray(table.values[:, [places[name] for name in names]])
        return replace(table, values=values, columns=tuple(names), dropped=(*table.dropped, *told), call="")

    return view(views[0]), view(views[1])


@_remembered
def read_views(
    path: str | os.PathLike[str],
    other: str | os.PathLike[str] | None = None,
    *,
    x_columns: Sequence[str] | None = None,
    y_columns: Sequence[str] | None = None,
    y_labels: Sequence[str] = (),
    missing: str = "refuse",
    **options: Any,
) -> tuple[Table, Table]:
    """Read two views of the same rows, from one file or from two.

    Parameters
    ----------
    path : str or path
        File of the first view, or of both.
    other : str or path, optional
        File of the second view.
    x_columns, y_columns : sequence of str, optional
        Columns of either view: names, ranges and patterns.
    y_labels : sequence of str
        Labels to take from the second file; without ``y_columns`` they are all that is taken from it.
    missing : {"refuse", "drop", "keep"}
        What to do with missing values; a row is dropped from both views if either misses a value.
    **options
        Further arguments of :func:`read_table`, for both files.

    Returns
    -------
    x, y : Table
        With the same rows in the same order: by row ids if ``ids`` names them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "meat.csv").write_text("x_1,x_2,fat\\n1,2,30\\n3,4,10\\n")
    ...     x, y = read_views(Path(folder) / "meat.csv", y_columns=["fat"])
    >>> x.columns, y.values.tolist()
    (('x_1', 'x_2'), [[30.0], [10.0]])
    """
    if other is None:
        if y_labels:
            raise TableError(f"y_labels={list(y_labels)!r} needs a second file. For labels of {path} say labels=.")
        wanted = None if x_columns is None or y_columns is None else [*x_columns, *y_columns]
        return split_table(read_table(path, wanted, missing=missing, **options), x_columns, y_columns)
    kept = DROP_LATER if missing == "drop" else missing
    x = read_table(path, x_columns, missing=kept, **options)
    if y_labels:
        options, y_columns = {**options, "labels": y_labels}, y_columns or ()
    y = read_table(other, y_columns, missing=kept, **options)
    x, y = match_rows(x, y)
    if missing != "drop":
        return x, y
    gaps = np.isnan(x.values).any(axis=1) | np.isnan(y.values).any(axis=1)
    none = f"{x.source} and {y.source}: every row misses a value. Choose other columns."
    x, y = (without_rows(view, gaps, " in one view or the other", none) for view in (x, y))
    return x, y


def match_rows(x: Table, y: Table) -> tuple[Table, Table]:
    """Return two tables with the same rows in the same order, or refuse.

    Rows that have ids are matched by them, and those of the second table are put in the order of the first. Rows
    without ids are taken as they stand, if there are as many.

    Examples
    --------
    >>> from gramian.tables import as_table
    >>> x = as_table({"mouse": ["a", "b"], "gene": [1.0, 2.0]}, ids="mouse")
    >>> y = as_table({"mouse": ["b", "a"], "lipid": [20.0, 10.0]}, ids="mouse")
    >>> match_rows(x, y)[1].values.tolist()
    [[10.0], [20.0]]
    """
    call = f"match_rows({x.call}, {y.call})" if x.call and y.call else ""
    x, y = _matched(x, y)
    return replace(x, call=call), replace(y, call=call)


def _matched(x: Table, y: Table) -> tuple[Table, Table]:
    pair = f"{x.source} and {y.source}"
    if x.row_ids is None or y.row_ids is None:
        if len(x.values) != len(y.values):
            raise TableError(
                f"{pair} have {len(x.values):,} and {len(y.values):,} rows; two views need the same. "
                "If a column names the rows, say ids=."
            )
        return x, y
    if x.row_ids == y.row_ids:
        return x, y
    places = {name: row for row, name in enumerate(y.row_ids)}
    for here, there in ((x, y), (y, x)):
        lone = set(here.row_ids or ()) - set(there.row_ids or ())
        if lone:
            first = next(name for name in here.row_ids or () if name in lone)
            raise TableError(
                f"{pair} have different rows: {first!r} is only in {here.source} ({len(lone):,} such rows). "
                "Keep the rows that both have."
            )
    order = np.array([places[name] for name in x.row_ids])
    ordered = take_rows(y, order)
    return x, replace(ordered, dropped=(*y.dropped, f"rows were put in the order of {x.source}, by {x.ids!r}"))


def complete_rows(table: Table, columns: Iterable[str]) -> Table:
    """Drop the rows that miss a value in one of these columns; names that the table lacks are passed over."""
    wanted = [at for at, name in enumerate(table.columns) if name in set(columns)]
    none = f"{table.source}: every row misses a value of these columns."
    return without_rows(table, np.isnan(table.values[:, wanted]).any(axis=1), "", none)
