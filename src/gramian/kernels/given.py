"""Kernels that come from the user: a finished matrix, or a function of two blocks of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from gramian.engine.product import Pairs, Rows, is_sparse, to_dense
from gramian.kernels.base import Kernel, own_copy
from gramian.results import Array

__all__ = ["Function", "Precomputed"]

#: Rows of a given matrix that are evaluated at a time.
EVALUATED_ROWS_PER_BLOCK = 512


class Stored(Pairs):
    """Tiles of a matrix that exists."""

    def __init__(self, K: Rows, dtype: DTypeLike) -> None:
        self.K, self.shape, self.dtype = K, K.shape, np.dtype(dtype)

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        tile = self.K[rows, cols]
        out[...] = to_dense(tile)
        return out


@dataclass(repr=False)
class Precomputed(Kernel):
    """The rows of ``X`` are rows of kernel values: n x n at fit, new points x n afterwards.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import KernelPCA
    >>> X = np.array([[0.0], [1.0], [5.0]])
    >>> model = KernelPCA(1, kernel="precomputed").fit(X @ X.T)
    >>> model.transform(np.array([[2.0]]) @ X.T).round(4)  # 2 is the mean
    array([[0.]])
    """

    name = "precomputed"
    listed = False
    positive_definite = False  # not known, and not assumed
    given = True

    def pairs(self, X: Rows, Y: Rows, dtype: DTypeLike) -> Pairs:
        return Stored(X, dtype)

    def diagonal(self, X: Rows) -> Array:
        return np.asarray(X.diagonal(), dtype=np.float64)

    def anchors(self, X: Rows) -> Rows:
        return np.empty((X.shape[0], 0))  # a new row already holds its similarities to them


@dataclass(repr=False)
class Evaluated(Precomputed):
    """The precomputed kernel of the matrix that an expression, such as ``2*precomputed``, makes of a given one.

    A matrix from a user goes through :func:`values` once; from there on it is precomputed.
    """

    expression: Kernel

    def __str__(self) -> str:
        return str(self.expression)


def evaluated(kernel: Kernel) -> Kernel:
    """Return the precomputed kernel that stands for an expression of precomputed kernels, itself if it is one."""
    return kernel if isinstance(kernel, Precomputed) else Evaluated(kernel)


def values(kernel: Kernel, K: Rows) -> Rows:
    """Return the matrix that an expression of precomputed kernels makes of a given one, entry by entry.

    The precomputed kernel itself gives back the matrix. Zeros stay zeros, so that a sparse matrix stays one.
    """
    expression = kernel.expression if isinstance(kernel, Evaluated) else kernel
    if isinstance(expression, Precomputed):
        return K
    if is_sparse(K):
        found = K.copy()
        found.sum_duplicates()
        found.data = values(expression, found.data[None])[0]
        return found
    pairs, out = expression.pairs(K, K, K.dtype), np.empty(K.shape, dtype=K.dtype)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # the gate refuses what is not finite
        for start in range(0, K.shape[0], EVALUATED_ROWS_PER_BLOCK):
            rows = slice(start, start + EVALUATED_ROWS_PER_BLOCK)
            pairs.tile(rows, slice(0, K.shape[1]), out[rows])
    return out


class Called(Pairs):
    """Tiles of a user's function, checked."""

    def __init__(self, function: Callable[[Array, Array], ArrayLike], X: Rows, Y: Rows, dtype: DTypeLike) -> None:
        self.function, self.X, self.Y = function, X, Y
        self.shape, self.dtype = (X.shape[0], Y.shape[0]), np.dtype(dtype)

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        X, Y = self.X[rows], self.Y[cols]
        values = self.function(X, Y)
        who = f"the kernel function {getattr(self.function, '__name__', self.function)!r}"
        try:
            tile = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{who} returned {type(values).__name__}, not an array of numbers.") from None
        if tile.shape != out.shape:
            raise ValueError(
                f"{who} returned shape {tile.shape} for {X.shape[0]} and {Y.shape[0]} rows; {out.shape} is expected. "
                "It gets two blocks of rows and returns k(x, y) for every pair."
            )
        if not np.isfinite(tile).all():
            raise ValueError(f"{who} returned NaN or infinity. Check it on these rows with kernel(X[:5], X[:5]).")
        out[...] = tile
        return out


@dataclass(repr=False)
class Function(Kernel):
    """A user's function of two blocks of rows that returns the block of similarities.

    Parameters
    ----------
    function : callable
        ``function(A, B)`` for ``A`` (a x d) and ``B`` (b x d) returns an a x b array.

    Examples
    --------
    >>> Function(lambda A, B: A @ B.T)([[1.0, 2.0]])
    array([[5.]])
    """

    function: Callable[[Array, Array], ArrayLike]

    name = "callable"
    has_text = False
    positive_definite = False  # not known, and not assumed
    costly = True  # not known, and a call per tile and product may be

    def __deepcopy__(self, memo: dict[int, object]) -> Function:
        return Function(own_copy(self.function))

    def pairs(self, X: Rows, Y: Rows, dtype: DTypeLike) -> Pairs:
        return Called(self.function, X, Y, dtype)

    def diagonal(self, X: Rows) -> Array:
        rows = (X[i : i + 1] for i in range(X.shape[0]))
        return np.array([self.block(row, row)[0, 0] for row in rows])

    def __str__(self) -> str:
        return f"{getattr(self.function, '__name__', 'function')} (callable)"
