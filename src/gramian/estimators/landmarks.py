"""How a kernel method is cut to low rank: landmarks, or random Fourier features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields
from typing import Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from gramian.config import format_bytes, memory_budget, within_budget
from gramian.estimators.kernel_checks import CheckedRows, check_count, check_similarities, warn_of_underflow
from gramian.estimators.validation import check_choice
from gramian.estimators.warnings import RankWarning, warn
from gramian.kernels import Kernel
from gramian.kernels.base import as_rows, is_number
from gramian.kernels.dot_product import random_waves
from gramian.operators.centering import from_best_origin
from gramian.operators.features import FeatureMap
from gramian.operators.landmark_rows import centred_on_cells, check_positive, landmark_map, pivots, spread, uniform
from gramian.operators.remote import diagonal_of
from gramian.operators.similarities import Similarities, mapped_similarities, similarities
from gramian.results import Array, FitSummary, Matrix, percent
from gramian.solvers.eigen import DENSE_LIMIT

#: Landmarks where neither a number nor a tolerance is given.
DEFAULT_LANDMARKS = 1000
#: Rows among which landmarks are drawn, for each landmark and in all: a larger table is sampled.
ROWS_PER_LANDMARK, LANDMARK_SAMPLE_MIN_ROWS = 20, 20_000
LANDMARK_METHODS = ("pivoted", "uniform", "kmeans++")


class Approximation(ABC):
    """What the argument ``landmarks`` may be beside a number: parameters, and the features they lead to."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn's clone and grid search expect them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **params: object) -> Self:
        """Set parameters."""
        known = self.get_params()
        for key, value in params.items():
            if key not in known:
                raise ValueError(f"{key!r} is not a parameter of {type(self).__name__}. Known: {', '.join(known)}.")
            setattr(self, key, value)
        return self

    @abstractmethod
    def features(self, kernel: Kernel, X: CheckedRows, weights: Array | None) -> FeatureMap:
        """Return the features for a resolved kernel and checked rows."""

    @property
    def rows_wanted(self) -> int:
        """First rows of a stream among which to choose; 0 if rows do not matter."""
        return 0

    @abstractmethod
    def describe(self, features: FeatureMap, error: float | None) -> str:
        """Return what the summary says."""


#: That many landmarks, how to choose them, or none.
LandmarksArgument: TypeAlias = int | Approximation | None


