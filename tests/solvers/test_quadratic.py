"""The box-constrained dual: against an independent optimiser, and against itself along other routes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from gramian import config
from gramian.kernels import RBF, Laplacian, Polynomial
from gramian.operators.gram import KernelBlocks
from gramian.solvers import box_qp
from gramian.solvers.box_qp import box_dual, narrow_dual
from gramian.solvers.interior_point import Narrow, Whole, interior_point


class Matrix:
    """A matrix that exists, as the solver wants to see it."""

    def __init__(self, K):
        self.K, self.n = K, len(K)

    def diagonal(self):
        return self.K.diagonal()

    def block(self, chosen, out):
        out[...] = self.K[np.ix_(chosen, chosen)]
        return out

    def product(self, chosen, V, dtype):
        return self.K[:, chosen] @ V


def problem(rng, n, flip=0.1):
    X = rng.standard_normal((n, 4))
    y = np.where(X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) > 0, 1.0, -1.0)
    y[rng.random(n) < flip] *= -1
    return X, y[:, None]


def value(K, y, b):
    return np.abs(b).sum() - 0.5 * b @ K @ b


def by_another_optimiser(K, y, C):
    """The same maximum by SciPy's bounded quasi-Newton method, started anew from its own end until it stays."""
    Q, a = K * np.outer(y, y), np.zeros(len(y))
    for _ in range(3):
        a = minimize(
            lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1),
            a,
            jac=True,
            bounds=[(0, c) for c in C],
            method="L-BFGS-B",
            options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-16, "gtol": 1e-9, "maxcor": 30},
        ).x
    return a.sum() - 0.5 * a @ Q @ a


@pytest.mark.parametrize("C", [0.1, 1.0, 50.0])
@pytest.mark.parametrize("kernel", [RBF(sigma=1.0), Laplacian(gamma=0.5), Polynomial(degree=2)], ids=str)
def test_the_maximum_is_that_of_another_optimiser(kernel, C, rng):
    X, y = problem(rng, 60)
    K, bounds = kernel(X), C * rng.uniform(0.5, 1.5, (60, 1))
    found = box_dual(Matrix(K), y, bounds, tol=1e-4)
    assert found.converged
    assert found.violation.max() <= 1e-4
    assert (np.abs(found.coefficients) <= bounds).all()
    assert (found.coefficients * y >= 0).all()
    assert_allclose(found.gradient[:, 0], K @ found.coefficients[:, 0] - y[:, 0], atol=1e-9)
    assert_allclose(value(K, y, found.coefficients[:, 0]), by_another_optimiser(K, y[:, 0], bounds[:, 0]), rtol=1e-6)


@pytest.mark.parametrize("C", [1.0, 20.0])
def test_memory_does_not_change_the_answer(C, rng):
    X, y = problem(rng, 2_200)
    matrix, bounds = KernelBlocks(RBF(sigma=1.0), X), np.full(y.shape, C)
    roomy = box_dual(matrix, y, bounds, tol=1e-4)
    with config(memory="6MB"):
        tight = box_dual(matrix, y, bounds, tol=1e-4)
    assert tight.largest < 1_000 < roomy.largest
    for found in (roomy, tight):
        assert found.converged
    values = [np.abs(f.coefficients).sum() - 0.5 * (f.coefficients * (f.gradient + y)).sum() for f in (roomy, tight)]
    assert_allclose(*values, rtol=1e-6)
    assert_allclose(roomy.gradient, tight.gradient, atol=0.02)


def test_single_precision_blocks_give_the_double_precision_answer(rng, monkeypatch):
    X, y = problem(rng, 600)
    matrix, bounds = Matrix(RBF(sigma=1.0)(X)), np.full(y.shape, 10.0)
    double = box_dual(matrix, y, bounds, tol=1e-6)
    monkeypatch.setattr(box_qp, "FLOAT64_MAX_ROWS", 100)
    single = box_dual(matrix, y, bounds, tol=1e-6)
    assert single.converged
    assert_allclose(single.gradient, double.gradient, atol=1e-5)


