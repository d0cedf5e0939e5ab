r"""Factor analysis: a Gaussian whose covariance is a few common factors and noise of its own in every column.

.. math:: x = \mu + D (L u + \varepsilon), \qquad C = D (LL' + \Psi) D

with the standard deviations D of the columns, so that L and :math:`\Psi` are those of the correlation matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.config import one_blas_thread
from gramian.engine.tiles import row_blocks
from gramian.lapack import eigvalsh
from gramian.operators import Moments
from gramian.results import Array
from gramian.solvers.factor import LEAST_UNIQUENESS, FactorSolution, maximum_likelihood
from gramian.solvers.fixed_point import Climb
from gramian.spaces.missing import fit_missing, observed_means


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

    def log_density(self, X: Any) -> Array:
        """Log-density of rows."""
        L, psi, weights = self.factors.loadings, self.factors.uniquenesses, self.regression_weights()
        k = L.shape[1]
        determinant = np.linalg.slogdet(np.eye(k) + L.T @ (L / psi[:, None]))[1] + np.log(psi * self.scale**2).sum()
        squares = []
        for rows in row_blocks(*X.shape):
            Z = ((X[rows].toarray() if sp.issparse(X) else X[rows]) - self.mean) / self.scale
            U = Z @ weights
            # z'(LL' + Psi)^-1 z as a sum of squares: the difference of two large terms would cancel.
            squares.append(((Z - U @ L.T) ** 2 / psi).sum(axis=1) + (U**2).sum(axis=1))
        return -0.5 * (len(psi) * np.log(2 * np.pi) + determinant + np.concatenate(squares))


@dataclass(frozen=True)
class Saturated:
    """The Gaussian with any covariance, which a model is compared with."""

    R: Array
    log_likelihood: float


def correlations(moments: Moments) -> tuple[Array, Array]:
    """Standard deviations (divisor n) and correlation matrix."""
    S = moments.covariance()
    scale = np.sqrt(np.diag(S))
    R = S / np.outer(scale, scale)
    R[np.diag_indices_from(R)] = 1.0
    return scale, R


def fit_factors(moments: Moments, k: int) -> Climb[FactorModel]:
    """Maximum-likelihood model of given moments."""
    scale, R = correlations(moments)
    model = FactorModel(moments.mean, scale, maximum_likelihood(R, k))
    return Climb(model, (total_log_likelihood(model, moments.weight),), True)


def total_log_likelihood(model: FactorModel, weight: float) -> float:
    """Log-likelihood of the rows a model was fitted to, in their own units."""
    d = len(model.mean)
    return float(-0.5 * weight * (d * np.log(2 * np.pi) + model.factors.objective + 2 * np.log(model.scale).sum()))


def fit_factors_missing(
    X: Array, weights: Array | None, k: int, *, tol: float, max_iter: int
) -> tuple[Climb[FactorModel], Saturated | None]:
    """Maximum-likelihood model of rows with missing entries, and the saturated model beside it.

    Every step starts from the uniquenesses of the last one, under bounds that stay: so no step can lose likelihood.
    """
    variance = _observed_variance(X, np.ones(len(X)) if weights is None else weights)
    last: list[FactorModel] = []

    def fit(moments: Moments) -> FactorModel:
        scale, R = correlations(moments)
        start = last[-1].factors.uniquenesses * (last[-1].scale / scale) ** 2 if last else None
        lower = np.minimum(LEAST_UNIQUENESS * variance / scale**2, 1.0)
        last[:] = [FactorModel(moments.mean, scale, maximum_likelihood(R, k, start=start, lower=lower))]
        return last[-1]

    with one_blas_thread():
        found, _ = fit_missing(X, weights, fit, lambda m: (m.mean, m.covariance()), tol=tol, max_iter=max_iter)
        return found, _saturated(X, weights, tol, max_iter)


def _observed_variance(X: Array, w: Array) -> Array:
    """Variance of what was observed of each column."""
    known = ~np.isnan(X)
    return w @ np.where(known, X - observed_means(X, w), 0.0) ** 2 / (w @ known)


def _saturated(X: Array, weights: Array | None, tol: float, max_iter: int) -> Saturated | None:
    """Fit any covariance; None where the rows do not determine it."""
    if len(X) <= X.shape[1]:
        return None
    try:
        found, _ = fit_missing(X, weights, lambda m: m, lambda m: (m.mean, m.covariance()), tol=tol, max_iter=max_iter)
    except np.linalg.LinAlgError:
        return None
    R = correlations(found.state)[1]
    return Saturated(R, found.path[-1]) if eigvalsh(R)[0] > 1e-10 else None
