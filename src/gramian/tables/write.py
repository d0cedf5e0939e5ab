"""Scores to CSV, whole or not at all."""

from __future__ import annotations

import codecs
import csv
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from gramian.files import PathLike, atomic, check_writable
from gramian.results import Array

__all__ = ["atomic", "check_writable", "write_scores"]


def write_scores(
    path: PathLike,
    scores: Any,
    names: Sequence[str],
    labels: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write scores as CSV: label columns first, then one column for each component.

    Numbers have as many digits as they need to be read back equal. See
    :func:`gramian.files.atomic` for what happens on failure.

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
