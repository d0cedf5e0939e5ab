"""K-means over rows that are read in blocks: passes of Lloyd's iteration, or one mini-batch step for each block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gramian.operators.features import FeatureMap, MapBuffers
from gramian.operators.nearest import SIMILARITY_ROUNDING
from gramian.operators.similarities import Similarities
from gramian.progress import track
from gramian.results import Array, Matrix
from gramian.solvers.clustering import NO_GAIN, NO_ROW_MOVES, Clusters, draw, lloyd, relaxed, seed, shares

#: Batches in the sample that gives the start.
START_BATCHES = 4
#: Steps without a better average before the search ends; how much of the average one step is.
BATCHES_WITHOUT_GAIN, BATCH_SMOOTHING = 10, 0.2


@dataclass(frozen=True)
class KMeansStep:
    r"""Sums over rows, each counted for the mean it is nearest to; tallies add.

    ``counts`` (k,): rows nearest to each mean. ``sums`` (k, r): sums of their features. ``trace``, ``kept``:
    :math:`\sum_i k(x_i, x_i)`, and what the features keep of it. ``cost``: sum of squared distances to the nearest
    means. ``far``, ``farthest``: squared distance and features of the row that is farthest from its nearest mean.
    """

    counts: Array
    sums: Array
    trace: float
    kept: float
    cost: float
    far: float
    farthest: Array

    def __add__(self, other: KMeansStep) -> KMeansStep:
        farther = other if other.far > self.far else self
        sums = {
            name: getattr(self, name) + getattr(other, name) for name in ("counts", "sums", "trace", "kept", "cost")
        }
        return KMeansStep(**sums, far=farther.far, farthest=farther.farthest)

    @property
    def means(self) -> Array:
        """Means of the rows of each cluster; zero where there are none."""
        return self.sums / np.maximum(self.counts, 1)[:, None]

    @property
    def objective(self) -> float:
        """Sum of squared distances of the rows to the means of their own clusters."""
        return max(0.0, self.trace - float(self.counts @ np.square(self.means).sum(axis=1)))


def kmeans_step(features: FeatureMap, X: Matrix, means: Array) -> KMeansStep:
    """Count rows for their nearest means (k, r); of equally near ones for the first."""
    k, halves = len(means), np.square(means).sum(axis=1) / 2
    kernel, numbers = features.kernel, np.arange(len(means))[:, None]

    def step(rows: slice, buffer: MapBuffers) -> None:
        F = buffer.mapped(X[rows])
        own = np.asarray(kernel.diagonal(X[rows]), dtype=np.float64)
        near = F @ means.T - halves
        largest = near.max(axis=1, keepdims=True)
        labels = (near >= largest - SIMILARITY_ROUNDING * (np.abs(near) + 2 * halves)).argmax(axis=1)
        squares = np.maximum(own - 2 * largest[:, 0], 0.0)
        at = int(squares.argmax())
        part = KMeansStep(
            np.bincount(labels, minlength=k).astype(np.float64),
            (labels == numbers).astype(np.float64) @ F,
            float(own.sum()),
            float(np.einsum("ij,ij->", F, F)),
            float(squares.sum()),
            float(squares[at]),
            F[at].copy(),
        )
        buffer.found = part if buffer.found is None else buffer.found + part

    first, *rest = features.visit(X, step, report=False)
    return sum(rest, start=first)


class Passed(NamedTuple):
    """Means, the last pass, the objective after each pass, the number of passes, and why they ended."""

    means: Array
    look: KMeansStep
    path: tuple[float, ...]
    passes: int
    end: str


def lloyd_passes(look: Callable[[Array], KMeansStep], means: Array, *, tol: float = 0.0, max_iter: int = 300) -> Passed:
    """Move means to the means of the points that are nearest to them, until no point moves.

    No label is kept: no point moved if the counts and, to rounding, the sums of all clusters are the same. Every step
    lowers the objective. One empty cluster in each pass restarts at the point farthest from its own mean.

    ``look``: maps means (k, r) to the result of one pass. ``tol``: relative gain of the objective at which to stop.
    """
    best, end, steps = look(means), "", 1
    path = [best.objective]
    while not end and steps < max_iter:
        new = _moved(best, means)
        found, steps = look(new), steps + 1
        if _same(found, best):
            end = NO_ROW_MOVES
        elif not found.objective < path[-1] - max(tol * path[-1], SIMILARITY_ROUNDING * best.trace):
            end = NO_GAIN
        else:
            means, best = new, found
            path.append(found.objective)
    return Passed(best.means, best, tuple(path), steps, end)


def _same(one: KMeansStep, other: KMeansStep) -> bool:
    """Whether two passes had the same points in the same clusters."""
    if not np.array_equal(one.counts, other.counts):
        return False
    rounding = SIMILARITY_ROUNDING * one.counts * np.sqrt(one.trace / max(one.counts.sum(), 1.0))
    return bool((np.abs(one.sums - other.sums) <= rounding[:, None]).all())


def _moved(look: KMeansStep, means: Array) -> Array:
    """Means of the clusters; the first empty one goes to the farthest point, other empty ones stay."""
    empty = look.counts == 0
    new = np.where(empty[:, None], means, look.means)
    if empty.any() and look.far > SIMILARITY_ROUNDING * look.trace / max(look.counts.sum(), 1.0):
        new[int(empty.argmax())] = look.farthest
    return new


def batches(
    inner: Similarities,
    k: int,
    runs: int,
    weights: Array,
    rng: np.random.Generator,
    order: Array,
    *,
    size: int,
    max_iter: int,
) -> Clusters:
    r"""Find clusters from batches drawn with replacement in proportion to the weights.

    Each batch is assigned to the present means; a mean then moves to the mean of all points assigned to it so far,
    :math:`m_k \leftarrow (1 - a) m_k + a \bar\phi_k` with a = assigned now / assigned so far. Lengths follow from those
    before and from inner products within the batch and with the mean. The start is the best of several runs of Lloyd's
    iteration on a sample of four batches. Step t needs ``t size^2`` inner products; a last pass, of all points with
    those drawn, labels them (Sculley, Web-scale k-means clustering, WWW 2010).
    """
    rank = np.argsort(order)
    places, counts = np.unique(rank[draw(weights, order, START_BATCHES * size, rng)], return_counts=True)
    sample = order[places]
    B, squares, masses = _start(inner, sample, counts.astype(np.float64), k, runs, rng)
    diagonal = np.asarray(inner.diagonal(), dtype=np.float64)
    average, lowest, since, steps, used = np.inf, np.inf, 0, 0, sample
    with track("clusters", expected=max_iter) as tracker:
        while steps < max_iter and since < BATCHES_WITHOUT_GAIN:
            batch = draw(weights, order, size, rng)
            scores = squares - 2 * inner.part(batch, used, B[used])
            labels = scores.argmin(axis=1)
            cost = float((diagonal[batch] + scores[np.arange(size), labels]).mean())
            average = cost if steps == 0 else (1 - BATCH_SMOOTHING) * average + BATCH_SMOOTHING * cost
            lowest, since = (average, 0) if average < lowest else (lowest, since + 1)
            squares, masses = _move(inner, B, squares, masses, batch, labels, scores)
            used, steps = np.union1d(used, batch), steps + 1
            tracker.advance(max_iter)
        d2 = diagonal[:, None] + squares - 2 * inner.some(used, B[used])
    labels = _fill(inner, B, squares, d2, weights, diagonal)
    kept = np.bincount(labels, weights, len(squares)) > 0
    labels = d2[:, kept].argmin(axis=1)
    inertia = float(weights @ d2[:, kept][np.arange(inner.n), labels])
    negative = 0 if inner.positive else int((d2[:, kept] < -SIMILARITY_ROUNDING * np.abs(diagonal).max()).sum())
    work = f"{steps} batches of {size:,} rows, {len(used):,} different rows in all"
    end = "the batches gained nothing more" if since >= BATCHES_WITHOUT_GAIN else ""
    return Clusters(labels, B[:, kept], squares[kept], (inertia,), steps, negative, end, work)


def _start(
    inner: Similarities, sample: Array, counts: Array, k: int, runs: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Means (coefficients, squared lengths, masses) of the best of several runs on a sample."""
    part, (weights, _) = inner.among(sample), shares(counts)
    starts = seed(part, k, runs, weights, rng) + (relaxed(part, k, weights, rng) if runs > 1 else [])
    best = lloyd(part, starts, k, weights, order=np.arange(len(sample)))
    B = np.zeros((inner.n, len(best.squares)))
    B[sample] = best.coefficients
    return B, best.squares, np.bincount(best.labels, counts)


