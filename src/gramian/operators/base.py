"""What a solver may ask of a symmetric matrix."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from gramian.results import Array


class Operator(ABC):
    """A symmetric n x n matrix, known by its products.

    Solvers see nothing else: no data, no kernel. ``positive`` says that no eigenvalue can be negative.
    """

    n: int
    dtype: np.dtype
    positive: bool

    @abstractmethod
    def __matmul__(self, V: Array) -> Array:
        """Return the product with an n x k block of vectors."""

    @abstractmethod
    def toarray(self) -> Array:
        """Return the whole matrix in double precision, as a fresh array."""

    @abstractmethod
    def astype(self, dtype: Any) -> Self:
        """Return the same operator in another precision."""

    def start(self, size: int, rng: np.random.Generator) -> Array:
        """Return n x size vectors to start an iteration from; better than random where the operator knows how."""
        return rng.standard_normal((self.n, size))


class Dense(Operator):
    """A symmetric matrix that exists."""

    def __init__(self, A: Array, *, positive: bool) -> None:
        self.A, self.positive = A, positive
        self.n, self.dtype = A.shape[0], A.dtype

    def __matmul__(self, V: Array) -> Array:
        return self.A @ V

    def toarray(self) -> Array:
        return self.A.astype(np.float64)

    def astype(self, dtype: Any) -> Dense:
        return Dense(self.A.astype(dtype, copy=False), positive=self.positive)
