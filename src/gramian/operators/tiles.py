"""Work cut into tiles: which thread does what, in what order, and how it is stopped.

The plan depends only on the sizes and the number of threads, and every thread sums its own tiles in its own order, so
that a rerun gives the same bits.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from typing import TypeVar

from gramian.config import in_pool, one_blas_thread, pool, thread_count

#: Side of a tile: 512 x 512 doubles are 2 MB, what one core's second-level cache holds.
SIDE = 512
Result = TypeVar("Result")


def spans(n: int, side: int | None = None) -> list[slice]:
    """Cut ``range(n)`` into slices of one size (the last may be shorter).

    >>> spans(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    side = side or SIDE
    return [slice(at, min(at + side, n)) for at in range(0, n, side)]


def row_blocks(n: int, d: int) -> list[slice]:
    """Cut n rows of d columns into blocks worth a matrix product, 1.5 MB or (wide ones) 16 at the most.

    >>> len(row_blocks(10_000, 100)), len(row_blocks(2_000, 20_000))
    (6, 20)
    """
    return spans(n, min(2048, max(64, min(2**21 // max(d, 1), max(512, 3 * 2**16 // max(d, 1))))))


def share(count: int, threads: int) -> list[list[int]]:
    """Deal ``count`` panels of falling cost to threads: forward, then backward, so that the shares even out.

    >>> share(5, 2)
    [[0, 3, 4], [1, 2]]
    """
    hands: list[list[int]] = [[] for _ in range(min(threads, count))]
    for panel in range(count):
        turn, place = divmod(panel, len(hands))
        hands[place if turn % 2 == 0 else len(hands) - 1 - place].append(panel)
    return hands


class Stop(Exception):
    """The caller gave up; workers leave at their next tile."""


class Meter:
    """Counts finished tiles and tells workers when to stop."""

    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.done = 0

    def tick(self) -> None:
        """Count one tile; raise if the work was called off."""
        if self.stopped.is_set():
            raise Stop
        self.done += 1  # a lost update between threads only blurs the progress bar


def run(
    work: Callable[[Sequence[int], Meter], Result],
    hands: list[list[int]],
    watch: Callable[[int], None] | None = None,
) -> list[Result]:
    """Run ``work(panels, meter)`` once per thread with BLAS held to one thread; results in the order of ``hands``.

    The calling thread stays free to report progress and to be interrupted: Ctrl-C reaches the workers at their next
    tile.
    """
    meter = Meter()
    with one_blas_thread():
        if len(hands) == 1 or in_pool():  # a worker that waited for its own pool would wait for ever
            return [work(hand, meter) for hand in hands]
        futures: list[Future[Result]] = [pool(len(hands)).submit(work, hand, meter) for hand in hands]
        try:
            while wait(futures, timeout=0.1).not_done:
                if watch:
                    watch(meter.done)
                if any(f.done() and f.exception() for f in futures):
                    meter.stopped.set()
        except BaseException:
            meter.stopped.set()
            wait(futures)
            raise
        failures = [f.exception() for f in futures if f.exception()]
        for failure in sorted(failures, key=lambda e: isinstance(e, Stop)):
            raise failure  # type: ignore[misc]
        return [f.result() for f in futures]


def threads_for(tiles: int) -> int:
    """Threads worth starting for that many tiles."""
    return max(1, min(thread_count(), tiles))
