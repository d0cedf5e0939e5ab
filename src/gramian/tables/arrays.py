"""NumPy's own files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gramian.tables.table import Column, Sheet, TableError


def read_npy(path: Path, source: str) -> Sheet:
    """Read a matrix of numbers; columns are named x0, x1, ..."""
    try:
        # Mapped, not loaded: a header that promises more than the file holds is refused before memory is asked for.
        matrix = np.lib.format.open_memmap(path, mode="r")
    except OSError:
        raise
    except Exception as error:  # a damaged header makes NumPy raise nearly anything
        raise TableError(f"{source} is not a readable .npy file of numbers ({_first_line(error)}).") from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise TableError(f"{source}: the array has shape {matrix.shape}; rows and columns, n x d, are expected.")
    if matrix.dtype.kind not in "biuf":
        raise TableError(f"{source}: the array has dtype {matrix.dtype}; real numbers are expected.")
    with np.errstate(over="ignore"):  # what is beyond double precision becomes infinite, and is refused as such
        values = np.array(matrix, dtype=np.float64)
    columns = [Column(f"x{at}", numbers=values[:, at]) for at in range(values.shape[1])]
    return Sheet(columns, len(values), lambda row: f"row {row} (counted from 0)")


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
