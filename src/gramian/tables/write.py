"""Scores to files, whole or not at all."""

from __future__ import annotations

import gzip
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gramian import files
from gramian.files import PathLike, atomic
from gramian.results import Array
from gramian.tables.arrow import arrow_ipc, arrow_parquet, pa
from gramian.tables.read import READERS

__all__ = ["atomic", "check_writable", "write_scores"]

#: Rows that are turned into text at a time.
TILE = 4096

Labels = Mapping[str, Sequence[str]]
Writer = Callable[[BinaryIO, Array, Sequence[str], Labels], None]


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
    scores: Any,
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
    scores, labels, write = np.asarray(scores), labels or {}, _writer(path)
    if scores.ndim != 2 or scores.shape[1] != len(names):
        raise ValueError(f"scores has shape {scores.shape}; {len(names)} names need {len(names)} columns.")
    for name, cells in labels.items():
        if len(cells) != len(scores):
            raise ValueError(f"label column {name!r} has {len(cells)} cells for {len(scores)} rows of scores.")
    repeated = set(names) & set(labels)
    if repeated or len(set(names)) < len(names):
        raise ValueError(f"columns need different names; {sorted(repeated) or list(names)} repeat. Rename the labels.")
    if os.fspath(path) == "-":
        write(sys.stdout.buffer, scores, names, labels)
        sys.stdout.flush()
        return
    with atomic(path) as file:
        write(file, scores, names, labels)


def _writer(path: PathLike) -> Writer:
    path = Path(path)
    ending = path.suffix.lower()
    if ending == ".gz":
        return _packed(_write_tsv if Path(path.stem).suffix.lower() == ".tsv" else _write_csv)
    if ending in READERS and ending not in WRITERS:
        raise ValueError(f"{path}: scores are not written as {ending}. Use one of: {', '.join(WRITERS)}.")
    return WRITERS.get(ending, _write_csv)


def _write_csv(file: BinaryIO, scores: Array, names: Sequence[str], labels: Labels, delimiter: str = ",") -> None:
    # A bare carriage return ends a row for readers of CSV. A row of one empty cell would be a blank line.
    signs = re.compile(rf'["\r\n{delimiter}]' if len(labels) + len(names) > 1 else rf'["\r\n{delimiter}]|^$')

    def quoted(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"' if signs.search(cell) else cell

    file.write((delimiter.join(map(quoted, [*labels, *names])) + "\n").encode())
    for start in range(0, len(scores), TILE):
        tile = slice(start, start + TILE)
        words = (map(quoted, cells[tile]) for cells in labels.values())
        # Python writes the fewest digits that read back equal; by columns this takes a third less time than by rows.
        numbers = (map(repr, column.tolist()) for column in scores[tile].T)
        file.write("".join(f"{delimiter.join(row)}\n" for row in zip(*words, *numbers, strict=True)).encode())


def _write_tsv(file: BinaryIO, scores: Array, names: Sequence[str], labels: Labels) -> None:
    _write_csv(file, scores, names, labels, "\t")


def _packed(write: Writer) -> Writer:
    def pack(file: BinaryIO, scores: Array, names: Sequence[str], labels: Labels) -> None:
        # Without a time or a name in it, the same scores are the same bytes.
        with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as stream:
            write(stream, scores, names, labels)  # type: ignore[arg-type]

    return pack


def _write_parquet(file: BinaryIO, scores: Array, names: Sequence[str], labels: Labels) -> None:
    arrow_parquet.write_table(_arrow(scores, names, labels), file)


def _write_arrow(file: BinaryIO, scores: Array, names: Sequence[str], labels: Labels) -> None:
    table = _arrow(scores, names, labels)
    with arrow_ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _arrow(scores: Array, names: Sequence[str], labels: Labels) -> pa.Table:
    texts = {name: pa.array(list(cells), pa.string()) for name, cells in labels.items()}
    return pa.table({**texts, **{name: scores[:, at] for at, name in enumerate(names)}})


def _write_npy(file: BinaryIO, scores: Array, names: Sequence[str], labels: Labels) -> None:
    np.lib.format.write_array(file, np.ascontiguousarray(scores), allow_pickle=False)


#: Ending of the file name -> writer. A new format joins here; other endings are CSV.
WRITERS: dict[str, Writer] = {
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".txt": _write_csv,
    ".parquet": _write_parquet,
    ".arrow": _write_arrow,
    ".feather": _write_arrow,
    ".npy": _write_npy,
}
