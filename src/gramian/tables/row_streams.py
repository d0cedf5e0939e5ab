"""From a path, a folder or a pattern to a stream of rows, here or on the workers of a cluster."""

from __future__ import annotations

import glob
import os
from collections.abc import Generator, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gramian.operators import Rows
from gramian.operators.remote import Remote
from gramian.operators.rows import ColumnSlice, block_rows, read_ahead
from gramian.operators.source import Piece
from gramian.results import Array
from gramian.tables.arrays import ZarrFile
from gramian.tables.assemble import choose, split_names
from gramian.tables.read import FORMATS
from gramian.tables.table import Dialect, RowFile, TableError, ending, say_doubts
from gramian.tables.text_blocks import TextFile

#: Ending of the file name -> reader of blocks; a Zarr array is a folder, which is never read whole.
ROW_FILES: dict[str, type[RowFile]] = {
    **{ending: kind for ending, kind in FORMATS.items() if issubclass(kind, RowFile)},
    ".zarr": ZarrFile,
}


class FileRows(Rows):
    """Rows of one or more files of the same kind, one after the other."""

    def __init__(self, paths: list[Path], source: str, columns: Sequence[str] | None, block: int | None, how: Dialect):
        self.source, self.block = source, block
        self.files = [_open_file(path, how) for path in paths]
        self.chosen = [column.name for column in choose(self.files[0].sheet, columns, self.files[0].source)]
        for file in self.files:
            file.all_numeric = columns is None
            if columns is None:
                say_doubts(file.sheet, (), file.source)
            # What a range or a pattern means the first file says.
            names = [c.name for c in choose(file.sheet, None if columns is None else self.chosen, file.source)]
            if set(names) != set(self.chosen):
                odd = min(set(names) ^ set(self.chosen))
                raise TableError(
                    f"{file.source} and {self.files[0].source} have different columns: {odd!r} is in one of them only. "
                    "Say which to use with columns=."
                )
        self.columns = tuple(self.chosen) if self.files[0].named else None
        counts = [file.n_rows for file in self.files]
        self.n_rows = None if None in counts else sum(counts)  # type: ignore[arg-type]
        size = block or block_rows(self.n_features)
        self.reader = max(file.reader(self.n_features, size) for file in self.files)
        self.about = sum(file.about if file.n_rows is None else file.n_rows for file in self.files)

    @property
    def n_features(self) -> int:
        return len(self.chosen)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.chosen)

    def _read(self) -> Iterator[Piece]:
        return read_ahead(self._files())

    def _files(self) -> Generator[Piece, None, None]:
        size, count = self.block or block_rows(self.n_features), len(self.files)
        done = 0
        for at, file in enumerate(self.files):
            file.check()
            for piece in file.read(self.chosen, size):
                done += len(piece.values)
                share = done / self.n_rows if self.n_rows else (at + (piece.share or 0)) / count
                yield piece._replace(share=share)
                del piece  # or it would be kept while the next is read
            file.check()


def open_rows(
    source: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    y_columns: Sequence[str] | None = None,
    block: int | None = None,
    **reading: Any,
) -> Rows:
    """Open files as a stream of rows; see :func:`gramian.rows`."""
    how, name = Dialect(**reading), os.fspath(source)
    try:
        paths = find_files(name)
        if y_columns is None:
            return FileRows(paths, name, columns, block, how)
        known = FileRows(paths, name, None if columns is None else [*columns, *y_columns], block, how)
        x, y = split_names(known.names, columns, y_columns, name)
        rows = FileRows(paths, name, [*x, *y], block, how)
        for file in rows.files:
            file.all_numeric = columns is None
        return ColumnSlice(rows, slice(0, len(x)), ColumnSlice(rows, slice(len(x), None)))
    except OSError as error:
        raise TableError(f"{name} cannot be read: {error.strerror or error}.") from error


def find_files(name: str) -> list[Path]:
    """Files that a path, a folder or a pattern means, in the order of their names."""
    path = Path(name)
    if path.is_file() or (path.is_dir() and ending(path) == ".zarr"):
        return [path]
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if ending(p) in ROW_FILES and not p.name.startswith("."))
    elif glob.has_magic(name):
        found = sorted(Path(p) for p in glob.glob(name, recursive=True) if ending(Path(p)) in ROW_FILES)
    else:
        raise TableError(f"{name}: there is no such file.")
    if not found:
        raise TableError(f"{name}: there are no files that end in {', '.join(ROW_FILES)}.")
    kinds = sorted({ending(p) for p in found})
    if len({ROW_FILES[kind] for kind in kinds}) > 1:
        raise TableError(f"{name} has files of several kinds, {', '.join(kinds)}. Name one kind: {name}/*{kinds[0]}.")
    return found


def table_size(name: str) -> int:
    """Bytes that the table of a file would take in memory; 0 if it cannot be streamed."""
    path = Path(name)
    if ending(path) not in ROW_FILES:
        return 0
    file = _open_file(path, Dialect())
    return file.seen[0] if file.n_rows is None else 8 * file.n_rows * len(file.sheet)


def _open_file(path: Path, how: Dialect) -> RowFile:
    kind = ROW_FILES.get(ending(path))
    if kind is None or (path.suffix.lower() == ".gz" and kind is not TextFile):
        known = ", ".join(ROW_FILES)
        raise TableError(f"{path}: files that end in {path.suffix or 'nothing'!r} are not streamed. Known: {known}.")
    return kind(path, how.of(path)).open()


def remote_rows(
    source: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    *,
    y_columns: Sequence[str] | None = None,
    **reading: Any,
) -> Remote:
    """Open files as rows that the workers of a dask cluster read, a file at a time.

    Every worker must see the files under the same names. A task reads a whole file: a table is better written as many
    files of some ten to hundred megabytes than as one. Without a cluster dask's threads read them.

    Parameters
    ----------
    source : path
        A file, a folder or a pattern such as ``"day-*.parquet"``, as for :func:`gramian.rows`.
    columns, y_columns : sequence of str, optional
        Columns to use, and those that are targets or the second view.
    **reading
        How a file is written, as for :func:`gramian.tables.read_table`.

    Returns
    -------
    Rows
        For ``fit``, ``transform`` and ``predict`` of every estimator; ``.y`` holds the targets.

    Cost
    ----
    Nothing until a fit asks for it, beside a look at the head of each file.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from gramian import PCA
    >>> from gramian.tables import remote_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for at in range(3):
    ...         rows = np.random.default_rng(at).standard_normal((100, 4)) * [4, 3, 2, 1]
    ...         np.save(os.path.join(folder, f"part{at}.npy"), rows)
    ...     PCA(2).fit(remote_rows(folder)).explained_variance_.round(1)
    array([15.5,  7.7])
    """
    from gramian.operators.dask_rows import made_rows

    known: Any = open_rows(source, columns, y_columns=y_columns, **reading)
    whole: Any = getattr(known, "parent", known)
    found = made_rows(*_described(whole, known, reading))
    if whole is not known:
        found.y = made_rows(*_described(whole, known.y, reading))
    return found


def _described(whole: FileRows, part: Rows, reading: dict[str, Any]) -> tuple[Any, ...]:
    """Readers of all files, their numbers of rows, names of columns, whether they have names, and where from."""
    # A worker's own folder is another.
    readers = [partial(read_part, os.path.abspath(file.path), part.names, reading) for file in whole.files]
    return readers, [file.n_rows for file in whole.files], part.names, part.columns is not None, whole.source


def read_part(path: str, columns: Sequence[str], reading: dict[str, Any]) -> Array:
    """Read some columns of a file."""
    return open_rows(path, list(columns), **reading).toarray()
