"""Kernels made of kernels: sums, products, multiples, powers, and kernels of chosen columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike

from gramian.engine.product import Pairs, Rows
from gramian.kernels.base import ALGEBRA, Form, Kernel, Mapped, ReadyKernel, evolve, format_value, is_number, raise_to
from gramian.kernels.pairwise import PreparedRows
from gramian.kernels.parsing import as_kernel
from gramian.results import Array

__all__ = ["Columns", "Power", "Product", "Scaled", "Sum"]


class Combined(Pairs):
    """Tiles of several kernels over the same rows, put together by an in-place NumPy operation."""

    def __init__(self, parts: tuple[Pairs, Pairs], operation: np.ufunc) -> None:
        self.parts, self.operation = parts, operation
        self.shape, self.dtype = parts[0].shape, parts[0].dtype

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        first = self.parts[0].tile(rows, cols, out)
        second = self.parts[1].tile(rows, cols, np.empty_like(out))
        return self.operation(first, second, out=first)


def _of_parts(ability: str, rule: Callable[[Iterable[bool]], bool]) -> Any:
    """An ability that a kernel has if all of its parts, or any of them, have it."""
    return property(lambda self: rule(getattr(part, ability) for part in self.parts.values()))


class Composite(ReadyKernel):
    """A kernel with others as parameters, which may be set as text too."""

    has_text = False
    given = _of_parts("given", all)
    positive_definite = _of_parts("positive_definite", all)
    falls_with_distance = _of_parts("falls_with_distance", all)
    costly = _of_parts("costly", any)
    is_symmetric = _of_parts("is_symmetric", all)
    needs_rows = _of_parts("needs_rows", any)
    properly_centred = _of_parts("properly_centred", any)
    rounds_by_length = _of_parts("rounds_by_length", any)

    @property
    def parts(self) -> dict[str, Kernel]:
        """The parameters that are kernels."""
        return {key: value for key, value in self.get_params(deep=False).items() if isinstance(value, Kernel)}

    def resolve(self, X: Rows) -> Self:
        self.check()
        return evolve(self, **{key: part.resolve(X) for key, part in self.parts.items()})

    def _set(self, key: str, value: Any) -> None:
        super()._set(key, as_kernel(value) if isinstance(getattr(self, key), Kernel) else value)


class Pair(Composite):
    """Two kernels of the same rows, put together by an operation of their values."""

    operation: ClassVar[np.ufunc]
    left: Kernel
    right: Kernel

    def check(self) -> None:
        if self.left.given != self.right.given:
            rows = self.left if self.right.given else self.right
            raise ValueError(
                f"kernel='{self}' combines a precomputed matrix with {rows}, for which there are no rows. Compute both "
                "matrices, combine them, and use kernel='precomputed'."
            )

    def pairs_with(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        return Combined((self.left.against(X, Y, dtype), self.right.against(X, Y, dtype)), self.operation)

    def diagonal(self, X: Rows) -> Array:
        return self.operation(self.left.diagonal(X), self.right.diagonal(X))

    @property
    def form(self) -> Form | None:
        f, g = self.left.form, self.right.form
        if f is None or g is None or f.radial != g.radial:  # functions of two measures
            return None
        a, b = f.weighted_slope(), g.weighted_slope()
        slope = None if a is None or b is None else self._slope(a, b)
        value = self.operation
        return Form(f.radial, lambda m: value(f.value(m), g.value(m)), slope, invertible=self._invertible(f, g))

    @abstractmethod
    def _slope(self, left: Kernel, right: Kernel) -> Kernel:
        """The slope, from those of both."""

    def _invertible(self, f: Form, g: Form) -> bool:
        """Whether the values are one to one, if those of both are functions of one measure."""
        return f.radial


@dataclass(repr=False)
class Sum(Pair):
    """``k1(x, y) + k2(x, y)``: the features of both.

    Examples
    --------
    >>> from gramian.kernels import Linear, Polynomial
    >>> (Linear() + Polynomial(degree=2))([[1.0, 2.0]])
    array([[41.]])
    """

    left: Kernel
    right: Kernel

    name = "sum"
    operation = np.add

    def _slope(self, left: Kernel, right: Kernel) -> Kernel:
        return left + right

    def _invertible(self, f: Form, g: Form) -> bool:
        return f.invertible and g.invertible

    def __str__(self) -> str:
        return f"{self.left} + {_bracketed(self.right, Sum)}"


@dataclass(repr=False)
class Product(Pair):
    """``k1(x, y) k2(x, y)``: all products of the features of both.

    Examples
    --------
    >>> from gramian.kernels import Linear, Polynomial
    >>> (Linear() * Polynomial(degree=2))([[1.0, 2.0]])
    array([[180.]])
    """

    left: Kernel
    right: Kernel

    name = "product"
    operation = np.multiply

    def _slope(self, left: Kernel, right: Kernel) -> Kernel:
        return left * self.right + self.left * right

    def __str__(self) -> str:
        return f"{_bracketed(self.left, Sum)}*{_bracketed(self.right, Sum, Product, Scaled)}"


@dataclass(repr=False)
class Scaled(Composite):
    """``weight k(x, y)`` with a positive weight.

    Examples
    --------
    >>> from gramian.kernels import Linear
    >>> (2 * Linear())([[1.0, 2.0]])
    array([[10.]])
    """

    weight: float
    kernel: Kernel

    name = "scaled"

    def check(self) -> None:
        if not is_number(self.weight) or not 0 < self.weight < np.inf:
            raise ValueError(f"a kernel can be multiplied by a positive number, not by {self.weight!r}.")

    def pairs_with(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        return Mapped(self.kernel.against(X, Y, dtype), lambda tile: np.multiply(tile, self.weight, out=tile))

    def diagonal(self, X: Rows) -> Array:
        return self.weight * self.kernel.diagonal(X)

    @property
    def form(self) -> Form | None:
        f = self.kernel.form
        return f and replace(f, value=lambda m: self.weight * f.value(m), rate=self.weight * f.rate)

    def frequencies(self, count: int, d: int, rng: np.random.Generator) -> Array | None:
        return self.kernel.frequencies(count, d, rng)

    def __str__(self) -> str:
        return f"{format_value(self.weight)}*{_bracketed(self.kernel, Sum, Product, Scaled)}"


@dataclass(repr=False)
class Power(Composite):
    """``k(x, y)^exponent`` with a whole exponent.

    Examples
    --------
    >>> from gramian.kernels import Linear
    >>> (Linear() ** 2)([[1.0, 2.0]])
    array([[25.]])
    """

    kernel: Kernel
    exponent: int

    name = "power"

    def check(self) -> None:
        whole = is_number(self.exponent) and float(self.exponent).is_integer()
        if not whole or not 1 <= self.exponent <= 64:
            raise ValueError(f"a kernel can be raised to a whole power from 1 to 64, not to {self.exponent!r}.")

    def pairs_with(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        return Mapped(self.kernel.against(X, Y, dtype), lambda tile: raise_to(tile, self.exponent))

    def diagonal(self, X: Rows) -> Array:
        return self.kernel.diagonal(X) ** self.exponent

    @property
    def form(self) -> Form | None:
        f, p = self.kernel.form, int(self.exponent)
        if f is None or p == 1:
            return f
        slope = None if f.slope is None else f.slope * (self.kernel ** (p - 1))
        invertible = f.radial or (f.invertible and p % 2 == 1)
        return Form(f.radial, lambda m: f.value(m) ** p, slope, p * f.rate, invertible)

    def __str__(self) -> str:
        return f"{_bracketed(self.kernel, Sum, Product, Scaled, Power)}**{self.exponent}"


@dataclass(repr=False)
class Columns(Composite):
    """A kernel of some of the columns: ``rbf(sigma=2)[0, 3]`` or ``rbf(sigma=2)[0:3]``.

    Examples
    --------
    >>> from gramian.kernels import Linear
    >>> Linear()[0:1]([[1.0, 2.0]])
    array([[1.]])
    """

    kernel: Kernel
    columns: tuple[int, ...] | slice

    name = "columns"
    falls_with_distance = False  # with the distance of some columns alone

    def check(self) -> None:
        if self.kernel.given:
            raise ValueError(
                f"kernel='{self}': columns of a precomputed matrix are training rows, which a fit takes all. Choose "
                "rows and columns of the matrix before."
            )
        chosen = self.columns
        whole = isinstance(chosen, tuple) and all(is_number(c) and isinstance(c, (int, np.integer)) for c in chosen)
        if not isinstance(chosen, slice) and not (whole and chosen):
            raise ValueError(f"columns={chosen!r} must be whole numbers or a slice, as in rbf[0, 3] or rbf[0:3].")

    def resolve(self, X: Rows) -> Self:
        self.check()
        return evolve(self, kernel=self.kernel.resolve(self._take(X)))

    def pairs_with(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        taken = Y.once(("columns", str(self.columns)), lambda: PreparedRows(self._take(Y.rows)))
        return self.kernel.against(taken.rows if X is Y.rows else self._take(X), taken, dtype)

    def diagonal(self, X: Rows) -> Array:
        return self.kernel.diagonal(self._take(X))

    def _take(self, X: Rows) -> Rows:
        d = X.shape[1]
        if isinstance(self.columns, slice):
            index = np.arange(d)[self.columns]
        else:
            index = np.asarray(self.columns)
            if not ((-d <= index) & (index < d)).all():
                raise ValueError(f"{self} asks for columns {list(self.columns)}; X has {d}.")
        if not len(index):
            raise ValueError(f"{self} takes no column: X has {d}.")
        return X[:, index]

    def __str__(self) -> str:
        if isinstance(self.columns, slice):
            ends = (self.columns.start, self.columns.stop) + ((self.columns.step,) if self.columns.step else ())
            inside = ":".join("" if end is None else str(end) for end in ends)
        else:
            inside = ", ".join(str(int(column)) for column in self.columns)
        return f"{_bracketed(self.kernel, Sum, Product, Scaled, Power)}[{inside}]"


def _add(left: object, right: object) -> Kernel:
    return Sum(left, right) if isinstance(left, Kernel) and isinstance(right, Kernel) else NotImplemented


def _multiply(left: object, right: object) -> Kernel:
    if isinstance(right, Kernel):
        return Product(left, right) if isinstance(left, Kernel) else _scaled(left, right)
    return _scaled(right, left)


def _scaled(weight: object, kernel: object) -> Kernel:
    return Scaled(weight, kernel) if is_number(weight) else NotImplemented  # type: ignore[arg-type]


def _columns(kernel: Kernel, columns: int | tuple[int, ...] | slice) -> Kernel:
    return Columns(kernel, columns if isinstance(columns, (tuple, slice)) else (columns,))


def _bracketed(kernel: Kernel, *loose: type[Kernel]) -> str:
    return f"({kernel})" if isinstance(kernel, loose) else str(kernel)


ALGEBRA.update(add=_add, multiply=_multiply, power=Power, columns=_columns)
