"""Kernel PCA: small, large, very large, slow spectra, and new points."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant
from benchmarks.data import blobs, decaying, pixels, residuals

#: Four kinds of spectra: rows, columns, and gamma in units of 1 / d. The first has its own line.
SPECTRA = {
    "slow spectrum": (blobs, 20, 10.0),
    "smooth decay": (decaying, 20, 2.0),
    "like digits": (pixels, 64, 1.0),
}


def ours(
    n: int,
    d: int,
    k: int,
    sharpness: float = 1.0,
    tol: float | None = None,
    check: bool = True,
    rows: Callable = blobs,
) -> Callable:
    """gramian.KernelPCA as it comes; ``tol`` sets another residual than the default."""
    from gramian import ConvergenceWarning, KernelPCA
    from gramian.kernels import RBF
    from gramian.solvers import Krylov

    X, gamma = rows(n, d), sharpness / d
    solver = "auto" if tol is None else Krylov(tol=tol)
    known: dict[str, Any] = {}

    def run() -> dict[str, Any]:
        model = KernelPCA(k, kernel=RBF(gamma=gamma), solver=solver)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            scores = model.fit_transform(X)
        facts = model.summary_.facts
        known.update(
            work=facts["products"],
            converged=facts["converged"],
            residual=float(facts["residuals"].max()),
            eigenvalues=model.eigenvalues_.tolist(),
        )
        if check and "checked" not in known:  # in the warm-up, which is not timed
            vectors = scores / np.sqrt(model.eigenvalues_)
            known["checked"] = residuals(X, gamma, vectors, model.eigenvalues_)
        return dict(known)

    return run


def theirs(n: int, d: int, k: int, solver: str, sharpness: float = 1.0, rows: Callable = blobs) -> Callable:
    """scikit-learn's KernelPCA."""
    from sklearn.decomposition import KernelPCA

    X, gamma = rows(n, d), sharpness / d

    def run() -> dict[str, Any]:
        model = KernelPCA(k, kernel="rbf", gamma=gamma, eigen_solver=solver, random_state=0, copy_X=False).fit(X)
        return {"eigenvalues": model.eigenvalues_.tolist()}

    return run


def our_transform(n: int, m: int, d: int) -> Callable:
    """New points through gramian."""
    from gramian import KernelPCA
    from gramian.kernels import RBF

    X = blobs(n + m, d)
    model = KernelPCA(10, kernel=RBF(gamma=1 / d)).fit(X[:n])
    new = X[n:]
    return lambda: {"first": np.abs(model.transform(new)[0]).tolist()}


def their_transform(n: int, m: int, d: int) -> Callable:
    """New points through scikit-learn."""
    from sklearn.decomposition import KernelPCA

    X = blobs(n + m, d)
    model = KernelPCA(10, kernel="rbf", gamma=1 / d, eigen_solver="arpack", random_state=0).fit(X[:n])
    new = X[n:]
    return lambda: {"first": np.abs(model.transform(new)[0]).tolist()}


def contests() -> list[Contest]:
    """All of them."""
    small, large = {"n": 2_000, "d": 20, "k": 10}, {"n": 20_000, "d": 20, "k": 10}
    points = {"n": 5_000, "m": 100_000, "d": 20}
    return [
        Contest(
            "kernel PCA, n = 2,000, d = 20, k = 10",
            (
                Contestant("gramian", ours, small),
                *(
                    Contestant(f"scikit-learn {s}", theirs, {**small, "solver": s})
                    for s in ("auto", "arpack", "randomized")
                ),
            ),
            repeats=5,
        ),
        Contest(
            "kernel PCA, n = 20,000, d = 20, k = 10",
            (
                Contestant("gramian", ours, large),
                *(Contestant(f"scikit-learn {s}", theirs, {**large, "solver": s}) for s in ("arpack", "randomized")),
            ),
        ),
        *(
            Contest(
                f"kernel PCA, n = 20,000, {name} (gamma = {sharpness:g}/d)",
                (
                    Contestant("gramian", ours, {**large, "d": d, "sharpness": sharpness, "rows": rows}),
                    *(
                        Contestant(
                            f"scikit-learn {s}",
                            theirs,
                            {**large, "d": d, "solver": s, "sharpness": sharpness, "rows": rows},
                        )
                        for s in ("arpack", "randomized")
                    ),
                ),
            )
            for name, (rows, d, sharpness) in SPECTRA.items()
        ),
        Contest(
            "kernel PCA, n = 100,000, d = 20, k = 10, residuals <= 1e-4",
            (Contestant("gramian", ours, {"n": 100_000, "d": 20, "k": 10, "tol": 1e-4, "check": False}),),
            repeats=1,
            warm=False,
            note="scikit-learn would need 80 GB",
        ),
        Contest(
            "transform of 100,000 points, 5,000 training points",
            (Contestant("gramian", our_transform, points), Contestant("scikit-learn", their_transform, points)),
        ),
    ]
