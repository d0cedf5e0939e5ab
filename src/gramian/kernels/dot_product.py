"""Kernels of the dot product, and random features, which are waves of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike

from gramian.config import format_bytes, memory_budget, within_budget
from gramian.engine.product import Pairs, Rows, to_dense
from gramian.kernels.base import (
    REGISTRY,
    Form,
    Kernel,
    MappedKernel,
    as_rows,
    evolve,
    is_number,
    raise_to,
    require_positive,
)
from gramian.kernels.pairwise import PreparedRows, dot, squared_norms
from gramian.kernels.stationary import RBF, Stationary
from gramian.results import Array

__all__ = ["Cosine", "Linear", "Polynomial", "Sigmoid"]


#: The constant kernel: the slope of a dot product.
ONE = RBF(gamma=0.0)
#: Squares of lengths that keep their digits, in either precision.
SQUARES = (1e-30, 1e30)


class DotProduct(MappedKernel):
    """A kernel ``f(a x'y)``."""

    measure = dot

    def diagonal(self, X: Rows) -> Array:
        if isinstance(X, np.ndarray):  # summed in double precision without a copy of the rows
            return self.of(self.factor * np.einsum("ij,ij->i", X, X, dtype=np.float64))
        return self.of(self.factor * squared_norms(X.astype(np.float64, copy=False)))


@dataclass(repr=False)
class Linear(DotProduct):
    """The dot product itself: kernel methods become their linear forms.

    Definition
    ----------
    .. math:: k(x, y) = x'y

    Cost
    ----
    One matrix product.

    Examples
    --------
    >>> Linear()([[1.0, 2.0]])
    array([[5.]])
    """

    name = "linear"
    linear = True
    rounds_by_length = True

    @property
    def form(self) -> Form:
        return Form(False, self.at, ONE)

    def feature_distances(self, squares: Array) -> Array:
        return squares

    def of(self, tile: Array) -> Array:
        return tile


@dataclass(repr=False)
class Polynomial(DotProduct):
    r"""Dot product of all monomials up to a degree, without writing them down.

    Definition
    ----------
    .. math:: k(x, y) = (a\,x'y + c)^p

    Parameters
    ----------
    degree : int
        Degree :math:`p`. A fraction is taken only if no base is negative.
    scale : float
        Factor :math:`a`.
    constant : float
        Constant :math:`c`; 0 keeps the monomials of degree :math:`p` only.

    Cost
    ----
    One matrix product and :math:`\log_2 p` multiplications per pair of rows, whatever the number of monomials.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0, 2.0]])
    array([[36.]])
    """

    degree: float = 3
    scale: float = 1.0
    constant: float = 1.0

    name = "polynomial"
    rounds_by_length = True
    sliders = ("width", "degree")

    @classmethod
    def from_sliders(cls, width: float, degree: int) -> Self:
        return cls(degree, scale=1 / width**2)

    def check(self) -> None:
        if not is_number(self.degree) or not 0 < self.degree < np.inf:
            raise ValueError(f"degree={self.degree!r} of the polynomial kernel must be a positive whole number.")
        _require_finite(self, scale=self.scale, constant=self.constant)

    @property
    def positive_definite(self) -> bool:
        return float(self.degree).is_integer() and self.scale >= 0 and self.constant >= 0

    @property
    def form(self) -> Form | None:
        degree, scale = int(self.degree), float(self.scale)
        if not self.positive_definite or scale == 0:
            return None
        slope = evolve(self, degree=degree - 1) if degree > 1 else ONE
        return Form(False, self.at, slope, rate=degree * scale, invertible=degree % 2 == 1)

    @property
    def factor(self) -> float:
        return float(self.scale)

    def of(self, tile: Array) -> Array:
        tile += tile.dtype.type(self.constant)
        if not float(self.degree).is_integer() and (tile < 0).any():
            raise ValueError(
                f"degree={self.degree!r} of the polynomial kernel takes a fractional power of a negative number "
                f"(a x'y + c = {tile.min():.4g}). Use a whole degree, or raise constant={self.constant!r}."
            )
        with np.errstate(over="ignore"):
            raise_to(tile, self.degree)
        if not np.isfinite(tile).all():
            raise ValueError(f"the polynomial kernel overflows at degree={self.degree!r}. Lower it, or standardise X.")
        return tile

    def feature_map(self, X: ArrayLike) -> Array:
        r"""Return the explicit features :math:`\phi(x)` with :math:`\phi(x)'\phi(y) = k(x, y)` to rounding.

        All monomials up to degree ``p``, weighted by the square roots of the multinomial coefficients. Their number
        is C(d + p, p): it grows like d^p, the cost of the kernel does not.
        """
        if not self.positive_definite:
            raise ValueError(f"{self} has no real feature map. It needs a whole degree, scale >= 0 and constant >= 0.")
        return monomials(to_dense(as_rows(X, "X")), int(self.degree), self.scale, self.constant)


@dataclass(repr=False)
class Sigmoid(DotProduct):
    r"""Hyperbolic tangent of the dot product; indefinite for most parameters.

    Definition
    ----------
    .. math:: k(x, y) = \tanh(a\,x'y + c)

    Parameters
    ----------
    scale : float
        Factor :math:`a`.
    constant : float
        Constant :math:`c`.

    Cost
    ----
    One matrix product and one ``tanh`` per pair of rows.

    Examples
    --------
    >>> Sigmoid(scale=0.5)([[1.0, 1.0]]).round(4)
    array([[0.7616]])
    """

    scale: float = 1.0
    constant: float = 0.0

    name = "sigmoid"
    rounds_by_length = True
    sliders = ("width",)
    positive_definite = False

    @classmethod
    def from_sliders(cls, width: float, degree: int) -> Self:
        return cls(scale=1 / width**2)

    def check(self) -> None:
        _require_finite(self, scale=self.scale, constant=self.constant)

    @property
    def factor(self) -> float:
        return float(self.scale)

    def of(self, tile: Array) -> Array:
        tile += tile.dtype.type(self.constant)
        return np.tanh(tile, out=tile)


@dataclass(repr=False)
class Cosine(DotProduct):
    r"""Cosine of the angle between two rows; a row of zeros is similar to nothing, itself included.

    Definition
    ----------
    .. math:: k(x, y) = x'y / (\|x\| \|y\|)

    Cost
    ----
    One matrix product.

    Examples
    --------
    >>> Cosine()([[1.0, 0.0], [3.0, 3.0]]).round(4)
    array([[1.    , 0.7071],
           [0.7071, 1.    ]])
    """

    name = "cosine"
    rounds_by_length = True

    def pairs_with(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        def in_units(Z: Rows) -> Rows:  # rows of single precision are widened first, or double would have its digits
            return _normalised(Z.astype(np.result_type(Z.dtype, dtype), copy=False))

        units = Y.once(("units", np.dtype(dtype)), lambda: PreparedRows(in_units(Y.rows)))
        return dot(units.rows if X is Y.rows else in_units(X), units, 1.0, dtype)

    def of(self, tile: Array) -> Array:
        return tile

    def diagonal(self, X: Rows) -> Array:
        return (squared_norms(_normalised(X)) > 0).astype(np.float64)


def _require_finite(kernel: Kernel, **numbers: object) -> None:
    for key, value in numbers.items():
        if not is_number(value) or not np.isfinite(value):
            raise ValueError(f"{key}={value!r} of the {kernel.name} kernel must be a finite number.")


def _normalised(X: Rows) -> Rows:
    """Rows of length 1; those of zeros stay."""
    with np.errstate(over="ignore"):
        squares = squared_norms(X).astype(np.float64)
    if not ((squares > SQUARES[0]) & (squares < SQUARES[1])).all():
        largest = abs(X).max(axis=1)
        X = _divided(X, np.ravel(to_dense(largest)))  # then squares neither overflow nor vanish
        squares = squared_norms(X).astype(np.float64)
    return _divided(X, np.sqrt(squares))


def _divided(X: Rows, lengths: Array) -> Rows:
    """Rows divided by numbers, in their own precision; zero divides nothing."""
    lengths = np.where(lengths > 0, lengths, 1.0).astype(np.float64)
    if not sp.issparse(X):
        return (X / lengths[:, None]).astype(X.dtype, copy=False)
    rows = sp.csr_array(X)
    values = rows.data / np.repeat(lengths, np.diff(rows.indptr))
    return sp.csr_array((values.astype(X.dtype, copy=False), rows.indices, rows.indptr), shape=rows.shape)


def monomials(X: Array, degree: int, scale: float, constant: float) -> Array:
    r"""Weighted monomials of the columns, of every degree k up to p (of p alone if c = 0).

    .. math:: \phi_\alpha(x) = \sqrt{\tfrac{p!}{(p-k)!\,\alpha_1! \cdots \alpha_d!}\, c^{p-k} a^k}\; x^\alpha,
              \qquad |\alpha| = k
    """
    n, d = X.shape
    degrees = range(degree + 1) if constant else [degree]
    width = sum(comb(d + k - 1, k) for k in degrees)
    if not within_budget(size := 8 * n * width):
        raise ValueError(
            f"the feature map of degree {degree} has {width:,} columns for {d} columns of X: {format_bytes(size)}, "
            f"over the memory budget of {format_bytes(memory_budget())}. Use the kernel, which needs none of them."
        )
    features = np.empty((n, width))
    column = 0
    for k in degrees:
        for chosen in combinations_with_replacement(range(d), k):
            powers = prod(factorial(times) for times in Counter(chosen).values())
            weight = factorial(degree) / (factorial(degree - k) * powers) * constant ** (degree - k) * scale**k
            features[:, column] = weight**0.5 * X[:, list(chosen)].prod(axis=1)
            column += 1
    return features


@dataclass(repr=False)
class Waves(MappedKernel):
    r"""Features of rows rather than similarities: the second argument holds frequencies.

    .. math:: f_j(x) = \sqrt{v / D}\,(\cos w_j'x + \sin w_j'x)

    With frequencies in pairs w, -w the products :math:`f(x)'f(y)` are :math:`v/D \sum_j \cos w_j'(x - y)`: no phases
    need be kept, and :math:`f(x)'f(x) = v` exactly.
    """

    count: int  #: number D of frequencies, both signs counted
    variance: float = 1.0  #: v, the similarity of a row to itself

    name = "waves"
    has_text = False
    compares_rows = False
    measure = dot
    positive_definite = False  # not a similarity of two rows at all

    def check(self) -> None:
        require_positive(self, count=self.count, variance=self.variance)

    def diagonal(self, X: Rows) -> Array:
        return np.full(X.shape[0], float(self.variance))

    def of(self, tile: Array) -> Array:
        tile -= tile.dtype.type(np.pi / 4)  # cos t + sin t = sqrt(2) cos(t - pi/4)
        np.cos(tile, out=tile)
        tile *= tile.dtype.type((2 * self.variance / self.count) ** 0.5)
        return tile


def random_waves(kernel: Kernel, d: int, count: int, rng: np.random.Generator) -> tuple[Waves, Array]:
    """Draw frequencies from the spectral measure of a stationary kernel; return the features and the frequencies.

    Directions are orthogonal in groups of d, which makes the error smaller than that of independent ones (Yu et al.,
    Orthogonal random features, NIPS 2016). A city-block Laplacian has independent Cauchy entries instead.
    """
    half = -(-count // 2)
    W = kernel.frequencies(half, d, rng)
    if W is None:
        names = ", ".join(name for name, cls in REGISTRY.items() if _has_frequencies(cls))
        raise ValueError(
            f"RandomFeatures needs a kernel whose spectral measure is known ({names}, or a multiple of one), "
            f"not {kernel}. Use Landmarks, which take any positive kernel."
        )
    variance = float(kernel.diagonal(np.zeros((1, d)))[0])
    return Waves(2 * half, variance), np.concatenate([W, -W])


def _has_frequencies(cls: type[Kernel]) -> bool:
    """Whether a class knows its spectral measure, for some parameters at least."""
    if cls.frequencies is Stationary.frequencies:
        return cls.gaussian_rates is not Stationary.gaussian_rates  # type: ignore[attr-defined]
    return cls.frequencies is not Kernel.frequencies
