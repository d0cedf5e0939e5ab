"""How well the model predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from gramian import charts
from gramian.estimators.merit import merit
from gramian.reports.contents import KEPT, Grid, Section, brief, tidy_bias
from gramian.reports.figures.points import predicted_picture
from gramian.reports.sections.asking import asked
from gramian.reports.subject import MANY, Subject
from gramian.results import Array, percent

#: Targets that are drawn, and classes that are told apart in a table.
DRAWN, MOST_CLASSES = 3, 30


def predictions(subject: Subject) -> Section | None:
    """Predictions beside what was measured; clusters and their sizes."""
    if subject.name == "KernelKMeans":
        return _clusters(subject)
    if subject.X is None or subject.predictions is None or subject.y is None:
        return None
    return _classes(subject) if subject.classifies else _numbers(subject)


def _numbers(subject: Subject) -> Section:
    names = subject.targets
    parts: list[Any] = []
    given = {"names": subject.names, "many": MANY}
    seen = "Rows of the fit" if subject.of_the_fit else "New rows"
    for at, name in enumerate(names[:DRAWN]):
        of = "" if len(names) == 1 else f": {name}"
        parts += [predicted_picture(chart, f"Rows left out{of}") for chart in subject.left_out[at : at + 1]]
        chart = asked(charts.predicted, subject.model, subject.X, subject.y, target=at, **given)
        parts += [] if chart is None else [predicted_picture(chart, f"{seen}{of}")]
    measured, guesses = (
        np.asarray(part, dtype=np.float64).reshape(subject.n, -1) for part in (subject.y, subject.predictions)
    )
    whose = "fit" if subject.of_the_fit else "new"
    found = [merit(measured[:, at], guesses[:, at], whose) for at in range(measured.shape[1])]
    rows = [
        [name, each.n, each.rmse, tidy_bias(each), each.sep, each.r2, each.rpd, each.slope, each.intercept]
        for name, each in zip(names, found, strict=True)
    ]
    best = found[0]
    error, spread = best.error_name, best.spread_name
    words = ["target", "rows", error, "bias", spread, "R2", "RPD", "slope", "intercept"]
    note = (
        f"{error}: typical error on {'the rows of the fit' if subject.of_the_fit else 'new rows'}, in the unit of the "
        f"target. {spread}: the same without the bias. RPD: spread of the target over {spread}."
    )
    parts.append(Grid("Figures of merit", words, rows, note))
    says = f"{names[0]}: R2 {brief(best.r2)} on {'the rows of the fit' if subject.of_the_fit else 'these rows'}."
    if subject.of_the_fit:
        says += " The fit has seen these rows, so errors of new rows are larger; rows left out are the fairer test."
    return Section("Predictions", [says], [*parts, _table(subject, guesses, [f"predicted {name}" for name in names])])


def _classes(subject: Subject) -> Section:
    truth, guesses = (np.asarray(part).astype(str).ravel() for part in (subject.y, subject.predictions))
    wrong = np.flatnonzero(truth != guesses)
    whose = "rows of the fit" if subject.of_the_fit else "new rows"
    says = f"{percent(1 - len(wrong) / len(truth))} of {len(truth):,} {whose} are predicted right."
    parts: list[Any] = []
    if subject.classes_left_out is not None:
        parts += _confusion(truth, subject.classes_left_out.astype(str).ravel(), "Rows left out, in five folds")
        says += " The model has seen these rows: rows left out are the fairer test."
    elif subject.of_the_fit:
        says += " The model has seen these rows: expect less of new ones, and judge it on rows left out."
    parts += _confusion(truth, guesses, f"{whose[:1].upper()}{whose[1:]}")
    if len(wrong):
        rows = [[subject.row_names[at], truth[at], guesses[at]] for at in wrong[:KEPT]]
        parts.append(Grid("Rows predicted wrong", ["row", "true", "predicted"], rows, total=len(wrong)))
    return Section("Predictions", [says], parts)


def _confusion(truth: Array, guesses: Array, title: str) -> list[Grid]:
    """Which classes were taken for which."""
    names = sorted({*truth, *guesses})
    if len(names) > MOST_CLASSES:
        return []
    counts = confusion_matrix(truth, guesses, labels=names).tolist()
    rows = [
        [name, *row, percent(row[at] / max(sum(row), 1))]
        for at, (name, row) in enumerate(zip(names, counts, strict=True))
    ]
    note = "A line for each true class, a column for what was predicted."
    return [Grid(title, ["class", *names, "right"], rows, note, shown=MOST_CLASSES)]


def _clusters(subject: Subject) -> Section:
    sizes = np.asarray(subject.facts["sizes"])
    rows = [[at, int(size), percent(float(size / sizes.sum()))] for at, size in enumerate(sizes)]
    says = f"{len(sizes)} clusters of {int(sizes.min()):,} to {int(sizes.max()):,} rows."
    parts = [Grid("Sizes of the clusters", ["cluster", "rows", "share"], rows)]
    if subject.predictions is not None:
        places = subject.predictions.reshape(-1, 1)
        parts.append(_table(subject, places, ["cluster"]))
    return Section("Clusters", [says], parts)


def _table(subject: Subject, values: Any, names: list[str]) -> Grid:
    rows = [[name, *row] for name, row in zip(subject.row_names[:KEPT], values[:KEPT].tolist(), strict=True)]
    return Grid(
        "Table of clusters" if names == ["cluster"] else "Table of predictions",
        ["row", *names],
        rows,
        total=len(values),
        shown=10,
    )
