"""The size of a job, the plan of an estimator for it, and what would fit where that plan does not."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from gramian.config import config, format_bytes
from gramian.operators.rows import block_rows

#: Bytes of Python's own objects in a fit, and of what allocators round up.
PYTHON_OBJECTS_BYTES = 10**6
#: A budget that every fit is within.
_UNLIMITED_BYTES = 2**60
#: Arguments that count what is looked for.
_COUNTING_ARGUMENTS = ("n_components", "n_clusters")


@dataclass(frozen=True)
class Job:
    """Sizes of the data: n rows of d columns, q targets (columns of a second view, classes), and their type.

    ``stream`` says that the rows stream by, ``reader`` how many bytes reading them takes beside the blocks, ``scaled``
    that a Standardizer comes first.
    """

    n: int
    d: int
    q: int = 1
    dtype: str = "float64"
    stream: bool = False
    reader: int = 0
    scaled: bool = False

    @property
    def copied(self) -> int:
        """Bytes of the copy that is made of rows which are neither single nor double precision."""
        return 0 if np.dtype(self.dtype) in (np.float32, np.float64) else 8 * self.n * self.d

    @property
    def rows(self) -> int:
        """Bytes of the rows once they are floats."""
        narrow = np.dtype(self.dtype) == np.float32
        return (4 if narrow else 8) * self.n * self.d


@dataclass(frozen=True)
class Plan:
    """What an estimator would do.

    Attributes
    ----------
    route, reason : str
        As in the summary of the fit.
    products : str
        The work in words.
    bytes : float
        Peak of the memory above the data.
    seconds : callable
        Times the building blocks, and returns the time of the whole.
    typical : bool
        Whether the data decide how many steps it takes, so that the number is that of usual data.
    """

    route: str
    reason: str
    products: str
    bytes: float
    seconds: Callable[[], float]
    typical: bool = False


class Planned(Protocol):
    """An estimator that says what its fit would do."""

    def _plan(self, job: Job, /) -> Plan: ...


def plan_of(estimator: Planned, job: Job) -> Plan:
    """The plan of an estimator, with what Python and a scaling of the rows take."""
    found = estimator._plan(job)
    if job.stream:
        beside = 24.0 * min(job.n, block_rows(job.d)) * job.d * job.scaled
    else:
        beside = PYTHON_OBJECTS_BYTES + 2 * job.rows * job.scaled
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
