"""Two blocks of columns: the contract of scikit-learn, nasty input, and what leaves a fitted model alone."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramian import CCA, PLSSVD, GramianWarning, PLSCanonical, PLSRegression, PrincipalComponentRegression, RankWarning

REGRESSORS = [PLSRegression, PrincipalComponentRegression]
PAIRS = [PLSCanonical, PLSSVD, CCA]
ALL = [*REGRESSORS, *PAIRS]


def complaint(function, *kinds):
    with pytest.raises(kinds or ValueError) as caught:
        function()
    message = str(caught.value)
    assert "\n" not in message, message
    return message


def quietly(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        return function()


@pytest.fixture
def targets(table, rng):
    Y = table @ rng.standard_normal((10, 3)) + 0.3 * rng.standard_normal((200, 3)) + 5
    Y.setflags(write=False)
    return Y


def with_value(A, value):
    A = np.array(A)
    A[4, 1] = value
    return A


@pytest.mark.parametrize("estimator", ALL)
class TestRefusals:
    def test_rows_that_do_not_match(self, estimator, table, targets):
        """A65."""
        message = complaint(lambda: estimator().fit(table, targets[:150]))
        assert "200" in message
        assert "150" in message
        assert "150" in complaint(lambda: estimator().fit(sp.csr_array(table), sp.csr_array(targets[:150])))
        complaint(lambda: estimator().partial_fit(table, targets[:150]))

    @pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
    def test_what_is_not_finite(self, estimator, table, targets, value, word):
        assert word in complaint(lambda: estimator().fit(with_value(table, value), targets))
        assert word in complaint(lambda: estimator().fit(table, with_value(targets, value)))
        assert word in complaint(lambda: estimator().partial_fit(table, with_value(targets, value)))
        assert word in complaint(lambda: estimator().fit(sp.csr_array(with_value(table, value)), targets))
        fitted = estimator().fit(table, targets)
        assert word in complaint(lambda: fitted.transform(with_value(table, value)))
        assert word in complaint(lambda: fitted.predict(with_value(table, value)))
        if word == "infinity":
            assert word in complaint(lambda: estimator(missing="em").fit(with_value(table, value), targets))

    def test_a_column_that_is_missing_altogether(self, estimator, table, targets):
        X, Y = np.array(table[:40]), np.array(targets[:40])
        X[:, 3] = np.nan
        assert "NaN" in complaint(lambda: estimator(missing="em").fit(X, Y))
        Y[:, 1] = np.nan
        assert "NaN" in complaint(lambda: estimator(missing="em").fit(table[:40], Y))

    def test_a_constant_column_beside_missing_entries(self, estimator, table, targets):
        X = np.array(table[:40])
        X[:, 3], X[5, 0] = 7.0, np.nan
        model = estimator(1, missing="em").fit(X, targets[:40])
        assert np.isfinite(model.predict(X)).all()
        complete = np.arange(40) != 5
        assert_allclose(model.predict(X)[complete], model.predict(X[complete]))

    @pytest.mark.parametrize("value", [0, -1, 2.7, 1.0, "two", True, [2]])
    def test_number_of_components(self, estimator, table, targets, value):
        message = complaint(lambda: estimator(value).fit(table, targets), ValueError, TypeError)
        assert "n_components" in message
        complaint(lambda: estimator(value).partial_fit(table, targets), ValueError, TypeError)

    def test_parameters(self, estimator, table, targets):
        assert "scale='z'" in complaint(lambda: estimator(scale="z").fit(table, targets))
        assert "missing='mean'" in complaint(lambda: estimator(missing="mean").fit(table, targets))

    def test_odd_arrays(self, estimator, table, targets):
        assert "Complex" in complaint(lambda: estimator().fit(table * 1j, targets))
        assert "Complex" in complaint(lambda: estimator().fit(table, targets * 1j))
        assert "masked" in complaint(lambda: estimator().fit(np.ma.masked_array(table, table > 4), targets))
        assert "masked" in complaint(lambda: estimator().fit(table, np.ma.masked_array(targets, targets > 4)))
        complaint(lambda: estimator().fit(table.astype(str)[:, :0], targets))
        complaint(lambda: estimator().fit(np.full((200, 2), "a"), targets))
        assert "not numbers" in complaint(lambda: estimator().fit(table, np.full(200, "a")))
        assert "Reshape" in complaint(lambda: estimator().fit(table[:, 0], targets))
        assert "shape" in complaint(lambda: estimator().fit(table, targets[:, :, None]))
        assert "shape" in complaint(lambda: estimator().fit(table, targets[:, :0]))
        complaint(lambda: estimator().fit(table, None))
        complaint(lambda: estimator().fit(table, np.array([10**400] * 200, dtype=object)))

    def test_too_few_rows(self, estimator, table, targets):
        assert "at least 2 samples" in complaint(lambda: estimator().fit(table[:1], targets[:1]))
        complaint(lambda: estimator().fit(table[:0], targets[:0]))

    @pytest.mark.parametrize("weights", ["negative", "short", "zero", "nan"])
    def test_weights(self, estimator, table, targets, weights):
        w = np.ones(200)
        w[3] = {"negative": -1.0, "nan": np.nan}.get(weights, 0.0)
        w = {"short": w[:150], "zero": w * 0}.get(weights, w)
        assert "sample_weight" in complaint(lambda: estimator().fit(table, targets, sample_weight=w))

    def test_before_fit(self, estimator, table):
        names = ["predict", "transform"]
        names += ["leverage", "hotelling_t2", "q_residuals"] if estimator in REGRESSORS else ["predict_x"]
        names += ["t2_limit", "q_limit"] if estimator in REGRESSORS else []
        for name in names:
            method = getattr(estimator(), name)
            complaint(method if "limit" in name else lambda method=method: method(table), NotFittedError)
        if estimator is CCA:
            complaint(CCA().wilks_test, NotFittedError)

    def test_after_one_row(self, estimator, table, targets):
        model = estimator().partial_fit(table[:1], targets[:1])
        complaint(lambda: model.predict(table), NotFittedError)
        complaint(lambda: model.transform(table), NotFittedError)

    def test_wrong_width(self, estimator, table, targets):
        model = estimator().fit(table, targets)
        assert "9 features" in complaint(lambda: model.predict(table[:, :9]))
        assert "9 features" in complaint(lambda: model.transform(table[:, :9]))
        assert "2 columns" in complaint(lambda: estimator().fit(table, targets).partial_fit(table, targets[:, :2]))
        if estimator in PAIRS:
            assert "2 columns" in complaint(lambda: model.transform(table, targets[:, :2]))
            assert "2 columns" in complaint(lambda: model.predict_x(targets[:, :2]))
            complaint(lambda: model.predict_x(3.0))
        else:
            assert "150" in complaint(lambda: model.merit(table, targets[:150]))

    def test_a_failed_refit_leaves_the_model_as_it_was(self, estimator, table, targets):
        model = estimator(2).fit(table, targets)
        before = model.predict(table)
        for X, Y in ((table[:, :4] * np.nan, targets), (table[:, :3], targets[:50]), (table[:1, :3], targets[:1])):
            complaint(lambda X=X, Y=Y: model.fit(X, Y))
            complaint(lambda X=X, Y=Y: model.partial_fit(X * np.nan, Y))
        assert model.n_features_in_ == 10
        assert np.array_equal(model.predict(table), before)
        assert_allclose(model.partial_fit(table, targets).predict(table), before, atol=1e-6)


def test_ridge(table, targets):
    for ridge in (-1.0, "much", np.nan, np.inf, (1.0, -1.0), (1, 2, 3), True, None):
        assert "ridge" in complaint(lambda ridge=ridge: CCA(ridge=ridge).fit(table, targets), ValueError, TypeError)


def test_order_and_diagnostics(table, targets):
    assert "order='size'" in complaint(lambda: PrincipalComponentRegression(order="size").fit(table, targets))
    assert "scale='x'" in complaint(lambda: PrincipalComponentRegression(scale="x").fit(table, targets))
    model = PLSRegression().fit(table, targets)
    for limit in (model.t2_limit, model.q_limit):
        for alpha in (0, 1, -0.1, 2):
            assert "alpha" in complaint(lambda limit=limit, alpha=alpha: limit(alpha))


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("kind", [np.bool_, int])
def test_scale_as_a_grid_search_hands_it_over(table, targets, value, kind):
    X, Y = table * np.arange(1, 11), targets * [1, 5, 25]
    for estimator in ALL:
        plain = estimator(1, scale=value).fit(X, Y)
        try:
            given = estimator(1, scale=kind(value)).fit(X, Y)
        except ValueError as refusal:
            assert "scale" in str(refusal)  # noqa: PT017
        else:
            assert_allclose(given.coef_, plain.coef_, rtol=1e-12)


class TestDegenerate:
    @pytest.mark.parametrize("estimator", REGRESSORS)
    @pytest.mark.parametrize("value", [0.0, 0.1, -1e9])
    def test_a_constant_target_is_predicted(self, estimator, table, value):
        """A66."""
        for n in (200, 8):
            with pytest.warns(RankWarning, match="y has zero variance"):
                model = estimator(2).fit(table[:n], np.full(n, value))
            assert np.array_equal(model.predict(table), np.full(200, value))
            assert not model.coef_.any()
            for found in (model.vip_, model.x_explained_, model.y_explained_, model.selectivity_ratio_):
                assert np.isfinite(found).all()
            for found in (model.leverage(table), model.hotelling_t2(table), model.q_residuals(table)):
                assert np.isfinite(found).all()
            assert np.isfinite(model.t2_limit())

    @pytest.mark.parametrize("estimator", REGRESSORS)
    def test_one_constant_target_among_others(self, estimator, table, targets):
        Y = np.c_[targets[:, 0], np.full(200, 0.3)]
        model = estimator(3).fit(table, Y)
        assert_allclose(model.predict(table)[:, 1], 0.3, rtol=1e-14)
        assert_allclose(model.predict(table)[:, 0], estimator(3).fit(table, Y[:, 0]).predict(table), atol=1e-9)

    @pytest.mark.parametrize("estimator", ALL)
    @pytest.mark.parametrize("n", [200, 9])
    def test_constant_columns_have_no_weight(self, estimator, table, targets, n):
        X = np.c_[table, np.full(200, 0.1), np.full(200, 1e9), np.zeros(200)][:n]
        Y = targets[:n, :2]
        model = quietly(lambda: estimator(2).fit(X, Y))
        assert (model.coef_[:, 10:] == 0).all()
        assert (model.x_weights_[10:] == 0).all()
        plain = quietly(lambda: estimator(2).fit(table[:n], Y))
        assert_allclose(model.coef_[:, :10], plain.coef_, atol=1e-9 * np.abs(plain.coef_).max())

    @pytest.mark.parametrize("estimator", REGRESSORS)
    def test_constant_tables(self, estimator, targets):
        with pytest.warns(RankWarning, match="zero"):
            model = estimator(1).fit(np.ones((200, 3)), targets)
        assert_allclose(model.predict(np.zeros((2, 3))), np.tile(targets.mean(axis=0), (2, 1)))

    @pytest.mark.parametrize("estimator", PAIRS)
    def test_a_constant_view(self, estimator, table):
        assert "zero" in complaint(lambda: estimator(1).fit(np.ones((200, 3)), table))
        assert "zero" in complaint(lambda: estimator(1).fit(table, np.ones((200, 3)) * 0.1))

    @pytest.mark.parametrize("estimator", REGRESSORS)
    def test_more_components_than_the_rank(self, estimator, table, targets):
        with pytest.warns(RankWarning, match="10 of 40 components"):
            model = estimator(40).fit(table, targets)
        assert model.n_components_ == 10
        assert model.transform(table).shape == (200, 10)
        with pytest.warns(RankWarning, match="3 of 5"):
            assert estimator(5).fit(table[:4], targets[:4]).n_components_ == 3

    @pytest.mark.parametrize("estimator", ALL)
    def test_small_tables(self, estimator, table, targets):
        for n, d in ((2, 10), (2, 1), (3, 2), (200, 1)):
            model = quietly(lambda n=n, d=d: estimator(1).fit(table[:n, :d], targets[:n, :2]))
            assert np.isfinite(model.predict(table[:, :d])).all()
            assert model.transform(table[:, :d]).shape == (200, 1)

    @pytest.mark.parametrize("estimator", REGRESSORS)
    @pytest.mark.parametrize("n", [2, 3, 4])
    def test_auto_with_few_rows(self, estimator, table, targets, n):
        model = quietly(lambda: estimator("auto").fit(table[:n], targets[:n, 0]))
        assert np.isfinite(model.predict(table)).all()

    @pytest.mark.parametrize("estimator", ALL)
    def test_repeated_rows(self, estimator, table, targets):
        a = estimator(2).fit(table, targets)
        b = estimator(2).fit(np.repeat(table, 3, axis=0), np.repeat(targets, 3, axis=0))
        assert_allclose(b.coef_, a.coef_, atol=1e-9)


@pytest.mark.parametrize("estimator", ALL)
@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-150, 1e-85, 1e85, 1e150, 1e200, 1e300])
class TestExtremeUnits:
    def test_of_the_targets(self, estimator, table, targets, size):
        model, plain = estimator(2).fit(table, targets * size), estimator(2).fit(table, targets)
        assert_allclose(model.predict(table) / size, plain.predict(table), rtol=1e-9)

    def test_of_the_columns(self, estimator, table, targets, size):
        X = table * size / 10
        for n in (200, 9):
            if n == 9 and estimator is CCA:
                continue  # all correlations are 1 by construction: any directions will do
            model = quietly(lambda n=n: estimator(2).fit(X[:n], targets[:n]))
            plain = quietly(lambda n=n: estimator(2).fit(table[:n], targets[:n]))
            assert_allclose(model.predict(X), plain.predict(table), rtol=1e-6)

    def test_of_both_without_scaling(self, estimator, table, targets, size):
        X, Y = table * size / 10, targets * size / 10
        if estimator in (PLSCanonical, PLSSVD) and not 1e-155 < size < 1e155:
            with pytest.raises(ValueError, match="covariances of X and Y leave double precision"):
                estimator(2, scale=False).fit(X, Y)
            return
        model, plain = (estimator(2, scale=False).fit(A, B) for A, B in ((X, Y), (table, targets)))
        assert_allclose(model.predict(X) / size * 10, plain.predict(table), rtol=1e-7)
        if estimator is not CCA:
            assert_allclose(model.transform(X) / size * 10, plain.transform(table), atol=1e-7)

    def test_in_pieces_an_answer_or_a_refusal(self, estimator, table, targets, size):
        model, plain = estimator(2), estimator(2).fit(table, targets)
        try:
            for part in (slice(0, 90), slice(90, 200)):
                quietly(lambda part=part: model.partial_fit(table[part] * size / 10, targets[part]))
        except ValueError as refusal:
            assert "\n" not in str(refusal)  # noqa: PT017
        else:
            assert_allclose(model.predict(table * size / 10), plain.predict(table), rtol=1e-6)


@pytest.mark.parametrize("estimator", [PLSRegression, PrincipalComponentRegression, PLSCanonical])
def test_columns_of_extreme_and_different_units(estimator, table, targets):
    units = np.array([1e-100, 1e100, 1, 1, 1, 1, 1, 1, 1, 1])
    model, plain = estimator(2).fit(table * units, targets), estimator(2).fit(table, targets)
    assert_allclose(model.predict(table * units), plain.predict(table), atol=1e-8)


@pytest.mark.parametrize("estimator", [PLSCanonical, PLSSVD])
@pytest.mark.parametrize("size", [1e-150, 1e-50, 1e50, 1e150])
def test_covariances_are_in_the_units_of_the_views(estimator, table, targets, size):
    a, b = (estimator(2, scale=False).fit(X, targets).covariances_ for X in (table, table * size))
    assert_allclose(b / size, a, rtol=1e-9)


@pytest.mark.parametrize("size", [1e-150, 1e-20, 1e20, 1e150, 1e250])
def test_a_ridge_is_in_the_units_of_the_views(table, targets, size):
    ridge = 0.1 * size * size
    if 0 < ridge < np.inf:
        found = CCA(ridge=(ridge, 0.0)).fit(table * size, targets).correlations_
        assert_allclose(found, CCA(ridge=(0.1, 0.0)).fit(table, targets).correlations_, rtol=1e-8)
    assert (CCA(ridge=0.1).fit(table * size, targets).correlations_ <= 1).all()


@pytest.mark.parametrize("estimator", ALL)
class TestTables:
    def test_data_frames(self, estimator, table, targets):
        names = [f"c{j}" for j in range(10)]
        plain = estimator(2).fit(table, targets)
        for make in (pd.DataFrame, pl.DataFrame):
            X = make(dict(zip(names, table.T, strict=True)))
            Y = make(dict(zip("abc", targets.T, strict=True)))
            model = estimator(2).fit(X, Y)
            assert list(model.feature_names_in_) == names
            assert_allclose(model.predict(X), plain.predict(table), atol=1e-10)
            assert "feature names" in str(_error(lambda model=model, X=X: model.predict(X[names[::-1]])))
        series = pd.Series(targets[:, 0], index=range(5, 205))
        assert estimator(1).fit(table, series).predict(table).shape == (200,)
        assert estimator(1).fit(table, series.to_frame()).predict(table).shape == (200, 1)

    def test_names_of_scores(self, estimator, table, targets):
        word = {CCA: "CC", PrincipalComponentRegression: "PC"}.get(estimator, "LV")
        assert list(estimator(2).fit(table, targets).get_feature_names_out()) == [f"{word}1", f"{word}2"]

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_set_output(self, estimator, table, targets, library):
        frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[library]
        model = estimator(2).set_output(transform=library).fit(table, targets)
        scores, plain = model.transform(table), estimator(2).fit(table, targets)
        assert isinstance(scores, frame)
        assert list(scores.columns) == list(model.get_feature_names_out())
        assert_allclose(scores.to_numpy(), plain.transform(table), atol=1e-12)
        assert isinstance(model.predict(table), np.ndarray)
        assert_allclose(model.predict(table), plain.predict(table), atol=1e-12)
        both = model.fit_transform(table, targets)
        assert isinstance(both[0] if isinstance(both, tuple) else both, frame)

    @pytest.mark.parametrize(
        "change",
        [
            np.asfortranarray,
            lambda A: np.repeat(A, 2, axis=1)[:, ::2],
            lambda A: A[::-1][::-1],
            lambda A: A.astype(">f8"),
        ],
        ids=["fortran", "strided", "negative", "big-endian"],
    )
    def test_memory_layout(self, estimator, table, targets, change):
        plain, model = estimator(2).fit(table, targets), estimator(2).fit(change(table), change(targets))
        assert_allclose(model.coef_, plain.coef_, atol=1e-12)
        assert_allclose(model.transform(change(table)), plain.transform(table), atol=1e-12)

    def test_integers_and_lists(self, estimator, rng):
        X, Y = rng.integers(0, 200, (40, 3)), rng.integers(0, 200, (40, 2))
        plain = estimator(2).fit(X.astype(float), Y.astype(float))
        for change in (lambda A: A.astype(np.uint8), lambda A: A.astype(object), list):
            assert_allclose(estimator(2).fit(change(X), change(Y)).coef_, plain.coef_, rtol=1e-12)

    def test_input_is_left_alone_and_answers_repeat(self, estimator, table, targets, rng):
        X, Y, w = np.array(table), np.array(targets), rng.integers(1, 3, 200).astype(float)
        models = [estimator(2).fit(X, Y, sample_weight=w) for _ in range(2)]
        assert np.array_equal(X, table)
        assert np.array_equal(Y, targets)
        for name in ("coef_", "x_weights_", "x_rotations_" if estimator is not CCA else "y_weights_"):
            assert np.array_equal(*(getattr(model, name) for model in models))

    def test_pickle_and_clone(self, estimator, table, targets):
        model = estimator(2, scale=False).fit(table, targets)
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again.predict(table), model.predict(table))
        assert str(again.summary_) == str(model.summary_)
        assert clone(model).get_params() == model.get_params()
        assert not hasattr(clone(model), "coef_")
        gaps = estimator(1, missing="em").fit(with_value(table[:40], np.nan), targets[:40])
        again = pickle.loads(pickle.dumps(gaps))
        assert np.array_equal(again.predict(with_value(table, np.nan)), gaps.predict(with_value(table, np.nan)))

    def test_summary(self, estimator, table, targets):
        text = str(estimator(2).fit(table, targets).summary_)
        assert text.startswith(estimator.__name__)
        assert "200 x 10" in text
        assert ("2 components" if hasattr(estimator, "cross_validate") else "2 pairs") in text


def _error(function):
    with pytest.raises(ValueError) as caught:
        function()
    return caught.value


class TestWorkflows:
    @pytest.mark.parametrize("estimator", REGRESSORS)
    def test_grid_search(self, estimator, table, targets):
        grid = {"n_components": [1, 2, 4], "scale": [True, False]}
        search = GridSearchCV(estimator(), grid, cv=4).fit(table, targets)
        assert search.best_score_ > 0.5
        assert search.predict(table).shape == (200, 3)

    def test_grid_search_of_a_ridge(self, table, targets):
        search = GridSearchCV(CCA(2), {"ridge": [0.0, 0.1, (0.1, 1.0)]}, cv=4).fit(table, targets)
        assert np.isfinite(search.best_score_)

    @pytest.mark.parametrize("estimator", ALL)
    def test_last_in_a_pipeline(self, estimator, table, targets):
        Z = StandardScaler().fit_transform(table)
        last = make_pipeline(StandardScaler(), estimator(2)).fit(table, targets)
        assert_allclose(last.predict(table), estimator(2).fit(Z, targets).predict(Z), atol=1e-9)
        assert last.transform(table).shape == (200, 2)

    @pytest.mark.parametrize("estimator", REGRESSORS)
    def test_first_in_a_pipeline(self, estimator, table, targets):
        first = make_pipeline(estimator(2), LinearRegression()).fit(table, targets)
        assert_allclose(first.predict(table), estimator(2).fit(table, targets).predict(table), atol=1e-8)

    @pytest.mark.parametrize("estimator", REGRESSORS)
    def test_scores(self, estimator, table, targets):
        assert cross_val_score(estimator(4), table, targets, cv=4).min() > 0.3
        model = estimator().fit(table, targets)
        assert 0.5 < model.score(table, targets) <= 1
        assert model.score(table, targets, sample_weight=np.ones(200)) == pytest.approx(model.score(table, targets))
