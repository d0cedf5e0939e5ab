"""Moments of rows in one pass: count, mean and scatter, weighted, mergeable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.config import pinned_if_small
from gramian.engine.product import to_dense
from gramian.engine.tiles import Meter, row_blocks, rows_of_a_block, run, share, threads_for
from gramian.kernels.pairwise import far_means, moved
from gramian.results import Array, Matrix

#: Sums of weights that differ by less than this, relative, count the same rows: weights in single precision, 6e-8 each,
#: that were divided by their sum.
COUNT_ROUNDING = 1e-6


def row_count(weight: float) -> int:
    """Rows that the sum of weights stands for: a begun row counts, but rounding does not begin one.

    >>> row_count(7.0), row_count(6.2), row_count(7.0 + 4e-15)
    (7, 7, 7)
    """
    nearest = round(weight)
    return nearest if abs(weight - nearest) <= COUNT_ROUNDING * nearest else int(np.ceil(weight))


def has_variance(weight: float) -> bool:
    """Whether the sum of weights counts at least the two rows that a variance, with divisor w - 1, is defined for."""
    return weight >= 2 * (1 - COUNT_ROUNDING)


def column_scale(deviations: Array, mean: Array) -> Array:
    """Standard deviations to divide by: 1 for a column that is constant up to the rounding of its mean."""
    constant = deviations <= 10 * np.finfo(np.float64).eps * np.abs(mean)
    return np.where(constant, 1.0, deviations)


@dataclass(frozen=True)
class Moments:
    r"""What every linear method needs to know of the rows.

    Definition
    ----------
    .. math:: w = \sum_i w_i, \qquad \mu = \tfrac1w \sum_i w_i x_i, \qquad
              M = \sum_i w_i (x_i - \mu)(x_i - \mu)'

    ``weight``: number of rows, or the sum of their weights. ``pilot``, ``offset`` (d,): the mean in two parts, a round
    one and a small one: together they hold it beyond double precision, without which groups far from the origin could
    not be merged to full accuracy. ``scatter``: (d, d).

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

    @property
    def squares(self) -> Array:
        """Sums of squared deviations of the columns."""
        return np.diag(self.scatter)

    def views(self, d: int) -> tuple[Moments, Moments, Array]:
        """Moments of the first d columns, of the others, and the cross-scatter between them (d x q)."""
        offset = np.broadcast_to(self.offset, self.pilot.shape)
        first, second = (
            Moments(self.weight, self.pilot[part], self.scatter[part, part], offset[part])
            for part in (slice(0, d), slice(d, None))
        )
        return first, second, self.scatter[:d, d:]

    def __sizeof__(self) -> int:
        """Bytes, so that the workers of a cluster know what they hold and send."""
        return int(8 * (self.d**2 + 2 * self.d))

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


def moments_of(X: Matrix, weights: Array | None = None, *, beside: Matrix | None = None) -> Moments:
    """Return the moments of rows.

    Tiles of rows are shifted by a pilot mean while they are in the cache; where rows leave its neighbourhood a new
    group with a new pilot begins, and groups are merged pairwise. Squares are only formed of what lies within a few
    deviations of a pilot, so data far from the origin, and sorted ones, keep their digits.

    ``X`` (n, d): rows. ``weights`` (n,): frequencies: a row of weight 2 counts as two rows. ``beside`` (n, q): A second
    view of the same rows. The moments are then those of d + q columns, cross-scatter included, and
    :meth:`Moments.views` takes them apart; no more than a tile of the views is put together in memory.
    """
    views = (X,) if beside is None else (X, beside)
    if any(sp.issparse(view) for view in views):
        return _sparse(views[0] if beside is None else sp.hstack(views, format="csr"), weights)
    width = sum(view.shape[1] for view in views)
    if X.shape[0] <= rows_of_a_block(width):
        return _one_tile(X if beside is None else np.hstack(views), weights)
    total = Accumulator(width, X.shape[0])
    total.add(views, weights)
    return total.moments()


def _one_tile(X: Array, weights: Array | None) -> Moments:
    """Moments of few rows, which are shifted by their mean."""
    with np.errstate(over="ignore", invalid="ignore"):
        w = np.ones(len(X)) if weights is None else weights
        weight = float(w.sum())
        if weight == 0:
            return Moments(0.0, np.zeros(X.shape[1]), np.zeros((X.shape[1], X.shape[1])))
        pilot = w @ X.astype(np.float64, copy=False) / weight
        A = X - pilot
        offset = w @ A / weight
        A = A if weights is None else A * np.sqrt(weights)[:, None]
        with pinned_if_small(A.size * A.shape[1]):
            return Moments(weight, pilot, A.T @ A - weight * np.outer(offset, offset), offset)


