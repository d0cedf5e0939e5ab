"""What analysts ask of a fitted PCA or regression: contributions, outliers and their limits, errors, leverage."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp
import scipy.stats
from sklearn.utils.validation import check_array, check_is_fitted

from gramian.estimators.base import as_fitted
from gramian.estimators.calibration_metrics import Merit, merit
from gramian.estimators.fitted_rows import role
from gramian.estimators.result_tables import ResultTable
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.two_blocks import complete_rows
from gramian.estimators.validation import Table, check_targets, validate
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

    def _tables(self, make: TableMaker) -> Makers:
        found = super()._tables(make)  # type: ignore[misc]
        return found | {"outliers": lambda: self._outliers(make)} if make.has_rows else found

    def _outliers(self, make: TableMaker) -> ResultTable:
        """Both distances of rows, and which of them are beyond their limits."""
        t2, q = self.hotelling_t2(make.rows), self.q_residuals(make.rows)
        beyond, limits = [t2 > np.inf, q > np.inf], []
        for at, (name, values, limit) in enumerate((("T2", t2, self.t2_limit), ("Q", q, self.q_limit))):
            try:
                limits.append(f"{name} {limit():.4g}")
            except ValueError:  # as many components as rows, or variances that are not known one by one
                continue
            beyond[at] = values > limit()
        words = np.array(["", "T2", "Q", "T2 Q"], dtype=object)[1 * beyond[0] + 2 * beyond[1]]
        columns = {"T2": t2, "Q": q, "beyond": words}
        note = f"limits of 95 %: {', '.join(limits)}" if limits else "limits are not known"
        return ResultTable("outliers", "row", make.row_names, columns, note)

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

    def _tables(self, make: TableMaker) -> Makers:
        unit = "correlations of columns with scores" if as_fitted(self, "scale") else "covariances with unit scores"
        found = {
            "loadings": lambda: make.by_columns("loadings", self.column_coordinates(), unit),
            "weights": lambda: make.by_columns("weights", self.components_.T, "unit vectors"),
            "contributions": lambda: make.by_columns("contributions", self.column_contributions()),
            "cos2": lambda: make.by_columns("cos2", self.column_cos2()),
        }
        of_rows = {
            "row-contributions": lambda: make.by_rows("row-contributions", self.row_contributions(make.rows)),
            "row-cos2": lambda: make.by_rows("row-cos2", self.row_cos2(make.rows)),
        }
        return super()._tables(make) | found | (of_rows if make.has_rows else {})

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


class RegressionDiagnostics(OutlierDiagnostics):
    """Diagnostics of rows along the components of a fitted regression, in the (scaled) units of the fit."""

    x_mean_: Array
    x_scale_: Array
    x_rotations_: Array
    x_loadings_: Array
    score_squares_: Array

    def merit(self, X: Table, y: Table) -> list[Merit]:
        """Return figures of merit of the predictions of rows (RMSE, bias, SEP, R2, RPD), one for each target.

        The errors of the rows of the fit are called RMSEC and SEC, those of new rows RMSEP and SEP.
        """
        guesses = self.predict(X)  # type: ignore[attr-defined]
        guesses = guesses.reshape(len(guesses), -1)
        measured = check_targets(y, len(guesses)).values
        if measured.shape != guesses.shape:
            raise ValueError(f"y has {measured.shape[1]} columns; {guesses.shape[1]} targets were fitted.")
        whose = role(self, X)
        return [merit(a, b, whose) for a, b in zip(measured.T, guesses.T, strict=True)]

    def leverage(self, X: Table) -> Array:
        r"""Leverage of rows, :math:`1/n + \sum_k t_{ik}^2 / t_k't_k`."""
        T, _ = self._scores_and_rows(X)
        return 1 / self.n_samples_ + ratios(T**2, self.score_squares_).sum(axis=1)

    def _scores_and_rows(self, X: Table) -> tuple[Array, Array]:
        check_is_fitted(self)
        X = complete_rows(self, X)
        rows = X.toarray() if sp.issparse(X) else X
        A = (rows - self.x_mean_) / self.x_scale_
        return A @ self.x_rotations_, A

    @property
    def _score_variances(self) -> Array:
        return self.score_squares_ / (self.n_samples_ - 1)

    @property
    def _loadings(self) -> Array:
        return self.x_loadings_.T


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
