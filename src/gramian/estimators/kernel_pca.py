"""Kernel principal component analysis, and rows for its scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base import BaseEstimator, ProjectionTransformer, all_or_nothing, as_fitted, planned_fit
from gramian.estimators.column_vectors import Reading
from gramian.estimators.kernel_checks import CheckedRows
from gramian.estimators.kernel_rows import (
    KernelArgument,
    KernelInput,
    KernelRows,
    Seen,
    has_landmarks,
    keep_seen,
    next_rows,
    read_rows,
    seen_more,
    seen_of,
)
from gramian.estimators.landmarks import LandmarksArgument, RandomFeatures
from gramian.estimators.n_components import choose_for_kernel
from gramian.estimators.plans_kernel import plan_kernel_pca
from gramian.estimators.summary import Clock, summarize
from gramian.estimators.validation import (
    Table,
    check_components,
    from_dask,
    random_generator,
    share_of_variance,
)
from gramian.estimators.warnings import GramianWarning, RankWarning, warn
from gramian.kernels import Kernel
from gramian.operators.centering import uncentred
from gramian.operators.remote import Remote
from gramian.preimage import PreImage, check_method, numbers, preimage
from gramian.results import Array, Seed
from gramian.solvers.eigen import Solver
from gramian.spaces import KernelSpace, SingularBasis
from gramian.spaces.low_rank import LowRankSpace


class KernelPCA(KernelInput, ProjectionTransformer, BaseEstimator):
    r"""Principal components in the feature space of a kernel.

    Definition
    ----------
    .. math:: K_c = HKH = P \Gamma P', \qquad \text{scores } P\,\Gamma^{1/2}, \quad
              t_k(x) = \gamma_k^{-1/2}\, p_k' H (k(x) - K1/n)

    Parameters
    ----------
    n_components : int, float, "auto" or None
        Number :math:`K`, up to n; a fraction takes as many as reach that share of the variance (this needs the whole
        spectrum); "auto" as many as stand out of those of shuffled columns (see :func:`gramian.selection.how_many`);
        None takes all with a positive eigenvalue. Fewer come out, with a warning, if there are no more.
    kernel : str, Kernel or callable
        Text such as ``"rbf(sigma=2)"``, an object of :mod:`gramian.kernels`, ``"precomputed"``, or a function of two
        blocks of rows. ``"rbf"`` is the Gaussian kernel with gamma = 1 / (d var X).
    landmarks : int, Landmarks, RandomFeatures or None
        Rows that stand for all: components of the features of low rank that they give, in one pass over the rows and
        without the n x n matrix. See :class:`gramian.Landmarks`. None is exact.
    solver : str or solver object
        "auto", "dense", "krylov" (matrix-free), "power" (one by one with peeling), "randomized", or an object such as
        ``gramian.solvers.Krylov(tol=1e-4)``.
    preimage : {None, "auto", "fixed_point", "distance", "learned"}
        How :meth:`inverse_transform` finds rows: see :func:`gramian.preimage.preimage`. A method that the kernel does
        not allow is refused at fit. None, the default, promises nothing and costs nothing: rows are found as by "auto"
        if the kernel allows it, and the question is put only when they are asked for, so that kernels without
        pre-images can be fitted.
    random_state : int, Generator, RandomState or None
        Seed of the iterative solvers. None is a fixed seed.

    Attributes
    ----------
    eigenvalues_ : (K,) array
        Leading eigenvalues of the centred Gram matrix.
    explained_variance_ratio_ : (K,) array
        Their shares of its trace; of the sum of all absolute values if the kernel is not known to be positive and the
        whole spectrum was computed; absent otherwise.
    kernel_ : Kernel
        The kernel with its parameters resolved.
    trace_error_ : float or None
        What landmarks leave of the trace of the kernel matrix, as a share of it.
    summary_ : FitSummary
        What was done, and the certificate; prints as a short table.

    Cost
    ----
    Dense: n^2 kernel values and up to 9 n^3 multiplications. By products: n^2 kernel values per product and no matrix.
    With m landmarks: n m kernel values, up to 2 n m^2 multiplications, and a few m x m matrices.

    References
    ----------
    Schoelkopf, Smola, Mueller, Nonlinear component analysis as a kernel eigenvalue problem, Neural Computation 1998.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from gramian import KernelPCA
    >>> X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    >>> scores = KernelPCA(n_components=2, kernel="rbf(sigma=0.5)").fit_transform(X)
    >>> bool((scores[y == 1, 0].mean() > 0) != (scores[y == 0, 0].mean() > 0))
    True
    """

    _plan = plan_kernel_pca

    _kept_parameters = ("preimage",)

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        kernel: KernelArgument = "rbf",
        landmarks: LandmarksArgument = None,
        solver: str | Solver = "auto",
        preimage: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.landmarks = landmarks
        self.solver = solver
        self.preimage = preimage
        self.random_state = random_state

    def fit(self, X: Table, y: object = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            Rows; the Gram matrix (n, n) if the kernel is precomputed. A stream needs ``landmarks``, and is read once.
        y : ignored
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Table, y: object = None) -> Array:
        """Find the components and return the training scores, without a second pass over an exact kernel."""
        basis, dtype = self._fit(X)
        if dtype is None or isinstance(from_dask(X), Remote):
            return self.transform(X)
        return basis.scores().astype(dtype, copy=False)

    @available_if(has_landmarks)
    @all_or_nothing
    def partial_fit(self, X: Table, y: object = None) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` to the stream of them.

        The first call chooses the landmarks, and a width such as "scale", from its rows: give it a good sample. Only
        moments of the features are kept.
        """
        clock = Clock()
        seen = seen_more(self, KernelRows((next_rows(self, X),)))
        self._find(seen.kernels[0], None, seen, clock)
        return self

    @planned_fit
    def _fit(self, X: Table) -> tuple[SingularBasis, np.dtype | None]:
        """Find the components; return them, and the precision of rows in memory."""
        clock = Clock()
        kernel, rows = read_rows(self, X, min_samples=2)
        seen = None if self.landmarks is None else seen_of(self, kernel, rows)
        table = None if rows.streamed else rows.first[0]
        return self._find(kernel, table, seen, clock), None if table is None else table.dtype

    def _find(self, kernel: Kernel, rows: CheckedRows | None, seen: Seen | None, clock: Clock) -> SingularBasis:
        """Find the components of rows, or of ``seen``, the moments of rows mapped to features of low rank.

        ``rows`` are None if they came in parts.
        """
        if self.preimage is not None:
            _check_preimage(kernel, self.preimage, random=isinstance(self.landmarks, RandomFeatures))
        space = KernelSpace(kernel, rows) if seen is None else LowRankSpace(seen.maps[0], seen.total, rows=rows)
        n, chosen = int(space.n), None
        asked = check_components(self.n_components, n, f"the number of rows, {n}", auto=True)
        if self.n_components == "auto":
            if rows is None:
                raise ValueError("n_components='auto' needs the rows in memory. Give a number.")
            asked, chosen = choose_for_kernel(kernel, rows)
        rng = None if self.random_state is None else random_generator(self.random_state)
        basis = space.basis(asked, self.solver, rng)
        _check_found(basis, asked, kernel)
        if asked is None and (share := share_of_variance(self.n_components)) is not None:
            if basis.shares is None:
                raise ValueError(
                    f"n_components={share!r} asks for a share of the variance, which is not known for an indefinite "
                    "kernel without its whole spectrum. Give a whole number, or use solver='dense'."
                )
            basis = basis.reaching(share)
        self.projection_ = basis.projection()
        self.summary_ = summarize(self, basis, (n, self.n_features_in_), clock, detail=str(kernel), chosen=chosen)
        self.kernel_, self.eigenvalues_, self._shares = kernel, basis.eigenvalues, basis.shares
        if seen is not None:
            keep_seen(self, seen, streamed=rows is None)
        return basis

    def _reading(self) -> Reading:
        return Reading(self.eigenvalues_ / self.summary_.facts["n"], "positive", "variance")

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return rows whose features are near the points with the scores ``X``.

        Most points of a feature space are the features of no row; :meth:`reconstruct` also says how near these come.

        Parameters
        ----------
        X : (m, k) array
            Scores.

        Returns
        -------
        (m, d) array
            float32 for float32 scores, float64 otherwise. Where no row is near (scores of a row that resembles no
            training row), the nearest training row, with a warning.
        """
        found = self.reconstruct(X)
        if found.fallbacks:
            warn(
                f"{found.fallbacks} of {len(found.points)} points have no pre-image: they resemble no training row. "
                "Their nearest training rows in feature space stand in.",
                GramianWarning,
            )
        return found.points.astype(np.float32 if _is_narrow(X) else np.float64, copy=False)

    def reconstruct(self, X: ArrayLike) -> PreImage:
        r"""Find rows for scores, and say how near in feature space they come.

        Definition
        ----------
        .. math:: P = \bar\phi + \sum_k t_k v_k, \qquad x = \arg\min_x \|\phi(x) - P\|

        Parameters
        ----------
        X : (m, k) array
            Scores t.

        Returns
        -------
        PreImage
            Rows ``points``, distances ``residuals``, the ``methods`` that found them, and how many ``fallbacks``.
        """
        check_is_fitted(self)
        scores, k = numbers(X, "X"), len(self.eigenvalues_)
        if scores.ndim != 2 or scores.shape[1] != k:
            raise ValueError(f"X has shape {scores.shape}; scores of {k} components, m x {k}, are expected.")
        method = as_fitted(self, "preimage") or "auto"
        _check_preimage(self.kernel_, method, random=not self.projection_.kernel.compares_rows)
        mean = getattr(self.projection_, "mean", None)
        weights, coordinates = uncentred(self.projection_.coefficients, scores, mean)
        far = self._resembles_nothing(scores, narrow=_is_narrow(X))
        found = preimage(
            self.kernel_, self.projection_.anchors, weights, coordinates=coordinates, method=method, far=far
        )
        origin = getattr(self.projection_, "origin", None)
        return found if origin is None else replace(found, points=found.points + origin)

    def _resembles_nothing(self, scores: Array, *, narrow: bool) -> Array:
        """Whether scores are those of a row with no similarity to any training row: what is left is the offset."""
        offset = self.projection_.offset
        size = np.abs(offset).max()
        if size <= 1e-6 * np.sqrt(self.eigenvalues_[0] / len(self.projection_.coefficients)):
            return np.zeros(len(scores), dtype=bool)  # the mean has these scores too
        precision = np.finfo(np.float32 if narrow else np.float64).eps ** 0.5
        return (np.abs(scores - offset) <= precision * size).all(axis=1)

    @property
    def explained_variance_ratio_(self) -> Array:
        """Shares of the variance in feature space, where they are known."""
        shares: Array | None = getattr(self, "_shares", None)
        if shares is None:
            raise AttributeError(
                "explained_variance_ratio_ is not known: the estimator is not fitted, or the kernel may be indefinite "
                "and its whole spectrum was not computed."
            )
        return shares


def _check_preimage(kernel: Kernel, method: str, *, random: bool) -> None:
    """Refuse a way to find rows for scores that the kernel, or random features, do not allow."""
    if random:
        raise ValueError(
            f"preimage={method!r}: random features have no pre-images, for no rows stand behind them. Use Landmarks."
        )
    check_method(kernel, method)


def _check_found(basis: SingularBasis, asked: int | None, kernel: Kernel) -> None:
    """Refuse no components; warn of fewer than were asked for, and of what the solver or the kernel lacks."""
    if basis.rank == 0:
        raise ValueError(
            f"zero variance: the centred matrix of the kernel {kernel} has rank 0, all rows look alike. "
            "Check X for identical rows, and the width of the kernel."
        )
    if asked is not None and basis.rank < asked:
        warn(
            f"n_components={asked}, but the centred matrix of the kernel {kernel} has {basis.rank} positive "
            f"eigenvalues: {basis.rank} components were kept.",
            RankWarning,
        )


def _is_narrow(scores: ArrayLike) -> bool:
    return np.asarray(scores).dtype == np.float32
