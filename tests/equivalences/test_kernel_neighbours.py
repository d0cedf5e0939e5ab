import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, make_moons
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestCentroid

import gramian
from gramian import KernelKNNClassifier, KernelKNNRegressor, KernelPrototypeClassifier
from gramian.kernels import RBF, parse
from gramian.operators.nearest import EuclideanSearch

PLAIN = ["rbf", "laplacian(norm=l2)", "matern", "rational_quadratic", "linear", "2*rbf + matern", "rbf**2"]
OTHER = ["polynomial(degree=2, scale=0.1)", "cosine", "laplacian", "rbf[0:3]", "rbf + linear"]


def expected(kernel, X, Y, k, own=False):
    """By the definition, over the whole matrix; ties by the first index."""
    d2 = kernel.diagonal(X)[:, None] - 2 * kernel.block(X, Y) + kernel.diagonal(Y)
    if own:
        np.fill_diagonal(d2, np.inf)
    order = np.argsort(np.round(d2, 9), axis=1, kind="stable")[:, :k]
    return np.sqrt(np.maximum(np.take_along_axis(d2, order, axis=1), 0)), order


@pytest.mark.parametrize("kernel", PLAIN + OTHER)
def test_neighbours_by_the_definition(table, rng, kernel):
    X = rng.standard_normal((37, 10)) * table.std(axis=0) + table.mean(axis=0)
    model = KernelKNNClassifier(4, kernel=kernel).fit(table, np.arange(200) % 3)
    assert model.kernel_.keeps_neighbours == (kernel in PLAIN)
    for queries, own in ((X, False), (None, True)):
        distances, indices = model.kneighbors(queries)
        far, order = expected(model.kernel_, table if own else X, table, 4, own)
        assert np.array_equal(indices, order)
        assert_allclose(distances, far, atol=1e-6)
        assert (np.diff(distances, axis=1) >= 0).all()


@pytest.mark.parametrize("side", [7, 64, 1000])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kernel", ["rbf(sigma=2)", "polynomial(degree=2)"])
def test_tiles_and_threads_change_nothing(table, monkeypatch, side, threads, kernel):
    model = KernelKNNRegressor(9, kernel=kernel).fit(table, np.arange(200.0))
    before = model.kneighbors(table + 0.1)
    monkeypatch.setattr("gramian.engine.tiles.SIDE", side)
    monkeypatch.setattr("gramian.operators.nearest.SIDE", side)
    with gramian.config(threads=threads):
        distances, indices = model.kneighbors(table + 0.1)
    assert np.array_equal(indices, before[1])
    assert_allclose(distances, before[0], rtol=1e-9)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
@pytest.mark.parametrize("k", [1, 4, 15])
def test_linear_kernel_is_scikit_learn(digits, weights, k):
    y, X, Q = load_digits().target, digits[:400], digits[1000:1400]
    ours = KernelKNNClassifier(k, kernel="linear", weights=weights).fit(X, y[:400])
    theirs = KNeighborsClassifier(k, weights=weights, algorithm="brute").fit(X, y[:400])
    Q = Q[without_ties(ours, Q)]
    assert len(Q) > 250
    assert_allclose(ours.predict_proba(Q), theirs.predict_proba(Q), atol=1e-9)
    assert np.array_equal(ours.predict(Q), theirs.predict(Q))
    Y = np.column_stack([y, digits[:, 20]])[:400]
    ours = KernelKNNRegressor(k, kernel="linear", weights=weights).fit(X, Y)
    theirs = KNeighborsRegressor(k, weights=weights, algorithm="brute").fit(X, Y)
    assert_allclose(ours.predict(Q), theirs.predict(Q), rtol=1e-9)
    single = KernelKNNRegressor(k, kernel="linear", weights=weights).fit(X, Y[:, 0])
    assert_allclose(single.predict(Q), ours.predict(Q)[:, 0], rtol=1e-12)


def without_ties(model, X):
    """Rows whose neighbours, and the next one, are all at different distances."""
    return (np.diff(model.kneighbors(X, model.n_neighbors + 1)[0], axis=1) > 1e-9).all(axis=1)


