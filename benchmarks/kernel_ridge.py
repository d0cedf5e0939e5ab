"""Kernel ridge: exact fits of many rows.

Targets are smooth functions of random directions, with noise of a tenth of their spread:
``sin(x'u) + cos(x'v) x'w`` with directions of length 1/2. Predictions are compared on 1,000 rows held out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant
from benchmarks.data import blobs

HELD_OUT = 1_000


def _problem(n: int, d: int) -> tuple[Any, Any, Any]:
    """Training rows and targets, and rows held out."""
    X = blobs(n + HELD_OUT, d)
    rng = np.random.default_rng(0)
    U = rng.standard_normal((d, 3))
    S = X @ (U / np.linalg.norm(U, axis=0) / 2)
    y = np.sin(S[:, 0]) + np.cos(S[:, 1]) * S[:, 2]
    y += 0.1 * y.std() * rng.standard_normal(len(y))
    return X[:n], y[:n], X[n:]


def our_ridge(n: int, d: int, ridge: float, tol: float | None = None) -> Callable[[], dict[str, Any]]:
    """gramian.KernelRidge as it comes (or to another tolerance), prediction included."""
    from gramian.estimators.kernel_ridge import KernelRidge
    from gramian.kernels import RBF
    from gramian.solvers.conjugate import ConjugateGradients

    X, y, new = _problem(n, d)
    solver = "auto" if tol is None else ConjugateGradients(tol=tol)

    def run() -> dict[str, Any]:
        model = KernelRidge(ridge, kernel=RBF(gamma=1 / d), solver=solver).fit(X, y)
        predictions = model.predict(new)
        facts = model.summary_.facts
        return {
            "work": facts["products"],
            "residual": float(facts["residuals"].max()),
            "converged": facts["converged"],
            "mean": float(predictions.mean()),
        }

    return run


def their_ridge(n: int, d: int, ridge: float) -> Callable[[], dict[str, Any]]:
    """scikit-learn's KernelRidge as it comes; its error is the difference of its predictions from ours."""
    from sklearn.kernel_ridge import KernelRidge as Theirs

    from gramian.estimators.kernel_ridge import KernelRidge
    from gramian.kernels import RBF

    X, y, new = _problem(n, d)
    ours = KernelRidge(ridge, kernel=RBF(gamma=1 / d)).fit(X, y).predict(new)

    def run() -> dict[str, Any]:
        predictions = Theirs(alpha=ridge, kernel="rbf", gamma=1 / d).fit(X, y).predict(new)
        return {
            "error": float(np.abs(predictions - ours).max() / np.abs(predictions).max()),
            "mean": float(predictions.mean()),
        }

    return run


def contests() -> list[Contest]:
    """All of them."""
    found = []
    for ridge in (0.1, 1e-3):
        shape = {"n": 10_000, "d": 20, "ridge": ridge}
        found.append(
            Contest(
                f"kernel ridge, 10,000 x 20, ridge {ridge:g}",
                (Contestant("gramian", our_ridge, shape), Contestant("scikit-learn", their_ridge, shape)),
                warm=False,
                note="fit and 1,000 predictions",
            )
        )
    found.append(
        Contest(
            "kernel ridge, 100,000 x 20, ridge 1, residual 1e-4",
            (Contestant("gramian", our_ridge, {"n": 100_000, "d": 20, "ridge": 1.0, "tol": 1e-4}),),
            repeats=1,
            warm=False,
            note="scikit-learn would need 80 GB for the kernel matrix",
        )
    )
    return found
