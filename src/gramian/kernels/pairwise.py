r"""Distances and dot products between two sets of rows, tile by tile.

A :class:`Pairs` holds both sets, prepared once, and writes the tile ``rows x cols`` into a buffer
on demand. Everything a kernel needs from data goes through the three kinds here:

========================  ================================  ============================
``dot``                   :math:`a\,x'y`                    one matrix product
``squared_euclidean``     :math:`a\,\|x - y\|^2`            one matrix product
``manhattan``             :math:`a\,\|x - y\|_1`            a compiled loop
========================  ================================  ============================

The factor ``a`` costs nothing in the first two: it is folded into the product. Of :class:`PreparedRows`, which a fitted
model keeps, the second set is prepared once for all answers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from gramian.config import format_bytes, memory_budget, one_blas_thread
from gramian.engine.product import Pairs, Product, Rows, is_sparse, manhattan_loop, to_dense
from gramian.results import Array

#: Squared mean, in variances, from which on a column of sparse rows counts as far from the origin: it has next to no
#: zeros then.
FAR = 100.0
#: Columns from which on copies of dense rows, with their norms beside them, cost more than passes over a tile: with 256
#: columns these are an eighth of its product, and the product of rows with themselves takes half the time.
WIDE_MIN_COLUMNS = 256
#: Rows looked at for the median distance: two million pairs fix it to a fraction of a percent.
MEDIAN_SAMPLE_ROWS = 2000
#: Widths that come from the data.
DATA_WIDTHS = ("scale", "median")
Made = TypeVar("Made")


class PreparedRows:
    """Rows that others are compared with, and what is made of them for that: once, when it is first asked for.

    Nothing kept here depends on the parameters of a kernel, which may change, or on the other rows. It is no part of a
    copy or a pickle: it can be made again.

    Examples
    --------
    >>> rows = PreparedRows(np.array([[3.0, 4.0]]))
    >>> rows.once("norms", lambda: squared_norms(rows.rows)) is rows.once("norms", lambda: None)
    True
    """

    def __init__(self, rows: Rows) -> None:
        self.rows, self.shape = rows, rows.shape
        self._made: dict[Hashable, Any] = {}

    def once(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """Return what ``make`` makes of the rows; of one name it is made once."""
        if name not in self._made:  # two threads may both make it, and get the same
            self._made[name] = make()
        return self._made[name]

    def __getstate__(self) -> dict[str, Rows]:
        return {"rows": self.rows}

    def __setstate__(self, state: dict[str, Rows]) -> None:
        PreparedRows.__init__(self, state["rows"])


def prepared(Y: Rows | PreparedRows) -> PreparedRows:
    """Rows as such that can be prepared."""
    return Y if isinstance(Y, PreparedRows) else PreparedRows(Y)


class Squares(Pairs):
    """Tiles of ``a ||x - y||^2`` of wide dense rows; norms are added to their product.

    The rows are not copied, and BLAS makes only half of the product of rows with themselves.
    """

    def __init__(self, X: Array, Y: Array, norms: tuple[Array, Array], factor: float) -> None:
        self.X, self.Y, self.dtype, self.shape = X, Y, Y.dtype, (X.shape[0], Y.shape[0])
        self.factor = self.dtype.type(-2.0 * factor)
        self.norms = tuple((factor * squares).astype(self.dtype, copy=False) for squares in norms)

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        tile = np.matmul(self.X[rows], self.Y[cols].T, out=out)
        tile *= self.factor
        tile += self.norms[0][rows][:, None]
        tile += self.norms[1][cols]
        return tile


class Distances(Pairs):
    """Tiles of ``a ||x - y||^2`` in which nearly equal rows are recomputed from their difference.

    The expansion ``|x|^2 - 2x'y + |y|^2`` cancels for close rows; a map with an infinite slope at zero
    (a square root) or a huge factor would turn that rounding into a visible error.
    """

    def __init__(self, squares: Pairs, X: Rows, Y: Rows, norms: tuple[Array, Array], factor: float) -> None:
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

    def __init__(self, X: Rows, Y: Rows | PreparedRows, factor: float = 1.0, dtype: DTypeLike = np.float64) -> None:
        if X.shape[1] != Y.shape[1]:  # the compiled loop would read past the end of a row
            raise ValueError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}. Give rows of one width.")
        size = 8 * (X.shape[0] + Y.shape[0]) * X.shape[1]
        if is_sparse(X) and size > memory_budget():
            raise ValueError(
                f"city-block distances make sparse rows dense: {format_bytes(size)}, over the memory budget of "
                f"{format_bytes(memory_budget())}. Use norm='l2', or fewer columns."
            )
        self.loop, self.factor = manhattan_loop(), factor
        Y, self.dtype = prepared(Y), np.dtype(dtype)
        self.Y = Y.once(("in rows", self.dtype), lambda: self._in_rows(Y.rows))
        self.X = self.Y if X is Y.rows else self._in_rows(X)
        self.shape = X.shape[0], Y.shape[0]

    def _in_rows(self, Z: Rows) -> Array:
        return to_dense(Z).astype(self.dtype, order="C", copy=False)

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        self.loop(self.X[rows], self.Y[cols], self.factor, out)
        return out


#: The measure of kernels, as ``dot`` and ``squared_euclidean`` are.
manhattan = Manhattan


def dot(X: Rows, Y: Rows | PreparedRows, factor: float = 1.0, dtype: DTypeLike = np.float64) -> Pairs:
    """Prepare ``a x'y``. Rows whose products overflow are refused: every later number would be NaN."""
    Y, dtype = prepared(Y), np.dtype(dtype)
    largest = [Y.once("largest", lambda: _largest(Y.rows))]
    largest += [] if X is Y.rows else [_at_most(X)]
    if not _products_fit(factor, X.shape[1], *largest):
        largest[-1] = _largest(X)
    if not _products_fit(factor, X.shape[1], *largest):
        raise ValueError(
            f"dot products overflow: the rows of X have entries of size {max(largest):.3g}. Divide X by a constant, or "
            "standardise its columns."
        )
    # Widened first: NumPy 1 does not let a scalar widen rows, and a float of Python widens none in any version.
    X = X if factor == 1.0 else X.astype(np.result_type(X.dtype, dtype), copy=False) * float(factor)
    return Product(_cast(X, dtype), Y.once(("cast", dtype), lambda: _cast(Y.rows, dtype)), dtype)


