"""What a forecast is made of: the size of a job, and the plan of an estimator for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Job:
    """Sizes of the data: n rows of d columns, q targets (columns of a second view, classes), and their type.

    ``stream`` says that the rows stream by, ``reader`` how many bytes those take who read them, beside the blocks.
    """

    n: int
    d: int
    q: int = 1
    dtype: str = "float64"
    stream: bool = False
    reader: int = 0

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


@singledispatch
def plan(estimator: Any, job: Job) -> Plan:
    """Return what an estimator would do with data of that size; one function for each family."""
    raise TypeError(f"estimator={type(estimator).__name__} has no forecast. Give an estimator of gramian.")
