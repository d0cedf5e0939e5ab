"""Loops over tiles that BLAS and NumPy would take several passes for."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import DTypeLike

from gramian.config import left_by_limits
from gramian.results import Array


@dataclass(frozen=True)
class Registers:
    """What loops are laid out for: bytes of a register, and how many hold the sums of a block at once.

    A block has some ``rows``, and ``across`` registers in each; ``panel`` of them in plain matrix algebra, where the
    numbers in a row of a panel are a multiple of the rows.
    """

    size: int
    rows: int
    across: int
    panel: int

    def lanes(self, dtype: np.dtype) -> int:
        """Numbers in a register."""
        return self.size // dtype.itemsize


#: Layouts by bits: AVX-512 has 32 registers, of which 24 hold sums; AVX2 has 16, of which 12; NEON 32, of which 16.
REGISTERS = {512: Registers(64, 8, 2, 3), 256: Registers(32, 4, 2, 3), 128: Registers(16, 4, 2, 4)}
#: Features of processors on which loops were measured to be quicker than BLAS and NumPy, and the bits they have.
FEATURES = {"avx512f": 512, "avx2": 256}
#: Bytes of a line of the cache.
LINE = 64
#: Rows whose part in a panel stays in the first level of the cache.
DEEP = 128
#: Bytes of a row of the part of a tile that is used at once: what belongs to it stays in the first level of the cache.
CHUNK = 1024
#: Degree of the polynomial for powers of two between -1/2 and 1/2: what it is off by is far below rounding.
DEGREE = {np.dtype(np.float32): 6, np.dtype(np.float64): 11}
#: Columns beyond which BLAS makes the exponents quicker.
LOOPS_MAX_COLUMNS = 128
#: Multiplications of plain matrix algebra from which on it is worth to compile.
LOOPS_MIN_MULTIPLICATIONS = {np.dtype(np.float32): 2 * 10**9, np.dtype(np.float64): 10**11}
#: Addresses that a compiler at work takes, and more: one that finds too few ends the process.
COMPILER = 2**29
#: From when to when loops were compiled in this process: seconds that are no work of a fit that waited for them.
compilations: list[tuple[float, float]] = []
_lock = threading.Lock()


class VectorLoops:
    """The compiled loops for one precision; arrays are in C's order along their rows, and not checked.

    ``rows``: rows of tiles are a multiple of it, where nothing else is said. ``lanes``: numbers in a register; vectors
    to multiply are a multiple, and at the ``most`` so many. ``smallest``: rows and columns that a tile must have at
    least. ``panel``: columns of a panel in plain matrix algebra.
    """

    def __init__(self, loops: dict[str, Callable[..., None]], unit: Registers, dtype: np.dtype) -> None:
        self._loops, self.dtype, self.rows, self.lanes = loops, dtype, unit.rows, unit.lanes(dtype)
        self.most, self.panel = unit.across * self.lanes, unit.panel * self.lanes
        self.smallest = self.rows, self.most

    def powers_of_two(self, left: Array, right: Array, out: Array) -> Array:
        """Write ``2 ** (left @ right)``, 0 where that is no normal number; at least the smallest tile."""
        (n, d), m = left.shape, right.shape[1]
        widths = (_width(a) for a in (left, right, out))
        self._loops["powers_of_two"](*map(_address, (left, right, out)), n, m, d, *widths)
        return out

    def both_products(self, tile: Array, V: Array, U: Array, out: Array, back: Array) -> None:
        """Add ``tile @ V`` to out and ``tile.T @ U`` to back."""
        loop = self._loops[f"both_products_{V.shape[1] // self.lanes}"]
        loop(*map(_address, (tile, V, U, out, back)), *tile.shape)

    def powers_times(self, left: Array, right: Array, V: Array, U: Array, out: Array, back: Array) -> None:
        """The same with the tile ``2 ** (left @ right)``, never written as a whole; columns as in the smallest tile."""
        (n, d), m = left.shape, right.shape[1]
        loop, widths = self._loops[f"powers_times_{V.shape[1] // self.lanes}"], (_width(left), _width(right))
        room = np.empty(self.rows * CHUNK // self.dtype.itemsize, dtype=self.dtype)
        loop(*map(_address, (left, right, V, U, out, back, room)), n, m, d, *widths)

    def powers_less(self, left: Array, right: Array, U: Array, back: Array, own: Array, out: Array) -> None:
        """Add ``C @ U`` to own and write ``C - own @ back``, with ``C = 2 ** (left @ right)``."""
        (n, d), m = left.shape, right.shape[1]
        room = np.empty(self.rows * m, dtype=self.dtype)
        loop, widths = self._loops[f"powers_less_{U.shape[1] // self.lanes}"], map(_width, (left, right, out))
        loop(*map(_address, (left, right, U, back, own, out, room)), n, m, d, *widths)

    def scatter(self, A: Array, sums: Array) -> None:
        """Add ``A.T @ A`` to sums: of each panel of columns the rows down to its end, one panel after the other."""
        n, m = A.shape
        packed = in_lines((min(n, DEEP), m), self.dtype)
        self._loops["scatter"](*map(_address, (A, sums, packed)), n, m, _width(A))

    def powers_scatter(
        self, left: Array, right: Array, U: Array, back: Array, own: Array, beside: Array, sums: Array
    ) -> None:
        """The same of ``A = C - own @ back``, as in :meth:`powers_less`; A is never stored as a whole.

        Columns come in panels; the last of them are those of ``beside``, whatever C would be there.
        """
        (n, d), m = left.shape, right.shape[1]
        packed, room = in_lines((min(n, DEEP), m), self.dtype), in_lines((self.rows, m), self.dtype)
        loop, widths = self._loops[f"powers_scatter_{U.shape[1] // self.lanes}"], map(_width, (left, right, beside))
        loop(*map(_address, (left, right, U, back, own, beside, sums, packed, room)), n, m, d, *widths)

    def eliminate(self, tile: Array, own: Array, inverse: Array, F: Array, at: int) -> None:
        """Write ``inverse @ (tile[:, p] - own @ F[p, :at])`` to ``F[p, at:]``, for panels p of columns.

        The inverse is lower triangular, with any number of rows from that of the smallest tile on; own has a multiple
        of ``rows``. At is at least 1.
        """
        (panels, depth, width), n = F.shape, len(tile)
        room, sizes = in_lines((len(own), width), self.dtype), (n, at, depth, panels, _width(tile))
        self._loops["eliminate"](*map(_address, (tile, own, inverse, F, room)), *sizes)


def in_lines(shape: tuple[int, ...], dtype: DTypeLike) -> Array:
    """Room that begins where a line of the cache does: numbers that straddle two lines take twice as long to load."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    room = np.empty(size + LINE, dtype=np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size].view(dtype).reshape(shape)


