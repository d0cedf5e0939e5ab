"""Warnings of fits, for the page: each thread hears its own.

Python's own way to catch warnings changes the whole process; two threads that do so at once disturb each other.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gramian import GramianWarning

_ears = threading.local()


@contextmanager
def listening() -> Iterator[None]:
    """Let :func:`heard` hear, for as long as the server runs."""

    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        found = getattr(_ears, "notes", None)
        if found is not None and str(message) not in found:
            found.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", GramianWarning)
        warnings.showwarning = show
        yield


@contextmanager
def heard() -> Iterator[list[str]]:
    """Collect what this thread is warned of.

    >>> with listening(), heard() as notes:
    ...     warnings.warn("few rows", GramianWarning)
    >>> notes
    ['few rows']
    """
    before = getattr(_ears, "notes", None)
    _ears.notes = []
    try:
        yield _ears.notes
    finally:
        _ears.notes = before
