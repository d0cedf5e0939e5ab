"""A table in a text file: the command line against Arrow's reader and a fit of rows that are there already."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from benchmarks.contest import Contest, Contestant
from gramian import PCA
from gramian.cli.app import run as command_line


def _table(n: int, d: int) -> tuple[tempfile.TemporaryDirectory[str], Path, np.ndarray]:
    """A folder that goes with its owner, the file in it, and its numbers."""
    X = np.random.default_rng(0).standard_normal((n, d)) * np.linspace(1, 3, d)
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, "table.csv")
    arrow_csv.write_csv(pa.table({f"x{at}": column for at, column in enumerate(X.T)}), path)
    return folder, path, X


def ours(n: int, d: int) -> Callable:
    """``gramian fit``: what the file looks like is found out, names and gaps are checked."""
    folder, path, _ = _table(n, d)

    def run() -> dict[str, Any]:
        if command_line(["fit", str(path), "-k", "3", "--quiet"]) != 0:
            raise RuntimeError(f"gramian fit failed in {folder.name}.")
        return {}

    return run


def theirs(n: int, d: int) -> Callable:
    """Arrow's reader, and a fit of the same numbers in one array; what lies between the two is left out."""
    folder, path, X = _table(n, d)

    def run() -> dict[str, Any]:
        if arrow_csv.read_csv(path).num_rows != n:
            raise RuntimeError(f"Arrow lost rows of {folder.name}.")
        PCA(3).fit(X)
        return {}

    return run


def contests() -> list[Contest]:
    """All of them."""
    size = {"n": 1_000_000, "d": 20}
    return [
        Contest(
            "gramian fit of a CSV file, 1,000,000 x 20",
            (Contestant("gramian", ours, size), Contestant("pyarrow, then PCA", theirs, size)),
            repeats=5,
        )
    ]
