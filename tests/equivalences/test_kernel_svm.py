"""The support vector machine: routes that must agree, and laws it must obey."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from gramian import config
from gramian.estimators.kernel_svm import KernelSVC
from gramian.kernels import RBF, Linear

TIGHT = {"tol": 1e-6}


@pytest.fixture
def two(rng):
    X = rng.standard_normal((300, 5))
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(300) > 0, "yes", "no")
    X.setflags(write=False)
    return X, y


@pytest.fixture
def three():
    X, y = load_iris(return_X_y=True)
    X.setflags(write=False)
    return X, y


def dot(A, B):
    return A @ B.T


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_linear_shortcut_is_the_kernel_route(two, C, bias):
    X, y = two
    short = KernelSVC(C, kernel="linear", bias=bias, **TIGHT).fit(X, y)
    long = KernelSVC(C, kernel=dot, bias=bias, **TIGHT).fit(X, y)
    sparse = KernelSVC(C, kernel="linear", bias=bias, **TIGHT).fit(sp.csr_array(X), y)
    assert "interior" in short.summary_.facts["route"]
    assert "working sets" in long.summary_.facts["route"]
    assert_allclose(short.dual_objective_, long.dual_objective_, rtol=1e-8)
    for other in (long, sparse):
        assert_allclose(short.decision_function(X), other.decision_function(X), atol=1e-5)
    assert_allclose(short.intercept_, sparse.intercept_, atol=1e-8)


def test_without_offset_it_is_not_svc_and_nearly_so_with_a_cheap_one(two):
    """A penalised offset becomes a free one as the constant feature grows."""
    X, y = two
    peer = SVC(C=1.0, gamma=0.2, tol=1e-8).fit(X, y)
    K = RBF(gamma=0.2)(X) + 1e4
    ours = KernelSVC(1.0, kernel="precomputed", tol=1e-7).fit(K, y)
    assert_allclose(ours.decision_function(K), peer.decision_function(X), atol=2e-3)


def test_bias_is_one_more_in_every_kernel_value(two):
    X, y = two
    K = RBF(sigma=2.0)(X)
    with_bias = KernelSVC(kernel=RBF(sigma=2.0), bias=True, **TIGHT).fit(X, y)
    shifted = KernelSVC(kernel="precomputed", **TIGHT).fit(K + 1, y)
    assert_allclose(with_bias.decision_function(X), shifted.decision_function(K + 1), atol=1e-6)
    assert_allclose(with_bias.intercept_, with_bias.dual_coef_.sum(axis=1))
    assert_array_equal(shifted.intercept_, [0.0])


@pytest.mark.parametrize("given", ["precomputed", "callable", "sparse"])
def test_ways_to_give_a_kernel(two, given):
    X, y = two
    kernel = RBF(sigma=2.0)
    plain = KernelSVC(kernel=kernel, **TIGHT).fit(X, y)
    K = kernel(X)
    other, rows = {
        "precomputed": (KernelSVC(kernel="precomputed", **TIGHT).fit(K, y), K),
        "callable": (KernelSVC(kernel=lambda A, B: kernel(A, B), **TIGHT).fit(X, y), X),
        "sparse": (KernelSVC(kernel=kernel, **TIGHT).fit(sp.csr_array(X), y), sp.csr_array(X)),
    }[given]
    assert_allclose(plain.decision_function(X), other.decision_function(rows), atol=1e-6)
    assert_array_equal(plain.support_, other.support_)


def test_several_classes_are_each_against_the_rest(three):
    X, y = three
    model = KernelSVC(5.0, **TIGHT).fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (150, 3)
    assert model.dual_coef_.shape == (3, len(model.support_))
    for c in range(3):
        alone = KernelSVC(5.0, kernel=model.kernel_, **TIGHT).fit(X, y == c)
        assert_allclose(values[:, c], alone.decision_function(X), atol=1e-5)
        assert_allclose(model.dual_objective_[c], alone.dual_objective_, rtol=1e-8)
    assert_array_equal(model.predict(X), values.argmax(axis=1))


def test_a_weight_is_a_repetition_and_zero_is_absence(two, rng):
    X, y = two
    weights = rng.integers(0, 4, 300)
    kernel = RBF(sigma=2.0)
    weighted = KernelSVC(kernel=kernel, class_weight="balanced", **TIGHT).fit(X, y, sample_weight=weights)
    again = np.repeat(np.arange(300), weights)
    repeated = KernelSVC(kernel=kernel, class_weight="balanced", **TIGHT).fit(X[again], y[again])
    assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-5)
    assert_allclose(weighted.dual_objective_, repeated.dual_objective_, rtol=1e-8)
    assert (weights[weighted.support_] > 0).all()
    K = kernel(X)
    given = KernelSVC(kernel="precomputed", class_weight="balanced", **TIGHT).fit(K, y, sample_weight=weights)
    assert_allclose(weighted.decision_function(X), given.decision_function(K), atol=1e-5)


def test_class_weights_are_sample_weights(two):
    X, y = two
    kernel = RBF(sigma=2.0)  # a width of "scale" would see the weights of rows, which repeat them, but not of classes
    by_class = KernelSVC(kernel=kernel, class_weight={"yes": 3.0}, **TIGHT).fit(X, y)
    by_row = KernelSVC(kernel=kernel, **TIGHT).fit(X, y, sample_weight=np.where(y == "yes", 3.0, 1.0))
    assert_allclose(by_class.decision_function(X), by_row.decision_function(X), atol=1e-6)


def test_order_of_rows_and_memory_change_nothing(two, rng):
    X, y = two
    model = KernelSVC(10.0, **TIGHT).fit(X, y)
    order = rng.permutation(300)
    shuffled = KernelSVC(10.0, **TIGHT).fit(X[order], y[order])
    assert_allclose(model.decision_function(X), shuffled.decision_function(X), atol=1e-5)
    with config(memory="64kB", threads=1):
        small = KernelSVC(10.0, **TIGHT).fit(X, y)
    assert_allclose(model.decision_function(X), small.decision_function(X), atol=1e-5)


def test_the_certificate_is_right(two):
    X, y = two
    C, kernel = 3.0, RBF(sigma=2.0)
    model = KernelSVC(C, kernel=kernel).fit(X, y)
    signs, b = np.where(y == "yes", 1.0, -1.0), np.zeros(300)
    b[model.support_] = model.dual_coef_[0]
    K = kernel(X)
    f, norm = K @ b, b @ K @ b
    dual = np.abs(b).sum() - 0.5 * norm
    primal = 0.5 * norm + C * np.maximum(0, 1 - signs * f).sum()
    slope, a = signs * f - 1, np.abs(b)
    residual = np.maximum(np.where(a < C, -slope, 0), np.where(a > 0, slope, 0)).max()
    assert_allclose(model.dual_objective_, dual, rtol=1e-10)
    assert_allclose(model.duality_gap_, (primal - dual) / primal, atol=1e-9)
    assert_allclose(model.kkt_residual_, residual, atol=1e-9)
    assert residual <= 1e-3
    assert_allclose(model.decision_function(X), f, atol=1e-9)


@pytest.mark.parametrize("C", [1e5, 1e10])
def test_huge_bounds(rng, C):
    """A78."""
    X = rng.standard_normal((200, 3))
    y = X @ [1.0, -2.0, 0.5] > 0
    X = X + 0.2 * np.where(y, 1, -1)[:, None] * np.array([1.0, -2.0, 0.5])
    for kernel in ("linear", "rbf(sigma=1)"):
        model = KernelSVC(C, kernel=kernel).fit(X, y)
        assert model.score(X, y) == 1.0
        assert model.kkt_residual_ <= 1e-3
        assert np.abs(model.dual_coef_).max() < 1e5  # separable: the margin decides, not the bound


def test_the_linear_kernel_forms_no_gram_matrix(rng):
    X = rng.standard_normal((20_000, 5))
    y = X[:, 0] + rng.standard_normal(20_000) > 0
    with config(memory="10MB"):
        model = KernelSVC(kernel=Linear()).fit(X, y)
    assert model.kkt_residual_ <= 1e-3
    w = X[model.support_].T @ model.dual_coef_[0]
    assert_allclose(model.decision_function(X[:50]), X[:50] @ w, atol=1e-8)
