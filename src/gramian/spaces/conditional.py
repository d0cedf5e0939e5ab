"""Kernels that are positive only beside polynomials: the basis of what is left, and new points in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gramian.engine.tiles import row_blocks
from gramian.kernels import Kernel
from gramian.operators import CrossGram
from gramian.operators.centering import PolynomialCentring
from gramian.results import Array, Mix
from gramian.spaces.base import SingularBasis


@dataclass(frozen=True, kw_only=True)
class ConditionalBasis(SingularBasis):
    """Singular basis of features freed of polynomials, with left vectors U, n x k."""

    kernel: Kernel
    anchors: Any
    vectors: Array
    centring: PolynomialCentring

    def scores(self) -> Array:
        return self.vectors * self.singular

    def projection(self, mix: Mix) -> ConditionalProjection:  # type: ignore[override]
        coefficients, trend = self.centring.fold(self.vectors / self.singular @ mix.forward)
        return ConditionalProjection(self.kernel, self.anchors, coefficients, trend, self.centring.polynomials.shift)

    def _truncated(self, k: int) -> dict[str, Any]:
        return {"vectors": self.vectors[:, :k]}


@dataclass(frozen=True)
class ConditionalProjection:
    r"""Scores from kernel values and polynomials of new rows, with the centring folded in.

    Definition
    ----------
    .. math:: t = B'k(x) + D'(p(x) - \mu), \qquad k(x)_i = k(x, x_i), \quad p(x) = (1, x)'

    Attributes
    ----------
    kernel : Kernel
    anchors : rows
        Training rows.
    coefficients : (n, k) array
        B.
    trend : (p, k) array
        D.
    shift : (p,) array
        :math:`\mu`.
    """

    kernel: Kernel
    anchors: Any
    coefficients: Array
    trend: Array
    shift: Array

    @property
    def size(self) -> int:
        """Number of scores of a row."""
        return self.trend.shape[1]

    def scores(self, X: Any) -> Array:
        """Scores of rows, m x k; kernel values stream by and are not kept."""
        out = CrossGram(self.kernel, X, self.anchors) @ self.coefficients
        for rows in row_blocks(*X.shape):
            out[rows] += (self.kernel.polynomial(X[rows]) - self.shift) @ self.trend
        return out
