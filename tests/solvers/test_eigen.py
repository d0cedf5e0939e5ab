"""The front door: who solves and why, and what order, sign, rank and certificate mean."""

import importlib

import numpy as np
import pytest
from numpy.testing import assert_allclose

import gramian
from gramian.lapack import orient
from gramian.operators import Dense as Matrix
from gramian.operators import Outline
from gramian.results import SolverTrace
from gramian.solvers import Krylov, Power, eigen
from gramian.solvers.eigen import Raw, arrange, choose_eigen_solver, null_tolerance, residuals

EPS = np.finfo(np.float64).eps
TRACE = SolverTrace("test", "as asked")
door = importlib.import_module("gramian.solvers.eigen")  # the package calls the function by the module's name


@pytest.fixture(autouse=True)
def _ample_memory():
    with gramian.config(memory="100GB"):
        yield


class Stub:
    """A solver that answers with unit vectors, and remembers what it was asked."""

    name = "stub"
    settles = False

    def solve(self, operator, k, rng):
        self.asked, self.drawn = k, rng.random()
        V = np.eye(operator.n, k)
        return Raw(np.arange(k, 0.0, -1), V, "3 products", converged=self.settles, stopped="tired", image=V)


class TestChoice:
    @pytest.mark.parametrize(
        ("n", "k", "positive", "name", "reason"),
        [
            (500, 1, True, "dense", "a 500 x 500 matrix is small"),
            (501, 50, True, "krylov", "for 50 of 501 components a few products are quicker than a factorisation"),
            (501, 51, True, "dense", "51 of 501 components are many"),
            (2000, 5, False, "dense", "the whole spectrum tells how indefinite the kernel is"),
            (2000, 5, True, "krylov", "for 5 of 2,000"),
            (2001, 5, False, "krylov", "for 5 of 2,001"),
            (10_000, 5, True, "krylov", "for 5 of 10,000"),
            (10_000, 1001, True, "dense", "are many"),
            (10_001, 1001, True, "krylov", "matrix-free: the 10,001 x 10,001 matrix would take 800 MB"),
        ],
    )
    def test_auto_goes_by_size_and_number(self, n, k, positive, name, reason):
        chosen, why = choose_eigen_solver(Outline(n, positive), k, "auto")
        assert chosen.name == name
        assert why.startswith(reason) or why.endswith(reason)
        assert "budget" not in why

    @pytest.mark.parametrize(("n", "k"), [(100, 50), (1000, 500), (1500, 3)])
    def test_a_matrix_three_times_must_fit_the_budget(self, n, k):
        with gramian.config(memory=24 * n**2):
            assert choose_eigen_solver(Outline(n, False), k, "auto")[0].name == "dense"
            assert choose_eigen_solver(Outline(n), k, "dense")[0].name == "dense"
        with gramian.config(memory=24 * n**2 - 1):
            chosen, why = choose_eigen_solver(Outline(n, False), k, "auto")
            assert chosen.name == "krylov"
            assert ", the budget is " in why
            with pytest.raises(ValueError, match=r"solver='dense' needs .* Use solver='auto'"):
                choose_eigen_solver(Outline(n), k, "dense")

    def test_the_budget_is_named_only_where_it_is_to_blame(self):
        with gramian.config(memory=24 * 20_000**2):
            assert "budget" not in choose_eigen_solver(Outline(20_000), 5, "auto")[1]
        with gramian.config(memory=24 * 20_000**2 - 1):
            assert "budget" in choose_eigen_solver(Outline(20_000), 5, "auto")[1]

    def test_dense_asked_for_beyond_its_limit_is_refused(self):
        assert choose_eigen_solver(Outline(10_000), 5, "dense")[0].name == "dense"
        with pytest.raises(ValueError, match=r"needs 2.4 GB for a 10,001 x 10,001 matrix .* largest n 10,000"):
            choose_eigen_solver(Outline(10_001), 5, "dense")

    def test_what_is_asked_for_is_taken(self):
        mine = Power(max_iter=7)
        assert choose_eigen_solver(Outline(10), 2, mine) == (mine, "as asked")
        for name in ("power", "randomized", "krylov"):
            chosen, why = choose_eigen_solver(Outline(50_000), 2, name)
            assert (chosen.name, why) == (name, "as asked")
        with pytest.raises(ValueError, match=r"solver='lanczos' is not known. Use one of: auto, dense, krylov"):
            choose_eigen_solver(Outline(10), 2, "lanczos")

    @pytest.mark.parametrize("solver", ["auto", "krylov"])
    def test_single_precision_is_for_products_it_makes_cheaper(self, solver):
        assert choose_eigen_solver(Outline(5000, narrow_pays=True), 3, solver)[0] == Krylov()
        wide = choose_eigen_solver(Outline(5000, narrow_pays=False), 3, solver)[0]
        assert wide == Krylov(tol=1e-10, extra=6, mixed=False)


