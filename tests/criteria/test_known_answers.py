"""Criteria against hand computations, closed forms, published numbers and implementations of their own."""

from functools import reduce

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln
from sklearn.decomposition import PCA as ReferencePCA
from sklearn.linear_model import LinearRegression

from gramian import FactorAnalysis, ProbabilisticPCA, criteria
from gramian.criteria import Variances
from gramian.criteria.likelihood import (
    block_errors,
    factor_costs,
    held_out_log_likelihoods,
    log_evidence,
    log_likelihoods,
)
from gramian.criteria.noise_edge import noise_edge, noise_variance
from gramian.criteria.random_tables import component_limits, random_scatter, reduced
from gramian.criteria.spectrum import average_partials, median_of_noise, optimal_factor
from gramian.operators import Moments, moments_of


def of_values(*values, n=100):
    values = np.array(values, dtype=float)
    return Variances(values, np.eye(len(values)), values, n)


@pytest.fixture
def rows(rng):
    """300 x 8 with three components and noise that differs between columns."""
    U, W = rng.standard_normal((300, 3)) * [4, 3, 2.5], np.linalg.qr(rng.standard_normal((8, 3)))[0]
    return U @ W.T + rng.standard_normal((300, 8)) * np.linspace(0.5, 1.2, 8) + 4


@pytest.fixture
def factored(rng):
    """400 x 9 with three factors, each of three columns."""
    U = np.repeat(rng.standard_normal((400, 3)), 3, axis=1)
    return 0.7 * U + np.sqrt(0.51) * rng.standard_normal((400, 9))


@pytest.fixture
def found(rows):
    return Variances.of_matrix(np.cov(rows.T), len(rows))


class TestRules:
    def test_share(self):
        assert criteria.variance_share(of_values(5, 4, 1)).k == 2
        assert criteria.variance_share(of_values(5, 4, 1), 0.91).k == 3

    def test_kaiser_is_one_for_a_correlation_matrix(self):
        # The largest eigenvalues of a 4 x 4 matrix of correlations 0.5 are 2.5 and 0.5.
        R = np.full((4, 4), 0.5) + 0.5 * np.eye(4)
        said = criteria.kaiser(Variances.of_matrix(R, 50))
        assert (said.k, said.detail) == (1, "average 1")

    def test_broken_stick(self):
        # Three pieces: 11/18, 5/18, 2/18 of the stick.
        assert criteria.broken_stick(of_values(12, 5.1, 0.9)).k == 2
        assert criteria.broken_stick(of_values(10.9, 5.1, 2)).k == 0

    def test_gap(self):
        assert criteria.largest_gap(np.array([8.0, 7.0, 2.0, 1.5, 1.4, 1.3])).k == 2
        assert criteria.largest_gap(np.array([8.0, 7.0])).k is None
        assert criteria.largest_gap(np.array([4.0, 3.0, 2.0, 0.0, 0.0, 0.0]), whole=True).k == 3


class TestEdge:
    @pytest.mark.parametrize(("d", "freedom"), [(10, 200), (200, 100), (100, 100)])
    def test_white_noise_has_the_edge_of_marchenko_and_pastur(self, d, freedom):
        edge = noise_edge(np.full(d, 3.0), freedom)
        assert_allclose(edge.place, 3 * (1 + np.sqrt(d / freedom)) ** 2)
        # Johnstone's centring and scale for the largest eigenvalue, but for his half-steps.
        root = np.sqrt(freedom) + np.sqrt(d)
        assert_allclose(edge.spread, 3 * root * (freedom**-0.5 + d**-0.5) ** (1 / 3) / freedom)

    def test_two_kinds_of_columns(self, rng):
        t = np.repeat([1.0, 4.0], 75)
        edge = noise_edge(t, 299)
        largest = [np.linalg.eigvalsh(np.cov((rng.standard_normal((300, 150)) * np.sqrt(t)).T))[-1] for _ in range(3)]
        assert abs(np.mean(largest) - edge.place) < 4 * edge.spread

    def test_no_columns_are_lost_to_a_weight_of_nothing(self):
        t, weights = np.array([1.0, 1, 1, 1]), np.array([1.0, 1, 1, 0])
        assert_allclose(noise_edge(t, 50, weights).place, noise_edge(t[:3], 50).place)

    def test_noise_that_components_hold_is_given_back(self):
        d, N, s2, true = 50, 200, 2.0, np.array([40.0, 20.0])
        values = true * (1 + (d - 2) / N * s2 / (true - s2))
        assert_allclose(noise_variance(values, true.sum() + 48 * s2, d, N), s2, rtol=1e-8)

    def test_deflation_brings_out_what_a_large_component_hides(self, rng):
        V = np.linalg.qr(rng.standard_normal((30, 2)))[0]
        X = rng.standard_normal((400, 2)) * [40, 1.6] @ V.T + rng.standard_normal((400, 30))
        found = Variances.of_matrix(np.cov(X.T), 400)
        assert criteria.deterministic(found).k == 1
        assert criteria.deflated(found).k == 2

    def test_false_alarms_are_as_rare_as_the_level_says(self, rng):
        tables = [np.cov(rng.standard_normal((100, 20)).T) for _ in range(200)]
        alarms = sum(criteria.deflated(Variances.of_matrix(C, 100)).k > 0 for C in tables)
        assert alarms <= 20  # ten are expected


