"""From a path to a table: one reader for each kind of file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from gramian.tables.arrays import read_npy
from gramian.tables.parquet import read_parquet
from gramian.tables.table import Sheet, Table, TableError, make_table
from gramian.tables.text import read_text, read_tsv

#: Ending of the file name -> reader of (path, name for messages). A new format joins here.
READERS: dict[str, Callable[[Path, str], Sheet]] = {
    ".csv": lambda path, source: read_text(path.read_bytes(), source),
    ".tsv": lambda path, source: read_tsv(path.read_bytes(), source),
    ".txt": lambda path, source: read_text(path.read_bytes(), source),
    ".parquet": read_parquet,
    ".npy": read_npy,
}


def read_table(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Table:
    """Read a table from a file; its ending says what it is.

    Text files have columns split at tabs, semicolons or commas, whichever of them (in this order) the first line has.
    If every cell of that line is a number there is no header, and columns are named x0, x1, ... Numeric columns become
    features, text columns labels.

    Parameters
    ----------
    path : str or path
        A file that ends in .csv, .tsv, .txt, .parquet or .npy; ``"-"`` reads delimited text from standard input.
    columns : sequence of str, optional
        Names of the numeric columns to use, in this order. All of them if not given.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        One line that names the file, the place and the remedy. Missing values are refused.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("kind,length,width\\niris,5.1,3.5\\nrose,4,2\\n")
    ...     table = read_table(path)
    >>> table.columns, table.values.tolist(), table.labels
    (('length', 'width'), [[5.1, 3.5], [4.0, 2.0]], {'kind': ['iris', 'rose']})
    """
    if isinstance(columns, str):
        raise TypeError(f"columns={columns!r} must be a list of names, such as [{columns!r}].")
    if os.fspath(path) == "-":
        return make_table(read_text(sys.stdin.buffer.read(), "standard input"), "standard input", columns)
    path, source = Path(path), os.fspath(path)
    reader = READERS.get(path.suffix.lower())
    try:
        if path.is_dir():
            raise TableError(f"{source} is a folder, not a table.")
        if not path.exists():
            raise TableError(f"{source}: there is no such file.")
        if reader is None:
            raise TableError(
                f"{source}: files that end in {path.suffix or 'nothing'!r} are not read. Known: {', '.join(READERS)}."
            )
        return make_table(reader(path, source), source, columns)
    except OSError as error:
        raise TableError(f"{source} cannot be read: {error.strerror or error}.") from error
