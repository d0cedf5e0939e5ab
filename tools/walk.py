"""The files that a call crosses, in order: ``python tools/walk.py CALL``.

CALL is a Python expression, or a command that begins with ``gramian``::

    python tools/walk.py "KernelPCA(5).fit(X)"
    python tools/walk.py "PLSRegression('auto').fit(X, y)"
    python tools/walk.py gramian fit examples/data/decathlon.csv --columns 100m:1500m

Names of :mod:`gramian` can be used, and ``X`` (200 x 6), ``y`` (a column), ``Y`` (two columns), ``labels``, ``rows``
(X as a stream of blocks). The call runs once before it is counted, so that what is loaded and compiled once does not
count. Each line is a file with the functions called in it, where it was entered first; the last line counts the files,
their packages, and how often a function calls one of another file.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import gramian

SOURCES = Path(gramian.__file__).parent


@dataclass
class Walk:
    """What was crossed: functions of each file in the order of their first call, and the number of changes of file."""

    functions: dict[str, dict[str, None]] = field(default_factory=dict)
    changes: int = 0
    _here: threading.local = field(default_factory=threading.local)

    @property
    def files(self) -> int:
        """Number of files."""
        return len(self.functions)

    @property
    def packages(self) -> int:
        """Number of folders in which they are."""
        return len({str(Path(name).parent) for name in self.functions})

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take an event of ``sys.setprofile``."""
        if event not in ("call", "return"):
            return
        name = frame.f_code.co_filename
        if not name.startswith(str(SOURCES)):
            return
        name = str(Path(name).relative_to(SOURCES))
        stack = self._here.__dict__.setdefault("stack", [])  # each thread is in a file of its own
        if event == "return":
            if stack:
                stack.pop()
            return
        self.changes += bool(stack) and stack[-1] != name
        stack.append(name)
        self.functions.setdefault(name, {})[frame.f_code.co_qualname] = None

    def __str__(self) -> str:
        lines = [f"{name:<42} {_short(functions)}" for name, functions in self.functions.items()]
        return "\n".join([*lines, f"{self.files} files, {self.packages} packages, {self.changes} changes of file"])


def walk(call: Callable[[], Any]) -> Walk:
    """Run a call twice, and follow its second run in this thread and those it starts."""
    call()
    found = Walk()
    threading.setprofile(found)
    sys.setprofile(found)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def _short(functions: dict[str, None], most: int = 4) -> str:
    shown = list(functions)[:most]
    return ", ".join(shown) + (f", {len(functions) - most} more" if len(functions) > most else "")


def names() -> dict[str, Any]:
    """Names that an expression may use."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6)) @ rng.standard_normal((6, 6))
    Y = X[:, :2] + rng.standard_normal((200, 2))
    labels = np.where(X[:, 0] > 0, "high", "low")
    public = {name: getattr(gramian, name) for name in gramian.__all__}
    return {**public, "np": np, "X": X, "y": Y[:, 0], "Y": Y, "labels": labels, "rows": gramian.rows(lambda: [X, X])}


def command(words: list[str]) -> Callable[[], None]:
    """The command line as a call; what it prints is not shown."""
    from contextlib import redirect_stdout, suppress
    from io import StringIO

    from gramian.cli import main

    def run() -> None:
        sys.argv = words
        with suppress(SystemExit), redirect_stdout(StringIO()), tempfile.TemporaryDirectory():
            main()

    return run


if __name__ == "__main__":
    given = sys.argv[1:]
    if not given:
        sys.exit(__doc__)
    known = names()
    print(walk(command(given)) if given[0] == "gramian" else walk(lambda: eval(given[0], known)))
