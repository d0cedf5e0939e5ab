"""A progress bar for people who wait at a terminal."""

from __future__ import annotations

import sys
import time
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

    def __call__(self, progress: Progress) -> None:
        if not self.wanted or time.monotonic() - self.start < PATIENCE:
            return
        if self.display is None:
            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
            self.display = Display(*columns, console=Console(stderr=True), transient=True)
            self.task = self.display.add_task(progress.task, left="")
            self.display.start()
        left = f"about {progress.seconds_left:.0f} s left" if progress.done else ""
        self.display.update(
            self.task, description=progress.task, completed=progress.done, total=progress.expected, left=left
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.display is not None:
            self.display.stop()
