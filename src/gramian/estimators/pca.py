"""Principal component analysis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gramian import mixing
from gramian.estimators.base import Clock, ProjectionTransformer, random_generator, summarize, warn_of
from gramian.estimators.validation import all_or_nothing, check_components, how_many, validate, whole_number
from gramian.estimators.warnings import RankWarning, warn
from gramian.results import Array
from gramian.spaces import LinearBasis, LinearSpace


class PCA(ProjectionTransformer, BaseEstimator):
    r"""Directions of greatest variance; the best linear approximation of the rows.

    Definition
    ----------
    .. math:: \min_{W'W = I} \|X_c - X_c W W'\|^2, \qquad \tfrac{1}{n-1} X_c'X_c\, w_k = \lambda_k w_k

    Parameters
    ----------
    n_components : int, float or None
        Number :math:`K`; a fraction takes as many as reach that share of the variance; None takes min(n, d).
    scale : bool
        Divide columns by their standard deviations first: PCA of the correlation matrix. Constant columns stay.
    whiten : bool
        Divide scores by their standard deviations. Not before a step that needs distinct eigenvalues.
    center : bool
        Subtract the column means. Without it the directions are those of greatest mean square.
    solver : str or solver object
        "auto"; "covariance" (d x d), "svd", "dual" (n x n), "power" (one by one with peeling), "krylov", "randomized".
        They agree; they differ in cost and in the digits they keep of tiny variances, where "svd" is best.
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

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        scale: bool = False,
        whiten: bool = False,
        center: bool = True,
        solver: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.whiten = whiten
        self.center = center
        self.solver = solver
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : (n, d) array, data frame or sparse matrix
            Rows.
        y : ignored

        Returns
        -------
        self
        """
        clock = Clock()
        X = validate(self, X, min_samples=2)
        basis = self._basis(X)
        self.projection_ = basis.projection(mixing.whiten(basis) if self.whiten else mixing.identity(basis))
        self.components_ = basis.directions.T.astype(X.dtype)
        self.mean_ = basis.data.mean.astype(X.dtype)
        self.scale_ = basis.data.scale.astype(X.dtype)
        self.explained_variance_ = basis.variances
        self.explained_variance_ratio_ = basis.shares
        self.singular_values_ = basis.singular
        left_out = max(0.0, basis.total_variance - float(basis.variances.sum()))
        self.noise_variance_ = left_out / max(basis.limit - basis.rank, 1)
        self.n_samples_ = basis.n
        self.summary_ = summarize(self, basis, X, clock, notes=self._notes(basis))
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
            error = self.noise_variance_ * (min(n, self.n_features_in_) - k) * (n - 1) / n
            return error if centred else error + float(mean @ mean - np.sum((mean @ W) ** 2))
        X = validate(self, X, reset=False, sparse=False)
        A = X / self.scale_ - mean if centred else X / self.scale_
        return float(np.mean(np.sum((A - A @ W @ W.T) ** 2, axis=1)))

    def _basis(self, X: Any) -> LinearBasis:
        n, d = X.shape
        check_components(self.n_components, min(n, d), f"min(n, d) = {min(n, d)} (n={n}, d={d})")
        space = LinearSpace(X, center=self.center, scale=self.scale)
        basis = space.basis(whole_number(self.n_components), self.solver, random_generator(self.random_state))
        basis = basis.truncate(how_many(self.n_components, basis))
        warn_of(basis)
        return basis

    def _notes(self, basis: LinearBasis) -> tuple[str, ...]:
        rank = int((basis.singular > 0).sum())
        if rank == basis.rank:
            return ()
        cause = "X has zero variance" if rank == 0 else f"X has rank {rank}"
        note = f"{cause}: the last {basis.rank - rank} of {basis.rank} components have zero variance."
        if rank == 0 or self.n_components is not None:
            warn(f"{note} Use n_components={max(rank, 1)} or fewer.", RankWarning)
        return (note,)