def test_a_kernel_that_falls_with_the_distance_has_the_plain_neighbours(digits):
    plain = KNeighborsClassifier(7).fit(digits, np.zeros(len(digits))).kneighbors(return_distance=False)
    for kernel in ("rbf(sigma=20)", "matern(length_scale=20)", "rational_quadratic(length_scale=20)"):
        model = KernelKNNClassifier(7, kernel=kernel).fit(digits, np.zeros(len(digits)))
        distances, indices = model.kneighbors()
        clear = without_ties(model, None)
        assert clear.sum() > 1500
        assert np.array_equal(indices[clear], plain[clear])
        assert (np.diff(distances, axis=1) >= 0).all()


def test_a_tree_finds_the_same(rng):
    Y, X = (np.round(8 * rng.standard_normal((n, 3))) / 8 for n in (1200, 300))  # many ties
    model = KernelKNNClassifier(6, kernel="rbf(sigma=1)").fit(Y, np.arange(1200) % 2)
    assert model.summary_.facts["solver"] == "tree"
    d2 = ((X[:, None] - Y) ** 2).sum(axis=2)
    order = np.argsort(d2, axis=1, kind="stable")[:, :6]
    assert np.array_equal(model.kneighbors(X)[1], order)
    d2 = ((Y[:, None] - Y) ** 2).sum(axis=2)
    np.fill_diagonal(d2, np.inf)
    assert np.array_equal(model.kneighbors()[1], np.argsort(d2, axis=1, kind="stable")[:, :6])


def test_ties_go_to_the_first_row_and_the_first_class(rng):
    """D86."""
    Y = np.repeat(rng.integers(0, 3, (40, 6)).astype(float), 30, axis=0)
    for kernel in ("rbf(sigma=2)", "linear", "polynomial(degree=2)"):
        model = KernelKNNClassifier(5, kernel=kernel).fit(Y, np.arange(1200) % 2)
        found = model.kneighbors(Y[::30])[1]
        d2 = ((Y[::30, None] - Y) ** 2).sum(axis=2)
        if kernel.startswith("polynomial"):
            k = model.kernel_
            d2 = k.diagonal(Y[::30])[:, None] - 2 * k.block(Y[::30], Y) + k.diagonal(Y)
        assert np.array_equal(found, np.argsort(d2, axis=1, kind="stable")[:, :5])
    two = KernelKNNClassifier(2, kernel="linear").fit([[0.0], [1.0]], ["b", "a"])
    assert two.predict([[0.0]]) == ["a"]


def test_the_search_in_single_precision_is_confirmed(rng):
    # Distances that differ by less than single precision can see, far from the origin.
    Y = 1.0 + 1e-9 * rng.standard_normal((2000, 30))
    Y[0] += 100.0
    X = Y[1:200] + 1e-10
    squares, indices = EuclideanSearch(X, Y).find(3)
    d2 = np.stack([((x - Y) ** 2).sum(axis=1) for x in X])
    assert np.array_equal(indices, np.argsort(d2, axis=1, kind="stable")[:, :3])
    assert_allclose(squares, np.sort(d2, axis=1)[:, :3], rtol=1e-12)


@pytest.mark.parametrize("kernel", PLAIN)
def test_feature_distances_from_plain_ones(table, kernel):
    k = parse(kernel).resolve(table)
    d2 = ((table[:20, None] - table[:20]) ** 2).sum(axis=2)
    direct = k.diagonal(table[:20])[:, None] - 2 * k.block(table[:20], table[:20]) + k.diagonal(table[:20])
    assert_allclose(k.feature_distances(d2), direct, atol=1e-9)


def test_small_distances_keep_their_digits():
    model = KernelKNNRegressor(1, kernel="rbf(sigma=1)").fit([[0.0], [1.0]], [0.0, 1.0])
    assert_allclose(model.kneighbors([[1e-9]])[0], [[1e-9]], rtol=1e-9)


