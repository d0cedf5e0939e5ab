"""Kernel k-means: starts, and Lloyd's iteration from inner products alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gramian.config import memory_budget
from gramian.engine.tiles import spans
from gramian.operators.nearest import SIMILARITY_ROUNDING
from gramian.operators.similarities import Similarities, ThinProducts
from gramian.progress import Tracker, track
from gramian.results import Array

#: Share of changed rows up to which a product with their columns is cheaper than a whole one, which visits each pair of
#: rows once, not twice.
CHANGED_SHARE = 0.5
#: Why a run ends.
NO_ROW_MOVES, NO_GAIN = "no row is nearer to another mean", "no step lowers the objective further"
#: Sampled points from which approximate leading components are computed; rows of a block compared with them.
START_LANDMARKS, START_BLOCK_ROWS = 256, 4096
#: Starts for the clustering of the scores on those components.
SCORE_STARTS = 10


@dataclass(frozen=True)
class Partition:
    """Where a run ended.

    ``masses`` (k,): weight of each cluster; 0 if it is empty. ``products`` (k, k): inner products of the means.
    ``path``: objective of every partition on the way, falling. ``rounding``: of the objective. ``n_negative``: squared
    distances below zero, which only an indefinite matrix has. ``end``: why the run ended; empty if steps ran out.
    """

    labels: Array
    masses: Array
    products: Array
    path: tuple[float, ...]
    rounding: float
    n_negative: int
    end: str = ""

    @property
    def objective(self) -> float:
        """Sum of weighted squared distances to the means."""
        return self.path[-1]


@dataclass(frozen=True)
class Clusters:
    """What a clustering found: no cluster is empty.

    ``coefficients`` (n, k): coefficients B of the means in the points. ``squares`` (k,): squared lengths of the means.
    ``path``, ``n_negative``, ``end``: as in :class:`Partition`. ``work``: what it took, in words.
    """

    labels: Array
    coefficients: Array
    squares: Array
    path: tuple[float, ...]
    steps: int
    n_negative: int
    end: str
    work: str


@dataclass
class Run:
    """One run of Lloyd's iteration, and the sums ``F = K A`` of its indicator matrix A (weights in place of ones)."""

    inner: Similarities
    weights: Array
    k: int
    tol: float
    labels: Array
    F: Array = field(default_factory=lambda: np.empty(0))
    best: Partition | None = None
    moved: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    left: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def indicator(self) -> Array:
        """The matrix A, n x k."""
        A = np.zeros((len(self.labels), self.k))
        A[np.arange(len(self.labels)), self.labels] = self.weights
        return A

    def change(self, rows: Array) -> Array:
        """What the last step added to the rows of A."""
        D = np.zeros((len(rows), self.k))
        at = np.searchsorted(rows, self.moved)
        D[at, self.labels[self.moved]] += self.weights[self.moved]
        D[at, self.left] -= self.weights[self.moved]
        return D

    def step(self, diagonal: Array) -> bool:
        """Evaluate the present partition, then move every point to its nearest mean; False when the run has ended."""
        everyone, w, own = np.arange(len(self.labels)), self.weights, np.abs(diagonal)
        masses = np.bincount(self.labels, w, self.k)
        divisor = np.where(masses > 0, masses, 1.0)
        between = np.stack([np.bincount(self.labels, w * column, self.k) for column in self.F.T], axis=1)
        products = between / divisor / divisor[:, None]
        sizes = np.bincount(self.labels, w * own, self.k) / divisor
        scores = np.where(masses > 0, products.diagonal() - 2 * self.F / divisor, np.inf)
        # A point alone in its cluster has distance 0: the rounding of a far one would exceed the other distances.
        counts = np.where(np.bincount(self.labels[w > 0], minlength=self.k)[self.labels] > 1, w, 0.0)
        distances = np.where(counts > 0, diagonal + scores[everyone, self.labels], 0.0)
        objective = float(counts @ (np.maximum(distances, 0.0) if self.inner.positive else distances))
        rounding = SIMILARITY_ROUNDING * float(counts @ (own + sizes[self.labels]))
        # A partition that is no better, or has fewer clusters, is not taken: ties and indefinite matrices would cycle.
        if self.best and (
            not objective < self.best.objective - self.tol * abs(self.best.objective)
            or np.count_nonzero(masses) < np.count_nonzero(self.best.masses)
        ):
            self.best = replace(self.best, end=NO_GAIN)
            return False
        negative = 0
        if not self.inner.positive:
            negative = int((diagonal[:, None] + scores < -SIMILARITY_ROUNDING * (own[:, None] + sizes)).sum())
        labels = twins(products, masses, sizes)[self._nearest(scores, own, sizes)]
        distances = np.maximum(diagonal + scores[everyone, labels], 0)
        labels = self._fill(labels, distances, SIMILARITY_ROUNDING * (own + sizes[labels]))
        # Points without weight move no mean: they take the nearest one now.
        self.labels = np.where(w > 0, self.labels, labels)
        self.moved = np.flatnonzero(labels != self.labels)
        self.left = self.labels[self.moved]
        path = (*(self.best.path if self.best else ()), objective)
        end = "" if len(self.moved) else NO_ROW_MOVES
        self.best = Partition(self.labels, masses, products, path, rounding, negative, end)
        self.labels = labels
        return bool(len(self.moved))

    def _nearest(self, scores: Array, own: Array, sizes: Array) -> Array:
        """Nearest mean of every point; the present one unless another is nearer by more than rounding."""
        everyone, nearest = np.arange(len(scores)), scores.argmin(axis=1)
        rounding = SIMILARITY_ROUNDING * (own + np.maximum(sizes[nearest], sizes[self.labels]))
        return np.where(scores[everyone, nearest] < scores[everyone, self.labels] - rounding, nearest, self.labels)

    def _fill(self, labels: Array, distances: Array, rounding: Array) -> Array:
        """Give each empty cluster the point of largest weighted distance; the objective falls by that much."""
        cost = self.weights * distances
        for cluster in np.flatnonzero(np.bincount(labels, self.weights, self.k) == 0):
            members = np.bincount(labels[self.weights > 0], minlength=self.k)
            loss = np.where((members[labels] > 1) & (distances > rounding), cost, 0.0)
            farthest = int(loss.argmax())
            if loss[farthest] > 0:  # otherwise all points equal their means: fewer distinct points than clusters
                labels[farthest], distances[farthest], cost[farthest] = cluster, 0.0, 0.0
        return labels


