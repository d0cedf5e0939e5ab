"""Symmetric matrices that solvers know by their products; the only place where columns and kernels are centred."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import DTypeLike

from gramian.config import one_blas_thread
from gramian.engine.tiles import CACHED_ENTRIES, for_each, spans, threads_for
from gramian.kernels import Kernel
from gramian.results import Array, Matrix

#: Rows of a matrix up to which threads of our own are not worth their start.
DENSE_ONE_PRODUCT_MAX_ROWS = 256
#: Rows up to which one thread multiplies: 0.2 ms with a few vectors, of which others take half to be woken.
ONE_THREAD_MAX_ROWS = 640


class Operator(ABC):
    """A symmetric n x n matrix, known by its products.

    Solvers see nothing else: no data, no kernel. ``positive`` says that no eigenvalue can be negative, ``narrow_pays``
    that products in single precision are cheaper by a good deal.
    """

    n: int
    dtype: np.dtype
    positive: bool
    narrow_pays: bool = False

    @property
    def rounding(self) -> float:
        """Absolute rounding of the spectrum where it is more than that of the largest eigenvalue."""
        return 0.0

    @abstractmethod
    def __matmul__(self, V: Array) -> Array:
        """Return the product with an n x k block of vectors."""

    @abstractmethod
    def toarray(self) -> Array:
        """Return the whole matrix in double precision, as a fresh array."""

    @abstractmethod
    def astype(self, dtype: DTypeLike) -> Self:
        """Return the same operator in another precision."""

    def sketch(self, rank: int, rng: np.random.Generator) -> Array:
        """Return a tall F whose span is near the leading eigenvectors; random unless the operator knows better."""
        return rng.standard_normal((self.n, min(rank, self.n)))


@dataclass(frozen=True)
class Outline:
    """What a choice of solver asks of an operator: enough to choose before there is one."""

    n: int
    positive: bool = True
    narrow_pays: bool = False


class ColumnOperator(Operator):
    """An operator of which the diagonal and some columns can be had at a small price."""

    @abstractmethod
    def diagonal(self) -> Array:
        """Return the diagonal."""

    @abstractmethod
    def columns(self, chosen: Array) -> Array:
        """Return some columns."""

    def sketch(self, rank: int, rng: np.random.Generator) -> Array:
        rank = min(rank, self.n)
        return pivoted_factor(self, rank, rng) if self.positive else super().sketch(rank, rng)


class Dense(ColumnOperator):
    """A symmetric matrix that exists."""

    def __init__(self, A: Array, *, positive: bool, narrow_pays: bool = False) -> None:
        self.A, self.positive, self.narrow_pays = A, positive, narrow_pays
        self.n, self.dtype = A.shape[0], A.dtype

    def __matmul__(self, V: Array) -> Array:
        if self.n <= ONE_THREAD_MAX_ROWS:
            with one_blas_thread():
                return self.A @ V
        # Threads of our own, so that the bits do not depend on what else the process does with BLAS.
        out = np.empty((self.n, V.shape[1]), dtype=np.result_type(self.A, V))
        rows = spans(self.n, max(DENSE_ONE_PRODUCT_MAX_ROWS, -(-self.n // threads_for(self.n))))
        for_each(rows, lambda part: np.matmul(self.A[part], V, out=out[part]))
        return out

    def diagonal(self) -> Array:
        return self.A.diagonal()

    def columns(self, chosen: Array) -> Array:
        return self.A[:, chosen]

    def toarray(self) -> Array:
        return self.A.astype(np.float64)

    def astype(self, dtype: DTypeLike) -> Dense:
        return self if self.dtype == dtype else Dense(self.A.astype(dtype), positive=self.positive)


def pivoted_factor(matrix: ColumnOperator, rank: int, rng: np.random.Generator, block: int = 32) -> Array:
    r"""Return F, n x at most rank, with :math:`A \approx FF'`.

    Definition
    ----------
    Pivots are drawn in blocks with probability proportional to what the factor still leaves of the diagonal; each block
    adds the Cholesky factor of the remainder restricted to it.

    Cost
    ----
    ``rank`` columns of the matrix, ``n rank^2`` multiplications, ``n rank`` numbers.

    References
    ----------
    Chen, Epperly, Tropp, Webber, Randomly pivoted Cholesky, Communications on Pure and Applied Mathematics 2024.
    """
    left = np.array(matrix.diagonal(), dtype=np.float64)
    F, filled = np.zeros((matrix.n, rank)), 0
    floor = left.sum() * np.finfo(np.float64).eps * matrix.n
    while filled < rank and left.sum() > floor:
        drawn = rng.choice(matrix.n, size=min(block, rank - filled), p=left / left.sum())
        pivots = np.unique(drawn)
        G = matrix.columns(pivots) - F[:, :filled] @ F[pivots, :filled].T
        # A block may hold near copies: the eigenvectors of its core that carry nothing are left out.
        values, Y = scipy.linalg.eigh(G[pivots])
        kept = values > 1e-10 * values[-1]
        if not kept.any():
            break
        new = G @ (Y[:, kept] / np.sqrt(values[kept]))
        F[:, filled : filled + new.shape[1]] = new
        filled += new.shape[1]
        left = np.maximum(left - np.einsum("ij,ij->i", new, new), 0.0)
        left[pivots] = 0.0
    return F[:, :filled]


def column_means(X: Matrix, weights: Array | None = None) -> Array:
    """Column means in double precision, with the rounding of the first pass taken out by a second."""
    share = np.full(X.shape[0], 1 / X.shape[0]) if weights is None else weights / weights.sum()
    if sp.issparse(X):
        return np.asarray(X.T @ share, dtype=np.float64).ravel()
    mean, blocks = np.zeros(X.shape[1]), spans(X.shape[0], max(64, CACHED_ENTRIES // max(X.shape[1], 1)))
    for rows in blocks:  # shares first: a sum of extreme values would overflow before the mean does
        mean += share[rows] @ X[rows]
    rest = sum(share[rows] @ (X[rows] - mean) for rows in blocks)
    return mean + rest


def best_origin(kernel: Kernel, X: Any, weights: Array | None = None) -> Array | None:
    """Return the point to move the origin to, if distances do not see the move but rounding does."""
    if not kernel.linear or sp.issparse(X):
        return None
    # Rows of a cluster know their own means.
    return column_means(X, weights) if isinstance(X, np.ndarray) else X.columns(weights).mean


def moved(X: Matrix, origin: Array | None) -> Any:
    """Return rows seen from another origin."""
    if origin is None:
        return X
    found = X - origin
    return np.asarray(found) if isinstance(found, np.matrix) else found  # what a csr_matrix gives


def from_best_origin(kernel: Kernel, X: Any, weights: Array | None = None) -> tuple[Any, Array | None]:
    """Return rows seen from their :func:`best_origin`, and that origin."""
    origin = best_origin(kernel, X, weights)
    return moved(X, origin), origin


@dataclass(frozen=True)
class KernelCentring:
    r"""Centring in feature space, from the training means alone.

    Definition
    ----------
    With :math:`m = K1/n` and :math:`H = I - 11'/n`: training :math:`HKH`, a new row :math:`(k(x) - m)'H`.

    ``means`` (n,): row means :math:`m` of the training Gram matrix.
    """

    means: Array

    def trace(self, diagonal: Array) -> float:
        """Trace of ``HKH``: ``tr K - 1'K1/n``."""
        return float(diagonal.sum() - self.means.sum())

    def apply(self, K: Array) -> Array:
        """Centre the training Gram matrix, in place."""
        K -= self.means[:, None]
        K -= self.means[None, :]
        K += self.means.mean()
        return K

    def fold(self, coefficients: Array) -> tuple[Array, Array]:
        """Move the centring of new rows into the coefficients: ``(k - m)'H A = k'B + b``."""
        B = centre_columns(coefficients)
        return B, -self.means @ B


