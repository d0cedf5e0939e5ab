"""What a reader must know first, in plain words: of the data, of the fit, and of what other rows would give."""

from __future__ import annotations

import numpy as np

from gramian.adequacy import GRADES, LIMITS, grade
from gramian.construction import steps_of
from gramian.registry import Standardizer
from gramian.reports.contents import CHECK_GRADES, Check, brief
from gramian.reports.sentences import check, check_of, full
from gramian.reports.subject import Subject
from gramian.results import Array, at_least, at_most, percent
from gramian.selection import Diagnosis, Trust
from gramian.selection.trust_result import (
    DISTINCT_GAP_ERRORS,
    RECOVERED_SHARE,
    SAME_COMPONENT_COSINE,
    SIMILAR_COMPONENT_COSINE,
)

#: Sampling adequacy below which columns share too little for factors (Kaiser 1974).
KMO_MIN = 0.5
#: Relative residual up to which eigenpairs are called accurate: directions are then off by no more than 0.01 where
#: eigenvalues differ by 1 %.
ACCURATE_MAX_RESIDUAL = 1e-4
#: Share of the trace of a kernel that landmarks may leave out and still be called close, or near.
CLOSE_SHARE, NEAR_SHARE = 0.05, 0.2
#: Share of squared distances that must stay within the bound of a random projection.
DISTANCES_KEPT_MIN_SHARE = 0.9
#: Degrees by which the span of the components may turn between samples and still be called stable.
STABLE_MAX_DEGREES = 10.0
#: Shares of the variance of a target, or of what chance gets wrong, that are called well and little predicted.
WELL_SHARE, LITTLE_SHARE = 0.5, 0.1

#: Which rows -> what is said of those of a report that are not all rows of the fit.
WHICH_ROWS = {
    "": "may be among them, which the model cannot tell",
    "fit": "are among them",
    "mixed": "are partly among them, partly new",
    "new": "are new",
}


def checks_of(subject: Subject) -> list[Check]:
    """All checks, the gravest first."""
    parts = (_of_rows, _of_fit, _of_factors, _of_predictions, _of_classes, _of_trust)
    found = [check for part in parts for check in part(subject)]
    return sorted(found, key=lambda check: CHECK_GRADES.index(check.grade))


def _of_rows(subject: Subject) -> list[Check]:
    if subject.X is None:
        return [check("no_rows")]
    found = [made for where, diagnosis in subject.diagnoses.items() for made in _findings(subject, diagnosis, where)]
    if not found:
        found = [check("no_finding", n=subject.n)]
    if subject.test is not None and subject.test_seen:
        found.append(check("test_seen", known=subject.test_seen, n=subject.test.n))
    if not subject.of_the_fit:
        fitted = round(subject.facts["n"])
        found.append(check("new_rows", fitted=fitted, given=subject.n, which=WHICH_ROWS[subject.role]))
    return found


def _findings(subject: Subject, diagnosis: Diagnosis, where: str) -> list[Check]:
    estimator, record = subject.estimator, subject.record
    imputed = getattr(estimator, "missing", None) is not None
    scaled = any(isinstance(step, Standardizer) for step in steps_of(subject.model)[:-1])
    uneven = record.units and not (scaled or getattr(estimator, "scale", False))
    inverts = record.inverts and not np.any(getattr(estimator, "ridge", 0))
    found = []
    for finding in diagnosis:
        message = f"{where}{full(finding.message)}"
        if finding.code == "uneven_scales" and not uneven:
            continue
        if finding.code == "missing_values" and imputed:
            found.append(check("gaps_imputed", message=message))
        elif finding.code in ("collinear_columns", "few_rows") and not inverts:  # no inverse, no count of sources
            found.append(check("repetition_harmless", message=message))
        else:
            found.append(check_of(finding, where))
    return found


def _of_fit(subject: Subject) -> list[Check]:
    facts, estimator = subject.facts, subject.estimator
    found = [check("fit_note", note=full(note)) for note in facts.get("notes", ())]
    residuals, optimality = facts.get("residuals"), facts.get("kkt_residual")
    if facts.get("converged") is False:
        found.append(check("not_converged"))
    elif residuals is not None and np.size(residuals):
        worst = float(np.max(residuals))
        found.append(check("accurate" if worst <= ACCURATE_MAX_RESIDUAL else "inaccurate", worst=at_most(worst)))
    elif optimality is not None:
        found.append(check("optimal", worst=at_most(float(optimality))))
    elif facts.get("converged") is True:
        found.append(check("converged"))
    error, distortion = (getattr(estimator, name, None) for name in ("trace_error_", "distortion_"))
    if error is not None:
        code = "landmarks_close" if error < CLOSE_SHARE else "landmarks_near" if error < NEAR_SHARE else "landmarks_far"
        found.append(check(code, share=percent(max(float(error), 0.0))))
    if distortion is not None:
        code = "distances_kept" if distortion.share_within >= DISTANCES_KEPT_MIN_SHARE else "distances_changed"
        share, eps = percent(distortion.share_within), percent(estimator.eps)
        found.append(check(code, share=share, pairs=distortion.pairs, eps=eps))
    return found


def _of_factors(subject: Subject) -> list[Check]:
    indices, found = subject.facts.get("fit_indices"), []
    if indices is None:
        return []
    known = {name: indices[name] for name in ("rmsea", "cfi") if indices.get(name) is not None}
    if len(known) == 2:
        grades = {name: grade(name, value) for name, value in known.items()}
        worst = max(grades.values(), key=GRADES.index)
        said = ", ".join(_judged(*pair) for pair in known.items())
        beside = [name for name in ("tli", "srmr") if indices.get(name) is not None]
        worse = [name for name in beside if GRADES.index(grade(name, indices[name])) > GRADES.index(worst)]
        said += "".join(f", but {_judged(name, indices[name])}" for name in worse)
        found.append(check(f"factors_{worst}", indices=said))
    adequacy = getattr(subject.estimator, "kmo_", None)
    if adequacy is not None and np.isfinite(adequacy.overall):
        enough = round(adequacy.overall, 2) >= KMO_MIN
        found.append(check("kmo_enough" if enough else "kmo_low", kmo=adequacy.overall))
    return found


