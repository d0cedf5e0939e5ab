"""Rows as they are, and as their components rebuild them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.charts.base import Chart, NoChart, column_names, full_rows, last_step, like, refuse
from gramian.charts.labels import position_label, positions_of
from gramian.estimators import PCA, KernelPCA
from gramian.preimage import available
from gramian.results import Array


@dataclass(frozen=True, kw_only=True)
class Reconstructions(Chart):
    """A strip of rows for each number of components.

    Attributes
    ----------
    rows : (m,) array of int
        Which rows.
    counts : tuple of int
        Numbers of components, rising.
    originals : (m, d) array
    rebuilt : (len(counts), m, d) array
    errors : (len(counts),) array
        Root of the mean squared difference from the originals shown.
    shape : pair of ints or None
        Height and width of a row as a picture; None to draw rows as lines.
    positions : (d,) array
        Places of the columns, for lines.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramian import PCA, charts
    >>> X = load_digits().data
    >>> chart = charts.reconstructions(PCA(30).fit(X), X, counts=(2, 10, 30), shape=(8, 8))
    >>> bool((np.diff(chart.errors) < 0).all())
    True
    """

    rows: Array
    counts: tuple[int, ...]
    originals: Array
    rebuilt: Array
    errors: Array
    shape: tuple[int, int] | None
    positions: Array


def reconstructions(
    estimator: Any,
    X: Any = None,
    *,
    rows: Sequence[int] | None = None,
    counts: Sequence[int] | None = None,
    shape: tuple[int, int] | None = None,
) -> Reconstructions:
    """Return rows, and what growing numbers of components rebuild of them.

    Parameters
    ----------
    estimator : fitted estimator
        With ``inverse_transform``. PCA and kernel PCA (through pre-images) give every number of components up to those
        of the fit, others only all of them.
    X : (n, d) array or data frame
        Rows.
    rows : ints, optional
        Which of them; eight spread over the table by default.
    counts : ints, optional
        Numbers of components; four spread evenly on a logarithmic scale by default.
    shape : pair of ints, optional
        Height and width, if rows are pictures.

    Returns
    -------
    Reconstructions

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramian import PCA, charts
    >>> X = load_digits().data
    >>> charts.reconstructions(PCA(16).fit(X), X, shape=(8, 8)).counts
    (1, 3, 6, 16)
    """
    model, X = last_step(estimator, X)
    if not hasattr(model, "inverse_transform"):
        raise NoChart(f"{type(model).__name__} gives no reconstructions chart: it has no inverse_transform. Use PCA.")
    kernel = getattr(model, "kernel_", None)
    if kernel is not None and not available(kernel):
        raise refuse(model, "reconstructions", f"The kernel {kernel} has no pre-images; use a positive definite one.")
    table = full_rows(X, "reconstructions")
    chosen = _rows(rows, len(table))
    originals = table[chosen]
    if shape is not None and int(np.prod(shape)) != originals.shape[1]:
        raise ValueError(
            f"shape={shape!r} has {int(np.prod(shape))} pixels; the rows have {originals.shape[1]} columns."
        )
    T = np.asarray(model.transform(like(X, originals)))
    numbers = _counts(model, counts, T.shape[1])
    rebuilt = np.stack([_rebuild(model, T, k) for k in numbers])
    names = column_names(model, originals.shape[1])
    places = positions_of(names)
    return Reconstructions(
        title="Rows and what their components rebuild",
        xlabel=position_label(names) if places is not None else "column",
        rows=chosen,
        counts=numbers,
        originals=originals,
        rebuilt=rebuilt,
        errors=np.sqrt(((rebuilt - originals) ** 2).mean(axis=(1, 2))),
        shape=None if shape is None else (int(shape[0]), int(shape[1])),
        positions=np.arange(1.0, originals.shape[1] + 1) if places is None else places,
    )


def _rebuild(model: Any, T: Array, k: int) -> Array:
    kept = np.where(np.arange(T.shape[1]) < k, T, 0.0)
    return np.asarray(model.inverse_transform(kept), dtype=np.float64)


def _rows(rows: Sequence[int] | None, n: int) -> Array:
    if rows is None:
        return np.unique(np.linspace(0, n - 1, min(n, 8)).astype(int))
    chosen = np.asarray(rows, dtype=int)
    if chosen.ndim != 1 or not len(chosen) or chosen.min() < 0 or chosen.max() >= n:
        raise ValueError(f"rows={rows!r} must be numbers of rows, from 0 to {n - 1}.")
    return chosen


def _counts(model: Any, counts: Sequence[int] | None, k: int) -> tuple[int, ...]:
    nested = isinstance(model, (PCA, KernelPCA)) or type(model).__name__ == "PCA"
    if counts is None:
        return tuple(int(at) for at in np.unique(np.geomspace(1, k, 4).round())) if nested else (k,)
    found = tuple(sorted({int(at) for at in counts}))
    if not found or found[0] < 1 or found[-1] > k:
        raise ValueError(f"counts={counts!r} must be numbers of components, from 1 to {k}.")
    if not nested and found != (k,):
        raise ValueError(f"{type(model).__name__} rebuilds rows from all {k} components only. Leave counts out.")
    return found
