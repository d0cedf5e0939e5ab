"""The columns that a regression on components rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.charts.base import Chart, column_names, last_step, refuse, row_names
from gramian.charts.labels import position_label, positions_of
from gramian.charts.notes import note
from gramian.estimators.regression import ComponentRegressor
from gramian.estimators.validation import check_choice
from gramian.results import Array


@dataclass(frozen=True, kw_only=True)
class Importance(Chart):
    """What a regression rests on: a number for each column.

    Attributes
    ----------
    kind : {"vip", "coefficients", "selectivity"}
    values : (d,) array
    columns : tuple of str
    positions : (d,) array or None
        Places of columns that have an order, as wavelengths have.
    low, high : (d,) arrays or None
        Jackknife intervals of 95 %.
    limit : float or None
        Above it a column counts as important.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gramian import PLSRegression, charts
    >>> chart = charts.importance(PLSRegression(2).fit(*load_diabetes(return_X_y=True)))
    >>> round(float((chart.values**2).mean()), 6), chart.limit
    (1.0, 1.0)
    """

    kind: str
    values: Array
    columns: tuple[str, ...]
    positions: Array | None = None
    low: Array | None = None
    high: Array | None = None
    limit: float | None = None


def importance(estimator: Any, *, kind: str = "vip", target: int = 0, names: Sequence[str] | None = None) -> Importance:
    """Return importance in the projection (VIP), coefficients, or selectivity ratios of the columns.

    Parameters
    ----------
    estimator : fitted PLSRegression or PrincipalComponentRegression
        Coefficients have intervals if it was fitted with ``n_components="auto"``.
    kind : {"vip", "coefficients", "selectivity"}
    target : int
        Which target, counted from 0.
    names : sequence of str, optional
        Names of the columns.

    Returns
    -------
    Importance

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gramian import PLSRegression, charts
    >>> model = PLSRegression("auto").fit(*load_diabetes(return_X_y=True))
    >>> chart = charts.importance(model, kind="coefficients")
    >>> bool((chart.low <= chart.values).all())
    True
    """
    check_choice("kind", kind, ("vip", "coefficients", "selectivity"))
    model, _ = last_step(estimator)
    if not isinstance(model, ComponentRegressor):
        raise refuse(model, "importance", "Use PLSRegression or PrincipalComponentRegression.")
    coef = np.atleast_2d(model.coef_)
    if not 0 <= target < len(coef):
        raise ValueError(f"target={target!r}: there are {len(coef)} targets, counted from 0.")
    columns = column_names(model, coef.shape[1]) if names is None else row_names(None, coef.shape[1], names)
    assert columns is not None
    values = {"vip": model.vip_, "coefficients": coef[target], "selectivity": model.selectivity_ratio_[target]}[kind]
    places = positions_of(columns)
    words = {"vip": "VIP", "coefficients": "coefficient", "selectivity": "selectivity ratio"}
    low = high = None
    if kind == "coefficients" and model.path_ is not None:
        found = model.path_.jackknife(model.n_components_)
        low, high = found.lower[target], found.upper[target]
    return Importance(
        title={"vip": "Importance in the projection", "coefficients": "Coefficients"}.get(kind, "Selectivity"),
        xlabel=position_label(columns) if places is not None else "column",
        ylabel=words[kind],
        notes=(note("jackknife"),) if low is not None else (),
        kind=kind,
        values=np.asarray(values, dtype=np.float64),
        columns=columns,
        positions=places,
        low=low,
        high=high,
        limit=1.0 if kind == "vip" else None,
    )
