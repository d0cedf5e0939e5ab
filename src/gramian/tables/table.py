"""What a table is, and what makes a sheet of columns into one."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gramian.results import Array


class TableError(ValueError):
    """A file that cannot be read as a table; one line says why and what to do."""


@dataclass(frozen=True)
class Table:
    """Numbers of a file, ready for an estimator.

    Attributes
    ----------
    values : (n, d) array
        Features in double precision, all finite.
    columns : tuple of str
        Their names.
    labels : dict of str to list of str
        Text columns, kept beside the features.
    dropped : tuple of str
        What is not among the features, and why, a sentence each.
    source : str
        Where the table comes from.
    """

    values: Array
    columns: tuple[str, ...]
    labels: dict[str, list[str]]
    dropped: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class Column:
    """A column as a reader found it: numbers (NaN where missing), or text, or neither; ``remark`` says why."""

    name: str
    numbers: Array | None = None
    text: list[str] | None = None
    remark: str = ""


@dataclass(frozen=True)
class Sheet:
    """All columns of a file; ``place`` names a row as a person would look it up, such as "line 7"."""

    columns: list[Column]
    rows: int
    place: Callable[[int], str]
    remarks: tuple[str, ...] = ()


def make_table(sheet: Sheet, source: str, chosen: Sequence[str] | None = None) -> Table:
    """Sort columns into features and labels, and refuse what no estimator could use.

    Parameters
    ----------
    sheet : Sheet
        What a reader found.
    source : str
        Name of the file for messages.
    chosen : sequence of str, optional
        Names of the columns to use; all numeric ones if not given.
    """
    if sheet.rows == 0:
        raise TableError(f"{source}: there are no rows below the column names.")
    columns = [_named(column, at) for at, column in enumerate(sheet.columns)]
    _check_names(columns, source)
    numeric = [column for column in columns if column.numbers is not None]
    if not numeric:
        raise TableError(
            f"{source}: there is no numeric column. Columns are split at tabs, semicolons or commas; "
            "numbers have a decimal point."
        )
    features = numeric if chosen is None else _choose(columns, chosen, source)
    dropped = [*sheet.remarks, *(f"column {c.name!r} {c.remark}" for c in columns if c.remark)]
    if len(features) < len(numeric):
        dropped.append(f"{len(numeric) - len(features)} of {len(numeric)} numeric columns were not chosen")
    return Table(
        values=_stack(features, sheet, source),
        columns=tuple(column.name for column in features),
        labels={column.name: column.text for column in columns if column.text is not None},
        dropped=tuple(dropped),
        source=source,
    )


def _named(column: Column, at: int) -> Column:
    """Name a column that has no name; one that counts the rows is an index that a data frame wrote, no feature."""
    if column.name:
        return column
    numbers = column.numbers
    if numbers is not None and any(np.array_equal(numbers, np.arange(len(numbers)) + first) for first in (0, 1)):
        text = [f"{number:.0f}" for number in numbers]
        return Column("row", text=text, remark="only counts the rows, kept as a label")
    return replace(column, name=f"x{at}")


def _check_names(columns: list[Column], source: str) -> None:
    seen: dict[str, int] = {}
    for at, column in enumerate(columns, start=1):
        first = seen.setdefault(column.name, at)
        if first != at:
            raise TableError(f"{source}: columns {first} and {at} are both named {column.name!r}. Rename one of them.")


def _choose(columns: list[Column], chosen: Sequence[str], source: str) -> list[Column]:
    known = {column.name: column for column in columns}
    for name in chosen:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"The first columns are: {', '.join([*known][:5])}."
            raise TableError(f"{source}: there is no column {name!r}. {hint}")
        if known[name].numbers is None:
            raise TableError(f"{source}: column {name!r} {known[name].remark}; it cannot be a feature.")
    if not chosen or len(set(chosen)) < len(chosen):
        raise TableError(f"{source}: choose at least one column, and none twice; got {', '.join(chosen) or 'none'}.")
    return [known[name] for name in chosen]


def _stack(features: list[Column], sheet: Sheet, source: str) -> Array:
    values = np.empty((sheet.rows, len(features)))
    for at, column in enumerate(features):
        values[:, at] = column.numbers
    bad = ~np.isfinite(values)
    if not bad.any():
        return values
    row, at = np.argwhere(bad)[0]
    what = "missing" if np.isnan(values[row, at]) else "infinite"
    raise TableError(
        f"{source}: {sheet.place(row)}, column {features[at].name!r}: the value is {what} "
        f"({int(bad.sum()):,} such values in all). Fill them, drop those rows, or choose other columns."
    )
