"""Blocks of a kernel matrix for solvers that work on some of its rows at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.engine.tiles import Meter, run, share, spans, threads_for
from gramian.kernels import Kernel
from gramian.kernels.pairwise import Rows
from gramian.operators.gram import CrossGram, _buffer, _tile
from gramian.results import Array

#: Columns of a precomputed matrix copied at a time.
STRIP = 1024


class KernelBlocks:
    """``K(X, X) + offset``, of which principal blocks and products with chosen columns can be had.

    Parameters
    ----------
    kernel : Kernel
        With resolved parameters.
    X : rows
        Dense or CSR, n x d; the matrix itself if the kernel is precomputed.
    offset : float
        Number added to every entry.

    Cost
    ----
    A block of m rows takes m^2 / 2 kernel values and is kept by whoever asked for it; a product with m columns takes
    n m values and no memory to speak of.
    """

    def __init__(self, kernel: Kernel, X: Rows, offset: float = 0.0) -> None:
        self.kernel, self.X, self.offset = kernel, X, offset
        self.n, self.positive = X.shape[0], kernel.positive_definite
        self.given = kernel.given

    def diagonal(self) -> Array:
        """Return the diagonal."""
        return np.asarray(self.kernel.diagonal(self.X), dtype=np.float64) + self.offset

    def block(self, chosen: Array, out: Array) -> Array:
        """Write the symmetric block of the chosen rows and columns into ``out``."""
        A = self.X if len(chosen) == self.n else self.X[chosen]
        if self.given and len(chosen) < self.n:
            A = A[:, chosen]
        pairs = self.kernel.pairs(A, A, out.dtype)
        blocks = spans(len(chosen))

        def work(panels: Sequence[int], meter: Meter) -> None:
            buffer = _buffer(blocks, blocks, out.dtype)
            for i in panels:
                for j in range(i, len(blocks)):
                    tile = _tile(pairs, blocks[i], blocks[j], buffer)
                    if self.offset:
                        tile += tile.dtype.type(self.offset)
                    out[blocks[i], blocks[j]] = tile
                    out[blocks[j], blocks[i]] = tile.T
                    meter.tick()

        run(work, share(len(blocks), threads_for(len(blocks))))
        return out

    def product(self, chosen: Array, V: Array, dtype: Any) -> Array:
        """Return ``K[:, chosen] V``, n x k, in double precision; kernel values are made in ``dtype``."""
        if not len(chosen):
            return np.zeros((self.n, V.shape[1]))
        total = np.asarray(self._plain(chosen, V, dtype), dtype=np.float64)
        return total + self.offset * V.sum(axis=0) if self.offset else total

    def _plain(self, chosen: Array, V: Array, dtype: Any) -> Array:
        if not self.given:
            return CrossGram(self.kernel, self.X, self.X[chosen], dtype) @ V
        total = np.zeros((self.n, V.shape[1]))
        for part in spans(len(chosen), STRIP):
            columns = self.X[:, chosen[part]]
            total += CrossGram(self.kernel, columns, columns, dtype) @ V[part]
        return total
