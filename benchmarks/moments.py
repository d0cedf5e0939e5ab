"""The linear family from one pass over many rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant


def _tall(n: int, d: int) -> Any:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X[:, :10] += rng.standard_normal((n, 1)) * np.linspace(2, 1, 10)
    return X


def our_pca(n: int, d: int) -> Callable[[], dict[str, Any]]:
    """gramian.PCA as it comes."""
    from gramian import PCA

    X = _tall(n, d)

    def run() -> dict[str, Any]:
        model = PCA(10).fit(X)
        return {"work": model.summary_.facts["solver"], "eigenvalues": model.explained_variance_.tolist()}

    return run


def their_pca(n: int, d: int) -> Callable[[], dict[str, Any]]:
    """scikit-learn's PCA as it comes."""
    from sklearn.decomposition import PCA

    X = _tall(n, d)
    return lambda: {"eigenvalues": PCA(10).fit(X).explained_variance_.tolist()}


def product(n: int, d: int) -> Callable[[], dict[str, Any]]:
    """Nothing but X'X."""
    X = _tall(n, d)

    def run() -> dict[str, Any]:
        X.T @ X
        return {}

    return run


def _factors(n: int, d: int, k: int) -> Any:
    rng = np.random.default_rng(0)
    loadings = rng.standard_normal((k, d)) * (rng.random((k, d)) < 0.3)
    return rng.standard_normal((n, k)) @ loadings + rng.standard_normal((n, d)) * np.sqrt(rng.uniform(0.3, 1.5, d))


def our_factors(n: int, d: int, k: int) -> Callable[[], dict[str, Any]]:
    """gramian.FactorAnalysis as it comes."""
    from gramian import FactorAnalysis

    X = _factors(n, d, k)

    def run() -> dict[str, Any]:
        model = FactorAnalysis(k).fit(X)
        return {"likelihood": model.log_likelihood_, "work": f"{model.n_iter_} steps"}

    return run


def their_factors(n: int, d: int, k: int) -> Callable[[], dict[str, Any]]:
    """scikit-learn's FactorAnalysis as it comes."""
    from sklearn.decomposition import FactorAnalysis

    X = _factors(n, d, k)

    def run() -> dict[str, Any]:
        model = FactorAnalysis(k).fit(X)
        return {"likelihood": float(model.loglike_[-1]), "work": f"{model.n_iter_} steps"}

    return run


def all_criteria(n: int, d: int) -> Callable[[], dict[str, Any]]:
    """gramian.selection.how_many: every criterion."""
    from gramian.selection import how_many

    X = _tall(n, d)
    return lambda: {"work": f"{how_many(X).recommended} components"}


def random_tables(n: int, d: int) -> Callable[[], dict[str, Any]]:
    """Nothing but the random tables of parallel analysis."""
    from gramian.criteria.random_tables import component_limits

    columns = _tall(n, d).var(axis=0)

    def run() -> dict[str, Any]:
        component_limits(columns, n - 1, correlation=False, seed=0)
        return {}

    return run


def contests() -> list[Contest]:
    """All of them."""
    shape, some = {"n": 500_000, "d": 100}, {"n": 100_000, "d": 100}
    factors = {**some, "k": 10}
    return [
        Contest(
            "PCA, 500,000 x 100, k = 10",
            (
                Contestant("gramian", our_pca, shape),
                Contestant("bare X'X", product, shape),
                Contestant("scikit-learn", their_pca, shape),
            ),
            repeats=15,  # a tenth of a second each: many turns, or noise decides
        ),
        Contest(
            "factor analysis, 100,000 x 100, k = 10",
            (Contestant("gramian", our_factors, factors), Contestant("scikit-learn", their_factors, factors)),
        ),
        Contest(
            "how many components, 100,000 x 100",
            (
                Contestant("gramian", all_criteria, some),
                Contestant("bare PCA", our_pca, some),
                Contestant("bare random tables", random_tables, some),
            ),
            repeats=15,
        ),
    ]
