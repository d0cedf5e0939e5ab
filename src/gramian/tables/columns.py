"""What columns have to do with each other: their spread."""

from __future__ import annotations

import numpy as np

from gramian.estimators import Standardizer
from gramian.operators import Data
from gramian.tables.table import Table

__all__ = ["Standardizer", "uneven_columns"]

#: Standard deviations this many times apart are units that differ, not columns that matter more.
UNEVEN = 1000


def uneven_columns(table: Table, factor: float = UNEVEN) -> str:
    """Say by how much the standard deviations of columns differ, if by more than ``factor``; else nothing.

    Examples
    --------
    >>> from gramian.tables import as_table
    >>> bool(uneven_columns(as_table({"metres": [1.0, 2.0], "microns": [1e6, 2e6]})))
    True
    >>> uneven_columns(as_table({"length": [1.0, 2.0], "width": [3.0, 5.0]}))
    ''
    """
    values = table.values
    if np.isnan(values).any():  # gaps that were kept: what fills them matters little for orders of magnitude
        present = np.isfinite(values)
        means = np.divide(np.where(present, values, 0).sum(axis=0), np.maximum(present.sum(axis=0), 1))
        values = np.where(present, values, means)
    data = Data(values)
    deviations = np.sqrt(data.column_squares / max(data.n - 1, 1))
    varying = np.flatnonzero(deviations * data.unit > 10 * np.finfo(np.float64).eps * np.abs(data.mean))
    if len(varying) == 0:
        return ""
    low, high = (varying[pick(deviations[varying])] for pick in (np.argmin, np.argmax))
    ratio = deviations[high] / deviations[low]
    if ratio <= factor:
        return ""
    return (
        f"standard deviations of columns differ by a factor of {ratio:,.0f} "
        f"(from {table.columns[low]!r} to {table.columns[high]!r}), so the largest decide the result"
    )
