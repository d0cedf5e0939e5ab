"""Leading canonical pairs of two positive matrices with ridges, by products alone."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from gramian.config import format_bytes, memory_budget, one_blas_thread, within_budget
from gramian.lapack import left_svd
from gramian.operators.centering import Centred, Projected
from gramian.progress import part_done, track
from gramian.results import Array
from gramian.solvers.conjugate import Preconditioner
from gramian.solvers.dense import CholeskyFactor, NotPositive

#: A positive operator with a low-rank factor and its trace.
Matrix: TypeAlias = Centred | Projected
#: A factor is complete if the trace that it leaves is at most this part of the ridge.
FACTOR_REST_PER_RIDGE = 1e-9
#: A direction shorter than this after projection, relative to its length before, is rounding.
MIN_NEW_LENGTH = 1e-10
#: Most columns of the low-rank factors that precondition.
CANONICAL_FACTOR_RANK = 200
#: Blocks of search directions kept before a restart.
CANONICAL_MAX_BLOCKS = 8
#: Products after which the low-rank factors are replaced by Cholesky factors, up to this number of rows.
CANONICAL_TRIAL_PRODUCTS, CANONICAL_FACTOR_MAX_ROWS = 20, 10_000
#: Largest residual that rounding can explain.
ROUNDING_MAX_RESIDUAL = 1e-6
#: Residuals that grew by this factor above their minimum: rounding dominates.
RESIDUAL_GROWTH_LIMIT = 1e3


@dataclass(frozen=True)
class Block:
    """Vectors, n x m, and their images under the matrix of their side."""

    vectors: Array
    images: Array

    def __matmul__(self, Y: Array) -> Block:
        return Block(self.vectors @ Y, self.images @ Y)

    def __sub__(self, other: Block) -> Block:
        return Block(self.vectors - other.vectors, self.images - other.images)

    def chosen(self, kept: Array, sizes: Array) -> Block:
        """Some of the vectors, divided by sizes."""
        return Block(self.vectors[:, kept] / sizes[kept], self.images[:, kept] / sizes[kept])

    def beside(self, other: Block) -> Block:
        """Both, side by side."""
        return Block(np.hstack([self.vectors, other.vectors]), np.hstack([self.images, other.images]))


@dataclass(frozen=True)
class Correction:
    """Directions that a side lacks, for each pair a bound on how much, and how much of that may be rounding."""

    block: Block
    errors: Array
    rounding: Array


class Side:
    """A matrix K with its ridge, a preconditioner, and directions Q with ``Q'K(K + shift)Q = I``."""

    def __init__(self, K: Matrix, shift: float, rank: int, rng: np.random.Generator) -> None:
        self.K, self.shift, self.products = K, shift, 0
        self.factor = Factor(K, shift, rank, rng)
        self.inverse: Preconditioner = self.factor
        self.known = self._nothing()

    @property
    def width(self) -> int:
        """Number of directions known."""
        return self.known.vectors.shape[1]

    def sharpen(self) -> None:
        """Precondition by the inverse itself."""
        with suppress(NotPositive):  # the rounding of the matrix exceeds the ridge: the low-rank factor stays
            self.inverse = Inverse(self.K, self.shift)

    def begin(self, V: Array) -> None:
        """Restart the search from these vectors, with new products."""
        self.known = self._nothing()
        self.add(self._block(V))

    def add(self, block: Block) -> int:
        """Extend the search space by these vectors; return the number of new directions."""
        new = self._orthonormal(block)
        self.known = self.known.beside(new)
        return new.vectors.shape[1]

    def correction(self, mine: Block, other: Block, values: Array) -> Correction:
        r"""Return ``(K + shift)^-1 R`` for ``R = other - rho (K + shift) mine``, nearly, and what it tells.

        With the exact inverse the length of the correction in the metric :math:`K(K + \text{shift})` is that of
        ``Tv - rho u``; what the preconditioner leaves of R is added to make it a bound.
        """
        R = other.images - values * (mine.images + self.shift * mine.vectors)
        if self.factor.complete:  # what K does not see of R changes no score, and has no image to be corrected by
            U, gains = self.factor.U, self.factor.gains[:, None]
            shares = U.T @ R
            errors = np.linalg.norm(np.sqrt(gains) * shares, axis=0)
            return Correction(self._block(U @ ((1 - gains) * shares) / self.shift), errors, np.zeros_like(errors))
        block = self._block((self.inverse @ R) / self.shift)
        rest = R - block.images - self.shift * block.vectors
        errors = self._lengths(block) + np.linalg.norm(rest, axis=0)
        return Correction(block, errors, self._rounding(block))

    def _block(self, V: Array) -> Block:
        self.products += 1
        return Block(V, self.K @ V)

    def _nothing(self) -> Block:
        return Block(np.empty((self.K.n, 0)), np.empty((self.K.n, 0)))

    def _products(self, left: Block, right: Block) -> Array:
        """Inner products in the metric: ``left'K(K + shift) right``."""
        return left.images.T @ (right.images + self.shift * right.vectors)

    def _lengths(self, block: Block) -> Array:
        squares = np.einsum("ij,ij->j", block.images, block.images + self.shift * block.vectors)
        return np.sqrt(np.maximum(squares, 0.0))

    def _rounding(self, block: Block) -> Array:
        """Lengths that the rounding of the images alone can cause."""
        size = np.finfo(np.float64).eps * self.factor.top * self.shift
        return 4 * np.sqrt(size) * np.linalg.norm(block.vectors, axis=0)

    def _orthonormal(self, block: Block) -> Block:
        """Orthonormal basis, in the metric, of what the vectors add to the directions known."""
        for _ in range(3):
            before = self._lengths(block)
            block = block - self.known @ self._products(self.known, block)
            lengths = self._lengths(block)
            block = block.chosen(lengths > np.maximum(MIN_NEW_LENGTH * before, self._rounding(block)), lengths)
            G = self._products(block, block)
            values, Y = np.linalg.eigh((G + G.T) / 2)
            block = (block @ Y).chosen(values > MIN_NEW_LENGTH, np.sqrt(np.maximum(values, 0.0)))
        return block


