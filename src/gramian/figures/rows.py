"""Figures of rows: points of scores, pairs, predictions and outliers; the plane of two columns; rows rebuilt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gramian.charts import (
    Biplot,
    Colouring,
    Contours,
    Outliers,
    Paired,
    Points,
    Predicted,
    Reconstructions,
    Regions,
    Scores,
)
from gramian.charts.palette import DIVERGING, INK, SEQUENTIAL, colour, rgb
from gramian.charts.points import blend
from gramian.figures.grammar import (
    SYMBOLS,
    THEME_INK,
    THEME_MUTED,
    THEME_PAPER,
    TRANSPARENT,
    Figure,
    Part,
    arrow,
    axis,
    backdrop,
    colour_scale,
    layout,
    line,
    names_of_arrows,
    number,
    numbers,
    outline,
    plain,
    rule,
    stroke,
    written,
)
from gramian.results import Array

#: Outliers that get a name.
NAMED_OUTLIERS_MAX = 8
#: Width of a biplot on a desk and on a phone, in pixels.
BIPLOT_PIXELS, BIPLOT_PHONE_PIXELS = 800, 290
#: Where the name of a point stands.
_UPPER_RIGHT: Part = {"xanchor": "left", "yanchor": "bottom", "xshift": 4}
#: Rows that are drawn as lines.
LINES_MAX_ROWS = 3


def scores(chart: Scores) -> Figure:
    """Rows as points of two components, and columns as arrows if it is a biplot."""
    data, more = point_traces(chart.points, chart.names)
    data += [outline(ellipse.outline, colour(ellipse.group or 0)) for ellipse in chart.ellipses]
    narrow: Part = {}
    if isinstance(chart, Biplot):
        arrows = [arrow(end, THEME_INK) for end in chart.arrows]
        span = 1.1 * (float(np.ptp(np.vstack([chart.points.at, chart.arrows]), axis=0).max()) or 1.0)
        wide, slim = (
            [*arrows, *names_of_arrows(chart.columns, chart.arrows, pixels / span, size=size)]
            for pixels, size in ((BIPLOT_PIXELS, 12), (BIPLOT_PHONE_PIXELS, 10))
        )
        more, narrow = {**more, "annotations": wide}, {"annotations": slim}
    even = {"scaleanchor": "x", "scaleratio": 1} if _even(chart.points) else {}
    return Figure(data, _frame(chart, axis(chart.xlabel), axis(chart.ylabel, **even), **more), 560, narrow=narrow)


def _even(points: Points) -> bool:
    """Whether both axes may have one scale: not if one score varies a multiple of the other."""
    spread = np.ptp(points.at, axis=0) if len(points.at) else np.ones(2)
    if points.density is not None:
        spread = np.array([np.ptp(points.density.x), np.ptp(points.density.y)])
    return bool(spread.max() <= 4 * spread.min())


def _frame(chart: Scores | Paired | Predicted | Outliers, x: Part, y: Part, **more: object) -> Part:
    return layout(x, y, legend=bool(chart.points.colouring.groups), **more)


def paired(chart: Paired) -> Figure:
    """Scores of one view against those of the other."""
    data, more = point_traces(chart.points, chart.names)
    return Figure(data, _frame(chart, axis(chart.xlabel), axis(chart.ylabel), **more), 480, 640)


def predicted(chart: Predicted) -> Figure:
    """Predictions against measurements, with the line of equality."""
    data, more = point_traces(chart.points, chart.names)
    ends = np.array([[chart.low, chart.low], [chart.high, chart.high]])
    x, y = (axis(label, range=[chart.low, chart.high]) for label in (chart.xlabel, chart.ylabel))
    equal = outline(ends, THEME_MUTED, dash="dash")
    return Figure([equal, *data], _frame(chart, x, y, **more), 480, 560, square=True)


def outliers(chart: Outliers) -> Figure:
    """How far rows lie from the mean within the components, and from the components."""
    data, more = point_traces(chart.points, chart.names)
    shapes = [rule(x=chart.t2_limit)] if chart.t2_limit is not None else []
    shapes += [rule(y=chart.q_limit)] if chart.q_limit is not None else []
    places = dict(zip(chart.points.rows.tolist(), chart.points.at.tolist(), strict=True))
    notes = [
        written(plain(row_name(chart.names, row), 24), *places[row], size=11, **_UPPER_RIGHT)
        for row in chart.beyond[:NAMED_OUTLIERS_MAX].tolist()
        if row in places
    ]
    x, y = axis(chart.xlabel, rangemode="tozero"), axis(chart.ylabel, rangemode="tozero")
    return Figure(data, _frame(chart, x, y, shapes=shapes, annotations=notes, **more))


def row_name(names: Sequence[str] | None, row: int) -> str:
    """Name of a row, or its number from 1."""
    return f"row {row + 1}" if names is None else names[row]


def point_traces(points: Points, names: Sequence[str] | None = None) -> tuple[list[Part], Part]:
    """Points group by group, and what else of the layout they need: a density as an image behind them."""
    colours, density = points.colouring, points.density
    text = [_hover(points, at, names) for at in range(len(points.at))]
    size = 8 if len(points.at) <= 300 else 6 if len(points.at) <= 2_000 else 4
    more: Part = {}
    if density is not None:
        shades = [colour(at) for at in range(max(len(colours.groups), 1))]
        more = {"images": [backdrop(blend(density, shades), density.x, density.y)]}
    if colours.codes is None:
        return [_dots(points.at, text, size, _marker(colours))], more
    traces = []
    for group, name in enumerate(colours.groups):
        some = np.flatnonzero(colours.codes == group)
        marker = {"color": colour(group), "symbol": SYMBOLS[group % len(SYMBOLS)]}
        # A group whose points are all in the density keeps its place in the legend.
        at = points.at[some] if len(some) else np.full((1, 2), np.nan)
        traces.append(_dots(at, [text[i] for i in some], size, marker, name))
    return traces, more


def _dots(at: Array, text: list[str], size: int, marker: Part, name: str = "") -> Part:
    look = {"size": size, "opacity": 0.8, "line": {"color": THEME_PAPER, "width": 0.5}, **marker}
    shown = {"type": "scatter", "mode": "markers", "marker": look, "hovertext": text, "hoverinfo": "text"}
    return {**shown, "x": at[:, 0], "y": at[:, 1], "name": plain(name, 28)}


def _marker(colours: Colouring) -> Part:
    if colours.values is None:
        return {"color": colour(0)}
    bar = {"title": {"text": plain(colours.name, 20)}, "thickness": 12, "outlinewidth": 0}
    scale = {"colorscale": colour_scale(SEQUENTIAL), "showscale": True, "colorbar": bar}
    return {"color": colours.values, **scale, "line": {"color": THEME_MUTED, "width": 0.6}, "opacity": 1}


def _hover(points: Points, at: int, names: Sequence[str] | None) -> str:
    words, colours = [plain(row_name(names, int(points.rows[at])))], points.colouring
    if colours.codes is not None:
        words.append(plain(colours.groups[int(colours.codes[at])]))
    elif colours.values is not None:
        words.append(f"{plain(colours.name)} {number(float(colours.values[at]))}".strip())
    return "<br>".join([*words, numbers(points.at[at])])


def contours(chart: Contours, component: int) -> Figure:
    """One of the components, as contours over the plane."""
    values = chart.values[component]
    largest = float(np.abs(values).max()) or 1.0
    surface = {
        "type": "contour",
        "x": chart.x,
        "y": chart.y,
        "z": values,
        "zmin": -largest,
        "zmax": largest,
        "colorscale": colour_scale(DIVERGING),
        "ncontours": 14,
        "line": {"width": 0.6},
        "colorbar": {"thickness": 12, "outlinewidth": 0, "title": {"text": "score"}},
        "hoverinfo": "x+y+z",
    }
    points, more = point_traces(chart.points)
    dark = {"color": INK, "size": 4, "opacity": 0.7}  # on light colours in either theme
    points = [{**trace, "marker": dark, "showlegend": False} for trace in points]
    return Figure([surface, *points], layout(axis(chart.xlabel), axis(chart.ylabel), **more))


def regions(chart: Regions) -> Figure:
    """The class that every point of the plane gets."""
    shades = np.array([[*rgb(colour(code)), 0.25] for code in range(len(chart.classes))])
    edges = [np.array([at[0], at[-1]]) + (at[1] - at[0]) / 2 * np.array([-1, 1]) for at in (chart.x, chart.y)]
    points, _ = point_traces(chart.points)
    data: list[Part] = []
    if chart.decision is not None:
        levels = {"start": -1, "end": 1, "size": 1, "coloring": "none"}
        border = {"type": "contour", "x": chart.x, "y": chart.y, "z": chart.decision, "contours": levels}
        data.append({**border, "line": {"color": THEME_INK, "width": 1.2}, "hoverinfo": "skip", "showlegend": False})
    data += points
    if chart.support is not None:
        ring = {"color": TRANSPARENT, "size": 12, "line": {"color": THEME_INK, "width": 1.2}}
        x, y = chart.support.T
        data.append(line(x, y, "support vectors", mode="markers", marker=ring, hoverinfo="skip"))
    axes = (
        axis(label, range=[float(at[0]), float(at[-1])], showgrid=False, zeroline=False)
        for label, at in ((chart.xlabel, chart.x), (chart.ylabel, chart.y))
    )
    return Figure(data, layout(*axes, legend=True, images=[backdrop(shades[chart.codes], *edges)]), height=480)


def reconstructions(chart: Reconstructions) -> Figure:
    """Rows, and what growing numbers of components rebuild of them, as lines or as small images."""
    if chart.shape is None:
        data = []
        for at, row in enumerate(chart.rows[:LINES_MAX_ROWS]):
            name = f"row {int(row) + 1}"
            data.append(line(chart.positions, chart.originals[at], name, at, **stroke(colour(at))))
            twin = f"{name}, rebuilt from {chart.counts[-1]}"
            data.append(line(chart.positions, chart.rebuilt[-1, at], twin, at, **stroke(colour(at), dash="dot")))
        return Figure(data, layout(axis(chart.xlabel), axis("value"), legend=True))
    across, down = chart.middles
    images = {
        "type": "heatmap",
        "z": chart.mosaic,
        "zmin": float(chart.originals.min()),
        "zmax": float(chart.originals.max()),
        "colorscale": [[0, "#ffffff"], [1, "#000000"]],
        "showscale": False,
        "hoverinfo": "z",
    }
    marked = {"tickmode": "array", "showgrid": False, "zeroline": False}
    x = axis("row", tickvals=across, ticktext=[str(row + 1) for row in chart.rows], **marked)
    names = ["rows", *map(str, chart.counts)]
    y = axis("components", tickvals=down, ticktext=names, autorange="reversed", **marked)
    return Figure([images], layout(x, y), height=70 + 64 * len(down), width=90 + 64 * len(across))
