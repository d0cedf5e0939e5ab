"""Loadings as a table of colours."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.charts import Heat
from gramian.charts.palette import DIVERGING
from gramian.reports.contents import WHOLE, Grid, Picture, number
from gramian.reports.figures.frame import LONGEST, axis, largest, layout, plain, short_label

SCALE = [[at / (len(DIVERGING) - 1), shade] for at, shade in enumerate(DIVERGING)]
#: Signs of a name that a phone has room for.
SLIM = 16


def heat_picture(chart: Heat) -> Picture:
    """Loadings as a table of colours: a line for each column, a column for each component."""
    title = f"{chart.title} of all columns"
    says = largest(chart.labels, chart.columns, chart.values)
    frame, narrow = (_frame(chart, slim=slim) for slim in (False, True))
    height = int(np.clip(150 + 24 * len(chart.columns), 280, 1_400))
    drawn = layout(*frame, margin={"l": 60, "r": 20, "t": 50, "b": 70})
    instead = dict(zip(("xaxis", "yaxis"), narrow, strict=True))
    return Picture(title, says, [_cells(chart)], drawn, heat_grid(chart), height, narrow=instead)


def _cells(chart: Heat) -> dict[str, Any]:
    hover = [
        [
            f"{plain(name)}<br>{plain(label)}<br>{number(float(value))}"
            for label, value in zip(chart.labels, row, strict=True)
        ]
        for name, row in zip(chart.columns, chart.values, strict=True)
    ]
    bar = {"thickness": 12, "outlinewidth": 0, "orientation": "h", "x": 0.5, "y": -0.02, "yanchor": "top", "len": 0.7}
    return {
        "type": "heatmap",
        "x": np.arange(len(chart.labels)),
        "y": np.arange(len(chart.columns)),
        "z": chart.values,
        "zmin": -chart.limit,
        "zmax": chart.limit,
        "colorscale": SCALE,
        "text": [[f"{value:.2f}" if abs(value) >= chart.cut else "" for value in row] for row in chart.values],
        "texttemplate": "%{text}",
        "hovertext": hover,
        "hoverinfo": "text",
        "xgap": 1,
        "ygap": 1,
        "colorbar": {**bar, "title": {"text": chart.what, "side": "bottom"}},
    }


def _frame(chart: Heat, *, slim: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both axes. Places, not names, make them: names that are cut short, or repeat, stay apart."""
    labels = [
        plain(short_label(at).rpartition(" ")[2] if slim else at).replace(" (", "<br>(", 1) for at in chart.labels
    ]
    names = [plain(name, SLIM if slim else LONGEST) for name in chart.columns]
    shown = {"showgrid": False, "zeroline": False, "tickmode": "array"}
    x = axis("", side="top", tickvals=np.arange(len(labels)), ticktext=labels, tickangle=0, **shown)
    return x, axis("", autorange="reversed", tickvals=np.arange(len(names)), ticktext=names, **shown)


def heat_grid(chart: Heat) -> Grid:
    """The same as numbers."""
    common = [] if chart.communalities is None else ["communality"]
    rows = [
        [name, *row, *([] if chart.communalities is None else [float(chart.communalities[at])])]
        for at, (name, row) in enumerate(zip(chart.columns, chart.values.tolist(), strict=True))
    ]
    return Grid(f"{chart.title} of all columns", ["column", *chart.labels, *common], rows, shown=WHOLE)
