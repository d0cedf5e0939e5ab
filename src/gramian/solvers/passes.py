"""Lloyd's iteration by passes over points that are never all there at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from gramian.operators.nearest import ROUNDING
from gramian.results import Array
from gramian.solvers.clustering import FIXED, NO_GAIN


class Look(Protocol):
    """What one pass finds of the points and their nearest means."""

    @property
    def counts(self) -> Array: ...
    @property
    def sums(self) -> Array: ...
    @property
    def trace(self) -> float: ...
    @property
    def far(self) -> float: ...
    @property
    def farthest(self) -> Array: ...
    @property
    def means(self) -> Array: ...
    @property
    def objective(self) -> float: ...


Found = TypeVar("Found", bound=Look)


class Passed(NamedTuple, Generic[Found]):
    """Where the passes ended: means, the last look at the points, the objective on the way, and why they ended."""

    means: Array
    look: Found
    path: tuple[float, ...]
    passes: int
    end: str


def lloyd_passes(
    look: Callable[[Array], Found], means: Array, *, tol: float = 0.0, max_iter: int = 300
) -> Passed[Found]:
    """Move means to the means of the points that are nearest to them, until no point moves.

    No label is kept: that no point moved is seen by the counts and, to rounding, the sums of all clusters. Every step
    lowers the objective. A mean that no point is nearest to is moved onto the point that is farthest from its own, one
    such mean in each pass.

    Parameters
    ----------
    look : callable
        Of means (k, r), what one pass finds.
    means : (k, r) array
        To start from.
    tol : float
        Relative gain of the objective at which to stop.
    max_iter : int
        Passes at the most.
    """
    best, end, steps = look(means), "", 1
    path = [best.objective]
    while not end and steps < max_iter:
        new = _moved(best, means)
        found, steps = look(new), steps + 1
        if _same(found, best):
            end = FIXED
        elif not found.objective < path[-1] - max(tol * path[-1], ROUNDING * best.trace):
            end = NO_GAIN
        else:
            means, best = new, found
            path.append(found.objective)
    return Passed(best.means, best, tuple(path), steps, end)


def _same(one: Look, other: Look) -> bool:
    """Whether two looks saw the same points in the same clusters."""
    if not np.array_equal(one.counts, other.counts):
        return False
    rounding = ROUNDING * one.counts * np.sqrt(one.trace / max(one.counts.sum(), 1.0))
    return bool((np.abs(one.sums - other.sums) <= rounding[:, None]).all())


def _moved(look: Look, means: Array) -> Array:
    """Means of the clusters; of those without points the first goes to the farthest point, others stay."""
    empty = look.counts == 0
    new = np.where(empty[:, None], means, look.means)
    if empty.any() and look.far > ROUNDING * look.trace / max(look.counts.sum(), 1.0):
        new[int(empty.argmax())] = look.farthest
    return new
