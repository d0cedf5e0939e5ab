"""Kernel k-means of rows that come in blocks: means in features of low rank, moved by passes or block by block."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from gramian.engine.tiles import spans
from gramian.estimators.kernel_rows import (
    KernelStream,
)
from gramian.kernels import Kernel
from gramian.operators.centering import moved
from gramian.operators.features import FeatureMap
from gramian.operators.similarities import FeatureMeans
from gramian.results import Array, Matrix
from gramian.solvers.lloyd_stream import KMeansStep, kmeans_step, lloyd_passes


@dataclass(frozen=True)
class Course:
    """How the rows of a stream were clustered, for the summary."""

    way: str
    route: str
    path: tuple[float, ...]
    steps: int
    work: str
    end: str
    n_negative: int = 0


@dataclass(frozen=True)
class SeenMeans:
    """Means in the features of low rank, and what they were found from: what ``partial_fit`` goes on from.

    The kernel, the features and the start come from the ``first`` of ``n`` rows, seen from ``origin``. ``means`` (k, r)
    are those of ``masses`` rows each. ``trace`` sums similarities of rows to themselves; of it the features
    keep ``kept``.
    """

    kernel: Kernel
    features: FeatureMap
    origin: Array | None
    means: Array
    masses: Array
    inertia: float
    trace: float
    kept: float
    n: int
    first: int

    @property
    def trace_error(self) -> float:
        """What the landmarks leave of the trace, as a share of it."""
        return max(0.0, self.trace - self.kept) / self.trace if self.trace > 0 else 0.0

    def feature_means(self) -> FeatureMeans:
        """The means as sums over landmarks."""
        features, squares = self.features, np.square(self.means).sum(axis=1)
        return FeatureMeans(features.kernel, features.anchors, features.lift(self.means.T), squares, self.origin)

    def look(self, blocks: Iterable[tuple[Array, ...]], means: Array) -> KMeansStep:
        """One pass over rows."""
        total: KMeansStep | None = None
        for views in blocks:
            found = kmeans_step(self.features, moved(views[0], self.origin), means)
            total = found if total is None else total + found
            del views  # or they would be kept while the next are read
        assert total is not None  # a stream without rows was refused
        return total

    def after(self, X: Matrix) -> SeenMeans:
        """Count a block for the nearest means, then move them to the mean of all rows counted for them so far."""
        found = kmeans_step(self.features, moved(X, self.origin), self.means)
        masses = self.masses + found.counts
        means = self.means + (found.sums - found.counts[:, None] * self.means) / np.maximum(masses, 1)[:, None]
        return replace(
            self,
            means=means,
            masses=masses,
            inertia=self.inertia + found.cost,
            trace=self.trace + found.trace,
            kept=self.kept + found.kept,
            n=self.n + X.shape[0],
        )


def by_passes(seen: SeenMeans, stream: KernelStream, *, tol: float, max_iter: int) -> tuple[SeenMeans, Course]:
    """Lloyd's iteration over all rows, from the clusters of the first, by one pass for each step."""
    begun = False

    def look(means: Array) -> KMeansStep:
        nonlocal begun
        blocks, begun = stream.again_blocks() if begun else stream.blocks(), True
        return seen.look(blocks, means)

    found = lloyd_passes(look, seen.means, tol=tol, max_iter=max_iter)
    last, full = found.look, found.look.counts > 0
    seen = replace(
        seen,
        means=found.means[full],
        masses=last.counts[full],
        inertia=last.objective,
        trace=last.trace,
        kept=last.kept,
        n=int(last.counts.sum()),
    )
    route = "rows are read and mapped in every pass"
    work = f"{found.passes} passes over all rows"
    return seen, Course("Lloyd", route, found.path, found.passes, work, found.end)


def by_steps(seen: SeenMeans, stream: KernelStream, size: int | None) -> tuple[SeenMeans, Course]:
    """One pass: each block, or each ``size`` rows, are counted for the nearest means and then move them."""
    blocks, steps = stream.blocks(), 1
    next(blocks)  # the first rows have been clustered
    for views in blocks:
        for rows in spans(len(views[0]), size or len(views[0])):
            seen, steps = seen.after(views[0][rows]), steps + 1
        del views  # or they would be kept while the next are read
    return seen, one_pass(seen, steps)


def one_pass(seen: SeenMeans, steps: int) -> Course:
    """What is said of rows that were seen once."""
    work = f"one pass over {seen.n:,} rows in {steps} block{'s' * (steps > 1)}"
    return Course("online", "each block moves the means", (seen.inertia,), steps, work, "all rows were seen once")
