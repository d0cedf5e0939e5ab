"""Calls of Python written out: a table remembers the one that read it, so that a program can read it again."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from gramian.tables.table import Table

#: What is written before the treatment of missing values.
BEFORE = ("columns", "x_columns", "y_columns", "y_labels", "labels", "ids")
Read = TypeVar("Read", bound=Callable[..., Any])


def arguments(words: Sequence[Any] = (), **named: Any) -> str:
    """Write arguments as they stand in a call; those that are None are left out.

    >>> arguments(["wine.csv"], columns=("a", "b"), ids=None)
    "'wine.csv', columns=['a', 'b']"
    """
    given = (f"{name}={_plain(value)!r}" for name, value in named.items() if value is not None)
    return ", ".join([*(repr(_plain(word)) for word in words), *given])


def remembered(read: Read) -> Read:
    """Let the tables that a reader returns know the call."""
    signature = inspect.signature(read)
    defaults = {name: parameter.default for name, parameter in signature.parameters.items()}

    @functools.wraps(read)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        found = read(*args, **kwargs)
        bound = signature.bind(*args, **kwargs).arguments
        bound.update(bound.pop("options", {}))  # what is passed on to another reader
        files = [bound.pop(name) for name in ("path", "other") if bound.get(name) is not None]
        named = {
            name: value for name, value in bound.items() if _plain(value) not in (None, _plain(defaults.get(name)))
        }
        if "missing" in named:  # after labels and ids, wherever those stand in the signature
            named = {**{key: named[key] for key in named if key in BEFORE}, **named}
        call = f"{read.__name__}({arguments(files, **named)})"
        return replace(found, call=call) if isinstance(found, Table) else tuple(replace(t, call=call) for t in found)

    return wrapped  # type: ignore[return-value]


def _plain(value: Any) -> Any:
    """The value as text of Python tells it: paths as text, sequences as lists."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value
