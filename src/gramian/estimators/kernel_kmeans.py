"""Kernel k-means."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.config import one_blas_thread
from gramian.estimators.base import Clock, random_generator
from gramian.estimators.distances import (
    check_count,
    check_similarities,
    check_start,
    lengths,
    warn_of_underflow,
)
from gramian.estimators.kernel_kmeans_text import summarise, warn_of
from gramian.estimators.low_rank import add_low_rank, left_of, low_rank
from gramian.estimators.streams import by_blocks
from gramian.estimators.targets import KernelInput
from gramian.estimators.validation import all_or_nothing, check_choice, check_weights, validate
from gramian.kernels.base import is_number
from gramian.operators.mapped import mapped_means, mapped_similarities
from gramian.operators.means import best_origin, feature_means, moved
from gramian.operators.similarities import Similarities, natural_order, similarities
from gramian.results import Array
from gramian.solvers.clustering import Clusters, lloyd, shares
from gramian.solvers.minibatch import batches
from gramian.solvers.seeding import relaxed, scatter, seed


class KernelKMeans(KernelInput, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    r"""Clusters around means in the feature space of a kernel.

    Definition
    ----------
    .. math:: \min_{\text{labels}} \sum_i w_i \|\phi(x_i) - m_{l_i}\|^2, \qquad
              \|\phi(x) - m_k\|^2 = k(x, x) - \frac{2}{n_k} \sum_{i \in k} w_i k(x, x_i)
              + \frac{1}{n_k^2} \sum_{i, j \in k} w_i w_j k(x_i, x_j)

    by Lloyd's iteration with implicit means, until no row is nearer to another mean. For a positive kernel the
    objective falls at every step. A row equally near to two means stays where it is. A cluster that loses its last row
    gets the row that is farthest from its mean, which lowers the objective; clusters stay empty, and are dropped with
    a :class:`~gramian.RankWarning`, only if every row sits on its mean: there are fewer distinct rows than clusters.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    kernel : str, Kernel or callable
        Text such as ``"rbf(sigma=2)"``, an object of :mod:`gramian.kernels`, ``"precomputed"``, or a function of two
        blocks of rows. ``"rbf"`` is the Gaussian kernel with gamma = 1 / (d var X).
    n_init : int
        Starts; the best end counts. All starts share the products. Several k-means++ starts have one more beside them,
        from the leading components of the kernel matrix (of a sample). Labels as ``init`` are one start.
    init : {"k-means++", "random"} or (n,) array
        Seeds drawn apart from each other in feature space, a random assignment of the rows, or labels from 0 on.
    landmarks : int, Landmarks, RandomFeatures or None
        Rows that stand for all: k-means of the features of low rank that they give. See
        :class:`gramian.Landmarks`. None is exact.
    max_iter : int
        Steps at the most; with ``batch_size`` the number of batches.
    tol : float
        Relative gain of the objective at which to stop; 0 goes on until no row moves.
    batch_size : int, optional
        Rows of a batch. Each batch moves the means to the mean of all rows assigned to them so far, and one pass at the
        end labels all rows: for tables of which all pairs are too many. The objective then need not fall at every step.
    random_state : int, Generator, RandomState or None
        Seed of the starts. None is a fixed seed. With "k-means++" the clusters do not depend on the order of the rows.

    Attributes
    ----------
    labels_ : (n,) array
        Cluster of each row.
    inertia_ : float
        The objective, in double precision.
    inertia_path_ : (steps,) array
        The objective at each step of the best start (with batches: at the end).
    n_iter_ : int
        Steps of the best start.
    kernel_ : Kernel
        The kernel with its parameters resolved.
    trace_error_ : float or None
        What landmarks leave of the trace of the kernel matrix, as a share of it.
    summary_ : FitSummary
        What was done; prints as a short table.

    Cost
    ----
    One product of the Gram matrix with ``n_clusters n_init`` columns, then products with the columns of the rows that
    move; the matrix is not formed if it is large. Batches of b rows: ``t b^2`` kernel values for step t, and a last
    pass of n times the rows drawn. The linear kernel needs no pairs: ``n d n_clusters`` a step; nor do m landmarks,
    with m in the place of d, whose mapped rows are kept if they fit a quarter of the memory budget.

    References
    ----------
    Dhillon, Guan, Kulis, Kernel k-means, spectral clustering and normalized cuts, KDD 2004.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from gramian import KernelKMeans
    >>> X, y = make_circles(200, factor=0.2, noise=0.03, random_state=0)
    >>> labels = KernelKMeans(2, kernel="rbf(sigma=0.4)").fit_predict(X)
    >>> bool((labels == y).all() or (labels != y).all())
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "rbf",
        n_init: int = 10,
        init: Any = "k-means++",
        landmarks: Any = None,
        max_iter: int = 300,
        tol: float = 0.0,
        batch_size: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.n_init = n_init
        self.init = init
        self.landmarks = landmarks
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : (n, d) array, data frame or sparse matrix
            Rows; the Gram matrix (n, n) if the kernel is precomputed.
        y : ignored
        sample_weight : (n,) array, optional
            Frequencies: weighting a row equals repeating it.

        Returns
        -------
        self
        """
        clock = Clock()
        kernel, X, given = self._read_weighted(X, sample_weight)
        weights, unit = shares(np.ones(X.shape[0]) if given is None else given)
        self._check(X.shape[0], int((weights > 0).sum()))
        origin = best_origin(kernel, X, given)
        rows = moved(X, origin)
        features = low_rank(self.landmarks, kernel, rows, given)
        inner = similarities(kernel, rows) if features is None else mapped_similarities(features, rows)
        check_similarities(kernel, inner.diagonal(), total=unit)
        warn_of_underflow(kernel, X)
        with one_blas_thread():  # products run on threads of their own, which those of BLAS would disturb
            found = self._cluster(inner, natural_order(kernel, rows), weights)
        self.kernel_, self.labels_, self.n_iter_ = kernel, found.labels.astype(np.int32), found.steps
        if features is None:
            self.means_ = feature_means(kernel, rows, found.coefficients, found.squares, origin)
            lost, self.trace_error_ = 0.0, None
        else:
            self.means_ = mapped_means(features, rows, found.coefficients, found.squares, origin)
            lost, self.trace_error_ = left_of(self.landmarks, features, rows, inner.diagonal(), given)
        self.inertia_path_ = unit * np.array(found.path) + lost
        self.inertia_ = float(self.inertia_path_[-1])
        summary = summarise(self, X.shape, clock, found, inner.route)
        self.summary_ = add_low_rank(summary, self.landmarks, features, self.trace_error_)
        warn_of(self, found)
        return self

    def _cluster(self, inner: Similarities, order: Array, weights: Array) -> Clusters:
        rng, k = random_generator(self.random_state), int(self.n_clusters)
        if self.batch_size is not None:
            size = int(self.batch_size)
            return batches(inner, k, self.n_init, weights, rng, order, size=size, max_iter=self.max_iter)
        tol, max_iter = float(self.tol), self.max_iter
        if not isinstance(self.init, str):  # given labels keep their meaning
            return lloyd(inner, [check_start(self.init, k, weights)], k, weights, tol=tol, max_iter=max_iter)
        if self.init == "random":
            starts = scatter(inner.n, k, self.n_init, rng)
        else:
            starts = seed(inner, k, self.n_init, weights, rng, order)
            starts += relaxed(inner, k, weights, rng, order) if self.n_init > 1 else []
        return lloyd(inner, starts, k, weights, order=order, tol=tol, max_iter=max_iter)

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Return the nearest cluster of each row; of equally near ones the first.

        Parameters
        ----------
        X : (m, d) array, data frame or sparse matrix
            New rows; their similarities to the training rows (m, n) if the kernel is precomputed.
        """
        check_is_fitted(self)
        return self.means_.nearness(validate(self, X, reset=False)).argmax(axis=1).astype(np.int32)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the clusters and return the labels of the training rows."""
        return self.fit(X, sample_weight=sample_weight).labels_

    @by_blocks
    def transform(self, X: Any) -> Array:
        """Return the distances of rows to the means in feature space, m x clusters."""
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        return lengths(self.means_.squared_distances(X)).astype(X.dtype, copy=False)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the clusters and return the distances of the training rows to their means."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the sum of squared distances of rows to their nearest means."""
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        weights = check_weights(sample_weight, X.shape[0], total=0.0)
        nearest = self.means_.squared_distances(X).min(axis=1)
        return -float(nearest.sum() if weights is None else weights @ nearest)

    @property
    def _n_features_out(self) -> int:
        return self.means_.size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check(self, n: int, present: int) -> None:
        check_count("n_clusters", self.n_clusters)
        check_count("n_init", self.n_init)
        check_count("max_iter", self.max_iter)
        if self.n_clusters > n:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the number of rows, n_samples={n}. "
                f"Use n_clusters={n} or fewer."
            )
        if self.n_clusters > present:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the rows of positive sample_weight, {present}. "
                f"Use n_clusters={present} or fewer."
            )
        if not is_number(self.tol) or not 0 <= self.tol < 1:
            raise ValueError(f"tol={self.tol!r} must be a number from 0 up to 1.")
        if isinstance(self.init, str):
            check_choice("init", self.init, ("k-means++", "random"))
        if self.batch_size is not None:
            check_count("batch_size", self.batch_size)
            if self.init != "k-means++" if isinstance(self.init, str) else True:
                raise ValueError(
                    "batch_size starts from a sample of its own. Use init='k-means++', or batch_size=None."
                )
