"""Charts as pictures of a page: the figure, sentences that say what is seen, and the numbers as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from gramian import charts
from gramian.charts.names import short_label
from gramian.charts.points import extremes
from gramian.estimators.cca_tests import chance_in_words
from gramian.figures import Figure
from gramian.figures import chart_figures as figures
from gramian.figures.chart_figures import BARS_MAX, LINES_MAX_ROWS, NAMED_ARROWS_MAX, NAMED_ROWS_MAX, row_name
from gramian.reports.contents import ALL_ROWS, TABLE_SHOWN_ROWS, Grid, Picture, brief, counted, number
from gramian.reports.sentences import noted, say
from gramian.reports.subject import chart_or_none
from gramian.results import Array, Sentence, at_most, percent

#: Names of the columns of a table, and what stands in them.
Columns = list[tuple[str, Iterable[Any] | None]]
#: Level of tests of group means.
GROUP_TEST_LEVEL = 0.05
#: Grid points along an axis that the table of a contour lists.
CONTOUR_TABLE_POINTS = 12
NOTHING_TOLD: Mapping[str, object] = {}


def drawn(
    chart: Callable[..., charts.Chart], *args: object, told: Mapping[str, object] = NOTHING_TOLD, **options: object
) -> list[Picture]:
    """The picture of a chart, ``told`` what it takes; none where the estimator, or these rows, cannot give it."""
    found = chart_or_none(chart, *args, **options)
    return [] if found is None else [picture(found, **told)]


@singledispatch
def picture(chart: charts.Chart, **more: Any) -> Picture:
    """The picture of a chart, with its sentences and its table."""
    raise TypeError(f"no picture of {type(chart).__name__}")


def _picture(
    chart: charts.Chart, figure: Figure, says: Iterable[Sentence], grid: Grid, title: str | None = None
) -> Picture:
    """A picture whose sentences end with the notes of the chart."""
    return Picture(title or chart.title, [*says, *(noted(note) for note in chart.notes)], figure, grid)


def _table(title: str, columns: Sequence[tuple[str, Iterable[Any] | None]], shown: int = TABLE_SHOWN_ROWS) -> Grid:
    """A table of columns; those that are not there are left out."""
    there = [(name, values) for name, values in columns if values is not None]
    rows = list(zip(*(values for _, values in there), strict=True))
    return Grid(title, [name for name, _ in there], rows, shown=shown)


@picture.register
def _(chart: charts.Scree) -> Picture:
    columns: Columns = [
        (chart.xlabel, chart.numbers),
        (chart.ylabel, chart.values),
        ("share", chart.shares),
        ("cumulative share", chart.cumulative),
        ("random tables, median", chart.middle),
        ("random tables, 95 %", chart.high),
    ]
    return _picture(chart, figures.scree(chart), _scree_says(chart), _table(chart.title, columns, 30))


def _scree_says(chart: charts.Scree) -> list[Sentence]:
    noun, kept = chart.xlabel, chart.kept
    if chart.cumulative is None:
        said = [say("first_value", noun=noun, what=chart.ylabel, value=number(float(chart.values[0])))]
    else:
        first, total = (percent(float(chart.cumulative[at])) for at in (0, max(kept, 1) - 1))
        if chart.of_correlations:  # factors explain less than these eigenvalues
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


@picture.register
def _(chart: charts.CVCurve) -> Picture:
    x, best = chart.x[chart.recommended], chart.x[chart.best]
    of = [f" of {name}" if name else "" for name in chart.targets]
    columns: Columns = [(chart.xlabel, chart.x)]
    for kind, part in chart.kinds.items():
        columns += zip([kind + target for target in of], part.T, strict=True)
    if chart.standard_errors is not None:
        columns += zip([f"standard error of RMSECV{target}" for target in of], chart.standard_errors.T, strict=True)
    where = f"at {chart.xlabel} {number(best)}" if chart.logarithmic else f"with {counted(int(best), 'component')}"
    code = "least_errors" if len(of) > 1 else "least_error"
    least, most = (float(chart.x[at]) for at in (0, -1))
    tried = f"ridges from {number(least)} to {number(most)}"
    tried = tried if chart.logarithmic else f"{least:.0f} to {counted(int(most), 'component')}"
    says = [say(code, range=tried, error=brief(chart.errors[chart.best, 0]), where=where)]
    if chart.recommended != chart.best:
        says.append(say("one_standard_error", count=f"{counted(int(x), 'component', 'are')} the fewest"))
    if chart.kept is not None and len(chart.kinds) > 1 and len(of) == 1:
        at = [f"{kind} {brief(part[chart.kept, 0])}" for kind, part in chart.kinds.items() if chart.kept < len(part)]
        says.append(say("errors_at", count=counted(chart.kept, "component"), errors=listed(at)))
    found = _picture(chart, figures.cv_curve(chart), says, _table(f"{chart.title}: numbers", columns, 40))
    return replace(found, open=not chart.logarithmic)


@picture.register
def _(chart: charts.Correlations) -> Picture:
    total, held, chances = len(chart.values), None, None
    if chart.held_out is not None:
        held = [*map(float, chart.held_out), *[None] * (total - len(chart.held_out))]
    if chart.p_values is not None:  # the least that the shufflings can show is said to be that
        words = [chance_in_words(float(p), chart.shuffles) for p in chart.p_values]
        chances = [word.removeprefix("p ").removeprefix("= ") for word in words]
    columns: Columns = [
        (chart.xlabel, np.arange(1, total + 1)),
        (chart.ylabel, chart.values),
        ("correlation of the scores", chart.plain),
        ("rows left out", held),
        ("random, median", chart.middle),
        ("random, 95 %", chart.high),
        ("p", chances),
    ]
    value = brief(chart.values[0])
    says = [say("first_pair", value=value)]
    if chart.plain is not None:
        says = [say("first_pair_ridge", value=value, plain=brief(chart.plain[0]))]
    if chart.high is not None:
        above = int((chart.values > chart.high).sum())
        says.append(
            say("above_chance", count=above, total=total, exceed="exceeds" if above == 1 else "exceed")
            if above
            else say("none_above_chance")
        )
    return _picture(chart, figures.correlations(chart), says, _table(chart.title, columns))


@picture.register
def _(chart: charts.Residuals) -> Picture:
    says = [say("residuals", worst=at_most(float(chart.residuals.max(initial=0.0))))]
    known = np.isfinite(chart.angles)
    if known.any():
        which = f"every {chart.xlabel}" if known.all() else f"every {chart.xlabel} but the last"
        says.append(say("angles", angle=at_most(float(chart.angles[known].max())), which=which))
    columns: Columns = [(chart.xlabel, chart.numbers), ("residual", chart.residuals)]
    grid = _table("Certificate", [*columns, ("gap", chart.gaps), ("angle", chart.angles)], 30)
    return _picture(chart, figures.residuals(chart), says, grid, "How exact the computation is")


@picture.register
def _(chart: charts.Likelihood) -> Picture:
    first, last, steps = *(f"{float(chart.values[at]):,.2f}" for at in (0, -1)), len(chart.steps)
    says = [say("likelihood_rose", first=first, last=last, steps=steps)]
    rise = float(chart.values[-1] - chart.values[0])
    if first == last or rise < 0:
        says = [say("likelihood_flat", last=last, steps=steps, rise=brief(max(rise, 0.0)))]
    columns: Columns = [(chart.xlabel, chart.steps), (chart.ylabel, [f"{value:,.4f}" for value in chart.values])]
    return _picture(chart, figures.likelihood(chart), says, _table(chart.title, columns))


@picture.register
def _(chart: charts.Loadings) -> Picture:
    used = len(chart.columns) - chart.supplementary
    says = _largest(chart.labels, chart.columns[:used], chart.values[:used])
    if chart.kind == "arrows":
        says.append(say("arrows_show", what=chart.what))
        if chart.circle:
            says.append(say("circle", noun=short_label(chart.labels[0]).rpartition(" ")[0]))
        if chart.supplementary:
            says.append(say("supplementary_arrows", names=listed(chart.columns[-chart.supplementary :])))
        if len(chart.columns) > NAMED_ARROWS_MAX:
            says.append(say("some_named", count=NAMED_ARROWS_MAX))
    columns: Columns = [("column", chart.columns), *zip(chart.labels, chart.values.T.tolist(), strict=True)]
    return _picture(chart, figures.loadings(chart), says, _table(chart.title, columns, ALL_ROWS))


@picture.register
def _(chart: charts.Heat) -> Picture:
    says, grid = _largest(chart.labels, chart.columns, chart.values), heat_grid(chart)
    return _picture(chart, figures.heat(chart), says, grid, grid.title)


def heat_grid(chart: charts.Heat) -> Grid:
    """The same as numbers."""
    columns: Columns = [("column", chart.columns), *zip(chart.labels, chart.values.T.tolist(), strict=True)]
    common = None if chart.communalities is None else chart.communalities.tolist()
    return _table(f"{chart.title} of all columns", [*columns, ("communality", common)], ALL_ROWS)


@picture.register
def _(chart: charts.Contributions) -> Picture:
    total = len(chart.names) + chart.left_out
    says = say("contribute_alike", total=total, of=chart.of)
    if chart.above:
        share, names = percent(chart.expected), listed(chart.names[: min(chart.above, 3)])
        says = say(
            "contributors",
            above=chart.above,
            total=total,
            of=chart.of,
            share=share,
            names=names,
            contribute="contributes" if chart.above == 1 else "contribute",
        )
    parts = ((chart.of[:-1], chart.names), ("contribution", chart.shares), ("share of its own variance", chart.cos2))
    return _picture(chart, figures.contributions(chart), [says], _table(chart.title, parts, ALL_ROWS))


@picture.register
def _(chart: charts.Importance) -> Picture:
    total, names = len(chart.values), leading(chart.columns, chart.values)
    if chart.limit is not None:
        above, limit = int((chart.values > chart.limit).sum()), number(chart.limit)
        have = "has" if above == 1 else "have"
        says = [say("above_limit", above=above, total=total, have=have, what=chart.ylabel, limit=limit, names=names)]
    else:
        says = [say("largest_columns", names=names)]
        if chart.low is not None and chart.high is not None:
            sure = int(((chart.low > 0) | (chart.high < 0)).sum())
            says.append(say("excludes_zero", sure=sure, total=total))
    columns = (("column", chart.columns), (chart.ylabel, chart.values), ("from", chart.low), ("to", chart.high))
    if chart.positions is None and total > BARS_MAX:
        says.append(say("bars_drawn", count=BARS_MAX))
    return _picture(chart, figures.importance(chart), says, _table(chart.title, columns, ALL_ROWS))


@picture.register
def _(chart: charts.Scores, title: str = "", *, compare: bool = True) -> Picture:
    """Rows as points of two components, and columns as arrows if it is a biplot.

    ``compare`` says whether means of groups may be compared: not if the axes were fitted to the groups.
    """
    says = [say("points", n=counted(chart.points.total, "row"), xlabel=chart.xlabel, ylabel=chart.ylabel)]
    says += _differences(chart) if compare else []
    if isinstance(chart, charts.Biplot):
        says.append(say("arrows", names=listed(chart.columns[:3])))
    says += [say("marks", what=marks.what, count=counted(len(marks.at), "diamond")) for marks in chart.marks]
    if chart.names is not None and len(chart.points.at) <= NAMED_ROWS_MAX:
        says.append(say("rows_named"))
    if chart.ellipses:
        code = "ellipses" if chart.colouring.groups else "ellipse"
        says.append(say(code, level=percent(chart.ellipses[0].level)))
    return _picture(chart, figures.scores(chart), says, _rows_table(chart, title), title)


def _differences(chart: charts.Scores) -> list[Sentence]:
    """Along which axes the means of groups differ, by tests at a level of 5 % that is shared by the axes."""
    points, colours = chart.points, chart.points.colouring
    if not colours.groups or colours.codes is None or points.density is not None:
        return []
    labels, says, tested = (chart.xlabel, chart.ylabel), [], False
    for label, values in zip(labels, points.at.T, strict=False):
        found = extremes(values, colours.codes, len(colours.groups))
        tested |= found is not None
        if found is not None and (p := len(labels) * found.p) <= GROUP_TEST_LEVEL:
            ends = {"low": colours.groups[found.low], "high": colours.groups[found.high]}
            chance = "< 0.001" if p < 0.001 else f"= {p:.2g}"
            beside = {"p": chance, "groups": found.groups, "axes": len(labels)}
            says.append(say("groups_differ", axis=short_label(label), **ends, **beside))
    return says or ([say("groups_alike")] if tested else [])


@picture.register
def _(chart: charts.Paired, canonical: float | None = None) -> Picture:
    """Scores of one view against those of the other; ``canonical`` is the correlation of the fit, with its ridge."""
    says = [say("paired", value=brief(chart.correlation))]
    if canonical is not None and brief(canonical) != brief(chart.correlation):
        says.append(say("paired_ridge", value=brief(canonical)))
    return _picture(chart, figures.paired(chart), says, _rows_table(chart))


@picture.register
def _(chart: charts.Predicted, title: str = "") -> Picture:
    found = chart.merit
    r2 = brief(found.r2) if np.isfinite(found.r2) else number(found.r2)
    says = [say("predicted", rmse=brief(found.rmse), bias=brief(found.plain_bias), r2=r2)]
    return _picture(chart, figures.predicted(chart), says, _rows_table(chart, title), title)


def prediction_errors(chart: charts.Predicted, title: str) -> Picture:
    """Errors of predictions, and the rows that have the largest."""
    measured, guesses = chart.points.at.T
    errors, names = guesses - measured, [row_name(chart.names, row) for row in chart.points.rows.tolist()]
    columns: Columns = [("row", names), ("measured", measured), ("predicted", guesses), ("error", errors)]
    says = [say("largest_errors", names=leading(names, errors))]
    return Picture(title, says, figures.prediction_errors(chart), _table(title, columns, 10))


@picture.register
def _(chart: charts.Outliers) -> Picture:
    title, says = "Distances of rows from the model", []
    if chart.t2_limit is not None or chart.q_limit is not None:
        some = [row_name(chart.names, row) for row in chart.beyond.tolist()]
        count = f"{len(some):,} of {counted(chart.points.total, 'row')} {'is' if len(some) == 1 else 'are'}"
        code, alpha = "beyond" if some else "none_beyond", percent(chart.alpha)
        says = [say(code, count=count, alpha=alpha, names=listed(some))]
    return _picture(chart, figures.outliers(chart), says, _rows_table(chart, title), title)


def _rows_table(chart: charts.Scores | charts.Paired | charts.Predicted | charts.Outliers, title: str = "") -> Grid:
    """The points, or, where a density stands for them, how many rows of each group there are, and where."""
    points, colours, title = chart.points, chart.points.colouring, title or chart.title
    x, y = chart.xlabel, chart.ylabel
    if points.density is not None:
        centres = [(edges[1:] + edges[:-1]) / 2 for edges in (points.density.x, points.density.y)]
        counts, totals = points.density.counts, points.density.counts.sum(axis=(1, 2))
        means = [counts.sum(axis=1 + at) @ middle / np.maximum(totals, 1) for at, middle in enumerate(centres)]
        names = colours.groups or ("all rows",)
        columns: Columns = [("group", names), ("rows", [int(total) for total in totals])]
        return _table(title, [*columns, (f"mean of {x}", means[0]), (f"mean of {y}", means[1])])
    columns = [("row", [row_name(chart.names, row) for row in points.rows.tolist()])]
    columns += zip((x, y), points.at.T.tolist(), strict=False)
    if colours.codes is not None:
        columns.append((colours.name or "group", [colours.groups[int(code)] for code in colours.codes]))
    elif colours.values is not None:
        columns.append((colours.name or "value", colours.values))
    return _table(title, columns, 10)


def contours_pictures(chart: charts.Contours) -> list[Picture]:
    """One picture for each component, as contours over the plane."""
    pictures = []
    step = max(1, len(chart.x) // CONTOUR_TABLE_POINTS)
    for at, (label, values) in enumerate(zip(chart.labels, chart.values, strict=True)):
        high = np.unravel_index(values.argmax(), values.shape)
        x, y = (number(float(place)) for place in (chart.x[high[1]], chart.y[high[0]]))
        value = number(float(values.max()))
        says = [say("contour", label=label, value=value, xlabel=chart.xlabel, x=x, ylabel=chart.ylabel, y=y)]
        across, up = np.meshgrid(chart.x[::step], chart.y[::step])
        parts = (across.ravel(), up.ravel(), values[::step, ::step].ravel())
        columns: Columns = list(zip((chart.xlabel, chart.ylabel, "score"), parts, strict=True))
        title = f"{label[:1].upper()}{label[1:]} over the plane"
        grid = _table(f"Contours of {label}", columns)
        pictures.append(_picture(chart, figures.contours(chart, at), says, grid, title))
    return pictures


@picture.register
def _(chart: charts.Regions) -> Picture:
    shares = [float((chart.codes == at).mean()) for at in range(len(chart.classes))]
    held = ", ".join(f"{name} {percent(share)}" for name, share in zip(chart.classes, shares, strict=True))
    says = [say("regions", shares=held)]
    if chart.support is not None:
        says.append(say("support", count=len(chart.support)))
    codes = chart.points.colouring.codes
    counts = None if codes is None else [int((codes == at).sum()) for at in range(len(chart.classes))]
    grid = _table("Regions", [("class", chart.classes), ("share of the plane", shares), ("rows", counts)])
    return _picture(chart, figures.regions(chart), says, grid, "Regions of the classes")


@picture.register
def _(chart: charts.Reconstructions, noun: str = "component") -> Picture:
    pairs = zip(chart.counts, chart.errors, strict=True)
    errors = ", ".join(f"{number(float(error))} with {counted(k, noun)}" for k, error in pairs)
    says = [say("rebuilt", errors=errors)]
    if chart.shape is None:
        rows = counted(min(len(chart.rows), LINES_MAX_ROWS), "row", "are")
        says.append(say("rebuilt_lines", rows=rows, count=counted(chart.counts[-1], noun)))
    columns: Columns = [(f"{noun}s", chart.counts), ("root mean squared difference", chart.errors)]
    title = f"Rows and what their {noun}s rebuild"
    return _picture(chart, figures.reconstructions(chart), says, _table(title, columns), title)


def listed(things: Iterable[object], most: int = 3) -> str:
    """The first few of many, for a sentence.

    >>> listed(["a", "b"]), listed("abcdef")
    ('a and b', 'a, b, c and 3 more')
    """
    all_of = [str(thing) for thing in things]
    if len(all_of) > most:
        return f"{', '.join(all_of[:most])} and {len(all_of) - most:,} more"
    return all_of[0] if len(all_of) == 1 else f"{', '.join(all_of[:-1])} and {all_of[-1]}" if all_of else "none"


def leading(names: Sequence[str], values: Array | Sequence[float], most: int = 3) -> str:
    """The names of the largest magnitudes, with their values; nothing that is zero.

    >>> leading(["a", "b", "c"], [0.1, -0.9, 0.5], 2), leading(["a", "b"], [0.0, 2.0])
    ('b (-0.9) and c (0.5)', 'b (2)')
    """
    order = sorted(range(len(names)), key=lambda at: -abs(float(values[at])))[:most]
    return listed([f"{names[at]} ({brief(values[at])})" for at in order if values[at] != 0], most)


def _largest(labels: Sequence[str], names: Sequence[str], values: Array) -> list[Sentence]:
    """What each component is made of, a sentence each."""
    found = [(short_label(label), values[:, at]) for at, label in enumerate(labels) if values[:, at].any()]
    return [say("largest", label=name[:1].upper() + name[1:], columns=leading(names, part)) for name, part in found]
