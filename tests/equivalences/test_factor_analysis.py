"""Newton's method ends where EM stands still; weights, splits, units and gaps change nothing they must not."""

import warnings
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.stats import chi2, multivariate_normal, ncx2
from sklearn.base import clone

import gramian
from gramian.adequacy import bartlett_sphericity, degrees_of_freedom, fit_indices, grade, kmo, most_factors
from gramian.estimators.factor_analysis import FactorAnalysis
from gramian.estimators.warnings import HeywoodWarning
from gramian.solvers.factor import LEAST_UNIQUENESS, maximum_likelihood, objective


def em_step(R, loadings, psi):
    r"""One step of expectation-maximisation, which needs no rows: their sums enter through R alone.

    Definition
    ----------
    .. math:: V = (I + L'\Psi^{-1}L)^{-1}, \quad B = V L'\Psi^{-1}; \qquad
              L^+ = R B' (V + B R B')^{-1}, \quad \Psi^+ = \mathrm{diag}(R - L^+ B R)
    """
    weighted = loadings / psi[:, None]
    V = np.linalg.inv(np.eye(loadings.shape[1]) + loadings.T @ weighted)
    RB = R @ weighted @ V
    following = RB @ np.linalg.inv(V + V @ weighted.T @ RB)
    return following, np.diag(R) - np.sum(following * RB, axis=1)


@pytest.fixture
def rows(rng):
    """400 x 8 rows of two factors, in unlike units, off the origin."""
    L = np.zeros((8, 2))
    L[:4, 0], L[4:, 1], L[3, 1] = [0.9, 0.8, 0.7, 0.5], [0.8, 0.7, 0.6, 0.5], 0.4
    u = rng.standard_normal((400, 2)) @ np.linalg.cholesky([[1, 0.3], [0.3, 1]]).T
    X = (u @ L.T + 0.6 * rng.standard_normal((400, 8))) * 10.0 ** np.arange(-3, 5) + 7
    X.setflags(write=False)
    return X


@pytest.fixture
def R(rows):
    return np.corrcoef(rows.T)


@contextmanager
def _quiet(category=gramian.GramianWarning):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield


ROTATIONS = [None, "varimax", "quartimax", "promax", "oblimin"]


