"""Working sets: which rows of a large quadratic problem in a box to solve for next, and what that does to the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from gramian.config import memory_budget
from gramian.operators.tiles import Meter, run, share, threads_for
from gramian.progress import Tracker
from gramian.results import Array
from gramian.solvers.box import NEWTON, minimise, newton, settled, violation

#: Rows up to which all are worked on in double precision.
SMALL = 2000
#: Rows in a working set: at first (if not more than an eighth of all), for each free coefficient, and at the least.
START, GROWTH, LEAST = 2500, 1.6, 500
#: A new block is made for sets that are larger by this factor, too: the next ones mostly are.
SPARE = 1.2
#: Working sets before giving up; more if it takes many to see every row.
MAX_ROUNDS = 1000
#: Diagonal entries up to which single precision is trusted with kernel values.
NARROW = 1e30


class Blocks(Protocol):
    """A symmetric n x n matrix of which blocks and products can be had."""

    n: int

    def diagonal(self) -> Array:
        """Return the diagonal."""
        ...

    def block(self, chosen: Array, out: Array) -> Array:
        """Write the principal block of the chosen rows into ``out``."""
        ...

    def product(self, chosen: Array, V: Array, dtype: Any) -> Array:
        """Return the chosen columns times V, in double precision."""
        ...


class Factors:
    """``ZZ'`` for narrow features Z, dense or CSR."""

    def __init__(self, Z: Any) -> None:
        self.Z, self.n = Z, Z.shape[0]

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.asarray((self.Z * self.Z).sum(axis=1)).ravel()

    def block(self, chosen: Array, out: Array) -> Array:
        """Write the principal block of the chosen rows into ``out``."""
        rows = self.Z[chosen]
        product = rows @ rows.T
        out[...] = product.toarray() if sp.issparse(product) else product
        return out

    def product(self, chosen: Array, V: Array, dtype: Any) -> Array:
        """Return the chosen columns times V, in double precision whatever is asked for."""
        return np.asarray(self.Z @ (self.Z[chosen].T @ V), dtype=np.float64)


class State:
    """Points ``b`` (signed coefficients) of all problems and their gradients ``g = K b - y``."""

    def __init__(self, matrix: Blocks, signs: Array, bounds: Array) -> None:
        self.matrix, self.y = matrix, signs.astype(np.float64)
        self.lower, self.upper = np.where(signs > 0, 0.0, -bounds), np.where(signs > 0, bounds, 0.0)
        self.b, self.g = np.zeros_like(self.y), -self.y
        self.exact = True

    def violation(self) -> Array:
        """Violation of the optimality conditions, n x c."""
        return violation(self.g, self.b, self.lower, self.upper)

    def free(self) -> Array:
        """Coefficients between their bounds."""
        return (self.b > self.lower) & (self.b < self.upper)

    def place(self, b: Array, dtype: Any) -> None:
        """Go to another point; only columns of the matrix whose coefficients change are multiplied."""
        step = b - self.b
        moved = np.flatnonzero(step.any(axis=1))
        self.g += self.matrix.product(moved, step[moved], dtype)
        self.b, self.exact = b, self.exact and dtype == np.float64

    def place_if_better(self, b: Array, tol: float) -> None:
        """Go to another point in those problems where it violates less or, short of the tolerance, is worth more."""
        before, slope, worst, value = self.b, self.g.copy(), self.violation().max(axis=0), self.objective()
        self.place(b, np.float64)
        better = (self.violation().max(axis=0) <= worst) | ((worst > tol) & (self.objective() > value))
        self.b[:, ~better], self.g[:, ~better] = before[:, ~better], slope[:, ~better]

    def sharpen(self, tol: float) -> None:
        """Solve for the free coefficients of each problem as if there were no bounds, where they are few."""
        b = self.b.copy()
        for c in range(b.shape[1]):
            free = np.flatnonzero((b[:, c] > self.lower[:, c]) & (b[:, c] < self.upper[:, c]))
            if 0 < len(free) <= NEWTON:
                K, point = self.matrix.block(free, np.empty((len(free), len(free)))), b[free, c]
                newton(K, self.g[free, c], point, self.lower[free, c], self.upper[free, c])
                b[free, c] = point
        self.place_if_better(b, tol)

    def refresh(self) -> None:
        """Make the gradient anew in double precision."""
        used = np.flatnonzero(self.b.any(axis=1))
        self.g = self.matrix.product(used, self.b[used], np.float64) - self.y
        self.exact = True

    def objective(self) -> Array:
        """Dual objective of each problem."""
        return np.abs(self.b).sum(axis=0) - 0.5 * (self.b * (self.g + self.y)).sum(axis=0)


