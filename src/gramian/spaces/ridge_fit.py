"""What a ridge fit leaves behind: a function, its coefficients, and how well both are known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.kernels import Kernel
from gramian.operators import CrossGram
from gramian.projection import centred_product
from gramian.results import Array, Matrix, SolverTrace


@dataclass(frozen=True)
class KernelFunction:
    r"""``f(x) = k(x)'a + t(x)'b`` with the unpenalised functions t of the kernel, or a constant.

    ``anchors``: training rows. ``coefficients`` (n, q): a. ``offsets`` (m, q): b; one row for a constant, as many as
    the kernel has unpenalised functions otherwise.
    """

    kernel: Kernel
    anchors: Any
    coefficients: Array
    offsets: Array

    def __call__(self, X: Matrix) -> Array:
        """Values at rows, m x q; kernel values are not kept."""
        smooth = CrossGram(self.kernel, X, self.anchors) @ self.coefficients
        T = self.kernel.polynomial(X)
        return smooth + (self.offsets if T is None else T @ self.offsets)

    def times(self, units: Array) -> KernelFunction:
        """The function, each column in another unit."""
        return replace(self, coefficients=self.coefficients * units, offsets=self.offsets * units)


@dataclass(frozen=True)
class LinearFunction:
    """``f(x) = w'(x - m) + b``."""

    weights: Array
    mean: Array
    offsets: Array

    def __call__(self, X: Matrix) -> Array:
        """Values at rows, m x q."""
        return centred_product(X, self.mean, self.weights) + self.offsets

    def times(self, units: Array) -> LinearFunction:
        """The function, each column in another unit."""
        return replace(self, weights=self.weights * units, offsets=self.offsets * units)


@dataclass(frozen=True)
class RidgeFit:
    """A function fitted by ridge, and its certificate.

    ``dual`` (n, q): coefficients a of the training rows. ``offsets`` (m, q): of what is not penalised. ``residuals``
    (q,): relative residuals of the linear system that was solved. ``left_out`` (n, q): leave-one-out residuals, if
    known. ``unknown``: why they are not. ``singular``, ``rank``, ``size``: whether the matrix is singular to rounding;
    its rank then, if known; its size. ``free``: rank of the unpenalised functions on the rows. ``n_negative``,
    ``most_negative``, ``counted``: negative eigenvalues of the kernel matrix, the size of the largest of them, and
    whether these are all.
    """

    function: KernelFunction | LinearFunction
    dual: Array
    offsets: Array
    residuals: Array
    trace: SolverTrace
    left_out: Array | None = None
    unknown: str = ""
    singular: bool = False
    rank: int | None = None
    size: int = 0
    free: int = 1
    n_negative: int = 0
    most_negative: float = 0.0
    counted: bool = True

    def times(self, units: Array) -> RidgeFit:
        """The fit to targets that many times as large."""
        left_out = None if self.left_out is None else self.left_out * units
        function, dual, offsets = self.function.times(units), self.dual * units, self.offsets * units
        return replace(self, function=function, dual=dual, offsets=offsets, left_out=left_out)


@dataclass(frozen=True)
class RidgeCurve:
    """Fits along a path of R ridges: dual coefficients and leave-one-out residuals (R, n, q), offsets (R, m, q)."""

    ridges: Array
    dual: Array
    offsets: Array
    left_out: Array

    def times(self, units: Array) -> RidgeCurve:
        """The fits to targets that many times as large."""
        return RidgeCurve(self.ridges, self.dual * units, self.offsets * units, self.left_out * units)


#: Said where a row cannot be left out.
ROW_NEEDED = (
    "a row is the only one to determine an unpenalised coefficient or the ridge is 0: without it there is no fit to "
    "compare with"
)


def determined(left_out: Array) -> tuple[Array | None, str]:
    """Leave-one-out residuals, or why there are none."""
    return (left_out, "") if np.isfinite(left_out).all() else (None, ROW_NEEDED)
