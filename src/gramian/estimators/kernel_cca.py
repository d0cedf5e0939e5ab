"""Kernel canonical correlation analysis: the estimator, its summary and its warnings."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base import BaseEstimator, all_or_nothing, by_blocks, planned_fit
from gramian.estimators.cca import check_ridge, correlation_lines, shown
from gramian.estimators.kernel_cca_pairs import PAIR_SOLVERS, ExactViews, KernelPairs, LowRankViews, Search, partition
from gramian.estimators.kernel_cca_rows import KernelViews, more_pairs, seen_pairs, told_held
from gramian.estimators.kernel_rows import KernelArgument, Seen, has_landmarks, keep_seen, landmarks_of, next_rows
from gramian.estimators.labels import NamedComponents
from gramian.estimators.landmarks import LandmarksArgument
from gramian.estimators.plans_kernel import plan_kernel_cca
from gramian.estimators.result_tables import ResultTable
from gramian.estimators.summary import Clock, SummaryBuilder, indefinite
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.validation import (
    Table,
    check_choice,
    check_components,
    from_dask,
    random_generator,
    validate,
)
from gramian.estimators.warnings import ConvergenceWarning, GramianWarning, IndefiniteKernelWarning, RankWarning, warn
from gramian.kernels import Kernel
from gramian.operators.centering import moved
from gramian.operators.remote import Remote, divided
from gramian.results import Array, FitSummary, Seed, at_most


class KernelCCA(KernelViews, NamedComponents, TransformerMixin, BaseEstimator):
    r"""Pairs of functions, one of each of two views of the same rows, that correlate most.

    Definition
    ----------
    .. math:: \max_{f, g} \mathrm{cov}(f(x), g(y)) \quad \text{subject to} \quad
              \mathrm{var} f(x) + \text{ridge}\,\|f\|^2 = \mathrm{var}\, g(y) + \text{ridge}\,\|g\|^2 = 1

    over the feature spaces of two kernels, with moments of divisor n - 1: CCA of the features. For the linear kernel it
    is :class:`CCA`. With :math:`f = \sum_i a_i k(x_i, \cdot)`, centred, the constraint reads
    :math:`a'(K_c^2/(n-1) + \text{ridge}\,K_c)a = 1`.

    Parameters
    ----------
    n_components : int or None
        Pairs. None takes as many as the smaller rank, a dense problem; fewer come out, with a warning, if there are no
        more.
    ridge : float or pair of floats
        Weight of the squared norms (or of that of f and that of g). A feature space has about as many dimensions as
        there are rows, and without a ridge or a ``rank`` any two views correlate perfectly in it: 0 is allowed, and
        warned of. The default suits kernels with values of about 1, such as "rbf", whose variances add up to at most
        1: components with less than a hundredth of that are held back. Compare ``held_out_correlations_`` of several
        ridges. (A shrinkage c elsewhere, ``(1 - c) K^2/(n-1) + c K``, is our ridge = c/(1-c).)
    scale : bool
        Divide columns of both views by their standard deviations first.
    kernel : str, Kernel or callable
        Of X: text such as ``"rbf(sigma=2)"``, an object of :mod:`gramian.kernels`, ``"precomputed"``, or a function of
        two blocks of rows.
    kernel_y : str, Kernel, callable or None
        Of Y. None is the same as ``kernel``, with a width such as "scale" found from Y.
    landmarks : int, Landmarks, RandomFeatures, pair of these, or None
        Rows that stand for all (or one choice for each view): pairs of the features of low rank that they give, in one
        pass over the rows. See :class:`gramian.Landmarks`. None is exact.
    rank : int or None
        Search only the span of that many leading components of each space. None searches all.
    solver : {"auto", "dense", "krylov"}
        "dense" takes bases of both spaces from eigendecompositions; "krylov" finds leading pairs by products with the
        kernel matrices, which need not fit into memory. With ``rank`` it says how the components are found.
    folds : int or None
        Parts in which rows are held out in turn for ``held_out_correlations_``; None leaves that out. Beyond 5,000 rows
        only one part is held out, once.
    random_state : int, Generator, RandomState or None
        Seed of the folds and of iterative solvers. None is a fixed seed.

    Attributes
    ----------
    correlations_ : (K,) array
        The values of the maximum above.
    score_correlations_ : (K,) array
        Plain correlations of the scores of the training rows.
    held_out_correlations_ : (min(K, 10),) array or None
        Plain correlations of the scores of rows that were held out, each from a fit to the others: what a new sample
        would show. None if ``folds`` is, or with fewer rows than it takes.
    kernel_, kernel_y_ : Kernel
        The kernels with their parameters resolved.
    trace_error_ : pair of floats or None
        What landmarks leave of the traces of both kernel matrices, as shares of them.
    x_projection_, y_projection_
        Maps of rows to scores, centred with the training means.
    summary_ : FitSummary
        What was done, and the certificate; prints as a short table.

    Cost
    ----
    By products: some 10 to 20 times n^2 kernel values of each view, and no matrix. Dense: about 50 n^3 multiplications,
    eight matrices of n x n. Folds cost about as much again as three fits; beyond 5,000 rows as one. With m
    landmarks: n m kernel values of each view, up to 8 n m^2 multiplications, and no second look at rows for the folds.

    References
    ----------
    Hardoon, Szedmak, Shawe-Taylor, Canonical correlation analysis: an overview with application to learning methods,
    Neural Computation 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import KernelCCA
    >>> angle = np.linspace(0, 6, 100)
    >>> X, Y = np.column_stack([np.cos(angle), np.sin(angle)]), (angle**2)[:, None]
    >>> bool(KernelCCA(1, ridge=0.01).fit(X, Y).held_out_correlations_[0] > 0.99)
    True
    """

    _plan = plan_kernel_cca
    _component_prefix = "CC"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        ridge: float | tuple[float, float] = 0.01,
        scale: bool = False,
        kernel: KernelArgument = "rbf",
        kernel_y: KernelArgument | None = None,
        landmarks: LandmarksArgument | tuple[LandmarksArgument, LandmarksArgument] = None,
        rank: int | None = None,
        solver: str = "auto",
        folds: int | None = 5,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.scale = scale
        self.kernel = kernel
        self.kernel_y = kernel_y
        self.landmarks = landmarks
        self.rank = rank
        self.solver = solver
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Table, y: Table | None = None) -> Self:
        """Find the pairs.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            One view; its Gram matrix (n, n) if ``kernel`` is precomputed. A stream needs ``landmarks``, read once.
        y : (n, q) or (n,) array, data frame, sparse matrix or stream
            The other view of the same rows; its Gram matrix (n, n) if ``kernel_y`` is precomputed. Not needed if the
            stream X has ``y_columns``.
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Table, y: Table | None = None) -> Array:
        """Find the pairs and return the training scores of X, without a second pass over the kernel."""
        scores = self._fit(X, y)
        return self.transform(X) if scores is None or isinstance(from_dask(X), Remote) else scores

    @planned_fit
    def _fit(self, X: Table, y: Table | None) -> Array | None:
        clock, how = Clock(), self._check()
        rows = self._read_views(X, y)
        kernels, seen = self._prepare(*rows.first), None
        dtype, shape = rows.first[0].dtype, rows.first[0].shape
        views: ExactViews | LowRankViews
        if landmarks_of(self)[0] is None:
            parts, held = partition(rows.n_first, self.folds, how.rng)
            views = ExactViews(kernels, self._from(*rows.first), parts)
        else:
            seen, views, held = seen_pairs(self, kernels, rows, how.rng)
            shape = (seen.n, shape[1])
        pairs = self._find(views, kernels, held, how, shape, clock)
        if seen is not None:
            self._keep_seen(seen, streamed=rows.streamed)
        return None if pairs.x_scores is None else pairs.x_scores.astype(dtype, copy=False)

    @available_if(has_landmarks)
    @all_or_nothing
    def partial_fit(self, X: Table, y: Table) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` to the stream of them.

        The first call chooses the landmarks, a width such as "scale" and, with ``scale=True``, the deviations, from its
        rows: give it a good sample. Only moments of the features are kept; one row in ``folds`` is held out.
        """
        clock, how = Clock(), self._check()
        rows = next_rows(self, X)
        seen = more_pairs(self, rows, self._second(y, rows.shape[0], new=not hasattr(self, "seen_")))
        views = LowRankViews(seen.maps, seen.parts, len(seen.parts) - 1)
        held, shape = told_held(seen, self.folds), (seen.n, self.n_features_in_)
        self._find(views, seen.kernels, held, how, shape, clock)
        self._keep_seen(seen, streamed=True)
        return self

    def _keep_seen(self, seen: Seen, *, streamed: bool) -> None:
        keep_seen(self, seen, *(["deviations"] if self.scale else []), streamed=streamed)

    def _find(
        self,
        views: ExactViews | LowRankViews,
        kernels: tuple[Kernel, ...],
        held: str,
        how: Search,
        shape: tuple[int, int],
        clock: Clock,
    ) -> KernelPairs:
        """Find the pairs and set the fitted attributes; ``held`` says which rows are held out, if any are."""
        pairs = views.pairs(self.n_components, how)
        k = _count(pairs, kernels)
        self.x_projection_, self.y_projection_ = pairs.x, pairs.y
        self.kernel_, self.kernel_y_ = kernels
        self.correlations_ = pairs.values
        self.score_correlations_ = pairs.plain
        self.held_out_correlations_ = views.held_out(k, how) if held else None
        self.summary_ = _summary(self, shape, pairs, held, clock)
        return pairs

    @by_blocks
    def transform(self, X: Table, Y: Table | None = None) -> Array | tuple[Array, Array]:
        """Return the scores of rows of X, m x k; with Y, a pair: those of X and those of Y. Of streams, streams.

        float32 for float32 rows of X, float64 otherwise; computed in double precision.
        """
        check_is_fitted(self)
        rows = validate(self, X, reset=False)
        scores = self.x_projection_.scores(moved(divided(rows, self.x_scale_), self._x_origin))
        scores = scores.astype(rows.dtype, copy=False)
        return scores if Y is None else (scores, self._y_scores(Y, rows.shape[0]))

    def _tables(self, make: TableMaker) -> Makers:
        return super()._tables(make) | make.score_tables() | {"correlations": lambda: self._pairs(make)}

    def _pairs(self, make: TableMaker) -> ResultTable:
        held_out, k = self.held_out_correlations_, len(self.correlations_)
        left_out = None if held_out is None else np.append(held_out, np.full(k - len(held_out), np.nan))
        columns = {"correlation": self.score_correlations_, "of rows left out": left_out}
        return make.by_components("correlations", {**columns, "regularised": self.correlations_})

    def _check(self) -> Search:
        """Refuse parameters out of their range; return how pairs are to be found."""
        check_components(self.n_components, 10**9, "there can be", fractions=False)
        check_choice("scale", self.scale, (True, False))
        check_choice("solver", self.solver, PAIR_SOLVERS)
        for name, least in (("rank", 1), ("folds", 2)):
            value = getattr(self, name)
            good = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least
            if value is not None and not good:
                raise ValueError(f"{name}={value!r} must be a whole number of {least} or more, or None.")
        ridge, pair = check_ridge(self.ridge), landmarks_of(self)
        if len(pair) != 2 or (pair[0] is None) != (pair[1] is None):
            raise ValueError(f"landmarks={self.landmarks!r} must be one for both views, a pair, or None.")
        return Search(ridge, self.rank, self.solver, random_generator(self.random_state))

    @property
    def _n_features_out(self) -> int:
        return self.x_projection_.size

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def _count(pairs: KernelPairs, kernels: tuple[Kernel, ...]) -> int:
    """How many pairs there are; refuse none."""
    if not len(pairs.values):
        names = [n for n, basis in zip("XY", pairs.bases, strict=False) if not basis.rank] or ["X or Y"]
        kernel = kernels[1] if names == ["Y"] else kernels[0]
        raise ValueError(
            f"{names[0]} has zero variance: the centred matrix of the kernel {kernel} has rank 0, all rows look "
            "alike. Check for identical rows, and the width of the kernel."
        )
    return len(pairs.values)


def _summary(model: KernelCCA, shape: tuple[int, int], pairs: KernelPairs, held: str, clock: Clock) -> FitSummary:
    ridge, trace, kernels = check_ridge(model.ridge), pairs.trace, (str(model.kernel_), str(model.kernel_y_))
    lacking = _lacking(pairs, shape[0], ridge, model.n_components)
    for said, remedy, kind in lacking:
        warn(f"{said} {remedy}".strip(), kind)
    plain, held_out = model.score_correlations_, model.held_out_correlations_
    detail = f"{', '.join(dict.fromkeys(kernels))}   q = {model.n_features_y_in_}"
    write = SummaryBuilder.of_components(model, shape, len(pairs.values), noun="pair", detail=detail)
    write.add(kernel=kernels[0], kernel_y=kernels[1], ridge=ridge, correlations=pairs.values, score_correlations=plain)
    write.lines += correlation_lines(pairs.values, plain, ridge)
    told = None if held_out is None else f"{shown(held_out)} ({held})"
    write.line("held out", told, held_out_correlations=held_out, held_out=held or None)
    write.add(ranks=[basis.rank for basis in pairs.bases] or None).route(trace).work(clock, trace.products)
    of, worst = "components of both spaces" if pairs.bases else "pairs", pairs.residuals.max(initial=0.0)
    write.line("certified", f"residuals of {of} <= {at_most(worst)}", residuals=pairs.residuals)
    write.add(n_negative=[basis.n_negative for basis in pairs.bases] or None)
    return write.notes(said for said, _, _ in lacking).done()


def _lacking(
    pairs: KernelPairs, n: int, ridge: tuple[float, float], asked: int | None
) -> list[tuple[str, str, type[GramianWarning]]]:
    """What is less than was asked for, what to do about it, and which warning that is."""
    found: list[tuple[str, str, type[GramianWarning]]] = []
    k, ranks, trace = len(pairs.values), [basis.rank for basis in pairs.bases], pairs.trace
    if not any(ridge) and sum(ranks) > n - 1:
        said = f"the ranks {ranks[0]} and {ranks[1]} leave no room in {n} rows: correlations are 1 by construction."
        found.append((said, "Use ridge=0.1, for example, or a rank well below the number of rows.", RankWarning))
    if asked is not None and asked > k:
        said = f"the smaller rank is {k}: {k} of {asked} pairs were kept."
        found.append((said, f"Use n_components={k} or fewer.", RankWarning))
    if pairs.cut:
        said = f"only the {max(ranks)} leading components of each space were searched: {trace.reason}."
        found.append((said, "Use a positive definite kernel and ridge=0.1, for example, or set the rank.", RankWarning))
    for name, basis in zip("XY", pairs.bases, strict=False):
        if basis.n_negative:
            found.append((indefinite(basis, f" of {name}"), "", IndefiniteKernelWarning))
    if not trace.converged:
        said = f"the iteration stopped early ({trace.stopped}): residuals up to {pairs.residuals.max(initial=0.0):.1e}."
        found.append((said, "Use a larger ridge, fewer components, or a rank.", ConvergenceWarning))
    return found
