import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

import gramian
from gramian import KernelKMeans
from gramian.kernels import RBF, parse
from gramian.operators import Gram
from gramian.operators.similarities import KeptGram, ThinProducts, TiledGram, similarities
from gramian.solvers import clustering
from gramian.solvers.clustering import lloyd, relaxed, scatter, seed

KERNELS = ["rbf", "laplacian", "matern", "linear", "polynomial(degree=2, scale=0.1)", "cosine", "2*rbf + linear[0:3]"]


@pytest.fixture
def blobs():
    X, _ = make_blobs(600, n_features=5, centers=7, cluster_std=2.5, random_state=3)
    X.setflags(write=False)
    return X


def objective(K, labels, weights=None):
    """By the definition: squared distances of points to the means of their clusters."""
    w = np.ones(len(K)) if weights is None else weights
    B = np.eye(labels.max() + 1)[labels] * w[:, None]
    B /= B.sum(axis=0)
    d2 = np.diag(K)[:, None] - 2 * K @ B + np.einsum("ik,ij,jk->k", B, K, B)
    return w @ d2[np.arange(len(K)), labels]


def same_partition(a, b):
    return adjusted_rand_score(a, b) == 1


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("k", [2, 5, 9])
def test_linear_kernel_is_lloyd_from_the_same_start(blobs, rng, k, offset):
    X = blobs + offset
    start = rng.integers(k, size=len(X))
    start[:k] = np.arange(k)
    centres = np.stack([X[start == c].mean(axis=0) for c in range(k)])
    theirs = KMeans(k, init=centres, n_init=1, algorithm="lloyd", tol=0).fit(X)
    ours = KernelKMeans(k, kernel="linear", init=start).fit(X)
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-9)
    means = np.stack([X[theirs.labels_ == c].mean(axis=0) for c in range(k)])
    assert_allclose(ours.transform(X), np.linalg.norm(X[:, None] - means, axis=2), rtol=1e-8)
    assert np.array_equal(ours.predict(X + 0.5), theirs.predict(X + 0.5))


@pytest.mark.parametrize("kernel", KERNELS)
def test_objective_falls_and_is_what_it_says(table, kernel):
    """A81."""
    for init in ("k-means++", "random"):
        model = KernelKMeans(6, kernel=kernel, init=init, n_init=3).fit(table)
        assert (np.diff(model.inertia_path_) < 0).all()
        assert model.inertia_path_[-1] == model.inertia_
        K = parse(kernel).resolve(table).block(table, table)
        assert_allclose(model.inertia_, objective(K, model.labels_), rtol=1e-9)
        assert_allclose(-model.score(table), model.inertia_, rtol=1e-9)
        assert np.array_equal(np.unique(model.labels_), np.arange(6))
        assert np.array_equal(model.predict(table), model.labels_)
        assert np.array_equal(model.transform(table).argmin(axis=1), model.labels_)
        assert model.summary_.facts["converged"]


@pytest.mark.parametrize("kernel", ["rbf(sigma=2)", "polynomial(degree=2, scale=0.1)"])
def test_matrix_free_equals_kept(blobs, monkeypatch, kernel):
    kept = KernelKMeans(6, kernel=kernel, init="random").fit(blobs)
    monkeypatch.setattr("gramian.operators.gram.KEPT_GRAM_MAX_BYTES", 0)
    monkeypatch.setattr("gramian.engine.tiles.SIDE", 100)
    free = KernelKMeans(6, kernel=kernel, init="random").fit(blobs)
    assert "tiles" in str(free.summary_)
    assert "kept" in str(kept.summary_)
    assert np.array_equal(free.labels_, kept.labels_)
    assert_allclose(free.inertia_path_, kept.inertia_path_, rtol=1e-11)


def test_parts_of_products_equal_whole_ones(blobs, monkeypatch):
    inner = similarities(RBF(sigma=3.0), blobs)
    starts = scatter(600, 5, 4, np.random.default_rng(0))
    in_parts = lloyd(inner, starts, 5, np.ones(600))
    monkeypatch.setattr(clustering, "CHANGED_SHARE", -1.0)
    whole = lloyd(inner, starts, 5, np.ones(600))
    assert "in parts" in in_parts.work
    assert "in parts" not in whole.work
    assert np.array_equal(in_parts.labels, whole.labels)
    assert_allclose(in_parts.path, whole.path, rtol=1e-12)


def test_runs_together_equal_runs_alone(blobs):
    inner = similarities(RBF(sigma=3.0), blobs)
    starts = scatter(600, 5, 6, np.random.default_rng(0))
    alone = [lloyd(inner, [start], 5, np.ones(600)) for start in starts]
    together = lloyd(inner, starts, 5, np.ones(600))
    best = min(alone, key=lambda end: end.path[-1])
    assert np.array_equal(together.labels, best.labels)
    with gramian.config(memory="1MB"):
        split = lloyd(inner, starts, 5, np.ones(600))
    assert np.array_equal(split.labels, best.labels)


