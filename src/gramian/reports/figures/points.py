"""Pictures of rows as points: scores, biplots, pairs, predictions, outliers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.charts import Biplot, Colouring, Outliers, Paired, Points, Predicted, Scores
from gramian.charts.palette import SEQUENTIAL, colour
from gramian.charts.points import blend, extremes
from gramian.reports.contents import Grid, Picture, brief, counted, number, tidy_bias
from gramian.reports.figures.frame import (
    INK,
    MUTED,
    SYMBOLS,
    axis,
    layout,
    listed,
    plain,
    rule,
    short_label,
    with_notes,
)
from gramian.reports.figures.placing import arrow, names_beside
from gramian.reports.figures.raster import image
from gramian.reports.sentences import say
from gramian.results import Sentence, percent

#: Level of tests of group means.
LEVEL = 0.05
SCALE = [[at / (len(SEQUENTIAL) - 1), shade] for at, shade in enumerate(SEQUENTIAL)]


def scores_picture(chart: Scores, title: str = "", *, compare: bool = True) -> Picture:
    """Rows as points of two components, and columns as arrows if it is a biplot.

    ``compare`` says whether means of groups may be compared: not if the axes were fitted to the groups.
    """
    data, more = point_traces(chart.points, chart.names)
    for ellipse in chart.ellipses:
        shade = colour(ellipse.group or 0)
        data.append(_outline(ellipse.outline, shade))
    notes: list[dict[str, Any]] = []
    narrow: dict[str, Any] = {}
    says = [say("points", n=counted(chart.points.total, "row"), xlabel=chart.xlabel, ylabel=chart.ylabel)]
    says += _said_of_groups(chart) if compare else []
    even = _even(chart)
    if isinstance(chart, Biplot):
        notes = [arrow(end, INK) for end in chart.arrows]
        span = float(np.ptp(np.vstack([chart.points.at, chart.arrows]), axis=0).max()) or 1.0
        slim = names_beside(chart.columns, chart.arrows, 290 / (1.1 * span), size=10)
        narrow = {"annotations": [*notes, *slim]}
        notes += names_beside(chart.columns, chart.arrows, 800 / (1.1 * span))
        says.append(say("arrows", names=listed(chart.columns)))
    if chart.ellipses:
        code = "ellipses" if chart.colouring.groups else "ellipse"
        says.append(say(code, level=percent(chart.ellipses[0].level)))
    x, y = axis(chart.xlabel), axis(chart.ylabel, **({"scaleanchor": "x", "scaleratio": 1} if even else {}))
    frame = layout(x, y, legend=_legend(chart.colouring), annotations=notes, **more)
    title = title or chart.title
    return Picture(
        title, with_notes(says, chart.notes), data, frame, _grid(chart, chart.points, title), 560, narrow=narrow
    )


def _even(chart: Scores) -> bool:
    """Whether both axes may have one scale: not if one score varies a multiple of the other."""
    spread = np.ptp(chart.points.at, axis=0) if len(chart.points.at) else np.ones(2)
    if chart.points.density is not None:
        spread = np.array([np.ptp(chart.points.density.x), np.ptp(chart.points.density.y)])
    return bool(spread.max() <= 4 * spread.min())


def paired_picture(chart: Paired, canonical: float | None = None) -> Picture:
    """Scores of one view against those of the other; ``canonical`` is the correlation of the fit, with its ridge."""
    data, more = point_traces(chart.points, chart.names)
    says = [say("paired", value=brief(chart.correlation))]
    if canonical is not None and brief(canonical) != brief(chart.correlation):
        says.append(say("paired_ridge", value=brief(canonical)))
    frame = layout(axis(chart.xlabel), axis(chart.ylabel), legend=_legend(chart.points.colouring), **more)
    return Picture(
        chart.title,
        with_notes(says, chart.notes),
        data,
        frame,
        _grid(chart, chart.points, chart.title),
        height=480,
        width=640,
    )


def predicted_picture(chart: Predicted, title: str = "") -> Picture:
    """Predictions against measurements."""
    data, more = point_traces(chart.points, chart.names)
    ends = np.array([[chart.low, chart.low], [chart.high, chart.high]])
    data.insert(0, _outline(ends, MUTED, dash="dash"))
    found = chart.merit
    says = [
        say(
            "predicted",
            rmse=brief(found.rmse),
            bias=brief(tidy_bias(found)),
            r2=brief(found.r2) if np.isfinite(found.r2) else number(found.r2),
        )
    ]
    x = axis(chart.xlabel, range=[chart.low, chart.high])
    y = axis(chart.ylabel, range=[chart.low, chart.high])
    frame = layout(x, y, legend=_legend(chart.points.colouring), **more)
    title = title or chart.title
    grid = _grid(chart, chart.points, title)
    return Picture(title, with_notes(says, chart.notes), data, frame, grid, height=480, width=560, square=True)


def outliers_picture(chart: Outliers) -> Picture:
    """How far rows lie from the mean within the components, and from the components."""
    data, more = point_traces(chart.points, chart.names)
    shapes = [rule(x=chart.t2_limit)] if chart.t2_limit is not None else []
    shapes += [rule(y=chart.q_limit)] if chart.q_limit is not None else []
    named = {int(row): at for at, row in enumerate(chart.points.rows)}
    far = [row for row in chart.beyond[:8].tolist() if row in named]
    notes = [_label(_row_name(chart.names, row), chart.points.at[named[row]]) for row in far]
    some = [_row_name(chart.names, row) for row in chart.beyond.tolist()]
    says = []
    if shapes:
        count = f"{len(some):,} of {counted(chart.points.total, 'row')} {'is' if len(some) == 1 else 'are'}"
        code, alpha = "beyond" if some else "none_beyond", percent(chart.alpha)
        says = [say(code, count=count, alpha=alpha, names=listed(some))]
    x, y = axis(chart.xlabel, rangemode="tozero"), axis(chart.ylabel, rangemode="tozero")
    frame = layout(x, y, legend=_legend(chart.points.colouring), shapes=shapes, annotations=notes, **more)
    title = "Distances of rows from the model"
    return Picture(title, with_notes(says, chart.notes), data, frame, _grid(chart, chart.points, title))


def point_traces(points: Points, names: Sequence[str] | None = None) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Points group by group, and what else of the layout they need: a density as an image behind them."""
    colours = points.colouring
    text = [_hover(points, at, names) for at in range(len(points.at))]
    size = 8 if len(points.at) <= 300 else 6 if len(points.at) <= 2_000 else 4
    more = (
        {} if points.density is None else {"images": [image(points.density, blend(points.density, _shades(colours)))]}
    )
    if colours.codes is None:
        return [_trace(points.at, text, size, _marker(colours))], more
    traces = []
    for group, name in enumerate(colours.groups):
        some = np.flatnonzero(colours.codes == group)
        marker = {"color": colour(group), "symbol": SYMBOLS[group % len(SYMBOLS)]}
        # A group whose points are all in the density keeps its place in the legend.
        at = points.at[some] if len(some) else np.full((1, 2), np.nan)
        traces.append(_trace(at, [text[i] for i in some], size, marker, name))
    return traces, more


