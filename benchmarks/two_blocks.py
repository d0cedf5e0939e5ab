"""Two blocks of columns: canonical correlation, partial least squares, and its cross-validation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant

CCA_SHAPE = {"n": 20_000, "d": 100, "q": 80, "k": 5}
PLS_SHAPE = {"n": 20_000, "d": 100, "k": 20}
FOLDS = 10


def _views(n: int, d: int, q: int) -> tuple[Any, Any]:
    """Two views of ten shared causes, each with noise of its own."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, 10))
    X, Y = (Z @ rng.standard_normal((10, m)) + 3 * rng.standard_normal((n, m)) for m in (d, q))
    return X, Y


def _calibration(n: int, d: int) -> tuple[Any, Any]:
    """Thirty causes of falling strength behind the columns, and a target that depends on all of them."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, 30)) * 0.9 ** np.arange(30)
    X = Z @ rng.standard_normal((30, d)) + 0.5 * rng.standard_normal((n, d))
    return X, Z @ rng.standard_normal(30) + 0.5 * rng.standard_normal(n)


def cca(n: int, d: int, q: int, k: int) -> Callable[[], dict[str, Any]]:
    """gramian.CCA as it comes."""
    from gramian import CCA

    X, Y = _views(n, d, q)
    return lambda: {"eigenvalues": CCA(k).fit(X, Y).correlations_.tolist()}


def cca_scikit_learn(n: int, d: int, q: int, k: int) -> Callable[[], dict[str, Any]]:
    """scikit-learn's CCA, with enough steps to converge."""
    from sklearn.cross_decomposition import CCA

    X, Y = _views(n, d, q)

    def run() -> dict[str, Any]:
        model = CCA(k, max_iter=2_000).fit(X, Y)
        A, B = model.transform(X, Y)
        return {"eigenvalues": [float(np.corrcoef(A[:, j], B[:, j])[0, 1]) for j in range(k)]}

    return run


def cca_zoo(n: int, d: int, q: int, k: int) -> Callable[[], dict[str, Any]]:
    """cca-zoo's CCA."""
    from cca_zoo.linear import CCA

    X, Y = _views(n, d, q)

    def run() -> dict[str, Any]:
        model = CCA(k).fit([X, Y])
        A, B = model.transform([X, Y])
        return {"eigenvalues": [float(np.corrcoef(A[:, j], B[:, j])[0, 1]) for j in range(k)]}

    return run


def pls(n: int, d: int, k: int) -> Callable[[], dict[str, Any]]:
    """gramian.PLSRegression as it comes."""
    from gramian import PLSRegression

    X, y = _calibration(n, d)
    return lambda: {"first": PLSRegression(k).fit(X, y).predict(X[:100]).tolist()}


def pls_scikit_learn(n: int, d: int, k: int) -> Callable[[], dict[str, Any]]:
    """scikit-learn's PLSRegression."""
    from sklearn.cross_decomposition import PLSRegression

    X, y = _calibration(n, d)
    return lambda: {"first": PLSRegression(k).fit(X, y).predict(X[:100]).ravel().tolist()}


def pls_ikpls(n: int, d: int, k: int, algorithm: int) -> Callable[[], dict[str, Any]]:
    """One of the two algorithms of ikpls in NumPy."""
    from ikpls.numpy import PLS

    X, y = _calibration(n, d)

    def run() -> dict[str, Any]:
        model = PLS(algorithm=algorithm, ddof=1).fit(X, y[:, None], k)
        return {"first": model.predict(X[:100], k).ravel().tolist()}

    return run


def path(n: int, d: int, k: int) -> Callable[[], dict[str, Any]]:
    """Our cross-validation over all numbers of components."""
    from sklearn.model_selection import KFold

    from gramian import PLSRegression

    X, y = _calibration(n, d)
    return lambda: {"first": PLSRegression(k).cross_validate(X, y, cv=KFold(FOLDS)).rmsecv[1:, 0].tolist()}


def path_ikpls(n: int, d: int, k: int, jobs: int) -> Callable[[], dict[str, Any]]:
    """The fast cross-validation of ikpls over all numbers of components."""
    from ikpls.fast_cross_validation.numpy import PLS

    X, y = _calibration(n, d)
    folds = np.repeat(np.arange(FOLDS), n // FOLDS)

    def squares(truth: Any, guesses: Any) -> Any:
        return ((guesses - truth) ** 2).sum(axis=(1, 2))

    def run() -> dict[str, Any]:
        found = PLS(algorithm=1, ddof=1).cross_validate(X, y[:, None], k, folds, squares, n_jobs=jobs, verbose=0)
        return {"first": np.sqrt(sum(found.values()) / n).tolist()}

    return run


def path_loop(n: int, d: int, k: int) -> Callable[[], dict[str, Any]]:
    """scikit-learn's cross_val_score for each number of components."""
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.model_selection import KFold, cross_val_score

    X, y = _calibration(n, d)

    def run() -> dict[str, Any]:
        errors = [
            -cross_val_score(PLSRegression(j), X, y, cv=KFold(FOLDS), scoring="neg_mean_squared_error").mean()
            for j in range(1, k + 1)
        ]
        return {"first": np.sqrt(errors).tolist()}

    return run


def contests() -> list[Contest]:
    """All of them."""
    return [
        Contest(
            "CCA, 20,000 x (100, 80), k = 5",
            (
                Contestant("gramian", cca, CCA_SHAPE),
                Contestant("scikit-learn", cca_scikit_learn, CCA_SHAPE),
                Contestant("cca-zoo", cca_zoo, CCA_SHAPE),
            ),
            repeats=7,
        ),
        Contest(
            "PLS1, 20,000 x 100, 20 components",
            (
                Contestant("gramian", pls, PLS_SHAPE),
                Contestant("scikit-learn", pls_scikit_learn, PLS_SHAPE),
                Contestant("ikpls, algorithm 1", pls_ikpls, {**PLS_SHAPE, "algorithm": 1}),
                Contestant("ikpls, algorithm 2", pls_ikpls, {**PLS_SHAPE, "algorithm": 2}),
            ),
            repeats=15,
        ),
        Contest(
            "PLS1, 20,000 x 100, 10-fold cross-validation of 20 numbers of components",
            (
                Contestant("gramian", path, PLS_SHAPE),
                Contestant("ikpls", path_ikpls, {**PLS_SHAPE, "jobs": -1}),
                Contestant("ikpls, one process", path_ikpls, {**PLS_SHAPE, "jobs": 1}),
            ),
            repeats=9,
        ),
        Contest(
            "PLS1, 20,000 x 100, 10-fold cross-validation, against a loop of cross_val_score",
            (Contestant("gramian", path, PLS_SHAPE), Contestant("scikit-learn loop", path_loop, PLS_SHAPE)),
            repeats=1,  # the peer takes minutes
        ),
    ]
