"""What a kernel says about its arguments: one scalar function of a squared distance or of a dot product.

The methods need that function, its inverse, and its slope. The slope of a kernel is again a kernel here, so that it is
made of tiles like any other: that of a Gaussian is the Gaussian, that of a Matern kernel the next rougher one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from gramian.kernels import RBF, Kernel, Laplacian, Linear, Matern, Polynomial, RationalQuadratic
from gramian.kernels.algebra import Power, Product, Scaled, Sum
from gramian.kernels.base import MappedKernel, evolve
from gramian.results import Array


@dataclass(frozen=True)
class Form:
    """``k(x, y) = f(m)``, with ``m`` a squared Euclidean distance (``radial``: f falls) or a dot product (f rises).

    Attributes
    ----------
    radial : bool
    value : callable
        f, entry by entry.
    slope : Kernel or None
        A kernel with values ``|f'(m)| / rate``; None where f has a kink at zero, which a fixed point cannot leave.
    rate : float
    invertible : bool
        Whether f is one to one, so that a similarity gives the distance or the dot product back.
    """

    radial: bool
    value: Callable[[Array], Array]
    slope: Kernel | None
    rate: float = 1.0
    invertible: bool = True

    def weighted_slope(self) -> Kernel | None:
        """The slope with its rate."""
        return None if self.slope is None else Scaled(self.rate, self.slope)

    def invert(self, values: Array, reach: float) -> Array:
        """Arguments m with ``f(m) = values``, by bisection; those beyond ``reach`` end there.

        Parameters
        ----------
        values : array
            Similarities, of any shape.
        reach : float
            Largest squared distance, or largest size of a dot product, that is looked for.
        """
        # Distances are halved as roots: the precision that counts is that of r, not of r^2.
        low = np.full(values.shape, 0.0 if self.radial else -reach)
        high = np.full(values.shape, reach**0.5 if self.radial else reach)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            above = (self.value(middle**2) > values) if self.radial else (self.value(middle) < values)
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return ((low + high) / 2) ** (2 if self.radial else 1)


#: Bisections of an interval: all the digits there are.
HALVINGS = 60
#: The constant kernel: the slope of a dot product.
ONE = RBF(gamma=0.0)


@singledispatch
def form(kernel: Kernel) -> Form | None:
    """Return the form of a kernel with resolved parameters, or None if it is no function of one measure."""
    return None


def _scalar(kernel: MappedKernel) -> Callable[[Array], Array]:
    return lambda m: kernel.of(kernel.factor * m)


@form.register
def _(kernel: Linear) -> Form:
    return Form(False, _scalar(kernel), ONE)


@form.register
def _(kernel: Polynomial) -> Form | None:
    degree, scale = int(kernel.degree), float(kernel.scale)
    if not kernel.positive_definite or scale == 0:
        return None
    slope = evolve(kernel, degree=degree - 1) if degree > 1 else ONE
    return Form(False, _scalar(kernel), slope, rate=degree * scale, invertible=degree % 2 == 1)


@form.register
def _(kernel: RBF) -> Form | None:
    rate = -kernel.factor
    return Form(True, _scalar(kernel), kernel, rate) if 0 < rate < np.inf else None


@form.register
def _(kernel: Laplacian) -> Form | None:
    return Form(True, _scalar(kernel), None) if kernel.norm == "l2" else None


@form.register
def _(kernel: Matern) -> Form:
    # -f'(u) = nu / (2 (nu - 1) l^2) f of nu - 1, at the length that leaves sqrt(2 nu) / l as it is.
    nu, length = float(kernel.nu), float(kernel.length_scale)
    if np.isinf(nu):
        return Form(True, _scalar(kernel), kernel, 0.5 / length**2)
    if nu <= 1:
        return Form(True, _scalar(kernel), None)
    slope = evolve(kernel, nu=nu - 1, length_scale=length * ((nu - 1) / nu) ** 0.5)
    return Form(True, _scalar(kernel), slope, nu / (2 * (nu - 1) * length**2))


@form.register
def _(kernel: RationalQuadratic) -> Form:
    # -f'(u) = (1 + u / (2 a l^2))^-(a + 1) / (2 l^2)
    alpha, length = float(kernel.alpha), float(kernel.length_scale)
    slope = evolve(kernel, alpha=alpha + 1, length_scale=length * (alpha / (alpha + 1)) ** 0.5)
    return Form(True, _scalar(kernel), slope, 0.5 / length**2)


@form.register
def _(kernel: Scaled) -> Form | None:
    f = form(kernel.kernel)
    return f and replace(f, value=lambda m: kernel.weight * f.value(m), rate=kernel.weight * f.rate)


@form.register
def _(kernel: Sum) -> Form | None:
    f, g = form(kernel.left), form(kernel.right)
    if f is None or g is None or f.radial != g.radial:
        return None
    a, b = f.weighted_slope(), g.weighted_slope()
    slope = None if a is None or b is None else a + b
    return Form(f.radial, lambda m: f.value(m) + g.value(m), slope, invertible=f.invertible and g.invertible)


@form.register
def _(kernel: Product) -> Form | None:
    f, g = form(kernel.left), form(kernel.right)
    if f is None or g is None or f.radial != g.radial:
        return None
    a, b = f.weighted_slope(), g.weighted_slope()
    slope = None if a is None or b is None else a * kernel.right + kernel.left * b
    return Form(f.radial, lambda m: f.value(m) * g.value(m), slope, invertible=f.radial)


@form.register
def _(kernel: Power) -> Form | None:
    f, p = form(kernel.kernel), int(kernel.exponent)
    if f is None or p == 1:
        return f
    slope = None if f.slope is None else f.slope * (kernel.kernel ** (p - 1))
    invertible = f.radial or (f.invertible and p % 2 == 1)
    return Form(f.radial, lambda m: f.value(m) ** p, slope, p * f.rate, invertible)
