"""Every sentence of a report that depends on the data has data for which it is said, and data for which it is not.

What the doctor says has the same law in ``tests/selection/test_doctor.py``.
"""

import ast
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import gramian as g
from gramian.charts.base import note
from gramian.charts.points import extremes
from gramian.reports import subject
from gramian.reports.checks import checks_of
from gramian.reports.sentences import CHECKS, METHOD_WORDS, say
from gramian.reports.subject import Subject
from gramian.reports.writing import page_of
from gramian.results import Sentence
from gramian.selection.doctor_findings import SEVERITIES

from .planted import CASES, GROUPS, LAW, blocks, fitted, noise, shifted, told

BOOKS = (CHECKS, say, note)
SOURCES = Path(g.__file__).parent


def test_every_sentence_is_said_where_it_holds_and_only_there():
    """One test for all codes, so that each page is made once."""
    codes = {code for book in BOOKS for code in book}
    assert len(codes) == sum(map(len, BOOKS)), "two books have one code"
    assert codes == set(LAW), "a sentence without its planted data, or planted data without a sentence"
    wrong = [
        f"{code}: {'not said' if said else 'said'} for {name!r}"
        for code, cases in LAW.items()
        for said, name in zip((True, False), cases, strict=True)
        if (code in {sentence.code for sentence in told(name)}) is not said
    ]
    assert wrong == []
    assert {name for cases in LAW.values() for name in cases} == set(CASES)
    known = {*codes, *SEVERITIES, *METHOD_WORDS}
    for name in CASES:
        for sentence in told(name):
            assert isinstance(sentence, Sentence), (name, sentence)
            assert sentence.code in known, (name, sentence)
            assert not {"nan", "inf", "None"} & set(sentence.replace(".", " ").split()), (name, sentence)
            assert not re.search(r"(?<![\d.,])1 (rows|columns|components|factors|pairs|values)\b", sentence), sentence


def test_sentences_are_made_from_the_books_alone():
    """No module of reports writes a sentence of its own, and none makes one without a code of a book."""
    for path in [*(SOURCES / "reports").rglob("*.py"), *(SOURCES / "charts").rglob("*.py")]:
        if path.name in ("sentences.py",):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        called = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and hasattr(node.func, "id")}
        assert not called & {"Sentence", "Check", "Book"} or path.name == "base.py", path
        if path.parts[-2] != "charts":
            assert written(tree) == [], path


def written(tree):
    """Texts that end as sentences do, but for docstrings and messages of errors."""
    skipped = set()
    for node in ast.walk(tree):
        raised = isinstance(node, ast.Raise) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        skipped |= {id(part) for part in ast.walk(node)} if raised else set()
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped
    ]
    return [text for text in texts if " " in text.strip() and text.rstrip().endswith(".")]


def test_a_sentence_outside_the_books_is_seen():
    assert written(ast.parse('says = f"{n} rows are odd."')) == [" rows are odd."]
    assert written(ast.parse('def f():\n    """A docstring of f."""\n    raise ValueError("No rows here.")')) == []


@pytest.mark.parametrize(
    ("indices", "code", "words"),
    [
        ({"rmsea": 0.054, "cfi": 0.927}, "factors_fair", "CFI 0.927 is fair (0.95 or more is good)"),
        ({"rmsea": 0.07, "cfi": 0.97}, "factors_fair", "RMSEA 0.070 is fair (0.06 or less is good)"),
        ({"rmsea": 0.02, "cfi": 0.85}, "factors_poor", "RMSEA 0.020 is good, CFI 0.850 is poor"),
        ({"rmsea": 0.06, "cfi": 0.95}, "factors_good", "RMSEA 0.060 is good, CFI 0.950 is good"),
        ({"rmsea": 0.054, "cfi": 0.927, "tli": 0.88}, "factors_fair", "but TLI 0.880 is poor"),
    ],
)
def test_words_and_tables_of_fit_indices_have_the_same_limits(indices, code, words):
    model = g.FactorAnalysis(2).fit(blocks(6))
    known = {**model.summary_.facts["fit_indices"], "tli": None, **indices}
    model.summary_ = replace(model.summary_, facts={**model.summary_.facts, "fit_indices": known})
    page = page_of(Subject(model))
    (check,) = [check for check in page.checks if check.text.code.startswith("factors_")]
    assert check.text.code == code
    assert words in check.text
    lines = dict(next(part for part in page.sections[-2].parts if part.title == "How well the factors fit").lines)
    for name, value in indices.items():
        word = lines[name.upper()].split()[1]
        assert f"{name.upper()} {value:.3f} is {word}" in check.text


