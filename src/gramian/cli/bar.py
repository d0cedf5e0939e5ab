"""A progress bar for people who wait at a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Display

from gramian.config import Progress

#: Shorter work gets no bar: it would only flicker.
PATIENCE = 1.0


class Bar:
    """Draws the progress it is called with on standard error, if that is a terminal and the work takes its time.

    Steps that report nothing get a bar that moves without an end in sight.

    Parameters
    ----------
    quiet : bool
        Draw nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.wanted = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self.start = time.monotonic()
        self.display: Display | None = None
        self.task = TaskID(0)
        self._lock = threading.Lock()

    def __call__(self, progress: Progress) -> None:
        if not self.wanted or time.monotonic() - self.start < PATIENCE:
            return
        known = progress.done and isfinite(progress.expected)
        left = f"about {progress.seconds_left:.0f} s left" if known else ""
        if progress.unit and progress.done:
            left = f"{progress.rate:,.0f} {progress.unit}/s {left}"
        self._show(progress.task, progress.done, progress.expected if isfinite(progress.expected) else None, left)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Name what is being done, in case that it takes long and reports nothing."""
        if not self.wanted:
            yield
            return
        timer = threading.Timer(max(0.0, PATIENCE - (time.monotonic() - self.start)), self._show, [name])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _show(self, task: str, done: float | None = None, expected: float | None = None, left: str = "") -> None:
        with self._lock:
            if self.display is None:
                columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
                self.display = Display(*columns, console=Console(stderr=True), transient=True)
                self.task = self.display.add_task(task, total=expected, left=left)
                self.display.start()
            if done is None:
                self.display.reset(self.task, total=None, description=task, left=left)
            else:
                self.display.update(self.task, description=task, completed=done, total=expected, left=left)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.display is not None:
            self.display.stop()