@pytest.mark.parametrize("C", [1.0, 1e6])
def test_the_gradient_that_steps_leave_is_that_of_the_matrix(C, rng):
    """Rows that have settled are left out, Newton steps end the search, and no product is made in between."""
    X, y = problem(rng, 700)
    signs = np.hstack([y, np.where(X[:, :1] > 0, 1.0, -1.0)])
    K, bounds = RBF(sigma=2.0)(X), np.full(signs.shape, C)
    found = box_dual(Matrix(K), signs, bounds, tol=1e-3)
    assert found.converged
    size = np.abs(K) @ np.abs(found.coefficients)
    assert (np.abs(found.gradient - (K @ found.coefficients - signs)) <= 1e-9 + 1e-13 * size).all()
    if C == 1.0:
        assert found.violation.max() <= 1e-9


def test_problems_solved_together_are_those_solved_alone(rng):
    X, y = problem(rng, 200)
    signs = np.hstack([y, np.where(X[:, :1] > 0, 1.0, -1.0), -y])
    matrix, bounds = Matrix(RBF(sigma=1.0)(X)), np.full(signs.shape, 2.0)
    together = box_dual(matrix, signs, bounds, tol=1e-6)
    for c in range(3):
        alone = box_dual(matrix, signs[:, [c]], bounds[:, [c]], tol=1e-6)
        assert_allclose(together.coefficients[:, [c]], alone.coefficients, atol=1e-6)
    assert_allclose(together.coefficients[:, 0], -together.coefficients[:, 2], atol=1e-6)


@pytest.mark.parametrize("C", [1.0, 1e5])
def test_interior_point_through_features_and_through_the_matrix(C, rng):
    Z = rng.standard_normal((80, 3))
    y = np.sign(Z[:, 0] + 0.5 * rng.standard_normal(80))
    scaled, bounds = Z * y[:, None], np.full(80, C)
    a, _ = interior_point(Narrow(scaled), bounds, lambda: None)
    b, _ = interior_point(Whole(scaled @ scaled.T), bounds, lambda: None)
    assert_allclose(a.sum() - 0.5 * np.sum((scaled.T @ a) ** 2), b.sum() - 0.5 * np.sum((scaled.T @ b) ** 2), rtol=1e-9)
    found = narrow_dual(Z, y[:, None], bounds[:, None], tol=1e-6)
    assert found.converged
    assert found.violation.max() <= 1e-6


def test_a_singular_matrix_is_no_obstacle(rng):
    X, y = problem(rng, 40)
    X, y = np.vstack([X] * 3), np.vstack([y] * 3)
    once = box_dual(Matrix(RBF(sigma=1.0)(X[:40])), y[:40], np.full((40, 1), 3.0), tol=1e-6)
    thrice = box_dual(Matrix(RBF(sigma=1.0)(X)), y, np.full((120, 1), 1.0), tol=1e-6)
    assert thrice.converged
    assert_allclose(thrice.gradient[:40], once.gradient, atol=1e-6)


def test_an_indefinite_matrix_ends_where_the_conditions_hold(rng):
    A = rng.standard_normal((60, 60))
    y = np.sign(rng.standard_normal((60, 1)))
    found = box_dual(Matrix((A + A.T) / 2), y, np.full((60, 1), 5.0), tol=1e-3)
    assert np.isfinite(found.coefficients).all()
    assert found.converged
    assert found.violation.max() <= 1e-3


def test_values_beyond_single_precision(rng):
    X, y = problem(rng, 2_100)
    found = box_dual(KernelBlocks(Polynomial(degree=2), 1e12 * X), y, np.full(y.shape, 1.0), tol=1e-3, max_steps=2_000)
    assert np.isfinite(found.gradient).all()
    assert found.coefficients.any()


def test_a_search_cut_short_says_so(rng):
    X, y = problem(rng, 2_100)
    found = box_dual(Matrix(RBF(sigma=1.0)(X)), y, np.full(y.shape, 100.0), tol=1e-6, max_steps=50)
    assert not found.converged
    assert "50 coordinate steps" in found.stopped
    assert found.violation.max() > 1e-6


def test_the_same_problem_gives_the_same_bits(rng):
    X, y = problem(rng, 2_500)
    matrix, bounds = KernelBlocks(RBF(sigma=1.0), X), np.full(y.shape, 1.0)
    first, second = (box_dual(matrix, y, bounds, tol=1e-3).coefficients for _ in range(2))
    assert (first == second).all()
