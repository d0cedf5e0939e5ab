"""Intervals cover, ties are tied, and draws are what they should be."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_iris, load_linnerud, load_wine

from gramian import (
    CCA,
    ICA,
    PCA,
    FactorAnalysis,
    KernelPCA,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
)
from gramian.operators import moments_of
from gramian.selection import column_importance, trust, trust_bootstrap
from gramian.selection.trust import align, influence_of_rows, largest_angle
from gramian.selection.trust_bootstrap import Replicas, band, drawn_moments, stand_ins
from gramian.selection.trust_result import DISTINCT_GAP_ERRORS, gaps_in_errors

LINEAR = {
    "pca": PCA(3),
    "scaled pca": PCA(3, scale=True),
    "uncentred pca": PCA(3, center=False),
    "probabilistic": ProbabilisticPCA(2),
    "factors": FactorAnalysis(2),
    "rotated factors": FactorAnalysis(2, rotation="varimax"),
    "pls": PLSRegression(2),
    "pcr": PrincipalComponentRegression(2),
    "cca": CCA(2),
}


def rows_for(estimator, rng, n=120):
    """Rows, and a target or a second view if the method needs one."""
    u = rng.standard_normal((n, 2)) * [2, 1]
    X = u @ rng.standard_normal((2, 6)) + 0.7 * rng.standard_normal((n, 6)) + 1.0
    if isinstance(estimator, CCA):
        return X, u @ rng.standard_normal((2, 3)) + rng.standard_normal((n, 3))
    return (X, u[:, 0] + 0.3 * rng.standard_normal(n)) if hasattr(estimator, "predict") else (X, None)


@pytest.mark.parametrize("estimator", LINEAR.values(), ids=LINEAR)
def test_stand_ins_give_the_fit_of_the_rows(estimator, rng):
    X, y = rows_for(estimator, rng)
    w = rng.integers(0, 4, len(X)).astype(float)
    views = (X,) if y is None else (X, y)
    d = X.shape[1]
    rows, weights = stand_ins(moments_of(X, w, beside=None if y is None else y.reshape(len(y), -1)))
    parts = (rows,) if y is None else (rows[:, :d], rows[:, d:].reshape(len(rows), -1) if y.ndim == 2 else rows[:, d])
    assert len(rows) <= 2 * (d + 3)
    expected = type(estimator)(**estimator.get_params()).fit(*views, sample_weight=w)._reading()
    found = type(estimator)(**estimator.get_params()).fit(*parts, sample_weight=weights)._reading()
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-6)
    np.testing.assert_allclose(found.vectors, expected.vectors, atol=1e-5)


@pytest.mark.parametrize("narrow", [0, 64])
def test_draws_have_the_spread_of_resampled_rows(rng, monkeypatch, narrow):
    monkeypatch.setattr(trust_bootstrap, "_PRODUCTS_MAX_COLUMNS", narrow)
    X = rng.standard_normal((5000, 3)) * [1, 2, 3] + 100
    drawn = list(drawn_moments([X[:, :1], X[:, 1:]], 400, rng))
    assert {moments.weight for moments in drawn} == {5000.0}
    means = np.array([moments.mean for moments in drawn])
    np.testing.assert_allclose(means.mean(axis=0), X.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(means.std(axis=0), X.std(axis=0) / 5000**0.5, rtol=0.15)
    variances = np.array([np.diag(moments.scatter) / 5000 for moments in drawn])
    np.testing.assert_allclose(variances.std(axis=0) / X.var(axis=0), (2 / 5000) ** 0.5, rtol=0.2)
    assert all((moments.scatter == moments.scatter.T).all() for moments in drawn)


def test_both_ways_to_form_products_agree(rng, monkeypatch):
    X = rng.standard_normal((60, 4))
    one = next(drawn_moments([X], 1, np.random.default_rng(3)))
    monkeypatch.setattr(trust_bootstrap, "_PRODUCTS_MAX_COLUMNS", 0)
    other = next(drawn_moments([X], 1, np.random.default_rng(3)))
    np.testing.assert_allclose(one.scatter, other.scatter, rtol=1e-12)


@pytest.mark.slow
def test_moments_and_weighted_rows_give_the_same_errors(rng, monkeypatch):
    X = rng.standard_normal((150, 4)) * [4, 2, 1, 0.5]
    by_moments = trust(PCA(2), X, n_boot=400)
    monkeypatch.setattr(trust_bootstrap, "MOMENTS_MIN_ROWS_PER_COLUMN", 10**9)
    by_rows = trust(PCA(2), X, n_boot=400)
    assert (by_moments.route, by_rows.route) == ("moments", "weighted rows")
    np.testing.assert_allclose(by_moments.values.error, by_rows.values.error, rtol=0.2)
    np.testing.assert_allclose(by_moments.vectors.error, by_rows.vectors.error, rtol=0.3)
    np.testing.assert_allclose(by_moments.values.error, by_rows.values.estimate * (2 / 150) ** 0.5, rtol=0.4)


@pytest.mark.slow
@pytest.mark.parametrize("estimator", LINEAR.values(), ids=LINEAR)
def test_every_linear_method_has_intervals(estimator, rng):
    X, y = rows_for(estimator, rng)
    before = X.copy()
    fitted = type(estimator)(**estimator.get_params()).fit(*((X,) if y is None else (X, y)))
    found = trust(fitted, X, y, n_boot=30)
    again = trust(estimator, X, y, n_boot=30)
    assert json.dumps(found.to_dict()) == json.dumps(again.to_dict())  # same seed, same bits; fitted or not
    assert not hasattr(estimator, "summary_")
    np.testing.assert_array_equal(X, before)
    v, e = found.values, found.vectors
    assert (v.low <= v.high).all()
    assert (v.low >= 0).all()
    assert (e.low <= e.estimate).all()
    assert (e.estimate <= e.high).all()
    assert e.estimate.shape == (len(found.columns), len(v.estimate))
    assert found.estimator in str(found)
    assert "30 bootstrap draws of moments" in str(found)
    assert len(found.table(2).splitlines()) == 1 + len(found.columns)


def test_draws_mix_the_pair_that_is_equal_and_no_other(rng):
    X = rng.standard_normal((2000, 5)) * [4, 2, 2, 1, 0.5]
    found = trust(PCA(4), X, n_boot=40)
    assert [pair[:2] for pair in found.recovery.pairs] == [(2, 3)]
    assert found.recovery.shares[[0, 3]].tolist() == [1.0, 1.0]
    assert (found.recovery.shares[[1, 2]] < 0.9).all()
    assert "components 2 and 3 in" in str(found)
    assert not found.ties.cut
    cut = trust(PCA(2), X, n_boot=20)
    assert cut.ties.cut
    assert "component 2 is" in str(cut)
    assert "above 3, left out" in str(cut)
    assert cut.to_dict()["last_is_told_from_next"] is False
    assert cut.recovery.pairs == ()


def test_small_gaps_in_a_row_are_not_chained(rng):
    """Each variance is near the next one, the first is far from the last: neighbours may mix, the ends do not."""
    X = rng.standard_normal((200, 6)) * np.sqrt([3.6, 3.0, 2.5, 2.1, 1.75, 0.1])
    found = trust(PCA(5), X, n_boot=200)
    assert len(found.ties.close) >= 3
    mixed = {pair[:2] for pair in found.recovery.pairs}
    assert mixed
    assert not mixed & {(1, 4), (1, 5), (2, 5)}
    text = str(found)
    assert "cannot" not in text
    for k, share in enumerate(found.recovery.shares):
        assert f"recovered in {100 * share:.3g} % of draws" in text.splitlines()[k + 1]
    assert found.to_dict()["recovery"]["shares"] == found.recovery.shares.tolist()
    assert "groups" not in found.to_dict()


def test_components_that_overlap_without_being_mixed_are_no_pair(rng):
    """Loadings of correlated factors are not orthogonal: what they share in the fit is not what draws mix."""
    F = rng.standard_normal((4000, 2)) @ np.linalg.cholesky([[1, 0.6], [0.6, 1]]).T
    L = np.kron(np.eye(2), np.ones((1, 4))) + 0.45 * np.kron(1 - np.eye(2), np.ones((1, 4)))
    found = trust(FactorAnalysis(2, rotation="oblimin"), F @ L + rng.standard_normal((4000, 8)), n_boot=20)
    assert found.recovery.shares.tolist() == [1.0, 1.0]
    assert found.recovery.pairs == ()


def test_gaps_stand_in_where_there_are_no_draws(rng):
    X = rng.standard_normal((400, 4)) * [4, 2, 2, 0.5]
    found = trust(KernelPCA(3, kernel="linear"), X)
    assert found.recovery is None
    assert f"below 2.4 standard errors between components 2 and 3 ({found.ties.gaps[1]:.2g})" in str(found)
    apart = trust(KernelPCA(2, kernel="linear"), rng.standard_normal((400, 3)) * [4, 2, 0.5])
    assert "all of 2.4 standard errors or more" in str(apart)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [False, True])
def test_one_tie_in_twenty_is_broken_by_chance(scale):
    """The threshold is a quantile: equal eigenvalues of Gaussian rows are taken as different in 5 % of samples."""
    rng, broken, samples = np.random.default_rng(5), 0, 400
    for _ in range(samples):
        X = rng.standard_normal((300, 3)) + rng.standard_normal((300, 1))  # eigenvalues 4, 1, 1
        pca = PCA(3, scale=scale).fit(X * [1, 5, 20] if scale else X)
        gaps, _ = gaps_in_errors(pca.explained_variance_, influence_of_rows(pca, X * [1, 5, 20] if scale else X))
        assert gaps[0] > DISTINCT_GAP_ERRORS
        broken += gaps[1] > DISTINCT_GAP_ERRORS
    assert 0.02 <= broken / samples <= 0.09


def test_standard_errors_without_a_model_match_the_gaussian_ones(rng):
    X = rng.standard_normal((20_000, 3)) * [3, 2, 1]
    pca = PCA(3).fit(X)
    _, errors = gaps_in_errors(pca.explained_variance_, influence_of_rows(pca, X))
    np.testing.assert_allclose(errors, pca.explained_variance_ * (2 / 20_000) ** 0.5, rtol=0.05)


def test_alignment_undoes_order_sign_and_rotation(rng):
    V = np.linalg.qr(rng.standard_normal((7, 4)))[0]
    moved = V[:, [1, 0, 2, 3]] * [-1, 1, 1, 1]
    np.testing.assert_allclose(align(moved, V), V, atol=1e-12)
    whole = V @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
    np.testing.assert_allclose(align(whole, V, free=True), V, atol=1e-12)
    assert largest_angle(V, whole) < 1e-6


@pytest.mark.parametrize(
    ("kind", "estimate"), [("positive", 3.0), ("share", 0.2), ("correlation", 0.7), ("signed", -1.0)]
)
def test_limits_are_those_of_a_normal_on_its_scale(rng, kind, estimate):
    from gramian.selection.trust_bootstrap import SCALES

    forth, back = SCALES[kind]
    draws = back(forth(np.array(estimate)) + 0.1 * rng.standard_normal(20_000))
    found = band(np.array(estimate), draws, kind, 0.95)
    np.testing.assert_allclose(
        [forth(found.low), forth(found.high)], forth(estimate) + np.array([-0.196, 0.196]), atol=0.01
    )


def test_limits_are_corrected_for_bias(rng):
    found = trust(PCA(2), rng.standard_normal((60, 30)), n_boot=50)
    assert (found.values.high < found.values.estimate).all()
    assert "corrected for the bias of the draws" in str(found)
    assert found.ties.cut
    assert (found.recovery.shares < 0.5).all()


def test_the_number_of_kernel_components_is_chosen_again_from_parts_of_the_rows(rng):
    X = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 6)) * 5 + rng.standard_normal((80, 6)) / 5
    found = trust(KernelPCA(0.98, kernel="linear"), X)
    assert found.chosen == {2: 1.0}
    assert len(found.values.estimate) == 2
    chosen = trust(KernelPCA("auto", kernel="linear"), X).chosen
    assert set(chosen) <= {1, 2}
    assert sum(chosen.values()) == pytest.approx(1)


def test_kernel_components_of_a_linear_kernel_are_those_of_pca(rng):
    X = rng.standard_normal((300, 4)) * [4, 2, 1, 0.5]
    kernel, linear = trust(KernelPCA(3, kernel="linear"), X), trust(PCA(3), X, n_boot=20)
    np.testing.assert_allclose(kernel.values.estimate * 300 / 299, linear.values.estimate, rtol=1e-9)
    np.testing.assert_allclose(kernel.ties.gaps, linear.ties.gaps[:2], rtol=0.01)  # divisors n and n - 1
    assert kernel.importance.method == "slopes"
    expected = (PCA(3).fit(X).components_.T * X.std(axis=0)[:, None]) ** 2
    np.testing.assert_allclose(kernel.importance.shares, expected / expected.sum(axis=0), rtol=1e-8)


@pytest.mark.slow
def test_the_number_of_components_is_chosen_again():
    X, y = load_diabetes(return_X_y=True)
    found = trust(PLSRegression("auto"), X, y, n_boot=20)
    assert sum(found.chosen.values()) == pytest.approx(1.0)
    assert max(found.chosen, key=found.chosen.get) == 2
    iris = load_iris().data
    assert trust(PCA(0.95), iris, n_boot=20).chosen == {2: 1.0}
    assert trust(PCA(2), iris, n_boot=20).chosen is None
    assert trust(PCA(2), iris, n_boot=20, count=lambda X: 3).chosen == {3: 1.0}
    assert "chosen" in str(trust(PCA(2), iris, n_boot=20, count=lambda X: 3))


def test_names_gaps_and_sparse_rows(rng):
    wine = load_wine(as_frame=True).data
    found = trust(PCA(2, scale=True), wine, n_boot=20)
    assert found.columns[0] == "alcohol"
    assert "flavanoids" in found.table(1)
    gaps = wine.to_numpy()[:, :5].copy()
    gaps[3, 2] = np.nan
    assert trust(ProbabilisticPCA(1, missing="em", tol=1e-6), gaps, n_boot=20).route == "weighted rows"
    assert trust(PCA(2), sp.csr_array(np.round(rng.standard_normal((50, 4)))), n_boot=20).route == "weighted rows"
    kernel = trust(KernelPCA(2), pd.DataFrame(wine).iloc[:, :4])
    assert "depends on" in str(kernel)
    assert "alcohol" in str(kernel)


def test_two_views_have_entries_of_both():
    X, Y = load_linnerud(return_X_y=True)
    found = trust(CCA(2), X, Y, n_boot=30)
    assert found.columns == ("x0", "x1", "x2", "y0", "y1", "y2")
    assert found.angles is None
    assert (found.values.high <= 1).all()


@pytest.mark.slow
def test_warnings_of_draws_are_counted(rng):
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 5)) + 0.05 * rng.standard_normal((40, 5))
    replicas = Replicas(FactorAnalysis(2), X, None, 20, rng)
    assert len(list(replicas)) == 20
    assert replicas.warned > 0


def test_draws_that_cannot_be_fitted_are_left_out_and_told(rng):
    X = np.column_stack([rng.standard_normal((12, 2)), np.eye(12)[:, :2]])
    found = trust(ProbabilisticPCA(2), X[:, :3], n_boot=40)
    assert 0 < found.refused < 20
    assert f"{found.refused} of 40 draws could not be fitted" in str(found)
    with pytest.raises(ValueError, match="cannot be fitted to most draws"):
        trust(CCA(1), X[:, 2:3], X[:, 3:], n_boot=40)


def test_components_without_variance_have_limits_of_zero(rng):
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 4))
    found = trust(PCA(), X, n_boot=20)
    assert (found.values.high[:2] > 0).all()
    assert (found.values.high[2:] == 0).all()
    json.dumps(found.to_dict(), allow_nan=False)


BAD = {
    "method": (lambda X: trust(ICA(2), X), TypeError, "trust does not know ICA"),
    "draws": (lambda X: trust(PCA(2), X, n_boot=3), ValueError, "n_boot=3"),
    "few rows": (lambda X: trust(PCA(2), X[:5]), ValueError, "at least 10 are needed"),
    "level": (lambda X: trust(PCA(2), X, level=95), ValueError, "level=95"),
    "other rows": (lambda X: trust(PCA(2).fit(X), X[:50]), ValueError, "was fitted to 200 rows, X has 50"),
    "nan": (lambda X: trust(PCA(2), np.where(X > 3, np.nan, X)), ValueError, "NaN"),
    "component": (lambda X: trust(PCA(2), X, n_boot=20).table(3), ValueError, "component=3"),
    "no entries": (lambda X: trust(KernelPCA(2), X).table(1), ValueError, "no entries"),
    "way": (lambda X: column_importance(PCA(2).fit(X), X, method="guess"), ValueError, "method='guess'"),
    "no slopes": (
        lambda X: column_importance(KernelPCA(2, kernel="laplacian").fit(X), X, method="slopes"),
        ValueError,
        "Use method='shuffled'",
    ),
    "given matrix": (
        lambda X: column_importance(KernelPCA(2, kernel="precomputed").fit(X @ X.T), X @ X.T),
        ValueError,
        "has no columns",
    ),
}


@pytest.mark.parametrize(("call", "kind", "complaint"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(table, call, kind, complaint):
    with pytest.raises(kind) as caught:
        call(table)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)