class TestMaximumLikelihood:
    @pytest.mark.parametrize("k", [1, 2])
    def test_em_stands_still_at_the_solution(self, R, k):
        found = maximum_likelihood(R, k)
        assert found.converged
        assert not found.at_bound.any()
        L, psi = em_step(R, found.loadings, found.uniquenesses)
        assert_allclose(L, found.loadings, atol=1e-8)
        assert_allclose(psi, found.uniquenesses, atol=1e-8)

    def test_em_never_loses_likelihood_and_ends_there_too(self, R, rng):
        """C74."""
        best = maximum_likelihood(R, 2)
        L, psi = 0.3 * rng.standard_normal((8, 2)), np.full(8, 0.5)
        path = [objective(R, L, psi)]
        for _ in range(3000):
            L, psi = em_step(R, L, psi)
            path.append(objective(R, L, psi))
        assert (np.diff(path) <= 1e-12).all()
        assert path[0] > best.objective + 0.1
        assert path[-1] == pytest.approx(best.objective, abs=1e-9)
        assert_allclose(psi, best.uniquenesses, atol=1e-5)
        assert_allclose(L @ L.T, best.loadings @ best.loadings.T, atol=1e-5)

    def test_canonical_form_and_diagonal(self, R):
        found = maximum_likelihood(R, 2)
        inner = found.loadings.T @ (found.loadings / found.uniquenesses[:, None])
        assert inner[0, 0] > inner[1, 1]
        assert abs(inner[0, 1]) < 1e-8
        assert_allclose(np.diag(found.implied()), 1, atol=1e-8)
        assert found.objective == pytest.approx(objective(R, found.loadings, found.uniquenesses), rel=1e-12)
        expected = np.linalg.slogdet(found.implied())[1] + np.trace(np.linalg.solve(found.implied(), R))
        assert found.discrepancy == pytest.approx(expected - np.linalg.slogdet(R)[1] - 8, abs=1e-10)

    def test_an_exact_model_is_recovered(self, rng):
        L = rng.uniform(-0.5, 0.5, (12, 3))
        psi = 1 - np.sum(L**2, axis=1)
        found = maximum_likelihood(L @ L.T + np.diag(psi), 3)
        assert found.discrepancy < 1e-12
        assert_allclose(found.uniquenesses, psi, atol=1e-5)
        assert_allclose(found.loadings @ found.loadings.T, L @ L.T, atol=1e-5)

    def test_a_hundred_columns_in_few_steps(self, rng):
        L = rng.standard_normal((100, 10)) / 4
        X = rng.standard_normal((1000, 10)) @ L.T + rng.uniform(0.5, 1, 100) * rng.standard_normal((1000, 100))
        found = maximum_likelihood(np.corrcoef(X.T), 10)
        assert found.converged
        assert found.iterations < 15

    def test_the_objective_never_rises_above_its_start(self, R, rng):
        for _ in range(5):
            psi = rng.uniform(0.05, 0.9, 8)
            top = maximum_likelihood(R, 2, start=psi, max_iter=0)
            assert_allclose(top.uniquenesses, psi)
            assert not top.converged
            one = maximum_likelihood(R, 2, start=psi, max_iter=1)
            assert one.objective < top.objective
            end = maximum_likelihood(R, 2, start=psi).objective
            assert end == pytest.approx(maximum_likelihood(R, 2).objective, abs=1e-10)

    def test_singular_matrices(self, rng):
        X = rng.standard_normal((6, 10))
        found = maximum_likelihood(np.corrcoef(X.T), 2)
        assert np.isfinite(found.loadings).all()
        assert found.discrepancy == np.inf
        twice = np.corrcoef(np.column_stack([X, X[:, 0]]).T)
        held = maximum_likelihood(twice, 1)
        assert held.at_bound[[0, -1]].all()
        assert_allclose(held.uniquenesses[[0, -1]], LEAST_UNIQUENESS)
        ones = maximum_likelihood(np.ones((4, 4)), 1)
        assert ones.at_bound.all()

    def test_uncorrelated_columns_have_no_factor(self):
        found = maximum_likelihood(np.eye(5), 1)
        assert found.objective == pytest.approx(5, abs=1e-7)
        assert_allclose(found.loadings @ found.loadings.T + np.diag(found.uniquenesses), np.eye(5), atol=1e-3)


def same(a, b, X, rtol=1e-8):
    for name in ("loadings_", "uniquenesses_", "communalities_", "factor_correlation_", "mean_", "scale_"):
        assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol, atol=1e-8, err_msg=name)
    assert_allclose(a.noise_variance_, b.noise_variance_, rtol=1e-7)
    assert_allclose(a.transform(X), b.transform(X), atol=1e-7)
    assert a.log_likelihood_ == pytest.approx(b.log_likelihood_, rel=1e-9)
    for name, value in b.fit_indices_.items():
        assert a.fit_indices_[name] == pytest.approx(value, rel=1e-6, abs=1e-9), name


