"""Starts for a clustering: seeds drawn apart from each other, leading components, or rows dealt at random."""

from __future__ import annotations

import numpy as np

from gramian.config import memory_budget
from gramian.operators.nearest import ROUNDING
from gramian.operators.similarities import Thin
from gramian.operators.tiles import spans
from gramian.results import Array
from gramian.solvers.clustering import Inner, lloyd

#: Points that stand for all where leading components are wanted but roughly; points compared with them at a time.
LANDMARKS, BLOCK = 256, 4096
#: Starts from which scores on those components are clustered.
RELAXED = 10


def seed(
    inner: Inner, k: int, runs: int, weights: Array, rng: np.random.Generator, order: Array | None = None
) -> list[Array]:
    r"""Return starts by k-means++: each seed is drawn with probability proportional to what it may save.

    Parameters
    ----------
    inner : inner products
    k, runs : int
        Seeds of a start; number of starts.
    weights : (n,) array
    rng : Generator
    order : (n,) array, optional
        Order of the points in which draws count through them; with one that depends on the points alone, starts do
        not depend on the order in which they came.

    Cost
    ----
    ``runs (2 + log k)`` columns for each of the k seeds; the best of ``2 + log k`` candidates becomes a seed.

    References
    ----------
    Arthur, Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007.
    """
    order = np.arange(inner.n) if order is None else order
    diagonal = np.asarray(inner.diagonal(), dtype=np.float64)
    # Each start draws from a stream of its own: how many share the columns does not change them.
    streams, trials = rng.spawn(runs), 2 + int(np.log(k))
    together = max(1, memory_budget() // (64 * inner.n * trials))
    starts: list[Array] = []
    for at in range(0, runs, together):
        starts += _seeded(inner, diagonal, k, weights, streams[at : at + together], order, trials)
    return starts


def _seeded(
    inner: Inner,
    diagonal: Array,
    k: int,
    weights: Array,
    streams: list[np.random.Generator],
    order: Array,
    trials: int,
) -> list[Array]:
    # A point that sits on a seed is as long as the seed: twice its own similarity is the unit of rounding.
    runs, floor, least = len(streams), 2 * ROUNDING * np.abs(diagonal), 0.0 if inner.positive else -np.inf
    labels = np.zeros((runs, inner.n), dtype=np.intp)
    nearest = np.full((runs, inner.n), np.inf)
    seeds: list[list[int]] = [[] for _ in range(runs)]
    for cluster in range(k):
        count = trials if cluster else 1
        # Squared distances of an indefinite matrix may be negative: their size is what a seed may change.
        chances = (
            weights * np.where(abs(nearest) > floor, abs(nearest), 0.0) if cluster else np.tile(weights, (runs, 1))
        )
        for run in range(runs):
            chances[run][seeds[run]] = 0.0
        drawn = np.stack([draw(chances[run], order, count, streams[run]) for run in range(runs)])
        columns = inner.columns(drawn.ravel()).T.reshape(runs, count, inner.n)
        for run in range(runs):
            if not chances[run].any():  # every point sits on a seed
                continue
            apart = np.maximum(diagonal + diagonal[drawn[run]][:, None] - 2 * columns[run], least)
            apart[np.arange(count), drawn[run]] = 0.0
            within = np.minimum(apart, nearest[run])
            chosen = int((within @ weights).argmin())
            labels[run][apart[chosen] < nearest[run]] = cluster
            nearest[run] = within[chosen]
            seeds[run].append(int(drawn[run][chosen]))
    for run in range(runs):
        labels[run][seeds[run]] = np.arange(len(seeds[run]))
    return list(labels)


def relaxed(inner: Inner, k: int, weights: Array, rng: np.random.Generator, order: Array | None = None) -> list[Array]:
    r"""Return a start from the k - 1 leading components, none if the matrix is not known to be positive.

    Definition
    ----------
    Without the demand that columns of A be indicators, the objective is least for the leading eigenvectors of the
    centred matrix. They are taken from a sample of columns, and the points are clustered by their scores on them. Where
    points of one cluster hang together only through others between them, this start leads to far better ends than
    seeds do.

    References
    ----------
    Zha, He, Ding, Gu, Simon, Spectral relaxation for k-means clustering, NIPS 2001.
    """
    order = np.arange(inner.n) if order is None else order
    if not inner.positive or k < 2:
        return []
    chosen, everyone = np.unique(draw(weights, order, LANDMARKS + 4 * k, rng)), np.arange(inner.n)
    values, Y = np.linalg.eigh(inner.part(chosen, chosen, np.eye(len(chosen))))
    kept = values > 1e-9 * values[-1]
    W = Y[:, kept] / np.sqrt(values[kept])
    mean, moment = np.zeros(W.shape[1]), np.zeros((W.shape[1], W.shape[1]))
    for rows in spans(inner.n, BLOCK):
        F = inner.part(everyone[rows], chosen, W)
        share = weights[rows] / weights.sum()
        mean, moment = mean + share @ F, moment + (F * share[:, None]).T @ F
        del F  # or it would be kept while the next is made
    Y = np.linalg.eigh(moment - np.outer(mean, mean))[1][:, -(k - 1) :]
    scores = Thin(inner.some(chosen, W @ Y) - mean @ Y)
    starts = seed(scores, k, RELAXED, weights, rng, order)
    return [lloyd(scores, starts, k, weights, order=order).labels]


def draw(chances: Array, order: Array, count: int, rng: np.random.Generator) -> Array:
    """Draw points with these chances, by counting through them in order."""
    sums = np.cumsum(chances[order])
    at = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    return order[np.minimum(at, len(order) - 1)]


def scatter(n: int, k: int, runs: int, rng: np.random.Generator) -> list[Array]:
    """Return random partitions into clusters of (nearly) equal number: none is empty."""
    return [rng.permutation(np.arange(n) % k) for _ in range(runs)]
