"""Dense factorisations from LAPACK."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg

from gramian.operators import Operator
from gramian.results import Array
from gramian.solvers.base import Raw


@dataclass(frozen=True)
class Dense:
    """Form the matrix and hand it to LAPACK.

    The whole spectrum is computed if many components are wanted, or if negative eigenvalues must be counted.

    Cost
    ----
    About ``4/3 n^3`` for values and a few vectors, ``9 n^3`` for all; ``8 n^2`` bytes, twice that at the peak.
    """

    name: ClassVar[str] = "dense"

    def solve(self, operator: Operator, k: int, rng: np.random.Generator) -> Raw:
        A, n = operator.toarray(), operator.n
        whole = not operator.positive or k > n // 4
        subset = None if whole else (n - k, n - 1)
        driver = "evd" if whole else "evr"
        # The lower triangle of the transpose is the upper one of A: LAPACK then works in place on C-ordered memory.
        values, vectors = scipy.linalg.eigh(
            A.T, subset_by_index=subset, driver=driver, overwrite_a=True, check_finite=False
        )
        return Raw(values, vectors, products="", complete=whole)


def svd(A: Array) -> tuple[Array, Array]:
    """Singular values and right singular vectors (as columns) of a centred table.

    The accurate route: singular values are right to ``eps ||A||``; an eigenproblem of ``A'A`` loses half the digits.
    """
    try:
        _, s, Vt = scipy.linalg.svd(A, full_matrices=False, check_finite=False)
    except scipy.linalg.LinAlgError:  # divide and conquer fails on rare inputs where plain QR iteration does not
        _, s, Vt = scipy.linalg.svd(A, full_matrices=False, check_finite=False, lapack_driver="gesvd")
    return s, Vt.T
