"""Columns: loadings as arrows, lines or a heat map; contributions; the columns that a regression rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from gramian.charts.base import Chart, Rows, last_step, need_rows, note, picked, refuse
from gramian.charts.names import channels, label_of, noun_of
from gramian.estimators import base
from gramian.estimators.column_vectors import ColumnVectors, vectors_of_directions
from gramian.estimators.component_regression import ComponentRegressor
from gramian.estimators.factor_analysis import order_of_loadings
from gramian.estimators.labels import column_names, numbered, row_names, target_names
from gramian.estimators.validation import check_choice
from gramian.results import Array

__all__ = ["Contributions", "Heat", "Importance", "Loadings", "contributions", "heat", "importance", "loadings"]


def names_of(found: ColumnVectors, estimator: BaseEstimator, given: Sequence[object] | None = None) -> tuple[str, ...]:
    """Names of the columns of both views: those given, or as the fit saw them."""
    p = len(found.values)
    if given is not None or not found.second:
        return column_names(estimator, p, given)
    others = target_names(estimator, found.second, word="Y")
    return (*column_names(estimator, p - found.second), *others)


def column_vectors(estimator: BaseEstimator, chart: str) -> ColumnVectors:
    """Coordinates of the columns of a fitted estimator, or an error that names the chart they are wanted for."""
    found = vectors_of(estimator)
    if found is None:
        remedy = "Columns have no coordinates here; use one with loadings, such as PCA."
        if hasattr(estimator, "kernel_"):
            remedy = "Its directions lie in feature space; use charts.contours or gramian.selection.column_importance."
        raise refuse(estimator, chart, remedy)
    return found


def vectors_of(estimator: BaseEstimator) -> ColumnVectors | None:
    """Coordinates of the columns, if the estimator has any."""
    known = isinstance(estimator, base.BaseEstimator)
    return estimator._column_vectors() if known else vectors_of_directions(estimator)


@dataclass(frozen=True, kw_only=True)
class Loadings(Chart):
    """Columns along components."""

    kind: str  #: {"arrows", "lines"}
    what: str  #: What the values are
    values: Array  #: (p, m): a number for each column and component shown; two components as arrows
    columns: tuple[str, ...]
    labels: tuple[str, ...]  #: Names of the components shown, with their shares
    positions: Array | None = None  #: (p,): places of columns on the axis, for lines
    circle: bool = False  #: Whether values are correlations, so that no arrow leaves the unit circle
    second: int = 0  #: How many of the columns, the last ones, are of a second view
    supplementary: int = 0  #: How many of them, the last ones, were not used in the fit


@dataclass(frozen=True, kw_only=True)
class Heat(Chart):
    """Loadings as a table of colours."""

    what: str  #: What the values are
    values: Array  #: (p, K)
    columns: tuple[str, ...]  #: Names of the rows of the picture
    labels: tuple[str, ...]  #: Names of the components, with their shares
    communalities: Array | None  #: (p,): share of each column's variance that the factors hold together
    limit: float  #: Largest magnitude, to set the scale of colours: 1 for correlations
    cut: float  #: Loadings below this are not worth a number


def loadings(
    estimator: BaseEstimator,
    *,
    components: Sequence[int] | None = None,
    kind: str = "auto",
    names: Sequence[str] | None = None,
) -> Loadings:
    """Return loadings as arrows for few columns, as lines for channels of a spectrum (:class:`Loadings`).

    Parameters
    ----------
    estimator : fitted estimator
        PCA, ProbabilisticPCA, FactorAnalysis, ICA, a regression on components, CCA, PLSCanonical, PLSSVD.
    components : ints, optional
        Which, counted from 1: two for arrows, any number for lines; the first two, or three.
    kind : {"auto", "arrows", "lines"}
        "auto" draws lines where 20 or more columns have an order: names that differ in a rising number, or none.
    names : sequence of str, optional
        Names of the columns, of both views if there are two; those of the fit otherwise.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramian import PCA, charts
    >>> charts.loadings(PCA(3).fit(load_digits().data)).kind
    'lines'
    """
    check_choice("kind", kind, ("auto", "arrows", "lines"))
    model, _ = last_step(estimator)
    found = column_vectors(model, "loadings")
    columns = names_of(found, model, names)
    places, label = channels(columns)
    lines = kind == "lines" or (kind == "auto" and places is not None and not found.second)
    count = found.values.shape[1]
    if components is None:
        components = range(1, min(3, count) + 1) if lines else (1, 2)
    picks = picked(components, count, range(1, count + 1) if lines else (2,), noun_of(model))
    labels = tuple(label_of(model, at) for at in picks)
    if places is None or found.second:
        places = np.arange(1.0, len(columns) + 1)
    values, what = (found.weights, found.weights_are) if lines else (found.values, found.what)
    circle = found.correlations and not lines
    return Loadings(
        title=f"Correlations of columns with {'scores' if found.second else f'{noun_of(model)}s'}"
        if circle
        else f"{what.partition(' ')[0].capitalize()}s",
        xlabel=label if lines else labels[0],
        ylabel=what if lines else labels[1],
        kind="lines" if lines else "arrows",
        what=what,
        values=values[:, picks].astype(np.float64),
        columns=columns,
        labels=labels,
        positions=places if lines else None,
        circle=circle,
        second=found.second,
    )


def heat(estimator: BaseEstimator, *, sort: bool = True, cut: float = 0.3, names: Sequence[str] | None = None) -> Heat:
    """Return loadings as a table of colours, columns in the order of the component they load on most (:class:`Heat`).

    Parameters
    ----------
    estimator : fitted estimator
        As for :func:`loadings`; FactorAnalysis is meant.
    sort : bool
        Columns by the component of their largest loading, then by its size; else as they come.
    cut : float
        Loadings of less than this get no number.
    names : sequence of str, optional
        Names of the columns.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import FactorAnalysis, charts
    >>> chart = charts.heat(FactorAnalysis(3, rotation="varimax").fit(load_wine(as_frame=True).data))
    >>> chart.columns[0]
    'flavanoids'
    """
    model, _ = last_step(estimator)
    found = column_vectors(model, "heat")
    columns, values = names_of(found, model, names), found.values.astype(np.float64)
    order = order_of_loadings(values) if sort else np.arange(len(values))
    common = getattr(model, "communalities_", None)
    largest = float(np.abs(values).max(initial=0.0))
    return Heat(
        title="Loadings",
        ylabel="",
        what=found.what,
        values=values[order],
        columns=tuple(columns[j] for j in order),
        labels=tuple(label_of(model, at) for at in range(values.shape[1])),
        communalities=None if common is None else np.asarray(common, dtype=np.float64)[order],
        limit=max(largest, 1.0) if found.correlations else largest or 1.0,
        cut=cut,
    )


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
    component: int = 1,
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
        Which, counted from 1.
    most : int
        How many to show at the most, largest contributions first.
    names : sequence of str, optional
        Names of the rows or columns.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> X = load_iris(as_frame=True).data
    >>> charts.contributions(PCA(2).fit(X), component=2).names[0]
    'sepal width (cm)'
    """
    check_choice("of", of, ("columns", "rows"))
    model, rows = last_step(estimator, X)
    if not hasattr(model, "column_contributions"):
        raise refuse(model, "contributions", "Use PCA.")
    (k,) = picked(component, len(model.components_), noun=noun_of(model), argument="component")
    if of == "columns":
        shares, cos2 = model.column_contributions()[:, k], model.column_cos2()[:, k]
        called = column_names(model, len(shares), names)
        expected = 1 / len(shares)
    else:
        rows = need_rows(rows, "contributions of rows")
        shares, cos2 = model.row_contributions(rows)[:, k], model.row_cos2(rows)[:, k]
        called = row_names(X, len(shares), names) or numbered("row ", len(shares))
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

    def largest(self, most: int) -> tuple[list[str], Array, tuple[Array, Array] | None]:
        """Names and values of the largest magnitudes, and the lengths of their intervals below and above."""
        order = np.argsort(-np.abs(self.values), kind="stable")[:most]
        names, values = [self.columns[at] for at in order], self.values[order]
        if self.low is None or self.high is None:
            return names, values, None
        return names, values, (values - self.low[order], self.high[order] - values)


