"""Kernel methods of low rank: a million rows through a thousand landmarks.

Blobs are those of the other contests. Unbalanced clusters are one with 99 % of the rows and tiny ones around it: fifty
as wide as the large one, or nine that are ten times as wide, which no few landmarks can fill.

What can be gained there is bounded by the eigenvalues. With the fifty tiny clusters the best matrix of rank 200 leaves
2.6e-4 of the trace (the sum of the other eigenvalues), 0.025 of the 0.0102 that uniform landmarks leave; pivoted ones
leave 3.3e-4, 0.033 of it. The nine wide clusters are 523 of 50,000 rows, hardly two of them alike: the best matrix of
rank 200 leaves 3.9e-3, which is 0.37 of uniform landmarks' 0.0104, so that a quarter is out of reach of any choice;
pivoted ones leave 5.8e-3, 1.5 times the best. Eigenvalues are those of the features of all tiny rows and 700 others,
which leave 1.4e-6 of the trace.

So is what can be gained on the clock. Of 200,000 rows and 1,000 landmarks the peer takes 6e11 floating-point
operations, 4e11 to map rows and 2e11 for their scatter; the scatter alone is left here, since it is mapped in place
of the rows. "scatter of" is that step alone, against the same step by BLAS: half of the time which four times the
peer's speed would leave in single precision for everything, landmarks and kernel values included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant
from benchmarks.data import blobs

LANDMARKS = 1_000
#: Seconds that either side works at a time: about what the slower one takes for one fit.
AS_LONG = 5.0


def _targets(X: Any) -> Any:
    """Smooth functions of two columns, with noise."""
    noise = 0.1 * np.random.default_rng(0).standard_normal(len(X))
    return (np.sin(X[:, 0]) + np.cos(X[:, 1]) * X[:, 2] + noise).astype(X.dtype)


def unbalanced(n: int, d: int, tiny: int, wide: float) -> Any:
    """One cluster of 99 % of the rows, and tiny ones, so many times as wide, that share the rest."""
    rng = np.random.default_rng(0)
    owner = np.where(rng.random(n) < 0.99, 0, rng.integers(1, tiny + 1, n))
    spread = np.where(owner == 0, 0.1, 0.1 * wide)[:, None]
    return 8.0 * rng.standard_normal((tiny + 1, d))[owner] + spread * rng.standard_normal((n, d))


#: Name -> number and width of the tiny clusters.
UNBALANCED = {"unbalanced clusters": (50, 1.0), "unbalanced clusters, the tiny ones wide": (9, 10.0)}


def ours(n: int, d: int, dtype: str, method: str) -> Callable[[], dict[str, Any]]:
    """KernelPCA or KernelRidge of gramian with landmarks."""
    from gramian import KernelPCA, KernelRidge
    from gramian.kernels import RBF

    X = blobs(n, d, np.dtype(dtype))
    y, kernel = _targets(X), RBF(gamma=1 / d)

    def run() -> dict[str, Any]:
        if method == "ridge":
            model = KernelRidge(1.0, kernel=kernel, fit_intercept=True, landmarks=LANDMARKS).fit(X, y)
            error = 1 - model.score(X[:2000], y[:2000])
        else:
            model = KernelPCA(10, kernel=kernel, landmarks=LANDMARKS).fit(X)
            error = 1 - float(model.explained_variance_ratio_.sum())
        return {"work": model.summary_.facts["features"], "error": float(error), "trace_error": model.trace_error_}

    return run


def theirs(n: int, d: int, dtype: str, method: str) -> Callable[[], dict[str, Any]]:
    """scikit-learn's Nystroem, then PCA or Ridge."""
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    X = blobs(n, d, np.dtype(dtype))
    y = _targets(X)

    def run() -> dict[str, Any]:
        features = Nystroem(gamma=1 / d, n_components=LANDMARKS, random_state=0)
        if method == "ridge":
            model = make_pipeline(features, Ridge(1.0)).fit(X, y)
            return {"error": float(1 - model.score(X[:2000], y[:2000]))}
        model = make_pipeline(features, PCA(10)).fit(X)
        return {"error": float(1 - model[-1].explained_variance_ratio_.sum())}

    return run