@pytest.mark.parametrize("rotation", ROTATIONS)
class TestEstimator:
    def test_weighting_is_repeating_rows(self, rows, rng, rotation):
        times = rng.integers(0, 4, len(rows))
        weighted = FactorAnalysis(2, rotation=rotation).fit(rows, sample_weight=times)
        same(weighted, FactorAnalysis(2, rotation=rotation).fit(np.repeat(rows, times, axis=0)), rows)

    def test_partial_fit_in_any_split_is_fit(self, rows, rotation):
        whole = FactorAnalysis(2, rotation=rotation).fit(rows)
        for cuts in ([200], [3, 50, 51, 390]):
            parts = FactorAnalysis(2, rotation=rotation)
            with _quiet():  # few rows may make a Heywood case on the way
                for part in np.split(rows, cuts):
                    parts.partial_fit(part)
            same(parts, whole, rows)

    def test_units_do_not_matter(self, rows, rng, rotation):
        units, shift = rng.uniform(0.1, 10, 8), rng.standard_normal(8)
        plain = FactorAnalysis(2, rotation=rotation).fit(rows)
        other = FactorAnalysis(2, rotation=rotation).fit(rows * units + shift)
        for name in ("loadings_", "uniquenesses_", "factor_correlation_"):
            assert_allclose(getattr(other, name), getattr(plain, name), atol=1e-8)
        assert_allclose(other.noise_variance_, plain.noise_variance_ * units**2, rtol=1e-7)
        assert_allclose(other.transform(rows * units + shift), plain.transform(rows), atol=1e-7)
        expected = plain.log_likelihood_ - len(rows) * np.log(units).sum()
        assert other.log_likelihood_ == pytest.approx(expected, rel=1e-9)

    def test_a_rotation_leaves_the_model_alone(self, rows, rotation):
        plain, model = FactorAnalysis(2).fit(rows), FactorAnalysis(2, rotation=rotation).fit(rows)
        L, Phi = model.loadings_, model.factor_correlation_
        implied = (L @ Phi @ L.T + np.diag(model.uniquenesses_)) * np.outer(model.scale_, model.scale_)
        size = np.outer(model.scale_, model.scale_)
        assert_allclose(model.get_covariance() / size, implied / size, atol=1e-10)
        assert_allclose(plain.get_covariance() / size, implied / size, atol=1e-10)
        assert_allclose(plain.loadings_ @ model.rotation_matrix_, L, atol=1e-10)
        assert_allclose(np.einsum("ij,jk,ik->i", L, Phi, L), model.communalities_, atol=1e-10)
        back = [m.inverse_transform(m.transform(rows)) / m.scale_ for m in (plain, model)]
        assert_allclose(back[0], back[1], atol=1e-8)

    def test_scores_are_their_formulas(self, rows, rotation):
        model = FactorAnalysis(2, rotation=rotation).fit(rows)
        L, Phi, psi = model.loadings_, model.factor_correlation_, model.uniquenesses_
        Z = (rows - model.mean_) / model.scale_
        regression = Z @ np.linalg.inv(L @ Phi @ L.T + np.diag(psi)) @ L @ Phi
        assert_allclose(model.transform(rows), regression, atol=1e-8)
        weighted = L / psi[:, None]
        bartlett = Z @ weighted @ np.linalg.inv(L.T @ weighted)
        assert_allclose(model.scores(rows, method="bartlett"), bartlett, atol=1e-8)
        # Bartlett's scores give back factors without shrinking them.
        assert_allclose(model.scores(model.inverse_transform(regression), method="bartlett"), regression, atol=1e-8)


def test_the_likelihood_is_that_of_the_gaussian(rows):
    X = (rows - rows.mean(axis=0)) / rows.std(axis=0) * np.arange(1, 9) + 3
    model = FactorAnalysis(2, rotation="promax").fit(X)
    expected = multivariate_normal(model.mean_, model.get_covariance()).logpdf(X)
    assert_allclose(model.score_samples(X), expected, rtol=1e-9)
    assert model.log_likelihood_ == pytest.approx(expected.sum(), rel=1e-10)
    assert model.score(X) == pytest.approx(expected.mean(), rel=1e-10)


def test_at_least_as_likely_as_scikit_learn(rows):
    from sklearn.decomposition import FactorAnalysis as Theirs

    X = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    theirs = Theirs(2, svd_method="lapack", tol=1e-12, max_iter=5000).fit(X)
    ours = FactorAnalysis(2).fit(X)
    assert ours.score(X) >= theirs.score(X) - 1e-10
    assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-7)
    assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=1e-3)


