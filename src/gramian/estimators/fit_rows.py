"""The rows of a fit on their way into an estimator: a Source, a second view of its rows, and what both have to pass.

A method asks them for moments, a space, compressed rows or the first rows, and need not know where they are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from gramian.config import format_bytes, memory_budget, pinned_if_small, within_budget
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
from gramian.operators import Compressed, InMemory, Moments, Rows, Source, moments_of
from gramian.operators.compressed import (
    are_few,
    centred,
    few_products,
    from_moments,
    near_moments,
    nearly_dependent,
    triangle_at_once,
    triangular,
)
from gramian.operators.moments import ColumnSums, row_count
from gramian.operators.remote import Remote, RemoteTable
from gramian.operators.rows import ArrayRows
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


def check_counted(
    estimator: BaseEstimator, found: Moments | ColumnSums, weights: Table | None = None, least: int = 2
) -> None:
    """Refuse sums over fewer rows than are needed, or over rows whose weights are no frequencies."""
    if weights is not None:
        check_total_weight(found.weight)
    elif found.weight == 0:
        raise ValueError("X has no rows: 0 samples. Give at least 2.")
    if (n := row_count(found.weight)) < least:
        raise ValueError(f"X has {n} sample; {type(estimator).__name__} needs at least {least} samples, one a row.")


def read_table(estimator: BaseEstimator, X: Table, *, kernel: Kernel | None = None, min_samples: int = 1) -> Any:
    """Return checked rows: in memory, or remote ones as a table if the estimator maps them to features of low rank."""
    maps = getattr(estimator, "landmarks", None) is not None and not estimator._keeps_rows
    if not isinstance(X, Remote) or (kernel is not None and kernel.given) or not maps:
        return validate(estimator, X, gram=kernel, min_samples=min_samples)
    take_columns(estimator, X)
    found = X.column_sums(refuse=Gate(X.columns, missing=getattr(estimator, "missing", None)))
    check_counted(estimator, found, least=min_samples)
    return RemoteTable(X, columns=found)


def take_columns(estimator: BaseEstimator, rows: Rows) -> None:
    """Set number and names of features, as scikit-learn does for a data frame."""
    estimator.n_features_in_ = rows.n_features
    estimator.__dict__.pop("feature_names_in_", None)
    if rows.columns is not None:
        estimator.feature_names_in_ = np.array(rows.columns, dtype=object)


class FitRows:
    """Rows of a fit, and of a second view of them, that have passed the gate, wherever they are.

    ``X``, ``Y`` and ``weights`` are there if they are in memory. ``name`` is what the second view is called, ``single``
    whether it came as one dimension, ``gaps`` counts missing entries. ``loses`` says whether moments are too little for
    the method; then :meth:`triangle` is asked for.
    """

    any_solver = True  # moments alone leave no choice

    def __init__(
        self,
        estimator: BaseEstimator,
        source: Source,
        second: Source | None = None,
        weights: Table | None = None,
        *,
        name: str = "y",
        single: bool = False,
        gaps: int = 0,
        loses: Callable[[Moments], bool] | None = None,
    ) -> None:
        self.estimator, self.source, self.second, self.sample_weight = estimator, source, second, weights
        self.single, self.gaps, self.loses = single, gaps, loses
        self.d, self.dtype, self.n_rows, self.where = source.n_features, source.dtype, source.n_rows, source.source
        self.X: Any = source.array
        self.Y: Any = None if second is None else second.array
        self.weights: Any = None if self.X is None else weights
        self._space: LinearSpace | None = None
        columns = None if second is None else second.columns
        self.gate = Gate(source.columns, columns, name, missing=getattr(estimator, "missing", None))

    @cached_property
    def moments(self) -> Moments:
        """Weight, mean and scatter of the columns of X, and of Y if there is one."""
        width = self.d + (0 if self.second is None else self.second.n_features)
        if self.X is None and not within_budget(size := 24 * width**2):
            raise ValueError(
                f"X is a stream of {width:,} columns, whose moments take {format_bytes(size)}; the memory budget "
                f"is {format_bytes(memory_budget())}. Choose fewer columns, or use RandomProjection first."
            )
        found = self.source.moments(self.sample_weight, self.second, refuse=self.gate, loses=self.loses)
        check_counted(self.estimator, found, self.sample_weight)
        self.dtype = self.source.dtype
        return found

    def pinned(self) -> AbstractContextManager[None]:
        """One BLAS thread for a small fit of both views: to set it takes 8 us, and every step would."""
        width = self.d + (0 if self.second is None else self.second.n_features)
        return pinned_if_small((self.n_rows or np.inf) * width * width)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.weighted_shape if self.X is None else self.X.shape

    @property
    def weighted_shape(self) -> tuple[int, int]:
        """Rows, counted by their weights, and columns."""
        if self.X is None:
            return row_count(self.moments.weight), self.d
        return self.X.shape[0] if self.weights is None else row_count(float(self.weights.sum())), self.d

    def space(self, *, center: bool, scale: bool) -> LinearSpace | StreamSpace | MomentSpace:
        """The centred (and scaled) columns."""
        if self.X is None:
            return StreamSpace(self.moments, self.triangle, center=center, scale=scale)

        def check() -> None:
            check_finite(self.X, self.estimator)

        self._space = LinearSpace(self.X, center=center, scale=scale, weights=self.weights, check=check)
        return self._space

    def kept(self) -> Moments | None:
        """Moments from which ``partial_fit`` may go on; None if they hold imputed entries, or cost more than a fit."""
        return self.moments if self._space is None else self._space.moments()

    def triangle(self, why: str) -> Compressed:
        """Compressed rows that lost nothing by squaring: another pass, if a stream can be read again."""
        return self.source.triangle(self.sample_weight, self.second, why=why)

    def compressed(self, products: float = np.inf, *, inverts: bool = False) -> Compressed | None:
        """Few rows with the moments of X and Y; None where moments do not hold enough digits of every column.

        ``products``: components that a method takes by some products with the rows for each; infinite if it needs more.
        ``inverts``: directions of all sizes count for it.
        """
        if self.X is not None:
            n, width = self.X.shape[0], self.d + self.Y.shape[1]
            dense = not (sp.issparse(self.X) or sp.issparse(self.Y))
            few, at_once = few_products(n, width, products), inverts and triangle_at_once(n, width)
            if dense and (few or at_once) and (found := centred(self.X, self.Y, self.weights)) is not None:
                return found if few else triangular(found)
            if are_few(n, width) or (dense and inverts and nearly_dependent(self.X, self.Y)):
                return self.exact()
        return from_moments(self.moments, self.d, careful=True)

    def near(self) -> Compressed | None:
        """Few rows with the moments of X and Y up to rounding; None if they are of extreme size."""

        def is_zero(columns: Array) -> bool:
            d = self.d
            parts = (self.X, columns[columns < d]), (self.Y, columns[columns >= d] - d)
            return self.X is not None and not any(_has_entries(view, which) for view, which in parts if len(which))

        return near_moments(self.moments, self.d, is_zero)

    def exact(self) -> Compressed:
        """The same from the rows themselves: another pass, and nothing squared."""
        return self.triangle("columns are constant, depend on others or are of extreme size")

    def column_sums(self) -> ColumnSums:
        """Means and squared deviations of the columns of rows that are not in memory."""
        found = self.source.column_sums(self.sample_weight, refuse=self.gate)  # type: ignore[attr-defined]
        check_counted(self.estimator, found, self.sample_weight)
        return found

    def first(self) -> Matrix:
        """The first block; all rows if they are in memory."""
        found = self.source.first(2, gate=self.gate)
        if found.shape[0] < 2:
            name = type(self.estimator).__name__
            raise ValueError(f"X has fewer than 2 samples; {name} needs at least 2, one a row.")
        return found


def _has_entries(X: Any, columns: Array) -> bool:
    """Whether some columns hold anything but zeros."""
    return bool(X[:, columns].count_nonzero() if sp.issparse(X) else np.take(X, columns, axis=1).any())


class SeenRows(FitRows):
    """Rows known by their moments alone; ``shape`` is that of a table whose missing entries were imputed."""

    X, any_solver, gaps = None, False, 0

    def __init__(self, moments: Moments, dtype: np.dtype, shape: tuple[int, int] | None = None) -> None:
        self.moments, self.d, self.dtype, self.imputed = moments, moments.d, dtype, shape

    @property
    def weighted_shape(self) -> tuple[int, int]:
        return self.imputed or super().weighted_shape

    def space(self, *, center: bool, scale: bool) -> MomentSpace:
        return MomentSpace(self.moments, center=center, scale=scale)

    def kept(self) -> Moments | None:
        return self.moments if self.imputed is None else None


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
) -> FitRows:
    """Check the rows of a fit, whose features the estimator then has; NaN pass where its ``missing`` is ``"em"``.

    ``second``: targets, or the second view, called ``name``; if not given, ``X.y`` of a stream that has one.
    ``finite``: False leaves it to the space to look for NaN and infinities. ``loses``: see :class:`FitRows`.
    """
    missing = getattr(estimator, "missing", None)
    check_choice("missing", missing, (None, "em"))
    if isinstance(X, Rows):
        take_columns(estimator, X)
        Y = None if name is None else second_stream(X, second, name)
        single = Y is not None and name == "y" and getattr(Y, "single", Y.n_features == 1)
        return FitRows(estimator, X, Y, sample_weight, name=name or "y", single=single, loses=loses)
    welcome = missing is not None
    X = validate(estimator, X, sparse=sparse and not welcome, min_samples=2, missing=welcome, finite=finite or welcome)
    gaps, beside = int(np.isnan(X).sum()) if welcome else 0, None
    if name is not None:
        targets = read_targets(second, X.shape[0], name, estimator, missing=welcome)
        gaps, beside = gaps + (int(np.isnan(targets.values).sum()) if welcome else 0), InMemory(targets.values)
    weights = check_weights(sample_weight, X.shape[0])
    return FitRows(estimator, InMemory(X), beside, weights, single=name is not None and targets.single, gaps=gaps)


def second_stream(X: Rows, y: Table | None, name: str) -> Rows:
    """Targets or second view of a stream, given beside it or in it."""
    found = X.y if y is None else y
    if found is None:
        raise ValueError(f"requires {name} to be passed: give a second stream, or y_columns= when X is opened.")
    return found if isinstance(found, Rows) else ArrayRows(found)


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
