"""The kernel of a method and its rows on their way into a fit, and what is known of them through landmarks.

::

    read_rows   KernelRows     all of them at hand, in memory or on a cluster
                KernelStream   a stream, or two in step, of which the first rows are held

Widths and landmarks come from ``first``, one table for each view; ``moments`` of mapped rows are those of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from gramian.config import memory_budget
from gramian.estimators.fit_rows import Gate, read_table, second_stream, take_columns
from gramian.estimators.kernel_checks import CheckedRows
from gramian.estimators.landmarks import (
    LandmarksArgument,
    add_low_rank,
    as_approximation,
    checked_trace_error,
    low_rank,
)
from gramian.estimators.validation import Table, check_targets, check_weights, is_stream, validate
from gramian.kernels import Kernel, as_kernel, parse
from gramian.kernels.base import own_copy
from gramian.kernels.given import evaluated
from gramian.kernels.parsing import takes_matrix
from gramian.operators import Rows
from gramian.operators.features import FeatureMap
from gramian.operators.mapped_moments import MappedMoments, MappedSums, mapped_moments
from gramian.operators.matrix import column_sums
from gramian.operators.moments import row_count
from gramian.operators.remote import Remote, RemoteTable
from gramian.operators.rows import Piece, Views
from gramian.results import Array, FitSummary, Matrix
from gramian.spaces.ridge import powers_of_two

#: The first rows of a stream are held in memory; they take no more than one part in so many of the budget.
FIRST_ROWS_BUDGET_DIVISOR = 4
#: Features up to which moments are kept after a fit to rows in memory, so that ``partial_fit`` may go on from it: with
#: more of them a model would be many times as large as what it needs to answer.
KEPT_FEATURES = 200
#: A kernel as text, as an object, or as a function of two blocks of rows.
KernelArgument: TypeAlias = str | Kernel | Callable[..., Array]


class KernelInput:
    """What estimators with a ``kernel`` argument share: reading rows at fit, and saying that they may be a Gram."""

    kernel: KernelArgument
    landmarks: Any
    n_features_in_: int
    #: What landmarks leave of the trace of the kernel matrix, as a share of it; None without them.
    trace_error_: Any = None
    #: What ``partial_fit`` goes on from, where that is known.
    seen_: Any
    summary_: FitSummary
    _kernel_parameters: ClassVar[tuple[str, ...]] = ("kernel",)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of kernels as ``kernel__sigma``. A kernel given as text then becomes an object.

        A kernel that is an object is changed itself, as scikit-learn does it with every object in a parameter. Text is
        a value: ``get_params`` gives it as it is, and ``type(model)(**model.get_params())`` works.
        """
        for name in self._kernel_parameters:
            nested = {key.removeprefix(f"{name}__"): key for key in params if key.startswith(f"{name}__")}
            given = params.get(name, getattr(self, name))
            if nested and isinstance(given, str):
                params[name] = parse(given).set_params(**{key: params.pop(long) for key, long in nested.items()})
            elif nested and not hasattr(given, "set_params"):
                what = "is None, which stands for the kernel of X" if given is None else f"is the function {given!r}"
                raise ValueError(
                    f"{min(nested.values())} cannot be set: {name} {what}, and has no parameters of its own. Set "
                    f"{name} to a kernel first, as text such as 'rbf(sigma=2)' or as an object."
                )
        return super().set_params(**params)  # type: ignore[misc]

    def _read(
        self, X: Table, sample_weight: ArrayLike | None = None, *, min_samples: int = 1
    ) -> tuple[Kernel, Any, Array | None]:
        """Return the kernel, resolved as if rows were repeated by their weights, the checked rows, and the weights."""
        kernel = own_kernel(self.kernel)
        rows = self._table(X, kernel, min_samples)
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, rows.shape[0], variance=False)
        return resolve_weighted(kernel, rows, weights), rows, weights

    def _table(self, X: Table, kernel: Kernel, min_samples: int = 1) -> Any:
        """Check the training rows of a new fit: in memory, or on a cluster if landmarks stand for them."""
        self.trace_error_ = None
        vars(self).pop("seen_", None)
        if isinstance(X, Remote):
            return read_table(self, X, kernel=kernel, min_samples=min_samples)
        return validate(self, X, gram=kernel, min_samples=min_samples)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = takes_matrix(self.kernel)
        tags.input_tags.sparse = True
        return tags


