"""What the estimators of feature-space distances share: checks, weighted widths, lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gramian.estimators.warnings import IndefiniteKernelWarning, RankWarning, warn
from gramian.kernels import Kernel
from gramian.operators.remote import Table, largest_entry
from gramian.results import Array

#: Entries below this have squares of which double precision keeps few digits, or none.
SQUARES_UNDERFLOW_BELOW = 1e-150


def check_count(name: str, value: object) -> None:
    """Refuse what is not a whole number of 1 or more."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}={value!r} must be a whole number of 1 or more.")
    if value < 1:
        raise ValueError(f"{name}={value} must be a whole number of 1 or more.")


def check_start(init: ArrayLike, k: int, weights: Array) -> Array:
    """Return labels to start from, one for each row, none of the clusters empty."""
    labels = np.asarray(init)
    if labels.shape != weights.shape:
        raise ValueError(
            f"init has shape {labels.shape}; labels, one for each of the {len(weights)} rows, are expected."
        )
    if labels.dtype.kind not in "iu":
        raise TypeError(f"init holds {labels.dtype}; labels are whole numbers from 0 to {k - 1}.")
    if labels.min() < 0 or labels.max() >= k:
        raise ValueError(f"init has labels from {labels.min()} to {labels.max()}; use 0 to {k - 1} for {k} clusters.")
    empty = np.flatnonzero(np.bincount(labels, weights, k) == 0)
    if len(empty):
        raise ValueError(f"init has no row of positive weight in cluster {empty[0]}; each of the {k} needs one.")
    return labels.astype(np.intp)


def check_similarities(kernel: Kernel, diagonal: Array, total: float = 1.0) -> None:
    """Refuse similarities that overflow, or whose sum over rows of a total weight does: distances would be NaN."""
    largest = np.finfo(np.float64).max / 8 / max(total, 1.0)
    if not np.isfinite(diagonal).all() or np.abs(diagonal).max(initial=0) > largest:
        raise ValueError(
            f"the kernel {kernel} overflows on these rows. Divide X by a constant, or standardise its columns."
        )


def underflows(kernel: Kernel, X: Table) -> float | None:
    """Return the size of the largest entry if all are so small that rows which differ look alike to the kernel."""
    if kernel.given:
        return None
    largest = largest_entry(X)
    return largest if 0 < largest < SQUARES_UNDERFLOW_BELOW else None


def warn_of_underflow(kernel: Kernel, X: Table) -> None:
    """Say that rows look alike because their squares underflow."""
    if (largest := underflows(kernel, X)) is not None:
        warn(
            f"the entries of X are {largest:.3g} at the most: their squares underflow, and rows that differ look "
            "alike. Multiply X by a constant.",
            RankWarning,
        )


def warn_of_negative(kernel: Kernel, negative: Array, what: str) -> None:
    """Warn of negative squared distances to something, which kernels that are not positive definite have."""
    if not kernel.positive_definite and (count := int(negative.sum())):
        warn(
            f"the kernel is indefinite: {count:,} squared distances to {what} are negative; they rank as they are and "
            "read as distance 0.",
            IndefiniteKernelWarning,
        )


def lengths(squares: Array) -> Array:
    """Distances from squared ones; those below zero, which rounding and indefinite kernels have, read as 0."""
    return np.sqrt(np.maximum(squares, 0.0))


def neighbour_weights(distances: Array, weights: str | Callable[[Array], Any]) -> Array:
    """Weights of neighbours from their distances, m x k."""
    if callable(weights):
        returned = weights(distances)
        try:
            given = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"weights={weights!r} returned {type(returned).__name__}, not numbers.") from None
        if given.shape != distances.shape or not np.isfinite(given).all() or (given < 0).any():
            raise ValueError(
                f"weights={weights!r} must return finite numbers of 0 or more in the shape of the distances, "
                f"{distances.shape}; it returned shape {given.shape}."
            )
        return given
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1 / distances
    at_once = np.isinf(inverse)
    return np.where(at_once.any(axis=1, keepdims=True), at_once, inverse)
