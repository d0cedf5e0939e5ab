"""How scatters of mapped rows are summed: each row is mapped, or the sums are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.linalg

from gramian.config import one_blas_thread
from gramian.engine.scatter import Scatter, write_reflected
from gramian.operators.features import FeatureMap, MapBuffers
from gramian.results import Array, Matrix

#: Condition number up to which sums may be mapped in place of rows, in units of 1 / eps. Sums in single precision are
#: over blocks of rows whose rounding is random: what is left of it after many blocks is far below the bound.
MAX_CONDITION_EPS = {np.dtype(np.float64): 4e-10, np.dtype(np.float32): 1e-3}
#: One in so many directions is taken out of the kernel values, if they are too badly conditioned as they are; more if
#: those are not enough.
FEATURES_PER_DIRECTION = (64, 16)
#: Rows for each feature below which there is nothing to save, and features up to which there is so little that digits
#: count for more.
MIN_ROWS_PER_FEATURE, MAP_ROWS_MAX_FEATURES = 4, 64


@dataclass(frozen=True)
class ScatterPlan:
    r"""What is summed over the rows, and what makes features of the sums.

    Definition
    ----------
    Features :math:`f = R'c` of kernel values c. Scatters map as well, :math:`R'(\sum cc')R`, at no price per row; but
    that multiplies rounding by the condition number of W, where mapping rows does so by its square root. Turned by
    :math:`Q = I - YB`, reflections that take the leading directions of W to the first axes, the values lie in columns
    of their own size, of which the small ones are well conditioned; sums are over :math:`Q'c`.

    ``after``: what is summed times this are features; None if rows were mapped. ``turn``: the reflections.
    """

    map: FeatureMap
    after: Array | None = None
    turn: Reflections | None = None

    def write(self, buffer: MapBuffers, X: Matrix, pilot: Array, out: Array) -> None:
        """Write what is summed of a block of rows, seen from the pilot."""
        if self.after is None:
            np.subtract(buffer.mapped(X), pilot, out=out)
        elif self.turn is None:
            for rows, C in buffer.pieces(buffer.pairs(X)):
                np.subtract(C, pilot, out=out[rows])
        else:
            self.turn.write(buffer, X, pilot, out)


@dataclass(frozen=True)
class Reflections:
    """Rows of kernel values times ``I - YB``, in the precision of the rows.

    ``Y``: (m, k). ``B``: (k, m).
    """

    Y: Array
    B: Array

    def write(self, buffer: MapBuffers, X: Matrix, pilot: Array, out: Array) -> None:
        """Write ``C - (C Y) B - pilot`` of a block of rows."""
        write_reflected(buffer.pairs(X), buffer.pieces, self.Y, self.B, pilot, out)

    def add(self, buffer: MapBuffers, X: Matrix, pilot: Array, beside: Array, squares: Scatter) -> bool:
        """Add the squares of what :meth:`write` would write, and of columns beside it; False if no loop can do that."""
        return squares.add_reflected(partial(buffer.pairs, X), self.Y, self.B, pilot, beside)


def scatter_plan(map: FeatureMap, n: int, dtype: np.dtype) -> ScatterPlan:
    """Return the cheapest plan that keeps the digits of n rows."""
    R = map.root
    if R is None or n < MIN_ROWS_PER_FEATURE * map.size or map.size <= MAP_ROWS_MAX_FEATURES:
        return ScatterPlan(map)
    bound = MAX_CONDITION_EPS[dtype] / float(np.finfo(np.float32 if dtype == np.float32 else np.float64).eps)
    with one_blas_thread():
        smallest = 1 / _largest(lambda v: R @ (R.T @ v), map.size)
        if _largest(lambda v: _gram(R, v), map.size) <= bound * smallest:
            return ScatterPlan(map, R)
        for share in FEATURES_PER_DIRECTION:
            U = _leading(R, max(1, map.size // share))
            if _left(R, U) <= bound * smallest:
                Y, B = _reflections(U)
                return ScatterPlan(map, R - B.T @ (Y.T @ R), Reflections(Y.astype(dtype), B.astype(dtype)))
    return ScatterPlan(map)


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


def _reflections(U: Array) -> tuple[Array, Array]:
    """Return Y and B so that ``I - YB`` is orthogonal and its first columns span U."""
    (Y, tau), _ = scipy.linalg.qr(U, mode="raw", check_finite=False)
    Y = np.tril(Y, -1) + np.eye(*U.shape)
    # A product of reflections I - t y y' is I - Y T Y', and the inverse of T is known without multiplying them.
    with np.errstate(divide="ignore"):  # a direction that is an axis already is not reflected
        inverse = np.triu(Y.T @ Y, 1) + np.diag(1 / tau)
    return Y, scipy.linalg.solve_triangular(inverse, Y.T, check_finite=False)


def _largest(times: Callable[[Array], Array], size: int) -> float:
    """Largest eigenvalue of a positive matrix, from below: all that is asked is how many digits will be lost."""
    v = np.cos(np.arange(size))  # the same every time, and no direction is left out
    for _ in range(8):
        v = times(v / np.linalg.norm(v))
    return float(np.linalg.norm(v))
