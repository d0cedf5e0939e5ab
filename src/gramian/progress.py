"""Progress of long work: one tracker at a time, fed from the inside, reported to ``config(progress=...)``."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from gramian.config import Progress, settings

#: Seconds between two reports.
REPORT_SECONDS = 0.1


class Tracker:
    """Counts finished units of one task and reports them now and then."""

    def __init__(self, task: str, expected: float, unit: str = "") -> None:
        self.task, self.expected, self.unit, self.done = task, expected, unit, 0.0
        self.start, self.last = time.perf_counter(), -REPORT_SECONDS

    def advance(self, expected: float) -> None:
        """Count one finished unit and correct the estimate of all."""
        self.done += 1
        self.expected = max(expected, self.done)
        self.report(0.0, force=True)

    def reach(self, done: float, expected: float) -> None:
        """Say how far the task has come, and correct the estimate of all."""
        self.done, self.expected = done, expected
        self.report(0.0)

    def report(self, part: float, *, force: bool = False) -> None:
        """Call the listeners, at most every tenth of a second unless ``force``."""
        seconds = time.perf_counter() - self.start
        listeners = [callback for callback in (settings().progress, _listener.get()) if callback]
        if listeners and (force or seconds - self.last >= REPORT_SECONDS):
            self.last = seconds
            for callback in listeners:
                callback(Progress(self.task, self.done + part, self.expected, seconds, self.unit))


_current: ContextVar[Tracker | None] = ContextVar("gramian_tracker", default=None)
_listener: ContextVar[Callable[[Progress], None] | None] = ContextVar("gramian_listener", default=None)


@contextmanager
def listen(callback: Callable[[Progress], None]) -> Iterator[None]:
    """Report what this thread does inside the block to ``callback`` too, beside ``config(progress=...)``."""
    token = _listener.set(callback)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def track(task: str, expected: float) -> Iterator[Tracker]:
    """Open a task; work inside reports parts of a unit to it through :func:`part_done`."""
    tracker = Tracker(task, expected)
    token = _current.set(tracker)
    try:
        yield tracker
    finally:
        _current.reset(token)


def part_done(part: float) -> None:
    """Report that this part of the present unit is done."""
    tracker = _current.get()
    if tracker:
        tracker.report(part)
