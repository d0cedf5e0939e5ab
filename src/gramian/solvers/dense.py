"""Dense factorisations from LAPACK."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gramian import lapack
from gramian.config import one_blas_thread
from gramian.operators import Operator
from gramian.results import Array
from gramian.solvers.base import Raw

#: Up to here one BLAS thread is quicker than several.
FEW_MULTIPLICATIONS = 2e8


@dataclass(frozen=True)
class Dense:
    """Form the matrix and hand it to LAPACK.

    The whole spectrum is computed: LAPACK's routines for a part of it can return nothing, without a word, where
    eigenvalues coincide, as they do for a kernel near the identity.

    Cost
    ----
    About ``9 n^3``; three matrices of ``8 n^2`` bytes.
    """

    name: ClassVar[str] = "dense"

    def solve(self, operator: Operator, k: int, rng: np.random.Generator) -> Raw:
        # Symmetric, so the transpose is the same matrix, in the order in which LAPACK can work without a copy.
        A = operator.toarray().T
        with pinned_if_small(operator.n**3):
            values, vectors = lapack.eigh(A, overwrite=True)
        return Raw(values, vectors, products="", complete=True)


def svd(A: Array) -> tuple[Array, Array]:
    """Singular values and right singular vectors (as columns) of a centred table.

    The accurate route: singular values are right to ``eps ||A||``; an eigenproblem of ``A'A`` loses half the digits.
    """
    with pinned_if_small(A.size * min(A.shape)):
        _, s, Vt = lapack.svd(A)
    return s, Vt.T


def pinned_if_small(multiplications: float) -> AbstractContextManager[None]:
    """One BLAS thread for small problems: quicker, and the same bits whatever else the process does."""
    return one_blas_thread() if multiplications <= FEW_MULTIPLICATIONS else nullcontext()


@dataclass(frozen=True)
class Singular:
    """Leading part of ``A = U diag(s) V'``: values, left vectors U and directions V, as columns."""

    values: Array
    vectors: Array
    directions: Array


def left_svd(A: Array, blur: float = 1.0) -> Singular:
    """Singular value decomposition with both sides, cut at the numerical rank.

    ``blur`` is the rounding of the entries of A in units of the last place of its columns' spread.
    """
    with pinned_if_small(A.size * min(A.shape)):
        U, s, Vt = lapack.svd(A)
    rank = int((s > 10 * blur * max(A.shape) * np.finfo(np.float64).eps * s.max(initial=0.0)).sum())
    return Singular(s[:rank], U[:, :rank], Vt[:rank].T)
