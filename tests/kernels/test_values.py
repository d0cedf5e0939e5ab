"""Kernel values against scikit-learn's and against the formulas."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist, pdist
from sklearn.gaussian_process import kernels as gp
from sklearn.metrics import pairwise

import gramian
from gramian.kernels import (
    RBF,
    Cosine,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    ThinPlateSpline,
)
from gramian.kernels.pairwise import median_width


@pytest.fixture
def rows(rng):
    return rng.standard_normal((40, 5)), rng.standard_normal((13, 5))


def test_against_scikit_learn(rows):
    X, Y = rows
    pairs = [
        (Linear(), pairwise.linear_kernel(X, Y)),
        (RBF(gamma=0.3), pairwise.rbf_kernel(X, Y, gamma=0.3)),
        (RBF(sigma=2.0), pairwise.rbf_kernel(X, Y, gamma=1 / 8)),
        (Laplacian(gamma=0.3), pairwise.laplacian_kernel(X, Y, gamma=0.3)),
        (Laplacian(gamma=0.3, norm="l2"), np.exp(-0.3 * cdist(X, Y))),
        (Polynomial(degree=4, scale=0.5, constant=2), pairwise.polynomial_kernel(X, Y, degree=4, gamma=0.5, coef0=2)),
        (Sigmoid(scale=0.2, constant=0.1), pairwise.sigmoid_kernel(X, Y, gamma=0.2, coef0=0.1)),
        (Cosine(), pairwise.cosine_similarity(X, Y)),
        (RationalQuadratic(length_scale=2.0, alpha=0.7), gp.RationalQuadratic(2.0, 0.7)(X, Y)),
        *((Matern(length_scale=2.0, nu=nu), gp.Matern(2.0, nu=nu)(X, Y)) for nu in (0.5, 0.9, 1.5, 2.5, np.inf)),
    ]
    for kernel, expected in pairs:
        assert_allclose(kernel(X, Y), expected, rtol=1e-12, atol=1e-13, err_msg=str(kernel))


def test_thin_plate_spline_is_zero_at_zero(rows):
    X, Y = rows
    r = cdist(X, Y)
    assert_allclose(ThinPlateSpline(c=3.0)(X, Y), r**2 * np.log(r / 3), rtol=1e-11)
    assert np.array_equal(np.diag(ThinPlateSpline()(np.eye(4))), np.zeros(4))


def test_width_words(rows):
    X, _ = rows
    assert RBF().resolve(X).gamma == pytest.approx(1 / (5 * X.var()))
    assert RBF(gamma="median").resolve(X).width == pytest.approx(np.median(pdist(X)))
    assert RBF(gamma=2.0).width == 0.5
    assert Laplacian(gamma="median").resolve(X).gamma == pytest.approx(1 / np.median(pdist(X, "cityblock")))
    assert Laplacian(norm="l2").resolve(X).gamma == pytest.approx((5 * X.var()) ** -0.5)
    assert Matern().resolve(X).length_scale == pytest.approx((5 * X.var()) ** 0.5)
    assert RBF().resolve(np.ones((4, 2))).gamma == pytest.approx(0.5)


def test_the_median_width_samples_large_data_the_same_way_each_time(rng):
    X = rng.standard_normal((5000, 3))
    assert median_width(X) == median_width(X)
    assert median_width(X) == pytest.approx(np.median(pdist(X[:2000])), rel=0.02)


def test_setting_one_width_clears_the_other():
    kernel = RBF(sigma=1.0).set_params(gamma=2.0)
    assert kernel == RBF(gamma=2.0)
    assert kernel.set_params(sigma=3.0) == RBF(sigma=3.0)
    with pytest.raises(ValueError, match="sigma=-3"):
        kernel.set_params(sigma=-3.0)
    with pytest.raises(ValueError, match="not a parameter of rbf"):
        kernel.set_params(width=1)


def test_nested_parameters_reach_inner_kernels():
    kernel = RBF(sigma=1.0) + 2 * Polynomial()
    kernel.set_params(left__sigma=5.0, right__kernel__degree=7)
    assert str(kernel) == "rbf(sigma=5) + 2*polynomial(degree=7)"


@pytest.mark.parametrize(("degree", "constant", "width"), [(1, 0, 3), (2, 0, 6), (3, 1.5, 20), (4, 0.5, 35)])
def test_the_polynomial_map_reproduces_the_kernel(rng, degree, constant, width):
    X, kernel = rng.standard_normal((30, 3)), Polynomial(degree=degree, scale=0.7, constant=constant)
    features = kernel.feature_map(X)
    assert features.shape == (30, width)
    assert_allclose(features @ features.T, kernel(X), rtol=1e-10, atol=1e-10)


def test_the_polynomial_map_refuses_what_it_cannot_do(rng):
    with pytest.raises(ValueError, match="no real feature map"):
        Polynomial(degree=2, constant=-1).feature_map(np.eye(3))
    with gramian.config(memory="1MB"), pytest.raises(ValueError, match="176,851 columns"):
        Polynomial(degree=3).feature_map(rng.standard_normal((10, 100)))


def test_close_rows_far_from_the_origin_keep_their_distance():
    X = np.array([[1e6, 1e6], [1e6 + 1e-5, 1e6], [1e6 + 1e3, 1e6]])
    expected = np.exp(-np.linalg.norm(X[0] - X[1]))
    assert Laplacian(gamma=1.0, norm="l2")(X)[0, 1] == pytest.approx(expected, rel=1e-12)
    assert Matern(length_scale=1.0, nu=0.5)(X)[0, 1] == pytest.approx(expected, rel=1e-12)
    assert RBF(gamma=1e9)(X)[0, 1] == pytest.approx(np.exp(-1e9 * ((1e6 + 1e-5) - 1e6) ** 2), rel=1e-9)


def test_rows_of_different_width_are_refused():
    with pytest.raises(ValueError, match="X has 3 columns and Y has 2"):
        RBF()(np.eye(3), np.eye(2))
    with pytest.raises(ValueError, match="Reshape"):
        RBF()(np.ones(3))


def test_sparse_rows_are_not_made_dense_beyond_the_budget(rng):
    X = sp.csr_array((np.ones(50), (np.arange(50), np.arange(50) * 1000)), shape=(50, 100_000))
    with gramian.config(memory="10MB"):
        assert np.isfinite(RBF(sigma="median")(X)).all()
        with pytest.raises(ValueError, match="make sparse rows dense: 80 MB"):
            Laplacian(gamma=1.0)(X)
