"""What goes into KernelSVC, good and bad, and what comes out."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from gramian import ConvergenceWarning, GramianWarning, IndefiniteKernelWarning, KernelSVC, config
from gramian.kernels import RBF


def complaint(function, *kinds):
    with pytest.raises(kinds or ValueError) as caught:
        function()
    message = str(caught.value)
    assert "\n" not in message, message
    return message


@pytest.fixture
def data(rng):
    X = rng.standard_normal((80, 3))
    X.setflags(write=False)
    return X, np.where(X[:, 0] * X[:, 1] > 0, 1, 0)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-3, 12], [2.0, 3.0]], ids=str)
def test_labels_come_back_as_they_were(data, labels):
    X, y = data
    given = np.array(labels)[y]
    model = KernelSVC(10.0).fit(X, given)
    assert_array_equal(model.classes_, labels)
    assert model.predict(X).dtype == given.dtype
    assert model.score(X, given) > 0.9
    assert set(model.predict(X)) == set(labels)


def test_labels(data):
    X, y = data
    assert "only one class" in complaint(lambda: KernelSVC().fit(X, np.ones(80)))
    assert "continuous" in complaint(lambda: KernelSVC().fit(X, X[:, 0])).lower()
    assert "80 rows and y has 79" in complaint(lambda: KernelSVC().fit(X, y[:-1]))
    assert "y is None" in complaint(lambda: KernelSVC().fit(X, None))
    assert "only one class" in complaint(lambda: KernelSVC().fit(X, y, sample_weight=y))


def test_a_class_without_weight_is_absent(data):
    X, y = data
    third = np.where(X[:, 2] > 0.5, "c", np.array(["a", "b"])[y])
    kernel, there = RBF(sigma=1.0), third != "c"
    model = KernelSVC(kernel=kernel).fit(X, third, sample_weight=there.astype(float))
    without = KernelSVC(kernel=kernel).fit(X[there], third[there])
    assert_array_equal(model.classes_, ["a", "b"])
    assert_array_equal(model.predict(X), without.predict(X))
    assert_array_equal(model.support_, np.flatnonzero(there)[without.support_])


@pytest.mark.parametrize("name", ["C", "tol"])
@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf])
def test_numbers_out_of_range(data, name, value):
    """A76."""
    assert f"{name}={value}" in complaint(lambda: KernelSVC(**{name: value}).fit(*data))


@pytest.mark.parametrize("arguments", [{"C": "1"}, {"C": True}, {"C": None}, {"tol": "small"}, {"bias": 2}], ids=str)
def test_arguments_of_the_wrong_kind(data, arguments):
    name = next(iter(arguments))
    assert f"{name}=" in complaint(lambda: KernelSVC(**arguments).fit(*data), TypeError)


@pytest.mark.parametrize("value", ["even", [1, 2], {7: 1.0}, {0: 0.0}, {1: "much"}], ids=str)
def test_class_weights_that_make_no_sense(data, value):
    assert "class_weight" in complaint(lambda: KernelSVC(class_weight=value).fit(*data))


def test_precomputed_kernels_of_the_wrong_size(data):
    X, y = data
    K = RBF(sigma=1.0)(X)
    assert "square" in complaint(lambda: KernelSVC(kernel="precomputed").fit(K[:, :5], y))
    model = KernelSVC(kernel="precomputed").fit(K, y)
    assert "80" in complaint(lambda: model.predict(K[:, :5]))
    assert model.predict(K[:5]).shape == (5,)


def test_a_failed_fit_leaves_the_model(data):
    X, y = data
    model = KernelSVC().fit(X, y)
    before = model.predict(X)
    complaint(lambda: model.set_params(C=-1).fit(X, y))
    assert_array_equal(model.predict(X), before)


def test_indefinite_kernels_end_with_a_warning(data):
    """D87."""
    X, y = data
    with pytest.warns(IndefiniteKernelWarning, match="indefinite"):
        model = KernelSVC(10.0, kernel="sigmoid(scale=2, constant=-1)").fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert "indefinite" in str(model.summary_)
    assert "KKT residual" in str(model.summary_)


def test_what_does_not_converge_says_so(rng):
    X = rng.standard_normal((120, 2))
    y = rng.random(120) < 0.5
    with pytest.warns(ConvergenceWarning, match="KKT residual"):
        model = KernelSVC(1e14, kernel="linear").fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert "stopped" in str(model.summary_)
    assert not model.summary_.to_dict()["converged"]


def test_identical_rows_and_constant_columns():
    X, y = np.ones((20, 3)), np.arange(20) % 2
    model = KernelSVC(kernel="rbf(sigma=1)").fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert_array_equal(model.predict(X), np.zeros(20))  # nothing to tell them apart: the first class


def test_progress_is_reported_and_single_precision_is_taken(data):
    X, y = data
    seen = []
    with config(progress=seen.append):
        model = KernelSVC().fit(X.astype(np.float32), y)
    assert seen
    assert seen[-1].task == "support vectors"
    assert model.decision_function(X.astype(np.float32)).dtype == np.float64
    assert issubclass(ConvergenceWarning, GramianWarning)
