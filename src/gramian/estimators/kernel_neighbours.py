"""Nearest neighbours in the feature space of a kernel: the search, a classifier and a regressor."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.spatial import KDTree
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramian.config import thread_count
from gramian.engine.product import to_dense
from gramian.estimators.base import BaseEstimator, as_fitted, by_blocks, planned_fit
from gramian.estimators.kernel_checks import (
    check_count,
    check_similarities,
    lengths,
    warn_of_negative,
    warn_of_underflow,
)
from gramian.estimators.kernel_rows import KernelArgument, KernelInput
from gramian.estimators.landmarks import LandmarksArgument, add_low_rank, low_rank, mapped_rows
from gramian.estimators.plans_kernel import SEARCH_WAYS, plan_kernel_knn, way_of_search
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.validation import Table, Targets, check_labels, check_targets, validate
from gramian.kernels import Kernel, Linear
from gramian.kernels.pairwise import PreparedRows
from gramian.operators.features import FeatureMap
from gramian.operators.gram import kept_or_anew
from gramian.operators.nearest import (
    EXTRA_CANDIDATES,
    SIMILARITY_ROUNDING,
    TIE_DOUBT,
    EuclideanSearch,
    Sized,
    nearest_in_features,
    resolve_ties,
)
from gramian.operators.similarities import own_similarities
from gramian.results import Array, FitSummary, Matrix, duration

#: A squared distance that a tree reports may be off by this much of itself.
TREE_ROUNDING = 1e-12
#: A row with less than this part of its square outside the span of the landmarks is in it, to rounding.
SPAN_ROUNDING = 1e-10
#: Weights of neighbours by name, or as a function of their distances.
NeighbourWeights: TypeAlias = str | Callable[[Array], ArrayLike]


class KernelNeighbours(KernelInput, BaseEstimator):
    """What the classifier and the regressor share: training rows, the search, and weights of neighbours."""

    _plan = plan_kernel_knn

    features_: FeatureMap | None = None
    _keeps_rows = True
    _kept_parameters = ("n_neighbors", "weights")

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        kernel: KernelArgument = "rbf",
        weights: NeighbourWeights = "uniform",
        landmarks: LandmarksArgument = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.weights = weights
        self.landmarks = landmarks

    def _keep(self, X: Table, clock: Clock) -> int:
        """Check and keep the training rows; return how many there are."""
        check_count("n_neighbors", self.n_neighbors)
        named = isinstance(self.weights, str) and self.weights in ("uniform", "distance")
        if not callable(self.weights) and not named:
            raise ValueError(f"weights={self.weights!r} is not known. Use 'uniform', 'distance' or a function.")
        kernel, rows, _ = self._read(X)
        n = rows.shape[0]
        if self.n_neighbors > n:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} is more than the number of rows, n_samples={n}. "
                f"Use n_neighbors={n} or fewer."
            )
        for made in ("_tree", "_mapped", "_prepared"):
            self.__dict__.pop(made, None)  # those of an earlier fit
        self.kernel_, self._anchors = kernel, kernel.anchors(rows)
        self.features_ = low_rank(self.landmarks, kernel, rows)
        if self.features_ is not None:
            self._mapped, self.trace_error_ = mapped_rows(self.landmarks, self.features_, rows)
        self._plain = self._metric.keeps_neighbours
        points, self._prepared = rows if self.features_ is None else self._mapped, PreparedRows(self._points)
        self._diagonal = np.array(self._metric.diagonal(points), dtype=np.float64)
        check_similarities(kernel, self._diagonal)
        warn_of_underflow(kernel, rows)
        summary = self._describe(rows.shape, clock)
        self.summary_ = add_low_rank(summary, self.landmarks, self.features_, self.trace_error_)
        return n

    @property
    def _metric(self) -> Kernel:
        """The kernel that compares points: mapped rows have the linear one."""
        return self.kernel_ if self.features_ is None else Linear()

    @property
    def _points(self) -> Any:
        return self._anchors if self.features_ is None else self._mapped

    @cached_property
    def _mapped(self) -> Array:
        """Mapped training rows; they can be made again, so they are no part of a saved model."""
        return mapped_rows(None, self.features_, self._anchors)[0]  # type: ignore[arg-type]

    @cached_property
    def _prepared(self) -> PreparedRows:
        """The points, ready to be searched; what is made of them can be made again."""
        return PreparedRows(self._points)

    @cached_property
    def _tree(self) -> KDTree | None:
        """A tree of the training rows, if one is worth it; it can be made again, so it is no part of a saved model."""
        points = self._points
        way = way_of_search(self._metric, *points.shape, sparse=sp.issparse(points))
        return KDTree(points) if way == "tree" else None

    def kneighbors(self, X: Table | None = None, n_neighbors: int | None = None) -> tuple[Array, Array]:
        """Return the nearest training rows.

        Parameters
        ----------
        X : (m, d) array, data frame or sparse matrix, optional
            New rows. Without them the training rows are asked about, each of which is not its own neighbour.
        n_neighbors : int, optional
            How many, if not as many as the estimator was made for.

        Returns
        -------
        distances : (m, k) array
            Distances in feature space, ascending.
        indices : (m, k) array
            Numbers of the training rows; of equally near ones the lowest.
        """
        check_is_fitted(self)
        k = as_fitted(self, "n_neighbors") if n_neighbors is None else n_neighbors
        squares, columns = self._nearest(None if X is None else validate(self, X, reset=False), k, measured=True)
        return lengths(squares), columns

    def _nearest(self, rows: Matrix | None, k: int, *, measured: bool) -> tuple[Array, Array]:
        """Squared distances (ranks that lack ``k(x, x)`` if they need not be measured) and indices, of checked rows."""
        check_count("n_neighbors", k)
        own = rows is None
        if own and self.kernel_.given:
            raise ValueError(
                "X=None asks about the training rows, of which a precomputed kernel keeps none. Give their Gram "
                "matrix; each row is then its own nearest neighbour."
            )
        rows = self._anchors if rows is None else rows
        if k > (most := len(self._diagonal) - own):
            raise ValueError(f"n_neighbors={k} is more than the {most} training rows to choose from. Use fewer.")
        if self.features_ is not None:
            return self._nearest_mapped(rows, k, own)
        if self._plain:
            squares, columns = self._plainly(rows, k, own)
            return self._metric.feature_distances(squares), columns
        points = kept_or_anew(self._prepared)
        ranks, columns = nearest_in_features(self.kernel_, rows, points, self._diagonal, k, own=own)
        if not measured:
            return ranks, columns
        training = self._diagonal if self.kernel_.given else None
        own_squares = own_similarities(self.kernel_, rows, training)[:, None]
        squares = own_squares + ranks
        squares[np.abs(squares) <= SIMILARITY_ROUNDING * (np.abs(own_squares) + np.abs(self._diagonal)[columns])] = 0.0
        warn_of_negative(self.kernel_, squares < 0, "neighbours")
        return squares, columns

    def _nearest_mapped(self, rows: Matrix, k: int, own: bool) -> tuple[Array, Array]:
        """Neighbours through landmarks. A row with distances too close to call is mapped and searched alone.

        Mapping a block rounds otherwise than mapping one row, and must not decide which of two equally near rows is
        a neighbour.
        """
        F, apart = self._project(rows, own)
        wide = min(k + 1, len(self._diagonal) - own)
        squares, columns = self._plainly(F, wide, own)
        sizes = np.einsum("ij,ij->i", F, F)[:, None] + self._diagonal[columns]
        doubt = (np.diff(squares, axis=1) <= TIE_DOUBT * sizes[:, 1:]).any(axis=1)
        for i in () if own else np.flatnonzero(doubt):
            alone, apart[i : i + 1] = self._project(np.array(to_dense(rows[i : i + 1]), np.float64, order="C"), own)
            squares[i : i + 1], columns[i : i + 1] = self._plainly(alone, wide, own)
        return self._metric.feature_distances(squares[:, :k]) + apart, columns[:, :k]

    def _project(self, rows: Matrix, own: bool) -> tuple[Array, Array]:
        """Mapped rows, and their squared distances from the span of the landmarks, which all neighbours share."""
        assert self.features_ is not None  # for the type checker, who asks has landmarks
        F = self._mapped if own else mapped_rows(None, self.features_, rows)[0]
        whole = self.features_.kernel.diagonal(rows)
        rest = whole - np.einsum("ij,ij->i", F, F)
        return F, np.where(rest > SPAN_ROUNDING * whole, rest, 0.0)[:, None]

    def _plainly(self, rows: Any, k: int, own: bool) -> tuple[Array, Array]:
        search = EuclideanSearch(rows, kept_or_anew(self._prepared), own=own)
        if self._tree is None or sp.issparse(rows):
            return search.find(k)
        wide = min(k + EXTRA_CANDIDATES, len(self._diagonal) - own)
        apart, columns = self._tree.query(rows, np.arange(1, wide + own + 1), workers=thread_count())
        if own:  # a row's own number, or the last one where twins hid it, leaves the list
            mine = columns == np.arange(len(columns))[:, None]
            mine[~mine.any(axis=1), -1] = True
            columns = columns[~mine].reshape(len(columns), wide)
        return search.settle(columns, (1 - TREE_ROUNDING) * apart[:, -1] ** 2, k)

    def _neighbours(self, rows: Matrix) -> tuple[Array, Array]:
        given = as_fitted(self, "weights")
        uniform = isinstance(given, str) and given == "uniform"
        measured = not uniform or not self.kernel_.given
        squares, columns = self._nearest(rows, as_fitted(self, "n_neighbors"), measured=measured)
        if uniform:
            return columns, np.ones(columns.shape)
        weights = neighbour_weights(lengths(squares), given)
        if not (weights.sum(axis=1) > 0).all():
            raise ValueError("weights gave all neighbours of a row the weight 0. Return at least one positive weight.")
        return columns, weights

    def _describe(self, shape: tuple[int, int], clock: Clock) -> FitSummary:
        # Through the tree itself: it is made at fit, not when the first row is asked about.
        solver = "tree" if self._tree is not None else "plain" if self._plain else "tiles"
        kernel, k, seconds = str(self.kernel_), self.n_neighbors, clock.seconds
        write = SummaryBuilder(self, shape, kernel, f"{k} neighbour{'s' * (k > 1)}", kernel=kernel, n_neighbors=k)
        write.line("route", SEARCH_WAYS[solver], solver=solver)
        return write.line("work", f"{duration(seconds)} to keep the rows", seconds=seconds).done()


def neighbour_weights(distances: Array, weights: str | Callable[[Array], Any]) -> Array:
    """Weights of neighbours from their distances, m x k."""
    if callable(weights):
        returned = weights(distances)
        try:
            given = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"weights={weights!r} returned {type(returned).__name__}, not numbers.") from None
        if given.shape != distances.shape or not np.isfinite(given).all() or (given < 0).any():
            raise ValueError(
                f"weights={weights!r} must return finite numbers of 0 or more in the shape of the distances, "
                f"{distances.shape}; it returned shape {given.shape}."
            )
        return given
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1 / distances
    at_once = np.isinf(inverse)
    return np.where(at_once.any(axis=1, keepdims=True), at_once, inverse)


class KernelKNNClassifier(ClassifierMixin, KernelNeighbours):
    r"""Class by a vote of the nearest training rows in the feature space of a kernel.

    Definition
    ----------
    .. math:: \|\phi(x) - \phi(x_i)\|^2 = k(x, x) - 2 k(x, x_i) + k(x_i, x_i)

    Of equally near rows the one with the lowest number is nearer; of classes with equal votes the first in
    ``classes_`` wins. With one class all rows are of it. Squared distances of an indefinite kernel may be negative;
    they rank as they are, read as distance 0, and are counted in a warning.

    Parameters
    ----------
    n_neighbors : int
        How many rows vote.
    kernel : str, Kernel or callable
        Text such as ``"rbf(sigma=2)"``, an object of :mod:`gramian.kernels`, ``"precomputed"``, or a function of two
        blocks of rows. ``"rbf"`` is the Gaussian kernel with gamma = 1 / (d var X).
    weights : {"uniform", "distance"} or callable
        Votes count alike; by the inverse of the distance (rows at distance 0 then decide alone); or by a function of
        the distances (m, k).
    landmarks : int, Landmarks, RandomFeatures or None
        Rows that stand for all: distances to training rows projected on their span. See :class:`gramian.Landmarks`.
        Mapped rows are kept, n m numbers. None is exact.

    Attributes
    ----------
    classes_ : (classes,) array
    kernel_ : Kernel
        The kernel with its parameters resolved.
    summary_ : FitSummary

    Cost
    ----
    n kernel values for each new row, none of them kept. A kernel that falls with the Euclidean distance has the plain
    neighbours: they are searched in single precision and confirmed in double precision, or found by a tree if there
    are at most 5 columns.

    References
    ----------
    Yu, Ji, Zhang, Kernel nearest-neighbor algorithm, Neural Processing Letters 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import KernelKNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> round(KernelKNNClassifier(5, kernel="polynomial(degree=2)").fit(X[::2], y[::2]).score(X[1::2], y[1::2]), 2)
    0.99
    """

    @planned_fit
    def fit(self, X: Table, y: ArrayLike) -> Self:
        """Keep the training rows X (n, d) and their labels y (n,)."""
        n = self._keep(X, Clock())
        self.classes_, self._codes = check_labels(y, n)
        return self

    @by_blocks
    def predict(self, X: Table) -> Array:
        """Return the class of each row."""
        votes = self._votes(X)
        return self.classes_[votes.argmax(axis=1)]

    @by_blocks
    def predict_proba(self, X: Table) -> Array:
        """Return the share of the votes for each class, m x classes."""
        votes = self._votes(X)
        return votes / votes.sum(axis=1, keepdims=True)

    def _votes(self, X: Table) -> Array:
        """Votes for each class, m x classes; those that differ by rounding of the distances only are equal."""
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        votes, sizes = self._sized(X)
        given = as_fitted(self, "weights")
        uniform = isinstance(given, str) and given == "uniform"  # whole numbers, which do not round
        return votes if uniform else resolve_ties(X, (votes, sizes), self._sized)

    def _sized(self, X: Matrix) -> Sized:
        columns, weights = self._neighbours(X)
        m, classes = len(columns), len(self.classes_)
        place = np.arange(m)[:, None] * classes + self._codes[columns]
        return np.bincount(place.ravel(), weights.ravel(), m * classes).reshape(m, classes), weights.sum(axis=1)


class KernelKNNRegressor(RegressorMixin, KernelNeighbours):
    r"""Mean target of the nearest training rows in the feature space of a kernel.

    Definition
    ----------
    .. math:: \hat y(x) = \sum_{i \in N(x)} w_i y_i \Big/ \sum_{i \in N(x)} w_i, \qquad
              \|\phi(x) - \phi(x_i)\|^2 = k(x, x) - 2 k(x, x_i) + k(x_i, x_i)

    Neighbours, ties and indefinite kernels as in :class:`KernelKNNClassifier`.

    Parameters
    ----------
    n_neighbors : int
        How many rows count.
    kernel : str, Kernel or callable
        As for :class:`KernelKNNClassifier`.
    weights : {"uniform", "distance"} or callable
        Weights :math:`w_i`: all 1; the inverse of the distance (rows at distance 0 then decide alone); or a function
        of the distances (m, k).
    landmarks : int, Landmarks, RandomFeatures or None
        As for :class:`KernelKNNClassifier`.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel with its parameters resolved.
    summary_ : FitSummary

    Cost
    ----
    As :class:`KernelKNNClassifier`; several targets share the search.

    References
    ----------
    Yu, Ji, Zhang, Kernel nearest-neighbor algorithm, Neural Processing Letters 2002.

    Examples
    --------
    >>> from gramian import KernelKNNRegressor
    >>> KernelKNNRegressor(2, kernel="rbf(sigma=1)").fit([[0.0], [1.0], [5.0]], [0.0, 1.0, 5.0]).predict([[0.6]])
    array([0.5])
    """

    @planned_fit
    def fit(self, X: Table, y: ArrayLike) -> Self:
        """Keep the training rows X (n, d) and their targets y (n,) or (n, q)."""
        given = check_targets(y, self._keep(X, Clock()))
        self._targets = Targets(given.values.copy(), given.single)  # the caller may change his
        return self

    @by_blocks
    def predict(self, X: Table) -> Array:
        """Return the weighted mean of the neighbours' targets."""
        check_is_fitted(self)
        columns, weights = self._neighbours(validate(self, X, reset=False))
        targets: Targets = self._targets
        return targets.shaped(
            np.einsum("mk,mkq->mq", weights / weights.sum(axis=1, keepdims=True), targets.values[columns])
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