def test_all_items_of_a_factor_analysis_are_shown():
    for d in (25, 70):
        page = page_of(Subject(g.FactorAnalysis(2, rotation="oblimin").fit(blocks(d, 100, 2, 1.0))))
        parts = [part for section in page.sections for part in section.parts]
        grids = [getattr(part, "grid", part) for part in parts if part.kind in ("grid", "picture")]
        items = [grid for grid in grids if grid.columns[0] == "column"]
        assert {"Loadings of all columns", "Columns of the factor model"} <= {grid.title for grid in items}
        assert all(len(grid.cells) == d and not grid.said for grid in items)


def test_sums_of_squared_loadings_have_one_definition(monkeypatch):
    """The table with limits, the shares in the labels and the total of the summary agree for correlated factors."""
    monkeypatch.setattr(subject, "FEW_DRAWS", 20)
    F = noise(150, 1) + noise(150, 2, 1)
    X = F[:, np.arange(6) % 2] + 0.5 * noise(150, 6, 2)
    model = g.FactorAnalysis(2, rotation="oblimin").fit(X)
    assert abs(model.factor_correlation_[0, 1]) > 0.2
    page = page_of(Subject(model, X))
    grid = next(part for s in page.sections for part in s.parts if part.title.startswith("Sum of squared loadings"))
    assert grid.columns[1] == "sum of squared loadings (with factor correlations)"
    sums = np.array([row[1] for row in grid.rows])
    np.testing.assert_allclose(sums / 6, g.charts.scree(model).shares)
    assert sums.sum() / 6 == pytest.approx(model.summary_.facts["share_of_variance"])
    assert "Sums of squares include the correlations of the factors." in model.loadings_table()


@pytest.mark.slow
def test_groups_of_one_source_are_rarely_called_different():
    """Under equal means and unequal spreads the sentence comes in no more than 5 % of samples."""
    rng, said = np.random.default_rng(0), 0
    codes = np.repeat([0, 1, 2], [8, 12, 20])
    for _ in range(200):
        scores = rng.standard_normal((2, 40)) * np.repeat([1.0, 2.0, 3.0], [8, 12, 20])
        said += any(2 * extremes(axis, codes, 3).p <= 0.05 for axis in scores)
    assert said <= 16  # 10 expected, 16 is their 97.5 % limit


def test_groups_that_the_axes_were_fitted_to_are_not_compared():
    """Clusters differ along the axes by their making: a test would prove nothing."""
    page = page_of(fitted(g.KernelKMeans(2), np.concatenate([noise(20, 3), noise(30, 3) + 20])))
    texts = [
        sentence.code
        for section in page.sections
        for part in section.parts
        if part.kind == "picture"
        for sentence in part.says
    ]
    assert "points" in texts
    assert not {"groups_differ", "groups_alike"} & set(texts)


def test_the_first_of_small_gaps_is_judged_by_itself(monkeypatch):
    """Neighbours with small gaps, a first component that all samples recover: it is not chained to the last."""
    monkeypatch.setattr(subject, "DRAWS", 40)
    X = noise(60, 6, 2) * np.sqrt([9, 2.2, 1.9, 1.6, 1.4, 1.2])
    checks = checks_of(Subject(g.PCA(5).fit(X), X))
    texts = {check.text.code: check.text for check in checks}
    assert " bootstrap samples recover component 1" in texts["recovered"]
    assert "mix components 2 and" in texts["mixed"]
    assert not any("cannot be told apart" in text for text in texts.values())


def test_groups_that_differ_are_named_with_their_axis():
    X = shifted(4)
    page = page_of(Subject(g.PCA(2).fit(X), X, colour=GROUPS))
    says = next(part.says for section in page.sections for part in section.parts if part.title == "Rows and columns")
    (differ,) = [sentence for sentence in says if sentence.code == "groups_differ"]
    assert "along component 1: lowest for left, highest for right (Games-Howell test, p < 0.001" in differ


def test_one_of_many_is_singular():
    """``1 of 13 columns contributes``: the verb follows the count, not the noun before it."""
    plural = re.compile(
        r"(?:^|[.:;] )1 of [\d,]+ [^.;]*?\b(?:exceed|contribute|have|are|differ|miss|repeat|need|lie)\b"
    )
    wrong = {str(s) for name in CASES for s in told(name) if plural.search(str(s))}
    assert not wrong
    assert plural.search("1 of 13 columns contribute more than the average")
