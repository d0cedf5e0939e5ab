"""Section C: targets and second views, for everything that takes one."""

import re

import numpy as np
import pytest
from tests.cases import TARGETED, N, X, answer, fitted, targets

from .cases import finite_or_refused, refusal

NUMBERS = [*TARGETED["numbers"], *TARGETED["view"]]


def put(name, value):
    y = targets(name).copy()
    y[3, ...] = value
    return y


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(lambda name: targets(name)[:-1], "39", id="A65 A68 other number of rows"),
        pytest.param(lambda name: put(name, np.nan), "NaN", id="A67 NaN"),
        pytest.param(lambda name: put(name, np.inf), "infinity", id="A67 infinity"),
        pytest.param(lambda name: targets(name) * 1j, "[Cc]omplex", id="A67 complex"),
    ],
)
def test_refused(name, change, words):
    assert re.search(words, refusal(ValueError, fitted, name, X, change(name)))


@pytest.mark.parametrize("name", TARGETED["labels"])
def test_labels_that_do_not_match(name):
    """A67, A68: of classifiers."""
    assert "39" in refusal(ValueError, fitted, name, X, targets(name)[:-1])
    assert "NaN" in refusal(ValueError, fitted, name, X, np.where(np.arange(N) == 3, np.nan, 1.0))


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("size", [1e200, 1e-200], ids=["A69 y x 1e200", "A69 y x 1e-200"])
def test_extreme_targets(name, size):
    finite_or_refused(name, X, "overflow|underflow|double precision|zero variance", y=targets(name) * size)


@pytest.mark.parametrize("name", TARGETED["numbers"])
def test_constant_targets(name):
    """A66: the constant is predicted where the model has one."""
    found = answer(fitted(name, X, np.full(N, 2.5)))
    assert np.isfinite(found).all()
    if name != "KernelRidge":  # without an intercept it shrinks
        np.testing.assert_allclose(found, 2.5, rtol=1e-9)


@pytest.mark.parametrize("name", TARGETED["view"])
def test_collinear_columns(name):
    """A60, A61: columns that repeat others leave a finite answer."""
    assert finite_or_refused(name, np.column_stack([X, X[:, :2]]), "never") is not None


@pytest.mark.parametrize("k", [4, 5], ids=["C78 q = d - 1", "C78 q = d"])
def test_probabilistic_pca_with_little_or_no_noise(k):
    model = fitted("ProbabilisticPCA", n_components=k)
    assert (model.noise_variance_ == 0) == (k == 5)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.log_likelihood_)
