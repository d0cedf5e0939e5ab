"""What counts, similarities and distances of a kernel method lack, and what is said of it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from gramian.estimators.warnings import IndefiniteKernelWarning, RankWarning, warn
from gramian.kernels import Kernel
from gramian.operators.remote import RemoteTable, largest_entry
from gramian.results import Array, Matrix

#: Entries below this have squares of which double precision keeps few digits, or none.
SQUARES_UNDERFLOW_BELOW = 1e-150
#: Checked rows: in memory, or on a cluster.
CheckedRows: TypeAlias = Matrix | RemoteTable


def check_count(name: str, value: object) -> None:
    """Refuse what is not a whole number of 1 or more."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}={value!r} must be a whole number of 1 or more.")
    if value < 1:
        raise ValueError(f"{name}={value} must be a whole number of 1 or more.")


def check_similarities(kernel: Kernel, diagonal: Array, total: float = 1.0) -> None:
    """Refuse similarities that overflow, or whose sum over rows of a total weight does: distances would be NaN."""
    largest = np.finfo(np.float64).max / 8 / max(total, 1.0)
    if not np.isfinite(diagonal).all() or np.abs(diagonal).max(initial=0) > largest:
        raise ValueError(
            f"the kernel {kernel} overflows on these rows. Divide X by a constant, or standardise its columns."
        )


def underflows(kernel: Kernel, X: CheckedRows) -> float | None:
    """Return the size of the largest entry if all are so small that rows which differ look alike to the kernel."""
    if kernel.given:
        return None
    if isinstance(X, np.ndarray) and np.abs(X[:1]).max(initial=0.0) >= SQUARES_UNDERFLOW_BELOW:
        return None  # the first row tells, mostly
    largest = largest_entry(X)
    return largest if 0 < largest < SQUARES_UNDERFLOW_BELOW else None


def warn_of_underflow(kernel: Kernel, X: CheckedRows) -> None:
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
