"""Variances of components, fitted and left out, and those of tables without structure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from gramian.charts.labels import shares_of
from gramian.charts.notes import note
from gramian.criteria import Variances
from gramian.criteria.kernel import sample, shuffled_values
from gramian.criteria.parallel import TABLES, random_variances
from gramian.estimators import PCA, FactorAnalysis, KernelPCA, ProbabilisticPCA
from gramian.estimators.base import random_generator
from gramian.estimators.factor_text import sums_of_squares
from gramian.estimators.regression import ComponentRegressor
from gramian.estimators.validation import validate
from gramian.operators import moments_of
from gramian.results import Array, Sentence
from gramian.selection import HowMany, how_many
from gramian.selection.linear import MOST_COLUMNS
from gramian.spaces import MomentSpace


@dataclass(frozen=True)
class Spectra:
    """What a scree picture is made of: variances, what they are, how many the fit kept, and what chance gives."""

    values: Array
    what: str
    kept: int
    total: float | None = None
    drawn: Array | None = None
    said: HowMany | None = None
    note: Sentence | None = None


@singledispatch
def spectra(estimator: Any, X: Any, random_state: Any) -> Spectra | None:
    """Variances of the components of a fitted estimator, with random tables beside them if there are rows."""
    variances = getattr(estimator, "explained_variance_", None)
    shares = shares_of(estimator)
    if variances is not None:
        values = np.asarray(variances, dtype=np.float64)
        total = None if shares is None or not shares[0] > 0 else float(values[0] / shares[0])
        return Spectra(values, "variance", len(values), total)
    if shares is not None:
        return Spectra(shares, "share of variance", len(shares), 1.0)
    return None


@spectra.register
def _(estimator: ComponentRegressor, X: Any, random_state: Any) -> Spectra:
    return Spectra(estimator.x_explained_, "share of the variance of X", len(estimator.x_explained_), 1.0)


@spectra.register
def _(estimator: PCA, X: Any, random_state: Any) -> Spectra:
    values = estimator.explained_variance_.astype(np.float64)
    total = float(estimator.feature_variance_.sum()) or None
    what = "variance (correlation matrix)" if estimator.scale else "variance"
    if X is None or not estimator.center:
        why = None if X is None else note("not_centred")
        return Spectra(values, what, len(values), total, note=why)
    return _linear(X, what, len(values), bool(estimator.scale), "pca", random_state)


@spectra.register
def _(estimator: ProbabilisticPCA, X: Any, random_state: Any) -> Spectra:
    k = estimator.loadings_.shape[1]
    if X is not None:
        return _linear(X, "variance", k, False, "probabilistic-pca", random_state)
    values = np.sum(estimator.loadings_.astype(np.float64) ** 2, axis=0) + float(estimator.noise_variance_)
    total = values.sum() + (len(estimator.loadings_) - k) * float(estimator.noise_variance_)
    return Spectra(values, "variance", k, float(total))


@spectra.register
def _(estimator: FactorAnalysis, X: Any, random_state: Any) -> Spectra:
    d, k = estimator.loadings_.shape
    if X is not None:
        return _linear(X, "eigenvalue of the correlation matrix", k, True, "factor-analysis", random_state)
    what, sums = sums_of_squares(estimator.loadings_.astype(np.float64), estimator.factor_correlation_)
    return Spectra(sums, what, k, float(d))


@spectra.register
def _(estimator: KernelPCA, X: Any, random_state: Any) -> Spectra:
    n = int(estimator.summary_.facts["n"])
    values = estimator.eigenvalues_.astype(np.float64) / n
    shares = shares_of(estimator)
    total = None if shares is None or not len(shares) else float(values[0] / shares[0])
    what = "variance in feature space"
    if X is None:
        return Spectra(values, what, len(values), total)
    said = how_many(X, "kernel-pca", kernel=estimator.kernel_, random_state=random_state)
    X = validate(estimator, X, reset=False)
    rng = np.random.default_rng(_seed(random_state))
    A = sample(estimator.kernel_, X, rng)
    if estimator.kernel_.given or A.shape[1] < 2:
        return Spectra(values, what, len(values), total, said=said, note=note("no_columns"))
    drawn = shuffled_values(estimator.kernel_, A, rng) / len(A)
    return Spectra(values, what, len(values), total, drawn, said)


def _linear(X: Any, what: str, kept: int, correlation: bool, method: str, random_state: Any) -> Spectra:
    """All variances of a table, and those of tables of uncorrelated columns with the same variances."""
    options = {"scale": correlation} if method == "pca" else {}
    said = how_many(X, method, random_state=random_state, **options)
    X = validate(PCA(), X, min_samples=4)
    if X.shape[1] > MOST_COLUMNS:
        model = PCA(kept, scale=correlation).fit(X)
        total = float(model.feature_variance_.sum())
        why = note("wide", columns=X.shape[1], most=MOST_COLUMNS)
        return Spectra(model.explained_variance_, what, kept, total, said=said, note=why)
    found = Variances.of(MomentSpace(moments_of(X), scale=correlation).basis(None))
    columns = np.ones(found.d) if correlation else found.columns
    drawn = random_variances(columns, found.freedom, correlation=correlation, tables=TABLES, seed=_seed(random_state))
    return Spectra(found.leading(), what, kept, found.total, drawn, said)


def _seed(random_state: Any) -> int:
    """The seed that :func:`gramian.selection.how_many` makes of it."""
    return int(random_generator(random_state).integers(2**31))