def own_kernel(kernel: KernelArgument) -> Kernel:
    """Return the kernel that an argument asks for as an object of the fit's own, which nobody else can change."""
    return parse(kernel) if isinstance(kernel, str) else own_copy(as_kernel(kernel))


def resolve_weighted(kernel: Kernel, X: CheckedRows, weights: Array | None) -> Kernel:
    """Return the kernel with its parameters resolved as if rows were repeated ``weights`` times.

    The width ``"scale"`` depends on the mean and the variance of each column alone: two rows that have those of the
    weighted rows give the same. ``"median"`` is that of the rows with a positive weight, each taken once.
    """
    if kernel.given:
        return evaluated(kernel.resolve(X))
    if isinstance(X, RemoteTable):
        return X.resolve(kernel, weights)
    if weights is None:
        return kernel.resolve(X)
    heavy = weights > 0
    rows, w = (X, weights) if heavy.all() else (X[heavy], weights[heavy])
    if (w == w[0]).all() or kernel.needs_rows:
        return kernel.resolve(rows)
    sums = column_sums(rows, w)
    deviation = np.sqrt(sums.squares / sums.weight)
    return kernel.resolve(np.stack([sums.mean - deviation, sums.mean + deviation]))


@dataclass(frozen=True)
class Seen:
    """What is known of the rows so far, and all that ``partial_fit`` needs to go on.

    ``kernels`` and ``maps``, one for each view, come from the ``first`` rows; ``parts`` are moments of all rows, in two
    parts if some are held out.
    """

    kernels: tuple[Kernel, ...]
    maps: tuple[FeatureMap, ...]
    parts: tuple[MappedMoments, ...]
    first: int

    def each(self, change: Callable[[MappedMoments], MappedMoments]) -> Seen:
        """The same with each part changed."""
        return replace(self, parts=tuple(map(change, self.parts)))

    @property
    def total(self) -> MappedMoments:
        """Moments of all rows."""
        return reduce(MappedMoments.__add__, self.parts)

    @property
    def n(self) -> int:
        """Number of rows, or the sum of their weights."""
        return row_count(sum(part.moments.weight for part in self.parts))


@dataclass
class KernelRows:
    """Rows that are all at hand, with targets beside them, ``single`` if these came as one dimension, and weights."""

    first: tuple[Any, ...]
    targets: Any = None
    weights: Array | None = None
    single: bool = False
    streamed = False

    @property
    def n_first(self) -> int:
        """How many rows the first are."""
        return int(self.first[0].shape[0])

    def moments(self, maps: Sequence[FeatureMap]) -> MappedMoments:
        """Moments of mapped rows and targets."""
        return mapped_moments(maps, self.first, self.weights, beside=self.targets)

    def scale_targets(self) -> Array:
        """Divide targets by a power of two near their size, whose squares stay in range, and return it."""
        units = powers_of_two(self.targets)
        self.targets = self.targets / units
        return units


