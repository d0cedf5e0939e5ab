"""Rows left out of a kernel ridge in closed form, by refitting, and along a path of ridges."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian import KernelRidge
from gramian.kernels import RBF


@pytest.fixture
def targets(rng, table):
    Y = np.column_stack([np.sin(table[:, 0]), table[:, 1] * table[:, 2], rng.standard_normal(200) + 5])
    Y.setflags(write=False)
    return Y


@pytest.fixture
def counts(rng):
    return rng.integers(0, 4, 200)


def refitted(model, X, y, w, rows):
    """Residuals of some rows under fits without them."""
    out = []
    for i in rows:
        others = np.delete(np.arange(len(X)), i)
        fit = model().fit(X[others], y[others], sample_weight=None if w is None else w[others])
        out.append(y[i] - fit.predict(X[i : i + 1])[0])
    return np.array(out)


class TestLeaveOneOut:
    @pytest.mark.parametrize("kernel", ["rbf(sigma=3)", "linear", "thin_plate_spline"])
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_it_is_refitting(self, table, targets, counts, kernel, intercept, weighted):
        w = counts.astype(float) if weighted else None

        def model():
            return KernelRidge(0.2, kernel=kernel, fit_intercept=intercept)

        left_out = model().fit(table, targets, sample_weight=w).leave_one_out_
        rows = [0, 1, 2, 50, 199, int(np.flatnonzero(counts == 0)[0])]
        assert_allclose(left_out[rows], refitted(model, table, targets, w, rows), atol=1e-8)

    def test_without_a_ridge(self, rng):
        X, y = rng.uniform(-2, 2, (40, 2)), rng.standard_normal(40)

        def model():
            return KernelRidge(0, kernel="rbf(sigma=0.3)")

        assert_allclose(model().fit(X, y).leave_one_out_[:5], refitted(model, X, y, None, range(5)), rtol=1e-5)

    def test_where_a_row_cannot_be_left_out(self):
        X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        model = KernelRidge(1.0, kernel="thin_plate_spline").fit(X, [1.0, 2.0, 3.0])
        assert_allclose(model.predict(X), [1, 2, 3])
        with pytest.raises(AttributeError, match="only one to determine"):
            _ = model.leave_one_out_


class TestPath:
    RIDGES = (1e-3, 0.1, 2.0, 50.0)

    @pytest.mark.parametrize("kernel", ["rbf(sigma=3)", "linear", "thin_plate_spline"])
    @pytest.mark.parametrize("intercept", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_it_is_fitting_each(self, table, targets, counts, kernel, intercept, weighted):
        w = counts if weighted else None
        path = KernelRidge(kernel=kernel, fit_intercept=intercept).path(table, targets, self.RIDGES, sample_weight=w)
        for k, ridge in enumerate(self.RIDGES):
            fit = KernelRidge(ridge, kernel=kernel, fit_intercept=intercept).fit(table, targets, sample_weight=w)
            size = np.abs(fit.dual_coef_).max()
            assert_allclose(path.leave_one_out[k], fit.leave_one_out_, atol=1e-7)
            assert_allclose(path.dual_coef[k], fit.dual_coef_, atol=1e-7 * size)
            assert_allclose(path.intercept[k], fit.intercept_, atol=1e-7)
            error = np.average((fit.leave_one_out_**2).mean(axis=1), weights=w)
            assert_allclose(path.errors[k], error, rtol=1e-6)
        assert path.best == self.RIDGES[int(np.argmin(path.errors))]

    def test_constant_targets_have_nothing_to_explain(self, table):
        path = KernelRidge(kernel="rbf(sigma=3)", fit_intercept=True).path(table, np.full(200, 3.7), [0.1, 1.0])
        assert (path.r2 == 0).all()

    def test_it_reads_as_a_table(self, table, targets):
        path = KernelRidge().path(table, targets[:, 0], [1.0, 0.1])
        assert path.leave_one_out.shape == path.dual_coef.shape == (2, 200)
        lines = str(path).splitlines()
        assert lines[0].split() == ["ridge", "error", "R2"]
        assert sum(line.endswith("best") for line in lines) == 1

    def test_usual_ridges_span_the_spectrum(self, table, targets):
        path = KernelRidge(kernel="rbf(sigma=3)").path(table, targets)
        top = np.linalg.eigvalsh(RBF(sigma=3.0)(table))[-1]
        assert len(path.ridges) == 30
        assert path.ridges[0] < 1e-5
        assert_allclose(path.ridges[-1], 10 * top)
