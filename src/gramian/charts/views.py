"""Two views of the same rows: correlations of their scores, and the scores in pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import _num_samples

from gramian.charts.base import Chart, Rows, last_step, need_rows, note, picked, refuse
from gramian.charts.points import POINTS_MAX_ROWS, Points, colouring, thin
from gramian.estimators.base import as_fitted
from gramian.estimators.cca import check_ridge
from gramian.estimators.cca_tests import basis_of, p_values, shuffled_correlations
from gramian.estimators.labels import row_names
from gramian.estimators.validation import random_generator
from gramian.lapack import interruptible
from gramian.registry import CCA
from gramian.results import Array, Seed
from gramian.spaces import KernelSpace

__all__ = ["Correlations", "Paired", "correlations", "paired"]

#: Shufflings for the band, where each takes a small decomposition and where it takes a fit.
SHUFFLINGS, SHUFFLED_FITS = 499, 20
#: Shufflings from which on there are p-values: the least that can be shown is then 0.01, well below the usual 0.05.
P_VALUE_MIN_SHUFFLINGS = 99
#: Rows up to which kernel matrices are decomposed once, so that a shuffling takes no fit.
DECOMPOSED_MAX_ROWS = 1000


@dataclass(frozen=True, kw_only=True)
class Correlations(Chart):
    """Canonical correlations beside those of rows paired at random."""

    #: (K,): with a ridge, regularised correlations: what the fit maximises, with the ridge added to the variances
    values: Array
    #: (K,): plain correlations of the scores of the fit, where a ridge makes the values smaller than these
    plain: Array | None = None
    #: (m,): correlations of rows that were left out of the fit, if the estimator knows them
    held_out: Array | None = None
    middle: Array | None = None  #: (K,): 50 % quantiles over shuffled rows: what chance gives
    high: Array | None = None  #: (K,): 95 % quantiles
    #: (K,): chance of as large a correlation among what the pairs before it leave; never below an earlier one, nor
    #: below ``1 / (shuffles + 1)``. None where there are fewer than 99 shufflings.
    p_values: Array | None = None
    shuffles: int = 0  #: Shufflings of the rows of Y


@dataclass(frozen=True, kw_only=True)
class Paired(Chart):
    """Scores of one view against those of the other."""

    points: Points
    correlation: float  #: Of the rows given
    names: tuple[str, ...] | None = None  #: Names of all rows


def correlations(
    estimator: BaseEstimator,
    X: Rows | None = None,
    Y: ArrayLike | None = None,
    *,
    shuffles: int | None = None,
    random_state: Seed = None,
) -> Correlations:
    """Return canonical correlations and, with rows, what shuffled rows give (:class:`Correlations`).

    For plain CCA (ridge = 0) the band of a pair is that of the largest correlation of what the pairs before it leave of
    both views. With a ridge, or kernels, the band of a pair is that of the same pair of shuffled rows: for later pairs
    it asks for a little too much.

    Parameters
    ----------
    estimator : fitted CCA or KernelCCA
    X, Y : rows of both views, optional
        Those of the fit, for the band.
    shuffles : int, optional
        How many; 499, and 20 where each takes a fit: kernels with landmarks, and of more than 1,000 rows.
    random_state : int, Generator, RandomState or None
        Seed. None is a fixed seed.

    References
    ----------
    Winkler, Renaud, Smith, Nichols, Permutation inference for canonical correlation analysis, NeuroImage 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from gramian import CCA, charts
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> chart = charts.correlations(CCA().fit(X, Y), X, Y)
    >>> chart.values > chart.high
    array([ True, False, False])
    """
    model, X = last_step(estimator, X)
    values = getattr(model, "correlations_", None)
    if values is None:
        raise refuse(model, "correlations", "Use CCA or KernelCCA.")
    if (X is None) != (Y is None):
        raise ValueError("the correlations chart needs both views or none. Give X=... and Y=...")
    plain = isinstance(model, CCA) and not np.any(as_fitted(model, "ridge"))
    regularised = not np.allclose(model.score_correlations_, values)
    beside: dict[str, Any] = {}
    if X is not None:
        # Views are decomposed once for all shufflings: linear ones, and exact kernels of some rows.
        exact = as_fitted(model, "landmarks") is None and _num_samples(X) <= DECOMPOSED_MAX_ROWS
        quick = isinstance(model, CCA) or exact
        count = shuffles if shuffles is not None else SHUFFLINGS if quick else SHUFFLED_FITS
        if not isinstance(count, (int, np.integer)) or count < 1:
            raise ValueError(f"shuffles={shuffles!r} must be a whole number of 1 or more.")
        seeds = random_generator(random_state).spawn(int(count))
        draw = _left if plain else _shuffled if quick else _refits
        drawn = draw(model, X, Y, seeds)[:, : len(values)]
        middle, high = np.quantile(drawn, [0.5, 0.95], axis=0)
        beside = {"middle": middle, "high": high, "shuffles": len(drawn), "notes": (note("shuffled", count=count),)}
        if len(drawn) >= P_VALUE_MIN_SHUFFLINGS:
            beside["p_values"] = p_values(values[: drawn.shape[1]], drawn)
    return Correlations(
        title="Canonical correlations",
        xlabel="pair",
        ylabel="regularised correlation" if regularised else "correlation",
        values=np.asarray(values, dtype=np.float64),
        plain=model.score_correlations_ if regularised else None,
        held_out=getattr(model, "held_out_correlations_", None),
        **beside,
    )


def _shuffled(model: BaseEstimator, X: Rows | None, Y: ArrayLike | None, seeds: Sequence[np.random.Generator]) -> Array:
    """Regularised correlations of shuffled rows, from one decomposition of each view."""
    ridge = check_ridge(as_fitted(model, "ridge"))
    if isinstance(model, CCA):
        x, y = (basis_of(view, scale=as_fitted(model, "scale")) for view in model._both(X, Y))
        return shuffled_correlations(x, y, ridge, seeds)
    probe = clone(model)
    rows = probe._read_views(X, Y).first
    spaces = list(map(KernelSpace, probe._prepare(*rows), probe._from(*rows)))
    found = [space.basis(None if model.rank is None else min(model.rank, space.n), "dense", None) for space in spaces]
    x, y = ((basis.vectors, basis.singular) for basis in found)
    return shuffled_correlations(x, y, ridge, seeds)


def _left(model: CCA, X: Rows | None, Y: ArrayLike | None, seeds: Sequence[np.random.Generator]) -> Array:
    """Largest correlation of what the first pairs leave, for every shuffling and number of pairs before."""
    Ux, Uy = (basis_of(view, scale=True)[0] for view in model._both(X, Y))
    A, rho, Bt = interruptible(np.linalg.svd, Ux.T @ Uy, full_matrices=True)
    Sx, Sy = Ux @ A, Uy @ Bt.T
    pairs = min(len(rho), len(model.correlations_))
    out = np.empty((len(seeds), pairs))
    for row, rng in zip(out, seeds, strict=True):
        C = Sx.T @ Sy[rng.permutation(len(Sy))]
        row[:] = [np.linalg.norm(C[k:, k:], 2) for k in range(pairs)]
    return np.minimum(out, 1.0)


def _refits(model: BaseEstimator, X: Rows | None, Y: ArrayLike | None, seeds: Sequence[np.random.Generator]) -> Array:
    """Correlations of fits to shuffled rows."""
    kept = {"n_components": len(model.correlations_), **({"folds": None} if hasattr(model, "folds") else {})}
    table: Any = Y if hasattr(Y, "shape") else np.asarray(Y)
    out = np.zeros((len(seeds), len(model.correlations_)))
    for row, rng in zip(out, seeds, strict=True):
        order = rng.permutation(table.shape[0])
        shuffled = table.iloc[order] if hasattr(table, "iloc") else table[order]
        found = clone(model).set_params(**kept).fit(X, shuffled).correlations_
        row[: len(found)] = found
    return out


def paired(
    estimator: BaseEstimator,
    X: Rows | None = None,
    Y: ArrayLike | None = None,
    *,
    pair: int = 1,
    colour: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    many: int = POINTS_MAX_ROWS,
) -> Paired:
    """Return the scores of one pair: those of X against those of Y (:class:`Paired`).

    Parameters
    ----------
    estimator : fitted CCA, KernelCCA, PLSCanonical or PLSSVD
    X, Y : rows of both views
    pair : int
        Which, counted from 1.
    colour, names, many
        As for :func:`gramian.charts.scores`.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from gramian import CCA, charts
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> charts.paired(CCA().fit(X, Y), X, Y, pair=2).xlabel
    'score of X, pair 2'
    """
    model, rows = last_step(estimator, X)
    if not hasattr(model, "y_projection_"):
        raise refuse(model, "paired", "Use CCA, KernelCCA, PLSCanonical or PLSSVD.")
    need_rows(rows if Y is not None else None, "paired", "X=... and Y=...")
    first, second = model.transform(rows, Y)
    (k,) = picked(pair, first.shape[1], noun="pair", argument="pair")
    at = np.column_stack([first[:, k], second[:, k]]).astype(np.float64)
    varies = (at.std(axis=0) > 0).all() and len(at) > 1
    points = thin(at, colouring(colour, len(at)), many)
    return Paired(
        title=f"Pair {k + 1} of scores",
        xlabel=f"score of X, pair {k + 1}",
        ylabel=f"score of Y, pair {k + 1}",
        notes=points.notes,
        points=points,
        correlation=float(np.asarray(np.corrcoef(at.T))[0, 1]) if varies else 0.0,
        names=row_names(X, len(at), names),
    )
