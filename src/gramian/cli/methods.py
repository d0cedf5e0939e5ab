"""Methods by their names on the command line; :mod:`gramian.registry` says what each is."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from gramian.cli.errors import UsageError
from gramian.registry import ARGUMENTS as ARGUMENTS
from gramian.registry import METHODS as METHODS
from gramian.registry import Record as Method


def method_named(name: str) -> Method:
    """Return a row of the table."""
    if name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(name, METHODS, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(METHODS)}."
    raise UsageError(f"--method {name} is not known. {hint}")


def check_option(name: str, option: str) -> None:
    """Refuse an option that a method does not take, and say which methods do."""
    if method_named(name).takes(option):
        return
    shown = {"k": "-k", "target": "--target"}.get(option, f"--{option}")
    raise UsageError(f"{shown} goes with --method {friends(lambda m: m.takes(option))}, not with {name}.")


def friends(wanted: Callable[[Method], bool]) -> str:
    """Names of the methods of which something is true, for a sentence."""
    names = [name for name, method in METHODS.items() if wanted(method)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
