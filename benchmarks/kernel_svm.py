"""Kernel support vector machine: noisy labels of a smooth function, at a small and at a large bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant
from benchmarks.data import blobs


def noisy(n: int, d: int) -> Any:
    """Clusters with the sign of a smooth function as labels, one in ten flipped; and 5,000 rows to test on."""
    X = blobs(n + 5_000, d)
    f = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * (X[:, 3] ** 2 - 1) + X[:, 4]
    y = np.where(f > np.median(f), 1, -1)
    y[np.random.default_rng(0).random(len(y)) < 0.1] *= -1
    return X[:n], y[:n], X[n:], y[n:]


def ours(n: int, d: int, C: float) -> Callable[[], dict[str, Any]]:
    """gramian.KernelSVC as it comes."""
    from gramian import KernelSVC
    from gramian.kernels import RBF

    X, y, X_test, y_test = noisy(n, d)
    known: dict[str, Any] = {}

    def run() -> dict[str, Any]:
        model = KernelSVC(C, kernel=RBF(gamma=1 / d)).fit(X, y)
        if not known:  # in the warm-up, which is not timed
            known["error"] = 1 - model.score(X_test, y_test)
        facts = model.summary_.facts
        work = f"{facts['steps']:,} steps, {facts['n_support']:,} supports"
        return {"work": work, "residual": facts["kkt_residual"], "converged": facts["converged"], **known}

    return run


def theirs(n: int, d: int, C: float, cache: float) -> Callable[[], dict[str, Any]]:
    """scikit-learn's SVC (with an offset), with so many megabytes of cache."""
    from sklearn.svm import SVC

    X, y, X_test, y_test = noisy(n, d)
    known: dict[str, Any] = {}

    def run() -> dict[str, Any]:
        model = SVC(C=C, gamma=1 / d, cache_size=cache).fit(X, y)
        if not known:
            known["error"] = 1 - model.score(X_test, y_test)
        return {"work": f"{int(model.n_iter_.sum()):,} steps, {len(model.support_):,} supports", **known}

    return run


def contests() -> list[Contest]:
    """All of them."""
    size = {"n": 20_000, "d": 20}
    return [
        Contest(
            f"kernel SVM, n = 20,000, d = 20, C = {C:g}",
            (
                Contestant("gramian", ours, {**size, "C": C}),
                Contestant("scikit-learn", theirs, {**size, "C": C, "cache": 200}),
                Contestant("scikit-learn, cache 2 GB", theirs, {**size, "C": C, "cache": 2000}),
            ),
            repeats=3 if C == 1 else 1,  # at the large bound a peer takes minutes
            note="KKT residual 1e-3 on both sides",
        )
        for C in (1.0, 100.0)
    ]