def in_lanes(V: Array, width: int | None = None, rows: int | None = None) -> Array:
    """A copy in the corner of a matrix of zeros, which begins where a line of the cache does."""
    n, k = V.shape
    out = in_lines((n if rows is None else rows, k if width is None else width), V.dtype)
    out[n:], out[:n, k:], out[:n, :k] = 0.0, 0.0, V
    return out


@contextmanager
def compiling() -> Iterator[None]:
    """Note from when to when a compiler is imported and works."""
    start = time.perf_counter()
    try:
        yield
    finally:
        compilations.append((start, time.perf_counter()))


@cache
def _loops(dtype: np.dtype) -> VectorLoops | None:
    if min(left_by_limits(), default=COMPILER) < COMPILER:
        return None
    with compiling():
        # The compiler takes a tenth of a second to import: only those who use it wait for it.
        from gramian.engine.llvm_loops import compiled_loops, registers_here

        unit = registers_here()
        return None if unit is None else VectorLoops(compiled_loops(unit, dtype), unit, dtype)


@cache
def _coordinate_steps(dtype: np.dtype) -> Callable[..., None]:
    with compiling():
        from gramian.engine.coordinate_steps import coordinate_steps
        from gramian.engine.llvm_loops import any_registers

        return coordinate_steps(any_registers(), dtype)


def descend(
    K: Array, curvature: Array, g: Array, b: Array, lower: Array, upper: Array, tol: float, limit: int
) -> tuple[int, float]:
    """Minimise in a box over two coordinates at a time: the largest violation, and the one that gains most with it.

    All arrays are contiguous. ``g``, the gradient in the precision of ``K``, and ``b`` are changed in place; returns
    the steps taken and the largest violation left. A coordinate without curvature goes to the end of its interval,
    alone.
    """
    up, down, answer = (b < upper).astype(K.dtype), (b > lower).astype(K.dtype), np.array([tol, 0.0])
    with _lock:
        steps = _coordinate_steps(K.dtype)
    steps(*map(_address, (K, curvature, g, up, down, b, lower, upper, answer)), len(b), limit)
    return int(answer[1]), float(answer[0])


def vector_loops(dtype: np.dtype) -> VectorLoops | None:
    """Return the loops, compiled at the first call, or None where this processor has no use for them."""
    with _lock:
        return _loops(dtype)


def loops_if_worth(dtype: np.dtype, multiplications: float) -> VectorLoops | None:
    """The same for plain matrix algebra: None for a few numbers as well, which BLAS has before a compiler is there."""
    return vector_loops(dtype) if multiplications >= LOOPS_MIN_MULTIPLICATIONS[dtype] else None


def _address(array: Array) -> int:
    return array.__array_interface__["data"][0]


def _width(array: Array) -> int:
    return array.strides[0] // array.itemsize
