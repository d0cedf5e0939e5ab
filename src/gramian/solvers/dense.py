"""A Cholesky factor by tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gramian import lapack
from gramian.engine.tiles import Meter, run, spans, threads_for
from gramian.results import Array

#: Side of a tile of the Cholesky factor: as quick as larger ones for 3,000 rows, and of 700 rows in two thirds of the
#: time, as less of the tiles on the diagonal is multiplied in vain.
CHOLESKY_TILE = 128
#: Rows up to which a factor is one tile, and up to which one thread makes it: others would take longer to answer.
ONE_TILE_MAX_ROWS, ONE_THREAD_MAX_ROWS = 256, 512


class NotPositive(ArithmeticError):
    """A pivot was not positive: the matrix is not positive definite, or not to working precision."""


class CholeskyFactor:
    r"""Cholesky factor by tiles on our own threads, held in the lower half of the matrix.

    LAPACK's holds the interpreter until it ends, and threaded builds are known to crash on large matrices. This one
    can be interrupted, works in place in single or double precision, and gives the same bits for any number of threads.

    Definition
    ----------
    .. math:: A = LL', \qquad L_{ik} = \Big(A_{ik} - \sum_{j<k} L_{ij} L_{kj}'\Big) L_{kk}^{-\prime}

    ``A`` (n, n): C-ordered; only the lower half is read, and it is overwritten. ``progress``: called with the share of
    the work that is done.

    Cost
    ----
    ``n^3 / 3`` multiplications and additions, no memory beyond A.
    """

    def __init__(self, A: Array, progress: Callable[[float], None] | None = None) -> None:
        self.L, self.n = A, A.shape[0]
        self.blocks = spans(self.n, self.n if self.n <= ONE_TILE_MAX_ROWS else CHOLESKY_TILE)
        self.corners: list[Array] = []  # inverses of the diagonal tiles
        self._corner(0)
        for k in range(len(self.blocks) - 1):
            self._panel(k)
            if progress:
                progress(_share_done(k + 1, len(self.blocks)))

    def _corner(self, k: int) -> None:
        """Finish the diagonal tile k, and keep its inverse."""
        b = self.blocks[k]
        tile = self.L[b, b] - self.L[b, : b.start] @ self.L[b, : b.start].T
        try:
            root = np.linalg.cholesky(tile)
        except np.linalg.LinAlgError:
            raise NotPositive(f"the leading block of {b.stop:,} rows is not positive definite") from None
        if not np.isfinite(root[-1, -1]):
            raise NotPositive(f"the leading block of {b.stop:,} rows is not finite")
        self.L[b, b] = root
        self.corners.append(lapack.lower_inverse(root))

    def _panel(self, k: int) -> None:
        """Finish column k below its diagonal tile; the thread that finishes the first tile factors the next corner."""
        b, L = self.blocks[k], self.L
        queue = iter(range(k + 1, len(self.blocks)))  # each tile has its own sum: who takes it does not matter
        above = L[b, : b.start].T
        corner = self.corners[k].T

        def work(panels: Sequence[int], meter: Meter) -> None:
            for i in queue:
                r = self.blocks[i]
                L[r, b] = (L[r, b] - L[r, : b.start] @ above) @ corner
                if i == k + 1:
                    self._corner(i)
                meter.tick()

        self._share_out(work, len(self.blocks) - k - 1)

    def pivots(self) -> Array:
        """Return the squared diagonal of L, the Schur complements of the rows."""
        return np.square(self.L.diagonal())

    def solve(self, B: Array) -> Array:
        """Return ``A^-1 B``."""
        X = np.array(B, dtype=self.L.dtype)
        for b, corner in zip(self.blocks, self.corners, strict=True):
            X[b] = corner @ (X[b] - self.L[b, : b.start] @ X[: b.start])
        for b, corner in zip(self.blocks[::-1], self.corners[::-1], strict=True):
            X[b] = corner.T @ X[b]
            X[: b.start] -= self.L[b, : b.start].T @ X[b]
        return X

    def inverse_diagonal(self) -> Array:
        """Return the diagonal of ``A^-1``: squared lengths of the columns of ``L^-1``; another ``n^3 / 3``."""
        squares, queue = np.empty(self.n), iter(range(len(self.blocks)))

        def work(panels: Sequence[int], meter: Meter) -> None:
            for j in queue:
                c = self.blocks[j]
                X = np.zeros((self.n - c.start, c.stop - c.start), dtype=self.L.dtype)
                for i in range(j, len(self.blocks)):
                    r = self.blocks[i]
                    at, end = r.start - c.start, r.stop - c.start
                    above = self.L[r, c.start : r.start] @ X[:at]
                    X[at:end] = self.corners[i] if i == j else -self.corners[i] @ above
                    meter.tick()
                squares[c] = np.einsum("ij,ij->j", X, X)

        self._share_out(work, len(self.blocks))
        return squares

    def _share_out(self, work: Callable[[Sequence[int], Meter], None], tiles: int) -> None:
        threads = 1 if self.n <= ONE_THREAD_MAX_ROWS else threads_for(tiles)
        run(work, [[turn] for turn in range(threads)])


def _share_done(k: int, count: int) -> float:
    done = k / count
    return done * done * (3 - 2 * done)  # left-looking: the work of column k goes with k (count - k)
