"""The page on reliability counts what its commands run."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: The last cell of a row is a command. Where its second is a bare number, that is how many tests the command runs.
COUNTED = re.compile(r"^\|[^|]*\| ([\d,]+) \|.*\| `make ((?:test|test-slow| )+) ARGS=(\S+)` \|$", re.MULTILINE)
PAGE = (ROOT / "docs" / "reliability.md").read_text()
ROWS = [(int(n.replace(",", "")), targets.split(), path) for n, targets, path in COUNTED.findall(PAGE)]
MARKED = {"test": "not slow and not browser", "test-slow": "slow and not browser"}


@pytest.fixture(scope="module")
def tests():
    """For each target of make: file -> how many tests of it are run."""
    paths = sorted({path for _, _, path in ROWS})
    found = {}
    for target, marked in MARKED.items():
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", marked, *paths]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stdout + done.stderr
        found[target] = Counter({Path(name): int(n) for name, n in re.findall(r"^(\S+): (\d+)$", done.stdout, re.M)})
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("number", "targets", "path"), ROWS, ids=[path for *_, path in ROWS])
def test_a_command_runs_as_many_tests_as_the_page_says(tests, number, targets, path):
    by_target = [sum(n for file, n in tests[target].items() if file.is_relative_to(path)) for target in targets]
    assert all(by_target)
    assert sum(by_target) == number


def test_commands_are_those_that_the_makefile_has():
    assert len(ROWS) >= 15
    makefile = (ROOT / "Makefile").read_text()
    for target, marked in MARKED.items():
        assert re.search(rf'^{target}: .*\n\t.* -m "{marked}" \$\(ARGS\)$', makefile, re.MULTILINE)
    assert all((ROOT / path).exists() for *_, path in ROWS)
