"""Whether there is memory for a fit, asked before it begins: what its plan needs, what there is, and what would fit.

What there is: a budget that was set, or all that is free, and no more than limits of the process (ulimit) leave.
Threads and buffers are made before that is measured.
"""

from __future__ import annotations

import copy
import ctypes
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import is_classifier

from gramian.config import (
    UNLIMITED,
    config,
    format_bytes,
    free_memory,
    has_worked,
    in_pool,
    is_little,
    left_by_limits,
    settings,
    thread_count,
)
from gramian.costs.plan import Job, Plan
from gramian.engine.tiles import Meter, run
from gramian.estimators.validation import is_stream
from gramian.operators import Rows
from gramian.operators.rows import block_rows

#: No plan takes more bytes than this for each pair of rows and columns together, and this many beside.
PLAN_MAX_BYTES_PER_PAIR, _PLAN_MAX_BYTES_BESIDE = 128, 10**8
#: Bytes of Python's own objects in a fit, and of what allocators round up.
_PYTHON_OBJECTS_BYTES = 10**6
#: A budget that every fit is within.
_UNLIMITED_BYTES = 2**60
#: Arguments that count what is looked for.
_COUNTING_ARGUMENTS = ("n_components", "n_clusters")
#: Fits that take no more than this are not held to a budget that was set: Python and its libraries take ten times that.
UNBUDGETED_MAX_BYTES = 16 * 10**6
#: Addresses that a thread takes once: its stack, and buffers of NumPy's and of SciPy's BLAS, 32 MiB each.
THREAD_BYTES = 80 * 10**6
#: The C library's name for the number of its arenas, for each of which it reserves 64 MB of addresses.
MALLOPT_ARENA_MAX = -8
#: Side of a matrix whose product takes BLAS's buffers.
WARM_UP_SIDE = 512

#: What sets the limit; a number follows.
BUDGET, FREE = "the memory budget is", "free memory is"
PROCESS_LIMITS = "the limits of this process (ulimit) leave"
UNSETTLED = "the limits of this process (ulimit), once its threads have their stacks and buffers, leave"


class Planned(Protocol):
    """An estimator that says what its fit would do."""

    def _plan(self, job: Job, /) -> Plan: ...


def plan_of(estimator: Planned, job: Job) -> Plan:
    """The plan of an estimator, with what Python and a scaling of the rows take."""
    found = estimator._plan(job)
    if job.stream:
        beside = 24.0 * min(job.n, block_rows(job.d)) * job.d * job.scaled
    else:
        beside = _PYTHON_OBJECTS_BYTES + 2 * job.rows * job.scaled
    return replace(found, bytes=found.bytes + beside)


def advise(estimator: Planned, job: Job, budget: int) -> tuple[str, ...]:
    """Remedies that cost no memory, each of which was planned and fits."""

    def fits(model: Planned, size: Job) -> bool:
        try:
            return plan_of(model, size).bytes <= budget
        except ValueError:
            return False

    def argument(name: str, value: object) -> bool:
        return fits(_with(estimator, name, value), job)

    found = []
    if getattr(estimator, "solver", "auto") != "auto" and argument("solver", "auto"):
        found.append("solver='auto'")
    for name in _COUNTING_ARGUMENTS:
        asked = getattr(estimator, name, "none")
        asked = min(job.n, job.d) if asked is None else asked
        if isinstance(asked, int) and (count := _largest(asked - 1, partial(argument, name))):
            found.append(f"{name}={count} or fewer")
    if hasattr(estimator, "landmarks") and (count := _largest(job.n - 1, partial(argument, "landmarks"))):
        found.append(f"landmarks={count} or fewer: low rank, with the error it leaves in the summary")
    if (rows := _largest(job.n - 1, lambda n: fits(estimator, replace(job, n=n)))) > 1:
        found.append(f"at most {rows:,} rows")
    if job.stream and (columns := _largest(job.d - 1, lambda d: fits(estimator, replace(job, d=d)))):
        found.append(f"at most {columns:,} columns")
    return tuple(found)


def enough(estimator: Planned, job: Job, budget: int) -> tuple[str, Plan] | None:
    """Least budget, to about a tenth, with which the fit fits, as a setting, and its plan then; None if none would."""
    memory = float(budget)
    while memory < _UNLIMITED_BYTES:
        memory *= 1.1
        with config(memory=int(memory)):
            try:
                found = plan_of(estimator, job)
            except ValueError:
                continue
            if found.bytes <= 0.99 * memory:  # room for the digits that are written
                return f"gramian.config(memory={format_bytes(int(memory)).replace(' ', '')!r})", found
    return None


