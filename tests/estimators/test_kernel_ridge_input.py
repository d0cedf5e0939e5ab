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

from gramian import KernelRidge, config
from gramian.kernels import RBF
from gramian.solvers.conjugate import ConjugateGradients


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
        """A71."""
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

    @pytest.mark.parametrize("solver", [3, None])
    def test_what_is_no_solver(self, table, y, solver):
        assert f"solver={solver!r}" in complaint(lambda: KernelRidge(solver=solver).fit(table, y), TypeError)

    @pytest.mark.parametrize("kernel", ["linear", "rbf(sigma=3)", "polynomial"])
    def test_coefficients_that_overflow(self, table, y, kernel):
        assert "coefficients overflow" in complaint(
            lambda: KernelRidge(1e-12, kernel=kernel).fit(table, y / np.abs(y).max() * 1e308)
        )

    @pytest.mark.parametrize("size", [1e200, 1e-200])
    def test_squared_errors_out_of_range(self, table, y, size):
        assert "Rescale y" in complaint(lambda: KernelRidge().path(table, y * size, [1.0]))

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

    @pytest.mark.slow
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
        X = sp.random_array((120, 20_000), density=0.001, random_state=rng, format="csr")
        y = np.asarray(X[:, :50].sum(axis=1)).ravel()
        model = KernelRidge(0.1, kernel="linear", fit_intercept=True).fit(X, y)
        assert model.summary_.facts["solver"] == "cholesky"
        assert_allclose(model.dual_coef_.sum(), 0, atol=1e-10)