def _trace(at: Any, text: list[str], size: int, marker: dict[str, Any], name: str = "") -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": at[:, 0],
        "y": at[:, 1],
        "name": plain(name, 28),
        "hovertext": text,
        "hoverinfo": "text",
        "marker": {"size": size, "opacity": 0.8, "line": {"color": "var(--paper)", "width": 0.5}, **marker},
    }


def _marker(colours: Colouring) -> dict[str, Any]:
    if colours.values is None:
        return {"color": colour(0)}
    bar = {"title": {"text": plain(colours.name, 20)}, "thickness": 12, "outlinewidth": 0}
    edge = {"color": MUTED, "width": 0.6}
    return {
        "color": colours.values,
        "colorscale": SCALE,
        "showscale": True,
        "colorbar": bar,
        "line": edge,
        "opacity": 1,
    }


def _shades(colours: Colouring) -> list[str]:
    return [colour(at) for at in range(max(len(colours.groups), 1))]


def _legend(colours: Colouring) -> bool:
    return bool(colours.groups)


def _hover(points: Points, at: int, names: Sequence[str] | None) -> str:
    words = [plain(_row_name(names, int(points.rows[at])))]
    colours = points.colouring
    if colours.codes is not None:
        words.append(plain(colours.groups[int(colours.codes[at])]))
    elif colours.values is not None:
        words.append(f"{plain(colours.name)} {number(float(colours.values[at]))}".strip())
    return "<br>".join([*words, ", ".join(number(float(part)) for part in points.at[at])])


