"""How much a fit may take before it is refused, and what must be there before that can be told.

::

    a budget that was set, or all that is free --+
    limits of the process (ulimit) --------------+--> the least of them
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import scipy.linalg

from gramian.config import in_pool, settings, thread_count
from gramian.operators.tiles import Meter, run
from gramian.surroundings import free_memory, left_by_limits

#: Fits that take no more than this are not held to a budget that was set: Python's own objects are of that size.
SMALL = 8 * 10**6
#: Addresses that a thread takes once: its stack, and buffers of NumPy's and of SciPy's BLAS, 32 MiB each.
THREAD = 80 * 10**6
#: The C library's name for the number of its arenas, for each of which it reserves 64 MB of addresses.
ARENAS = -8
#: Side of a matrix whose product takes BLAS's buffers.
SIDE = 512

_settled: set[int] = set()
os.register_at_fork(after_in_child=_settled.clear)


def room() -> int:
    """Bytes beside the data beyond which a fit is refused before it begins."""
    limits = list(left_by_limits())
    if limits and not settle(min(limits)):
        return 0
    if (budget := settings().memory) is None:
        return free_memory()
    return max(0, min([max(budget, SMALL), *left_by_limits()]))


def settle(left: int) -> bool:
    """Start the threads and have BLAS make its buffers, once; False if so many bytes are too few for them.

    What limits of the process leave from then on is there for arrays. A BLAS that gets no buffer ends the process.
    """
    threads = thread_count()
    if threads in _settled or in_pool():
        return True
    if left < (threads + 1) * THREAD:
        return False
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        libc.mallopt(ARENAS, 1)
    A, together = np.ones((SIDE, SIDE)), threading.Barrier(threads)

    def work(hand: Sequence[int], meter: Meter) -> None:
        with suppress(threading.BrokenBarrierError):  # the pool may have other work just now
            together.wait(1.0)
        for _ in range(3):
            np.matmul(A, A)
            scipy.linalg.blas.dsyrk(1.0, A)

    run(work, [[turn] for turn in range(threads)])
    np.matmul(A, A)  # on threads of its own
    scipy.linalg.eigh(A)
    _settled.add(threads)
    return True
