"""Randomly pivoted Cholesky: a low-rank factor of a positive matrix from some of its columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from gramian.engine.scatter import GrowingFactor
from gramian.kernels import Kernel
from gramian.results import Array, Matrix

#: Rows visited by a thread at a time.
PIVOT_STRIP_ROWS = 2048
#: Rows to choose for each column from which on a prepared copy of the rows is small beside what is kept anyway.
PREPARED_MIN_PIVOTS_PER_COLUMN = 8


class PivotedCholesky:
    r"""The matrix :math:`K - K(X, Z) K(Z, Z)^{-1} K(Z, X)` of chosen rows Z.

    Definition
    ----------
    It is :math:`K - F'F` with the Cholesky factor :math:`F = L^{-1} K(Z, X)`, which grows by some rows at a time.

    ``kernel``: positive, with resolved parameters. ``X``: dense or CSR, n x d. ``count``: most rows that will be
    chosen.

    ``chosen``: rows so far. ``left`` (n,): the diagonal; exactly 0 at chosen rows. ``dtype``: precision of F.

    Cost
    ----
    ``n count`` numbers; for each chosen row n kernel values and ``2 n`` multiplications for each one before it.
    """

    def __init__(self, kernel: Kernel, X: Matrix, count: int) -> None:
        self.kernel, self.X, n = kernel, X, X.shape[0]
        self.dtype: np.dtype[Any] = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self.factor = GrowingFactor(n, count, self.dtype)
        self.chosen, self.left = np.empty(0, dtype=np.intp), np.array(kernel.diagonal(X), dtype=np.float64)
        self._values = _values(kernel, X, self.dtype, count)

    def among(self, rows: Array) -> Array:
        """The part of the matrix that belongs to some rows."""
        A = self.factor.columns(rows).astype(np.float64)
        return self.kernel.block(self.X[rows], self.X[rows]) - A @ A.T

    def choose(self, rows: Array, L: Array) -> None:
        """Take out more rows; L is the Cholesky factor of the part of the matrix that belongs to them."""
        inverse = scipy.linalg.solve_triangular(L, np.eye(len(rows)), lower=True, check_finite=False)
        inverse = np.ascontiguousarray(inverse, dtype=self.dtype)
        self.factor.extend(rows, inverse, partial(self._values, rows), self.left)
        self.chosen = np.concatenate([self.chosen, rows])
        self.left[self.chosen] = 0.0

    def taken(self, since: int, w: Array) -> Array:
        """What each chosen row since the first few has taken of the trace, with weights w."""
        return self.factor.squares(since, w)


def _values(kernel: Kernel, X: Matrix, dtype: np.dtype, count: int) -> Callable[[Array, slice, Array], Array]:
    """Return what writes kernel values between chosen rows and others.

    Rows of few columns are prepared once for all; others as they are visited, so that there is no copy of them.
    """
    if PREPARED_MIN_PIVOTS_PER_COLUMN * X.shape[1] <= count:
        return kernel.pairs(X, X, dtype).tile

    def values(chosen: Array, rows: slice, out: Array) -> Array:
        pairs = kernel.pairs(X[chosen], X[rows], dtype)
        return pairs.tile(slice(0, pairs.shape[0]), slice(0, pairs.shape[1]), out)

    return values
