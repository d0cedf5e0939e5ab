"""What columns have to do with components."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.charts.columns import vectors_of
from gramian.charts.labels import noun_of
from gramian.estimators.cca import correlations
from gramian.explore.datasets import Dataset
from gramian.explore.figures import bars
from gramian.explore.figures.base import COLOURS, Figure, axis, keyed, message
from gramian.explore.figures.pixels import picture, tiles
from gramian.explore.fitting import Fit
from gramian.results import Array

#: Rows that are looked at for correlations.
ROWS = 20_000


def draw(data: Dataset, found: Fit, components: list[int]) -> tuple[Figure, str]:
    """Draw weights of columns if the method has them, else their correlations with the scores; say which it is."""
    names, weights, what = loadings(data, found)
    rows = "bars" if found.choice.pair else data.rows_as
    said = "How columns go along with the" if "correlation" in what else "What each column has to do with a"
    noun = noun_of(found.estimator)
    hint = f"{said} {noun}s." if "correlation" in what else f"{said} {noun}."
    return picture_of(names, weights, what, components, rows, noun), hint


def draw_glimpse(data: Dataset, rows: Array, scores: Array, components: list[int]) -> Figure:
    """Draw correlations of columns with the scores of some rows."""
    weights = _correlations(data.X[rows], scores)
    return picture_of(list(data.table.columns), weights, "correlation", components, data.rows_as)


def picture_of(
    names: list[str], weights: Array, what: str, components: list[int], rows: str, noun: str = "component"
) -> Figure:
    """Draw a number for each column and each of some components, as rows are drawn."""
    components = [at for at in dict.fromkeys(components) if at < weights.shape[1]]
    if not components:
        return message(f"There is no such {noun}.")
    if rows == "image":
        shown = [picture(weights[:, at], f"{noun} {at + 1}", diverging=True) for at in components]
        return tiles(shown)
    if rows == "curve":
        lines = [_line(names, weights[:, at], f"{noun} {at + 1}", number) for number, at in enumerate(components)]
        return keyed(lines, axis("", type="category", nticks=6), axis(what))
    return bars.draw(tuple(names), {f"{noun} {at + 1}": weights[:, at] for at in components}, what)


def loadings(data: Dataset, found: Fit) -> tuple[list[str], Array, str]:
    """Names of columns, a number for each and each component, and what the numbers are."""
    known = vectors_of(found.estimator)
    if known is not None and not known.second:
        return list(data.table.columns), known.weights, known.weights_are
    step = max(1, len(data.X) // ROWS)
    if found.second is None:
        return list(data.table.columns), _correlations(data.X[::step], found.scores[::step]), "correlation"
    x, y = data.views(found.choice.second)
    if known is not None:
        return [*x.columns, *y.columns], known.values, "correlation"
    parts = [
        _correlations(view.values[::step], scores[::step]) for view, scores in ((x, found.scores), (y, found.second))
    ]
    return [*x.columns, *y.columns], np.vstack(parts), "correlation"


def _correlations(X: Array, T: Array) -> Array:
    T = T.astype(np.float64)
    return correlations(X - X.mean(axis=0), T - T.mean(axis=0))


def _line(names: list[str], values: Array, name: str, number: int) -> dict[str, Any]:
    line = {"color": COLOURS[number % len(COLOURS)], "width": 2}
    hover = "%{x}: %{y:.3f}<extra></extra>"
    return {
        "type": "scatter",
        "mode": "lines",
        "name": name,
        "x": names,
        "y": values.tolist(),
        "line": line,
        "hovertemplate": hover,
    }