class TestThreshold:
    def test_a_square_table_has_the_quarter_circle(self):
        x = np.sqrt(median_of_noise(1.0))
        assert_allclose((x * np.sqrt(4 - x**2) / 2 + 2 * np.arcsin(x / 2)) / np.pi, 0.5)

    @pytest.mark.parametrize("beta", [0.05, 0.3, 0.7, 1.0])
    def test_published_approximation(self, beta):
        # Gavish and Donoho 2014, equation 5: right to 0.02.
        assert abs(optimal_factor(beta) - (0.56 * beta**3 - 0.95 * beta**2 + 1.82 * beta + 1.43)) < 0.02

    def test_counts_what_is_above(self):
        values = np.concatenate([[60.0, 40.0], np.linspace(1.6, 0.4, 48)])
        assert criteria.gavish_donoho(of_values(*values, n=1001)).k == 2


class TestLikelihoods:
    def test_likelihoods_are_those_of_the_models(self, rows, found):
        models = [ProbabilisticPCA(k).fit(rows).log_likelihood_ for k in range(1, 8)]
        assert_allclose(log_likelihoods(found)[1:], models)

    def test_bic(self, rows, found):
        d, n = 8, len(rows)
        costs = [
            -2 * ProbabilisticPCA(k).fit(rows).log_likelihood_ + (d * k - k * (k - 1) / 2 + 1 + d) * np.log(n)
            for k in range(1, d)
        ]
        assert criteria.bic(found).k == 1 + np.argmin(costs)

    def test_evidence_is_the_formula(self, rows, found):
        lam, n, d = found.values * 299 / 300, 300, 8
        for k, evidence in enumerate(log_evidence(found)):
            v = lam[k:].mean()
            hat = np.concatenate([lam[:k], np.full(d - k, v)])
            total = -k * np.log(2) + sum(
                gammaln((d - i + 1) / 2) - (d - i + 1) / 2 * np.log(np.pi) for i in range(1, k + 1)
            )
            total += -n / 2 * (np.log(lam[:k]).sum() + (d - k) * np.log(v))
            m = d * k - k * (k + 1) / 2
            for i in range(k):
                for j in range(i + 1, d):
                    total -= 0.5 * np.log((1 / hat[j] - 1 / hat[i]) * (lam[i] - lam[j]) * n)
            total += (m + k) / 2 * np.log(2 * np.pi) - k / 2 * np.log(n)
            assert_allclose(evidence, total)

    def test_evidence_chooses_as_scikit_learn_does(self, rng):
        for k in (1, 2, 4):
            X = rng.standard_normal((200, k)) * 3 @ rng.standard_normal((k, 10)) + rng.standard_normal((200, 10))
            said = criteria.minka(Variances.of_matrix(np.cov(X.T), 200))
            assert said.k == ReferencePCA("mle").fit(X).n_components_ == k

    def test_rows_left_out_are_scored_by_models_of_the_others(self, rows):
        folds = [moments_of(rows[at::3]) for at in range(3)]
        scores = np.zeros(7)
        for at in range(3):
            rest = np.vstack([rows[other::3] for other in range(3) if other != at])
            scores += [ProbabilisticPCA(k).fit(rest).score_samples(rows[at::3]).sum() for k in range(1, 8)]
        assert_allclose(held_out_log_likelihoods(folds, np.ones(8))[1:], scores / len(rows))


