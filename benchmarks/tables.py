"""A table in a text file: the command line against Arrow's reader and a fit of what it gives."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from benchmarks.contest import Contest, Contestant
from gramian import PCA
from gramian.cli.app import run as command_line


def _table(n: int, d: int) -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """A folder that goes with its owner, and the file in it."""
    X = np.random.default_rng(0).standard_normal((n, d)) * np.linspace(1, 3, d)
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, "table.csv")
    arrow_csv.write_csv(pa.table({f"x{at}": column for at, column in enumerate(X.T)}), path)
    return folder, path


def ours(n: int, d: int) -> Callable:
    """``gramian fit``: the format of the file is detected, names and gaps are checked."""
    folder, path = _table(n, d)

    def run() -> dict[str, Any]:
        if command_line(["fit", str(path), "-k", "3", "--quiet"]) != 0:
            raise RuntimeError(f"gramian fit failed in {folder.name}.")
        return {}

    return run


def theirs(n: int, d: int) -> Callable:
    """Arrow's reader, its columns put side by side, and the fit; nothing is checked or detected."""
    folder, path = _table(n, d)

    def run() -> dict[str, Any]:
        start = time.perf_counter()
        table = arrow_csv.read_csv(path)
        read = time.perf_counter() - start
        X = np.column_stack([column.to_numpy() for column in table.columns])
        stacked = time.perf_counter() - start - read
        if PCA(3).fit(X).n_features_in_ != d:
            raise RuntimeError(f"Arrow lost columns of {folder.name}.")
        return {"work": f"{read:.2f} s to read, {stacked:.2f} s to stack"}

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