class Search:
    """Rounds of: choose rows, solve for them with the rest held, bring all gradients up to date."""

    def __init__(self, state: State, tol: float, limit: int, tracker: Tracker) -> None:
        self.state, self.tol, self.limit, self.tracker = state, tol, limit, tracker
        self.n, self.c = state.b.shape
        # The block, and for each problem in hand a smaller copy of it once coordinates have settled.
        self.room = max(int(np.sqrt(memory_budget() / (4 * (1 + threads_for(self.c))))), LEAST)
        # Single precision is for speed, and has its range: beyond it, and where speed is no matter, double.
        self.wide = self.n <= SMALL or not float(np.abs(state.matrix.diagonal()).max()) < NARROW
        self.dtype = np.float64 if self.wide else np.float32
        self.turn = np.random.default_rng(0).permutation(self.n)
        self.steps = self.rounds = self.largest = 0
        self.kept: tuple[Array, Array] | None = None
        self.buffer: Array | None = None  # memory is dear when new: blocks take their turns in it

    def run(self) -> str:
        """Search until all violations are within the tolerance; return why it stopped."""
        best = np.inf
        most = MAX_ROUNDS + 10 * self.n // min(self.room, START)
        while self.rounds < most:
            worst = float(self.state.violation().max())
            if worst <= self.tol:
                if self.state.exact:
                    self.polish()
                    return ""
                self.state.refresh()
                continue
            if self.steps >= self.limit * self.c:
                return f"{self.limit:,} coordinate steps taken"
            rows = self.choose(worst)
            if self.state.exact:
                if worst > 0.5 * best and 2 * len(rows) <= self.room:
                    self.wide, self.dtype, self.kept = True, np.float64, None  # single precision has done its part
                best = min(best, worst)
            self.round(rows, worst)
            self.tracker.advance(self.rounds + 2)
        return f"{most} working sets tried"

    def choose(self, worst: float) -> Array:
        """Rows that can still move in some problem; if they are too many, the most urgent ones and others in turn."""
        s = self.state
        fixed = settled(s.g, s.b, s.lower, s.upper, 2 * worst)
        rows = np.flatnonzero(~fixed.all(axis=1))
        free = s.free().any(axis=1)
        size = int(min(max(START, self.n / 8, GROWTH * free.sum()), self.room))
        if len(rows) <= size:
            return rows
        # Coefficients that are free can undo what others do to them: leaving them out makes the search oscillate. So
        # does taking the worst alone: half of the room left goes to rows that violate in turn, by however little.
        violating = s.violation().max(axis=1)
        slack = np.where(fixed | (violating[:, None] > 0), np.inf, np.abs(s.g)).min(axis=1)
        urgency = np.where(violating > 0, violating, -slack)
        first = size // 2
        if GROWTH * free.sum() <= size:
            urgency[free], first = np.inf, (size + int(free.sum())) // 2
        ranked = rows[np.argsort(-urgency[rows], kind="stable")]
        waiting = np.zeros(self.n, dtype=bool)
        waiting[ranked[first:]] = violating[ranked[first:]] > self.tol
        others = self.turn[waiting[self.turn]][: size - first]
        taken = np.zeros(self.n, dtype=bool)
        taken[others] = True
        self.turn = np.concatenate([self.turn[~taken[self.turn]], others])
        taken[ranked[: size - len(others)]] = True
        return np.flatnonzero(taken)

    def round(self, rows: Array, worst: float) -> None:
        """Solve for the chosen rows."""
        rows, K = self.block(rows)
        target = 0.5 * self.tol if len(rows) == self.n else max(0.5 * self.tol, 0.03 * worst)
        b = self.state.b.copy()
        b[rows] = self.solve(K, rows, target, self.limit)
        last = target <= self.tol or self.wide
        if last and not self.state.exact:
            self.state.b = b
            self.state.refresh()
        else:
            self.state.place(b, np.float64 if last else np.float32)
        self.rounds += 1

    def solve(self, K: Array, rows: Array, tol: float, limit: int) -> Array:
        """Solve each problem for these rows, several at a time; return their new coefficients."""
        s = self.state
        new, g, lower, upper = (A[rows] for A in (s.b, s.g, s.lower, s.upper))

        def work(problems: Sequence[int], meter: Meter) -> int:
            steps = 0
            for c in problems:
                point, slope = new[:, c].copy(), g[:, c].astype(K.dtype)
                steps += minimise(K, slope, point, lower[:, c], upper[:, c], tol, limit, meter.tick)
                new[:, c] = point
            return steps

        self.steps += sum(run(work, share(self.c, threads_for(self.c))))
        return new

    def block(self, rows: Array) -> tuple[Array, Array]:
        """Return the block of these rows, or one at hand that holds them and is little larger."""
        if self.kept is not None:
            held, K = self.kept
            if len(held) <= 1.3 * len(rows) and np.isin(rows, held, assume_unique=True).all():
                return held, K
        if len(rows) > 0.8 * self.n and self.n <= self.room:
            rows = np.arange(self.n)
        if self.buffer is None or len(self.buffer) < len(rows) ** 2 or self.buffer.dtype != self.dtype:
            self.kept = self.buffer = None  # before the next is made: there may be room for one only
            self.buffer = np.empty(min(int(SPARE * len(rows)), self.room, self.n) ** 2, dtype=self.dtype)
        K = self.buffer[: len(rows) ** 2].reshape(len(rows), len(rows))
        self.kept = rows, self.state.matrix.block(rows, K)
        self.largest = max(self.largest, len(rows))
        return self.kept

    def polish(self) -> None:
        """Go on to rounding where it costs next to nothing: the answer then does not depend on the way it was found."""
        if self.n > min(SMALL, self.room):
            return
        s = self.state
        rows, K = self.block(np.arange(self.n))
        s.place_if_better(self.solve(K, rows, 1e-6 * self.tol, 20 * self.n), self.tol)
        if float(s.violation().max()) > 1e-6 * self.tol:
            s.sharpen(self.tol)
