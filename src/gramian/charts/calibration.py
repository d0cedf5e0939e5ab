"""Regressions: errors of rows left out, and predictions against measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import check_is_fitted

from gramian.charts.base import Chart, NoChart, Rows, last_step, need_rows, note, one_target, refuse
from gramian.charts.points import POINTS_MAX_ROWS, Points, colouring, thin
from gramian.estimators.calibration_metrics import Merit, merit
from gramian.estimators.component_regression import ComponentRegressor
from gramian.estimators.fitted_rows import role
from gramian.estimators.kernel_ridge import RidgePath
from gramian.estimators.labels import numbered, row_names
from gramian.estimators.regression_path import RegressionPath
from gramian.registry import KernelRidge
from gramian.results import Array

__all__ = ["CVCurve", "Predicted", "cv_curve", "from_values", "predicted"]


@dataclass(frozen=True, kw_only=True)
class CVCurve(Chart):
    """Errors of rows left out, for every number of components or every ridge."""

    x: Array  #: (m,): numbers of components, or ridges
    #: (m, q): root mean squared errors, of each target; relative to those of the mean if targets are several
    errors: Array
    standard_errors: Array | None  #: (m, q)
    targets: tuple[str, ...]
    best: int  #: Place of the least error
    recommended: int  #: Place of the fewest components within one standard error of the least
    limit: float | None  #: The least error and one standard error, for a single target
    logarithmic: bool = False  #: Whether the x axis is one of orders of magnitude
    #: (m, q): the same errors of the rows of the fit (RMSEC), and of test rows (RMSEP), where these are known
    calibration: Array | None = None
    prediction: Array | None = None
    kept: int | None = None  #: Components of the fit

    @property
    def kinds(self) -> dict[str, Array]:
        """Errors (m, q) that are known, by what they are called."""
        if self.logarithmic:
            return {self.ylabel: self.errors}
        found = {"RMSEC": self.calibration, "RMSECV": self.errors, "RMSEP": self.prediction}
        return {kind: part for kind, part in found.items() if part is not None}


def cv_curve(
    estimator: BaseEstimator,
    X: Rows | None = None,
    y: ArrayLike | None = None,
    *,
    cv: int | BaseCrossValidator | None = None,
    targets: Sequence[str] | None = None,
    test: tuple[Rows, ArrayLike] | None = None,
) -> CVCurve:
    """Return errors of rows left out, over numbers of components or over a path of ridges (:class:`CVCurve`).

    Parameters
    ----------
    estimator : fitted estimator, RegressionPath or RidgePath
        PLSRegression or PrincipalComponentRegression, KernelRidge, or what their ``cross_validate`` or ``path`` gave.
    X, y : rows and targets, optional
        Not needed after a fit with ``n_components="auto"``, which keeps its path.
    cv : int or splitter, optional
        Folds, if X and y are given.
    targets : sequence of str, optional
        Names of the targets.
    test : rows and targets, optional
        Rows that were not used in the fit, for errors of prediction at every number of components.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gramian import PLSRegression, charts
    >>> X, y = load_diabetes(return_X_y=True)
    >>> chart = charts.cv_curve(PLSRegression(8).fit(X, y), X, y)
    >>> int(chart.x[chart.recommended])
    2
    """
    path = _path(estimator, X, y, cv)
    if isinstance(path, RidgePath):
        return CVCurve(
            title="Errors of rows left out, one by one",
            xlabel="ridge",
            ylabel="RMSE, leave one out",
            x=path.ridges,
            errors=np.sqrt(path.errors)[:, None],
            standard_errors=None,
            targets=("",),
            best=path.best_index,
            recommended=path.best_index,
            limit=None,
            logarithmic=True,
        )
    q = path.rmsecv.shape[1]
    if targets is not None and len(targets) != q:
        raise ValueError(f"targets has {len(targets)} entries for {q} targets.")
    names = targets or ([""] if q == 1 else numbered("y ", q))
    unit = path.rmsecv[0] if q > 1 else np.ones(1)
    unit = np.where(unit > 0, unit, 1.0)
    errors, doubts = path.rmsecv / unit, path.standard_error / unit
    least, doubt = errors[path.best, 0], doubts[path.best, 0]
    beside = {"calibration": (X, y) if X is not None and y is not None else None, "prediction": test}
    known = {} if estimator is path else {name: rows for name, rows in beside.items() if rows is not None}
    along: dict[str, Any] = {name: _along(estimator, path, *rows) / unit for name, rows in known.items()}
    along["kept"] = None if estimator is path else last_step(estimator)[0].n_components_
    what = "root mean squared error" if known else "RMSECV"
    return CVCurve(
        title="Errors for each number of components" if known else "Errors of rows left out",
        xlabel="components",
        ylabel=what if q == 1 else f"{what} relative to the mean of the target",
        notes=(note("folds", folds=path.folds),),
        x=np.arange(len(errors)),
        errors=errors,
        standard_errors=doubts,
        targets=tuple(map(str, names)),
        best=path.best,
        recommended=path.recommended,
        # The rule is one of mean squares: the standard error of a square is that of the root times twice the root.
        limit=float(np.sqrt(least**2 + 2 * least * doubt)) if q == 1 else None,
        **along,
    )


def _along(estimator: BaseEstimator, path: RegressionPath, X: Rows, y: ArrayLike) -> Array:
    """Errors (K + 1, q) of rows, predicted by the fit to all its rows with 0, 1, ..., K components."""
    model, rows = last_step(estimator, X)
    measured = np.asarray(y, dtype=np.float64).reshape(-1, path.full.shape[1]) - model.y_mean_
    centred = (rows.toarray() if sp.issparse(rows) else np.asarray(rows, dtype=np.float64)) - model.x_mean_
    guesses = np.concatenate([np.zeros((1, *measured.T.shape)), np.tensordot(path.full, centred, (2, 1))])
    return np.sqrt(((guesses - measured.T) ** 2).mean(axis=2))


def _path(
    estimator: BaseEstimator, X: Rows | None, y: ArrayLike | None, cv: int | BaseCrossValidator | None
) -> RegressionPath | RidgePath:
    if isinstance(estimator, (RegressionPath, RidgePath)):
        return estimator
    model, X = last_step(estimator, X)
    if not isinstance(model, (ComponentRegressor, KernelRidge)):
        raise refuse(model, "CV curve", "Use PLSRegression, PrincipalComponentRegression or KernelRidge.")
    kept = getattr(model, "path_", None)
    if X is None and kept is not None:
        return kept
    need_rows(X if y is not None else None, "CV curve", "X=... and y=..., or fit with n_components='auto'")
    return model.path(X, y) if isinstance(model, KernelRidge) else model.cross_validate(X, y, cv=cv)


#: What the title adds for each kind of rows.
TITLE_OF_ROWS = {
    "": "",
    "fit": ", rows of the fit",
    "mixed": ", rows of the fit and new rows",
    "left out": ", rows left out",
    "new": ", new rows",
}


@dataclass(frozen=True, kw_only=True)
class Predicted(Chart):
    """Predictions against measurements."""

    points: Points  #: Measured and predicted value of each row
    merit: Merit  #: Figures of merit (RMSE, bias, SEP, R2, RPD)
    low: float  #: Ends of both axes
    high: float  #: Ends of both axes
    names: tuple[str, ...] | None = None  #: Names of all rows


def predicted(
    estimator: BaseEstimator,
    X: Rows | None = None,
    y: ArrayLike | None = None,
    *,
    target: int = 1,
    left_out: bool = False,
    colour: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    unit: str = "",
    many: int = POINTS_MAX_ROWS,
) -> Predicted:
    """Return predictions of a target against its measured values (:class:`Predicted`).

    Parameters
    ----------
    estimator : fitted regressor
    X : (n, d) array, data frame or sparse matrix
        Rows.
    y : (n,) or (n, q) array
        Measured values.
    target : int
        Which target, counted from 1.
    left_out : bool
        Predict each row from a fit that has not seen it: by cross-validation for regressions on components, in closed
        form for kernel ridge (X and y must be those of the fit).
    colour, names, many
        As for :func:`gramian.charts.scores`.
    unit : str
        Unit of the target, for the axes.

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
    measured: ArrayLike,
    guesses: ArrayLike,
    *,
    rows: str = "",
    colour: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    unit: str = "",
    many: int = POINTS_MAX_ROWS,
) -> Predicted:
    """Return the same chart for predictions that are there already; ``rows`` says which, as of a merit.

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
        title="Predicted against measured" + TITLE_OF_ROWS[rows],
        xlabel=f"measured{suffix}",
        ylabel=("predicted, row left out" if rows == "left out" else "predicted") + suffix,
        notes=points.notes,
        points=points,
        merit=merit(measured[known], guesses[known], rows),
        low=float(ends.min() - reach),
        high=float(ends.max() + reach),
        names=None if called is None else tuple(called[at] for at in np.flatnonzero(known)),
    )


def _left_out(estimator: BaseEstimator, X: Rows | None, y: ArrayLike | None, target: int) -> Array:
    model, rows = last_step(estimator, X)
    if not isinstance(model, (KernelRidge, ComponentRegressor)):
        raise refuse(model, "predicted chart of rows left out, so no predicted", "Use left_out=False.")
    if isinstance(model, KernelRidge):
        model.leave_one_out_  # noqa: B018  (says why where it is not known)
    found = model._predictions_left_out(rows, y)
    if found is None:
        raise NoChart("predictions of rows left out would fill more than 256 MB. Use fewer rows, or left_out=False.")
    return one_target(found, target)
