"""Which kernel, and which width: rules on distances, rows left out, and candidates judged by nested validation."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from gramian.engine.product import to_dense
from gramian.estimators.base import BaseEstimator
from gramian.estimators.validation import Table, check_labels, check_targets, random_generator, validate
from gramian.estimators.warnings import GramianWarning
from gramian.kernels import RBF, as_kernel
from gramian.kernels.pairwise import median_width, scale_width, squared_euclidean
from gramian.preimage import check_method
from gramian.progress import track
from gramian.registry import KernelPCA, KernelRidge, KernelSVC, record_of
from gramian.results import Array, Matrix, Seed
from gramian.selection.printing import Compared
from gramian.selection.tuning import RIDGE_WIDTHS, Judged, judged_inside, nested_folds, part, splits

#: Estimators whose kernels can be compared, as they are if only their names are given.
ESTIMATORS: dict[str, BaseEstimator] = {
    "kernel-ridge": KernelRidge(fit_intercept=True),
    "kernel-svm": KernelSVC(),
    "kernel-pca": KernelPCA(2),
}
#: What an estimator is fitted to beside the rows -> what is measured.
_FIGURES = {"target": "R2", "label": "accuracy", "": "share of variance rebuilt"}
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
class Bandwidth(Compared):
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

    def _lines(self) -> Iterable[tuple[bool, str, *tuple[str, ...]]]:
        for each in self.table:
            yield each.criterion == self.decided_by, each.criterion, f"{each.sigma:.4g}", each.detail

    def __str__(self) -> str:
        return self._text("criterion", "sigma", "")


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
    A, every = points[rows], slice(0, len(rows))
    squares = np.maximum(squared_euclidean(A, A).tile(every, every, np.empty((len(rows), len(rows)))), 0.0)
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


def _targets(y: ArrayLike | None, n: int) -> Array:
    """Numbers to predict; indicators of labels, if they are no numbers."""
    if np.asarray(y).dtype.kind in "fiu":
        return check_targets(y, n).values
    classes, codes = check_labels(y, n, least=2)
    return np.eye(len(classes))[codes]


def _path(squares: Array, Y: Array, low: float, high: float) -> list[dict[str, float]]:
    """The best ridge of every width, judged by rows left out."""
    found, model = [], KernelRidge(kernel="precomputed", fit_intercept=True)
    with track("widths", _WIDTHS_TRIED) as tracker:
        for sigma in np.geomspace(low, high, _WIDTHS_TRIED):
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
class KernelChoice(Compared):
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
    """

    kernel: str
    parameters: dict[str, float]
    figure: str
    inner: float
    outer: float
    standard_error: float
    table: tuple[Candidate, ...]
    folds: int

    def _lines(self) -> Iterable[tuple[bool, str, *tuple[str, ...]]]:
        for each in self.table:
            figures = (f"{each.inner:.4f}", f"{each.outer:.4f}", f"{each.chosen} of {self.folds}")
            yield each.kernel == self.kernel, each.kernel, *figures

    def __str__(self) -> str:
        judged = f"{self.outer:.4f} +- {self.standard_error:.2g} on rows that had no part in it"
        said = f"* chosen on all rows; {self.figure} of choosing: {self.inner:.4f} where it was done, {judged}"
        return f"{self._text('kernel  ', '   inner', '   outer', '  chosen', right=(1, 2, 3))}\n{said}"


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
    model = ESTIMATORS.get(estimator) if isinstance(estimator, str) else estimator
    record = record_of(model)
    if model is None or record is None or record.command not in ESTIMATORS:
        raise ValueError(f"estimator={estimator!r} is not known. Use one of: {', '.join(map(repr, ESTIMATORS))}.")
    needs = record.needs
    points: Matrix = validate(clone(model), X, min_samples=10)
    rng, n = random_generator(random_state), points.shape[0]
    whole = isinstance(cv, (int, np.integer)) and not isinstance(cv, bool)
    if not whole or not 2 <= cv <= min(n // 2, _COMPARED_MAX_ROWS // 2):
        raise ValueError(f"cv={cv!r} must be a number of folds, 2 or more, that leaves two rows to each of them.")
    target = _target(needs, y, n)
    rows = rng.permutation(n)[:_COMPARED_MAX_ROWS]
    points, target = points[rows], part(target, rows)
    kernels = _candidates(candidates, points)
    if not needs:  # judged by rows that are rebuilt
        for kernel in kernels:
            check_method(as_kernel(kernel).resolve(points), "auto")

    def choose(rows: Array | slice) -> list[tuple[Judged, Any]]:
        """Every kernel with its figure inside these rows, and fitted to all of them."""
        found, X, y = [], points[rows], part(target, rows)
        for kernel in kernels:
            inside = judged_inside(model, X, y, {"kernel": kernel}, int(cv), _score)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", GramianWarning)
                found.append((inside, clone(model).set_params(**inside.parameters).fit(X, y)))
            tracker.advance(tracker.expected)
        return found

    def judge(found: list[tuple[Judged, Any]], train: Array, test: Array) -> list[float]:
        return [_score(fitted, points[test], part(target, test)) for _, fitted in found]

    with track("kernels", len(kernels) * (cv + 1)) as tracker:
        choices, verdicts, final = nested_folds(splits(model, target, len(rows), int(cv)), choose, judge)
    inner, outer = np.array([[inside.figure for inside, _ in found] for found in choices]), np.array(verdicts)
    taken = inner.argmax(axis=1)
    judged = outer[np.arange(cv), taken]
    best = max((inside for inside, _ in final), key=lambda inside: inside.figure).parameters
    table = tuple(
        Candidate(kernel, float(inner[:, j].mean()), float(outer[:, j].mean()), int((taken == j).sum()))
        for j, kernel in enumerate(kernels)
    )
    return KernelChoice(
        best["kernel"],
        {name: value for name, value in best.items() if name != "kernel"},
        _FIGURES[needs],
        float(inner.max(axis=1).mean()),
        float(judged.mean()),
        float(judged.std(ddof=1) / np.sqrt(cv)),
        table,
        int(cv),
    )


def _target(needs: str, y: ArrayLike | None, n: int) -> Array | None:
    if needs == "label":
        classes, codes = check_labels(y, n, least=2)
        return classes[codes]
    if needs:
        return check_targets(y, n).values
    if y is not None:
        raise ValueError("estimator='kernel-pca' takes no y. Leave it out.")
    return None


def _candidates(candidates: Sequence[Any] | None, X: Matrix) -> list[str]:
    """Kernels as text, each once; widths by default come from the rows, never from y."""
    if candidates is None:
        median = median_width(X)
        candidates = ["linear", *(f"rbf(sigma={median * step:.4g})" for step in RIDGE_WIDTHS)]
    if isinstance(candidates, str) or not len(candidates):
        raise ValueError(f"candidates={candidates!r} must be a list of kernels, such as ['linear', 'rbf(sigma=2)'].")
    named = [as_kernel(candidate) for candidate in candidates]
    if given := [str(kernel) for kernel in named if kernel.given]:
        raise ValueError(f"candidates has {given[0]!r}: a given matrix cannot be compared. Name kernels of rows.")
    return list(dict.fromkeys(map(str, named)))


def _score(model: Any, X: Matrix, y: Array | None) -> float:
    """R2, accuracy, or the share of the variance of rows that is rebuilt from their scores."""
    if y is not None:
        return float(model.score(X, y))
    rows = to_dense(X)
    left = float(np.sum((rows - model.reconstruct(model.transform(rows)).points) ** 2))
    return 1 - left / float(np.sum((rows - rows.mean(axis=0)) ** 2))
