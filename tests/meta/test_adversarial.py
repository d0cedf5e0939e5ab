"""Every nasty input on the list has a test that names it, in a docstring or in the id of a case."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
#: Arrays, kernels, targets, state, processes. Files have tests of their own.
RANGES = {
    "A": [(1, 37), (40, 85)],
    "B": [(60, 65)],
    "C": [(72, 78)],
    "D": [(86, 88)],
    "F": [(1, 16)],
}
IDS = [
    f"{letter}{number:02d}" if letter != "F" else f"F{number}"
    for letter, spans in RANGES.items()
    for first, last in spans
    for number in range(first, last + 1)
]


def words(tree):
    """Docstrings of tests, and what cases are called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield ast.get_docstring(node) or ""
        if isinstance(node, ast.keyword) and node.arg in ("id", "ids"):
            yield from (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))


@pytest.fixture(scope="module")
def claimed():
    trees = (ast.parse(path.read_text()) for path in sorted(TESTS.rglob("test_*.py")))
    return {found for tree in trees for text in words(tree) for found in re.findall(r"\b[A-DF]\d{1,2}\b", str(text))}


@pytest.mark.parametrize("case", IDS)
def test_a_test_states_what_happens(case, claimed):
    assert case in claimed
