"""Features of low rank: all rows as landmarks are exact, and every method agrees with its linear relative."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone

import gramian
from gramian import (
    PCA,
    KernelCCA,
    KernelKMeans,
    KernelKNNClassifier,
    KernelKNNRegressor,
    KernelPCA,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelSVC,
    Landmarks,
    RandomFeatures,
)
from gramian.config import one_blas_thread
from gramian.engine import vector_loops
from gramian.kernels import RBF, Laplacian, Matern, RationalQuadratic
from gramian.operators import mapped_moments as sums
from gramian.operators.features import FeatureMap
from gramian.operators.landmark_rows import landmark_map, pivots, spread, uniform
from gramian.operators.mapped_moments import mapped_moments, rows_summed
from gramian.spaces.ridge import LowRankRidge

_rng = np.random.default_rng(3)
X = _rng.standard_normal((160, 4))
LABELS = (X[:, 0] ** 2 + X[:, 1] > 0.6).astype(int)
TARGETS = np.sin(X[:, :2]) + 0.1 * _rng.standard_normal((160, 2))
NEW = _rng.standard_normal((30, 4))
KERNEL = "rbf(sigma=1.5)"
ESTIMATORS = [
    (KernelPCA(5, kernel=KERNEL), None),
    (KernelRidge(0.1, kernel=KERNEL), TARGETS),
    (KernelRidge(0.1, kernel=KERNEL, fit_intercept=True), TARGETS[:, 0]),
    (KernelSVC(kernel=KERNEL, bias=True, tol=1e-8), LABELS),
    (KernelKMeans(3, kernel=KERNEL), None),
    (KernelKNNClassifier(kernel=KERNEL), LABELS),
    (KernelKNNRegressor(kernel=KERNEL, weights="distance"), TARGETS),
    (KernelPrototypeClassifier(KERNEL), LABELS),
    (KernelCCA(2, kernel=KERNEL, ridge=0.05), TARGETS),
]
QUESTIONS = ("predict", "transform", "decision_function", "distances", "predict_proba")
ids = [f"{type(e).__name__}-{at}" for at, (e, _) in enumerate(ESTIMATORS)]


def fitted(estimator, y, rows=X, **parameters):
    model = clone(estimator).set_params(**parameters)
    return model.fit(rows) if y is None else model.fit(rows, y)


def answers(model, rows=NEW):
    return {name: getattr(model, name)(rows) for name in QUESTIONS if hasattr(model, name)}


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=ids)
@pytest.mark.parametrize(
    "landmarks",
    [160, Landmarks(160, method="uniform"), Landmarks(160, method="kmeans++"), Landmarks(points=X)],
    ids=["number", "uniform", "kmeans++", "points"],
)
def test_all_rows_as_landmarks_are_exact(estimator, y, landmarks):
    """B65."""
    if isinstance(estimator, KernelCCA) and getattr(landmarks, "points", None) is not None:
        landmarks = landmarks, Landmarks(points=TARGETS)
    exact, low = fitted(estimator, y), fitted(estimator, y, landmarks=landmarks)
    for name, expected in answers(exact).items():
        assert_allclose(answers(low)[name], expected, atol=1e-8, rtol=1e-8)
    for name in ("eigenvalues_", "explained_variance_ratio_", "inertia_", "correlations_", "held_out_correlations_"):
        if hasattr(exact, name):
            assert_allclose(getattr(low, name), getattr(exact, name), rtol=1e-8, atol=1e-8)
    assert np.all(np.array(low.trace_error_) < 1e-10)


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=ids)
def test_landmarks_of_the_linear_kernel_need_no_more_than_its_columns(estimator, y):
    if isinstance(estimator, KernelPCA):
        estimator = clone(estimator).set_params(n_components=4)
    exact, low = (fitted(estimator, y, kernel="linear", landmarks=m) for m in (None, 50))
    assert low.summary_.facts.get("n_features", 4) == 4
    for name, expected in answers(exact).items():
        # The largest score decides the sign: that of a landmark, or that of a row.
        assert_allclose(np.abs(answers(low)[name]), np.abs(expected), atol=1e-8, rtol=1e-7)


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=ids)
@pytest.mark.parametrize("landmarks", [30, Landmarks(30, method="kmeans++"), RandomFeatures(600)], ids=str)
def test_a_few_landmarks_come_near_and_say_how_near(estimator, y, landmarks):
    exact, low = fitted(estimator, y), fitted(estimator, y, landmarks=landmarks)
    for name, expected in answers(exact, X).items():
        if expected.dtype.kind == "f" and name != "predict_proba":
            found, expected = (np.abs(np.asarray(A).reshape(160, -1)[:, 0]) for A in (answers(low, X)[name], expected))
            assert np.linalg.norm(found - expected) < 0.5 * np.linalg.norm(expected)
    facts = low.summary_.to_dict()
    assert "low rank" in str(low.summary_)
    key = "trace_error_x" if isinstance(low, KernelCCA) else "trace_error"
    error = low.trace_error_[0] if isinstance(low, KernelCCA) else low.trace_error_
    assert facts[key] == error
    assert error is None if isinstance(landmarks, RandomFeatures) else 0 < error < 0.3


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=ids)
def test_single_precision_rows_agree_with_double(estimator, y):
    wide = fitted(estimator, y, landmarks=40)
    narrow = fitted(estimator, y, rows=X.astype(np.float32), landmarks=40)
    for name, expected in answers(wide).items():
        found = answers(narrow, NEW.astype(np.float32))[name]
        if name == "transform":
            assert found.dtype == np.float32
        if expected.dtype.kind == "f":
            assert_allclose(np.abs(found), np.abs(expected), atol=0.02 * np.abs(expected).max())


@pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=ids)
def test_sparse_rows_are_taken(estimator, y):
    rows = np.where(np.abs(X) > 0.7, X, 0.0)
    landmarks = Landmarks(160, method="uniform")
    dense, sparse = (fitted(estimator, y, rows=kind(rows), landmarks=landmarks) for kind in (np.array, sp.csr_array))
    for name, expected in answers(dense).items():
        assert_allclose(answers(sparse, sp.csr_array(NEW))[name], expected, atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize("at", [1, 2, 3, 4, 7])
def test_weights_count_as_repeated_rows(at):
    estimator, y = ESTIMATORS[at]
    counts = np.arange(160) % 3
    again = np.repeat(np.arange(160), counts)
    landmarks = Landmarks(points=X[::5])
    targets = {} if y is None else {"y": y}
    repeated = {} if y is None else {"y": y[again]}
    weighted = clone(estimator).set_params(landmarks=landmarks)
    if isinstance(weighted, KernelKMeans):
        weighted.set_params(init=LABELS, n_clusters=2)
        start = clone(weighted).set_params(init=LABELS[again])
    else:
        start = clone(weighted)
    weighted.fit(X, **targets, sample_weight=counts)
    start.fit(X[again], **repeated)
    for name, expected in answers(start).items():
        assert_allclose(answers(weighted)[name], expected, atol=1e-6, rtol=1e-6)
    assert_allclose(weighted.trace_error_, start.trace_error_, rtol=1e-8)


def test_distances_to_means_are_those_of_the_whole_feature_space():
    model = KernelKMeans(3, kernel=KERNEL, landmarks=20).fit(X)
    assert_allclose(model.inertia_, -model.score(X), rtol=1e-10)
    assert_allclose((model.transform(X).min(axis=1) ** 2).sum(), model.inertia_, rtol=1e-8)


def test_rows_that_do_not_fit_are_mapped_in_every_pass():
    kept = KernelKMeans(3, kernel=KERNEL, landmarks=40).fit(X)
    with gramian.config(memory=100_000):
        passes = KernelKMeans(3, kernel=KERNEL, landmarks=40).fit(X)
    assert "every pass" in str(passes.summary_)
    assert (passes.labels_ == kept.labels_).all()
    assert_allclose(passes.inertia_, kept.inertia_, rtol=1e-10)


def test_duplicate_landmarks_are_left_out():
    """B64."""
    points = np.concatenate([X[:20], X[:20], X[:5] + 1e-14])
    twice, once = (KernelPCA(3, kernel=KERNEL, landmarks=Landmarks(points=p)).fit(X) for p in (points, X[:20]))
    assert len(twice.projection_.anchors) == 20
    assert_allclose(twice.eigenvalues_, once.eigenvalues_, rtol=1e-9)
    assert np.isfinite(twice.transform(NEW)).all()


@pytest.mark.parametrize("tol", [0.2, 0.01, 1e-4])
def test_a_tolerance_chooses_the_rank(tol):
    model = KernelPCA(2, kernel=KERNEL, landmarks=Landmarks(tol=tol)).fit(X)
    m = len(model.projection_.anchors)
    assert model.trace_error_ <= tol
    fewer = KernelPCA(2, kernel=KERNEL, landmarks=Landmarks(points=model.projection_.anchors[: m - 10])).fit(X)
    assert fewer.trace_error_ > tol / 4


def test_preimages_come_from_landmarks():
    exact = KernelPCA(4, kernel=KERNEL, preimage="fixed_point").fit(X)
    low = KernelPCA(4, kernel=KERNEL, preimage="fixed_point", landmarks=160).fit(X)
    assert_allclose(
        low.inverse_transform(exact.transform(X[:9])), exact.inverse_transform(exact.transform(X[:9])), atol=1e-6
    )
    few = KernelPCA(20, kernel=KERNEL, preimage="auto", landmarks=60).fit(X)
    found = few.reconstruct(few.transform(X))
    assert np.linalg.norm(found.points - X) < 0.6 * np.linalg.norm(X)


def test_moments_of_parts_add_to_those_of_the_whole():
    kernel = RBF(sigma=1.5)
    map = landmark_map(kernel, X[:30], np.float64)
    whole = mapped_moments([map], [X], beside=TARGETS)
    parts = mapped_moments([map], [X[:50]], beside=TARGETS[:50]) + mapped_moments([map], [X[50:]], beside=TARGETS[50:])
    assert_allclose(parts.moments.scatter, whole.moments.scatter, atol=1e-11)
    assert_allclose(parts.trace_error(), whole.trace_error(), rtol=1e-10)
    F = np.hstack([map.features(X), TARGETS])
    assert_allclose(whole.moments.covariance(), np.cov(F.T, bias=True), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("condition", "summed", "apart"),
    [(1e99, True, False), (8e4, True, True), (0.0, False, False)],
    ids=["sums", "leading directions apart", "rows"],
)
def test_sums_may_be_mapped_in_place_of_rows(monkeypatch, dtype, condition, summed, apart):
    rows = np.random.default_rng(0).standard_normal((3000, 3)).astype(dtype)
    map = landmark_map(RBF(sigma=1.0), rows[: sums.MAP_ROWS_MAX_FEATURES + 16], dtype)
    expected = np.cov(map.features(rows.astype(float)).T, bias=True)
    allowed = dict.fromkeys(sums.MAX_CONDITION_EPS, condition * float(np.finfo(dtype).eps))
    monkeypatch.setattr(sums, "MAX_CONDITION_EPS", allowed)
    plan = sums.scatter_plan(map, len(rows), np.dtype(dtype))
    assert (plan.after is not None, plan.turn is not None) == (summed, apart)
    found = mapped_moments([map], [rows]).moments.covariance()
    assert_allclose(found, expected, atol=1e-9 if dtype == np.float64 else 2e-3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("condition", [1e99, 8e4, 0.0], ids=["sums", "leading directions apart", "rows"])
def test_loops_sum_what_blas_sums(monkeypatch, dtype, weighted, condition):
    rng = np.random.default_rng(0)
    n = 5003  # in two blocks, one of which is ragged
    rows, targets = rng.standard_normal((n, 3)).astype(dtype), rng.standard_normal((n, 2)) + 5
    weights = rng.random(n) if weighted else None
    map = landmark_map(RBF(sigma=1.0), rows[: sums.MAP_ROWS_MAX_FEATURES + 16], dtype)
    allowed = dict.fromkeys(sums.MAX_CONDITION_EPS, condition * float(np.finfo(dtype).eps))
    monkeypatch.setattr(sums, "MAX_CONDITION_EPS", allowed)
    found = []
    for worth in (0, 10**18):
        limits = dict.fromkeys(vector_loops.LOOPS_MIN_MULTIPLICATIONS, worth)
        monkeypatch.setattr(vector_loops, "LOOPS_MIN_MULTIPLICATIONS", limits)
        found.append(mapped_moments([map], [rows], weights, beside=targets))
    one, other = found
    tol = 1e-12 if dtype == np.float64 else 5e-4
    assert_allclose(one.moments.covariance(), other.moments.covariance(), atol=tol)
    assert_allclose(one.moments.mean, other.moments.mean, atol=tol)
    assert_allclose(one.trace_error(), other.trace_error(), atol=tol)
    assert one.moments.weight == other.moments.weight


def test_pivots_have_the_distribution_of_rows_drawn_one_by_one():
    rows, kernel = np.array([[0.0], [0.1], [1.0], [4.0]]), RBF(sigma=0.5)
    K = kernel(rows)
    expected = np.zeros((4, 4))
    for i in range(4):
        left = np.maximum(K.diagonal() - K[:, i] ** 2, 0.0)
        expected[i] = left / left.sum() / 4
    with one_blas_thread():
        drawn = [tuple(pivots(kernel, rows, 2, np.random.default_rng(seed))) for seed in range(600)]
    found = np.zeros((4, 4))
    for pair in drawn:
        found[pair] += 1 / len(drawn)
    assert np.abs(found - expected).max() < 5 * np.sqrt(expected.max() / len(drawn))


def test_tiny_clusters_are_found_by_pivots_and_not_by_chance():
    rng = np.random.default_rng(0)
    centres = 30 * rng.standard_normal((8, 5))
    sizes = [9900, *[15] * 7]
    rows = np.concatenate([c + 0.3 * rng.standard_normal((n, 5)) for c, n in zip(centres, sizes, strict=True)])
    kernel = RBF(sigma=3.0)
    chosen = [
        rows[pivots(kernel, rows, 40, rng)],
        rows[spread(kernel, rows, 40, rng)],
        rows[uniform(len(rows), 40, rng)],
    ]
    errors = [mapped_moments([landmark_map(kernel, Z, float)], [rows]).trace_error() for Z in chosen]
    assert errors[0] < errors[2] / 4
    assert errors[1] < errors[2] / 4


@pytest.mark.parametrize(
    "kernel",
    [RBF(sigma=1.3), 2.5 * RBF(gamma=0.4), Laplacian(gamma=0.3), Laplacian(gamma=0.3, norm="l2"), Matern(nu=2.5)]
    + [Matern(nu=np.inf), RationalQuadratic(alpha=1.5)],
    ids=str,
)
def test_random_features_are_right_on_average(kernel):
    kernel = kernel.resolve(X)
    map = RandomFeatures(20_000).features(kernel, X, None)
    assert isinstance(map, FeatureMap)
    F = map.features(X[:40])
    K = kernel.block(X[:40], X[:40])
    assert np.abs(F @ F.T - K).max() < 0.06 * K.max()
    assert_allclose(np.einsum("ij,ij->i", F, F), K.diagonal())


def test_orthogonal_frequencies_are_better_than_independent_ones():
    kernel, rows = RBF(sigma=4.0), np.random.default_rng(0).standard_normal((100, 16))
    K = kernel(rows)
    errors = []
    for seed in range(10):
        F = RandomFeatures(32, random_state=seed).features(kernel, rows, None).features(rows)
        angles = rows @ np.random.default_rng(seed).standard_normal((16, 16)) / 4.0
        G = np.hstack([np.cos(angles), np.sin(angles)]) / 4
        errors.append([np.linalg.norm(F @ F.T - K), np.linalg.norm(G @ G.T - K)])
    ours, theirs = np.mean(errors, axis=0)
    assert ours < 0.9 * theirs


def test_linear_landmarks_of_all_directions_are_pca():
    scores = KernelPCA(4, kernel="linear", landmarks=40).fit(X).transform(X)
    expected = PCA(4).fit_transform(X)
    assert_allclose(np.abs(scores), np.abs(expected), atol=1e-9)


@pytest.mark.parametrize("landmarks", [30, RandomFeatures(40)], ids=str)
def test_the_same_data_give_the_same_bits(landmarks):
    a, b = (KernelPCA(3, kernel=KERNEL, landmarks=landmarks).fit(X) for _ in range(2))
    assert np.array_equal(a.transform(NEW), b.transform(NEW))
    assert np.array_equal(a.eigenvalues_, b.eigenvalues_)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("n", "width"), [(1, 5), (300, 100), (5_000, 1_000), (200_000, 1_001), (10**6, 20_000)])
def test_blocks_of_rows_are_shared_out_evenly(n, width, threads):
    with gramian.config(threads=threads):
        rows = rows_summed(n, width)
    assert rows % 64 == 0
    assert 64 <= rows <= 4096
    assert rows * width <= max(2**22, 128 * width)
    blocks = -(-n // rows)
    assert blocks < 2 * threads or (-blocks) % threads <= blocks // 50


@pytest.mark.parametrize("ridge", [1e-9, 1e-3, 1.0])
def test_ridges_by_cholesky_and_by_eigenvalues_are_one(ridge, monkeypatch):
    rows = np.random.default_rng(0).standard_normal((300, 3))
    map = landmark_map(RBF(sigma=1.0), rows[:40], np.float64)
    space = LowRankRidge(map, mapped_moments([map], [rows], beside=rows[:, :1] ** 2), intercept=True)
    found = {}
    for sure in (0.0, np.inf):
        monkeypatch.setattr("gramian.spaces.ridge.SAFE_RIDGE_PER_TRACE", sure)
        found[sure] = space.fit(ridge)
    assert found[0.0].rank == found[np.inf].rank == map.size
    assert_allclose(found[0.0].dual, found[np.inf].dual, rtol=1e-6)


def test_rounding_that_is_larger_than_a_ridge_is_cut_off():
    rows = np.random.default_rng(0).standard_normal((300, 3))
    map = landmark_map(RBF(sigma=1.0), rows[:40], np.float64)
    space = LowRankRidge(map, mapped_moments([map], [rows], beside=rows[:, :1]), intercept=True)
    values, V = np.linalg.eigh(space.S)
    values[0] = -1.0
    space.S = (V * values) @ V.T
    found = space.fit(0.5)
    assert np.isfinite(found.dual).all()
    assert found.rank == map.size