class Factor:
    r"""``shift (FF' + shift I)^-1`` with a randomly pivoted Cholesky factor F of K.

    ``U`` (n, r): left singular vectors of F. ``gains`` (r,): ``s^2 / (s^2 + shift)`` of its singular values s. ``top``:
    largest squared singular value. ``complete``: whether the trace that the factor leaves of K is negligible beside the
    ridge.
    """

    name = "a randomly pivoted Cholesky factor"

    def __init__(self, K: Matrix, shift: float, rank: int, rng: np.random.Generator) -> None:
        found = left_svd(K.sketch(rank, rng))
        squares = found.values**2
        kept = squares > K.n * np.finfo(np.float64).eps * squares.max(initial=0.0)
        self.U, squares = found.vectors[:, kept], squares[kept]
        self.gains, self.top = squares / (squares + shift), float(squares.max(initial=0.0))
        # Both are positive: no eigenvalue of the difference is beyond its trace.
        self.complete = bool(K.trace() - squares.sum() <= FACTOR_REST_PER_RIDGE * shift)

    def __matmul__(self, R: Array) -> Array:
        return R - self.U @ (self.gains[:, None] * (self.U.T @ R))


class Inverse:
    """``shift (K + shift I)^-1`` from a Cholesky factor; ``n^3 / 3`` multiplications and a matrix."""

    name = "a Cholesky factor"

    def __init__(self, K: Matrix, shift: float) -> None:
        A = K.toarray()
        A[np.diag_indices(K.n)] += shift
        self.factor, self.shift = CholeskyFactor(A, part_done), shift

    def __matmul__(self, R: Array) -> Array:
        return self.shift * self.factor.solve(R)


@dataclass(frozen=True)
class CanonicalPairs:
    """Pairs as they were found, values descending.

    ``x``, ``y`` (n, k): coefficients a and b. ``x_images``, ``y_images`` (n, k): ``A a`` and ``B b``. ``residuals``
    (k,): bounds on ``||Tv - rho u||`` and ``||T'u - rho v||``, the larger of the two. ``products``: the work.
    """

    values: Array
    x: Array
    y: Array
    x_images: Array
    y_images: Array
    residuals: Array
    products: str
    converged: bool
    stopped: str


