"""Kernel ridge and what it is given: scikit-learn's contract, bad input, hard input."""

import _thread
import pickle
import threading
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import gramian
from gramian import KernelRidge, config
from gramian.kernels import RBF
from gramian.solvers.conjugate import ConjugateGradients

ESTIMATORS = [
    KernelRidge(),
    KernelRidge(fit_intercept=True, solver="cg"),
    KernelRidge(kernel="linear", fit_intercept=True),
    KernelRidge(kernel="linear", solver="cholesky"),
    KernelRidge(kernel="thin_plate_spline"),
]


@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture
def y(table):
    return np.sin(table[:, 0]) + table[:, 1]


def complaint(call, kind=ValueError):
    with pytest.raises(kind) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestRefusals:
    @pytest.mark.parametrize("ridge", [-1, -1e-300, np.nan, np.inf])
    def test_ridge_out_of_range(self, table, y, ridge):
        assert f"ridge={ridge!r}" in complaint(lambda: KernelRidge(ridge).fit(table, y))

    @pytest.mark.parametrize("ridge", ["1", None, True, [1.0]])
    def test_ridge_of_the_wrong_kind(self, table, y, ridge):
        assert f"ridge={ridge!r}" in complaint(lambda: KernelRidge(ridge).fit(table, y), TypeError)

    def test_path_of_ridges(self, table, y):
        for ridges in ([], [-1.0], [np.nan], [[1.0]], 3.0):
            assert "ridges=" in complaint(lambda ridges=ridges: KernelRidge().path(table, y, ridges))
        assert "ridges=" in complaint(lambda: KernelRidge().path(table, y, ["a"]), TypeError)
        with config(memory="100kB"):
            assert "all eigenvectors" in complaint(lambda: KernelRidge().path(table, y, [1.0]))

    def test_solver(self, table, y):
        assert "auto, primal, cholesky, cg, minres" in complaint(lambda: KernelRidge(solver="lu").fit(table, y))
        assert "linear kernel" in complaint(lambda: KernelRidge(solver="primal").fit(table, y))
        with config(memory="100kB"):
            assert "320 kB" in complaint(lambda: KernelRidge(solver="cholesky").fit(table, y))

    def test_intercept(self, table, y):
        assert "fit_intercept='yes'" in complaint(lambda: KernelRidge(fit_intercept="yes").fit(table, y), TypeError)

    def test_targets(self, table, y):
        assert "199" in complaint(lambda: KernelRidge().fit(table, y[1:]))
        assert "NaN" in complaint(lambda: KernelRidge().fit(table, np.where(y > 2, y, np.nan)))
        assert "not numbers" in complaint(lambda: KernelRidge().fit(table, np.full(200, "a")))
        assert "Complex" in complaint(lambda: KernelRidge().fit(table, y * 1j))

    def test_weights(self, table, y):
        for weights in (-np.ones(200), np.full(200, np.inf), np.zeros(200), np.ones(3)):
            assert "sample_weight" in complaint(lambda w=weights: KernelRidge().fit(table, y, sample_weight=w))

    def test_precomputed(self, table, y):
        K = RBF(sigma=3.0)(table)
        model = KernelRidge(kernel="precomputed")
        assert "square Gram matrix" in complaint(lambda: model.fit(K[:50], y[:50]))
        model.fit(K, y)
        assert "200" in complaint(lambda: model.predict(K[:, :50]))

    def test_before_fit(self, table):
        with pytest.raises(NotFittedError):
            KernelRidge().predict(table)
        with pytest.raises(AttributeError, match="not fitted"):
            _ = KernelRidge().leave_one_out_

    def test_a_failed_refit_leaves_the_model_as_it_was(self, table, y):
        model = KernelRidge().fit(table, y)
        before = model.predict(table)
        complaint(lambda: model.fit(table[:, :3], y[1:]))
        assert np.array_equal(model.predict(table), before)

    def test_overflow_is_named(self, table, y):
        assert "overflow" in complaint(lambda: KernelRidge(kernel="linear").fit(table * 1e200, y))
        assert "overflow" in complaint(lambda: KernelRidge(kernel="rbf(sigma=1)").fit(table * 1e200, y))


