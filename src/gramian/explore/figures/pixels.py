"""Rows as pictures, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.charts.palette import DIVERGING
from gramian.explore.figures.base import Figure, layout, packed
from gramian.results import Array

#: The colours of all other pictures for numbers about zero.
RED_BLUE = [[at / (len(DIVERGING) - 1), shade] for at, shade in enumerate(DIVERGING)]


@dataclass(frozen=True, eq=False)
class Picture:
    """Pixels, what they are called, and whether zero is their middle."""

    pixels: Array
    title: str
    diverging: bool = False


def picture(row: Array, title: str, *, diverging: bool = False) -> Picture:
    """A row of side * side numbers as a picture."""
    side = round(len(row) ** 0.5)
    return Picture(np.asarray(row[: side * side]).reshape(side, side), title, diverging)


def tiles(pictures: list[Picture], across: int = 4) -> Figure:
    """Draw pictures in rows of four at most, each with its title above."""
    columns = min(across, len(pictures))
    lines = -(-len(pictures) // columns)
    traces, notes, frame = [], [], layout(margin={"l": 8, "r": 8, "t": 8, "b": 8})
    for at, one in enumerate(pictures):
        line, column = divmod(at, columns)
        left, top = column / columns, 1 - line / lines
        x, y = [left + 0.02, left + 1 / columns - 0.02], [top - 1 / lines + 0.02, top - 0.14 / lines - 0.04]
        end = "" if at == 0 else str(at + 1)
        hidden = {"visible": False, "fixedrange": True}
        frame[f"xaxis{end}"] = {**hidden, "domain": x, "anchor": f"y{end}", "constrain": "domain"}
        frame[f"yaxis{end}"] = {
            **hidden,
            "domain": y,
            "anchor": f"x{end}",
            "autorange": "reversed",
            "scaleanchor": f"x{end}",
            "constrain": "domain",
            "constraintoward": "top",
        }
        size = float(np.abs(one.pixels).max()) or 1.0
        low = -size if one.diverging else float(min(0.0, one.pixels.min()))
        traces.append(
            {
                "type": "heatmap",
                "z": {**packed(one.pixels), "shape": f"{one.pixels.shape[0]}, {one.pixels.shape[1]}"},
                "xaxis": f"x{end}",
                "yaxis": f"y{end}",
                "zmin": low,
                "zmax": size,
                "colorscale": RED_BLUE if one.diverging else [[0, "#ffffff"], [1, "#222222"]],
                "showscale": False,
                "hovertemplate": "%{z:.3g}<extra></extra>",
            }
        )
        notes.append(
            {
                "text": one.title,
                "x": sum(x) / 2,
                "y": y[1] + 0.01,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "center",
                "yanchor": "bottom",
                "showarrow": False,
                "font": {"size": 12},
            }
        )
    return {"data": traces, "layout": {**frame, "annotations": notes}}
