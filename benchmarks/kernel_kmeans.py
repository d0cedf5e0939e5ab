"""Kernel k-means against tslearn's, and on more rows than that can hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant
from benchmarks.data import blobs


def _objective(X: Any, gamma: float, labels: Any) -> float:
    """Sum of squared distances to the means in feature space, by scikit-learn's kernel: the same for both sides."""
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.utils import gen_batches

    members = np.eye(labels.max() + 1)[labels]
    images = [members[rows].T @ (rbf_kernel(X[rows], X, gamma=gamma) @ members) for rows in gen_batches(len(X), 1000)]
    return float(len(X) - (np.diag(sum(images)) / members.sum(axis=0)).sum())


def _figures(known: dict[str, Any], X: Any, gamma: float, labels: Any, work: str) -> dict[str, Any]:
    if not known:  # once: the labels are the same at every turn
        known["inertia"] = _objective(X, gamma, labels)
        known["work"] = f"{work}, inertia {known['inertia']:.6g}"
    return known


def ours(n: int, d: int, k: int, starts: int, batch: int | None = None, check: bool = True) -> Callable:
    """Gramian's KernelKMeans."""
    from gramian.estimators.kernel_kmeans import KernelKMeans
    from gramian.kernels import RBF

    X, known = blobs(n, d), {}

    def run() -> dict[str, Any]:
        model = KernelKMeans(k, kernel=RBF(gamma=1 / d), n_init=starts, batch_size=batch, random_state=0).fit(X)
        work = f"{model.n_iter_} steps, {model.summary_.facts['work']}"
        if not check:
            return {"work": f"{work}, inertia {model.inertia_:.6g}", "inertia": model.inertia_}
        return _figures(known, X, 1 / d, model.labels_, work)

    return run


def theirs(n: int, d: int, k: int, starts: int) -> Callable:
    """Tslearn's KernelKMeans: rows are series of d steps."""
    warnings.filterwarnings("ignore", message="h5py not installed")
    from tslearn.clustering import KernelKMeans

    X, known = blobs(n, d), {}

    def run() -> dict[str, Any]:
        model = KernelKMeans(k, kernel="rbf", kernel_params={"gamma": 1 / d}, n_init=starts, random_state=0)
        model.fit(X[:, :, None])
        return _figures(known, X, 1 / d, model.labels_, f"{model.n_iter_} steps")

    return run


def contests() -> list[Contest]:
    """All of them."""
    small, large = ({"n": n, "d": 20, "k": 10, "starts": 1} for n in (5_000, 20_000))
    note = "tslearn leaves out the length of the means; inertia is computed for both label vectors in the same way"
    return [
        Contest(
            "kernel k-means, n = 5,000, k = 10, one start",
            (Contestant("gramian", ours, small), Contestant("tslearn", theirs, small)),
            note=note,
        ),
        Contest(
            "kernel k-means, n = 20,000, k = 10, one start",
            (Contestant("gramian", ours, large), Contestant("tslearn", theirs, large)),
            repeats=1,
            note=note,
        ),
        Contest(
            "kernel k-means, n = 20,000, k = 10, ten starts",
            (Contestant("gramian", ours, {**large, "starts": 10}),),
        ),
        Contest(
            "kernel k-means, n = 200,000, k = 10, batches of 1,024",
            (Contestant("gramian", ours, {**large, "n": 200_000, "starts": 10, "batch": 1024, "check": False}),),
            repeats=1,
            warm=False,
            note="a kernel matrix would take 320 GB",
        ),
    ]
