"""Rows as points: their colours, the density of many, ellipses and differences of groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike

from gramian.charts.base import note
from gramian.charts.palette import rgb
from gramian.estimators.diagnostics import t2_limit
from gramian.estimators.labels import MAX_GROUPS
from gramian.results import Array, Sentence

__all__ = ["Colouring", "Density", "Ellipse", "Points", "colouring"]

#: Whole numbers of so many values at the most are groups; more are a scale.
GROUPS_MAX_WHOLE_NUMBERS = 12


@dataclass(frozen=True)
class Colouring:
    """What rows are coloured by."""

    name: str = ""  #: Name of the column; empty if it has none
    groups: tuple[str, ...] = ()  #: Names of the groups; empty if rows are not in groups
    codes: Array | None = None  #: (n,): group of each row
    values: Array | None = None  #: (n,): number of each row, on a scale; NaN where it is missing

    def of(self, rows: ArrayLike) -> Colouring:
        """The same for some of the rows."""
        pick = lambda part: None if part is None else part[rows]  # noqa: E731
        return Colouring(self.name, self.groups, pick(self.codes), pick(self.values))


def colouring(column: ArrayLike | None, n: int, name: str = "") -> Colouring:
    """Decide whether a column holds groups or numbers.

    Parameters
    ----------
    column : (n,) array, Series or None
        Text, booleans, and whole numbers of at most 12 values are groups; other numbers are a scale. Text of more than
        30 values names rows and gives no colours.
    n : int
        Number of rows.
    name : str
        Name of the column; that of a Series if not given.

    Examples
    --------
    >>> colouring(["b", "a", "b"], 3).groups
    ('a', 'b')
    >>> colouring([0.5, 0.25, 1.5], 3).values
    array([0.5 , 0.25, 1.5 ])
    """
    if column is None:
        return Colouring()
    name = name or str(getattr(column, "name", None) or "")
    values = np.asarray(column)
    if values.shape != (n,):
        raise ValueError(f"colour has shape {values.shape}; one value for each of the {n} rows is expected.")
    number = values.dtype.kind in "iuf"
    kinds, codes = np.unique(values if number else values.astype(str), return_inverse=True)
    # NaN and infinity are no whole numbers: infinity modulo 1 is NaN.
    with np.errstate(invalid="ignore"):
        if number and ((kinds % 1 != 0).any() or len(kinds) > GROUPS_MAX_WHOLE_NUMBERS):
            return Colouring(name, values=values.astype(np.float64))
    texts = tuple(f"{kind:g}" if number else str(kind) for kind in kinds)
    return Colouring(name, texts, codes.reshape(-1)) if len(texts) <= MAX_GROUPS else Colouring()


#: Points from which on a picture shows a density.
POINTS_MAX_ROWS = 20_000
#: Points that a picture in space, or a picture of those outside the cells, shows at the most.
SINGLE_POINTS_MAX = 3_000
#: Cells along an axis; share of the rows at either end that may lie outside them.
DENSITY_CELLS, OUTSIDE_SHARE = 160, 5e-4
#: Rows of a group from which on it has an ellipse: those of fewer are so uncertain that they say nothing.
ELLIPSE_MIN_ROWS = 8
#: Pictures so much wider than high, or higher than wide, do not keep one scale for both axes.
EQUAL_SCALE_MAX_RATIO = 4


@dataclass(frozen=True)
class Density:
    """Rows counted in cells.

    Examples
    --------
    >>> from gramian import charts
    >>> points = np.random.default_rng(0).standard_normal((50_000, 2))
    >>> charts.from_scores(points).points.density.counts.shape
    (1, 160, 160)
    """

    x: Array  #: (a + 1,): edges of the cells
    y: Array  #: (b + 1,): edges of the cells
    counts: Array  #: (g, b, a): rows of each group in each cell; g = 1 without groups
    means: Array | None = None  #: (b, a): mean of the numbers by which rows are coloured, NaN in empty cells


@dataclass(frozen=True)
class Points:
    """Points to draw one by one, and a density of the others if they are many.

    Examples
    --------
    >>> from gramian import charts
    >>> charts.from_scores(np.zeros((10, 2))).points.total
    10
    """

    at: Array  #: (m, 2) or (m, 3): points drawn one by one: all of them, or those outside the cells
    rows: Array  #: (m,): which rows they are
    colouring: Colouring  #: Of these points
    density: Density | None
    total: int  #: Number of rows that the picture stands for

    @property
    def corners(self) -> Array:
        """(m, 2): what spans the picture: the points, or two corners of the cells."""
        cells = self.density
        return self.at[:, :2] if cells is None else np.column_stack([cells.x[[0, -1]], cells.y[[0, -1]]])

    @property
    def note(self) -> Sentence | None:
        """What a reader should be told if not every row is a point."""
        if self.total == len(self.at):
            return None
        if self.density is None:
            return note("drawn", shown=len(self.at), total=self.total)
        return note("counted", total=self.total)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        """The same for the notes of a chart."""
        return () if self.note is None else (self.note,)


@dataclass(frozen=True)
class Ellipse:
    """Where a new row of a group falls with a given probability, if it is normal.

    Examples
    --------
    >>> from gramian import charts
    >>> points = np.random.default_rng(0).standard_normal((100, 2))
    >>> charts.from_scores(points, ellipses=0.5).ellipses[0].level
    0.5
    """

    centre: Array  #: (2,)
    outline: Array  #: (m, 2): a closed line
    level: float  #: Probability
    group: int | None  #: Number of the group; None for all rows


def thin(points: Array, colours: Colouring, many: int = POINTS_MAX_ROWS) -> Points:
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
    low, high = np.quantile(values, [OUTSIDE_SHARE, 1 - OUTSIDE_SHARE])
    reach = 0.25 * (high - low)
    low, high = max(values.min(), low - reach), min(values.max(), high + reach)
    if not high > low:
        low, high = low - 0.5, low + 0.5
    return np.linspace(low, high, DENSITY_CELLS + 1)


def _some(rows: Array) -> Array:
    if len(rows) <= SINGLE_POINTS_MAX:
        return rows
    return np.sort(np.random.default_rng(0).choice(rows, SINGLE_POINTS_MAX, replace=False))


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
    turn = np.linspace(0, 2 * np.pi, 73)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    found = []
    for group in range(max(len(colours.groups), 1)):
        members = points[codes == group]
        centre = members.mean(axis=0) if len(members) else np.zeros(2)
        if len(members) >= ELLIPSE_MIN_ROWS and np.linalg.matrix_rank(members - centre) == 2:
            radius, root = np.sqrt(t2_limit(len(members), 2, 1 - level)), np.linalg.cholesky(np.cov(members.T))
            found.append(Ellipse(centre, centre + radius * circle @ root.T, level, group if colours.groups else None))
    return tuple(found)


#: Rows that a group needs: for smaller ones the Games-Howell test rejects too often.
TEST_MIN_ROWS = 5


@dataclass(frozen=True)
class Extremes:
    """The groups with the lowest and the highest mean, and how likely such a difference is if all means are equal."""

    low: int
    high: int
    groups: int
    p: float


def extremes(values: Array, codes: Array, groups: int) -> Extremes | None:
    r"""Compare the groups of lowest and highest mean; None if fewer than two have five rows.

    :math:`q = (\bar t_a - \bar t_b) / \sqrt{(s_a^2/n_a + s_b^2/n_b) / 2}` against the studentized range of all groups
    with Welch's degrees of freedom: the test of Games and Howell (Journal of Educational Statistics 1976), which
    corrects for the number of groups and does not need equal variances.

    >>> codes = np.repeat([0, 1], 6)
    >>> found = extremes(np.arange(12.0), codes, 2)
    >>> found.low, found.high, found.p < 0.05
    (0, 1, True)
    >>> extremes(np.tile(np.arange(6.0), 2), codes, 2).p > 0.9
    True
    """
    members = {at: values[codes == at] for at in range(groups)}
    known = {at: part for at, part in members.items() if len(part) >= TEST_MIN_ROWS}
    if len(known) < 2:
        return None
    means = {at: float(part.mean()) for at, part in known.items()}
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    parts = [float(known[at].var(ddof=1)) / len(known[at]) for at in (low, high)]
    freedom = [len(known[at]) - 1 for at in (low, high)]
    if sum(parts) == 0:
        return Extremes(low, high, len(known), 0.0 if means[high] > means[low] else 1.0)
    q = (means[high] - means[low]) / np.sqrt(sum(parts) / 2)
    df = sum(parts) ** 2 / sum(part**2 / f for part, f in zip(parts, freedom, strict=True))
    return Extremes(low, high, len(known), float(scipy.stats.studentized_range.sf(q, len(known), df)))
