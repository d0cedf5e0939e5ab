"""Files that are either whole or not there."""

from __future__ import annotations

import codecs
import csv
import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gramian.results import Array

PathLike = str | os.PathLike[str]


def check_writable(path: PathLike) -> None:
    """Raise what writing to ``path`` would raise, before the work that leads there; ``"-"`` always passes."""
    if os.fspath(path) == "-":
        return
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", os.fspath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(Path(path).parent))
    if not os.access(target if _special(target) else target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "writing is not permitted", os.fspath(path))


@contextmanager
def atomic(path: PathLike) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the place of ``path`` when the block ends well.

    The bytes go to a temporary file in the same folder and reach the disk before it is renamed. If anything fails or
    is interrupted, the old file stays as it was and nothing is left behind. A link stays a link; devices and pipes are
    written directly.
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    try:
        if _special(target):
            with open(target, "wb") as file:
                yield file
            return
        with _replacing(target) as file:
            yield file
    except OSError as error:
        # The system names the temporary file, or none; a reader wants to know which of theirs was not written.
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    temporary = target.with_name(f".gramian-{secrets.token_hex(6)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _special(target: Path) -> bool:
    return target.exists() and not target.is_file()


def write_scores(
    path: PathLike,
    scores: Any,
    names: Sequence[str],
    labels: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write scores as CSV: label columns first, then one column for each component.

    Numbers have as many digits as they need to be read back equal. See :func:`atomic` for what happens on failure.

    Parameters
    ----------
    path : str or path
        File to write; ``"-"`` is standard output.
    scores : (n, k) array
    names : sequence of str
        Names of the k components.
    labels : mapping of str to sequence of str, optional
        Text columns of n cells.
    """
    scores, labels = np.asarray(scores), labels or {}
    if scores.ndim != 2 or scores.shape[1] != len(names):
        raise ValueError(f"scores has shape {scores.shape}; {len(names)} names need {len(names)} columns.")
    for name, cells in labels.items():
        if len(cells) != len(scores):
            raise ValueError(f"label column {name!r} has {len(cells)} cells for {len(scores)} rows of scores.")
    repeated = set(names) & set(labels)
    if repeated or len(set(names)) < len(names):
        raise ValueError(f"columns need different names; {sorted(repeated) or list(names)} repeat. Rename the labels.")
    if os.fspath(path) == "-":
        _write_rows(sys.stdout.buffer, scores, names, labels)
        sys.stdout.flush()
        return
    with atomic(path) as file:
        _write_rows(file, scores, names, labels)


def _write_rows(file: BinaryIO, scores: Array, names: Sequence[str], labels: Mapping[str, Sequence[str]]) -> None:
    # A bare carriage return ends a row for readers of CSV, but the writer quotes only its own line ending.
    returns = any("\r" in cell for cells in (labels, *labels.values()) for cell in cells)
    writer = csv.writer(
        codecs.getwriter("utf-8")(file),
        lineterminator="\n",
        quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL,
    )
    writer.writerow([*labels, *names])
    for *cells, row in zip(*labels.values(), scores, strict=True):
        writer.writerow([*cells, *row.tolist()])
