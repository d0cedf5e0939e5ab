"""How many components: what every criterion says, and the picture behind it."""

from __future__ import annotations

from typing import Any

from gramian import charts
from gramian.reports.contents import WHOLE, Grid, Section
from gramian.reports.pictures import correlations_picture, cv_picture, scree_picture
from gramian.reports.sections.asking import asked
from gramian.reports.sentences import full, say
from gramian.reports.subject import Subject


def choice(subject: Subject) -> Section | None:
    """The choice of the number of components."""
    parts = [*_pictures(subject)]
    said = subject.how_many
    says = []
    if said is not None:
        kept = subject.facts.get("n_components")
        least, most = said.spread
        code = "as_recommended" if kept == said.recommended else "not_as_recommended"
        nouns = f"{subject.noun}{'' if kept == 1 else 's'}"
        says.append(say(code, kept=kept, nouns=nouns, criterion=said.decided_by, recommended=said.recommended))
        if least < most:
            says.append(say("criteria_differ", least=least, most=most))
        elif len(said.table) > 1:
            says.append(say("criteria_agree", count=len(said.table)))
        says.append(say("purpose", noun=subject.noun))
        if said.note:
            says.append(say("criteria_note", note=full(said.note)))
        rows = [
            [
                line.criterion + (" (decides)" if line.criterion == said.decided_by else ""),
                line.k,
                line.reference,
                line.detail,
            ]
            for line in said.table
        ]
        columns = ["criterion", "says", "reference", "detail"]
        parts.append(Grid("What every criterion says", columns, rows, shown=WHOLE))
    if subject.name == "KernelRidge":
        says = [say("ridge", ridge=subject.facts["ridge"])]
        return Section("How large a ridge", says, parts) if parts else None
    return Section(f"How many {subject.noun}s", says, parts) if parts else None


def _pictures(subject: Subject) -> list[Any]:
    model, X, y = subject.model, subject.X, subject.y
    fitted = X if subject.of_the_fit and subject.affordable and subject.countable else None
    if hasattr(subject.estimator, "correlations_"):
        both = (fitted, y) if fitted is not None and y is not None else (None, None)
        chart = asked(charts.correlations, model, *both) or asked(charts.correlations, model)
        return [correlations_picture(chart)] if chart is not None else []
    curve = asked(charts.cv_curve, model, fitted, y if fitted is not None else None) or asked(charts.cv_curve, model)
    if curve is not None:
        return [cv_picture(curve)]
    chart = asked(charts.scree, model, fitted) or asked(charts.scree, model)
    return [scree_picture(chart)] if chart is not None else []