def test_sparse_rows(rng):
    X = sp.random_array((300, 6), density=0.4, random_state=rng, format="csr")
    sparse, dense = FactorAnalysis(1).fit(X), FactorAnalysis(1).fit(X.toarray())
    assert_allclose(sparse.uniquenesses_, dense.uniquenesses_, atol=1e-8)
    assert_allclose(sparse.score_samples(X), dense.score_samples(X.toarray()), rtol=1e-8, atol=1e-8)
    assert_allclose(sparse.transform(X), dense.transform(X.toarray()), atol=1e-8)


@pytest.fixture
def holey(rows, rng):
    gaps = rng.random(rows.shape) < 0.1
    gaps[gaps.all(axis=1)] = False
    return np.where(gaps, np.nan, rows)


class TestMissing:
    def test_without_gaps_nothing_changes(self, rows):
        same(FactorAnalysis(2, missing="em").fit(rows), FactorAnalysis(2).fit(rows), rows)

    def test_the_likelihood_of_what_was_observed_never_falls(self, holey):
        model = FactorAnalysis(2, missing="em", tol=1e-13).fit(holey)
        path = model.log_likelihood_path_
        assert len(path) > 4
        assert (np.diff(path) >= -1e-10 * np.abs(path[1:])).all()
        assert model.log_likelihood_ == pytest.approx(model.score_samples(holey).sum(), rel=1e-10)
        assert f"{np.isnan(holey).sum()} entries imputed by the model" in str(model.summary_)

    def test_nor_with_a_heywood_case(self, holey, rng):
        X = holey.copy()
        X[:, 1] = 1000 * X[:, 0] + 1e-2 * rng.standard_normal(len(X))
        with pytest.warns(HeywoodWarning, match="column 1"):
            model = FactorAnalysis(3, missing="em", tol=1e-12).fit(X)
        path = model.log_likelihood_path_
        assert (np.diff(path) >= -1e-10 * np.abs(path[1:])).all()

    @pytest.mark.slow
    def test_no_small_change_of_the_parameters_is_better(self, holey, rng):
        from gramian.spaces.gaussian import expect, patterns

        model = FactorAnalysis(2, missing="em", tol=1e-14).fit(holey)
        groups = patterns(holey)

        def likelihood(shift, L, psi):
            C = (L @ L.T + np.diag(psi)) * np.outer(model.scale_, model.scale_)
            return expect(holey, groups, model.mean_ + shift * model.scale_, C).log_density.sum()

        L, psi = model.loadings_, model.uniquenesses_
        best = likelihood(0, L, psi)
        assert best == pytest.approx(model.log_likelihood_, rel=1e-10)
        for _ in range(30):
            other = (
                2e-3 * rng.standard_normal(8),
                L + 2e-3 * rng.standard_normal(L.shape),
                psi * (1 + 2e-3 * rng.standard_normal(8)),
            )
            assert likelihood(*other) < best

    def test_weighting_is_repeating_rows(self, holey, rng):
        times = rng.integers(0, 3, len(holey))
        weighted = FactorAnalysis(2, missing="em", tol=0.0).fit(holey, sample_weight=times)
        repeated = FactorAnalysis(2, missing="em", tol=0.0).fit(np.repeat(holey, times, axis=0))
        assert_allclose(weighted.loadings_, repeated.loadings_, atol=1e-6)
        assert_allclose(weighted.mean_, repeated.mean_, rtol=1e-6)
        assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-12)
        assert weighted.fit_indices_["chi_square"] == pytest.approx(repeated.fit_indices_["chi_square"], rel=1e-5)

    def test_it_comes_close_to_the_complete_data(self, rows, holey):
        model, truth = FactorAnalysis(2, missing="em").fit(holey), FactorAnalysis(2).fit(rows)
        assert_allclose(model.loadings_, truth.loadings_, atol=0.12)
        assert_allclose(model.transform(holey)[:, 0], truth.transform(rows)[:, 0], atol=1.2)
        indices = model.fit_indices_
        # Correlations with gaps know less than they seem to: their chi-square is the larger one.
        assert 0 < indices["likelihood_ratio"] < 400 * indices["discrepancy"] * 1.05

    def test_the_default_stays_an_error(self, holey):
        with pytest.raises(ValueError, match="contains NaN"):
            FactorAnalysis(2).fit(holey)