@dataclass(frozen=True)
class Canonical:
    r"""Block Davidson iteration: search both sides at once, and correct each by what it lacks.

    .. math:: \max\ a'AB\,b \quad \text{subject to} \quad a'A(A + \alpha I)a = b'B(B + \beta I)b = 1

    Stationary where :math:`Bb = \rho (A + \alpha I) a` and :math:`Aa = \rho (B + \beta I) b`, the singular triples of
    :math:`T = [A(A + \alpha I)^{-1}]^{1/2} [B(B + \beta I)^{-1}]^{1/2}`. The residual of an equation, times a low-rank
    approximation of the inverse, is the next direction to search (Morgan, Scott, Generalizations of Davidson's method,
    SIAM Journal on Scientific and Statistical Computing 1986).

    ``tol``: largest ``||Tv - rho u||`` of the wanted pairs. The norm of T is at most 1: this is in units of
    correlations. ``extra``: pairs searched beyond the wanted ones. ``max_products``: block products with each matrix
    before giving up; 5 to 20 are usual. Memory for ``32 (k + extra)`` vectors and two factors of 200 columns; for small
    ridges two Cholesky factorisations up to 10,000 rows.
    """

    tol: float = 1e-8
    extra: int = 5
    max_products: int = 100

    name: ClassVar[str] = "krylov"

    def solve(
        self, A: Matrix, B: Matrix, k: int, shifts: tuple[float, float], rng: np.random.Generator
    ) -> CanonicalPairs:
        """Return the k leading pairs, or as many as the smaller rank. Shifts must be positive."""
        size = min(A.n, k + self.extra)
        blocks, rank = affordable(A.n, size)
        # Products have threads of their own: threads of BLAS beside them would compete for the same cores.
        with one_blas_thread(), track("canonical pairs", expected=10) as tracker:
            x, y = (Side(K, shift, rank, rng) for K, shift in zip((A, B), shifts, strict=True))
            a, b = _start(x, y, size)
            x.begin(a)
            y.begin(b)
            fresh, stopped, best = True, "", np.inf
            while True:
                values, p, q = _ritz(x, y, size)
                dx, dy = x.correction(p, q, values), y.correction(q, p, values)
                errors, rounding = np.maximum(dx.errors, dy.errors)[:k], np.maximum(dx.rounding, dy.rounding)[:k]
                tracker.advance(x.products + 3)
                converged = bool((errors <= np.clip(rounding, self.tol, max(self.tol, ROUNDING_MAX_RESIDUAL))).all())
                if converged and fresh:
                    break
                if errors.max(initial=0.0) > RESIDUAL_GROWTH_LIMIT * best:
                    stopped = "rounding allows no smaller residual"
                    break
                best = min(best, errors.max(initial=0.0))
                if x.products >= self.max_products:
                    stopped = f"max_products={self.max_products} reached"
                    break
                if converged:
                    # Images that are sums of images collect rounding: new products certify the answer.
                    x.begin(p.vectors)
                    y.begin(q.vectors)
                    fresh = True
                    continue
                if max(x.width, y.width) + size > blocks * size:
                    _, x.known, y.known = _ritz(x, y, blocks * size // 2)
                if (
                    x.products == CANONICAL_TRIAL_PRODUCTS
                    and A.n <= CANONICAL_FACTOR_MAX_ROWS
                    and within_budget(4 * 8 * A.n**2)
                ):
                    x.sharpen()
                    y.sharpen()
                fresh = False
                if x.add(dx.block) + y.add(dy.block) == 0:
                    converged = bool((errors <= ROUNDING_MAX_RESIDUAL).all())
                    stopped = "" if converged else "rounding allows no smaller residual"
                    break
        return CanonicalPairs(
            np.clip(values[:k], 0.0, 1.0),
            p.vectors[:, :k],
            q.vectors[:, :k],
            p.images[:, :k],
            q.images[:, :k],
            errors,
            f"{x.products} products with each matrix, {size} vectors each",
            converged,
            stopped,
        )


def _start(x: Side, y: Side, size: int) -> tuple[Array, Array]:
    """Leading pairs of the two low-rank factors in the place of the matrices."""
    (Ux, gx), (Uy, gy) = ((side.factor.U, side.factor.gains) for side in (x, y))
    A, _, Bt = np.linalg.svd(np.sqrt(gx)[:, None] * (Ux.T @ Uy).astype(np.float64) * np.sqrt(gy), full_matrices=False)
    # With gains g = s/(s + shift): coefficients A / sqrt(s (s + shift)), up to a factor.
    sides = ((Ux, gx, A[:, :size]), (Uy, gy, Bt[:size].T))
    a, b = (U @ (((1 - gains) / np.sqrt(gains))[:, None] * C) for U, gains, C in sides)
    return a, b


def _ritz(x: Side, y: Side, count: int) -> tuple[Array, Block, Block]:
    """Leading canonical pairs in the search spaces of both sides."""
    A, values, Bt = np.linalg.svd(x.known.images.T @ y.known.images, full_matrices=False)
    return values[:count], x.known @ A[:, :count], y.known @ Bt[:count].T


def affordable(n: int, size: int) -> tuple[int, int]:
    """Blocks of directions and columns of factors that fit the memory budget."""
    budget = memory_budget()
    blocks = min(CANONICAL_MAX_BLOCKS, budget // 2 // (8 * 8 * n * size))
    if blocks < 3:
        raise ValueError(
            f"{size} pairs of vectors of {n:,} rows need {format_bytes(2 * 3 * 8 * 8 * n * size)}, over the budget of "
            f"{format_bytes(budget)}. Ask for fewer components, or raise gramian.config(memory=...)."
        )
    return blocks, max(size, min(CANONICAL_FACTOR_RANK, n // 8, budget // 4 // (32 * n)))