def _with(estimator: Planned, name: str, value: object) -> Planned:
    """A copy with one argument changed; what a fit has left stays shared, and is not looked at."""
    other = copy.copy(estimator)
    setattr(other, name, value)
    return other


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """Largest number up to ``most`` that fits, to a thousandth, of those that halving and bisection see; else 0."""
    low, high = max(most, 0), most + 1
    while low > 0 and not fits(low):
        low, high = low // 2, low
    while low > 0 and high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def refuse_if_too_large(estimator: Planned, X: Any, y: Any = None) -> None:
    """Raise ValueError if the fit would take more memory than there is.

    Sparse rows and those of a cluster, kernels that are functions, and what has no forecast are let through.
    """
    shape = (X.n_rows or 0, X.n_features) if isinstance(X, Rows) else getattr(X, "shape", ())
    if sp.issparse(X) or len(shape) != 2 or callable(getattr(estimator, "kernel", None)):
        return
    bound = PLAN_MAX_BYTES_PER_PAIR * float(sum(shape)) ** 2 + _PLAN_MAX_BYTES_BESIDE
    if is_classifier(estimator) and not isinstance(X, Rows) and bound <= memory_limit().bytes:
        return  # to count the classes takes longer than to ask what is free
    job = _job(estimator, X, y)
    if job is None:
        return
    try:
        found = plan_of(estimator, job)
    except TypeError:
        return  # the message of the fit is more exact
    except ValueError:
        if enough(estimator, job, memory_limit().bytes) is None:
            return  # it is not refused for lack of memory
        raise
    if not is_little(found.bytes) and found.bytes > (there := memory_limit()).bytes:
        raise ValueError(_refusal(estimator, job, found, there))


def _job(estimator: Planned, X: Any, y: Any) -> Job | None:
    """Sizes of the data; None if they are not known before the fit."""
    if isinstance(X, Rows):
        targets = X.y if y is None else y
        q = targets.n_features if isinstance(targets, Rows) else _targets(estimator, targets)
        n = X.n_rows or X.about
        return Job(n, X.n_features, q, stream=True, reader=X.reader) if n and is_stream(X) else None
    n, d = map(int, X.shape)
    dtype = getattr(X, "dtype", None)
    name = dtype.name if isinstance(dtype, np.dtype) else "object"
    return Job(n, d, _targets(estimator, y), name) if min(n, d) > 0 else None


def _targets(estimator: Planned, y: Any) -> int:
    """Columns of the second view or of the targets; classes of a classifier."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if is_classifier(estimator):
        return len(set(np.ravel(y).tolist())) if len(shape) == 1 else 2
    return max(1, int(shape[1])) if len(shape) == 2 else 1


def _refusal(estimator: Planned, job: Job, found: Plan, there: MemoryLimit) -> str:
    """One line: what is needed, what there is, what would fit."""
    remedies = list(advise(estimator, job, there.bytes))
    if there.bound != BUDGET:
        remedies.append(f"{format_bytes(1.2 * found.bytes - there.bytes)} more")
    elif more := enough(estimator, job, there.bytes):
        remedies.append(more[0])
    has = format_bytes(settings().memory or 0 if there.bound == BUDGET else there.bytes)
    name, needed = type(estimator).__name__, f"{format_bytes(found.bytes)} beside the data ({found.route})"
    return f"{name} needs {needed}; {there.bound} {has}. Use {', or '.join(remedies)}."


class MemoryLimit(NamedTuple):
    """Bytes beside the data beyond which a fit is refused before it begins, and what sets them."""

    bytes: int
    bound: str


def memory_limit() -> MemoryLimit:
    """How much there is."""
    settled = settle(min(left_by_limits(), default=UNLIMITED))
    left = max(0, min(left_by_limits(), default=UNLIMITED)) if settled else 0
    budget = settings().memory
    most = free_memory() if budget is None else max(budget, UNBUDGETED_MAX_BYTES)
    if left <= most:
        return MemoryLimit(left, PROCESS_LIMITS if settled else UNSETTLED)
    return MemoryLimit(most, FREE if budget is None else BUDGET)


def settle(left: int) -> bool:
    """Start the threads and have BLAS make its buffers, if none has worked yet; False if so many bytes are too few.

    What limits of the process leave from then on is there for arrays. A BLAS that gets no buffer ends the process.
    """
    threads = thread_count()
    if left == UNLIMITED or has_worked(threads) or in_pool():
        return True
    if left < (threads + 1) * THREAD_BYTES:
        return False
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(MALLOPT_ARENA_MAX, 1)
    A, together = np.ones((WARM_UP_SIDE, WARM_UP_SIDE)), threading.Barrier(threads)

    def work(hand: Sequence[int], meter: Meter) -> None:
        with suppress(threading.BrokenBarrierError):  # the pool may have other work just now
            together.wait(1.0)
        for _ in range(3):
            np.matmul(A, A)
            scipy.linalg.blas.dsyrk(1.0, A)

    run(work, [[turn] for turn in range(threads)])
    np.matmul(A, A)  # on threads of its own
    scipy.linalg.eigh(A)
    return True
