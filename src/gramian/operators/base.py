"""What a solver may ask of a symmetric matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg
from numpy.typing import DTypeLike

from gramian.engine.tiles import Meter, run, spans, threads_for
from gramian.results import Array


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

    def __init__(self, A: Array, *, positive: bool) -> None:
        self.A, self.positive = A, positive
        self.n, self.dtype = A.shape[0], A.dtype

    def __matmul__(self, V: Array) -> Array:
        # Threads of our own, so that the bits do not depend on what else the process does with BLAS.
        out = np.empty((self.n, V.shape[1]), dtype=np.result_type(self.A, V))
        rows = spans(self.n, max(256, -(-self.n // threads_for(self.n))))

        def work(panels: Sequence[int], meter: Meter) -> None:
            for i in panels:
                np.matmul(self.A[rows[i]], V, out=out[rows[i]])

        run(work, [[i] for i in range(len(rows))])
        return out

    def diagonal(self) -> Array:
        return self.A.diagonal()

    def columns(self, chosen: Array) -> Array:
        return self.A[:, chosen]

    def toarray(self) -> Array:
        return self.A.astype(np.float64)

    def astype(self, dtype: DTypeLike) -> Dense:
        return Dense(self.A.astype(dtype, copy=False), positive=self.positive)


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
