"""Principal component analysis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian import mixing
from gramian.criteria import Suggestion
from gramian.estimators.base import ProjectionTransformer, accumulate, random_generator
from gramian.estimators.base_estimator import BaseEstimator, all_or_nothing, as_fitted, planned_fit
from gramian.estimators.diagnostics import ComponentDiagnostics
from gramian.estimators.n_components import check_components, choose_basis, how_many, is_auto, whole_number
from gramian.estimators.plans_linear import plan_pca
from gramian.estimators.probabilistic_pca import ProbabilisticPCA
from gramian.estimators.streams import Stream, by_blocks
from gramian.estimators.summary import Clock, summarize, warn_of
from gramian.estimators.validation import check_choice, check_finite, check_weights, validate
from gramian.estimators.warnings import RankWarning, warn
from gramian.operators import Rows
from gramian.operators.moments import has_variance, row_count
from gramian.results import Array, percent
from gramian.spaces import LinearBasis, LinearSpace, MomentSpace
from gramian.spaces.stream import StreamSpace, moments_unresolved


class PCA(ComponentDiagnostics, ProjectionTransformer, BaseEstimator):
    r"""Directions of greatest variance; the best linear approximation of the rows.

    Definition
    ----------
    .. math:: \min_{W'W = I} \|X_c - X_c W W'\|^2, \qquad \tfrac{1}{n-1} X_c'X_c\, w_k = \lambda_k w_k

    Parameters
    ----------
    n_components : int, float, "auto" or None
        Number :math:`K`; a fraction takes as many as reach that share of the variance; "auto" as many as stand out of
        the noise (see :func:`gramian.selection.how_many`), and 1 with a warning if none does; None takes min(n, d).
    scale : bool
        Divide columns by their standard deviations first: PCA of the correlation matrix. Constant columns stay.
    whiten : bool
        Divide scores by their standard deviations. Not before a step that needs distinct eigenvalues.
    center : bool
        Subtract the column means. Without it the directions are those of greatest mean square.
    solver : str or solver object
        "auto"; "covariance" (d x d), "svd", "dual" (n x n), "power" (one by one with peeling), "krylov", "randomized".
        They agree; they differ in cost and in the digits they keep of tiny variances, where "svd" is best.
    missing : None or "em"
        What to do with NaN: refuse, or expect them under :class:`ProbabilisticPCA` with as many components.
    random_state : int, Generator, RandomState or None
        Seed of the iterative solvers. None is a fixed seed.

    Attributes
    ----------
    components_ : (K, d) array
        Directions; the entry of largest magnitude of each is positive.
    mean_, scale_ : (d,) arrays
        What is subtracted from and divided out of the columns.
    explained_variance_, explained_variance_ratio_ : (K,) arrays
        Variances :math:`\lambda_k` (divisor n - 1) and their shares of the total.
    singular_values_ : (K,) array
        :math:`\sqrt{(n-1) \lambda_k}`.
    noise_variance_ : float
        Mean of the min(n, d) - K variances left out.
    feature_variance_ : (d,) array
        Variances of the (scaled) columns.
    residual_moments_ : tuple
        Sums of the variances left out and of their squares (None if not known): what limits of Q come from.
    summary_ : FitSummary
        What was done, and the certificate; prints as a short table.

    Cost
    ----
    n d min(n, d) multiplications; beside the data, memory for a matrix of side min(n, d). Sparse tables stay sparse.

    References
    ----------
    Jolliffe, Principal Component Analysis, 2nd ed., Springer 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> pca = PCA(n_components=2).fit(load_iris().data)
    >>> pca.explained_variance_ratio_.round(3)
    array([0.925, 0.053])
    """

    _plan = plan_pca

    _kept_parameters = ("missing",)

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        scale: bool = False,
        whiten: bool = False,
        center: bool = True,
        solver: Any = "auto",
        missing: str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.whiten = whiten
        self.center = center
        self.solver = solver
        self.missing = missing
        self.random_state = random_state

    @planned_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            Rows.
        y : ignored
        sample_weight : (n,) array, optional
            Frequencies: a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        clock = Clock()
        if isinstance(X, Rows):
            return self._fit_stream(X, sample_weight, clock)
        X = self._validate(X, min_samples=2, finite=self.missing is not None)
        weights = check_weights(sample_weight, X.shape[0])
        self.__dict__.pop("moments_", None)
        self.__dict__.pop("filler_", None)
        if self.missing and (gaps := int(np.isnan(X).sum())):
            return self._fit_missing(X, weights, gaps, clock)
        space = LinearSpace(
            X, center=self.center, scale=self.scale, weights=weights, check=lambda: check_finite(X, self)
        )
        rows = X.shape[0] if weights is None else row_count(float(weights.sum()))
        self._keep(*self._basis(space, (rows, X.shape[1])), X.dtype, X.shape, clock)
        self.moments_ = space.moments()  # so that partial_fit may go on from here
        return self

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` of all of them.

        Only moments are kept, d x d numbers. Components come as soon as there are more rows than components.

        Parameters
        ----------
        X : (n, d) array, data frame or sparse matrix
            More rows, one or many.
        y : ignored
        sample_weight : (n,) array, optional
            Frequencies of these rows.

        Returns
        -------
        self
        """
        clock = Clock()
        X, moments = accumulate(self, X, sample_weight)
        rows, d = row_count(moments.weight), X.shape[1]
        asked = whole_number(self.n_components)
        check_components(self.n_components, d, f"d = {d}", auto=True)
        if not has_variance(moments.weight) or rows <= (asked or 1):
            return self
        space = MomentSpace(moments, center=self.center, scale=self.scale)
        return self._keep(*self._basis(space, (rows, d)), X.dtype, (rows, d), clock)

    @by_blocks
    def transform(self, X: Any) -> Array:
        """Return the scores of rows; missing entries, if they are welcome, are imputed by the model first."""
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        if hasattr(self, "filler_") and np.isnan(X).any():
            X = self.filler_.fill(X)
        elif as_fitted(self, "missing"):
            check_finite(X, self, fitted=True)  # nothing was missing at fit: there is no model to impute from
        return self.projection_.scores(X).astype(X.dtype, copy=False)

    def _validate(self, X: Any, *, reset: bool = True, min_samples: int = 1, finite: bool = True) -> Any:
        if reset:
            check_choice("missing", self.missing, (None, "em"))
        welcome = as_fitted(self, "missing") is not None
        return validate(
            self, X, reset=reset, sparse=not welcome, min_samples=min_samples, missing=welcome, finite=finite
        )

    def _fit_stream(self, X: Rows, sample_weight: Any, clock: Clock) -> Self:
        """Components of rows that stream by: their moments, and another pass where those do not resolve them."""
        check_choice("missing", self.missing, (None, "em"))
        how = {"center": self.center, "scale": self.scale}
        stream = Stream(
            self,
            X,
            sample_weight=sample_weight,
            loses=lambda m: self.solver != "covariance" and moments_unresolved(m, **how),
        )
        self.__dict__.pop("filler_", None)
        space = StreamSpace(stream.moments, stream.triangle, **how)
        return self._keep(*self._basis(space, stream.shape), stream.dtype, stream.shape, clock)

    def _fit_missing(self, X: Any, weights: Any, gaps: int, clock: Clock) -> Self:
        """Components of the moments expected under probabilistic PCA with as many components."""
        d = X.shape[1]
        self._check_components(X.shape)
        asked = whole_number(self.n_components)
        self.filler_ = ProbabilisticPCA(None if asked is None or asked >= d else asked, missing="em")
        expected = self.filler_.fit_expectation(X, weights)
        space = MomentSpace(expected.moments, center=self.center, scale=self.scale)
        note = f"{gaps:,} missing entries ({percent(gaps / X.size)}) were expected under probabilistic PCA."
        return self._keep(*self._basis(space, X.shape), X.dtype, X.shape, clock, (note,))

    def _keep(
        self,
        basis: LinearBasis,
        chosen: Suggestion | None,
        dtype: Any,
        shape: tuple[int, int],
        clock: Clock,
        notes: tuple[str, ...] = (),
    ) -> Self:
        """Set the fitted attributes."""
        self.projection_ = basis.projection(mixing.whiten(basis) if self.whiten else mixing.identity(basis))
        self.components_ = basis.directions.T.astype(dtype)
        self.mean_ = basis.mean.astype(dtype)
        self.scale_ = basis.scale.astype(dtype)
        self.explained_variance_ = basis.variances
        self.explained_variance_ratio_ = basis.shares
        self.singular_values_ = basis.singular
        self.feature_variance_ = basis.column_variances
        left_out = max(0.0, basis.total_variance - float(basis.variances.sum()))
        squared = basis.squared_variances
        left_squared = None if squared is None else max(0.0, squared - float((basis.variances**2).sum()))
        self.residual_moments_ = left_out, left_squared
        self.noise_variance_ = left_out / max(basis.limit - basis.rank, 1)
        self.n_samples_ = basis.n if basis.n % 1 else int(basis.n)
        notes = (*notes, *self._notes(basis))
        self.summary_ = summarize(self, basis, shape, clock, chosen=chosen, notes=notes)
        return self

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows on the span of the components that have the scores ``X``."""
        check_is_fitted(self)
        scores = np.asarray(X)
        k = len(self.components_)
        if scores.ndim != 2 or scores.shape[1] != k:
            raise ValueError(f"X has shape {scores.shape}; scores of {k} components, m x {k}, are expected.")
        rows = self.projection_.inverse(scores)
        return rows.astype(scores.dtype if scores.dtype == np.float32 else np.float64, copy=False)

    def reconstruction_error(self, X: Any = None, *, centred: bool = True) -> float:
        r"""Mean squared distance of rows to their reconstruction, in the (scaled) units of the fit.

        Definition
        ----------
        .. math:: \tfrac{1}{n} \|A - A W W'\|^2, \qquad A = X_c \text{ or, with centred=False, } X

        Parameters
        ----------
        X : (m, d) array, optional
            Rows; the training rows if not given, at no cost: (n-1)/n times the variance left out.
        centred : bool
            Measure from the mean. False takes rows as they are, with the same directions; for the training rows this
            adds the part of the mean that the components do not hold.
        """
        check_is_fitted(self)
        W = self.components_.T.astype(np.float64)
        mean = self.mean_.astype(np.float64) / self.scale_
        if X is None:
            n, k = self.n_samples_, len(self.components_)
            error = self.noise_variance_ * (min(row_count(n), self.n_features_in_) - k) * (n - 1) / n
            return error if centred else error + float(mean @ mean - np.sum((mean @ W) ** 2))
        X = validate(self, X, reset=False, sparse=False)
        A = X / self.scale_ - mean if centred else X / self.scale_
        return float(np.mean(np.sum((A - A @ W @ W.T) ** 2, axis=1)))

    def _check_components(self, shape: tuple[int, int]) -> None:
        least, (n, d) = min(shape), shape
        check_components(self.n_components, least, f"min(n, d) = {least} (n={n}, d={d})", auto=True)

    def _basis(
        self, space: LinearSpace | MomentSpace | StreamSpace, shape: tuple[int, int]
    ) -> tuple[LinearBasis, Suggestion | None]:
        """Components, and the criterion that chose how many, if one did."""
        self._check_components(shape)
        solver, chosen = "auto" if isinstance(space, MomentSpace) else self.solver, None
        rng = random_generator(self.random_state)
        if is_auto(self.n_components):
            basis, chosen = choose_basis(space, solver, rng)
        else:
            basis = space.basis(whole_number(self.n_components), solver, rng)
            basis = basis.truncate(how_many(self.n_components, basis))
        warn_of(basis)
        return basis, chosen

    def _notes(self, basis: LinearBasis) -> tuple[str, ...]:
        rank = int((basis.singular > 0).sum())
        if rank == basis.rank:
            return ()
        cause = "X has zero variance" if rank == 0 else f"X has rank {rank}"
        note = f"{cause}: the last {basis.rank - rank} of {basis.rank} components have zero variance."
        if rank == 0 or self.n_components is not None:
            warn(f"{note} Use n_components={max(rank, 1)} or fewer.", RankWarning)
        return (note,)
