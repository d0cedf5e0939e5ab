"""The linear family over a file that does not fit, against one bare pass that reads and multiplies.

``python -m benchmarks.streams [--gigabytes 8] [--kind npy|parquet] [--memory 1GB]`` makes the file in a temporary
folder and removes it afterwards. All sides have the same reader, threads and memory budget and take turns in processes
of their own; memory is the peak of the resident set above what was there before the file was opened.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.contest import Contest, Contestant, hold
from benchmarks.contest import memory as resident

COLUMNS = 100
NAMES = [f"x{at}" for at in range(COLUMNS)]
#: Rows that are made at a time.
CHUNK = 50_000
#: Least speed, as a share of the bare pass.
ENOUGH = 0.8


def make(path: Path, n: int) -> None:
    """Write n rows with a few common factors, the same block again and again: what is in them costs nothing to read."""
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((CHUNK, 5)) @ rng.standard_normal((5, COLUMNS))
    whole = factors + rng.standard_normal((CHUNK, COLUMNS))
    blocks = (whole[: min(CHUNK, n - at)] for at in range(0, n, CHUNK))
    if path.suffix == ".npy":
        with open(path, "wb") as file:
            told = {"descr": "<f8", "fortran_order": False, "shape": (n, COLUMNS)}
            np.lib.format.write_array_header_1_0(file, told)
            for block in blocks:
                block.tofile(file)
        return
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.float64()) for name in NAMES])
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for block in blocks:
            writer.write_table(pa.table(list(block.T), schema=schema))


def bare(path: str, memory: str) -> Callable[[], dict[str, Any]]:
    """Read, and sum X'X on all threads: nothing else."""
    from gramian import config, rows
    from gramian.config import one_blas_thread
    from gramian.engine.tiles import Meter, row_blocks, run, share, threads_for

    config(memory=memory)
    stream, start = rows(path), resident("VmRSS")

    def product() -> dict[str, Any]:
        total, clock = np.zeros((COLUMNS, COLUMNS)), time.process_time()
        with one_blas_thread():
            for block in stream.blocks():
                total += _product(block)
        return _figures(start, clock)

    def _product(block: Any) -> Any:
        tiles = row_blocks(*block.shape)

        def work(panels: Sequence[int], meter: Meter) -> Any:
            found = np.zeros((COLUMNS, COLUMNS))
            for tile in (tiles[at] for at in panels):
                found += block[tile].T @ block[tile]
            return found

        return sum(run(work, share(len(tiles), threads_for(len(tiles)))))

    return product


def ours(path: str, memory: str, method: str) -> Callable[[], dict[str, Any]]:
    """Fit the stream."""
    import gramian
    from gramian import rows

    gramian.config(memory=memory)
    gramian.PCA(2).fit(np.random.default_rng(0).standard_normal((100, 5)))  # what is loaded at first use is no cost
    one, start = rows(path), resident("VmRSS")
    last, half = rows(path, y_columns=NAMES[-1:]), rows(path, y_columns=NAMES[60:])
    fits: dict[str, Callable[[], Any]] = {
        "PCA": lambda: gramian.PCA(10).fit(one),
        "probabilistic PCA": lambda: gramian.ProbabilisticPCA(10).fit(one),
        "factor analysis": lambda: gramian.FactorAnalysis(5).fit(one),
        "PLS": lambda: gramian.PLSRegression(10).fit(last),
        "CCA": lambda: gramian.CCA(10).fit(half),
    }

    def run() -> dict[str, Any]:
        clock = time.process_time()
        fits[method]()
        return _figures(start, clock)

    return run


def _figures(start: int, clock: float) -> dict[str, Any]:
    """Peak of memory, and seconds of all processors, which a busy machine blurs less than the time on the wall."""
    return {"peak_mb": (resident("VmHWM") - start) / 1e6, "processor": time.process_time() - clock}


METHODS = ("PCA", "probabilistic PCA", "factor analysis", "PLS", "CCA")


def contest(path: str, memory: str, repeats: int) -> Contest:
    """All methods and the bare pass, turn by turn."""
    given = {"path": path, "memory": memory}
    fits = tuple(Contestant(name, ours, {**given, "method": name}) for name in METHODS)
    return Contest(f"streams of {path}", (Contestant("bare X'X", bare, given), *fits), repeats=repeats, warm=False)


def main() -> None:
    """Make the file, hold the contest, print speed and memory, and say whether both are as they should be."""
    parser = argparse.ArgumentParser(prog="benchmarks.streams", description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--kind", choices=("npy", "parquet"), default="npy")
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where the file is made; the system's folder if not given")
    options = parser.parse_args()
    from gramian.config import parse_bytes

    n, console = int(options.gigabytes * 1e9 / (8 * COLUMNS)), Console(width=120)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        free = shutil.disk_usage(folder).free
        if free < 1.2e9 * options.gigabytes:
            parser.error(f"{folder} has {free / 1e9:.0f} GB free; --gigabytes {options.gigabytes:g} needs more.")
        path = Path(folder, f"rows.{options.kind}")
        console.print(f"making {n:,} x {COLUMNS} rows, {options.gigabytes:g} GB, .{options.kind} ...")
        make(path, n)
        results = hold(contest(str(path), options.memory, options.repeats))["results"]
    least = min(results["bare X'X"]["all_seconds"])
    table = Table("who", "median s", "least s", "processor s", "rows/s", "share of the bare speed", "peak MB", "")
    good = True
    for name, found in results.items():
        # The machine's noise only ever adds: the least time of each side is the fair one to compare.
        share, peak = least / min(found["all_seconds"]), found["peak_mb"]
        sound = share >= ENOUGH and peak * 1e6 <= parse_bytes(options.memory)
        good = good and sound
        rate = n / found["seconds"]
        times = f"{found['seconds']:.3g}", f"{min(found['all_seconds']):.3g}", f"{found['processor']:.3g}"
        table.add_row(name, *times, f"{rate:,.0f}", f"{share:.2f}", f"{peak:.0f}", "" if sound else "MISSED")
    console.print(table)
    console.print(f"every method at {ENOUGH:.0%} of the bare speed or more, within {options.memory}: {good}")


if __name__ == "__main__":
    main()
