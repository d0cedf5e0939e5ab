"""What a command says on standard error while it runs and when it ends: progress, warnings, one line for a failure."""

from __future__ import annotations

import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Display

from gramian import GramianWarning
from gramian.config import Progress
from gramian.operators.remote import ClusterError
from gramian.tables.calls import respelled

#: Shorter work gets no progress bar: it would only flicker.
BAR_DELAY_SECONDS = 1.0

#: Parameters of Python in messages -> options of the command line; those that are not here have their own name.
OPTION_NAMES = {
    "n_components": "-k",
    "n_clusters": "-k",
    "n_neighbors": "-k",
    "random_state": "--seed",
    "kernel_y": "--kernel-y",
    "categories": "--encode",
    "labels": "--label",
    "y_labels": "--label",
    "x_columns": "--columns",
    "y_columns": "--target",
}
#: How a file is written: said as ``--read decimal=,``.
DIALECT = ("separator", "decimal", "thousands", "encoding", "header", "sheet")
#: Values that have another name here; text columns are encoded by name.
OPTION_VALUES = {("missing", "keep"): "em", ("categories", "encode"): "NAME", ("dates", "encode"): "NAME"}
FAILED, MISUSED, INTERRUPTED = 1, 2, 130


class UsageError(ValueError):
    """Options that contradict each other or that no table could make right."""


def finish(job: Callable[[], None]) -> int:
    """Do a job and return the exit code."""
    try:
        with one_line_warnings():
            job()
            if sys.stdout is not None:  # it is, if the shell closed it
                sys.stdout.flush()
        return 0
    except BrokenPipeError:
        _leave_stdout()  # the reader has seen enough: no failure of ours
        return 0
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except UsageError as error:
        say(f"error: {error}")
        return MISUSED
    except OSError as error:
        _leave_stdout()
        where = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        say(f"error: {where}{error.strerror or error}")
    except (ValueError, TypeError, ImportError, ClusterError) as error:
        say(f"error: {error}")
    except MemoryError as error:
        say(f"error: out of memory ({str(error) or 'the table or the result is too large'}). Set --memory lower.")
    except Exception as error:
        say(f"error: unexpected {type(error).__name__}: {error}. This is a bug of gramian; please report it.")
    return FAILED


def in_options(message: str) -> str:
    """Say parameters as options of the command line, where a message of the library names those of Python.

    >>> in_options("Use n_components=7 or fewer, or missing='drop'; say decimal=',' or labels=['my kind'].")
    "Use -k 7 or fewer, or --missing drop; say --read decimal=, or --label 'my kind'."
    """
    message = re.sub(r"gramian\.config\(([^()]*)\)", r"\1", message)
    found = respelled(message.replace("solver='auto'", "no --solver"), _option)
    return re.sub(r"\((--[\w-]+), \1\)", r"(\1)", found)  # a message that names both


def _option(name: str, value: str) -> str:
    if name in DIALECT:
        return f"--read {name}={value}"
    option = OPTION_NAMES.get(name, f"--{name.replace('_', '-')}")
    if value in ("True", "False"):
        return option if value == "True" else f"--no{option[1:]}"
    value = OPTION_VALUES.get((name, value), value)
    quoted = value if re.fullmatch(r"[\w.,:*+-]*", value) else f"'{value}'"
    return f"{option} {quoted}".rstrip()


def say(message: str) -> None:
    """Write one line to standard error, whatever the message holds; parameters of Python are said as options."""
    print(in_options(" ".join(message.split())), file=sys.stderr, flush=True)


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Print each warning as one line, without the place in the code."""

    def show(message: Warning | str, *where: object, **more: object) -> None:
        say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", GramianWarning)
        warnings.showwarning = show
        yield


def _leave_stdout() -> None:
    """Send what is still buffered nowhere, or Python would fail on it again at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # standard output is closed or no file
        return


class Bar:
    """Draws the progress it is called with on standard error, if that is a terminal and the work takes long.

    Steps that report nothing get a bar without an end.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.wanted = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self.start = time.monotonic()
        self.display: Display | None = None
        self.task = TaskID(0)
        self._lock = threading.Lock()

    def __call__(self, progress: Progress) -> None:
        if not self.wanted or time.monotonic() - self.start < BAR_DELAY_SECONDS:
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
        timer = threading.Timer(max(0.0, BAR_DELAY_SECONDS - (time.monotonic() - self.start)), self._show, [name])
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