class KernelStream(Views):
    """A stream, or two in step, called ``name``, whose first rows are held until :meth:`blocks` lets go of them.

    They are the first block, or more of them until there are as many as the landmarks of the estimator want.
    """

    streamed = True
    targets: Any = None
    weights: Any = None

    def __init__(
        self, estimator: KernelInput, X: Rows, Y: Rows | None, sample_weight: ArrayLike | None, name: str = "y"
    ) -> None:
        require_landmarks(estimator)
        if sample_weight is not None:
            raise ValueError("sample_weight goes with rows in memory, not with a stream. Repeat rows in the stream.")
        take_columns(estimator, X)
        super().__init__(X, Y)
        self.single = self.width == X.n_features + 1
        self.gate = Gate(X.columns, None if Y is None else Y.columns, name, missing=getattr(estimator, "missing", None))
        self._coming = self.pieces("reading")
        self.first = self._first(max(as_approximation(one).rows_wanted for one in landmarks_of(estimator)))
        self.n_first = len(self.first[0])
        if self.n_first < 2:
            raise ValueError(f"X has {self.n_first} sample; {type(estimator).__name__} needs at least 2, one a row.")

    def blocks(self) -> Iterator[tuple[Array, ...]]:
        """All rows, in one pass that began with the first of them."""
        waiting, self.first = [self.first], ()
        yield waiting.pop()  # not held while the others are read
        yield from self._checked(self._coming)

    def again_blocks(self) -> Iterator[tuple[Array, ...]]:
        """All rows once more."""
        return self._checked(self.pieces("reading again"))

    def moments(self, maps: Sequence[FeatureMap]) -> MappedMoments:
        """Moments of mapped rows and targets."""
        total = MappedSums(maps, self.width - self.X.n_features, narrowest(self.first), self.X.n_rows)
        for views in self.blocks():
            total.add([views[0]], beside=views[1] if len(views) > 1 else None)
            del views  # or they would be kept while the next are read
        return total.moments()

    def scale_targets(self) -> Array:
        """Their size is not known before they are read: 1."""
        return np.ones(self.width - self.X.n_features)

    def _checked(self, coming: Iterator[tuple[Piece, ...]]) -> Iterator[tuple[Array, ...]]:
        for pieces in coming:
            self.gate(*self.split(pieces))
            yield self.values(pieces)
            del pieces  # or they would be kept while the next are read

    def _first(self, wanted: int) -> tuple[Array, ...]:
        wanted = min(wanted, max(2, memory_budget() // (FIRST_ROWS_BUDGET_DIVISOR * 8 * self.width)))
        held: list[tuple[Array, ...]] = []
        for views in self._checked(self._coming):
            held.append(views)
            if sum(len(one[0]) for one in held) >= wanted:
                break
        if not held:
            raise ValueError(f"{self.X.source} has no rows: 0 samples. Give at least 2.")
        return held[0] if len(held) == 1 else tuple(map(np.concatenate, zip(*held, strict=True)))


#: Rows of a fit, wherever they are.
AnyRows: TypeAlias = KernelRows | KernelStream


def read_rows(
    estimator: KernelInput,
    X: Table,
    y: Table | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    targets: bool = False,
    min_samples: int = 1,
) -> tuple[Kernel, AnyRows]:
    """Check the rows of a fit, and their ``targets`` if the method has any; resolve its kernel on the first of them."""
    if is_stream(X):
        stream = KernelStream(estimator, X, second_stream(X, y, "y") if targets else None, sample_weight)
        return own_kernel(estimator.kernel).resolve(stream.first[0]), stream
    kernel, table, weights = estimator._read(X, sample_weight, min_samples=min_samples)
    given = check_targets(y, table.shape[0]) if targets else None
    return kernel, KernelRows((table,), given and given.values, weights, single=given is not None and given.single)


def require_landmarks(estimator: KernelInput) -> None:
    """Refuse a stream for a kernel method that compares all pairs of rows."""
    if estimator.landmarks is None:
        raise ValueError(
            f"X is a stream, which {type(estimator).__name__} takes through landmarks. Set landmarks=1000, say, or "
            "give rows.toarray() if the rows fit into memory."
        )
    if takes_matrix(estimator.kernel):
        raise ValueError("kernel='precomputed' goes with a matrix in memory, not with a stream of rows.")


def has_landmarks(estimator: KernelInput) -> bool:
    """Whether ``partial_fit`` makes sense: without landmarks every new row meets all rows before it."""
    if estimator.landmarks is None:
        raise AttributeError("partial_fit goes with landmarks, which stand for the rows. Set landmarks=1000, say.")
    return True


def landmarks_of(estimator: KernelInput) -> Sequence[LandmarksArgument]:
    """How each view is cut to low rank."""
    given = estimator.landmarks
    return given if isinstance(given, (tuple, list)) else [given] * len(estimator._kernel_parameters)


def narrowest(views: Sequence[CheckedRows]) -> np.dtype:
    """Single precision if all views are, else double."""
    return np.dtype(np.float32 if all(view.dtype == np.float32 for view in views) else np.float64)


def seen_of(estimator: KernelInput, kernel: Kernel, rows: AnyRows) -> Seen:
    """Map rows of one view by the landmarks of the first of them."""
    features, first = low_rank(estimator.landmarks, kernel, rows.first[0], rows.weights), rows.n_first
    assert features is not None  # for the type checker, there are landmarks
    return Seen((kernel,), (features,), (rows.moments([features]),), first)


def seen_more(estimator: KernelInput, rows: KernelRows) -> Seen:
    """Add checked rows to those an estimator has seen; the first block gives widths and landmarks."""
    seen: Seen | None = getattr(estimator, "seen_", None)
    if seen is None:
        kernel = resolve_weighted(own_kernel(estimator.kernel), rows.first[0], rows.weights)
        return seen_of(estimator, kernel, rows)
    new = rows.moments(seen.maps)
    if new.moments.d != seen.parts[0].moments.d:
        q, before = (moments.d - seen.maps[0].size for moments in (new.moments, seen.parts[0].moments))
        raise ValueError(f"y has {q} columns; the rows before had {before}.")
    return replace(seen, parts=(seen.total + new,))


def next_rows(estimator: KernelInput, X: Table) -> Matrix:
    """Check more rows: what every ``partial_fit`` begins with."""
    seen = getattr(estimator, "seen_", None)
    if seen is None and hasattr(estimator, "summary_"):
        raise ValueError(
            f"partial_fit cannot go on from this fit: of rows in memory, in more than {KEPT_FEATURES} features, no "
            "moments were kept. Give all rows to partial_fit, or clone the estimator to begin again."
        )
    rows: Matrix = validate(estimator, X, reset=seen is None, more=True, min_samples=2 if seen is None else 1)
    return rows


def keep_seen(estimator: KernelInput, seen: Seen, *decided: str, streamed: bool = False) -> None:
    """Set ``trace_error_``, add the low rank to the summary, and keep what ``partial_fit`` may go on from.

    Of rows in memory that is kept for a few features only. Of streamed rows the summary says how many came first, and
    that they gave what was ``decided``, widths and landmarks.
    """
    given, total = landmarks_of(estimator), seen.total
    errors = [checked_trace_error(given[at], features, total.trace_error(at)) for at, features in enumerate(seen.maps)]
    estimator.trace_error_ = errors[0] if len(errors) == 1 else tuple(errors)
    for at in reversed(range(len(errors))):
        view = "" if len(errors) == 1 else "XY"[at]
        estimator.summary_ = add_low_rank(estimator.summary_, given[at], seen.maps[at], errors[at], view)
    small = sum(total.sizes) <= KEPT_FEATURES and all(np.isfinite(p.moments.scatter).all() for p in seen.parts)
    if streamed or small:
        estimator.seen_ = seen
    if streamed:
        estimator.summary_ = add_first_rows(estimator, seen.first, seen.n, *decided)


def add_first_rows(estimator: KernelInput, first: int, n: int, *decided: str) -> FitSummary:
    """Return the summary with how many rows gave the widths, the landmarks and whatever else the first rows decided."""
    summary = estimator.summary_
    words = any(
        str(as_kernel(given)) != str(getattr(estimator, f"{argument}_"))
        for argument in estimator._kernel_parameters
        if (given := getattr(estimator, argument)) is not None
    )
    chosen = any(as_approximation(one).rows_wanted for one in landmarks_of(estimator))
    what = [*decided, *(["widths"] if words else []), *(["landmarks"] if chosen else [])]
    facts = {**summary.facts, "streamed": True, "first_rows": first if what else None}
    if not what or first >= n:
        return FitSummary(summary.title, summary.lines, facts)
    *others, last = what
    named = f"{', '.join(others)} and {last}" if others else last
    top, *rest = summary.lines
    return FitSummary(summary.title, (top, ("first rows", f"{first:,} of {n:,} gave {named}"), *rest), facts)