class TestHardInput:
    @pytest.mark.parametrize("intercept", [False, True])
    def test_zero_ridge_with_repeated_rows(self, table, y, intercept):
        X, targets = np.repeat(table[:40], 3, axis=0), np.repeat(y[:40], 3) + np.tile([-0.3, 0.0, 0.3], 40)
        with pytest.warns(gramian.RankWarning, match="least squares of least norm"):
            model = KernelRidge(0, kernel="rbf(sigma=0.5)", fit_intercept=intercept).fit(X, targets)
        assert_allclose(model.predict(table[:40]), y[:40], atol=1e-6)  # the mean of each group
        assert "rank" in str(model.summary_)

    def test_a_ridge_below_rounding(self, table, y):
        with pytest.warns(gramian.RankWarning):
            model = KernelRidge(1e-300, kernel="rbf(sigma=50)").fit(table, y)
        assert np.isfinite(model.predict(table)).all()

    def test_zero_ridge_by_products(self, table, y):
        model = KernelRidge(0, kernel="rbf(sigma=0.5)", solver="minres").fit(table, y)
        assert_allclose(model.predict(table), y, atol=1e-6 * np.linalg.norm(y))

    def test_not_converged_is_said(self, table, y):
        solver = ConjugateGradients(max_iter=2, rank=0)
        with pytest.warns(gramian.ConvergenceWarning, match="max_iter=2 reached"):
            model = KernelRidge(1e-6, solver=solver).fit(table, y)
        assert not model.summary_.facts["converged"]
        assert np.isfinite(model.predict(table)).all()

    @pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e200])
    @pytest.mark.parametrize("kernel", ["rbf(sigma=3)", "linear", "thin_plate_spline"])
    def test_the_unit_of_the_targets(self, table, y, size, kernel):
        plain, scaled = (KernelRidge(0.1, kernel=kernel).fit(table, y * s).predict(table) for s in (1.0, size))
        assert_allclose(scaled / size, plain, rtol=1e-9)

    @pytest.mark.parametrize("solver", ["cholesky", "cg"])
    def test_targets_without_variance(self, table, solver):
        model = KernelRidge(0.1, kernel="rbf(sigma=3)", fit_intercept=True, solver=solver).fit(table, np.full(200, 7.0))
        assert_allclose(model.predict(table + 1), 7)
        assert (KernelRidge(0.1, solver=solver).fit(table, np.zeros(200)).predict(table) == 0).all()

    def test_targets_far_from_zero(self, table, y):
        for solver in ("cholesky", "cg"):
            model = KernelRidge(0.1, kernel="rbf(sigma=3)", fit_intercept=True, solver=solver)
            near, far = model.fit(table, y).predict(table), model.fit(table, y + 1e6).predict(table) - 1e6
            assert_allclose(near, far, atol=1e-5)

    @pytest.mark.parametrize("kernel", ["rbf", "linear", "thin_plate_spline", "polynomial"])
    @pytest.mark.filterwarnings("ignore::gramian.RankWarning")
    def test_one_row_one_column_equal_rows(self, kernel):
        for X in (np.ones((1, 3)), np.arange(5.0)[:, None], np.ones((6, 2))):
            target = np.arange(1.0, len(X) + 1)
            for intercept in (False, True):
                model = KernelRidge(0.5, kernel=kernel, fit_intercept=intercept).fit(X, target)
                assert np.isfinite(model.predict(X)).all()

    def test_a_spline_on_a_constant_column(self, table, y):
        X = np.column_stack([table[:, :2], np.full(200, 3.0)])
        with pytest.warns(gramian.RankWarning, match="only 3 on these rows"):
            model = KernelRidge(0.1, kernel="thin_plate_spline").fit(X, y)
        plain = KernelRidge(0.1, kernel="thin_plate_spline").fit(X[:, :2], y)
        assert_allclose(model.predict(X), plain.predict(X[:, :2]), atol=1e-8)

    def test_nearly_positive_matrices_do_not_alarm(self, table, y):
        K = RBF(sigma=3.0)(table).astype(np.float32)
        KernelRidge(1.0, kernel="precomputed").fit((K + K.T) / 2, y)

    def test_an_indefinite_matrix_by_products(self, rng):
        A = rng.standard_normal((200, 200))
        with pytest.warns(gramian.IndefiniteKernelWarning, match="at least 1 negative eigenvalue"):
            model = KernelRidge(0.5, kernel="precomputed", solver="minres").fit(A + A.T, rng.standard_normal(200))
        assert np.isfinite(model.dual_coef_).all()
        assert model.summary_.facts["residuals"].max() < 1e-5

    def test_weights_of_any_size(self, table, y):
        weights = np.geomspace(1e-8, 1e8, 200)
        model = KernelRidge(1.0, kernel="rbf(sigma=3)").fit(table, y, sample_weight=weights)
        assert np.isfinite(model.predict(table)).all()
        assert np.isfinite(model.leave_one_out_).all()


