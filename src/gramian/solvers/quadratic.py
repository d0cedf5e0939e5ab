"""The dual of a support vector machine without offset: a quadratic problem in a box, solved by working sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.config import memory_budget
from gramian.operators.tiles import Meter, run, share, threads_for
from gramian.progress import track
from gramian.results import Array
from gramian.solvers.interior import Factorable, Narrow, Whole, interior_point
from gramian.solvers.working_sets import SMALL, Blocks, Factors, Search, State


@dataclass(frozen=True)
class DualSolution:
    """Where the dual problems of several classes ended.

    Attributes
    ----------
    coefficients : (n, c) array
        ``a_i y_i``, one column for each class.
    gradient : (n, c) array
        ``K b - y`` in double precision.
    violation : (c,) array
        Largest violation of the optimality conditions (the KKT residual).
    steps, rounds, largest : int
        Steps of two coordinates each, working sets, and rows in the largest of them.
    converged, stopped
        Whether the tolerance was met, and if not, why the search ended.
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

    Parameters
    ----------
    matrix : Blocks
        The kernel matrix.
    signs : (n, c) array
        :math:`y`, +1 or -1, one column for each problem; the problems share kernel values.
    bounds : (n, c) array
        :math:`C_i > 0`.
    tol : float
        Largest violation of the optimality conditions, checked with a gradient in double precision.
    max_steps : int, optional
        Steps of two coordinates for each problem; by default 500 a row. Small problems that need more than 100 a row
        are handed to an interior point method.

    Cost
    ----
    Blocks of the working sets are kept within the memory budget: all rows at once if they fit, else those that are free
    or violate. Each round multiplies the columns that changed.

    References
    ----------
    Steinwart, Hush, Scovel, Training SVMs without offset, Journal of Machine Learning Research 2011.
    """
    state = State(matrix, signs, bounds)
    small = matrix.n <= SMALL
    limit = max_steps or (max(20_000, 100 * matrix.n) if small else max(10**6, 500 * matrix.n))
    with track("support vectors", expected=4) as tracker:
        search = Search(state, tol, limit, tracker)
        stopped = search.run()
        if small and float(state.violation().max()) > tol and 40 * matrix.n**2 <= memory_budget():
            K = matrix.block(np.arange(matrix.n), np.empty((matrix.n, matrix.n)))
            state.place_if_better(_interior(lambda y: Whole(K * np.outer(y, y)), signs, bounds)[0], tol)
            state.sharpen(tol)
            state.refresh()
    return _solution(state, search.steps, search.rounds, search.largest, tol, stopped)


def narrow_dual(features: Any, signs: Array, bounds: Array, *, tol: float) -> DualSolution:
    """Solve the same problem for the matrix ``ZZ'`` of narrow features Z, n x d, dense or CSR.

    Cost
    ----
    A few dozen iterations of n d^2 multiplications; no n x n matrix.
    """
    state = State(Factors(features), signs, bounds)
    b, steps = _interior(lambda y: Narrow(_rows_times(y, features)), signs, bounds)
    state.place_if_better(b, tol)
    state.sharpen(tol)
    state.refresh()
    stopped = f"after {steps} iterations of the interior point method"
    if float(state.violation().max()) > tol:  # rounding was in its way; coordinate steps make do with less
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
            with np.errstate(over="ignore", invalid="ignore"):  # it stops at what overflows, and that is seen
                a, iterations = interior_point(matrix(y), bounds[:, c].astype(np.float64), meter.tick)
            b[:, c] = a * y
            taken += iterations
        return taken

    return b, sum(run(work, share(signs.shape[1], threads_for(signs.shape[1]))))


def _rows_times(y: Array, Z: Any) -> Any:
    return sp.csr_array(sp.diags_array(y) @ Z) if sp.issparse(Z) else y[:, None] * Z


def _solution(state: State, steps: int, rounds: int, largest: int, tol: float, stopped: str) -> DualSolution:
    worst = state.violation().max(axis=0)
    converged = bool(worst.max() <= tol)
    return DualSolution(state.b, state.g, worst, steps, rounds, largest, converged, "" if converged else stopped)
