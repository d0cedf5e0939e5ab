"""What is said of a row depends neither on the rows beside it nor on how it is stored, not even where classes tie."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from gramian import (
    GramianWarning,
    KernelKMeans,
    KernelKNNClassifier,
    KernelPrototypeClassifier,
    KernelSVC,
    Landmarks,
)

from .laws import Sample, fitted
from .table import ESTIMATORS, EXEMPT


def ways(X):
    """Rows in other company and in other storage, and where to find them in the answer."""
    everyone = slice(None)
    yield "column by column", [np.asfortranarray(X)], everyone
    yield "sparse", [sp.csr_array(X)], everyone
    yield "sparse matrix", [sp.csr_matrix(X)], everyone
    yield "in sevens", [X[i : i + 7] for i in range(0, len(X), 7)], everyone
    yield "one by one", [X[i : i + 1] for i in range(len(X))], everyone
    yield "reversed", [X[::-1]], slice(None, None, -1)
    yield "among many", [np.vstack([X, X + 1, X])], slice(2 * len(X), None)
    if (X.astype(np.float32) == X).all():
        yield "single precision", [X.astype(np.float32)], everyone


def same_in_any_company(ask, X, *, sparse=True, tolerance=1e-9):
    expected = ask(X)
    for way, parts, place in ways(X):
        if way.startswith("sparse") and not sparse:
            continue
        found = np.concatenate([ask(part) for part in parts])[place]
        if expected.dtype.kind == "f":
            exact = 1e-5 if way == "single precision" else tolerance
            np.testing.assert_allclose(found, expected, rtol=0, atol=exact * np.abs(expected).max(), err_msg=way)
        else:
            assert (found == expected).all(), (way, int((found != expected).sum()))


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_any_answer(estimator):
    case = ESTIMATORS[estimator]
    X, Z, y = Sample().for_case(case)
    model = fitted(case, X, y)
    sparse = "sparse rows are refused" not in EXEMPT["sparse"].get(estimator, "")
    for name in case.says:
        same_in_any_company(getattr(model, name), Z, sparse=sparse, tolerance=max(1e-9, case.exact))


def blobs(rng):
    """Ten classes and a linear kernel with a bias: those in the middle have no weights and tie everywhere."""
    X, y = make_blobs(120, centers=10, n_features=2, random_state=0)
    return X, y, rng.integers(-80, 80, (25, 2)) / 8


def grid(rng):
    """Eight places, symmetric to both axes, and new rows on a grid of which many are equally far from several."""
    X = np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [3, 0], [-3, 0], [0, 3], [0, -3]], dtype=float)
    return np.repeat(X, 3, axis=0), np.repeat([3, 2, 1, 0] * 2, 3), np.mgrid[-2:3, -2:3].reshape(2, -1).T.astype(float)


def mirrored(rng):
    """Two classes that are mirror images in a plane at an angle to the axes, and new rows in that plane."""
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    A, Z = 5 * rng.standard_normal((15, 5)), 5 * rng.standard_normal((20, 5))
    Z[:, 0] = 0
    return np.vstack([A, A * [-1, 1, 1, 1, 1]]) @ turn, np.repeat([1, 0], 15), Z @ turn


def repeated(rng):
    """The same rows in three classes."""
    X = rng.standard_normal((12, 4))
    return np.tile(X, (3, 1)), np.repeat(["c", "b", "a"], 12), rng.standard_normal((20, 4))


def apart(rng):
    """New rows at right angles to all training rows, at an angle to the axes."""
    turn = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    X, Z = rng.standard_normal((15, 3)), 50 * rng.standard_normal((20, 3))
    return np.vstack([X, -X]) @ turn[:3], np.repeat([2, 1, 0], 10), Z @ turn[3:]


KERNELS = ["linear", "rbf(sigma=0.3)", "rbf(sigma=3)", "polynomial(degree=2)", "thin_plate_spline"]
MODELS = [
    *(KernelSVC(kernel=kernel, bias=bias) for kernel in KERNELS for bias in (False, True)),
    *(KernelPrototypeClassifier(kernel) for kernel in KERNELS),
    *(KernelKMeans(3, kernel=kernel) for kernel in KERNELS[:3]),
    *(KernelKNNClassifier(4, kernel=kernel, weights=w) for kernel in KERNELS for w in ("uniform", "distance")),
    KernelSVC(kernel="rbf(sigma=3)", landmarks=8),
    KernelPrototypeClassifier("rbf(sigma=3)", landmarks=8),
    *(KernelKNNClassifier(4, kernel=kernel, landmarks=5) for kernel in ("linear", "rbf(sigma=3)")),
]


LONGER = [pytest.param(data, marks=pytest.mark.slow) for data in (mirrored, repeated, apart)]


@pytest.mark.parametrize("data", [blobs, grid, *LONGER])
def test_labels_where_classes_tie(data):
    X, y, Z = data(np.random.default_rng(0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        for model in MODELS:
            same_in_any_company(model.fit(X, y).predict, Z)


@pytest.mark.parametrize("kernel", ["linear", "rbf(sigma=2)", "laplacian(gamma=0.5)"])
def test_neighbours_through_landmarks_on_a_grid(kernel):
    """All rows of a square grid have equally near neighbours; blocks are mapped with other rounding than one row."""
    X = np.mgrid[-4:5, -4:5].reshape(2, -1).T.astype(float)
    for landmarks in (5, 20):
        model = KernelKNNClassifier(5, kernel=kernel, landmarks=landmarks).fit(X, np.abs(X).sum(axis=1) % 3)
        same_in_any_company(model.predict, X)
        same_in_any_company(lambda X, model=model: model.kneighbors(X)[1], X)


KERNELS_OF_PRODUCTS = [
    "cosine",
    "sigmoid(scale=0.01)",
    "2*linear",
    "linear[0:3] + linear[3:6]",
    "linear*linear",
    "linear**3",
]


@pytest.mark.parametrize("kernel", KERNELS_OF_PRODUCTS)
def test_rows_at_right_angles_are_ties_for_every_kernel_of_dot_products(kernel):
    """Their similarities are rounding in units of the lengths of the rows, in the algebra and through landmarks too."""
    X, y, Z = apart(np.random.default_rng(0))
    for model in (KernelSVC(), KernelSVC(bias=True), KernelPrototypeClassifier()):
        for landmarks in (None, Landmarks(points=X[:12].copy())):
            if landmarks and kernel.startswith("sigmoid"):
                continue  # not positive definite: refused
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GramianWarning)
                model.set_params(kernel=kernel, landmarks=landmarks).fit(X, y)
            same_in_any_company(model.predict, Z)


def test_the_first_of_equals():
    """As the docstrings say: of classes without weights, of mirror images and of copies, the first in ``classes_``."""
    X, y, Z = blobs(np.random.default_rng(0))
    model = KernelSVC(kernel="linear", bias=True).fit(X, y)
    idle = np.abs(model.dual_coef_ @ X[model.support_]).max(axis=1) < 1e-9
    assert idle.sum() > 1
    values = model.decision_function(Z)
    tied = np.isin(values.argmax(axis=1), np.flatnonzero(idle))
    assert tied.any()
    assert set(model.predict(Z)[tied]) == {model.classes_[np.flatnonzero(idle)[0]]}
    assert (model.classes_[values.argmax(axis=1)] == model.predict(Z)).all()
    for data in (mirrored, repeated):
        X, y, Z = data(np.random.default_rng(0))
        for kernel in ("linear", "rbf(sigma=3)"):
            for model in (KernelSVC(kernel=kernel, tol=1e-9), KernelPrototypeClassifier(kernel)):
                assert set(model.fit(X, y).predict(Z)) == {min(y)}, (data, model)


def test_far_rows_are_not_called_ties():
    """Where a Gaussian kernel has fallen to 1e-30 its sums still say which class is nearer."""
    X, y = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]]), np.array([0, 0, 1, 1])
    model = KernelSVC(kernel="rbf(sigma=1)").fit(X, y)
    assert model.predict([[14.0, 0.0], [-9.0, 0.0]]).tolist() == [1, 0]
