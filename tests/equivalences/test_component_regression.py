"""Regressions on components: what they must agree with, and what must not change them."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression as SklearnPLS
from sklearn.model_selection import KFold, LeaveOneOut, PredefinedSplit

from gramian import GramianWarning, PLSRegression, PrincipalComponentRegression, RankWarning

MODELS = [
    PLSRegression(3),
    PLSRegression(3, scale=False),
    PLSRegression(3, scale="x"),
    PrincipalComponentRegression(3),
    PrincipalComponentRegression(3, scale=False),
    PrincipalComponentRegression(3, order="contribution"),
]
PLAIN = ["coef_", "intercept_", "x_weights_", "x_rotations_", "x_loadings_", "y_loadings_", "vip_", "x_explained_"]


def quietly(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        return function()


def least_squares(X, Y):
    """Coefficients (q, d) of least norm."""
    return np.linalg.lstsq(X - X.mean(axis=0), Y - Y.mean(axis=0), rcond=None)[0].T


@pytest.fixture
def targets(table, rng):
    """Two targets with different units, mostly linear in the table."""
    Y = (table @ rng.standard_normal((10, 2)) + 0.3 * rng.standard_normal((200, 2))) * [1.0, 7.0] + [4.0, -2.0]
    Y.setflags(write=False)
    return Y


def assert_same(ours, other, *, rtol=1e-8):
    for name in PLAIN:
        a, b = getattr(ours, name), getattr(other, name)
        assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max(), err_msg=name)


class TestLeastSquares:
    @pytest.mark.parametrize("model", [PrincipalComponentRegression(), PLSRegression(None)], ids=["PCR", "PLS"])
    @pytest.mark.parametrize("scale", [True, False])
    def test_all_components_are_least_squares(self, table, targets, model, scale):
        for Y in (targets, targets[:, :1]):
            fitted = clone(model).set_params(scale=scale).fit(table, Y)
            assert_allclose(fitted.coef_, least_squares(table, Y), rtol=1e-8)
            assert_allclose(fitted.predict(table) - Y @ np.eye(Y.shape[1]), _residuals(table, Y), atol=1e-9)

    @pytest.mark.parametrize("model", [PrincipalComponentRegression(), PLSRegression(None)], ids=["PCR", "PLS"])
    @pytest.mark.parametrize("scale", [True, False])
    def test_collinear_columns_give_the_answer_of_least_norm_and_say_so(self, table, targets, model, scale):
        """A60."""
        X = np.c_[table, table[:, 0] + table[:, 1], table[:, 2]]
        with pytest.warns(RankWarning, match="after 10 of 12 components"):
            fitted = clone(model).set_params(scale=scale).fit(X, targets[:, 0])
        size = X.std(axis=0, ddof=1) if scale else np.ones(12)
        assert_allclose(fitted.coef_ * size, least_squares(X / size, targets[:, :1]), rtol=1e-7)
        assert fitted.n_components_ == 10

    @pytest.mark.parametrize("seed", range(8))
    @pytest.mark.parametrize("model", [PrincipalComponentRegression(), PLSRegression(None)], ids=["PCR", "PLS"])
    def test_collinear_columns_that_came_piece_by_piece(self, model, seed):
        rng = np.random.default_rng(seed)
        X = (rng.standard_normal((60, 5)) + 2) @ rng.standard_normal((5, 6))
        y = X @ rng.standard_normal(6) + 0.1 * rng.standard_normal(60)
        whole, pieces = quietly(lambda: clone(model).fit(X, y)), clone(model)
        quietly(lambda: [pieces.partial_fit(X[at : at + 7], y[at : at + 7]) for at in range(0, 60, 7)])
        assert pieces.n_components_ == whole.n_components_ == 5
        assert_allclose(pieces.coef_, whole.coef_, rtol=1e-6)

    @pytest.mark.parametrize("level", [10.0, 1e3, 1e5])
    @pytest.mark.parametrize("model", [PrincipalComponentRegression(), PLSRegression(None)], ids=["PCR", "PLS"])
    def test_a_sum_of_columns_far_from_the_origin(self, model, level):
        """The rounding of stored numbers is no direction: a third column that is the sum of two adds nothing."""
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X = np.round(rng.standard_normal((20, 2)) + level, 2)
            y = X @ [1.0, 2.0] + rng.standard_normal(20)
            with pytest.warns(RankWarning, match="2 of 3"):
                fitted = clone(model).fit(np.c_[X, X.sum(axis=1)], y)
            assert np.abs(fitted.coef_).max() < 10
            assert_allclose(fitted.predict(np.c_[X, X.sum(axis=1)]), clone(model).fit(X, y).predict(X), atol=1e-6)

    def test_wide_tables(self, table, targets):
        X, y = table.T, targets[:10, 0]
        for model in (PrincipalComponentRegression(scale=False), PLSRegression(None, scale=False)):
            fitted = quietly(lambda model=model: clone(model).fit(X, y))
            assert_allclose(fitted.coef_[0], least_squares(X, y[:, None])[0], rtol=1e-7, atol=1e-12)
            assert_allclose(fitted.predict(X), y, rtol=1e-9)


def _residuals(X, Y):
    return (X - X.mean(axis=0)) @ least_squares(X, Y).T + Y.mean(axis=0) - Y


class TestScikitLearn:
    @pytest.mark.parametrize("scale", [True, False])
    @pytest.mark.parametrize("q", [1, 2])
    def test_pls(self, table, targets, scale, q):
        Y = targets[:, :q]
        ours = PLSRegression(4, scale=scale).fit(table, Y)
        theirs = SklearnPLS(4, scale=scale, tol=1e-15, max_iter=10_000).fit(table, Y)
        signs = np.sign((ours.x_weights_ * theirs.x_weights_).sum(axis=0))
        for name in ("x_weights_", "x_loadings_", "y_loadings_", "x_rotations_", "x_scores_"):
            assert_allclose(getattr(ours, name) * signs, getattr(theirs, name), atol=1e-6, err_msg=name)
        assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6, atol=1e-8)
        assert_allclose(ours.predict(table), theirs.predict(table), atol=1e-7)

    def test_pls_with_more_targets_than_columns(self, table, targets):
        theirs = SklearnPLS(2, tol=1e-15, max_iter=10_000).fit(targets, table)
        assert_allclose(PLSRegression(2).fit(targets, table).coef_, theirs.coef_, rtol=1e-6, atol=1e-9)

    def test_scaling_x_only_is_pls_of_standardised_columns(self, table, targets):
        Z = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
        ours, plain = PLSRegression(3, scale="x").fit(table, targets), PLSRegression(3, scale=False).fit(Z, targets)
        assert_allclose(ours.predict(table), plain.predict(Z), atol=1e-9)
        assert np.abs(ours.coef_ - PLSRegression(3).fit(table, targets).coef_).max() > 1e-3
        assert_allclose(ours.y_scale_, 1)


@pytest.mark.parametrize("model", MODELS, ids=str)
class TestWhatChangesNothing:
    def test_scores_of_the_training_rows(self, table, targets, model):
        fitted = clone(model).fit(table, targets)
        Z = (table - fitted.x_mean_) / fitted.x_scale_
        assert_allclose(fitted.x_scores_, fitted.transform(table), atol=1e-12)
        assert_allclose(fitted.x_scores_, Z @ fitted.x_rotations_, atol=1e-10)
        assert_allclose(fitted.predict(table), table @ fitted.coef_.T + fitted.intercept_, atol=1e-10)
        off = fitted.x_scores_.T @ fitted.x_scores_
        assert_allclose(off, np.diag(fitted.score_squares_), atol=1e-10 * off.max())

    def test_weights_are_repeated_rows(self, table, targets, model, rng):
        w = rng.integers(0, 4, 200)
        weighted = clone(model).fit(table, targets, sample_weight=w)
        repeated = clone(model).fit(np.repeat(table, w, axis=0), np.repeat(targets, w, axis=0))
        assert_same(weighted, repeated)
        few = rng.integers(0, 3, 8) + (np.arange(8) < 2)
        X, Y = table[:8], targets[:8]
        weighted = quietly(lambda: clone(model).fit(X, Y, sample_weight=few))
        assert_same(weighted, quietly(lambda: clone(model).fit(np.repeat(X, few, axis=0), np.repeat(Y, few, axis=0))))

    def test_pieces_give_the_whole(self, table, targets, model):
        whole = clone(model).fit(table, targets)
        for cuts in ([100], [1, 2, 3, 90], [199], range(1, 200, 13)):
            pieces = clone(model)
            for X, Y in zip(np.split(table, cuts), np.split(targets, cuts), strict=True):
                quietly(lambda X=X, Y=Y, pieces=pieces: pieces.partial_fit(X, Y))
            assert_same(pieces, whole)
            assert not hasattr(pieces, "x_scores_")
        further = clone(model).fit(table[:150], targets[:150]).partial_fit(table[150:], targets[150:])
        assert_same(further, whole)

    def test_sparse_equals_dense(self, rng, model):
        X = np.where(rng.random((120, 9)) < 0.3, rng.random((120, 9)), 0.0)
        y = X @ rng.standard_normal((9, 2)) + 0.1 * rng.standard_normal((120, 2))
        for rows in (slice(None), slice(0, 9)):
            dense = quietly(lambda rows=rows: clone(model).fit(X[rows], y[rows]))
            sparse = quietly(lambda rows=rows: clone(model).fit(sp.csr_array(X[rows]), y[rows]))
            assert_same(sparse, dense, rtol=1e-7)
            assert_allclose(sparse.transform(sp.csr_array(X)), dense.transform(X), atol=1e-9)
            assert_allclose(sparse.predict(sp.csr_matrix(X)), dense.predict(X), atol=1e-9)
            assert_allclose(sparse.q_residuals(sp.csr_array(X)), dense.q_residuals(X), atol=1e-9)

    def test_sparse_rows_far_from_the_origin(self, rng, model):
        X = rng.standard_normal((120, 5)) + 1e6
        y = (X - 1e6) @ rng.standard_normal(5) + 0.1 * rng.standard_normal(120)
        dense, sparse = (clone(model).fit(kind(X), y) for kind in (np.array, sp.csr_array))
        assert_allclose(sparse.coef_, dense.coef_, atol=1e-6)

    def test_single_precision(self, table, targets, model):
        narrow, wide = (clone(model).fit(table.astype(kind), targets) for kind in (np.float32, np.float64))
        assert_allclose(narrow.coef_, wide.coef_, rtol=1e-3, atol=1e-4)
        assert narrow.transform(table.astype(np.float32)).dtype == np.float32
        assert narrow.predict(table.astype(np.float32)).dtype == np.float64

    def test_shifts_and_units(self, table, targets, model, rng):
        fitted = clone(model).fit(table, targets)
        far = 10.0 ** rng.uniform(6, 9, 10)
        shifted = clone(model).fit(table + far, targets + 1e8)
        assert_allclose(shifted.coef_, fitted.coef_, atol=1e-5 * np.abs(fitted.coef_).max())
        assert_allclose(shifted.predict(table + far) - 1e8, fitted.predict(table), atol=1e-5)
        if model.scale:
            units = 10.0 ** rng.uniform(-8, 8, 10)
            assert_allclose(clone(model).fit(table * units, targets).coef_ * units, fitted.coef_, rtol=1e-7, atol=1e-10)
        if model.scale is True and isinstance(model, PLSRegression):
            scaled = clone(model).fit(table, targets * [1e-8, 1e8])
            assert_allclose(scaled.coef_ / [[1e-8], [1e8]], fitted.coef_, rtol=1e-8)

    def test_column_order(self, table, targets, model, rng):
        order = rng.permutation(10)
        a, b = clone(model).fit(table, targets), clone(model).fit(table[:, order], targets[:, ::-1])
        assert_allclose(b.coef_, a.coef_[::-1][:, order], rtol=1e-8, atol=1e-10)


def test_two_rows_in_pieces(table, targets):
    X, y, pieces = table[:2], targets[:2, 0], PLSRegression(1)
    pieces.partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:])
    assert_allclose(pieces.coef_, PLSRegression(1).fit(X, y).coef_)


@pytest.mark.parametrize("model", [PLSRegression(5), PrincipalComponentRegression()], ids=["PLS", "PCR"])
def test_the_size_of_all_weights_changes_nothing(table, targets, model):
    fitted = clone(model).fit(table, targets)
    for w in (3.0, 0.02):  # the second: 200 rows that together weigh as much as 4
        same = quietly(lambda w=w: clone(model).fit(table, targets, sample_weight=np.full(200, w)))
        assert same.n_components_ == fitted.n_components_
        assert_allclose(same.coef_, fitted.coef_, rtol=1e-8)


@pytest.mark.parametrize("model", [PLSRegression(3), PrincipalComponentRegression(3, scale=False)], ids=["PLS", "PCR"])
class TestMissing:
    def test_without_gaps_nothing_changes(self, table, targets, model):
        em = clone(model).set_params(missing="em").fit(table, targets)
        assert np.array_equal(em.coef_, clone(model).fit(table, targets).coef_)

    def test_few_gaps_change_little(self, table, targets, model, rng):
        table, targets = table[:50], targets[:50]
        X, Y, whole = table.copy(), targets.copy(), clone(model).fit(table, targets)
        X[rng.random(X.shape) < 0.02] = np.nan
        Y[rng.random(Y.shape) < 0.02] = np.nan
        em = clone(model).set_params(missing="em").fit(X, Y)
        assert np.corrcoef(em.predict(table).ravel(), whole.predict(table).ravel())[0, 1] > 0.995
        assert np.corrcoef(em.predict(X).ravel(), whole.predict(table).ravel())[0, 1] > 0.98
        assert np.isfinite(em.transform(X)).all()
        assert em.summary_.facts["n_missing"] == np.isnan(X).sum() + np.isnan(Y).sum()
        assert np.isfinite(em.q_residuals(X)).all()

    def test_a_gap_in_the_target_is_not_a_row_lost(self, table, targets, model):
        Y = targets.copy()
        Y[:3] = np.nan
        em = clone(model).set_params(missing="em").fit(table, Y)
        assert_allclose(em.x_mean_, table.mean(axis=0), rtol=1e-10)

    def test_rows_and_weights(self, table, targets, model, rng):
        X, targets, w = table[:40].copy(), targets[:40], rng.integers(1, 3, 40)
        X[rng.random(X.shape) < 0.02] = np.nan
        em = clone(model).set_params(missing="em")
        weighted = clone(em).fit(X, targets, sample_weight=w)
        repeated = clone(em).fit(np.repeat(X, w, axis=0), np.repeat(targets, w, axis=0))
        assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-4, atol=1e-5)

    def test_constant_and_collinear_columns_beside_gaps(self, table, targets, model):
        X = np.c_[table[:40], np.full(40, 0.1), table[:40, 0] + table[:40, 1]]
        X[3, 2] = np.nan
        em = clone(model).set_params(missing="em").fit(X, targets[:40])
        whole = clone(model).fit(np.c_[table[:40], X[:, 10:]], targets[:40])
        assert (em.coef_[:, 10] == 0).all()
        assert_allclose(em.predict(X[5:]), whole.predict(X[5:]), atol=0.5)

    def test_cross_validation_refuses_gaps(self, table, targets, model):
        X = table.copy()
        X[0, 0] = np.nan
        with pytest.raises(ValueError, match="complete rows"):
            clone(model).set_params(missing="em").cross_validate(X, targets)


class TestDiagnostics:
    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_importance_has_mean_square_one(self, table, targets, model):
        assert_allclose((clone(model).fit(table, targets).vip_ ** 2).mean(), 1, rtol=1e-12)

    def test_importance_of_one_component_is_its_weights(self, table, targets):
        model = PLSRegression(1).fit(table, targets[:, 0])
        assert_allclose(model.vip_, np.sqrt(10) * np.abs(model.x_weights_[:, 0]), rtol=1e-12)

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_shares_of_squares(self, table, targets, model):
        fitted = clone(model).fit(table, targets)
        Z, B = (table - fitted.x_mean_) / fitted.x_scale_, (targets - fitted.y_mean_) / fitted.y_scale_
        left = Z - fitted.x_scores_ @ fitted.x_loadings_.T
        assert_allclose(fitted.x_explained_.sum(), 1 - (left**2).sum() / (Z**2).sum(), rtol=1e-10)
        left = B - fitted.x_scores_ @ fitted.y_loadings_.T
        assert_allclose(fitted.y_explained_.sum(), 1 - (left**2).sum() / (B**2).sum(), rtol=1e-9)

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_selectivity_ratio_from_rows(self, table, targets, model):
        fitted = clone(model).fit(table, targets)
        Z = (table - fitted.x_mean_) / fitted.x_scale_
        for j in range(2):
            t = Z @ (fitted.coef_[j] * fitted.x_scale_)
            held = np.outer(t, Z.T @ t / (t @ t))
            assert_allclose(fitted.selectivity_ratio_[j], held.var(axis=0) / (Z - held).var(axis=0), rtol=1e-8)

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_leverage_t2_and_q(self, table, targets, model, rng):
        fitted = clone(model).fit(table, targets)
        T = fitted.transform(table)
        hat = np.column_stack([np.ones(200), T])
        assert_allclose(fitted.leverage(table), np.diag(hat @ np.linalg.pinv(hat)), rtol=1e-9)
        assert_allclose(fitted.leverage(table).sum(), 4, rtol=1e-10)
        inverse = np.linalg.inv(np.cov(T.T))
        assert_allclose(fitted.hotelling_t2(table), np.einsum("ij,jk,ik->i", T, inverse, T), rtol=1e-8)
        left = (table - fitted.x_mean_) / fitted.x_scale_ - T @ fitted.x_loadings_.T
        assert_allclose(fitted.q_residuals(table), (left**2).sum(axis=1), rtol=1e-9, atol=1e-12)
        values = np.linalg.svd(left, compute_uv=False) ** 2 / 199
        g, h = (values**2).sum() / values.sum(), values.sum() ** 2 / (values**2).sum()
        assert_allclose(fitted.q_limit(0.01), g * scipy.stats.chi2.ppf(0.99, h), rtol=1e-8)
        wanted = 3 * (200**2 - 1) / (200 * 197) * scipy.stats.f.ppf(0.95, 3, 197)
        assert_allclose(fitted.t2_limit(), wanted, rtol=1e-10)
        w = rng.integers(0, 3, 200)
        weighted = clone(model).fit(table, targets, sample_weight=w)
        assert_allclose(w @ weighted.leverage(table), 4, rtol=1e-9)


def explicit(model, X, Y, folds, w=None):
    """Predictions of every row in a fold by models fitted to the other rows, for 1, 2, ... components."""
    K, out = model.n_components, np.full((model.n_components, *Y.shape), np.nan)
    for test in folds:
        train = np.setdiff1d(np.arange(len(Y)), test)
        for k in range(1, K + 1):
            one = clone(model).set_params(n_components=k)
            weight = None if w is None else w[train]
            out[k - 1, test] = quietly(lambda o=one, t=train, v=weight: o.fit(X[t], Y[t], v)).predict(X[test])
    return out


def check_path(model, X, Y, cv, folds, w=None, tol=1e-8):
    path = model.cross_validate(X, Y, cv=cv, sample_weight=w)
    wanted = explicit(model, X, Y, folds, w)
    assert_allclose(path.predictions, wanted, atol=tol * np.abs(Y - Y.mean(axis=0)).max(), rtol=0)
    weight = np.ones(len(Y)) if w is None else w
    at = np.concatenate(folds)
    squares = np.einsum("kmq,m->kq", (Y[at] - wanted[:, at]) ** 2, weight[at]) / weight[at].sum()
    assert_allclose(path.rmsecv[1:], np.sqrt(squares), rtol=10 * tol)
    means = np.zeros(Y.shape)
    for test in folds:
        train = np.setdiff1d(np.arange(len(Y)), test)
        means[test] = np.average(Y[train], axis=0, weights=weight[train])
    nothing = ((Y[at] - means[at]) ** 2 * weight[at, None]).sum(axis=0) / weight[at].sum()
    assert_allclose(path.rmsecv[0], np.sqrt(nothing), rtol=1e-9)
    assert_allclose(path.r2, 1 - path.rmsecv**2 / nothing, atol=1e-7)
    return path


def folds_of(cv, n, groups=None):
    return [test for _, test in cv.split(np.zeros((n, 1)), groups=groups)]


class TestCrossValidation:
    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_is_the_explicit_loop(self, table, targets, model, rng):
        folds = [np.arange(g, 200, 10) for g in range(10)]
        check_path(model, table, targets, 10, folds)
        check_path(model, table, targets, None, folds, rng.integers(0, 3, 200).astype(float))

    @pytest.mark.slow
    @pytest.mark.parametrize("model", [MODELS[0], MODELS[4]], ids=str)
    def test_splitters(self, table, targets, model, rng):
        X, Y, n = table[:40], targets[:40], 40
        label = rng.integers(0, 5, n)
        label[:5] = range(5)
        some = np.where(label == 4, -1, label)
        for cv in (KFold(4), KFold(7, shuffle=True, random_state=1), LeaveOneOut(), PredefinedSplit(label)):
            check_path(model, X, Y, cv, folds_of(cv, n))
        check_path(model, X, Y, PredefinedSplit(some), folds_of(PredefinedSplit(some), n))
        given = [(np.flatnonzero(label != g), np.flatnonzero(label == g)) for g in range(5)]
        check_path(model, X, Y, given, [test for _, test in given])
        masks = list(KFold(4).split(X))
        check_path(model, X, Y, iter(masks), [test for _, test in masks])

    @pytest.mark.parametrize("model", [MODELS[0], MODELS[1], MODELS[3]], ids=str)
    @pytest.mark.parametrize("cv", [KFold(5), LeaveOneOut(), KFold(3, shuffle=True, random_state=0)], ids=str)
    def test_wide_tables(self, rng, model, cv):
        X = rng.standard_normal((24, 40)) + 5
        Y = X[:, :2] + 0.1 * rng.standard_normal((24, 2))
        check_path(model, X, Y, cv, folds_of(cv, 24))

    @pytest.mark.parametrize("model", [MODELS[0], MODELS[3]], ids=str)
    def test_wide_tables_with_weights(self, rng, model):
        X = rng.standard_normal((24, 40)) + 5
        Y, w = X[:, :2] + 0.1 * rng.standard_normal((24, 2)), np.tile([1.0, 2.0, 0.0], 8)
        check_path(model, X, Y, KFold(6), folds_of(KFold(6), 24), w)
        small = np.full(24, 0.2)  # a fold of four weighs less than one row
        check_path(model, X, Y, KFold(6), folds_of(KFold(6), 24), small)

    @pytest.mark.parametrize("shape", ["tall", "wide", "sparse"])
    def test_a_fold_without_weight(self, rng, shape):
        X = rng.standard_normal((24, 40 if shape == "wide" else 4))
        Y, w = X[:, :1] + 0.1 * rng.standard_normal((24, 1)), np.repeat([0.0, 1.0], [4, 20])
        path = PLSRegression(2).cross_validate(
            sp.csr_array(X) if shape == "sparse" else X, Y, cv=KFold(6), sample_weight=w
        )
        rest = PLSRegression(2).cross_validate(X[4:], Y[4:], cv=KFold(5))
        assert_allclose(path.rmsecv, rest.rmsecv, rtol=1e-8)

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_ill_conditioned_tables(self, table, targets, model):
        X = np.c_[table[:60], table[:60, :2] + 1e-7 * table[60:120, :2]] + 1e3
        check_path(model, X, targets[:60], KFold(5), folds_of(KFold(5), 60), tol=1e-7)

    @pytest.mark.parametrize("constant", [0.0, 0.1, 3.3, 1e6 / 3])
    @pytest.mark.parametrize("d", [6, 40])
    def test_a_column_that_varies_in_one_fold_only(self, rng, constant, d):
        X = rng.standard_normal((24, d))
        X[:, 1] = constant
        X[5, 1] += 1.0
        Y = X[:, :1] + 0.1 * rng.standard_normal((24, 1))
        for cv in (KFold(5), KFold(4, shuffle=True, random_state=2)):
            check_path(PLSRegression(2), X, Y, cv, folds_of(cv, 24))

    @pytest.mark.parametrize("model", [PLSRegression(3), PrincipalComponentRegression(3)], ids=["PLS", "PCR"])
    def test_far_from_the_origin_and_in_odd_units(self, table, targets, model):
        plain = model.cross_validate(table, targets).rmsecv
        assert_allclose(model.cross_validate(table * 1e-8 + 5, targets + 1e7).rmsecv, plain, rtol=1e-4)
        assert_allclose(model.cross_validate(table * 1e120, targets * 1e-3).rmsecv, plain * 1e-3, rtol=1e-8)
        assert_allclose(model.cross_validate(sp.csr_array(table), targets).rmsecv, plain, rtol=1e-7)

    def test_what_a_fold_holds_does_not_reach_its_own_model(self, table, targets):
        X, Y, test = table.copy(), targets.copy(), np.arange(0, 200, 10)
        before = PLSRegression(3).cross_validate(X, Y)
        X[test], Y[test] = X[test] * 100 + 1e3, -Y[test] * 50
        after = PLSRegression(3).cross_validate(X, Y)
        assert_allclose(after.coefficients[0], before.coefficients[0], rtol=1e-9)
        assert np.abs(after.coefficients[1] - before.coefficients[1]).max() > 1e-3

    def test_training_rows_of_the_splitter_are_heeded(self, table, targets):
        """A splitter that trains on less than all other rows (the past, say) is followed or refused."""
        past = [(np.arange(50), np.arange(50, 100)), (np.arange(100), np.arange(100, 150))]
        try:
            path = PLSRegression(1).cross_validate(table, targets, cv=past)
        except ValueError as refusal:
            assert "cv" in str(refusal)  # noqa: PT017
            return
        for (train, test), coef in zip(past, path.coefficients, strict=True):
            fitted = PLSRegression(1).fit(table[train], targets[train])
            assert_allclose(coef[0], fitted.coef_, rtol=1e-8)
            assert_allclose(path.predictions[0, test], fitted.predict(table[test]), rtol=1e-8)

    def test_one_standard_error_rule_by_hand(self, table, targets, rng):
        w = rng.integers(1, 4, 200).astype(float)
        path = PLSRegression(8).cross_validate(table, targets, cv=5, sample_weight=w)
        folds = [np.arange(g, 200, 5) for g in range(5)]
        guesses = np.concatenate([np.empty((1, 200, 2)), path.predictions])
        for test in folds:
            train = np.setdiff1d(np.arange(200), test)
            guesses[0, test] = np.average(targets[train], axis=0, weights=w[train])
        squares = w[:, None] * (targets - guesses) ** 2
        sizes = np.array([w[test].sum() for test in folds])
        sums = np.array([squares[:, test].sum(axis=1) for test in folds])
        mean = sums.sum(axis=0) / sizes.sum()
        # Spread of the fold means about the mean, weighted by size, of a mean over five folds.
        share = sizes / sizes.sum()
        left = sums / sizes[:, None, None] - mean
        doubt = np.sqrt(5 / 4 * ((share[:, None, None] * left) ** 2).sum(axis=0))
        assert_allclose(path.rmsecv, np.sqrt(mean), rtol=1e-10)
        assert_allclose(path.standard_error, doubt / (2 * np.sqrt(mean)), rtol=1e-8)
        total = (mean / mean[0]).mean(axis=1)
        doubt = np.sqrt(5 / 4 * ((share[:, None] * (left / mean[0]).mean(axis=2)) ** 2).sum(axis=0))
        assert path.best == np.argmin(total)
        assert path.recommended == np.flatnonzero(total <= total[path.best] + doubt[path.best])[0]
        assert f"{path.recommended}*" in str(path)

    def test_equal_folds_have_the_plain_standard_error(self, table, targets):
        path = PLSRegression(2).cross_validate(table, targets[:, 0], cv=5)
        folds = [np.arange(g, 200, 5) for g in range(5)]
        means = [((targets[test, 0] - path.predictions[1, test, 0]) ** 2).mean() for test in folds]
        assert_allclose(path.standard_error[2, 0] * 2 * path.rmsecv[2, 0], np.std(means, ddof=1) / np.sqrt(5))

    def test_jackknife_by_hand(self, table, targets):
        path = PLSRegression(3).cross_validate(table, targets, cv=6)
        full = PLSRegression(2).fit(table, targets).coef_
        parts = []
        for g in range(6):
            train = np.setdiff1d(np.arange(200), np.arange(g, 200, 6))
            parts.append(PLSRegression(2).fit(table[train], targets[train]).coef_)
        error = np.sqrt(5 / 6 * ((np.array(parts) - full) ** 2).sum(axis=0))
        found = path.jackknife(2, level=0.9)
        assert_allclose(found.coef, full, rtol=1e-9)
        assert_allclose(found.standard_error, error, rtol=1e-6)
        reach = scipy.stats.t.ppf(0.95, 5) * error
        assert_allclose(found.lower, full - reach, rtol=1e-6)
        assert_allclose(found.upper, full + reach, rtol=1e-6)
        for bad in (0, 4):
            with pytest.raises(ValueError, match=f"n_components={bad}"):
                path.jackknife(bad)
        with pytest.raises(ValueError, match="level"):
            path.jackknife(2, level=1.0)

    def test_auto_takes_the_recommended_number(self, table, targets):
        for model in (PLSRegression("auto"), PrincipalComponentRegression("auto", cv=KFold(5))):
            path = model.cross_validate(table, targets)
            fitted = model.fit(table, targets)
            assert fitted.n_components_ == path.recommended == fitted.path_.recommended
            plain = clone(model).set_params(n_components=path.recommended).fit(table, targets)
            assert_allclose(fitted.coef_, plain.coef_, rtol=1e-12)

    def test_auto_that_finds_nothing_says_so(self, table, rng):
        with pytest.warns(GramianWarning):
            model = PLSRegression("auto").fit(table, rng.standard_normal(200))
        assert model.path_.recommended == 0
        assert model.n_components_ == 1

    def test_a_cross_validation_leaves_the_fit_alone(self, table, targets):
        model = PLSRegression(2).fit(table, targets)
        before = dict(vars(model))
        model.cross_validate(table[:, :4], targets[:, 0])
        assert {name: id(value) for name, value in vars(model).items()} == {n: id(v) for n, v in before.items()}

    @pytest.mark.parametrize("cv", [1, 0, -3, True, "ten", [], [([0], [1])], 1.5])
    def test_bad_folds(self, table, targets, cv):
        with pytest.raises((ValueError, TypeError)):
            PLSRegression(2).cross_validate(table, targets, cv=cv)

    def test_overlapping_folds(self, table, targets):
        with pytest.raises(ValueError, match="more than once"):
            PLSRegression(2).cross_validate(table, targets, cv=[([0, 1], [2, 3]), ([4, 5], [3, 6])])


def test_contribution_takes_the_components_that_fit_best(table, targets):
    ours = PrincipalComponentRegression(3, order="contribution").fit(table, targets)
    every = PrincipalComponentRegression().fit(table, targets)
    assert_allclose(ours.y_explained_, np.sort(every.y_explained_)[::-1][:3], rtol=1e-9)
    assert ours.y_explained_.sum() >= PrincipalComponentRegression(3).fit(table, targets).y_explained_.sum()
    assert "better than it will be" in str(ours.summary_)


def test_pcr_by_its_definition(table, targets):
    D = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    t = targets[:, 0] - targets[:, 0].mean()
    lam, V = np.linalg.eigh(D.T @ D)
    lam, V = lam[::-1][:4], V[:, ::-1][:, :4]
    a = (D @ V).T @ t / lam
    model = PrincipalComponentRegression(4).fit(table, targets[:, 0])
    assert_allclose(model.coef_[0], V @ a / table.std(axis=0, ddof=1), rtol=1e-9)
    assert_allclose(t @ t - (a**2 * lam).sum(), ((targets[:, 0] - model.predict(table)) ** 2).sum(), rtol=1e-9)
    assert_allclose(model.y_explained_, a**2 * lam / (t @ t), rtol=1e-9)
