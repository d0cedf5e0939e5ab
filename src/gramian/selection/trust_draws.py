"""Bootstrap draws. A draw is a reweighting of the rows; a linear method needs only the moments of the weighted rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from gramian.config import one_blas_thread
from gramian.engine.tiles import Meter, row_blocks, run, share, threads_for
from gramian.estimators.callbacks import unwatched
from gramian.estimators.warnings import GramianWarning
from gramian.operators import Moments
from gramian.operators.compressed import from_moments
from gramian.progress import part_done, track
from gramian.results import Array

#: Bytes of moments that exist at a time, for each thread.
TOGETHER = 2**25
#: Columns up to which products of columns are formed, to be weighted by all draws at once.
NARROW = 64
#: Share of the squares about the mean of all rows that sums of them lose.
ROUNDING = 1e-12
#: Rows there must be for each column, so that moments are less work than the rows are.
ROWS_EACH = 4


class Replicas:
    """Fits of an estimator to bootstrap draws of its rows.

    Parameters
    ----------
    estimator : estimator
        Not fitted anew; clones are. It takes ``sample_weight``.
    X, y : rows, and targets or a second view
        As the estimator takes them; dense rows without gaps go by moments if there are many of them.
    n_boot : int
        Draws.
    rng : Generator

    Cost
    ----
    By moments, ``n (d + q)^2`` multiplications a draw, in tiles of rows that serve many draws, and a fit to
    ``2 (d + q)`` rows. By rows, a weighted fit a draw.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, n_boot: int, rng: np.random.Generator) -> None:
        self.estimator, self.n_boot, self.rng = estimator, n_boot, rng
        self.X, self.y = X, None if y is None else np.asarray(y, dtype=np.float64)
        self.warned = self.refused = 0
        views = [X] if self.y is None else [X, self.y.reshape(len(self.y), -1)]
        dense = not sp.issparse(X) and all(np.isfinite(view).all() for view in views)
        width = sum(view.shape[1] for view in views)
        self.by_moments = dense and X.shape[0] >= ROWS_EACH * width
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


def quiet_fit(estimator: Any, *arguments: Any, **more: Any) -> tuple[Any, bool]:
    """Fit a clone without a word, and say whether it would have warned."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", GramianWarning)
        fitted = unwatched(clone(estimator)).fit(*arguments, **more)
    return fitted, any(issubclass(warning.category, GramianWarning) for warning in heard)


def drawn_moments(views: Sequence[Array], n_boot: int, rng: np.random.Generator) -> Iterator[Moments]:
    r"""Moments of bootstrap draws of rows, whose weights are made tile by tile and never exist as a whole.

    Definition
    ----------
    .. math:: (w_1, \dots, w_n) \sim \mathrm{Multinomial}(n; 1/n, \dots, 1/n)

    How many rows of a draw fall into a tile is multinomial; given that, so is how they fall within it.

    Parameters
    ----------
    views : sequence of (n, d) arrays
        Views of the same rows, side by side.
    n_boot : int
    rng : Generator
        The same seed and number of threads give the same bits; tiles have generators of their own.
    """
    n, p = len(views[0]), sum(view.shape[1] for view in views)
    pairs = np.triu_indices(p)
    blocks = row_blocks(n, len(pairs[0]) if p <= NARROW else p)
    mean = np.concatenate([view.mean(axis=0) for view in views])
    batch = max(1, TOGETHER // (8 * len(pairs[0])))
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
            constant = np.diag(scatter) <= ROUNDING * np.diag(about_mean)  # in this draw: what is left is rounding
            scatter[constant] = scatter[:, constant] = 0.0
            yield Moments(float(n), mean, scatter, shift)


def _add_products(squares: Array, rows: Array, weights: Array, pairs: tuple[Array, Array]) -> None:
    """Add ``sum_i w_i x_i x_i'`` of every draw to its upper triangle."""
    if rows.shape[1] <= NARROW:  # all draws in one product with the products of columns
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

    Definition
    ----------
    .. math:: \mu \pm \sqrt{r/n}\,a_k, \quad \text{each of weight } n/2r, \qquad \sum_{k \le r} a_k a_k' = M

    with the scatter M: the weight is n, the mean :math:`\mu`, the scatter M. A linear method finds from them
    what it would find from the rows.

    Examples
    --------
    >>> from gramian.operators import moments_of
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> rows, weights = stand_ins(moments_of(X))
    >>> len(rows), bool(np.allclose(moments_of(rows, weights).scatter, moments_of(X).scatter))
    (6, True)
    """
    A = from_moments(moments, moments.d).rows  # type: ignore[union-attr]
    if len(A) == 0:  # no column varies
        A = np.zeros((1, moments.d))
    A = A * np.sqrt(len(A) / moments.weight)
    return moments.mean + np.vstack([A, -A]), np.full(2 * len(A), moments.weight / (2 * len(A)))
