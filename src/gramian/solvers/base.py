"""What a spectral solver is and what it returns before the front door has arranged it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from gramian.operators import Operator
from gramian.results import Array


@dataclass(frozen=True)
class Raw:
    """Eigenpairs as a solver found them: any order, any sign.

    Attributes
    ----------
    complete
        Whether the values are the whole spectrum.
    image
        ``A @ vectors`` in double precision if the solver has it, so that the certificate costs nothing more.
    others
        Values met without their vectors.
    """

    values: Array
    vectors: Array
    products: str
    complete: bool = False
    converged: bool = True
    stopped: str = ""
    image: Array | None = None
    others: Array = field(default_factory=lambda: np.empty(0))


class Solver(Protocol):
    """Finds the k algebraically largest eigenpairs of a symmetric operator."""

    name: ClassVar[str]

    def solve(self, operator: Operator, k: int, rng: np.random.Generator) -> Raw:
        """Return at least the k largest, or all there are."""
        ...


def orthonormal(V: Array) -> Array:
    """Orthonormal basis of the columns."""
    Q, _ = np.linalg.qr(V)
    return Q
