"""The memory a fit may take before it is refused; threads and buffers are made before it is measured.

::

    a budget that was set, or all that is free --+
    limits of the process (ulimit) --------------+--> the least of them
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import scipy.linalg

from gramian.config import has_worked, in_pool, settings, thread_count
from gramian.engine.tiles import Meter, run
from gramian.surroundings import UNLIMITED, free_memory, left_by_limits

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
LIMITS = "the limits of this process (ulimit) leave"
UNSETTLED = "the limits of this process (ulimit), once its threads have their stacks and buffers, leave"


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
        return MemoryLimit(left, LIMITS if settled else UNSETTLED)
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
