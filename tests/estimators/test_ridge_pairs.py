"""Pairs with a ridge: both kinds of correlations are named, p-values say their floor, both views keep their names."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

import gramian as g
from gramian import charts
from gramian.estimators.cca_tests import chance_in_words
from gramian.reports.subject import Subject
from gramian.reports.writing import page_of
from gramian.selection import how_many, trust

RNG = np.random.default_rng(2)
X = RNG.standard_normal((40, 5)) * [3, 1, 1, 2, 1]
Y = np.column_stack([X[:, 0] + X[:, 1], X[:, 2], RNG.standard_normal(40)]) + RNG.standard_normal((40, 3))
FRAMES = pd.DataFrame(X, columns=list("abcde")), pd.DataFrame(Y, columns=["fat", "water", "ash"])
PAIRS = [g.CCA(2, ridge=0.5), g.CCA(2, ridge=(0.1, 2.0), scale=True), g.KernelCCA(2, ridge=0.1, folds=None)]


@pytest.mark.parametrize("model", PAIRS, ids=str)
def test_the_summary_says_which_correlations_are_which(model):
    model = clone(model).fit(X, Y)
    lines = dict(model.summary_.lines)
    assert lines["correlations"].startswith(f"{model.score_correlations_[0]:.4f}, ")
    assert lines["correlations"].endswith("(of the scores of the rows of the fit)")
    assert lines["regularised"].startswith(f"{model.correlations_[0]:.4f}, ")
    x, y = model.transform(X, Y)
    assert_allclose(np.corrcoef(x[:, 0], y[:, 0])[0, 1], model.score_correlations_[0], rtol=1e-9)
    assert "regularised" not in dict(g.CCA(2).fit(X, Y).summary_.lines)


@pytest.mark.parametrize("model", PAIRS, ids=str)
def test_shuffled_rows_without_fits_are_those_of_fits(model):
    model = clone(model).fit(X, Y)
    chart = charts.correlations(model, X, Y, shuffles=3, random_state=5)
    seeds = np.random.default_rng(5).spawn(3)
    fits = [clone(model).fit(X, Y[seed.permutation(40)]).correlations_ for seed in seeds]
    assert_allclose(chart.high, np.quantile(fits, 0.95, axis=0), rtol=1e-8)
    assert chart.p_values is None  # three shufflings can show nothing below 0.25
    assert chart.ylabel == "regularised correlation"


def test_a_p_value_at_its_floor_is_said_to_be_that():
    chart = charts.correlations(g.CCA(2, ridge=0.5).fit(X, Y), X, Y)
    assert chart.shuffles == 499
    assert chart.p_values[0] == 1 / 500
    assert chance_in_words(1 / 500, 499) == "p <= 0.002 (no shuffle of 499 did as well)"
    text = str(g.CCA().fit(X, Y).permutation_test(X, Y, n_permutations=199))
    assert "<= 0.005" in text
    assert "no permutation of 199 did as well" in text


@pytest.mark.slow
@pytest.mark.parametrize("ridge", [0.5, (0.1, 1.0)])
def test_how_many_pairs_there_are_with_a_ridge(ridge):
    found = how_many(X, "cca", y=Y, ridge=ridge)
    assert found.recommended == 2
    assert len(g.CCA("auto", ridge=ridge).fit(X, Y).correlations_) == 2
    lone = np.random.default_rng(9).standard_normal((40, 5))
    assert how_many(lone, "cca", y=Y, ridge=ridge).recommended == 0


def test_without_rows_a_ridge_leaves_the_number_open():
    with pytest.raises(ValueError, match="needs rows without weights"):
        g.CCA("auto", ridge=0.5).fit(X, Y, sample_weight=np.full(40, 2.0))


@pytest.mark.parametrize(
    "model", [g.CCA(2), g.PLSCanonical(2), g.PLSSVD(2), g.KernelCCA(2), g.PLSRegression(2), g.KernelRidge()], ids=str
)
def test_names_of_the_second_view_are_kept(model, tmp_path):
    model = clone(model).fit(*FRAMES)
    assert list(model.target_names_in_) == ["fat", "water", "ash"]
    g.save(model, tmp_path / "m.st")
    assert list(g.load(tmp_path / "m.st").target_names_in_) == ["fat", "water", "ash"]
    assert not hasattr(clone(model).fit(X, Y), "target_names_in_")
    assert not hasattr(model.fit(X, Y), "target_names_in_")


@pytest.mark.slow
def test_charts_and_trust_and_reports_name_the_second_view():
    model = g.CCA(2, ridge=0.1).fit(*FRAMES)
    assert trust(model, *FRAMES, n_boot=20).columns == (*"abcde", "fat", "water", "ash")
    assert set(charts.loadings(model).columns) >= {"fat", "water", "ash"}
    assert charts.scores(model, FRAMES[0]).xlabel == f"pair 1 (correlation {model.score_correlations_[0]:.2f})"
    page = page_of(Subject(model, *FRAMES))
    says = next(
        part.says for section in page.sections for part in section.parts if part.title == "Canonical correlations"
    )
    assert any("The regularised correlation is" in sentence for sentence in says)
