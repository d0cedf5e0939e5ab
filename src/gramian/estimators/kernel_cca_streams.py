"""Two views that stream by, seen by kernel CCA: moments of most rows, and of those that are held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.estimators.kernel_streams import KernelStream, Seen, narrowest
from gramian.estimators.low_rank import low_rank
from gramian.operators import Rows
from gramian.operators.mapped_moments import MappedMoments, MappedSums, mapped_moments
from gramian.results import Array

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
