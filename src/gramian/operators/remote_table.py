"""Remote rows as a table: its shape, a few of its rows, and what functions say of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gramian.kernels import Kernel
from gramian.kernels.widths import SAMPLE
from gramian.operators.column_sums import Columns, columns_of
from gramian.operators.remote import Remote
from gramian.operators.rows import Piece
from gramian.results import Array

Step = tuple[str, Array]


class RemoteTable:
    """What landmarks, feature maps and sums over mapped rows ask of a table, answered where its rows are.

    Parameters
    ----------
    rows : Remote
        Finite rows.
    steps : tuple of Step
        What is done to each of them: subtract a point, divide by a scale, take some columns.
    columns : Columns, optional
        Means and squares of its columns, if they are known.
    """

    ndim = 2

    def __init__(self, rows: Remote, steps: tuple[Step, ...] = (), columns: Columns | None = None) -> None:
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

    def each(self, function: Callable[..., Array], *beside: Any, task: str) -> Array:
        """Return what a function says of blocks of rows, and of the same rows beside, one below the other."""
        return self.rows.each(self._prepared(function, beside), *_remote(beside), task=task)

    def total(self, function: Callable[..., Any], *beside: Any, task: str) -> Any:
        """Return the sum of what a function says of blocks of rows, and of the same rows beside."""
        return self.rows.total(self._prepared(function, beside), *_remote(beside), task=task)

    def columns(self, weights: Array | None = None) -> Columns:
        """Means and squares of the columns."""
        if weights is not None:
            return self.total(_weighted_columns, weights, task="columns")
        if self._columns is None:
            self._columns = self.total(columns_of, task="columns")
        return self._columns

    def var(self, dtype: Any = None) -> float:
        """Variance of all entries together."""
        found = self.columns()
        return float(np.mean(found.squares / found.weight) + np.var(found.mean))

    def diagonal(self, kernel: Kernel) -> Array:
        """Return ``k(x, x)`` of every row."""
        return self.each(partial(_diagonal, kernel), task="diagonal")

    def resolve(self, kernel: Kernel, weights: Array | None = None) -> Kernel:
        """Return the kernel with its parameters resolved, as if rows were repeated ``weights`` times."""
        n = self.shape[0]
        if weights is None:
            return kernel.resolve(self[:] if n <= SAMPLE else self)
        if kernel.needs_rows:
            heavy = np.flatnonzero(weights)
            if len(heavy) > SAMPLE:  # those that median_width would draw
                heavy = heavy[np.sort(np.random.default_rng(0).choice(len(heavy), SAMPLE, replace=False))]
            return kernel.resolve(self[heavy])
        found = self.columns(weights)
        deviation = np.sqrt(found.squares / found.weight)
        return kernel.resolve(np.stack([found.mean - deviation, found.mean + deviation]))

    def _prepared(self, function: Callable[..., Any], beside: tuple[Any, ...]) -> Prepared:
        return Prepared(function, (self.steps, *(getattr(other, "steps", ()) for other in beside)))


def _remote(beside: tuple[Any, ...]) -> list[Any]:
    return [other.rows if isinstance(other, RemoteTable) else other for other in beside]


@dataclass(frozen=True)
class Prepared:
    """A function of arrays, as it goes to blocks."""

    function: Callable[..., Any]
    steps: tuple[tuple[Step, ...], ...]

    def __call__(self, *pieces: Piece | None) -> Any:
        """What the function says of blocks after the steps of each."""
        return self.function(
            *(
                None if piece is None else _stepped(piece.values, steps)
                for piece, steps in zip(pieces, self.steps, strict=True)
            )
        )


def _stepped(X: Array, steps: tuple[Step, ...]) -> Array:
    for name, by in steps:
        X = X - by if name == "subtract" else X / by if name == "divide" else X[:, by]
    return X


def _weighted_columns(X: Array, weights: Array) -> Columns:
    return columns_of(X, weights[:, 0])


def _diagonal(kernel: Kernel, X: Array) -> Array:
    return np.asarray(kernel.diagonal(X), dtype=np.float64)