@dataclass(frozen=True)
class RightSide:
    """Rows Y as the right side of squared distances."""

    shift: Array | None  #: taken off all rows: distances do not see it, rounding does
    norms: Array  #: squared lengths of the shifted rows
    largest: float  #: of the norms
    rows: Rows  #: the shifted rows
    product: Rows | None  #: these, ones and norms, for a matrix product that writes it all; None if the rows are wide


def _right_side(Y: Rows, shift: Array | None, dtype: np.dtype, wide: bool) -> tuple[Rows, RightSide]:
    """Shifted rows in their own precision, and what products take of them in theirs."""
    moved_rows = Y if shift is None else moved(Y, shift)
    with np.errstate(over="ignore"):
        norms = squared_norms(moved_rows)
    product, rows = None, moved_rows
    if not wide:  # columns side by side, as stripes want them
        product = _append(moved_rows, 1.0, 1.0, np.ones_like(norms), norms, dtype, order="F")
        rows = product[:, :-2] if isinstance(product, np.ndarray) else moved_rows
    return moved_rows, RightSide(shift, norms, float(norms.max(initial=0)), _cast(rows, dtype), product)


def squared_euclidean(
    X: Rows,
    Y: Rows | PreparedRows,
    factor: float = 1.0,
    dtype: DTypeLike = np.float64,
    *,
    exact_near_zero: bool = False,
) -> Pairs:
    """Prepare ``a ||x - y||^2``; ``exact_near_zero`` also gets the distances of close rows right.

    Overflowing norms are refused: every later number would be NaN.
    """
    Y, dtype = prepared(Y), np.dtype(dtype)
    same, dense = X is Y.rows, isinstance(X, np.ndarray) and isinstance(Y.rows, np.ndarray)
    wide = dense and X.shape[1] >= WIDE_MIN_COLUMNS

    def rows() -> Rows:
        # Single-precision rows asked for in double precision are widened first, so that nothing is lost twice.
        return _cast(Y.rows, np.result_type(Y.rows.dtype, dtype))

    def right_side() -> tuple[Rows, RightSide]:
        return _right_side(rows(), _mean(rows()) if dense else shift, dtype, wide)

    shift = None if dense else _far_shift(X, Y, rows)
    if same and wide and rows().dtype == dtype:
        right = Y.once(("squares", dtype, dense), lambda: right_side()[1])
        X, nx = right.rows, right.norms
    elif same:
        X, right = right_side()
        nx = right.norms
    else:  # a shift of sparse rows depends on both sides
        right = right_side()[1] if shift is not None else Y.once(("squares", dtype, dense), lambda: right_side()[1])
        X = _cast(X, np.result_type(X.dtype, dtype))
        X = X if right.shift is None else moved(X, right.shift)
        with np.errstate(over="ignore"):
            nx = squared_norms(X)
    largest = max(float(nx.max(initial=0)), right.largest)
    if not largest < np.finfo(dtype).max / 8:
        raise ValueError(
            "squared distances overflow: the rows of X are too far apart for "
            f"{dtype.name}. Divide X by a constant, or standardise its columns."
        )
    rounding = abs(float(factor)) * largest * float(np.finfo(dtype).eps)
    careful = exact_near_zero or not rounding < np.finfo(dtype).eps ** 0.5 / 10
    folded = 1.0 if careful else factor
    narrow = right.rows if same and wide else _cast(X, dtype)
    squares: Pairs
    if right.product is None:
        squares = Squares(narrow, right.rows, (nx, right.norms), folded)
    else:
        squares = Product(_append(X, folded, -2.0, folded * nx, np.full_like(nx, folded), dtype), right.product, dtype)
    pairs = Distances(squares, narrow, right.rows, (nx, right.norms), factor) if careful else squares
    pairs.reach = 4.1 * abs(float(factor)) * largest  # ||x - y||^2 <= 2||x||^2 + 2||y||^2, and a little rounding
    return pairs


