"""Kernel matrices freed of what a method leaves unpenalised, with rows weighted."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike

from gramian.config import one_blas_thread
from gramian.engine.tiles import for_each, spans
from gramian.operators.centering import ColumnOperator
from gramian.results import Array


class ProjectedGram(ColumnOperator):
    r"""``P S K S P`` with weights :math:`S = \mathrm{diag}(\sqrt w)` and a projection :math:`P = I - QQ'`.

    Weights are frequencies; with ``Q = s / |s|`` the projection is weighted centring in feature
    space, with the functions a conditionally positive kernel does not penalise it makes that kernel positive.

    ``roots`` (n,): square roots of the weights. ``null`` (n, m): orthonormal columns Q, often few. ``positive``: no
    eigenvalue can be negative, which a projection may bring about. ``effort``: what a product costs, in units of one
    with rows of a few columns: a solver may prefer a factorisation.
    """

    def __init__(
        self, inner: ColumnOperator, roots: Array | None, null: Array | None, *, positive: bool, effort: float = 1.0
    ) -> None:
        self.inner, self.roots, self.positive, self.effort = inner, roots, positive, effort
        self.null = np.zeros((inner.n, 0)) if null is None else null
        self.n, self.dtype = inner.n, inner.dtype
        # Projecting out a large part leaves a small difference, of which single precision would keep too little.
        self.narrow_pays = inner.narrow_pays and inner.positive
        self._shadow: Array | None = None

    def __matmul__(self, V: Array) -> Array:
        return self.free(self._weigh(self.inner @ self._weigh(self.free(V))))

    def free(self, V: Array) -> Array:
        """Return ``P V``."""
        if not self.null.shape[1]:
            return V
        Q = self.null.astype(V.dtype, copy=False)
        return V - Q @ (Q.T @ V)

    def _weigh(self, V: Array) -> Array:
        return V if self.roots is None else V * self.roots.astype(V.dtype, copy=False)[:, None]

    @property
    def origin(self) -> float:
        """Size of the entries before the projection, which may be far larger than what it leaves: 0 without one."""
        if not self.null.shape[1]:
            return 0.0
        weights = np.ones(self.n) if self.roots is None else self.roots**2
        if self.inner.positive:
            return float(np.max(weights * self.inner.diagonal()))
        # The diagonal may be zero: one column shows the order of magnitude.
        return float(weights.max() * np.abs(self.inner.columns(np.array([0]))).max())

    @property
    def shadow(self) -> Array:
        """``S K S Q``, n x m: what columns and diagonal need beside those of K; costs one product."""
        if self._shadow is None:
            wide = self.inner.astype(np.float64)
            self._shadow = self._weigh(wide @ self._weigh(self.null)) if self.null.shape[1] else self.null
        return self._shadow

    def diagonal(self) -> Array:
        D = np.array(self.inner.diagonal(), dtype=np.float64)
        if self.roots is not None:
            D *= self.roots**2
        Q, B = self.null, self.shadow
        D = D - 2 * np.einsum("ij,ij->i", Q, B) + np.einsum("ij,ij->i", Q @ (Q.T @ B), Q)
        return np.maximum(D, 0.0) if self.positive else D  # where nothing is left, rounding may be negative

    def columns(self, chosen: Array) -> Array:
        C = self.inner.columns(chosen)
        if self.roots is not None:
            C = (C * self.roots[chosen].astype(C.dtype)) * self.roots.astype(C.dtype)[:, None]
        if self.null.shape[1]:
            C = self.free(C - (self.shadow @ self.null[chosen].T).astype(C.dtype))
        return C

    def toarray(self) -> Array:
        A, Q = self.inner.toarray(), self.null
        roots = np.ones(self.n) if self.roots is None else self.roots
        # The solver raises if anything overflowed.
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            B = roots[:, None] * (A @ (roots[:, None] * Q))
            E = B - Q @ (Q.T @ B) / 2

        def project(r: slice) -> None:
            with np.errstate(over="ignore", invalid="ignore"):
                A[r] *= roots[r, None] * roots
                A[r] -= Q[r] @ E.T + E[r] @ Q.T

        if self.roots is not None or Q.shape[1]:
            self._shadow = B
            for_each(spans(self.n), project)
        return A

    def astype(self, dtype: DTypeLike) -> ProjectedGram:
        if self.dtype == dtype:
            return self
        inner = self.inner.astype(dtype)
        other = ProjectedGram(inner, self.roots, self.null, positive=self.positive, effort=self.effort)
        other._shadow = self._shadow
        return other

    def sketch(self, rank: int, rng: np.random.Generator) -> Array:
        if self.inner.positive:
            F = self.inner.sketch(rank, rng)
            if self.roots is not None:
                F *= self.roots[:, None]
            shares = self.null.T @ F
            for rows in spans(self.n):  # in place: F may be the largest thing in memory
                F[rows] -= self.null[rows] @ shares
            return F
        return super().sketch(rank, rng)
