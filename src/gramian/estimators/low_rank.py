"""From the argument ``landmarks`` to features of low rank, and what a fit says of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.estimators.landmarks import Approximation, Landmarks
from gramian.estimators.warnings import RankWarning, warn
from gramian.kernels import Kernel
from gramian.operators.features import FeatureMap
from gramian.operators.remote_table import RemoteTable
from gramian.results import Array, FitSummary


def low_rank(landmarks: Any, kernel: Kernel, X: Any, weights: Array | None = None) -> FeatureMap | None:
    """Return the features that the argument ``landmarks`` asks for; None if it is None."""
    if landmarks is None:
        return None
    if kernel.given:
        raise ValueError(f"landmarks={landmarks!r} needs rows; kernel='precomputed' has none. Use landmarks=None.")
    return as_approximation(landmarks).features(kernel, X, weights)


def as_approximation(landmarks: Any) -> Approximation:
    """Take a number as that many landmarks."""
    if isinstance(landmarks, Approximation):
        return landmarks
    if isinstance(landmarks, (bool, np.bool_)) or not isinstance(landmarks, (int, np.integer)):
        raise TypeError(
            f"landmarks={landmarks!r} must be a whole number, an object such as gramian.Landmarks(tol=1e-3) or "
            "gramian.RandomFeatures(1000), or None."
        )
    if landmarks < 1:
        raise ValueError(f"landmarks={landmarks} must be 1 or more, or None.")
    return Landmarks(int(landmarks))


def mapped_rows(
    landmarks: Any, features: FeatureMap, X: Any, weights: Array | None = None, *, copies: int = 1
) -> tuple[Array, float | None]:
    """Return mapped rows in double precision, to be kept, and the trace error; refuse what does not fit."""
    n, needed = X.shape[0], 8 * X.shape[0] * features.size * copies
    if needed > memory_budget():
        raise ValueError(
            f"landmarks: {n:,} rows of {features.size:,} features take {format_bytes(needed)}, over the memory budget "
            f"of {format_bytes(memory_budget())}. Use fewer landmarks, or gramian.config(memory=...)."
        )
    F = features.features(X)
    return F, left_of(landmarks, features, X, np.einsum("ij,ij->i", F, F), weights)[1]


def left_of(
    landmarks: Any, features: FeatureMap, X: Any, squares: Array, weights: Array | None
) -> tuple[float, float | None]:
    """Return what landmarks leave of the trace, given the squares of mapped rows: as it is, and as a share."""
    w = np.ones(X.shape[0]) if weights is None else weights
    own = diagonal_of(features.kernel, X)
    lost, whole = max(0.0, float(w @ (own - squares))), float(w @ own)
    return lost, left_by(landmarks, features, lost / whole if whole > 0 else 0.0)


def diagonal_of(kernel: Kernel, X: Any) -> Array:
    """Similarities of rows to themselves, wherever the rows are."""
    return X.diagonal(kernel) if isinstance(X, RemoteTable) else kernel.diagonal(X)


def left_by(landmarks: Any, features: FeatureMap, error: float) -> float | None:
    """Return the trace error, or None if it tells nothing; warn where it is more than was asked for."""
    if not features.from_points:
        return None  # random features are right on average, and leave nothing of the diagonal
    asked = getattr(landmarks, "tol", None)
    if asked is not None and error > asked:
        warn(
            f"tol={asked:g}, but {features.size:,} landmarks leave {error:.3g} of the trace. Raise n_landmarks or tol.",
            RankWarning,
        )
    return error


def add_low_rank(
    summary: FitSummary, landmarks: Any, features: FeatureMap | None, error: float | None, view: str = ""
) -> FitSummary:
    """Put the low rank (of a view) beside what else a summary says."""
    if features is None:
        return summary
    line = (f"low rank {view}".strip(), as_approximation(landmarks).told(features, error))
    end = f"_{view.lower()}" if view else ""
    facts = {f"n_features{end}": features.size, f"trace_error{end}": error, f"features{end}": line[1]}
    first, *rest = summary.lines
    return FitSummary(summary.title, (first, line, *rest), {**summary.facts, **facts})
