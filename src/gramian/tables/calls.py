"""Calls of Python written out: a table remembers the one that read it, so that a program can read it again."""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from gramian.tables.table import Table

#: What is written before the treatment of missing values.
BEFORE_MISSING = ("columns", "x_columns", "y_columns", "y_labels", "labels", "ids")
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
            named = {**{key: named[key] for key in named if key in BEFORE_MISSING}, **named}
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


#: Parameters of readers and estimators that messages name as Python does.
MESSAGE_PARAMETERS = (
    *("n_components", "n_clusters", "n_neighbors", "kernel", "kernel_y", "landmarks", "ridge", "C", "solver"),
    *("rotation", "preimage", "random_state", "scale", "whiten", "missing", "memory", "threads", "columns"),
    *("x_columns", "y_columns", "labels", "y_labels", "ids", "categories", "dates", "separator", "decimal"),
    *("thousands", "encoding", "header", "sheet"),
)
_VALUE = r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|True|False|None|\.\.\."
SPELLING = re.compile(rf"(?<![\w=-])(?<!--read )(?P<name>{'|'.join(MESSAGE_PARAMETERS)})=(?P<value>{_VALUE})?")


def respelled(message: str, say: Callable[[str, str], str]) -> str:
    """Say parameters that a message spells ``name=value`` in other words: ``say`` gets name and value, as text.

    >>> respelled("Use n_components=7 or fewer.", lambda name, value: f"{value} components")
    'Use 7 components or fewer.'
    """
    message = re.sub(r"\bshape=(?=\()", "shape ", re.sub(r"\bn_samples ?= ?(\d+)", r"\1 rows", message))
    return SPELLING.sub(lambda found: say(found["name"], _bare(found["value"] or "")), message)


def _bare(value: str) -> str:
    """A value without the signs of Python: text without quotes, sequences with commas."""
    if value.startswith(("'", '"', "[", "(")):
        parts = re.findall(r"'([^']*)'|\"([^\"]*)\"|([^\s,\[\]()'\"]+)", value)
        return ",".join(next(filter(None, part), "") for part in parts) if value[0] in "[(" else value[1:-1]
    return "" if value in ("None", "...") else value
