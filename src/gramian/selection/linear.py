"""Criteria of methods of one table: PCA, probabilistic PCA, factor analysis."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from gramian import criteria
from gramian.criteria import Suggestion, Variances
from gramian.criteria.edge import DEFLATED
from gramian.estimators import PCA, FactorAnalysis
from gramian.estimators.base import random_generator
from gramian.estimators.factor_checks import refuse_constant
from gramian.estimators.validation import check_choice, validate
from gramian.operators import Moments, moments_of
from gramian.results import Array
from gramian.selection.answer import HowMany, decide
from gramian.solvers.dense import pinned_if_small
from gramian.spaces import LinearSpace, MomentSpace
from gramian.spaces.gaussian import correlations
from gramian.spaces.linear import SUM_OF_SQUARES_RANGE

#: Folds of rows, by turns: an even number, so that they also make two halves.
FOLDS = 6
#: Columns up to which d x d matrices are formed.
MOST_COLUMNS = 1000
#: Variance of the largest column, in units of the median one, from which on it is said.
UNEVEN = 100


def how_many_linear(X: Any, *, method: str, random_state: Any = None, scale: bool = False) -> HowMany:
    """Ask the criteria of principal components."""
    check_choice("scale", scale, (True, False))
    X = validate(PCA(), X, min_samples=4)
    seed = int(random_generator(random_state).integers(2**31))
    basis = "correlation" if scale else "covariance"
    if X.shape[1] > MOST_COLUMNS:
        rows = LinearSpace(X, scale=scale)
        found = Variances.of(rows.basis(None))
        _refuse_constant(found)
        table = [*_spectral(found), *_left_out(X.shape[1]), criteria.stands_out(rows)]
        return decide(method, X.shape, basis, table, (DEFLATED,))
    folds = moments_of_folds(X)
    with pinned_if_small(X.shape[1] ** 3):
        moments = MomentSpace(reduce(Moments.__add__, folds), scale=scale)
        found = Variances.of(moments.basis(None))
        _refuse_constant(found)
        units = moments.scale * (np.diag(moments.scatter) > 0)
        table = [
            *_spectral(found),
            criteria.horn(found, correlation=scale, seed=seed),
            criteria.held_out(folds, units),
            criteria.bi_cross_validation(folds, units),
            criteria.stands_out(moments),
        ]
    return decide(method, X.shape, basis, table, (DEFLATED,), "" if scale else _uneven(found.columns))


def _uneven(columns: Array) -> str:
    """What to mind where one column can pass for a component."""
    if columns.max() < UNEVEN * np.median(columns):
        return ""
    return (
        f"the largest column has {columns.max() / np.median(columns):.3g} times the variance of the middle one; "
        "scale=True puts all on one footing"
    )


def moments_of_folds(X: Any) -> list[Moments]:
    """Moments of every sixth row, from each of the first six on."""
    return [_comfortable(moments_of(X[at::FOLDS])) for at in range(min(FOLDS, X.shape[0]))]


def _comfortable(moments: Moments) -> Moments:
    """Refuse rows whose squares leave double precision."""
    if not np.isfinite(moments.mean).all() or not np.trace(moments.scatter) < SUM_OF_SQUARES_RANGE[1]:
        raise ValueError("the squares of X overflow double precision. Divide X by a constant.")
    return moments


def _spectral(found: Variances) -> list[Suggestion]:
    """Criteria that need the variances alone."""
    rules = (
        criteria.variance_share,
        criteria.kaiser,
        criteria.broken_stick,
        criteria.velicer,
        criteria.gavish_donoho,
        criteria.minka,
        criteria.bic,
        criteria.deterministic,
    )
    gap = criteria.largest_gap(found.leading(), whole=True)
    return [*(rule(found) for rule in rules[:3]), gap, *(rule(found) for rule in rules[3:])]


def _left_out(d: int) -> list[Suggestion]:
    why = f"not asked: {d:,} columns are more than {MOST_COLUMNS:,}"
    return [
        Suggestion("parallel analysis", None, "Horn 1965", why),
        Suggestion("likelihood of rows left out", None, "Tipping, Bishop 1999", why),
        Suggestion("bi-cross-validation", None, "Owen, Perry 2009", why),
    ]


def _refuse_constant(found: Variances) -> None:
    if not found.d:
        raise ValueError("X has zero variance: there are no components to count. Check X for identical rows.")


def how_many_factors(X: Any, *, method: str, random_state: Any = None) -> HowMany:
    """Ask the criteria of common factors; they look at the correlation matrix."""
    model = FactorAnalysis()
    X = validate(model, X, min_samples=4)
    seed = int(random_generator(random_state).integers(2**31))
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(f"X has {X.shape[1]:,} columns; factors are counted for up to {MOST_COLUMNS:,}. Use fewer.")
    moments = _comfortable(moments_of(X))
    refuse_constant(moments, model._names())
    with pinned_if_small(X.shape[1] ** 3):
        table = factor_table(correlations(moments)[1], moments.weight, seed)
    return decide(method, X.shape, "correlation", table, (DEFLATED,))


def factor_table(R: Array, n: float, seed: int = 0) -> list[Suggestion]:
    """What every criterion says of a correlation matrix of n rows."""
    found = Variances.of_matrix(R, n)
    return [
        criteria.kaiser(found),
        criteria.broken_stick(found),
        criteria.largest_gap(found.leading(), whole=True),
        criteria.velicer(found),
        *criteria.factor_fits(R, n),
        criteria.horn(found, correlation=True, seed=seed),
        criteria.horn_factors(R, n, seed=seed),
        criteria.deterministic(found),
        criteria.deflated(found),
    ]
