r"""Distances and dot products between two sets of rows, tile by tile.

A :class:`Pairs` holds both sets, prepared once, and writes the tile ``rows x cols`` into a buffer
on demand. Everything a kernel needs from data goes through the three kinds here:

========================  ================================  ============================
``dot``                   :math:`a\,x'y`                    one matrix product
``squared_euclidean``     :math:`a\,\|x - y\|^2`            one matrix product
``manhattan``             :math:`a\,\|x - y\|_1`            a compiled loop
========================  ================================  ============================

The factor ``a`` costs nothing in the first two: it is folded into the product.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from gramian.config import format_bytes, memory_budget
from gramian.engine.product import Pairs, Product, Rows, is_sparse, manhattan_loop, to_dense
from gramian.results import Array

#: Squared mean, in variances, from which on a column of sparse rows counts as far from the origin: it has next to no
#: zeros then.
FAR = 100.0
#: Rows looked at for the median distance: two million pairs fix it to a fraction of a percent.
MEDIAN_SAMPLE_ROWS = 2000
#: Widths that come from the data.
DATA_WIDTHS = ("scale", "median")


class Distances(Pairs):
    """Tiles of ``a ||x - y||^2`` in which nearly equal rows are recomputed from their difference.

    The expansion ``|x|^2 - 2x'y + |y|^2`` cancels for close rows; a map with an infinite slope at zero
    (a square root) or a huge factor would turn that rounding into a visible error.
    """

    def __init__(self, squares: Product, X: Rows, Y: Rows, norms: tuple[Array, Array], factor: float) -> None:
        self.squares, self.X, self.Y, self.norms = squares, X, Y, norms
        largest = np.finfo(squares.dtype).max
        self.factor = min(max(factor, -largest), largest)  # 0 times infinity would be NaN
        self.shape, self.dtype = squares.shape, squares.dtype
        self.close = np.finfo(self.dtype).eps ** 0.4
        self.threshold = self.close * (norms[0].max(initial=0) + norms[1].max(initial=0))

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        d2 = self.squares.tile(rows, cols, out)
        if (d2 <= self.threshold).any():
            nx, ny = self.norms[0][rows], self.norms[1][cols]
            i, j = np.nonzero(d2 <= self.close * (nx[:, None] + ny[None, :]))
            X, Y, step = self.X[rows], self.Y[cols], max(1, 2**20 // max(1, self.X.shape[1]))
            for at in range(0, len(i), step):
                a, b = i[at : at + step], j[at : at + step]
                d2[a, b] = squared_norms(X[a] - Y[b])
        if self.factor != 1.0:
            with np.errstate(over="ignore"):  # an infinite exponent is the right limit: exp(-inf) = 0
                d2 *= d2.dtype.type(self.factor)
        return d2


class Manhattan(Pairs):
    """Tiles of ``a ||x - y||_1`` by a compiled loop without the interpreter lock; sparse rows are made dense."""

    def __init__(self, X: Rows, Y: Rows, factor: float = 1.0, dtype: DTypeLike = np.float64) -> None:
        if X.shape[1] != Y.shape[1]:  # the compiled loop would read past the end of a row
            raise ValueError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}. Give rows of one width.")
        size = 8 * (X.shape[0] + Y.shape[0]) * X.shape[1]
        if is_sparse(X) and size > memory_budget():
            raise ValueError(
                f"city-block distances make sparse rows dense: {format_bytes(size)}, over the memory budget of "
                f"{format_bytes(memory_budget())}. Use norm='l2', or fewer columns."
            )
        self.loop, self.factor = manhattan_loop(), factor
        self.X, self.Y = (to_dense(Z).astype(dtype, order="C", copy=False) for Z in (X, Y))
        self.shape, self.dtype = (X.shape[0], Y.shape[0]), np.dtype(dtype)

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        self.loop(self.X[rows], self.Y[cols], self.factor, out)
        return out


#: The measure of kernels, as ``dot`` and ``squared_euclidean`` are.
manhattan = Manhattan


def dot(X: Rows, Y: Rows, factor: float = 1.0, dtype: DTypeLike = np.float64) -> Pairs:
    """Prepare ``a x'y``. Rows whose products overflow are refused: every later number would be NaN."""
    largest = [_largest(Z) for Z in ((X,) if X is Y else (X, Y))]
    with np.errstate(over="ignore"):
        reach = abs(float(factor)) * X.shape[1] * np.float64(largest[0]) * largest[-1]
    if not reach < np.finfo(np.float64).max / 8:
        raise ValueError(
            f"dot products overflow: the rows of X have entries of size {max(largest):.3g}. Divide X by a constant, or "
            "standardise its columns."
        )
    scale = np.full((), factor, dtype)[()]  # a scalar of that type, which does not promote rows
    return Product(_cast(X * scale, dtype), _cast(Y, dtype), dtype)


