"""What would fit where a fit would not: fewer components, landmarks, fewer rows, or more memory."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from gramian.config import config
from gramian.forecasting.plan import Job, Plan

#: Bytes that nothing needs.
UNLIMITED = 2**60
#: Arguments that count what is looked for.
COUNTS = ("n_components", "n_clusters")

Planned = Callable[[Any, Job], Plan]


def advise(estimator: Any, job: Job, planned: Planned, budget: int) -> tuple[str, ...]:
    """Remedies that cost no memory, each of which was planned and found to fit."""

    def fits(model: Any, size: Job) -> bool:
        try:
            return planned(model, size).bytes <= budget
        except ValueError:
            return False

    def argument(name: str, value: Any) -> bool:
        return fits(_with(estimator, name, value), job)

    found = []
    if getattr(estimator, "solver", "auto") != "auto" and argument("solver", "auto"):
        found.append("solver='auto'")
    for name in COUNTS:
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


def enough(estimator: Any, job: Job, planned: Planned, budget: int) -> tuple[int, Plan] | None:
    """Least budget, to about a tenth, with which the fit fits, and its plan then; None if there is no such budget."""
    memory = float(budget)
    while memory < UNLIMITED:
        memory *= 1.1
        with config(memory=int(memory)):
            try:
                found = planned(estimator, job)
            except ValueError:
                continue
            if found.bytes <= 0.99 * memory:  # room for the digits that are written
                return int(memory), found
    return None


def _with(estimator: Any, name: str, value: Any) -> Any:
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
