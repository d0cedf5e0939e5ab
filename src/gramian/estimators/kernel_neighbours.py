"""Nearest neighbours in the feature space of a kernel: a classifier and a regressor."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base import Clock
from gramian.estimators.base_estimator import planned_fit
from gramian.estimators.neighbour_search import KernelNeighbours
from gramian.estimators.streams import by_blocks
from gramian.estimators.targets import Targets, check_labels, check_targets
from gramian.estimators.validation import Checked, validate
from gramian.operators.ties import Sized, settled
from gramian.results import Array


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

    def __init__(
        self, n_neighbors: int = 5, *, kernel: Any = "rbf", weights: Any = "uniform", landmarks: Any = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.weights = weights
        self.landmarks = landmarks

    @planned_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training rows X (n, d) and their labels y (n,)."""
        n = self._keep(X, Clock())
        self.classes_, self._codes = check_labels(y, n)
        return self

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Return the class of each row."""
        votes = self._votes(X)
        return self.classes_[votes.argmax(axis=1)]

    @by_blocks
    def predict_proba(self, X: Any) -> Array:
        """Return the share of the votes for each class, m x classes."""
        votes = self._votes(X)
        return votes / votes.sum(axis=1, keepdims=True)

    def _votes(self, X: Any) -> Array:
        """Votes for each class, m x classes; those that differ by rounding of the distances only are equal."""
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        votes, sizes = self._sized(X)
        uniform = isinstance(self.weights, str) and self.weights == "uniform"  # whole numbers, which do not round
        return votes if uniform else settled(X, (votes, sizes), self._sized)

    def _sized(self, X: Any) -> Sized:
        columns, weights = self._weigh(X if sp.issparse(X) else X.view(Checked))
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

    def __init__(
        self, n_neighbors: int = 5, *, kernel: Any = "rbf", weights: Any = "uniform", landmarks: Any = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.weights = weights
        self.landmarks = landmarks

    @planned_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Keep the training rows X (n, d) and their targets y (n,) or (n, q)."""
        given = check_targets(y, self._keep(X, Clock()))
        self._targets = Targets(given.values.copy(), given.single)  # the caller may change his
        return self

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Return the weighted mean of the neighbours' targets."""
        columns, weights = self._weigh(X)
        targets: Targets = self._targets
        return targets.shaped(
            np.einsum("mk,mkq->mq", weights / weights.sum(axis=1, keepdims=True), targets.values[columns])
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