class TestFrontDoor:
    def test_no_more_pairs_are_asked_for_than_rows(self):
        for k, asked in ((9, 4), (3, 3)):
            solver = Stub()
            eigen(Matrix(np.eye(4), positive=True), k, solver)
            assert solver.asked == asked

    def test_starting_vectors_are_the_same_unless_a_source_is_given(self):
        one, two, other = Stub(), Stub(), Stub()
        eigen(Matrix(np.eye(4), positive=True), 2, one)
        eigen(Matrix(np.eye(4), positive=True), 2, two, np.random.default_rng(0))
        eigen(Matrix(np.eye(4), positive=True), 2, other, np.random.default_rng(5))
        assert one.drawn == two.drawn != other.drawn

    @pytest.mark.parametrize("n", [4000, 4001])
    def test_an_iteration_that_does_not_settle_gives_way_to_a_dense_solution_while_that_is_quick(self, n, monkeypatch):
        class Dense(Stub):
            name, settles = "dense", True

        monkeypatch.setattr(door, "Dense", Dense)
        monkeypatch.setattr(door, "_krylov", lambda operator, most=0: Stub())
        operator = Matrix(np.broadcast_to(0.0, (n, n)), positive=True)
        trace = eigen(operator, 2).trace
        if n == 4000:
            assert trace == SolverTrace("dense", "stub did not settle in 3 products", "3 products", True, "tired")
        else:
            assert (trace.solver, trace.converged) == ("stub", False)

    def test_neither_a_solver_asked_for_nor_one_that_settles_is_replaced(self, monkeypatch):
        operator = Matrix(np.diag(np.arange(600.0)), positive=True)
        assert eigen(operator, 2, Stub()).trace.solver == "stub"
        settled = Stub()
        settled.settles = True
        monkeypatch.setattr(door, "_krylov", lambda operator, most=0: settled)
        assert eigen(operator, 2).trace.solver == "stub"

    def test_there_is_no_way_out_into_a_matrix_that_does_not_fit(self, monkeypatch):
        monkeypatch.setattr(door, "_krylov", lambda operator, most=0: Stub())
        with gramian.config(memory="1MB"):
            assert eigen(Matrix(np.diag(np.arange(600.0)), positive=True), 2).trace.solver == "stub"


