"""The thin plate spline: a kernel that is positive only on data freed of their linear part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from gramian.kernels.base import MappedKernel, require_positive
from gramian.kernels.pairwise import Rows, squared_euclidean
from gramian.kernels.widths import inverse_square
from gramian.results import Array

__all__ = ["ThinPlateSpline"]


@dataclass(repr=False)
class ThinPlateSpline(MappedKernel):
    r"""Bending energy of a thin plate; conditionally positive definite of order 2.

    Definition
    ----------
    .. math:: k(x, y) = r^2 \log(r / c), \qquad r = \|x - y\|, \quad k = 0 \text{ at } r = 0

    Parameters
    ----------
    c : float
        Unit of length :math:`c`.
    centring : {"plain", "proper"}
        What kernel PCA takes out of the features: their mean, as of any kernel (the textbook picture; what is left may
        be indefinite), or all constants and linear functions (what is left is positive, and ``c`` cancels).

    Cost
    ----
    One matrix product and one logarithm per pair of rows.

    Examples
    --------
    >>> ThinPlateSpline()([[0.0], [2.0]]).round(4)
    array([[0.    , 2.7726],
           [2.7726, 0.    ]])
    """

    c: float = 1.0
    centring: str = "plain"

    name = "thin_plate_spline"
    listed = False
    measure = squared_euclidean

    def check(self) -> None:
        require_positive(self, c=self.c)
        if self.centring not in ("plain", "proper"):
            raise ValueError(f"centring={self.centring!r} of the {self.name} kernel must be 'plain' or 'proper'.")

    @property
    def positive_definite(self) -> bool:
        return False

    @property
    def properly_centred(self) -> bool:
        return self.centring == "proper"

    def polynomial(self, X: Rows) -> Array:
        # Flat plates do not bend: constants and linear functions have no energy.
        return np.column_stack([np.ones(X.shape[0]), X.toarray() if sp.issparse(X) else X])

    @property
    def factor(self) -> float:
        return inverse_square(float(self.c))

    def of(self, tile: Array) -> Array:
        # With t = r^2/c^2: r^2 log(r/c) = c^2/2 t log t, and t log t -> 0. Rounding may leave t a little below 0.
        tiny = np.finfo(tile.dtype).tiny
        logarithm = np.log(np.maximum(tile, tiny))
        np.maximum(tile, 0, out=tile)
        tile *= logarithm
        tile += 0.0  # 0 times a negative logarithm is -0
        tile *= tile.dtype.type(self.c**2 / 2)
        return tile

    def diagonal(self, X: Rows) -> Array:
        return np.zeros(X.shape[0])
