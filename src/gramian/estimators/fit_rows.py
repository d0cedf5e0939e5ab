"""The rows of a fit, wherever they are, on their way into an estimator.

::

    read         TableRows    an array or CSR matrix in memory
                 StreamRows   a stream of blocks, or a collection of dask
    more_rows    SeenRows     moments alone: of all rows that partial_fit has seen, or with missing entries imputed

A method asks them for moments, a space, compressed rows or the first rows, and need not know which of them it has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian.config import format_bytes, memory_budget
from gramian.estimators.validation import (
    Table,
    check_choice,
    check_finite,
    check_total_weight,
    check_weights,
    read_targets,
    validate,
)
from gramian.kernels import Kernel
from gramian.operators import Compressed, Moments, Rows, compress, moments_of
from gramian.operators.moments import ColumnSums, column_sums, from_moments, has_variance, row_count
from gramian.operators.remote import Remote, RemoteTable
from gramian.operators.rows import ArrayRows, Views
from gramian.operators.source import Piece
from gramian.results import Array, Matrix
from gramian.spaces import LinearSpace, MomentSpace
from gramian.spaces.linear import StreamSpace


@dataclass(frozen=True)
class Gate:
    """Refuses entries that are not finite, block by block, here or where the blocks are.

    ``name`` and ``own`` are what the rows beside, and X itself, are called; ``missing`` is the parameter of the
    estimator, for the remedy. NaN pass if they are ``welcome``: they will be imputed.
    """

    columns: tuple[str, ...] | None
    second: tuple[str, ...] | None = None
    name: str = "y"
    own: str = "X"
    missing: str | None = None
    welcome: bool = False

    def __call__(self, piece: Piece, second: Piece | None = None, weights: Piece | None = None) -> None:
        """Refuse what is not finite, naming the place."""
        self._refuse(piece, self.columns, self.own, welcome=self.welcome)
        if second is not None:
            self._refuse(second, self.second, self.name)
        if weights is not None and not (np.isfinite(weights.values).all() and (weights.values >= 0).all()):
            raise ValueError("sample_weight has negative or non-finite entries. Weights are frequencies, 0 or more.")

    def _refuse(self, piece: Piece, names: tuple[str, ...] | None, called: str, *, welcome: bool = False) -> None:
        """Refuse infinities, and NaN unless they are welcome, naming file, place and column of the first."""
        values = piece.values
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum()):  # quicker than a look at each, and rarely wrong
                return
        bad = np.isinf(values) if welcome else ~np.isfinite(values)
        if not bad.any():
            return
        row, at = np.argwhere(bad)[0]
        what = "NaN" if np.isnan(values[row, at]) else "infinity"
        column = at if names is None else repr(names[at])
        remedy = 'Drop those rows, or impute them in memory: ProbabilisticPCA(missing="em").'
        if self.missing is not None:
            remedy = "missing='em' needs the rows in memory: give rows.toarray(), or fill them."
        raise ValueError(f"Input {called} contains {what}: {piece.place(int(row))}, column {column}. {remedy}")


class Reader(Views):
    """Blocks of a stream, or of two in step, on their way into an estimator, whose columns are set.

    ``name`` is what Y is called, for messages; frequencies go with dask alone, another stream has no weights.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        X: Rows,
        Y: Table | None = None,
        *,
        name: str = "y",
        sample_weight: Table | None = None,
    ) -> None:
        if sample_weight is not None and not X.weighted:
            raise ValueError("sample_weight goes with rows in memory, not with a stream. Repeat rows in the stream.")
        take_columns(estimator, X)
        super().__init__(X, Y if Y is None or isinstance(Y, Rows) else ArrayRows(Y))
        self.estimator, self.name, self.weights = estimator, name, sample_weight
        self.d, self.dtype = X.n_features, np.dtype(np.float64)
        beside = None if self.Y is None else self.Y.columns
        self.gate = Gate(X.columns, beside, name, missing=getattr(estimator, "missing", None))

    def views(self, pieces: tuple[Piece, ...]) -> tuple[Array, ...]:
        """Rows of X, and of Y if there are two views."""
        return self.values(pieces)

    def refuse(self, pieces: tuple[Piece, ...]) -> None:
        """Name the first entry that is not finite, if there is one: sums may also overflow."""
        self.gate(*self.split(pieces))


def check_counted(found: Moments | ColumnSums, weights: Table | None) -> None:
    """Refuse sums over no rows, or over rows whose weights are no frequencies."""
    if weights is None and found.weight == 0:
        raise ValueError("X has no rows: 0 samples. Give at least 2.")
    if weights is not None:
        check_total_weight(found.weight)


