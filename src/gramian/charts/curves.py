"""Errors of rows left out, over numbers of components or over ridges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.charts.base import Chart, last_step, need_rows, refuse
from gramian.charts.notes import note
from gramian.estimators import KernelRidge
from gramian.estimators.kernel_ridge import RidgePath
from gramian.estimators.regression import ComponentRegressor
from gramian.estimators.regression_path import RegressionPath
from gramian.results import Array


@dataclass(frozen=True, kw_only=True)
class CVCurve(Chart):
    """Errors of rows left out, for every number of components or every ridge.

    Attributes
    ----------
    x : (m,) array
        Numbers of components, or ridges.
    errors : (m, q) array
        Root mean squared errors, of each target; relative to those of the mean if targets are several.
    standard_errors : (m, q) array or None
    targets : tuple of str
    best : int
        Place of the least error.
    recommended : int
        Place of the fewest components within one standard error of the least.
    limit : float or None
        The least error and one standard error, for a single target.
    logarithmic : bool
        Whether the x axis is one of orders of magnitude.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gramian import PLSRegression, charts
    >>> X, y = load_diabetes(return_X_y=True)
    >>> chart = charts.cv_curve(PLSRegression("auto").fit(X, y))
    >>> bool(chart.errors[chart.recommended, 0] <= chart.limit)
    True
    """

    x: Array
    errors: Array
    standard_errors: Array | None
    targets: tuple[str, ...]
    best: int
    recommended: int
    limit: float | None
    logarithmic: bool = False


def cv_curve(
    estimator: Any, X: Any = None, y: Any = None, *, cv: Any = None, targets: Sequence[str] | None = None
) -> CVCurve:
    """Return cross-validated errors of a regression on components, or leave-one-out errors over a path of ridges.

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

    Returns
    -------
    CVCurve

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
    return _components_curve(path, targets)


def _path(estimator: Any, X: Any, y: Any, cv: Any) -> RegressionPath | RidgePath:
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


def _components_curve(path: RegressionPath, targets: Sequence[str] | None) -> CVCurve:
    q = path.rmsecv.shape[1]
    unit = path.rmsecv[0] if q > 1 else np.ones(1)
    unit = np.where(unit > 0, unit, 1.0)
    errors, doubts = path.rmsecv / unit, path.standard_error / unit
    least, doubt = errors[path.best, 0], doubts[path.best, 0]
    return CVCurve(
        title="Errors of rows left out",
        xlabel="components",
        ylabel="RMSECV" if q == 1 else "RMSECV relative to the mean of the target",
        notes=(note("folds", folds=path.folds),),
        x=np.arange(len(errors)),
        errors=errors,
        standard_errors=doubts,
        targets=_target_names(targets, q),
        best=path.best,
        recommended=path.recommended,
        # The rule is one of mean squares: the standard error of a square is that of the root times twice the root.
        limit=float(np.sqrt(least**2 + 2 * least * doubt)) if q == 1 else None,
    )


def _target_names(names: Sequence[str] | None, q: int) -> tuple[str, ...]:
    if names is None:
        return ("",) if q == 1 else tuple(f"y {j + 1}" for j in range(q))
    if len(names) != q:
        raise ValueError(f"targets has {len(names)} entries for {q} targets.")
    return tuple(str(name) for name in names)
