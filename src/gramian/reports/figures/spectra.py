"""Pictures over numbers of components: scree, errors of rows left out, correlations, certificates, likelihoods."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.charts import Correlations, CVCurve, Likelihood, Residuals, Scree
from gramian.charts.palette import colour
from gramian.estimators.cca_tests import chance_in_words
from gramian.reports.contents import Grid, Picture, at_most, brief, counted, number
from gramian.reports.figures.frame import INK, MUTED, axis, layout, line, plain, rule, with_notes
from gramian.reports.sentences import say
from gramian.results import Array, Sentence, percent

BAND = "rgba(127,127,127,0.25)"


def scree_picture(chart: Scree) -> Picture:
    """What each component holds, beside what chance gives."""
    x = chart.numbers
    kept = x <= chart.kept
    data: list[dict[str, Any]] = []
    if chart.low is not None and chart.high is not None:
        known = np.isfinite(chart.low)
        data.append(_band(x[known], chart.low[known], chart.high[known], "random tables, 5 % to 95 %"))
    shares = [""] * len(x) if chart.shares is None else [f", {percent(s)} of variance" for s in chart.shares]
    hover = [
        f"{plain(chart.xlabel)} {k}: {number(float(v))}{s}" for k, v, s in zip(x, chart.values, shares, strict=True)
    ]
    data.append(line(x, chart.values, "all", mode="lines", hoverinfo="skip", showlegend=False))
    for name, some, fill in ((f"kept, {chart.kept}", kept, colour(0)), ("left out", ~kept, "var(--paper)")):
        if some.any():
            marker = {"color": fill, "size": 9, "line": {"color": colour(0), "width": 1.5}}
            text = [hover[at] for at in np.flatnonzero(some)]
            data.append(
                line(x[some], chart.values[some], name, mode="markers", marker=marker, hovertext=text, hoverinfo="text")
            )
    marked, noted = [], []
    if chart.recommended and chart.recommended <= len(x):
        marked.append(rule(x=chart.recommended + 0.5))
        noted.append(_note(chart.recommended + 0.5, f"{chart.decided_by}: {chart.recommended}"))
    columns = [chart.xlabel, chart.ylabel, "share", "shares so far", "random tables, median", "random tables, 95 %"]
    none = [None] * len(x)
    parts = [x, chart.values, chart.shares, chart.cumulative, chart.middle, chart.high]
    rows = list(zip(*(none if part is None else part for part in parts), strict=True))
    return Picture(
        chart.title,
        with_notes(_scree_says(chart), chart.notes),
        data,
        layout(
            axis(chart.xlabel, dtick=_step(len(x)), zeroline=False),
            axis(chart.ylabel, rangemode="tozero"),
            legend=True,
            shapes=marked,
            annotations=noted,
        ),
        _without_empty(Grid(chart.title, columns, rows, shown=30)),
    )


def _scree_says(chart: Scree) -> list[Sentence]:
    noun, kept = chart.xlabel, chart.kept
    if chart.cumulative is None:
        said = [say("first_value", noun=noun, what=chart.ylabel, value=number(float(chart.values[0])))]
    else:
        first, total = (percent(float(chart.cumulative[at])) for at in (0, max(kept, 1) - 1))
        if chart.ylabel.startswith("eigenvalue"):  # of the correlation matrix: factors explain less
            said = [say("eigenvalues" if kept > 1 else "eigenvalue", first=first, kept=kept, total=total)]
        else:
            said = [say("held", noun=noun, first=first)]
            said += [say("held_together", kept=kept, total=total)] if kept > 1 else []
    count, by = chart.recommended, chart.decided_by
    if count is not None:
        nouns = counted(count, noun, "stand").partition(" ")[2]
        out = say("stand_out", criterion=by, count=count, nouns=nouns)
        said.append(out if count else say("none_stands_out", criterion=by, noun=noun))
        plain_band = [line.k for line in chart.suggestions if line.criterion == "parallel analysis"]
        if chart.high is not None and plain_band and plain_band[0] != count:
            said.append(say("plain_parallel", count=plain_band[0]))
    return said


def cv_picture(chart: CVCurve) -> Picture:
    """Errors of rows left out."""
    several = chart.errors.shape[1] > 1
    data = []
    for at, name in enumerate(chart.targets):
        bars = (
            {}
            if chart.standard_errors is None
            else {"error_y": {"type": "data", "array": chart.standard_errors[:, at], "thickness": 1}}
        )
        data.append(line(chart.x, chart.errors[:, at], name or "error", at, **bars))
    x, best = chart.x[chart.recommended], chart.x[chart.best]
    shapes = [rule(x=float(x))]
    if chart.limit is not None:
        shapes.append(rule(y=chart.limit, dash="dot"))
    where = {"type": "log"} if chart.logarithmic else {"dtick": _step(len(chart.x)), "zeroline": False}
    errors = [name or chart.ylabel for name in chart.targets]
    doubts = [] if chart.standard_errors is None else [f"standard error of {name}" for name in errors]
    columns = [chart.xlabel, *errors, *doubts]
    rows = [
        [k, *chart.errors[at], *([] if chart.standard_errors is None else chart.standard_errors[at])]
        for at, k in enumerate(chart.x)
    ]
    code, error = "least_errors" if several else "least_error", brief(chart.errors[chart.best, 0])
    says = [say(code, error=error, where=_at(chart.xlabel, best))]
    if chart.recommended != chart.best:
        fewest = counted(int(x), "component", "are")
        says.append(say("one_standard_error", count=f"{fewest} the fewest"))
    return Picture(
        chart.title,
        with_notes(says, chart.notes),
        data,
        layout(axis(chart.xlabel, **where), axis(chart.ylabel, rangemode="tozero"), legend=several, shapes=shapes),
        Grid(chart.title, columns, rows, shown=40),
    )


def _at(what: str, x: Any) -> str:
    return f"with {counted(int(x), 'component')}" if what == "components" else f"at {what} {number(x)}"


def correlations_picture(chart: Correlations) -> Picture:
    """Correlations of pairs, beside those of shuffled rows."""
    x = np.arange(1, len(chart.values) + 1)
    data: list[dict[str, Any]] = []
    if chart.middle is not None and chart.high is not None:
        data.append(_band(x, chart.middle, chart.high, "rows paired at random, 50 % to 95 %"))
    data.append(line(x, chart.values, "these rows"))
    parts: list[tuple[str, Any]] = [(chart.xlabel, x), (chart.ylabel, chart.values)]
    if chart.plain is not None:
        data.append(line(x, chart.plain, "correlation of the scores", 2))
        parts.append(("correlation of the scores", chart.plain))
    if chart.held_out is not None:
        held = np.asarray(chart.held_out, dtype=np.float64)
        data.append(line(x[: len(held)], held, "rows left out of the fit", 1))
        parts.append(("rows left out", [*held, *[None] * (len(x) - len(held))]))
    parts += [
        (n, v)
        for n, v in (("random, median", chart.middle), ("random, 95 %", chart.high), ("p", _chances(chart)))
        if v is not None
    ]
    value = brief(chart.values[0])
    says = [say("first_pair", value=value)]
    if chart.plain is not None:
        says = [say("first_pair_ridge", value=value, plain=brief(chart.plain[0]))]
    if chart.high is not None:
        above = int((chart.values > chart.high).sum())
        says.append(say("above_chance" if above else "none_above_chance", count=above, total=len(x)))
    return Picture(
        chart.title,
        with_notes(says, chart.notes),
        data,
        layout(
            axis(chart.xlabel, dtick=_step(len(x)), zeroline=False),
            axis(chart.ylabel, range=[0, 1.03]),
            legend=len(data) > 1,
        ),
        Grid(chart.title, [name for name, _ in parts], list(zip(*(values for _, values in parts), strict=True))),
    )


def _chances(chart: Correlations) -> list[str] | None:
    """P-values; one that is the least that the shufflings can show is said to be that."""
    if chart.p_values is None:
        return None
    return [chance_in_words(float(p), chart.shuffles).removeprefix("p ").removeprefix("= ") for p in chart.p_values]


def residuals_picture(chart: Residuals) -> Picture:
    """How exact each component is."""
    floor = np.finfo(np.float64).tiny
    data = [
        line(chart.numbers, np.maximum(chart.residuals, floor), "residual"),
        line(chart.numbers, np.maximum(chart.angles, floor), "angle to the true direction, at most", 1),
    ]
    worst = float(chart.angles.max(initial=0.0))
    residual = float(chart.residuals.max(initial=0.0))
    says = [say("residuals", worst=at_most(residual), angle=at_most(worst))]
    rows = list(zip(chart.numbers, chart.residuals, chart.gaps, chart.angles, strict=True))
    return Picture(
        "How exact the computation is",
        with_notes(says, chart.notes),
        data,
        layout(
            axis(chart.xlabel, dtick=_step(len(rows)), zeroline=False),
            axis(chart.ylabel, type="log", range=[-17, 0], dtick=4),
            legend=True,
        ),
        Grid("Certificate", [chart.xlabel, "residual", "gap", "angle"], rows, shown=30),
        height=320,
    )


def likelihood_picture(chart: Likelihood) -> Picture:
    """The likelihood at each step."""
    first, last, steps = *(f"{float(chart.values[at]):,.2f}" for at in (0, -1)), len(chart.steps)
    says = [say("likelihood_rose", first=first, last=last, steps=steps)]
    rise = float(chart.values[-1] - chart.values[0])
    if first == last or rise < 0:
        says = [say("likelihood_flat", last=last, steps=steps, rise=brief(max(rise, 0.0)))]
    return Picture(
        chart.title,
        says,
        [line(chart.steps, chart.values, mode="lines")],
        layout(axis(chart.xlabel), axis(chart.ylabel)),
        Grid(
            chart.title,
            [chart.xlabel, chart.ylabel],
            [[step, f"{value:,.4f}"] for step, value in zip(chart.steps, chart.values, strict=True)],
        ),
        height=320,
    )


def _band(x: Array, low: Array, high: Array, name: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([low, high[::-1]]),
        "fill": "toself",
        "fillcolor": BAND,
        "line": {"color": MUTED, "width": 0.5},
        "mode": "lines",
        "name": name,
        "hoverinfo": "skip",
    }


def _note(x: float, text: str) -> dict[str, Any]:
    shown = {"showarrow": False, "xanchor": "left", "yanchor": "top", "font": {"color": INK, "size": 12}}
    return {"x": x, "y": 1, "yref": "paper", "text": f" {plain(text)}", **shown}


def _step(count: int) -> int:
    """Whole numbers between two ticks."""
    return max(1, -(-count // 15))


def _without_empty(grid: Grid) -> Grid:
    """Leave out columns in which nothing stands."""
    kept = [at for at in range(len(grid.columns)) if any(row[at] is not None for row in grid.rows)]
    rows = [[row[at] for at in kept] for row in grid.rows]
    return Grid(grid.title, [grid.columns[at] for at in kept], rows, shown=grid.shown)
