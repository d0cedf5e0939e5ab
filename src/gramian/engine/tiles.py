"""Work cut into tiles: which thread does what, in what order, and how it is stopped.

The plan depends only on the sizes and the number of threads, and every thread sums its own tiles in its own order, so
that a rerun gives the same bits.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike

from gramian.config import in_pool, one_blas_thread, pool, thread_count

#: Side of a tile: 512 x 512 numbers in single precision are 1 MB, half of one core's second-level cache.
SIDE = 512
#: Columns from which on a tile's matrix product outweighs what is done with it.
TILE_MIN_WIDE_COLUMNS = 128
#: Rows of a tile that a product is worth starting for.
TILE_MIN_ROWS = 128
#: Entries of a block of rows that stay in a core's second-level cache from one pass to the next.
CACHED_ENTRIES = 2**17
Result = TypeVar("Result")
Item = TypeVar("Item")


def spans(n: int, side: int | None = None) -> list[slice]:
    """Cut ``range(n)`` into slices of one size (the last may be shorter).

    >>> spans(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    side = side or SIDE
    return [slice(at, min(at + side, n)) for at in range(0, n, side)]


def tile_spans(n: int, d: int, dtype: DTypeLike) -> list[slice]:
    """Cut ``range(n)`` into sides of tiles between rows of d columns.

    A tile of numbers in double precision is made smaller, so that it stays in the cache while it is used; not where
    there are many columns to sum over, which smaller tiles would read more often: these have even sides, as a thin
    tile at the end takes longer than its share, and four to a side or more, which two threads can share evenly.

    >>> [len(tile_spans(1024, d, dtype)) for d in (20, 800) for dtype in ("float32", "float64")]
    [2, 3, 4, 4]
    >>> tile_spans(300, 800, "float64")
    [slice(0, 152, None), slice(152, 300, None)]
    """
    if d > TILE_MIN_WIDE_COLUMNS and n:
        even = -(-n // max(-(-n // SIDE), min(4, n // TILE_MIN_ROWS)))
        return spans(n, min(SIDE, 8 * -(-even // 8)))
    return spans(n, SIDE if np.dtype(dtype).itemsize <= 4 else max(1, 3 * SIDE // 4))


def wide_spans(n: int) -> list[slice]:
    """Cut ``range(n)`` into sides of tiles that are used as they are made: larger, if there are enough to share out.

    >>> len(wide_spans(1024)), len(wide_spans(32 * 1024))
    (2, 32)
    """
    return spans(n, 2 * SIDE if n >= 32 * SIDE else SIDE)


def row_blocks(n: int, d: int) -> list[slice]:
    """Cut n rows of d columns into blocks worth a matrix product, 1.5 MB or (wide ones) 16 at the most.

    >>> len(row_blocks(10_000, 100)), len(row_blocks(2_000, 20_000))
    (6, 20)
    """
    return spans(n, rows_of_a_block(d))


def rows_of_a_block(d: int) -> int:
    """Rows of d columns in a block of :func:`row_blocks`."""
    return min(2048, max(64, min(2**21 // max(d, 1), max(1024, 3 * 2**16 // max(d, 1)))))


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
        results: list[Result | None] = [None] * len(hands)
        failures: list[BaseException] = []
        pending = set(range(len(hands)))

        def task(turn: int) -> None:
            try:
                results[turn] = work(hands[turn], meter)
            except BaseException as failure:
                failures.append(failure)
            finally:
                pending.discard(turn)

        for turn in range(len(hands)):
            pool(len(hands)).submit(task, turn)
        try:
            _wait(pending, meter, failures, watch)
        except BaseException:
            meter.stopped.set()
            _wait(pending, meter, failures, None)
            raise
        for failure in sorted(failures, key=lambda e: isinstance(e, Stop)):
            raise failure
        if watch:  # work that was done before anybody looked is told as well
            watch(meter.done)
        return results  # type: ignore[return-value]


def for_each(
    items: Sequence[Item],
    use: Callable[..., object],
    start: Callable[[], Result] = lambda: None,  # type: ignore[assignment, return-value]
    watch: Callable[[int], None] | None = None,
) -> list[Result]:
    """Call ``use(item, own)`` for all items, dealt to threads, with what ``start`` made for the thread.

    Returns what it made, of each thread; where it made None, the call is ``use(item)``.
    """

    def work(turns: Sequence[int], meter: Meter) -> Result:
        own = start()
        more = () if own is None else (own,)
        for i in turns:
            use(items[i], *more)
            meter.tick()
        return own

    return run(work, share(len(items), threads_for(len(items))), watch)


def _wait(pending: set[int], meter: Meter, failures: list[BaseException], watch: Callable[[int], None] | None) -> None:
    """Look now and then whether all is done.

    No lock is shared with the workers: an interrupt that falls between taking and releasing one would leave it taken,
    and the workers waiting for ever.
    """
    start = time.perf_counter()
    while pending:
        # A twentieth of what it took so far: short work is not held up, long work not disturbed.
        time.sleep(min(max(5e-5, 0.05 * (time.perf_counter() - start)), 1e-2))
        if watch:
            watch(meter.done)
        if failures:
            meter.stopped.set()


def threads_for(tiles: int) -> int:
    """Threads worth starting for that many tiles."""
    return min(thread_count(), tiles) if tiles > 1 else 1
