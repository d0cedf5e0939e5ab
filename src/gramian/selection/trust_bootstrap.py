"""Bootstrap draws, each a reweighting of the rows, and intervals from them; moments serve linear methods."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.special
import scipy.stats
from numpy.typing import ArrayLike
from sklearn.base import clone

from gramian.config import one_blas_thread
from gramian.engine.tiles import Meter, row_blocks, run, share, threads_for
from gramian.estimators.base import BaseEstimator
from gramian.estimators.callbacks import unwatched
from gramian.estimators.warnings import GramianWarning
from gramian.operators import Moments
from gramian.operators.compressed import from_moments
from gramian.progress import part_done, track
from gramian.results import Array, Matrix

#: Bytes of moments that exist at a time, for each thread.
_BATCH_BYTES = 2**25
#: Columns up to which products of columns are formed, to be weighted by all draws at once.
_PRODUCTS_MAX_COLUMNS = 64
#: Share of the squares about the mean of all rows that sums of them lose.
_LOST_SHARE = 1e-12
#: Rows there must be for each column, so that moments are less work than the rows are.
MOMENTS_MIN_ROWS_PER_COLUMN = 4
#: Share of the estimate below which a draw counts as that share.
_LEAST_SHARE_OF_ESTIMATE = 1e-6
Scale = Callable[[Array], Array]
#: Kind of number -> scale on which it varies evenly, and the way back.
SCALES: dict[str, tuple[Scale, Scale]] = {
    "positive": (np.log, np.exp),
    "share": (lambda x: scipy.special.logit(np.clip(x, 1e-12, 1 - 1e-12)), scipy.special.expit),
    "correlation": (lambda x: np.arctanh(np.clip(x, -1 + 1e-12, 1 - 1e-12)), np.tanh),
    "signed": (lambda x: x, lambda x: x),
}


class Replicas:
    """Fits of an estimator to bootstrap draws of its rows; many dense rows without gaps go by their moments."""

    def __init__(
        self, estimator: BaseEstimator, X: Matrix, y: ArrayLike | None, n_boot: int, rng: np.random.Generator
    ) -> None:
        self.estimator, self.n_boot, self.rng = estimator, n_boot, rng
        self.X, self.y = X, None if y is None else np.asarray(y, dtype=np.float64)
        self.warned = self.refused = 0
        views = [X] if self.y is None else [X, self.y.reshape(len(self.y), -1)]
        dense = not sp.issparse(X) and all(np.isfinite(view).all() for view in views)
        width = sum(view.shape[1] for view in views)
        self.by_moments = dense and X.shape[0] >= MOMENTS_MIN_ROWS_PER_COLUMN * width
        self.views = [np.asarray(view, dtype=np.float64) for view in views] if self.by_moments else []

    def __iter__(self) -> Iterator[Any]:
        # Pinned once for all fits: each of them is small.
        with track("bootstrap", self.n_boot) as tracker, one_blas_thread():
            for arguments, weights in self._by_moments() if self.by_moments else self._by_rows():
                try:
                    fitted, warned = quiet_fit(self.estimator, *arguments, sample_weight=weights)
                except ValueError as refusal:  # a draw may lack rows that a method needs
                    self.refused += 1
                    if self.refused > self.n_boot / 2:
                        raise ValueError(
                            f"{type(self.estimator).__name__} cannot be fitted to most draws of these rows: {refusal}"
                        ) from refusal
                else:
                    self.warned += warned
                    yield fitted
                tracker.advance(self.n_boot)

    def _by_rows(self) -> Iterator[tuple[tuple[Any, ...], Array]]:
        n = self.X.shape[0]
        for _ in range(self.n_boot):
            weights = np.bincount(self.rng.integers(n, size=n), minlength=n).astype(np.float64)
            rows = np.flatnonzero(weights)
            views = (self.X[rows],) if self.y is None else (self.X[rows], self.y[rows])
            yield views, weights[rows]

    def _by_moments(self) -> Iterator[tuple[tuple[Any, ...], Array]]:
        d = self.views[0].shape[1]
        for moments in drawn_moments(self.views, self.n_boot, self.rng):
            rows, weights = stand_ins(moments)
            if self.y is None:
                yield (rows,), weights
            else:
                yield (rows[:, :d], rows[:, d] if self.y.ndim == 1 else rows[:, d:]), weights


def quiet_fit(estimator: BaseEstimator, *arguments: Any, **more: Any) -> tuple[Any, bool]:
    """Fit a clone without a word, and say whether it would have warned."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", GramianWarning)
        fitted = unwatched(clone(estimator)).fit(*arguments, **more)
    return fitted, any(issubclass(warning.category, GramianWarning) for warning in heard)