def scatter(n: int, m: int, dtype: str, panels: bool) -> Callable[[], dict[str, Any]]:
    """``A'A`` of n rows of m columns, block by block on all threads: by our loops, or by BLAS."""
    from gramian.config import thread_count
    from gramian.engine.scatter import PanelScatter, Scatter, total_of
    from gramian.engine.tiles import run, share
    from gramian.engine.vector_loops import vector_loops
    from gramian.operators.mapped_moments import rows_summed

    kind, rows = np.dtype(dtype), rows_summed(n, m)
    loops = vector_loops(kind) if panels else None
    sums = [PanelScatter(m, kind, loops) if loops else Scatter(m, kind) for _ in range(thread_count())]
    blocks = [part.room(rows) for part in sums]
    for block in blocks:
        block[:, :m] = np.random.default_rng(0).standard_normal((rows, m))

    def work(panels: Any, meter: Any) -> None:
        for _ in panels:
            sums[panels[0]].add(blocks[panels[0]])
            meter.tick()

    def turn() -> dict[str, Any]:
        run(work, share(n // rows, thread_count()))
        return {"trace": float(np.trace(total_of(sums)))}

    return turn


def landmarks(n: int, d: int, method: str, data: str, count: int) -> Callable[[], dict[str, Any]]:
    """Choice of landmarks alone; its error is the trace error on all rows, the mean of three seeds."""
    from gramian import Landmarks
    from gramian.kernels import RBF
    from gramian.operators.mapped_moments import mapped_moments

    X = blobs(n, d) if data == "blobs" else unbalanced(n, d, *UNBALANCED[data])
    kernel = RBF(gamma=1 / d)
    errors: list[float] = []

    def run() -> dict[str, Any]:
        maps = [Landmarks(count, method=method, random_state=seed).features(kernel, X, None) for seed in range(3)]
        if not errors:
            errors.extend(mapped_moments([map], [X]).trace_error() for map in maps)
        return {"error": float(np.mean(errors))}

    return run


def pivoted(n: int, d: int, rank: int, blocks: bool) -> Callable[[], dict[str, Any]]:
    """Randomly pivoted Cholesky in blocks with rejection, or one pivot at a time; the error is that of the trace."""
    from gramian.kernels import RBF
    from gramian.operators.landmark_rows import landmark_map, pivots
    from gramian.operators.mapped_moments import mapped_moments

    X, kernel = blobs(n, d), RBF(gamma=1 / d)
    errors: list[float] = []

    def run() -> dict[str, Any]:
        rng = np.random.default_rng(0)
        chosen = pivots(kernel, X, rank, rng) if blocks else _one_by_one(kernel, X, rank, rng)
        if not errors:
            errors.append(mapped_moments([landmark_map(kernel, X[chosen], X.dtype)], [X]).trace_error())
        return {"error": errors[0]}

    return run


def _one_by_one(kernel: Any, X: Any, rank: int, rng: np.random.Generator) -> Any:
    """The plain algorithm: a column, a product with what is there, an update of the diagonal."""
    n, norms = len(X), np.einsum("ij,ij->i", X, X)
    left, F, chosen = np.ones(n), np.empty((rank, n)), np.empty(rank, dtype=np.intp)
    for k in range(rank):
        s = chosen[k] = rng.choice(n, p=left / left.sum())
        column = np.exp(kernel.factor * np.maximum(norms + norms[s] - 2 * (X @ X[s]), 0.0))
        column -= F[:k, s] @ F[:k]
        F[k] = column / np.sqrt(column[s])
        left = np.maximum(left - F[k] ** 2, 0.0)
    return chosen


def contests() -> list[Contest]:
    """All of them."""
    found = []
    for method, name in (("pca", "kernel PCA"), ("ridge", "kernel ridge")):
        for dtype in ("float32", "float64"):
            shape = {"d": 20, "dtype": dtype, "method": method}
            peer = Contestant("scikit-learn Nystroem", theirs, {"n": 200_000, **shape})
            found += [
                Contest(
                    f"{name} through 1,000 landmarks, 1,000,000 x 20, {dtype}",
                    (Contestant("gramian", ours, {"n": 1_000_000, **shape}),),
                    repeats=1,
                    warm=False,
                    note=f"{np.dtype(dtype).itemsize} GB of mapped rows are never kept",
                ),
                Contest(
                    f"{name} through 1,000 landmarks, 200,000 x 20, {dtype}",
                    (Contestant("gramian", ours, {"n": 200_000, **shape}), peer),
                    least=AS_LONG,
                ),
            ]
    for dtype in ("float32", "float64"):
        both = (
            Contestant(name, scatter, {"n": 200_000, "m": LANDMARKS, "dtype": dtype, "panels": panels})
            for name, panels in (("gramian", True), ("BLAS, block by block", False))
        )
        found.append(Contest(f"scatter of 200,000 x 1,000, {dtype}", tuple(both), least=AS_LONG))
    for data, count in (("blobs", 1_000), *((name, 200) for name in UNBALANCED)):
        both = (
            Contestant(name, landmarks, {"n": 50_000, "d": 20, "method": method, "data": data, "count": count})
            for name, method in (("gramian pivoted", "pivoted"), ("uniform", "uniform"), ("kmeans++", "kmeans++"))
        )
        found.append(Contest(f"{count:,} landmarks of {data}, 50,000 x 20", tuple(both), repeats=1))
    both = (
        Contestant(name, pivoted, {"n": 100_000, "d": 20, "rank": LANDMARKS, "blocks": blocks})
        for name, blocks in (("gramian", True), ("one pivot at a time", False))
    )
    found.append(Contest("randomly pivoted Cholesky, rank 1,000, n = 100,000", tuple(both), repeats=1, warm=False))
    return found
