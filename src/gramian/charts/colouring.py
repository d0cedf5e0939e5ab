"""Rows coloured by a column: a few groups, or numbers on a scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.results import Array

#: More groups than this are row names rather than groups, and get no colours.
MOST_GROUPS = 30
#: Whole numbers of so many values at the most are groups; more are a scale.
MOST_WHOLE = 12


@dataclass(frozen=True)
class Colouring:
    """What rows are coloured by.

    Attributes
    ----------
    name : str
        Name of the column; empty if it has none.
    groups : tuple of str
        Names of the groups; empty if rows are not in groups.
    codes : (n,) array of int or None
        Group of each row.
    values : (n,) array of float or None
        Number of each row, on a scale; NaN where it is missing.

    Examples
    --------
    >>> Colouring(groups=("a", "b"), codes=np.array([0, 1, 0])).of([2]).codes
    array([0])
    """

    name: str = ""
    groups: tuple[str, ...] = ()
    codes: Array | None = None
    values: Array | None = None

    def of(self, rows: Any) -> Colouring:
        """The same for some of the rows."""
        pick = lambda part: None if part is None else part[rows]  # noqa: E731
        return Colouring(self.name, self.groups, pick(self.codes), pick(self.values))


def colouring(column: Any, n: int, name: str = "") -> Colouring:
    """Decide whether a column holds groups or numbers.

    Parameters
    ----------
    column : (n,) array, Series or None
        Text, booleans, and whole numbers of at most 12 values are groups; other numbers are a scale. Text of more than
        30 values names rows and gives no colours.
    n : int
        Number of rows.
    name : str
        Name of the column; that of a Series if not given.

    Examples
    --------
    >>> colouring(["b", "a", "b"], 3).groups
    ('a', 'b')
    >>> colouring([0.5, 0.25, 1.5], 3).values
    array([0.5 , 0.25, 1.5 ])
    """
    if column is None:
        return Colouring()
    name = name or str(getattr(column, "name", None) or "")
    values = np.asarray(column)
    if values.shape != (n,):
        raise ValueError(f"colour has shape {values.shape}; one value for each of the {n} rows is expected.")
    if values.dtype.kind in "iuf" and not _whole_and_few(values):
        return Colouring(name, values=values.astype(np.float64))
    if values.dtype.kind in "iuf":
        kinds, codes = np.unique(values, return_inverse=True)
        texts = [f"{kind:g}" for kind in kinds]
    else:
        kinds, codes = np.unique(values.astype(str), return_inverse=True)
        texts = [str(kind) for kind in kinds]
    return Colouring(name, tuple(texts), codes.reshape(-1)) if len(texts) <= MOST_GROUPS else Colouring()


def _whole_and_few(values: Array) -> bool:
    if not np.isfinite(values).all():
        return False
    return bool((values == np.round(values)).all()) and len(np.unique(values)) <= MOST_WHOLE
