"""Kernel k-means: the estimator, its summary and its warnings."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramian.config import one_blas_thread
from gramian.engine.product import to_dense
from gramian.estimators.base import BaseEstimator, all_or_nothing, by_blocks, planned_fit
from gramian.estimators.kernel_checks import check_count, lengths
from gramian.estimators.kernel_kmeans_stream import Course, SeenMeans, by_passes, by_steps, one_pass
from gramian.estimators.kernel_rows import (
    KEPT_FEATURES,
    KernelArgument,
    KernelInput,
    KernelStream,
    add_first_rows,
    has_landmarks,
    next_rows,
)
from gramian.estimators.labels import NamedComponents, numbered
from gramian.estimators.landmarks import (
    LandmarksArgument,
    add_low_rank,
    checked_trace_error,
    inner_products,
    lost_trace,
)
from gramian.estimators.plans_kernel import plan_kernel_kmeans
from gramian.estimators.result_tables import ResultTable
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.validation import (
    Checked,
    Table,
    check_choice,
    check_weights,
    is_stream,
    random_generator,
    validate,
)
from gramian.estimators.warnings import ConvergenceWarning, IndefiniteKernelWarning, RankWarning, warn
from gramian.kernels.base import is_number
from gramian.operators.remote import diagonal_of
from gramian.operators.similarities import FeatureMeans, Similarities, feature_means, natural_order
from gramian.results import Array, FitSummary, Matrix, Seed
from gramian.solvers.clustering import Clusters, lloyd, relaxed, scatter, seed, shares
from gramian.solvers.lloyd_stream import batches


class KernelKMeans(KernelInput, NamedComponents, TransformerMixin, ClusterMixin, BaseEstimator):
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

    _plan = plan_kernel_kmeans
    _component_prefix = "Cluster"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: KernelArgument = "rbf",
        n_init: int = 10,
        init: str | ArrayLike = "k-means++",
        landmarks: LandmarksArgument = None,
        max_iter: int = 300,
        tol: float = 0.0,
        batch_size: int | None = None,
        random_state: Seed = None,
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

    @planned_fit
    def fit(self, X: Table, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            Rows; the Gram matrix (n, n) if the kernel is precomputed. A stream needs ``landmarks``. Its first rows are
            clustered in memory; then, if it can be read again and ``batch_size`` is None, Lloyd's iteration goes on
            over all rows, a pass for each step. Otherwise each block (each ``batch_size`` rows) moves the means once,
            as in :meth:`partial_fit`.
        y : ignored
        sample_weight : (n,) array, optional
            Frequencies: weighting a row equals repeating it.
        """
        clock = Clock()
        if is_stream(X):
            stream = KernelStream(self, X, None, sample_weight)
            seen = self._start(stream.first[0], clock)
            if self.batch_size is None and stream.again:
                return self._keep_means(*by_passes(seen, stream, tol=float(self.tol), max_iter=self.max_iter), clock)
            return self._keep_means(*by_steps(seen, stream, self.batch_size), clock)
        found = self._fit_rows(X, sample_weight, clock)
        if found is not None and found.features.size <= KEPT_FEATURES:
            self.seen_ = found  # so that partial_fit may go on from here
        return self

    @available_if(has_landmarks)
    @all_or_nothing
    def partial_fit(self, X: Table, y: object = None) -> Self:
        """Let more rows move the means, once.

        The first call clusters its rows as :meth:`fit` does, and chooses the landmarks and a width such as "scale"
        among them: give it a good sample. Each later one counts its rows for the nearest means, and moves those to the
        mean of all rows that were counted for them so far. Rows are not kept and never counted again, so that
        ``inertia_``, the sum of the squared distances at which rows were counted, is more than that of a fit to all of
        them; ``labels_`` are not known.
        """
        clock, rows = Clock(), next_rows(self, X)
        if not hasattr(self, "seen_"):
            seen = self._start(rows, clock)
            return self._keep_means(seen, one_pass(seen, 1), clock)
        seen = self.seen_.after(rows)
        return self._keep_means(seen, one_pass(seen, self.n_iter_ + 1), clock)

    def _start(self, X: Matrix, clock: Clock) -> SeenMeans:
        """Cluster the first rows, which have been checked."""
        if not isinstance(self.init, str):
            raise ValueError("init holds labels, one for each of the rows in memory. With a stream use 'k-means++'.")
        seen = self._fit_rows(X.view(Checked) if isinstance(X, np.ndarray) else X, None, clock)
        assert seen is not None  # without landmarks a stream was refused
        return seen

    def _fit_rows(self, X: Table, sample_weight: ArrayLike | None, clock: Clock) -> SeenMeans | None:
        """Cluster rows in memory; return what to go on from, if there are landmarks."""
        kernel, table, given = self._read(X, sample_weight)
        n = table.shape[0]
        weights, unit = shares(np.ones(n) if given is None else given)
        check_clustering(self, n, int((weights > 0).sum()))
        origin, rows, features, inner = inner_products(self.landmarks, kernel, table, given, unit)
        own = inner.diagonal()
        with one_blas_thread():  # products run on threads of their own, which those of BLAS would disturb
            found = self._cluster(inner, natural_order(kernel, rows), weights)
        self.kernel_, self.labels_, self.n_iter_ = kernel, found.labels.astype(np.int32), found.steps
        lost, self.trace_error_, seen = 0.0, None, None
        if features is None:
            self.means_ = feature_means(kernel, rows, found.coefficients, found.squares, origin)
        else:
            sums = features.sums(rows, found.coefficients)
            self.means_ = FeatureMeans(features.kernel, features.anchors, features.lift(sums), found.squares, origin)
            lost, self.trace_error_ = lost_trace(self.landmarks, features, rows, own, given)
        self.inertia_path_ = unit * np.array(found.path) + lost
        self.inertia_ = float(self.inertia_path_[-1])
        if features is not None:
            masses, kept = np.bincount(found.labels, unit * weights), unit * float(weights @ own)
            trace = unit * float(weights @ diagonal_of(features.kernel, rows))
            seen = SeenMeans(kernel, features, origin, sums.T, masses, self.inertia_, trace, kept, n, n)
        way = "Lloyd" if self.batch_size is None else "mini-batches"
        sizes = np.bincount(self.labels_, minlength=len(found.squares))
        summary = _summary(self, table.shape, clock, found, sizes, way=way, route=inner.route)
        self.summary_ = add_low_rank(summary, self.landmarks, features, self.trace_error_)
        _warn_of(self, found, len(found.squares))
        return seen

    def _keep_means(self, seen: SeenMeans, course: Course, clock: Clock) -> Self:
        self.seen_, self.kernel_, self.means_, self.n_iter_ = seen, seen.kernel, seen.feature_means(), course.steps
        self.trace_error_ = checked_trace_error(self.landmarks, seen.features, seen.trace_error)
        self.inertia_, self.inertia_path_ = seen.inertia, np.array(course.path)
        self.__dict__.pop("labels_", None)
        shape = seen.n, self.n_features_in_
        summary = _summary(self, shape, clock, course, seen.masses, way=course.way, route=course.route)
        self.summary_ = add_low_rank(summary, self.landmarks, seen.features, self.trace_error_)
        self.summary_ = add_first_rows(self, seen.first, seen.n, "the start")
        _warn_of(self, course, len(seen.masses))
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
    def predict(self, X: Table) -> Array:
        """Return the nearest cluster of each row; of equally near ones the first.

        Parameters
        ----------
        X : (m, d) array, data frame or sparse matrix
            New rows; their similarities to the training rows (m, n) if the kernel is precomputed.
        """
        check_is_fitted(self)
        return self.means_.nearness(validate(self, X, reset=False)).argmax(axis=1).astype(np.int32)

    def fit_predict(self, X: Table, y: object = None, sample_weight: ArrayLike | None = None) -> Array:
        """Find the clusters and return the labels of the training rows."""
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    @by_blocks
    def transform(self, X: Table) -> Array:
        """Return the distances of rows to the means in feature space, m x clusters."""
        check_is_fitted(self)
        rows = validate(self, X, reset=False)
        return lengths(self.means_.squared_distances(rows)).astype(rows.dtype, copy=False)

    def fit_transform(self, X: Table, y: object = None, sample_weight: ArrayLike | None = None) -> Array:
        """Find the clusters and return the distances of the training rows to their means."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Table, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the sum of squared distances of rows to their nearest means."""
        check_is_fitted(self)
        rows = validate(self, X, reset=False)
        weights = check_weights(sample_weight, rows.shape[0], variance=False)
        nearest = self.means_.squared_distances(rows).min(axis=1)
        return -float(nearest.sum() if weights is None else weights @ nearest)

    def _tables(self, make: TableMaker) -> Makers:
        found: Makers = {"clusters": lambda: self._sizes(make)}
        if hasattr(self, "labels_"):
            found["labels"] = lambda: self._labelled("labels", numbered("", len(self.labels_)), self.labels_)
        if make.has_rows:
            found["distances"] = lambda: make.by_rows(
                "distances", np.asarray(self.transform(make.rows), dtype=np.float64)
            )
            found["predictions"] = lambda: self._labelled("predictions", make.row_names, self.predict(make.rows))
            if not self.kernel_.given:
                found["means"] = lambda: self._means_of_columns(make)
        return super()._tables(make) | found

    def _sizes(self, make: TableMaker) -> ResultTable:
        sizes = np.asarray(self.summary_.facts["sizes"])
        return replace(make.by_components("clusters", {"rows": sizes, "share": sizes / sizes.sum()}), of="cluster")

    def _means_of_columns(self, make: TableMaker) -> ResultTable:
        """Means of the columns in each cluster, those first whose variance lies between clusters more than within."""
        X = to_dense(make.X).astype(np.float64)
        members = np.equal.outer(np.arange(self._n_features_out), self.predict(make.rows)).astype(np.float64)
        sizes = members.sum(axis=1)[:, None]
        means = np.divide(members @ X, sizes, out=np.full((len(sizes), X.shape[1]), np.nan), where=sizes > 0)
        total = len(X) * X.var(axis=0)
        between = (sizes * np.nan_to_num(means - X.mean(axis=0)) ** 2).sum(axis=0)
        order = np.argsort(-np.divide(between, total, out=np.zeros_like(total), where=total > 0), kind="stable")
        found = make.by_components("means", {make.columns[at]: means[:, at] for at in order})
        return replace(found, of="cluster", note="those columns first that differ most between clusters")

    def _labelled(self, name: str, rows: tuple[str, ...], labels: Array) -> ResultTable:
        names = np.array(numbered(self._component_prefix, self._n_features_out), dtype=object)
        return ResultTable(name, "row", rows, {"cluster": names[labels]})

    @property
    def _n_features_out(self) -> int:
        return self.means_.size

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


