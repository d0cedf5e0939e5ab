"""What analysts ask of a fitted PCA: contributions, quality of representation, outliers and their limits."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp
import scipy.stats
from sklearn.utils.validation import check_array, check_is_fitted

from gramian.estimators.validation import Table, validate
from gramian.results import Array


class OutlierDiagnostics(ABC):
    """Distances of rows within the components and from them, with the limits that new rows rarely exceed."""

    n_samples_: float
    residual_moments_: tuple[float, float | None]

    @property
    @abstractmethod
    def _score_variances(self) -> Array:
        """Variances of the scores."""

    @property
    @abstractmethod
    def _loadings(self) -> Array:
        """What scores are multiplied by to give (scaled) rows, K x d."""

    @abstractmethod
    def _scores_and_rows(self, X: Table) -> tuple[Array, Array]:
        """Scores, and the centred and scaled rows."""

    def hotelling_t2(self, X: Table) -> Array:
        r"""Squared distance from the mean within the components, :math:`\sum_k t_{ik}^2/\lambda_k`."""
        T, _ = self._scores_and_rows(X)
        return ratios(T**2, self._score_variances).sum(axis=1)

    def t2_limit(self, alpha: float = 0.05) -> float:
        r"""Value that T2 of a new row from the same source exceeds with probability ``alpha``.

        Definition
        ----------
        .. math:: \frac{K (n^2 - 1)}{n (n - K)} F_{1-\alpha}(K, n - K)
        """
        check_is_fitted(self)
        return t2_limit(self.n_samples_, int((self._score_variances > 0).sum()), alpha)

    def q_residuals(self, X: Table) -> Array:
        """Squared distance of (scaled) rows to their reconstruction from the components."""
        T, A = self._scores_and_rows(X)
        return np.sum((A - T @ self._loadings) ** 2, axis=1)

    def q_limit(self, alpha: float = 0.05) -> float:
        r"""Value that Q of a new row from the same source exceeds with probability ``alpha``.

        Definition
        ----------
        .. math:: g\,\chi^2_{1-\alpha}(h), \qquad g = \theta_2/\theta_1, \quad h = \theta_1^2/\theta_2, \quad
                  \theta_p = \sum_{k>K} \lambda_k^p

        References
        ----------
        Box, Some theorems on quadratic forms applied in the study of analysis of variance problems, 1954.
        """
        check_is_fitted(self)
        first, second = self.residual_moments_
        if second is None:
            raise ValueError(
                "the variances left out are not known one by one. Use solver='covariance', 'svd' or 'dual'."
            )
        if first <= 0 or second <= 0:
            return 0.0
        return float(second / first * scipy.stats.chi2.ppf(1 - _probability(alpha), first**2 / second))


class ComponentDiagnostics(OutlierDiagnostics):
    r"""Diagnostics of rows and columns along the components of a fitted PCA.

    With scores :math:`t_{ik}`, directions :math:`w_{jk}` and variances :math:`\lambda_k`, in the (scaled) units of the
    fit. Rows may be those of the fit or supplementary ones.
    """

    components_: Array
    explained_variance_: Array
    mean_: Array
    scale_: Array
    feature_variance_: Array

    def column_coordinates(self) -> Array:
        r"""Covariances of columns with unit scores, :math:`w_{jk}\sqrt{\lambda_k}`; correlations if ``scale=True``."""
        check_is_fitted(self)
        return self.components_.T * np.sqrt(self.explained_variance_)

    def column_contributions(self) -> Array:
        r"""Share of each column in each component, :math:`w_{jk}^2`; sums to 1 down the columns."""
        check_is_fitted(self)
        return self.components_.T.astype(np.float64) ** 2

    def column_cos2(self) -> Array:
        """Share of a column's variance that each component holds: squared correlations (d, K)."""
        return ratios(self.column_coordinates() ** 2, self.feature_variance_[:, None])

    def row_contributions(self, X: Table) -> Array:
        r"""Share of each row in each component, :math:`t_{ik}^2/((n-1)\lambda_k)`; sums to 1 over the training rows."""
        T, _ = self._scores_and_rows(X)
        return ratios(T**2, self.explained_variance_) / (self.n_samples_ - 1)

    def row_cos2(self, X: Table) -> Array:
        """Share of a row's squared distance from the mean that each component holds (m, K)."""
        T, A = self._scores_and_rows(X)
        return ratios(T**2, np.sum(A**2, axis=1)[:, None])

    def supplementary_columns(self, X: Table, Z: Table) -> Array:
        """Correlations (q, K) of further columns ``Z`` with the scores of the rows ``X``."""
        T, _ = self._scores_and_rows(X)
        Z = check_array(Z, dtype=np.float64, input_name="Z")
        if len(Z) != len(T):
            raise ValueError(f"Z has {len(Z)} rows and X has {len(T)}. Give one row of Z for each row of X.")
        Zc, Tc = Z - Z.mean(axis=0), T - T.mean(axis=0)
        lengths = np.outer(np.linalg.norm(Zc, axis=0), np.linalg.norm(Tc, axis=0))
        return np.divide(Zc.T @ Tc, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def _scores_and_rows(self, X: Table) -> tuple[Array, Array]:
        """Unwhitened scores, and the centred and scaled rows."""
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        rows = X.toarray() if sp.issparse(X) else X
        A = (rows - self.mean_.astype(np.float64)) / self.scale_
        return A @ self.components_.T, A

    @property
    def _score_variances(self) -> Array:
        return self.explained_variance_

    @property
    def _loadings(self) -> Array:
        return self.components_


def t2_limit(n: float, k: int, alpha: float) -> float:
    """Limit of T2 for k components of n rows."""
    if k == 0:
        return 0.0
    if n <= k:
        raise ValueError(f"T2 has no limit with {k} components of {n} rows. Use fewer components.")
    return float(k * (n**2 - 1) / (n * (n - k)) * scipy.stats.f.ppf(1 - _probability(alpha), k, n - k))


def ratios(squares: Array, variances: Array) -> Array:
    """Squares divided by variances; 0 where there is no variance."""
    return np.divide(squares, variances, out=np.zeros_like(squares), where=variances > 0)


def _probability(alpha: float) -> float:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1.")
    return alpha
