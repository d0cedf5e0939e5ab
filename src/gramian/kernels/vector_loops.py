"""Loops over tiles in single precision that BLAS and NumPy would take several passes for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache

import numpy as np

from gramian.results import Array

#: Single-precision numbers in one register.
LANES = 16
#: Rows and rows of lanes of the blocks in which exponentials are made: sixteen sums stay in registers.
ROWS, PANELS = 8, 2
#: Rows and columns that there must be at least.
SMALLEST = (ROWS, PANELS * LANES)
#: Columns of a tile that is used at once: what belongs to them stays in the first level of the cache.
CHUNK = 256
#: Degree of the polynomial for powers of two between -1/2 and 1/2: off by 0.7 units in the last place at the most.
DEGREE = 6
#: Columns beyond which BLAS makes the exponents quicker.
NARROW = 128
_lock = threading.Lock()


class VectorLoops:
    """The compiled loops; arrays are of float32, in C's order along their rows, and not checked."""

    def __init__(self, loops: dict[str, Callable[..., None]]) -> None:
        self._loops = loops

    def powers_of_two(self, left: Array, right: Array, out: Array) -> Array:
        """Write ``2 ** (left @ right)``, 0 where that is no normal number; at least 8 x 32 of them."""
        (n, d), m = left.shape, right.shape[1]
        widths = (_width(a) for a in (left, right, out))
        self._loops["powers_of_two"](*map(_address, (left, right, out)), n, m, d, *widths)
        return out

    def both_products(self, tile: Array, V: Array, U: Array, out: Array, back: Array) -> None:
        """Add ``tile @ V`` to out and ``tile.T @ U`` to back; of 16 or 32 columns, rows of the tile in eights."""
        loop = self._loops[f"both_products_{V.shape[1] // LANES}"]
        loop(*map(_address, (tile, V, U, out, back)), *tile.shape)

    def powers_times(self, left: Array, right: Array, V: Array, U: Array, out: Array, back: Array) -> None:
        """The same with the tile ``2 ** (left @ right)``, which is never written as a whole; columns in thirty-twos."""
        (n, d), m = left.shape, right.shape[1]
        loop, widths = self._loops[f"powers_times_{V.shape[1] // LANES}"], (_width(left), _width(right))
        room = np.empty(ROWS * CHUNK, dtype=np.float32)
        loop(*map(_address, (left, right, V, U, out, back, room)), n, m, d, *widths)

    def take_out(self, C: Array, U: Array, back: Array, own: Array, out: Array) -> None:
        """Add ``C @ U`` to own, of 16 or 32 columns, and write ``C - own @ back``; rows of C in eights."""
        loop = self._loops[f"take_out_{U.shape[1] // LANES}"]
        loop(*map(_address, (C, U, back, own, out)), *C.shape, _width(out))

    def powers_less(self, left: Array, right: Array, U: Array, back: Array, own: Array, out: Array) -> None:
        """The same with ``C = 2 ** (left @ right)``, which is never written as a whole; at least 32 columns."""
        (n, d), m = left.shape, right.shape[1]
        room = np.empty(ROWS * m, dtype=np.float32)
        loop, widths = self._loops[f"powers_less_{U.shape[1] // LANES}"], map(_width, (left, right, out))
        loop(*map(_address, (left, right, U, back, own, out, room)), n, m, d, *widths)


@cache
def _loops() -> VectorLoops | None:
    # The compiler takes a tenth of a second to import: only those who use it wait for it.
    from gramian.kernels.loops import compiled_loops

    found = compiled_loops()
    return VectorLoops(found) if found else None


def vector_loops() -> VectorLoops | None:
    """Return the loops, compiled at the first call, or None where this processor has no use for them."""
    with _lock:
        return _loops()


def _address(array: Array) -> int:
    return array.__array_interface__["data"][0]


def _width(array: Array) -> int:
    return array.strides[0] // array.itemsize
