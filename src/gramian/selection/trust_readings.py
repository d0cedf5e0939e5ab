"""What is read off a fitted estimator, and how what draws give is turned to match it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
import scipy.optimize

from gramian.estimators import CCA, PCA, FactorAnalysis, ProbabilisticPCA
from gramian.estimators.component_regression import ComponentRegressor
from gramian.estimators.factor_analysis import sums_of_squares
from gramian.results import Array


@dataclass(frozen=True)
class Reading:
    """Numbers of a fit that a draw gives too.

    Attributes
    ----------
    values : (K,) array
        One for each component, of this ``kind`` (see :data:`gramian.selection.trust_intervals.SCALES`).
    what : str
        What they are.
    vectors : (p, K) array
        Entries of the components, called ``entries``.
    bounded : bool
        Whether entries lie between -1 and 1.
    free : bool
        Whether any rotation of the components says the same, so that all are turned together.
    second : int
        How many of the p entries are of a second view.
    spans : bool
        Whether the vectors are a basis of what the components span.
    ordered : bool
        Whether values that are nearly equal leave their components undetermined.
    """

    values: Array
    kind: str
    what: str
    vectors: Array
    entries: str
    bounded: bool = False
    free: bool = False
    second: int = 0
    spans: bool = True
    ordered: bool = False


@singledispatch
def read(estimator: Any) -> Reading:
    """Read a fitted estimator."""
    raise TypeError(
        f"trust does not know {type(estimator).__name__}. Known: PCA, ProbabilisticPCA, FactorAnalysis, "
        "PLSRegression, PrincipalComponentRegression, CCA, KernelPCA."
    )


@read.register
def _(estimator: PCA) -> Reading:
    vectors = estimator.components_.T.astype(np.float64)
    return Reading(
        estimator.explained_variance_, "positive", "variance", vectors, "direction", bounded=True, ordered=True
    )


@read.register
def _(estimator: ProbabilisticPCA) -> Reading:
    W = estimator.loadings_.astype(np.float64)
    return Reading((W**2).sum(axis=0) + estimator.noise_variance_, "positive", "variance", W, "loadings", ordered=True)


@read.register
def _(estimator: FactorAnalysis) -> Reading:
    L = estimator.loadings_.astype(np.float64)
    free = estimator.rotation is None and L.shape[1] > 1
    what, sums = sums_of_squares(L, estimator.factor_correlation_)
    return Reading(sums, "positive", what, L, "loadings", free=free)


@read.register
def _(estimator: ComponentRegressor) -> Reading:
    return Reading(estimator.y_explained_, "share", "share of y", estimator.x_weights_, "weights", bounded=True)


@read.register
def _(estimator: CCA) -> Reading:
    both = np.vstack([estimator.x_structure_, estimator.y_structure_])
    q = len(estimator.y_structure_)
    return Reading(
        estimator.correlations_,
        "correlation",
        "correlation",
        both,
        "structure correlations",
        bounded=True,
        second=q,
        spans=False,
        ordered=True,
    )


def padded(A: Array, k: int) -> Array:
    """Columns (or entries) up to k, zeros where a draw had fewer."""
    short = k - A.shape[-1]
    return A if short <= 0 else np.concatenate([A, np.zeros((*A.shape[:-1], short))], axis=-1)


def align(vectors: Array, target: Array, *, free: bool = False) -> Array:
    """Match the components of a draw with those of the fit, as far as they are arbitrary: in order and in sign.

    Parameters
    ----------
    vectors, target : (p, K) arrays
    free : bool
        Whether any rotation says the same: then the nearest one is taken (Procrustes).

    Examples
    --------
    >>> target = np.eye(3)[:, :2]
    >>> align(-target[:, ::-1], target).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    if free:
        U, _, Vt = np.linalg.svd(vectors.T @ target)
        return vectors @ (U @ Vt)
    k = target.shape[1]
    lengths = np.outer(np.linalg.norm(target, axis=0), np.linalg.norm(vectors, axis=0))
    cosines = np.divide(target.T @ vectors, lengths, out=np.zeros((k, k)), where=lengths > 0)
    rows, matches = scipy.optimize.linear_sum_assignment(-np.abs(cosines))
    return vectors[:, matches] * np.where(cosines[rows, matches] < 0, -1.0, 1.0) + 0.0


def largest_angle(A: Array, B: Array) -> float:
    """Largest angle, in degrees, between the spans of two sets of columns.

    >>> round(largest_angle(np.array([[1.0], [0.0]]), np.array([[1.0], [1.0]])), 6)
    45.0
    """
    Qa, Qb = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    # The sine keeps the digits of small angles, which the cosine loses.
    sine = float(np.linalg.norm(Qb - Qa @ (Qa.T @ Qb), 2))
    return float(np.degrees(np.arcsin(min(sine, 1.0))))
