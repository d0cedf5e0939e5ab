"""How rows become features on their way into sums: each row is mapped, or the sums are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from gramian.config import one_blas_thread
from gramian.kernels.pairwise import striped
from gramian.kernels.vector_loops import LANES, PANELS, ROWS, SMALLEST, vector_loops
from gramian.operators.features import Desk, FeatureMap
from gramian.operators.narrow import in_lanes
from gramian.results import Array

#: Condition number up to which sums may be mapped in place of rows, in units of 1 / eps. Sums in single precision are
#: over blocks of rows whose rounding is random: what is left of it after many blocks is far below the bound.
BEARABLE = {np.dtype(np.float64): 4e-10, np.dtype(np.float32): 1e-3}
#: One in so many directions is taken out of the kernel values, if they are too badly conditioned as they are; more if
#: those are not enough.
TAKEN_OUT = (64, 16)
#: Rows for each feature below which there is nothing to save, and features up to which there is so little that digits
#: count for more.
FEW, SMALL = 4, 64


@dataclass(frozen=True)
class Plan:
    r"""What is summed over the rows, and what makes features of the sums.

    Definition
    ----------
    Features :math:`f = R'c` of kernel values c. Scatters map as well, :math:`R'(\sum cc')R`, at no price per row; but
    that multiplies rounding by the condition number of W, where mapping rows does so by its square root. With the
    leading directions U of W taken out, :math:`f = R'(c - Ua) + R'Ua`, :math:`a = U'c`, what is left of the kernel
    values is well conditioned, and sums are over c - Ua beside a.

    Attributes
    ----------
    map : FeatureMap
    after : array or None
        What is summed times this are features; None if rows were mapped.
    leading : (m, k) array or None
        U, in the precision of the rows.
    """

    map: FeatureMap
    after: Array | None = None
    leading: Array | None = None

    @property
    def width(self) -> int:
        """Number of columns that are summed."""
        return self.map.size + (0 if self.leading is None else self.leading.shape[1])

    def write(self, desk: Desk, X: Any, pilot: Array, out: Array) -> None:
        """Write what is summed of a block of rows, seen from the pilot."""
        if self.after is None:
            np.subtract(desk.mapped(X), pilot, out=out)
            return
        m, U = self.map.size, self.leading
        if U is None:
            for rows, C in desk.pieces(X):
                np.subtract(C, pilot, out=out[rows])
            return
        directions = _Directions(U, pilot[:m])
        for rows, C in desk.pieces(X):
            own = directions.take_out(C, out[rows, :m])
            np.subtract(own, pilot[m:], out=out[rows, m:])


class _Directions:
    """Directions U, and a pilot, to be taken out of kernel values."""

    def __init__(self, U: Array, pilot: Array) -> None:
        self.k, self.width = U.shape[1], LANES * -(-(U.shape[1] + 1) // LANES)
        suits = U.dtype == np.float32 and self.width <= PANELS * LANES and len(U) >= SMALLEST[1]
        self.loops = vector_loops() if suits else None
        self.width = self.width if self.loops else self.k + 1
        self.U, self.back = in_lanes(U, self.width), np.zeros((self.width, len(U)), dtype=U.dtype)
        self.back[: self.k], self.back[self.k] = U.T, pilot  # the pilot has a coefficient of one

    def take_out(self, C: Array, out: Array) -> Array:
        """Write ``C - (C U) U' - pilot`` and return ``C U``."""
        own = np.zeros((len(C), self.width), dtype=C.dtype)
        if self.loops and len(C) % ROWS == 0:
            own[:, self.k] = 1.0
            self.loops.take_out(C, self.U, self.back, own, out)
        else:
            striped(C, self.U, out=own)
            own[:, self.k] = 1.0
            np.subtract(C, own @ self.back, out=out)
        return own[:, : self.k]


def plan_for(map: FeatureMap, n: int, dtype: np.dtype) -> Plan:
    """Return the cheapest plan that keeps the digits of n rows."""
    R = map.root
    if R is None or n < FEW * map.size or map.size <= SMALL:
        return Plan(map)
    bound = BEARABLE[dtype] / float(np.finfo(np.float32 if dtype == np.float32 else np.float64).eps)
    with one_blas_thread():
        smallest = 1 / _largest(lambda v: R @ (R.T @ v), map.size)
        if _largest(lambda v: _gram(R, v), map.size) <= bound * smallest:
            return Plan(map, R)
        for share in TAKEN_OUT:
            U = _leading(R, max(1, map.size // share))
            if _left(R, U) <= bound * smallest:
                return Plan(map, np.concatenate([R, U.T @ R]), U.astype(dtype))
    return Plan(map)


def _gram(R: Array, V: Array) -> Array:
    """``W V`` with ``W^-1 = R R'``."""
    half = scipy.linalg.solve_triangular(R, V, check_finite=False)
    return scipy.linalg.solve_triangular(R, half, trans="T", check_finite=False)


def _left(R: Array, U: Array) -> float:
    """Largest eigenvalue of W without the directions U."""

    def beside(v: Array) -> Array:
        return v - U @ (U.T @ v)

    return _largest(lambda v: beside(_gram(R, beside(v))), len(R))


def _leading(R: Array, k: int) -> Array:
    """Directions near the leading eigenvectors of W, orthonormal."""
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((len(R), k)))[0]
    for _ in range(4):
        U = np.linalg.qr(_gram(R, U))[0]
    return U


def _largest(times: Callable[[Array], Array], size: int) -> float:
    """Largest eigenvalue of a positive matrix, from below."""
    v = np.cos(np.arange(size))  # the same every time, and no direction is left out
    for _ in range(20):
        v = times(v / np.linalg.norm(v))
    return float(np.linalg.norm(v))
