"""Gaps between neighbouring eigenvalues in their standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.engine.tiles import row_blocks
from gramian.estimators import PCA
from gramian.operators import moments_of
from gramian.results import Array

#: Standard errors that a gap must have. The gap of two equal eigenvalues of Gaussian rows, in its standard error, is
#: the root of a chi-square of two degrees of freedom: it is above this in one sample of twenty.
TOLD_APART = 2.448


@dataclass(frozen=True)
class Ties:
    """Gaps between neighbouring components in their standard errors.

    Each gap is a statement about two neighbours. A small gap does not prove that the two are equal, and two small gaps
    in a row say nothing of the first component and the third.

    Attributes
    ----------
    gaps : (K - 1,) array
        Of the first K components; one more if a component that was left out is known.
    k : int
        Components fitted.
    """

    gaps: Array
    k: int

    @property
    def close(self) -> tuple[int, ...]:
        """Components, counted from 1, whose gap to the next fitted one is not significant."""
        return tuple(at + 1 for at in range(self.k - 1) if self.gaps[at] < TOLD_APART)

    @property
    def cut(self) -> bool:
        """Whether the gap between the last component and the first that was left out is not significant."""
        return len(self.gaps) >= self.k and bool(self.gaps[self.k - 1] < TOLD_APART)


def gaps_in_errors(values: Array, influence: Array) -> tuple[Array, Array]:
    r"""Gaps between eigenvalues in standard errors, and the standard errors of the eigenvalues.

    Definition
    ----------
    .. math:: \widehat{\mathrm{Var}}(\lambda_k - \lambda_l) = \tfrac1n \mathrm{Var}_i(\psi_{ik} - \psi_{il})

    with the influence :math:`\psi_{ik} = t_{ik}^2 - \lambda_k` of row i, which needs no Gaussian rows.

    Parameters
    ----------
    values : (K,) array
    influence : (n, K) array
        Up to constants.
    """
    n = len(influence)
    C = moments_of(np.ascontiguousarray(influence)).scatter / max(n - 1, 1) / n
    variances = np.diag(C)
    spread = np.sqrt(np.maximum(variances[:-1] + variances[1:] - 2 * np.diag(C, 1), 0.0))
    gaps = -np.diff(values)
    return np.divide(gaps, spread, out=np.full(len(gaps), np.inf), where=spread > 0), np.sqrt(variances)


def influence_of_rows(estimator: Any, X: Any) -> Array:
    r"""Influence of rows on the variances of linear components, n x K.

    Of correlation PCA the standard deviations are estimated too, and
    :math:`\psi_{ik} = t_{ik}^2 - \lambda_k \sum_j v_{jk}^2 z_{ij}^2`.
    """
    if isinstance(estimator, PCA):
        V, scale, values = estimator.components_.T.astype(np.float64), estimator.scale_, estimator.explained_variance_
    else:
        W = estimator.loadings_.astype(np.float64)
        lengths = np.linalg.norm(W, axis=0)
        V, scale, values = W / np.where(lengths > 0, lengths, 1.0), np.ones(len(W)), None
    scaled = values is not None and estimator.scale
    out = np.empty((X.shape[0], V.shape[1]))
    for rows in row_blocks(*X.shape):
        block = X[rows].toarray() if sp.issparse(X) else X[rows]
        Z = (block - estimator.mean_.astype(np.float64)) / scale
        out[rows] = (Z @ V) ** 2
        if scaled:
            out[rows] -= values * (Z**2 @ V**2)
    return out
