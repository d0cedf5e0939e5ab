"""Moments of mapped rows: what component analysis and regression in a space of low rank need, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg

from gramian.config import format_bytes, memory_budget, one_blas_thread, within_budget
from gramian.engine.product import STRIPE
from gramian.engine.scatter import Scatter, scatter_for, total_of, write_reflected
from gramian.engine.tiles import Meter, run, share, spans, threads_for
from gramian.operators.features import FeatureMap, MapBuffers, piece_rows
from gramian.operators.moments import Moments
from gramian.operators.remote import RemoteTable
from gramian.progress import part_done, track
from gramian.results import Array, Matrix

#: Condition number up to which sums may be mapped in place of rows, in units of 1 / eps. Sums in single precision are
#: over blocks of rows whose rounding is random: what is left of it after many blocks is far below the bound.
MAX_CONDITION_EPS = {np.dtype(np.float64): 4e-10, np.dtype(np.float32): 1e-3}
#: One in so many directions is taken out of the kernel values, if they are too badly conditioned as they are; more if
#: those are not enough.
FEATURES_PER_DIRECTION = (64, 16)
#: Rows for each feature below which there is nothing to save, and features up to which there is so little that digits
#: count for more.
MIN_ROWS_PER_FEATURE, MAP_ROWS_MAX_FEATURES = 4, 64
#: Rows assumed of a stream of unknown length: enough for every saving that many rows allow.
ASSUMED_STREAM_ROWS = 10**6
#: Rows whose mean is what sums are seen from.
PILOT_ROWS = 256


@dataclass(frozen=True)
class MappedMoments:
    """Moments of the features of rows, view after view, and of targets beside them; they add.

    ``moments``: of ``r_1 + r_2 + ... + q`` columns. ``traces`` (views,): :math:`\\sum_i w_i k(x_i, x_i)` of each view,
    before the rank was cut. ``sizes``: features of each view.
    """

    moments: Moments
    traces: Array
    sizes: tuple[int, ...]

    def __sizeof__(self) -> int:
        """Bytes, so that the workers of a cluster know what they hold and send."""
        return self.moments.__sizeof__()

    def __add__(self, other: MappedMoments) -> MappedMoments:
        return MappedMoments(self.moments + other.moments, self.traces + other.traces, self.sizes)

    def beside_times(self, units: Array) -> MappedMoments:
        """The same with the targets in other units."""
        u, found = np.concatenate([np.ones(sum(self.sizes)), units]), self.moments
        with np.errstate(over="ignore"):
            scaled = Moments(found.weight, found.pilot * u, found.scatter * np.outer(u, u), found.offset * u)
        return MappedMoments(scaled, self.traces, self.sizes)

    def part(self, view: int) -> slice:
        """Columns of a view."""
        start = sum(self.sizes[:view])
        return slice(start, start + self.sizes[view])

    def lost(self, view: int = 0) -> float:
        """What the low rank leaves of the trace of the kernel matrix: :math:`tr(K - FF')`."""
        part = self.part(view)
        kept = np.trace(self.moments.scatter[part, part]) + self.moments.weight * np.sum(self.moments.mean[part] ** 2)
        return float(max(self.traces[view] - kept, 0.0))

    def trace_error(self, view: int = 0) -> float:
        """The same, as a share of the trace."""
        return self.lost(view) / float(self.traces[view]) if self.traces[view] > 0 else 0.0


def mapped_moments(
    maps: Sequence[FeatureMap], views: Sequence[Any], weights: Array | None = None, *, beside: Array | None = None
) -> MappedMoments:
    """Return the moments of mapped rows, in one pass and without keeping any.

    There is a map for each view, n x d, dense or CSR. Single-precision rows are mapped and multiplied in single
    precision, block by block; sums over blocks are in double precision. ``beside`` (n, q): targets.

    A row takes r kernel values, about ``r^2 / 2`` multiplications to map it and as many for the scatter. Where the
    landmarks are well conditioned the sums are mapped in place of the rows: see :class:`ScatterPlan`.
    """
    if isinstance(views[0], RemoteTable):
        return views[0].total(
            partial(_block_moments, tuple(maps)), beside, weights, *views[1:], task="moments of mapped rows"
        )
    n, q = views[0].shape[0], 0 if beside is None else beside.shape[1]
    if n == 0:
        sizes = tuple(map.size for map in maps)
        nothing = np.zeros(sum(sizes) + q)
        return MappedMoments(Moments(0.0, nothing, np.outer(nothing, nothing)), np.zeros(len(maps)), sizes)
    dtype = np.dtype(np.float32 if all(X.dtype == np.float32 for X in views) else np.float64)
    total = MappedSums(maps, q, dtype, n)
    with track("moments of mapped rows", expected=1.0):
        total.add(views, weights, beside=beside)
    return total.moments()


class MappedSums:
    """Moments of mapped rows that come block by block: each thread goes on with its own sums.

    ``q``: number of targets. ``dtype``: precision in which rows are mapped. ``n``: rows in all, if that is known.
    ``sets``: sums of this size that are kept beside each other, for the memory budget.
    """

    def __init__(
        self, maps: Sequence[FeatureMap], q: int, dtype: np.dtype, n: int | None = None, *, sets: int = 1
    ) -> None:
        self.sizes, self.dtype = tuple(map.size for map in maps), dtype
        self.n, self.pilot = ASSUMED_STREAM_ROWS if n is None else n, np.zeros(sum(self.sizes) + q)
        width = len(self.pilot)
        if not within_budget(needed := 8 * width**2 * ((1 + sets) * threads_for(width) + 2)):
            raise ValueError(
                f"landmarks: sums over {width:,} features take {format_bytes(needed)}, over the memory budget of "
                f"{format_bytes(memory_budget())}. Use fewer landmarks, or gramian.config(memory=...)."
            )
        self.plans = [scatter_plan(map, self.n, dtype) for map in maps]
        self.tile = rows_summed(self.n, width)
        self.hands: list[BlockSums] = []

    def add(self, views: Sequence[Any], weights: Array | None = None, *, beside: Array | None = None) -> None:
        """Add a block of rows, given view by view, and their targets."""
        blocks = spans(views[0].shape[0], self.tile)
        if not blocks:
            return
        if not self.hands:
            first, some = self._hand(), slice(0, min(PILOT_ROWS, blocks[0].stop))
            with np.errstate(over="ignore", invalid="ignore"):
                first.pilot = first.mean([X[some] for X in views], *_both(weights, beside, some))
            self.pilot, self.hands = first.pilot, [first]
        hands = share(len(blocks), threads_for(len(blocks)))
        while len(self.hands) < len(hands):
            self.hands.append(self._hand())

        def work(panels: Sequence[int], meter: Meter) -> None:
            total = self.hands[panels[0]]  # panels are dealt in turn: the first is the number of the hand
            with np.errstate(over="ignore", invalid="ignore"):  # an infinite sum is for the caller to see and refuse
                for rows in (blocks[i] for i in panels):
                    total.add([X[rows] for X in views], *_both(weights, beside, rows))
                    meter.tick()

        run(work, hands, lambda done: part_done(done / len(blocks)))

    def _hand(self) -> BlockSums:
        return BlockSums(self.plans, self.tile, scatter_for(len(self.pilot) + 1, self.dtype, self.n), self.pilot)

    def moments(self) -> MappedMoments:
        """Moments of all rows so far."""
        with np.errstate(over="ignore", invalid="ignore"):
            weight, squares = sum(part.weight for part in self.hands), total_of([part.squares for part in self.hands])
            offset = squares[-1, :-1] / (weight or 1.0)
            squares = squares[:-1, :-1]
            squares -= np.outer(weight * offset, offset)
            total = _map(Moments(weight, self.pilot, squares, offset), self.plans)
        return MappedMoments(total, np.sum([part.traces for part in self.hands], axis=0), self.sizes)


def _block_moments(
    maps: tuple[FeatureMap, ...], X: Array, beside: Array | None, weights: Array | None, *more: Array
) -> MappedMoments:
    return mapped_moments(maps, [X, *more], None if weights is None else weights[:, 0], beside=beside)


class _Several(tuple[MappedMoments, ...]):
    """Moments of parts of the rows; they add part by part."""

    def __sizeof__(self) -> int:
        return sum(part.__sizeof__() for part in self)

    def __add__(self, other: Any) -> _Several:
        return _Several(a + b for a, b in zip(self, other, strict=True))


def part_moments(maps: Sequence[FeatureMap], views: Sequence[Any], parts: Sequence[Array]) -> tuple[MappedMoments, ...]:
    """Return the moments of parts of mapped rows; on a cluster, in one pass for all parts."""
    if not isinstance(views[0], RemoteTable):
        return tuple(mapped_moments(maps, [view[part] for view in views]) for part in parts)
    codes = np.empty(views[0].shape[0])
    for at, part in enumerate(parts):
        codes[part] = at
    function = partial(_block_parts, tuple(maps), len(parts))
    found: _Several = views[0].total(function, codes, *views[1:], task="moments of mapped rows")
    return found


def _block_parts(maps: tuple[FeatureMap, ...], count: int, X: Array, codes: Array, *more: Array) -> _Several:
    views = [X, *more]
    return _Several(mapped_moments(maps, [V[codes[:, 0] == at] for V in views]) for at in range(count))


def _map(moments: Moments, plans: list[ScatterPlan]) -> Moments:
    """Moments of features from those of what was summed."""
    ends = np.cumsum([plan.map.size for plan in plans])

    def rows(A: Array) -> Array:
        parts = zip(np.split(A, ends), [*(plan.after for plan in plans), None], strict=True)
        return np.concatenate([part if T is None else T.T @ part for part, T in parts])

    scatter = rows(rows(moments.scatter).T).T
    offset = np.broadcast_to(moments.offset, moments.pilot.shape)
    return Moments(moments.weight, rows(moments.pilot), (scatter + scatter.T) / 2, rows(offset))


def _both(weights: Array | None, beside: Array | None, rows: slice) -> tuple[Array | None, Array | None]:
    return None if weights is None else weights[rows], None if beside is None else beside[rows]


class BlockSums:
    """Sums over blocks of at most so many rows about a pilot; each thread has its own.

    ``squares``: for the columns of all views, targets, and a column of ones.
    """

    def __init__(self, plans: list[ScatterPlan], rows: int, squares: Scatter, pilot: Array) -> None:
        self.plans, self.rows, self.squares, self.pilot = plans, rows, squares, pilot
        self.A: Array | None = None
        dtype = squares.product.dtype
        self.buffers = [MapBuffers(p.map, rows if p.after is None else piece_rows(p.map.size), dtype) for p in plans]
        self.weight, self.traces = 0.0, np.zeros(len(plans))

    def add(self, views: list[Any], weights: Array | None, beside: Array | None) -> None:
        for view, (plan, X) in enumerate(zip(self.plans, views, strict=True)):
            own = plan.map.kernel.diagonal(X)
            self.traces[view] += own.sum() if weights is None else weights @ own
        self.weight += views[0].shape[0] if weights is None else float(weights.sum())
        if weights is None and self._add_unwritten(views, beside):
            return
        A = self._write(views, beside)
        if weights is not None:
            A *= np.sqrt(weights.astype(A.dtype))[:, None]
        self.squares.add(A)

    def _add_unwritten(self, views: list[Any], beside: Array | None) -> bool:
        """Add a block of rows without writing it, if that can be done."""
        plan, buffer, m = self.plans[0], self.buffers[0], self.plans[0].map.size
        if len(self.plans) > 1 or plan.turn is None:
            return False
        rest = np.ones((views[0].shape[0], 1 + len(self.pilot) - m), dtype=buffer.dtype)
        if beside is not None:
            rest[:, :-1] = beside - self.pilot[m:]
        pairs, pilot = partial(buffer.pairs, views[0]), self.pilot[:m].astype(buffer.dtype)
        return self.squares.add_reflected(pairs, *plan.turn, pilot, rest)

    def mean(self, views: list[Any], weights: Array | None, beside: Array | None) -> Array:
        """Mean of a block of rows, or where it was seen from if the block has no weight."""
        A, weight = self._write(views, beside), views[0].shape[0] if weights is None else float(weights.sum())
        w = np.ones(len(A)) if weights is None else weights
        return self.pilot + w.astype(A.dtype) @ A[:, : len(self.pilot)] / weight if weight else self.pilot

    def _write(self, views: list[Any], beside: Array | None) -> Array:
        """A block of rows as it is summed, seen from the pilot, and a column of ones: sums are products with it."""
        self.A = self.squares.room(self.rows) if self.A is None else self.A
        A, at = self.A[: views[0].shape[0]], 0
        for plan, buffer, X in zip(self.plans, self.buffers, views, strict=True):
            part = slice(at, at + plan.map.size)
            plan.write(buffer, X, self.pilot[part].astype(A.dtype), A[:, part])
            at = part.stop
        if beside is not None:
            A[:, at : len(self.pilot)] = beside - self.pilot[at:]
        A[:, len(self.pilot)] = 1.0
        return A


def rows_summed(n: int, width: int) -> int:
    """Rows of a block whose scatter is computed at once; threads have as many blocks each."""
    most = STRIPE * min(64, max(2, 2**21 // (STRIPE * max(width, 1))))
    blocks = -(-max(n, 1) // most)
    hands = threads_for(blocks)
    rows = -(-n // (hands * -(-blocks // hands)))
    return STRIPE * max(1, -(-rows // STRIPE))


@dataclass(frozen=True)
class ScatterPlan:
    r"""What is summed over the rows, and what makes features of the sums.

    Features are :math:`f = R'c` of kernel values c. Scatters map as well, :math:`R'(\sum cc')R`, at no price per row;
    but that multiplies rounding by the condition number of W, where mapping rows does so by its square root. Turned by
    :math:`Q = I - YB`, reflections that take the leading directions of W to the first axes, the values lie in columns
    of their own size, of which the small ones are well conditioned; sums are over :math:`Q'c`.

    ``after``: what is summed times this are features; None if rows were mapped. ``turn``: Y and B, in the precision of
    the rows.
    """

    map: FeatureMap
    after: Array | None = None
    turn: tuple[Array, Array] | None = None

    def write(self, buffer: MapBuffers, X: Matrix, pilot: Array, out: Array) -> None:
        """Write what is summed of a block of rows, seen from the pilot."""
        if self.after is None:
            np.subtract(buffer.mapped(X), pilot, out=out)
        elif self.turn is None:
            for rows, C in buffer.pieces(buffer.pairs(X)):
                np.subtract(C, pilot, out=out[rows])
        else:
            write_reflected(buffer.pairs(X), buffer.pieces, *self.turn, pilot, out)


def scatter_plan(map: FeatureMap, n: int, dtype: np.dtype) -> ScatterPlan:
    """Return the cheapest plan that keeps the digits of n rows."""
    R = map.root
    if R is None or n < MIN_ROWS_PER_FEATURE * map.size or map.size <= MAP_ROWS_MAX_FEATURES:
        return ScatterPlan(map)
    bound = MAX_CONDITION_EPS[dtype] / float(np.finfo(np.float32 if dtype == np.float32 else np.float64).eps)
    with one_blas_thread():
        smallest = 1 / _largest(lambda v: R @ (R.T @ v), map.size)
        if _largest(lambda v: _gram(R, v), map.size) <= bound * smallest:
            return ScatterPlan(map, R)
        for share in FEATURES_PER_DIRECTION:
            U = _leading(R, max(1, map.size // share))
            if _left(R, U) <= bound * smallest:
                Y, B = _reflections(U)
                return ScatterPlan(map, R - B.T @ (Y.T @ R), (Y.astype(dtype), B.astype(dtype)))
    return ScatterPlan(map)


def _gram(R: Array, V: Array) -> Array:
    """``W V`` with ``W^-1 = R R'``."""
    half = scipy.linalg.solve_triangular(R, V, check_finite=False)
    return scipy.linalg.solve_triangular(R, half, trans="T", check_finite=False)


