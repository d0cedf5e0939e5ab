"""Figures of columns: loadings as arrows, lines or a heat map; contributions; what a regression rests on."""

from __future__ import annotations

import numpy as np

from gramian.charts import Contributions, Heat, Importance, Loadings
from gramian.charts.labels import short_label
from gramian.charts.palette import DIVERGING, colour
from gramian.figures.grammar import (
    NAME_MAX_LETTERS,
    THEME_MUTED,
    Figure,
    Part,
    arrow,
    axis,
    band,
    bars,
    colour_scale,
    layout,
    line,
    named_places,
    names_of_arrows,
    number,
    numbers,
    plain,
    rule,
    stroke,
)
from gramian.results import Array, percent

#: Arrows that get a name, and bars that are drawn, at the most.
NAMED_ARROWS_MAX, BARS_MAX = 18, 30
#: Side of a square picture on a desk and on a phone, in pixels.
SQUARE_PIXELS, SQUARE_PHONE_PIXELS = 520, 270
#: Letters of a name that a phone has room for.
PHONE_MAX_LETTERS = 16
DASHES = ("solid", "dash", "dot", "dashdot")


def loadings(chart: Loadings) -> Figure:
    """Columns along components: arrows for few, lines over the channels of a spectrum."""
    if chart.kind == "lines":
        assert chart.positions is not None
        data = [
            line(chart.positions, chart.values[:, at], label, at, **stroke(colour(at), dash=DASHES[at % len(DASHES)]))
            for at, label in enumerate(chart.labels)
        ]
        y = axis(chart.ylabel, zeroline=True, zerolinecolor=THEME_MUTED)
        return Figure(data, layout(axis(chart.xlabel), y, legend=True))
    first = len(chart.columns) - chart.second
    data, arrows = [], []
    for at, (name, some) in enumerate((("columns of X", slice(0, first)), ("columns of Y", slice(first, None)))):
        if len(chart.values[some]):
            data.append(_tips(chart.values[some], chart.columns[some], name, at))
            arrows += [arrow(end, colour(at)) for end in chart.values[some] if np.any(end)]
    longest = np.argsort(-np.linalg.norm(chart.values, axis=1), kind="stable")[:NAMED_ARROWS_MAX]
    reach = 1.25 if chart.circle else 1.2 * float(np.abs(chart.values).max(initial=0.0)) or 1.0
    names, ends = [chart.columns[at] for at in longest], chart.values[longest]
    wide, slim = (
        [*arrows, *names_of_arrows(names, ends, pixels / (2 * reach), reach, size)]
        for pixels, size in ((SQUARE_PIXELS, 12), (SQUARE_PHONE_PIXELS, 10))
    )
    ring = {"type": "circle", "x0": -1, "x1": 1, "y0": -1, "y1": 1, "line": {"color": THEME_MUTED, "width": 1}}
    ends_of_axes = {"range": [-reach, reach], "constrain": "domain"}
    x, y = axis(chart.xlabel, **ends_of_axes), axis(chart.ylabel, scaleanchor="x", scaleratio=1, **ends_of_axes)
    frame = layout(x, y, legend=chart.second > 0, shapes=[ring] if chart.circle else [], annotations=wide)
    return Figure(data, frame, SQUARE_PIXELS + 70, SQUARE_PIXELS + 90, {"annotations": slim}, square=True)


def _tips(ends: Array, columns: tuple[str, ...], name: str, at: int) -> Part:
    """Points at the ends of arrows."""
    hover = [f"{plain(column)}<br>{numbers(end)}" for column, end in zip(columns, ends, strict=True)]
    shown = {"mode": "markers", "marker": {"color": colour(at), "size": 4}, "hovertext": hover, "hoverinfo": "text"}
    return line(ends[:, 0], ends[:, 1], name, at, **shown)


def heat(chart: Heat) -> Figure:
    """Loadings as a table of colours: a line for each column, a column for each component."""
    hover = [
        [f"{plain(name)}<br>{plain(label)}<br>{number(float(v))}" for label, v in zip(chart.labels, row, strict=True)]
        for name, row in zip(chart.columns, chart.values, strict=True)
    ]
    bar = {"thickness": 12, "outlinewidth": 0, "orientation": "h", "x": 0.5, "y": -0.02, "yanchor": "top", "len": 0.7}
    cells = {
        "type": "heatmap",
        "x": np.arange(len(chart.labels)),
        "y": np.arange(len(chart.columns)),
        "z": chart.values,
        "zmin": -chart.limit,
        "zmax": chart.limit,
        "colorscale": colour_scale(DIVERGING),
        "text": [[f"{value:.2f}" if abs(value) >= chart.cut else "" for value in row] for row in chart.values],
        "texttemplate": "%{text}",
        "hovertext": hover,
        "hoverinfo": "text",
        "xgap": 1,
        "ygap": 1,
        "colorbar": {**bar, "title": {"text": chart.what, "side": "bottom"}},
    }
    wide, slim = (_table_axes(chart, slim=slim) for slim in (False, True))
    frame = layout(*wide, margin={"l": 60, "r": 20, "t": 50, "b": 70})
    height = int(np.clip(150 + 24 * len(chart.columns), 280, 1_400))
    return Figure([cells], frame, height, narrow=dict(zip(("xaxis", "yaxis"), slim, strict=True)))


def _table_axes(chart: Heat, *, slim: bool) -> tuple[Part, Part]:
    labels = [short_label(label).rpartition(" ")[2] if slim else label for label in chart.labels]
    x = named_places(labels, 1_000, side="top", tickangle=0)
    x["ticktext"] = [label.replace(" (", "<br>(", 1) for label in x["ticktext"]]
    return x, named_places(chart.columns, PHONE_MAX_LETTERS if slim else NAME_MAX_LETTERS, autorange="reversed")


def contributions(chart: Contributions) -> Figure:
    """Which columns or rows a component is made of."""
    hover = [
        f"{plain(name)}<br>{percent(float(share))} of the component, which holds {percent(float(cos2))} of it"
        for name, share, cos2 in zip(chart.names, chart.shares, chart.cos2, strict=True)
    ]
    return bars(chart.names, {"": chart.shares}, "contribution", hover=hover, limit=chart.expected)


def importance(chart: Importance) -> Figure:
    """What a regression rests on: the largest of columns without an order, a line over a spectrum."""
    low, high = chart.low, chart.high
    if chart.positions is None:
        order = np.argsort(-np.abs(chart.values), kind="stable")[:BARS_MAX]
        names, values = [chart.columns[at] for at in order], chart.values[order]
        errors = None if low is None or high is None else (values - low[order], high[order] - values)
        return bars(names, {"": values}, chart.ylabel, limit=chart.limit, errors=errors)
    data = [line(chart.positions, chart.values, chart.ylabel, **stroke(colour(0)))]
    if low is not None and high is not None:
        data.insert(0, band(chart.positions, low, high, "interval"))
    shapes = [] if chart.limit is None else [rule(y=chart.limit)]
    frame = layout(axis(chart.xlabel), axis(chart.ylabel, zerolinecolor=THEME_MUTED), shapes=shapes)
    return Figure(data, frame, height=340)
