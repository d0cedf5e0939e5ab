"""Kernel ridge on input that is allowed and hard: singular matrices, extreme units, next to no rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gramian
from gramian import KernelRidge
from gramian.kernels import RBF
from gramian.solvers.conjugate import ConjugateGradients


@pytest.fixture
def y(table):
    return np.sin(table[:, 0]) + table[:, 1]


@pytest.mark.parametrize("intercept", [False, True])
def test_zero_ridge_with_repeated_rows(table, y, intercept):
    """A70."""
    X, targets = np.repeat(table[:40], 3, axis=0), np.repeat(y[:40], 3) + np.tile([-0.3, 0.0, 0.3], 40)
    with pytest.warns(gramian.RankWarning, match="least squares of least norm"):
        model = KernelRidge(0, kernel="rbf(sigma=0.5)", fit_intercept=intercept).fit(X, targets)
    assert_allclose(model.predict(table[:40]), y[:40], atol=1e-6)  # the mean of each group
    assert "rank" in str(model.summary_)


def test_a_ridge_below_rounding(table, y):
    with pytest.warns(gramian.RankWarning):
        model = KernelRidge(1e-300, kernel="rbf(sigma=50)").fit(table, y)
    assert np.isfinite(model.predict(table)).all()


@pytest.mark.parametrize("intercept", [False, True])
def test_a_factor_that_is_mostly_rounding_is_not_believed(intercept):
    X = np.random.default_rng(0).standard_normal((30, 3))
    target, unit = X[:, 0] ** 2, X / np.linalg.norm(X, axis=1, keepdims=True)
    with pytest.warns(gramian.RankWarning, match="least squares of least norm"):
        model = KernelRidge(1e-15, kernel="cosine", fit_intercept=intercept).fit(X, target)
    design = np.column_stack([unit, np.ones(30)]) if intercept else unit
    assert_allclose(model.predict(X), design @ np.linalg.lstsq(design, target, rcond=None)[0], atol=1e-8)


def test_a_ridge_far_below_the_largest_eigenvalue():
    rng = np.random.default_rng(0)
    X, target = rng.standard_normal((30, 3)), rng.standard_normal(30)
    with pytest.warns(gramian.RankWarning):
        model = KernelRidge(1e-12, kernel="polynomial(degree=3)").fit(X, target)
    assert model.summary_.facts["residuals"].max() < 1e-6


@pytest.mark.parametrize("kernel", ["rbf(sigma=2)", "polynomial", "linear", "thin_plate_spline"])
@pytest.mark.parametrize("solver", ["cholesky", "cg", "minres"])
@pytest.mark.filterwarnings("ignore:the 4 functions:gramian.RankWarning")
def test_equal_rows_without_a_ridge_get_the_mean(y, kernel, solver):
    X = np.tile([0.1, 0.2, 0.7], (200, 1))
    with pytest.warns(gramian.RankWarning, match="ridge=0") as caught:
        model = KernelRidge(0, kernel=kernel, fit_intercept=True, solver=solver).fit(X, y)
    assert {w.category for w in caught} == {gramian.RankWarning}
    assert_allclose(model.predict(X), y.mean())
    if solver == "cholesky":
        assert_allclose(model.leave_one_out_, (y - y.mean()) * 200 / 199)


@pytest.mark.parametrize("solver", ["cholesky", "cg", "minres"])
def test_the_linear_dual_far_from_the_origin(rng, solver):
    X, y = rng.standard_normal((40, 60)), rng.standard_normal(40)
    model = KernelRidge(1.0, kernel="linear", fit_intercept=True, solver=solver)
    near, far = model.fit(X, y).predict(X), model.fit(X + 1e9, y).predict(X + 1e9)
    assert_allclose(far, near, atol=1e-5)


def test_minres_does_not_return_what_it_diverged_to(table, y):
    X = table[:, :3] * [1e-8, 1, 1e8]
    with pytest.warns(gramian.ConvergenceWarning):
        model = KernelRidge(1e-6, kernel="quadratic", fit_intercept=True, solver="minres").fit(X, y)
    assert model.summary_.facts["residuals"].max() <= 1


@pytest.mark.filterwarnings("ignore:the 31 functions:gramian.RankWarning")
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e3])
def test_a_spline_with_nothing_left_to_bend(y, size):
    X, y = np.random.default_rng(1).standard_normal((20, 30)) * size, y[:20]
    assert_allclose(KernelRidge(1.0, kernel="thin_plate_spline", solver="cg").fit(X, y).predict(X), y)


def test_squares_that_underflow(table, y):
    plain, tiny = (KernelRidge(0, kernel="linear", fit_intercept=True).fit(table * s, y) for s in (1.0, 1e-158))
    assert_allclose(tiny.predict(table * 1e-158), plain.predict(table), atol=0.1)


def test_zero_ridge_by_products(table, y):
    model = KernelRidge(0, kernel="rbf(sigma=0.5)", solver="minres").fit(table, y)
    assert_allclose(model.predict(table), y, atol=1e-6 * np.linalg.norm(y))


def test_not_converged_is_said(table, y):
    solver = ConjugateGradients(max_iter=2, rank=0)
    with pytest.warns(gramian.ConvergenceWarning, match="max_iter=2 reached"):
        model = KernelRidge(1e-6, solver=solver).fit(table, y)
    assert not model.summary_.facts["converged"]
    assert np.isfinite(model.predict(table)).all()


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e200])
@pytest.mark.parametrize("kernel", ["rbf(sigma=3)", "linear", "thin_plate_spline"])
def test_the_unit_of_the_targets(table, y, size, kernel):
    plain, scaled = (KernelRidge(0.1, kernel=kernel).fit(table, y * s).predict(table) for s in (1.0, size))
    assert_allclose(scaled / size, plain, rtol=1e-9)


@pytest.mark.parametrize("solver", ["cholesky", "cg"])
def test_targets_without_variance(table, solver):
    model = KernelRidge(0.1, kernel="rbf(sigma=3)", fit_intercept=True, solver=solver).fit(table, np.full(200, 7.0))
    assert_allclose(model.predict(table + 1), 7)
    assert (KernelRidge(0.1, solver=solver).fit(table, np.zeros(200)).predict(table) == 0).all()


def test_targets_far_from_zero(table, y):
    for solver in ("cholesky", "cg"):
        model = KernelRidge(0.1, kernel="rbf(sigma=3)", fit_intercept=True, solver=solver)
        near, far = model.fit(table, y).predict(table), model.fit(table, y + 1e6).predict(table) - 1e6
        assert_allclose(near, far, atol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "thin_plate_spline", "polynomial"])
@pytest.mark.filterwarnings("ignore::gramian.RankWarning")
def test_one_row_one_column_equal_rows(kernel):
    for X in (np.ones((1, 3)), np.arange(5.0)[:, None], np.ones((6, 2))):
        target = np.arange(1.0, len(X) + 1)
        for intercept in (False, True):
            model = KernelRidge(0.5, kernel=kernel, fit_intercept=intercept).fit(X, target)
            assert np.isfinite(model.predict(X)).all()


def test_a_spline_on_a_constant_column(table, y):
    X = np.column_stack([table[:, :2], np.full(200, 3.0)])
    with pytest.warns(gramian.RankWarning, match="only 3 on these rows"):
        model = KernelRidge(0.1, kernel="thin_plate_spline").fit(X, y)
    plain = KernelRidge(0.1, kernel="thin_plate_spline").fit(X[:, :2], y)
    assert_allclose(model.predict(X), plain.predict(X[:, :2]), atol=1e-8)


def test_nearly_positive_matrices_do_not_alarm(table, y):
    K = RBF(sigma=3.0)(table)
    narrow = K.astype(np.float32)  # its rounding makes some eigenvalues negative; a warning would be an error here
    model = KernelRidge(1.0, kernel="precomputed").fit((narrow + narrow.T) / 2, y)
    exact = KernelRidge(1.0, kernel="precomputed").fit(K, y)
    assert_allclose(model.predict(K), exact.predict(K), atol=1e-4 * np.abs(y).max())


def test_an_indefinite_matrix_by_products(rng):
    A = rng.standard_normal((200, 200))
    with pytest.warns(gramian.IndefiniteKernelWarning, match="at least 1 negative eigenvalue"):
        model = KernelRidge(0.5, kernel="precomputed", solver="minres").fit(A + A.T, rng.standard_normal(200))
    assert np.isfinite(model.dual_coef_).all()
    assert model.summary_.facts["residuals"].max() < 1e-5


def test_weights_of_any_size(table, y):
    weights = np.geomspace(1e-8, 1e8, 200)
    model = KernelRidge(1.0, kernel="rbf(sigma=3)").fit(table, y, sample_weight=weights)
    assert np.isfinite(model.predict(table)).all()
    assert np.isfinite(model.leave_one_out_).all()
