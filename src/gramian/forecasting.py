"""The forecast: what a fit would do, and whether that fits.

::

    estimator, n, d --> its plan (the route it would take) --> bytes, and seconds at the rates of this machine
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sklearn.base
from numpy.typing import DTypeLike

from gramian.config import config, format_bytes, memory_budget
from gramian.costs.plan import Job, Plan
from gramian.estimators.base import BaseEstimator
from gramian.estimators.fit_memory import advise, enough, plan_of
from gramian.estimators.pipelines import steps_of
from gramian.estimators.standardizer import Standardizer
from gramian.operators import Rows
from gramian.results import FitSummary, duration

__all__ = ["Forecast", "forecast"]


@dataclass(frozen=True)
class Forecast:
    """What a fit would cost; prints as a short table.

    Attributes
    ----------
    estimator : str
    kernel : str or None
    n, d, q : int
        Size of the data.
    route, reason : str
        How it would be fitted, and why so, as the summary of the fit will say.
    products : str
        The work.
    typical : bool
        Whether the data decide how many steps it takes: numbers are then those of usual data.
    bytes : int
        Peak of the memory above the data.
    budget : int
        What :func:`gramian.config` allows.
    seconds : float
    fits : bool
        Whether the memory is within the budget.
    advice : tuple of str
        What would fit, if this does not.
    stream : bool
        Whether the rows stream by: the memory is then that of everything, blocks of rows too.

    Examples
    --------
    >>> from gramian import PCA, forecast
    >>> found = forecast(PCA(3), 1_000, 5)
    >>> found.route, found.fits, found.advice
    ('covariance', True, ())
    """

    estimator: str
    kernel: str | None
    n: int
    d: int
    q: int
    route: str
    reason: str
    products: str
    typical: bool
    bytes: int
    budget: int
    seconds: float
    fits: bool
    advice: tuple[str, ...] = ()
    stream: bool = False

    @property
    def summary(self) -> FitSummary:
        """The forecast in the form of a summary, with text and facts."""
        targets = f"q = {self.q}" if self.q > 1 else ""
        title = (self.estimator, self.kernel or "", f"{self.n:,} x {self.d:,}", targets, "forecast")
        usual = " (typical: the data decide)" if self.typical else ""
        what = "with the blocks of rows" if self.stream else "above the data"
        over = "; the budget is" if self.fits else ", over the budget of"
        lines = [
            ("route", f"{self.route} ({self.reason})" if self.reason else self.route),
            ("work", f"{self.products}{usual}" if self.products else f"one factorisation{usual}"),
            ("memory", f"{format_bytes(self.bytes)} {what}{over} {format_bytes(self.budget)}"),
            ("time", f"about {duration(self.seconds)}"),
        ]
        lines += [("advice", text) for text in self.advice]
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return FitSummary(tuple(part for part in title if part), tuple(lines), facts)

    def __str__(self) -> str:
        return str(self.summary)

    def to_json(self) -> str:
        """All attributes as JSON text."""
        return self.summary.to_json()


def forecast(
    estimator: sklearn.base.BaseEstimator,
    n: int,
    d: int,
    *,
    q: int = 1,
    dtype: DTypeLike = "float64",
    stream: bool | Rows = False,
) -> Forecast:
    """Say what ``estimator.fit`` would cost for data of a given size, without any.

    The route is the one the fit would take: the same lines of code choose it. Memory follows from the sizes. Time comes
    from the library's own building blocks, timed on this machine, at this moment, on little data, which takes about a
    second for the first forecast. Where the data decide how many steps are needed, the number is that of usual data;
    hard ones, with leading values close together or a small ridge, may take several times as long, and half as much
    memory again. Compilation at the first support vector machine of an installation is not counted.

    Parameters
    ----------
    estimator : estimator of gramian
        Fitted or not; it is not changed. A pipeline of a :class:`gramian.Standardizer` and an estimator will do.
    n, d : int
        Rows and columns of X, dense.
    q : int
        Targets, columns of the second view, or classes.
    dtype : dtype
        Type of X.
    stream : bool or Rows
        Whether the rows stream by: blocks of them then count as memory, too, and their number does not. With the stream
        itself (:func:`gramian.rows`) what its files take to be read counts as well. The time of reading does not.

    Returns
    -------
    Forecast

    Cost
    ----
    About a second at first, next to nothing for the same kernel and number of columns again.

    Examples
    --------
    >>> import gramian
    >>> with gramian.config(memory="1GB"):
    ...     found = gramian.forecast(gramian.KernelPCA(10), 20_000, 20)
    >>> found.route, found.fits, found.bytes < 100e6
    ('krylov', True, True)
    >>> with gramian.config(memory="1GB"):
    ...     found = gramian.forecast(gramian.ICA(), 10**6, 50)
    >>> found.fits, found.advice[0]
    (False, 'n_components=20 or fewer')
    """
    for name, value in (("n", n), ("d", d), ("q", q)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise ValueError(f"{name}={value!r} must be a whole number of 1 or more.")
    last = _last(estimator)
    reader = stream.reader if isinstance(stream, Rows) else 0
    scaled = last is not estimator
    job = Job(int(n), int(d), int(q), np.dtype(dtype).name, stream is not False, reader, scaled)
    budget = memory_budget()
    with config(memory=budget):  # free memory may change meanwhile: one budget for all questions
        found, fits, advice = _judged(last, job, budget)
        return Forecast(
            estimator=type(last).__name__,
            kernel=str(kernel) if (kernel := getattr(last, "kernel", None)) is not None else None,
            n=job.n,
            d=job.d,
            q=job.q,
            route=found.route,
            reason=found.reason,
            products=found.products,
            typical=found.typical,
            bytes=int(found.bytes),
            budget=budget,
            seconds=found.seconds(),
            fits=fits,
            advice=advice,
            stream=job.stream,
        )


def _last(estimator: sklearn.base.BaseEstimator) -> BaseEstimator:
    """The estimator at the end of a pipeline that does nothing before but scale."""
    steps = steps_of(estimator)
    if not all(isinstance(step, Standardizer) for step in steps[:-1]):
        names = ", ".join(type(step).__name__ for step in steps)
        raise TypeError(f"estimator is a pipeline of {names}. Only a Standardizer may come before the last step.")
    if not isinstance(steps[-1], BaseEstimator):
        raise TypeError(f"estimator={type(steps[-1]).__name__} has no forecast. Give an estimator of gramian.")
    return steps[-1]


def _judged(estimator: BaseEstimator, job: Job, budget: int) -> tuple[Plan, bool, tuple[str, ...]]:
    """The plan, whether it fits, and what would; refusals that more memory would not lift are raised."""
    refusal: ValueError | None = None
    try:
        found = plan_of(estimator, job)
        if found.bytes <= budget:
            return found, True, ()
    except ValueError as error:
        refusal = error
    more = enough(estimator, job, budget)
    if refusal is not None and more is None:
        raise refusal
    advice = advise(estimator, job, budget)
    if more is not None:
        setting, roomier = more
        found = roomier if refusal is not None else found
        advice = (*advice, setting)
    return found, False, advice