#: Why mini-batches may find fewer clusters than there are places, and what to do about it.
_SAMPLED = "the sample that gives the start takes", " Use a larger batch_size if the rows take more."


def _summary(
    model: KernelKMeans,
    shape: tuple[int, int],
    clock: Clock,
    found: Clusters | Course,
    sizes: Array,
    *,
    way: str,
    route: str,
) -> FitSummary:
    kernel, k, negative = str(model.kernel_), len(sizes), found.n_negative
    write = SummaryBuilder(model, shape, kernel, f"{k} cluster{'s' * (k > 1)}", kernel=kernel, n_clusters=k)
    write.line("route", f"{way} ({route})", solver=way)
    write.add(steps=found.steps, work=found.work).work(clock, f"{found.steps} steps; {found.work}")
    write.line("inertia", f"{model.inertia_:.10g}", inertia=model.inertia_, sizes=sizes)
    word = ("certified" if way == "Lloyd" else "ended") if found.end else "stopped"
    write.line(word, found.end or f"max_iter={model.max_iter} reached", converged=bool(found.end))
    return write.line("note", _negative(negative) if negative else None, n_negative=negative).done()


def _warn_of(model: KernelKMeans, found: Clusters | Course, k: int) -> None:
    if k < model.n_clusters:
        who, remedy = ("the rows take", "") if model.batch_size is None else _SAMPLED
        warn(
            f"n_clusters={model.n_clusters}, but {who} only {k} different places in feature space: "
            f"{k} clusters were kept.{remedy}",
            RankWarning,
        )
    if not found.end:
        what, remedy = ("Lloyd's iteration", "it, or tol") if model.batch_size is None else ("the batches", "it")
        warn(f"{what} stopped at max_iter={model.max_iter}; raise {remedy}.", ConvergenceWarning)
    if negative := found.n_negative:
        warn(_negative(negative), IndefiniteKernelWarning)


