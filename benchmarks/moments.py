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


def contests() -> list[Contest]:
    """All of them."""
    shape = {"n": 500_000, "d": 100}
    return [
        Contest(
            "PCA, 500,000 x 100, k = 10",
            (
                Contestant("gramian", our_pca, shape),
                Contestant("bare X'X", product, shape),
                Contestant("scikit-learn", their_pca, shape),
            ),
            repeats=5,
        )
    ]
