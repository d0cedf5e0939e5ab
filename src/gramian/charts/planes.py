"""Functions over the plane of two columns: components as contours, classes as regions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_regressor
from sklearn.utils.validation import check_is_fitted

from gramian.charts.base import Chart, NoChart, Rows, full_rows, last_step, like, need_rows, note, picked, refuse
from gramian.charts.names import label_of, noun_of
from gramian.charts.points import POINTS_MAX_ROWS, Points, colouring, thin
from gramian.estimators.labels import column_names, component_names, places
from gramian.registry import record_of
from gramian.results import Array

__all__ = ["Contours", "Regions", "contours", "regions"]

#: Points of the grid along an axis.
GRID_POINTS = 150


@dataclass(frozen=True, kw_only=True)
class Contours(Chart):
    """Scores of components over the plane."""

    x: Array  #: (a,): the grid
    y: Array  #: (b,): the grid
    values: Array  #: (m, b, a): scores of the components shown
    labels: tuple[str, ...]  #: Names of the components, with their shares
    points: Points  #: The rows


@dataclass(frozen=True, kw_only=True)
class Regions(Chart):
    """Classes over the plane."""

    x: Array  #: (a,): the grid
    y: Array  #: (b,): the grid
    codes: Array  #: (b, a): class at each point of the grid
    classes: tuple[str, ...]
    #: (b, a): decision function of a classifier of two classes: zero at the border, one at the margin
    decision: Array | None
    points: Points  #: The rows, coloured by their classes
    support: Array | None = None  #: (s, 2): support vectors


def contours(
    estimator: BaseEstimator,
    X: Rows | None = None,
    *,
    components: Sequence[int] | None = None,
    columns: Sequence[int] = (1, 2),
    colour: ArrayLike | None = None,
    grid: int = GRID_POINTS,
    many: int = POINTS_MAX_ROWS,
) -> Contours:
    """Return scores of components over the plane of two columns (:class:`Contours`).

    Parameters
    ----------
    estimator : fitted estimator
        With ``transform``; kernel PCA is meant.
    X : (n, d) array or data frame
        Rows, which set the frame. Columns that are not drawn are held at their medians.
    components : ints, optional
        Which, counted from 1; the first six by default.
    columns : two ints
        Columns of the plane, counted from 1.
    colour : (n,) array, optional
        A column to colour the rows by.
    grid : int
        Points of the grid along an axis.
    many : int
        Rows from which on cells of a density stand for points.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from gramian import KernelPCA, charts
    >>> X, _ = make_moons(100, noise=0.05, random_state=0)
    >>> charts.contours(KernelPCA(2, kernel="rbf(sigma=0.5)").fit(X), X).xlabel
    'column 1'
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "transform"):
        raise refuse(estimator, "contours", "It has no transform; for classes use charts.regions.")
    rows, fields = _plane("contours", estimator, X, columns, colour, grid, many)
    T = np.asarray(estimator.transform(rows))
    model, _ = last_step(estimator)
    count = T.shape[1]
    asked = range(1, min(6, count) + 1) if components is None else components
    picks = picked(asked, count, range(1, count + 1), noun_of(model))
    values = np.stack([T[:, at].reshape(grid, grid) for at in picks]).astype(np.float64)
    labels = tuple(label_of(model, at) for at in picks)
    return Contours(title="Components over the plane", **fields, values=values, labels=labels)


def regions(
    estimator: BaseEstimator,
    X: Rows | None = None,
    y: ArrayLike | None = None,
    *,
    columns: Sequence[int] = (1, 2),
    grid: int = GRID_POINTS,
    many: int = POINTS_MAX_ROWS,
) -> Regions:
    """Return the class that a classifier, or clustering, gives points of the plane of two columns (:class:`Regions`).

    Parameters
    ----------
    estimator : fitted classifier or clustering
        With ``predict``; support vectors are marked if it has them.
    X : (n, d) array or data frame
        The rows of the fit, which set the frame. Columns that are not drawn are held at their medians.
    y : (n,) array, optional
        Classes of the rows; what the estimator predicts if not given.
    columns, grid, many
        As for :func:`contours`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from gramian import KernelSVC, charts
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> charts.regions(KernelSVC(10, kernel="rbf(sigma=0.5)").fit(X, y), X, y).support.shape[1]
    2
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "predict") or is_regressor(estimator) or hasattr(estimator, "correlations_"):
        remedy = "It predicts no classes; use a classifier, a clustering, or charts.predicted."
        raise refuse(estimator, "regions", remedy)
    need_rows(X, "regions")
    labels = _classes(estimator, X) if y is None else np.asarray(y)
    rows, fields = _plane("regions", estimator, X, columns, labels.astype(str), grid, many)
    classes = [str(name) for name in getattr(estimator, "classes_", np.unique(labels))]
    guesses = _classes(estimator, rows)
    code = {name: at for at, name in enumerate(dict.fromkeys([*classes, *np.unique(guesses)]))}
    decision = None
    if len(classes) == 2 and hasattr(estimator, "decision_function"):
        decision = np.asarray(estimator.decision_function(rows), dtype=np.float64).reshape(grid, grid)
    model, _ = last_step(estimator)
    support = getattr(model, "support_", None)
    table = np.asarray(X, dtype=np.float64)[:, places(columns, "columns")]
    fits = support is not None and len(support) and support.max() < len(table)
    return Regions(
        title=f"Regions of {type(model).__name__}",
        **fields,
        codes=np.array([code[guess] for guess in guesses]).reshape(grid, grid),
        classes=tuple(code),
        decision=decision,
        support=table[support] if fits else None,
    )


def _classes(estimator: BaseEstimator, X: Any) -> Array:
    """What is predicted of rows, as text: classes, or clusters by their names, which count from one."""
    found, (model, _) = np.asarray(estimator.predict(X)), last_step(estimator)
    record = record_of(model)
    if record is None or not record.clusters:
        return found.astype(str)
    return np.array(component_names(model, model._n_features_out))[found]


def _plane(
    of: str, model: BaseEstimator, X: Rows | None, pair: Sequence[int], colour: ArrayLike | None, grid: int, many: int
) -> tuple[Any, dict[str, Any]]:
    """Rows of the grid, and what both charts say of it."""
    table = full_rows(X, of)
    if table.ndim != 2 or table.shape[1] < 2:
        raise NoChart(f"X has shape {table.shape}; the {of} chart needs at least two columns.")
    i, j = picked(pair, table.shape[1], (2,), "column", "columns")
    ends = [(table[:, at].min(), table[:, at].max()) for at in (i, j)]
    x, y = (np.linspace(low - 0.08 * (high - low), high + 0.08 * (high - low), grid) for low, high in ends)
    rows = np.tile(np.median(table, axis=0), (grid * grid, 1))
    rows[:, i], rows[:, j] = np.tile(x, grid), np.repeat(y, grid)
    names = column_names(model, table.shape[1])
    points = thin(table[:, [i, j]], colouring(colour, len(table)), many)
    others, notes = table.shape[1] - 2, points.notes
    if others:
        notes += (note("median") if others == 1 else note("medians", count=others),)
    fields = {"xlabel": names[i], "ylabel": names[j], "x": x, "y": y, "points": points, "notes": notes}
    return like(X, rows), fields
