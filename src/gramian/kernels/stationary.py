"""Kernels of a distance: similarity falls as rows move apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.special import gamma as gamma_function
from scipy.special import kv

from gramian.engine.product import Exponential, Pairs, Rows, compiled_from, to_dense
from gramian.kernels.base import Form, Kernel, Mapped, MappedKernel, Measure, evolve, is_number, require_positive
from gramian.kernels.pairwise import (
    DATA_WIDTHS,
    PreparedRows,
    manhattan,
    median_width,
    scale_width,
    squared_euclidean,
)
from gramian.lapack import interruptible
from gramian.results import Array

__all__ = ["RBF", "Laplacian", "Matern", "RationalQuadratic", "ThinPlateSpline"]

# The square root has an infinite slope at zero, so these distances must be right for equal rows too.
precise_squares = partial(squared_euclidean, exact_near_zero=True)


def inverse_square(length: float) -> float:
    """``length^-2``, infinite rather than an error where it overflows."""
    return 1 / length / length


class Stationary(MappedKernel):
    """A kernel of the distance alone that falls strictly with it, with ``k(x, x) = 1``.

    Kernel neighbours and the landmarks of cells need no more. A subclass that knows its :attr:`slope` has pre-images by
    fixed point and importances of columns by slopes; one that knows its :meth:`gaussian_rates` has random features.
    """

    @property
    def falls_with_distance(self) -> bool:
        return type(self).measure in (squared_euclidean, precise_squares)

    @property
    def slope(self) -> tuple[Kernel, float] | None:
        """A kernel s and a number r: the derivative by the squared distance is ``-r s``. None if it has a kink."""
        return None

    @property
    def form(self) -> Form | None:
        return Form(True, self.at, *(self.slope or ())) if self.falls_with_distance else None

    def gaussian_rates(self, count: int, rng: np.random.Generator) -> Array | None:
        """Draw numbers s so that the kernel is the mean of ``exp(-(s ||x - y||)^2 / 2)``; None if not known how."""
        return None

    def frequencies(self, count: int, d: int, rng: np.random.Generator) -> Array | None:
        rates = self.gaussian_rates(count, rng)
        if rates is None:
            return None
        lengths = np.sqrt(rng.chisquare(d, count)) * rates
        return lengths[:, None] * _directions(count, d, rng)

    def diagonal(self, X: Rows) -> Array:
        return np.ones(X.shape[0])


@dataclass(repr=False)
class RBF(Stationary):
    r"""Gaussian kernel: similarity that falls with the squared distance.

    Definition
    ----------
    .. math:: k(x, y) = \exp(-\gamma \|x - y\|^2), \qquad \gamma = 1 / (2 \sigma^2)

    Parameters
    ----------
    sigma : float or "median", optional
        Width :math:`\sigma`. Give this or ``gamma``, not both. ``"median"`` is the median distance.
    gamma : float or {"scale", "median"}, optional
        Inverse width :math:`\gamma`. ``"scale"`` (in force if neither is given) is
        :math:`1 / (d\,\mathrm{var}\,X)`; ``"median"`` sets :math:`\sigma` to the median distance.

    Cost
    ----
    One matrix product and one ``exp`` per pair of rows.

    Examples
    --------
    >>> RBF(sigma=1.0)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """

    sigma: float | str | None = None
    gamma: float | str | None = None

    name = "rbf"
    title = "Gaussian (rbf)"
    measure = squared_euclidean
    width_name = "sigma"

    def check(self) -> None:
        if self.sigma is not None and self.gamma is not None:
            raise ValueError(
                f"sigma={self.sigma!r} and gamma={self.gamma!r} both set the width of the rbf kernel. Give one."
            )
        if self.sigma is not None and self.sigma != "median":
            require_positive(self, sigma=self.sigma)
        gamma = self.gamma
        if gamma is not None and gamma not in DATA_WIDTHS and not (is_number(gamma) and 0 <= gamma < np.inf):
            raise ValueError(f"gamma={gamma!r} of the rbf kernel must be a number of 0 or more, 'scale' or 'median'.")

    def _set(self, key: str, value: Any) -> None:
        super()._set(key, value)
        if value is not None:  # the last word counts, so that a grid over sigma works from any start
            super()._set("gamma" if key == "sigma" else "sigma", None)

    def resolve(self, X: Rows) -> Self:
        self.check()
        if self.sigma == "median" or self.gamma == "median":
            return evolve(self, sigma=median_width(X), gamma=None)
        if self.sigma is None and self.gamma in (None, "scale"):
            return evolve(self, gamma=min(inverse_square(scale_width(X)), float(np.finfo(np.float64).max)))
        return self

    @property
    def needs_rows(self) -> bool:
        return "median" in (self.sigma, self.gamma)

    @property
    def width(self) -> float:
        """The width sigma, whichever of the two parameters was given."""
        if self.sigma is not None:
            return float(self.sigma)
        gamma = float(self.gamma)  # type: ignore[arg-type]
        return float((2 * gamma) ** -0.5) if gamma > 0 else float("inf")

    @property
    def factor(self) -> float:
        if self.gamma is not None:
            return -float(self.gamma)
        return -0.5 * inverse_square(float(self.sigma))  # type: ignore[arg-type]

    @property
    def falls_with_distance(self) -> bool:
        return self.factor < 0

    @property
    def slope(self) -> tuple[Kernel, float]:
        return self, -self.factor

    @property
    def form(self) -> Form | None:
        return super().form if np.isfinite(self.factor) else None

    @property
    def split(self) -> tuple[Measure, Callable[[Array], Array]]:
        return squared_euclidean, self.at

    def gaussian_rates(self, count: int, rng: np.random.Generator) -> Array:
        return np.full(count, np.sqrt(-2 * self.factor))

    def feature_distances(self, squares: Array) -> Array:
        with np.errstate(over="ignore"):  # 2 - 2 exp(-t) keeps no digits of a small t
            return -2 * np.expm1(self.factor * squares)

    def compiled_from(self, d: int) -> int | None:
        return compiled_from(d)

    def pairs_with(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        return Exponential(partial(squared_euclidean, X, Y), self.factor, dtype)

    def of(self, tile: Array) -> Array:
        return np.exp(tile, out=tile)


class Lengthed(Stationary):
    """A kernel with a parameter, ``length_name``, that may be a word for a length of the rows."""

    length_name: ClassVar[str] = "length_scale"

    @property
    def needs_rows(self) -> bool:
        return getattr(self, self.length_name) == "median"

    def check(self) -> None:
        if (given := getattr(self, self.length_name)) not in DATA_WIDTHS:
            require_positive(self, **{self.length_name: given})

    def resolve(self, X: Rows) -> Self:
        self.check()
        word = getattr(self, self.length_name)
        return evolve(self, **{self.length_name: self._from_rows(X, word)}) if word in DATA_WIDTHS else self

    def _from_rows(self, X: Rows, word: str) -> float:
        """The parameter that a word stands for."""
        return scale_width(X) if word == "scale" else median_width(X)


@dataclass(repr=False)
class Laplacian(Lengthed):
    r"""Exponential of the distance itself: less smooth than the Gaussian, heavier tails.

    Definition
    ----------
    .. math:: k(x, y) = \exp(-\gamma \|x - y\|)

    Parameters
    ----------
    gamma : float or {"scale", "median"}
        Inverse width :math:`\gamma`. ``"scale"``: one over the typical distance,
        :math:`1/(d\,\mathrm{sd}\,X)` for l1 and :math:`1/\sqrt{d\,\mathrm{var}\,X}` for l2; ``"median"``: one over
        the median distance.
    norm : {"l1", "l2"}
        City-block distance as in scikit-learn, or Euclidean as in kernlab and mlpack.

    Cost
    ----
    l1: ``d`` additions per pair of rows, no matrix product. l2: as :class:`RBF`, with a square root.

    Examples
    --------
    >>> float(Laplacian(gamma=1.0).block(np.zeros((1, 2)), np.full((1, 2), 0.5))[0, 0].round(4))
    0.3679
    """

    gamma: float | str = "scale"
    norm: str = "l1"

    name = "laplacian"
    title = "Laplacian"
    sliders = ("width",)
    length_name = "gamma"

    def check(self) -> None:
        if self.norm not in ("l1", "l2"):
            raise ValueError(f"norm={self.norm!r} of the laplacian kernel must be 'l1' or 'l2'.")
        super().check()

    def _from_rows(self, X: Rows, word: str) -> float:
        if word == "median":
            return 1 / median_width(X, "cityblock" if self.norm == "l1" else "euclidean")
        return 1 / (scale_width(X) * (X.shape[1] ** 0.5 if self.norm == "l1" else 1))

    @property
    def falls_with_distance(self) -> bool:
        return self.norm == "l2"

    @classmethod
    def from_sliders(cls, width: float, degree: int) -> Self:
        return cls(gamma=1 / width, norm="l2")

    def gaussian_rates(self, count: int, rng: np.random.Generator) -> Array:
        return float(self.gamma) / np.sqrt(rng.chisquare(1, count))

    def frequencies(self, count: int, d: int, rng: np.random.Generator) -> Array | None:
        if self.norm == "l1":
            return float(self.gamma) * rng.standard_cauchy((count, d))
        return super().frequencies(count, d, rng)

    def pairs_with(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        if self.norm == "l1":
            return Mapped(manhattan(X, Y, -float(self.gamma), dtype), self.of)
        return Mapped(precise_squares(X, Y, 1.0, dtype), self.of)

    def of(self, tile: Array) -> Array:
        if self.norm == "l2":
            np.sqrt(tile, out=tile)
            with np.errstate(over="ignore"):  # exp(-inf) = 0 is the right limit
                tile *= max(-float(self.gamma), float(np.finfo(tile.dtype).min))
        return np.exp(tile, out=tile)


@dataclass(repr=False)
class Matern(Lengthed):
    r"""Between the Laplacian (nu = 1/2) and the Gaussian (nu = infinity): differentiable as often as asked.

    Definition
    ----------
    .. math:: k(x, y) = \frac{2^{1-\nu}}{\Gamma(\nu)} t^\nu K_\nu(t), \qquad t = \sqrt{2\nu}\,\|x - y\| / \ell

    Parameters
    ----------
    length_scale : float or {"scale", "median"}
        Length :math:`\ell`.
    nu : float
        Smoothness :math:`\nu`; 0.5, 1.5, 2.5 and infinity have closed forms and are fast.

    Cost
    ----
    As :class:`RBF` with a square root; other ``nu`` need a Bessel function, some hundred times slower.

    Examples
    --------
    >>> Matern(length_scale=1.0, nu=0.5)([[0.0], [1.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    length_scale: float | str = "scale"
    nu: float = 1.5

    name = "matern"
    title = "Matérn 3/2"
    measure: ClassVar[Measure] = precise_squares
    width_name = "length_scale"

    def check(self) -> None:
        super().check()
        if not is_number(self.nu) or not self.nu > 0:
            raise ValueError(f"nu={self.nu!r} of the matern kernel must be a positive number or infinity.")

    @property
    def costly(self) -> bool:
        return self.nu not in (0.5, 1.5, 2.5, np.inf)

    @property
    def factor(self) -> float:
        return inverse_square(float(self.length_scale))

    @property
    def slope(self) -> tuple[Kernel, float] | None:
        # -f'(u) = nu / (2 (nu - 1) l^2) f of nu - 1, at the length that leaves sqrt(2 nu) / l as it is.
        nu, length = float(self.nu), float(self.length_scale)
        if np.isinf(nu):
            return self, 0.5 / length**2
        if nu <= 1:
            return None
        rougher = evolve(self, nu=nu - 1, length_scale=length * ((nu - 1) / nu) ** 0.5)
        return rougher, nu / (2 * (nu - 1) * length**2)

    def gaussian_rates(self, count: int, rng: np.random.Generator) -> Array:
        if np.isinf(self.nu):
            return np.full(count, 1 / float(self.length_scale))
        return np.sqrt(2 * self.nu / rng.chisquare(2 * self.nu, count)) / float(self.length_scale)

    def of(self, tile: Array) -> Array:
        if np.isinf(self.nu):
            tile *= tile.dtype.type(-0.5)
            return np.exp(tile, out=tile)
        t = np.sqrt(tile, out=tile)
        t *= t.dtype.type((2 * self.nu) ** 0.5)
        if self.nu == 0.5:
            return np.exp(np.negative(t, out=t), out=t)
        if self.nu in (1.5, 2.5):
            polynomial = 1 + t + (t * t / 3 if self.nu == 2.5 else 0)
            np.exp(np.negative(t, out=t), out=t)
            t *= polynomial
            return t
        with np.errstate(invalid="ignore", under="ignore", over="ignore"):  # 0 * inf at t = 0, replaced below
            values = 2 ** (1 - self.nu) / gamma_function(self.nu) * t**self.nu * kv(self.nu, t)
        tile[...] = np.where(t == 0, 1.0, np.where(np.isfinite(values), values, 1.0))
        return tile


@dataclass(repr=False)
class RationalQuadratic(Lengthed):
    r"""A mixture of Gaussian kernels of all widths.

    Definition
    ----------
    .. math:: k(x, y) = \left(1 + \frac{\|x - y\|^2}{2 \alpha \ell^2}\right)^{-\alpha}

    Parameters
    ----------
    length_scale : float or {"scale", "median"}
        Length :math:`\ell`.
    alpha : float
        Mixture exponent :math:`\alpha`; the Gaussian kernel is the limit of large values.

    Cost
    ----
    As :class:`RBF`, with a power in place of ``exp``.

    Examples
    --------
    >>> RationalQuadratic(length_scale=1.0, alpha=1.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.3333],
           [0.3333, 1.    ]])
    """

    length_scale: float | str = "scale"
    alpha: float = 1.0

    name = "rational_quadratic"
    measure: ClassVar[Measure] = squared_euclidean
    width_name = "length_scale"

    def check(self) -> None:
        super().check()
        require_positive(self, alpha=self.alpha)

    @property
    def slope(self) -> tuple[Kernel, float]:
        # -f'(u) = (1 + u / (2 a l^2))^-(a + 1) / (2 l^2)
        alpha, length = float(self.alpha), float(self.length_scale)
        steeper = evolve(self, alpha=alpha + 1, length_scale=length * (alpha / (alpha + 1)) ** 0.5)
        return steeper, 0.5 / length**2

    def gaussian_rates(self, count: int, rng: np.random.Generator) -> Array:
        return np.sqrt(rng.gamma(self.alpha, 1 / self.alpha, count)) / float(self.length_scale)

    @property
    def factor(self) -> float:
        return 0.5 / self.alpha * inverse_square(float(self.length_scale))

    def of(self, tile: Array) -> Array:
        tile += tile.dtype.type(1)
        return np.power(tile, tile.dtype.type(-self.alpha), out=tile)


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
    positive_definite = False

    def check(self) -> None:
        require_positive(self, c=self.c)
        if self.centring not in ("plain", "proper"):
            raise ValueError(f"centring={self.centring!r} of the {self.name} kernel must be 'plain' or 'proper'.")

    @property
    def properly_centred(self) -> bool:
        return self.centring == "proper"

    def polynomial(self, X: Rows) -> Array:
        # Flat plates do not bend: constants and linear functions have no energy.
        return np.column_stack([np.ones(X.shape[0]), to_dense(X)])

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


def _directions(count: int, d: int, rng: np.random.Generator) -> Array:
    """Unit vectors, orthogonal in groups of d, each uniform on the sphere."""
    groups = [interruptible(np.linalg.qr, rng.standard_normal((d, d))) for _ in range(-(-count // d))]
    # Signs of the triangular factor make the orthogonal one uniform.
    return np.concatenate([(Q * np.sign(T.diagonal())).T for Q, T in groups])[:count]
