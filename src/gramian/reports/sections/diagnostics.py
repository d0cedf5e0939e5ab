"""Rows that do not belong, and how the computation came to its answer."""

from __future__ import annotations

from typing import Any

from gramian import charts
from gramian.reports.contents import Facts, Grid, Section, number
from gramian.reports.figures.points import outliers_picture
from gramian.reports.figures.spectra import likelihood_picture, residuals_picture
from gramian.reports.sections.asking import asked
from gramian.reports.subject import MANY, Subject

INDICES = {
    "chi_square": "chi-square",
    "df": "degrees of freedom",
    "p": "p",
    "rmsea": "RMSEA (0 is best; up to 0.06 is good)",
    "cfi": "CFI (1 is best; from 0.95 is good)",
    "tli": "TLI (1 is best; from 0.95 is good)",
    "srmr": "SRMR (0 is best; up to 0.08 is good)",
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
        note = "Limits: " + ", ".join(f"{name} {number(limit)}" for name, limit in limits if limit is not None) + "."
        found.append(Grid("Rows beyond a limit", ["row", "T2", "Q"], rows, note, shown=10))
    return found


def _indices(subject: Subject) -> list[Any]:
    known = subject.facts.get("fit_indices")
    if not known:
        return []
    lines = [(word, number(known[name])) for name, word in INDICES.items() if known.get(name) is not None]
    adequacy = getattr(subject.estimator, "kmo_", None)
    found: list[Any] = [Facts("How well the factors fit", lines)] if lines else []
    if adequacy is not None:
        rows = [
            [name, float(own), float(u)]
            for name, own, u in zip(subject.columns, adequacy.columns, subject.estimator.uniquenesses_, strict=True)
        ]
        note = "KMO: how much a column shares with the others (1 is most). Uniqueness: what the factors leave of it."
        found.append(Grid("Columns of the factor model", ["column", "KMO", "uniqueness"], rows, note))
    return found


def _distortion(subject: Subject) -> list[Any]:
    known = getattr(subject.estimator, "distortion_", None)
    if known is None:
        return []
    lines = [
        ("pairs", f"{known.pairs:,}"),
        ("smallest", number(known.min)),
        ("largest", number(known.max)),
        ("mean", number(known.mean)),
        ("within the bound", f"{100 * known.share_within:.3g} %"),
    ]
    return [Facts("Squared distances after the projection, as multiples of those before", lines)]