@pytest.mark.parametrize("kind", [KeptGram, TiledGram, ThinProducts])
def test_similarities_are_those_of_the_matrix(table, rng, monkeypatch, kind):
    if kind is TiledGram:
        monkeypatch.setattr("gramian.operators.gram.KEPT_GRAM_MAX_BYTES", 0)
    kernel = parse("linear" if kind is ThinProducts else "rbf(sigma=3)")
    inner, K = similarities(kernel, table), Gram(kernel, table).toarray()
    assert isinstance(inner, kind)
    some, V = np.array([3, 50, 199]), rng.standard_normal((200, 4))
    assert_allclose(inner @ V, K @ V, atol=1e-9)
    assert_allclose(inner.some(some, V[:3]), K[:, some] @ V[:3], atol=1e-9)
    assert_allclose(inner.part(some[:2], some, V[:3]), K[np.ix_(some[:2], some)] @ V[:3], atol=1e-9)
    assert_allclose(inner.columns(some), K[:, some], atol=1e-9)
    assert_allclose(inner.diagonal(), np.diag(K), atol=1e-9)
    assert_allclose(inner.among(some) @ np.eye(3), K[np.ix_(some, some)], atol=1e-9)


def test_rings_and_moons_are_separated():
    X, y = make_circles(500, factor=0.2, noise=0.04, random_state=0)
    assert same_partition(KernelKMeans(2, kernel="rbf(sigma=0.4)").fit_predict(X), y)
    X, y = make_moons(500, noise=0.04, random_state=0)
    for sigma in (0.15, 0.2, 0.25):
        assert same_partition(KernelKMeans(2, kernel=RBF(sigma=sigma)).fit_predict(X), y)


def test_the_start_from_leading_components_finds_a_lower_end():
    X, _ = make_moons(500, noise=0.04, random_state=0)
    inner = similarities(RBF(sigma=0.2), X)
    rng, w = np.random.default_rng(0), np.ones(500)
    seeds, leading = seed(inner, 2, 10, w, rng), relaxed(inner, 2, w, rng)
    assert lloyd(inner, leading, 2, w).path[-1] < 0.999 * lloyd(inner, seeds, 2, w).path[-1]
    assert not relaxed(similarities(parse("sigmoid"), X), 2, w, rng)


@pytest.mark.parametrize("kernel", ["rbf", "rbf(sigma=3)", "linear", "polynomial(degree=2, scale=0.1)"])
def test_weights_are_repeats(blobs, rng, kernel):
    X, w = blobs[:150], rng.integers(0, 4, 150)
    repeated = np.repeat(X, w, axis=0)[rng.permutation(w.sum())]
    ours = KernelKMeans(5, kernel=kernel).fit(X, sample_weight=w)
    theirs = KernelKMeans(5, kernel=kernel).fit(repeated)
    assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-9)
    assert_allclose(ours.transform(blobs), theirs.transform(blobs), rtol=1e-7)
    assert np.array_equal(ours.predict(blobs), theirs.predict(blobs))
    assert_allclose(ours.score(X, sample_weight=w), ours.score(np.repeat(X, w, axis=0)), rtol=1e-10)


def test_rows_in_another_order_give_the_same_clusters(blobs, rng):
    order = rng.permutation(600)
    first, second = KernelKMeans(6).fit(blobs), KernelKMeans(6).fit(blobs[order])
    assert np.array_equal(first.labels_[order], second.labels_)


def test_an_empty_cluster_gets_the_farthest_row():
    """A81."""
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [30.0]])
    # Means at 5.06, 5.1 and 15.05: the last keeps 30 alone, the first two are torn apart and one of them runs empty.
    model = KernelKMeans(3, kernel="linear", init=[0, 1, 2, 0, 1, 2]).fit(X)
    assert np.array_equal(np.sort(np.bincount(model.labels_)), [1, 2, 3])
    assert (np.diff(model.inertia_path_) < 0).all()
    # Start where two clusters lie on each other: one mean is nearer to nothing.
    X = np.array([[-1.0], [1.0], [-1.0], [1.0], [8.0], [9.0]])
    model = KernelKMeans(3, kernel="linear", init=[0, 0, 1, 1, 2, 2]).fit(X)
    assert_allclose(model.inertia_, 0.5)
    assert len(np.unique(model.labels_)) == 3


def test_precomputed_and_sparse_agree_with_rows(blobs):
    kernel = RBF(sigma=3.0)
    start = np.arange(600) % 4
    rows = KernelKMeans(4, kernel=kernel, init=start).fit(blobs)
    K = kernel(blobs)
    given = KernelKMeans(4, kernel="precomputed", init=start).fit(K)
    sparse = KernelKMeans(4, kernel=kernel, init=start).fit(sp.csr_array(blobs))
    assert np.array_equal(rows.labels_, given.labels_)
    assert np.array_equal(rows.labels_, sparse.labels_)
    assert_allclose(given.transform(K), rows.transform(blobs), atol=1e-7)
    new = kernel(blobs[:7] + 0.1, blobs)
    assert np.array_equal(given.predict(new), rows.predict(blobs[:7] + 0.1))


