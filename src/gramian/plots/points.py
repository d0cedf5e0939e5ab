"""Points, or the density of many, with colours, a scale, and labels that do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize, to_rgb
from matplotlib.markers import MarkerStyle
from matplotlib.patheffects import withStroke

from gramian.charts.palette import COLOURS, INK, MUTED, PALE, colour
from gramian.charts.placing import beside, medians, push_apart
from gramian.charts.points import Colouring, Density, Points, blend
from gramian.plots.style import LABEL, LITTLE_TO_MUCH, SCALE_OF_NUMBERS, TICK, Axes, dot_size, literal
from gramian.results import Array


def write_apart(
    ax: Axes,
    texts: Sequence[str],
    places: Array,
    *,
    size: float,
    colours: Sequence[Any] | None = None,
    bold: bool = False,
    towards: Array | None = None,
    posts: Array | None = None,
) -> list[Any]:
    """Write texts on or beside places in data units so that none covers another; return them.

    With ``towards``, a wish for each text (zero for none), texts stand beside their places, with a thin line to those
    that had to go far; without, they stand on them.
    """
    if not len(texts):
        return []
    halo = [withStroke(linewidth=2.5 if bold else 1.8, foreground="white")]
    look: dict[str, Any] = {"ha": "center", "va": "center", "path_effects": halo, "zorder": 5, "in_layout": False}
    look |= {"fontsize": size, "fontweight": "bold" if bold else "normal"}
    shades = [INK] * len(texts) if colours is None else colours
    written = [
        ax.text(float(x), float(y), literal(text), color=shade, **look)
        for text, (x, y), shade in zip(texts, places, shades, strict=True)
    ]
    # Laid out once without ink: only then the size of the axes, and with it the room for the texts, is known.
    whole: Any = ax.figure.figure  # of a part of a figure, the figure
    whole.draw_without_rendering()
    boxes = [text.get_window_extent() for text in written]
    sizes = np.array([[box.width, box.height] for box in boxes]) + 0.25 * size
    frame = ax.get_window_extent()
    room = np.array([[frame.x0, frame.y0], [frame.x1, frame.y1]])
    anchors = ax.transData.transform(np.asarray(places, dtype=np.float64))
    centres = anchors
    if towards is not None:
        stops = anchors if posts is None else ax.transData.transform(posts)
        centres = beside(anchors, sizes, gap=0.35 * size, posts=stops, room=room, towards=towards)
    centres = push_apart(centres, sizes, room=room)
    ends = ax.transData.inverted().transform(centres)
    for text, end, centre, anchor, box in zip(written, ends, centres, anchors, sizes, strict=True):
        text.set_position((float(end[0]), float(end[1])))
        gap = np.maximum(np.abs(centre - anchor) - box / 2, 0)
        if towards is not None and np.hypot(*gap) > 1.5 * size:
            edge = np.clip(anchor, centre - box / 2, centre + box / 2)
            (here, there) = ax.transData.inverted().transform([anchor, edge])
            thin: dict[str, Any] = {"color": MUTED, "linewidth": 0.5, "scalex": False, "scaley": False}
            ax.plot([here[0], there[0]], [here[1], there[1]], gid="leader", zorder=3.5, **thin)
    return written


#: Named rows up to which all names are written.
NAMES_MAX_ROWS = 60
GROUP_NAME_POINTS = 11.0
GROUP_SHAPES = "o^s"


def draw_points(
    ax: Axes, points: Points, *, scale: bool = True, alpha: float = 0.8, plain: str = "", size: float = 1
) -> tuple[Any, Any, Any]:
    """Draw points, and cells of a density below them; return points, cells and scale, None for those there are not.

    ``scale`` adds a bar where numbers or counts need one; ``plain`` is the colour of points that have none of their
    own, over a coloured ground: such points get a white rim. ``size`` is a factor.
    """
    scatter: Any = None
    image: Any = None
    norm = _norm(points)
    if points.density is not None:
        image = _draw_cells(ax, points.density, points.colouring, norm)
        image.set_alpha(None if alpha > 0.5 else alpha)
    if len(points.at):
        # In random order, so that no group lies on top of the others because it came last.
        order = np.random.default_rng(0).permutation(len(points.at))
        shades = colours_of(points.colouring, len(points.at), norm, plain or colour(0))[order]
        rim: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.4} if plain else {"linewidths": 0}
        draw: Any = ax.scatter  # in the plane and in space
        scatter = draw(*points.at[order].T, s=size * dot_size(points.total), alpha=alpha, zorder=3, c=shades, **rim)
        codes = points.colouring.codes
        if codes is not None and len(points.colouring.groups) > len(COLOURS) and points.at.shape[1] == 2:
            shapes = [MarkerStyle(shape_of(code)) for code in codes[order]]
            scatter.set_paths([shape.get_path().transformed(shape.get_transform()) for shape in shapes])
    return scatter, image, _scale(ax, points, norm, image) if scale else None


def shape_of(group: int) -> str:
    """Shape of the points of a group: colours come round again after ten, with another shape."""
    return GROUP_SHAPES[group // len(COLOURS) % len(GROUP_SHAPES)]


def shaded(shade: str, factor: float) -> tuple[float, ...]:
    """A colour that is darker by a factor."""
    return tuple(factor * part for part in to_rgb(shade))


def colours_of(given: Colouring, n: int, norm: Normalize, plain: str) -> Array:
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


def _draw_cells(ax: Axes, density: Density, given: Colouring, norm: Normalize) -> Any:
    shown: Array
    look: dict[str, Any] = {}
    if density.means is not None:
        shown, look = np.ma.masked_invalid(density.means), {"cmap": SCALE_OF_NUMBERS, "norm": norm}
    elif given.groups:
        shown = blend(density, [colour(at) for at in range(len(given.groups))])
    else:
        shown = np.ma.masked_equal(density.counts[0], 0)
        look = {"cmap": LITTLE_TO_MUCH, "norm": LogNorm(1, max(float(density.counts.max()), 2.0))}
    return ax.pcolormesh(density.x, density.y, shown, rasterized=True, zorder=1, **look)


def _scale(ax: Axes, points: Points, norm: Normalize, image: Any) -> Any:
    if points.colouring.values is not None:
        return colour_bar(ax, ScalarMappable(norm, SCALE_OF_NUMBERS), points.colouring.name, 0.75)
    if image is not None and not points.colouring.groups:
        return colour_bar(ax, image, "rows in a cell", 0.75)
    return None


def colour_bar(ax: Axes, of: ScalarMappable, name: str, shrink: float) -> Any:
    """Draw a scale of colours beside axes."""
    bar = ax.figure.colorbar(of, ax=ax, shrink=shrink, pad=0.02)
    bar.set_label(literal(name), fontsize=LABEL, color=INK)
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
    shades = [shaded(colour(group), 0.6) for group in range(len(given.groups))]
    return write_apart(ax, given.groups, places, size=GROUP_NAME_POINTS, colours=shades, bold=True)


def _median_cell(density: Density, group: int) -> Array:
    counts = density.counts[group]
    centres = [(edges[1:] + edges[:-1]) / 2 for edges in (density.x, density.y)]
    if not counts.any():
        return np.array([centre.mean() for centre in centres])
    middle = [np.searchsorted(np.cumsum(counts.sum(axis=axis)), counts.sum() / 2) for axis in (0, 1)]
    return np.array([centre[at] for centre, at in zip(centres, middle, strict=True)])


def name_rows(ax: Axes, points: Points, names: Sequence[str] | None, rows: Sequence[int] | None = None) -> list[Any]:
    """Write names beside points: all of few, or those of chosen rows."""
    if rows is None and (names is None or points.total > NAMES_MAX_ROWS):
        return []
    found = {int(row): at for at, row in enumerate(points.rows)}
    chosen = [row for row in (found if rows is None else rows) if int(row) in found]
    places = points.at[[found[int(row)] for row in chosen]]
    texts = [str(row + 1) if names is None else names[int(row)] for row in chosen]
    return write_apart(ax, texts, places, size=7, towards=np.zeros((len(texts), 2)), posts=points.at)


def list_groups(ax: Axes, points: Points) -> None:
    """Give each group an entry in the legend, where names would cover each other."""
    for group, name in enumerate(points.colouring.groups):
        ax.plot([], [], shape_of(group), color=colour(group), markersize=4, label=literal(name))


def cross(ax: Axes) -> None:
    """Draw thin lines through the origin."""
    for line in (ax.axhline, ax.axvline):
        line(0, color=PALE, linewidth=0.6, zorder=0.5)