def _left(R: Array, U: Array) -> float:
    """Largest eigenvalue of W without the directions U."""

    def beside(v: Array) -> Array:
        return v - U @ (U.T @ v)

    return _largest(lambda v: beside(_gram(R, beside(v))), len(R))


def _leading(R: Array, k: int) -> Array:
    """Directions near the leading eigenvectors of W, orthonormal."""
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((len(R), k)))[0]
    for _ in range(4):
        U = np.linalg.qr(_gram(R, U))[0]
    return U


def _reflections(U: Array) -> tuple[Array, Array]:
    """Return Y and B so that ``I - YB`` is orthogonal and its first columns span U."""
    (Y, tau), _ = scipy.linalg.qr(U, mode="raw", check_finite=False)
    Y = np.tril(Y, -1) + np.eye(*U.shape)
    # A product of reflections I - t y y' is I - Y T Y', and the inverse of T is known without multiplying them.
    with np.errstate(divide="ignore"):  # a direction that is an axis already is not reflected
        inverse = np.triu(Y.T @ Y, 1) + np.diag(1 / tau)
    return Y, scipy.linalg.solve_triangular(inverse, Y.T, check_finite=False)


def _largest(times: Callable[[Array], Array], size: int) -> float:
    """Largest eigenvalue of a positive matrix, from below: all that is asked is how many digits will be lost."""
    v = np.cos(np.arange(size))  # the same every time, and no direction is left out
    for _ in range(8):
        v = times(v / np.linalg.norm(v))
    return float(np.linalg.norm(v))