def squared_euclidean(
    X: Rows, Y: Rows, factor: float = 1.0, dtype: DTypeLike = np.float64, *, exact_near_zero: bool = False
) -> Pairs:
    """Prepare ``a ||x - y||^2``; ``exact_near_zero`` also gets the distances of close rows right.

    Overflowing norms are refused: every later number would be NaN.
    """
    # Single-precision rows asked for in double precision are widened first, so that nothing is lost twice.
    wide = _cast(Y, np.result_type(Y.dtype, dtype))
    X, Y = _centre(wide if X is Y else _cast(X, np.result_type(X.dtype, dtype)), wide)
    with np.errstate(over="ignore"):
        nx = squared_norms(X)
        ny = nx if Y is X else squared_norms(Y)
    largest = float(max(nx.max(initial=0), ny.max(initial=0)))
    if not largest < np.finfo(dtype).max / 8:
        raise ValueError(
            "squared distances overflow: the rows of X are too far apart for "
            f"{np.dtype(dtype).name}. Divide X by a constant, or standardise its columns."
        )
    rounding = abs(float(factor)) * largest * float(np.finfo(dtype).eps)
    careful = exact_near_zero or not rounding < np.finfo(dtype).eps ** 0.5 / 10
    folded = 1.0 if careful else factor
    left = _append(X, folded, -2.0, folded * nx, np.full_like(nx, folded), dtype)
    right = _append(Y, 1.0, 1.0, np.ones_like(ny), ny, dtype, order="F")  # columns side by side, as stripes want them
    squares = Product(left, right, dtype)
    pairs = Distances(squares, _cast(X, dtype), _cast(Y, dtype), (nx, ny), factor) if careful else squares
    pairs.reach = 4.1 * abs(float(factor)) * largest  # ||x - y||^2 <= 2||x||^2 + 2||y||^2, and a little rounding
    return pairs


def squared_norms(X: Rows) -> Array:
    """Squared Euclidean length of each row."""
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()


def _largest(X: Rows) -> float:
    """Size of the largest entry, without a second copy of the rows."""
    values = X.data if is_sparse(X) else X
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def _centre(X: Rows, Y: Rows) -> tuple[Rows, Rows]:
    # Distances do not see a shift, rounding does: far from the origin the three terms cancel.
    with np.errstate(over="ignore", invalid="ignore"):
        sparse = not (isinstance(X, np.ndarray) and isinstance(Y, np.ndarray))
        mean = far_means(X, Y) if sparse else Y.mean(axis=0, dtype=np.float64)
    if not np.isfinite(mean).all() or (sparse and not mean.any()):
        return X, Y
    Yc = moved(Y, mean.astype(Y.dtype))
    return (Yc if X is Y else moved(X, mean.astype(Y.dtype))), Yc


