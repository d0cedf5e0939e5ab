"""Names of columns: ranges and patterns, names that a model keeps; columns on very different scales."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian.operators import Data, Rows
from gramian.tables.table import Table, TableError


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
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
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


#: Standard deviations this many times apart are units that differ, not columns that matter more.
UNEVEN_RATIO = 1000


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
