"""PCA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant


def _wide(n: int, d: int) -> Any:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 30)) * 2.0 ** -np.arange(30) @ rng.standard_normal(
        (30, d)
    ) + 0.1 * rng.standard_normal((n, d))


def ours(n: int, d: int, k: int) -> Callable[[], dict[str, Any]]:
    """gramian.PCA as it comes."""
    from gramian import PCA

    X = _wide(n, d)

    def run() -> dict[str, Any]:
        model = PCA(k).fit(X)
        return {"work": model.summary_.facts["solver"], "eigenvalues": model.explained_variance_.tolist()}

    return run


def theirs(n: int, d: int, k: int, solver: str) -> Callable[[], dict[str, Any]]:
    """scikit-learn's PCA."""
    from sklearn.decomposition import PCA

    X = _wide(n, d)
    return lambda: {"eigenvalues": PCA(k, svd_solver=solver, random_state=0).fit(X).explained_variance_.tolist()}


def contests() -> list[Contest]:
    """All of them."""
    shape = {"n": 2_000, "d": 20_000, "k": 10}
    return [
        Contest(
            "PCA, 2,000 x 20,000, k = 10",
            (Contestant("gramian", ours, shape), Contestant("scikit-learn full", theirs, {**shape, "solver": "full"})),
            repeats=1,  # the peer takes minutes, and the ratio leaves no room for noise
            warm=False,
        )
    ]
