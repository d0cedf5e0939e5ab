"""From a sheet of columns to a table: columns by name, features, labels, ids, categories, dates, what is missing."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from gramian.adequacy import UNEVEN_RATIO, uneven_scales
from gramian.construction import steps_of
from gramian.operators import Data, Rows
from gramian.results import Array, percent, plural
from gramian.tables.numerals import ABSENT, shorten
from gramian.tables.table import Column, Kind, Sheet, Table, TableError, check_size, say_doubts


def find_columns(known: Sequence[str], wanted: Sequence[str], source: str = "the table") -> list[str]:
    """Return the names of the columns that are meant, in the order asked for.

    A name means itself. ``"a:b"`` means all columns from a to b, ``"a:"`` and ``":b"`` all from and up to one;
    ``*``, ``?`` and ``[...]`` stand for characters as in a shell. A name that holds such a sign wins over what the sign
    would mean.

    Parameters
    ----------
    known : sequence of str
        Names of all columns, in their order.
    wanted : sequence of str
        Names, ranges and patterns.
    source : str
        What to call the table in a message.

    Returns
    -------
    list of str
        Each column once.

    Examples
    --------
    >>> find_columns(["fat", "x_1", "x_2", "y"], ["x_*", "fat"])
    ['x_1', 'x_2', 'fat']
    >>> find_columns(["fat", "x_1", "x_2", "y"], ["x_1:y"])
    ['x_1', 'x_2', 'y']
    """
    if isinstance(wanted, str):
        raise TypeError(f"columns={wanted!r} must be a list of names, such as [{wanted!r}].")
    places = {name: at for at, name in enumerate(known)}
    found: dict[str, None] = {}
    for word in wanted:
        found.update(dict.fromkeys(_meant(word, known, places, source)))
    return list(found)


def split_names(
    known: Sequence[str], x_columns: Sequence[str] | None, y_columns: Sequence[str] | None, source: str
) -> tuple[list[str], list[str]]:
    """Columns of two views; one that names none has those that the other has not."""
    x, y = (None if names is None else find_columns(known, names, source) for names in (x_columns, y_columns))
    x = [name for name in known if name not in set(y or ())] if x is None else x
    y = [name for name in known if name not in set(x)] if y is None else y
    both = [name for name in x if name in set(y)]
    if both:
        told = f"column {both[0]!r} is in both views ({len(both)} columns are)"
        raise TableError(f"{source}: {told}. Choose one of them.")
    if not x or not y:
        told = f"the view {'y' if x else 'x'} has no columns"
        raise TableError(f"{source}: {told}. Leave some of the {len(known)} for it.")
    return x, y


def is_pattern(word: str) -> bool:
    """Whether a word may mean several columns."""
    return ":" in word or re.search(r"[*?\[]", word) is not None


def _meant(word: str, known: Sequence[str], places: dict[str, int], source: str) -> list[str]:
    if word in places:
        return [word]
    # A name may itself have a colon, so every one of them may be the one between two names.
    for split in (found.start() for found in re.finditer(":", word)):
        low, high = word[:split], word[split + 1 :]
        if (low in places or not low) and (high in places or not high) and (low or high):
            start, stop = places[low] if low else 0, places[high] if high else len(known) - 1
            if start > stop:
                raise TableError(f"{source}: {low!r} comes after {high!r}, so {word!r} is empty. Swap the two names.")
            return list(known[start : stop + 1])
    if re.search(r"[*?\[]", word):
        found = fnmatch.filter(known, word) if len(word) < 1000 else []
        # On some systems that filter ignores case; names of columns do not.
        exact = [name for name in found if fnmatch.fnmatchcase(name, word)]
        if exact:
            return exact
        raise TableError(f"{source}: no column fits {word!r}. {_first(known)}")
    near = difflib.get_close_matches(word, known[:1000], n=1)
    hint = f"Did you mean {near[0]!r}?" if near else _first(known)
    raise TableError(f"{source}: there is no column {word!r}. {hint}")


def _first(known: Sequence[str]) -> str:
    return f"The first columns are: {', '.join(known[:5])}."


#: More values than this are names of rows, no category.
MAX_LEVELS = 1000

Categories = str | Sequence[str] | Mapping[str, Sequence[str]]


def _encode(
    columns: list[Column], sheet: Sheet, source: str, roles: Roles
) -> tuple[list[Column], dict[str, tuple[str, ...]], tuple[str, ...]]:
    """Columns with those that encoding adds, levels of the categories, names of the dates; labels are spared."""
    texts = [c.name for c in columns if c.text is not None and c.days is None and c.name not in roles.labels]
    times = [c.name for c in columns if c.days is not None and c.name not in roles.labels]
    fixed = roles.categories if isinstance(roles.categories, Mapping) else {}
    known = {column.name for column in columns}
    indicated = _asked(roles.categories, texts, known, source, "categories")
    dated = _asked(roles.dates, times, known, source, "dates")
    found: list[Column] = []
    levels: dict[str, tuple[str, ...]] = {}
    for column in columns:
        if column.name in dated:
            if column.days is None:
                raise TableError(f"{source}: column {column.name!r} {_what(column)}; dates= cannot encode it.")
            found.append(Column(column.name, numbers=column.days, remark="is a date or time, read as days"))
        elif column.name in indicated:
            levels[column.name], indicators = _indicators(column, fixed.get(column.name), sheet, source)
            remark = f"was encoded as {len(indicators)} indicator columns"
            found += [replace(column, numbers=None, text=None, days=None, remark=remark, refusal=""), *indicators]
        else:
            found.append(column)
    return found, levels, tuple(dated)


def _asked(request: Categories, found: list[str], known: set[str], source: str, argument: str) -> set[str]:
    if isinstance(request, str):
        if request not in ("label", "encode"):
            raise TableError(f"{argument}={request!r} must be 'label', 'encode' or a list of names of columns.")
        return set(found) if request == "encode" else set()
    unknown = set(request) - known
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
    if len(levels) > MAX_LEVELS:
        raise TableError(
            f"{source}: column {column.name!r} has {len(levels):,} different values, too many for a category "
            f"({MAX_LEVELS:,} at most). Keep it as a label: labels=[{column.name!r}]."
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


MISSING_RULES = ("refuse", "drop", "keep", "as found")
#: A rule of our own: keep gaps and say nothing of them, since their rows will be dropped.
DROP_LATER = "drop later"


def _treat_gaps(table: Table, sheet: Sheet, rule: str) -> Table:
    values, source = table.values, table.source
    bad = ~np.isfinite(values)
    if rule == "as found" or not bad.any():
        return table
    gaps = np.isnan(values)
    fault = bad if rule == "refuse" else bad & ~gaps
    if fault.any():
        row, at = np.argwhere(fault)[0]
        what, remedy = "infinite", "Correct them, take those rows out, or choose other columns."
        if gaps[row, at]:
            what, remedy = "missing", "Fill them, drop those rows (missing='drop'), or choose other columns."
            fault = gaps
        raise TableError(
            f"{source}: {sheet.place(row)}, column {table.columns[at]!r}: the value is {what} "
            f"({plural(int(fault.sum()), 'such value')} in all). {remedy}"
        )
    counts = gaps.sum(axis=0)
    most = sorted(np.flatnonzero(counts), key=lambda at: -counts[at])
    where = ", ".join(f"{table.columns[at]!r} ({counts[at]:,})" for at in most[:3]) + (", ..." if len(most) > 3 else "")
    if rule == "keep":
        told = f"{plural(int(counts.sum()), 'value')} missing, kept as such: {where}"
        return replace(table, dropped=(*table.dropped, told))
    if rule == DROP_LATER:
        return table
    none = (
        f"{source}: every row misses a value, most often in {where}. Choose other columns, or keep gaps "
        "(missing='keep') for an estimator that takes them."
    )
    found = without_rows(table, gaps.any(axis=1), f" in {where}", none)
    if 2 * len(found.values) < len(values):
        say_doubts((), found.dropped[-1:], source)
    return found


def without_rows(table: Table, gaps: ArrayLike, where: str, none: str) -> Table:
    """Drop the rows that have gaps, and say where; ``none`` says what is refused if all have."""
    gaps = np.asarray(gaps)
    if not gaps.any():
        return table
    if gaps.all():
        raise TableError(none)
    lost = int(gaps.sum())
    told = f"{lost:,} of {len(gaps):,} rows {'was' if lost == 1 else 'were'} dropped: values are missing{where}"
    return replace(take_rows(table, np.flatnonzero(~gaps)), dropped=(*table.dropped, told))


def take_rows(table: Table, rows: Array) -> Table:
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


#: Rows that are copied at a time, so that what is copied is in the cache.
COPIED_ROWS = 2048
#: So many columns with the same remark are named one by one.
NAMED_ONE_BY_ONE = 10


@dataclass(frozen=True)
class Roles:
    """What the caller wants of which column."""

    columns: Sequence[str] | None = None
    labels: Sequence[str] = ()
    ids: str | None = None
    missing: str = "refuse"
    categories: Categories = "label"
    dates: str | Sequence[str] = "label"

    def __post_init__(self) -> None:
        for name, names in (("columns", self.columns), ("labels", self.labels)):
            if isinstance(names, str):
                raise TypeError(f"{name}={names!r} must be a list of names, such as [{names!r}].")
        if self.missing not in (*MISSING_RULES, DROP_LATER):
            raise ValueError(f"missing={self.missing!r} must be one of: {', '.join(MISSING_RULES)}.")

    @property
    def as_text(self) -> frozenset[str]:
        """Columns that are wanted as the text that stands in the file."""
        categories = () if isinstance(self.categories, str) else self.categories
        return frozenset((*self.labels, *categories, *((self.ids,) if self.ids else ())))


def make_table(sheet: Sheet, source: str, roles: Roles) -> Table:
    """Sort columns into features, labels and ids, and refuse what no estimator could use."""
    columns = named_columns(sheet, source)
    _check_names(columns, source)
    ids, columns = _take_ids(columns, roles, sheet, source)
    columns = _as_labels(columns, roles, source)
    if roles.columns is None:  # those who name columns know what they leave out
        say_doubts(columns, sheet.doubts if roles.missing != "refuse" else (), source)
    columns, levels, dates = _encode(columns, sheet, source, roles)
    _check_names(columns, source)
    features = _features(columns, roles, source)
    table = Table(
        values=stack(features, sheet.rows),
        columns=tuple(column.name for column in features),
        labels={column.name: column.text for column in columns if column.text is not None},
        dropped=(*sheet.remarks, *_remarks(columns, features)),
        source=source,
        row_ids=ids,
        ids=roles.ids or "",
        levels=levels,
        dates=dates,
    )
    return _treat_gaps(table, sheet, roles.missing)


def choose(columns: list[Column], wanted: Sequence[str] | None, source: str) -> list[Column]:
    """Features among the columns of a file whose rows are yet to be read."""
    _check_names(columns, source)
    return _features(columns, Roles(wanted), source)


def named_columns(sheet: Sheet, source: str) -> list[Column]:
    """Columns of a sheet that has rows, each with a name."""
    if sheet.rows == 0:
        raise TableError(f"{source}: there are no rows below the column names.")
    return [_named(column, at) for at, column in enumerate(sheet.columns)]


def _named(column: Column, at: int) -> Column:
    """Name a column that has no name; one that counts the rows is an index that a data frame wrote, no feature."""
    if column.name:
        return column
    numbers = column.numbers
    for first, kind in enumerate((Kind.COUNTS_FROM_0, Kind.COUNTS_FROM_1)):
        counts = numbers is not None and np.array_equal(numbers, np.arange(len(numbers)) + first)
        if counts and column.kind is Kind.PLAIN:
            remark = "only counts the rows, kept as a label"
            return Column("row", text=_as_text(column), remark=remark, kind=kind)
    return replace(column, name=f"x{at}")


def _check_names(columns: list[Column], source: str) -> None:
    seen: dict[str, int] = {}
    for at, column in enumerate(columns, start=1):
        first = seen.setdefault(column.name, at)
        if first != at:
            raise TableError(f"{source}: columns {first} and {at} are both named {column.name!r}. Rename one of them.")


def _as_text(column: Column) -> list[str] | None:
    if column.text is not None or column.numbers is None:
        return column.text
    return ["" if number != number else _digits(number) for number in column.numbers.tolist()]


def _digits(number: float) -> str:
    return f"{number:.0f}" if number % 1 == 0 else repr(number)


def _take_ids(
    columns: list[Column], roles: Roles, sheet: Sheet, source: str
) -> tuple[tuple[str, ...] | None, list[Column]]:
    if not roles.ids:
        return None, columns
    find_columns([column.name for column in columns], [roles.ids], source)
    column = next((column for column in columns if column.name == roles.ids), None)
    text = _as_text(column) if column else None
    if column is None or text is None:
        raise TableError(f"{source}: ids={roles.ids!r} must name one column that has text or numbers.")
    seen: dict[str, int] = {}
    for row, cell in enumerate(text):
        first = seen.setdefault(cell, row)
        if not cell or first != row:
            what = f"the id {cell!r} is also that of {sheet.place(first)}" if cell else "the id is missing"
            raise TableError(
                f"{source}: {sheet.place(row)}, column {roles.ids!r}: {what}. Give every row its own id, "
                f"or use labels=[{roles.ids!r}]."
            )
    return tuple(text), [other for other in columns if other is not column]


def _as_labels(columns: list[Column], roles: Roles, source: str) -> list[Column]:
    """Make labels of the columns named so; categories named one by one are text as well."""
    known = [column.name for column in columns]
    wanted = set(find_columns(known, roles.labels, source)) | (roles.as_text - {roles.ids, *roles.labels})
    out = []
    for column in columns:
        if column.name in wanted:
            text = _as_text(column)
            if text is None:
                raise TableError(f"{source}: column {column.name!r} {column.remark}; it cannot be a label.")
            column = Column(column.name, text=text, remark="is kept as a label, as asked")
        out.append(column)
    return out


def _features(columns: list[Column], roles: Roles, source: str) -> list[Column]:
    numeric = [column for column in columns if column.numbers is not None]
    if roles.columns is None:
        refused = next((column for column in columns if column.refusal), None)
        if refused is not None:
            raise TableError(f"{source}: {refused.refusal}; labels=[{refused.name!r}] keeps the column as text.")
        if not numeric:
            raise TableError(
                f"{source}: there is no numeric column among {len(columns)}. If columns are split at another sign than "
                "tab, semicolon or comma, say separator=; categories='encode' makes numbers of text."
            )
        return numeric
    if not roles.columns and roles.labels:  # a table of labels alone
        return []
    known = {column.name: column for column in columns}
    chosen = []
    for word in roles.columns:
        found = find_columns([*known], [word], source)
        usable = [name for name in found if known[name].numbers is not None]
        if not usable or (not is_pattern(word) and len(usable) < len(found)):
            column = known[found[0]]
            reason = f"column {column.name!r} {column.remark}; it cannot be a feature"
            if column.days is not None:
                reason += f" unless dates=[{column.name!r}] makes days of it"
            elif column.text is not None:
                reason += f" unless categories=[{column.name!r}] encodes it"
            raise TableError(f"{source}: {column.refusal or reason}.")
        chosen += usable if not is_pattern(word) or word in known else [name for name in usable if name not in chosen]
    if not chosen or len(set(chosen)) < len(chosen):
        raise TableError(f"{source}: choose at least one column, and none twice; got {', '.join(chosen) or 'none'}.")
    return [known[name] for name in chosen]


def _remarks(columns: list[Column], features: list[Column]) -> list[str]:
    remarks = []
    for remark, group in groupby((column for column in columns if column.remark), key=lambda column: column.remark):
        names = [repr(column.name) for column in group]
        if len(names) > NAMED_ONE_BY_ONE:
            remarks.append(f"{len(names):,} columns, {names[0]} to {names[-1]}: each {remark}")
        else:
            remarks += [f"column {name} {remark}" for name in names]
    numeric = sum(column.numbers is not None for column in columns)
    if len(features) < numeric:
        remarks.append(f"{numeric - len(features)} of {numeric} numeric columns were not chosen")
    return remarks


def stack(features: list[Column], rows: int) -> Array:
    """Columns of numbers beside each other, row by row in memory."""
    numbers = [column.numbers for column in features]
    beside = _beside(numbers, rows)
    if beside is not None:
        return beside
    values = np.empty((rows, len(features)))
    for start in range(0, rows, COPIED_ROWS):
        tile = slice(start, start + COPIED_ROWS)
        for at, column in enumerate(numbers):
            values[tile, at] = column[tile]  # type: ignore[index]
    return values


def _beside(numbers: list[Array | None], rows: int) -> Array | None:
    """Return the table that these are all columns of, in its order, as some readers make them."""
    table = None if not numbers or numbers[0] is None else numbers[0].base
    if not isinstance(table, np.ndarray) or table.shape != (rows, len(numbers)) or not table.flags.c_contiguous:
        return None
    start, step = table.ctypes.data, table.itemsize
    for at, column in enumerate(numbers):
        if column is None or column.base is not table or column.ctypes.data != start + at * step:
            return None
        if column.strides != table.strides[:1]:
            return None
    return table


def named(
    model: BaseEstimator, table: Table | Rows | Sequence[str], y: Table | Rows | str | Sequence[str] | None = None
) -> BaseEstimator:
    """Let a fitted model know the names of its columns, as ``gramian fit`` does before it saves one.

    A model that knows them finds its columns in other tables by name, in any order.

    Parameters
    ----------
    model : fitted estimator or pipeline
        The names are put where scikit-learn puts those of a data frame, ``feature_names_in_``.
    table : Table or stream of rows
        What X was taken from.
    y : Table, stream, str or sequence of str, optional
        What the targets or the second view were taken from, or their names.

    Returns
    -------
    estimator
        The same model.

    Examples
    --------
    >>> from gramian import PCA
    >>> from gramian.tables import as_table
    >>> table = as_table({"length": [5.1, 4.0, 4.6], "width": [3.5, 3.0, 3.4]})
    >>> named(PCA(1).fit(table.values), table).feature_names_in_.tolist()
    ['length', 'width']
    """
    steps = steps_of(model)
    steps[0].feature_names_in_ = np.array(_names_of(table), dtype=object)
    notes: dict[str, Any] = {
        "target_names_in_": np.array(_names_of(y), dtype=object),
        "categories_in_": dict(getattr(table, "levels", {})),
        "dates_in_": list(getattr(table, "dates", [])),
    }
    vars(steps[-1]).update({name: value for name, value in notes.items() if len(value)})
    return model


def _names_of(of: Table | Rows | str | Sequence[str] | None) -> Sequence[str]:
    if of is None or isinstance(of, str):
        return [] if of is None else [of]
    if isinstance(of, Rows):
        return list(of.names)  # columns of a stream that have no names are numbered
    return list(of.columns if isinstance(of, Table) else getattr(of, "columns", of))


def uneven_columns(table: Table, factor: float = UNEVEN_RATIO) -> str:
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
    found = uneven_scales(deviations[varying], factor)
    if found is None:
        return ""
    low, high = (table.columns[varying[at]] for at in (found.low, found.high))
    if found.share is not None:
        share = percent(found.share)
        return (
            f"{high!r} has {share} of the variance of all {len(varying):,} columns, so it decides the first component"
        )
    return (
        f"standard deviations of columns differ by a factor of {found.ratio:,.0f} (from {low!r} to {high!r}), so the "
        "largest decide the result"
    )
