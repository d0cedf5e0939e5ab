"""Which kernel: candidates compared inside folds, and the choice itself judged outside of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from gramian.estimators import KernelPCA, KernelRidge, KernelSVC
from gramian.estimators.base import random_generator
from gramian.estimators.targets import check_labels, check_targets
from gramian.estimators.validation import validate
from gramian.estimators.warnings import GramianWarning
from gramian.kernels import as_kernel
from gramian.kernels.pairwise import median_width
from gramian.preimage import check_method
from gramian.progress import Tracker, track
from gramian.results import Array

ESTIMATORS: dict[str, Callable[[], Any]] = {
    "kernel-ridge": lambda: KernelRidge(fit_intercept=True),
    "kernel-svm": KernelSVC,
    "kernel-pca": lambda: KernelPCA(2),
}
FIGURES = {KernelRidge: "R2", KernelSVC: "accuracy", KernelPCA: "share of variance rebuilt"}
#: Rows looked at, at the most.
MOST_ROWS = 1000


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
    X: Any,
    y: Any = None,
    candidates: Sequence[Any] | None = None,
    *,
    estimator: Any = "kernel-ridge",
    cv: int = 5,
    random_state: Any = None,
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
    X = validate(clone(model), X, min_samples=10)
    rng, n = random_generator(random_state), X.shape[0]
    if isinstance(cv, bool) or not isinstance(cv, (int, np.integer)) or not 2 <= cv <= min(n // 2, MOST_ROWS // 2):
        raise ValueError(f"cv={cv!r} must be a number of folds, 2 or more, that leaves two rows to each of them.")
    target = _target(model, y, n)
    rows = rng.permutation(n)[:MOST_ROWS]
    X, target = X[rows], None if target is None else target[rows]
    kernels = _candidates(model, candidates, X)
    with track("kernels", len(kernels) * (cv + 1)) as tracker:
        return _nested(model, X, target, kernels, int(cv), tracker)


def _estimator(estimator: Any) -> Any:
    if isinstance(estimator, str) and estimator in ESTIMATORS:
        return ESTIMATORS[estimator]()
    if type(estimator) in FIGURES:
        return estimator
    raise ValueError(f"estimator={estimator!r} is not known. Use one of: {', '.join(map(repr, ESTIMATORS))}.")


def _target(model: Any, y: Any, n: int) -> Array | None:
    if isinstance(model, KernelPCA):
        if y is not None:
            raise ValueError("estimator='kernel-pca' takes no y. Leave it out.")
        return None
    if isinstance(model, KernelSVC):
        classes, codes = check_labels(y, n, least=2)
        return classes[codes]
    return check_targets(y, n).values


def _candidates(model: Any, candidates: Sequence[Any] | None, X: Any) -> list[str]:
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


def _nested(model: Any, X: Any, y: Array | None, kernels: list[str], cv: int, tracker: Tracker) -> KernelChoice:
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
        FIGURES[type(model)],
        float(inner.max(axis=1).mean()),
        float(judged.mean()),
        float(judged.std(ddof=1) / np.sqrt(cv)),
        table,
        cv,
    )


def _compare(
    model: Any, X: Any, y: Array | None, kernels: list[str], cv: int, tracker: Tracker
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


def _inner(model: Any, X: Any, y: Array | None, cv: int) -> float:
    scores = []
    for test in folds_of(y, X.shape[0], cv):
        train = np.setdiff1d(np.arange(X.shape[0]), test)
        scores.append(_score(clone(model).fit(X[train], _part(y, train)), X[test], _part(y, test)))
    return float(np.mean(scores))


def folds_of(labels: Array | None, n: int, cv: int) -> list[Array]:
    """Every so-manyth row; of labelled rows those of a class are dealt out first, so that folds have all classes."""
    order = np.arange(n) if labels is None else np.argsort(labels, kind="stable")
    return [order[at::cv] for at in range(cv)]


def _part(y: Array | None, rows: Array) -> Array | None:
    return None if y is None else y[rows]


def _score(model: Any, X: Any, y: Array | None) -> float:
    """R2, accuracy, or the share of the variance of rows that is rebuilt from their scores."""
    if not isinstance(model, KernelPCA):
        return float(model.score(X, y))
    rows = X if isinstance(X, np.ndarray) else X.toarray()
    left = float(np.sum((rows - model.reconstruct(model.transform(rows)).points) ** 2))
    return 1 - left / float(np.sum((rows - rows.mean(axis=0)) ** 2))
