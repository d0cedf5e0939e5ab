"""Predictions against measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.charts.base import Chart, NoChart, last_step, need_rows, one_target, refuse, row_names
from gramian.charts.colouring import colouring
from gramian.charts.points import MANY, Points, thin
from gramian.estimators import KernelRidge
from gramian.estimators.fitted_rows import role
from gramian.estimators.merit import Merit, merit
from gramian.estimators.regression import ComponentRegressor
from gramian.results import Array

#: What the title adds for each kind of rows.
TITLES = {"": "", "fit": ", rows of the fit", "left out": ", rows left out", "new": ", new rows"}


@dataclass(frozen=True, kw_only=True)
class Predicted(Chart):
    """Predictions against measurements.

    Attributes
    ----------
    points : Points
        Measured and predicted value of each row.
    merit : Merit
        Figures of merit (RMSE, bias, SEP, R2, RPD).
    low, high : float
        Ends of both axes.
    names : tuple of str or None
        Names of all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gramian import PLSRegression, charts
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(charts.predicted(PLSRegression(2).fit(X, y), X, y).merit.r2, 3)
    0.508
    """

    points: Points
    merit: Merit
    low: float
    high: float
    names: tuple[str, ...] | None = None


def predicted(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    target: int = 0,
    left_out: bool = False,
    colour: Any = None,
    names: Sequence[Any] | None = None,
    unit: str = "",
    many: int = MANY,
) -> Predicted:
    """Return predictions of a target against its measured values.

    Parameters
    ----------
    estimator : fitted regressor
    X : (n, d) array, data frame or sparse matrix
        Rows.
    y : (n,) or (n, q) array
        Measured values.
    target : int
        Which target, counted from 0.
    left_out : bool
        Predict each row from a fit that has not seen it: by cross-validation for regressions on components, in closed
        form for kernel ridge (X and y must be those of the fit).
    colour, names, many
        As for :func:`gramian.charts.scores`.
    unit : str
        Unit of the target, for the axes.

    Returns
    -------
    Predicted

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gramian import PLSRegression, charts
    >>> X, y = load_diabetes(return_X_y=True)
    >>> charts.predicted(PLSRegression(2).fit(X, y), X, y, left_out=True).ylabel
    'predicted, row left out'
    """
    check_is_fitted(estimator)
    if not hasattr(estimator, "predict") or hasattr(estimator, "classes_"):
        raise refuse(estimator, "predicted", "Use a regressor; for classes charts.regions.")
    need_rows(X if y is not None else None, "predicted", "X=... and y=...")
    measured = one_target(y, target)
    guesses = _left_out(estimator, X, y, target) if left_out else one_target(estimator.predict(X), target)
    if len(guesses) != len(measured):
        raise ValueError(f"y has {len(measured)} rows and X has {len(guesses)}. Give one y for each row of X.")
    return from_values(
        measured,
        guesses,
        rows="left out" if left_out else role(estimator, X),
        colour=colour,
        names=row_names(X, len(measured), names),
        unit=unit,
        many=many,
    )


def from_values(
    measured: Any,
    guesses: Any,
    *,
    rows: str = "",
    colour: Any = None,
    names: Sequence[Any] | None = None,
    unit: str = "",
    many: int = MANY,
) -> Predicted:
    """Return the same chart for predictions that are there already; ``rows`` is "fit", "left out" or "new", if known.

    >>> from_values([1.0, 2.0, 3.0], [1.1, 2.1, 3.1]).merit.n
    3
    """
    measured, guesses = (np.asarray(part, dtype=np.float64) for part in (measured, guesses))
    known = np.isfinite(guesses) & np.isfinite(measured)
    colours = colouring(colour, len(measured)).of(np.flatnonzero(known))
    points = thin(np.column_stack([measured, guesses])[known], colours, many)
    ends = np.concatenate([measured[known], guesses[known]])
    reach = 0.04 * (np.ptp(ends) or 1.0)
    suffix = f" ({unit})" if unit else ""
    called = row_names(None, len(measured), names)
    return Predicted(
        title="Predicted against measured" + TITLES[rows],
        xlabel=f"measured{suffix}",
        ylabel=("predicted, row left out" if rows == "left out" else "predicted") + suffix,
        notes=(points.note,) if points.note else (),
        points=points,
        merit=merit(measured[known], guesses[known], rows),
        low=float(ends.min() - reach),
        high=float(ends.max() + reach),
        names=None if called is None else tuple(called[at] for at in np.flatnonzero(known)),
    )


def _left_out(estimator: Any, X: Any, y: Any, target: int) -> Array:
    model, rows = last_step(estimator, X)
    if isinstance(model, KernelRidge):
        return one_target(y, target) - one_target(model.leave_one_out_, target)
    if not isinstance(model, ComponentRegressor):
        raise refuse(model, "predicted chart of rows left out, so no predicted", "Use left_out=False.")
    probe = type(model)(**{**model.get_params(), "n_components": model.n_components_})
    predictions = probe.cross_validate(rows, y).predictions
    if predictions is None:
        raise NoChart("predictions of rows left out would fill more than 256 MB. Use fewer rows, or left_out=False.")
    return predictions[model.n_components_ - 1, :, target]
