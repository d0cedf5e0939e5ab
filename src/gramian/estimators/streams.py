"""Where estimators see streams of rows: one gate, one loop over blocks, and answers when they are asked for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.config import format_bytes, memory_budget, one_blas_thread
from gramian.estimators.base_estimator import as_fitted
from gramian.estimators.gaps import refuse_gaps
from gramian.estimators.remote import remote_answers, remote_columns, remote_moments, remote_triangle
from gramian.estimators.validation import Checked
from gramian.operators import Compressed, Moments, Rows
from gramian.operators.compressed import from_rows, without_constants
from gramian.operators.moments import Accumulator, ColumnSums, column_sums, has_variance, row_count
from gramian.operators.remote import Remote, from_dask
from gramian.operators.rows import ArrayRows, MappedRows, Piece, in_step, neighbours, watched
from gramian.results import Array


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
    pieces.close()  # type: ignore[attr-defined]
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