class TestAdequacy:
    def test_grades_go_by_three_digits(self):
        assert [grade("rmsea", 0.0604), grade("cfi", 0.927), grade("tli", 0.88)] == ["good", "fair", "poor"]

    def test_indices_are_their_formulas(self, R):
        found = maximum_likelihood(R, 1)
        got = fit_indices(R, found.implied(), 400, 1)
        d, n, df = 8, 400, 20
        chi = (n - 1 - 21 / 6 - 2 / 3) * found.discrepancy
        null = -(n - 1 - 21 / 6) * np.linalg.slogdet(R)[1]
        assert got["df"] == df
        assert got["chi_square"] == pytest.approx(chi)
        assert got["p"] == pytest.approx(chi2.sf(chi, df))
        assert got["rmsea"] == pytest.approx(np.sqrt((chi / df - 1) / (n - 1)))
        low, high = got["rmsea_interval"]
        assert low < got["rmsea"] < high
        assert ncx2.cdf(chi, df, low**2 * df * (n - 1)) == pytest.approx(0.95, abs=1e-6)
        assert ncx2.cdf(chi, df, high**2 * df * (n - 1)) == pytest.approx(0.05, abs=1e-6)
        assert got["tli"] == pytest.approx((null / 28 - chi / df) / (null / 28 - 1))
        assert got["cfi"] == pytest.approx(1 - (chi - df) / (null - 28))
        assert got["bic"] == pytest.approx(chi - df * np.log(n))
        off = (R - found.implied())[~np.eye(d, dtype=bool)]
        assert got["srmr"] == pytest.approx(np.sqrt(np.mean(off**2)))
        assert got["srmr_corrected"] == pytest.approx(np.sqrt(np.sum(off**2) / (2 * df)))
        assert got["likelihood_ratio"] == pytest.approx(n * found.discrepancy)
        assert bartlett_sphericity(R, n) == pytest.approx({"chi_square": null, "df": 28, "p": chi2.sf(null, 28)})

    @pytest.mark.slow
    def test_under_a_true_model_chi_square_is_what_it_should_be(self, rng):
        L = np.array([0.8, 0.7, 0.6, 0.7, 0.5, 0.6])
        tails = []
        for _ in range(200):
            X = np.outer(rng.standard_normal(150), L) + np.sqrt(1 - L**2) * rng.standard_normal((150, 6))
            R = np.corrcoef(X.T)
            tails.append(fit_indices(R, maximum_likelihood(R, 1).implied(), 150, 1)["p"])
        assert 0.4 < np.mean(tails) < 0.6
        assert 0.01 < np.mean(np.array(tails) < 0.05) < 0.1

    def test_what_is_not_defined_is_none(self):
        loadings = np.array([[0.9], [0.8], [0.7]])
        R = loadings @ loadings.T + np.diag(1 - loadings[:, 0] ** 2)
        exact = fit_indices(R, R, 100, 1)
        assert exact["df"] == 0
        assert exact["chi_square"] == pytest.approx(0, abs=1e-10)
        assert [exact[name] for name in ("p", "rmsea", "rmsea_interval", "tli", "cfi", "bic")] == [None] * 6
        singular = fit_indices(np.ones((5, 5)), np.eye(5), 100, 1)
        assert singular["chi_square"] is None
        assert singular["srmr"] == 1
        assert kmo(np.ones((5, 5))) is None
        assert bartlett_sphericity(np.ones((5, 5)), 100)["chi_square"] is None
        unknown = fit_indices(None, np.eye(5), 100, 1)
        assert {name for name, value in unknown.items() if value is not None} == {"df", "null_df"}
        assert set(unknown) == set(exact)

    def test_sampling_adequacy_compares_with_partial_correlations(self, rows, R):
        found = kmo(R)
        Z = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        partial = np.zeros((8, 8))
        for i in range(8):
            for j in range(i):
                rest = [m for m in range(8) if m not in (i, j)]
                left = Z[:, [i, j]] - Z[:, rest] @ np.linalg.lstsq(Z[:, rest], Z[:, [i, j]], rcond=None)[0]
                partial[i, j] = partial[j, i] = np.corrcoef(left.T)[0, 1]
        plain = R - np.eye(8)
        assert found.overall == pytest.approx(np.sum(plain**2) / (np.sum(plain**2) + np.sum(partial**2)), rel=1e-9)
        assert_allclose(found.columns, np.sum(plain**2, 1) / (np.sum(plain**2, 1) + np.sum(partial**2, 1)), rtol=1e-9)

    @pytest.mark.parametrize(("d", "most"), [(1, 1), (2, 1), (3, 1), (4, 1), (5, 2), (6, 3), (10, 6), (25, 18)])
    def test_most_factors(self, d, most):
        assert most_factors(d) == most
        assert degrees_of_freedom(d, most + 1) < 0


