"""Estimators and rows that are elsewhere: what goes to the blocks, and what is asked of them there."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gramian.estimators.base_estimator import as_fitted
from gramian.estimators.gaps import refuse_gaps
from gramian.estimators.validation import Checked, check_total_weight, validate
from gramian.kernels import Kernel
from gramian.operators.compressed import Compressed
from gramian.operators.moments import ColumnRanges, Moments, column_ranges
from gramian.operators.remote import Remote, RemoteTable, block_moments, block_triangle
from gramian.operators.rows import Piece, Rows
from gramian.results import Array

#: Fitted attributes that have an entry for each training row and that no answer to new rows needs.
HEAVY = ("labels_", "x_scores_", "_left_out")


@dataclass(frozen=True)
class Gate:
    """What the blocks of a table, and the rows beside them, must pass where they are."""

    columns: tuple[str, ...] | None
    beside: tuple[str, ...] | None = None
    name: str = "y"
    missing: str | None = None
    welcome: bool = False
    own: str = "X"

    def __call__(self, piece: Piece, second: Piece | None = None, weights: Piece | None = None) -> None:
        """Refuse what is not finite, naming the place."""
        refuse_gaps(piece, self, self.own, self, welcome=self.welcome)
        if second is not None:
            refuse_gaps(second, Gate(self.beside), self.name, self)
        if weights is not None and not (np.isfinite(weights.values).all() and (weights.values >= 0).all()):
            raise ValueError("sample_weight has negative or non-finite entries. Weights are frequencies, 0 or more.")


def remote_moments(estimator: Any, X: Remote, Y: Rows | None, weights: Any, name: str) -> Moments:
    """Moments of remote rows, added where they are; gaps are refused there."""
    Y, w = _array(Y), _weights(weights)
    gate = Gate(X.columns, getattr(Y, "columns", None), name, getattr(estimator, "missing", None))
    found: Moments = X.total(partial(block_moments, refuse=gate), Y, w, task="moments")
    _check_total(found.weight, weights)
    return found


def remote_triangle(X: Remote, Y: Rows | None, weights: Any) -> Compressed:
    """Triangular factor of remote rows, put together where they are."""
    found: Compressed = X.total(block_triangle, _array(Y), _weights(weights), task="triangular factor")
    return found


def remote_columns(estimator: Any, X: Remote, weights: Any) -> ColumnRanges:
    """Means and squares of the columns of remote rows."""
    gate = Gate(X.columns, missing=getattr(estimator, "missing", None))
    found: ColumnRanges = X.total(partial(block_columns, refuse=gate), _weights(weights), task="columns")
    _check_total(found.weight, weights)
    return found


def block_columns(piece: Piece, weights: Piece | None, refuse: Gate) -> ColumnRanges:
    """Means and squares of the columns of a block that passed a gate."""
    refuse(piece, None, weights)
    return column_ranges(piece.values, None if weights is None else weights.values[:, 0].astype(np.float64))


def _array(Y: Rows | None) -> Any:
    """What goes beside X: remote rows, or rows in memory as an array."""
    return Y if Y is None or isinstance(Y, Remote) else Y.toarray()


def _weights(weights: Any) -> Any:
    return weights if weights is None or isinstance(weights, Remote) else np.asarray(weights, dtype=np.float64)


def _check_total(weight: float, weights: Any) -> None:
    if weights is None and weight == 0:
        raise ValueError("X has no rows: 0 samples. Give at least 2.")
    if weights is not None:
        check_total_weight(weight)


def read_table(estimator: Any, X: Any, *, kernel: Kernel | None = None, min_samples: int = 1) -> Any:
    """Return checked rows: in memory, or remote ones as a table if the estimator maps them to features of low rank."""
    maps = getattr(estimator, "landmarks", None) is not None and getattr(estimator, "maps_rows", True)
    if not isinstance(X, Remote) or (kernel is not None and kernel.given) or not maps:
        return validate(estimator, X, gram=kernel, min_samples=min_samples)
    estimator.n_features_in_ = X.n_features
    estimator.__dict__.pop("feature_names_in_", None)
    if X.columns is not None:
        estimator.feature_names_in_ = np.array(X.columns, dtype=object)
    found = remote_columns(estimator, X, None)
    if found.weight < min_samples:
        raise ValueError(
            f"X has {found.weight:.0f} sample; {type(estimator).__name__} needs at least {min_samples} samples, one a "
            "row."
        )
    return RemoteTable(X, columns=found)


@dataclass(frozen=True)
class Answer:
    """A method of a fitted estimator, as it goes to blocks of rows."""

    estimator: Any
    method: str
    gate: Gate
    name: str = "X"

    def __call__(self, block: Array) -> Array:
        """What the method says of a block that passed the gate."""
        refuse_gaps(Piece(block, _within), self.gate, self.name, self.estimator, welcome=self.gate.welcome)
        more = (len(block),) if self.method == "_y_scores" else ()
        return np.asarray(getattr(self.estimator, self.method)(block.view(Checked), *more))


def _within(row: int) -> str:
    return f"row {row} of a block (counted from 0)"


def remote_answers(estimator: Any, method: str, X: Remote, Y: Any = None) -> Any:
    """What a method says of remote rows, when it is asked for; with rows of a second view, a pair."""
    light = copy.copy(estimator)
    for name in HEAVY:
        light.__dict__.pop(name, None)
    filled = hasattr(estimator, "loadings_") or getattr(estimator, "filler_", None) is not None
    welcome = as_fitted(estimator, "missing") is not None and filled
    answers = X.answers(Answer(light, method, Gate(X.columns, welcome=welcome)))
    if Y is None or not hasattr(estimator, "_y_scores"):
        return answers
    if not isinstance(Y, Remote):
        raise TypeError("X is a dask collection, and Y is not. Give both of one kind.")
    return answers, Y.answers(Answer(light, "_y_scores", Gate(Y.columns), "Y"))