@pytest.mark.slow
def test_batches_come_close_to_all_rows():
    X, _ = make_blobs(4000, n_features=6, centers=6, cluster_std=1.5, random_state=1)
    whole = KernelKMeans(6, kernel="rbf(sigma=4)").fit(X)
    part = KernelKMeans(6, kernel="rbf(sigma=4)", batch_size=256).fit(X)
    assert part.inertia_ <= 1.02 * whole.inertia_
    assert same_partition(part.labels_, whole.labels_) or adjusted_rand_score(part.labels_, whole.labels_) > 0.95
    assert np.array_equal(part.predict(X), part.labels_)
    assert_allclose(-part.score(X), part.inertia_, rtol=1e-9)
    assert part.means_.anchors.shape[0] < 4000
    # The means are those of the coefficients, as the running formula for their lengths says.
    K = RBF(sigma=4.0)(part.means_.anchors)
    B = part.means_.coefficients
    assert_allclose(np.einsum("ik,ij,jk->k", B, K, B), part.means_.squares, rtol=1e-9)
    assert_allclose(B.sum(axis=0), 1, rtol=1e-12)


def test_seeds_lie_apart(blobs):
    inner = similarities(RBF(sigma=3.0), blobs)
    starts = seed(inner, 7, 5, np.ones(600), np.random.default_rng(0))
    random = scatter(600, 7, 5, np.random.default_rng(0))
    K = Gram(RBF(sigma=3.0), blobs).toarray()
    assert max(objective(K, s) for s in starts) < min(objective(K, s) for s in random)


def test_the_same_bits_again_and_another_seed(blobs):
    models = [KernelKMeans(5, init="random", n_init=1, random_state=s).fit(blobs) for s in (0, 0, 1)]
    assert np.array_equal(models[0].labels_, models[1].labels_)
    assert models[0].inertia_ == models[1].inertia_
    assert models[0].inertia_path_[0] != models[2].inertia_path_[0]


def test_single_precision_rows(blobs):
    X = blobs.astype(np.float32)
    model = KernelKMeans(5, kernel="rbf(sigma=3)").fit(X)
    assert model.transform(X).dtype == np.float32
    assert_allclose(model.inertia_, KernelKMeans(5, kernel="rbf(sigma=3)").fit(X.astype(float)).inertia_, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["linear", "polynomial(degree=3)"])
def test_one_far_row_does_not_make_the_others_equal(rng, kernel):
    centres = np.array([[0.0, 0, 0], [6, 0, 0], [0, 6, 0], [0, 0, 6]])
    X = np.vstack([(centres[:, None] + 0.1 * rng.standard_normal((4, 15, 3))).reshape(-1, 3), np.zeros((1, 3))])
    X[-1, 0] = 1e8 if kernel == "linear" else 1e4
    model = KernelKMeans(5, kernel=kernel).fit(X)
    assert np.array_equal(np.sort(np.bincount(model.labels_)), [1, 15, 15, 15, 15])
    if kernel == "linear":
        inside = sum(((X[at : at + 15] - X[at : at + 15].mean(axis=0)) ** 2).sum() for at in range(0, 60, 15))
        assert_allclose(model.inertia_, inside, rtol=0.1)  # seen from the mean, 1.6e6 away, squares round to 5e-4


def test_rows_without_weight_go_to_the_nearest_mean(blobs):
    w = (np.arange(600) < 400).astype(float)
    found = KernelKMeans(4).fit(blobs, sample_weight=w)
    assert np.array_equal(found.labels_, found.predict(blobs))
    start = np.where(w > 0, found.labels_, (found.labels_ + 1) % 4)
    again = KernelKMeans(4, init=start).fit(blobs, sample_weight=w)
    assert np.array_equal(again.labels_, found.labels_)
    assert "no row is nearer" in str(again.summary_)


@pytest.mark.parametrize("size", [1e-200, 1e-3, 1e100, 1e300])
def test_the_unit_of_the_weights_does_not_matter(blobs, size):
    plain = KernelKMeans(4).fit(blobs)
    model = KernelKMeans(4).fit(blobs, sample_weight=np.full(600, size))
    assert np.array_equal(model.labels_, plain.labels_)
    assert_allclose(model.inertia_ / size, plain.inertia_, rtol=1e-12)
    assert_allclose(model.inertia_path_ / size, plain.inertia_path_, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["laplacian", "rbf(sigma=0.3)"])
def test_the_memory_budget_does_not_choose_the_start(rng, kernel):
    X = rng.standard_normal((1500, 4))
    roomy = KernelKMeans(5, kernel=kernel, n_init=2).fit(X)
    with gramian.config(memory="5MB", threads=1):
        tight = KernelKMeans(5, kernel=kernel, n_init=2).fit(X)
    assert np.array_equal(tight.labels_, roomy.labels_)
    assert_allclose(tight.inertia_, roomy.inertia_, rtol=1e-12)


def test_an_objective_of_zero_is_not_negative():
    X = np.repeat(np.arange(3.0), 9)[:, None]
    for kernel in ("rbf(sigma=0.7)", "laplacian", "polynomial"):
        assert KernelKMeans(3, kernel=kernel).fit(X + 0.1).inertia_ >= 0