class TestRefusals:
    def test_too_many_factors(self, rows):
        """C73."""
        with pytest.raises(ValueError, match="Use n_components=4 or fewer"):
            FactorAnalysis(5).fit(rows)
        with pytest.raises(TypeError, match="n_components=None"):
            FactorAnalysis(None).fit(rows)

    def test_constant_columns_are_named(self, rows):
        frame = pd.DataFrame(rows, columns=list("abcdefgh")).assign(c=0.1)
        with pytest.raises(ValueError, match="c is constant"):
            FactorAnalysis(1).fit(frame)
        with pytest.raises(ValueError, match="column 3 is constant"):
            FactorAnalysis(1, missing="em").fit(np.where(np.eye(400, 8) > 0, np.nan, frame.to_numpy()))

    def test_bad_words(self, rows):
        for change, match in (({"rotation": "equamax"}, "rotation='equamax'"), ({"missing": "mean"}, "missing='mean'")):
            for call in ("fit", "partial_fit"):
                with pytest.raises(ValueError, match=match):
                    getattr(FactorAnalysis(1, **change), call)(rows)
        with pytest.raises(ValueError, match="method='anderson'"):
            FactorAnalysis(1).fit(rows).scores(rows, method="anderson")

    def test_matrices_that_are_no_correlations(self, R):
        bent, beyond = R.copy(), R.copy()
        bent[0, 1] += 0.1
        beyond[0, 1] = beyond[1, 0] = 1.2
        for bad, match in ((R[:4], "shape"), (bent, "not symmetric"), (beyond, "beyond 1"), (-R, "positive diagonal")):
            with pytest.raises(ValueError, match=match):
                FactorAnalysis(1).fit_correlation(bad, 100)
        with pytest.raises(ValueError, match="n=1 must"):
            FactorAnalysis(1).fit_correlation(R, 1)

    def test_a_refused_fit_leaves_the_model_as_it_was(self, rows):
        model = FactorAnalysis(1).fit(rows)
        with pytest.raises(ValueError, match="constant"):
            model.fit(np.ones((50, 5)))
        assert model.transform(rows).shape == (400, 1)


