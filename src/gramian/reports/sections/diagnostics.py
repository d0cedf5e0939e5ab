"""Rows that do not belong, and how the computation came to its answer."""

from __future__ import annotations

from typing import Any

from gramian import charts
from gramian.adequacy import LIMITS, grade
from gramian.reports.contents import WHOLE, Facts, Grid, Section, number
from gramian.reports.pictures import likelihood_picture, outliers_picture, residuals_picture
from gramian.reports.sections.asking import asked
from gramian.reports.sentences import say
from gramian.reports.subject import MANY, Subject
from gramian.results import percent

#: Lines of the table, and what stands behind those that have no limits.
INDICES = {
    "chi_square": "chi-square",
    "df": "degrees of freedom",
    "p": "p",
    "rmsea": "RMSEA",
    "cfi": "CFI",
    "tli": "TLI",
    "srmr": "SRMR",
    "bic": "BIC (to compare models: the lower the better)",
}


def diagnostics(subject: Subject) -> Section | None:
    """Outliers, fit indices, the certificate and the path of the likelihood."""
    parts = [*_outliers(subject), *_indices(subject), *_distortion(subject)]
    for ask, draw in ((charts.likelihood, likelihood_picture), (charts.residuals, residuals_picture)):
        chart = asked(ask, subject.model)
        parts += [] if chart is None else [draw(chart)]
    return Section("Diagnostics", (), parts) if parts else None


def _outliers(subject: Subject) -> list[Any]:
    if subject.X is None or subject.gaps:  # what is missing lies nowhere
        return []
    chart = asked(charts.outliers, subject.model, subject.X, names=subject.names, many=MANY)
    if chart is None:
        return []
    found: list[Any] = [outliers_picture(chart)]
    at = {int(row): place for place, row in enumerate(chart.points.rows)}
    rows = [
        [subject.row_names[row], *map(float, chart.points.at[at[row]])] for row in chart.beyond.tolist() if row in at
    ]
    if rows:
        limits = [("T2", chart.t2_limit), ("Q", chart.q_limit)]
        known = ", ".join(f"{name} {number(limit)}" for name, limit in limits if limit is not None)
        found.append(Grid("Rows beyond a limit", ["row", "T2", "Q"], rows, [say("limits", limits=known)], shown=10))
    return found


def _indices(subject: Subject) -> list[Any]:
    known = subject.facts.get("fit_indices")
    if not known:
        return []
    lines = [(word, _index(name, known[name])) for name, word in INDICES.items() if known.get(name) is not None]
    adequacy = getattr(subject.estimator, "kmo_", None)
    found: list[Any] = [Facts("How well the factors fit", lines)] if lines else []
    if adequacy is not None:
        rows = [
            [name, float(own), float(u)]
            for name, own, u in zip(subject.columns, adequacy.columns, subject.estimator.uniquenesses_, strict=True)
        ]
        columns = ["column", "KMO", "uniqueness"]
        found.append(Grid("Columns of the factor model", columns, rows, [say("kmo")], shown=WHOLE))
    return found


def _index(name: str, value: float) -> str:
    """An index, and how good it is by the limits that the checks use.

    >>> _index("cfi", 0.9268), _index("df", 185)
    ('0.927, fair (good from 0.95, fair from 0.9; 1 is best)', '185')
    """
    if name not in LIMITS:
        return number(value)
    (good, fair), word = LIMITS[name], grade(name, value)
    from_on, best = ("up to", 0) if good < fair else ("from", 1)
    return f"{value:.3f}, {word} (good {from_on} {good:g}, fair {from_on} {fair:g}; {best} is best)"


def _distortion(subject: Subject) -> list[Any]:
    known = getattr(subject.estimator, "distortion_", None)
    if known is None:
        return []
    lines = [
        ("pairs", f"{known.pairs:,}"),
        ("smallest", number(known.min)),
        ("largest", number(known.max)),
        ("mean", number(known.mean)),
        ("within the bound", percent(known.share_within)),
    ]
    return [Facts("Squared distances after the projection, as multiples of those before", lines)]
