"""A cluster of this machine's processors: two workers against one, memory and traffic at three sizes, a cost model.

``python -m benchmarks.cluster`` makes rows on the workers themselves, as files would be read, one block a task. Workers
have one thread each, and BLAS is held to it, so that two of them do not fight. Sides take turns, and the least time of
each counts: noise of the machine only ever adds. Where other processes keep the cores busy, seconds on the wall say
little; the seconds of the workers' processors say what two free cores would do if work is shared out evenly. Memory is
the peak of the resident set of a worker above what it had before; bytes are what the workers' counters say they sent
to each other and to the client.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import dask.array as da
import distributed
import numpy as np
from rich.console import Console
from rich.table import Table

from gramian import PCA
from gramian.config import format_bytes, one_thread
from gramian.kernels import RBF
from gramian.operators import Gram, moments_of
from gramian.operators.dask_rows import GRAM_BLOCKS_PER_SQUARE, SUMMANDS_PER_TASK, block_side, rows_of

COLUMNS = 100
#: Rows of a block: 16 MB.
BLOCK = 20_000
#: Columns of the rows, and vectors, of Gram products.
NARROW, VECTORS = 20, 10
WORKERS = 2


def block_of_rows(block: Any, columns: int) -> Any:
    """Rows with a common factor, made where they are needed."""
    rng = np.random.default_rng(0)
    made = rng.standard_normal((len(block), columns))
    made += made[:, :1]
    return made


def rows(n: int, columns: int = COLUMNS, block: int = BLOCK) -> Any:
    """A dask array of n rows that no process holds."""
    start = da.zeros((n, 1), chunks=(block, 1))
    return start.map_blocks(block_of_rows, columns, chunks=(start.chunks[0], (columns,)), dtype=float)


def cluster(workers: int) -> distributed.LocalCluster:
    """Workers of one thread each."""
    return distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit="4GB")


def resident(peak: bool = False) -> int:
    """Bytes of the resident set of this process, or its peak."""
    with open("/proc/self/status", encoding="ascii") as lines:
        found = dict(line.split(":", 1) for line in lines)
    return int(found["VmHWM" if peak else "VmRSS"].split()[0]) * 1024


def forget_peak() -> None:
    """Let the peak of this process begin anew."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def sent(dask_worker: Any) -> int:
    """Bytes that a worker has sent, by its own counter."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def measured(client: Any, job: Callable[[], Any]) -> tuple[float, float, int, float]:
    """Seconds of a job, those of a worker's processor, the largest peak of memory, and bytes that a worker sent."""
    client.run(forget_peak)
    before, counted, spent = client.run(resident), client.run(sent), client.run(time.process_time)
    start = time.perf_counter()
    job()
    seconds, busy = time.perf_counter() - start, client.run(time.process_time)
    peaks, counts = client.run(partial(resident, peak=True)), client.run(sent)
    peak = max(peaks[worker] - before[worker] for worker in before)
    return (
        seconds,
        sum(busy[worker] - spent[worker] for worker in busy) / len(busy),
        peak,
        sum(counts[worker] - counted[worker] for worker in counts) / len(counts),
    )


def fit(n: int) -> Callable[[], Any]:
    """PCA of n rows: moments."""
    return lambda: PCA(5).fit(rows(n))