class TestUse:
    def test_input_is_not_changed(self, table, y):
        X, target, weights = table.copy(), y.copy(), np.ones(200)
        for solver in ("cholesky", "cg"):
            KernelRidge(solver=solver, fit_intercept=True).fit(X, target, sample_weight=weights).predict(X)
        assert X.tobytes() == table.tobytes()
        assert target.tobytes() == y.tobytes()
        assert (weights == 1).all()

    def test_the_callers_array_may_change_afterwards(self, table, y):
        X = table.copy()
        model = KernelRidge().fit(X, y)
        before = model.predict(table)
        X[:] = 0
        assert np.array_equal(model.predict(table), before)

    def test_frames_grids_clones_and_pickles(self, table, y):
        frame = pd.DataFrame(table, columns=[f"c{j}" for j in range(10)])
        grid = GridSearchCV(
            KernelRidge(kernel=RBF(sigma=1.0)), {"ridge": [0.01, 1.0], "kernel__sigma": [1.0, 4.0]}, cv=3
        ).fit(frame, y)
        assert grid.best_params_ == {"kernel__sigma": 4.0, "ridge": 0.01}
        model = clone(grid.best_estimator_).fit(frame, y)
        assert pickle.loads(pickle.dumps(model)).predict(frame).tobytes() == model.predict(frame).tobytes()
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[frame.columns[::-1]])

    def test_the_path_changes_nothing(self, table, y):
        model = KernelRidge(3.0)
        before = dict(vars(model))
        model.path(table, y)
        assert vars(model) == before

    def test_the_summary_reads(self, table, y):
        model = KernelRidge(0.1, kernel="rbf(sigma=3)").fit(table, np.column_stack([y, y]))
        lines = str(model.summary_).splitlines()
        assert lines[0] == "KernelRidge  rbf(sigma=3)   200 x 10   2 targets   ridge 0.1"
        assert [line.split()[0] for line in lines[1:]] == ["route", "work", "certified", "left"]
        assert model.summary_.to_dict()["solver"] == "cholesky"

    @pytest.mark.parametrize("solver", ["cholesky", "cg", ConjugateGradients(factor=True)], ids=str)
    def test_it_can_be_interrupted(self, rng, solver):
        X = rng.standard_normal((7_000, 20))
        model = KernelRidge(1e-7, kernel="rbf(sigma=3)", solver=solver)
        clone(model).fit(X[:300], X[:300, 0])  # what is only made once is made now
        threading.Timer(0.3, _thread.interrupt_main).start()
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, X[:, 0])
        assert time.perf_counter() - start < 2.5
        assert not hasattr(model, "summary_")

    def test_sparse_rows_of_many_columns(self, rng):
        X = sp.random_array((120, 20_000), density=0.001, rng=rng, format="csr")
        y = np.asarray(X[:, :50].sum(axis=1)).ravel()
        model = KernelRidge(0.1, kernel="linear", fit_intercept=True).fit(X, y)
        assert model.summary_.facts["solver"] == "cholesky"
        assert_allclose(model.dual_coef_.sum(), 0, atol=1e-10)
