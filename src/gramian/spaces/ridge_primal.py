"""Ridge with the linear kernel in its d weights, from one pass over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian import lapack
from gramian.engine.tiles import row_blocks
from gramian.operators import moments_of
from gramian.results import Array, SolverTrace
from gramian.solvers.dense import pinned_if_small
from gramian.solvers.linear_methods import lengths
from gramian.spaces.ridge_dual import usual_ridges
from gramian.spaces.ridge_values import LinearFunction, RidgeCurve, RidgeFit, determined

#: Corrections from the rows themselves: what squaring the table has cost in digits comes back with them.
CORRECTIONS = 3
TINY = float(np.finfo(np.float64).tiny)


class PrimalRidge:
    r"""``sum w_i (y_i - v'x_i - b)^2 + ridge |v|^2``.

    Definition
    ----------
    .. math:: (X_c'WX_c + \lambda I)\, v = X_c'W y_c, \qquad a = W (y - Xv - b) / \lambda

    Parameters
    ----------
    X : rows
        n x d, dense or CSR.
    Y : (n, q) array
    weights : (n,) array, optional
    intercept : bool
        Without it nothing is centred.
    """

    def __init__(self, X: Any, Y: Array, weights: Array | None, *, intercept: bool) -> None:
        self.X, self.Y, self.weights, self.d = X, Y, weights, X.shape[1]
        beside = sp.csr_array(Y) if sp.issparse(X) else Y
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
            moments = moments_of(X, weights, beside=beside)
            first, second, _ = moments.views(self.d)
            squares = moments.scatter if intercept else moments.about_origin()
        self.total = moments.weight if intercept else np.inf
        self.mean = first.mean if intercept else np.zeros(self.d)
        self.level = second.mean if intercept else np.zeros(Y.shape[1])
        self.S, self.cross = squares[: self.d, : self.d], squares[: self.d, self.d :]
        if not (np.isfinite(self.S).all() and np.isfinite(self.cross).all()):
            raise ValueError("squares of X or y overflow. Divide X by a constant, or standardise its columns.")

    def fit(self, ridge: float, reason: str) -> RidgeFit:
        """Fit one ridge."""
        H, deficient = self._root(ridge)
        leverage = np.einsum("ij,ij->i", *2 * (self._centred(H),))
        return self._finish(ridge, reason, H, leverage, deficient)

    def path(self, ridges: Array | None) -> RidgeCurve:
        """Fit all ridges from one eigendecomposition."""
        with pinned_if_small(self.d**3):
            values, V = lapack.eigh(self.S)
        values = np.maximum(values, 0.0)
        ridges = usual_ridges(values) if ridges is None else ridges
        squares, fits = np.square(self._centred(V)), []
        for ridge in map(float, ridges):
            if ridge > 0:
                fits.append(
                    self._finish(ridge, "", V / np.sqrt(values + ridge), squares @ (1 / (values + ridge)), False)
                )
            else:
                fits.append(self.fit(ridge, ""))
        left_out = [np.full_like(self.Y, np.nan) if fit.left_out is None else fit.left_out for fit in fits]
        duals, offsets = np.stack([fit.dual for fit in fits]), np.stack([fit.offsets for fit in fits])
        return RidgeCurve(ridges, duals, offsets, np.stack(left_out))

    def _root(self, ridge: float) -> tuple[Array, bool]:
        """H with ``HH' = (S + ridge I)^-1``, or a generalised inverse, and whether it is one.

        Columns are brought to one scale first: a large unit does not make the others look like rounding.
        """
        scale = self._scale(ridge)
        with pinned_if_small(self.d**3):
            A = scale[:, None] * self.S * scale
            A[np.diag_indices(self.d)] += (np.sqrt(ridge) * scale) ** 2
            values, V = lapack.eigh(A)
        kept = values > max(self.X.shape) * np.finfo(np.float64).eps * values.max(initial=0.0)
        return scale[:, None] * V[:, kept] / np.sqrt(values[kept]), not kept.all()

    def _scale(self, ridge: float) -> Array:
        size = np.sqrt(np.maximum(self.S.diagonal(), 0.0) + ridge)
        return np.where(size > 0, 1 / np.where(size > 0, size, 1.0), 0.0)

    def _finish(self, ridge: float, reason: str, H: Array, leverage: Array, deficient: bool) -> RidgeFit:
        weights, scale = H @ (H.T @ self.cross), self._scale(ridge)[:, None]
        for _ in range(CORRECTIONS):
            weights = weights + H @ (H.T @ self._gradient(self._rest(weights), weights, ridge))
        if deficient:  # of all solutions the one of least norm, which lies in the span of the rows
            Q = lapack.interruptible(np.linalg.qr, self.S @ (H / np.maximum(np.linalg.norm(H, axis=0), TINY)))[0]
            weights = Q @ (Q.T @ weights)
        R = self._rest(weights)
        left = lengths(scale * self._gradient(R, weights, ridge), zero=0.0) / lengths(scale * self.cross)
        left_out, unknown = determined(self._left_out(R, leverage))
        return RidgeFit(
            LinearFunction(weights, self.mean, self.level),
            self._dual(R, weights, ridge, H),
            (self.level - self.mean @ weights)[None, :],
            left,
            SolverTrace("primal", reason, f"one pass for the moments, {CORRECTIONS} for corrections"),
            left_out,
            unknown,
            singular=deficient,
            rank=H.shape[1] if deficient else None,
            size=self.d,
        )

    def _centred(self, M: Array) -> Array:
        """``Xc M``, block by block."""
        if sp.issparse(self.X):
            return np.asarray(self.X @ M - self.mean @ M)
        return np.concatenate([(self.X[rows] - self.mean) @ M for rows in row_blocks(*self.X.shape)])

    def _rest(self, weights: Array) -> Array:
        return self.Y - self.level - self._centred(weights)

    def _gradient(self, R: Array, weights: Array, ridge: float) -> Array:
        """``Xc'W R - ridge v``, which vanishes at the solution."""
        R = R if self.weights is None else R * self.weights[:, None]
        if sp.issparse(self.X):
            return np.asarray(self.X.T @ R) - np.outer(self.mean, R.sum(axis=0)) - ridge * weights
        blocks = ((self.X[rows] - self.mean).T @ R[rows] for rows in row_blocks(*self.X.shape))
        return sum(blocks, -ridge * weights)

    def _left_out(self, R: Array, leverage: Array) -> Array:
        """``r_i / (1 - h_i)`` with the leverage h of a row and all its weight."""
        w = np.ones(len(R)) if self.weights is None else self.weights
        free = 1 - w * (leverage + 1 / self.total)
        known = free > 1e-10
        return np.where(known[:, None], R / np.where(known, free, 1.0)[:, None], np.nan)

    def _dual(self, R: Array, weights: Array, ridge: float, H: Array) -> Array:
        """Coefficients of the rows with ``Xc'a = v``: residuals over the ridge, or those of least norm."""
        w = 1.0 if self.weights is None else self.weights[:, None]
        return w * R / ridge if ridge > 0 else w * self._centred(H @ (H.T @ weights))