def product(n: int) -> Callable[[], Any]:
    """One product of the Gram matrix of n rows with some vectors."""
    far = rows_of(rows(n, NARROW, max(1000, n // 16)))
    V = np.random.default_rng(0).standard_normal((n, VECTORS))
    return lambda: far.gram_product(RBF(sigma=5.0), V)


def moments_bytes(n: int) -> float:
    """The most that a worker sends: of N blocks and their sums in a tree, all but its own share, and the last sum."""
    blocks = -(-n // BLOCK)
    return (
        8
        * (COLUMNS**2 + 2 * COLUMNS)
        * (blocks * SUMMANDS_PER_TASK / (SUMMANDS_PER_TASK - 1) * (1 - 1 / WORKERS) + 1)
        / WORKERS
    )


def product_bytes(n: int) -> float:
    """The most that a worker sends: rows and vectors to each other worker, pairs to both sums, and the sums."""
    blocks = -(-n // block_side(n))
    squares = (-(-blocks // GRAM_BLOCKS_PER_SQUARE)) * (-(-blocks // GRAM_BLOCKS_PER_SQUARE) + 1) // 2
    side = min(2 * GRAM_BLOCKS_PER_SQUARE, blocks) * block_side(n) if squares > 1 else n
    inputs = 8 * side * (NARROW + VECTORS) * (WORKERS - 1) * squares
    halves = 16 * n * VECTORS * blocks * (1 - 1 / WORKERS)
    return (inputs + halves + 8 * side * VECTORS * squares) / WORKERS


def speed(console: Console, n: int, pairs: int, repeats: int) -> None:
    """Two workers against one."""
    jobs = {
        f"PCA (moments), {n:,} x {COLUMNS}": fit(n),
        f"Gram product, {pairs:,} x {NARROW}, {VECTORS} vectors": product(pairs),
    }
    times: dict[tuple[str, int], list[float]] = {(job, count): [] for job in jobs for count in (1, 2)}
    spent: dict[tuple[str, int], list[float]] = {(job, count): [] for job in jobs for count in (1, 2)}
    with cluster(1) as one, cluster(2) as two:
        for turn in range(repeats + 1):
            for count, made in ((1, one), (2, two)):
                with distributed.Client(made) as client:
                    for job, work in jobs.items():
                        before, start = client.run(time.process_time), time.perf_counter()
                        work()
                        seconds, after = time.perf_counter() - start, client.run(time.process_time)
                        if turn:  # the first warms up
                            times[job, count].append(seconds)
                            spent[job, count].append(sum(after[worker] - before[worker] for worker in after) / count)
    for title, found in (("on the wall", times), ("of a worker's processor", spent)):
        table = Table(f"seconds {title}", "one worker", "two workers", "times as fast")
        for job in jobs:
            least = [min(found[job, count]) for count in (1, 2)]
            table.add_row(job, *(f"{seconds:.2f}" for seconds in least), f"{least[0] / least[1]:.2f}")
        console.print(table)


def unit_times() -> tuple[float, float, float]:
    """Seconds of one core: to make a block, to sum its moments, and for a pair of rows of a Gram product."""
    with one_thread():
        made = min(_timed(lambda: block_of_rows(np.zeros((BLOCK, 1)), COLUMNS)) for _ in range(5))
        X = block_of_rows(np.zeros((BLOCK, 1)), COLUMNS)
        summed = min(_timed(lambda: moments_of(X)) for _ in range(5))
        Z, V = X[:4096, :NARROW].copy(), np.ones((4096, VECTORS))
        gram = Gram(RBF(sigma=5.0), Z)
        pair = min(_timed(lambda: gram @ V) for _ in range(5)) / 4096**2
    return made, summed, pair


def _empty_tasks(client: Any) -> None:
    client.gather(client.map(abs, range(1000), pure=False))


def _timed(job: Callable[[], Any]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def sizes(console: Console, first: int, pairs: int, repeats: int) -> None:
    """Seconds against the model, memory and traffic at three sizes each."""
    made, summed, pair = unit_times()
    heads = "seconds", "a worker's processor, s", "model, s", "peak of a worker", "sent by a worker", "at the most"
    table = Table("work", "rows", "data", *heads)
    with cluster(WORKERS) as two, distributed.Client(two) as client:
        fit(4 * BLOCK)(), product(2048)()  # what is loaded at first use is no cost
        task = min(_timed(partial(_empty_tasks, client)) for _ in range(3)) / 1000
        for n in (first, 2 * first, 4 * first):
            blocks = -(-n // BLOCK)
            model = blocks / WORKERS * (made + summed) + blocks * SUMMANDS_PER_TASK / (SUMMANDS_PER_TASK - 1) * task
            _row(table, client, "PCA", n, COLUMNS, fit(n), model, moments_bytes(n), repeats)
        for n in (pairs, 2 * pairs, 4 * pairs):
            blocks = -(-n // block_side(n))
            model = n**2 * pair / WORKERS + (blocks * (blocks + 1) / 2 + 3 * blocks) * task
            _row(table, client, "Gram product", n, NARROW, product(n), model, product_bytes(n), repeats)
    console.print(table)
    console.print(
        f"one core: {made * 1e3:.0f} ms to make a block of {BLOCK:,} x {COLUMNS}, {summed * 1e3:.0f} ms to sum it, "
        f"{pair * 1e9:.1f} ns a pair of rows; the scheduler: {task * 1e6:.0f} us a task"
    )
    forecast = Table("rows", "data", *(f"{workers:,} workers" for workers in (2, 16, 128, 1024)))
    for n in (10**8, 10**9, 10**10):
        blocks = n / BLOCK
        cells = [
            max(blocks / w * (made + summed), blocks * SUMMANDS_PER_TASK / (SUMMANDS_PER_TASK - 1) * task)
            for w in (2, 16, 128, 1024)
        ]
        forecast.add_row(f"{n:.0e}", format_bytes(8 * n * COLUMNS), *(f"{seconds:,.0f} s" for seconds in cells))
    console.print("PCA by the model, blocks of 16 MB:")
    console.print(forecast)


def _row(
    table: Table,
    client: Any,
    name: str,
    n: int,
    d: int,
    job: Callable[[], Any],
    model: float,
    most: float,
    repeats: int,
) -> None:
    found = [measured(client, job) for _ in range(repeats)]
    seconds, busy = (min(one[at] for one in found) for at in (0, 1))
    peak, moved = (max(one[at] for one in found) for at in (2, 3))
    times = (f"{given:.2f}" for given in (seconds, busy, model))
    cells = format_bytes(8 * n * d), *times, *map(format_bytes, (peak, moved, most))
    table.add_row(name, f"{n:,}", *cells)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(prog="benchmarks.cluster", description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000, help="of the smallest of three tables")
    parser.add_argument("--pairs", type=int, default=8_192, help="rows of the smallest of three Gram matrices")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=("speed", "sizes"), help="one half of it")
    options = parser.parse_args()
    console = Console(width=140)
    if options.only != "sizes":
        speed(console, 4 * options.rows, 4 * options.pairs, options.repeats)
    if options.only != "speed":
        sizes(console, options.rows, options.pairs, max(1, options.repeats // 2))


if __name__ == "__main__":
    main()
