"""A bound that is printed is not below what it bounds: it is rounded up, never to the nearest."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from tests import cases

import gramian

#: A bound, then a number rounded to the nearest: "<= {worst:.1e}", "are below {most:.3g}".
ROUNDED = re.compile(r"(<=|≤|\bbelow|\bat most|\bto within|\bno more than) \{[^{}]*:\.\d[efg]\}")


@pytest.mark.parametrize("name", cases.ESTIMATORS)
def test_residuals_of_a_fit_are_not_above_what_its_summary_says(name):
    checked = 0
    for seed in range(5):
        X = cases.X[np.random.default_rng(seed).permutation(cases.N)]
        summary = getattr(cases.fitted(name, X), "summary_", None)
        for label, text in () if summary is None else summary.lines:
            for word, key in (("residual", "residuals"), ("KKT residual", "kkt_residual"), ("gap", "duality_gap")):
                said = re.search(rf"\b{word}s?(?: of [a-z ]+)? <= ([\d.e+-]+\d)", text)
                if label == "certified" and said and key in summary.facts:
                    assert float(said[1]) >= np.max(summary.facts[key])
                    checked += 1
    assert checked or summary is None or not any("<=" in text for label, text in summary.lines if label == "certified")


def test_no_bound_is_written_rounded_to_the_nearest():
    found = []
    for file in Path(gramian.__file__).parent.rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        strings = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.JoinedStr)]
        rounded = [node for node in strings if ROUNDED.search(ast.get_source_segment(text, node) or "")]
        found += [f"{file.name}:{node.lineno}" for node in rounded]
    assert not found
