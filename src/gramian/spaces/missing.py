r"""Gaussian models of rows with missing entries, by expectation over what is missing.

Given a mean and a covariance, the missing part of a row has a Gaussian distribution that depends on its observed part.
Its expected moments take the place of the moments of complete rows:

.. math:: E[x_m] = \mu_m + C_{mo} C_{oo}^{-1} (x_o - \mu_o), \qquad
          \mathrm{Cov}[x_m] = C_{mm} - C_{mo} C_{oo}^{-1} C_{om}

A model that maximises the likelihood of given moments, alternated with this step, is an EM algorithm: the likelihood of
what was observed never falls. Rows are taken together by the pattern of what they lack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import scipy.linalg

from gramian import lapack
from gramian.config import one_blas_thread
from gramian.operators import Moments, moments_of
from gramian.results import Array
from gramian.solvers.fixed_point import Climb, climb

Model = TypeVar("Model")


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
    with one_blas_thread():  # many small factorisations, one for each pattern
        return _expect(X, groups, mean, C, weights)


def _expect(X: Array, groups: list[Pattern], mean: Array, C: Array, weights: Array | None) -> Expectation:
    filled, log_density = X.copy(), np.empty(len(X))
    spread = np.zeros_like(C)
    for group in groups:
        o, m, rows = group.observed, group.missing, group.rows
        factor = lapack.cholesky(C[np.ix_(o, o)], lower=True)
        A = X[np.ix_(rows, o)] - mean[o]
        Z = scipy.linalg.solve_triangular(factor, A.T, lower=True)
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

    Parameters
    ----------
    X : (n, d) array
        NaN where missing.
    weights : (n,) array, optional
        Frequencies.
    fit : callable
        Maximum-likelihood model of given moments.
    covariance : callable
        Mean and covariance of a model.
    tol, max_iter
        Relative gain of the likelihood at which to stop, and steps at the most.

    Returns
    -------
    climb, expectation
        The model with the likelihood on its way, and the expectation under it.
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
