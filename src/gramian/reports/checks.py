"""What a reader must know first, in plain words: of the data, of the fit, and of what would come out again."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.reports.contents import GRADES, Check, brief
from gramian.reports.subject import Subject
from gramian.results import percent
from gramian.selection import Diagnosis, Trust

#: Fit indices of a factor model that are commonly called good and fair (Hu, Bentler 1999).
GOOD_RMSEA, FAIR_RMSEA = 0.06, 0.08
#: Sampling adequacy below which columns share too little for factors (Kaiser 1974).
LEAST_KMO = 0.5
#: Degrees by which the span of the components may move between samples and still be called steady.
STEADY = 10.0
#: Shares of the variance of a target, or of what chance gets wrong, that are called well and little predicted.
WELL, LITTLE = 0.5, 0.1
HARDLY = "They are hardly better than a guess that looks at no column."


def checks_of(subject: Subject) -> list[Check]:
    """All checks, the gravest first."""
    parts = (_of_rows, _of_fit, _of_factors, _of_predictions, _of_classes, _of_trust)
    found = [check for part in parts for check in part(subject)]
    return sorted(found, key=lambda check: GRADES.index(check.grade))


def _of_rows(subject: Subject) -> list[Check]:
    if subject.X is None:
        return [
            Check(
                "note",
                "This report was made without rows: it shows what the model alone knows.",
                "Give the rows for checks of the data, scores and diagnostics.",
            )
        ]
    found = []
    if not subject.of_the_fit:
        fitted = subject.facts.get("n")
        whose = "" if fitted is None else f" to {round(fitted):,} rows, these are {subject.n:,}"
        found.append(Check("note", f"The model was fitted{whose}: they are taken for new ones."))
    for diagnosis, where in ((subject.diagnosis, ""), (subject.diagnosis_of_y, "Second view: ")):
        if diagnosis is not None:
            found += _findings(subject, diagnosis, where)
    if not any(check.grade in ("error", "warning") for check in found):
        found.append(Check("good", f"No fault was found in the {subject.n:,} rows."))
    return found


def _findings(subject: Subject, diagnosis: Diagnosis, where: str) -> list[Check]:
    gaps = getattr(subject.estimator, "missing", None) is not None
    found = []
    for finding in diagnosis:
        if finding.code == "uneven_scales" and subject.even:
            continue
        if finding.code == "missing_values" and gaps:
            found.append(Check("note", f"{where}{finding.message}", "They were expected under the model."))
            continue
        if finding.code == "collinear_columns" and not subject.minds_repetition:
            found.append(Check("note", f"{where}{_sentence(finding.message)}", "This method does not mind."))
            continue
        found.append(Check(finding.severity, f"{where}{_sentence(finding.message)}", finding.remedy))
    return found


def _of_fit(subject: Subject) -> list[Check]:
    facts, estimator = subject.facts, subject.estimator
    found = [Check("warning", _sentence(note)) for note in facts.get("notes", ())]
    if facts.get("converged") is False:
        found.append(
            Check("warning", "The computation stopped before it was done.", "Allow more steps, or ask for less.")
        )
    elif facts.get("residuals") is not None and np.size(facts["residuals"]):
        worst = float(np.max(facts["residuals"]))
        found.append(Check("good", f"The computation is exact: no relative residual is above {worst:.1g}."))
    elif facts.get("kkt_residual") is not None:
        found.append(
            Check("good", f"The computation is done: its conditions hold to {float(facts['kkt_residual']):.1g}.")
        )
    elif facts.get("converged") is True:
        found.append(Check("good", "The computation ran to its end."))
    error = getattr(estimator, "trace_error_", None)
    if error is not None:
        grade = "good" if error < 0.05 else "note" if error < 0.2 else "warning"
        remedy = "" if grade == "good" else "Take more landmarks for a closer answer."
        found.append(
            Check(grade, f"Landmarks stand for all rows; they leave out {percent(float(error))} of the kernel.", remedy)
        )
    return found + _of_distances(estimator)


def _of_distances(estimator: Any) -> list[Check]:
    distortion = getattr(estimator, "distortion_", None)
    if distortion is None:
        return []
    kept = f"{percent(distortion.share_within)} of {distortion.pairs:,} squared distances stayed within the bound"
    if distortion.share_within > 0.9:
        return [Check("good", f"Distances were kept: {kept}.")]
    return [
        Check("warning", f"Distances were not kept well: only {kept}.", "Take more directions, or n_components='auto'.")
    ]


def _of_factors(subject: Subject) -> list[Check]:
    indices, found = subject.facts.get("fit_indices"), []
    if indices is None:
        return []
    rmsea, cfi = indices.get("rmsea"), indices.get("cfi")
    if rmsea is not None and cfi is not None:
        fits = f"RMSEA {rmsea:.3f}, CFI {cfi:.3f}"
        if rmsea <= GOOD_RMSEA:
            found.append(Check("good", f"The factors reproduce the correlations well ({fits})."))
        elif rmsea <= FAIR_RMSEA:
            found.append(Check("note", f"The factors reproduce the correlations fairly well ({fits})."))
        else:
            found.append(
                Check(
                    "warning",
                    f"The factors do not reproduce the correlations well ({fits}).",
                    "More factors may be needed.",
                )
            )
    adequacy = getattr(subject.estimator, "kmo_", None)
    if adequacy is not None and np.isfinite(adequacy.overall):
        enough = adequacy.overall >= LEAST_KMO
        text = f"Columns share {'enough' if enough else 'too little'} for factors (KMO {adequacy.overall:.2f})."
        found.append(
            Check("good" if enough else "warning", text, "" if enough else "Leave out columns that go with no other.")
        )
    return found


def _of_predictions(subject: Subject) -> list[Check]:
    found = []
    for name, chart in zip(subject.targets, subject.left_out, strict=False):
        r2, rmse = chart.merit.r2, brief(chart.merit.rmse)
        if not np.isfinite(r2):
            continue
        text = f"explain {percent(max(r2, 0.0))} of the variance of {name}, with a typical error of {rmse}."
        if r2 >= WELL:
            found.append(Check("good", f"Predictions of rows left out {text}"))
        elif r2 >= LITTLE:
            found.append(Check("note", f"Predictions of rows left out {text}"))
        else:
            found.append(Check("warning", f"Predictions of rows left out {text}", HARDLY))
    return found


def _of_classes(subject: Subject) -> list[Check]:
    guesses = subject.classes_left_out
    if guesses is None:
        return []
    truth = np.asarray(subject.y).astype(str).ravel()
    right = float((truth == guesses.astype(str).ravel()).mean())
    chance = float(np.unique(truth, return_counts=True)[1].max() / len(truth))
    text = f"Of rows left out, {percent(right)} are predicted right; the largest class alone has {percent(chance)}."
    if right >= chance + WELL * (1 - chance):
        return [Check("good", text)]
    return [Check("note", text)] if right >= chance + LITTLE * (1 - chance) else [Check("warning", text, HARDLY)]


def _of_trust(subject: Subject) -> list[Check]:
    known = subject.trust
    if known is None:
        return []
    found = []
    for group in known.groups:
        if len(group) > 1:
            names = f"{', '.join(map(str, group[:-1]))} and {group[-1]}"
            found.append(
                Check(
                    "warning",
                    f"{subject.noun.capitalize()}s {names} cannot be told apart: other rows would mix them anew.",
                    "Read them together, as a plane, not one by one.",
                )
            )
    if known.ties is not None and known.ties.cut:
        found.append(
            Check(
                "note",
                f"The last {subject.noun} kept, {known.ties.k}, holds no more than the next, as far as rows tell.",
                f"Keep fewer {subject.noun}s, or more.",
            )
        )
    return [*found, *_of_span(known, subject.noun)]


def _of_span(known: Trust, noun: str) -> list[Check]:
    if known.angles is None:
        return []
    half, most = (float(angle) for angle in known.angles)
    text = f"moves by {brief(half)} degrees in half of {known.draws} bootstrap draws, {brief(most)} in 95 %"
    if most <= STEADY:
        return [Check("good", f"The {noun}s would come out again: what they span {text}.")]
    return [
        Check(
            "note",
            f"The {noun}s depend on the rows: what they span {text}.",
            f"More rows, or fewer {noun}s, would steady it.",
        )
    ]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"