class Accumulator:
    """Moments of rows that come block by block: each thread goes on with its own sums from one block to the next.

    ``d``: number of columns, of all views together. ``rows``: rows of the largest block, if that is known and small.
    """

    def __init__(self, d: int, rows: int = 4096) -> None:
        self.d, self.tile = d, row_blocks(min(rows, 4096), d)[0].stop if rows else 0
        self.hands: list[_Running] = []

    def add(self, views: Sequence[Any], weights: Array | None = None) -> bool:
        """Add a block of rows, given view by view; return whether all sums are still finite."""
        blocks = row_blocks(views[0].shape[0], self.d)
        hands = share(len(blocks), threads_for(len(blocks)))
        while len(self.hands) < len(hands):
            self.hands.append(_Running(self.d, self.tile))

        def work(panels: Sequence[int], meter: Meter) -> bool:
            total = self.hands[panels[0]]  # panels are dealt in turn: the first is the number of the hand
            with np.errstate(over="ignore", invalid="ignore"):  # an infinite sum is for the caller to see and refuse
                for rows in (blocks[i] for i in panels):
                    total.add([view[rows] for view in views], None if weights is None else weights[rows])
                    meter.tick()
                return bool(np.isfinite(total.sums).all())

        return all(run(work, hands))

    def moments(self) -> Moments:
        """Moments of all rows so far."""
        with np.errstate(over="ignore", invalid="ignore"):
            return reduce(Moments.__add__, [hand.moments() for hand in self.hands])


class _Running:
    """Sums over tiles about a pilot mean; where rows leave its neighbourhood, a new group with a new pilot begins."""

    def __init__(self, d: int, rows: int) -> None:
        self.buffer, self.ones = np.empty((rows, d)), np.ones(rows)
        self.finished: list[Moments] = []
        self._begin(np.zeros(d))

    def add(self, views: list[Array], weights: Array | None) -> None:
        """Add a tile of rows, given view by view."""
        w = self.ones[: len(views[0])] if weights is None else weights
        weight = float(len(w) if weights is None else w.sum())
        if weight == 0:
            return
        if self.weight == 0:
            self._begin(_pilot(views, w, weight, self.buffer))
        A = self._shifted(views)
        sums = w @ A
        if self.weight > 0 and self._far(sums / weight, A, w, weight):
            self.finished.append(self._group())
            self._begin(_pilot(views, w, weight, self.buffer))
            A = self._shifted(views)
            sums = w @ A
        if weights is not None:
            A = np.multiply(A, np.sqrt(weights)[:, None], out=self.buffer[: len(A)])
        self.squares += A.T @ A  # NumPy sees the transpose, computes half, and leaves the interpreter to other threads
        self.sums += sums
        self.weight += weight

    def moments(self) -> Moments:
        return reduce(Moments.__add__, [*self.finished, self._group()])

    def _far(self, offset: Array, A: Array, w: Array, weight: float) -> bool:
        """Whether the mean of shifted rows is over two deviations from the pilot, and more than few are by chance.

        Unless they spread as far themselves: then squares about the pilot are at most twice those about their mean.
        Columns with few entries other than zero do, each time such an entry comes.
        """
        far = np.flatnonzero(offset**2 > (4 + 36 / len(A)) / self.weight * self.squares.diagonal())
        return bool(len(far) and (2 * weight * offset[far] ** 2 > w @ np.square(A[:, far])).any())

    def _begin(self, pilot: Array) -> None:
        d = len(pilot)
        self.pilot, self.weight, self.sums, self.squares = pilot, 0.0, np.zeros(d), np.zeros((d, d))

    def _group(self) -> Moments:
        """Moments of the present group: rows lie within a few deviations of the pilot, so nothing cancels."""
        offset = self.sums / self.weight if self.weight else self.sums
        return Moments(self.weight, self.pilot, self.squares - self.weight * np.outer(offset, offset), offset)

    def _shifted(self, views: list[Array]) -> Array:
        if len(views) == 1 and views[0].dtype == np.float64 and not self.pilot.any():
            return views[0]
        A, at = self.buffer[: len(views[0])], 0
        for view in views:
            columns = slice(at, at + view.shape[1])
            np.subtract(view, self.pilot[columns], out=A[:, columns])
            at = columns.stop
        return A


def _pilot(views: list[Array], w: Array, weight: float, room: Array) -> Array:
    """The mean of a tile, or the origin if that is within one deviation: then rows need not be shifted at all."""
    mean = np.concatenate([w @ view / weight for view in views], dtype=np.float64)
    rooms = [room[: len(view), : view.shape[1]] for view in views]
    squares = np.concatenate(
        [w @ np.square(view, out=own, dtype=np.float64) / weight for view, own in zip(views, rooms, strict=True)]
    )
    return np.zeros_like(mean) if (2 * mean**2 <= squares).all() else mean


def _sparse(X: Matrix, weights: Array | None) -> Moments:
    """Moments of CSR rows, whose zeros are not visited; the mean is subtracted from the finished sums."""
    X = X.astype(np.float64, copy=False)
    weight = float(X.shape[0] if weights is None else weights.sum())
    if weight == 0:
        return Moments(0.0, np.zeros(X.shape[1]), np.zeros((X.shape[1], X.shape[1])))
    pilot = far_means(X, X)
    X = moved(X, pilot) if pilot.any() else X
    W = X if weights is None else sp.csr_array(sp.diags_array(weights) @ X)
    offset = np.asarray(W.sum(axis=0), dtype=np.float64).ravel() / weight
    scatter = to_dense(X.T @ W) - weight * np.outer(offset, offset)
    return Moments(weight, pilot, (scatter + scatter.T) / 2, offset)


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
    def d(self) -> int:
        """Number of columns."""
        return len(self.mean)

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


@dataclass(frozen=True)
class ColumnRanges(ColumnSums):
    """The same, and the size of the largest entry."""

    largest: float = 0.0

    def __add__(self, other: ColumnSums) -> ColumnRanges:
        both = super().__add__(other)
        return ColumnRanges(both.weight, both.mean, both.squares, max(self.largest, getattr(other, "largest", 0.0)))