def squared_norms(X: Rows) -> Array:
    """Squared Euclidean length of each row."""
    if isinstance(X, np.ndarray):
        return np.einsum("ij,ij->i", X, X)
    return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()


def _products_fit(factor: float, d: int, *largest: float) -> bool:
    """Whether products of rows of d such entries stay in range."""
    with np.errstate(over="ignore"):
        reach = abs(float(factor)) * d * np.float64(largest[0]) * largest[-1]
    return bool(reach < np.finfo(np.float64).max / 8)


def _at_most(X: Rows) -> float:
    """A bound of the size of the entries in half the time: their length as one vector, infinite if that overflows."""
    values = X.data if is_sparse(X) else X.ravel(order="K")
    with one_blas_thread(), np.errstate(over="ignore"):
        return float(np.sqrt(np.dot(values, values)))


def _largest(X: Rows) -> float:
    """Size of the largest entry, without a second copy of the rows."""
    values = X.data if is_sparse(X) else X
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def _mean(Y: Array) -> Array | None:
    """Mean to subtract from dense rows: far from the origin the three terms of a squared distance cancel."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = Y.mean(axis=0, dtype=np.float64)
    return mean.astype(Y.dtype) if np.isfinite(mean).all() else None


def far_means(X: Rows, Y: Rows) -> Array:
    """Means of the columns of Y that lie far from the origin and have few zeros, of sparse X or Y; 0 for the others.

    Sums over sparse rows are centred at their end, where such columns would cancel: they are to be moved first.
    """
    mean, far = _far_columns(Y)
    return np.where(far if X is Y else far & _few_zeros(X, far), mean, 0.0).astype(Y.dtype)


def _far_columns(Y: Rows) -> tuple[Array, Array]:
    """Means of columns, and which lie far from the origin and have few zeros."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.asarray(Y.sum(axis=0), dtype=np.float64).ravel() / max(1, Y.shape[0])
        squares = (Y.multiply(Y) if is_sparse(Y) else Y * Y).sum(axis=0)
        far = np.asarray(squares).ravel() / max(1, Y.shape[0]) < (1 + 1 / FAR) * mean**2
    return mean, far & _few_zeros(Y, far)


def _few_zeros(X: Rows, asked: Array) -> Array:
    """Which columns are not zero in most of the rows, if it is asked of any; dense rows hold their zeros anyway."""
    if not is_sparse(X) or not asked.any():
        return np.ones(X.shape[1], dtype=bool)
    return 2 * np.bincount(X.indices, minlength=X.shape[1]) > X.shape[0]


def _far_shift(X: Rows, Y: PreparedRows, wide: Callable[[], Rows]) -> Array | None:
    """What to subtract from rows of which some are sparse: :func:`far_means`, None if they are 0."""
    mean, far = Y.once(("far", wide().dtype), lambda: _far_columns(wide()))
    shift = np.where(far & _few_zeros(X, far), mean, 0.0)
    return shift.astype(wide().dtype) if np.isfinite(shift).all() and shift.any() else None


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
