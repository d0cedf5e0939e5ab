"""Nested validation: every method is tuned on the rows outside a fold, and no row has a part in its own prediction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import gramian as g
from gramian.selection.tuning import error_of, nested

RNG = np.random.default_rng(4)
X = RNG.uniform(-2, 2, (60, 2))
WAVE = np.sin(2 * X[:, 0]) + 0.1 * RNG.standard_normal(60)
RING = np.where((X**2).sum(axis=1) > 2, "out", "in")
MODELS = {
    "pls": (g.PLSRegression(), WAVE, {"n_components"}),
    "pcr": (g.PrincipalComponentRegression(), WAVE, {"n_components"}),
    "ridge": (g.KernelRidge(), WAVE, {"kernel", "ridge"}),
    "neighbours": (g.KernelKNNRegressor(), np.column_stack([WAVE, -WAVE]), {"n_neighbors"}),
    "svm": (g.KernelSVC(), RING, {"kernel", "C"}),
    "classes of neighbours": (g.KernelKNNClassifier(), RING, {"n_neighbors"}),
    "prototypes": (make_pipeline(g.Standardizer(), g.KernelPrototypeClassifier()), RING, {"kernel"}),
}


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr("gramian.selection.tuning.INNER_FOLDS", 2)
    monkeypatch.setattr("gramian.selection.tuning.PENALTIES", (1.0, 10.0))
    monkeypatch.setattr("gramian.selection.tuning.OTHER_WIDTHS", (0.5, 1))
    monkeypatch.setattr("gramian.selection.tuning.RIDGE_WIDTHS", (0.5, 1))


@pytest.mark.parametrize("name", MODELS)
def test_what_is_tuned_and_from_what(name):
    model, y, parameters = MODELS[name]
    found = nested(model, X, y, 2)
    assert set(found.grids) == parameters
    assert all(len(found.chosen[each]) == 2 for each in parameters)
    assert set(found.final) >= parameters
    assert found.predictions.shape == y.shape
    assert all(each in str(found) for each in parameters)
    assert str(found).endswith(("inner folds", "leave-one-out"))
    last = found.model[-1] if hasattr(found.model, "steps") else found.model
    assert {each: getattr(last, each) for each in parameters} == {each: found.final[each] for each in parameters}


@pytest.mark.parametrize("name", ["pls", "ridge", "neighbours"])
def test_a_row_has_no_part_in_its_own_prediction(name):
    """Another target in a fold leaves the predictions of this fold as they were."""
    model, y, _ = MODELS[name]
    changed = y.copy()
    changed[::2] *= -3
    first, second = nested(model, X, y, 2), nested(model, X, changed, 2)
    assert_array_equal(first.predictions[::2], second.predictions[::2])
    assert (first.predictions[1::2] != second.predictions[1::2]).any()


def test_what_is_fixed_stays():
    found = nested(g.KernelSVC(7.0, kernel="rbf(sigma=1)"), X, RING, 3, fixed=["C", "kernel"])
    assert (found.grids, str(found), found.model.C) == ({}, "nothing", 7.0)
    guesses = np.empty_like(RING)
    order = np.argsort(RING, kind="stable")
    for at in range(3):
        test, train = order[at::3], np.setdiff1d(np.arange(60), order[at::3])
        guesses[test] = g.KernelSVC(7.0, kernel="rbf(sigma=1)").fit(X[train], RING[train]).predict(X[test])
    assert_array_equal(found.predictions, guesses)
    partly = nested(g.KernelRidge(0.5), X, WAVE, 3, fixed=["ridge"])
    assert set(partly.grids) == {"kernel"}
    assert partly.model.ridge == 0.5


def test_tuning_beats_a_poor_default():
    """A wave needs a kernel: the error left by a tuned kernel ridge is that of the noise, of PLS that of the wave."""
    errors = {
        name: error_of(m, WAVE, nested(m, X, WAVE, 3).predictions) for name, (m, y, _) in MODELS.items() if y is WAVE
    }
    assert errors["ridge"] < 0.25 < 0.5 < errors["pls"]


def test_components_are_those_of_least_inner_error():
    found = nested(g.PLSRegression(), X, WAVE, 3)
    path = clone(g.PLSRegression("auto")).cross_validate(X, WAVE, cv=2)
    assert found.final["n_components"] == 1 + int(np.argmin(path.rmsecv[1:, 0]))
    assert_allclose(error_of(g.PLSRegression(), WAVE, WAVE), 0)
