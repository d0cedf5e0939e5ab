"""Two views of a kernel method: rows in memory or in blocks, checked, scaled, and mapped to features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.estimators.distances import underflows
from gramian.estimators.kernel_input import own_kernel, resolve_weighted
from gramian.estimators.kernel_streams import KernelStream, Seen, narrowest
from gramian.estimators.landmarks import low_rank
from gramian.estimators.streams import Gate, block_columns, read_table
from gramian.estimators.two_blocks import read_targets
from gramian.kernels import Kernel, as_kernel
from gramian.kernels.given import values
from gramian.operators import Rows
from gramian.operators.centering import column_means
from gramian.operators.feature_means import best_origin, moved
from gramian.operators.mapped_moments import MappedMoments, MappedSums, mapped_moments
from gramian.operators.matrix import column_scale
from gramian.operators.remote import Remote, RemoteTable
from gramian.results import Array


class KernelViews:
    """Rows of two views, each with a kernel, on their way into a fit and into scores."""

    kernel: Any
    kernel_y: Any
    landmarks: Any
    scale: bool
    kernel_y_: Kernel
    y_projection_: Any
    x_scale_: Array | None
    y_scale_: Array | None
    # Distances to the mean do not see where the origin is, rounding of a linear kernel does.
    _x_origin: Array | None = None
    _y_origin: Array | None = None

    def _approximations(self) -> tuple[Any, Any]:
        """How each view is cut to low rank."""
        pair = self.landmarks if isinstance(self.landmarks, (tuple, list)) else (self.landmarks, self.landmarks)
        if len(pair) != 2 or (pair[0] is None) != (pair[1] is None):
            raise ValueError(f"landmarks={self.landmarks!r} must be one for both views, a pair, or None.")
        return pair[0], pair[1]

    def _views(self, X: Any, Y: Any) -> tuple[Any, Any, tuple[Kernel, Kernel]]:
        """Checked and scaled rows of both views, and the kernels resolved on them."""
        kernel = as_kernel(self.kernel)
        other = kernel if self.kernel_y is None else as_kernel(self.kernel_y)
        X = read_table(self, X, min_samples=2, kernel=kernel)
        Y = read_second_table(Y, X, other)
        if self.scale and (kernel.given or other.given):
            raise ValueError(
                "scale=True divides columns, of which a precomputed kernel knows nothing. Use scale=False."
            )
        self._dtype, kernels = X.dtype, self._prepare(X, Y)
        return *self._from(X, Y), kernels

    def _prepare(self, X: Any, Y: Any) -> tuple[Kernel, Kernel]:
        """Find scales, origins and the widths of the kernels from rows of both views."""
        kernel = own_kernel(self.kernel)
        other = kernel if self.kernel_y is None else own_kernel(self.kernel_y)
        self.n_features_y_in_ = Y.shape[1]
        self.x_scale_, self.y_scale_ = (deviations(X), deviations(Y)) if self.scale else (None, None)
        X, Y = divided(X, self.x_scale_), divided(Y, self.y_scale_)
        kernels = resolve_weighted(kernel, X, None), resolve_weighted(other, Y, None)
        check_underflow(kernels[0], X, "X")
        check_underflow(kernels[1], Y, "Y")
        self._x_origin, self._y_origin = best_origin(kernels[0], X), best_origin(kernels[1], Y)
        return kernels

    def _from(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """Rows of both views, scaled and seen from their origins."""
        return moved(divided(X, self.x_scale_), self._x_origin), moved(divided(Y, self.y_scale_), self._y_origin)

    def _y_scores(self, Y: Any, n: int) -> Array:
        rows = self._second(Y, n)
        return self.y_projection_.scores(moved(divided(rows, self.y_scale_), self._y_origin))

    def _second(self, Y: Any, n: int, *, new: bool = False) -> Any:
        """Check rows of the second view."""
        rows = read_second(Y, n, None if new else self.kernel_y_)
        if not new and rows.shape[1] != self.n_features_y_in_:
            raise ValueError(
                f"Y has {rows.shape[1]} columns, but KernelCCA was fitted with {self.n_features_y_in_} of them."
            )
        return rows


def read_second(Y: Any, n: int, kernel: Kernel | None, *, fitting: bool = False) -> Any:
    """Return the second view as n x q doubles, CSR if it is sparse; of a precomputed kernel, the matrix it makes.

    ``fitting`` asks for a Gram matrix, symmetric and n x n.
    """
    rows = read_targets(Y, n, "Y", fitted=not fitting).values
    if kernel is None or not kernel.given:
        return rows
    if (made := values(kernel, rows)) is not rows:
        rows = read_targets(made, n, "Y", fitted=not fitting).values
    if not fitting:
        return rows
    if rows.shape[1] != n:
        raise ValueError(
            f"kernel_y='precomputed' needs a square Gram matrix at fit, n x n; Y has shape {rows.shape}, X {n} rows. "
            "Give k(y_i, y_j) for all pairs of training rows."
        )
    narrow = np.dtype(getattr(Y, "dtype", np.float64)) == np.float32
    difference = abs(rows - rows.T).max()
    if difference > (1e-5 if narrow else 1e-8) * abs(rows).max():
        raise ValueError(
            f"kernel_y='precomputed' needs a symmetric matrix; Y differs from its transpose by up to {difference:.3g}. "
            "If that is rounding, use (K + K.T) / 2."
        )
    return rows


def read_second_table(Y: Any, X: Any, kernel: Kernel) -> Any:
    """Return the second view as rows, or as a remote table beside one."""
    if not isinstance(X, RemoteTable):
        return read_second(Y, X.shape[0], kernel, fitting=True)
    if not isinstance(Y, Remote):
        raise TypeError(f"X is a dask collection, and Y is a {type(Y).__name__}. Give both of one kind.")
    gate = Gate(Y.columns, own="Y")
    found = Y.total(partial(block_columns, refuse=gate), None, task="columns")
    if found.weight != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and Y has {found.weight:.0f}; they must have the same number.")
    return RemoteTable(Y, columns=found)


def check_underflow(kernel: Kernel, X: Any, name: str) -> None:
    """Refuse rows whose squares underflow: they would vary by rounding alone."""
    if (largest := underflows(kernel, X)) is not None:
        raise ValueError(
            f"the entries of {name} are {largest:.3g} at the most: their squares underflow. Multiply {name} by a "
            "constant, or use scale=True."
        )


def deviations(X: Any) -> Array:
    """Standard deviations of columns, divisor n - 1; 1 for a column without variance."""
    n = X.shape[0]
    if isinstance(X, RemoteTable):
        found = X.columns()
        return column_scale(np.sqrt(found.squares / (n - 1)), found.mean)
    if sp.issparse(X):
        largest = abs(X).max(axis=0).toarray().ravel().astype(np.float64)
        size = np.where(largest > 0, largest, 1.0)
        unit = divided(X, size)
        mean = column_means(unit)
        squares = np.asarray(unit.multiply(unit).sum(axis=0)).ravel() - n * mean**2
    else:
        rest = X.astype(np.float64) - column_means(X)
        largest = np.abs(X).max(axis=0).astype(np.float64)
        size = np.where(largest > 0, largest, 1.0)
        squares = np.square(rest / size).sum(axis=0)
    spread = np.sqrt(np.maximum(squares, 0.0) / (n - 1))
    return np.where(spread > n * np.finfo(np.float64).eps, spread * size, 1.0)


def divided(X: Any, scale: Array | None) -> Any:
    """Rows with their columns divided by a scale, if there is one."""
    if scale is None:
        return X
    return sp.csr_array(X.multiply(1 / scale)) if sp.issparse(X) else X / scale


#: Rows that must be held out for their correlations to mean anything.
LEAST_HELD = 3


def seen_pairs(estimator: Any, X: Rows, Y: Any) -> Seen:
    """Read two streams in step; every so-manyth row is held out."""
    stream = KernelStream(estimator, X, Y, name="Y")
    kernels = estimator._prepare(*stream.first)
    first = estimator._from(*stream.first)
    maps = tuple(map(_features, estimator._approximations(), kernels, first))
    sets = 1 if estimator.folds is None else 2
    sums = [MappedSums(maps, 0, narrowest(first), X.n_rows, sets=sets) for _ in range(sets)]
    del first
    at = 0
    for block in stream.blocks():
        views = estimator._from(*block)
        for total, chosen in zip(sums, _held(len(views[0]), at, estimator.folds), strict=True):
            total.add([view[chosen] for view in views])
        at += len(views[0])
        del block, views  # or they would be kept while the next are read
    return Seen(kernels, maps, tuple(total.moments() for total in sums), stream.n_first)


def more_pairs(estimator: Any, X: Any, Y: Any) -> Seen:
    """Add checked rows of both views to those an estimator has seen."""
    seen: Seen | None = getattr(estimator, "seen_", None)
    kernels = estimator._prepare(X, Y) if seen is None else seen.kernels
    views = estimator._from(X, Y)
    maps = tuple(map(_features, estimator._approximations(), kernels, views)) if seen is None else seen.maps
    start, folds = (0, estimator.folds) if seen is None else (seen.n, estimator.folds if len(seen.parts) > 1 else None)
    new = [
        mapped_moments(maps, [view[chosen] for view in views]) if _count(chosen, X.shape[0]) else None
        for chosen in _held(X.shape[0], start, folds)
    ]
    if seen is None:
        return Seen(kernels, maps, tuple(part for part in new if part is not None), X.shape[0])
    parts = zip(seen.parts, new, strict=True)
    return replace(seen, parts=tuple(old if added is None else old + added for old, added in parts))


def held_out_part(pieces: Sequence[MappedMoments], parts: int) -> tuple[MappedMoments, ...]:
    """Moments of the first part that was held out, and of all others; of all rows if none was."""
    if not parts or len(pieces) < 2:
        return (pieces[0],)
    first, second, *rest = pieces
    return first, sum(rest, start=second)


def told_held(seen: Seen, folds: int | None) -> str:
    """What the rows held out are called; nothing if they are too few."""
    enough = len(seen.parts) > 1 and seen.parts[0].moments.weight >= LEAST_HELD
    return f"one row in {folds} held out" if enough else ""


def _held(n: int, start: int, folds: int | None) -> list[Any]:
    """Rows of a block to hold out and the others, by their number in all."""
    if folds is None:
        return [slice(None)]
    held = (start + np.arange(n)) % folds == 0
    return [np.flatnonzero(held), np.flatnonzero(~held)]


def _count(chosen: Array | slice, n: int) -> int:
    return n if isinstance(chosen, slice) else len(chosen)


def _features(landmarks: Any, kernel: Any, X: Any) -> Any:
    return low_rank(landmarks, kernel, X)
