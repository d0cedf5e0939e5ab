"""Points in the plane, for ten rows and for a million: where they crowd, counts in cells take their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gramian.charts.colouring import Colouring
from gramian.charts.notes import note
from gramian.charts.palette import rgb
from gramian.estimators.diagnostics import t2_limit
from gramian.results import Array, Sentence

#: Points from which on a picture shows a density.
MANY = 20_000
#: Points that a picture in space, or a picture of those outside the cells, shows at the most.
SOME = 3_000
#: Cells along an axis; share of the rows at either end that may lie outside them.
CELLS, OUTSIDE = 160, 5e-4
#: Rows of a group from which on it has an ellipse: those of fewer are so uncertain that they say nothing.
LEAST = 8


@dataclass(frozen=True)
class Density:
    """Rows counted in cells.

    Attributes
    ----------
    x, y : (a + 1,), (b + 1,) arrays
        Edges of the cells.
    counts : (g, b, a) array
        Rows of each group in each cell; g = 1 without groups.
    means : (b, a) array or None
        Mean of the numbers by which rows are coloured, NaN in empty cells.

    Examples
    --------
    >>> from gramian import charts
    >>> points = np.random.default_rng(0).standard_normal((50_000, 2))
    >>> charts.from_scores(points).points.density.counts.shape
    (1, 160, 160)
    """

    x: Array
    y: Array
    counts: Array
    means: Array | None = None


@dataclass(frozen=True)
class Points:
    """Points to draw one by one, and a density of the others if they are many.

    Attributes
    ----------
    at : (m, 2) or (m, 3) array
        Points drawn one by one: all of them, or those outside the cells.
    rows : (m,) array of int
        Which rows they are.
    colouring : Colouring
        Of these points.
    density : Density or None
    total : int
        Number of rows that the picture stands for.

    Examples
    --------
    >>> from gramian import charts
    >>> charts.from_scores(np.zeros((10, 2))).points.total
    10
    """

    at: Array
    rows: Array
    colouring: Colouring
    density: Density | None
    total: int

    @property
    def note(self) -> Sentence | None:
        """What a reader should be told if not every row is a point."""
        if self.total == len(self.at):
            return None
        if self.density is None:
            return note("drawn", shown=len(self.at), total=self.total)
        return note("counted", total=self.total)


@dataclass(frozen=True)
class Ellipse:
    """Where a new row of a group falls with a given probability, if it is normal.

    Attributes
    ----------
    centre : (2,) array
    outline : (m, 2) array
        A closed line.
    level : float
        Probability.
    group : int or None
        Number of the group; None for all rows.

    Examples
    --------
    >>> from gramian import charts
    >>> points = np.random.default_rng(0).standard_normal((100, 2))
    >>> charts.from_scores(points, ellipses=0.5).ellipses[0].level
    0.5
    """

    centre: Array
    outline: Array
    level: float
    group: int | None


def thin(points: Array, colours: Colouring, many: int = MANY) -> Points:
    """Keep points that can be told apart, and count the others in cells.

    Points in the plane go to 160 x 160 cells if they are more than ``many``; those far outside stay points. Of points
    in space a sample of 3,000 is kept, the same at every call.
    """
    n = len(points)
    if n <= many:
        return Points(points, np.arange(n), colours, None, n)
    if points.shape[1] == 3:
        rows = _some(np.arange(n))
        return Points(points[rows], rows, colours.of(rows), None, n)
    x, y = (_edges(points[:, axis]) for axis in (0, 1))
    inside = (points[:, 0] >= x[0]) & (points[:, 0] <= x[-1]) & (points[:, 1] >= y[0]) & (points[:, 1] <= y[-1])
    rows = _some(np.flatnonzero(~inside))
    return Points(points[rows], rows, colours.of(rows), _count(points, colours, x, y), n)


def _count(points: Array, colours: Colouring, x: Array, y: Array) -> Density:
    def cells(rows: Array, weights: Array | None = None) -> Array:
        return np.histogram2d(points[rows, 0], points[rows, 1], bins=[x, y], weights=weights)[0].T

    codes = np.zeros(len(points), dtype=int) if colours.codes is None else colours.codes
    counts = np.array([cells(codes == group) for group in range(max(len(colours.groups), 1))])
    if colours.values is None:
        return Density(x, y, counts)
    known = np.isfinite(colours.values)
    held, sums = cells(known), cells(known, colours.values[known])
    return Density(x, y, counts, np.divide(sums, held, out=np.full_like(sums, np.nan), where=held > 0))


def _edges(values: Array) -> Array:
    """Edges of cells over all but the few rows far outside."""
    low, high = np.quantile(values, [OUTSIDE, 1 - OUTSIDE])
    reach = 0.25 * (high - low)
    low, high = max(values.min(), low - reach), min(values.max(), high + reach)
    return np.linspace(low, high, CELLS + 1) if high > low else np.linspace(low - 0.5, low + 0.5, CELLS + 1)


def _some(rows: Array) -> Array:
    if len(rows) <= SOME:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, SOME, replace=False))


def blend(density: Density, colours: Sequence[str]) -> Array:
    """Red, green, blue and opacity (b, a, 4) of cells: groups by their numbers, opacity by the logarithm of the count.

    >>> density = Density(np.arange(3.0), np.arange(2.0), np.array([[[1, 0]], [[0, 0]]]))
    >>> blend(density, ["#ff0000", "#0000ff"])[0]
    array([[1., 0., 0., 1.],
           [0., 0., 0., 0.]])
    """
    total = density.counts.sum(axis=0)
    parts = density.counts / np.where(total > 0, total, 1)
    shades = np.array([rgb(text) for text in colours])
    opacity = np.where(total > 0, 0.2 + 0.8 * np.log1p(total) / np.log1p(max(total.max(), 1)), 0.0)
    return np.concatenate([np.einsum("gba,gc->bac", parts, shades), opacity[..., None]], axis=2)


def ellipses(points: Array, colours: Colouring, level: float) -> tuple[Ellipse, ...]:
    """Ellipses of all groups, or of all rows if there are no groups; groups of fewer than eight rows have none."""
    if not 0 < level < 1:
        raise ValueError(f"ellipses={level!r} must be a probability between 0 and 1, or None.")
    codes = np.zeros(len(points), dtype=int) if colours.codes is None else colours.codes
    found = []
    for group in range(max(len(colours.groups), 1)):
        members = points[codes == group]
        if len(members) >= LEAST and np.linalg.matrix_rank(members - members.mean(axis=0)) == 2:
            found.append(_ellipse(members, level, group if colours.groups else None))
    return tuple(found)


def _ellipse(points: Array, level: float, group: int | None) -> Ellipse:
    centre, n = points.mean(axis=0), len(points)
    turn = np.linspace(0, 2 * np.pi, 73)
    radius = np.sqrt(t2_limit(n, 2, 1 - level))
    root = np.linalg.cholesky(np.cov(points.T))
    return Ellipse(centre, centre + radius * np.column_stack([np.cos(turn), np.sin(turn)]) @ root.T, level, group)