@dataclass(eq=False)
class Landmarks(Approximation):
    r"""Rows that stand for all: every kernel method then works in the span of their features.

    Definition
    ----------
    .. math:: \hat K = K(X, Z)\, K(Z, Z)^{-1} K(Z, X), \qquad
              \text{trace error } \mathrm{tr}(K - \hat K) / \mathrm{tr}\,K

    The features :math:`f(x) = L^{-1} k(Z, x)` with :math:`LL' = K(Z, Z)` have these products. They are the features of
    the kernel, projected on those of the landmarks: with all rows as landmarks nothing is lost.

    Parameters
    ----------
    n_landmarks : int, optional
        Number m; 1,000 by default, and with ``tol`` as many as it takes. More than there are rows are cut to those,
        with a warning. Landmarks in the span of others, such as repeated rows, are left out.
    method : {"pivoted", "uniform", "kmeans++"}
        Randomly pivoted Cholesky: rows are drawn in proportion to what those before leave of them. Uniformly. Or as
        k-means++ draws seeds, in feature space. A large table is sampled first: 20 rows for each landmark, and 20,000
        at least. Of a stream (:func:`gramian.rows`) only the first rows are looked at: the first block, or more of
        them until there are 20 rows for each landmark; of ``partial_fit`` the rows of the first call.
    points : (m, d) array, optional
        Landmarks of your own, in place of rows.
    tol : float, optional
        Trace error that may be left; only for "pivoted".
    refine : bool
        Move each pivoted landmark to the mean of the rows nearest to it, where the kernel falls with the Euclidean
        distance, rows are dense, and ``tol`` is not given: the trace error is smaller by about a fifth.
    random_state : int
        Seed.

    Cost
    ----
    To choose: as many kernel values as rows looked at times m, and m^2 multiplications for each of those rows. To use:
    m kernel values and about m^2 multiplications for each row, and memory for m x m numbers.

    References
    ----------
    Chen, Epperly, Tropp, Webber, Randomly pivoted Cholesky, Communications on Pure and Applied Mathematics 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramian import KernelPCA, Landmarks
    >>> X = load_digits().data
    >>> model = KernelPCA(5, kernel="rbf(sigma=25)", landmarks=Landmarks(tol=0.1)).fit(X)
    >>> bool(model.trace_error_ <= 0.1)
    True
    >>> exact = KernelPCA(5, kernel="rbf(sigma=25)").fit(X)
    >>> bool(abs(model.eigenvalues_ / exact.eigenvalues_ - 1).max() < 0.01)
    True
    """

    n_landmarks: int | None = None
    method: str = field(default="pivoted", kw_only=True)
    points: ArrayLike | None = field(default=None, kw_only=True)
    tol: float | None = field(default=None, kw_only=True)
    refine: bool = field(default=True, kw_only=True)
    random_state: int = field(default=0, kw_only=True)

    def features(self, kernel: Kernel, X: CheckedRows, weights: Array | None) -> FeatureMap:
        self._check()
        check_positive(kernel, X)
        if self.points is not None:
            return landmark_map(kernel, _own_points(self.points, X), X.dtype)
        present = X.shape[0] if weights is None else int((weights > 0).sum())
        count = self._count(present)
        rng = np.random.default_rng(self.random_state)
        X, weights = _sample(X, weights, max(LANDMARK_SAMPLE_MIN_ROWS, self.rows_wanted), rng, self.method)
        if count >= X.shape[0] and weights is None and self.tol is None:
            return landmark_map(kernel, X, X.dtype)
        if self.method == "uniform":
            return landmark_map(kernel, X[uniform(X.shape[0], count, rng, weights)], X.dtype)
        if self.method == "kmeans++":
            return landmark_map(kernel, X[spread(kernel, X, count, rng, weights)], X.dtype)
        # A sample leaves a little less than all rows do.
        tol = 0.0 if self.tol is None else float(self.tol) * (1.0 if X.shape[0] == present else 0.9)
        Z = X[pivots(kernel, X, count, rng, weights, tol=tol)]
        if self.refine and self.tol is None:
            Z = centred_on_cells(kernel, X, Z, weights)
        return landmark_map(kernel, Z, X.dtype)

    @property
    def rows_wanted(self) -> int:
        return 0 if self.points is not None else ROWS_PER_LANDMARK * (self.n_landmarks or DEFAULT_LANDMARKS)

    def describe(self, features: FeatureMap, error: float | None) -> str:
        how = "given" if self.points is not None else self.method
        left = "" if error is None else f" leave {percent(error)} of the trace"
        return f"{features.size:,} landmarks ({how}){left}"

    def _check(self) -> None:
        if self.n_landmarks is not None:
            check_count("n_landmarks", self.n_landmarks)
            if self.n_landmarks > DENSE_LIMIT:
                raise ValueError(f"n_landmarks={self.n_landmarks:,} is more than {DENSE_LIMIT:,}. Use fewer landmarks.")
        check_choice("method", self.method, LANDMARK_METHODS)
        check_choice("refine", self.refine, (True, False))
        if self.tol is None:
            return
        if not is_number(self.tol) or not 0 < self.tol < 1:
            raise ValueError(f"tol={self.tol!r} must be a number between 0 and 1, or None.")
        if self.method != "pivoted" or self.points is not None:
            raise ValueError(f"tol={self.tol!r} goes with method='pivoted' and without points. Use n_landmarks.")

    def _count(self, n: int) -> int:
        if self.n_landmarks is not None and self.n_landmarks > n:
            warn(f"n_landmarks={self.n_landmarks:,} is more than the {n:,} rows: all of them were taken.", RankWarning)
        most = self.n_landmarks or (DEFAULT_LANDMARKS if self.tol is None else DENSE_LIMIT)
        return min(int(most), n)


@dataclass(eq=False)
class RandomFeatures(Approximation):
    r"""Random Fourier features: waves whose products are, on average, a stationary kernel.

    Definition
    ----------
    .. math:: k(x, y) = E \cos w'(x - y) \approx \frac1D \sum_j \cos w_j'(x - y)

    with frequencies w from the spectral measure of the kernel, orthogonal in groups of d. They need no look at the
    rows; landmarks, which do, are mostly nearer for the same number of features.

    Parameters
    ----------
    n_features : int
        Number D of features, rounded up to an even number.
    random_state : int
        Seed.

    Cost
    ----
    D cosines and D d multiplications for each row; what a method needs beside grows with D^2.

    References
    ----------
    Rahimi, Recht, Random features for large-scale kernel machines, NIPS 2007.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from gramian import KernelSVC, RandomFeatures
    >>> X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    >>> KernelSVC(kernel="rbf(sigma=0.5)", landmarks=RandomFeatures(100)).fit(X, y).score(X, y)
    1.0
    """

    n_features: int = DEFAULT_LANDMARKS
    random_state: int = field(default=0, kw_only=True)

    def features(self, kernel: Kernel, X: CheckedRows, weights: Array | None) -> FeatureMap:
        check_count("n_features", self.n_features)
        rng = np.random.default_rng(self.random_state)
        waves, frequencies = random_waves(kernel, X.shape[1], int(self.n_features), rng)
        return FeatureMap(waves, frequencies.astype(X.dtype))

    def describe(self, features: FeatureMap, error: float | None) -> str:
        return f"{features.size:,} random Fourier features"


def _own_points(points: ArrayLike, X: CheckedRows) -> Matrix:
    Z: Matrix = as_rows(points, "points").astype(X.dtype)
    if Z.shape[1] != X.shape[1] or not Z.shape[0]:
        raise ValueError(f"points has shape {Z.shape}; one or more rows of {X.shape[1]} columns, as X, are expected.")
    if not np.isfinite(Z.data if sp.issparse(Z) else Z).all():
        raise ValueError("points holds NaN or infinity. Drop those landmarks.")
    if Z.shape[0] > DENSE_LIMIT:
        raise ValueError(f"points has {Z.shape[0]:,} rows, more than {DENSE_LIMIT:,}. Use fewer landmarks.")
    return Z


