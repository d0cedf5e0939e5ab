"""The spectrum, with a cut to drag."""

from __future__ import annotations

import numpy as np

from gramian.explore.figures.base import COLOURS, INK, Figure, axis, layout
from gramian.results import Array

FAINT = "#c9d9ea"


def draw(spectrum: Array, measure: str, k: int) -> Figure:
    """Draw bars, those before the cut in full colour, and the cut."""
    places = np.arange(1, len(spectrum) + 1)
    bars = {
        "type": "bar",
        "x": places.tolist(),
        "y": [float(f"{value:.6g}") for value in spectrum],
        "marker": {"color": [COLOURS[0] if at <= k else FAINT for at in places]},
        "hovertemplate": "component %{x}: %{y:.4g}<extra></extra>",
    }
    cut = {
        "type": "line",
        "x0": k + 0.5,
        "x1": k + 0.5,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": INK, "width": 5},
        "opacity": 0.65,
    }
    kept = f"{k} kept"
    if "share" in measure:
        kept = f"{k} kept: {float(spectrum[:k].sum()):.1f} %"
    said = {"x": k + 0.65, "y": 1, "yref": "paper", "yanchor": "top", "xanchor": "left", "showarrow": False}
    if k > len(spectrum) * 0.6:
        said |= {"x": k + 0.35, "xanchor": "right"}
    step = -(-len(spectrum) // 10)
    ticks = {"tick0": step, "dtick": step, "tickangle": 0, "range": [0.3, len(spectrum) + 0.9], "fixedrange": True}
    frame = layout(
        xaxis=axis("component", **ticks),
        yaxis=axis(measure, fixedrange=True, rangemode="tozero"),
        shapes=[cut],
        annotations=[{**said, "text": kept, "bgcolor": "rgba(255,255,255,0.85)", "borderpad": 3}],
        bargap=0.25,
        dragmode=False,
    )
    return {"data": [bars], "layout": frame}


def dragged_to(changed: object, most: int) -> int | None:
    """Where somebody left the cut, as a number of components; None if it was not the cut that changed.

    >>> dragged_to({"shapes[0].x0": 3.4, "shapes[0].x1": 3.4}, 10), dragged_to({"autosize": True}, 10)
    (3, None)
    """
    if not isinstance(changed, dict):
        return None
    ends = [changed.get(f"shapes[0].{name}") for name in ("x0", "x1")]
    known = [float(end) for end in ends if isinstance(end, (int, float)) and np.isfinite(end)]
    if len(known) < 2:
        return None
    return int(np.clip(round(sum(known) / 2 - 0.5), 1, most))
