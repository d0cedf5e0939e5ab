"""Moments of single columns: number of rows, means and sums of squares about them, mergeable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.operators.matrix import Data
from gramian.results import Array


@dataclass(frozen=True)
class Columns:
    """Weight, means and sums of squared deviations of columns, and the size of the largest entry; they add."""

    weight: float
    mean: Array
    squares: Array
    largest: float = 0.0

    def __add__(self, other: Columns) -> Columns:
        weight = self.weight + other.weight
        if not self.weight or not other.weight:
            return self if self.weight else other
        shift = other.mean - self.mean
        with np.errstate(over="ignore"):
            squares = self.squares + other.squares + shift**2 * (self.weight * other.weight / weight)
        return Columns(weight, self.mean + shift * (other.weight / weight), squares, max(self.largest, other.largest))


def columns_of(X: Array, weights: Array | None = None) -> Columns:
    """Return the column moments of rows."""
    if not len(X) or (weights is not None and not weights.any()):
        return Columns(0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
    data = Data(X, weights=weights)
    with np.errstate(over="ignore"):
        return Columns(float(data.weight), data.mean, data.column_squares * data.unit**2, float(max(X.max(), -X.min())))
