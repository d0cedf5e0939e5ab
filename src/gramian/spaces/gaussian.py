"""Gaussian models: rows with missing entries, probabilistic PCA, and factor analysis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import scipy.linalg

from gramian import lapack
from gramian.config import one_blas_thread
from gramian.engine.product import to_dense
from gramian.engine.tiles import row_blocks
from gramian.lapack import orient
from gramian.operators import Moments, moments_of
from gramian.operators.correlation import Correlation, correlation
from gramian.results import Array, Matrix
from gramian.solvers.factor import LEAST_UNIQUENESS, FactorSolution, maximum_likelihood

Model = TypeVar("Model")
State = TypeVar("State")


@dataclass(frozen=True)
class Climb(Generic[State]):
    """Where an iteration ended, and the objective of each state visited."""

    state: State
    path: tuple[float, ...]
    converged: bool
    stopped: str = ""


def climb(step: Callable[[State], tuple[float, State]], start: State, *, tol: float, max_iter: int) -> Climb[State]:
    """Repeat ``step`` until the objective gains less than ``tol`` of its size.

    ``step`` takes a state; it returns the objective *at that state*, and the next state. For EM it never falls.
    """
    state, path = start, []
    for _ in range(max_iter):
        objective, following = step(state)
        path.append(objective)
        if len(path) > 1 and path[-1] - path[-2] <= tol * max(1.0, abs(path[-1])):
            return Climb(state, tuple(path), True)
        state = following
    return Climb(state, tuple(path), False, f"max_iter={max_iter} reached")


@dataclass(frozen=True)
class Pattern:
    """Rows that lack the same columns."""

    rows: Array
    observed: Array
    missing: Array


@dataclass(frozen=True)
class Expectation:
    """Rows with their missing entries filled by expectation, their moments, and the likelihood of what was observed."""

    filled: Array
    log_density: Array
    moments: Moments


def patterns(X: Array) -> list[Pattern]:
    """Group rows by which entries they lack."""
    masks, group = np.unique(np.isnan(X), axis=0, return_inverse=True)
    order = np.argsort(group.ravel(), kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(group.ravel(), minlength=len(masks)))[:-1])
    return [Pattern(r, np.flatnonzero(~mask), np.flatnonzero(mask)) for r, mask in zip(rows, masks, strict=True)]


def check_observed(X: Array, name: str = "X", *, rows: bool = True) -> None:
    """Refuse columns (and rows) of which nothing is known."""
    gaps = np.isnan(X)
    for axis, word in ((1, "row"), (0, "column")) if rows else ((0, "column"),):
        empty = np.flatnonzero(gaps.all(axis=axis))
        if len(empty):
            raise ValueError(
                f"Input {name} contains NaN only in {word} {empty[0]} ({len(empty)} such {word}s): it has no observed "
                "entry. Drop it first."
            )


def observed_means(X: Array, weights: Array | None = None) -> Array:
    """Mean of what was observed of each column."""
    known = ~np.isnan(X)
    w = np.ones(len(X)) if weights is None else weights
    return w @ np.where(known, X, 0.0) / (w @ known)


def expect(X: Array, groups: list[Pattern], mean: Array, C: Array, weights: Array | None = None) -> Expectation:
    """Fill what is missing under a Gaussian with this mean and covariance."""
    filled, log_density, spread = X.copy(), np.empty(len(X)), np.zeros_like(C)
    with one_blas_thread():  # many small factorisations, one for each pattern
        for group in groups:
            o, m, rows = group.observed, group.missing, group.rows
            factor = lapack.cholesky(C[np.ix_(o, o)], lower=True)
            Z = scipy.linalg.solve_triangular(factor, (X[np.ix_(rows, o)] - mean[o]).T, lower=True)
            determinant = 2 * np.log(np.diag(factor)).sum()
            log_density[rows] = -0.5 * (len(o) * np.log(2 * np.pi) + determinant + (Z**2).sum(axis=0))
            if len(m):
                G = scipy.linalg.solve_triangular(factor, C[np.ix_(o, m)], lower=True)
                filled[np.ix_(rows, m)] = mean[m] + Z.T @ G
                weight = len(rows) if weights is None else weights[rows].sum()
                spread[np.ix_(m, m)] += weight * (C[np.ix_(m, m)] - G.T @ G)
        found = moments_of(filled, weights)
    return Expectation(filled, log_density, replace(found, scatter=found.scatter + spread))


def fit_missing(
    X: Array,
    weights: Array | None,
    fit: Callable[[Moments], Model],
    covariance: Callable[[Model], tuple[Array, Array]],
    *,
    tol: float,
    max_iter: int,
) -> tuple[Climb[Model], Expectation]:
    """Alternate between filling by a model and fitting the model to the expected moments.

    ``fit``: maximum-likelihood model of given moments. ``covariance``: mean and covariance of a model. Returns the
    model with the likelihood on its way, and the expectation under it.
    """
    check_observed(X)
    groups = patterns(X)

    def step(model: Model) -> tuple[float, Model]:
        expected = expect(X, groups, *covariance(model), weights)
        total = expected.log_density.sum() if weights is None else weights @ expected.log_density
        return float(total), fit(expected.moments)

    start = np.where(np.isnan(X), observed_means(X, weights), X)
    found = climb(step, fit(moments_of(start, weights)), tol=tol, max_iter=max_iter)
    return found, expect(X, groups, *covariance(found.state), weights)


@dataclass(frozen=True)
class Isotropic:
    """A Gaussian with covariance ``V diag(variances) V' + noise (I - VV')``, V orthonormal (d, k).

    Variances are descending, each at least ``noise``, the variance in all directions across V.
    """

    mean: Array
    directions: Array
    variances: Array
    noise: float

    @property
    def loadings(self) -> Array:
        """W, d x k: ``V (L - s2 I)^1/2``."""
        return self.directions * np.sqrt(np.maximum(self.variances - self.noise, 0.0))

    def covariance(self) -> Array:
        """C, d x d."""
        d = len(self.mean)
        return (self.directions * (self.variances - self.noise)) @ self.directions.T + self.noise * np.eye(d)

    def log_determinant(self) -> float:
        """``log |C|``."""
        rest = len(self.mean) - len(self.variances)
        return float(np.log(self.variances).sum() + (rest * np.log(self.noise) if rest else 0.0))

    def log_density(self, X: Array) -> Array:
        """Log-density of rows."""
        A = X - self.mean
        T = A @ self.directions
        squares = (T**2 / self.variances).sum(axis=1)
        if A.shape[1] > len(self.variances):
            across = A - T @ self.directions.T  # from the difference itself: |a|^2 - |t|^2 would cancel
            squares += (across**2).sum(axis=1) / self.noise
        return -0.5 * (A.shape[1] * np.log(2 * np.pi) + self.log_determinant() + squares)

    def posterior_weights(self) -> Array:
        """Matrix that takes centred rows to posterior means: ``V diag(sqrt(lam - s2) / lam)``, d x k."""
        return self.directions * (np.sqrt(np.maximum(self.variances - self.noise, 0.0)) / self.variances)

    def posterior_covariance(self) -> Array:
        """``s2 (W'W + s2 I)^-1``, k x k, the same for every row."""
        return np.diag(self.noise / self.variances)


def from_spectrum(mean: Array, directions: Array, values: Array, total: float) -> Isotropic:
    """Closed-form maximum likelihood from the leading eigenpairs of S and its trace."""
    d, k = directions.shape
    noise = max(0.0, total - float(values.sum())) / (d - k) if d > k else 0.0
    return Isotropic(mean, directions, np.maximum(values, noise), noise)


def from_loadings(mean: Array, W: Array, noise: float) -> Isotropic:
    """The same Gaussian from any W; a rotation of W changes nothing, so it is turned to its singular directions."""
    V, s, _ = np.linalg.svd(W, full_matrices=False)
    return Isotropic(mean, V * orient(V), s**2 + noise, noise)


def expectation_maximisation(S: Array, W: Array, noise: float) -> tuple[Array, float]:
    r"""One EM step, which needs no rows: their sums enter through S alone.

    .. math:: M = W'W + \sigma^2 I, \quad W^+ = S W (\sigma^2 I + M^{-1} W' S W)^{-1}, \quad
              \sigma^{2+} = \tfrac1d \mathrm{tr}(S - S W M^{-1} W^{+\prime})
    """
    k = W.shape[1]
    SW = S @ W
    M_inverse = np.linalg.inv(W.T @ W + noise * np.eye(k))
    following = SW @ np.linalg.inv(noise * np.eye(k) + M_inverse @ (W.T @ SW))
    return following, float((np.trace(S) - np.sum((SW @ M_inverse) * following)) / len(S))


def isotropic_log_likelihood(model: Isotropic, along: Array, total: float, weight: float) -> float:
    """Log-likelihood of rows about the model's mean, with these variances along its directions, and in all columns.

    Divisor of the variances is the weight of the rows.
    """
    d, fit = len(model.mean), float((along / model.variances).sum())
    if d > len(model.variances):
        fit += max(0.0, total - float(along.sum())) / model.noise
    return float(-0.5 * weight * (d * np.log(2 * np.pi) + model.log_determinant() + fit))


@dataclass(frozen=True)
class FactorModel:
    """Mean and scale of the columns, and the factors of their correlations."""

    mean: Array
    scale: Array
    factors: FactorSolution

    def covariance(self) -> Array:
        """C, d x d."""
        return self.factors.implied() * np.outer(self.scale, self.scale)

    def regression_weights(self) -> Array:
        """``(LL' + Psi)^-1 L``, d x k: standardised rows times this are the expected factors."""
        L = self.factors.loadings
        weighted = L / self.factors.uniquenesses[:, None]
        return np.linalg.solve(np.eye(L.shape[1]) + L.T @ weighted, weighted.T).T

    def log_density(self, X: Matrix) -> Array:
        """Log-density of rows."""
        L, psi, weights = self.factors.loadings, self.factors.uniquenesses, self.regression_weights()
        k = L.shape[1]
        determinant = np.linalg.slogdet(np.eye(k) + L.T @ (L / psi[:, None]))[1] + np.log(psi * self.scale**2).sum()
        squares = []
        for rows in row_blocks(*X.shape):
            Z = (to_dense(X[rows]) - self.mean) / self.scale
            U = Z @ weights
            # z'(LL' + Psi)^-1 z as a sum of squares: the difference of two large terms would cancel.
            squares.append(((Z - U @ L.T) ** 2 / psi).sum(axis=1) + (U**2).sum(axis=1))
        return -0.5 * (len(psi) * np.log(2 * np.pi) + determinant + np.concatenate(squares))


@dataclass(frozen=True)
class Saturated:
    """The Gaussian with any covariance, which a model is compared with."""

    R: Correlation
    log_likelihood: float


def fit_factors(mean: Array, scale: Array, R: Correlation, weight: float, k: int) -> Climb[FactorModel]:
    """Maximum-likelihood model of rows with these means, standard deviations (divisor n) and correlations."""
    model = FactorModel(mean, scale, maximum_likelihood(R, k))
    return Climb(model, (factor_log_likelihood(model, weight),), True)


def factor_log_likelihood(model: FactorModel, weight: float) -> float:
    """Log-likelihood of the rows a model was fitted to, in their own units."""
    d = len(model.mean)
    return float(-0.5 * weight * (d * np.log(2 * np.pi) + model.factors.objective + 2 * np.log(model.scale).sum()))


def fit_factors_missing(
    X: Array, weights: Array | None, k: int, *, tol: float, max_iter: int
) -> tuple[Climb[FactorModel], Saturated | None]:
    """Maximum-likelihood model of rows with missing entries, and the saturated model beside it.

    Every step starts from the uniquenesses of the last one, under bounds that stay: so no step can lose likelihood.
    """
    w, known = np.ones(len(X)) if weights is None else weights, ~np.isnan(X)
    variance = w @ np.where(known, X - observed_means(X, w), 0.0) ** 2 / (w @ known)
    last: list[FactorModel] = []

    def fit(moments: Moments) -> FactorModel:
        scale, R = correlation(moments)
        start = last[-1].factors.uniquenesses * (last[-1].scale / scale) ** 2 if last else None
        lower = np.minimum(LEAST_UNIQUENESS * variance / scale**2, 1.0)
        last[:] = [FactorModel(moments.mean, scale, maximum_likelihood(R, k, start=start, lower=lower))]
        return last[-1]

    with one_blas_thread():
        found, _ = fit_missing(X, weights, fit, lambda m: (m.mean, m.covariance()), tol=tol, max_iter=max_iter)
        return found, _saturated(X, weights, tol, max_iter)


def _saturated(X: Array, weights: Array | None, tol: float, max_iter: int) -> Saturated | None:
    """Fit any covariance; None where the rows do not determine it."""
    if len(X) <= X.shape[1]:
        return None
    try:
        found, _ = fit_missing(X, weights, lambda m: m, lambda m: (m.mean, m.covariance()), tol=tol, max_iter=max_iter)
    except np.linalg.LinAlgError:
        return None
    R = correlation(found.state)[1]
    return Saturated(R, found.path[-1]) if lapack.eigvalsh(R.R)[0] > 1e-10 else None
