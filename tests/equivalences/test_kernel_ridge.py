"""Kernel ridge against its other forms: primal, dual, by products, repeated rows, rows left out, other libraries."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.kernel_ridge import KernelRidge as Theirs
from sklearn.linear_model import Ridge

import gramian
from gramian import KernelRidge, config
from gramian.kernels import RBF, ThinPlateSpline
from gramian.solvers.conjugate import ConjugateGradients

KERNELS = [
    "rbf(sigma=3)",
    "laplacian(gamma=0.1)",
    "polynomial(degree=2)",
    "matern(length_scale=4)",
    "2*rbf(sigma=2) + linear",
]


@pytest.fixture
def targets(rng, table):
    Y = np.column_stack([np.sin(table[:, 0]), table[:, 1] * table[:, 2], rng.standard_normal(200) + 5])
    Y.setflags(write=False)
    return Y


@pytest.fixture
def weights(rng):
    return rng.uniform(0.1, 3.0, 200)


@pytest.fixture
def counts(rng):
    return rng.integers(0, 4, 200)


class TestLinear:
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("solver", ["auto", "primal", "cholesky", "cg", "minres"])
    def test_it_is_ridge_regression(self, table, targets, weights, intercept, weighted, solver):
        w = weights if weighted else None
        model = KernelRidge(0.7, kernel="linear", fit_intercept=intercept, solver=solver)
        model.fit(table, targets, sample_weight=w)
        ridge = Ridge(0.7, fit_intercept=intercept).fit(table, targets, sample_weight=w)
        tolerance = 1e-9 if solver in ("auto", "primal", "cholesky") else 1e-5
        assert_allclose(table.T @ model.dual_coef_, ridge.coef_.T, atol=100 * tolerance)
        assert_allclose(model.intercept_, ridge.intercept_, atol=100 * tolerance)
        assert_allclose(model.predict(table), ridge.predict(table), rtol=tolerance, atol=10 * tolerance)

    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_primal_is_dual(self, table, targets, counts, intercept, weighted):
        w = counts if weighted else None
        primal, dual = (
            KernelRidge(0.3, kernel="linear", fit_intercept=intercept, solver=solver).fit(table, targets, w)
            for solver in ("primal", "cholesky")
        )
        assert primal.summary_.facts["solver"] == "primal"
        assert_allclose(primal.dual_coef_, dual.dual_coef_, atol=1e-9)
        assert_allclose(primal.intercept_, dual.intercept_, atol=1e-9)
        assert_allclose(primal.leave_one_out_, dual.leave_one_out_, atol=1e-9)

    def test_wide_tables_take_the_dual(self, rng):
        X, y = rng.standard_normal((30, 100)), rng.standard_normal(30)
        model = KernelRidge(0.5, kernel="linear", fit_intercept=True).fit(X, y)
        assert model.summary_.facts["solver"] == "cholesky"
        assert_allclose(model.predict(X), Ridge(0.5).fit(X, y).predict(X), atol=1e-10)

    def test_a_tall_table_needs_no_gram_matrix(self, rng):
        X = rng.standard_normal((60_000, 5))
        with config(memory="20MB"):
            model = KernelRidge(1.0, kernel="linear", fit_intercept=True).fit(X, X @ np.arange(5.0) + 2)
        assert model.summary_.facts["solver"] == "primal"
        assert_allclose(model.intercept_, 2, atol=1e-3)
        assert model.leave_one_out_.shape == (60_000,)

    def test_far_from_the_origin(self, table, targets):
        near, far = (
            KernelRidge(0.1, kernel="linear", fit_intercept=True).fit(table + shift, targets).predict(table + shift)
            for shift in (0.0, 1e6)
        )
        assert_allclose(near, far, atol=1e-6)

    def test_without_a_ridge_it_is_least_squares_of_least_norm(self, table, targets):
        X = np.column_stack([table[:, :4], table[:, 0] + table[:, 1]])
        for solver in ("primal", "cholesky"):
            with pytest.warns(gramian.RankWarning, match="rank 4"):
                model = KernelRidge(0, kernel="linear", solver=solver).fit(X, targets)
            expected = np.linalg.lstsq(X, targets, rcond=None)[0]
            assert_allclose(X.T @ model.dual_coef_, expected, atol=1e-8)
            assert_allclose(model.predict(X), X @ expected, atol=1e-9)

    def test_squaring_the_table_costs_no_digits(self, rng):
        U, V = (np.linalg.qr(rng.standard_normal(shape))[0] for shape in ((300, 6), (6, 6)))
        X = U * np.geomspace(1, 1e-6, 6) @ V.T
        y = X @ np.arange(1.0, 7)
        assert_allclose(KernelRidge(0, kernel="linear").fit(X, y).function_.weights[:, 0], np.arange(1, 7), rtol=1e-7)


class TestScikitLearn:
    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("solver", ["cholesky", "cg"])
    def test_rbf(self, table, targets, weights, weighted, solver):
        w = weights if weighted else None
        ours = KernelRidge(0.2, kernel=RBF(gamma=0.05), solver=solver).fit(table, targets, sample_weight=w)
        theirs = Theirs(0.2, kernel="rbf", gamma=0.05).fit(table, targets, sample_weight=w)
        tolerance = 1e-9 if solver == "cholesky" else 2e-5
        assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=tolerance * np.abs(theirs.dual_coef_).max())
        assert_allclose(ours.predict(table + 0.1), theirs.predict(table + 0.1), atol=10 * tolerance)
        assert_allclose(ours.score(table, targets), theirs.score(table, targets), atol=1e-6)

    def test_one_target_is_one_dimensional(self, table, targets):
        ours = KernelRidge(0.2, kernel=RBF(gamma=0.05)).fit(table, targets[:, 0])
        theirs = Theirs(0.2, kernel="rbf", gamma=0.05).fit(table, targets[:, 0])
        assert ours.dual_coef_.shape == ours.leave_one_out_.shape == (200,)
        assert isinstance(ours.intercept_, float)
        assert_allclose(ours.predict(table[:7]), theirs.predict(table[:7]), atol=1e-10)


class TestRoutes:
    @pytest.mark.parametrize("kernel", KERNELS)
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("solver", ["cg", "minres", ConjugateGradients(factor=True)], ids=str)
    def test_products_and_factorisation_agree(self, table, targets, weights, kernel, intercept, solver):
        exact, iterated = (
            KernelRidge(0.5, kernel=kernel, fit_intercept=intercept, solver=s).fit(table, targets, weights)
            for s in ("cholesky", solver)
        )
        assert iterated.summary_.facts["converged"]
        assert max(iterated.summary_.facts["residuals"]) <= 1e-6
        assert_allclose(iterated.predict(table), exact.predict(table), atol=2e-5)

    @pytest.mark.parametrize("kernel", [*KERNELS, "thin_plate_spline"])
    @pytest.mark.parametrize("intercept", [False, True])
    def test_the_equations_hold(self, table, targets, weights, kernel, intercept):
        model = KernelRidge(0.5, kernel=kernel, fit_intercept=intercept).fit(table, targets, weights)
        K, a = model.kernel_(table), model.dual_coef_
        T = model.kernel_.polynomial(table)
        if T is None:
            T = np.ones((200, 1)) if intercept else np.zeros((200, 1))
            b = model.intercept_[None, :]
        else:
            b = model.polynomial_coef_
        size = np.abs(K).max() * np.abs(a).max()
        assert_allclose(K @ a + 0.5 * a / weights[:, None] + T @ b, targets, atol=1e-9 * size)
        assert_allclose(T.T @ a, 0, atol=1e-9 * size)

    def test_memory_and_threads_change_nothing(self, table, targets):
        def fit(**settings):
            with config(**settings):
                return KernelRidge(0.1, kernel="rbf(sigma=3)", fit_intercept=True).fit(table, targets)

        plain = fit()
        assert plain.summary_.facts["solver"] == "cholesky"
        small = fit(memory="300kB")
        assert small.summary_.facts["solver"] == "cg"
        assert_allclose(small.predict(table), plain.predict(table), atol=1e-5)
        for threads in (1, 3):
            assert_allclose(fit(threads=threads).predict(table), plain.predict(table), atol=1e-10)

    def test_same_input_same_bits(self, table, targets):
        for solver in ("cholesky", "cg"):
            model = KernelRidge(0.1, solver=solver)
            assert model.fit(table, targets).predict(table).tobytes() == (
                model.fit(table, targets).predict(table).tobytes()
            )

    @pytest.mark.slow
    def test_a_matrix_that_does_not_fit_is_not_formed(self, rng):
        X = rng.standard_normal((4_500, 3))
        y = np.sin(X[:, 0]) + 1
        with config(memory="60MB"):
            model = KernelRidge(1.0, kernel="rbf(sigma=1.5)", fit_intercept=True).fit(X, y)
        assert model.summary_.facts["solver"] == "cg"
        assert "162 MB" in model.summary_.facts["reason"]
        small = slice(0, 50)
        K = model.kernel_(X[small], X)
        f = K @ model.dual_coef_ + model.intercept_
        assert_allclose(f + model.dual_coef_[small], y[small], atol=1e-4)
        with pytest.raises(AttributeError, match=r"the cg solver does not compute.*solver='cholesky'"):
            _ = model.leave_one_out_


class TestKernels:
    def test_precomputed_and_callable_are_the_kernel(self, table, targets, counts):
        kernel = RBF(sigma=3.0)
        plain = KernelRidge(0.1, kernel=kernel, fit_intercept=True).fit(table, targets, counts)
        given = KernelRidge(0.1, kernel="precomputed", fit_intercept=True).fit(kernel(table), targets, counts)
        called = KernelRidge(0.1, kernel=lambda A, B: kernel(A, B), fit_intercept=True).fit(table, targets, counts)
        new = table[:20] + 0.2
        assert_allclose(given.predict(kernel(new, table)), plain.predict(new), atol=1e-8)
        assert_allclose(called.predict(new), plain.predict(new), atol=1e-8)
        assert_allclose(given.leave_one_out_, plain.leave_one_out_, atol=1e-8)

    @pytest.mark.parametrize("kernel", ["rbf(sigma=3)", "linear", "polynomial", "thin_plate_spline"])
    def test_sparse_is_dense(self, table, targets, weights, kernel):
        X = np.where(table > 3, table, 0.0)
        model = KernelRidge(0.1, kernel=kernel, fit_intercept=True)
        dense = model.fit(X, targets, weights).predict(X)
        assert_allclose(model.fit(sp.csr_array(X), targets, weights).predict(sp.csr_array(X)), dense, atol=1e-8)

    def test_single_precision_rows(self, table, targets):
        narrow = table.astype(np.float32)
        for solver in ("cholesky", "cg"):
            model = KernelRidge(0.1, kernel="rbf(sigma=3)", solver=solver)
            wide = model.fit(narrow.astype(np.float64), targets).predict(narrow.astype(np.float64))
            assert_allclose(model.fit(narrow, targets).predict(narrow), wide, atol=1e-6)

    def test_indefinite_kernels_are_solved_with_a_warning(self, table, targets):
        with pytest.warns(gramian.IndefiniteKernelWarning, match="negative eigenvalues") as caught:
            model = KernelRidge(0.5, kernel="sigmoid(constant=1)", fit_intercept=True).fit(table - 3, targets)
        assert len(caught) == 1
        K, a = model.kernel_(table - 3), model.dual_coef_
        assert_allclose(K @ a + 0.5 * a + model.intercept_, targets, atol=1e-7)
        assert max(model.summary_.facts["residuals"]) < 1e-8
        assert model.summary_.facts["n_negative"] > 0


class TestSpline:
    @pytest.mark.parametrize("ridge", [0.0, 1e-3, 1.0, 1e6])
    @pytest.mark.parametrize("solver", ["cholesky", "cg", "minres"])
    def test_affine_functions_are_fitted_exactly(self, rng, ridge, solver):
        X = rng.uniform(-2, 2, (150, 3))
        y = X @ np.array([1.0, -2.0, 0.5]) + 4
        model = KernelRidge(ridge, kernel="thin_plate_spline", solver=solver).fit(X, y)
        new = rng.uniform(-5, 5, (40, 3))
        assert_allclose(model.predict(new), new @ np.array([1.0, -2.0, 0.5]) + 4, atol=1e-9)
        assert_allclose(model.polynomial_coef_, [4, 1, -2, 0.5], atol=1e-9)

    def test_without_a_ridge_it_interpolates(self, rng):
        X = rng.uniform(-2, 2, (150, 2))
        y = np.sin(3 * X[:, 0]) * X[:, 1]
        model = KernelRidge(0, kernel="thin_plate_spline").fit(X, y)
        assert_allclose(model.predict(X), y, atol=1e-8)

    def test_the_unit_of_length_cancels(self, rng):
        X, y = rng.uniform(-2, 2, (150, 2)), rng.standard_normal(150)
        first, second = (KernelRidge(0.1, kernel=ThinPlateSpline(c=c)).fit(X, y) for c in (1.0, 7.0))
        assert_allclose(first.predict(X + 0.1), second.predict(X + 0.1), atol=1e-8)

    def test_by_products_it_is_the_same(self, rng):
        X, y = rng.uniform(-2, 2, (800, 2)), rng.standard_normal((800, 2))
        exact, products = (KernelRidge(0.5, kernel="thin_plate_spline", solver=s).fit(X, y) for s in ("cholesky", "cg"))
        assert_allclose(products.predict(X), exact.predict(X), atol=1e-4)

    def test_bending_energy_is_what_is_penalised(self, rng):
        """The fit minimises residuals plus the energy a'Ka over coefficients with T'a = 0."""
        X, y = rng.uniform(-2, 2, (60, 2)), rng.standard_normal(60)
        model = KernelRidge(0.3, kernel="thin_plate_spline").fit(X, y)
        K, T = model.kernel_(X), np.column_stack([np.ones(60), X])

        def objective(a, b):
            return np.sum((y - K @ a - T @ b) ** 2) + 0.3 * a @ K @ a

        least = objective(model.dual_coef_, model.polynomial_coef_)
        for _ in range(20):
            a = rng.standard_normal(60) * 1e-2
            a -= T @ np.linalg.lstsq(T, a, rcond=None)[0]
            b = rng.standard_normal(3) * 1e-2
            assert objective(model.dual_coef_ + a, model.polynomial_coef_ + b) > least


class TestWeights:
    @pytest.mark.parametrize("kernel", ["rbf", "linear", "thin_plate_spline", "rbf(gamma=scale) + linear"])
    @pytest.mark.parametrize("intercept", [False, True])
    def test_a_weight_repeats_its_row(self, table, targets, counts, kernel, intercept):
        model = KernelRidge(0.4, kernel=kernel, fit_intercept=intercept)
        weighted = model.fit(table, targets, sample_weight=counts)
        predictions, dual = weighted.predict(table), weighted.dual_coef_
        repeated = model.fit(np.repeat(table, counts, axis=0), np.repeat(targets, counts, axis=0))
        assert_allclose(predictions, repeated.predict(table), atol=1e-8)
        place = np.repeat(np.arange(200), counts)
        summed = np.stack([np.bincount(place, column, minlength=200) for column in repeated.dual_coef_.T], axis=1)
        assert_allclose(dual, summed, atol=1e-7 * np.abs(dual).max())

    def test_equal_weights_divide_the_ridge(self, table, targets):
        weighted = KernelRidge(0.4, kernel="rbf(sigma=3)").fit(table, targets, sample_weight=np.full(200, 4.0))
        plain = KernelRidge(0.1, kernel="rbf(sigma=3)").fit(table, targets)
        assert_allclose(weighted.predict(table), plain.predict(table), atol=1e-10)
