"""Bi-cross-validation: predict a block of rows and columns from the rest of both."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from gramian import lapack
from gramian.criteria.base import Suggestion
from gramian.operators import Moments
from gramian.results import Array

#: Components looked at, at the most.
MOST = 100


def bi_cross_validation(folds: Sequence[Moments], scale: Array) -> Suggestion:
    """The number of components that predicts left-out blocks best, two by two of them.

    References
    ----------
    Owen, Perry, Bi-cross-validation of the SVD and the nonnegative matrix factorization, Annals of Applied Statistics
    2009.
    """
    errors = block_errors(folds, scale)
    name, source = "bi-cross-validation", "Owen, Perry 2009"
    if len(errors) < 2:
        return Suggestion(name, None, source, "too few rows or columns for blocks")
    k = int(np.argmin(errors))
    return Suggestion(name, k, source, f"2 x 2 blocks, relative error {errors[k]:.4g}")


def block_errors(folds: Sequence[Moments], scale: Array) -> Array:
    r"""Squared error of left-out blocks, relative to that of the mean, with 0, 1, ... components.

    Definition
    ----------
    .. math:: X = \begin{pmatrix} A & B \\ C & D \end{pmatrix}, \qquad \hat A_k = B D_k^+ C

    where A is left out. :math:`D_k^+ C = V_k S_k^{-2} V_k' D'C`, so moments of the two halves of the rows are enough.
    """
    kept = np.flatnonzero(scale > 0)
    halves = [reduce(Moments.__add__, part) for part in (folds[0::2], folds[1::2]) if len(part)]
    if len(halves) < 2 or len(kept) < 4:
        return np.empty(0)
    mean = reduce(Moments.__add__, halves).mean
    unit = np.outer(scale, scale)
    squares = [half.scatter + half.weight * np.outer(half.mean - mean, half.mean - mean) for half in halves]
    squares = [np.divide(M, unit, out=np.zeros_like(M), where=unit > 0) for M in squares]
    # Neighbours in the order of their variances go to different blocks: both then have large and small columns.
    sizes = np.diag(squares[0] + squares[1])[kept]
    order = kept[np.argsort(-np.round(sizes / sizes.max(), 6), kind="stable")]
    blocks = order[0::2], order[1::2]
    rows = int(min(half.weight for half in halves))
    most = min(MOST, rows - 1, *(len(block) for block in blocks))
    if most < 1:
        return np.empty(0)
    total = np.zeros(most + 1)
    for out, seen in ((squares[0], squares[1]), (squares[1], squares[0])):
        for h, rest in (blocks, blocks[::-1]):
            values, V = lapack.interruptible(np.linalg.eigh, seen[np.ix_(rest, rest)])
            values, V = values[::-1][:most], V[:, ::-1][:, :most]
            V = V * (values > 1e-12 * values[0])  # directions that are not there predict nothing
            Q = V.T @ seen[np.ix_(rest, h)] / np.maximum(values, 1e-12 * values[0])[:, None]
            G = V.T @ out[np.ix_(rest, rest)] @ V
            # |A - B V_k Q_k|^2 = |A|^2 - 2 tr A'B V_k Q_k + tr Q_k'(V_k'B'B V_k)Q_k, summed up as k grows
            linear = np.einsum("ij,ij->i", V.T @ out[np.ix_(rest, h)], Q)
            square = G * (Q @ Q.T)
            grown = np.array([square[: k + 1, : k + 1].sum() for k in range(most)])
            total += np.trace(out[np.ix_(h, h)]) + np.concatenate([[0.0], grown - 2 * np.cumsum(linear)])
    return total / total[0] if total[0] > 0 else total
