"""What every kernel is: parameters, a text form, and tiles of similarities."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeGuard, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, DTypeLike

from gramian.engine.product import Pairs, Rows
from gramian.kernels.pairwise import PreparedRows
from gramian.results import Array, Matrix

#: Name in the text form -> class.
REGISTRY: dict[str, type[Kernel]] = {}
Made = TypeVar("Made", bound="Kernel")
Value = TypeVar("Value")
#: What prepares tiles of a distance or a dot product: ``measure(X, Y, factor, dtype)``.
Measure = Callable[..., Pairs]
#: Halvings of an interval: all the digits there are.
_BISECTIONS = 60


@dataclass(frozen=True)
class Form:
    """``k(x, y) = f(m)``, with ``m`` a squared Euclidean distance (``radial``: f falls) or a dot product (f rises)."""

    radial: bool
    value: Callable[[Array], Array]  #: f, entry by entry
    #: ``|f'(m)| / rate``; None where f has a kink at zero, which a fixed point cannot leave
    slope: Kernel | None = None
    rate: float = 1.0
    invertible: bool = True  #: whether f is one to one, so that a similarity gives m back

    def weighted_slope(self) -> Kernel | None:
        """The slope with its rate."""
        return None if self.slope is None else self.slope * float(self.rate)

    def invert(self, values: Array, reach: float) -> Array:
        """Arguments m with ``f(m) = values``, by bisection.

        No squared distance beyond ``reach`` is looked for, and no dot product of a larger size.
        """
        # Distances are halved as roots: the precision that counts is that of r, not of r^2.
        low = np.full(values.shape, 0.0 if self.radial else -reach)
        high = np.full(values.shape, reach**0.5 if self.radial else reach)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            above = (self.value(middle**2) > values) if self.radial else (self.value(middle) < values)
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return ((low + high) / 2) ** (2 if self.radial else 1)


class Kernel(ABC):
    """A similarity ``k(x, y)`` of two rows.

    Subclasses are dataclasses whose fields are the parameters. They say how to prepare two sets of rows
    (:meth:`pairs`); whole blocks, diagonals, algebra and text follow from that. A kernel whose values come
    from a distance or a dot product is shorter still: see :class:`MappedKernel`.

    Examples
    --------
    >>> from gramian.kernels import RBF, Kernel
    >>> kernel = RBF(sigma=2.0)
    >>> isinstance(kernel, Kernel), str(kernel), kernel.get_params()
    (True, 'rbf(sigma=2)', {'sigma': 2.0, 'gamma': None})
    >>> kernel.block(np.array([[0.0]]), np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.6065]])
    """

    #: The name in the text form. A class that has one is known to ``parse`` from its definition on.
    name: ClassVar[str]
    #: Whether the kernel can be written as ``name(argument=value)``.
    has_text: ClassVar[bool] = True
    #: The name for people, and whether the explorer lists it.
    title: ClassVar[str] = ""
    listed: ClassVar[bool] = True
    #: The parameter that is a length in the units of the rows, if there is one.
    width_name: ClassVar[str | None] = None
    #: Sliders of the explorer that the kernel follows: "width" (by default if there is such a length), "degree".
    sliders: ClassVar[tuple[str, ...]] = ()
    #: Whether the features are the rows themselves.
    linear: ClassVar[bool] = False
    #: Whether a value rounds in units of the lengths of its rows, also where these are at right angles.
    rounds_by_length: ClassVar[bool] = False
    #: Whether both arguments are rows. Random features have frequencies as the second.
    compares_rows: ClassVar[bool] = True
    #: Whether the class that has the last word on values says them of prepared rows.
    _ready: ClassVar[bool] = False

    def __init_subclass__(cls, **rest: object) -> None:
        super().__init_subclass__(**rest)
        if "pairs" in cls.__dict__ or "pairs_with" in cls.__dict__:
            cls._ready = "pairs_with" in cls.__dict__
        if cls.width_name and not cls.sliders:
            cls.sliders = ("width",)
        if "name" not in cls.__dict__ or not cls.has_text:
            return
        other = REGISTRY.get(cls.name)
        if other is not None and other.__qualname__ != cls.__qualname__:
            raise ValueError(f"the kernel name {cls.name!r} is taken by {other.__qualname__}. Choose another.")
        REGISTRY[cls.name] = cls
        cls.title = cls.__dict__.get("title") or cls.name.replace("_", " ")

    def __post_init__(self) -> None:
        self.check()

    # What a kernel is good for beside its values. Nobody asks for its class: a kernel that knows more says so here.

    @property
    def positive_definite(self) -> bool:
        """Whether every Gram matrix is positive semidefinite, whatever the data."""
        return True

    @property
    def given(self) -> bool:
        """Whether the rows it takes are rows of a given matrix of kernel values, and not rows of a table."""
        return False

    @property
    def costly(self) -> bool:
        """Whether a value costs far more than reading it from memory."""
        return False

    @property
    def falls_with_distance(self) -> bool:
        """Whether the value is a function of the Euclidean distance of two rows alone, and falls strictly with it."""
        return False

    @property
    def keeps_neighbours(self) -> bool:
        """Whether distances in feature space rise strictly with Euclidean ones."""
        return self.falls_with_distance or self.linear

    @property
    def is_symmetric(self) -> bool:
        """Whether ``k(x, y) = k(y, x)`` is known to hold: not of a user's function, or of features of rows."""
        return self._ready and self.compares_rows

    @property
    def needs_rows(self) -> bool:
        """Whether :meth:`resolve` looks at more of the rows than the means and variances of their columns."""
        return type(self).resolve is not Kernel.resolve

    @property
    def properly_centred(self) -> bool:
        """Whether kernel PCA takes all of :meth:`polynomial` out of the features, not their mean alone."""
        return False

    @property
    def form(self) -> Form | None:
        """The kernel as a function of one squared distance or dot product, for pre-images and slopes."""
        return None

    @property
    def split(self) -> tuple[Measure, Callable[[Array], Array]] | None:
        """``(m, f)`` with ``k(x, y) = f(m(x, y))``, m free of parameters: it can be kept while these change."""
        return None

    @property
    def width(self) -> float | None:
        """The length of a kernel that has one, in the units of a Euclidean distance."""
        return None if self.width_name is None else float(getattr(self, self.width_name))

    @classmethod
    def from_sliders(cls, width: float, degree: int) -> Self:
        """The kernel for a width in the units of the rows, and a degree."""
        return cls(**{cls.width_name: width}) if cls.width_name else cls()

    def feature_distances(self, squares: Array) -> Array:
        """Squared distances in feature space for squared Euclidean ones, if it :attr:`keeps_neighbours`."""
        # Only the distance counts, so the kernel can be asked about points on a line.
        zero, line = np.zeros((1, 1)), np.sqrt(squares).reshape(-1, 1)
        return 2 * (self.diagonal(zero)[0] - self.block(line, zero)).reshape(squares.shape)

    def frequencies(self, count: int, d: int, rng: np.random.Generator) -> Array | None:
        """Draw from the spectral measure of a stationary kernel of d columns, count x d; None if it is not known."""
        return None

    def compiled_from(self, d: int) -> int | None:
        """Pairs of rows of d columns from which on compiled loops make the values; None if they never do."""
        return None

    # Values.

    @abstractmethod
    def pairs(self, X: Rows, Y: Rows, dtype: DTypeLike) -> Pairs:
        """Prepare tiles of ``k(x, y)``; the parameters must be numbers by now (see :meth:`resolve`)."""

    def against(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        """The same with rows that are prepared once for all X, if the kernel knows how."""
        return self.pairs_with(X, Y, dtype) if self._ready else self.pairs(X, Y.rows, dtype)

    def pairs_with(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        """Prepare tiles of ``k(x, y)`` from what is kept of prepared rows: see ``ReadyKernel``."""
        return self.pairs(X, Y.rows, dtype)

    @abstractmethod
    def diagonal(self, X: Rows) -> Array:
        """Return ``k(x, x)`` for each row."""

    def polynomial(self, X: Rows) -> Array | None:
        """Return the functions the kernel leaves unpenalised at rows X, n x m, or None.

        A conditionally positive definite kernel is positive only beside them: on coefficients orthogonal to them.
        """
        return None

    def resolve(self, X: Rows) -> Self:
        """Return the kernel with data-dependent parameters (``"scale"``, ``"median"``) made numbers."""
        self.check()
        return self

    def check(self) -> None:  # noqa: B027  (a kernel without parameters has nothing to check)
        """Raise ValueError if a parameter is out of its range."""

    def anchors(self, X: Rows) -> Rows:
        """Return what must be kept of the training rows: a copy, as the caller may change theirs."""
        return X.copy()

    def block(self, X: Rows, Y: Rows, dtype: DTypeLike = np.float64) -> Array:
        """Return the whole block of ``k(x, y)``: resolved parameters, trusted rows."""
        pairs = self.pairs(X, Y, dtype)
        out = np.empty(pairs.shape, dtype=dtype)
        return pairs.tile(slice(0, pairs.shape[0]), slice(0, pairs.shape[1]), out)

    def __call__(self, X: ArrayLike | Matrix, Y: ArrayLike | Matrix | None = None) -> Array:
        """Return the matrix of ``k(x, y)`` between the rows of ``X`` and of ``Y`` (default: ``X``)."""
        X = as_rows(X, "X")
        kernel = self.resolve(X)
        if Y is None:
            return kernel.block(X, X)
        Y = as_rows(Y, "Y")
        if X.shape[1] != Y.shape[1]:
            raise ValueError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}. Give rows of one width.")
        return kernel.block(X, Y)

    # Parameters, as scikit-learn's clone and grid search expect them.

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with ``deep`` also those of inner kernels, as ``outer__inner``."""
        params: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        if deep:
            for key, value in list(params.items()):
                if isinstance(value, Kernel):
                    params |= {f"{key}__{k}": v for k, v in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, nested ones by ``outer__inner``."""
        for key, value in sorted(params.items(), key=lambda item: "__" in item[0]):  # outer ones first
            head, _, rest = key.partition("__")
            own = self.get_params(deep=False)
            if head not in own or (rest and not isinstance(own[head], Kernel)):
                known = ", ".join(self.get_params()) or "none, it has no parameters"
                raise ValueError(f"{key!r} is not a parameter of {self}. Known: {known}.")
            if rest:
                own[head].set_params(**{rest: value})
            else:
                self._set(head, value)
        self.check()
        return self

    def _set(self, key: str, value: Any) -> None:
        setattr(self, key, value)

    # Text.

    def __str__(self) -> str:
        given = ", ".join(f"{key}={format_value(value)}" for key, value in _given(self))
        return f"{self.name}({given})" if given else self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{key}={value!r}' for key, value in _given(self))})"

    # Algebra; the classes live in algebra.py, which fills these in.

    def __add__(self, other: Kernel) -> Kernel:
        return ALGEBRA["add"](self, other)

    def __radd__(self, other: Kernel) -> Kernel:
        return ALGEBRA["add"](other, self)

    def __mul__(self, other: Kernel | float) -> Kernel:
        return ALGEBRA["multiply"](self, other)

    def __rmul__(self, other: Kernel | float) -> Kernel:
        return ALGEBRA["multiply"](other, self)

    def __pow__(self, exponent: int) -> Kernel:
        return ALGEBRA["power"](self, exponent)

    def __getitem__(self, columns: int | tuple[int, ...] | slice) -> Kernel:
        return ALGEBRA["columns"](self, columns)


class ReadyKernel(Kernel):
    """A kernel that makes use of what is kept of prepared rows: it implements :meth:`pairs_with` alone."""

    def pairs(self, X: Rows, Y: Rows, dtype: DTypeLike) -> Pairs:
        return self.pairs_with(X, PreparedRows(Y), dtype)

    @abstractmethod
    def pairs_with(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        """Prepare tiles of ``k(x, y)``."""


class MappedKernel(ReadyKernel):
    """A kernel ``f(a m(x, y))`` of one distance or dot product ``m``.

    A subclass gives ``measure`` (from ``gramian.kernels.pairwise``), the ``factor`` ``a``, and the scalar
    map ``of``, which works in place on a tile. That is all a new kernel needs.

    Examples
    --------
    >>> from gramian.kernels import RBF, MappedKernel
    >>> kernel = RBF(sigma=1.0)
    >>> isinstance(kernel, MappedKernel), kernel.factor, kernel.of(np.array([[-0.5]])).round(4)
    (True, -0.5, array([[0.6065]]))
    """

    measure: ClassVar[Measure]

    @property
    def factor(self) -> float:
        """The number ``a``, folded into the matrix product at no cost."""
        return 1.0

    @abstractmethod
    def of(self, tile: Array) -> Array:
        """Map ``a m(x, y)`` to similarities, in place."""

    def at(self, measured: Array) -> Array:
        """Similarities for values of the measure."""
        return self.of(measured.dtype.type(self.factor) * measured)

    @property
    def split(self) -> tuple[Measure, Callable[[Array], Array]] | None:
        plain = self._ready and type(self).pairs_with is MappedKernel.pairs_with
        return (type(self).measure, self.at) if plain else None

    def pairs_with(self, X: Rows, Y: PreparedRows, dtype: DTypeLike) -> Pairs:
        return Mapped(type(self).measure(X, Y, self.factor, dtype), self.of)


class Mapped(Pairs):
    """Tiles of something else, changed in place by a scalar map."""

    def __init__(self, inner: Pairs, of: Callable[[Array], Array]) -> None:
        self.inner, self.of = inner, of
        self.shape, self.dtype = inner.shape, inner.dtype

    def tile(self, rows: slice | Array, cols: slice, out: Array) -> Array:
        return self.of(self.inner.tile(rows, cols, out))


def as_rows(X: ArrayLike | Matrix, name: str) -> Rows:
    """Take a table of numbers as rows: a 2-d float array, or CSR if it is sparse. Never copies floats."""
    if sp.issparse(X):
        rows = sp.csr_array(X)
        return rows if rows.dtype.kind == "f" else rows.astype(np.float64)
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"{name} has shape {array.shape}; rows and columns are expected. "
            "Reshape your data with .reshape(-1, 1) if it is one column, .reshape(1, -1) if one row."
        )
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def format_value(value: object) -> str:
    """Write a parameter so that the text form reads well and parses back to the same number."""
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return str(value)


def require_positive(kernel: Kernel, **numbers: object) -> None:
    """Raise ValueError for the first of ``numbers`` that is not a positive finite number."""
    for key, value in numbers.items():
        if not (is_number(value) and 0 < float(value) < np.inf):
            raise ValueError(f"{key}={value!r} of the {kernel.name} kernel must be a positive number.")


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number (booleans are not)."""
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def raise_to(tile: Array, power: float) -> Array:
    """Raise a tile to a power in place; small whole ones by multiplication, far faster than ``pow``."""
    if not float(power).is_integer() or power > 64:
        return np.power(tile, tile.dtype.type(power), out=tile)
    bits = bin(int(power))[3:]
    base = tile.copy() if "1" in bits else tile
    for bit in bits:  # square and multiply, from the leading bit down
        tile *= tile
        if bit == "1":
            tile *= base
    return tile


def evolve(original: Made, /, **changes: object) -> Made:
    """Copy of a kernel with some parameters changed."""
    return replace(original, **changes)  # type: ignore[type-var]


def own_copy(value: Value) -> Value:
    """A copy of a parameter, which the caller may change; itself if it cannot be copied (an open file in it)."""
    try:
        return copy.deepcopy(value)
    except Exception:  # a class may refuse by any exception
        return value


def _given(kernel: Kernel) -> list[tuple[str, Any]]:
    """Parameters that differ from their defaults."""
    pairs = [(f, getattr(kernel, f.name)) for f in fields(kernel)]  # type: ignore[arg-type]
    return [(f.name, value) for f, value in pairs if f.default is MISSING or value != f.default]


#: Filled by algebra.py, which needs this module: the operators above find their classes here.
ALGEBRA: dict[str, Callable[..., Kernel]] = {}
