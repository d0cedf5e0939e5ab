"""Points, or the density of many, with colours, names and a scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize, to_rgb
from matplotlib.markers import MarkerStyle

from gramian.charts.colouring import Colouring
from gramian.charts.points import Density, Points, blend
from gramian.plots.placing import medians, write_apart
from gramian.plots.style import (
    COLOURS,
    INK,
    LABEL,
    LITTLE_TO_MUCH,
    MUTED,
    PALE,
    SCALE_OF_NUMBERS,
    TICK,
    Axes,
    colour,
    dot_size,
    literal,
)
from gramian.results import Array

#: Named rows up to which all names are written.
MOST_NAMES = 60
BOLD = 11.0
SHAPES = "o^s"


@dataclass
class Drawn:
    """Artists of points."""

    scatter: Any = None
    image: Any = None
    colorbar: Any = None


def draw_points(
    ax: Axes, points: Points, *, scale: bool = True, alpha: float = 0.8, plain: str = "", size: float = 1
) -> Drawn:
    """Draw points, and cells of a density below them.

    ``scale`` adds a bar where numbers or counts need one; ``plain`` is the colour of points that have none of their
    own, over a coloured ground: such points get a white rim. ``size`` is a factor.
    """
    drawn = Drawn()
    norm = _norm(points)
    if points.density is not None:
        drawn.image = _draw_cells(ax, points.density, points.colouring, norm)
        drawn.image.set_alpha(None if alpha > 0.5 else alpha)
    if len(points.at):
        # In random order, so that no group lies on top of the others because it came last.
        order = np.random.default_rng(0).permutation(len(points.at))
        shades = colours_of(points.colouring, len(points.at), norm, plain or colour(0))[order]
        rim: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.4} if plain else {"linewidths": 0}
        draw: Any = ax.scatter  # in the plane and in space
        drawn.scatter = draw(
            *points.at[order].T, s=size * dot_size(points.total), alpha=alpha, zorder=3, c=shades, **rim
        )
        codes = points.colouring.codes
        if codes is not None and len(points.colouring.groups) > len(COLOURS) and points.at.shape[1] == 2:
            drawn.scatter.set_paths([_path(shape_of(code)) for code in codes[order]])
    if scale:
        drawn.colorbar = _scale(ax, points, norm, drawn.image)
    return drawn


def shape_of(group: int) -> str:
    """Shape of the points of a group: colours come round again after ten, with another shape."""
    return SHAPES[group // len(COLOURS) % len(SHAPES)]


def _path(shape: str) -> Any:
    mark = MarkerStyle(shape)
    return mark.get_path().transformed(mark.get_transform())


def colours_of(given: Colouring, n: int, norm: Any, plain: str) -> Array:
    """Red, green and blue of each point."""
    if given.codes is not None:
        return np.array([to_rgb(colour(at)) for at in range(len(given.groups))])[given.codes]
    if given.values is None:
        return np.tile(to_rgb(plain), (n, 1))
    shades = SCALE_OF_NUMBERS(norm(given.values))[:, :3]
    shades[~np.isfinite(given.values)] = to_rgb(PALE)
    return shades


def _norm(points: Points) -> Any:
    values = points.colouring.values
    if points.density is not None and points.density.means is not None:
        values = points.density.means
    if values is None or not np.isfinite(values).any():
        return Normalize(0, 1)
    low, high = np.nanquantile(values, [0.01, 0.99] if points.density is not None else [0, 1])
    return Normalize(float(low), float(high))


def _draw_cells(ax: Axes, density: Density, given: Colouring, norm: Any) -> Any:
    if density.means is not None:
        shown = np.ma.masked_invalid(density.means)
        return ax.pcolormesh(density.x, density.y, shown, cmap=SCALE_OF_NUMBERS, norm=norm, rasterized=True, zorder=1)
    if given.groups:
        shades = blend(density, [colour(at) for at in range(len(given.groups))])
        return ax.pcolormesh(density.x, density.y, shades, rasterized=True, zorder=1)
    counts = density.counts[0]
    shown = np.ma.masked_equal(counts, 0)
    limits = LogNorm(1, max(float(counts.max()), 2.0))
    return ax.pcolormesh(density.x, density.y, shown, cmap=LITTLE_TO_MUCH, norm=limits, rasterized=True, zorder=1)


def _scale(ax: Axes, points: Points, norm: Any, image: Any) -> Any:
    if points.colouring.values is not None:
        bar = ax.figure.colorbar(ScalarMappable(norm, SCALE_OF_NUMBERS), ax=ax, shrink=0.75, pad=0.02)
        bar.set_label(literal(points.colouring.name), fontsize=LABEL, color=INK)
    elif image is not None and not points.colouring.groups:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.75, pad=0.02)
        bar.set_label("rows in a cell", fontsize=LABEL, color=INK)
    else:
        return None
    bar.ax.tick_params(labelsize=TICK, colors=MUTED, length=3)
    bar.outline.set_visible(False)
    return bar


def name_groups(ax: Axes, points: Points) -> list[Any]:
    """Write the name of each group at the median of its points."""
    given = points.colouring
    if not given.groups:
        return []
    if points.density is not None:
        places = np.array([_median_cell(points.density, group) for group in range(len(given.groups))])
    else:
        assert given.codes is not None
        places = medians(points.at[:, :2], given.codes, len(given.groups))
    shades = [tuple(0.6 * part for part in to_rgb(colour(group))) for group in range(len(given.groups))]
    return write_apart(ax, given.groups, places, size=BOLD, colours=shades, bold=True)


def _median_cell(density: Density, group: int) -> Array:
    counts = density.counts[group]
    centres = [(edges[1:] + edges[:-1]) / 2 for edges in (density.x, density.y)]
    if not counts.any():
        return np.array([centre.mean() for centre in centres])
    middle = [np.searchsorted(np.cumsum(counts.sum(axis=axis)), counts.sum() / 2) for axis in (0, 1)]
    return np.array([centre[at] for centre, at in zip(centres, middle, strict=True)])


def name_rows(ax: Axes, points: Points, names: Sequence[str] | None, rows: Sequence[int] | None = None) -> list[Any]:
    """Write names beside points: all of few, or those of chosen rows."""
    if names is None and rows is None:
        return []
    if rows is None and points.total > MOST_NAMES:
        return []
    found = {int(row): at for at, row in enumerate(points.rows)}
    chosen = [row for row in (found if rows is None else rows) if int(row) in found]
    places = points.at[[found[int(row)] for row in chosen]]
    texts = [str(row) if names is None else names[int(row)] for row in chosen]
    return write_apart(ax, texts, places, size=7, towards=np.zeros((len(texts), 2)), posts=points.at)


def list_groups(ax: Axes, points: Points) -> None:
    """Give each group an entry in the legend, where names would cover each other."""
    for group, name in enumerate(points.colouring.groups):
        ax.plot([], [], shape_of(group), color=colour(group), markersize=4, label=literal(name))


def cross(ax: Axes) -> None:
    """Draw thin lines through the origin."""
    for line in (ax.axhline, ax.axvline):
        line(0, color=PALE, linewidth=0.6, zorder=0.5)