def drawn_moments(views: Sequence[Array], n_boot: int, rng: np.random.Generator) -> Iterator[Moments]:
    r"""Moments of bootstrap draws of rows, whose weights are made tile by tile and never exist as a whole.

    .. math:: (w_1, \dots, w_n) \sim \mathrm{Multinomial}(n; 1/n, \dots, 1/n)

    How many rows of a draw fall into a tile is multinomial; given that, so is how they fall within it.
    """
    n, p = len(views[0]), sum(view.shape[1] for view in views)
    pairs = np.triu_indices(p)
    blocks = row_blocks(n, len(pairs[0]) if p <= _PRODUCTS_MAX_COLUMNS else p)
    mean = np.concatenate([view.mean(axis=0) for view in views])
    batch = max(1, _BATCH_BYTES // (8 * len(pairs[0])))
    for start in range(0, n_boot, batch):
        count = min(batch, n_boot - start)
        sizes = np.array([rows.stop - rows.start for rows in blocks])
        totals = rng.multinomial(n, sizes / n, size=count)
        seed = int(rng.integers(2**62))

        def work(
            panels: Sequence[int], meter: Meter, count: int = count, totals: Array = totals, seed: int = seed
        ) -> tuple[Array, Array]:
            sums, squares = np.zeros((count, p)), np.zeros((count, len(pairs[0])))
            for at in panels:
                rows = np.concatenate([view[blocks[at]] for view in views], axis=1) - mean
                weights = _weights(totals[:, at], len(rows), [seed, at])
                _add_products(squares, rows, weights, pairs)
                sums += weights @ rows
                meter.tick()
            return sums, squares

        parts = run(work, share(len(blocks), threads_for(len(blocks))), lambda done: part_done(done / len(blocks)))
        sums, squares = (np.sum([part[which] for part in parts], axis=0) for which in (0, 1))
        for shift, half in zip(sums / n, squares, strict=True):
            about_mean = np.zeros((p, p))
            about_mean[pairs] = half
            about_mean += np.triu(about_mean, 1).T
            scatter = about_mean - n * np.outer(shift, shift)
            constant = np.diag(scatter) <= _LOST_SHARE * np.diag(about_mean)  # in this draw: what is left is rounding
            scatter[constant] = scatter[:, constant] = 0.0
            yield Moments(float(n), mean, scatter, shift)


def _add_products(squares: Array, rows: Array, weights: Array, pairs: tuple[Array, Array]) -> None:
    """Add ``sum_i w_i x_i x_i'`` of every draw to its upper triangle."""
    if rows.shape[1] <= _PRODUCTS_MAX_COLUMNS:  # all draws in one product with the products of columns
        squares += weights @ (rows[:, pairs[0]] * rows[:, pairs[1]])
        return
    for total, roots in zip(squares, np.sqrt(weights), strict=True):
        A = rows * roots[:, None]
        total += (A.T @ A)[pairs]


def _weights(totals: Array, size: int, seed: list[int]) -> Array:
    """How often each of ``size`` rows of a tile is in each draw, given how many of its rows are: draws x size."""
    rng = np.random.default_rng(seed)
    places = rng.integers(size, size=int(totals.sum())) + size * np.repeat(np.arange(len(totals)), totals)
    return np.bincount(places, minlength=size * len(totals)).reshape(len(totals), size).astype(np.float64)


def stand_ins(moments: Moments) -> tuple[Array, Array]:
    r"""Few rows, and their weights, that have given moments.

    .. math:: \mu \pm \sqrt{r/n}\,a_k, \quad \text{each of weight } n/2r, \qquad \sum_{k \le r} a_k a_k' = M

    with the scatter M: the weight is n, the mean :math:`\mu`, the scatter M. A linear method finds from them
    what it would find from the rows.
    """
    A = from_moments(moments, moments.d).rows  # type: ignore[union-attr]
    if len(A) == 0:  # no column varies
        A = np.zeros((1, moments.d))
    A = A * np.sqrt(len(A) / moments.weight)
    return moments.mean + np.vstack([A, -A]), np.full(2 * len(A), moments.weight / (2 * len(A)))


@dataclass(frozen=True)
class Band:
    """Estimates with standard errors and limits, arrays of one shape."""

    estimate: Array
    error: Array
    low: Array
    high: Array

    def differs_from_zero(self) -> Array:
        """Whether zero is outside the limits."""
        return (self.low > 0) | (self.high < 0)

    def within(self, least: float, most: float) -> Band:
        """The same with limits that values cannot pass."""
        return replace(self, low=np.clip(self.low, least, most), high=np.clip(self.high, least, most))


def band(estimate: Array, draws: Array, kind: str, level: float) -> Band:
    r"""Limits from bootstrap draws.

    .. math:: g^{-1}\bigl(g(\hat\theta) - b \pm z\,s\bigr), \qquad b = \bar g^* - g(\hat\theta), \quad
              s = \mathrm{sd}(g^*)

    with g the logarithm of what is positive, the logit of a share, Fisher's transform of a correlation. The bias b is
    taken off those: leading eigenvalues and correlations are too large in every draw. Entries of a direction are
    aligned to the estimate, and have none to take off.
    """
    forth, back = SCALES[kind]
    if kind == "positive":  # a draw may lack what only a few rows have; a component without variance has no logarithm
        nothing = estimate <= 0
        estimate, draws = np.where(nothing, 0.0, estimate), np.where(nothing, 0.0, draws)
        floor = np.where(nothing, 1.0, _LEAST_SHARE_OF_ESTIMATE * estimate)
        at, moved = forth(np.maximum(estimate, floor)), forth(np.maximum(draws, floor))
    else:
        nothing, at, moved = np.zeros(estimate.shape, dtype=bool), forth(estimate), forth(draws)
    half = scipy.stats.norm.isf((1 - level) / 2) * moved.std(axis=0, ddof=1)
    middle = at if kind == "signed" else 2 * at - moved.mean(axis=0)
    ends = (np.where(nothing, 0.0, back(end)) for end in (middle - half, middle + half))
    return Band(estimate, draws.std(axis=0, ddof=1), *ends)


def band_from_error(estimate: Array, error: Array, level: float) -> Band:
    """Limits of positive numbers from their standard errors, symmetric as logarithms."""
    relative = np.divide(error, estimate, out=np.zeros_like(error), where=estimate > 0)
    factor = np.exp(scipy.stats.norm.isf((1 - level) / 2) * relative)
    return Band(estimate, error, estimate / factor, estimate * factor)
