"""What all pictures share: colours, paper, numbers that travel as bytes."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from gramian.plots.style import COLOURS, INK, MUTED
from gramian.results import Array

__all__ = ["COLOURS", "INK", "MUTED", "axis", "keyed", "layout", "message", "packed"]

Figure = dict[str, Any]
GRID = "#e8eaed"


def packed(numbers: Array) -> dict[str, str]:
    """Numbers in single precision as plotly.js reads them: bytes in base 64, a tenth of the time of text.

    >>> packed(np.array([1.0]))
    {'dtype': 'f4', 'bdata': 'AACAPw=='}
    """
    return {"dtype": "f4", "bdata": base64.b64encode(np.asarray(numbers, dtype="<f4").tobytes()).decode("ascii")}


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with quiet lines. Labels may overflow and margins are fixed: measuring them takes longer than drawing."""
    plain = {"gridcolor": GRID, "zerolinecolor": "#c4c7cc", "linecolor": "#c4c7cc", "automargin": False}
    plain |= {"ticklabeloverflow": "allow"}
    return {"title": {"text": title, "font": {"size": 13}}, **plain, **more}


def layout(**more: Any) -> dict[str, Any]:
    """Paper and fonts."""
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif", "size": 12, "color": INK},
        "margin": {"l": 58, "r": 12, "t": 12, "b": 46},
        "hoverlabel": {"bgcolor": "white", "font": {"color": INK}},
        "showlegend": False,
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#8a9099", "activecolor": INK, "orientation": "v"},
        **more,
    }


def keyed(
    traces: list[dict[str, Any]], across: dict[str, Any], up: dict[str, Any], *, left: int = 58, **more: Any
) -> Figure:
    """A picture with its key in one line above: a legend of plotly.js would be broken into lines that lie on bars."""
    shown = [trace for trace in traces if trace.get("showlegend", True)]
    words = [
        f'<span style="color:{(one.get("marker") or one["line"])["color"]}">■</span> {one["name"]}' for one in shown
    ]
    place = {"x": 0, "xref": "paper", "xanchor": "left", "xshift": 10 - left, "y": 1, "yref": "paper", "yshift": 6}
    key = {**place, "text": "   ".join(words), "yanchor": "bottom", "showarrow": False, "font": {"size": 11}}
    edge = {"l": left, "r": 14, "t": 30, "b": 44, "autoexpand": False}
    return {"data": traces, "layout": layout(xaxis=across, yaxis=up, annotations=[key], margin=edge, **more)}


def message(text: str) -> Figure:
    """A picture that says why there is none."""
    note = {"text": text, "showarrow": False, "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}
    hidden = {"visible": False}
    return {"data": [], "layout": layout(xaxis=hidden, yaxis=hidden, annotations=[note | {"font": {"color": MUTED}}])}
