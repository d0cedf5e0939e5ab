"""Sums over blocks of mapped rows: what one thread adds up of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.engine.pairs import STRIPE
from gramian.engine.scatter import Squares
from gramian.engine.tiles import threads_for
from gramian.operators.features import Desk, piece_rows
from gramian.operators.plans import Plan
from gramian.results import Array


class BlockSums:
    """Sums over blocks about a pilot; each thread has its own.

    Parameters
    ----------
    plans : list of Plan
        One for each view.
    rows : int
        Rows of the largest block.
    squares : Squares
        For the columns of all views, targets, and a column of ones.
    pilot : array
        What columns are seen from.
    """

    def __init__(self, plans: list[Plan], rows: int, squares: Squares, pilot: Array) -> None:
        self.plans, self.rows, self.squares, self.pilot = plans, rows, squares, pilot
        self.A: Array | None = None
        dtype = squares.product.dtype
        self.desks = [Desk(p.map, rows if p.after is None else piece_rows(p.map.size), dtype) for p in plans]
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
        plan, desk, m = self.plans[0], self.desks[0], self.plans[0].map.size
        if len(self.plans) > 1 or plan.turn is None:
            return False
        rest = np.ones((views[0].shape[0], 1 + len(self.pilot) - m), dtype=desk.dtype)
        if beside is not None:
            rest[:, :-1] = beside - self.pilot[m:]
        return plan.turn.add(desk, views[0], self.pilot[:m].astype(desk.dtype), rest, self.squares)

    def mean(self, views: list[Any], weights: Array | None, beside: Array | None) -> Array:
        """Mean of a block of rows, or where it was seen from if the block has no weight."""
        A, weight = self._write(views, beside), views[0].shape[0] if weights is None else float(weights.sum())
        w = np.ones(len(A)) if weights is None else weights
        return self.pilot + w.astype(A.dtype) @ A[:, : len(self.pilot)] / weight if weight else self.pilot

    def _write(self, views: list[Any], beside: Array | None) -> Array:
        """A block of rows as it is summed, seen from the pilot, and a column of ones: sums are products with it."""
        self.A = self.squares.room(self.rows) if self.A is None else self.A
        A, at = self.A[: views[0].shape[0]], 0
        for plan, desk, X in zip(self.plans, self.desks, views, strict=True):
            part = slice(at, at + plan.map.size)
            plan.write(desk, X, self.pilot[part].astype(A.dtype), A[:, part])
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
