"""Means and squared deviations of columns, without what lies between columns; they add."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.operators.matrix import Data, column_scale
from gramian.results import Array


@dataclass(frozen=True)
class ColumnSums:
    r"""Of columns of rows: :math:`w = \sum_i w_i`, the means, and :math:`\sum_i w_i (x_{ij} - \mu_j)^2`."""

    weight: float
    mean: Array
    squares: Array

    def __add__(self, other: ColumnSums) -> ColumnSums:
        total, shift = self.weight + other.weight, other.mean - self.mean
        if not other.weight:
            return self
        with np.errstate(over="ignore"):
            squares = self.squares + other.squares + shift**2 * (self.weight * other.weight / total)
        return ColumnSums(total, self.mean + shift * (other.weight / total), squares)

    @property
    def scale(self) -> Array:
        """Standard deviations to divide by, 1 for constant columns."""
        return column_scale(self._deviations, self.mean)

    @property
    def constant(self) -> int:
        """How many columns are constant."""
        return int(((self.scale != self._deviations) | (self._deviations == 0)).sum())

    @property
    def _deviations(self) -> Array:
        return np.sqrt(self.squares / (self.weight - 1))


def column_sums(X: Array, weights: Array | None = None) -> ColumnSums:
    """Return the sums of rows in memory."""
    data = Data(X, weights=weights)
    with np.errstate(over="ignore"):
        return ColumnSums(data.weight, data.mean, data.column_squares * np.square(data.unit))


@dataclass(frozen=True)
class Columns(ColumnSums):
    """The same, and the size of the largest entry."""

    largest: float = 0.0

    def __add__(self, other: ColumnSums) -> Columns:
        both = super().__add__(other)
        return Columns(both.weight, both.mean, both.squares, max(self.largest, getattr(other, "largest", 0.0)))


def columns_of(X: Array, weights: Array | None = None) -> Columns:
    """Return the sums of a block of rows, which may be empty, and its largest entry."""
    if not len(X) or (weights is not None and not weights.any()):
        return Columns(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
    sums = column_sums(X, weights)
    return Columns(float(sums.weight), sums.mean, sums.squares, float(max(X.max(), -X.min())))
