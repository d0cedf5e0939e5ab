"""Rows of two views, each with a kernel, on their way into kernel CCA: read, scaled, mapped, and held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.estimators.fit_rows import Gate, second_stream
from gramian.estimators.kernel_cca_pairs import LowRankViews, partition, pieces_of
from gramian.estimators.kernel_checks import CheckedRows, underflows
from gramian.estimators.kernel_rows import (
    AnyRows,
    KernelArgument,
    KernelInput,
    KernelRows,
    KernelStream,
    Seen,
    landmarks_of,
    narrowest,
    own_kernel,
    resolve_weighted,
)
from gramian.estimators.landmarks import low_rank
from gramian.estimators.validation import Table, check_gram, is_stream, read_targets
from gramian.kernels import Kernel, as_kernel
from gramian.kernels.given import values
from gramian.operators.centering import best_origin, moved
from gramian.operators.features import FeatureMap
from gramian.operators.mapped_moments import MappedMoments, MappedSums, mapped_moments
from gramian.operators.remote import Remote, RemoteTable, deviations, divided
from gramian.projection import KernelProjection
from gramian.results import Array, Matrix
from gramian.spaces.kernel import ConditionalProjection

#: Rows that must be held out for their correlations to mean anything.
HELD_OUT_MIN_ROWS = 3


class KernelViews(KernelInput):
    """Rows of two views, each with a kernel, on their way into a fit and into scores."""

    kernel_y: KernelArgument | None
    scale: bool
    folds: int | None
    kernel_y_: Kernel
    y_projection_: KernelProjection | ConditionalProjection
    x_scale_: Array | None
    y_scale_: Array | None
    # Distances to the mean do not see where the origin is, rounding of a linear kernel does.
    _x_origin: Array | None = None
    _y_origin: Array | None = None
    _kernel_parameters = ("kernel", "kernel_y")

    def _read_views(self, X: Table, Y: Table | None) -> AnyRows:
        if is_stream(X):
            return KernelStream(self, X, second_stream(X, Y, "Y"), None, "Y")
        kernel = as_kernel(self.kernel)
        other = kernel if self.kernel_y is None else as_kernel(self.kernel_y)
        A = self._table(X, kernel, min_samples=2)
        B = read_second_table(Y, A, other)
        if self.scale and (kernel.given or other.given):
            raise ValueError(
                "scale=True divides columns, of which a precomputed kernel knows nothing. Use scale=False."
            )
        return KernelRows((A, B))

    def _prepare(self, X: CheckedRows, Y: CheckedRows) -> tuple[Kernel, Kernel]:
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

    def _from(self, X: CheckedRows, Y: CheckedRows) -> tuple[Any, Any]:
        """Rows of both views, scaled and seen from their origins."""
        return moved(divided(X, self.x_scale_), self._x_origin), moved(divided(Y, self.y_scale_), self._y_origin)

    def _y_scores(self, Y: Table, n: int) -> Array:
        rows = self._second(Y, n)
        return self.y_projection_.scores(moved(divided(rows, self.y_scale_), self._y_origin))

    def _second(self, Y: Table, n: int, *, new: bool = False) -> Matrix:
        rows = read_second(Y, n, None if new else self.kernel_y_)
        if not new and rows.shape[1] != self.n_features_y_in_:
            raise ValueError(
                f"Y has {rows.shape[1]} columns, but KernelCCA was fitted with {self.n_features_y_in_} of them."
            )
        return rows


def read_second(Y: Table | None, n: int, kernel: Kernel | None, *, fitting: bool = False) -> Matrix:
    """Return the second view as n x q doubles, CSR if it is sparse; of a precomputed kernel, the matrix it makes.

    ``fitting`` asks for a Gram matrix, symmetric and n x n.
    """
    rows: Any = read_targets(Y, n, "Y", fitted=not fitting).values
    if kernel is None or not kernel.given:
        return rows
    if (made := values(kernel, rows)) is not rows:
        rows = read_targets(made, n, "Y", fitted=not fitting).values
    narrow = np.dtype(getattr(Y, "dtype", np.float64)) == np.float32
    return check_gram(rows, "Y", "kernel_y", narrow=narrow) if fitting else rows


def read_second_table(Y: Table | None, X: CheckedRows, kernel: Kernel) -> CheckedRows:
    """Return the second view as rows, or as a remote table beside one."""
    if not isinstance(X, RemoteTable):
        return read_second(Y, X.shape[0], kernel, fitting=True)
    if not isinstance(Y, Remote):
        raise TypeError(f"X is a dask collection, and Y is a {type(Y).__name__}. Give both of one kind.")
    gate = Gate(Y.columns, own="Y")
    found = Y.column_sums(refuse=gate)
    if found.weight != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and Y has {found.weight:.0f}; they must have the same number.")
    return RemoteTable(Y, columns=found)


def check_underflow(kernel: Kernel, X: CheckedRows, name: str) -> None:
    """Refuse rows whose squares underflow: they would vary by rounding alone."""
    if (largest := underflows(kernel, X)) is not None:
        raise ValueError(
            f"the entries of {name} are {largest:.3g} at the most: their squares underflow. Multiply {name} by a "
            "constant, or use scale=True."
        )


def mapped_views(
    model: KernelViews, kernels: tuple[Kernel, ...], views: Sequence[CheckedRows]
) -> tuple[FeatureMap, ...]:
    """The features of low rank of each view."""
    found = (low_rank(*given) for given in zip(landmarks_of(model), kernels, views, strict=True))
    return tuple(features for features in found if features is not None)


def seen_pairs(
    model: KernelViews, kernels: tuple[Kernel, ...], rows: AnyRows, rng: np.random.Generator
) -> tuple[Seen, LowRankViews, str]:
    """What is known of both views through landmarks, their pairs to be found, and which rows are held out of them."""
    views, first = model._from(*rows.first), rows.n_first
    maps = mapped_views(model, kernels, views)
    if isinstance(rows, KernelStream):
        dtype = narrowest(views)
        del views
        seen = Seen(kernels, maps, _streamed_parts(model, maps, rows, dtype), first)
        return seen, LowRankViews(maps, seen.parts, len(seen.parts) - 1), told_held(seen, model.folds)
    parts, held = partition(first, model.folds, rng)
    pieces = pieces_of(maps, views, parts)
    return Seen(kernels, maps, held_out_part(pieces, len(parts)), first), LowRankViews(maps, pieces, len(parts)), held


def _streamed_parts(
    model: KernelViews, maps: tuple[FeatureMap, ...], stream: KernelStream, dtype: np.dtype
) -> tuple[MappedMoments, ...]:
    """Moments of every k-th row of two streams in step, which is held out, and of the others."""
    sets = 1 if model.folds is None else 2
    sums, at = [MappedSums(maps, 0, dtype, stream.X.n_rows, sets=sets) for _ in range(sets)], 0
    for block in stream.blocks():
        views = model._from(*block)
        for total, chosen in zip(sums, _held(len(views[0]), at, model.folds), strict=True):
            total.add([view[chosen] for view in views])
        at += len(views[0])
        del block, views  # or they would be kept while the next are read
    return tuple(total.moments() for total in sums)


def more_pairs(model: KernelViews, X: Matrix, Y: Matrix) -> Seen:
    """Add checked rows of both views to those a model has seen."""
    seen: Seen | None = getattr(model, "seen_", None)
    kernels = model._prepare(X, Y) if seen is None else seen.kernels
    views = model._from(X, Y)
    maps = mapped_views(model, kernels, views) if seen is None else seen.maps
    start, folds = (0, model.folds) if seen is None else (seen.n, model.folds if len(seen.parts) > 1 else None)
    chosen = _held(X.shape[0], start, folds)
    new = [mapped_moments(maps, [view[some] for view in views]) for some in chosen]
    if seen is None:
        return Seen(kernels, maps, tuple(new), X.shape[0])
    return replace(seen, parts=tuple(old + added for old, added in zip(seen.parts, new, strict=True)))


def held_out_part(pieces: Sequence[MappedMoments], parts: int) -> tuple[MappedMoments, ...]:
    """Moments of the first part that was held out, and of all others; of all rows if none was."""
    if not parts or len(pieces) < 2:
        return (pieces[0],)
    first, second, *rest = pieces
    return first, sum(rest, start=second)


def told_held(seen: Seen, folds: int | None) -> str:
    """What the rows held out are called; nothing if they are too few."""
    enough = len(seen.parts) > 1 and seen.parts[0].moments.weight >= HELD_OUT_MIN_ROWS
    return f"one row in {folds} held out" if enough else ""


def _held(n: int, start: int, folds: int | None) -> list[Array | slice]:
    """Rows of a block to hold out and the others, by their number in all."""
    if folds is None:
        return [slice(None)]
    held = (start + np.arange(n)) % folds == 0
    return [np.flatnonzero(held), np.flatnonzero(~held)]
