"""Section D: labels, clusters, and what a fitted model must not forget or share."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.cases import ESTIMATORS, TARGETED, N, X, answer, estimator, fitted, targets

import gramian

from .cases import refusal

ALL = pytest.mark.parametrize("name", ESTIMATORS)
LABELS = pytest.mark.parametrize("name", TARGETED["labels"])


@LABELS
def test_a_single_class(name):
    """A72."""
    y = np.full(N, "only")
    if "SVC" in name:
        assert "'only'" in refusal(ValueError, fitted, name, X, y)
    else:
        assert (fitted(name, X, y).predict(X) == "only").all()


@LABELS
@pytest.mark.parametrize(
    "values", [("down", "up"), (-3, 7), (False, True)], ids=["A73 text", "A73 numbers", "A73 bool"]
)
def test_labels_come_back_unchanged(name, values):
    y = np.array(values)[(targets(name) == "up").astype(int)]
    found = fitted(name, X, y).predict(X)
    assert found.dtype == y.dtype
    assert set(found.tolist()) <= set(values)
    assert (found == y).mean() > 0.8


@LABELS
def test_continuous_labels(name):
    """A74."""
    assert "ontinuous" in refusal(ValueError, fitted, name, X, X[:, 0])


@LABELS
def test_contradictory_duplicates(name):
    """A77: every row once in each class; coefficients of the SVM are at their bound, and nothing fails."""
    model = fitted(name, np.vstack([X, X]), np.repeat(["down", "up"], N))
    assert np.isfinite(answer(model)).all()
    if name == "KernelSVC":
        np.testing.assert_allclose(np.abs(model.dual_coef_), model.C)


@ALL
def test_before_fit(name):
    """A82."""
    with pytest.raises(NotFittedError):
        answer(estimator(name))


@ALL
def test_wrong_number_of_columns(name):
    """A83."""
    message = refusal(ValueError, answer, fitted(name), X[:, :4])
    assert "4 features" in message
    assert "5 features" in message


@ALL
def test_a_failed_refit_leaves_the_model(name):
    """A84."""
    model, y = fitted(name), targets(name)
    before = answer(model)
    for bad in (np.where(np.arange(5) == 2, np.nan, X), X[:, :0]):
        refusal(ValueError, lambda bad=bad: model.fit(bad, y) if y is not None else model.fit(bad))
    assert np.array_equal(answer(model), before)


@ALL
def test_the_same_bits(name, tmp_path):
    """A59 of a second fit, A85 after pickle and after a file."""
    model = fitted(name)
    expected = answer(model)
    assert np.array_equal(answer(fitted(name)), expected)
    assert np.array_equal(answer(pickle.loads(pickle.dumps(model))), expected)
    gramian.save(model, tmp_path / "model.gramian")
    assert np.array_equal(answer(gramian.load(tmp_path / "model.gramian")), expected)


@pytest.mark.slow
@ALL
def test_nothing_is_shared(name):
    """D88: clones, parameters set after a fit, and threads."""
    model = fitted(name)
    expected, parameters = answer(model), model.get_params(deep=False)
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(found, expected) for found in pool.map(lambda _: answer(model), range(8)))
        assert all(np.array_equal(found, expected) for found in pool.map(lambda _: answer(fitted(name)), range(4)))
    assert not hasattr(clone(model), "n_features_in_")
    # How many neighbours are asked is a question to the fitted rows, as in scikit-learn; nothing else is read again.
    model.set_params(**dict.fromkeys({"n_components", "n_clusters", "kernel", "ridge"} & set(parameters)))
    assert np.array_equal(answer(model), expected)
