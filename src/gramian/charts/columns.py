"""Columns along the components: loadings, their heat map, contributions and quality of representation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from gramian.charts.base import column_names, refuse
from gramian.estimators import CCA, ICA, PCA, FactorAnalysis, KernelCCA, KernelPCA, ProbabilisticPCA
from gramian.estimators.pls_two_views import CovarianceOfViews
from gramian.estimators.regression import ComponentRegressor
from gramian.results import Array


@dataclass(frozen=True)
class ColumnVectors:
    """A row of numbers for each column.

    Attributes
    ----------
    values : (p, K) array
        Coordinates of columns; those of a second view after those of the first.
    names : tuple of str
    what : str
        What the numbers are.
    correlations : bool
        Whether they are correlations of columns with scores, which lie in the unit circle.
    weights : (p, K) array
        What gives, or rebuilds, a row: the numbers to draw as lines over the channels of a spectrum.
    weights_are : str
    second : int
        How many of the p columns are of a second view.
    """

    values: Array
    names: tuple[str, ...]
    what: str
    correlations: bool
    weights: Array
    weights_are: str
    second: int = 0


def column_vectors(estimator: Any, chart: str) -> ColumnVectors:
    """Coordinates of the columns of a fitted estimator, or an error that names the chart they are wanted for."""
    found = vectors_of(estimator)
    if found is None:
        remedy = "Columns have no coordinates here; use one with loadings, such as PCA."
        if isinstance(estimator, (KernelPCA, KernelCCA)):
            remedy = "Its directions lie in feature space; use charts.contours or gramian.selection.column_importance."
        raise refuse(estimator, chart, remedy)
    return found


@singledispatch
def vectors_of(estimator: Any) -> ColumnVectors | None:
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


def _two_views(estimator: Any, values: Array, weights: Array, what: str, correlations: bool) -> ColumnVectors:
    d, q = len(estimator.x_weights_), len(estimator.y_weights_)
    second = getattr(estimator, "target_names_in_", None)
    others = (f"Y {j + 1}" for j in range(q)) if second is None else map(str, second)
    names = (*column_names(estimator, d), *others)
    return ColumnVectors(values, names, what, correlations, weights, "weight", second=q)
