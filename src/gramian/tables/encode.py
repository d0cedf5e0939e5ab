"""Categories as indicator columns and dates as days, for those who ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gramian.tables.limits import check_size
from gramian.tables.numbers import ABSENT, shorten
from gramian.tables.table import Column, Sheet, TableError

#: More values than this are names of rows, no category.
MOST_LEVELS = 1000

Categories = str | Sequence[str] | Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Encoded:
    """A sheet with the columns that encoding added, the levels of each category, and which columns are dates."""

    sheet: Sheet
    levels: dict[str, tuple[str, ...]] = field(default_factory=dict)
    dates: tuple[str, ...] = ()


def encode(sheet: Sheet, source: str, categories: Categories, dates: str | Sequence[str], spared: set[str]) -> Encoded:
    """Encode what is asked for, except columns that are spared because they are labels or ids."""
    texts = [c.name for c in sheet.columns if c.text is not None and c.days is None and c.name not in spared]
    times = [c.name for c in sheet.columns if c.days is not None and c.name not in spared]
    fixed = categories if isinstance(categories, Mapping) else {}
    indicated = _asked(categories, texts, sheet, source, "categories")
    dated = _asked(dates, times, sheet, source, "dates")
    columns: list[Column] = []
    levels: dict[str, tuple[str, ...]] = {}
    for column in sheet.columns:
        if column.name in dated:
            if column.days is None:
                raise TableError(f"{source}: column {column.name!r} {_what(column)}; dates= cannot encode it.")
            columns.append(Column(column.name, numbers=column.days, remark="is a date or time, read as days"))
        elif column.name in indicated:
            found, indicators = _indicators(column, fixed.get(column.name), sheet, source)
            levels[column.name] = found
            remark = f"was encoded as {len(found)} indicator columns"
            columns += [replace(column, numbers=None, text=None, days=None, remark=remark, refusal=""), *indicators]
        else:
            columns.append(column)
    return Encoded(replace(sheet, columns=columns), levels, tuple(dated))


def _asked(request: Categories, found: list[str], sheet: Sheet, source: str, argument: str) -> set[str]:
    if isinstance(request, str):
        if request not in ("label", "encode"):
            raise TableError(f"{argument}={request!r} must be 'label', 'encode' or a list of names of columns.")
        return set(found) if request == "encode" else set()
    unknown = set(request) - {column.name for column in sheet.columns}
    if unknown:
        raise TableError(f"{source}: there is no column {min(unknown)!r}, which {argument}= names.")
    return set(request)


def _indicators(
    column: Column, fixed: Sequence[str] | None, sheet: Sheet, source: str
) -> tuple[tuple[str, ...], list[Column]]:
    if column.text is None:
        raise TableError(f"{source}: column {column.name!r} {_what(column)}; categories= cannot encode it.")
    cells = [cell.strip() for cell in column.text]
    found = sorted(set(cells) - ABSENT)
    levels = tuple(fixed if fixed is not None else found)
    if len(levels) > MOST_LEVELS:
        raise TableError(
            f"{source}: column {column.name!r} has {len(levels):,} different values, too many for a category "
            f"({MOST_LEVELS:,} at most). Keep it as a label: labels=[{column.name!r}]."
        )
    places = {level: at for at, level in enumerate(levels)}
    strange = set(found) - set(places)
    if strange:
        row = next(at for at, cell in enumerate(cells) if cell in strange)
        known = ", ".join(levels[:5]) + (", ..." if len(levels) > 5 else "")
        raise TableError(
            f"{source}: {sheet.place(row)}, column {column.name!r}: {shorten(cells[row])} is none of its categories, "
            f"{known}. Correct or drop that row."
        )
    check_size(8 * len(cells) * max(len(levels), 1), source, f"column {column.name!r} as {len(levels)} indicators")
    codes = np.array([places.get(cell, -1) for cell in cells])
    matrix = (codes[:, None] == np.arange(len(levels))).astype(np.float64)
    matrix[codes < 0] = np.nan
    named = [f"{column.name}={level}" for level in levels]
    return levels, [Column(name, numbers=matrix[:, at]) for at, name in enumerate(named)]


def _what(column: Column) -> str:
    return column.remark or "is numbers"
