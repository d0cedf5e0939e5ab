"""Weights are repeated rows, any split is the whole, and closed forms are where iterations end."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

import gramian
from gramian import PCA, FactorAnalysis, ProbabilisticPCA

ROUTES = ["auto", "covariance", "svd", "dual", "power", "krylov"]


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_weighting_pca_is_repeating_rows(table, rng, route, scale):
    times = rng.integers(0, 4, len(table))
    weighted = PCA(4, solver=route, scale=scale).fit(table, sample_weight=times)
    repeated = PCA(4, solver=route, scale=scale).fit(np.repeat(table, times, axis=0))
    assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-10)
    assert_allclose(weighted.explained_variance_ratio_, repeated.explained_variance_ratio_, rtol=1e-10)
    assert_allclose(weighted.mean_, repeated.mean_, rtol=1e-12)
    assert_allclose(weighted.components_, repeated.components_, atol=1e-7)
    assert_allclose(weighted.noise_variance_, repeated.noise_variance_, rtol=1e-9)
    assert_allclose(weighted.reconstruction_error(), repeated.reconstruction_error(), rtol=1e-9)


@pytest.mark.parametrize("route", ["covariance", "dual", "krylov"])
def test_weighting_sparse_rows_is_repeating_them(rng, route):
    X = sp.csr_array(np.where(rng.random((150, 30)) < 0.2, rng.random((150, 30)), 0.0))
    times = rng.integers(0, 3, 150)
    weighted = PCA(3, solver=route).fit(X, sample_weight=times)
    repeated = PCA(3).fit(np.repeat(X.toarray(), times, axis=0))
    assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-10)


ESTIMATORS = [
    PCA(3),
    PCA(3, scale=True, whiten=True),
    PCA(3, center=False),
    ProbabilisticPCA(3),
    FactorAnalysis(2, rotation="varimax"),
]


def same(a, b, X, atol=1e-10):
    for name in ("explained_variance_", "explained_variance_ratio_", "mean_", "loadings_", "noise_variance_"):
        if hasattr(b, name):
            assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-10, atol=1e-10, err_msg=name)
    assert_allclose(a.transform(X), b.transform(X), atol=1e-9)
    if hasattr(b, "log_likelihood_"):
        assert a.log_likelihood_ == pytest.approx(b.log_likelihood_, rel=1e-10)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gramian.HeywoodWarning")  # after a few rows only
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
@pytest.mark.parametrize("cuts", [[100], [5, 6, 7, 150], list(range(1, 60))], ids=["two", "five", "row by row"])
def test_partial_fit_in_any_split_is_fit(table, estimator, cuts):
    from sklearn.base import clone

    whole, parts = clone(estimator).fit(table), clone(estimator)
    for part in np.split(table, cuts):
        parts.partial_fit(part)
    same(parts, whole, table)
    parts.fit(table[:50])
    same(parts, clone(estimator).fit(table[:50]), table)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_partial_fit_takes_weights(table, rng, estimator):
    from sklearn.base import clone

    weights = rng.random(200) + 0.5
    whole, parts = clone(estimator).fit(table, sample_weight=weights), clone(estimator)
    for rows in np.array_split(np.arange(200), 3):
        parts.partial_fit(table[rows], sample_weight=weights[rows])
    same(parts, whole, table)


def test_before_enough_rows_nothing_is_fitted(table):
    model = PCA(3).partial_fit(table[:2])
    assert not hasattr(model, "components_")
    with pytest.raises(ValueError, match="X has 4 features"):
        model.partial_fit(table[:5, :4])
    assert model.partial_fit(table[2:5]).components_.shape == (3, 10)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_partial_fit_goes_on_from_a_fit(table, estimator):
    from sklearn.base import clone

    both = clone(estimator).fit(table[:120]).partial_fit(table[120:])
    same(both, clone(estimator).fit(table), table)


def test_partial_fit_does_not_forget_a_fit_in_silence(table, gaps):
    for fitted, rows in [
        (ProbabilisticPCA(2, missing="em").fit(gaps[1]), gaps[0]),
        (PCA(2, missing="em").fit(gaps[1]), gaps[0]),
        (PCA(2).fit(np.tile(table.T, (90, 8))), np.tile(table.T, (90, 8))),
    ]:
        before = fitted.transform(rows)
        with pytest.raises(ValueError, match="partial_fit cannot go on"):
            fitted.partial_fit(rows[:20])
        assert np.array_equal(fitted.transform(rows), before)


@pytest.mark.parametrize("bad", [np.ones(3), -np.ones(200), np.full(200, np.nan), np.zeros(200)])
def test_bad_weights_are_named(table, bad):
    for estimator in (PCA(2), ProbabilisticPCA(2)):
        with pytest.raises(ValueError, match="sample_weight"):
            estimator.fit(table, sample_weight=bad)


class TestProbabilisticPCA:
    def test_closed_form(self, table):
        model, S = ProbabilisticPCA(3).fit(table), np.cov(table.T, bias=True)
        values, vectors = np.linalg.eigh(S)
        assert model.noise_variance_ == pytest.approx(values[:-3].mean(), rel=1e-10)
        W = model.loadings_
        assert_allclose(
            W @ W.T, vectors[:, -3:] @ np.diag(values[-3:] - values[:-3].mean()) @ vectors[:, -3:].T, atol=1e-10
        )
        assert_allclose(model.get_covariance(), W @ W.T + model.noise_variance_ * np.eye(10), atol=1e-12)

    def test_the_likelihood_is_that_of_the_gaussian(self, table):
        from scipy.stats import multivariate_normal

        model = ProbabilisticPCA(3).fit(table)
        expected = multivariate_normal(model.mean_, model.get_covariance()).logpdf(table)
        assert_allclose(model.score_samples(table), expected, rtol=1e-9)
        assert model.log_likelihood_ == pytest.approx(expected.sum(), rel=1e-10)
        assert model.score(table) == pytest.approx(expected.mean(), rel=1e-10)

    def test_posterior_is_the_formula(self, table):
        model = ProbabilisticPCA(3).fit(table)
        W, s2 = model.loadings_, model.noise_variance_
        V = np.linalg.inv(W.T @ W / s2 + np.eye(3))
        means, covariance = model.posterior(table)
        assert_allclose(means, (table - model.mean_) @ W @ V / s2, atol=1e-9)
        assert_allclose(covariance, s2 * np.linalg.inv(W.T @ W + s2 * np.eye(3)), atol=1e-12)
        assert_allclose(covariance, V, atol=1e-12)
        assert_allclose(model.inverse_transform(means), means @ W.T + model.mean_, atol=1e-12)

    def test_em_never_falls_and_reaches_the_closed_form(self, table):
        """C74."""
        closed = ProbabilisticPCA(3).fit(table)
        for seed in range(3):
            em = ProbabilisticPCA(3, method="em", tol=1e-14, random_state=seed).fit(table)
            path = em.log_likelihood_path_
            assert (np.diff(path) >= -1e-10 * np.abs(path[1:])).all()
            assert len(path) > 5
            assert em.log_likelihood_ == pytest.approx(closed.log_likelihood_, rel=1e-9)
            assert_allclose(em.noise_variance_, closed.noise_variance_, rtol=1e-6)
            assert_allclose(em.loadings_, closed.loadings_, atol=1e-5)
            assert em.log_likelihood_ == pytest.approx(em.score_samples(table).sum(), rel=1e-9)

    def test_em_that_is_cut_short_says_so(self, table):
        """C74."""
        with pytest.warns(gramian.ConvergenceWarning, match="max_iter=3"):
            model = ProbabilisticPCA(3, method="em", max_iter=3).fit(table)
        assert not model.summary_.facts["converged"]

    def test_samples_have_the_covariance_of_the_model(self, table):
        model = ProbabilisticPCA(3).fit(table)
        drawn = model.sample(200_000, random_state=0)
        assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.02)
        assert_allclose(drawn.mean(axis=0), model.mean_, atol=0.01)

    def test_no_room_for_noise(self, table):
        """C78."""
        full = ProbabilisticPCA(10).fit(table)
        assert full.noise_variance_ == 0
        assert np.isfinite(full.score_samples(table)).all()
        flat = np.column_stack([table[:, :2], table[:, :2].sum(axis=1)])
        with pytest.raises(ValueError, match="Use fewer components"):
            ProbabilisticPCA(2).fit(flat)
        assert np.isfinite(ProbabilisticPCA(1).fit(flat).log_likelihood_)
        with pytest.raises(ValueError, match="zero variance"):
            ProbabilisticPCA(1).fit(np.ones((5, 3)))

    def test_bad_words(self, table):
        with pytest.raises(ValueError, match="method='fast'"):
            ProbabilisticPCA(2, method="fast").fit(table)
        with pytest.raises(ValueError, match="missing='mean'"):
            ProbabilisticPCA(2, missing="mean").fit(table)


@pytest.fixture
def gaps(rng):
    truth = ProbabilisticPCA(2)
    X = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 6)) + 0.3 * rng.standard_normal((300, 6)) + 5
    truth.fit(X)
    holes = rng.random(X.shape) < 0.15
    holes[holes.all(axis=1)] = False
    return X, np.where(holes, np.nan, X), truth


class TestMissing:
    def test_without_gaps_nothing_changes(self, table):
        assert_allclose(
            ProbabilisticPCA(3, missing="em").fit(table).loadings_, ProbabilisticPCA(3).fit(table).loadings_
        )

    def test_the_likelihood_of_what_was_observed_never_falls(self, gaps):
        _, holey, _ = gaps
        model = ProbabilisticPCA(2, missing="em").fit(holey)
        path = model.log_likelihood_path_
        assert (np.diff(path) >= -1e-10 * np.abs(path[1:])).all()
        assert model.log_likelihood_ == pytest.approx(model.score_samples(holey).sum(), rel=1e-9)
        assert model.summary_.facts["n_missing"] == np.isnan(holey).sum()
        assert "entries imputed by the model" in str(model.summary_)

    def test_no_small_change_of_the_parameters_is_better(self, gaps, rng):
        from gramian.spaces.gaussian import expect, patterns

        _, holey, _ = gaps
        model = ProbabilisticPCA(2, missing="em", tol=1e-13).fit(holey)
        groups = patterns(holey)

        def likelihood(mean, W, s2):
            return expect(holey, groups, mean, W @ W.T + s2 * np.eye(6)).log_density.sum()

        best = likelihood(model.mean_, model.loadings_, model.noise_variance_)
        for _ in range(20):
            step = 1e-3 * rng.standard_normal(6), 1e-3 * rng.standard_normal((6, 2)), 1 + 1e-3 * rng.standard_normal()
            other = model.mean_ + step[0], model.loadings_ + step[1], model.noise_variance_ * step[2]
            assert likelihood(*other) < best + 1e-6

    def test_it_comes_close_to_the_complete_data(self, gaps):
        X, holey, truth = gaps
        model = ProbabilisticPCA(2, missing="em").fit(holey)
        assert_allclose(model.mean_, truth.mean_, atol=0.1)
        assert_allclose(model.loadings_ @ model.loadings_.T, truth.loadings_ @ truth.loadings_.T, atol=0.3)
        filled = model.inverse_transform(model.transform(holey))
        worse = np.where(np.isnan(holey), np.nanmean(holey, axis=0), holey)
        holes = np.isnan(holey)
        assert np.mean((filled - X)[holes] ** 2) < 0.3 * np.mean((worse - X)[holes] ** 2)

    @pytest.mark.filterwarnings("ignore::gramian.HeywoodWarning")  # these rows have two causes and little noise
    @pytest.mark.parametrize("estimator", [ProbabilisticPCA(2, missing="em"), FactorAnalysis(2, missing="em")], ids=str)
    def test_weighting_is_repeating_rows(self, gaps, rng, estimator):
        from sklearn.base import clone

        holey, times = gaps[1], rng.integers(1, 4, len(gaps[1]))
        weighted = clone(estimator).fit(holey, sample_weight=times)
        repeated = clone(estimator).fit(np.repeat(holey, times, axis=0))
        assert_allclose(weighted.loadings_, repeated.loadings_, atol=1e-10)
        assert_allclose(weighted.mean_, repeated.mean_, atol=1e-10)
        assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-10)

    def test_the_default_stays_an_error(self, gaps):
        with pytest.raises(ValueError, match="contains NaN"):
            ProbabilisticPCA(2).fit(gaps[1])

    def test_rows_and_columns_of_which_nothing_is_known(self, gaps):
        for index, word in ((np.s_[3, :], "row 3"), (np.s_[:, 1], "column 1")):
            X = gaps[1].copy()
            X[index] = np.nan
            with pytest.raises(ValueError, match=word):
                ProbabilisticPCA(2, missing="em").fit(X)


@pytest.mark.parametrize("estimator", [PCA(1), ProbabilisticPCA(1), FactorAnalysis(1)], ids=str)
def test_one_row_is_not_yet_a_fit(table, estimator):
    with pytest.raises(NotFittedError):
        estimator.partial_fit(table[:1]).transform(table)
