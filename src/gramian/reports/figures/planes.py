"""Pictures over the plane of two columns, and rows rebuilt from their components."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.charts import Contours, Reconstructions, Regions
from gramian.charts.palette import DIVERGING, colour, rgb
from gramian.charts.palette import INK as DARK
from gramian.reports.contents import Grid, Picture, counted, number
from gramian.reports.figures.frame import INK, axis, layout, line, with_notes
from gramian.reports.figures.points import point_traces
from gramian.reports.figures.raster import png
from gramian.reports.sentences import say
from gramian.results import Sentence, percent

SCALE = [[at / (len(DIVERGING) - 1), shade] for at, shade in enumerate(DIVERGING)]


def contours_pictures(chart: Contours) -> list[Picture]:
    """One picture for each component, as contours over the plane."""
    pictures = []
    for label, values in zip(chart.labels, chart.values, strict=True):
        largest = float(np.abs(values).max()) or 1.0
        surface = {
            "type": "contour",
            "x": chart.x,
            "y": chart.y,
            "z": values,
            "zmin": -largest,
            "zmax": largest,
            "colorscale": SCALE,
            "ncontours": 14,
            "line": {"width": 0.6},
            "colorbar": {"thickness": 12, "outlinewidth": 0, "title": {"text": "score"}},
            "hoverinfo": "x+y+z",
        }
        points, more = point_traces(chart.points)
        high = np.unravel_index(values.argmax(), values.shape)
        says = say(
            "contour",
            label=label,
            value=number(float(values.max())),
            xlabel=chart.xlabel,
            x=number(float(chart.x[high[1]])),
            ylabel=chart.ylabel,
            y=number(float(chart.y[high[0]])),
        )
        step = max(1, len(chart.x) // 12)
        rows = [
            [float(x), float(y), float(values[j, i])]
            for j, y in enumerate(chart.y)
            for i, x in enumerate(chart.x)
            if i % step == 0 and j % step == 0
        ]
        grid = Grid(f"Contours of {label}", [chart.xlabel, chart.ylabel, "score"], rows)
        for trace in points:
            trace["marker"] = {"color": DARK, "size": 4, "opacity": 0.7}  # on light colours in either theme
            trace["showlegend"] = False
        frame = layout(axis(chart.xlabel), axis(chart.ylabel), **more)
        title = f"{label[:1].upper()}{label[1:]} over the plane"
        pictures.append(Picture(title, with_notes([says], chart.notes), [surface, *points], frame, grid))
    return pictures


def regions_picture(chart: Regions) -> Picture:
    """The class that every point of the plane gets."""
    shares = [float((chart.codes == at).mean()) for at in range(len(chart.classes))]
    cells = np.concatenate(
        [
            np.array([rgb(colour(int(code))) for code in chart.codes.ravel()]).reshape(*chart.codes.shape, 3),
            np.full((*chart.codes.shape, 1), 0.25),
        ],
        axis=2,
    )
    half = [(edges[1] - edges[0]) / 2 for edges in (chart.x, chart.y)]
    behind = {
        "source": png(cells[::-1]),
        "xref": "x",
        "yref": "y",
        "x": chart.x[0] - half[0],
        "y": chart.y[-1] + half[1],
        "sizex": chart.x[-1] - chart.x[0] + 2 * half[0],
        "sizey": chart.y[-1] - chart.y[0] + 2 * half[1],
        "sizing": "stretch",
        "layer": "below",
    }
    points, _ = point_traces(chart.points)
    data: list[dict[str, Any]] = []
    if chart.decision is not None:
        levels = {"start": -1, "end": 1, "size": 1, "coloring": "none"}
        border = {"type": "contour", "x": chart.x, "y": chart.y, "z": chart.decision, "contours": levels}
        data.append({**border, "line": {"color": INK, "width": 1.2}, "hoverinfo": "skip", "showlegend": False})
    data += points
    held = ", ".join(f"{name} {percent(share)}" for name, share in zip(chart.classes, shares, strict=True))
    says = [say("regions", shares=held)]
    if chart.support is not None:
        ring = {"color": "rgba(0,0,0,0)", "size": 12, "line": {"color": INK, "width": 1.2}}
        data.append(
            line(
                chart.support[:, 0],
                chart.support[:, 1],
                "support vectors",
                mode="markers",
                marker=ring,
                hoverinfo="skip",
            )
        )
        says.append(say("support", count=len(chart.support)))
    rows = [
        [
            name,
            share,
            int((chart.points.colouring.codes == at).sum()) if chart.points.colouring.codes is not None else None,
        ]
        for at, (name, share) in enumerate(zip(chart.classes, shares, strict=True))
    ]
    grid = Grid("Regions", ["class", "share of the plane", "rows"], rows)
    ends = [{"range": [float(at[0]), float(at[-1])], "showgrid": False, "zeroline": False} for at in (chart.x, chart.y)]
    frame = layout(axis(chart.xlabel, **ends[0]), axis(chart.ylabel, **ends[1]), legend=True, images=[behind])
    return Picture("Regions of the classes", with_notes(says, chart.notes), data, frame, grid, height=480)


def rebuilt_picture(chart: Reconstructions) -> Picture:
    """Rows, and what growing numbers of components rebuild of them, as lines or as small images."""
    errors = ", ".join(
        f"{number(float(error))} with {counted(k, 'component')}"
        for k, error in zip(chart.counts, chart.errors, strict=True)
    )
    says = [say("rebuilt", errors=errors)]
    grid = Grid(
        chart.title, ["components", "root mean squared difference"], list(zip(chart.counts, chart.errors, strict=True))
    )
    if chart.shape is None:
        return _as_lines(chart, says, grid)
    h, w = chart.shape
    low, high = float(chart.originals.min()), float(chart.originals.max())
    strips = np.stack([chart.originals, *chart.rebuilt])
    grey = 1 - np.clip((strips - low) / ((high - low) or 1.0), 0, 1)
    m, n = strips.shape[:2]
    tiles = np.pad(grey.reshape(m, n, h, w), ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=1.0)
    sheet = tiles.transpose(0, 2, 1, 3).reshape(m * (h + 1), n * (w + 1))
    cells = np.repeat(
        np.concatenate([np.repeat(sheet[..., None], 3, axis=2), np.ones((*sheet.shape, 1))], axis=2), 6, axis=0
    ).repeat(6, axis=1)
    behind = {
        "source": png(cells),
        "xref": "x",
        "yref": "y",
        "x": -0.5,
        "y": -0.5,
        "sizex": n,
        "sizey": m,
        "sizing": "stretch",
        "layer": "below",
    }
    names = ["rows", *(f"{k}" for k in chart.counts)]
    x = axis(
        "row",
        tickmode="array",
        tickvals=list(range(n)),
        ticktext=[str(row + 1) for row in chart.rows],
        range=[-0.5, n - 0.5],
        showgrid=False,
        zeroline=False,
    )
    y = axis(
        "components",
        tickmode="array",
        tickvals=list(range(m)),
        ticktext=names,
        range=[m - 0.5, -0.5],
        showgrid=False,
        zeroline=False,
    )
    blank = {"type": "scatter", "x": [0], "y": [0], "mode": "markers", "marker": {"opacity": 0}, "hoverinfo": "skip"}
    return Picture(
        chart.title, says, [blank], layout(x, y, images=[behind]), grid, height=70 + 64 * m, width=90 + 64 * n
    )


def _as_lines(chart: Reconstructions, says: list[Sentence], grid: Grid) -> Picture:
    data, drawn = [], chart.rows[:3]
    for at, row in enumerate(drawn):
        name = f"row {int(row) + 1}"
        data.append(line(chart.positions, chart.originals[at], name, at, mode="lines"))
        dashed = {"color": colour(at), "width": 2, "dash": "dot"}
        data.append(
            line(
                chart.positions,
                chart.rebuilt[-1, at],
                f"{name}, rebuilt from {chart.counts[-1]}",
                at,
                mode="lines",
                line=dashed,
            )
        )
    frame = layout(axis(chart.xlabel), axis("value"), legend=True)
    rows, count = counted(len(drawn), "row", "are"), counted(chart.counts[-1], "component")
    return Picture(chart.title, [*says, say("rebuilt_lines", rows=rows, count=count)], data, frame, grid)
