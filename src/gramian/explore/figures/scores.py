"""Rows as points: in the plane, in space, or in two planes side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.explore.datasets import Dataset
from gramian.explore.figures.base import COLOURS, INK, Figure, axis, layout, packed
from gramian.results import Array

#: Points up to which each carries its name, and up to which a browser without WebGL can draw them.
NAMED, DRAWN = 3_000, 10_000
#: Where space is seen from: far enough that names of axes stay in the picture.
EYE = {"x": 1.5, "y": 1.5, "z": 1.1}
#: Axes of each view.
PLACES: tuple[dict[str, Any], ...] = ({}, {"xaxis": "x2", "yaxis": "y2"})


@dataclass(frozen=True)
class View:
    """How points are looked at: components counted from 0, colours by "group:NAME", "column:NAME" or ""."""

    x: int = 0
    y: int = 1
    z: int = 2
    space: bool = False
    colour: str = ""
    webgl: bool = True


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points to draw: scores (of two views, if there are two), which rows they are, and which way axes run."""

    scores: Array
    second: Array | None
    rows: Array
    signs: Array
    titles: list[str]


def thinned(cloud: Cloud, view: View) -> Cloud:
    """As many points as the browser can draw: all with WebGL, every so-manyth without."""
    if view.webgl or len(cloud.rows) <= DRAWN:
        return cloud
    kept = np.linspace(0, len(cloud.rows) - 1, DRAWN).astype(int)
    second = None if cloud.second is None else cloud.second[kept]
    return Cloud(cloud.scores[kept], second, cloud.rows[kept], cloud.signs, cloud.titles)


def draw(data: Dataset, cloud: Cloud, view: View, focus: list[int]) -> Figure:
    """Draw scores; ``focus`` is a row and its neighbours."""
    points = _points(data, cloud, view)
    traces: list[dict[str, Any]] = []
    for name, scores in zip(PLACES, (cloud.scores, cloud.second), strict=False):
        if scores is not None:
            traces.append({**points, **name, **coordinates(scores, view)})
    if focus and not (view.space and view.webgl):
        traces += _focused(cloud, view, focus)
    return {
        "data": [*traces, *_legend(data, view)],
        "layout": {**_frame(data, cloud, view), "uirevision": _revision(data, cloud, view)},
    }


def coordinates(scores: Array, view: View) -> dict[str, Any]:
    """Coordinates of points; a component that is not there is zero."""
    zero = np.zeros(len(scores), dtype=np.float32)
    asked = [("x", view.x), ("y", view.y)] + ([("z", view.z)] if view.space and view.webgl else [])
    return {name: packed(scores[:, at] if at < scores.shape[1] else zero) for name, at in asked}


def marks(data: Dataset, rows: Array, view: View) -> dict[str, Any]:
    """Sizes and colours of points."""
    n = len(rows)
    size = 7 if n <= 1000 else 5 if n <= 10_000 else 3
    if view.space:
        size = max(2, size - 2)
    given: dict[str, Any] = {"size": size, "opacity": 0.85 if n <= 10_000 else 0.5}
    kind, _, name = view.colour.partition(":")
    if kind == "group" and name in data.groups:
        _, codes = np.unique(data.groups[name], return_inverse=True)
        last = len(COLOURS)
        steps = [[(at + step) / last, shade] for at, shade in enumerate(COLOURS) for step in (0, 1)]
        return {**given, "color": packed(codes[rows] % last), "cmin": -0.5, "cmax": last - 0.5, "colorscale": steps}
    if kind == "column" and name in data.table.columns:
        values = data.X[rows, data.table.columns.index(name)]
        bar = {"title": {"text": name, "side": "right"}, "thickness": 10, "outlinewidth": 0}
        return {**given, "color": packed(values), "colorscale": "Viridis", "showscale": True, "colorbar": bar}
    return {**given, "color": COLOURS[0]}


