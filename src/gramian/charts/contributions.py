"""What columns or rows contribute to a component, and the columns that a regression rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from gramian.charts.base import Chart, Rows, check_picks, column_names, last_step, need_rows, note, refuse, row_names
from gramian.charts.labels import channels, label_of, noun_of
from gramian.estimators.component_regression import ComponentRegressor
from gramian.estimators.diagnostics import ComponentDiagnostics
from gramian.estimators.validation import check_choice
from gramian.results import Array


@dataclass(frozen=True, kw_only=True)
class Contributions(Chart):
    """Shares of rows or columns in a component, largest first."""

    of: str  #: {"columns", "rows"}
    names: tuple[str, ...]
    shares: Array  #: (m,): shares in the component; they sum to 1 over all columns, or over all rows of the fit
    cos2: Array  #: (m,): share of each one's own variance, or squared distance from the mean, that the component holds
    expected: float  #: What each would contribute if all contributed alike
    above: int = 0  #: How many of all contribute more than that
    left_out: int = 0  #: Those that contribute less and are not shown


def contributions(
    estimator: BaseEstimator,
    X: Rows | None = None,
    *,
    of: str = "columns",
    component: int = 0,
    most: int = 20,
    names: Sequence[object] | None = None,
) -> Contributions:
    r"""Return contributions to a component, and squared cosines with it (:class:`Contributions`).

    Definition
    ----------
    .. math:: \text{rows: } \frac{t_{ik}^2}{(n-1) \lambda_k},\ \frac{t_{ik}^2}{\|x_i - \mu\|^2} \qquad
              \text{columns: } w_{jk}^2,\ \mathrm{corr}(x_j, t_k)^2

    Parameters
    ----------
    estimator : fitted PCA
    X : (n, d) array, data frame or sparse matrix
        Rows, if ``of="rows"``.
    of : {"columns", "rows"}
    component : int
        Which, counted from 0.
    most : int
        How many to show at the most, largest contributions first.
    names : sequence of str, optional
        Names of the rows or columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> X = load_iris(as_frame=True).data
    >>> charts.contributions(PCA(2).fit(X), component=1).names[0]
    'sepal width (cm)'
    """
    check_choice("of", of, ("columns", "rows"))
    model, rows = last_step(estimator, X)
    if not isinstance(model, ComponentDiagnostics):
        raise refuse(model, "contributions", "Use PCA.")
    (k,) = check_picks([component], len(model.components_), (1,), noun_of(model))
    if of == "columns":
        shares, cos2 = model.column_contributions()[:, k], model.column_cos2()[:, k]
        called = column_names(model, len(shares), names)
        expected = 1 / len(shares)
    else:
        rows = need_rows(rows, "contributions of rows")
        shares, cos2 = model.row_contributions(rows)[:, k], model.row_cos2(rows)[:, k]
        called = row_names(X, len(shares), names) or tuple(f"row {at}" for at in range(len(shares)))
        expected = 1 / float(model.n_samples_)
    order = np.argsort(-shares, kind="stable")[:most]
    return Contributions(
        title=f"Contributions to {label_of(model, k)}".replace(" of variance", ""),
        xlabel="contribution",
        ylabel="",
        notes=(note("largest_only", shown=len(order), total=len(shares)),) if len(order) < len(shares) else (),
        of=of,
        names=tuple(called[at] for at in order),
        shares=shares[order],
        cos2=cos2[order],
        expected=expected,
        above=int((shares > expected * (1 + 1e-9)).sum()),
        left_out=len(shares) - len(order),
    )


@dataclass(frozen=True, kw_only=True)
class Importance(Chart):
    """What a regression rests on: a number for each column."""

    kind: str  #: {"vip", "coefficients", "selectivity"}
    values: Array  #: (d,)
    columns: tuple[str, ...]
    positions: Array | None = None  #: (d,): places of columns that have an order, as wavelengths have
    low: Array | None = None  #: (d,): lower ends of jackknife intervals of 95 %
    high: Array | None = None  #: (d,): upper ends
    limit: float | None = None  #: Above it a column counts as important


def importance(
    estimator: BaseEstimator, *, kind: str = "vip", target: int = 0, names: Sequence[str] | None = None
) -> Importance:
    """Return VIP, coefficients, or selectivity ratios of the columns (:class:`Importance`).

    Parameters
    ----------
    estimator : fitted PLSRegression or PrincipalComponentRegression
        Coefficients have intervals if it was fitted with ``n_components="auto"``.
    kind : {"vip", "coefficients", "selectivity"}
        VIP is the importance in the projection.
    target : int
        Which target, counted from 0.
    names : sequence of str, optional
        Names of the columns.

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
    columns = column_names(model, coef.shape[1], names)
    values = {"vip": model.vip_, "coefficients": coef[target], "selectivity": model.selectivity_ratio_[target]}[kind]
    places, xlabel = channels(columns)
    words = {"vip": "VIP", "coefficients": "coefficient", "selectivity": "selectivity ratio"}
    low = high = None
    if kind == "coefficients" and model.path_ is not None:
        found = model.path_.jackknife(model.n_components_)
        low, high = found.lower[target], found.upper[target]
    return Importance(
        title={"vip": "Importance in the projection", "coefficients": "Coefficients"}.get(kind, "Selectivity"),
        xlabel=xlabel,
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
