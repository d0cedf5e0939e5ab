"""Estimators written as calls: what stands there makes the same estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import gramian as g
from gramian.construction import construction, imports, unwritten
from gramian.reports.program import program
from gramian.reports.subject import Subject
from gramian.solvers import Krylov
from gramian.tables import as_table

X = np.random.default_rng(0).standard_normal((20, 3))
ESTIMATORS = [
    g.PCA(2, scale=True, missing="em", solver="power", random_state=np.int64(3)),
    g.CCA(1, ridge=(0.1, float("inf"))),
    g.KernelPCA(2, kernel=2 * g.kernels.RBF(sigma=1 / 3)[0:2] + g.kernels.Linear() ** 2, solver=Krylov(tol=1e-6)),
    g.KernelPCA(2, landmarks=g.Landmarks(5, points=X[:5], refine=False)),
    g.KernelRidge(0.5, landmarks=g.RandomFeatures(50)),
    g.KernelSVC(class_weight={"a": 2.0, "b": np.float64(1.0)}),
    make_pipeline(g.Standardizer(), g.KernelKMeans(2, init=X[:2])),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_construction_makes_the_same_estimator(estimator):
    space = {}
    exec("\n".join([*imports(construction(estimator)), f"made = {construction(estimator)}"]), space)
    assert construction(space["made"]) == construction(estimator)
    assert unwritten(estimator) == []
    assert "..." not in construction(estimator)


def test_what_cannot_be_written_stands_there_by_its_name():
    model = g.KernelPCA(2, kernel=lambda x, y: x @ y.T, random_state=np.random.default_rng(0)).fit(X)
    assert construction(model) == "KernelPCA(n_components=2, kernel=kernel, random_state=random_state)"
    text = program(Subject(model, X))
    assert "# kernel: as it was given to the fit\n# random_state: as it was given to the fit\n" in text


def test_weights_names_colour_and_title_are_in_the_program():
    weights = np.arange(1.0, 21.0)
    model = g.PCA(2).fit(X, sample_weight=weights)
    names = [f"r{at}" for at in range(20)]
    text = program(Subject(model, X, None, names, names, path="p.html", title="T"))
    assert "# X, colour, names: the rows of the fit, and what goes with them\n" in text
    assert "fit(X, sample_weight=weights)" in text
    assert "report(model, 'p.html', X, colour=colour, names=names, title='T')" in text
    space = {"X": X, "weights": weights}
    exec(text.rpartition("\n")[0], space)
    np.testing.assert_array_equal(space["model"].components_, model.components_)


def test_rows_that_are_not_of_the_fit_do_not_fit_again():
    model = g.PCA(2).fit(X)
    assert "model = load('m.st')" in program(Subject(model, X + 1, file="m.st"))
    assert "# model: the fitted estimator" in program(Subject(model))
    assert ".fit(X)" in program(Subject(model, X[::-1]))


def test_a_table_names_columns_and_rows(tmp_path):
    table = as_table({"id": list("abcdefghij"), "p": X[:10, 0], "q": X[:10, 1]}, ids="id")
    model = g.PCA(2).fit(table.values)
    g.report(model, tmp_path / "r.html", table)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert not hasattr(model, "feature_names_in_")
    assert '"p"' in text
    assert '"j"' in text
    assert clone(model).get_params() == model.get_params()