def _points(data: Dataset, cloud: Cloud, view: View) -> dict[str, Any]:
    n = len(cloud.rows)
    flat = "scattergl" if view.webgl else "scatter"
    trace: dict[str, Any] = {
        "type": "scatter3d" if view.space and view.webgl else flat,
        "mode": "markers",
        "marker": marks(data, cloud.rows, view),
        "showlegend": False,
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 0.12}},
        "hovertemplate": "row %{pointNumber}<extra></extra>",
    }
    if view.space:
        trace = {key: value for key, value in trace.items() if not key.endswith("selected")}
    if n < len(data.X):
        trace["customdata"] = packed(cloud.rows)
    if n <= NAMED:
        group = data.groups.get(view.colour.partition(":")[2])
        names = data.names
        trace["text"] = [f"{names[at]} ({group[at]})" if group else names[at] for at in cloud.rows.tolist()]
        trace["hovertemplate"] = "%{text}<br>%{x:.4g}, %{y:.4g}<extra></extra>"
    return trace


def _focused(cloud: Cloud, view: View, focus: list[int]) -> list[dict[str, Any]]:
    """Rings around a row and its neighbours, in both views."""
    places = np.flatnonzero(np.isin(cloud.rows, focus))
    order = sorted(places, key=lambda at: focus.index(int(cloud.rows[at])))
    rings: list[dict[str, Any]] = []
    for name, scores in zip(PLACES, (cloud.scores, cloud.second), strict=False):
        if scores is None:
            continue
        width = [3.0] + [1.2] * (len(order) - 1)
        marker = {"size": 14, "color": "rgba(0,0,0,0)", "line": {"width": width, "color": INK}}
        rings.append(
            {
                **name,
                **coordinates(scores[order], view),
                "type": "scatter",
                "mode": "markers",
                "marker": marker,
                "hoverinfo": "skip",
                "showlegend": False,
            }
        )
    return rings


def _legend(data: Dataset, view: View) -> list[dict[str, Any]]:
    """A key to the colours: a point of each, of which none is drawn."""
    kind, _, name = view.colour.partition(":")
    if kind != "group" or name not in data.groups:
        return []
    dot = {"type": "scatter3d" if view.space and view.webgl else "scatter", "mode": "markers", "x": [None], "y": [None]}
    if view.space and view.webgl:
        dot["z"] = [None]
    return [
        {**dot, "name": str(word), "showlegend": True, "marker": {"color": COLOURS[at % len(COLOURS)], "size": 8}}
        for at, word in enumerate(np.unique(data.groups[name])[:20])
    ]


def short(title: str) -> str:
    """Name of an axis in space, where there is no room for its share."""
    return title.partition(" (")[0]


def direction(signs: Array, at: int) -> str | bool:
    """How an axis runs."""
    return "reversed" if at < len(signs) and signs[at] < 0 else True


def _frame(data: Dataset, cloud: Cloud, view: View) -> dict[str, Any]:
    key = {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "itemclick": False, "itemdoubleclick": False}
    more: dict[str, Any] = {"showlegend": True, "legend": key, "margin": {"l": 58, "r": 12, "t": 34, "b": 44}}
    titles = [cloud.titles[at] if at < len(cloud.titles) else "(no such component)" for at in (view.x, view.y, view.z)]
    if view.space and view.webgl:
        names = zip("xyz", (view.x, view.y, view.z), titles, strict=True)
        scene = {f"{name}axis": axis(short(title), autorange=direction(cloud.signs, at)) for name, at, title in names}
        more["margin"] = {"l": 0, "r": 0, "t": 34, "b": 0}
        return layout(**more, scene={**scene, "aspectmode": "cube", "camera": {"eye": EYE}})
    more |= {"dragmode": "lasso", "hovermode": "closest"}
    across, up = ({"autorange": direction(cloud.signs, at)} for at in (view.x, view.y))
    if cloud.second is None:
        return layout(**more, xaxis=axis(titles[0], **across), yaxis=axis(titles[1], **up))
    # On a narrow page each view has half of little: what a pair holds goes into a second line.
    below = titles[0].replace(" (", "<br>(")
    more["margin"] = {**more["margin"], "b": 60}
    return layout(
        **more,
        xaxis=axis(f"first view, {below}", domain=[0, 0.46], **across),
        yaxis=axis(titles[1], **up),
        xaxis2=axis(f"second view, {below}", domain=[0.54, 1], anchor="y2", **across),
        yaxis2=axis("", anchor="x2", **up),
    )


def _revision(data: Dataset, cloud: Cloud, view: View) -> str:
    """While this stays, the browser keeps its zoom."""
    return f"{data.key} {data.serial} {view.x} {view.y} {view.z} {view.space} {cloud.second is None}"