class Centred(Operator):
    """``H K H``. The means are picked up by the first product, as one more vector."""

    def __init__(self, inner: ColumnOperator, means: Array | None = None) -> None:
        self.inner, self._means = inner, means
        self.n, self.dtype, self.positive = inner.n, inner.dtype, inner.positive
        self.narrow_pays, self.limit = inner.narrow_pays, inner.n

    def __matmul__(self, V: Array) -> Array:
        V = centre_columns(V)
        if self._means is None:
            product = self.inner @ np.column_stack([V, np.ones(self.n, dtype=V.dtype)])
            self._means = product[:, -1].astype(np.float64) / self.n
            return centre_columns(product[:, :-1])
        return centre_columns(self.inner @ V)

    @property
    def centring(self) -> KernelCentring:
        """The training means; costs a product if none was made yet."""
        if self._means is None:
            self._means = (self.inner @ np.ones((self.n, 1)))[:, 0].astype(np.float64) / self.n
        return KernelCentring(self._means)

    def trace(self) -> float:
        """Trace of the centred matrix."""
        return self.centring.trace(self.inner.diagonal())

    @property
    def rounding(self) -> float:
        """Some roundings of the entries before centring, however little is left of them after it."""
        return float(10 * self.n * np.finfo(np.float64).eps * np.abs(self.inner.diagonal()).max(initial=0.0))

    def toarray(self) -> Array:
        K = self.inner.toarray()
        self._means = K.mean(axis=1)
        return self.centring.apply(K)

    def astype(self, dtype: DTypeLike) -> Centred:
        # Means in single precision would add 1e-7 to the residuals: the new operator computes its own.
        return self if self.dtype == dtype else Centred(self.inner.astype(dtype))

    def sketch(self, rank: int, rng: np.random.Generator) -> Array:
        return centre_columns(self.inner.sketch(rank, rng))


