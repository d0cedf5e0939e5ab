"""One of two matrices whose canonical pairs are sought: what is known of it, and what is lacking."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from gramian.progress import part_done
from gramian.results import Array
from gramian.solvers.cholesky import CholeskyFactor, NotPositive
from gramian.solvers.dense import left_svd
from gramian.solvers.preconditioners import Preconditioner

#: What a factor may leave of a matrix, in ridges, and still count as all of it.
HIDDEN = 1e-9
#: Directions that lose more than this beside those known carry rounding alone.
LOST = 1e-10


class Matrix(Protocol):
    """A positive operator with its trace."""

    n: int

    def __matmul__(self, V: Array) -> Array: ...

    def toarray(self) -> Array:
        """Return the whole matrix."""
        ...

    def sketch(self, rank: int, rng: np.random.Generator) -> Array:
        """Return a low-rank factor."""
        ...

    def trace(self) -> float:
        """Return the trace."""
        ...


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
    """A matrix K with its ridge, a stand-in for ``(K + shift I)^-1``, and directions Q with ``Q'K(K + shift)Q = I``."""

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
        """Put the inverse itself in the place of the stand-in."""
        try:
            self.inverse = Inverse(self.K, self.shift)
        except NotPositive:  # rounding of the matrix is above the ridge: the stand-in has to do
            return

    def begin(self, V: Array) -> None:
        """Forget what is known and search these vectors, with new products."""
        self.known = self._nothing()
        self.add(self._block(V))

    def add(self, block: Block) -> int:
        """Search what vectors add to what is known; return the number of new directions."""
        new = self._orthonormal(block)
        self.known = self.known.beside(new)
        return new.vectors.shape[1]

    def correction(self, mine: Block, other: Block, values: Array) -> Correction:
        r"""Return ``(K + shift)^-1 R`` for ``R = other - rho (K + shift) mine``, nearly, and what it tells.

        With the exact inverse the length of the correction in the metric :math:`K(K + \text{shift})` is that of
        ``Tv - rho u``; what the stand-in leaves of R is added to make it a bound.
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
        """Lengths that rounding of the images alone may bring about, where K sees next to nothing of long vectors."""
        size = np.finfo(np.float64).eps * self.factor.top * self.shift
        return 4 * np.sqrt(size) * np.linalg.norm(block.vectors, axis=0)

    def _orthonormal(self, block: Block) -> Block:
        """Orthonormal basis, in the metric, of what vectors add to what is known; nothing if they add nothing."""
        for _ in range(3):
            before = self._lengths(block)
            block = block - self.known @ self._products(self.known, block)
            lengths = self._lengths(block)
            block = block.chosen(lengths > np.maximum(LOST * before, self._rounding(block)), lengths)
            G = self._products(block, block)
            values, Y = np.linalg.eigh((G + G.T) / 2)
            block = (block @ Y).chosen(values > LOST, np.sqrt(np.maximum(values, 0.0)))
        return block


class Factor:
    r"""``shift (FF' + shift I)^-1`` with a randomly pivoted Cholesky factor F of K.

    Attributes
    ----------
    U : (n, r) array
        Left singular vectors of F.
    gains : (r,) array
        ``s^2 / (s^2 + shift)`` of its singular values s.
    top : float
        Largest squared singular value.
    complete : bool
        Whether the factor leaves nothing of K that the ridge would not hide.
    """

    name = "a randomly pivoted Cholesky factor"

    def __init__(self, K: Matrix, shift: float, rank: int, rng: np.random.Generator) -> None:
        found = left_svd(K.sketch(rank, rng))
        squares = found.values**2
        kept = squares > K.n * np.finfo(np.float64).eps * squares.max(initial=0.0)
        self.U, squares = found.vectors[:, kept], squares[kept]
        self.gains, self.top = squares / (squares + shift), float(squares.max(initial=0.0))
        # Both are positive: no eigenvalue of the difference is beyond its trace.
        self.complete = bool(K.trace() - squares.sum() <= HIDDEN * shift)

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
