"""A row and what the components make of it; all rows, where they lie in a plane."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.explore.datasets import Dataset
from gramian.explore.figures import bars
from gramian.explore.figures.base import COLOURS, Figure, axis, keyed, message
from gramian.explore.figures.pixels import picture, tiles
from gramian.results import Array

#: Rows of a plane that are rebuilt, neighbours that are drawn.
PLANE, NEIGHBOURS = 300, 6
NO_WAY = "This method has no way back to rows."


def sample(n: int) -> Array:
    """Rows of a plane that are rebuilt: every so-manyth."""
    return np.linspace(0, n - 1, min(n, PLANE)).astype(int)


def draw(data: Dataset, kind: str, focus: list[int], rebuilt: Array | None) -> Figure:
    """Draw a row, its rebuilt twin (row 0 of ``rebuilt``) and its neighbours; a plane if ``kind`` says so."""
    X = data.X
    if kind == "plane" and X.shape[1] == 2:
        return _plane(data, rebuilt)
    row, neighbours = focus[0], focus[1:]
    if kind == "image" and round(X.shape[1] ** 0.5) ** 2 == X.shape[1]:
        shown = [picture(X[row], f"row {data.names[row]}")]
        if rebuilt is not None:
            shown.append(picture(rebuilt[0], "rebuilt"))
        shown += [picture(X[at], f"near: {data.names[at]}") for at in neighbours[:NEIGHBOURS]]
        return tiles(shown)
    if kind == "curve":
        return _curve(data, row, neighbours, rebuilt)
    return _bars(data.table.columns, X, row, rebuilt, data.names[row])


def draw_second(columns: tuple[str, ...], Y: Array, row: int, predicted: Array | None, name: str) -> Figure:
    """Draw a row of the second view and what the first says of it."""
    return message(NO_WAY) if predicted is None else _bars(columns, Y, row, predicted, name, "from the first view")


def _plane(data: Dataset, rebuilt: Array | None) -> Figure:
    X = data.X
    shown = X if len(X) <= 5000 else X[sample(len(X))]
    dots = {"type": "scatter", "mode": "markers", "name": "rows", "hoverinfo": "skip"}
    traces: list[dict[str, Any]] = [
        {**dots, "x": shown[:, 0].tolist(), "y": shown[:, 1].tolist(), "marker": {"color": "#b6bcc6", "size": 5}}
    ]
    if rebuilt is not None:
        at = sample(len(X))
        gaps = np.full(len(at), np.nan)
        x, y = (np.column_stack([X[at, j], rebuilt[:, j], gaps]).ravel() for j in (0, 1))
        ways = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False}
        traces.append({**ways, "x": _gaps(x), "y": _gaps(y), "line": {"color": "#e7b3a8", "width": 1}})
        moved = {**dots, "name": "rebuilt", "x": rebuilt[:, 0].tolist(), "y": rebuilt[:, 1].tolist()}
        traces.append({**moved, "marker": {"color": COLOURS[1], "size": 5}})
    names = data.table.columns
    return keyed(traces, axis(names[0]), axis(names[1], scaleanchor="x"))


def _curve(data: Dataset, row: int, neighbours: list[int], rebuilt: Array | None) -> Figure:
    names = list(data.table.columns)

    def line(values: Array, name: str, colour: str, width: float, **more: Any) -> dict[str, Any]:
        style = {"color": colour, "width": width, **more}
        return {"type": "scatter", "mode": "lines", "name": name, "x": names, "y": values.tolist(), "line": style}

    near = [line(data.X[at], "rows near it", "#c3c8d0", 1) for at in neighbours[:NEIGHBOURS]]
    traces = [{**one, "showlegend": at == 0, "hoverinfo": "skip"} for at, one in enumerate(near)]
    traces.append(line(data.X[row], f"row {data.names[row]}", COLOURS[0], 2.5))
    if rebuilt is not None:
        traces.append(line(rebuilt[0], "rebuilt", COLOURS[1], 2, dash="dot"))
    return keyed(traces, axis("", type="category", nticks=6), axis("value"))


def _bars(
    columns: tuple[str, ...], X: Array, row: int, rebuilt: Array | None, name: str, twin: str = "rebuilt"
) -> Figure:
    """Columns have units of their own: bars are standard deviations away from the mean."""
    sample = X[:: max(1, len(X) // 20_000)]
    mean, spread = sample.mean(axis=0), sample.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    numbers = {f"row {name}": X[row]}
    if rebuilt is not None:
        numbers[twin] = rebuilt[0]
    return bars.draw(
        columns, {word: (values - mean) / spread for word, values in numbers.items()}, "deviations from the mean"
    )


def _gaps(values: Array) -> list[float | None]:
    """Numbers for JSON, which has no word for a gap."""
    return [None if np.isnan(value) else float(value) for value in values]
