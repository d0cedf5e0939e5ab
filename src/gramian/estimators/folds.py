"""Folds of rows, and the compressed rows outside each of them, for about the price of one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from gramian.engine.tiles import Meter, run, share, threads_for
from gramian.estimators.two_blocks import Blocks
from gramian.operators import Compressed, complements, compress, moments_of
from gramian.operators.compressed import Part, from_moments, from_rows
from gramian.results import Array

#: Bytes of moments of folds that exist at a time.
TOGETHER = 2**26


def splits(cv: Any, blocks: Blocks) -> tuple[list[Any], list[Array] | None]:
    """Rows left out together, and the rows that train each model if those are not simply all others.

    A number of folds takes every so-manyth row; a splitter of scikit-learn, or pairs of index arrays, are heeded.
    """
    n = blocks.shape[0]
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv={cv} must be at least 2 folds.")
        count = min(int(cv), n)
        return [slice(g, n, count) for g in range(count)], None
    if not hasattr(cv, "split") and not hasattr(cv, "__iter__"):
        raise ValueError(f"cv={cv!r} must be a number of folds, a splitter, or pairs of training and test rows.")
    found = cv.split(np.zeros((n, 1)), blocks.Y) if hasattr(cv, "split") else cv
    pairs = [(np.asarray(train), np.asarray(test)) for train, test in found]
    trains, tests = [a for a, _ in pairs], [b for _, b in pairs]
    if len(tests) < 2 or any(len(rows) == 0 for rows in tests):
        raise ValueError(f"cv={cv!r} gives an empty fold, or fewer than 2. Use folds that each leave rows out.")
    times = np.bincount(np.concatenate(tests), minlength=n)
    if times.max() > 1:
        raise ValueError(f"cv={cv!r} leaves a row out more than once; folds must not overlap.")
    plain = times.all() and all(len(a) + len(b) == n and _covers(n, a, b) for a, b in pairs)
    return [_as_slice(rows) for rows in tests], None if plain else trains


def _covers(n: int, *parts: Array) -> bool:
    """Whether parts that are as long as n together hold every row."""
    seen = np.zeros(n, dtype=bool)
    for rows in parts:
        seen[rows] = True
    return bool(seen.all())


def _as_slice(rows: Array) -> Any:
    """Evenly spaced rows as a slice, which needs no copy."""
    step = int(rows[1] - rows[0]) if len(rows) > 1 else 1
    even = step > 0 and (np.diff(rows) == step).all()
    return slice(int(rows[0]), int(rows[-1]) + 1, step) if even else rows


def training(blocks: Blocks, folds: Sequence[Any], trains: list[Array] | None) -> Iterator[Compressed]:
    """Compressed rows that train the model of each fold."""
    X, Y, w = blocks.X, blocks.Y, blocks.weights
    if trains is not None:
        yield from (compress(X[rows], Y[rows], None if w is None else w[rows]) for rows in trains)
        return
    squared = blocks.views.route == "moments"

    def make(rows: Any) -> Any:
        x, y, v = X[rows], Y[rows], None if w is None else w[rows]
        return moments_of(x, v, beside=y) if squared else from_rows(x, y, v)

    for g, part in enumerate(_outside(make, folds, 8 * len(blocks.views.mean) ** 2)):
        views = part if isinstance(part, Compressed) else from_moments(part, blocks.views.d, careful=True)
        if views is None:  # without this fold the columns are nearly dependent
            others = np.delete(np.arange(len(Y)), np.arange(len(Y))[folds[g]])
            views = from_rows(X[others], Y[others], None if w is None else w[others])
        yield views


def _outside(make: Callable[[Any], Part], folds: Sequence[Any], size: int) -> Iterator[Part]:
    """What is outside each fold; many folds are taken in groups, so that few parts of this size exist at a time."""
    if len(folds) < 4 or len(folds) * size <= TOGETHER:
        yield from complements(_each(make, folds))
        return
    step = int(np.ceil(np.sqrt(len(folds))))
    groups = [folds[at : at + step] for at in range(0, len(folds), step)]
    sums = [reduce(add, _each(make, group)) for group in groups]
    for group, rest in zip(groups, complements(sums), strict=True):
        parts = _each(make, group)
        yield from (rest + part for part in complements(parts)) if len(parts) > 1 else iter([rest])


def _each(make: Callable[[Any], Part], folds: Sequence[Any]) -> list[Part]:
    """One part for each fold, made by all threads."""
    parts: list[Any] = [None] * len(folds)

    def work(chosen: Sequence[int], meter: Meter) -> None:
        for g in chosen:
            parts[g] = make(folds[g])
            meter.tick()

    run(work, share(len(folds), threads_for(len(folds))))
    return parts
