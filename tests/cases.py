"""Every estimator of the registry with what it is fitted to: the one list of all tests that hold for all estimators.

A new record is tried by them from then on. What is listed here and in the tables beside the tests is more of the same
estimators: other arguments, other kinds of rows.
"""

import warnings

import numpy as np
from sklearn.base import clone

import gramian
from gramian import (
    CCA,
    ICA,
    PCA,
    FactorAnalysis,
    KernelCCA,
    KernelKMeans,
    KernelKNNClassifier,
    KernelKNNRegressor,
    KernelPCA,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelSVC,
    Landmarks,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
    RandomFeatures,
    RandomProjection,
)
from gramian.kernels import RBF
from gramian.registry import RECORDS

N, D = 40, 5
_rng = np.random.default_rng(20260401)
_turn = np.linalg.qr(_rng.standard_normal((D, D)))[0]
#: Multiples of 2^-10: an offset of 1e9 leaves every digit.
X = np.round((_rng.laplace(size=(N, D)) * 1.4 ** -np.arange(D) @ _turn + 1) * 1024) / 1024
X.setflags(write=False)
TARGETS = {
    "none": None,
    "numbers": X[:, 0] + 0.1 * _rng.standard_normal(N),
    "labels": np.where(X[:, 0] + X[:, 1] > 2, "up", "down"),
    "view": X[:, :2] @ [[1.0, 0.5], [0.0, 1.0]] + 0.3 * _rng.standard_normal((N, 2)),
}

#: What a record needs -> the kind of target that tests give it; regression on components takes several columns.
_KINDS = {"": "none", "target": "numbers", "label": "labels", "view": "view"}


def kind_of(record):
    """Kind of target that an estimator is fitted to."""
    many = record.needs == "target" and record.page == "two_blocks"
    return "view" if many else _KINDS[record.needs]


#: Name -> estimator, and the kind of target it is fitted to: the example of every record, and more kernels.
ESTIMATORS = {record.name: (record.estimator(**record.example), kind_of(record)) for record in RECORDS} | {
    "KernelPCA linear": (KernelPCA(2, kernel="linear"), "none"),
    "KernelPCA cosine": (KernelPCA(2, kernel="cosine"), "none"),
    "KernelPCA polynomial": (KernelPCA(2, kernel="polynomial"), "none"),
    "KernelPCA laplacian": (KernelPCA(2, kernel="laplacian"), "none"),
    "KernelPCA landmarks": (KernelPCA(2, landmarks=8), "none"),
    "CCA ridge": (CCA(2, ridge=0.1), "view"),
    "KernelRidge linear": (KernelRidge(kernel="linear", fit_intercept=True), "numbers"),
    "KernelSVC linear": (KernelSVC(kernel="linear", bias=True), "labels"),
    "KernelKMeans linear": (KernelKMeans(2, kernel="linear"), "none"),
}
#: For scikit-learn's own checks: every estimator as it is by default, and with arguments that take other ways.
DEFAULTS = [record.estimator() for record in RECORDS]
OPTIONS = [
    PCA("auto"),
    PCA(n_components=1, whiten=True, scale=True),
    PCA(n_components=1, solver="covariance"),
    ProbabilisticPCA("auto"),
    FactorAnalysis("auto"),
    FactorAnalysis(rotation="oblimin"),
    FactorAnalysis(missing="em"),
    ICA(1),
    RandomProjection(density="auto"),
    RandomProjection("auto"),
    KernelPCA("auto"),
    KernelPCA(n_components=1, kernel=RBF(sigma=2.0)),
    KernelPCA(n_components=1, kernel="polynomial", solver="krylov"),
    KernelPCA(preimage="auto"),
    KernelPCA(1, kernel="thin_plate_spline(centring=proper)"),
    KernelPCA(landmarks=8),
    KernelPCA(1, landmarks=RandomFeatures(20)),
    PLSRegression("auto"),
    PLSRegression(missing="em"),
    PrincipalComponentRegression("auto"),
    PrincipalComponentRegression(order="contribution"),
    CCA("auto"),
    CCA(ridge=0.1),
    KernelCCA(1, kernel="linear", scale=True),
    KernelCCA(2, rank=5, ridge=0.1),
    KernelCCA(landmarks=8),
    KernelRidge(fit_intercept=True, solver="cg"),
    KernelRidge(kernel="linear", fit_intercept=True),
    KernelRidge(kernel="linear", solver="cholesky"),
    KernelRidge(kernel="thin_plate_spline"),
    KernelRidge(landmarks=Landmarks(20, method="uniform"), fit_intercept=True),
    KernelSVC(C=5.0, kernel="linear", bias=True),
    KernelSVC(kernel=RBF(sigma=2.0), bias=True),
    KernelSVC(landmarks=Landmarks(tol=1e-3)),
    KernelKMeans(2, batch_size=10),
    KernelKMeans(landmarks=Landmarks(10, method="kmeans++")),
    KernelKNNClassifier(3, kernel="polynomial", weights="distance"),
    KernelKNNClassifier(landmarks=20),
    KernelKNNRegressor(landmarks=20),
    KernelPrototypeClassifier(landmarks=10),
    KernelPrototypeClassifier("linear"),
]
#: With a kernel that may be given; one of each class.
KERNELS = [
    name
    for name, (model, _) in ESTIMATORS.items()
    if name == type(model).__name__ and "kernel" in model.get_params(deep=False)
]
#: No more than moments, or rows as they are: nothing of n x n.
LINEAR = [name for name in ESTIMATORS if not name.startswith("Kernel")]
TARGETED = {kind: [name for name, (_, own) in ESTIMATORS.items() if own == kind] for kind in TARGETS}


def estimator(name, **parameters):
    return clone(ESTIMATORS[name][0]).set_params(**parameters)


def targets(name, n=N):
    """What an estimator is fitted to, repeated or cut to n rows."""
    values = TARGETS[ESTIMATORS[name][1]]
    return None if values is None else values[np.arange(n) % N]


def fitted(name, X=X, y=None, **parameters):
    y = targets(name, X.shape[0]) if y is None else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gramian.GramianWarning)  # what is said is tested where it belongs
        return estimator(name, **parameters).fit(X, y) if y is not None else estimator(name, **parameters).fit(X)


def answer(model, X=X):
    """What a model says of rows: scores, distances to clusters, or predictions before they become labels."""
    for method in ("decision_function", "transform", "predict_proba", "predict"):
        if hasattr(model, method):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", gramian.GramianWarning)
                found = getattr(model, method)(X)
            return np.asarray(found[0] if isinstance(found, tuple) else found)
    raise AssertionError(f"{model} has no answer")
