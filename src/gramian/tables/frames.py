"""Data frames of pandas and polars, and Arrow tables, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.tables.arrays import matrix_sheet
from gramian.tables.arrow import pa, to_columns
from gramian.tables.assemble import Roles, make_table
from gramian.tables.encode import Categories
from gramian.tables.table import Sheet, Table, TableError, counted, first_line


def as_table(
    frame: Any,
    columns: Sequence[str] | None = None,
    *,
    labels: Sequence[str] = (),
    ids: str | None = None,
    missing: str = "refuse",
    categories: Categories = "label",
    dates: str | Sequence[str] = "label",
    source: str = "the data frame",
) -> Table:
    """Make a table of a data frame.

    Parameters
    ----------
    frame : data frame
        Of pandas, polars or anything else that speaks Arrow's interface; a mapping of columns; a matrix.
    columns, labels, ids, missing, categories, dates
        As for :func:`read_table`.
    source : str
        What to call the frame in messages.

    Returns
    -------
    Table

    Examples
    --------
    >>> table = as_table({"kind": ["iris", "rose"], "length": [5.1, 4.0]})
    >>> table.columns, table.values.tolist(), table.labels
    (('length',), [[5.1], [4.0]], {'kind': ['iris', 'rose']})
    """
    roles = Roles(columns, labels, ids, missing, categories, dates)
    if isinstance(frame, np.ndarray):
        return make_table(matrix_sheet(frame, source), source, roles)
    try:
        data = _to_arrow(frame)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(f"{source} cannot be read as a table ({first_line(error)}).") from error
    return make_table(Sheet(to_columns(data, roles.as_text), data.num_rows, counted), source, roles)


def _to_arrow(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, dict):
        return pa.table(frame)
    if type(frame).__module__.partition(".")[0] == "pandas" and hasattr(frame, "columns"):
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
        if not frame.columns.is_unique:
            repeated = frame.columns[frame.columns.duplicated()][0]
            raise ValueError(f"two columns are named {repeated!r}")
        return pa.Table.from_pandas(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    raise TypeError(f"{type(frame).__name__} is no data frame")