def _negative(count: int) -> str:
    return (
        f"the kernel is indefinite: {count:,} squared distances to means are negative; they rank as they are and read "
        "as distance 0, and the objective need not fall."
    )


def check_clustering(model: KernelKMeans, n: int, present: int) -> None:
    """Refuse parameters of k-means that do not go together, or not with n rows, so many of them of positive weight."""
    check_count("n_clusters", model.n_clusters)
    check_count("n_init", model.n_init)
    check_count("max_iter", model.max_iter)
    if model.n_clusters > n:
        raise ValueError(
            f"n_clusters={model.n_clusters} is more than the number of rows, n_samples={n}. "
            f"Use n_clusters={n} or fewer."
        )
    if model.n_clusters > present:
        raise ValueError(
            f"n_clusters={model.n_clusters} is more than the rows of positive sample_weight, {present}. "
            f"Use n_clusters={present} or fewer."
        )
    if not is_number(model.tol) or not 0 <= model.tol < 1:
        raise ValueError(f"tol={model.tol!r} must be a number from 0 up to 1.")
    if isinstance(model.init, str):
        check_choice("init", model.init, ("k-means++", "random"))
    if model.batch_size is not None:
        check_count("batch_size", model.batch_size)
        if model.init != "k-means++" if isinstance(model.init, str) else True:
            raise ValueError("batch_size starts from a sample of its own. Use init='k-means++', or batch_size=None.")


def check_start(init: ArrayLike, k: int, weights: Array) -> Array:
    """Return labels to start from, one for each row, none of the clusters empty."""
    labels = np.asarray(init)
    if labels.shape != weights.shape:
        raise ValueError(
            f"init has shape {labels.shape}; labels, one for each of the {len(weights)} rows, are expected."
        )
    if labels.dtype.kind not in "iu":
        raise TypeError(f"init holds {labels.dtype}; labels are whole numbers from 0 to {k - 1}.")
    if labels.min() < 0 or labels.max() >= k:
        raise ValueError(f"init has labels from {labels.min()} to {labels.max()}; use 0 to {k - 1} for {k} clusters.")
    empty = np.flatnonzero(np.bincount(labels, weights, k) == 0)
    if len(empty):
        raise ValueError(f"init has no row of positive weight in cluster {empty[0]}; each of the {k} needs one.")
    return labels.astype(np.intp)
