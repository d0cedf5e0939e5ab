"""Linear systems: every solver gives the same answer, and says how good it is."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from gramian import config
from gramian.kernels import RBF, Laplacian, Sigmoid, ThinPlateSpline
from gramian.operators import Dense, Gram
from gramian.operators.centering import ProjectedGram
from gramian.solvers.conjugate import ConjugateGradients, Factored, LowRank
from gramian.solvers.dense import CHOLESKY_TILE, CholeskyFactor, NotPositive
from gramian.solvers.linear_methods import Cholesky, MinimalResiduals
from gramian.solvers.linear_systems import choose_linear_solver, solve

ROUTES = [
    Cholesky(),
    ConjugateGradients(),
    ConjugateGradients(mixed=False),
    ConjugateGradients(rank=0),
    ConjugateGradients(factor=True),
    MinimalResiduals(),
]


@pytest.fixture
def points(rng):
    X = rng.standard_normal((700, 4))
    X.setflags(write=False)
    return X


@pytest.fixture
def sides(rng, points):
    B = np.column_stack([np.sin(points[:, 0]), rng.standard_normal(700), np.zeros(700), 1e6 * points[:, 1]])
    B.setflags(write=False)
    return B


class TestCholeskyFactor:
    @pytest.mark.parametrize("n", [1, CHOLESKY_TILE - 1, CHOLESKY_TILE, 2 * CHOLESKY_TILE + 3])
    def test_it_is_the_factor(self, rng, n):
        A = rng.standard_normal((n, n))
        A = A @ A.T + n * np.eye(n)
        factor = CholeskyFactor(A.copy())
        assert_allclose(np.tril(factor.L), np.linalg.cholesky(A), atol=1e-12 * np.abs(A).max())
        B = rng.standard_normal((n, 3))
        assert_allclose(A @ factor.solve(B), B, atol=1e-10)
        assert_allclose(factor.inverse_diagonal(), np.linalg.inv(A).diagonal(), rtol=1e-10)

    def test_threads_do_not_change_a_bit(self, rng):
        A = rng.standard_normal((900, 900))
        A = A @ A.T + 900 * np.eye(900)
        factors = []
        for threads in (1, 2, 3):
            with config(threads=threads):
                factors.append(np.tril(CholeskyFactor(A.copy()).L))
        assert factors[0].tobytes() == factors[1].tobytes() == factors[2].tobytes()

    def test_what_is_not_positive_is_refused(self):
        A = np.eye(600)
        A[550, 550] = -1
        with pytest.raises(NotPositive, match="600 rows"):
            CholeskyFactor(A)


class TestAgreement:
    @pytest.mark.parametrize("kernel", [RBF(sigma=1.5), Laplacian(gamma=0.3), RBF(sigma=0.1)], ids=str)
    @pytest.mark.parametrize("route", ROUTES, ids=str)
    def test_every_route_solves_every_side(self, points, sides, kernel, route):
        gram = Gram(kernel, points)
        found = solve(gram, sides, 0.1, route)
        A = kernel(points) + 0.1 * np.eye(700)
        assert found.trace.converged
        sizes = np.linalg.norm(sides, axis=0)
        errors = np.linalg.norm(A @ found.solution - sides, axis=0)
        assert (errors <= 1.1e-6 * sizes).all()
        assert_allclose(found.residuals, errors / np.where(sizes > 0, sizes, 1), atol=1e-9)
        assert (found.solution[:, 2] == 0).all()

    @pytest.mark.parametrize("route", ROUTES, ids=str)
    def test_weights_and_projection(self, points, sides, rng, route):
        kernel, roots = RBF(sigma=1.5), np.sqrt(rng.uniform(0.1, 3, 700))
        Q = np.linalg.qr(np.column_stack([roots, roots * points[:, 0]]))[0]
        operator = ProjectedGram(Gram(kernel, points), roots, Q, positive=True)
        P = np.eye(700) - Q @ Q.T
        A = P @ (roots[:, None] * kernel(points) * roots) @ P
        assert_allclose(operator.toarray(), A, atol=1e-12)
        assert_allclose(operator.diagonal(), A.diagonal(), atol=1e-12)
        assert_allclose(operator.columns(np.array([3, 5])), A[:, [3, 5]], atol=1e-12)
        found = solve(operator, P @ sides, 0.5, route, null=Q)
        expected = np.linalg.solve(A + 0.5 * np.eye(700), P @ sides)
        assert_allclose(found.solution, expected, atol=2e-5 * np.abs(expected).max(axis=0).max())
        assert_allclose(Q.T @ found.solution, 0, atol=1e-8 * np.abs(expected).max())

    @pytest.mark.parametrize("route", [Cholesky(), ConjugateGradients(), MinimalResiduals()], ids=str)
    def test_a_spline_is_positive_once_projected(self, rng, route):
        X = rng.uniform(-1, 1, (500, 2))
        Q = np.linalg.qr(np.column_stack([np.ones(500), X]))[0]
        operator = ProjectedGram(Gram(ThinPlateSpline(), X), None, Q, positive=True)
        assert np.linalg.eigvalsh(operator.toarray()).min() > -1e-10
        B = operator.free(rng.standard_normal((500, 2)))
        found = solve(operator, B, 0.1, route, null=Q)
        assert_allclose(found.solution, np.linalg.solve(operator.toarray() + 0.1 * np.eye(500), B), atol=1e-4)
        assert found.n_negative == 0

    @pytest.mark.parametrize("route", ["cholesky", "minres", "cg"])
    def test_indefinite_matrices_are_solved_and_said(self, rng, route):
        U = np.linalg.qr(rng.standard_normal((300, 300)))[0]
        values = np.concatenate([-np.linspace(1, 5, 20), np.linspace(0, 9, 280)])
        A = Dense(U * values @ U.T, positive=False)
        B = rng.standard_normal((300, 2))
        found = solve(A, B, 0.37, route)
        assert (found.residuals < 1e-5).all()
        assert found.n_negative == (20 if route == "cholesky" else 1)
        assert found.counted == (route == "cholesky")
        assert_allclose(found.most_negative, 5, rtol=0.02)
        assert found.trace.solver == ("eigenvalues" if route == "cholesky" else "minres")

    def test_a_positive_sum_may_hide_an_indefinite_kernel(self, rng):
        X = rng.standard_normal((200, 3))
        found = solve(Gram(Sigmoid(), X), X, 300.0, "cholesky")
        assert found.trace.solver == "cholesky"
        values = np.linalg.eigvalsh(Sigmoid()(X))
        assert found.n_negative == (values < -0.03).sum() > 0

    @pytest.mark.parametrize("positive", [True, False])
    def test_singular_systems_get_least_squares_of_least_norm(self, rng, positive):
        F = rng.standard_normal((120, 30))
        A, B = F @ F.T, rng.standard_normal((120, 3))
        found = solve(Dense(A, positive=positive), B, 0.0)
        assert_allclose(found.solution, np.linalg.pinv(A, rcond=1e-10) @ B, atol=1e-9)
        assert found.singular
        assert found.rank == 30
        assert (found.residuals < 1e-12).all()
        assert found.n_negative == 0

    def test_singular_systems_by_products(self, rng):
        F = rng.standard_normal((120, 30))
        A, B = F @ F.T, rng.standard_normal((120, 3))
        found = solve(Dense(A, positive=True), B, 0.0, "minres")
        assert found.singular
        assert found.trace.converged
        assert_allclose(A @ found.solution, A @ np.linalg.pinv(A, rcond=1e-10) @ B, atol=1e-5)
        assert (found.residuals < 1e-6).all()


class TestIteration:
    def test_deleting_a_row_is_what_it_says(self, points, sides):
        A = RBF(sigma=1.5)(points) + 0.1 * np.eye(700)
        found = solve(Gram(RBF(sigma=1.5), points), sides, 0.1, "cholesky")
        for i in (0, 300, 699):
            others = np.delete(np.arange(700), i)
            left = sides[i] - A[i, others] @ np.linalg.solve(A[np.ix_(others, others)], sides[others])
            assert_allclose(found.deleted[i], left, rtol=1e-8, atol=1e-10)

    def test_each_preconditioner_is_near_the_inverse(self, points):
        gram = Gram(RBF(sigma=1.5), points[:300])
        A = gram.toarray() + 0.01 * np.eye(300)
        plain = np.linalg.cond(A)
        for M in (LowRank(gram, 0.01, 100, np.random.default_rng(0)), Factored(gram, 0.01)):
            inverse = M @ np.eye(300)
            values = scipy.linalg.eigvals(inverse @ A).real
            assert values.min() > 0
            assert values.max() / values.min() < plain / 100

    @pytest.mark.slow
    def test_a_factor_takes_over_where_the_iteration_is_slow(self, points, sides, monkeypatch):
        monkeypatch.setattr("gramian.solvers.conjugate.FACTOR_ROWS_PER_PRODUCT", 30)
        gram = Gram(RBF(sigma=1.0), points)
        quick = solve(gram, sides, 10.0, ConjugateGradients(rank=60))
        slow = solve(gram, sides, 1e-3, ConjugateGradients(rank=60))
        assert "float32" not in quick.trace.products.split("preconditioned")[1]
        assert "then a Cholesky factor in float32" in slow.trace.products
        assert (slow.residuals <= 1e-6).all()
        with config(memory="1MB"):  # no room for the factor
            assert "then" not in solve(gram, sides, 1e-3, ConjugateGradients(rank=60)).trace.products

    @pytest.mark.parametrize("route", [ConjugateGradients(max_iter=3, rank=0), MinimalResiduals(max_iter=3)], ids=str)
    def test_stopping_early_is_said(self, points, sides, route):
        found = solve(Gram(RBF(sigma=1.5), points), sides, 1e-4, route)
        assert not found.trace.converged
        assert "max_iter=3" in found.trace.stopped
        assert found.residuals.max() > 1e-6
        assert np.isfinite(found.solution).all()

    @pytest.mark.slow
    def test_a_tolerance_below_rounding_ends(self, points, sides):
        found = solve(Gram(RBF(sigma=1.5), points), sides, 1e-3, ConjugateGradients(tol=1e-18, factor=False))
        assert not found.trace.converged
        assert found.residuals.max() < 1e-9

    @pytest.mark.parametrize("size", [1e-200, 1e200])
    def test_the_unit_of_the_targets_does_not_matter(self, points, sides, size):
        gram = Gram(RBF(sigma=1.5), points)
        plain, scaled = (solve(gram, sides * s, 0.1, "cg") for s in (1.0, size))
        errors = np.abs(scaled.solution / size - plain.solution).max(axis=0)
        assert (errors <= 1e-5 * np.abs(plain.solution).max(axis=0)).all()

    def test_same_input_same_bits(self, points, sides):
        gram = Gram(RBF(sigma=1.5), points)
        first, second = (solve(gram, sides, 0.1, "cg").solution for _ in range(2))
        assert first.tobytes() == second.tobytes()

    def test_progress_is_reported(self, points, sides):
        seen = []
        with config(progress=seen.append):
            solve(Gram(RBF(sigma=1.5), points), sides, 0.1, "cg")
        assert seen
        assert all(p.task == "linear system" and p.done <= p.expected for p in seen)


class TestChoice:
    def test_by_size_and_definiteness(self, rng):
        def route(n, kernel, shift):
            return choose_linear_solver(Gram(kernel, np.zeros((n, 1))), shift, "auto")[0].name

        assert route(500, RBF(sigma=1.0), 1.0) == "cholesky"
        assert route(5_000, RBF(sigma=1.0), 1.0) == "cg"
        assert route(200_000, RBF(sigma=1.0), 1.0) == "cg"
        assert route(3_500, RBF(sigma=1.0), 0.0) == "cholesky"
        assert route(200_000, RBF(sigma=1.0), 0.0) == "minres"
        assert route(200_000, Sigmoid(), 1.0) == "minres"
        with config(memory="1MB"):
            assert route(1_000, RBF(sigma=1.0), 1.0) == "cg"

    def test_refusals(self):
        gram = Gram(RBF(sigma=1.0), np.zeros((20_000, 1)))
        with pytest.raises(ValueError, match=r"solver='cholesky' needs 3.2 GB.*solver='auto'"):
            choose_linear_solver(gram, 1.0, "cholesky")
        with pytest.raises(ValueError, match=r"solver='lu' is not known. Use one of: auto, cholesky, cg, minres"):
            choose_linear_solver(gram, 1.0, "lu")
