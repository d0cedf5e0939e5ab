"""The correlation matrix of columns, and that of more columns than rows, which is never formed."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gramian import lapack
from gramian.operators.matrix import Data
from gramian.operators.moments import ColumnSums, Moments
from gramian.results import Array, Matrix

#: Factor by which LAPACK's estimate of the condition of a matrix may be too small: three as a rule, rarely ten.
CONDITION_DOUBT = 100.0


class Scaled:
    """``diag(root)^-1 R diag(root)^-1``, and the eigenvectors that have its columns as entries."""

    dtype = np.dtype(np.float64)

    def __init__(self, R: Array, root: Array) -> None:
        self.R, self.root, self.n = R, root[:, None], len(R)

    def __matmul__(self, V: Array) -> Array:
        return np.asarray(self.R @ (V / self.root)) / self.root

    def of_columns(self, vectors: Array, values: Array) -> Array:
        """Eigenvectors of d entries, from those found."""
        return vectors


class ScaledRows(Scaled):
    """``AA'`` of fewer rows than columns, whose eigenvalues are those of ``A'A``: its vectors are shorter."""

    def __init__(self, A: Array) -> None:
        self.A, self.n = A, len(A)

    def __matmul__(self, V: Array) -> Array:
        return np.asarray(self.A @ (self.A.T @ V))

    def of_columns(self, vectors: Array, values: Array) -> Array:
        kept = values > self.n * np.finfo(np.float64).eps * values.max(initial=0.0)  # others are rounding
        return np.asarray(self.A.T @ vectors) * np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)


class Correlation:
    """A correlation matrix R (d, d), and what several measures of it share.

    >>> R = Correlation(np.array([[1.0, 0.6], [0.6, 1.0]]))
    >>> round(R.log_determinant, 6), Correlation(np.ones((2, 2))).log_determinant
    (-0.446287, None)
    """

    def __init__(self, R: Array) -> None:
        self.R, self.d, self.diagonal = R, len(R), np.diag(R)

    @classmethod
    def of(cls, R: Array | Correlation) -> Correlation:
        """R itself, or a matrix as one."""
        return R if isinstance(R, Correlation) else cls(R)

    def __matmul__(self, V: Array) -> Array:
        return np.asarray(self.R @ V)

    def scaled(self, root: Array) -> Scaled:
        """``diag(root)^-1 R diag(root)^-1``, known by its products."""
        return Scaled(self.R, root)

    @cached_property
    def factor(self) -> Array | None:
        """Lower Cholesky factor; None where R is singular: its least eigenvalue below ``d eps`` times the largest."""
        least = self.d * np.finfo(np.float64).eps
        try:
            L = lapack.cholesky(self.R, lower=True)
        except np.linalg.LinAlgError:
            return None
        # No eigenvalue of R is above its norm, and the least one is below the square of every pivot.
        if np.diag(L).min(initial=1.0) ** 2 <= least * self.diagonal.max(initial=0.0):
            return None
        if lapack.inverse_condition(L, np.abs(self.R).sum(axis=0).max(initial=0.0)) > CONDITION_DOUBT * least:
            return L
        values = lapack.eigvalsh(self.R)
        return L if values[0] > least * values[-1] else None

    @cached_property
    def log_determinant(self) -> float | None:
        """``log |R|``; None where R is singular."""
        return None if self.factor is None else 2 * float(np.log(np.diag(self.factor)).sum())

    def inverse(self) -> Array | None:
        """The inverse; None where R is singular."""
        if self.factor is None:
            return None
        half = lapack.lower_inverse(self.factor)
        return half.T @ half

    def squares_beside(self, loadings: Array) -> float:
        """Sum of the squared entries of ``R - LL'`` above the diagonal."""
        return float(np.sum(np.triu(self.R - loadings @ loadings.T, 1) ** 2))


class WideCorrelation(Correlation):
    """``R = Z'Z`` of fewer rows than columns; ``rows`` (n, d): Z, with columns of length 1."""

    factor = None

    def __init__(self, rows: Array) -> None:
        self.rows, self.d, self.diagonal = rows, rows.shape[1], np.ones(rows.shape[1])

    def __matmul__(self, V: Array) -> Array:
        return np.asarray(self.rows.T @ (self.rows @ V))

    def scaled(self, root: Array) -> Scaled:
        return ScaledRows(self.rows / root)

    def squares_beside(self, loadings: Array) -> float:
        """The same to rounding of ``|R|^2``, without a d x d matrix."""
        G = self.rows @ self.rows.T
        whole = np.sum(G**2) - 2 * np.sum((self.rows @ loadings) ** 2) + np.sum((loadings.T @ loadings) ** 2)
        return max(0.0, float(whole - np.sum((1 - np.sum(loadings**2, axis=1)) ** 2))) / 2


def correlation(moments: Moments) -> tuple[Array, Correlation]:
    """Standard deviations (divisor n) and correlations of columns with these moments."""
    scale = np.sqrt(np.diag(moments.scatter) / moments.weight)
    R = moments.scatter / (moments.weight * scale)
    R /= scale[:, None]
    R[np.diag_indices_from(R)] = 1.0
    return scale, Correlation(R)


def wide_correlation(X: Matrix, weights: Array | None = None) -> tuple[ColumnSums, WideCorrelation]:
    """Sums and correlations of more columns than rows; those of a constant column are NaN."""
    data = Data(X, weights=weights)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        A, root = data.toarray(), np.ones(data.n) if data.root is None else data.root
        rest = root @ A / data.weight  # the mean was rounded
        A -= np.outer(root, rest)
        squares = np.einsum("ij,ij->j", A, A)
        A /= np.sqrt(squares)
        return ColumnSums(data.weight, data.mean + rest * data.unit, squares * np.square(data.unit)), WideCorrelation(A)