def lloyd(
    inner: Similarities,
    starts: list[Array],
    k: int,
    weights: Array,
    *,
    order: Array | None = None,
    tol: float = 0.0,
    max_iter: int = 300,
) -> Clusters:
    r"""Run Lloyd's iteration from several partitions, together, and return the best end.

    With the indicator :math:`a_k` of cluster k and its weight :math:`n_k`, point i goes to
    :math:`\arg\min_k n_k^{-2} a_k'Ka_k - 2 n_k^{-1} K_i'a_k` until no point moves. For a positive matrix the objective
    falls at every step. Clusters keep their numbers, or are numbered by their first point in a given ``order``.

    One product with k columns for each run, and then, as fewer and fewer points move, products with the columns of
    those alone. All runs share the products, as many as the memory budget allows.
    """
    diagonal = np.asarray(inner.diagonal(), dtype=np.float64)
    together = max(1, memory_budget() // (64 * inner.n * k))
    ends: list[Partition] = []
    whole, parts = 0, 0.0
    with track("clusters", expected=4.0) as tracker:
        for at in range(0, len(starts), together):
            runs = [Run(inner, weights, k, tol, labels.copy()) for labels in starts[at : at + together]]
            counts = _descend(inner, runs, diagonal, max_iter, tracker)
            whole, parts = whole + counts[0], parts + counts[1]
            ends += [run.best for run in runs if run.best is not None]
    # The first of those within rounding of the lowest, so that rounding does not choose.
    lowest = min(end.objective for end in ends)
    best = next(end for end in ends if end.objective <= lowest + end.rounding)
    work = f"{len(starts)} start{'s' * (len(starts) > 1)}, {whole} product{'s' * (whole > 1)} with all rows"
    work += f" and {parts:.2g} in parts" if parts else ""
    return _finish(best, weights, np.abs(diagonal), order, max_iter, work)


def _finish(end: Partition, weights: Array, own: Array, order: Array | None, max_iter: int, work: str) -> Clusters:
    """Number the clusters that are not empty: as they come, or by their first point in the given order."""
    sizes = np.bincount(end.labels, weights * own, len(end.masses)) / np.where(end.masses > 0, end.masses, 1.0)
    labels, n = twins(end.products, end.masses, sizes)[end.labels], len(end.labels)
    seen = np.flatnonzero(weights) if order is None else order[weights[order] > 0]
    met, first = np.unique(labels[seen], return_index=True)
    kept = met if order is None else met[np.argsort(first)]
    number = np.zeros(len(end.masses), dtype=np.intp)
    number[kept] = np.arange(len(kept))
    labels = number[labels]
    B = np.zeros((n, len(kept)))
    B[np.arange(n), labels] = weights / np.bincount(labels, weights, len(kept))[labels]
    steps = max(1, min(len(end.path), max_iter))
    return Clusters(labels, B, end.products.diagonal()[kept], end.path, steps, end.n_negative, end.end, work)


def _descend(
    inner: Similarities, runs: list[Run], diagonal: Array, max_iter: int, tracker: Tracker
) -> tuple[int, float]:
    active, whole, parts = runs, 0, 0.0
    for turn in range(max_iter + 1):
        if not active:
            break
        rows = np.unique(np.concatenate([run.moved for run in active])) if turn else np.empty(0, dtype=np.intp)
        if turn and len(rows) <= CHANGED_SHARE * inner.n:
            product = inner.some(rows, np.hstack([run.change(rows) for run in active]))
            parts += len(rows) / inner.n
        else:
            product = inner @ np.hstack([run.indicator() for run in active])
            whole += 1
            for run in active:
                run.F = np.zeros((inner.n, run.k))
        for place, run in enumerate(active):
            run.F += product[:, place * run.k : (place + 1) * run.k]
        active = [run for run in active if run.step(diagonal)]
        tracker.advance(tracker.done + 1 + 4 * bool(active))
    return whole, parts


def shares(weights: Array) -> tuple[Array, float]:
    """Return weights that sum to 1 or a little more, and the unit they are in.

    The unit is a power of two, so that it changes no digit; sums of products then neither overflow nor vanish.
    """
    unit = float(2.0 ** np.floor(np.log2(weights.sum())))
    return weights / unit, unit


def twins(products: Array, masses: Array, sizes: Array) -> Array:
    """For each cluster the first one with the same mean, usually itself, from inner products of the means.

    ``sizes`` are the mean similarities of the points of each cluster to themselves, the unit of rounding.
    """
    squares = products.diagonal()
    apart = squares[:, None] + squares - 2 * products
    return ((np.abs(apart) <= SIMILARITY_ROUNDING * (sizes[:, None] + sizes)) & (masses > 0)).argmax(axis=1)


def seed(
    inner: Similarities, k: int, runs: int, weights: Array, rng: np.random.Generator, order: Array | None = None
) -> list[Array]:
    """Return starts by k-means++: each seed is drawn with probability proportional to its squared distance.

    ``order`` (n,): order of the points in which draws count through them; with one that depends on the points alone,
    starts do not depend on the order in which they came. The best of ``2 + log k`` candidates becomes a seed (Arthur,
    Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007).
    """
    order = np.arange(inner.n) if order is None else order
    diagonal = np.asarray(inner.diagonal(), dtype=np.float64)
    # Each start has its own random stream, so that it does not depend on how many starts run together.
    streams, trials = rng.spawn(runs), 2 + int(np.log(k))
    together = max(1, memory_budget() // (64 * inner.n * trials))
    starts: list[Array] = []
    for at in range(0, runs, together):
        starts += _seeded(inner, diagonal, k, weights, streams[at : at + together], order, trials)
    return starts


def _seeded(
    inner: Similarities,
    diagonal: Array,
    k: int,
    weights: Array,
    streams: list[np.random.Generator],
    order: Array,
    trials: int,
) -> list[Array]:
    # A point equal to a seed has the seed's length: twice its own similarity is the unit of rounding.
    runs, floor, least = len(streams), 2 * SIMILARITY_ROUNDING * np.abs(diagonal), 0.0 if inner.positive else -np.inf
    labels = np.zeros((runs, inner.n), dtype=np.intp)
    nearest = np.full((runs, inner.n), np.inf)
    seeds: list[list[int]] = [[] for _ in range(runs)]
    for cluster in range(k):
        count = trials if cluster else 1
        # Squared distances of an indefinite matrix may be negative: magnitudes are the chances.
        chances = (
            weights * np.where(abs(nearest) > floor, abs(nearest), 0.0) if cluster else np.tile(weights, (runs, 1))
        )
        for run in range(runs):
            chances[run][seeds[run]] = 0.0
        drawn = np.stack([draw(chances[run], order, count, streams[run]) for run in range(runs)])
        columns = inner.columns(drawn.ravel()).T.reshape(runs, count, inner.n)
        for run in range(runs):
            if not chances[run].any():  # every point equals a seed
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


def relaxed(
    inner: Similarities, k: int, weights: Array, rng: np.random.Generator, order: Array | None = None
) -> list[Array]:
    """Return a start from the k - 1 leading components, none if the matrix is not known to be positive.

    If the columns of A need not be indicators, the leading eigenvectors of the centred matrix minimise the objective
    (Zha, He, Ding, Gu, Simon, Spectral relaxation for k-means clustering, NIPS 2001). They are taken from a sample of
    columns, and the points are clustered by their scores on them. For clusters that are connected only through points
    in between, this start ends at a much lower objective than seeds do.
    """
    order = np.arange(inner.n) if order is None else order
    if not inner.positive or k < 2:
        return []
    chosen, everyone = np.unique(draw(weights, order, START_LANDMARKS + 4 * k, rng)), np.arange(inner.n)
    values, Y = np.linalg.eigh(inner.part(chosen, chosen, np.eye(len(chosen))))
    kept = values > 1e-9 * values[-1]
    W = Y[:, kept] / np.sqrt(values[kept])
    mean, moment = np.zeros(W.shape[1]), np.zeros((W.shape[1], W.shape[1]))
    for rows in spans(inner.n, START_BLOCK_ROWS):
        F = inner.part(everyone[rows], chosen, W)
        share = weights[rows] / weights.sum()
        mean, moment = mean + share @ F, moment + (F * share[:, None]).T @ F
        del F  # else two blocks are held at once
    Y = np.linalg.eigh(moment - np.outer(mean, mean))[1][:, -(k - 1) :]
    scores = ThinProducts(inner.some(chosen, W @ Y) - mean @ Y)
    starts = seed(scores, k, SCORE_STARTS, weights, rng, order)
    return [lloyd(scores, starts, k, weights, order=order).labels]


def draw(chances: Array, order: Array, count: int, rng: np.random.Generator) -> Array:
    """Draw points with these chances, by counting through them in order."""
    sums = np.cumsum(chances[order])
    at = np.searchsorted(sums, rng.random(count) * sums[-1], side="right")
    return order[np.minimum(at, len(order) - 1)]


def scatter(n: int, k: int, runs: int, rng: np.random.Generator) -> list[Array]:
    """Return random partitions into clusters of (nearly) equal number: none is empty."""
    return [rng.permutation(np.arange(n) % k) for _ in range(runs)]
