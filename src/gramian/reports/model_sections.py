"""Sections of a report about the model: what was done, how many components, what they are made of, and the program.

A section is a function of the subject; None where there is nothing to show.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gramian import charts
from gramian.construction import construction, unwritten
from gramian.estimators.result_tables import PERCENT, ResultTable
from gramian.reports.contents import ALL_ROWS, SHOWN_COMPONENTS, Code, Facts, Grid, Part, Picture, Section, grid_of
from gramian.reports.pictures import contours_pictures, drawn, heat_grid, picture
from gramian.reports.program import program
from gramian.reports.sentences import full, method_in_words, say
from gramian.reports.subject import DRAWN_MAX_POINTS, Subject, chart_or_none, correlations_of
from gramian.results import percent
from gramian.selection.trust_result import SAME_COMPONENT_COSINE

#: Columns from which on a heat map is too long to read.
HEAT_MAP_MAX_COLUMNS = 60


def what_was_done(subject: Subject) -> Section:
    """The method in words, and the summary of the fit."""
    summary = subject.estimator.summary_
    lines = [("data", subject.source)] if subject.source else []
    if subject.piped:
        lines.append(("first", "columns were centred and divided by their standard deviations"))
    lines.append(("fitted", rounded(", ".join(summary.title[1:]))))
    for label, text in summary.lines:
        if label:
            lines.append((label, text))
        else:  # goes on the line before
            lines[-1] = (lines[-1][0], f"{lines[-1][1]} {text}")
    lines.append(("call", construction(subject.model)))
    return Section("What was done", method_in_words(subject.estimator), [Facts("Summary", lines)])


def rounded(text: str) -> str:
    """Text in which no number has more than four digits behind the point.

    >>> rounded("rbf(gamma=0.0295981723785551), 215 x 100")
    'rbf(gamma=0.0296), 215 x 100'
    """
    return re.sub(r"\d+\.\d{5,}", lambda found: f"{float(found[0]):.4g}", text)


def number_of_components(subject: Subject) -> Section | None:
    """What every criterion says of the number of components, and the picture behind it."""
    parts: list[Part] = [*_curves(subject)]
    said, noun = subject.how_many, subject.record.noun
    says = []
    if said is not None:
        kept = subject.facts.get("n_components")
        least, most = said.spread
        code = "as_recommended" if kept == said.recommended else "not_as_recommended"
        nouns = noun if kept == 1 else f"{noun}s"
        says.append(say(code, kept=kept, nouns=nouns, criterion=said.decided_by, recommended=said.recommended))
        if least < most:
            says.append(say("criteria_differ", least=least, most=most))
        elif said.answers > 1:
            says.append(say("criteria_agree", count=said.answers))
        says.append(say("purpose", noun=noun))
        if said.note:
            says.append(say("criteria_note", note=full(said.note)))
        marks = {said.decided_by: " (decides)"}
        rows = [[row.criterion + marks.get(row.criterion, ""), row.k, row.reference, row.detail] for row in said.table]
        columns = ["criterion", "recommends", "reference", "detail"]
        parts.append(Grid("What every criterion recommends", columns, rows, shown=ALL_ROWS))
    parts += _holdings(subject)
    if not parts:
        return None
    if not subject.record.size:  # what is chosen is not a number of components
        return Section("How large a ridge", [say("ridge", ridge=subject.facts["ridge"])], parts)
    return Section(f"How many {noun}s", says, parts)


def _curves(subject: Subject) -> list[Picture]:
    model, X, y = subject.model, subject.X, subject.y
    fitted = X if subject.of_the_fit and subject.affordable and subject.countable else None
    both = (fitted, y) if fitted is not None and y is not None else (None, None)
    test = None if subject.test is None else (subject.test.X, subject.test.y)
    several = {"targets": subject.targets} if subject.regresses and len(subject.targets) > 1 else {}
    charted: list[tuple[Any, tuple[Any, ...]]]
    errors = partial(charts.cv_curve, test=test, **several)
    charted = [(charts.correlations, both), (errors, both), (charts.scree, (fitted,))]
    tries = [(chart, rows) for chart, full in charted for rows in (full, ())]
    return next((found for chart, rows in tries if (found := drawn(chart, model, *rows))), [])


def components(subject: Subject) -> Section | None:
    """Loadings, contributions, what a regression rests on, intervals."""
    parts = _loadings(subject)
    for kind in ("vip", "coefficients"):
        parts += drawn(charts.importance, subject.model, kind=kind, names=subject.columns)
    parts += [*_contours(subject), *_correlated_factors(subject), *_depends_on(subject), *contributions(subject)]
    return Section(f"{subject.record.noun.capitalize()}s", (), parts) if parts else None


def _loadings(subject: Subject) -> list[Part]:
    names = [*subject.columns, *(subject.targets if subject.two_views else ())]
    lines = chart_or_none(charts.loadings, subject.model, names=names)
    if lines is None:  # a single component has no plane
        lines = chart_or_none(charts.loadings, subject.model, kind="lines", components=(1,), names=names)
    if lines is None:
        return []
    lines, grids = _with_supplementary(subject, lines)
    found: list[Part] = [picture(lines)]
    factors = subject.record.counted == "factors"
    shown = not factors and subject.facts.get("n_components") == len(lines.labels)
    many = len(lines.columns) > HEAT_MAP_MAX_COLUMNS or lines.kind == "lines"
    heat = None if (many and not factors) or shown else chart_or_none(charts.heat, subject.model, names=names)
    if heat is not None:
        part = heat_grid(heat) if many else picture(heat)
        found = [part, *found] if factors else [*found, part]
    if lines.kind == "arrows":
        for at in range(lines.values.shape[1]):
            found += drawn(charts.contributions, subject.model, component=at + 1, names=subject.columns)
    return [*found, *grids]


def _with_supplementary(subject: Subject, lines: charts.Loadings) -> tuple[charts.Loadings, list[Grid]]:
    """Loadings with the correlations of columns that were not used in the fit, where loadings are correlations too."""
    known = {name: values for name, values in subject.supplementary.items() if values.dtype.kind == "f"}
    if not known:
        return lines, []
    heads = list(subject.tables["scores"].columns)[:SHOWN_COMPONENTS]
    found = np.array([correlations_of(values, subject.scores) for values in known.values()])
    rows = [[name, *values[:SHOWN_COMPONENTS].tolist()] for name, values in zip(known, found, strict=True)]
    grid = Grid("Supplementary columns", ["column", *heads], rows, [say("supplementary_columns")], shown=ALL_ROWS)
    if lines.circle:
        both = np.vstack([lines.values, found[:, : lines.values.shape[1]]])
        lines = replace(lines, columns=(*lines.columns, *known), values=both, supplementary=len(known))
    return lines, [grid]


def contributions(subject: Subject, of: str = "columns") -> list[Grid]:
    """Contributions and cos2 of columns, or of rows, in one table."""
    prefix = "" if of == "columns" else "row-"
    names = [f"{prefix}contributions", f"{prefix}cos2"]
    if not set(names) <= set(subject.tables) or subject.gaps:
        return []
    parts = [subject.tables[name] for name in names]
    heads = [
        (part.columns[name], f"{word} {'to' if word == 'contribution' else 'with'} {name}")
        for name in list(parts[0].columns)[:SHOWN_COMPONENTS]
        for part, word in zip(parts, ("contribution", "cos2"), strict=True)
    ]
    columns = dict(zip((head for _, head in heads), (values for values, _ in heads), strict=True))
    table = ResultTable("", of[:-1], parts[0].index, columns, formats=dict.fromkeys(columns, PERCENT))
    noun = subject.record.noun
    return [grid_of(table, f"Contributions and cos2 of the {of}", [say("contributions", of=of[:-1], noun=noun)])]


def _correlated_factors(subject: Subject) -> list[Grid]:
    """Correlations of oblique factors."""
    known = getattr(subject.estimator, "factor_correlation_", None)
    if known is None or np.allclose(known, np.eye(len(known))):
        return []
    upper = np.triu(np.abs(known), 1)
    i, j = np.unravel_index(upper.argmax(), upper.shape)
    says = say("factors_correlate", value=f"{known[i, j]:.2f}", pair=f"factors {i + 1} and {j + 1}")
    return [grid_of(subject.tables["factor-correlations"], "Correlations of the factors", [says])]


def _contours(subject: Subject) -> Sequence[Picture]:
    if subject.X is None or len(subject.columns) != 2 or subject.record.counted != "kernel":
        return []
    k = range(1, min(3, len(subject.estimator.eigenvalues_)) + 1)
    chart = chart_or_none(charts.contours, subject.model, subject.X, components=k, grid=60, many=DRAWN_MAX_POINTS)
    return [] if chart is None else contours_pictures(chart)


def _holdings(subject: Subject) -> list[Grid]:
    """What each component holds, alone and with those before it, with confidence limits where these are known."""
    known, noun = subject.trust, subject.record.noun
    table = subject.tables.get("eigenvalues")
    if known is None:
        return [] if table is None else [grid_of(table, f"{noun.capitalize()}s and what they hold", shown=ALL_ROWS)]
    v, level = known.values, percent(known.level)
    shares = (
        []
        if table is None
        else [(head, part) for head, part in table.columns.items() if "share" in head and head != known.what]
    )
    shares = [(head, part) for head, part in shares if len(part) == len(v.estimate)]
    columns, parts = (
        [known.what, *(head for head, _ in shares), "from", "to"],
        [v.estimate, *(part for _, part in shares)],
    )
    parts += [v.low, v.high]
    if known.recovery is None:
        note = [say("limits_by_rows", level=level)]
    else:
        of_draws = {"draws": known.draws, "noun": subject.record.noun, "alike": SAME_COMPONENT_COSINE}
        note = [say("limits_by_draws", level=level, **of_draws)]
        columns += ["recovered", "median cosine"]
        parts += [known.recovery.shares, known.recovery.cosines]
    if ((v.estimate < v.low) | (v.estimate > v.high)).any():
        note.append(say("bias_corrected"))
    rows = [[k + 1, *map(float, row)] for k, row in enumerate(zip(*parts, strict=True))]
    title = f"{known.what.capitalize()} of each {noun}, with limits"
    percents = {"recovered", *(head for head, _ in shares)}
    if "share" in known.what:
        percents |= {known.what, "from", "to"}
    return [Grid(title, [noun, *columns], rows, note, percents=percents, shown=ALL_ROWS)]


def _depends_on(subject: Subject) -> list[Grid]:
    """For kernels: the columns that components depend on."""
    known = None if subject.trust is None else subject.trust.importance
    if known is None:
        return []
    columns = ["column", *(f"component {k + 1}" for k in range(known.shares.shape[1]))]
    order = np.argsort(-known.shares.max(axis=1), kind="stable")
    rows = [[subject.columns[at], *known.shares[at].tolist()] for at in order]
    title = "Columns that components depend on"
    return [Grid(title, columns, rows, [say("depends_on")], shown=ALL_ROWS, percents=columns[1:])]


def code(subject: Subject) -> Section:
    """The program."""
    if subject.refits:
        says = [say("program"), *([] if unwritten(subject.model) else [say("seeds")])]
    else:
        says = [say("program_of_model" if subject.X is None else "program_of_other_rows")]
    return Section("Code", says, [Code("Python", program(subject))])