def _sample(
    X: CheckedRows, weights: Array | None, most: int, rng: np.random.Generator, method: str
) -> tuple[Any, Array | None]:
    """Rows to choose among, in their order; those drawn by their weight count alike."""
    if weights is not None and (weights == 0).any():
        X, weights = X[weights > 0], weights[weights > 0]
    if X.shape[0] <= most or method == "uniform":
        return X if X.shape[0] > most else X[:], weights  # few of them come here from a cluster
    return X[np.sort(uniform(X.shape[0], most, rng, weights))], None


def low_rank(
    landmarks: LandmarksArgument, kernel: Kernel, X: CheckedRows, weights: Array | None = None
) -> FeatureMap | None:
    """Return the features that the argument ``landmarks`` asks for; None if it is None."""
    if landmarks is None:
        return None
    if kernel.given:
        raise ValueError(f"landmarks={landmarks!r} needs rows; kernel='precomputed' has none. Use landmarks=None.")
    return as_approximation(landmarks).features(kernel, X, weights)


def as_approximation(landmarks: object) -> Approximation:
    """Take a number as that many landmarks."""
    if isinstance(landmarks, Approximation):
        return landmarks
    if isinstance(landmarks, (bool, np.bool_)) or not isinstance(landmarks, (int, np.integer)):
        raise TypeError(
            f"landmarks={landmarks!r} must be a whole number, an object such as gramian.Landmarks(tol=1e-3) or "
            "gramian.RandomFeatures(1000), or None."
        )
    if landmarks < 1:
        raise ValueError(f"landmarks={landmarks} must be 1 or more, or None.")
    return Landmarks(int(landmarks))


def mapped_rows(
    landmarks: LandmarksArgument, features: FeatureMap, X: CheckedRows, weights: Array | None = None, *, copies: int = 1
) -> tuple[Array, float | None]:
    """Return mapped rows in double precision, to be kept, and the trace error; refuse what does not fit."""
    n, needed = X.shape[0], 8 * X.shape[0] * features.size * copies
    if not within_budget(needed):
        raise ValueError(
            f"landmarks: {n:,} rows of {features.size:,} features take {format_bytes(needed)}, over the memory budget "
            f"of {format_bytes(memory_budget())}. Use fewer landmarks, or gramian.config(memory=...)."
        )
    F = features.features(X)
    return F, lost_trace(landmarks, features, X, np.einsum("ij,ij->i", F, F), weights)[1]


def lost_trace(
    landmarks: LandmarksArgument, features: FeatureMap, X: CheckedRows, squares: Array, weights: Array | None
) -> tuple[float, float | None]:
    """Return what landmarks leave of the trace, given the squares of mapped rows: as it is, and as a share."""
    w = np.ones(X.shape[0]) if weights is None else weights
    own = diagonal_of(features.kernel, X)
    lost, whole = max(0.0, float(w @ (own - squares))), float(w @ own)
    return lost, checked_trace_error(landmarks, features, lost / whole if whole > 0 else 0.0)


def inner_products(
    landmarks: LandmarksArgument, kernel: Kernel, X: CheckedRows, weights: Array | None, total: float = 1.0
) -> tuple[Array | None, CheckedRows, FeatureMap | None, Similarities]:
    """Return an origin for rows, the rows seen from it, their features if there are landmarks, and their similarities.

    Rows of a ``total`` weight whose similarities overflow are refused.
    """
    rows, origin = from_best_origin(kernel, X, weights)
    features = low_rank(landmarks, kernel, rows, weights)
    inner = similarities(kernel, rows) if features is None else mapped_similarities(features, rows)
    check_similarities(kernel, inner.diagonal(), total=total)
    warn_of_underflow(kernel, X)
    return origin, rows, features, inner


def checked_trace_error(landmarks: LandmarksArgument, features: FeatureMap, error: float) -> float | None:
    """Return the trace error, or None if it tells nothing; warn where it is more than was asked for."""
    if not features.from_points:
        return None  # random features are right on average, and leave nothing of the diagonal
    asked = getattr(landmarks, "tol", None)
    if asked is not None and error > asked:
        warn(
            f"tol={asked:g}, but {features.size:,} landmarks leave {error:.3g} of the trace. Raise n_landmarks or tol.",
            RankWarning,
        )
    return error


def add_low_rank(
    summary: FitSummary, landmarks: LandmarksArgument, features: FeatureMap | None, error: float | None, view: str = ""
) -> FitSummary:
    """Put the low rank (of a view) beside what else a summary says."""
    if features is None:
        return summary
    line = (f"low rank {view}".strip(), as_approximation(landmarks).describe(features, error))
    end = f"_{view.lower()}" if view else ""
    facts = {f"n_features{end}": features.size, f"trace_error{end}": error, f"features{end}": line[1]}
    first, *rest = summary.lines
    return FitSummary(summary.title, (first, line, *rest), {**summary.facts, **facts})
