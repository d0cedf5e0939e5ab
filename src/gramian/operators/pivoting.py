"""Randomly pivoted Cholesky: a good low-rank factor from a few columns of a positive matrix."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import scipy.linalg

from gramian.results import Array


class Columns(Protocol):
    """A positive matrix of which columns and diagonal can be had."""

    n: int

    def columns(self, chosen: Array) -> Array:
        """Return some columns."""
        ...

    def diagonal(self) -> Array:
        """Return the diagonal."""
        ...


def pivoted_factor(matrix: Columns, rank: int, rng: np.random.Generator, block: int = 32) -> Array:
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
