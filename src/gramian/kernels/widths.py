"""Widths that come from the data: ``"scale"`` and ``"median"``."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from gramian.kernels.pairwise import Rows, manhattan, squared_euclidean

#: Rows looked at for the median distance: two million pairs fix it to a fraction of a percent.
SAMPLE = 2000
WORDS = ("scale", "median")


def scale_width(X: Rows) -> float:
    r"""Return :math:`\sqrt{d\,\mathrm{var}\,X}`, the root mean squared distance of a row to the centre.

    As in scikit-learn's SVC the variance is that of all entries together; 1 if they are all equal.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _sparse_variance(X) if sp.issparse(X) else X.var(dtype=np.float64)
    if not np.isfinite(variance):  # squares overflow, the width does not
        unit = float(abs(X).max())
        return unit * scale_width(X / unit)
    return float(np.sqrt(X.shape[1] * variance)) if variance > 0 else float(np.sqrt(X.shape[1]))


def _sparse_variance(X: Rows) -> float:
    """Variance of all entries, zeros included; squares are formed of what is centred, so that nothing cancels."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    mean, size = X.mean(dtype=np.float64), X.shape[0] * X.shape[1]
    away = X.data - mean
    return float((away @ away + (size - len(away)) * mean**2) / size)


def median_width(X: Rows, metric: str = "euclidean") -> float:
    """Median distance between rows, of a seeded sample of at most 2,000; 1 if the median is zero."""
    if X.shape[0] > SAMPLE:
        keep = np.random.default_rng(0).choice(X.shape[0], SAMPLE, replace=False)
        X = X[np.sort(keep)]
    n = X.shape[0]
    if n < 2:
        return 1.0
    measure = manhattan if metric == "cityblock" else squared_euclidean
    values = measure(X, X).tile(slice(0, n), slice(0, n), np.empty((n, n)))[np.triu_indices(n, 1)]
    if metric != "cityblock":
        values = np.sqrt(np.maximum(values, 0.0))
    return float(np.median(values)) or 1.0


def inverse_square(length: float) -> float:
    """``length^-2``, infinite rather than an error where it overflows."""
    return 1 / length / length
