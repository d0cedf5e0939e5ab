"""Criteria of methods of two blocks of columns: regressions on components, canonical correlations."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.criteria import Suggestion
from gramian.estimators import CCA, PLSRegression, PrincipalComponentRegression
from gramian.estimators.base import random_generator
from gramian.estimators.cca import check_ridge
from gramian.estimators.cca_tests import PERMUTED, WILKS, by_permutations, by_shuffles, by_wilks
from gramian.selection.answer import HowMany, decide

REGRESSIONS = {"pls": PLSRegression, "pcr": PrincipalComponentRegression}
ONE_ERROR = "within one standard error"


def how_many_regressors(X: Any, *, y: Any, method: str, random_state: Any = None, **options: Any) -> HowMany:
    """Cross-validate every number of components in one run; folds are every so-manyth row, nothing is random."""
    model = REGRESSIONS[method]("auto", **options)
    path = model.cross_validate(X, y)
    folds = f"{path.folds} folds"
    error = ", ".join(f"{value:.4g}" for value in path.rmsecv[path.best])
    table = [
        Suggestion("least cross-validated error", path.best, "Stone 1974", f"{folds}, RMSECV {error}"),
        Suggestion(ONE_ERROR, path.recommended, "Breiman et al. 1984", f"{folds}, fewest that are near the least"),
    ]
    return decide(method, np.shape(X), "regression", table, (ONE_ERROR,))


def how_many_pairs(X: Any, *, y: Any, method: str, random_state: Any = None, **options: Any) -> HowMany:
    """Test canonical correlations, under normality and by permutations."""
    model = CCA(None, **options).fit(X, y)
    p, q = model.rank_
    ridge, rng = check_ridge(model.ridge), random_generator(random_state)
    if any(ridge):
        rows, second = model._both(X, y)
        table = [
            Suggestion(WILKS, None, "Rao 1952", "is for ridge = 0"),
            by_shuffles(rows, second, model.all_correlations_, ridge, rng, scale=model.scale),
        ]
        return decide(method, np.shape(X), f"canonical correlations, ridge {model.ridge}", table, (PERMUTED,))
    table = [Suggestion(WILKS, None, "Rao 1952", f"needs more rows than {p + q + 1}")]
    if model.n_samples_ - 1 > p + q:
        table = [by_wilks(model.all_correlations_, model.rank_, model.n_samples_)]
    rows, second = model._both(X, y)
    table.append(by_permutations(rows, second, len(model.all_correlations_), rng))
    return decide(method, np.shape(X), "canonical correlations", table, (PERMUTED,))
