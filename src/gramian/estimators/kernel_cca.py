"""Kernel canonical correlation analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base import Clock, random_generator
from gramian.estimators.cca import check_ridge
from gramian.estimators.kernel_cca_text import summarize_pairs
from gramian.estimators.kernel_folds import held_out_correlations, partition
from gramian.estimators.kernel_pairs import SOLVERS, KernelPairs, find_pairs
from gramian.estimators.kernel_views import check_underflow, deviations, divided, read_second, read_second_table
from gramian.estimators.low_rank import add_low_rank, left_by, low_rank
from gramian.estimators.low_rank_pairs import LowRankViews
from gramian.estimators.remote import read_table
from gramian.estimators.streams import by_blocks
from gramian.estimators.targets import KernelInput, resolve_weighted
from gramian.estimators.validation import all_or_nothing, check_choice, check_components, validate
from gramian.kernels import Kernel, as_kernel
from gramian.operators.means import best_origin, moved
from gramian.operators.remote import Remote, opened
from gramian.results import Array
from gramian.spaces import KernelSpace


class KernelCCA(KernelInput, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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

    trace_error_: Any = None
    x_scale_: Array | None
    y_scale_: Array | None
    # Distances to the mean do not see where the origin is, rounding of a linear kernel does.
    _x_origin: Array | None = None
    _y_origin: Array | None = None

    def __init__(
        self,
        n_components: int | None = None,
        *,
        ridge: Any = 0.01,
        scale: bool = False,
        kernel: Any = "rbf",
        kernel_y: Any = None,
        landmarks: Any = None,
        rank: int | None = None,
        solver: str = "auto",
        folds: int | None = 5,
        random_state: Any = None,
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

    def fit(self, X: Any, y: Any) -> Self:
        """Find the pairs.

        Parameters
        ----------
        X : (n, d) array, data frame or sparse matrix
            One view; its Gram matrix (n, n) if ``kernel`` is precomputed.
        y : (n, q) or (n,) array, data frame or sparse matrix
            The other view of the same rows; its Gram matrix (n, n) if ``kernel_y`` is precomputed.

        Returns
        -------
        self
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> Array:
        """Find the pairs and return the training scores of X, without a second pass over the kernel."""
        scores = self._fit(X, y)
        return self.transform(X) if scores is None or isinstance(opened(X), Remote) else scores

    @all_or_nothing
    def _fit(self, X: Any, y: Any) -> Array | None:
        clock = Clock()
        ridge = self._check()
        A, B, kernels = self._views(X, y)
        rng = random_generator(self.random_state)
        parts, held = partition(A.shape[0], self.folds, rng)
        how: dict[str, Any] = {"ridge": ridge, "rank": self.rank, "solver": self.solver, "rng": rng}
        maps = tuple(low_rank(*pair) for pair in zip(self._approximations(), kernels, (A, B), strict=True))
        pairs, hold_out = self._find(A, B, kernels, maps, parts, how)
        k = self._count(pairs, kernels)
        self.x_projection_, self.y_projection_ = pairs.x, pairs.y
        self.kernel_, self.kernel_y_ = kernels
        self.correlations_ = pairs.values
        self.score_correlations_ = pairs.plain
        self.held_out_correlations_ = hold_out(k) if parts else None
        self.summary_ = summarize_pairs(self, A.shape, pairs, ridge, held, clock)
        for at, view in enumerate("YX" if self.trace_error_ else ""):
            side = 1 - at
            how_low = self._approximations()[side], maps[side], self.trace_error_[side]
            self.summary_ = add_low_rank(self.summary_, *how_low, view)
        return None if pairs.x_scores is None else pairs.x_scores.astype(self._dtype, copy=False)

    def _find(
        self, A: Any, B: Any, kernels: tuple[Kernel, Kernel], maps: Any, parts: list[Array], how: dict[str, Any]
    ) -> tuple[KernelPairs, Callable[[int], Array | None]]:
        """Pairs, and a function that finds as many on rows that were held out."""
        if maps == (None, None):
            self.trace_error_ = None
            pairs = find_pairs(KernelSpace(kernels[0], A), KernelSpace(kernels[1], B), self.n_components, **how)
            return pairs, lambda k: held_out_correlations(A, B, kernels, k, parts, **how)
        views = LowRankViews(maps, (A, B), parts)
        self.trace_error_ = tuple(
            left_by(landmarks, map, views.all.trace_error(at))
            for at, (landmarks, map) in enumerate(zip(self._approximations(), maps, strict=True))
        )
        return views.pairs(views.all, self.n_components, **how)[0], lambda k: views.held_out(k, **how)

    def _approximations(self) -> tuple[Any, Any]:
        """How each view is cut to low rank."""
        pair = self.landmarks if isinstance(self.landmarks, (tuple, list)) else (self.landmarks, self.landmarks)
        if len(pair) != 2 or (pair[0] is None) != (pair[1] is None):
            raise ValueError(f"landmarks={self.landmarks!r} must be one for both views, a pair, or None.")
        return pair[0], pair[1]

    @by_blocks
    def transform(self, X: Any, Y: Any = None) -> Any:
        """Return the scores of rows of X, m x k; with Y, a pair: those of X and those of Y.

        float32 for float32 rows of X, float64 otherwise; computed in double precision.
        """
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        scores = self.x_projection_.scores(moved(divided(X, self.x_scale_), self._x_origin)).astype(X.dtype, copy=False)
        return scores if Y is None else (scores, self._y_scores(Y, X.shape[0]))

    def _y_scores(self, Y: Any, n: int) -> Array:
        rows = read_second(Y, n)
        if rows.shape[1] != self.n_features_y_in_:
            raise ValueError(
                f"Y has {rows.shape[1]} columns, but KernelCCA was fitted with {self.n_features_y_in_} of them."
            )
        return self.y_projection_.scores(moved(divided(rows, self.y_scale_), self._y_origin))

    def _check(self) -> tuple[float, float]:
        """Refuse parameters out of their range; return both ridges."""
        check_components(self.n_components, 10**9, "there can be", fractions=False)
        check_choice("scale", self.scale, (True, False))
        check_choice("solver", self.solver, SOLVERS)
        for name, least in (("rank", 1), ("folds", 2)):
            value = getattr(self, name)
            good = isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value >= least
            if value is not None and not good:
                raise ValueError(f"{name}={value!r} must be a whole number of {least} or more, or None.")
        return check_ridge(self.ridge)

    def _views(self, X: Any, Y: Any) -> tuple[Any, Any, tuple[Kernel, Kernel]]:
        """Checked and scaled rows of both views, and the kernels resolved on them."""
        kernel = as_kernel(self.kernel)
        other = kernel if self.kernel_y is None else as_kernel(self.kernel_y)
        X = read_table(self, X, min_samples=2, square=kernel.name == "precomputed")
        Y = read_second_table(Y, X, square=other.name == "precomputed")
        if self.scale and "precomputed" in (kernel.name, other.name):
            raise ValueError(
                "scale=True divides columns, of which a precomputed kernel knows nothing. Use scale=False."
            )
        self.n_features_y_in_, self._dtype = Y.shape[1], X.dtype
        self.x_scale_, self.y_scale_ = (deviations(X), deviations(Y)) if self.scale else (None, None)
        X, Y = divided(X, self.x_scale_), divided(Y, self.y_scale_)
        kernels = resolve_weighted(kernel, X, None), resolve_weighted(other, Y, None)
        check_underflow(kernels[0], X, "X")
        check_underflow(kernels[1], Y, "Y")
        self._x_origin, self._y_origin = best_origin(kernels[0], X), best_origin(kernels[1], Y)
        return moved(X, self._x_origin), moved(Y, self._y_origin), kernels

    def _count(self, pairs: KernelPairs, kernels: tuple[Kernel, Kernel]) -> int:
        k = len(pairs.values)
        if not k:
            names = [n for n, basis in zip("XY", pairs.bases, strict=False) if not basis.rank] or ["X or Y"]
            kernel = kernels[1] if names == ["Y"] else kernels[0]
            raise ValueError(
                f"{names[0]} has zero variance: the centred matrix of the kernel {kernel} has rank 0, all rows look "
                "alike. Check for identical rows, and the width of the kernel."
            )
        return k

    @property
    def _n_features_out(self) -> int:
        return self.x_projection_.size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
