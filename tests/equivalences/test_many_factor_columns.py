"""Factor analysis of many columns: by products alone, of few rows without their correlations, it ends where all do."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import gramian
from gramian import FactorAnalysis
from gramian.adequacy import factor_fit, fit_indices
from gramian.lapack import eigvalsh
from gramian.operators.correlation import Correlation, wide_correlation
from gramian.solvers import factor
from gramian.solvers.factor import maximum_likelihood

pytestmark = pytest.mark.filterwarnings("ignore::gramian.GramianWarning")


def made(rng, n, d, k, noise=1.0):
    """Rows of k factors with noise of its own in every column, in unlike units."""
    own = noise * rng.uniform(0.5, 1.5, d)
    rows = rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + own * rng.standard_normal((n, d))
    return rows * np.exp(rng.normal(size=d)) + rng.normal(size=d)


def by_products(monkeypatch, R, k, **options):
    """The solution that makes no more than k eigenpairs."""
    with monkeypatch.context() as patch:
        patch.setattr(factor, "EXACT_MAX_COLUMNS", 0)
        return maximum_likelihood(R, k, **options)


def assert_same(a, b, atol=1e-7):
    assert a.converged
    assert a.objective == pytest.approx(b.objective, rel=1e-10, abs=1e-10)
    assert_allclose(a.uniquenesses, b.uniquenesses, atol=atol)
    assert_allclose(a.loadings @ a.loadings.T, b.loadings @ b.loadings.T, atol=atol)


class TestProducts:
    @pytest.mark.parametrize("k", [1, 2, 5])
    @pytest.mark.parametrize(("n", "d"), [(500, 20), (300, 60), (2000, 120)])
    def test_they_find_what_all_eigenvectors_find(self, monkeypatch, rng, n, d, k):
        R = np.corrcoef(made(rng, n, d, k).T)
        assert_same(by_products(monkeypatch, R, k), maximum_likelihood(R, k))

    def test_also_at_bounds(self, monkeypatch, rng):
        X = made(rng, 400, 40, 2)
        X[:, 0] = rng.standard_normal(400)
        X[:, 1] = X[:, 0] + 1e-2 * rng.standard_normal(400)
        R = np.corrcoef(X.T)
        exact = maximum_likelihood(R, 3)
        assert exact.at_bound.any()
        other = by_products(monkeypatch, R, 3)
        assert (other.at_bound == exact.at_bound).all()
        assert_same(other, exact)

    def test_more_factors_than_rows_have(self, rng):
        X = made(rng, 4, 200, 1)
        found = maximum_likelihood(wide_correlation(X)[1], 6)
        assert np.isfinite(found.loadings).all()
        assert (np.abs(found.loadings[:, 3:]).max(axis=0) == 0).all()

    def test_the_objective_never_rises(self, monkeypatch, rng):
        R = np.corrcoef(made(rng, 60, 200, 2).T)
        values = [maximum_likelihood(R, 2, max_iter=steps).objective for steps in range(0, 24, 3)]
        assert (np.diff(values) <= 1e-9 * abs(values[-1])).all()

    def test_it_takes_tens_of_steps_not_hundreds(self, rng):
        for n, d in ((40, 400), (300, 200), (2000, 160)):
            found = FactorAnalysis(3).fit(made(rng, n, d, 3))
            assert found.summary_.facts["converged"]
            assert found.n_iter_ < 60


class TestFewRows:
    @pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
    def test_without_a_matrix_of_correlations_it_is_the_same(self, rng, form):
        X = form(made(rng, 50, 180, 2))
        dense = np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float64)
        found, whole = FactorAnalysis(2).fit(X), FactorAnalysis(2).fit_correlation(np.corrcoef(dense.T), 50)
        loose = 2e-5 if X.dtype == np.float32 else 1e-7
        assert_allclose(found.uniquenesses_, whole.uniquenesses_, atol=loose)
        assert_allclose(found.loadings_, whole.loadings_, atol=loose)
        assert_allclose(found.mean_, dense.mean(axis=0), rtol=1e-6)
        assert_allclose(found.scale_, dense.std(axis=0), rtol=1e-6)
        assert found.fit_indices_["srmr"] == pytest.approx(whole.fit_indices_["srmr"], rel=1e-5)
        for name in ("chi_square", "rmsea", "cfi"):
            assert found.fit_indices_[name] is None
        assert found.kmo_ is None
        assert found.sphericity_["chi_square"] is None
        assert found.log_likelihood_ == pytest.approx(found.score_samples(dense).sum(), rel=1e-8)

    def test_weights_repeat_rows(self, rng):
        X, times = made(rng, 60, 200, 2), rng.integers(0, 3, 60)
        weighted, repeated = (
            FactorAnalysis(2).fit(X, sample_weight=times),
            FactorAnalysis(2).fit(np.repeat(X, times, 0)),
        )
        assert_allclose(weighted.uniquenesses_, repeated.uniquenesses_, atol=1e-7)
        assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-9)

    def test_far_from_the_origin_and_in_any_unit(self, rng):
        X = made(rng, 50, 180, 2)
        near = FactorAnalysis(2).fit(X)
        for other, tol in ((X + 1e6, 1e-6), (X * 1e150, 1e-9), (X * 1e-140, 1e-9)):
            assert_allclose(FactorAnalysis(2).fit(other).uniquenesses_, near.uniquenesses_, atol=tol)

    def test_what_it_refuses(self, rng):
        X = made(rng, 50, 180, 2)
        X[:, 7] = 3.0
        with pytest.raises(ValueError, match=r"column 8 is constant \(1 of 180"):
            FactorAnalysis(2).fit(X)
        with pytest.raises(ValueError, match="overflow"):
            FactorAnalysis(2).fit(made(rng, 50, 180, 2) * 1e200)
        with pytest.raises(ValueError, match="no moments were kept"):
            FactorAnalysis(2).fit(made(rng, 50, 180, 2)).partial_fit(made(rng, 50, 180, 2))

    def test_no_matrix_of_all_columns_is_made(self, rng):
        X = made(rng, 20, 60_000, 2)  # whose correlations would take 29 GB
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gramian.GramianWarning)
            model = FactorAnalysis(2).fit(X)
        assert model.summary_.facts["converged"]
        assert model.transform(X).shape == (20, 2)


class TestCorrelation:
    @pytest.mark.parametrize("least", [1e-2, 1e-6, 1e-10, 1e-13, 3e-15, 1e-16, 0.0])
    @pytest.mark.parametrize("d", [3, 30, 200])
    def test_it_is_singular_where_its_least_eigenvalue_is_rounding(self, rng, d, least):
        Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
        R = (Q * np.r_[least, np.linspace(0.5, 1, d - 1)]) @ Q.T
        R = (R + R.T) / 2
        values, limit = eigvalsh(R), d * np.finfo(float).eps
        known = Correlation(R).log_determinant
        if values[0] > 2 * limit * values[-1]:
            assert known == pytest.approx(np.log(values).sum(), abs=1e-9 + 10 * limit / values[0])
            assert_allclose(Correlation(R).inverse() @ R, np.eye(d), atol=1e-14 * d / least)
        elif values[0] < 0.5 * limit * values[-1]:
            assert known is None
            assert Correlation(R).inverse() is None

    def test_fit_of_factors_is_that_of_the_matrix_they_imply(self, rng):
        R = np.corrcoef(made(rng, 300, 15, 3).T)
        found = maximum_likelihood(R, 2)
        one = factor_fit(Correlation(R), found.loadings, found.uniquenesses, 300)
        other = fit_indices(R, found.implied(), 300, 2)
        assert one.keys() == other.keys()
        for name, value in other.items():
            assert one[name] == pytest.approx(value, rel=1e-9), name
