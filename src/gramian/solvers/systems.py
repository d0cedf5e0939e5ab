"""What a linear solver is, what it returns, and what the front door makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from gramian.operators import Operator
from gramian.results import Array, SolverTrace

OVERFLOW = "the linear system overflows double precision. Divide X and y by constants, or standardise their columns."
#: Relative residual up to which a solution counts as one where the solver has no tolerance of its own.
ENOUGH = 1e-6


@dataclass(frozen=True)
class Found:
    """A solution as a solver found it.

    Attributes
    ----------
    deleted
        ``x_i / (M^-1)_ii``: what row i of the right side lacks if the system is solved without row and column i; NaN
        where that is not determined, None where the inverse was not at hand.
    singular, rank
        Whether the matrix was found to be singular, so that this is a solution of least squares, and its rank if known.
    largest
        Size of the largest eigenvalue, if known.
    left
        ``B - (A + shift I) X`` in double precision if the solver has it, so that the certificate costs nothing more.
    instead
        How it was solved if not by the solver's own way, and why.
    n_negative, most_negative, counted
        Negative eigenvalues met of A, the size of the largest of them, and whether these are all there are.
    """

    solution: Array
    products: str = ""
    converged: bool = True
    stopped: str = ""
    deleted: Array | None = None
    singular: bool = False
    rank: int | None = None
    largest: float = 0.0
    left: Array | None = None
    instead: tuple[str, str] | None = None
    n_negative: int = 0
    most_negative: float = 0.0
    counted: bool = True


@dataclass(frozen=True)
class LinearSolution:
    """Solution of ``(A + shift I) X = B`` with its certificate.

    Attributes
    ----------
    solution : (n, q) array
    residuals : (q,) array
        ``|b - (A + shift I) x| / |b|`` in double precision; of the normal equations if the matrix is singular.
    trace : SolverTrace
    deleted : (n, q) array or None
        Residual of each row when the system is solved without it, where it is known.
    singular : bool
        Whether the matrix is singular to rounding, and this a solution of least squares.
    rank : int or None
        Its rank then, if known.
    n_negative, most_negative, counted
        Negative eigenvalues met of A, the size of the largest of them, and whether these are all there are.
    """

    solution: Array
    residuals: Array
    trace: SolverTrace
    deleted: Array | None = None
    singular: bool = False
    rank: int | None = None
    n_negative: int = 0
    most_negative: float = 0.0
    counted: bool = True


class LinearSolver(Protocol):
    """Solves ``(A + shift I) X = B`` for a symmetric operator."""

    name: ClassVar[str]

    def solve(
        self, operator: Operator, B: Array, shift: float, rng: np.random.Generator, null: Array | None = None
    ) -> Found:
        """Return a solution; ``null`` holds orthonormal columns known to be orthogonal to A and B."""
        ...


def lengths(V: Array, *, zero: float = 1.0) -> Array:
    """Lengths of columns without overflow; ``zero`` for those of length 0."""
    largest = np.abs(V).max(axis=0, initial=0.0)
    scale = np.where(largest > 0, largest, 1.0)
    size = scale * np.linalg.norm(V / scale, axis=0)
    return np.where(largest > 0, size, zero)


def negligible(n: int, largest: float, shift: float) -> float:
    """Size up to which a negative eigenvalue of A is rounding, or does not show beside the shift."""
    return n * np.finfo(np.float64).eps * largest + 1e-4 * shift


def origin(operator: Operator) -> float:
    """Size of the entries that a projection started from, if the operator knows: their rounding is in what is left."""
    return float(getattr(operator, "origin", 0.0))