class TestWarnings:
    def test_heywood_cases(self, rows, rng):
        """C72."""
        X = rows.copy()
        X[:, 1] = 1000 * X[:, 0] + 1e-3 * rng.standard_normal(400)
        with pytest.warns(HeywoodWarning, match="column 1, column 2|column 1|column 2"):
            model = FactorAnalysis(2).fit(X)
        assert model.uniquenesses_.min() == pytest.approx(LEAST_UNIQUENESS)
        assert "Heywood case" in str(model.summary_)
        assert 0 in model.summary_.facts["heywood"] or 1 in model.summary_.facts["heywood"]

    def test_fewer_rows_than_columns(self, rows):
        with pytest.warns(gramian.RankWarning, match="6 rows are no more than 8 columns"), _quiet(HeywoodWarning):
            model = FactorAnalysis(1).fit(rows[:6])
        assert model.fit_indices_["chi_square"] is None
        assert model.kmo_ is None
        assert np.isfinite(model.log_likelihood_)
        assert "not defined" in str(model.summary_)

    def test_two_columns(self, rows):
        with pytest.warns(gramian.RankWarning, match="not determined"):
            model = FactorAnalysis(1).fit(rows[:, :2])
        L = model.loadings_[:, 0]
        assert L[0] * L[1] == pytest.approx(np.corrcoef(rows[:, :2].T)[0, 1], abs=1e-8)

    def test_an_iteration_that_is_cut_short_says_so(self, holey):
        with pytest.warns(gramian.ConvergenceWarning, match="max_iter=2"):
            model = FactorAnalysis(2, missing="em", max_iter=2).fit(holey)
        assert not model.summary_.facts["converged"]


class TestForPeople:
    def test_summary(self, rows):
        lines = str(FactorAnalysis(2, rotation="oblimin").fit(rows).summary_).splitlines()
        assert [line.split()[0] for line in lines] == [
            "FactorAnalysis",
            "route",
            "chi-square",
            "fit",
            "likelihood",
            "work",
        ]
        assert "oblimin" in lines[1]
        assert "13 degrees of freedom, p = " in lines[2]
        assert all(word in lines[3] for word in ("RMSEA", "TLI", "CFI", "SRMR"))

    def test_facts_are_plain(self, rows):
        facts = FactorAnalysis(2).fit(rows).summary_.to_dict()
        assert facts["fit_indices"]["df"] == 13
        assert facts["converged"] is True

    def test_table_of_loadings(self, rows):
        frame = pd.DataFrame(rows[:, ::-1], columns=list("hgfedcba"))
        model = FactorAnalysis(2, rotation="oblimin").fit(frame)
        text = model.loadings_table(cut=0.3)
        lines = text.splitlines()
        assert lines[0].split() == ["factor", "1", "factor", "2", "common", "unique"]
        order = "".join(line[0] for line in lines[1:9])
        assert sorted(order) == list("abcdefgh")
        assert set(order[:4]) in ({*"abcd"}, {*"efgh"})
        first = np.abs(model.loadings_[:, 0])
        assert order[0] == frame.columns[first.argmax()]
        assert len(lines[1].split()) == 4
        assert "correlations" in text
        sums = [float(v) for v in next(line for line in lines if line.startswith("sum of squares")).split()[3:]]
        assert sum(sums) == pytest.approx(model.communalities_.sum(), abs=2e-3)
        unsorted = model.loadings_table(cut=0, sort=False).splitlines()
        assert "".join(line[0] for line in unsorted[1:9]) == "hgfedcba"
        assert all(len(line.split()) == 5 for line in unsorted[1:9])
        assert "correlations" not in FactorAnalysis(2).fit(frame).loadings_table()


def test_clone_and_single_precision(rows):
    X = ((rows - rows.mean(axis=0)) / rows.std(axis=0)).astype(np.float32)
    model = clone(FactorAnalysis(2, rotation="varimax")).fit(X)
    assert model.loadings_.dtype == model.transform(X).dtype == np.float32
    assert_allclose(model.loadings_, FactorAnalysis(2, rotation="varimax").fit(X.astype(float)).loadings_, atol=1e-6)