def read_table(estimator: BaseEstimator, X: Table, *, kernel: Kernel | None = None, min_samples: int = 1) -> Any:
    """Return checked rows: in memory, or remote ones as a table if the estimator maps them to features of low rank."""
    maps = getattr(estimator, "landmarks", None) is not None and getattr(estimator, "maps_rows", True)
    if not isinstance(X, Remote) or (kernel is not None and kernel.given) or not maps:
        return validate(estimator, X, gram=kernel, min_samples=min_samples)
    take_columns(estimator, X)
    found = X.column_sums(refuse=Gate(X.columns, missing=getattr(estimator, "missing", None)))
    check_counted(found, None)
    if found.weight < min_samples:
        raise ValueError(
            f"X has {found.weight:.0f} sample; {type(estimator).__name__} needs at least {min_samples} samples, one a "
            "row."
        )
    return RemoteTable(X, columns=found)


def take_columns(estimator: BaseEstimator, rows: Rows) -> None:
    """Set number and names of features, as scikit-learn does for a data frame."""
    estimator.n_features_in_ = rows.n_features
    estimator.__dict__.pop("feature_names_in_", None)
    if rows.columns is not None:
        estimator.feature_names_in_ = np.array(rows.columns, dtype=object)


class FitRows(ABC):
    """Rows of a fit, and of a second view of them, that have passed the gate."""

    d: int
    dtype: np.dtype
    n_rows: int | None = None  # None: not known before they are read
    X: Any = None  # the rows and the second view, if they are in memory, and their weights
    Y: Any = None
    weights: Array | None = None
    gaps: int = 0  # missing entries
    single: bool = False  # whether the second view came as one dimension
    any_solver: bool = True  # moments alone leave no choice
    where: str = "X"  # for messages

    @property
    @abstractmethod
    def moments(self) -> Moments:
        """Weight, mean and scatter of the columns of X."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.weighted_shape

    @property
    def weighted_shape(self) -> tuple[int, int]:
        """Rows, counted by their weights, and columns."""
        return row_count(self.moments.weight), self.d

    @abstractmethod
    def space(self, *, center: bool, scale: bool) -> LinearSpace | StreamSpace | MomentSpace:
        """The centred (and scaled) columns."""

    @abstractmethod
    def kept(self) -> Moments | None:
        """Moments from which ``partial_fit`` may go on; None if they hold imputed entries, or cost more than a fit."""


class SeenRows(FitRows):
    """Rows known by their moments alone; ``shape`` is that of a table whose missing entries were imputed."""

    any_solver = False

    def __init__(self, moments: Moments, dtype: np.dtype, shape: tuple[int, int] | None = None) -> None:
        self._moments, self.d, self.dtype, self._shape = moments, moments.d, dtype, shape

    @property
    def moments(self) -> Moments:
        return self._moments

    @property
    def weighted_shape(self) -> tuple[int, int]:
        return self._shape or super().weighted_shape

    def space(self, *, center: bool, scale: bool) -> MomentSpace:
        return MomentSpace(self.moments, center=center, scale=scale)

    def kept(self) -> Moments | None:
        return self.moments if self._shape is None else None


class TableRows(FitRows):
    """Rows in memory."""

    def __init__(
        self,
        estimator: BaseEstimator,
        X: Matrix,
        weights: Array | None,
        Y: Matrix | None = None,
        *,
        single: bool = False,
        gaps: int = 0,
    ) -> None:
        self.estimator, self.X, self.Y, self.weights, self.single, self.gaps = estimator, X, Y, weights, single, gaps
        (self.n_rows, self.d), self.dtype = X.shape, X.dtype
        self._space: LinearSpace | None = None

    @cached_property
    def moments(self) -> Moments:
        return moments_of(self.X, self.weights)

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape

    @property
    def weighted_shape(self) -> tuple[int, int]:
        return self.X.shape[0] if self.weights is None else row_count(float(self.weights.sum())), self.d

    def space(self, *, center: bool, scale: bool) -> LinearSpace:
        def check() -> None:
            check_finite(self.X, self.estimator)

        self._space = LinearSpace(self.X, center=center, scale=scale, weights=self.weights, check=check)
        return self._space

    def kept(self) -> Moments | None:
        return self.moments if self._space is None else self._space.moments()

    def compressed(self) -> Compressed:
        """Few rows with the moments of X and Y."""
        return compress(self.X, self.Y, self.weights)

    def column_sums(self) -> ColumnSums:
        """Means and squared deviations of the columns."""
        return column_sums(self.X, self.weights)

    def first(self) -> Matrix:
        """All rows."""
        return self.X


class StreamRows(FitRows):
    """Rows that are read in blocks, once or twice, here or where dask has them.

    ``loses`` says whether moments are too little for the method; then :meth:`triangle` is asked for.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        source: Rows,
        sample_weight: Table | None,
        second: Table | None,
        *,
        name: str,
        loses: Callable[[Moments], bool] | None,
    ) -> None:
        take_columns(estimator, source)
        self.estimator, self.source, self.sample_weight, self.loses = estimator, source, sample_weight, loses
        self.second: Rows | None = second if second is None or isinstance(second, Rows) else ArrayRows(second)
        self.d, self.dtype = source.n_features, source.dtype
        self.n_rows, self.where = source.n_rows, source.source
        columns = None
        if self.second is not None:
            columns = self.second.columns
            self.single = name == "y" and getattr(self.second, "single", self.second.n_features == 1)
        self.gate = Gate(source.columns, columns, name, missing=getattr(estimator, "missing", None))

    @cached_property
    def moments(self) -> Moments:
        width = self.d + (0 if self.second is None else self.second.n_features)
        if (size := 24 * width**2) > memory_budget():
            raise ValueError(
                f"X is a stream of {width:,} columns, whose moments take {format_bytes(size)}; the memory budget "
                f"is {format_bytes(memory_budget())}. Choose fewer columns, or use RandomProjection first."
            )
        found = self.source.moments(self.sample_weight, self.second, refuse=self.gate, loses=self.loses)
        check_counted(found, self.sample_weight)
        if (n := row_count(found.weight)) < 2:
            raise ValueError(f"X has {n} sample; {type(self.estimator).__name__} needs at least 2, one a row.")
        self.dtype = self.source.dtype
        return found

    def triangle(self, why: str) -> Compressed:
        """Compressed rows that lost nothing by squaring: another pass, if the stream can be read again."""
        return self.source.triangle(self.sample_weight, self.second, why=why)

    def space(self, *, center: bool, scale: bool) -> StreamSpace:
        return StreamSpace(self.moments, self.triangle, center=center, scale=scale)

    def kept(self) -> Moments:
        return self.moments

    def compressed(self) -> Compressed:
        """Few rows with the moments of X and Y."""
        found = from_moments(self.moments, self.d, careful=True)
        return found or self.triangle("columns are constant, depend on others or are of extreme size")

    def column_sums(self) -> ColumnSums:
        """Means and squared deviations of the columns."""
        found = self.source.column_sums(self.sample_weight, refuse=self.gate)
        check_counted(found, self.sample_weight)
        if not has_variance(found.weight):
            raise ValueError(f"X has {found.weight:.0f} samples; at least 2 are needed. Give more rows.")
        return found

    def first(self) -> Array:
        """The first block."""
        pieces = self.source.pieces()
        piece = next(pieces, None)
        pieces.close()
        if piece is None or len(piece.values) < 2:
            name = type(self.estimator).__name__
            raise ValueError(f"X has fewer than 2 samples; {name} needs at least 2, one a row.")
        self.gate(piece)
        return piece.values


