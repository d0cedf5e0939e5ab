"""Parallel analysis: what columns without correlation would show, in tables drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gramian import lapack
from gramian.criteria.base import Suggestion, Variances, run_length
from gramian.engine.tiles import Meter, run, share, threads_for
from gramian.results import Array

#: Random tables, and the quantile of theirs that a component must pass.
TABLES, QUANTILE = 100, 0.95
COMMON = "parallel analysis of common variance"


def random_scatter(columns: Array, freedom: float, rng: np.random.Generator) -> Array:
    """Covariance matrix of normal rows with uncorrelated columns, drawn without the rows: Bartlett's decomposition."""
    d, whole = len(columns), int(np.floor(freedom))
    m = min(d, whole)
    L = np.tril(rng.standard_normal((d, m)), -1)
    L[np.arange(m), np.arange(m)] = np.sqrt(rng.chisquare(freedom - np.arange(m)))
    L *= np.sqrt(columns / freedom)[:, None]
    return L @ L.T


def random_values(
    columns: Array, freedom: float, *, tables: int, seed: int, values_of: Callable[[Array], Array]
) -> Array:
    """Values of random covariance matrices, a row each."""
    seeds = np.random.default_rng(seed).spawn(tables)

    return each(lambda at: values_of(random_scatter(columns, freedom, seeds[at])), tables)


def each(one: Callable[[int], Array], count: int) -> Array:
    """Rows ``one(0), one(1), ...`` of an array, made by all threads."""
    found: list[Any] = [None] * count

    def work(chosen: Sequence[int], meter: Meter) -> None:
        for at in chosen:
            found[at] = one(at)
            meter.tick()

    run(work, share(count, threads_for(count)))
    return np.array(found)


def correlation_of(C: Array) -> Array:
    """Correlation matrix of a covariance matrix."""
    size = np.sqrt(np.diag(C))
    R = C / np.outer(size, size)
    R[np.diag_indices_from(R)] = 1.0
    return R


def descending(C: Array) -> Array:
    """Eigenvalues, the largest first."""
    return lapack.eigvalsh(C)[::-1]


def reduced(R: Array) -> Array:
    """Eigenvalues of a correlation matrix with squared multiple correlations on its diagonal, the largest first."""
    own = 1 / np.diag(lapack.interruptible(np.linalg.inv, R))
    return descending(R - np.diag(own))


def horn(found: Variances, *, correlation: bool, tables: int = TABLES, seed: int = 0) -> Suggestion:
    """Components with more variance than in 95 % of random tables; the scale is that of the analysis.

    References
    ----------
    Horn, Psychometrika 1965; Buja, Eyuboglu, Remarks on parallel analysis, Multivariate Behavioral Research 1992.
    """
    limits = component_limits(
        np.ones(found.d) if correlation else found.columns,
        found.freedom,
        correlation=correlation,
        tables=tables,
        seed=seed,
    )
    return passed_limits(found, limits, tables)


def component_limits(columns: Array, freedom: float, *, correlation: bool, tables: int, seed: int) -> Array:
    """What the k-th variance of a random table passes once in twenty."""
    drawn = random_variances(columns, freedom, correlation=correlation, tables=tables, seed=seed)
    return np.quantile(drawn, QUANTILE, axis=0)


def random_variances(columns: Array, freedom: float, *, correlation: bool, tables: int, seed: int) -> Array:
    """Variances of the components of random tables, a row each."""
    values_of = (lambda C: descending(correlation_of(C))) if correlation else descending
    return random_values(columns, freedom, tables=tables, seed=seed, values_of=values_of)


def passed_limits(found: Variances, limits: Array, tables: int) -> Suggestion:
    """Compare variances with those of random tables."""
    values = found.leading()
    k = run_length(values > limits[: len(values)])
    detail = f"{tables} random tables" + (f", next {values[k]:.4g} of {limits[k]:.4g}" if k < len(values) else "")
    return Suggestion("parallel analysis", k, "Horn 1965", detail)


def horn_factors(R: Array, n: float, *, tables: int = TABLES, seed: int = 0) -> Suggestion:
    """Factors with more common variance than in 95 % of random tables.

    References
    ----------
    Humphreys, Ilgen, Note on a criterion for the number of common factors, Educational and Psychological Measurement
    1969.
    """
    d = len(R)
    if n - 1 <= d or lapack.eigvalsh(R)[0] <= 1e-10:
        return Suggestion(COMMON, None, "Humphreys, Ilgen 1969", "the correlation matrix is singular")
    return passed_factor_limits(R, factor_limits(d, n - 1, tables=tables, seed=seed), tables)


def passed_factor_limits(R: Array, limits: Array, tables: int) -> Suggestion:
    """Compare common variances with those of random tables."""
    values = reduced(R)
    k = run_length((values > limits) & (values > 0))
    return Suggestion(COMMON, k, "Humphreys, Ilgen 1969", f"{tables} random tables")


def factor_limits(d: int, freedom: float, *, tables: int, seed: int) -> Array:
    """What the k-th common variance of a random table passes once in twenty."""
    drawn = random_values(np.ones(d), freedom, tables=tables, seed=seed, values_of=lambda C: reduced(correlation_of(C)))
    return np.quantile(drawn, QUANTILE, axis=0)
