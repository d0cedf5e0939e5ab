"""Which columns a regression on components rests on."""

from __future__ import annotations

import numpy as np

from gramian.results import Array


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
