"""How many components: what every criterion says, and the picture behind it."""

from __future__ import annotations

from typing import Any

from gramian import charts
from gramian.reports.contents import Grid, Section
from gramian.reports.figures.spectra import correlations_picture, cv_picture, scree_picture
from gramian.reports.sections.asking import asked
from gramian.reports.subject import Subject


def choice(subject: Subject) -> Section | None:
    """The choice of the number of components."""
    parts = [*_pictures(subject)]
    said = subject.how_many
    says = []
    if said is not None:
        kept = subject.facts.get("n_components")
        least, most = said.spread
        agree = "All criteria agree." if least == most else f"Criteria say {least} to {most}."
        says.append(
            f"The model keeps {kept}. The criterion that decides for this method, {said.decided_by}, says "
            f"{said.recommended}. {agree} They do not know what the {subject.noun}s are for: that decides too."
        )
        if said.note:
            says.append(f"{said.note[:1].upper()}{said.note[1:]}{'' if said.note.endswith('.') else '.'}")
        rows = [
            [
                line.criterion + (" (decides)" if line.criterion == said.decided_by else ""),
                line.k,
                line.reference,
                line.detail,
            ]
            for line in said.table
        ]
        parts.append(Grid("What every criterion says", ["criterion", "says", "reference", "detail"], rows, shown=30))
    if subject.name == "KernelRidge":
        says = [f"The model has a ridge of {subject.facts['ridge']:.3g}: the larger, the smoother its predictions."]
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
