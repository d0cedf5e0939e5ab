"""Run contestants in processes of their own, turn by turn, and measure time and peak memory.

Each contestant makes its data, warms up, and then waits for its turn, so that noise of the machine falls on all alike.
A short job is repeated until a second is over (or longer, where one side is done in a second and the other is not), for
all alike, and its time is the mean: a processor that was idle takes a few tenths of a second to reach its speed, and
memory that was given back as long to be there again. Memory is the peak of the resident set during a run, above what
was there when the data were.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

#: Idle threads of a BLAS library go on spinning for a while; nobody starts before they sleep.
PAUSE = 0.5
#: Seconds of work that are timed at least.
LEAST = 1.0
#: A contestant: called once to make its data; returns the function to time, which returns its figures.
Prepare = Callable[..., Callable[[], dict[str, Any]]]


@dataclass(frozen=True)
class Contestant:
    """One side of a contest."""

    name: str
    prepare: Prepare
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Contest:
    """Contestants for the same job; the first is ours, ratios are peer / ours."""

    name: str
    contestants: tuple[Contestant, ...]
    repeats: int = 3
    warm: bool = True
    note: str = ""
    least: float = LEAST


def hold(contest: Contest) -> dict[str, Any]:
    """Hold a contest; return medians, peaks and figures for each contestant."""
    context = multiprocessing.get_context("spawn")
    players = []
    for contestant in contest.contestants:
        ours, theirs = context.Pipe()
        process = context.Process(target=_play, args=(theirs, contestant, contest.warm, contest.least), daemon=True)
        process.start()
        _receive(ours, contestant.name)  # one after the other: data are not made while another is timed
        players.append((contestant, ours, process))
    seconds: dict[str, list[float]] = {c.name: [] for c in contest.contestants}
    results: dict[str, Any] = {}
    for _ in range(contest.repeats):
        for contestant, pipe, _process in players:
            time.sleep(PAUSE)
            pipe.send("go")
            spent, peak, figures = _receive(pipe, contestant.name)
            seconds[contestant.name].append(spent)
            results[contestant.name] = {
                "peak_mb": max(peak, results.get(contestant.name, {}).get("peak_mb", 0)),
                **figures,
            }
    for _, pipe, process in players:
        pipe.send("stop")
        process.join()
    for name, times in seconds.items():
        results[name] = {"seconds": statistics.median(times), "all_seconds": times, **results[name]}
    return {"contest": contest.name, "note": contest.note, "results": results}


def _receive(pipe: Connection, name: str) -> Any:
    answer = pipe.recv()
    if isinstance(answer, str):
        raise RuntimeError(f"{name} failed:\n{answer}")
    return answer


def _play(pipe: Connection, contestant: Contestant, warm: bool, least: float) -> None:
    try:
        run = contestant.prepare(**contestant.arguments)
        if warm:
            run()
        base = memory("VmRSS")
        pipe.send(("ready",))
        while pipe.recv() == "go":
            pipe.send(measure(run, base, least))
    except Exception:
        pipe.send(traceback.format_exc())


def measure(run: Callable[[], Any], base: int, least: float = LEAST) -> tuple[float, float, Any]:
    """Run until enough was timed; return seconds, the peak of memory above ``base`` in MB, and what came out."""
    reset_peak()
    start, runs, spent = time.perf_counter(), 0, 0.0
    while spent < least:
        result = run()
        runs, spent = runs + 1, time.perf_counter() - start
    return spent / runs, max(0.0, (memory("VmHWM") - base) / 1e6), result


def memory(key: str) -> int:
    """Bytes of this process: ``VmRSS`` now, ``VmHWM`` at their peak."""
    with open("/proc/self/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


def reset_peak() -> None:
    """Reset the peak."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as control:
        control.write("5")