def _fill(inner: Similarities, B: Array, squares: Array, d2: Array, weights: Array, diagonal: Array) -> Array:
    """Move the mean of each empty cluster to the point of largest cost, in place; return the labels."""
    labels = d2.argmin(axis=1)
    for cluster in range(len(squares)):
        if np.bincount(labels, weights, len(squares))[cluster] > 0:
            continue
        farthest = int((weights * d2.min(axis=1)).argmax())
        B[:, cluster], B[farthest, cluster], squares[cluster] = 0.0, 1.0, diagonal[farthest]
        d2[:, cluster] = diagonal + diagonal[farthest] - 2 * inner.columns(np.array([farthest]))[:, 0]
        labels = d2.argmin(axis=1)
    return labels


def _move(
    inner: Similarities, B: Array, squares: Array, masses: Array, batch: Array, labels: Array, scores: Array
) -> tuple[Array, Array]:
    """Move the means, changing B in place; return their squared lengths and masses."""
    k, everyone = len(masses), np.arange(len(batch))
    counts = np.bincount(labels, minlength=k)
    A = np.zeros((len(batch), k))
    A[everyone, labels] = 1 / np.maximum(counts, 1)[labels]
    within = np.einsum("ij,ij->j", A, inner.part(batch, batch, A))
    between = np.bincount(labels, (squares[labels] - scores[everyone, labels]) / 2, k) / np.maximum(counts, 1)
    masses = masses + counts
    a = counts / masses
    B *= 1 - a
    np.add.at(B, batch, a * A)
    return (1 - a) ** 2 * squares + 2 * a * (1 - a) * between + a**2 * within, masses
