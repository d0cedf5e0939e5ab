"""ICA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant

#: The same for both: largest entry of the relative gradient, and steps at the most.
TOLERANCE, STEPS = 1e-7, 500


def _mixture(n: int, d: int) -> Any:
    rng = np.random.default_rng(0)
    return rng.laplace(size=(n, d)) @ rng.standard_normal((d, d)) + 3.0


def _log_likelihood(W: Any, X: Any) -> float:
    """By the formula: independent of what either side reports."""
    Y = np.abs((X - X.mean(axis=0)) @ W.T)
    return float(len(X) * np.linalg.slogdet(W)[1] - (Y + np.log1p(np.exp(-2 * Y)) + np.log(np.pi / 2)).sum())


def _figures(known: dict[str, Any], W: Any, X: Any, steps: int) -> dict[str, Any]:
    if not known:  # in the warm-up, which is not timed
        known["log_likelihood"] = _log_likelihood(W, X)
        known["work"] = f"{steps} steps, log-likelihood {known['log_likelihood']:.4f}"
    return known


def ours(n: int, d: int) -> Callable[[], dict[str, Any]]:
    """Fit gramian.ICA as it comes."""
    from gramian.estimators.ica import ICA

    X, known = _mixture(n, d), {}

    def run() -> dict[str, Any]:
        model = ICA(tol=TOLERANCE, max_iter=STEPS).fit(X)
        return _figures(known, model.components_, X, model.n_iter_)

    return run


def theirs(n: int, d: int) -> Callable[[], dict[str, Any]]:
    """Call picard plainly, for the same density."""
    from picard import picard

    X, known = _mixture(n, d), {}

    def run() -> dict[str, Any]:
        K, W, _, steps = picard(
            X.T, ortho=False, extended=False, tol=TOLERANCE, max_iter=STEPS, random_state=0, return_n_iter=True
        )
        return _figures(known, W @ K, X, steps)

    return run


def contests() -> list[Contest]:
    """All of them."""
    shape = {"n": 100_000, "d": 20}
    return [
        Contest(
            "ICA, 100,000 x 20",
            (Contestant("gramian", ours, shape), Contestant("picard", theirs, shape)),
        )
    ]
