"""Moments of mapped rows: what component analysis and regression in a space of low rank need, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.engine.product import STRIPE
from gramian.engine.scatter import Scatter, scatter_for, total_of
from gramian.engine.tiles import Meter, run, share, spans, threads_for
from gramian.operators.features import FeatureMap, MapBuffers, piece_rows
from gramian.operators.moments import Moments
from gramian.operators.remote import RemoteTable
from gramian.operators.scatter_plan import ScatterPlan, scatter_plan
from gramian.progress import part_done, track
from gramian.results import Array

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

    ``maps``: one for each view. ``views``: dense or CSR, n x d each. Single-precision rows are mapped and multiplied in
    single precision, block by block; sums over blocks are in double precision. ``weights`` (n,): frequencies.
    ``beside`` (n, q): targets.

    Cost
    ----
    A row takes r kernel values, about ``r^2 / 2`` multiplications to map it and as many for the scatter. Where the
    landmarks are well conditioned the sums are mapped in place of the rows: see
    :class:`gramian.operators.scatter_plan.ScatterPlan`.
    """
    if isinstance(views[0], RemoteTable):
        return views[0].total(
            partial(_block_moments, tuple(maps)), beside, weights, *views[1:], task="moments of mapped rows"
        )
    n, q = views[0].shape[0], 0 if beside is None else beside.shape[1]
    if n == 0:
        width = sum(map.size for map in maps) + q
        nothing = Moments(0.0, np.zeros(width), np.zeros((width, width)))
        return MappedMoments(nothing, np.zeros(len(maps)), tuple(map.size for map in maps))
    dtype = np.dtype(np.float32 if all(X.dtype == np.float32 for X in views) else np.float64)
    total = MappedSums(maps, q, dtype, n)
    with track("moments of mapped rows", expected=1.0):
        total.add(views, weights, beside=beside)
    return total.moments()


class MappedSums:
    """Moments of mapped rows that come block by block: each thread goes on with its own sums.

    ``maps``: one for each view. ``q``: number of targets beside them. ``dtype``: precision in which rows are mapped.
    ``n``: rows in all, if that is known. ``sets``: sums of this size that are kept beside each other, for the memory
    budget.
    """

    def __init__(
        self, maps: Sequence[FeatureMap], q: int, dtype: np.dtype, n: int | None = None, *, sets: int = 1
    ) -> None:
        _check_room(sum(map.size for map in maps) + q, sets)
        self.sizes, self.q, self.dtype = tuple(map.size for map in maps), q, dtype
        self.n = ASSUMED_STREAM_ROWS if n is None else n
        self.plans = [scatter_plan(map, self.n, dtype) for map in maps]
        self.pilot = np.zeros(sum(plan.map.size for plan in self.plans) + q)
        self.tile = rows_summed(self.n, len(self.pilot))
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
            total = _map(self._sums(), self.plans, self.q)
        return MappedMoments(total, np.sum([part.traces for part in self.hands], axis=0), self.sizes)

    def _sums(self) -> Moments:
        """Moments of what is summed."""
        weight, squares = sum(part.weight for part in self.hands), total_of([part.squares for part in self.hands])
        offset = squares[-1, :-1] / (weight or 1.0)
        squares = squares[:-1, :-1]
        squares -= np.outer(weight * offset, offset)
        return Moments(weight, self.pilot, squares, offset)


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


def part_moments(
    maps: Sequence[FeatureMap], views: Sequence[RemoteTable], parts: Sequence[Array]
) -> tuple[MappedMoments, ...]:
    """Return the moments of parts of mapped rows on a cluster, in one pass for all parts."""
    codes = np.empty(views[0].shape[0])
    for at, part in enumerate(parts):
        codes[part] = at
    function = partial(_block_parts, tuple(maps), len(parts))
    found: _Several = views[0].total(function, codes, *views[1:], task="moments of mapped rows")
    return found


def _block_parts(maps: tuple[FeatureMap, ...], count: int, X: Array, codes: Array, *more: Array) -> _Several:
    views = [X, *more]
    return _Several(mapped_moments(maps, [V[codes[:, 0] == at] for V in views]) for at in range(count))


def _map(moments: Moments, plans: list[ScatterPlan], q: int) -> Moments:
    """Moments of features from those of what was summed."""
    scatter, pilot, offset = moments.scatter, moments.pilot, np.broadcast_to(moments.offset, moments.pilot.shape)
    at, rows = 0, []
    for plan in plans:
        part = slice(at, at + plan.map.size)
        rows.append((part, plan.after))
        at = part.stop
    rows.append((slice(at, at + q), None))
    scatter = np.concatenate([_apply(T, scatter[part]) for part, T in rows])
    scatter = np.concatenate([_apply(T, scatter[:, part].T) for part, T in rows]).T
    pilot, offset = (np.concatenate([_apply(T, v[part]) for part, T in rows]) for v in (pilot, offset))
    return Moments(moments.weight, pilot, (scatter + scatter.T) / 2, offset)


def _apply(T: Array | None, A: Array) -> Array:
    return A if T is None else T.T @ A


def _both(weights: Array | None, beside: Array | None, rows: slice) -> tuple[Array | None, Array | None]:
    return None if weights is None else weights[rows], None if beside is None else beside[rows]


def _check_room(width: int, sets: int) -> None:
    needed = 8 * width**2 * ((1 + sets) * threads_for(width) + 2)
    if needed > memory_budget():
        raise ValueError(
            f"landmarks: sums over {width:,} features take {format_bytes(needed)}, over the memory budget of "
            f"{format_bytes(memory_budget())}. Use fewer landmarks, or gramian.config(memory=...)."
        )


class BlockSums:
    """Sums over blocks about a pilot; each thread has its own.

    ``plans``: one for each view. ``rows``: rows of the largest block. ``squares``: for the columns of all views,
    targets, and a column of ones. ``pilot``: what columns are seen from.
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
        return plan.turn.add(buffer, views[0], self.pilot[:m].astype(buffer.dtype), rest, self.squares)

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
