"""Numbers of columns as bars: names stand in full beside them, the key above."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.explore.figures.base import COLOURS, Figure, axis, keyed
from gramian.results import Array

#: Columns whose names can be read below each other, and letters of a name that stand before its bars.
MAX_COMPONENTS, LONGEST = 16, 14


def draw(columns: tuple[str, ...], numbers: dict[str, Array], what: str) -> Figure:
    """Draw a bar for each column and each of some named numbers; of many columns those with the largest.

    >>> figure = draw(("height", "weight"), {"weight": np.array([0.6, 0.8])}, "weight")
    >>> figure["data"][0]["y"], figure["layout"]["yaxis"]["ticktext"]
    ([0, 1], ['height', 'weight'])
    """
    sizes = np.max([np.abs(values) for values in numbers.values()], axis=0)
    order = np.sort(np.argsort(-sizes, kind="stable")[:MAX_COMPONENTS])
    names = [columns[at] for at in order]
    places = list(range(len(names)))
    traces: list[dict[str, Any]] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "x": values[order].tolist(),
            "y": places,
            "customdata": names,
            "marker": {"color": COLOURS[at % len(COLOURS)]},
            "hovertemplate": "%{customdata}: %{x:.3f}<extra>%{fullData.name}</extra>",
        }
        for at, (name, values) in enumerate(numbers.items())
    ]
    if len(columns) > MAX_COMPONENTS:
        what = f"{what}; the {MAX_COMPONENTS} largest of {len(columns):,}"
    shown = [_shortened(name) for name in names]
    ticks = {"tickvals": places, "ticktext": shown, "range": [len(names) - 0.4, -0.6], "tickfont": {"size": 11}}
    left = 14 + 7 * max(map(len, shown))
    return keyed(
        traces, axis(what), axis("", **ticks, showgrid=False, zeroline=False), left=left, barmode="group", bargap=0.3
    )


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}\u2026"
