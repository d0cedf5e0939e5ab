"""Pictures of columns: loadings as arrows or lines; contributions; what a regression rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.charts import Contributions, Importance, Loadings
from gramian.charts.palette import colour
from gramian.reports.contents import WHOLE, Grid, Picture, number
from gramian.reports.figures.frame import (
    INK,
    LONGEST,
    MUTED,
    axis,
    largest,
    layout,
    leading,
    line,
    listed,
    plain,
    rule,
    short_label,
    with_notes,
)
from gramian.reports.figures.placing import arrow, names_beside
from gramian.reports.sentences import say
from gramian.results import Array, Sentence, percent

#: Arrows that get a name, and bars that are drawn, at the most.
NAMED, BARS = 18, 30
#: Side of a square picture, in pixels, and on a phone.
SQUARE, SLIM = 520, 270


def loadings_picture(chart: Loadings) -> Picture:
    """Columns along components: arrows for few, lines over the channels of a spectrum."""
    says = largest(chart.labels, chart.columns, chart.values)
    rows = [[name, *values] for name, values in zip(chart.columns, chart.values.tolist(), strict=True)]
    grid = Grid(chart.title, ["column", *chart.labels], rows, shown=WHOLE)
    if chart.kind == "lines":
        data = []
        for at, label in enumerate(chart.labels):
            dash = ("solid", "dash", "dot", "dashdot")[at % 4]
            data.append(
                line(
                    chart.positions,
                    chart.values[:, at],
                    label,
                    at,
                    mode="lines",
                    line={"color": colour(at), "width": 2, "dash": dash},
                )
            )
        frame = layout(axis(chart.xlabel), axis(chart.ylabel, zeroline=True, zerolinecolor=MUTED), legend=True)
        return Picture(chart.title, with_notes(says, chart.notes), data, frame, grid)
    first = len(chart.columns) - chart.second
    data, notes = [], []
    for at, (name, some) in enumerate((("columns of X", slice(0, first)), ("columns of Y", slice(first, None)))):
        if len(chart.values[some]):
            data.append(_tips(chart.values[some], chart.columns[some], name, at))
            notes += [arrow(end, colour(at)) for end in chart.values[some] if np.any(end)]
    longest = np.argsort(-np.linalg.norm(chart.values, axis=1), kind="stable")[:NAMED]
    reach = 1.25 if chart.circle else 1.2 * float(np.abs(chart.values).max(initial=0.0)) or 1.0
    names, ends = [chart.columns[at] for at in longest], chart.values[longest]
    wide, slim = (
        notes + names_beside(names, ends, pixels / (2 * reach), reach, size)
        for pixels, size in ((SQUARE, 12), (SLIM, 10))
    )
    ring = {"type": "circle", "x0": -1, "x1": 1, "y0": -1, "y1": 1, "line": {"color": MUTED, "width": 1}}
    square = {"range": [-reach, reach], "constrain": "domain"}
    x, y = axis(chart.xlabel, **square), axis(chart.ylabel, scaleanchor="x", scaleratio=1, **square)
    says.append(say("arrows_show", what=chart.what))
    if chart.circle:
        says.append(say("circle", noun=short_label(chart.labels[0]).rpartition(" ")[0].lower()))
    if len(chart.columns) > NAMED:
        says.append(say("some_named", count=NAMED))
    frame = layout(x, y, legend=chart.second > 0, shapes=[ring] if chart.circle else [], annotations=wide)
    instead = {"annotations": slim}
    return Picture(chart.title, says, data, frame, grid, SQUARE + 70, SQUARE + 90, instead, square=True)


def contributions_picture(chart: Contributions) -> Picture:
    """Which columns or rows a component is made of."""
    hover = [
        f"{plain(name)}<br>{percent(float(share))} of the component, which holds {percent(float(cos2))} of it"
        for name, share, cos2 in zip(chart.names, chart.shares, chart.cos2, strict=True)
    ]
    total = len(chart.names) + chart.left_out
    says = say("contribute_alike", total=total, of=chart.of)
    if chart.above:
        share, names = percent(chart.expected), listed(chart.names[: min(chart.above, 3)])
        says = say("contributors", above=chart.above, total=total, of=chart.of, share=share, names=names)
    rows = list(zip(chart.names, chart.shares, chart.cos2, strict=True))
    grid = Grid(chart.title, [chart.of[:-1], "contribution", "share of its own variance"], rows, shown=WHOLE)
    return _bars(
        chart.title,
        with_notes([says], chart.notes),
        chart.names,
        chart.shares,
        "contribution",
        grid,
        hover,
        chart.expected,
    )


def importance_picture(chart: Importance) -> Picture:
    """What a regression rests on."""
    grid_columns = ["column", chart.ylabel]
    parts: list[Any] = [chart.columns, chart.values]
    if chart.low is not None and chart.high is not None:
        grid_columns += ["from", "to"]
        parts += [chart.low, chart.high]
    grid = Grid(chart.title, grid_columns, list(zip(*parts, strict=True)), shown=WHOLE)
    total, names = len(chart.values), leading(chart.columns, chart.values)
    if chart.limit is not None:
        above, limit = int((chart.values > chart.limit).sum()), number(chart.limit)
        says = [say("above_limit", above=above, total=total, what=chart.ylabel, limit=limit, names=names)]
    else:
        says = [say("largest_columns", names=names)]
        if chart.low is not None and chart.high is not None:
            sure = int(((chart.low > 0) | (chart.high < 0)).sum())
            says.append(say("excludes_zero", sure=sure, total=total))
    says = with_notes(says, chart.notes)
    if chart.positions is None:
        order = np.argsort(-np.abs(chart.values), kind="stable")[:BARS]
        drawn = tuple(chart.columns[at] for at in order)
        if len(order) < len(chart.values):
            says.append(say("bars_drawn", count=len(order)))
        hover = [f"{plain(name)}: {number(float(chart.values[at]))}" for name, at in zip(drawn, order, strict=True)]
        spread = (
            None if chart.low is None or chart.high is None else (chart.values - chart.low, chart.high - chart.values)
        )
        errors = None if spread is None else (spread[0][order], spread[1][order])
        return _bars(chart.title, says, drawn, chart.values[order], chart.ylabel, grid, hover, chart.limit, errors)
    data = [line(chart.positions, chart.values, chart.ylabel, mode="lines")]
    if chart.low is not None and chart.high is not None:
        x = np.concatenate([chart.positions, chart.positions[::-1]])
        y = np.concatenate([chart.low, chart.high[::-1]])
        band = {"fill": "toself", "fillcolor": "rgba(127,127,127,0.25)", "line": {"width": 0}, "mode": "lines"}
        data.insert(0, {"type": "scatter", "x": x, "y": y, "hoverinfo": "skip", "name": "interval", **band})
    shapes = [] if chart.limit is None else [rule(y=chart.limit)]
    frame = layout(axis(chart.xlabel), axis(chart.ylabel, zerolinecolor=MUTED), shapes=shapes)
    return Picture(chart.title, says, data, frame, grid, height=340)


def _bars(
    title: str,
    says: Sequence[Sentence],
    names: tuple[str, ...],
    values: Array,
    what: str,
    grid: Grid,
    hover: list[str],
    limit: float | None = None,
    errors: tuple[Array, Array] | None = None,
) -> Picture:
    # Places, not names, make the axis: names that are cut short, or repeat, stay apart.
    places = np.arange(len(values))
    bar: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": places,
        "hovertext": hover,
        "hoverinfo": "text",
        "marker": {"color": colour(0)},
    }
    if errors is not None:
        bar["error_x"] = {
            "type": "data",
            "symmetric": False,
            "array": errors[1],
            "arrayminus": errors[0],
            "color": INK,
            "thickness": 1,
        }
    ticks = {"tickmode": "array", "tickvals": places, "ticktext": [plain(name, LONGEST) for name in names]}
    shapes = [] if limit is None else [rule(x=limit)]
    frame = layout(
        axis(what, zerolinecolor=MUTED), axis("", autorange="reversed", showgrid=False, **ticks), shapes=shapes
    )
    return Picture(title, says, [bar], frame, grid, height=int(np.clip(90 + 22 * len(values), 200, 800)))


def _tips(ends: Array, columns: tuple[str, ...], name: str, at: int) -> dict[str, Any]:
    """Points at the ends of arrows."""
    hover = [
        f"{plain(column)}<br>{', '.join(number(float(part)) for part in end)}"
        for column, end in zip(columns, ends, strict=True)
    ]
    marker = {"color": colour(at), "size": 4}
    return line(ends[:, 0], ends[:, 1], name, at, mode="markers", marker=marker, hovertext=hover, hoverinfo="text")
