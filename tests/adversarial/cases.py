"""One small table, every estimator with what it is fitted to, and what counts as an answer or as a refusal."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import gramian
from gramian import (
    CCA,
    ICA,
    PCA,
    PLSSVD,
    FactorAnalysis,
    KernelCCA,
    KernelKMeans,
    KernelKNNClassifier,
    KernelKNNRegressor,
    KernelPCA,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelSVC,
    PLSCanonical,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
    RandomProjection,
    Standardizer,
)

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

#: Name -> estimator, and the kind of target it is fitted to.
ESTIMATORS = {
    "PCA": (PCA(2), "none"),
    "ProbabilisticPCA": (ProbabilisticPCA(2), "none"),
    "FactorAnalysis": (FactorAnalysis(1), "none"),
    "ICA": (ICA(2), "none"),
    "RandomProjection": (RandomProjection(2), "none"),
    "Standardizer": (Standardizer(), "none"),
    "KernelPCA": (KernelPCA(2), "none"),
    "KernelPCA linear": (KernelPCA(2, kernel="linear"), "none"),
    "KernelPCA cosine": (KernelPCA(2, kernel="cosine"), "none"),
    "KernelPCA polynomial": (KernelPCA(2, kernel="polynomial"), "none"),
    "KernelPCA laplacian": (KernelPCA(2, kernel="laplacian"), "none"),
    "KernelPCA landmarks": (KernelPCA(2, landmarks=8), "none"),
    "PLSRegression": (PLSRegression(2), "view"),
    "PrincipalComponentRegression": (PrincipalComponentRegression(2), "view"),
    "PLSCanonical": (PLSCanonical(2), "view"),
    "PLSSVD": (PLSSVD(2), "view"),
    "CCA": (CCA(2), "view"),
    "CCA ridge": (CCA(2, ridge=0.1), "view"),
    "KernelCCA": (KernelCCA(2), "view"),
    "KernelRidge": (KernelRidge(), "numbers"),
    "KernelRidge linear": (KernelRidge(kernel="linear", fit_intercept=True), "numbers"),
    "KernelSVC": (KernelSVC(), "labels"),
    "KernelSVC linear": (KernelSVC(kernel="linear", bias=True), "labels"),
    "KernelKMeans": (KernelKMeans(2), "none"),
    "KernelKMeans linear": (KernelKMeans(2, kernel="linear"), "none"),
    "KernelKNNClassifier": (KernelKNNClassifier(3), "labels"),
    "KernelKNNRegressor": (KernelKNNRegressor(3), "numbers"),
    "KernelPrototypeClassifier": (KernelPrototypeClassifier(), "labels"),
}
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


def finite(name, X, y=None, **parameters):
    """The answer for the rows of the fit, which must be finite."""
    found = answer(fitted(name, X, y, **parameters), X)
    assert np.isfinite(found).all(), name
    return found


def refusal(kinds, function, *args, **kwargs):
    """The message of an error of these kinds, which must be one line and no error of linear algebra."""
    with pytest.raises(kinds) as caught:
        function(*args, **kwargs)
    return one_line(caught.value)


def one_line(error):
    assert not isinstance(error, np.linalg.LinAlgError), error
    assert str(error)
    assert "\n" not in str(error), error
    return str(error)


def finite_or_refused(name, X, words, **parameters):
    """The finite answer, or None where the rows are refused in these words."""
    try:
        return finite(name, X, **parameters)
    except ValueError as error:
        refused = error
    assert re.search(words, one_line(refused)), refused
    return None


def same_up_to_sign(found, expected, tolerance):
    """Compare scores column by column: a sign may hang on which entry is the largest."""
    found, expected = (np.asarray(A, dtype=float).reshape(len(A), -1) for A in (found, expected))
    signs = np.where((found * expected).sum(axis=0) < 0, -1.0, 1.0)
    np.testing.assert_allclose(found * signs, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1e-300))
