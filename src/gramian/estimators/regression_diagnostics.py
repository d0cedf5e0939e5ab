"""What a chemist asks of a fitted regression: figures of merit, leverages, outliers, and the columns it rests on."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.diagnostics import q_limit, t2_limit
from gramian.estimators.fitted_rows import role
from gramian.estimators.merit import Merit, merit
from gramian.estimators.targets import check_targets
from gramian.estimators.two_blocks import complete_rows
from gramian.results import Array


class RegressionDiagnostics:
    """Diagnostics of rows along the components of a fitted regression, in the (scaled) units of the fit."""

    x_mean_: Array
    x_scale_: Array
    x_rotations_: Array
    x_loadings_: Array
    score_squares_: Array
    n_samples_: float
    residual_moments_: tuple[float, float]

    def merit(self, X: Any, y: Any) -> list[Merit]:
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

    def leverage(self, X: Any) -> Array:
        r"""Leverage of rows, :math:`1/n + \sum_k t_{ik}^2 / t_k't_k`."""
        T, _ = self._scores(X)
        return 1 / self.n_samples_ + self._over(T**2, self.score_squares_).sum(axis=1)

    def hotelling_t2(self, X: Any) -> Array:
        r"""Squared distance from the mean within the components, :math:`\sum_k t_{ik}^2/\lambda_k`."""
        T, _ = self._scores(X)
        return self._over(T**2, self.score_squares_ / (self.n_samples_ - 1)).sum(axis=1)

    def t2_limit(self, alpha: float = 0.05) -> float:
        """Value that T2 of a new row from the same source exceeds with probability ``alpha``."""
        check_is_fitted(self)
        return t2_limit(self.n_samples_, int((self.score_squares_ > 0).sum()), alpha)

    def q_residuals(self, X: Any) -> Array:
        """Squared distance of (scaled) rows to what the components hold of them."""
        T, A = self._scores(X)
        return np.sum((A - T @ self.x_loadings_.T) ** 2, axis=1)

    def q_limit(self, alpha: float = 0.05) -> float:
        """Value that Q of a new row from the same source exceeds with probability ``alpha``."""
        check_is_fitted(self)
        return q_limit(*self.residual_moments_, alpha)

    def _scores(self, X: Any) -> tuple[Array, Array]:
        """Scores, and the centred and scaled rows."""
        check_is_fitted(self)
        X = complete_rows(self, X)
        rows = X.toarray() if sp.issparse(X) else X
        A = (rows - self.x_mean_) / self.x_scale_
        return A @ self.x_rotations_, A

    @staticmethod
    def _over(squares: Array, variances: Array) -> Array:
        return np.divide(squares, variances, out=np.zeros_like(squares), where=variances > 0)


def variable_importance(weights: Array, y_squares: Array) -> Array:
    r"""Importance of each column in the projection (VIP); its mean square is 1, above 1 counts as important.

    Definition
    ----------
    .. math:: \mathrm{VIP}_j = \Big(d \sum_k w_{jk}^2 c_k \Big/ \sum_k c_k\Big)^{1/2}, \qquad
              c_k = \text{squares of y that component k accounts for}

    References
    ----------
    Wold, Sjoestroem, Eriksson, PLS-regression: a basic tool of chemometrics, 2001.
    """
    total = y_squares.sum()
    return np.sqrt(len(weights) * (weights**2 @ y_squares) / total) if total > 0 else np.zeros(len(weights))


def selectivity_ratio(A: Array, coefficients: Array) -> Array:
    r"""Variance of each column that the prediction of a target explains, over what it leaves; targets x features.

    Definition
    ----------
    .. math:: t = A b, \quad p = A't/t't, \qquad
              \mathrm{SR}_j = \frac{p_j^2\, t't}{\|a_j\|^2 - p_j^2\, t't}

    Infinite for a column that is the prediction itself.

    References
    ----------
    Kvalheim, Interpretation of partial least squares regression models by means of target projection, 2010.
    """
    T = A @ coefficients
    lengths = np.einsum("rq,rq->q", T, T)
    explained = (T.T @ A) ** 2 / np.where(lengths > 0, lengths, 1.0)[:, None]
    total = np.einsum("rd,rd->d", A, A)
    left = np.maximum(total - explained, 0.0)
    left[left <= 1e-14 * total] = 0.0
    ratio = np.divide(explained, left, out=np.full_like(left, np.inf), where=left > 0)
    return np.where(explained > 0, ratio, 0.0)
