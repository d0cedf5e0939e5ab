"""What columns have to do with components."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.explore.datasets import Dataset
from gramian.explore.figures.base import COLOURS, Figure, axis, layout, message
from gramian.explore.figures.pixels import picture, tiles
from gramian.explore.fitting import Fit
from gramian.results import Array

#: Columns that fit beside each other, and rows that are looked at for correlations.
WIDEST, ROWS = 30, 20_000


def draw(data: Dataset, found: Fit, components: list[int]) -> Figure:
    """Draw weights of columns if the method has them, else their correlations with the scores."""
    names, weights, what = loadings(data, found)
    return picture_of(names, weights, what, components, "bars" if found.choice.row.pair else data.rows_as)


def draw_glimpse(data: Dataset, rows: Array, scores: Array, components: list[int]) -> Figure:
    """Draw correlations of columns with the scores of some rows."""
    weights = _correlations(data.X[rows], scores)
    return picture_of(list(data.table.columns), weights, "correlation", components, data.rows_as)


def picture_of(names: list[str], weights: Array, what: str, components: list[int], rows: str) -> Figure:
    """Draw a number for each column and each of some components, as rows are drawn."""
    components = [at for at in dict.fromkeys(components) if at < weights.shape[1]]
    if not components:
        return message("There is no such component.")
    if rows == "image":
        shown = [picture(weights[:, at], f"component {at + 1}", diverging=True) for at in components]
        return tiles(shown)
    if rows == "curve":
        lines = [_line(names, weights[:, at], at, number) for number, at in enumerate(components)]
        return {"data": lines, "layout": _frame(what, "", curve=True)}
    order = np.arange(len(names))
    dropped = ""
    if len(names) > WIDEST:
        order = np.sort(np.argsort(-np.abs(weights[:, components]).max(axis=1), kind="stable")[:WIDEST])
        dropped = f"the {WIDEST} largest of {len(names):,} columns"
    bars = [
        {
            "type": "bar",
            "name": f"component {at + 1}",
            "x": [names[place] for place in order],
            "y": weights[order, at].tolist(),
            "marker": {"color": COLOURS[number % len(COLOURS)]},
            "hovertemplate": "%{x}: %{y:.3f}<extra></extra>",
        }
        for number, at in enumerate(components)
    ]
    return {"data": bars, "layout": _frame(what, dropped)}


def loadings(data: Dataset, found: Fit) -> tuple[list[str], Array, str]:
    """Names of columns, a number for each and each component, and what the numbers are."""
    if not found.choice.row.pair and hasattr(found.estimator, "components_"):
        weights = np.asarray(found.estimator.components_, dtype=np.float64)
        if weights.shape == (found.size, data.X.shape[1]):
            return list(data.table.columns), weights.T, "weight"
    step = max(1, len(data.X) // ROWS)
    if found.second is None:
        return list(data.table.columns), _correlations(data.X[::step], found.scores[::step]), "correlation"
    x, y = data.views(found.choice.second)
    parts = [
        _correlations(view.values[::step], scores[::step]) for view, scores in ((x, found.scores), (y, found.second))
    ]
    return [*x.columns, *y.columns], np.vstack(parts), "correlation"


def _correlations(X: Array, T: Array) -> Array:
    X, T = X - X.mean(axis=0), T.astype(np.float64) - T.mean(axis=0, dtype=np.float64)
    sizes = np.linalg.norm(X, axis=0)[:, None] * np.linalg.norm(T, axis=0)
    return np.divide(X.T @ T, sizes, out=np.zeros_like(sizes), where=sizes > 0)


def _line(names: list[str], values: Array, at: int, number: int) -> dict[str, Any]:
    line = {"color": COLOURS[number % len(COLOURS)], "width": 2}
    hover = "%{x}: %{y:.3f}<extra></extra>"
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"component {at + 1}",
        "x": names,
        "y": values.tolist(),
        "line": line,
        "hovertemplate": hover,
    }


def _frame(what: str, note: str, *, curve: bool = False) -> dict[str, Any]:
    key = {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0}
    more = {"nticks": 10} if curve else {"tickangle": 35}
    return layout(
        xaxis=axis(note, type="category", **more),
        yaxis=axis(what),
        barmode="group",
        bargap=0.3,
        showlegend=True,
        legend=key,
        margin={"l": 58, "r": 12, "t": 30, "b": 76},
    )
