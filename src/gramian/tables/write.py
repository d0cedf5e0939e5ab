"""Scores to files, whole or not at all: from memory, or as they stream by."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.ipc as arrow_ipc
import pyarrow.parquet as arrow_parquet
from numpy.typing import ArrayLike

from gramian import files
from gramian.files import PathLike, atomic
from gramian.operators import Rows
from gramian.operators.rows import in_step, watched
from gramian.operators.source import Piece
from gramian.results import Array
from gramian.tables.read import FORMATS
from gramian.tables.table import ending

__all__ = ["atomic", "check_writable", "write_rows", "write_scores"]

#: Rows that are turned into text at a time.
TEXT_ROWS = 4096

Labels = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Output:
    """What is to be written: blocks of numbers with labels beside them, one or many, none empty but the first."""

    blocks: Iterable[tuple[Array, Labels]]
    names: Sequence[str]
    labels: Sequence[str] = ()
    n_rows: int | None = None


Writer = Callable[[BinaryIO, Output], None]


def check_writable(path: PathLike) -> None:
    """Raise what writing to ``path`` would raise, before the work that leads there; ``"-"`` always passes.

    Examples
    --------
    >>> check_writable("-")
    >>> try:
    ...     check_writable("no/such/folder/scores.csv")
    ... except OSError as error:
    ...     print(type(error).__name__)
    FileNotFoundError
    """
    files.check_writable(path)
    _writer(path)


def write_scores(
    path: PathLike,
    scores: ArrayLike,
    names: Sequence[str],
    labels: Labels | None = None,
) -> None:
    """Write scores: label columns first, then one column for each component.

    The ending says in which format: .parquet, .arrow, .feather, .npy (numbers only), .tsv; anything else is CSV; text
    that ends in .gz is packed. Numbers read back equal, in text with as many digits as that needs. See
    :func:`atomic` for what happens on failure.

    Parameters
    ----------
    path : str or path
        File to write; ``"-"`` is standard output.
    scores : (n, k) array
    names : sequence of str
        Names of the k components.
    labels : mapping of str to sequence of str, optional
        Text columns of n cells.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_scores(Path(folder) / "scores.csv", [[1.5], [2.5]], ["pca0"], {"kind": ["iris", "rose"]})
    ...     print((Path(folder) / "scores.csv").read_text())
    kind,pca0
    iris,1.5
    rose,2.5
    <BLANKLINE>
    """
    values, labels, write = np.asarray(scores), labels or {}, _writer(path)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise ValueError(f"scores has shape {values.shape}; {len(names)} names need {len(names)} columns.")
    for name, cells in labels.items():
        if len(cells) != len(values):
            raise ValueError(f"label column {name!r} has {len(cells)} cells for {len(values)} rows of scores.")
    repeated = set(names) & set(labels)
    if repeated or len(set(names)) < len(names):
        raise ValueError(f"columns need different names; {sorted(repeated) or list(names)} repeat. Rename the labels.")
    _put(path, write, Output([(values, labels)], names, list(labels), len(values)))


def write_rows(
    path: PathLike, rows: Rows, names: Sequence[str] | None = None, *, label: tuple[str, Rows] | None = None
) -> int:
    """Write a stream as it comes, whole or not at all; return the number of rows.

    What is written goes to a temporary file beside ``path``, which takes its place at the end: a full disk, bad input
    or an interrupt half way leaves the old file as it was.

    Parameters
    ----------
    path : str or path
        File to write, in the format that its ending says, as for :func:`write_scores`.
    rows : Rows
        A stream, such as ``model.transform(gramian.rows("large.parquet"))``.
    names : sequence of str, optional
        Names of the columns; those of the stream, or x0, x1, ..., if not given.
    label : pair of str and Rows, optional
        Name and stream of a column of the same rows, such as ``model.predict`` gives, to be written first, as text.

    Cost
    ----
    One block in memory; a row group of a Parquet file has at least as many rows as a block.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from gramian import rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "scores.csv")
    ...     write_rows(path, rows(np.array([[1.5, 2.0], [3.0, 4.0]])), ["a", "b"]), path.read_text()
    (2, 'a,b\\n1.5,2.0\\n3.0,4.0\\n')
    """
    names, words = list(names or rows.names), dict([label] if label else [])
    if len(names) != rows.n_features or len({*names, *words}) < len(names) + len(words):
        raise ValueError(f"names={names!r} must be {rows.n_features} different names, one for each column.")
    if rows.text:
        if words or len(names) > 1:
            raise ValueError(
                f"rows holds text in {len(names)} columns; one column, and no label beside it, is expected."
            )
        words, names = {names[0]: rows}, []
    seen = 0

    def blocks() -> Iterator[tuple[Array, Labels]]:
        nonlocal seen
        dtype: Any = None
        for piece, cells in watched(_beside(rows, words), "writing", rows.n_rows):
            dtype, seen = dtype or piece.values.dtype, seen + len(piece.values)
            numbers = piece.values.astype(dtype, copy=False) if names else np.zeros((len(piece.values), 0))
            yield numbers, cells
        if dtype is None:
            yield np.zeros((0, len(names))), {name: [] for name in words}

    _put(path, _writer(path), Output(blocks(), names, list(words), n_rows=rows.n_rows))
    return seen


def _beside(rows: Rows, words: dict[str, Rows]) -> Iterator[tuple[Piece, Labels]]:
    """Blocks of a stream with the text of another, if there is one, in step."""
    if not words:
        yield from ((piece, {}) for piece in rows.pieces())
        return
    ((name, text),) = words.items()
    pairs = ((piece, piece) for piece in rows.pieces()) if text is rows else in_step(rows, text)
    for piece, cells in pairs:
        yield piece, {name: [str(cell) for cell in cells.values[:, 0].tolist()]}


def _put(path: PathLike, write: Writer, output: Output) -> None:
    if os.fspath(path) == "-":
        write(sys.stdout.buffer, output)
        sys.stdout.flush()
        return
    with atomic(path) as file:
        if Path(path).suffix.lower() != ".gz":
            write(file, output)
            return
        # Without a time or a name in it, the same scores are the same bytes.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as stream:
            write(stream, output)  # type: ignore[arg-type]


def _writer(path: PathLike) -> Writer:
    path = Path(path)
    kind = ending(path)
    if path.suffix.lower() == ".gz":  # only text is packed
        return WRITERS[".tsv" if kind == ".tsv" else ".csv"]
    if kind in FORMATS and kind not in WRITERS:
        raise ValueError(f"{path}: scores are not written as {kind}. Use one of: {', '.join(WRITERS)}.")
    return WRITERS.get(kind, _write_csv)


def _write_csv(file: BinaryIO, output: Output, delimiter: str = ",") -> None:
    heads = [*output.labels, *output.names]
    # A bare carriage return ends a row for readers of CSV. A row of one empty cell would be a blank line.
    signs = re.compile(rf'["\r\n{delimiter}]' if len(heads) > 1 else rf'["\r\n{delimiter}]|^$')

    def quoted(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"' if signs.search(cell) else cell

    file.write((delimiter.join(map(quoted, heads)) + "\n").encode())
    for scores, labels in output.blocks:
        for start in range(0, len(scores), TEXT_ROWS):
            tile = slice(start, start + TEXT_ROWS)
            words = (map(quoted, cells[tile]) for cells in labels.values())
            # Python writes the fewest digits that read back equal; by columns this takes a third less than by rows.
            numbers = (map(repr, column.tolist()) for column in scores[tile].T)
            file.write("".join(f"{delimiter.join(row)}\n" for row in zip(*words, *numbers, strict=True)).encode())


def _write_arrow(file: BinaryIO, output: Output, new: Callable[..., Any] = arrow_ipc.new_file) -> None:
    tables = (_arrow(scores, output.names, labels) for scores, labels in output.blocks)
    first = next(tables)
    with new(file, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def _arrow(scores: Array, names: Sequence[str], labels: Labels) -> pa.Table:
    texts = {name: pa.array(list(cells), pa.string()) for name, cells in labels.items()}
    return pa.table({**texts, **{name: scores[:, at] for at, name in enumerate(names)}})


def _write_npy(file: BinaryIO, output: Output) -> None:
    blocks, seen, head = iter(output.blocks), 0, 0
    for at, (scores, _) in enumerate(blocks):
        if at == 0:
            dtype = scores.dtype
            head = _npy_header(file, output.n_rows or 0, len(output.names), dtype)
        file.write(np.ascontiguousarray(scores).data)
        seen += len(scores)
    if seen != (output.n_rows or 0):  # the number of rows is known only now; NumPy leaves room for it
        file.seek(0)
        if _npy_header(file, seen, len(output.names), dtype) != head:
            raise ValueError(f"the header of {seen:,} rows does not fit the room that was left for it. Write .parquet.")


def _npy_header(file: BinaryIO, n: int, k: int, dtype: np.dtype) -> int:
    held = io.BytesIO()
    told = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (n, k)}
    np.lib.format.write_array_header_1_0(held, told)
    return file.write(held.getvalue())


#: Ending of the file name -> writer. A new format joins here; other endings are CSV.
WRITERS: dict[str, Writer] = {
    ".csv": _write_csv,
    ".tsv": partial(_write_csv, delimiter="\t"),
    ".txt": _write_csv,
    ".parquet": partial(_write_arrow, new=arrow_parquet.ParquetWriter),
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
    ".npy": _write_npy,
}