class TestOrder:
    A = np.diag([1.0, 5.0, -2.0, 3.0, 1e-20])

    def arranged(self, k, **more):
        return arrange(Matrix(self.A, positive=False), Raw(np.diag(self.A), np.eye(5), "", **more), k, TRACE)

    def test_values_fall_and_only_positive_ones_are_kept(self):
        found = self.arranged(5)
        assert found.values.tolist() == [5.0, 3.0, 1.0]
        assert np.array_equal(found.vectors, np.eye(5)[:, [1, 3, 0]])
        assert found.residuals.tolist() == [0.0, 0.0, 0.0]
        assert found.trace is TRACE
        assert self.arranged(2).values.tolist() == [5.0, 3.0]

    def test_negative_ones_are_counted_with_those_met_on_the_way(self):
        assert (self.arranged(1).n_negative, self.arranged(1).most_negative) == (1, 2.0)
        met = self.arranged(1, others=np.array([-7.0, 0.5, -1e-19]))
        assert (met.n_negative, met.most_negative) == (2, 7.0)

    @pytest.mark.parametrize(("positive", "told"), [(True, (2, 7.0)), (False, (4, 7.0))])
    def test_of_a_positive_matrix_negative_ones_within_its_rounding_are_not(self, positive, told):
        class Coarse(Matrix):
            rounding = 2.0

        raw = Raw(np.diag(self.A), np.eye(5), "", others=np.array([-7.0, -2.5, -1.5]))
        found = arrange(Coarse(self.A, positive=positive), raw, 1, TRACE)
        assert (found.n_negative, found.most_negative) == told

    def test_without_negative_ones_none_is_reported(self):
        raw = Raw(np.array([2.0, 1.0]), np.eye(2), "")
        found = arrange(Matrix(np.diag([2.0, 1.0]), positive=True), raw, 2, TRACE)
        assert (found.n_negative, found.most_negative) == (0, 0.0)

    def test_the_sum_is_known_with_the_whole_spectrum_only(self):
        assert self.arranged(1).absolute_sum is None
        assert self.arranged(1, complete=True).absolute_sum == 11.0

    def test_the_certificate_is_of_the_image_that_was_found(self):
        assert_allclose(self.arranged(2, image=2 * self.A).residuals, [1.0, 1.0])

    def test_a_value_at_rounding_is_null_in_the_scale_of_the_largest(self):
        for scale in (1e-30, 1.0, 1e30):
            for others in (np.empty(0), np.array([-4.0 * scale])):
                largest = scale * max(1.0, -others.min(initial=0.0) / scale)
                values = np.array([scale, 3 * EPS * largest, 3.1 * EPS * largest])
                raw = Raw(values, np.eye(3), "", others=others)
                found = arrange(Matrix(np.diag(values), positive=True), raw, 3, TRACE)
                assert_allclose(found.values, [scale, 3.1 * EPS * largest])
                assert found.n_negative == len(others)
        assert null_tolerance(10, 4.0) == 40 * EPS

    def test_a_zero_matrix_has_no_components_and_no_negative_values(self):
        for values in (np.zeros(2), np.empty(0)):
            raw = Raw(values, np.eye(2, len(values)), "", complete=True)
            found = arrange(Matrix(np.zeros((2, 2)), positive=True), raw, 2, TRACE)
            assert (len(found.values), found.n_negative, found.absolute_sum) == (0, 0, 0.0)

    @pytest.mark.parametrize("value", [np.nan, np.inf, 1.5e150, -1.5e150])
    def test_an_overflow_is_refused(self, value):
        raw = Raw(np.array([1.0, value]), np.eye(2), "")
        with pytest.raises(ValueError, match="the spectrum overflows double precision"):
            arrange(Matrix(np.eye(2), positive=True), raw, 2, TRACE)

    def test_what_is_just_not_an_overflow_is_taken(self):
        raw = Raw(np.array([1e150]), np.eye(1), "")
        assert arrange(Matrix(np.array([[1e150]]), positive=True), raw, 1, TRACE).values == [1e150]


def test_a_residual_is_relative_to_its_value_if_that_is_positive():
    V = np.eye(3)
    found = residuals(np.diag([6.0, 0.75, -0.5]), V, np.array([4.0, 0.5, -0.25]))
    assert_allclose(found, [0.5, 0.5, 0.25])
    assert_allclose(residuals(np.diag([2.0, 0, 0]), V, np.zeros(3)), [2.0, 0.0, 0.0])


class TestSigns:
    def test_the_entry_of_largest_magnitude_becomes_positive(self):
        signs = orient(np.array([[0.1, -0.3, 0.0], [-0.4, 0.2, 0.0], [0.3, -0.1, 0.0], [0.2, 0.2, 0.0]]))
        assert signs.tolist() == [-1.0, -1.0, 1.0]

    @pytest.mark.parametrize(("lead", "sign"), [(0.0, 1.0), (0.9e-8, 1.0), (1.5e-8, -1.0)])
    def test_among_equals_the_first_decides(self, lead, sign):
        column = np.array([[0.2], [0.5], [-0.5 * (1 + lead)]])
        assert orient(column).tolist() == [sign]
        assert orient(-column).tolist() == [-sign]
