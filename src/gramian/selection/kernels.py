"""Which kernel, and which width: rules on distances, rows left out, and candidates judged by nested validation."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from gramian.estimators.base import random_generator
from gramian.estimators.base_estimator import BaseEstimator
from gramian.estimators.targets import check_labels, check_targets
from gramian.estimators.validation import Table, validate
from gramian.estimators.warnings import GramianWarning
from gramian.kernels import RBF, as_kernel
from gramian.kernels.pairwise import median_width, scale_width, squared_euclidean
from gramian.preimage import check_method
from gramian.progress import Tracker, track
from gramian.registry import KernelPCA, KernelRidge, KernelSVC
from gramian.results import Array, Matrix, Seed

ESTIMATORS: dict[str, Callable[[], Any]] = {
    "kernel-ridge": lambda: KernelRidge(fit_intercept=True),
    "kernel-svm": KernelSVC,
    "kernel-pca": lambda: KernelPCA(2),
}
_FIGURES = {KernelRidge: "R2", KernelSVC: "accuracy", KernelPCA: "share of variance rebuilt"}
#: Rows looked at, at the most.
_COMPARED_MAX_ROWS = 1000
#: Rows whose distances are looked at, and rows for which kernel ridge is solved.
_DISTANCES_MAX_ROWS, _RIDGE_MAX_ROWS = 2000, 800
#: Widths tried, and how far they reach beyond the 10 % and 90 % quantiles of the distances.
_WIDTHS_TRIED, _WIDTHS_REACH = 11, 4.0
_BY_ROWS_LEFT_OUT, _BY_MEDIAN = "rows left out", "median distance"


@dataclass(frozen=True)
class Width:
    """What one rule says: its name, the width, author and year, and the figures behind it."""

    criterion: str
    sigma: float
    reference: str
    detail: str = ""


@dataclass(frozen=True)
class Bandwidth:
    """Widths of a Gaussian kernel; prints as a table.

    Attributes
    ----------
    sigma : float
        What the deciding rule says.
    decided_by : str
        Its name.
    table : tuple of Width
        Every rule: ``criterion``, ``sigma``, ``reference``, ``detail``.
    path : tuple of dict
        With y: for every width tried its best ``ridge``, the mean squared leave-one-out ``error`` and ``r2``.
    ridge : float or None
        The ridge that goes with the width, if rows left out decide.

    Examples
    --------
    >>> from gramian.selection import bandwidth
    >>> found = bandwidth([[0.0], [1.0], [2.0], [4.0]])
    >>> found.decided_by, found.sigma > 0, found.ridge
    ('median distance', True, None)
    """

    sigma: float
    decided_by: str
    table: tuple[Width, ...]
    path: tuple[dict[str, float], ...] = ()
    ridge: float | None = None

    @property
    def kernel(self) -> RBF:
        """The kernel of that width."""
        return RBF(sigma=self.sigma)

    def __str__(self) -> str:
        """A line for each rule; a star marks the one that decides."""
        rows = [
            (f"{'*' if line.criterion == self.decided_by else ' '} {line.criterion}", f"{line.sigma:.4g}", line.detail)
            for line in self.table
        ]
        rows.insert(0, ("  criterion", "sigma", ""))
        name, number = (max(len(row[at]) for row in rows) for at in range(2))
        return "\n".join(f"{a:<{name}}  {b:>{number}}  {c}".rstrip() for a, b, c in rows)

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        return asdict(self)


def bandwidth(X: Table, y: ArrayLike | None = None, *, random_state: Seed = None) -> Bandwidth:
    """Suggest a width for a Gaussian kernel.

    Without y the median distance decides, and a range is shown; with y the width and the ridge of kernel ridge
    regression under which rows left out are predicted best. Distances are computed once for all widths, and one
    eigendecomposition serves all ridges.

    Parameters
    ----------
    X : (n, d) array, data frame or sparse matrix
        Rows.
    y : (n,) or (n, q) array, optional
        Targets; labels that are not numbers are predicted as indicators.
    random_state : int, Generator, RandomState or None
        Seed of the sample of rows. None is a fixed seed.

    Returns
    -------
    Bandwidth

    Cost
    ----
    Distances of at most 2,000 rows; with y eleven eigendecompositions for at most 800 rows.

    References
    ----------
    Caputo, Sim, Furesjo, Smola, Appearance-based object recognition using SVMs: which kernel should I use?, 2002
    (quantiles); Allen, The relationship between variable selection and data augmentation, Technometrics 1974.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.selection import bandwidth
    >>> X = np.random.default_rng(0).uniform(0, 6, (200, 1))
    >>> bandwidth(X, np.sin(4 * X[:, 0])).sigma < bandwidth(X, X[:, 0]).sigma
    True
    """
    points: Matrix = validate(KernelRidge(), X, min_samples=4)
    n = points.shape[0]
    rows = random_generator(random_state).permutation(n)[:_DISTANCES_MAX_ROWS]
    squares = _squared_distances(points[rows])
    apart = np.sqrt(squares[np.triu_indices(len(rows), 1)])
    apart = apart[apart > 0]
    if not len(apart):
        raise ValueError("all rows of X are equal: there is no distance to take a width from.")
    low, high = np.quantile(apart, [0.1, 0.9])
    table = [
        Width(_BY_MEDIAN, median_width(points), "Caputo et al. 2002"),
        Width("low quantile", float(low), "Caputo et al. 2002", "10 % of the distances are shorter"),
        Width("high quantile", float(high), "Caputo et al. 2002", "10 % of the distances are longer"),
        Width("scale", scale_width(points) / np.sqrt(2), "scikit-learn", "gamma = 1 / (d var X)"),
    ]
    if y is None:
        return Bandwidth(table[0].sigma, _BY_MEDIAN, tuple(table))
    rows = rows[:_RIDGE_MAX_ROWS]
    path = _path(squares[: len(rows), : len(rows)], _targets(y, n)[rows], low / _WIDTHS_REACH, high * _WIDTHS_REACH)
    best = min(path, key=lambda line: line["error"])
    detail = f"ridge {best['ridge']:.3g}, R2 {best['r2']:.4f}" + (f", {len(rows):,} rows" if len(rows) < n else "")
    table.append(Width(_BY_ROWS_LEFT_OUT, best["sigma"], "Allen 1974", detail))
    return Bandwidth(best["sigma"], _BY_ROWS_LEFT_OUT, tuple(table), tuple(path), best["ridge"])


def _squared_distances(A: Matrix) -> Array:
    every = slice(0, A.shape[0])
    return np.maximum(squared_euclidean(A, A).tile(every, every, np.empty((A.shape[0], A.shape[0]))), 0.0)


def _targets(y: ArrayLike | None, n: int) -> Array:
    """Numbers to predict; indicators of labels, if they are no numbers."""
    if np.asarray(y).dtype.kind in "fiu":
        return check_targets(y, n).values
    classes, codes = check_labels(y, n, least=2)
    return np.eye(len(classes))[codes]


def _path(squares: Array, Y: Array, low: float, high: float) -> list[dict[str, float]]:
    """The best ridge of every width, judged by rows left out."""
    found, model = [], KernelRidge(kernel="precomputed", fit_intercept=True)
    widths = np.geomspace(low, high, _WIDTHS_TRIED)
    with track("widths", _WIDTHS_TRIED) as tracker:
        for sigma in widths:
            path = model.path(np.exp(-squares / (2 * sigma**2)), Y)
            at = path.best_index
            line = {"sigma": sigma, "ridge": path.ridges[at], "error": path.errors[at], "r2": path.r2[at]}
            found.append({name: float(value) for name, value in line.items()})
            tracker.advance(_WIDTHS_TRIED)
    return found


@dataclass(frozen=True)
class Candidate:
    """A kernel, its mean figure where kernels were chosen and on the rows left out, and how often it was chosen."""

    kernel: str
    inner: float
    outer: float
    chosen: int


@dataclass(frozen=True)
class KernelChoice:
    """Kernels compared by nested validation; prints as a table.

    Attributes
    ----------
    kernel : str
        The one to use: chosen on all rows.
    parameters : dict
        What goes with it: the ridge of kernel ridge regression.
    figure : str
        What is measured; larger is better.
    inner : float
        Mean figure of the chosen kernel where it was chosen. It flatters: the best of many is partly luck.
    outer, standard_error : float
        Figure of the whole procedure on rows that had no part in the choice, and its standard error over folds.
    table : tuple of Candidate
    folds : int
        Outer folds.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.selection import select_kernel
    >>> X = np.linspace(-3, 3, 60)[:, None]
    >>> select_kernel(X, np.sin(2 * X[:, 0]), ["linear", "rbf(sigma=0.7)"]).kernel
    'rbf(sigma=0.7)'
    """

    kernel: str
    parameters: dict[str, float]
    figure: str
    inner: float
    outer: float
    standard_error: float
    table: tuple[Candidate, ...]
    folds: int

    def __str__(self) -> str:
        """A line for each kernel, then what the choice is worth on rows it has not seen."""
        name = max(10, *(len(line.kernel) + 2 for line in self.table))
        lines = [f"{'  kernel':<{name}}  {'inner':>8}  {'outer':>8}  {'chosen':>8}"]
        for line in self.table:
            mark = "*" if line.kernel == self.kernel else " "
            words = f"{line.chosen} of {self.folds}"
            lines.append(f"{mark + ' ' + line.kernel:<{name}}  {line.inner:>8.4f}  {line.outer:>8.4f}  {words:>8}")
        judged = f"{self.outer:.4f} +- {self.standard_error:.2g} on rows that had no part in it"
        return "\n".join(
            [*lines, f"* chosen on all rows; {self.figure} of choosing: {self.inner:.4f} where it was done, {judged}"]
        )

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        return asdict(self)


def select_kernel(
    X: Table,
    y: ArrayLike | None = None,
    candidates: Sequence[Any] | None = None,
    *,
    estimator: str | BaseEstimator = "kernel-ridge",
    cv: int = 5,
    random_state: Seed = None,
) -> KernelChoice:
    """Choose a kernel, and say honestly what the choice is worth.

    Each outer fold is left out in turn; the kernel is chosen on the other rows alone (leave-one-out over a path of
    ridges for kernel ridge, inner folds for the others) and judged on the fold. The kernel to use is then chosen on all
    rows.

    Parameters
    ----------
    X : (n, d) array, data frame or sparse matrix
        Rows; of more than 1,000 a sample is looked at.
    y : (n,) or (n, q) array
        Targets of kernel ridge, labels of the support vector machine; kernel PCA has none.
    candidates : list of kernels, optional
        Text or objects. By default "linear" and Gaussian kernels of a quarter to four times the median distance.
    estimator : {"kernel-ridge", "kernel-svm", "kernel-pca"} or estimator
        What the kernel is for, an estimator with its other parameters set. Kernel ridge brings its own ridges.
        Kernel PCA (2 components by default) is judged by rows rebuilt from their scores, so its kernels must have
        pre-images.
    cv : int
        Folds, outer and inner.
    random_state : int, Generator, RandomState or None
        Seed of folds and sample. None is a fixed seed.

    Returns
    -------
    KernelChoice

    References
    ----------
    Cawley, Talbot, On over-fitting in model selection and subsequent selection bias in performance evaluation, Journal
    of Machine Learning Research 2010.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from gramian.selection import select_kernel
    >>> X, y = make_circles(120, factor=0.4, noise=0.05, random_state=0)
    >>> found = select_kernel(X, y, ["linear", "rbf(sigma=0.5)"], estimator="kernel-svm")
    >>> found.kernel, found.outer
    ('rbf(sigma=0.5)', 1.0)
    """
    model = _estimator(estimator)
    points: Matrix = validate(clone(model), X, min_samples=10)
    rng, n = random_generator(random_state), points.shape[0]
    if (
        isinstance(cv, bool)
        or not isinstance(cv, (int, np.integer))
        or not 2 <= cv <= min(n // 2, _COMPARED_MAX_ROWS // 2)
    ):
        raise ValueError(f"cv={cv!r} must be a number of folds, 2 or more, that leaves two rows to each of them.")
    target = _target(model, y, n)
    rows = rng.permutation(n)[:_COMPARED_MAX_ROWS]
    points, target = points[rows], None if target is None else target[rows]
    kernels = _candidates(model, candidates, points)
    with track("kernels", len(kernels) * (cv + 1)) as tracker:
        return _nested(model, points, target, kernels, int(cv), tracker)


def _estimator(estimator: str | BaseEstimator) -> Any:
    if isinstance(estimator, str) and estimator in ESTIMATORS:
        return ESTIMATORS[estimator]()
    if type(estimator) in _FIGURES:
        return estimator
    raise ValueError(f"estimator={estimator!r} is not known. Use one of: {', '.join(map(repr, ESTIMATORS))}.")


def _target(model: BaseEstimator, y: ArrayLike | None, n: int) -> Array | None:
    if isinstance(model, KernelPCA):
        if y is not None:
            raise ValueError("estimator='kernel-pca' takes no y. Leave it out.")
        return None
    if isinstance(model, KernelSVC):
        classes, codes = check_labels(y, n, least=2)
        return classes[codes]
    return check_targets(y, n).values


def _candidates(model: BaseEstimator, candidates: Sequence[Any] | None, X: Matrix) -> list[str]:
    """Kernels as text, each once; widths by default come from the rows, never from y."""
    if candidates is None:
        median = median_width(X)
        candidates = ["linear", *(f"rbf(sigma={median * step:.4g})" for step in (0.25, 0.5, 1, 2, 4))]
    if isinstance(candidates, str) or not len(candidates):
        raise ValueError(f"candidates={candidates!r} must be a list of kernels, such as ['linear', 'rbf(sigma=2)'].")
    named = [as_kernel(candidate) for candidate in candidates]
    if given := [str(kernel) for kernel in named if kernel.given]:
        raise ValueError(f"candidates has {given[0]!r}: a given matrix cannot be compared. Name kernels of rows.")
    kernels = list(dict.fromkeys(map(str, named)))
    if isinstance(model, KernelPCA):
        for kernel in kernels:
            check_method(as_kernel(kernel).resolve(X), "auto")
    return kernels


def _nested(
    model: BaseEstimator, X: Matrix, y: Array | None, kernels: list[str], cv: int, tracker: Tracker
) -> KernelChoice:
    folds = folds_of(y if isinstance(model, KernelSVC) else None, X.shape[0], cv)
    inner, outer = np.zeros((2, cv, len(kernels)))
    for at, test in enumerate(folds):
        train = np.setdiff1d(np.arange(X.shape[0]), test)
        inner[at], fitted = _compare(model, X[train], _part(y, train), kernels, cv, tracker)
        outer[at] = [_score(each, X[test], _part(y, test)) for each in fitted]
    choices = inner.argmax(axis=1)
    judged = outer[np.arange(cv), choices]
    final, fitted = _compare(model, X, y, kernels, cv, tracker)
    best = int(np.argmax(final))
    table = tuple(
        Candidate(kernel, float(inner[:, j].mean()), float(outer[:, j].mean()), int((choices == j).sum()))
        for j, kernel in enumerate(kernels)
    )
    return KernelChoice(
        kernels[best],
        {"ridge": float(fitted[best].ridge)} if isinstance(model, KernelRidge) else {},
        _FIGURES[type(model)],
        float(inner.max(axis=1).mean()),
        float(judged.mean()),
        float(judged.std(ddof=1) / np.sqrt(cv)),
        table,
        cv,
    )


def _compare(
    model: BaseEstimator, X: Matrix, y: Array | None, kernels: list[str], cv: int, tracker: Tracker
) -> tuple[list[float], list[Any]]:
    """Figure of every kernel inside these rows, and the kernels fitted to all of them."""
    figures, fitted = [], []
    for kernel in kernels:
        each = clone(model).set_params(kernel=kernel)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GramianWarning)  # a candidate that is hard to fit speaks by its figure
            if isinstance(model, KernelRidge):
                path = each.path(X, y)
                each.set_params(ridge=path.best)
                figures.append(float(path.r2[path.best_index]))
            else:
                figures.append(_inner(each, X, y, cv))
            fitted.append(each.fit(X, y))
        tracker.advance(tracker.expected)
    return figures, fitted


def _inner(model: BaseEstimator, X: Matrix, y: Array | None, cv: int) -> float:
    scores = []
    for test in folds_of(y, X.shape[0], cv):
        train = np.setdiff1d(np.arange(X.shape[0]), test)
        scores.append(_score(clone(model).fit(X[train], _part(y, train)), X[test], _part(y, test)))
    return float(np.mean(scores))


def folds_of(labels: Array | None, n: int, cv: int) -> list[Array]:
    """Every k-th row; of labelled rows those of a class are dealt out first, so that folds have all classes."""
    order = np.arange(n) if labels is None else np.argsort(labels, kind="stable")
    return [order[at::cv] for at in range(cv)]


def _part(y: Array | None, rows: Array) -> Array | None:
    return None if y is None else y[rows]


def _score(model: BaseEstimator, X: Matrix, y: Array | None) -> float:
    """R2, accuracy, or the share of the variance of rows that is rebuilt from their scores."""
    if not isinstance(model, KernelPCA):
        return float(model.score(X, y))
    rows = X if isinstance(X, np.ndarray) else X.toarray()
    left = float(np.sum((rows - model.reconstruct(model.transform(rows)).points) ** 2))
    return 1 - left / float(np.sum((rows - rows.mean(axis=0)) ** 2))