def test_sparse_and_precomputed_agree_with_rows(digits):
    y = load_digits().target[:300]
    X, Q = digits[:300], digits[300:400]
    for kernel in ("rbf(sigma=20)", "polynomial(degree=2, scale=0.01)"):
        rows = KernelKNNClassifier(5, kernel=kernel).fit(X, y)
        sparse = KernelKNNClassifier(5, kernel=kernel).fit(sp.csr_array(X), y)
        assert_allclose(sparse.kneighbors(sp.csr_array(Q))[0], rows.kneighbors(Q)[0], rtol=1e-7)
        k = parse(kernel)
        given = KernelKNNClassifier(5, kernel="precomputed").fit(k(X), y)
        assert np.array_equal(given.predict(k(Q, X)), rows.predict(Q))
        assert_allclose(given.kneighbors(k(X))[0], rows.kneighbors(X)[0], atol=1e-5)


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_linear_prototypes_are_nearest_centroids(table, rng, offset):
    X, y = table + offset, rng.integers(4, size=200)
    ours = KernelPrototypeClassifier("linear").fit(X[:150], y[:150])
    theirs = NearestCentroid().fit(X[:150], y[:150])
    if offset == 0:
        assert np.array_equal(ours.predict(X[150:]), theirs.predict(X[150:]))
    d = np.linalg.norm(X[150:, None] - theirs.centroids_, axis=2)
    assert_allclose(ours.distances(X[150:]), d, rtol=1e-7)
    assert np.array_equal(ours.predict(X[150:]), d.argmin(axis=1))


@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial(degree=2, scale=0.1)", "cosine"])
def test_prototypes_by_the_definition_and_with_weights(table, rng, kernel):
    y, w = np.arange(200) % 3, rng.integers(1, 4, 200)
    model = KernelPrototypeClassifier(kernel).fit(table, y)
    k = model.kernel_
    for c in range(3):
        A = table[y == c]
        d2 = k.diagonal(table) - 2 * k.block(table, A).mean(axis=1) + k.block(A, A).mean()
        assert_allclose(model.distances(table)[:, c], np.sqrt(d2), rtol=1e-7)
    assert np.array_equal(model.predict(table), model.distances(table).argmin(axis=1))
    assert np.array_equal(model.decision_function(table).argmax(axis=1), model.predict(table))
    weighted = KernelPrototypeClassifier(kernel).fit(table, y, sample_weight=w)
    repeated = KernelPrototypeClassifier(kernel).fit(np.repeat(table, w, axis=0), np.repeat(y, w))
    assert_allclose(weighted.distances(table), repeated.distances(table), rtol=1e-8)


def test_prototypes_tell_moons_apart():
    X, y = make_moons(300, noise=0.05, random_state=0)
    model = KernelPrototypeClassifier(RBF(sigma=0.15)).fit(X, y)
    assert model.score(X, y) > 0.98
    assert np.array_equal(model.decision_function(X) > 0, model.predict(X) == 1)


@pytest.mark.parametrize("kernel", ["polynomial(degree=2)", "polynomial(degree=3)", "rbf + linear"])
def test_one_far_row_does_not_blur_the_distances_of_the_others(rng, kernel):
    Y, Q = np.vstack([rng.standard_normal((60, 3)), [[1e4, 0.0, 0.0]]]), rng.standard_normal((50, 3))
    k = parse(kernel).resolve(Y)
    d2 = k.diagonal(Q)[:, None] - 2 * k.block(Q, Y) + k.diagonal(Y)
    found = KernelKNNClassifier(3, kernel=k).fit(Y, np.arange(61) % 2).kneighbors(Q)[1]
    assert np.array_equal(found, np.argsort(d2, axis=1)[:, :3])


@pytest.mark.parametrize("kernel", ["cosine", "polynomial", "rbf + linear"])
def test_twins_are_at_distance_zero(rng, kernel):
    X = np.repeat(rng.standard_normal((20, 7)), 3, axis=0)
    model = KernelKNNRegressor(3, kernel=kernel, weights="distance").fit(X, np.arange(60.0))
    assert (model.kneighbors(X)[0] == 0).all()
    assert_allclose(model.predict(X), np.repeat(np.arange(1.0, 60.0, 3), 3), rtol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "cosine", "matern", "polynomial"])
def test_class_means_that_differ_by_rounding_are_equally_near(kernel):
    X, y = np.full((23, 3), 0.3), np.array([1] * 7 + [0] * 3 + [2] * 13)
    model = KernelPrototypeClassifier(kernel).fit(X, y)
    assert (model.predict(X) == 0).all()
    two = KernelPrototypeClassifier(kernel).fit(X, y == 2)
    assert (two.decision_function(X) == 0).all()
