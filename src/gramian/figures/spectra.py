"""Figures over numbers of components: scree, errors of rows left out, correlations, certificates, likelihoods."""

from __future__ import annotations

import numpy as np

from gramian.charts import Correlations, CVCurve, Likelihood, Residuals, Scree
from gramian.charts.palette import colour
from gramian.figures.grammar import (
    THEME_INK,
    THEME_PAPER,
    Figure,
    Part,
    axis,
    band,
    counts,
    layout,
    line,
    number,
    plain,
    rule,
    stroke,
    written,
)
from gramian.results import percent


def scree(chart: Scree, *, movable: bool = False) -> Figure:
    """What each component holds, beside what chance gives; a ``movable`` cut stands behind the last one kept."""
    x, kept = chart.numbers, chart.numbers <= chart.kept
    data: list[Part] = []
    if chart.low is not None and chart.high is not None:
        known = np.isfinite(chart.low)
        data.append(band(x[known], chart.low[known], chart.high[known], "random tables, 5 % to 95 %"))
    shares = [""] * len(x) if chart.shares is None else [f", {percent(s)} of variance" for s in chart.shares]
    hover = [
        f"{plain(chart.xlabel)} {k}: {number(float(v))}{s}" for k, v, s in zip(x, chart.values, shares, strict=True)
    ]
    data.append(line(x, chart.values, "all", mode="lines", hoverinfo="skip", showlegend=False))
    for name, some, fill in ((f"kept, {chart.kept}", kept, colour(0)), ("left out", ~kept, THEME_PAPER)):
        if some.any():
            marker = {"color": fill, "size": 9, "line": {"color": colour(0), "width": 1.5}}
            text = [hover[at] for at in np.flatnonzero(some)]
            shown: Part = {"mode": "markers", "marker": marker, "hovertext": text, "hoverinfo": "text"}
            data.append(line(x[some], chart.values[some], name, **shown))
    if movable:
        return Figure(data, _with_cut(chart))
    shapes, notes = [], []
    if chart.recommended and chart.recommended <= len(x):
        where = chart.recommended + 0.5
        shapes.append(rule(x=where))
        said = f" {plain(chart.decided_by)}: {chart.recommended}"
        notes.append(written(said, where, 1, yref="paper", xanchor="left", yanchor="top"))
    x_axis, y_axis = counts(chart.xlabel, len(x)), axis(chart.ylabel, rangemode="tozero")
    return Figure(data, layout(x_axis, y_axis, legend=True, shapes=shapes, annotations=notes))


def _with_cut(chart: Scree) -> Part:
    """A layout in which nothing moves but the cut, and that says what is kept."""
    k, count = chart.kept, len(chart.values)
    cut = rule(x=k + 0.5, dash="solid", opacity=0.65, layer="above")
    cut["line"] |= {"color": THEME_INK, "width": 5}
    said = f"{k} kept" if chart.shares is None else f"{k} kept: {100 * float(chart.shares[:k].sum()):.1f} %"
    side: Part = {"xanchor": "right", "xshift": -8} if k > 0.6 * count else {"xanchor": "left", "xshift": 8}
    paper: Part = {"bgcolor": "rgba(255,255,255,0.85)", "borderpad": 3}
    note = written(said, k + 0.5, 1, yref="paper", yanchor="top", **side, **paper)
    step = -(-count // 10)
    ticks = {"tick0": step, "dtick": step, "tickangle": 0, "range": [0.3, count + 0.9], "fixedrange": True}
    x, y = axis(chart.xlabel, zeroline=False, **ticks), axis(chart.ylabel, fixedrange=True, rangemode="tozero")
    return layout(x, y, shapes=[cut], annotations=[note], dragmode=False)


def cv_curve(chart: CVCurve) -> Figure:
    """Errors of rows left out."""
    data = [line(chart.x, chart.errors[:, at], name or "error", at) for at, name in enumerate(chart.targets)]
    if chart.standard_errors is not None:
        for trace, doubts in zip(data, chart.standard_errors.T, strict=True):
            trace["error_y"] = {"type": "data", "array": doubts, "thickness": 1}
    shapes = [rule(x=float(chart.x[chart.recommended]))]
    if chart.limit is not None:
        shapes.append(rule(y=chart.limit, dash="dot"))
    x = axis(chart.xlabel, type="log") if chart.logarithmic else counts(chart.xlabel, len(chart.x))
    frame = layout(x, axis(chart.ylabel, rangemode="tozero"), legend=len(data) > 1, shapes=shapes)
    return Figure(data, frame)


def correlations(chart: Correlations) -> Figure:
    """Correlations of pairs, beside those of shuffled rows."""
    x = np.arange(1, len(chart.values) + 1)
    data: list[Part] = []
    if chart.middle is not None and chart.high is not None:
        data.append(band(x, chart.middle, chart.high, "rows paired at random, 50 % to 95 %"))
    data.append(line(x, chart.values, "these rows"))
    if chart.plain is not None:
        data.append(line(x, chart.plain, "correlation of the scores", 2))
    if chart.held_out is not None:
        data.append(line(x[: len(chart.held_out)], chart.held_out, "rows left out of the fit", 1))
    return Figure(data, layout(counts(chart.xlabel, len(x)), axis(chart.ylabel, range=[0, 1.03]), legend=len(data) > 1))


def residuals(chart: Residuals) -> Figure:
    """How exact each component is."""
    floor = np.finfo(np.float64).tiny
    data = [
        line(chart.numbers, np.maximum(chart.residuals, floor), "residual"),
        line(chart.numbers, np.maximum(chart.angles, floor), "angle to the true direction, at most", 1),
    ]
    x = counts(chart.xlabel, len(chart.numbers))
    return Figure(data, layout(x, axis(chart.ylabel, type="log", range=[-17, 0], dtick=4), legend=True), height=320)


def likelihood(chart: Likelihood) -> Figure:
    """The likelihood at each step."""
    data = [line(chart.steps, chart.values, **stroke(colour(0)))]
    return Figure(data, layout(axis(chart.xlabel), axis(chart.ylabel)), height=320)
