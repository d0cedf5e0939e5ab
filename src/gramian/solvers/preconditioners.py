"""What stands in for ``(A + shift I)^-1`` while conjugate gradients correct it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from gramian.operators import Operator
from gramian.operators.tiles import spans
from gramian.results import Array
from gramian.solvers.cholesky import CholeskyFactor, NotPositive


class Preconditioner(Protocol):
    """A symmetric positive definite matrix near a multiple of ``(A + shift I)^-1``."""

    name: str

    def __matmul__(self, R: Array) -> Array:
        """Return the product with a block of vectors."""
        ...


class LowRank:
    r"""Randomly pivoted Cholesky factor with the ridge.

    Definition
    ----------
    .. math:: A \approx FF' = U \Sigma U', \qquad
              \lambda (FF' + \lambda I)^{-1} = I - U\, \mathrm{diag}\Big(\frac{\sigma}{\sigma + \lambda}\Big) U'

    What the factor leaves of A decides how many iterations are needed: about the square root of
    ``1 + |A - FF'| / lambda`` of them for each digit.

    Cost
    ----
    ``rank`` columns of A and ``2 n rank^2`` multiplications once; ``n rank`` numbers; ``2 n rank`` multiplications a
    vector.

    References
    ----------
    Diaz, Epperly, Frangella, Tropp, Webber, Robust, randomized preconditioning for kernel ridge regression, 2023.
    """

    def __init__(self, operator: Operator, shift: float, rank: int, rng: np.random.Generator) -> None:
        F = operator.sketch(rank, rng)
        values, Y = np.linalg.eigh(F.T @ F)
        top = values[-1] if len(values) else 0.0
        kept = values > 1e-12 * top
        sigma = values[kept]
        # The smallest eigenvalue of the preconditioner must stay well above the rounding of U.
        narrow = shift > 1e-5 * top
        self.U = np.empty((len(F), len(sigma)), dtype=np.float32) if narrow else F[:, : len(sigma)]
        for rows in spans(len(F)):  # in place, or nearly: F is the largest thing here
            self.U[rows] = F[rows] @ (Y[:, kept] / np.sqrt(sigma))
        self.gains = sigma / (sigma + shift)
        self.name = f"a randomly pivoted Cholesky factor of rank {len(sigma)}"

    def __matmul__(self, R: Array) -> Array:
        T = (self.U.T @ R.astype(self.U.dtype, copy=False)).astype(np.float64) * self.gains[:, None]
        return R - self.U @ T.astype(self.U.dtype, copy=False)


class Factored:
    r"""Cholesky factor of the whole matrix in single precision.

    Half the memory and half the time of double precision; a few iterations make up for the digits. Where rounding
    makes the matrix indefinite the shift is raised until it is not, at the price of more iterations.

    Cost
    ----
    ``n^2`` kernel values, ``n^3 / 3`` multiplications and additions, ``4 n^2`` bytes; ``2 n^2`` multiplications a
    vector.
    """

    name = "a Cholesky factor in float32"

    def __init__(self, operator: Any, shift: float, progress: Callable[[float], None] | None = None) -> None:
        diagonal = operator.diagonal()
        unit = float(diagonal.max(initial=0.0)) or 1.0
        narrow = operator.astype(np.float32) if 1e-20 < unit < 1e20 else operator  # else out of range
        lift = max(shift, 4 * float(np.finfo(np.float32).eps) * unit)
        A = np.empty((operator.n, operator.n), dtype=np.float32)
        while True:
            for c in spans(operator.n, 2048):
                A[c.start :, c] = narrow.columns(c)[c.start :] / unit
            A[np.diag_indices(operator.n)] = (diagonal + lift) / unit
            try:
                self.factor = CholeskyFactor(A, progress)
                return
            except NotPositive:
                lift *= 8
                if not lift < operator.n * unit:
                    raise

    def __matmul__(self, R: Array) -> Array:
        # Powers of ten do not disturb a linear map, but they may leave the range of single precision.
        size = np.abs(R).max(axis=0)
        size[size == 0] = 1.0
        return self.factor.solve(R / size).astype(np.float64) * size
