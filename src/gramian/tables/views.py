"""Two views of the same rows: one table split in two, or two files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.results import Array
from gramian.tables.calls import remembered
from gramian.tables.gaps import KEPT
from gramian.tables.names import find_columns
from gramian.tables.read import read_table
from gramian.tables.table import Table, TableError


def split_table(
    table: Table, x_columns: Sequence[str] | None = None, y_columns: Sequence[str] | None = None
) -> tuple[Table, Table]:
    """Split a table into two views of its rows.

    Parameters
    ----------
    table : Table
    x_columns, y_columns : sequence of str, optional
        Columns of either view: names, ranges ``"a:b"`` and patterns ``"x_*"``. One that is not given has the columns
        that the other has not.

    Returns
    -------
    x, y : Table
        Both with the labels and row ids of the table.

    Examples
    --------
    >>> from gramian.tables import as_table
    >>> x, y = split_table(as_table({"x_1": [1, 2], "x_2": [3, 4], "fat": [5, 6]}), y_columns=["fat"])
    >>> x.columns, y.columns
    (('x_1', 'x_2'), ('fat',))
    """
    known, source = table.columns, table.source
    if x_columns is None and y_columns is None:
        raise TableError(f"{source}: say x_columns or y_columns, which of the {len(known)} columns are which view.")
    x, y = (None if names is None else find_columns(known, names, source) for names in (x_columns, y_columns))
    x = [name for name in known if name not in set(y or ())] if x is None else x
    y = [name for name in known if name not in set(x)] if y is None else y
    both = [name for name in x if name in set(y)]
    if both:
        raise TableError(
            f"{source}: column {both[0]!r} is in both views ({len(both)} columns are). Choose one of them."
        )
    if not x or not y:
        raise TableError(
            f"{source}: the view {'y' if x else 'x'} has no columns. Leave some of the {len(known)} for it."
        )
    return _view(table, x, y), _view(table, y, x)


def _view(table: Table, names: list[str], others: list[str]) -> Table:
    places = {name: at for at, name in enumerate(table.columns)}
    idle = len(table.columns) - len(names) - len(others)
    told = (f"{idle} of {len(table.columns)} numeric columns are in neither view",) if idle else ()
    values = np.ascontiguousarray(table.values[:, [places[name] for name in names]])
    return replace(table, values=values, columns=tuple(names), dropped=(*table.dropped, *told), call="")


@remembered
def read_views(
    path: str | os.PathLike[str],
    other: str | os.PathLike[str] | None = None,
    *,
    x_columns: Sequence[str] | None = None,
    y_columns: Sequence[str] | None = None,
    y_labels: Sequence[str] = (),
    missing: str = "refuse",
    **options: Any,
) -> tuple[Table, Table]:
    """Read two views of the same rows, from one file or from two.

    Parameters
    ----------
    path : str or path
        File of the first view, or of both.
    other : str or path, optional
        File of the second view.
    x_columns, y_columns : sequence of str, optional
        Columns of either view: names, ranges and patterns.
    y_labels : sequence of str
        Labels to take from the second file; without ``y_columns`` they are all that is taken from it.
    missing : {"refuse", "drop", "keep"}
        What to do with missing values; a row is dropped from both views if either misses a value.
    **options
        Further arguments of :func:`read_table`, for both files.

    Returns
    -------
    x, y : Table
        With the same rows in the same order: by row ids if ``ids`` names them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "meat.csv").write_text("x_1,x_2,fat\\n1,2,30\\n3,4,10\\n")
    ...     x, y = read_views(Path(folder) / "meat.csv", y_columns=["fat"])
    >>> x.columns, y.values.tolist()
    (('x_1', 'x_2'), [[30.0], [10.0]])
    """
    if other is None:
        if y_labels:
            raise TableError(f"y_labels={list(y_labels)!r} needs a second file. For labels of {path} say labels=.")
        wanted = None if x_columns is None or y_columns is None else [*x_columns, *y_columns]
        return split_table(read_table(path, wanted, missing=missing, **options), x_columns, y_columns)
    kept = "refuse" if missing == "refuse" else "keep"
    x = read_table(path, x_columns, missing=kept, **options)
    if y_labels:
        options, y_columns = {**options, "labels": y_labels}, y_columns or ()
    y = read_table(other, y_columns, missing=kept, **options)
    x, y = match_rows(x, y)
    return drop_gaps(x, y) if missing == "drop" else (x, y)


def match_rows(x: Table, y: Table) -> tuple[Table, Table]:
    """Return two tables with the same rows in the same order, or refuse.

    Rows that have ids are matched by them, and those of the second table are put in the order of the first. Rows
    without ids are taken as they stand, if there are as many.

    Examples
    --------
    >>> from gramian.tables import as_table
    >>> x = as_table({"mouse": ["a", "b"], "gene": [1.0, 2.0]}, ids="mouse")
    >>> y = as_table({"mouse": ["b", "a"], "lipid": [20.0, 10.0]}, ids="mouse")
    >>> match_rows(x, y)[1].values.tolist()
    [[10.0], [20.0]]
    """
    call = f"match_rows({x.call}, {y.call})" if x.call and y.call else ""
    x, y = _matched(x, y)
    return replace(x, call=call), replace(y, call=call)


def _matched(x: Table, y: Table) -> tuple[Table, Table]:
    pair = f"{x.source} and {y.source}"
    if x.row_ids is None or y.row_ids is None:
        if len(x.values) != len(y.values):
            raise TableError(
                f"{pair} have {len(x.values):,} and {len(y.values):,} rows; two views need the same. "
                "If a column names the rows, say ids=."
            )
        return x, y
    if x.row_ids == y.row_ids:
        return x, y
    places = {name: row for row, name in enumerate(y.row_ids)}
    for here, there in ((x, y), (y, x)):
        lone = set(here.row_ids or ()) - set(there.row_ids or ())
        if lone:
            first = next(name for name in here.row_ids or () if name in lone)
            raise TableError(
                f"{pair} have different rows: {first!r} is only in {here.source} ({len(lone):,} such rows). "
                "Keep the rows that both have."
            )
    order = np.array([places[name] for name in x.row_ids])
    ordered = _take(y, order)
    return x, replace(ordered, dropped=(*y.dropped, f"rows were put in the order of {x.source}, by {x.ids!r}"))


def drop_gaps(x: Table, y: Table) -> tuple[Table, Table]:
    """Drop from two views the rows that miss a value in either."""
    gaps = np.asarray(np.isnan(x.values).any(axis=1) | np.isnan(y.values).any(axis=1))
    if not gaps.any():
        return x, y
    if gaps.all():
        raise TableError(f"{x.source} and {y.source}: every row misses a value. Choose other columns.")
    told = f"{int(gaps.sum()):,} of {len(gaps):,} rows were dropped: values are missing in one view or the other"
    rows = np.flatnonzero(~gaps)

    def whole(view: Table) -> Table:
        return replace(_take(view, rows), dropped=(*(line for line in view.dropped if KEPT not in line), told))

    return whole(x), whole(y)


def _take(table: Table, rows: Array) -> Table:
    """Keep some rows, in the order given."""
    ids, origin = table.row_ids, table.rows
    return replace(
        table,
        values=table.values[rows],
        labels={name: [cells[row] for row in rows] for name, cells in table.labels.items()},
        row_ids=None if ids is None else tuple(ids[row] for row in rows),
        rows=tuple(int(row) if origin is None else origin[row] for row in rows),
        call="",
    )
