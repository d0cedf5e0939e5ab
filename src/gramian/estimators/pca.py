"""Principal component analysis."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from gramian import mixing
from gramian.estimators.base import (
    BaseEstimator,
    ProjectionTransformer,
    all_or_nothing,
    as_fitted,
    by_blocks,
    planned_fit,
)
from gramian.estimators.column_vectors import ColumnVectors, Reading
from gramian.estimators.diagnostics import ComponentDiagnostics
from gramian.estimators.fit_rows import FitRows, SeenRows, more_rows, read
from gramian.estimators.n_components import choose_basis
from gramian.estimators.plans_linear import plan_pca
from gramian.estimators.probabilistic_pca import ProbabilisticPCA
from gramian.estimators.summary import Clock, summarize
from gramian.estimators.validation import (
    Table,
    check_components,
    check_finite,
    random_generator,
    share_of_variance,
    validate,
    whole_number,
)
from gramian.estimators.warnings import RankWarning, warn
from gramian.operators import Moments
from gramian.operators.moments import has_variance, row_count
from gramian.results import Array, Seed, percent
from gramian.solvers.eigen import Solver
from gramian.spaces import LinearBasis
from gramian.spaces.linear import moments_unresolved


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
        What to do with NaN: refuse, or impute them under :class:`ProbabilisticPCA` with as many components.
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
        solver: str | Solver = "auto",
        missing: str | None = None,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.whiten = whiten
        self.center = center
        self.solver = solver
        self.missing = missing
        self.random_state = random_state

    @planned_fit
    def fit(self, X: Table, y: object = None, sample_weight: Table | None = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            Rows.
        y : ignored
        sample_weight : (n,) array, optional
            Frequencies: a row of weight 2 counts as two rows.
        """
        clock = Clock()
        rows = read(self, X, sample_weight, finite=False, loses=self._loses)
        self.__dict__.pop("filler_", None)
        with rows.pinned():
            return self._find(rows, clock) if not rows.gaps else self._fit_missing(rows, clock)

    @all_or_nothing
    def partial_fit(self, X: Table, y: object = None, sample_weight: Table | None = None) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` of all of them.

        Only moments are kept, d x d numbers. Components come as soon as there are more rows than components.
        """
        clock = Clock()
        rows = more_rows(self, X, sample_weight)
        asked = check_components(self.n_components, rows.d, f"d = {rows.d}", auto=True)
        early = not has_variance(rows.moments.weight) or rows.shape[0] <= (asked or 1)
        return self if early else self._find(rows, clock)

    @by_blocks
    def transform(self, X: Table) -> Array:
        """Return the scores of rows; missing entries, if ``missing="em"``, are imputed by the model first."""
        check_is_fitted(self)
        welcome = as_fitted(self, "missing") is not None
        X = validate(self, X, reset=False, sparse=not welcome, missing=welcome)
        if hasattr(self, "filler_") and np.isnan(X).any():
            X = self.filler_.fill(X)
        elif welcome:
            check_finite(X, self, fitted=True)  # nothing was missing at fit: there is no model to impute from
        return self.projection_.scores(X).astype(X.dtype, copy=False)

    @property
    def _imputes(self) -> bool:
        return as_fitted(self, "missing") is not None and hasattr(self, "filler_")

    def _loses(self, moments: Moments) -> bool:
        """Whether moments do not resolve the components, and rows themselves are needed."""
        if self.solver == "covariance":
            return False
        asked, share = whole_number(self.n_components), share_of_variance(self.n_components)
        return moments_unresolved(moments, asked, share, center=self.center, scale=self.scale)

    def _fit_missing(self, rows: FitRows, clock: Clock) -> Self:
        """Components of moments with missing entries imputed under probabilistic PCA with as many components."""
        asked, gaps = self._check_components(rows.shape), rows.gaps
        self.filler_ = ProbabilisticPCA(None if asked is None or asked >= rows.d else asked, missing="em")
        expected = self.filler_.fit_expectation(rows.X, rows.weights)
        note = f"{gaps:,} missing entries ({percent(gaps / rows.X.size)}) were imputed under probabilistic PCA."
        return self._find(SeenRows(expected.moments, rows.dtype, rows.shape), clock, (note,))

    def _find(self, rows: FitRows, clock: Clock, notes: tuple[str, ...] = ()) -> Self:
        asked = self._check_components(rows.weighted_shape)
        space = rows.space(center=self.center, scale=self.scale)
        rng = None if self.random_state is None else random_generator(self.random_state)
        solver = self.solver if rows.any_solver else "auto"
        if self.n_components == "auto":
            basis, chosen = choose_basis(space, solver, rng)
        else:
            share = share_of_variance(self.n_components)
            basis, chosen = space.basis(asked, solver, rng, share), None
        dtype = rows.dtype
        self.projection_ = basis.projection(mixing.whiten(basis) if self.whiten else None)
        self.components_ = basis.directions.T.astype(dtype)
        self.mean_ = basis.mean.astype(dtype)
        self.scale_ = basis.scale.astype(dtype)
        self.explained_variance_ = variances = basis.variances
        self.explained_variance_ratio_ = basis.shares
        self.singular_values_ = basis.singular
        self.feature_variance_ = basis.column_variances
        left_out = max(0.0, basis.total_variance - float(variances.sum()))
        squared = basis.squared_variances
        left_squared = None if squared is None else max(0.0, squared - float((variances**2).sum()))
        self.residual_moments_ = left_out, left_squared
        self.noise_variance_ = left_out / max(basis.limit - basis.rank, 1)
        self.n_samples_ = basis.n if basis.n % 1 else int(basis.n)
        notes = (*notes, *self._notes(basis))
        self.moments_ = rows.kept()  # so that partial_fit may go on from here
        self.summary_ = summarize(self, basis, rows.shape, clock, chosen=chosen, notes=notes)
        return self

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return the rows on the span of the components that have the scores ``X``."""
        return self._inverse(X, "scores of {k} components")

    def reconstruction_error(self, X: Table | None = None, *, centred: bool = True) -> float:
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

    def _column_vectors(self) -> ColumnVectors:
        coordinates, directions = self.column_coordinates(), self.components_.T
        if not as_fitted(self, "center"):  # about another point than the mean they are no correlations
            return ColumnVectors(coordinates, "loading", False, directions, "weight")
        spread = np.sqrt(self.feature_variance_)[:, None]
        values = np.divide(coordinates, spread, out=np.zeros_like(coordinates, dtype=np.float64), where=spread > 0)
        return ColumnVectors(values, "correlation with the component", True, directions, "weight")

    def _reading(self) -> Reading:
        V, values = self.components_.T.astype(np.float64), self.explained_variance_
        return Reading(values, "positive", "variance", V, "direction", bounded=True, ordered=True, of_columns=True)

    def _check_components(self, shape: tuple[int, int]) -> int | None:
        least, (n, d) = min(shape), shape
        return check_components(self.n_components, least, f"min(n, d) = {least} (n={n}, d={d})", auto=True)

    def _notes(self, basis: LinearBasis) -> tuple[str, ...]:
        rank = int((basis.singular > 0).sum())
        if rank == basis.rank:
            return ()
        cause = "X has zero variance" if rank == 0 else f"X has rank {rank}"
        note = f"{cause}: the last {basis.rank - rank} of {basis.rank} components have zero variance."
        if rank == 0 or self.n_components is not None:
            warn(f"{note} Use n_components={max(rank, 1)} or fewer.", RankWarning)
        return (note,)
