"""The dual of a support vector machine without offset: a quadratic problem in a box.

Working sets of moderate size by coordinate and Newton steps; few features, and what those do not settle, by an interior
point method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg
from numpy.typing import DTypeLike

from gramian.config import is_little, memory_budget, one_blas_thread, within_budget
from gramian.engine.tiles import Meter, run, share, threads_for
from gramian.engine.vector_loops import descend
from gramian.operators import Dense
from gramian.progress import Tracker, track
from gramian.results import Array, Matrix
from gramian.solvers.interior_point import Factorable, Narrow, Whole, interior_point, rows_times

#: Rows up to which all are solved for at once, in double precision.
FLOAT64_MAX_ROWS = 2000
#: Rows up to which the first working set has all of them. Of 4,000 rows that takes 65 to 80 % of the time of four
#: smaller sets (of 4,000 x 784 digits half of it), of 6,000 half as much again.
ALL_ROWS_MAX = 4500
#: Rows of a working set: of the first one (or an eighth of all rows, if more), for each free coefficient, at least.
FIRST_WORKING_SET, ROWS_PER_FREE, LEAST_WORKING_SET = 2500, 1.6, 500
#: The buffer of a block is allocated larger by this factor: the following sets are mostly larger.
BLOCK_SPARE = 1.2
#: Most working sets; more where one pass over all rows takes many.
MAX_ROUNDS = 1000
#: Diagonal entries up to which kernel values fit in single precision.
FLOAT32_MAX_DIAGONAL = 1e30
#: Free coordinates up to which a Newton step (a Cholesky factor of their block) saves time.
NEWTON_MAX_FREE = 2000
#: A smaller copy of more than so many rows is made once fewer than this share of the coordinates can still move. A step
#: reads two rows: of 1,797 rows in 5 microseconds, of the 250 left after the violation fell to a tenth in one.
SHRINK_MIN_ROWS, SHRINK_SHARE = 256, 0.7
#: The violation falls by these factors before it is asked again which coordinates can move: among all, in the copy. To
#: ask and to copy takes as long as 100 steps; at 0.1 digits took 5 to 15 % longer, at 0.3 twice as long.
GAIN, SHRUNK_GAIN = 0.03, 1e-4
#: A violation so many times the tolerance, if a step for each coordinate has not ended it, is brought down by a Newton
#: step of up to so many free ones: of 100 it takes 0.1 ms, and coordinate steps take 0.4 for five decades.
NEWTON_MIN_GAIN, NEWTON_FEW = 1000, 500
#: Rounding of a gradient that was brought up to date step by step, as a share of the tolerance.
CARRIED_ROUNDING = 1e-7
#: Share of the rows up to which picking them from a matrix is quicker than reading all of it.
PICKED_SHARE = 0.3
#: Multiplications in one call of the compiled loop: under a second, so that Ctrl-C is answered.
MULTIPLICATIONS_PER_CALL = 4e8


def violation(g: Array, b: Array, lower: Array, upper: Array) -> Array:
    """Violation of the optimality conditions: the gradient of each coordinate where it can still descend."""
    return np.maximum(np.where(b < upper, -g, 0), np.where(b > lower, g, 0))


def settled(g: Array, b: Array, lower: Array, upper: Array, margin: float) -> Array:
    """Coordinates at a bound whose gradient points outwards by more than ``margin``."""
    return ((b <= lower) & (g > margin)) | ((b >= upper) & (g < -margin))


def minimise(
    K: Array, g: Array, b: Array, lower: Array, upper: Array, tol: float, limit: int, tick: Callable[[], None]
) -> int:
    r"""Minimise :math:`\tfrac12 b'Kb - y'b` in the box, from ``b`` with gradient ``g``, both changed in place.

    K and the gradient ``Kb - y`` are in single or double precision, the point and its bounds in double. ``tol``:
    largest violation to leave. ``tick``: called between stretches of steps; may raise to stop. Returns the steps taken,
    each two passes over m numbers that move two coordinates (Steinwart, Hush, Scovel, Training SVMs without offset,
    Journal of Machine Learning Research 2011).
    """
    m, steps = len(b), 0
    curvature, lower, upper = map(np.ascontiguousarray, (K.diagonal(), lower, upper))
    stretch = int(max(min(max(m, 1000), MULTIPLICATIONS_PER_CALL / m), 50))
    direct = True
    while steps < limit:
        tick()
        worst = float(violation(g, b, lower, upper).max())
        if worst <= tol:
            break
        active = np.flatnonzero(~settled(g, b, lower, upper, 2 * worst))
        if m > SHRINK_MIN_ROWS and len(active) < SHRINK_SHARE * m:
            aim = max(tol, SHRUNK_GAIN * worst)
            steps += _shrunk(K, g, b, lower, upper, aim, limit - steps, tick, active)
            continue
        far = K.dtype == np.float64 and worst > NEWTON_MIN_GAIN * tol
        if far and not direct and newton(K, g, b, lower, upper, NEWTON_FEW):
            steps, direct = steps + 1, True
            continue
        direct = False
        aim = max(tol, GAIN * worst) if m > SHRINK_MIN_ROWS else tol
        done, _ = descend(K, curvature, g, b, lower, upper, aim, min(stretch, m) if far else stretch)
        steps += max(done, 1)
    return steps


def newton(K: Array, g: Array, b: Array, lower: Array, upper: Array, most: int = NEWTON_MAX_FREE) -> bool:
    """Solve for the free coordinates as if there were no bounds; go there as far as the box and the descent allow.

    False if there are none, or more than ``most``, or it leads nowhere.
    """
    free = np.flatnonzero((b > lower) & (b < upper))
    if not 0 < len(free) <= most:
        return False
    A = K[np.ix_(free, free)].astype(np.float64)
    A[np.diag_indices(len(free))] += 8 * np.finfo(K.dtype).eps * max(A.trace(), 0.0)
    try:
        with one_blas_thread():
            factor = scipy.linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
            aim = b[free] - scipy.linalg.cho_solve(factor, g[free].astype(np.float64), check_finite=False)
    except scipy.linalg.LinAlgError:  # negative curvature: coordinate steps follow
        return False
    step = np.zeros_like(b)
    step[free] = np.clip(aim, lower[free], upper[free]) - b[free]
    slope = float(g.astype(np.float64) @ step)
    if not slope < 0:
        return False
    image = _times(K, step)
    curvature = float(step @ image)
    length = 1.0 if curvature <= -slope else -slope / curvature
    np.clip(b + length * step, lower, upper, out=b)
    g += g.dtype.type(length) * image
    return True


def _shrunk(
    K: Array,
    g: Array,
    b: Array,
    lower: Array,
    upper: Array,
    tol: float,
    limit: int,
    tick: Callable[[], None],
    active: Array,
) -> int:
    """Go on with the coordinates that can still move, on a copy of their block; then bring the gradient up to date."""
    inner = b[active]
    steps = minimise(K[np.ix_(active, active)], g[active], inner, lower[active], upper[active], tol, limit, tick)
    step = np.zeros_like(b)
    step[active] = inner - b[active]
    b[active] = inner
    g += _times(K, step)
    return max(steps, 1)


def _times(K: Array, v: Array) -> Array:
    """``K v`` of a symmetric matrix; where few entries of v are not zero, only their rows of K are read."""
    v = v.astype(K.dtype, copy=False)
    used = np.flatnonzero(v)
    if len(used) > PICKED_SHARE * len(K):
        return (Dense(K, positive=True) @ v[:, None])[:, 0]
    with one_blas_thread():
        return np.asarray(v[used] @ K[used])


class Blocks(Protocol):
    """A symmetric n x n matrix of which blocks and products can be had."""

    n: int

    def diagonal(self) -> Array: ...
    def block(self, chosen: Array, out: Array) -> Array: ...  # principal, of the chosen rows, written into out
    def product(self, chosen: Array, V: Array, dtype: DTypeLike) -> Array: ...  # chosen columns times V, in float64


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

    def place(self, b: Array, dtype: DTypeLike) -> None:
        """Set the coefficients; only columns of the matrix whose coefficients change are multiplied."""
        step = b - self.b
        moved = np.flatnonzero(step.any(axis=1))
        self.g += self.matrix.product(moved, step[moved], dtype)
        self.b, self.exact = b, self.exact and dtype == np.float64

    def place_if_better(self, b: Array, tol: float, gradient: Array | None = None) -> None:
        """Set the coefficients of problems where the violation falls or, above the tolerance, the objective rises.

        Their gradient is computed if it is not known.
        """
        before, slope, worst, value = self.b, self.g.copy(), self.violation().max(axis=0), self.objective()
        if gradient is None:
            self.place(b, np.float64)
        else:
            self.b, self.g = b, gradient
        better = (self.violation().max(axis=0) <= worst) | ((worst > tol) & (self.objective() > value))
        self.b[:, ~better], self.g[:, ~better] = before[:, ~better], slope[:, ~better]

    def sharpen(self, tol: float) -> None:
        """Solve for the free coefficients of each problem as if there were no bounds, where they are few."""
        b, between = self.b.copy(), self.free()
        for c in range(b.shape[1]):
            free = np.flatnonzero(between[:, c])
            if 0 < len(free) <= NEWTON_MAX_FREE:
                K, point = self.matrix.block(free, np.empty((len(free), len(free)))), b[free, c]
                newton(K, self.g[free, c], point, self.lower[free, c], self.upper[free, c])
                b[free, c] = point
        self.place_if_better(b, tol)

    def refresh(self) -> None:
        """Recompute the gradient in double precision."""
        used = np.flatnonzero(self.b.any(axis=1))
        self.g = self.matrix.product(used, self.b[used], np.float64) - self.y
        self.exact = True

    def objective(self) -> Array:
        """Dual objective of each problem."""
        return np.abs(self.b).sum(axis=0) - 0.5 * (self.b * (self.g + self.y)).sum(axis=0)


def first_working_set(n: int) -> int:
    """Rows of the first working set, where there is room for it."""
    return n if n <= ALL_ROWS_MAX else max(FIRST_WORKING_SET, n // 8)


class Search:
    """Rounds of: choose rows, solve for them with the rest held, bring all gradients up to date."""

    def __init__(self, state: State, tol: float, limit: int, tracker: Tracker) -> None:
        self.state, self.tol, self.limit, self.tracker = state, tol, limit, tracker
        self.n, self.c = state.b.shape
        # The block, and for each concurrent problem a smaller copy of it once coordinates have settled.
        copies, self.room = 1 + threads_for(self.c), max(2 * self.n, LEAST_WORKING_SET)
        if not is_little(4 * copies * self.room**2):
            self.room = max(int(np.sqrt(memory_budget() / (4 * copies))), LEAST_WORKING_SET)
        # Double precision for small problems, and where kernel values exceed the range of single precision.
        self.wide = (
            self.n <= FLOAT64_MAX_ROWS or not float(np.abs(state.matrix.diagonal()).max()) < FLOAT32_MAX_DIAGONAL
        )
        self.dtype = np.float64 if self.wide else np.float32
        self.turn: Array | None = None  # all rows, in the order in which their turn comes
        self.steps = self.carried = self.rounds = self.largest = 0
        self.kept: tuple[Array, Array] | None = None
        self.buffer: Array | None = None  # reused by all blocks: fresh memory costs page faults

    def run(self) -> str:
        """Search until all violations are within the tolerance; return why it stopped."""
        best = np.inf
        most = MAX_ROUNDS + 10 * self.n // min(self.room, FIRST_WORKING_SET)
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
                    self.wide, self.dtype, self.kept = True, np.float64, None  # single precision gains no more
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
        size = int(min(max(first_working_set(self.n), ROWS_PER_FREE * free.sum()), self.room))
        if len(rows) <= size:
            return rows
        # The search oscillates if free coefficients are left out, or if only the largest violations are taken: half of
        # the remaining places go to other violating rows in turn.
        violating = s.violation().max(axis=1)
        slack = np.where(fixed | (violating[:, None] > 0), np.inf, np.abs(s.g)).min(axis=1)
        urgency = np.where(violating > 0, violating, -slack)
        first = size // 2
        if ROWS_PER_FREE * free.sum() <= size:
            urgency[free], first = np.inf, (size + int(free.sum())) // 2
        ranked = rows[np.argsort(-urgency[rows], kind="stable")]
        turn = np.random.default_rng(0).permutation(self.n) if self.turn is None else self.turn
        waiting = np.zeros(self.n, dtype=bool)
        waiting[ranked[first:]] = violating[ranked[first:]] > self.tol
        others = turn[waiting[turn]][: size - first]
        taken = np.zeros(self.n, dtype=bool)
        taken[others] = True
        self.turn = np.concatenate([turn[~taken[turn]], others])
        taken[ranked[: size - len(others)]] = True
        return np.flatnonzero(taken)

    def round(self, rows: Array, worst: float) -> None:
        """Solve for the chosen rows."""
        rows, K = self.block(rows)
        target = 0.5 * self.tol if len(rows) == self.n else max(0.5 * self.tol, 0.03 * worst)
        new, gradient = self.solve(K, rows, target, self.limit)
        last = target <= self.tol or self.wide
        if self.holds(K):
            self.state.b, self.state.g = new, self.gradient(K, new, gradient)
        else:
            b = self.state.b.copy()
            b[rows] = new
            if last and not self.state.exact:
                self.state.b = b
                self.state.refresh()
            else:
                self.state.place(b, np.float64 if last else np.float32)
        self.rounds += 1

    def solve(self, K: Array, rows: Array, tol: float, limit: int) -> tuple[Array, Array]:
        """Solve each problem for these rows, several at a time; return new coefficients and gradients of the rows."""
        s = self.state
        new, g, lower, upper = (A[rows] for A in (s.b, s.g, s.lower, s.upper))

        def work(problems: Sequence[int], meter: Meter) -> int:
            steps = 0
            for c in problems:
                point, slope = new[:, c].copy(), g[:, c].astype(K.dtype)
                steps += minimise(K, slope, point, lower[:, c], upper[:, c], tol, limit, meter.tick)
                new[:, c], g[:, c] = point, slope
            return steps

        threads = 1 if len(rows) <= LEAST_WORKING_SET else threads_for(self.c)  # a pool takes longer to answer
        taken = sum(run(work, share(self.c, threads)))
        self.steps, self.carried = self.steps + taken, self.carried + taken
        return new, g

    def holds(self, K: Array) -> bool:
        """Whether a block is the whole matrix in double precision, and the gradient known in double precision."""
        return len(K) == self.n and K.dtype == np.float64 and self.state.exact

    def gradient(self, K: Array, b: Array, carried: Array) -> Array:
        """Return the gradient, made again from the whole matrix where rounding of the steps may be seen in it."""
        rounding = self.carried * np.finfo(np.float64).eps * float(np.abs(K.diagonal()).max() * np.abs(b).max())
        if rounding <= CARRIED_ROUNDING * self.tol:
            return carried
        self.carried = 0
        with one_blas_thread():  # 10 columns of 1,797 rows on this side of K take 3 ms, on the other side 5
            return (b.T @ K).T - self.state.y

    def block(self, rows: Array) -> tuple[Array, Array]:
        """Return the block of these rows, or the last one if it holds them and is at most 1.3 times as large."""
        if self.kept is not None:
            held, K = self.kept
            if len(held) <= 1.3 * len(rows) and np.isin(rows, held, assume_unique=True).all():
                return held, K
        if len(rows) > 0.8 * self.n and self.n <= self.room:
            rows = np.arange(self.n)
        if self.buffer is None or len(self.buffer) < len(rows) ** 2 or self.buffer.dtype != self.dtype:
            self.kept = self.buffer = None  # freed first: the budget may hold only one
            self.buffer = np.empty(min(int(BLOCK_SPARE * len(rows)), self.room, self.n) ** 2, dtype=self.dtype)
        K = self.buffer[: len(rows) ** 2].reshape(len(rows), len(rows))
        self.kept = rows, self.state.matrix.block(rows, K)
        self.largest = max(self.largest, len(rows))
        return self.kept

    def polish(self) -> None:
        """Converge small problems to rounding, so that the answer does not depend on the path."""
        if self.n > min(FLOAT64_MAX_ROWS, self.room):
            return
        s = self.state
        rows, K = self.block(np.arange(self.n))
        b, gradient = self.solve(K, rows, 1e-6 * self.tol, 20 * self.n)
        s.place_if_better(b, self.tol, self.gradient(K, b, gradient) if self.holds(K) else None)
        if float(s.violation().max()) > 1e-6 * self.tol:
            s.sharpen(self.tol)


@dataclass(frozen=True)
class DualSolution:
    """Where the dual problems of several classes ended.

    ``coefficients`` (n, c): ``b_i = a_i y_i``. ``gradient`` (n, c): ``K b - y`` in double precision. ``violation``
    (c,): largest violation of the optimality conditions. ``steps``, ``rounds``, ``largest``: steps of two coordinates
    each, working sets, and rows in the largest of them. ``stopped``: why the search ended above the tolerance.
    """

    coefficients: Array
    gradient: Array
    violation: Array
    steps: int
    rounds: int
    largest: int
    converged: bool
    stopped: str = ""


def box_dual(matrix: Blocks, signs: Array, bounds: Array, *, tol: float, max_steps: int | None = None) -> DualSolution:
    r"""Solve :math:`\max \sum_i a_i - \tfrac12 \sum_{ij} a_i a_j y_i y_j K_{ij}`, :math:`0 \le a_i \le C_i`.

    ``signs`` (n, c): :math:`y`, +1 or -1, one column for each problem; the problems share kernel values. ``bounds``
    (n, c): :math:`C_i > 0`. ``tol``: largest violation of the optimality conditions, checked with a gradient in double
    precision. ``max_steps``: steps of two coordinates for each problem; by default 500 a row. Small problems that need
    more than 100 a row are handed to an interior point method.

    Blocks of the working sets are kept within the memory budget: all rows at once if they fit, else those that are free
    or violate. Each round multiplies the columns that changed.
    """
    state = State(matrix, signs, bounds)
    small = matrix.n <= FLOAT64_MAX_ROWS
    limit = max_steps or (max(20_000, 100 * matrix.n) if small else max(10**6, 500 * matrix.n))
    with track("support vectors", expected=4) as tracker:
        search = Search(state, tol, limit, tracker)
        stopped = search.run()
        if small and float(state.violation().max()) > tol and within_budget(40 * matrix.n**2):
            K = matrix.block(np.arange(matrix.n), np.empty((matrix.n, matrix.n)))
            state.place_if_better(_interior(lambda y: Whole(K * np.outer(y, y)), signs, bounds)[0], tol)
            state.sharpen(tol)
            state.refresh()
    return _solution(state, search.steps, search.rounds, search.largest, tol, stopped)


def narrow_dual(features: Matrix, signs: Array, bounds: Array, *, tol: float) -> DualSolution:
    """Solve the same problem for ``ZZ'`` of features Z, n x d: a few dozen iterations of n d^2 multiplications."""
    state = State(Narrow(features), signs, bounds)
    b, steps = _interior(lambda y: Narrow(rows_times(y, features)), signs, bounds)
    state.place_if_better(b, tol)
    state.sharpen(tol)
    state.refresh()
    stopped = f"after {steps} iterations of the interior point method"
    if float(state.violation().max()) > tol:  # stopped by rounding: coordinate steps are less sensitive to it
        with track("support vectors", expected=4) as tracker:
            stopped = Search(state, tol, max(20_000, 20 * len(b)), tracker).run()
    return _solution(state, steps, steps, 0, tol, stopped)


def _interior(matrix: Callable[[Array], Factorable], signs: Array, bounds: Array) -> tuple[Array, int]:
    """Signed coefficients of all problems by the interior point method, and its iterations."""
    b = np.zeros(signs.shape)

    def work(problems: Sequence[int], meter: Meter) -> int:
        taken = 0
        for c in problems:
            y = signs[:, c].astype(np.float64)
            with np.errstate(over="ignore", invalid="ignore"):  # it stops where a step is not finite
                a, iterations = interior_point(matrix(y), bounds[:, c].astype(np.float64), meter.tick)
            b[:, c] = a * y
            taken += iterations
        return taken

    return b, sum(run(work, share(signs.shape[1], threads_for(signs.shape[1]))))


def _solution(state: State, steps: int, rounds: int, largest: int, tol: float, stopped: str) -> DualSolution:
    worst = state.violation().max(axis=0)
    converged = bool(worst.max() <= tol)
    return DualSolution(state.b, state.g, worst, steps, rounds, largest, converged, "" if converged else stopped)
