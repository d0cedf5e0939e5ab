"""How a command ends: one line for every failure, and what the exit code says."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gramian import GramianWarning
from gramian.operators.remote import ClusterError
from gramian.tables import TableError

#: Arguments of Python in remedies of :mod:`gramian.tables`, and the options that stand for them here.
REMEDIES = (
    (r"missing='drop'", "--missing drop"),
    (r"missing='keep'", "--missing em"),
    (r"labels=\['([^']*)'\]", r"--label '\1'"),
    (r"categories=\['([^']*)'\]", r"--encode '\1'"),
    (r"dates=\['([^']*)'\]", r"--dates '\1'"),
    (r"\b(separator|decimal|thousands|encoding|header|sheet)=", r"--read \1="),
    (r"gramian\.config\(memory=\.\.\.\)", "--memory"),
    (r"\bids=(?=[. ]|$)", "--ids"),
)
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
    except TableError as error:
        say(f"error: {in_options(str(error))}")
    except (ValueError, TypeError, ImportError, ClusterError) as error:
        say(f"error: {error}")
    except MemoryError as error:
        say(f"error: out of memory ({str(error) or 'the table or the result is too large'}). Set --memory lower.")
    except Exception as error:
        say(f"error: unexpected {type(error).__name__}: {error}. This is a fault of gramian; please report it.")
    return FAILED


def in_options(message: str) -> str:
    """Say a remedy as an option of the command line, where a message of the library names an argument of Python."""
    for argument, option in REMEDIES:
        message = re.sub(argument, option, message)
    return message


def say(message: str) -> None:
    """Write one line to standard error, whatever the message holds."""
    print(" ".join(message.split()), file=sys.stderr, flush=True)


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Print each warning as one line, without the place in the code."""

    def show(message: Warning | str, *where: Any, **more: Any) -> None:
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
