"""What every chart says of itself, and what it asks of an estimator."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.labels import places
from gramian.results import Array, Book, Matrix, Sentence

#: Rows of a table: an array, a data frame or a sparse matrix.
Rows: TypeAlias = ArrayLike | Matrix

note = Book(
    {
        "last_gap": "the fit keeps no eigenvalue after the last one: how near that is, and so the angle, is not known",
        "largest_only": "the largest {shown} of {total:,}",
        "first_only": "the first {shown} of {total:,}",
        "folds": "{folds} folds",
        "jackknife": "intervals: jackknife, 95 %",
        "no_limit": "no limit: {why}",
        "drawn": "{shown:,} of {total:,} rows, drawn at random",
        "counted": "{total:,} rows, counted in cells",
        "medians": "the other {count} columns are held at their medians",
        "median": "the other column is held at its median",
        "not_centred": "rows were not centred: no random tables to compare with",
        "no_columns": "no columns to shuffle for a band",
        "wide": "no random tables: {columns:,} columns are more than {most:,}",
        "shuffled": "band: {count} shufflings of the rows of Y",
    }
)


@dataclass(frozen=True, kw_only=True)
class Chart:
    """Data of a picture with the words that belong to it.

    Examples
    --------
    >>> from gramian import charts
    >>> issubclass(charts.Scree, charts.Chart)
    True
    """

    title: str = ""  #: What the picture shows
    xlabel: str = ""  #: Names of the axes, with units or shares of variance
    ylabel: str = ""  #: Names of the axes, with units or shares of variance
    notes: tuple[Sentence, ...] = ()  #: What a reader should be told beside the picture


class NoChart(TypeError, ValueError):
    """What a chart raises where an estimator, or the rows, cannot give it; all else is a mistake of a caller.

    It is both a TypeError (of an estimator) and a ValueError (of rows), so that either may be caught.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> from gramian.charts import NoChart, reconstructions
    >>> try:
    ...     reconstructions(PCA(2).fit(load_iris().data), None)
    ... except NoChart as reason:
    ...     print(reason)
    the reconstructions chart needs rows. Give X=..., the rows to draw.
    """


def last_step(estimator: BaseEstimator, X: Rows | None = None) -> tuple[Any, Any]:
    """The fitted estimator at the end of a pipeline, and rows as they reach it."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "steps"):
        return estimator, X
    before = estimator[:-1]
    return estimator[-1], X if X is None or not len(before.steps) else before.transform(X)


def need_rows(X: Rows | None, chart: str, what: str = "X=..., the rows to draw") -> Any:
    """Refuse a chart of rows without rows."""
    if X is None:
        raise NoChart(f"the {chart} chart needs rows. Give {what}.")
    return X


def full_rows(X: Rows | None, chart: str) -> Array:
    """Rows as a plain array; sparse ones are refused, as filling them may take all memory."""
    if sp.issparse(need_rows(X, chart)):
        raise NoChart(f"the {chart} chart needs rows in full, not sparse ones. Give some of them: X[:100].toarray().")
    return np.asarray(X, dtype=np.float64)


def refuse(estimator: BaseEstimator, chart: str, remedy: str) -> NoChart:
    """An error for an estimator that cannot give a chart."""
    return NoChart(f"{type(estimator).__name__} gives no {chart} chart. {remedy}")


def picked(
    numbers: int | Sequence[int],
    count: int,
    sizes: Container[int] = (1,),
    noun: str = "component",
    argument: str = "components",
) -> list[int]:
    """Places of the components, columns, targets or rows that are asked for by their numbers, counted from one."""
    found = places(numbers, argument)
    if len(found) not in sizes:
        words = " or ".join(str(size) for size in range(1, max(count, 3) + 1) if size in sizes)
        raise ValueError(f"{argument}={numbers!r} names {len(found)} of them; {words} are expected.")
    if max(found) >= count:
        last = max(found) + 1
        raise NoChart(f"{argument}={numbers!r}: there is no {noun} {last}; the last is {count}. Choose others.")
    return found


def like(X: Any, rows: Array) -> Any:
    """Rows in the kind of table that X is, so that names of columns agree with those of the fit."""
    columns = getattr(X, "columns", None)
    return rows if columns is None else type(X)(dict(zip(columns, rows.T, strict=True)))


def one_target(y: ArrayLike | None, target: int) -> Array:
    """One column of the targets, which are counted from one."""
    Y = np.asarray(y, dtype=np.float64)
    Y = Y.reshape(len(Y), -1)
    (at,) = picked(target, Y.shape[1], noun="target", argument="target")
    return Y[:, at]
