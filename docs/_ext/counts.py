"""Numbers of tests, counted when pages are built: a table's cell "(counted)" becomes what its row's command runs."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
#: A row of a table: its cells up to the count, and a command as its last cell.
COUNTED = re.compile(r"^(\|[^|]*\| )\(counted\)( \|.*\| `make ((?:test|test-slow| )+) ARGS=(\S+)` \|)$", re.MULTILINE)
#: Target of make -> the tests that it runs.
MARKED = {"test": "not slow and not browser", "test-slow": "slow and not browser"}


@cache
def tests_of(target: str) -> dict[Path, int]:
    """File -> number of its tests that a target runs."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", MARKED[target]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {Path(name): int(n) for name, n in re.findall(r"^(\S+): (\d+)$", done.stdout, re.MULTILINE)}


def counted(row: re.Match[str]) -> str:
    """The row with its number of tests."""
    before, after, targets, path = row.groups()
    found = [n for target in targets.split() for file, n in tests_of(target).items() if file.is_relative_to(path)]
    if not found:
        raise ValueError(f"make {targets} ARGS={path} runs no test.")
    return f"{before}{sum(found):,}{after}"


def fill(app: Any, page: str, source: list[str]) -> None:
    """Put numbers into a page."""
    source[0] = COUNTED.sub(counted, source[0])


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
