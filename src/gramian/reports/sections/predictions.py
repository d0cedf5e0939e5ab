"""How well the model predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from gramian import charts
from gramian.estimators.calibration_metrics import merit
from gramian.reports.contents import KEPT, Grid, Section, brief, counted, tidy_bias
from gramian.reports.figures.points import predicted_picture
from gramian.reports.sections.asking import asked
from gramian.reports.sentences import say
from gramian.reports.subject import MANY, Subject
from gramian.results import Array, Sentence, percent

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
    error, spread = found[0].error_name, found[0].spread_name
    words = ["target", "rows", error, "bias", spread, "R2", "RPD", "slope", "intercept"]
    parts.append(Grid("Figures of merit", words, rows, [say("merit", error=error, spread=spread)]))
    code = "merit_of_fit" if subject.of_the_fit else "merit_of_new"
    says = [
        say(code, name=name, r2=brief(each.r2))
        for name, each in list(zip(names, found, strict=True))[:DRAWN]
        if np.isfinite(each.r2)
    ]
    says += _caution(subject, bool(subject.left_out))
    return Section("Predictions", says, [*parts, _table(subject, guesses, [f"predicted {name}" for name in names])])


def _classes(subject: Subject) -> Section:
    truth, guesses = (np.asarray(part).astype(str).ravel() for part in (subject.y, subject.predictions))
    wrong = np.flatnonzero(truth != guesses)
    whose = "rows of the fit" if subject.of_the_fit else "new rows"
    code = "right_of_fit" if subject.of_the_fit else "right_of_new"
    says = [say(code, right=percent(1 - len(wrong) / len(truth)), n=len(truth))]
    says += _caution(subject, subject.classes_left_out is not None)
    parts: list[Any] = []
    if subject.classes_left_out is not None:
        parts += _confusion(truth, subject.classes_left_out.astype(str).ravel(), "Rows left out, in five folds")
    parts += _confusion(truth, guesses, f"{whose[:1].upper()}{whose[1:]}")
    if len(wrong):
        rows = [[subject.row_names[at], truth[at], guesses[at]] for at in wrong[:KEPT]]
        parts.append(Grid("Rows predicted wrong", ["row", "true", "predicted"], rows, total=len(wrong)))
    return Section("Predictions", says, parts)


def _caution(subject: Subject, left_out: bool) -> list[Sentence]:
    """What to think of predictions of rows of the fit."""
    if not subject.of_the_fit:
        return []
    return [say("optimistic"), *([say("judge_by_left_out")] if left_out else [])]


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
    return [Grid(title, ["class", *names, "right"], rows, [say("confusion")], shown=MOST_CLASSES)]


def _clusters(subject: Subject) -> Section:
    sizes = np.asarray(subject.facts["sizes"])
    rows = [[at, int(size), percent(float(size / sizes.sum()))] for at, size in enumerate(sizes)]
    least, most, count = int(sizes.min()), int(sizes.max()), counted(len(sizes), "cluster")
    says = say("clusters_alike" if least == most else "clusters", count=count, least=least, most=most)
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
