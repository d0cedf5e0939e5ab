"""Streams of rows and collections of dask at the gate of an estimator, and its answers to them, block by block."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base_estimator import as_fitted
from gramian.estimators.validation import Checked, Table, check_total_weight, validate
from gramian.kernels import Kernel
from gramian.operators import Rows
from gramian.operators.moments import ColumnSums, Moments
from gramian.operators.remote import Remote, RemoteTable, from_dask
from gramian.operators.rows import ArrayRows, Views
from gramian.operators.source import Piece
from gramian.results import Array

#: Fitted attributes that have an entry for each training row and that no answer to new rows needs.
TRAINING_ROW_ATTRIBUTES = ("labels_", "x_scores_", "_left_out")


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


def check_columns(estimator: BaseEstimator, rows: Rows) -> None:
    """Refuse a stream with other columns than those of the fit."""
    d, names = estimator.n_features_in_, getattr(estimator, "feature_names_in_", None)
    if rows.n_features != d:
        raise ValueError(
            f"X has {rows.n_features} features, but {type(estimator).__name__} is expecting {d} features as input."
        )
    if names is not None and rows.columns is not None and list(names) != list(rows.columns):
        odd = next(at for at, pair in enumerate(zip(names, rows.columns, strict=True)) if pair[0] != pair[1])
        raise ValueError(
            "The feature names should match those that were passed during fit: column "
            f"{odd} is {rows.columns[odd]!r}, not {names[odd]!r}. Choose columns= in the order of the fit."
        )


@dataclass(frozen=True)
class Answer:
    """A method of a fitted estimator, as it goes to blocks of rows that have passed the gate."""

    estimator: BaseEstimator
    method: str

    def __call__(self, block: Array) -> Array:
        """What the method says of a block."""
        more = (len(block),) if self.method == "_y_scores" else ()
        return np.asarray(getattr(self.estimator, self.method)(block.view(Checked), *more))


def by_blocks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``transform`` or ``predict`` take a stream: the answer is a stream of what it says of each block."""

    @functools.wraps(method)
    def wrapped(self: BaseEstimator, X: Any, *more: Any, **named: Any) -> Any:
        X = from_dask(X)
        if not isinstance(X, Rows):
            return method(self, X, *more, **named)
        check_is_fitted(self)
        check_columns(self, X)
        light = copy.copy(self)
        for name in TRAINING_ROW_ATTRIBUTES:
            light.__dict__.pop(name, None)
        names = tuple(map(str, self.get_feature_names_out())) if method.__name__ == "transform" else None
        gate = Gate(X.columns, missing=as_fitted(self, "missing"), welcome=getattr(self, "_imputes", False))
        answers = X.answers(Answer(light, method.__name__), names, gate=gate)
        Y = from_dask(named.get("Y", more[0] if more else None))
        if Y is None or not hasattr(self, "_y_scores"):
            return answers
        if isinstance(X, Remote) and not isinstance(Y, Remote):
            raise TypeError("X is a dask collection, and Y is not. Give both of one kind.")
        Y = Y if isinstance(Y, Rows) else ArrayRows(Y)
        return answers, Y.answers(Answer(light, "_y_scores"), names, gate=Gate(Y.columns, own="Y"))

    return wrapped