def _row_name(names: Sequence[str] | None, row: int) -> str:
    return f"row {row + 1}" if names is None else names[row]


def _outline(ends: Any, shade: str, dash: str = "solid") -> dict[str, Any]:
    shown = {"mode": "lines", "line": {"color": shade, "width": 1.4, "dash": dash}, "opacity": 0.9}
    return {"type": "scatter", "x": ends[:, 0], "y": ends[:, 1], "hoverinfo": "skip", "showlegend": False, **shown}


def _label(name: str, at: Any) -> dict[str, Any]:
    shown = {
        "showarrow": False,
        "font": {"size": 11, "color": INK},
        "xanchor": "left",
        "yanchor": "bottom",
        "xshift": 4,
    }
    return {"x": at[0], "y": at[1], "text": plain(name, 24), **shown}


def _said_of_groups(chart: Scores) -> list[Sentence]:
    """Along which axes the means of groups differ, by tests at a level of 5 % that is shared by the axes."""
    points, colours = chart.points, chart.points.colouring
    if not colours.groups or colours.codes is None or points.density is not None:
        return []
    labels = (chart.xlabel, chart.ylabel)
    found = [extremes(points.at[:, at], colours.codes, len(colours.groups)) for at in range(len(labels))]
    tested = [(short_label(label).lower(), one) for label, one in zip(labels, found, strict=True) if one is not None]
    says = [
        say(
            "groups_differ",
            axis=axis_name,
            low=colours.groups[one.low],
            high=colours.groups[one.high],
            p=_p_value(len(labels) * one.p),
            groups=one.groups,
            axes=len(labels),
        )
        for axis_name, one in tested
        if len(labels) * one.p <= LEVEL
    ]
    return says or ([say("groups_alike")] if tested else [])


def _p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.2g}"


def _grid(chart: Any, points: Points, title: str) -> Grid:
    """The points, or, where a density stands for them, how many rows of each group there are, and where."""
    if points.density is not None:
        return _counted(chart, points, title)
    colours = points.colouring
    beside: list[tuple[str, list[Any]]] = []
    if colours.codes is not None:
        beside.append((colours.name or "group", [colours.groups[int(code)] for code in colours.codes]))
    elif colours.values is not None:
        beside.append((colours.name or "value", list(colours.values)))
    rows = [
        [_row_name(chart.names, int(row)), *(float(part) for part in at), *(values[i] for _, values in beside)]
        for i, (row, at) in enumerate(zip(points.rows, points.at, strict=True))
    ]
    return Grid(title, ["row", chart.xlabel, chart.ylabel, *(name for name, _ in beside)], rows, shown=10)


def _counted(chart: Any, points: Points, title: str) -> Grid:
    cells = points.density
    assert cells is not None
    x, y = ((edges[1:] + edges[:-1]) / 2 for edges in (cells.x, cells.y))
    names = points.colouring.groups or ("all rows",)
    rows = [
        [
            name,
            int(count.sum()),
            float(count.sum(axis=0) @ x / max(count.sum(), 1)),
            float(count.sum(axis=1) @ y / max(count.sum(), 1)),
        ]
        for name, count in zip(names, cells.counts, strict=True)
    ]
    return Grid(title, ["group", "rows", f"mean of {chart.xlabel}", f"mean of {chart.ylabel}"], rows)
