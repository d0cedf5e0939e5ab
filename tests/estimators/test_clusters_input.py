"""Clusters, neighbours and prototypes: scikit-learn's checks, and input that is wrong, degenerate or extreme."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import gramian
from gramian import KernelKMeans, KernelKNNClassifier, KernelKNNRegressor, KernelPrototypeClassifier
from gramian.kernels import RBF

ALL = [KernelKMeans(3), KernelKNNClassifier(3), KernelKNNRegressor(3), KernelPrototypeClassifier()]


def complaint(function, *kinds):
    with pytest.raises(kinds or ValueError) as caught:
        function()
    message = str(caught.value)
    assert "\n" not in message, message
    return message


def fitted(estimator, X):
    return clone(estimator).fit(X, np.arange(len(X)) % 3)


@pytest.mark.parametrize("estimator", ALL, ids=lambda e: type(e).__name__)
class TestAll:
    def test_input_is_neither_changed_nor_kept(self, estimator, table):
        X = table.copy()
        model = fitted(estimator, X)
        before = model.predict(table)
        assert X.tobytes() == table.tobytes()
        X[:] = 0
        assert np.array_equal(model.predict(table), before)

    def test_a_failed_refit_leaves_the_model_as_it_was(self, estimator, table):
        model = fitted(estimator, table)
        before = model.predict(table)
        complaint(lambda: model.fit(table[:, :4] * np.nan, np.zeros(200)))
        assert np.array_equal(model.predict(table), before)

    def test_pickles(self, estimator, table):
        model = fitted(estimator, table)
        assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(table), model.predict(table))

    def test_the_same_bits_again(self, estimator, table):
        assert np.array_equal(fitted(estimator, table).predict(table), fitted(estimator, table).predict(table))

    @pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-30, 1e30, 1e150])
    @pytest.mark.parametrize("kernel", ["rbf", "linear", "matern"])
    @pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
    def test_extreme_rows_are_finite(self, estimator, table, kernel, size):
        X = table * size
        assert np.isfinite(fitted(clone(estimator).set_params(kernel=kernel), X).predict(X)).all()

    @pytest.mark.parametrize("kernel", ["rbf(sigma=1)", "linear"])
    def test_rows_whose_squares_overflow_are_refused(self, estimator, table, kernel):
        model = clone(estimator).set_params(kernel=kernel)
        assert "overflow" in complaint(lambda: fitted(model, table * 1e300).predict(table * 1e300))

    @pytest.mark.parametrize("size", [1e-300, 1e-170])
    @pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial(constant=0)"])
    def test_rows_whose_squares_underflow_are_said(self, estimator, table, kernel, size):
        model = clone(estimator).set_params(kernel=kernel)
        with pytest.warns(gramian.RankWarning) as said:
            fitted(model, table * size)
        assert any("underflow" in str(one.message) for one in said)

    def test_far_points_are_finite(self, estimator, table):
        assert np.isfinite(fitted(estimator, table).predict(table * 1e6)).all()

    def test_precomputed(self, estimator, table):
        K = RBF(sigma=2.0)(table)
        model = clone(estimator).set_params(kernel="precomputed")
        assert "square Gram matrix" in complaint(lambda: fitted(model, K[:50]))
        skew = K.copy()
        skew[0, 1] += 1e-3
        assert "symmetric" in complaint(lambda: fitted(model, skew))
        done = fitted(model, K)
        assert "200" in complaint(lambda: done.predict(K[:, :50]))
        assert done.predict(K[:7]).shape == (7,)

    def test_columns_in_another_order_are_refused(self, estimator, table):
        frame = pd.DataFrame(table, columns=[f"c{j}" for j in range(10)])
        model = fitted(estimator, frame)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[frame.columns[::-1]])

    def test_summary(self, estimator, table):
        summary = fitted(estimator, table).summary_
        assert str(summary).startswith(type(estimator).__name__)
        assert summary.to_dict()["n"] == 200


class TestKernelKMeans:
    @pytest.mark.parametrize("value", [0, -1])
    def test_counts_out_of_range(self, table, value):
        for name in ("n_clusters", "n_init", "max_iter", "batch_size"):
            assert f"{name}={value}" in complaint(lambda n=name: KernelKMeans().set_params(**{n: value}).fit(table))

    @pytest.mark.parametrize("value", ["two", True, 2.5, [2]])
    def test_counts_of_the_wrong_kind(self, table, value):
        assert "n_clusters" in complaint(lambda: KernelKMeans(value).fit(table), TypeError)

    def test_more_clusters_than_rows(self, table):
        """A80."""
        message = complaint(lambda: KernelKMeans(7).fit(table[:5]))
        assert "n_clusters=7" in message
        assert "n_samples=5" in message
        message = complaint(lambda: KernelKMeans(3).fit(table, sample_weight=np.arange(200) < 2))
        assert "sample_weight" in message

    def test_as_many_clusters_as_rows(self, table):
        model = KernelKMeans(9, kernel="rbf(sigma=1)").fit(table[:9])
        assert_allclose(model.inertia_, 0, atol=1e-12)
        assert np.array_equal(np.sort(model.labels_), np.arange(9))

    @pytest.mark.parametrize("init", ["k-means++", "random", [0, 1, 2, 3] * 6])
    @pytest.mark.parametrize("kernel", ["rbf(sigma=1)", "linear"])
    def test_more_clusters_than_distinct_rows(self, table, init, kernel):
        """A79."""
        X = np.repeat(table[:3], 8, axis=0)
        with pytest.warns(gramian.RankWarning, match="only 3 different places"):
            model = KernelKMeans(4, kernel=kernel, init=init).fit(X)
        assert np.array_equal(np.unique(model.labels_), [0, 1, 2])
        assert_allclose(model.inertia_, 0, atol=1e-11)
        assert model.transform(X).shape == (24, 3)
        assert model.get_feature_names_out().shape == (3,)

    @pytest.mark.parametrize("init", ["k-means++", "random"])
    @pytest.mark.parametrize("batch_size", [None, 5])
    def test_all_rows_alike(self, init, batch_size):
        if init == "random" and batch_size:
            pytest.skip("batches start from a sample of their own")
        with pytest.warns(gramian.RankWarning, match="only 1 different places"):
            model = KernelKMeans(3, init=init, batch_size=batch_size).fit(np.ones((20, 3)))
        assert (model.labels_ == 0).all()
        assert model.inertia_ == pytest.approx(0, abs=1e-12)

    def test_sums_that_would_overflow(self, table):
        X = table / np.abs(table).max()
        plain = KernelKMeans(3, kernel="linear").fit(X)
        for size in (1e149, 1e152):
            model = KernelKMeans(3, kernel="linear").fit(X * size)
            assert 0 < model.inertia_ < np.inf
            assert np.array_equal(model.labels_, plain.labels_)
        for size in (1e153, 1e154):
            assert "overflows" in complaint(lambda s=size: KernelKMeans(3, kernel="linear").fit(X * s))

    def test_batches_too_small_for_the_clusters_are_said(self, table):
        with pytest.warns(gramian.RankWarning, match=r"sample.*larger batch_size"):
            model = KernelKMeans(8, batch_size=1).fit(table)
        assert len(np.unique(model.labels_)) == model.summary_.facts["n_clusters"] < 8
        with pytest.warns(gramian.ConvergenceWarning, match="batches stopped at max_iter=2"):
            KernelKMeans(3, batch_size=20, max_iter=2).fit(table)

    def test_labels_as_a_start(self, table):
        start = np.arange(200) % 3
        assert "(199,)" in complaint(lambda: KernelKMeans(3, init=start[:-1]).fit(table))
        assert "0 to 2" in complaint(lambda: KernelKMeans(3, init=start + 1).fit(table))
        assert "cluster 3" in complaint(lambda: KernelKMeans(4, init=start).fit(table))
        assert "whole numbers" in complaint(lambda: KernelKMeans(3, init=start * 1.0).fit(table), TypeError)
        assert "'k-means'" in complaint(lambda: KernelKMeans(3, init="k-means").fit(table))
        assert "batch_size" in complaint(lambda: KernelKMeans(3, init=start, batch_size=9).fit(table))
        weights = np.where(start == 1, 0.0, 1.0)
        assert "cluster 1" in complaint(lambda: KernelKMeans(3, init=start).fit(table, sample_weight=weights))

    def test_an_indefinite_kernel_ends_with_a_warning(self, rng):
        X = rng.standard_normal((150, 4))
        with pytest.warns(gramian.IndefiniteKernelWarning, match="negative"):
            model = KernelKMeans(4, kernel="sigmoid(scale=0.5, constant=-1)").fit(X)
        assert np.isfinite(model.inertia_)
        assert (model.transform(X) >= 0).all()
        assert len(np.unique(model.labels_)) == 4
        assert model.summary_.facts["n_negative"] > 0

    def test_too_few_steps_are_said(self, table):
        with pytest.warns(gramian.ConvergenceWarning, match="max_iter=1"):
            model = KernelKMeans(5, init="random", n_init=1, max_iter=1).fit(table)
        assert model.n_iter_ == 1
        assert "stopped" in str(model.summary_)

    def test_distances_of_new_rows_are_not_in_a_precomputed_matrix(self, table):
        K = RBF(sigma=2.0)(table)
        model = KernelKMeans(3, kernel="precomputed").fit(K)
        assert model.transform(K).shape == (200, 3)
        assert "precomputed" in complaint(lambda: model.transform(K[:7]))

    def test_tolerance(self, table):
        assert "tol=-1" in complaint(lambda: KernelKMeans(3, tol=-1).fit(table))
        rough = KernelKMeans(5, init="random", n_init=1, tol=0.5).fit(table)
        assert rough.n_iter_ < KernelKMeans(5, init="random", n_init=1).fit(table).n_iter_


class TestNeighbours:
    def test_more_neighbours_than_rows(self, table):
        """A75."""
        message = complaint(lambda: KernelKNNClassifier(9).fit(table[:4], [0, 1, 0, 1]))
        assert "n_neighbors=9" in message
        assert "n_samples=4" in message
        model = KernelKNNClassifier(4).fit(table[:4], [0, 1, 0, 1])
        assert "n_neighbors=5" in complaint(lambda: model.kneighbors(table, 5))
        assert "n_neighbors=4" in complaint(lambda: model.kneighbors())  # a row is not its own neighbour
        assert model.kneighbors(n_neighbors=3)[0].shape == (4, 3)

    def test_weights(self, table):
        y = np.arange(200) % 2
        assert "weights='near'" in complaint(lambda: KernelKNNClassifier(weights="near").fit(table, y))
        assert "not known" in complaint(lambda: KernelKNNClassifier(weights=np.ones(5)).fit(table, y))
        words = KernelKNNClassifier(weights=lambda d: "near").fit(table, y)
        assert "weights=" in complaint(lambda: words.predict(table))
        zero = KernelKNNClassifier(weights=np.zeros_like).fit(table, y)
        assert "weight 0" in complaint(lambda: zero.predict(table))
        wrong = KernelKNNRegressor(weights=lambda d: d[:, :1]).fit(table, y)
        assert "(200, 1)" in complaint(lambda: wrong.predict(table))

    def test_targets_are_not_those_of_the_caller(self, table):
        y = np.arange(200.0)
        model = KernelKNNRegressor(1).fit(table, y)
        y[:] = 0
        assert np.array_equal(model.predict(table), np.arange(200.0))

    def test_rows_at_distance_zero_decide_alone(self):
        model = KernelKNNRegressor(3, weights="distance", kernel="rbf(sigma=1)").fit([[0.0], [0.0], [1.0]], [2, 4, 9])
        assert_allclose(model.predict([[0.0]]), [3.0])

    def test_labels(self, table):
        words = np.array(["no", "yes"])[np.arange(200) % 2]
        for model in (KernelKNNClassifier(1), KernelPrototypeClassifier()):
            assert set(model.fit(table, words).predict(table)) <= {"no", "yes"}
            assert "continuous" in complaint(lambda m=model: clone(m).fit(table, table[:, 0]))
            assert "labels" in complaint(lambda m=model: clone(m).fit(table, words[:-1]))
            assert (clone(model).fit(table, np.full(200, 7)).predict(table) == 7).all()
        assert (KernelKNNClassifier(1).fit(table, words).predict(table) == words).all()

    def test_an_indefinite_kernel_ranks_unclipped(self, rng):
        X = rng.standard_normal((60, 4))
        model = KernelKNNClassifier(3, kernel="sigmoid(scale=0.5, constant=-1)").fit(X, np.arange(60) % 2)
        k = model.kernel_
        d2 = k.diagonal(X)[:, None] - 2 * k.block(X, X) + k.diagonal(X)
        assert (d2 < -1e-6).any()
        with pytest.warns(gramian.IndefiniteKernelWarning, match="negative"):
            distances, indices = model.kneighbors(X)
        assert np.array_equal(indices, np.argsort(d2, axis=1, kind="stable")[:, :3])
        assert (distances >= 0).all()

    def test_rounding_does_not_make_a_kernel_indefinite(self, rng):
        X = rng.standard_normal((60, 3)) * 1e-160
        with pytest.warns(gramian.RankWarning, match="underflow"):
            model = KernelKNNClassifier(1, kernel="cosine").fit(X, np.arange(60) % 2)
        model.kneighbors(X)

    def test_a_constant_kernel_takes_the_first_rows(self, table):
        model = KernelKNNClassifier(3, kernel="rbf(gamma=0)").fit(table, np.arange(200) % 2)
        assert np.array_equal(model.kneighbors(table[:5])[1], np.tile([0, 1, 2], (5, 1)))

    def test_precomputed_without_distances(self, table):
        K = RBF(sigma=2.0)(table)
        y = np.arange(200) % 2
        near = KernelKNNClassifier(3, kernel="precomputed", weights="distance").fit(K, y)
        assert "precomputed" in complaint(lambda: near.predict(K[:9]))
        assert "Gram matrix" in complaint(lambda: near.kneighbors())

    def test_grid_search_finds_the_width(self, digits):
        from sklearn.datasets import load_digits

        y = load_digits().target[:300]
        grid = {"kernel__sigma": [1e-3, 1.0]}
        search = GridSearchCV(KernelPrototypeClassifier(RBF(sigma=1.0)), grid, cv=3).fit(digits[:300] / 16, y)
        assert search.best_params_ == {"kernel__sigma": 1.0}


def test_prototypes_of_an_indefinite_kernel_warn():
    model = KernelPrototypeClassifier("precomputed").fit(-np.eye(60), np.arange(60) % 2)
    with pytest.warns(gramian.IndefiniteKernelWarning, match="negative"):
        distances = model.distances(-np.eye(60))
    assert (distances >= 0).all()


def test_classes_without_weight_are_not_there(table):
    y = np.arange(200) % 3
    model = KernelPrototypeClassifier().fit(table, y, sample_weight=(y != 1).astype(float))
    assert np.array_equal(model.classes_, [0, 2])
    assert model.decision_function(table).shape == (200,)
