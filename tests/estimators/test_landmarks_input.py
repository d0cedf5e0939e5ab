"""What landmarks refuse, what they warn of, and how."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import gramian
from gramian import (
    KernelCCA,
    KernelKMeans,
    KernelKNNClassifier,
    KernelPCA,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelSVC,
    Landmarks,
    RandomFeatures,
    RankWarning,
)

X = np.random.default_rng(0).standard_normal((60, 3))
Y = X[:, 0] > 0


@pytest.mark.parametrize(
    ("landmarks", "kind", "words"),
    [
        ("many", TypeError, "landmarks='many'"),
        (True, TypeError, "landmarks=True"),
        (2.5, TypeError, "landmarks=2.5"),
        (0, ValueError, "landmarks=0"),
        (-3, ValueError, "landmarks=-3"),
        (Landmarks(0), ValueError, "n_landmarks=0"),
        (Landmarks(20_000), ValueError, "n_landmarks=20,000"),
        (Landmarks(5, method="best"), ValueError, "method='best'"),
        (Landmarks(tol=0.0), ValueError, "tol=0.0"),
        (Landmarks(tol=2), ValueError, "tol=2"),
        (Landmarks(tol=0.1, method="uniform"), ValueError, "tol=0.1 goes with method='pivoted'"),
        (Landmarks(refine="yes"), ValueError, "refine='yes'"),
        (Landmarks(points=X[:, :2]), ValueError, "points has shape"),
        (Landmarks(points=X[:0]), ValueError, "points has shape"),
        (Landmarks(points=np.full((2, 3), np.nan)), ValueError, "points holds NaN"),
        (RandomFeatures(0), ValueError, "n_features=0"),
        (RandomFeatures("a"), TypeError, "n_features='a'"),
    ],
    ids=str,
)
def test_arguments_out_of_range_are_refused(landmarks, kind, words):
    with pytest.raises(kind) as caught:
        KernelPCA(2, landmarks=landmarks).fit(X)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "estimator",
    [KernelPCA(2), KernelRidge(), KernelSVC(), KernelKMeans(2), KernelKNNClassifier(), KernelPrototypeClassifier()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_precomputed_kernel_is_refused(estimator):
    with pytest.raises(ValueError, match="landmarks=5 needs rows"):
        clone(estimator).set_params(landmarks=5, kernel="precomputed").fit(X @ X.T, Y)


def test_two_views_need_landmarks_for_both():
    with pytest.raises(ValueError, match="a pair, or None"):
        KernelCCA(1, landmarks=(5, None)).fit(X, X)
    with pytest.raises(ValueError, match="landmarks=5 needs rows"):
        KernelCCA(1, landmarks=5, kernel_y="precomputed").fit(X, X @ X.T)


@pytest.mark.parametrize("kernel", ["thin_plate_spline", "sigmoid(scale=3, constant=-2)"])
def test_an_indefinite_kernel_is_refused(kernel):
    with pytest.raises(ValueError, match="landmarks need a positive definite kernel"):
        KernelRidge(kernel=kernel, landmarks=30).fit(X, X[:, 0])


def test_a_function_that_is_positive_is_taken():
    model = KernelPCA(2, kernel=lambda A, B: np.exp(-((A[:, None] - B) ** 2).sum(axis=2)), landmarks=60).fit(X)
    exact = KernelPCA(2, kernel="rbf(gamma=1)").fit(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-8)


def test_kernels_without_a_spectral_measure_have_no_random_features():
    with pytest.raises(ValueError, match="spectral measure"):
        KernelPCA(2, kernel="polynomial", landmarks=RandomFeatures(10)).fit(X)


def test_random_features_have_no_preimages():
    with pytest.raises(ValueError, match="random features have no pre-images"):
        KernelPCA(2, preimage="auto", landmarks=RandomFeatures(10)).fit(X)
    model = KernelPCA(2, landmarks=RandomFeatures(10)).fit(X)
    with pytest.raises(ValueError, match="random features have no pre-images"):
        model.inverse_transform(model.transform(X))


def test_more_landmarks_than_rows_are_all_rows_with_a_warning():
    """B64."""
    with pytest.warns(RankWarning, match="n_landmarks=100 is more than the 60 rows"):
        model = KernelPCA(2, landmarks=100).fit(X)
    assert len(model.projection_.anchors) == 60


def test_a_tolerance_out_of_reach_is_said():
    with pytest.warns(RankWarning, match="tol=1e-06, but 5 landmarks leave"):
        KernelPCA(2, landmarks=Landmarks(5, tol=1e-6)).fit(X)


def test_what_needs_all_rows_says_so():
    model = KernelRidge(landmarks=10).fit(X, X[:, 0])
    assert model.dual_coef_.shape == (10,)
    with pytest.raises(AttributeError, match="landmarks"):
        _ = model.leave_one_out_
    with pytest.raises(ValueError, match="landmarks=10"):
        model.path(X, X[:, 0])
    with pytest.raises(ValueError, match="solver='cg'"):
        KernelRidge(landmarks=10, solver="cg").fit(X, X[:, 0])


def test_what_does_not_fit_is_refused_with_its_size():
    with gramian.config(memory=10_000):
        with pytest.raises(ValueError, match=r"14.4 kB, over the memory budget of 10 kB"):
            KernelSVC(landmarks=10).fit(X, Y)
        with pytest.raises(ValueError, match="over the memory budget"):
            KernelPCA(2, landmarks=40).fit(X)


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
@pytest.mark.parametrize("estimator", [KernelPCA(1), KernelRidge(), KernelKMeans(2)], ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("kernel", ["rbf(sigma=1)", "linear", "polynomial"])
def test_equal_rows_and_zeros_give_a_finite_answer_or_are_refused(estimator, kernel):
    for rows in (np.ones((20, 3)), np.zeros((20, 3)), np.repeat(X[:5], 4, axis=0)):
        model, nothing = clone(estimator).set_params(kernel=kernel, landmarks=10), not rows.std(axis=0).any()
        if nothing and isinstance(model, KernelPCA):
            with pytest.raises(ValueError, match="zero variance"):
                model.fit(rows, np.arange(20.0))
            continue
        model.fit(rows, np.arange(20.0))
        answer = model.transform(rows) if hasattr(model, "transform") else model.predict(rows)
        assert np.isfinite(answer).all()


def test_a_failed_fit_leaves_the_model_as_it_was():
    model = KernelPCA(2, landmarks=10).fit(X)
    before = model.transform(X)
    with pytest.raises(ValueError, match="method"):
        model.set_params(landmarks=Landmarks(5, method="none")).fit(X)
    assert np.array_equal(model.transform(X), before)


def test_rows_are_not_changed_and_read_only_rows_are_taken():
    rows = X.copy()
    rows.flags.writeable = False
    KernelPCA(2, landmarks=10).fit(rows)
    KernelPCA(2, landmarks=Landmarks(10, method="kmeans++")).fit(rows)
    assert np.array_equal(rows, X)


def test_grid_search_reaches_the_number_of_landmarks():
    model = KernelRidge(0.1, kernel="rbf(sigma=1)", landmarks=Landmarks(2))
    search = GridSearchCV(model, {"landmarks__n_landmarks": [2, 30]}, cv=3).fit(X, np.sin(X[:, 0]))
    assert search.best_params_ == {"landmarks__n_landmarks": 30}
    assert model.landmarks.n_landmarks == 2
    with pytest.raises(ValueError, match="'size' is not a parameter of Landmarks"):
        Landmarks().set_params(size=3)


def test_a_model_with_landmarks_is_small(tmp_path):
    rows = np.random.default_rng(0).standard_normal((5000, 3))
    small, large = (KernelRidge(kernel="rbf(sigma=1)", landmarks=20).fit(rows[:n], rows[:n, 0]) for n in (100, 5000))
    for name, model in (("small", small), ("large", large)):
        gramian.save(model, tmp_path / f"{name}.safetensors")
    sizes = [(tmp_path / f"{name}.safetensors").stat().st_size for name in ("small", "large")]
    assert abs(sizes[1] - sizes[0] - 8 * 4900) < 500  # a hash of each row, 8 bytes, and none of its entries