def importance(
    estimator: BaseEstimator, *, kind: str = "vip", target: int = 1, names: Sequence[str] | None = None
) -> Importance:
    """Return VIP, coefficients, or selectivity ratios of the columns (:class:`Importance`).

    Parameters
    ----------
    estimator : fitted PLSRegression or PrincipalComponentRegression
        Coefficients have intervals if it was fitted with ``n_components="auto"``.
    kind : {"vip", "coefficients", "selectivity"}
        VIP is the importance in the projection.
    target : int
        Which target, counted from 1.
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
    (at,) = picked(target, len(coef), noun="target", argument="target")
    columns = column_names(model, coef.shape[1], names)
    places, xlabel = channels(columns)
    title, ylabel, values = {
        "vip": ("Importance in the projection", "VIP", model.vip_),
        "coefficients": ("Coefficients", "coefficient", coef[at]),
        "selectivity": ("Selectivity", "selectivity ratio", model.selectivity_ratio_[at]),
    }[kind]
    low = high = None
    if kind == "coefficients" and model.path_ is not None:
        found = model.path_.jackknife(model.n_components_)
        low, high = found.lower[at], found.upper[at]
    return Importance(
        title=title,
        xlabel=xlabel,
        ylabel=ylabel,
        notes=(note("jackknife"),) if low is not None else (),
        kind=kind,
        values=np.asarray(values, dtype=np.float64),
        columns=columns,
        positions=places,
        low=low,
        high=high,
        limit=1.0 if kind == "vip" else None,
    )
