"""The page on reliability names commands that exist; how many tests they run is counted when the pages are built."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text()
EXTENSION = runpy.run_path(str(ROOT / "docs" / "_ext" / "counts.py"))


def test_counted_commands_are_those_that_the_makefile_has():
    rows = EXTENSION["COUNTED"].findall(PAGE)
    assert len(rows) == PAGE.count("| (counted) |") >= 15
    makefile = (ROOT / "Makefile").read_text()
    for target, marked in EXTENSION["MARKED"].items():
        assert re.search(rf'^{target}: .*\n\t.* -m "{marked}" \$\(ARGS\)$', makefile, re.MULTILINE)
    assert all((ROOT / path).exists() for *_, path in rows)


def test_a_row_gets_the_number_of_tests_that_its_command_runs():
    tests_of = EXTENSION["counted"].__globals__["tests_of"]
    EXTENSION["counted"].__globals__["tests_of"] = lambda target: {Path("tests/a/test_b.py"): len(target) * 1000}
    try:
        row = "| every law | (counted) | holds | `make test test-slow ARGS=tests/a` |"
        assert EXTENSION["COUNTED"].sub(EXTENSION["counted"], row).split(" | ")[1] == "13,000"
    finally:
        EXTENSION["counted"].__globals__["tests_of"] = tests_of