def far_means(X: Rows, Y: Rows) -> Array:
    """Means of the columns of Y that lie far from the origin and have few zeros, of sparse X or Y; 0 for the others.

    Sums over sparse rows are centred at their end, where such columns would cancel: they are to be moved first.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.asarray(Y.sum(axis=0), dtype=np.float64).ravel() / max(1, Y.shape[0])
        squares = (Y.multiply(Y) if is_sparse(Y) else Y * Y).sum(axis=0)
        far = np.asarray(squares).ravel() / max(1, Y.shape[0]) < (1 + 1 / FAR) * mean**2
    for Z in (X,) if X is Y else (X, Y):
        if is_sparse(Z) and far.any():
            far &= 2 * np.bincount(Z.indices, minlength=Z.shape[1]) > Z.shape[0]
    return np.where(far, mean, 0.0).astype(Y.dtype)


def moved(X: Rows, shift: Array) -> Rows:
    """Rows less a shift of a few columns; CSR rows stay such."""
    if isinstance(X, np.ndarray):
        return X - shift
    (n, d), at = X.shape, np.flatnonzero(shift)
    every = (np.tile(shift[at], n), np.tile(at, n), np.arange(n + 1) * len(at))
    return X - sp.csr_array(every, shape=(n, d))


def _append(
    X: Rows, factor: float, sign: float, first: Array, second: Array, dtype: DTypeLike, order: Literal["C", "F"] = "C"
) -> Rows:
    # Norms ride along as two extra columns, so one matrix product writes the whole exponent. The factors are taken one
    # after the other: their product may be infinite, which times zero is no number.
    if not isinstance(X, np.ndarray):
        extra = sp.csr_array(np.column_stack([first, second]))
        return _cast(sp.hstack([(factor * X) * sign, extra], format="csr"), dtype)
    both = np.empty((X.shape[0], X.shape[1] + 2), dtype=dtype, order=order)
    rows = both[:, :-2]
    if factor == sign == 1.0:
        rows[...] = X  # six times as quick as a product across the order of the rows
    else:
        np.multiply(X, factor, out=rows, casting="same_kind")
        rows *= sign
    both[:, -2], both[:, -1] = first, second
    return both


def _cast(X: Rows, dtype: DTypeLike) -> Rows:
    return X.astype(dtype, copy=False)


def scale_width(X: Rows) -> float:
    r"""Return :math:`\sqrt{d\,\mathrm{var}\,X}`, the root mean squared distance of a row to the centre.

    As in scikit-learn's SVC the variance is that of all entries together; 1 if they are all equal.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        variance = X.var(dtype=np.float64) if isinstance(X, np.ndarray) else _sparse_variance(X)
    if not np.isfinite(variance):  # squares overflow, the width does not
        unit = float(abs(X).max())
        return unit * scale_width(X / unit)
    return float(np.sqrt(X.shape[1] * variance)) if variance > 0 else float(np.sqrt(X.shape[1]))


def _sparse_variance(X: sp.csr_array) -> float:
    """Variance of all entries, zeros included; squares are formed of what is centred, so that nothing cancels."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    mean, size = X.mean(dtype=np.float64), X.shape[0] * X.shape[1]
    away = X.data - mean
    return float((away @ away + (size - len(away)) * mean**2) / size)


def median_width(X: Rows, metric: str = "euclidean") -> float:
    """Median distance between rows, of a seeded sample of at most 2,000; 1 if the median is zero."""
    if X.shape[0] > MEDIAN_SAMPLE_ROWS:
        keep = np.random.default_rng(0).choice(X.shape[0], MEDIAN_SAMPLE_ROWS, replace=False)
        X = X[np.sort(keep)]
    n = X.shape[0]
    if n < 2:
        return 1.0
    measure = manhattan if metric == "cityblock" else squared_euclidean
    values = measure(X, X).tile(slice(0, n), slice(0, n), np.empty((n, n)))[np.triu_indices(n, 1)]
    if metric != "cityblock":
        values = np.sqrt(np.maximum(values, 0.0))
    return float(np.median(values)) or 1.0
