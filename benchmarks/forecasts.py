"""Are forecasts right? Ten fits of different estimators and sizes, forecast and then measured, each in a process.

``python -m benchmarks.forecasts [FILE.json] [--others] [--busy] [--only=NAME]``: a table of ratios, measured by
forecast. With ``--others``, other sizes of the same methods. With ``--busy``, for a machine that is: one thread, one
run, and seconds of the processor on both sides.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import threadpoolctl

import gramian as g
from benchmarks.contest import PAUSE, memory, reset_peak
from benchmarks.data import blobs
from gramian.costs import machine
from gramian.engine.vector_loops import vector_loops

#: Below this a peak of the resident set is mostly noise of the allocator.
MEASURABLE = 8e6
REPEATS = 3


@dataclass(frozen=True)
class Workload:
    """A fit: its estimator, the size of its rows, and how they are made."""

    name: str
    estimator: Any
    n: int
    d: int
    rows: Callable[[int, int], Any] = blobs
    q: int = 1
    second: Callable[[Any, int], Any] | None = None


def normal(n: int, d: int) -> Any:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)) * np.linspace(3, 0.5, d)


def mixtures(n: int, d: int) -> Any:
    rng = np.random.default_rng(0)
    return rng.laplace(size=(n, d)) @ rng.standard_normal((d, d))


def target(X: Any, q: int) -> Any:
    noise = np.random.default_rng(1).standard_normal(len(X))
    return np.sin(X[:, 0]) + X[:, 1] + 0.3 * noise


def label(X: Any, q: int) -> Any:
    return (target(X, q) > 0).astype(int)


def view(X: Any, q: int) -> Any:
    rng = np.random.default_rng(1)
    return X[:, :q] + rng.standard_normal((len(X), q))


WORKLOADS = (
    Workload("kernel PCA, dense", g.KernelPCA(10, solver="dense"), 3_000, 20),
    Workload("kernel PCA, matrix-free", g.KernelPCA(10), 20_000, 20),
    Workload("kernel ridge, Cholesky", g.KernelRidge(1.0), 3_000, 20, second=target),
    Workload("kernel ridge, conjugate gradients", g.KernelRidge(1.0), 12_000, 20, second=target),
    Workload("kernel SVM", g.KernelSVC(1.0), 20_000, 20, q=2, second=label),
    Workload("kernel k-means", g.KernelKMeans(5, n_init=3), 12_000, 20, normal),
    Workload("PCA, covariance", g.PCA(10), 200_000, 300, normal),
    Workload("PCA, dual", g.PCA(10), 2_000, 15_000, normal),
    Workload("PLS, cross-validated", g.PLSRegression("auto"), 100_000, 300, normal, second=target),
    Workload("CCA", g.CCA(5), 200_000, 200, normal, q=150, second=view),
    Workload("ICA", g.ICA(), 150_000, 30, mixtures),
)
OTHERS = (
    Workload("kernel PCA, dense", g.KernelPCA(5, solver="dense"), 2_000, 60),
    Workload("kernel PCA, matrix-free", g.KernelPCA(25), 14_000, 100),
    Workload("kernel ridge, Cholesky", g.KernelRidge(0.1, solver="cholesky"), 5_000, 60, second=target),
    Workload("kernel ridge, conjugate gradients", g.KernelRidge(1.0), 20_000, 8, second=target),
    Workload("kernel SVM", g.KernelSVC(1.0), 9_000, 50, q=2, second=label),
    Workload("kernel k-means", g.KernelKMeans(10, n_init=2), 8_000, 60, normal),
    Workload("PCA, covariance", g.PCA(20), 60_000, 800, normal),
    Workload("PCA, dual", g.PCA(5), 3_000, 6_000, normal),
    Workload("PLS, cross-validated", g.PLSRegression("auto"), 40_000, 600, normal, second=target),
    Workload("CCA", g.CCA(5), 50_000, 400, normal, q=300, second=view),
    Workload("factor analysis", g.FactorAnalysis(5), 100_000, 300, normal),
)


def measure(workload: Workload, pipe: Any, busy: bool) -> None:
    """Forecast a workload, then fit it; send both."""
    clock = time.process_time if busy else time.perf_counter
    if busy:
        machine.clock = clock
        g.config(threads=1)
        threadpoolctl.threadpool_limits(1)
    X = workload.rows(workload.n, workload.d)
    arguments = (X,) if workload.second is None else (X, workload.second(X, workload.q))
    warnings.simplefilter("ignore")
    few = slice(0, 40 + 2 * workload.d) if workload.d < 1000 else slice(0, 100)
    small = type(workload.estimator)(**workload.estimator.get_params())
    small.fit(*(part[few] for part in arguments))  # imports and compilation are no part of the cost
    for dtype in (np.float32, np.float64):
        vector_loops(np.dtype(dtype))
    found = g.forecast(workload.estimator, workload.n, workload.d, q=workload.q)
    spent, peaks = [], []
    for _ in range(1 if busy else REPEATS):
        time.sleep(PAUSE)
        model = type(workload.estimator)(**workload.estimator.get_params())
        ctypes.CDLL(None).malloc_trim(0)  # what the allocator still holds of the past would be used again, unseen
        base = memory("VmRSS")
        reset_peak()
        start = clock()
        model.fit(*arguments)
        spent.append(clock() - start)
        peaks.append(memory("VmHWM") - base)
    seconds, peak = statistics.median(spent), max(peaks)
    facts = model.summary_.facts
    pipe.send(
        {
            "workload": workload.name,
            "n": workload.n,
            "d": workload.d,
            "route": found.route,
            "fitted": facts.get("solver") or facts.get("route") or "",
            "products": facts.get("products") or "",
            "forecast_seconds": found.seconds,
            "seconds": seconds,
            "all_seconds": spent,
            "forecast_bytes": found.bytes,
            "bytes": peak,
        }
    )


def run(workloads: tuple[Workload, ...], *, busy: bool) -> list[dict[str, Any]]:
    """Measure workloads one after the other, each in a process of its own."""
    context, results = multiprocessing.get_context("spawn"), []
    print(f"{'':36}{'size':>18}{'seconds':>9}{'forecast':>10}{'ratio':>7}{'MB':>8}{'forecast':>10}{'ratio':>7}")
    for workload in workloads:
        ours, theirs = context.Pipe()
        process = context.Process(target=measure, args=(workload, theirs, busy))
        process.start()
        theirs.close()
        results.append(ours.recv())
        process.join()
        print(line(results[-1]), flush=True)
    return results


def line(found: dict[str, Any]) -> str:
    """One line of the table; memory below what can be measured is not compared."""
    time_ratio = found["seconds"] / found["forecast_seconds"]
    memory_ratio = found["bytes"] / found["forecast_bytes"]
    tiny = max(found["bytes"], found["forecast_bytes"]) < MEASURABLE
    compared = "      -" if tiny else f"{memory_ratio:7.2f}"
    return (
        f"{found['workload']:<36}{found['n']:>10,} x {found['d']:<5,}{found['seconds']:9.2f}"
        f"{found['forecast_seconds']:10.2f}{time_ratio:7.2f}{found['bytes'] / 1e6:8.0f}"
        f"{found['forecast_bytes'] / 1e6:10.0f}{compared}"
    )


def main() -> None:
    names = [word for word in sys.argv[1:] if not word.startswith("--")]
    only = [word.removeprefix("--only=") for word in sys.argv if word.startswith("--only=")]
    chosen = OTHERS if "--others" in sys.argv else WORKLOADS
    chosen = tuple(w for w in chosen if not only or any(name in w.name for name in only))
    results = run(chosen, busy="--busy" in sys.argv)
    if names:
        with open(names[0], "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
