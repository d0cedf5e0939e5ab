"""Two views: what their pairs must agree with, and what must not change them."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import scipy.stats
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.cross_decomposition import PLSSVD as SklearnPLSSVD
from sklearn.cross_decomposition import PLSCanonical as SklearnPLSCanonical

from gramian import CCA, PLSSVD, GramianWarning, PLSCanonical, RankWarning

MODELS = [CCA(2), CCA(2, ridge=0.3), CCA(2, scale=True, ridge=(0.1, 2.0)), PLSCanonical(2), PLSSVD(2, scale=False)]


def quietly(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        return function()


def values(model):
    return model.correlations_ if isinstance(model, CCA) else model.covariances_


def assert_same(ours, other, *, tol=1e-8):
    assert_allclose(values(ours), values(other), atol=tol * values(other).max())
    for name in ("x_weights_", "y_weights_", "coef_", "intercept_"):
        a, b = getattr(ours, name), getattr(other, name)
        assert_allclose(a, b, atol=10 * tol * np.abs(b).max(), err_msg=name)


@pytest.fixture
def other(table, rng):
    """A second view of the same rows, in other units, sharing some directions with the first."""
    Y = (table[:, :4] @ rng.standard_normal((4, 4)) + rng.standard_normal((200, 4))) * [1.0, 20.0, 0.3, 1.0] - 7
    Y.setflags(write=False)
    return Y


class TestInvariance:
    def test_any_invertible_map_of_either_view(self, table, other, rng):
        reference = CCA().fit(table, other)
        for _ in range(3):
            M, N = rng.standard_normal((10, 10)), rng.standard_normal((4, 4))
            X, Y = table @ M + rng.standard_normal(10) * 100, other @ N
            mapped = CCA().fit(X, Y)
            assert_allclose(mapped.correlations_, reference.correlations_, atol=1e-10)
            assert_allclose(mapped.predict(X), reference.predict(table) @ N, atol=1e-8)
            for a, b in zip(mapped.transform(X, Y), reference.transform(table, other), strict=True):
                assert_allclose(np.abs(a), np.abs(b), atol=1e-7)

    def test_column_order(self, table, other, rng):
        order, back = rng.permutation(10), rng.permutation(4)
        a, b = CCA().fit(table, other), CCA().fit(table[:, order], other[:, back])
        assert_allclose(b.correlations_, a.correlations_, atol=1e-13)
        assert_allclose(b.x_weights_, a.x_weights_[order], atol=1e-9)
        assert_allclose(b.y_weights_, a.y_weights_[back], atol=1e-9)

    @pytest.mark.parametrize("scale", [False, True])
    def test_units_of_columns(self, table, other, scale):
        units = 10.0 ** np.linspace(-8, 8, 10)
        a, b = CCA(scale=scale).fit(table, other), CCA(scale=scale).fit(table * units, other * [1e8, 1e-8, 1, 1])
        assert b.rank_ == (10, 4)
        assert_allclose(b.correlations_, a.correlations_, atol=1e-10)
        assert_allclose(b.x_weights_ * units[:, None], a.x_weights_ * np.sign(_first(a, b, units)), atol=1e-8)

    @pytest.mark.parametrize("shift", [1e6, 1e9])
    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_shifts(self, table, other, model, shift):
        a, b = clone(model).fit(table, other), clone(model).fit(table + shift, other - shift)
        assert_allclose(values(b), values(a), rtol=1e-14 * shift + 1e-12)

    def test_scaling_changes_nothing_but_the_size_of_the_weights(self, table, other):
        a, b = CCA().fit(table, other), CCA(scale=True).fit(table, other)
        assert_allclose(b.correlations_, a.correlations_, atol=1e-12)
        assert_allclose(b.x_weights_, a.x_weights_, atol=1e-9)

    def test_the_views_may_change_places(self, table, other):
        a, b = CCA().fit(table, other), CCA().fit(other, table)
        assert_allclose(a.correlations_, b.correlations_, atol=1e-12)
        assert_allclose(a.predict_x(other), b.predict(other), atol=1e-8)


def _first(a, b, units):
    return np.sum(a.x_weights_ * (b.x_weights_ * units[:, None]), axis=0)


class TestDefinition:
    @pytest.mark.parametrize(("rx", "ry"), [(0.0, 0.0), (0.5, 0.5), (0.0, 3.0)])
    def test_generalised_eigenproblem(self, table, other, rx, ry):
        S = np.cov(table.T, other.T)
        S11, S22, S12 = S[:10, :10] + rx * np.eye(10), S[10:, 10:] + ry * np.eye(4), S[:10, 10:]
        wanted = scipy.linalg.eigh(S12 @ np.linalg.solve(S22, S12.T), S11, eigvals_only=True)[::-1][:4]
        model = CCA(ridge=(rx, ry)).fit(table, other)
        assert_allclose(model.correlations_, np.sqrt(wanted), atol=1e-9)
        assert_allclose(model.x_weights_.T @ S11 @ model.x_weights_, np.eye(4), atol=1e-9)
        assert_allclose(model.y_weights_.T @ S22 @ model.y_weights_, np.eye(4), atol=1e-9)
        assert_allclose(model.x_weights_.T @ S12 @ model.y_weights_, np.diag(model.correlations_), atol=1e-9)

    def test_one_number_is_both_ridges(self, table, other):
        assert_same(CCA(2, ridge=0.3).fit(table, other), CCA(2, ridge=[0.3, 0.3]).fit(table, other), tol=1e-14)

    @pytest.mark.parametrize("model", MODELS[:3], ids=str)
    def test_structure_redundancy_and_score_correlations(self, table, other, model):
        fitted = clone(model).fit(table, other)
        T, U = fitted.transform(table, other)
        C = np.corrcoef(np.hstack([table, other, T, U]).T)
        assert_allclose(fitted.x_structure_, C[:10, 14:16], atol=1e-10)
        assert_allclose(fitted.y_structure_, C[10:14, 16:], atol=1e-10)
        assert_allclose(fitted.x_cross_structure_, C[:10, 16:], atol=1e-10)
        assert_allclose(fitted.y_cross_structure_, C[10:14, 14:16], atol=1e-10)
        assert_allclose(fitted.y_redundancy_, (C[10:14, 14:16] ** 2).mean(axis=0), atol=1e-10)
        assert_allclose(fitted.x_redundancy_, (C[:10, 16:] ** 2).mean(axis=0), atol=1e-10)
        assert_allclose(fitted.score_correlations_, np.diag(C[14:16, 16:]), atol=1e-10)

    def test_redundancy_of_all_pairs_is_the_mean_r2(self, table, other):
        model = CCA().fit(table, other)
        left = other - model.predict(table)
        assert_allclose(model.y_redundancy_.sum(), (1 - left.var(axis=0) / other.var(axis=0)).mean(), rtol=1e-10)

    def test_all_pairs_predict_as_least_squares(self, table, other):
        design = np.column_stack([np.ones(200), table])
        wanted = design @ np.linalg.lstsq(design, other, rcond=None)[0]
        model = CCA().fit(table, other)
        assert_allclose(model.predict(table), wanted, atol=1e-9)
        assert_allclose(table @ model.coef_.T + model.intercept_, wanted, atol=1e-8)
        assert_allclose(CCA().fit(table, other[:, 0]).predict(table), wanted[:, 0], atol=1e-9)

    @pytest.mark.parametrize("model", MODELS, ids=str)
    def test_some_pairs_predict_as_least_squares_on_their_scores(self, table, other, model):
        fitted = clone(model).fit(table, other)
        T, U = (np.column_stack([np.ones(200), S]) for S in fitted.transform(table, other))
        assert_allclose(fitted.predict(table), T @ np.linalg.lstsq(T, other, rcond=None)[0], atol=1e-9)
        assert_allclose(fitted.predict_x(other), U @ np.linalg.lstsq(U, table, rcond=None)[0], atol=1e-9)

    def test_sign(self, table, other):
        W = CCA().fit(table, other).x_weights_
        assert (W[np.abs(W).argmax(axis=0), range(4)] > 0).all()


class TestRank:
    def test_identical_views(self, table):
        """A63."""
        model = CCA().fit(table, table)
        assert_allclose(model.correlations_, 1, atol=1e-12)
        assert (model.correlations_ <= 1).all()
        assert (model.score_correlations_ <= 1).all()
        assert_allclose(model.predict(table), table, atol=1e-7)

    def test_dependent_columns(self, table, other, rng):
        X, Y = np.c_[table, table @ rng.standard_normal((10, 3))], np.c_[other, other[:, :1], np.full(200, 3.3)]
        model = CCA().fit(X, Y)
        assert model.rank_ == (10, 4)
        assert_allclose(model.correlations_, CCA().fit(table, other).correlations_, atol=1e-10)
        assert (model.y_weights_[5] == 0).all()
        assert_allclose(model.predict(X), np.c_[q := CCA().fit(table, other).predict(table), q[:, 0], Y[:, 5]])

    @pytest.mark.parametrize("level", [10.0, 1e3, 1e5])
    def test_a_sum_of_columns_far_from_the_origin(self, level):
        """The rounding of stored numbers is no direction: a third column that is the sum of two adds nothing."""
        for seed in range(5):
            rng = np.random.default_rng(seed)
            X = np.round(rng.standard_normal((20, 2)) + level, 2)
            Y = np.round(X + 2 * rng.standard_normal((20, 2)), 2)
            model = CCA().fit(np.c_[X, X.sum(axis=1)], Y)
            assert model.rank_ == (2, 2)
            assert_allclose(model.correlations_, CCA().fit(X, Y).correlations_, atol=1e-6)

    def test_dependent_columns_that_came_piece_by_piece(self):
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = (rng.standard_normal((60, 5)) + 2) @ rng.standard_normal((5, 6))
            Y = X[:, :3] + rng.standard_normal((60, 3))
            whole, pieces = CCA().fit(X, Y), CCA()
            for at in range(0, 60, 7):
                quietly(lambda at=at, X=X, Y=Y, p=pieces: p.partial_fit(X[at : at + 7], Y[at : at + 7]))
            assert pieces.rank_ == whole.rank_ == (5, 3), seed
            assert_allclose(pieces.correlations_, whole.correlations_, atol=1e-7)

    def test_more_columns_than_rows(self, rng):
        X, Y = rng.standard_normal((20, 30)), rng.standard_normal((20, 25))
        with pytest.warns(RankWarning, match="by construction"):
            model = CCA().fit(X, Y)
        assert model.rank_ == (19, 19)
        assert_allclose(model.correlations_, 1, atol=1e-10)
        assert (CCA(ridge=1.0).fit(X, Y).correlations_ < 0.999).all()
        with pytest.raises(ValueError, match="Wilks' test needs more rows"):
            model.wilks_test()

    def test_too_few_rows_for_both_views(self, rng):
        """A64."""
        X, Y = rng.standard_normal((12, 7)), rng.standard_normal((12, 6))
        with pytest.warns(RankWarning, match="by construction"):
            model = CCA().fit(X, Y)
        assert_allclose(model.correlations_[:2], 1, atol=1e-12)  # 7 + 6 directions in 11 dimensions share two
        assert (model.correlations_[2:] < 1 - 1e-6).all()

    def test_more_pairs_than_there_are(self, table, other):
        with pytest.warns(RankWarning, match="4 of 7 pairs"):
            model = CCA(7).fit(table, other)
        assert model.correlations_.shape == (4,)
        for two in (PLSCanonical(7), PLSSVD(7)):
            with pytest.warns(RankWarning, match="4 of 7 pairs"):
                assert two.fit(table, other).covariances_.shape == (4,)

    @pytest.mark.parametrize("seed", range(5))
    def test_correlations_are_never_above_one(self, seed):
        """A62."""
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40, 6)) * 10.0 ** rng.uniform(-4, 4, 6)
        for Y in (X @ rng.standard_normal((6, 6)), X[:, :2], np.c_[X[:, 0], rng.standard_normal(40)]):
            model = CCA().fit(X, Y)
            assert (model.correlations_ <= 1).all()
            assert (np.abs(model.score_correlations_) <= 1).all()
            assert_allclose(model.score_correlations_, model.correlations_, atol=1e-8)


@pytest.mark.parametrize("model", MODELS, ids=str)
class TestWhatChangesNothing:
    def test_weights_are_repeated_rows(self, table, other, model, rng):
        w = rng.integers(0, 4, 200)
        weighted = clone(model).fit(table, other, sample_weight=w)
        assert_same(weighted, clone(model).fit(np.repeat(table, w, axis=0), np.repeat(other, w, axis=0)))
        few = np.array([2, 0, 1, 1, 3, 1, 1, 2])
        X, Y = table[:8], other[:8]
        weighted = quietly(lambda: clone(model).fit(X, Y, sample_weight=few))
        repeated = quietly(lambda: clone(model).fit(np.repeat(X, few, axis=0), np.repeat(Y, few, axis=0)))
        assert_allclose(values(weighted), values(repeated), rtol=1e-8)

    def test_pieces_give_the_whole(self, table, other, model):
        whole = clone(model).fit(table, other)
        for cuts in ([100], [1, 2, 3, 90], range(1, 200, 13)):
            pieces = clone(model)
            for X, Y in zip(np.split(table, cuts), np.split(other, cuts), strict=True):
                quietly(lambda X=X, Y=Y, pieces=pieces: pieces.partial_fit(X, Y))
            assert_same(pieces, whole)
        assert_same(clone(model).fit(table[:150], other[:150]).partial_fit(table[150:], other[150:]), whole)

    def test_sparse_equals_dense(self, rng, model):
        X = np.where(rng.random((120, 8)) < 0.3, rng.random((120, 8)), 0.0)
        Y = np.where(rng.random((120, 4)) < 0.6, X[:, :4] + 0.2 * rng.random((120, 4)), 0.0)
        for n in (120, 12):
            dense = quietly(lambda n=n: clone(model).fit(X[:n], Y[:n]))
            for A, B in ((sp.csr_array, np.array), (np.array, sp.csr_array), (sp.csr_matrix, sp.csc_array)):
                sparse = quietly(lambda A=A, B=B, n=n: clone(model).fit(A(X[:n]), B(Y[:n])))
                assert_allclose(values(sparse), values(dense), atol=1e-8)
                for a, b in zip(sparse.transform(A(X), B(Y)), dense.transform(X, Y), strict=True):
                    assert_allclose(a, b, atol=1e-5)
                assert_allclose(sparse.predict_x(B(Y)), dense.predict_x(Y), atol=1e-6)

    def test_single_precision(self, table, other, model):
        narrow, wide = (clone(model).fit(table.astype(kind), other) for kind in (np.float32, np.float64))
        assert_allclose(values(narrow), values(wide), rtol=1e-4)
        assert narrow.transform(table.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("model", [CCA(2), PLSCanonical(2)], ids=str)
def test_missing_entries(table, other, model, rng):
    X, Y = table[:40].copy(), other[:40].copy()
    whole, em = clone(model).fit(X, Y), clone(model).set_params(missing="em")
    assert np.array_equal(values(clone(em).fit(X, Y)), values(whole))
    X[rng.random(X.shape) < 0.02] = np.nan
    gaps = clone(em).fit(X, Y)
    assert_allclose(values(gaps), values(whole), rtol=0.2, atol=0.05)
    assert np.isfinite(gaps.transform(X)).all()
    assert np.isfinite(gaps.predict(X)).all()


def test_missing_entries_of_the_second_view(table, other, rng):
    Y = other[:40].copy()
    Y[rng.random(Y.shape) < 0.03] = np.nan
    scores = CCA(2, missing="em").fit_transform(table[:40], Y)
    assert all(np.isfinite(part).all() for part in scores)


@pytest.mark.parametrize("scale", [True, False])
class TestScikitLearn:
    def test_plssvd(self, table, other, scale):
        ours, theirs = PLSSVD(3, scale=scale).fit(table, other), SklearnPLSSVD(3, scale=scale).fit(table, other)
        for a, b in zip(ours.transform(table, other), theirs.transform(table, other), strict=True):
            assert_allclose(np.abs(a), np.abs(b), atol=1e-9)
        T, U = ours.transform(table, other)
        assert_allclose(np.diag(np.cov(T.T, U.T)[:3, 3:]), ours.covariances_, rtol=1e-9)

    def test_plscanonical(self, table, other, scale):
        ours = PLSCanonical(3, scale=scale).fit(table, other)
        theirs = SklearnPLSCanonical(3, scale=scale, tol=1e-15, max_iter=10_000).fit(table, other)
        for a, b in zip(ours.transform(table, other), theirs.transform(table, other), strict=True):
            assert_allclose(np.abs(a), np.abs(b), atol=1e-6)
        for name in ("x_weights_", "y_weights_", "x_loadings_", "y_loadings_", "x_rotations_", "y_rotations_"):
            a, b = getattr(ours, name), getattr(theirs, name)
            assert_allclose(np.abs(a), np.abs(b), atol=1e-6, err_msg=name)

    def test_the_first_pair_is_the_same(self, table, other, scale):
        a, b = PLSCanonical(1, scale=scale).fit(table, other), PLSSVD(1, scale=scale).fit(table, other)
        assert_allclose(a.covariances_, b.covariances_, rtol=1e-12)
        assert_allclose(a.transform(table), b.transform(table), atol=1e-10)


class TestSignificance:
    def test_wilks_by_hand(self, table, other):
        found = CCA().fit(table, other).wilks_test()
        S = np.cov(table.T, other.T)
        determinant = np.linalg.det(S) / (np.linalg.det(S[:10, :10]) * np.linalg.det(S[10:, 10:]))
        assert_allclose(found.wilks[0], determinant, rtol=1e-8)
        n, p, q = 200, 10, 4
        t = np.sqrt((p**2 * q**2 - 4) / (p**2 + q**2 - 5))
        df1, df2 = p * q, (n - 1 - (p + q + 1) / 2) * t - p * q / 2 + 1
        F = (1 - determinant ** (1 / t)) / determinant ** (1 / t) * df2 / df1
        assert_allclose([found.statistic[0], found.df1[0], found.df2[0]], [F, df1, df2], rtol=1e-7)
        assert_allclose(found.p_values[0], scipy.stats.f.sf(F, df1, df2), rtol=1e-5)

    def test_one_against_many_is_the_f_test_of_a_regression(self, table, rng):
        y = table[:, 0] * 0.1 + rng.standard_normal(200)
        found = CCA().fit(table, y).wilks_test()
        r2 = CCA().fit(table, y).correlations_[0] ** 2
        F = r2 / 10 / ((1 - r2) / 189)
        assert_allclose([found.statistic[0], found.df1[0], found.df2[0]], [F, 10, 189], rtol=1e-9)

    @pytest.mark.parametrize("q", [1, 2, 3])
    def test_wilks_of_views_of_any_width(self, table, other, q):
        found = CCA().fit(table[:, :q], other[:, :q]).wilks_test()  # the last hypothesis is of one column a side
        rho = found.correlations[-1]
        assert_allclose(found.statistic[-1], rho**2 / (1 - rho**2) * found.df2[-1], rtol=1e-9)
        assert_allclose([found.df1[-1], found.df2[-1]], [1, 200 - 1 - q])

    def test_fewer_pairs_do_not_change_the_test(self, table, other):
        a, b = CCA(1).fit(table, other).wilks_test(), CCA().fit(table, other).wilks_test()
        assert_allclose(a.p_values, b.p_values)
        assert "Wilks" in str(a)

    @pytest.mark.slow
    def test_wilks_p_values_are_uniform_under_the_null(self):
        rng = np.random.default_rng(3)
        tables = [(rng.standard_normal((30, 3)), rng.standard_normal((30, 2))) for _ in range(150)]
        p = [CCA().fit(X, Y).wilks_test().p_values[0] for X, Y in tables]
        assert scipy.stats.kstest(p, "uniform").pvalue > 0.01

    @pytest.mark.slow
    def test_permutation_p_values(self):
        rng, p = np.random.default_rng(5), []
        for seed in range(60):
            X, Y = rng.standard_normal((25, 3)), rng.standard_normal((25, 2))
            found = CCA().fit(X, Y).permutation_test(X, Y, n_permutations=49, random_state=seed)
            assert (np.diff(found.p_values) >= 0).all()
            p.append(found.p_values[0])
        assert scipy.stats.kstest(np.array(p) - 0.01, "uniform").pvalue > 0.01
        X = rng.standard_normal((60, 3))
        Y = np.c_[X[:, 0] + 0.3 * rng.standard_normal(60), rng.standard_normal((60, 1))]
        model = CCA().fit(X, Y)
        found = model.permutation_test(X, Y, n_permutations=199)
        assert found.p_values[0] == 1 / 200
        assert found.p_values[1] > 0.02
        assert_allclose(found.correlations, model.correlations_, atol=1e-10)
        assert_allclose(found.wilks, model.wilks_test().wilks, rtol=1e-8)
        again = model.permutation_test(X, Y, n_permutations=199)
        assert np.array_equal(again.p_values, found.p_values)

    def test_permutation_agrees_with_wilks(self):
        rng = np.random.default_rng(9)
        X = rng.standard_normal((40, 3))
        Y = np.c_[0.3 * X[:, 0] + rng.standard_normal(40), rng.standard_normal((40, 2))]
        model = CCA().fit(X, Y)
        wanted = model.wilks_test().p_values[0]
        assert_allclose(model.permutation_test(X, Y, n_permutations=999).p_values[0], wanted, atol=0.06)

    def test_refusals(self, table, other):
        ridged = CCA(ridge=0.1).fit(table, other)
        for test in (ridged.wilks_test, lambda: ridged.permutation_test(table, other)):
            with pytest.raises(ValueError, match="ridge"):
                test()
        model = CCA().fit(table, other)
        for bad in (0, 1.5, "many"):
            with pytest.raises(ValueError, match="n_permutations"):
                model.permutation_test(table, other, n_permutations=bad)
        with pytest.raises(ValueError, match="columns"):
            model.permutation_test(table, other[:, :2], n_permutations=3)
        with pytest.raises(ValueError, match="same number"):
            model.permutation_test(table, other[:50], n_permutations=3)