def _judged(name: str, value: float) -> str:
    """An index with its grade, and what would be good if it is not.

    >>> _judged("cfi", 0.927)
    'CFI 0.927 is fair (0.95 or more is good)'
    """
    word, (good, fair) = grade(name, value), LIMITS[name]
    instead = "" if word == "good" else f" ({good:g} or {'less' if good < fair else 'more'} is good)"
    return f"{name.upper()} {value:.3f} is {word}{instead}"


def _of_predictions(subject: Subject) -> list[Check]:
    found = []
    for name, chart in zip(subject.targets, subject.left_out, strict=False):
        r2 = chart.merit.r2
        if np.isfinite(r2):
            share, rmse = percent(max(r2, 0.0)), brief(chart.merit.rmse)
            found.append(check(f"predicts_{_how_well(r2)}", name=name, share=share, rmse=rmse))
    return found


def _how_well(share: float) -> str:
    """A word for a share of the variance, or of what chance gets wrong, that is predicted."""
    words = ((WELL_SHARE, "well"), (LITTLE_SHARE, "partly"), (0.0, "little"))
    return next((word for least, word in words if share > least), "nothing")


def _of_classes(subject: Subject) -> list[Check]:
    guesses = subject.classes_left_out
    if guesses is None:
        return []
    truth = np.asarray(subject.y).astype(str).ravel()
    right = float((truth == guesses.astype(str).ravel()).mean())
    chance = float(np.unique(truth, return_counts=True)[1].max() / len(truth))
    gained = (right - chance) / (1 - chance) if chance < 1 else 0.0
    return [check(f"classes_{_how_well(gained)}", right=percent(right), chance=percent(chance))]


def _of_trust(subject: Subject) -> list[Check]:
    known, noun = subject.trust, subject.record.noun
    if known is None:
        return []
    found = [*_of_recovery(known, noun), *_of_gaps(known, noun)]
    if known.angles is not None:
        half, most = (float(angle) for angle in known.angles)
        if most <= STABLE_MAX_DEGREES:
            found.append(check("span_steady", noun=noun, draws=known.draws, most=at_most(most)))
        else:
            turns = {"half": at_least(half), "most": at_least(most)}
            found.append(check("span_turns", noun=noun, draws=known.draws, **turns))
    if known.refused:
        found.append(check("draws_refused", refused=known.refused, draws=known.draws))
    return found


def _of_recovery(known: Trust, noun: str) -> list[Check]:
    """How often bootstrap samples recover each component, and the pairs that they mix."""
    if known.recovery is None:
        return []
    shares, cosines, pairs = known.recovery.shares, known.recovery.cosines, known.recovery.pairs
    similar = np.where(cosines >= SIMILAR_COMPONENT_COSINE, "similar", "lost")
    codes = np.where(shares >= RECOVERED_SHARE, "recovered", similar)
    places = {code: np.flatnonzero(codes == code).tolist() for code in ("recovered", "similar", "lost")}
    found = []
    if places["recovered"]:
        share, which = _recovered(noun, places["recovered"], shares)
        found.append(check("recovered", share=share, draws=known.draws, which=which, alike=SAME_COMPONENT_COSINE))
    for code in ("similar", "lost"):
        if places[code]:
            which = ", ".join(
                f"{percent(float(shares[k]))} recover {noun} {k + 1} (median cosine {cosines[k]:.2f})"
                for k in places[code]
            )
            found.append(check(code, draws=known.draws, which=which, alike=SAME_COMPONENT_COSINE, noun=noun))
    if pairs:
        first, *rest = ((percent(share), f"{i} and {j}") for i, j, share in pairs)
        words = [f"{first[0]} mix {noun}s {first[1]}", *(f"{often} mix {names}" for often, names in rest)]
        found.append(check("mixed", draws=known.draws, pairs=", ".join(words)))
    return found


def _recovered(noun: str, places: list[int], shares: Array) -> tuple[str, str]:
    """How many bootstrap samples recover components, and which.

    >>> _recovered("factor", [0, 2], [1.0, 0.4, 0.95]), _recovered("factor", [1], [1.0, 1.0])
    (('At least 95 %', 'each of factors 1 and 3'), ('All', 'factor 2'))
    """
    least = float(min(shares[at] for at in places))
    numbers = [str(at + 1) for at in places]
    if len(places) == 1:
        return "All" if least == 1 else percent(least), f"{noun} {numbers[0]}"
    which = f"each of {noun}s {', '.join(numbers[:-1])} and {numbers[-1]}"
    return "All" if least == 1 else f"At least {percent(least)}", which


def _of_gaps(known: Trust, noun: str) -> list[Check]:
    """Gaps of neighbours where no draws show what follows from them, and the gap after the last."""
    if known.ties is None:
        return []
    gaps, found = known.ties.gaps, []
    if known.recovery is None and known.ties.close:
        pairs = ", ".join(f"{k} and {k + 1}" for k in known.ties.close)
        sizes = ", ".join(f"{gaps[k - 1]:.2g}" for k in known.ties.close)
        found.append(check("close_gaps", noun=noun, pairs=pairs, limit=DISTINCT_GAP_ERRORS, gaps=sizes))
    if known.ties.cut:
        found.append(check("next_is_close", noun=noun, k=known.ties.k, gap=float(gaps[known.ties.k - 1])))
    return found
