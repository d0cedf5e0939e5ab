"""Kernel CCA: two views of a few shared causes, seen through different curves.

Both sides solve the same problem: a shrinkage c of cca-zoo is our ridge ``c / (1 - c)``. Correlations of the training
scores are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant

SHRINKAGE = 0.1


def _views(n: int, d: int) -> tuple[Any, Any]:
    """Three causes, bent differently on their way into d columns of each view, with noise of half their size."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, 3))
    X, Y = (bend(Z @ rng.standard_normal((3, d))) for bend in (np.tanh, np.sin))
    return X + 0.5 * rng.standard_normal((n, d)), Y + 0.5 * rng.standard_normal((n, d))


def ours(n: int, d: int, k: int, folds: int | None = 5) -> Callable[[], dict[str, Any]]:
    """gramian.KernelCCA as it comes, or without what it adds: correlations on rows held out."""
    from gramian.estimators.kernel_cca import KernelCCA
    from gramian.kernels import RBF

    X, Y = _views(n, d)

    def run() -> dict[str, Any]:
        model = KernelCCA(k, kernel=RBF(gamma=1 / d), ridge=SHRINKAGE / (1 - SHRINKAGE), folds=folds).fit(X, Y)
        facts = model.summary_.facts
        return {
            "work": facts["products"],
            "residual": float(facts["residuals"].max()),
            "converged": facts["converged"],
            "eigenvalues": model.score_correlations_.tolist(),
        }

    return run


def theirs(n: int, d: int, k: int) -> Callable[[], dict[str, Any]]:
    """cca-zoo's KCCA as it comes."""
    from cca_zoo.nonparametric import KCCA

    X, Y = _views(n, d)

    def run() -> dict[str, Any]:
        model = KCCA(k, kernel="rbf", gamma=1 / d, shrinkage=SHRINKAGE).fit([X, Y])
        A, B = model.transform([X, Y])
        return {"eigenvalues": [float(np.corrcoef(A[:, j], B[:, j])[0, 1]) for j in range(k)]}

    return run


def contests() -> list[Contest]:
    """All of them."""
    found = []
    for n, repeats in ((1_000, 3), (5_000, 1)):
        shape = {"n": n, "d": 20, "k": 5}
        found.append(
            Contest(
                f"kernel CCA, n = {n:,}, d = 20 and 20, k = 5",
                (
                    Contestant("gramian", ours, shape),
                    Contestant("gramian, fit alone", ours, {**shape, "folds": None}),
                    Contestant("cca-zoo", theirs, shape),
                ),
                repeats=repeats,
                warm=n <= 1_000,
                note="our first figure includes five fits on folds; cca-zoo takes many minutes for 5,000 rows",
            )
        )
    found.append(
        Contest(
            "kernel CCA, n = 50,000, d = 20 and 20, k = 5",
            (Contestant("gramian, fit alone", ours, {"n": 50_000, "d": 20, "k": 5, "folds": None}),),
            repeats=1,
            warm=False,
            note="cca-zoo would need 80 GB for its largest matrix",
        )
    )
    return found
