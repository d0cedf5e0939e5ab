"""Where estimators see streams of rows: one gate, one loop over blocks, and answers when they are asked for."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.config import format_bytes, memory_budget, one_blas_thread
from gramian.estimators.base_estimator import as_fitted
from gramian.estimators.validation import Checked, check_total_weight, validate
from gramian.kernels import Kernel
from gramian.operators.compressed import Compressed, from_rows, without_constants
from gramian.operators.moments import (
    Accumulator,
    ColumnRanges,
    ColumnSums,
    Moments,
    column_ranges,
    column_sums,
    has_variance,
    row_count,
)
from gramian.operators.remote import Remote, RemoteTable, block_moments, block_triangle, from_dask
from gramian.operators.rows import ArrayRows, MappedRows, Rows, in_step, neighbours, watched
from gramian.operators.source import Piece
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


def refuse_gaps(piece: Piece, rows: Any, name: str, estimator: Any, *, welcome: bool = False) -> None:
    """Refuse infinities, and NaN unless they are welcome, naming file, place and column of the first."""
    values = piece.values
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # quicker than a look at each, and rarely lies
            return
    bad = np.isinf(values) if welcome else ~np.isfinite(values)
    if not bad.any():
        return
    row, at = np.argwhere(bad)[0]
    what = "NaN" if np.isnan(values[row, at]) else "infinity"
    names = None if rows is None else rows.columns
    column = at if names is None else repr(names[at])
    remedy = 'Drop those rows, or impute them in memory: ProbabilisticPCA(missing="em").'
    if getattr(estimator, "missing", None) is not None:
        remedy = "missing='em' needs the rows in memory: give rows.toarray(), or fill them."
    raise ValueError(f"Input {name} contains {what}: {piece.place(int(row))}, column {column}. {remedy}")


class Reader:
    """Blocks of a stream, or of two in step, on their way into an estimator, whose columns are set.

    Parameters
    ----------
    estimator : estimator
        Its number and names of features are set.
    X : Rows
    Y : Rows or array, optional
        The second view of the same rows; ``X.y`` if the stream has one.
    name : str
        What Y is called, for messages.
    sample_weight : array, optional
        Frequencies, if X is remote; another stream has no weights.
    """

    def __init__(self, estimator: Any, X: Rows, Y: Any = None, *, name: str = "y", sample_weight: Any = None) -> None:
        if not isinstance(X, Remote):
            _refuse_weights(sample_weight)
        take_columns(estimator, X)
        self.estimator, self.X, self.name, self.weights = estimator, X, name, sample_weight
        self.Y = ArrayRows(Y) if Y is not None and not isinstance(Y, Rows) else Y
        self.d = X.n_features
        self.dtype: np.dtype = np.dtype(np.float64)
        self.width = self.d + (0 if self.Y is None else self.Y.n_features)
        self.again = X.again and (self.Y is None or self.Y.again)

    def pieces(self, task: str) -> Iterator[tuple[Piece, ...]]:
        """Blocks as they are read: of one stream, of both views together, or of two streams in step."""
        found: Iterator[tuple[Piece, ...]]
        if self.Y is None or neighbours(self.X, self.Y):
            whole = self.X if self.Y is None else self.X.parent  # type: ignore[attr-defined]
            found = ((piece,) for piece in whole.pieces())
        else:
            found = in_step(self.X, self.Y)
        return watched(found, task, self.X.n_rows)

    def views(self, pieces: tuple[Piece, ...]) -> tuple[Array, ...]:
        """Rows of X, and of Y if there are two views."""
        if len(pieces) == 2 or self.Y is None:
            return tuple(piece.values for piece in pieces)
        values = pieces[0].values
        return values[:, : self.d], values[:, self.d :]

    def refuse(self, pieces: tuple[Piece, ...]) -> None:
        """Name the first entry that is not finite, if there is one: sums may also overflow."""
        for piece, view, rows, name in zip(
            pieces * 2, self.views(pieces), (self.X, self.Y), ("X", self.name), strict=False
        ):
            refuse_gaps(piece._replace(values=view), rows, name, self.estimator)


class Stream(Reader):
    """A stream of rows, or two in step, seen by a linear method: moments in one pass, more in another.

    Parameters
    ----------
    estimator, X, Y, name, sample_weight
        As of :class:`Reader`.
    loses : callable, optional
        Whether moments are too little for the estimator; if not given, it will ask for nothing else.
    """

    def __init__(
        self,
        estimator: Any,
        X: Rows,
        Y: Any = None,
        *,
        name: str = "y",
        sample_weight: Any = None,
        loses: Callable[[Moments], bool] | None = None,
    ) -> None:
        super().__init__(estimator, X, Y, name=name, sample_weight=sample_weight)
        size = 24 * self.width**2
        if size > memory_budget():
            raise ValueError(
                f"X is a stream of {self.width:,} columns, whose moments take {format_bytes(size)}; the memory budget "
                f"is {format_bytes(memory_budget())}. Choose fewer columns, or use RandomProjection first."
            )
        self.loses = loses or (lambda moments: False)
        self._kept: Compressed | None = None
        self.moments = estimator.moments_ = self._moments()  # partial_fit may go on from here
        self.shape = row_count(self.moments.weight), self.d
        if self.shape[0] < 2:
            raise ValueError(f"X has {self.shape[0]} sample; {type(estimator).__name__} needs at least 2, one a row.")

    @property
    def resolves(self) -> bool:
        """Whether there is, or can be made, a triangular factor."""
        return self._kept is not None or self.again

    def triangle(self, why: str) -> Compressed:
        """Compressed rows that lost nothing by squaring: another pass, if the stream can be read again."""
        if self._kept is not None:
            return self._kept
        if not self.resolves:
            raise ValueError(
                f"{why}, which one pass over the rows cannot resolve, and {self.X.source} can be read only once. "
                "Give a function that returns a new iterator, or a file."
            )
        if isinstance(self.X, Remote):
            return without_constants(remote_triangle(self.X, self.Y, self.weights))
        parts = (from_rows(*self.views(pieces)) for pieces in self.pieces("reading again"))
        return without_constants(reduce(Compressed.__add__, parts))

    def _moments(self) -> Moments:
        """One pass over the rows. If they come only once and moments lose digits, the triangle is made as well."""
        if isinstance(self.X, Remote):
            self.dtype = self.X.dtype
            return remote_moments(self.estimator, self.X, self.Y, self.weights, self.name)
        total, rows = Accumulator(self.width), 0
        keeps, settled = not self.again, False
        with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
            for pieces in self.pieces("reading"):
                views = self.views(pieces)
                if not total.add([piece.values for piece in pieces]):  # the sums have looked at every entry
                    self.refuse(pieces)
                self.dtype = self.dtype if rows else views[0].dtype
                rows += len(views[0])
                if not settled and rows > self.width:  # enough to tell what the others will be like
                    keeps, settled = keeps and self.loses(total.moments()), True
                self._keep(views if keeps else None)
                del pieces, views  # or they would be kept while the next are read
        if not rows:
            raise ValueError(f"{self.X.source} has no rows: 0 samples. Give at least 2.")
        self._kept = None if self._kept is None else without_constants(self._kept)
        return total.moments()

    def _keep(self, views: tuple[Array, ...] | None) -> None:
        part = None if views is None else from_rows(*views)
        self._kept = part if part is None or self._kept is None else self._kept + part


def column_moments(estimator: Any, rows: Rows, sample_weight: Any) -> ColumnSums:
    """Means and squared deviations of the columns of a stream."""
    take_columns(estimator, rows)
    if isinstance(rows, Remote):
        total: ColumnSums = remote_columns(estimator, rows, sample_weight)
    else:
        _refuse_weights(sample_weight)
        total = ColumnSums(0.0, np.zeros(rows.n_features), np.zeros(rows.n_features))
        for piece in watched(rows.pieces(), "reading", rows.n_rows):
            refuse_gaps(piece, rows, "X", estimator)
            total = total + column_sums(piece.values)
    if not has_variance(total.weight):
        raise ValueError(f"X has {total.weight:.0f} samples; at least 2 are needed. Give more rows.")
    return total


def first_rows(estimator: Any, rows: Rows) -> Array:
    """The first block of a stream, for an estimator that needs no more than the number of columns."""
    if getattr(estimator, "n_components", None) == "auto" and rows.n_rows is None:
        raise ValueError(
            f"n_components='auto' depends on the number of rows, which is not known of {rows.source}. Give a number."
        )
    take_columns(estimator, rows)
    pieces = rows.pieces()
    piece = next(pieces, None)
    pieces.close()
    if piece is None or len(piece.values) < 2:
        raise ValueError(f"X has fewer than 2 samples; {type(estimator).__name__} needs at least 2, one a row.")
    refuse_gaps(piece, rows, "X", estimator)
    return piece.values


def _refuse_weights(sample_weight: Any) -> None:
    if sample_weight is not None:
        raise ValueError("sample_weight goes with rows in memory, not with a stream. Repeat rows in the stream.")


def take_columns(estimator: Any, rows: Rows) -> None:
    """Set number and names of features, as scikit-learn does for a data frame."""
    estimator.n_features_in_ = rows.n_features
    estimator.__dict__.pop("feature_names_in_", None)
    if rows.columns is not None:
        estimator.feature_names_in_ = np.array(rows.columns, dtype=object)


def check_columns(estimator: Any, rows: Rows) -> None:
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


def by_blocks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``transform`` or ``predict`` take a stream: the answer is a stream of what it says of each block."""

    @functools.wraps(method)
    def wrapped(self: Any, X: Any, *more: Any, **named: Any) -> Any:
        X = from_dask(X)
        if not isinstance(X, Rows):
            return method(self, X, *more, **named)
        check_is_fitted(self)
        check_columns(self, X)
        if isinstance(X, Remote):
            return remote_answers(self, method.__name__, X, from_dask(named.get("Y", more[0] if more else None)))

        def found(block: Array) -> Array:
            return np.asarray(method(self, block.view(Checked)))

        sample = found(np.zeros((1, X.n_features)))
        width = sample.size
        names = tuple(map(str, self.get_feature_names_out())) if method.__name__ == "transform" else None
        answers = Answers(self, X, found, width, names)
        answers.text = sample.dtype.kind not in "biuf"
        Y = named.get("Y", more[0] if more else None)
        if Y is None or not hasattr(self, "_y_scores"):
            return answers
        Y = Y if isinstance(Y, Rows) else ArrayRows(Y)
        return answers, Answers(self, Y, lambda block: self._y_scores(block, len(block)), width, names, "Y")

    return wrapped


class Answers(MappedRows):
    """What an estimator says of the rows of a stream, after each block passed the gate."""

    def __init__(
        self,
        estimator: Any,
        rows: Rows,
        function: Callable[[Array], Array],
        width: int,
        names: tuple[str, ...] | None,
        name: str = "X",
    ) -> None:
        super().__init__(rows, function, width, names)
        self.estimator, self.name = estimator, name

    def _gate(self, piece: Piece) -> None:
        filled = hasattr(self.estimator, "loadings_") or getattr(self.estimator, "filler_", None) is not None
        welcome = as_fitted(self.estimator, "missing") is not None and filled
        refuse_gaps(piece, self.parent, self.name, self.estimator, welcome=welcome)
