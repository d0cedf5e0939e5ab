"""Columns along the components: loadings as arrows, lines or a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch

import numpy as np
from sklearn.base import BaseEstimator

from gramian.charts.base import Chart, check_picks, column_names, last_step, refuse
from gramian.charts.labels import channels, label_of, noun_of
from gramian.estimators.component_regression import ComponentRegressor
from gramian.estimators.factor_analysis import order_of_loadings
from gramian.estimators.two_views import CovarianceOfViews
from gramian.estimators.validation import check_choice
from gramian.registry import CCA, ICA, PCA, FactorAnalysis, KernelCCA, KernelPCA, ProbabilisticPCA
from gramian.results import Array


@dataclass(frozen=True)
class ColumnVectors:
    """A row of numbers for each column."""

    values: Array  #: (p, K): coordinates of columns; those of a second view after those of the first
    names: tuple[str, ...]
    what: str  #: What the numbers are
    correlations: bool  #: Whether they are correlations of columns with scores, which lie in the unit circle
    #: (p, K): what gives, or rebuilds, a row: the numbers to draw as lines over the channels of a spectrum
    weights: Array
    weights_are: str
    second: int = 0  #: How many of the p columns are of a second view


def column_vectors(estimator: BaseEstimator, chart: str) -> ColumnVectors:
    """Coordinates of the columns of a fitted estimator, or an error that names the chart they are wanted for."""
    found = vectors_of(estimator)
    if found is None:
        remedy = "Columns have no coordinates here; use one with loadings, such as PCA."
        if isinstance(estimator, (KernelPCA, KernelCCA)):
            remedy = "Its directions lie in feature space; use charts.contours or gramian.selection.column_importance."
        raise refuse(estimator, chart, remedy)
    return found


@singledispatch
def vectors_of(estimator: BaseEstimator) -> ColumnVectors | None:
    """Coordinates of the columns, if the estimator has any."""
    W = getattr(estimator, "components_", None)
    if W is None or not isinstance(W, np.ndarray):
        return None
    variances = getattr(estimator, "explained_variance_", None)
    values = W.T if variances is None else W.T * np.sqrt(variances)
    what = "weight" if variances is None else "loading"
    return ColumnVectors(values, column_names(estimator, len(values)), what, False, W.T, "weight")


@vectors_of.register
def _(estimator: PCA) -> ColumnVectors:
    spread = np.sqrt(estimator.feature_variance_)[:, None]
    coordinates = estimator.column_coordinates()
    values = np.divide(coordinates, spread, out=np.zeros_like(coordinates, dtype=np.float64), where=spread > 0)
    names = column_names(estimator, len(values))
    centred = bool(estimator.center)
    shown = values if centred else coordinates  # about another point than the mean they are no correlations
    what = "correlation with the component" if centred else "loading"
    return ColumnVectors(shown, names, what, centred, estimator.components_.T, "weight")


@vectors_of.register
def _(estimator: ProbabilisticPCA) -> ColumnVectors:
    W = estimator.loadings_.astype(np.float64)
    values = W / np.sqrt(np.sum(W**2, axis=1) + float(estimator.noise_variance_))[:, None]
    return ColumnVectors(values, column_names(estimator, len(W)), "correlation with the cause", True, W, "loading")


@vectors_of.register
def _(estimator: FactorAnalysis) -> ColumnVectors:
    L = estimator.loadings_.astype(np.float64)
    upright = bool(np.allclose(estimator.factor_correlation_, np.eye(L.shape[1])))
    return ColumnVectors(L, column_names(estimator, len(L)), "loading", upright, L, "loading")


@vectors_of.register
def _(estimator: ICA) -> ColumnVectors:
    A = estimator.mixing_.astype(np.float64)
    return ColumnVectors(A, column_names(estimator, len(A)), "weight of the source", False, A, "weight of the source")


@vectors_of.register
def _(estimator: ComponentRegressor) -> ColumnVectors:
    P, names = estimator.x_loadings_, column_names(estimator, len(estimator.x_loadings_))
    if not estimator._scaling()[0]:
        return ColumnVectors(P, names, "loading", False, P, "loading")
    # Scaled columns have unit variance: loadings times the spread of a score are correlations.
    values = P * np.sqrt(estimator.score_squares_ / (estimator.n_samples_ - 1))
    varies = np.any(P != 0, axis=1)[:, None]
    return ColumnVectors(np.where(varies, values, 0.0), names, "correlation with the component", True, P, "loading")


@vectors_of.register
def _(estimator: CCA) -> ColumnVectors:
    values = np.vstack([estimator.x_structure_, estimator.y_structure_])
    weights = np.vstack([estimator.x_weights_, estimator.y_weights_])
    return _two_views(estimator, values, weights, "correlation with the score of its own view", True)


@vectors_of.register
def _(estimator: CovarianceOfViews) -> ColumnVectors:
    weights = np.vstack([estimator.x_weights_, estimator.y_weights_])
    return _two_views(estimator, weights, weights, "weight", False)


def _two_views(estimator: BaseEstimator, values: Array, weights: Array, what: str, correlations: bool) -> ColumnVectors:
    d, q = len(estimator.x_weights_), len(estimator.y_weights_)
    second = getattr(estimator, "target_names_in_", None)
    others = (f"Y {j + 1}" for j in range(q)) if second is None else map(str, second)
    names = (*column_names(estimator, d), *others)
    return ColumnVectors(values, names, what, correlations, weights, "weight", second=q)


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
        Which, counted from 0: two for arrows, any number for lines; the first two, or three.
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
    columns = _named(found, names)
    places, label = channels(columns)
    lines = kind == "lines" or (kind == "auto" and places is not None and not found.second)
    count = found.values.shape[1]
    if components is None:
        components = range(min(3, count)) if lines else (0, 1)
    picks = check_picks(components, count, tuple(range(1, count + 1)) if lines else (2,), noun_of(model))
    labels = tuple(label_of(model, at) for at in picks)
    if places is None or found.second:
        places = np.arange(1.0, len(columns) + 1)
    values, what = (found.weights, found.weights_are) if lines else (found.values, found.what)
    circle = found.correlations and not lines
    return Loadings(
        title="Correlations of columns with scores" if circle else "Loadings",
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
    columns, values = _named(found, names), found.values.astype(np.float64)
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


def _named(found: ColumnVectors, names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return found.names
    if len(names) != len(found.names):
        raise ValueError(f"names has {len(names)} entries for {len(found.names)} columns.")
    return tuple(str(name) for name in names)