def test_bi_cross_validation_is_that_of_the_blocks(rows):
    folds = [moments_of(rows[at::4]) for at in range(4)]
    errors = block_errors(folds, np.ones(8))
    X = rows - rows.mean(axis=0)
    halves = [np.vstack([X[0::4], X[2::4]]), np.vstack([X[1::4], X[3::4]])]
    order = np.argsort(-X.var(axis=0))
    columns = [order[0::2], order[1::2]]
    direct = np.zeros(5)
    for r in (0, 1):
        for c in (0, 1):
            A, B = halves[r][:, columns[c]], halves[r][:, columns[1 - c]]
            C, D = halves[1 - r][:, columns[c]], halves[1 - r][:, columns[1 - c]]
            U, s, Vt = np.linalg.svd(D, full_matrices=False)
            for k in range(5):
                inverse = (Vt[:k].T / s[:k]) @ U[:, :k].T
                direct[k] += np.sum((A - B @ inverse @ C) ** 2)
    assert_allclose(errors, direct / direct[0])


def test_partial_correlations_are_those_of_residuals(rows, found):
    averages = average_partials(found)
    X = rows - rows.mean(axis=0)
    for k in range(4):
        V = found.directions[:, :k]
        R = np.corrcoef((X - X @ V @ V.T).T)
        assert_allclose(averages[k], np.mean(R[~np.eye(8, dtype=bool)] ** 2))


class TestParallel:
    def test_matrices_drawn_without_rows_are_like_those_of_rows(self, rng):
        t = np.array([1.0, 2.0, 5.0])
        ours = np.array([random_scatter(t, 20.0, rng) for _ in range(4000)])
        theirs = np.array([np.cov((rng.standard_normal((21, 3)) * np.sqrt(t)).T) for _ in range(4000)])
        assert_allclose(ours.mean(axis=0), np.diag(t), atol=0.12)
        assert_allclose(ours.std(axis=0), theirs.std(axis=0), rtol=0.06)
        values = [np.quantile(np.linalg.eigvalsh(C), 0.9, axis=0) for C in (ours, theirs)]
        assert_allclose(*values, rtol=0.05)

    def test_fewer_rows_than_columns(self, rng):
        values = np.linalg.eigvalsh(random_scatter(np.ones(30), 10.0, rng))
        assert (values > 1e-10).sum() == 10

    @pytest.mark.slow
    def test_correlation_limits_are_those_of_tables_of_rows(self, rng):
        limits = component_limits(np.ones(6), 49.0, correlation=True, tables=2000, seed=0)
        tables = [np.linalg.eigvalsh(np.corrcoef(rng.standard_normal((50, 6)).T))[::-1] for _ in range(2000)]
        assert_allclose(limits, np.quantile(tables, 0.95, axis=0), rtol=0.02)

    def test_common_variance_is_what_the_other_columns_explain(self, rows):
        R = np.corrcoef(rows.T)
        shares = [
            LinearRegression().fit(np.delete(rows, j, 1), rows[:, j]).score(np.delete(rows, j, 1), rows[:, j])
            for j in range(8)
        ]
        plain = R.copy()
        np.fill_diagonal(plain, shares)
        assert_allclose(reduced(R), np.linalg.eigvalsh(plain)[::-1], atol=1e-10)

    def test_finds_three(self, factored):
        R = np.corrcoef(factored.T)
        assert criteria.horn(Variances.of_matrix(R, 400), correlation=True).k == 3
        assert criteria.horn_factors(R, 400).k == 3


def test_factor_fits_are_those_of_the_models(factored):
    R, n, d = np.corrcoef(factored.T), len(factored), 9
    costs = [cost for cost, _ in factor_costs(R, n)]
    models = [FactorAnalysis(k).fit(factored) for k in (1, 2, 3)]
    bic = [
        -2 * model.log_likelihood_ + (d * (k + 1) - k * (k - 1) / 2) * np.log(n) for k, model in enumerate(models, 1)
    ]
    assert_allclose(np.diff(costs[1:4]), np.diff(bic), rtol=1e-6)
    by_information, by_test = criteria.factor_fits(R, n)
    assert by_information.k == 3
    assert by_test.k == 3


def test_halves_of_folds_are_added_as_rows_are(rows):
    folds = [moments_of(rows[at::6]) for at in range(6)]
    total = reduce(Moments.__add__, folds)
    assert_allclose(total.scatter, (len(rows) - 1) * np.cov(rows.T))
