"""How rows become features on their way into sums: each row is mapped, or the sums are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from gramian.config import one_blas_thread
from gramian.engine.pairs import Pairs, striped
from gramian.engine.product import in_lanes
from gramian.engine.scatter import Squares, SquaresInPanels
from gramian.engine.vector_loops import PANELS, ROWS, VectorLoops, lanes_of, vector_loops
from gramian.operators.features import Desk, FeatureMap
from gramian.results import Array

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

    Attributes
    ----------
    map : FeatureMap
    after : array or None
        What is summed times this are features; None if rows were mapped.
    turn : Reflections or None
        The reflections.
    """

    map: FeatureMap
    after: Array | None = None
    turn: Reflections | None = None

    def write(self, desk: Desk, X: Any, pilot: Array, out: Array) -> None:
        """Write what is summed of a block of rows, seen from the pilot."""
        if self.after is None:
            np.subtract(desk.mapped(X), pilot, out=out)
        elif self.turn is None:
            for rows, C in desk.pieces(desk.pairs(X)):
                np.subtract(C, pilot, out=out[rows])
        else:
            self.turn.write(desk, X, pilot, out)


@dataclass(frozen=True)
class Reflections:
    """Rows of kernel values times ``I - YB``, in the precision of the rows.

    Attributes
    ----------
    Y : (m, k) array
    B : (k, m) array
    """

    Y: Array
    B: Array

    def write(self, desk: Desk, X: Any, pilot: Array, out: Array) -> None:
        """Write ``C - (C Y) B - pilot`` of a block of rows."""
        pairs, k = desk.pairs(X), self.Y.shape[1]
        loops = self._loops(pairs, out.dtype)
        Y, back = self._operands(pilot, lanes_of(out.dtype) if loops else 1)
        if loops and pairs.factors:
            loops.powers_less(*pairs.factors, Y, back, _ones(len(out), Y, k), out)
            return
        for rows, C in desk.pieces(pairs):
            own = striped(C, Y)
            own[:, k] = 1.0
            np.subtract(C, own @ back, out=out[rows])

    def add(self, desk: Desk, X: Any, pilot: Array, beside: Array, squares: Squares) -> bool:
        """Add the squares of what :meth:`write` would write, and of columns beside it; False if no loop can do that."""
        if not isinstance(squares, SquaresInPanels):
            return False
        pairs = desk.pairs(X)
        if pairs.factors is None or self._loops(pairs, desk.dtype) is None:
            return False
        left, right = pairs.factors
        operands = self._operands(pilot, lanes_of(desk.dtype))
        squares.add_powers(left, right, *operands, _ones(len(left), operands[0], self.Y.shape[1]), beside)
        return True

    def _loops(self, pairs: Pairs, dtype: np.dtype) -> VectorLoops | None:
        """Loops, if they can do this."""
        fits = self.Y.shape[1] < PANELS * lanes_of(dtype) and pairs.shape[0] % ROWS == 0
        return vector_loops(dtype) if pairs.factors and fits else None

    def _operands(self, pilot: Array, lanes: int) -> tuple[Array, Array]:
        """Y and B, with a column and a row more for the pilot, which has a coefficient of one, in rows of lanes."""
        m, k = self.Y.shape
        width = lanes * -(-(k + 1) // lanes)
        back = np.zeros((width, m), dtype=self.B.dtype)
        back[:k], back[k] = self.B, pilot
        return in_lanes(self.Y, width), back


def _ones(n: int, Y: Array, k: int) -> Array:
    """Coefficients to start with: one for the pilot."""
    own = np.zeros((n, Y.shape[1]), dtype=Y.dtype)
    own[:, k] = 1.0
    return own


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
