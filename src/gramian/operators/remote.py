"""Rows on a cluster: functions are sent to their blocks, and sums come back."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike

from gramian.kernels import Kernel
from gramian.kernels.pairwise import MEDIAN_SAMPLE_ROWS
from gramian.operators.centering import column_means
from gramian.operators.compressed import Compressed, from_rows, without_constants
from gramian.operators.matrix import column_ranges
from gramian.operators.moments import Accumulator, ColumnRanges, Moments, column_scale
from gramian.operators.rows import Rows
from gramian.operators.source import Loses, Piece, Refuse, Source, View, Weights, accept, counted
from gramian.results import Array, Matrix

#: More of the same rows: a second view, targets or weights.
Beside: TypeAlias = "Source | RemoteTable | Array | None"


class ClusterError(RuntimeError):
    """The cluster failed, not the computation; one line that names the remedy."""


class Remote(Rows):
    """Rows whose blocks are on other machines, or not made yet.

    They stream like others, block by block through this process; but :meth:`total` sends a function to the blocks and
    adds what it says of them there.

    ``dtype``: single precision, or double for everything else. ``single``: whether they came as one dimension: one
    column.
    """

    dtype: np.dtype
    single: bool = False
    weighted = True

    @property
    @abstractmethod
    def lengths(self) -> list[int]:
        """Rows of each block; they are counted if that is not known."""

    @abstractmethod
    def total(self, function: Callable[..., Any], *beside: Beside, task: str) -> Any:
        """Return the sum of ``function(piece, *others)`` over the blocks, added in pairs, in a fixed order.

        ``function``: of a :class:`Piece` and the same rows of everything beside; what it returns must add. ``*beside``:
        more of the same rows, cut as these are. An array is sent with the tasks. ``task``: what is done, for
        progress.
        """

    @abstractmethod
    def each(self, function: Callable[..., Array], *beside: Beside, task: str) -> Array:
        """Return ``function(piece, *others)`` of all blocks, one below the other."""

    @abstractmethod
    def gram_product(self, kernel: Kernel, V: Array) -> Array:
        """Return ``K(X, X) V`` in the precision of V, made over pairs of blocks."""

    @abstractmethod
    def whole(self) -> Any:
        """Return everything as it is, in memory: an array of its own dtype and dimensions, or a data frame."""

    def moments(
        self, weights: Weights = None, beside: View = None, *, refuse: Refuse = accept, loses: Loses | None = None
    ) -> Moments:
        found: Moments = self.total(
            partial(block_moments, refuse=refuse), _beside(beside), _weights(weights), task="moments"
        )
        return found

    def triangle(self, weights: Weights = None, beside: View = None, *, why: str = "") -> Compressed:
        found: Compressed = self.total(block_triangle, _beside(beside), _weights(weights), task="triangular factor")
        return without_constants(found)

    def column_sums(self, weights: Weights = None, *, refuse: Refuse = accept) -> ColumnRanges:
        found: ColumnRanges = self.total(partial(block_columns, refuse=refuse), _weights(weights), task="columns")
        return found


def block_moments(piece: Piece, *beside: Piece | None, refuse: Callable[..., None]) -> Moments:
    """Moments of a block and of a second view beside it; the weights come last."""
    second, weights = beside
    views = [piece.values] if second is None else [piece.values, second.values]
    width = sum(view.shape[1] for view in views)
    w = None if weights is None else weights.values[:, 0].astype(np.float64)
    if not len(views[0]) or (w is not None and not w.any()):
        refuse(piece, second, weights)
        return Moments(0.0, np.zeros(width), np.zeros((width, width)))
    total = Accumulator(width, len(views[0]))
    if not total.add(views, w) or w is not None:
        refuse(piece, second, weights)
    return total.moments()


def block_triangle(piece: Piece, *beside: Piece | None) -> Compressed:
    """Triangular factor of a block and of a second view beside it; the weights come last."""
    second, weights = beside
    w = None if weights is None else weights.values[:, 0].astype(np.float64)
    return from_rows(piece.values, None if second is None else second.values, w)


def block_columns(piece: Piece, weights: Piece | None, refuse: Refuse) -> ColumnRanges:
    """Means and squares of the columns of a block."""
    refuse(piece, None, weights)
    return column_ranges(piece.values, None if weights is None else weights.values[:, 0].astype(np.float64))


def _beside(view: Source | Array | None) -> Any:
    """What is sent with remote rows: other remote rows, or an array."""
    return view.toarray() if isinstance(view, Rows) and not isinstance(view, Remote) else view


def _weights(weights: Weights) -> Any:
    return weights if weights is None or isinstance(weights, Remote) else np.asarray(weights, dtype=np.float64)


def place_of(source: str, start: int | None, block: int) -> Callable[[int], str]:
    """Name rows by their number, or by their number in a block if it is not known what goes before it."""
    return counted(source, 0, f"block {block}") if start is None else counted(source, start, f"block {block}")


def starts(lengths: Sequence[int | None]) -> list[int | None]:
    """First row of each block, as far as it is known."""
    found: list[int | None] = [0]
    for length in lengths[:-1]:
        before = found[-1]
        found.append(None if before is None or length is None else before + length)
    return found


Step = tuple[str, Array]


class RemoteTable:
    """What landmarks, feature maps and sums over mapped rows ask of a table, answered where its rows are.

    ``rows``: finite rows. ``steps``: what is done to each of them: subtract a point, divide by a scale, take some
    columns. ``columns``: means and squares of its columns, if they are known.
    """

    ndim = 2

    def __init__(self, rows: Remote, steps: tuple[Step, ...] = (), columns: ColumnRanges | None = None) -> None:
        self.rows, self.steps, self._columns = rows, steps, columns
        none = _stepped(np.zeros((0, rows.n_features), dtype=rows.dtype), steps)
        self.shape, self.dtype = (sum(rows.lengths), none.shape[1]), none.dtype

    def __getitem__(self, chosen: Any) -> Any:
        """Return chosen rows, in memory; or, of ``[:, columns]``, a table."""
        if isinstance(chosen, tuple):
            return RemoteTable(self.rows, (*self.steps, ("take", np.asarray(chosen[1]))))
        return _stepped(self.rows.take(np.arange(self.shape[0])[chosen]), self.steps)

    def __sub__(self, point: Array) -> RemoteTable:
        return RemoteTable(self.rows, (*self.steps, ("subtract", point)))

    def __truediv__(self, scale: Array) -> RemoteTable:
        return RemoteTable(self.rows, (*self.steps, ("divide", scale)))

    def each(self, function: Callable[..., Array], *beside: Beside, task: str) -> Array:
        """Return the results of a function of blocks of rows, and of the same rows beside, one below the other."""
        return self.rows.each(self._prepared(function, beside), *_remote(beside), task=task)

    def total(self, function: Callable[..., Any], *beside: Beside, task: str) -> Any:
        """Return the sum of the results of a function of blocks of rows, and of the same rows beside."""
        return self.rows.total(self._prepared(function, beside), *_remote(beside), task=task)

    def columns(self, weights: Array | None = None) -> ColumnRanges:
        """Means and squares of the columns."""
        if weights is not None:
            return self.total(_weighted_columns, weights, task="columns")
        if self._columns is None:
            self._columns = self.total(column_ranges, task="columns")
        return self._columns

    def var(self, dtype: DTypeLike | None = None) -> float:
        """Variance of all entries together."""
        found = self.columns()
        return float(np.mean(found.squares / found.weight) + np.var(found.mean))

    def resolve(self, kernel: Kernel, weights: Array | None = None) -> Kernel:
        """Return the kernel with its parameters resolved, as if rows were repeated ``weights`` times."""
        n = self.shape[0]
        if weights is None:
            return kernel.resolve(self[:] if n <= MEDIAN_SAMPLE_ROWS else self)
        if kernel.needs_rows:
            heavy = np.flatnonzero(weights)
            if len(heavy) > MEDIAN_SAMPLE_ROWS:  # those that median_width would draw
                heavy = heavy[np.sort(np.random.default_rng(0).choice(len(heavy), MEDIAN_SAMPLE_ROWS, replace=False))]
            return kernel.resolve(self[heavy])
        found = self.columns(weights)
        deviation = np.sqrt(found.squares / found.weight)
        return kernel.resolve(np.stack([found.mean - deviation, found.mean + deviation]))

    def _prepared(self, function: Callable[..., Any], beside: tuple[Any, ...]) -> Callable[..., Any]:
        return partial(_of_steps, function, (self.steps, *(getattr(other, "steps", ()) for other in beside)))


def _remote(beside: tuple[Any, ...]) -> list[Any]:
    return [other.rows if isinstance(other, RemoteTable) else other for other in beside]


#: Rows in memory or on a cluster, as kernels and feature maps see them.
Table: TypeAlias = Matrix | RemoteTable


def each(X: Table, function: Callable[..., Array], *beside: Beside, task: str) -> Array:
    """What a function makes of rows, and of the same rows beside them, one below the other, made where they are."""
    return X.each(function, *beside, task=task) if isinstance(X, RemoteTable) else function(X, *beside)


def total(X: Table, function: Callable[..., Any], *beside: Beside, task: str) -> Any:
    """The sum of what a function makes of blocks of rows, and of the same rows beside them, made where they are."""
    return X.total(function, *beside, task=task) if isinstance(X, RemoteTable) else function(X, *beside)


def diagonal_of(kernel: Kernel, X: Table) -> Array:
    """Similarities of rows to themselves."""
    return each(X, partial(_diagonal, kernel), task="diagonal")


def _diagonal(kernel: Kernel, X: Array) -> Array:
    return np.asarray(kernel.diagonal(X), dtype=np.float64)


def largest_entry(X: Table) -> float:
    """Size of the largest entry."""
    if isinstance(X, RemoteTable):
        return X.columns().largest
    values: Any = X.data if sp.issparse(X) else X
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def deviations(X: Table) -> Array:
    """Standard deviations of columns, divisor n - 1; 1 for a column without variance."""
    n = X.shape[0]
    if isinstance(X, RemoteTable):
        found = X.columns()
        return column_scale(np.sqrt(found.squares / (n - 1)), found.mean)
    size = abs(X).max(axis=0)
    size = (size.toarray().ravel() if sp.issparse(size) else size).astype(np.float64)
    size = np.where(size > 0, size, 1.0)
    if sp.issparse(X):
        unit = divided(X, size)
        squares = np.asarray(unit.multiply(unit).sum(axis=0)).ravel() - n * column_means(unit) ** 2
    else:
        squares = np.square((X.astype(np.float64) - column_means(X)) / size).sum(axis=0)
    spread = np.sqrt(np.maximum(squares, 0.0) / (n - 1))
    return np.where(spread > n * np.finfo(np.float64).eps, spread * size, 1.0)


def divided(X: Table, scale: Array | None) -> Any:
    """Rows with their columns divided by a scale, if there is one."""
    if scale is None:
        return X
    return sp.csr_array(X.multiply(1 / scale)) if isinstance(X, sp.sparray | sp.spmatrix) else X / scale


def _of_steps(function: Callable[..., Any], steps: Sequence[tuple[Step, ...]], *pieces: Piece | None) -> Any:
    """What a function makes of arrays that come as blocks, each after its steps."""
    given = zip(pieces, steps, strict=True)
    return function(*(None if piece is None else _stepped(piece.values, own) for piece, own in given))


def _stepped(X: Array, steps: tuple[Step, ...]) -> Array:
    for name, by in steps:
        X = X - by if name == "subtract" else X / by if name == "divide" else X[:, by]
    return X


def _weighted_columns(X: Array, weights: Array) -> ColumnRanges:
    return column_ranges(X, weights[:, 0])
