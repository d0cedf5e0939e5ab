"""Loops that NumPy cannot express without a three-dimensional temporary."""

from __future__ import annotations

import numba

from gramian.results import Array


@numba.njit(nogil=True, fastmath={"reassoc", "contract"}, boundscheck=False)
def manhattan_tile(X: Array, Y: Array, factor: float, out: Array) -> None:
    """Write ``factor * sum_c |X[i, c] - Y[j, c]|`` into ``out``."""
    for i in range(X.shape[0]):
        for j in range(Y.shape[0]):
            total = X.dtype.type(0)
            for c in range(X.shape[1]):
                total += abs(X[i, c] - Y[j, c])
            out[i, j] = factor * total
