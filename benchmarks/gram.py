"""One product K V: the Gram engine, the same tiles without it, and scikit-learn's kernel in chunks of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn

from benchmarks.contest import Contest, Contestant
from benchmarks.data import blobs

N, VECTORS = 20_000, 16


def _inputs(d: int, dtype: str) -> tuple[Any, Any, float]:
    V = np.random.default_rng(0).standard_normal((N, VECTORS)).astype(dtype)
    return blobs(N, d, dtype), V, 1 / d


def engine(d: int, dtype: str) -> Callable[[], dict[str, Any]]:
    """The Gram engine."""
    from gramian.kernels import RBF
    from gramian.operators import Gram

    X, V, gamma = _inputs(d, dtype)
    operator = Gram(RBF(gamma=gamma), X, dtype)
    checked = RBF(gamma=gamma).block(X[:50].astype(float), X.astype(float)) @ V.astype(float)

    def run() -> dict[str, Any]:
        out = operator @ V
        return {"error": float(np.abs(out[:50] - checked).max() / np.abs(checked).max())}

    return run


def bare(d: int, dtype: str, products: bool) -> Callable[[], dict[str, Any]]:
    """Nothing but the matrix product and ``exp`` on the same tiles (and, if asked, the products with V)."""
    from gramian.engine.tiles import run as work_off
    from gramian.engine.tiles import share, tile_spans

    X, V, gamma = _inputs(d, dtype)
    norms = np.einsum("ij,ij->i", X, X)
    left = np.column_stack([2 * gamma * X, -gamma * norms, np.full(N, -gamma)]).astype(dtype)
    right = np.column_stack([X, np.ones(N), norms]).astype(dtype)
    blocks = tile_spans(N, d, dtype)

    def work(panels: Any, _meter: Any) -> None:
        buffer, total = np.empty(512 * 512, dtype), np.zeros_like(V)
        for i in panels:
            for j in range(i, len(blocks)):
                shape = blocks[i].stop - blocks[i].start, blocks[j].stop - blocks[j].start
                tile = buffer[: shape[0] * shape[1]].reshape(shape)
                np.matmul(left[blocks[i]], right[blocks[j]].T, out=tile)
                np.exp(tile, out=tile)
                if products:
                    total[blocks[i]] += tile @ V[blocks[j]]
                    total[blocks[j]] += tile.T @ V[blocks[i]]

    def run() -> dict[str, Any]:
        work_off(work, share(len(blocks), 2))
        return {}

    return run


def chunks(d: int, dtype: str) -> Callable[[], dict[str, Any]]:
    """scikit-learn's kernel, in chunks of rows of the size it uses itself (its working memory, 1 GiB)."""
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.utils import gen_batches

    X, V, gamma = _inputs(d, dtype)
    rows_at_once = int(sklearn.get_config()["working_memory"] * 2**20 // (8 * N))

    def run() -> dict[str, Any]:
        np.vstack([rbf_kernel(X[rows], X, gamma=gamma) @ V for rows in gen_batches(N, rows_at_once)])
        return {}

    return run


def contests() -> list[Contest]:
    """All of them."""
    return [
        Contest(
            f"K V, n = {N:,}, d = {d}, {dtype}",
            (
                Contestant("gramian", engine, {"d": d, "dtype": dtype}),
                Contestant("bare GEMM + exp", bare, {"d": d, "dtype": dtype, "products": False}),
                Contestant("bare GEMM + exp + products", bare, {"d": d, "dtype": dtype, "products": True}),
                Contestant("scikit-learn in chunks", chunks, {"d": d, "dtype": dtype}),
            ),
            repeats=9 if d < 100 else 3,
        )
        for d in (3, 20, 784)
        for dtype in ("float64", "float32")
    ]
