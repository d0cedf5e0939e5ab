"""The moments engine: count, mean and scatter in one pass, weighted, mergeable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.operators.tiles import Meter, row_blocks, run, share, threads_for
from gramian.results import Array


@dataclass(frozen=True)
class Moments:
    r"""What every linear method needs to know of the rows.

    Definition
    ----------
    .. math:: w = \sum_i w_i, \qquad \mu = \tfrac1w \sum_i w_i x_i, \qquad
              M = \sum_i w_i (x_i - \mu)(x_i - \mu)'

    Attributes
    ----------
    weight : float
        Number of rows, or the sum of their weights.
    pilot, offset : (d,) arrays
        The mean in two parts, a round one and a small one: together they hold it beyond double precision, without which
        groups far from the origin could not be merged to full accuracy.
    scatter : (d, d) array

    Cost
    ----
    One pass, ``n d^2 / 2`` multiplications, one tile of rows and one d x d sum per thread.
    """

    weight: float
    pilot: Array
    scatter: Array
    offset: Array | float = 0.0

    @property
    def mean(self) -> Array:
        """The mean, rounded once."""
        return self.pilot + self.offset

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.pilot)

    def about_origin(self) -> Array:
        """Scatter without centring: ``sum w x x'``."""
        return self.scatter + self.weight * np.outer(self.mean, self.mean)

    def covariance(self) -> Array:
        """The maximum-likelihood covariance S, divisor w."""
        return self.scatter / self.weight

    def __add__(self, other: Moments) -> Moments:
        """Moments of both sets of rows together."""
        weight = self.weight + other.weight
        if not other.weight or not self.weight:
            return self if self.weight else other
        shift = (other.pilot - self.pilot) + (other.offset - self.offset)
        spread = shift * np.sqrt(self.weight * other.weight / weight)
        return Moments(
            weight,
            self.pilot,
            self.scatter + other.scatter + np.outer(spread, spread),
            self.offset + shift * (other.weight / weight),
        )


def moments_of(X: Any, weights: Array | None = None) -> Moments:
    """Return the moments of rows; weights are frequencies: a row of weight 2 counts as two rows.

    Each tile of rows is centred by its own mean while it is in the cache, and tiles are merged by the formula for two
    groups: no square of a raw value is ever formed, so data far from the origin keep their digits.
    """
    if sp.issparse(X):
        return _sparse(X, weights)
    blocks = row_blocks(*X.shape)
    hands = share(len(blocks), threads_for(len(blocks)))

    def work(panels: Sequence[int], meter: Meter) -> Moments:
        total = _Running(X.shape[1])
        with np.errstate(over="ignore", invalid="ignore"):  # an infinite sum is for the caller to see and refuse
            for i in panels:
                total.add(X[blocks[i]], None if weights is None else weights[blocks[i]])
                meter.tick()
        return total.moments()

    return reduce(Moments.__add__, run(work, hands))


class _Running:
    """Moments of tiles, merged as they come, in place."""

    def __init__(self, d: int) -> None:
        self.weight, self.pilot, self.offset, self.scatter = 0.0, np.zeros(d), np.zeros(d), np.zeros((d, d))

    def add(self, X: Array, weights: Array | None) -> None:
        A = np.array(X, dtype=np.float64)
        weight = float(len(A) if weights is None else weights.sum())
        if weight == 0:
            return
        mean = A.mean(axis=0) if weights is None else weights @ A / weight
        A -= mean
        rest = A.mean(axis=0) if weights is None else weights @ A / weight  # what rounding left of the mean
        if weights is not None:
            A *= np.sqrt(weights)[:, None]
        if self.weight == 0:
            self.pilot = mean
        total = self.weight + weight
        shift = (mean - self.pilot) + (rest - self.offset)
        self.scatter += A.T @ A
        self.scatter += np.outer(shift, shift * (self.weight * weight / total)) - np.outer(rest, rest * weight)
        self.offset = self.offset + shift * (weight / total)
        self.weight = total

    def moments(self) -> Moments:
        return Moments(self.weight, self.pilot, self.scatter, self.offset)


def _sparse(X: Any, weights: Array | None) -> Moments:
    """Moments of CSR rows, whose zeros are not visited; the mean is subtracted from the finished sums."""
    weight = float(X.shape[0] if weights is None else weights.sum())
    W = X if weights is None else sp.csr_array(sp.diags_array(weights) @ X)
    mean = np.asarray(W.sum(axis=0), dtype=np.float64).ravel() / weight
    scatter = (X.T @ W).toarray().astype(np.float64) - weight * np.outer(mean, mean)
    return Moments(weight, mean, (scatter + scatter.T) / 2)
