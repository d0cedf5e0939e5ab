"""What the components are made of."""

from __future__ import annotations

from typing import Any

from gramian import charts
from gramian.reports.contents import WHOLE, Grid, Section
from gramian.reports.pictures import (
    contours_pictures,
    contributions_picture,
    heat_grid,
    heat_picture,
    importance_picture,
    loadings_picture,
)
from gramian.reports.sections.asking import asked
from gramian.reports.sentences import say
from gramian.reports.subject import MANY, Subject
from gramian.results import percent
from gramian.selection import ColumnImportance
from gramian.selection.trust_recovery import ALIKE

#: Columns from which on a heat map is too long to read.
MOST_ROWS = 60


def components(subject: Subject) -> Section | None:
    """Loadings, contributions, what a regression rests on, intervals."""
    parts = [*_loadings(subject), *_importance(subject), *_contours(subject), *_tables(subject)]
    return Section(f"{subject.noun.capitalize()}s", (), parts) if parts else None


def _loadings(subject: Subject) -> list[Any]:
    names = _names(subject)
    lines = asked(charts.loadings, subject.model, names=names)
    if lines is None:  # a single component has no plane
        lines = asked(charts.loadings, subject.model, kind="lines", components=(0,), names=names)
    if lines is None:
        return []
    found: list[Any] = [loadings_picture(lines)]
    shown = subject.name != "FactorAnalysis" and subject.facts.get("n_components") == len(lines.labels)
    many = len(lines.columns) > MOST_ROWS or lines.kind == "lines"
    factors = subject.name == "FactorAnalysis"
    heat = None if (many and not factors) or shown else asked(charts.heat, subject.model, names=names)
    if heat is not None:
        part = heat_grid(heat) if many else heat_picture(heat)
        found = [part, *found] if factors else [*found, part]
    if lines.kind == "arrows":
        shares = asked(charts.contributions, subject.model, names=subject.columns)
        found += [] if shares is None else [contributions_picture(shares)]
    return found


def _names(subject: Subject) -> list[str] | None:
    """Names of the columns, of both views if there are two, for an estimator that does not know them."""
    if not subject.two_views:
        return list(subject.columns)
    return [*subject.columns, *subject.targets]


def _importance(subject: Subject) -> list[Any]:
    found = [
        asked(charts.importance, subject.model, kind=kind, names=subject.columns) for kind in ("vip", "coefficients")
    ]
    return [importance_picture(chart) for chart in found if chart is not None]


def _contours(subject: Subject) -> list[Any]:
    if subject.X is None or len(subject.columns) != 2 or subject.name != "KernelPCA":
        return []
    k = min(3, len(subject.estimator.eigenvalues_))
    chart = asked(charts.contours, subject.model, subject.X, components=range(k), grid=60, many=MANY)
    return [] if chart is None else contours_pictures(chart)


def _tables(subject: Subject) -> list[Any]:
    known = subject.trust
    if known is None:
        return []
    v, level = known.values, percent(known.level)
    columns, parts = [known.what, "from", "to"], [v.estimate, v.low, v.high]
    if known.recovery is None:
        note = [say("limits_by_rows", level=level)]
    else:
        note = [say("limits_by_draws", level=level, draws=known.draws, noun=subject.noun, alike=ALIKE)]
        columns += ["recovered in draws", "median cosine"]
        parts += [known.recovery.shares, known.recovery.cosines]
    if ((v.estimate < v.low) | (v.estimate > v.high)).any():
        note.append(say("bias_corrected"))
    rows = [[k + 1, *map(float, row)] for k, row in enumerate(zip(*parts, strict=True))]
    title = f"{known.what.capitalize()} of each {subject.noun}, with limits"
    found: list[Any] = [Grid(title, [subject.noun, *columns], rows, note)]
    if known.importance is not None:
        found.append(_depends(known.importance, subject.columns))
    return found


def _depends(importance: ColumnImportance, names: tuple[str, ...]) -> Grid:
    """For kernels: the columns that a component depends on."""
    columns = ["column", *(f"component {k + 1}" for k in range(importance.shares.shape[1]))]
    order = sorted(range(len(importance.shares)), key=lambda at: -float(importance.shares[at].max()))
    rows = [[names[at], *importance.shares[at].tolist()] for at in order]
    return Grid("Columns that components depend on", columns, rows, [say("depends_on")], shown=WHOLE)
