"""What every chart says of itself, what it asks of an estimator, and what components, columns and rows are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gramian.estimators import base
from gramian.estimators.component_regression import ComponentRegressor
from gramian.registry import record_of
from gramian.results import Array, Book, Matrix, Sentence, percent

#: Columns from which on they are taken for channels of a spectrum, if they have an order.
SPECTRUM_MIN_COLUMNS = 20
#: Rows of a table: an array, a data frame or a sparse matrix.
Rows: TypeAlias = ArrayLike | Matrix

note = Book(
    {
        "last_gap": "the fit keeps no eigenvalue after the last one: the last gap is the one to the eigenvalue before",
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


def check_picks(components: Sequence[int], count: int, sizes: tuple[int, ...], noun: str = "component") -> list[int]:
    """Check which components are asked for, counted from 0."""
    picks = [int(at) for at in np.atleast_1d(np.asarray(components))]
    if len(picks) not in sizes:
        words = " or ".join(map(str, sizes))
        raise ValueError(f"components={components!r} names {len(picks)} of them; {words} are expected.")
    for at in picks:
        if not 0 <= at < count:
            raise NoChart(
                f"components={components!r}: there is no {noun} {at} (counted from 0; {count} were fitted). "
                "Choose others, or fit more."
            )
    return picks


def column_names(estimator: BaseEstimator, d: int, names: Sequence[object] | None = None) -> tuple[str, ...]:
    """Names of the columns: those given, as the fit saw them, or their numbers, from 0."""
    if names is not None and len(names) != d:
        raise ValueError(f"names has {len(names)} entries for {d} columns.")
    names = getattr(estimator, "feature_names_in_", None) if names is None else names
    return tuple(f"column {j}" for j in range(d)) if names is None else tuple(str(name) for name in names)


def row_names(X: Rows | None, n: int, names: Sequence[object] | None = None) -> tuple[str, ...] | None:
    """Names of the rows: those given, or the index of a data frame if that is text."""
    if names is not None and len(names) != n:
        raise ValueError(f"names has {len(names)} entries for {n} rows.")
    return index_names(X) if names is None else tuple(str(name) for name in names)


def index_names(X: object) -> tuple[str, ...] | None:
    """Names of the rows of a data frame whose index is text."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or len(index) == 0 or not isinstance(index[0], str):
        return None
    return tuple(str(name) for name in index)


def like(X: Any, rows: Array) -> Any:
    """Rows in the kind of table that X is, so that names of columns agree with those of the fit."""
    columns = getattr(X, "columns", None)
    return rows if columns is None else type(X)(dict(zip(columns, rows.T, strict=True)))


def one_target(y: ArrayLike | None, target: int) -> Array:
    """One column of the targets."""
    Y = np.asarray(y, dtype=np.float64)
    Y = Y.reshape(len(Y), -1)
    if not 0 <= target < Y.shape[1]:
        raise ValueError(f"target={target!r}: there are {Y.shape[1]} targets, counted from 0.")
    return Y[:, target]


def shares_of(estimator: BaseEstimator) -> Array | None:
    """Shares of the variance that the components hold, if they are known."""
    if isinstance(estimator, base.BaseEstimator):
        return estimator._component_shares()
    found = getattr(estimator, "explained_variance_ratio_", None)
    return None if found is None else np.asarray(found, dtype=np.float64)


def noun_of(estimator: object) -> str:
    """What a component is called."""
    record = record_of(estimator)
    return "component" if record is None else record.noun


def label_of(estimator: BaseEstimator, at: int) -> str:
    """Name of the axis of component ``at``, with what it holds.

    >>> from gramian import PCA
    >>> label_of(PCA(2).fit([[0.0, 1.0], [2.0, 0.0], [4.0, 1.5]]), 0)
    'component 1 (88.8 % of variance)'
    """
    name = f"{noun_of(estimator)} {at + 1}"
    correlations = getattr(estimator, "score_correlations_", None)
    if correlations is not None and hasattr(estimator, "correlations_"):
        return f"{name} (correlation {correlations[at]:.2f})"
    shares = shares_of(estimator)
    if shares is None:
        return name
    if isinstance(estimator, ComponentRegressor):
        return f"{name} ({percent(shares[at])} of X, {percent(estimator.y_explained_[at])} of y)"
    return f"{name} ({percent(shares[at])} of variance)"


def short_label(label: str) -> str:
    """The name of a component without what it holds.

    >>> short_label("factor 1 (31 % of variance)")
    'factor 1'
    """
    return label.partition(" (")[0]


def channels(names: Sequence[str]) -> tuple[Array | None, str]:
    """Places of columns that have an order, as wavelengths have, and what they are places of; else None and "column".

    Names that are the same but for one number that rises or falls are places, from 20 columns on.

    >>> places, label = channels([f"nm {at}" for at in range(400, 800, 20)])
    >>> places[:3], label
    (array([400., 420., 440.]), 'nm')
    >>> channels(["fat", "water"]), channels([str(at) for at in range(400, 800, 20)])[1]
    ((None, 'column'), 'column')
    """
    if len(names) < SPECTRUM_MIN_COLUMNS:
        return None, "column"
    parts = [re.fullmatch(r"(\D*?)(-?\d+(?:\.\d+)?)(\D*)", name) for name in names]
    known = [part for part in parts if part is not None]
    if len(known) < len(names) or len({(part[1], part[3]) for part in known}) > 1:
        return None, "column"
    places = np.array([float(part[2]) for part in known])
    steps = np.diff(places)
    if not ((steps > 0).all() or (steps < 0).all()):
        return None, "column"
    word = re.sub(r"[\d.]+", "", names[0]).strip(" _-:.")
    return places, word if len(word) > 1 else "column"
