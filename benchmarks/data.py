"""The data that the contests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_blobs


def blobs(n: int, d: int, dtype: Any = np.float64) -> Any:
    """Twelve clusters, columns standardised."""
    return labelled_blobs(n, d, dtype)[0]


def labelled_blobs(n: int, d: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    """The same, and the cluster of each row."""
    X, labels = make_blobs(n, n_features=d, centers=12, cluster_std=2.0, random_state=0)
    return ((X - X.mean(axis=0)) / X.std(axis=0)).astype(dtype), labels


def decaying(n: int, d: int) -> Any:
    """Columns of falling variance: eigenvalues that fall smoothly."""
    return np.random.default_rng(0).standard_normal((n, d)) * 0.8 ** np.arange(d)


def pixels(n: int, d: int) -> Any:
    """Ten shapes in whole numbers from 0 to 16 that vary in fifteen ways and by noise, columns standardised."""
    rng = np.random.default_rng(0)
    shapes, ways = 3 * rng.standard_normal((10, d)), rng.standard_normal((15, d))
    X = 8 + shapes[rng.integers(0, 10, n)] + rng.standard_normal((n, 15)) @ ways + rng.standard_normal((n, d))
    X = np.clip(np.round(X), 0, 16)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def residuals(X: Any, gamma: float, vectors: Any, values: Any) -> float:
    """Largest ``||Kc v - lambda v|| / lambda``, by scikit-learn's kernel: independent of our own certificate."""
    from sklearn.metrics.pairwise import rbf_kernel
    from sklearn.utils import gen_batches

    V = vectors - vectors.mean(axis=0)
    image = np.vstack([rbf_kernel(X[rows], X, gamma=gamma) @ V for rows in gen_batches(len(X), 1000)])
    image -= image.mean(axis=0)
    return float((np.linalg.norm(image - vectors * values, axis=0) / values).max())
