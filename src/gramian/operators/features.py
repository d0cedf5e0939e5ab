"""Explicit features of a kernel of low rank: rows are mapped block by block, used and thrown away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from gramian.engine.product import STRIPE, Pairs
from gramian.engine.tiles import for_each, spans
from gramian.kernels import Kernel
from gramian.operators.gram import Anchored
from gramian.operators.remote import Table, each, total
from gramian.progress import part_done, track
from gramian.results import Array, Matrix

#: Kernel values made at a time: half a megabyte to one, which stays in the cache for the scalar map.
KERNEL_VALUES_PER_TILE = 2**17
#: Parts in which a triangular factor is multiplied: with four, three eighths of the work fall away.
TRIANGULAR_PARTS = 4


@dataclass(frozen=True)
class FeatureMap(Anchored):
    r"""Features :math:`f(x) = R'k(Z, x)` with :math:`f(x)'f(y) \approx k(x, y)`.

    With :math:`W = K(Z, Z) = LL'` and :math:`R = L^{-\prime}`, :math:`f(x)'f(y) = k(x, Z)\, W^{-1} k(Z, y)`: the
    projection of the features of the kernel on those of the landmarks Z, exact for rows in their span.

    ``anchors``: landmarks Z, m x d; frequencies for random Fourier features, whose kernel is waves. ``root`` (m, m): R,
    upper triangular; None is the identity. A row takes m kernel values and ``m^2 / 2`` multiplications.
    """

    kernel: Kernel
    anchors: Any
    root: Array | None = None

    @property
    def size(self) -> int:
        """Number of features."""
        return int(self.anchors.shape[0])

    @property
    def from_points(self) -> bool:
        """Whether anchors are points of the space of the rows."""
        return self.root is not None

    def lift(self, B: Array) -> Array:
        """Coefficients of kernel values for coefficients B of features: ``F B = K(X, Z) lift(B)``."""
        return B if self.root is None else self.root @ B

    def times(self, X: Table, B: Array) -> Array:
        """Return ``F B`` of rows, n x k; F is not formed."""
        return each(X, partial(self._times, B), task="mapped rows")

    def _times(self, B: Array, X: Matrix) -> Array:
        return self.similarities(X) @ self.lift(B)

    def sums(self, X: Table, V: Array) -> Array:
        """Return ``F'V`` of rows, r x k; F is not formed."""
        return np.asarray(total(X, self._sums, V, task="sums of mapped rows"))

    def _sums(self, X: Matrix, V: Array) -> Array:
        def step(rows: slice, buffer: MapBuffers) -> None:
            buffer.found += buffer.values(X[rows]).T @ V[rows]

        first, *rest = self.visit(X, step, lambda: np.zeros((self.size, V.shape[1])))
        sums: Array = sum(rest, first)
        return sums if self.root is None else self.root.T @ sums

    def squares(self, X: Table) -> Array:
        """Return ``f(x)'f(x)`` of rows."""
        return each(X, self._squares, task="mapped rows")

    def _squares(self, X: Matrix) -> Array:
        if self.root is None:
            return np.asarray(self.kernel.diagonal(X), dtype=np.float64)
        out = np.empty(X.shape[0])

        def step(rows: slice, buffer: MapBuffers) -> None:
            F = buffer.mapped(X[rows])
            np.einsum("ij,ij->i", F, F, out=out[rows])

        self.visit(X, step)
        return out

    def features(self, X: Table, dtype: DTypeLike = np.float64) -> Array:
        """Return F, n x r, for those who need mapped rows again and again."""
        return each(X, partial(self._features, dtype), task="mapped rows")

    def _features(self, dtype: DTypeLike, X: Matrix) -> Array:
        out = np.empty((X.shape[0], self.size), dtype=dtype)

        def step(rows: slice, buffer: MapBuffers) -> None:
            out[rows] = buffer.mapped(X[rows])

        self.visit(X, step, dtype=dtype)
        return out

    def visit(
        self,
        X: Matrix,
        step: Callable[[slice, MapBuffers], None],
        start: Callable[[], Any] = lambda: None,
        *,
        dtype: DTypeLike = np.float64,
        report: bool = True,
    ) -> list[Any]:
        """Visit all rows in blocks; return what each thread found. ``report``: whether progress is reported here."""
        # Blocks worth a matrix product with that many features.
        blocks = spans(X.shape[0], min(2048, max(128, 2**21 // max(self.size, 1))))
        with track("mapping rows", expected=1.0) if report else nullcontext():
            buffers = for_each(
                blocks,
                step,
                lambda: MapBuffers(self, blocks[0].stop, dtype, start()),
                lambda done: part_done(done / len(blocks)),
            )
        return [buffer.found for buffer in buffers]


class MapBuffers:
    """Buffers for one block of rows that is mapped; each thread has its own, and what it ``found``.

    ``rows``: rows of the largest block. ``dtype``: precision of kernel values and features.
    """

    def __init__(self, map: FeatureMap, rows: int, dtype: DTypeLike, found: Any = None) -> None:
        self.map, self.dtype, self.found = map, np.dtype(dtype), found
        self.room = np.empty((rows, map.size), dtype=dtype)
        self.root = None if map.root is None else map.root.astype(dtype, copy=False)
        self.out = self.room if self.root is None else np.empty_like(self.room)

    def pairs(self, X: Matrix) -> Pairs:
        """A block of rows and the anchors, prepared; never the whole of a table, which may fill the memory."""
        return self.map.similarities(X, self.dtype).pairs

    def values(self, X: Matrix) -> Array:
        """Kernel values ``K(X, Z)`` of a block of rows; overwritten by the next."""
        for _ in self._tiles(self.pairs(X), lambda rows: self.room[rows]):
            pass
        return self.room[: X.shape[0]]

    def pieces(self, pairs: Pairs) -> Iterator[tuple[slice, Array]]:
        """Kernel values of a prepared block, some rows at a time; the next are written over them, in the cache."""
        return self._tiles(pairs, lambda rows: self.room[: rows.stop - rows.start])

    def _tiles(self, pairs: Pairs, place: Callable[[slice], Array]) -> Iterator[tuple[slice, Array]]:
        everything = slice(0, self.map.size)
        for rows in spans(pairs.shape[0], piece_rows(self.map.size)):
            yield rows, pairs.tile(rows, everything, place(rows))

    def mapped(self, X: Matrix) -> Array:
        """Features of a block of rows; overwritten by the next."""
        C = self.values(X)
        if self.root is None:
            return C
        F, m = self.out[: len(C)], self.map.size
        for part in spans(m, -(-m // TRIANGULAR_PARTS)):
            np.matmul(C[:, : part.stop], self.root[: part.stop, part], out=F[:, part])
        return F


def piece_rows(size: int) -> int:
    """Rows whose kernel values with so many landmarks are made at a time."""
    return STRIPE * max(1, KERNEL_VALUES_PER_TILE // (STRIPE * size))
