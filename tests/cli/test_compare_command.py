"""``gramian compare``: a line for each method, with the figure that Python would give."""

import json

import numpy as np
import pytest

from gramian import PCA, ProbabilisticPCA
from gramian.registry import METHODS
from gramian.tables import read_table


def compared(gramian, *arguments):
    code, out, err = gramian("compare", *arguments, "--json")
    assert (code, err) == (0, "")
    return {line["method"]: line for line in json.loads(out)["methods"]}


def test_the_figures_are_those_of_python(gramian, tables):
    lines = compared(gramian, "wine.csv", "--methods", "pca,probabilistic-pca,ica", "-k", "3", "--scale")
    assert list(lines) == ["pca", "probabilistic-pca", "ica"]
    X = read_table("wine.csv").values
    assert lines["pca"]["figure"] == pytest.approx(PCA(3, scale=True).fit(X).explained_variance_ratio_.sum())
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    likelihood = ProbabilisticPCA(3).fit(Z).score(Z) * len(Z)
    assert lines["probabilistic-pca"]["figure"] == pytest.approx(likelihood)
    assert lines["ica"]["text"].endswith("of the projection alone")
    assert all(line["seconds"] > 0 for line in lines.values())


def test_what_is_compared_depends_on_what_is_given(gramian, tables, monkeypatch):
    monkeypatch.setattr(
        "gramian.selection.tuning.INNER_FOLDS", 2
    )  # a support vector machine is fitted for every candidate
    monkeypatch.setattr("gramian.selection.tuning.PENALTIES", (1.0,))
    monkeypatch.setattr("gramian.cli.compare.OUTER_FOLDS", {"target": 3, "label": 2})
    needs = {"": [], "target": ["--target", "alcohol"], "label": ["--label", "cultivar"]}
    for need, options in needs.items():
        found = compared(gramian, "wine.csv", *options, "--scale")
        suited = [name for name, method in METHODS.items() if method.needs == need and name != "kernel-kmeans"]
        assert list(found) == suited
        assert {line["name"] for line in found.values()} <= {
            "": {"variance", "log-likelihood", "distortion"},
            "target": {"RMSECV"},
            "label": {"accuracy"},
        }[need]


@pytest.mark.slow
def test_errors_of_prediction_come_from_rows_left_out(gramian, tables, monkeypatch):
    monkeypatch.setattr("gramian.selection.tuning.NEIGHBOURS_TRIED", (9, 15))
    lines = compared(
        gramian, "diabetes.csv", "--target", "progression", "--methods", "pls,kernel-knn-regression", "--scale"
    )
    spread = read_table("diabetes.csv", ["progression"]).values.std()
    assert 53 < lines["pls"]["figure"] < 56
    assert lines["pls"]["figure"] < lines["kernel-knn-regression"]["figure"] < spread


@pytest.mark.slow
def test_every_contestant_is_tuned_and_says_how(gramian, here):
    options = ["flowers.csv", "--target", "a", "--methods", "pls,kernel-ridge", "--scale"]
    lines = compared(gramian, *options)
    for method, names in (("pls", {"n_components"}), ("kernel-ridge", {"kernel", "ridge"})):
        assert set(lines[method]["parameters"]) == names
        assert all(len(each["chosen"]) == 10 for each in lines[method]["parameters"].values())
    assert lines["pls"]["tuned"].endswith("5 inner folds")
    assert lines["kernel-ridge"]["tuned"].endswith("leave-one-out")
    out = gramian("compare", *options, "-k", "2", "--kernel", "linear", "--ridge", "1")[1]
    assert "tuned by nested cross-validation" in out
    assert out.count("  nothing") == 2


def test_people_see_a_table(gramian, tables):
    code, out, err = gramian("compare", "iris.csv", "--methods", "pca,factor-analysis", "-k", "1")
    assert code == 0
    source, remark, head, *lines = out.splitlines()
    assert source == "iris.csv: 150 rows, 4 columns"
    assert remark == "set aside: column 'species' is text, kept as a label"
    assert head.split() == ["method", "k", "time", "measure"]
    assert [line.split()[:2] for line in lines] == [["pca", "1"], ["factor-analysis", "1"]]
    assert lines[0].endswith("variance        92.5 %")
    assert err == (
        "warning: factor-analysis: Heywood case: the uniqueness of column 3 is held at its bound; fewer factors may be "
        "enough\n"
    )


def test_a_method_that_fails_does_not_stop_the_others(gramian, tables):
    code, out, _ = gramian("compare", "iris.csv", "--methods", "pca,factor-analysis", "-k", "3", "-q")
    assert code == 0
    assert "failed" in out.splitlines()[2]
    code, out, err = gramian("compare", "iris.csv", "--methods", "pca,ica", "-k", "9", "-q")
    assert code == 1
    assert err == "error: no method could be fitted.\n"
    assert out.count("failed") == 2


def test_two_views(gramian, tables):
    found = compared(gramian, "linnerud.csv", "--y-columns", "Weight:Pulse", "--methods", "cca,pls-svd", "-k", "2")
    assert found["cca"]["figure"] == pytest.approx(0.7956, abs=1e-4)
    assert found["pls-svd"]["figure"] == pytest.approx(0.5536, abs=1e-4)
    assert np.isfinite(found["cca"]["seconds"])