def centre_columns(V: Array) -> Array:
    """Return ``H V``."""
    return V - V.mean(axis=0)


def uncentred(coefficients: Array, scores: Array, mean: Array | None = None) -> tuple[Array, Array]:
    r"""Points of the feature space that have given scores, as sums over the training rows.

    Definition
    ----------
    .. math:: P = \bar\phi + \sum_k t_k v_k = \sum_j \Big(\sum_k b_{jk} t_k + \tfrac{1}{n}\Big) \phi(x_j)

    ``coefficients`` (n, k): B, with the centring folded in: see :meth:`KernelCentring.fold`. ``scores`` (m, k): t.
    ``mean`` (n,): coefficients of the mean, if it is not that of the rows themselves, 1/n each.

    Returns ``weights``: B, and the mean as one more direction; ``coordinates``: The scores, and 1 along the mean.
    """
    n = len(coefficients)
    mean = np.full(n, 1 / n) if mean is None else mean
    return np.column_stack([coefficients, mean]), np.column_stack([scores, np.ones(len(scores))])


@dataclass(frozen=True)
class Polynomials:
    """Functions that a conditionally positive kernel leaves unpenalised, at the training rows.

    ``basis`` (n, r): E, an orthonormal basis of the columns of T. ``inverse`` (p, r): G with ``(T - shift)^+ = G E'``,
    so that rows of ``t - shift`` have the coordinates ``(t - shift) G``. ``shift`` (p,): means of the columns, but for
    the first, which is constant: far from the origin T is nearly singular.
    """

    basis: Array
    inverse: Array
    shift: Array

    @classmethod
    def of(cls, T: Array) -> Polynomials:
        """Take the values of the functions, n x p, the constant first; those that repeat others drop out."""
        shift = T.mean(axis=0)
        shift[0] = 0.0
        size = np.linalg.norm(T - shift, axis=0)
        size[size == 0] = 1.0
        E, s, Wt = np.linalg.svd((T - shift) / size, full_matrices=False)
        kept = s > max(T.shape) * np.finfo(np.float64).eps * s[0]
        return cls(E[:, kept], (Wt[kept].T / s[kept]) / size[:, None], shift)

    def free(self, V: Array) -> Array:
        """Return ``Q V``, with ``Q = I - E E'``."""
        E = self.basis.astype(V.dtype, copy=False)
        return V - E @ (E.T @ V)


@dataclass(frozen=True)
class PolynomialCentring:
    r"""Centring that takes out all the functions a kernel leaves unpenalised, not the constant alone.

    Definition
    ----------
    With :math:`Q = I - TT^+`: training :math:`QKQ`, a new row :math:`Q(k(x) - KT^{+\prime} t(x))`. For
    :math:`T = 1` this is :class:`KernelCentring`.

    ``image`` (n, r): ``K E``.
    """

    polynomials: Polynomials
    image: Array

    def fold(self, coefficients: Array) -> tuple[Array, Array]:
        """Move the centring of new rows into the coefficients: ``k'B + (t(x) - shift)'D``."""
        B = self.polynomials.free(coefficients)
        return B, -self.polynomials.inverse @ (self.image.T @ B)


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


class Projected(ProjectedGram):
    """``Q K Q``: a conditionally positive kernel beside its polynomials, positive there."""

    def __init__(self, inner: ColumnOperator, polynomials: Polynomials) -> None:
        super().__init__(inner, None, polynomials.basis, positive=True)
        self.polynomials, self.narrow_pays = polynomials, inner.narrow_pays
        self.limit = self.n - polynomials.basis.shape[1]

    @property
    def centring(self) -> PolynomialCentring:
        """What new rows need; costs a product, once."""
        return PolynomialCentring(self.polynomials, self.shadow)

    def vanishes(self) -> bool:
        """Whether the polynomials hold all there is: no more rows that differ than functions."""
        size = float(np.abs(self.shadow).max()) * self.shadow.size**0.5  # squares might overflow
        rounding = self.n * np.finfo(np.float64).eps * size
        return self.limit == 0 or bool(self.trace() <= rounding)

    def trace(self) -> float:
        """Trace of the matrix."""
        return float(self.inner.diagonal().sum() - np.sum(self.null * self.shadow))

    def toarray(self) -> Array:
        K, E = self.inner.toarray(), self.null
        self._shadow = K @ E
        for _ in range(2):  # the second time for what the first left: rounding of K, which may be far larger than QKQ
            KE = K @ E
            half = (KE - E @ (E.T @ KE) / 2) @ E.T
            K -= half + half.T
        return K

    def astype(self, dtype: DTypeLike) -> Projected:
        return self if self.dtype == dtype else Projected(self.inner.astype(dtype), self.polynomials)
