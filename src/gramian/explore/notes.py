"""Warnings of fits, for the page: each thread collects its own.

Python's own way to catch warnings changes the whole process; two threads that do so at once disturb each other.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from gramian import GramianWarning
from gramian.construction import respelled

_local = threading.local()
#: Parameters of Python in messages -> what the page calls them.
WORDS = {
    "n_components": "components",
    "kernel_y": "kernel of the second view",
    "random_state": "seed",
    "y_columns": "columns of the second view",
    "x_columns": "columns",
    "ids": "column of row names",
    "decimal": "the decimal mark",
    "thousands": "the thousands separator",
    "separator": "the column separator",
    "sheet": "the sheet or array",
    "labels": "under 'Columns kept as text'",
    "categories": "under 'Text columns turned into numbers'",
    "encoding": "the encoding",
}


def in_controls(message: str) -> str:
    """Say parameters as the page does, where a message of the library names those of Python.

    >>> in_controls("n_components=9 is more than there are. Use n_components=4 or fewer, or ridge=0.1.")
    '9 components is more than there are. Use 4 components or fewer, or ridge 0.1.'
    """
    return respelled(message, _control)


def _control(name: str, value: str) -> str:
    word = WORDS.get(name, name.replace("_", " "))
    if name == "n_components":
        return f"{value} {word}".strip()
    if name in ("labels", "categories"):
        return f"naming {'columns' if value in ('', 'encode') else value} {word}"
    return f"{word} {value}".strip()


@contextmanager
def listening() -> Iterator[None]:
    """Let :func:`collected` collect, for as long as the server runs."""

    def show(message: Warning | str, *where: object, **more: object) -> None:
        found = getattr(_local, "notes", None)
        if found is not None and in_controls(str(message)) not in found:
            found.append(in_controls(str(message)))

    with warnings.catch_warnings():
        warnings.simplefilter("always", GramianWarning)
        warnings.showwarning = show
        yield


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect what this thread is warned of.

    >>> with listening(), collected() as notes:
    ...     warnings.warn("few rows", GramianWarning)
    >>> notes
    ['few rows']
    """
    before = getattr(_local, "notes", None)
    _local.notes = []
    try:
        yield _local.notes
    finally:
        _local.notes = before