def read(
    estimator: BaseEstimator,
    X: Table,
    sample_weight: Table | None = None,
    second: Table | None = None,
    *,
    name: str | None = None,
    sparse: bool = True,
    finite: bool = True,
    loses: Callable[[Moments], bool] | None = None,
) -> TableRows | StreamRows:
    """Check the rows of a fit, whose features the estimator then has; NaN pass where its ``missing`` is ``"em"``.

    Parameters
    ----------
    second : table or stream, optional
        Targets, or the second view; if not given, ``X.y`` of a stream that has one.
    name : str, optional
        What the second view is called; nothing if the method takes none.
    sparse : bool
        Whether sparse input is taken.
    finite : bool
        False leaves it to the space to look for NaN and infinities.
    loses : callable, optional
        Whether the moments of a stream are too little for the method.
    """
    missing = getattr(estimator, "missing", None)
    check_choice("missing", missing, (None, "em"))
    if isinstance(X, Rows):
        second = X.y if second is None and name is not None else second
        if second is None and name is not None:
            raise ValueError(f"requires {name} to be passed: give a second stream, or y_columns= when X is opened.")
        return StreamRows(estimator, X, sample_weight, second, name=name or "y", loses=loses)
    welcome = missing is not None
    X = validate(estimator, X, sparse=sparse and not welcome, min_samples=2, missing=welcome, finite=finite or welcome)
    Y, single = None, False
    if name is not None:
        targets = read_targets(second, X.shape[0], name, estimator, missing=welcome)
        Y, single = targets.values, targets.single
    gaps = int(np.isnan(X).sum() + (0 if Y is None else np.isnan(Y).sum())) if welcome else 0
    return TableRows(estimator, X, check_weights(sample_weight, X.shape[0]), Y, single=single, gaps=gaps)


def seen_moments(estimator: BaseEstimator) -> Moments | None:
    """Moments of the rows that an estimator has seen; a fit that kept none refuses ``partial_fit``."""
    seen: Moments | None = getattr(estimator, "moments_", None)
    if seen is None and hasattr(estimator, "summary_"):
        raise ValueError(
            "partial_fit cannot go on from this fit, of which no moments were kept (missing entries, or many columns). "
            "Give all rows to partial_fit, or clone the estimator to start again."
        )
    return seen


def more_rows(estimator: BaseEstimator, X: Table, sample_weight: Table | None) -> SeenRows:
    """Check more rows and add their moments to ``moments_``: what every ``partial_fit`` begins with."""
    seen = seen_moments(estimator)
    X = validate(estimator, X, reset=seen is None, more=True)
    new = moments_of(X, check_weights(sample_weight, X.shape[0], variance=False))
    estimator.moments_ = total = new if seen is None else seen + new
    return SeenRows(total, X.dtype)
