"""Every sentence of a report that depends on the data, by code.

Tests walk these tables: a code needs data for which its sentence is said, and data for which it must not be said.
"""

from __future__ import annotations

from dataclasses import dataclass

from gramian.registry import RECORDS, record_of
from gramian.results import Book, Sentence
from gramian.selection import Finding


@dataclass(frozen=True)
class Check:
    """A plain sentence about the data or the fit, how grave it is, and what to do."""

    grade: str
    text: Sentence
    remedy: str = ""


_PREDICTED = "In cross-validation, predictions explain {share} of the variance of {name}. The typical error is {rmse}."
_CLASSES = "In cross-validation, {right} of rows are predicted correctly. The largest class has {chance} of the rows."
_LANDMARKS = "Landmarks approximate the kernel matrix. The approximation leaves out {share} of its trace."
_MORE_LANDMARKS = "Use more landmarks for a closer approximation."

#: code -> grade, sentence, what to do
CHECKS = {
    # Rows
    "no_rows": (
        "note",
        "This report was made without rows. It shows what the model alone contains.",
        "Give the rows for checks of the data, scores and diagnostics.",
    ),
    "new_rows": (
        "note",
        "The model was fitted to {fitted:,} rows. The {given:,} rows of this report {which}.",
        "",
    ),
    "test_seen": (
        "warning",
        "{known:,} of the {n:,} test rows have the values of rows of the fit.",
        "Their errors understate those of new rows. Use test rows that were not in the fit.",
    ),
    "no_finding": ("good", "The checks of the data found no problem in the {n:,} rows.", ""),
    "gaps_imputed": ("note", "{message}", "The model imputed them."),
    "repetition_harmless": ("note", "{message}", "This method is not affected."),
    # Computation
    "fit_note": ("warning", "{note}", ""),
    "not_converged": (
        "warning",
        "The computation stopped before it converged.",
        "Allow more steps, or ask for fewer components.",
    ),
    "accurate": ("good", "The computation is accurate: no relative residual is above {worst}.", ""),
    "inaccurate": (
        "warning",
        "The computation is not accurate: the largest relative residual is {worst}.",
        "Use a solver with a smaller tol.",
    ),
    "optimal": ("good", "The computation converged: the optimality conditions hold to {worst}.", ""),
    "converged": ("good", "The computation converged.", ""),
    "landmarks_close": ("good", _LANDMARKS, ""),
    "landmarks_near": ("note", _LANDMARKS, _MORE_LANDMARKS),
    "landmarks_far": ("warning", _LANDMARKS, _MORE_LANDMARKS),
    "distances_kept": (
        "good",
        "The projection kept distances: {share} of {pairs:,} squared distances changed by no more than {eps}.",
        "",
    ),
    "distances_changed": (
        "warning",
        "The projection changed distances: only {share} of {pairs:,} squared distances changed by no more than {eps}.",
        "Use more directions, or n_components='auto'.",
    ),
    # Factors
    "factors_good": ("good", "The factors reproduce the correlations well: {indices}.", ""),
    "factors_fair": ("note", "The factors reproduce the correlations fairly well: {indices}.", ""),
    "factors_poor": (
        "warning",
        "The factors do not reproduce the correlations well: {indices}.",
        "More factors may be needed.",
    ),
    "kmo_enough": (
        "good",
        "Taken together, the columns share enough variance for factors: KMO {kmo:.2f} (0.50 or more).",
        "",
    ),
    "kmo_low": (
        "warning",
        "The columns share too little variance for factors: KMO {kmo:.2f} (below 0.50).",
        "Leave out columns that correlate with no other.",
    ),
    # Predictions
    "predicts_well": ("good", _PREDICTED, ""),
    "predicts_partly": ("note", _PREDICTED, ""),
    "predicts_little": ("warning", _PREDICTED, "This is little better than predicting the mean for every row."),
    "predicts_nothing": (
        "warning",
        "In cross-validation, predictions of {name} are no better than its mean. The typical error is {rmse}.",
        "Use other columns or another method.",
    ),
    "classes_well": ("good", _CLASSES, ""),
    "classes_partly": ("note", _CLASSES, ""),
    "classes_little": ("warning", _CLASSES, "This is little better than always predicting the largest class."),
    "classes_nothing": ("warning", _CLASSES, "This is no better than always predicting the largest class."),
    # Other samples
    "recovered": ("good", "{share} of {draws} bootstrap samples recover {which} (cosine of {alike} or more).", ""),
    "similar": (
        "note",
        "Of {draws} bootstrap samples, {which}. A cosine of {alike} or more counts as recovered.",
        "A new sample would give similar {noun}s, not the same.",
    ),
    "lost": (
        "warning",
        "Of {draws} bootstrap samples, {which}. A cosine of {alike} or more counts as recovered.",
        "Do not interpret them one by one: a new sample would give others.",
    ),
    "mixed": (
        "warning",
        "Of {draws} bootstrap samples, {pairs}.",
        "Interpret two that mix together, as a plane: they rotate in a new sample.",
    ),
    "close_gaps": (
        "note",
        "The variances of neighbouring {noun}s {pairs} differ by less than {limit:.1f} standard errors ({gaps}).",
        "Two such neighbours may rotate in a new sample.",
    ),
    "next_is_close": (
        "note",
        "The variance of the last {noun} kept, {k}, is {gap:.2g} standard errors above that of the first one left out.",
        "That is not significant: another sample may order the two the other way. Consider one {noun} fewer, or more.",
    ),
    "span_steady": (
        "good",
        "The subspace of the {noun}s is stable: it rotates by {most} degrees or less in 95 % of {draws} bootstrap "
        "samples.",
        "",
    ),
    "span_turns": (
        "note",
        "The subspace of the {noun}s varies between samples: it rotates by {half} degrees or more in half of {draws} "
        "bootstrap samples, and by {most} or more in 5 %.",
        "More rows, or fewer {noun}s, would make it more stable.",
    ),
    "draws_refused": (
        "warning",
        "{refused:,} of {draws:,} bootstrap samples could not be fitted and were left out.",
        "",
    ),
}

say = Book(
    {
        # Tables
        "rows_shown": "The first {shown:,} of {total:,} rows are shown; the CSV file has all of them.",
        "columns_shown": "The CSV file has all {count:,} columns.",
        "rows_kept": "The first {shown:,} of {total:,} rows are shown; the CSV file has {kept:,}.",
        # How many
        "as_recommended": "The model keeps {kept} {nouns}, as recommended by the criterion {criterion}.",
        "not_as_recommended": "The model keeps {kept} {nouns}. The criterion that decides for this method, "
        "{criterion}, recommends {recommended}.",
        "criteria_agree": "The {count} criteria that have an answer agree.",
        "criteria_differ": "The criteria range from {least} to {most}.",
        "purpose": "Criteria do not know what the {noun}s are used for; take that into account too.",
        "criteria_note": "{note}",
        "ridge": "The ridge is {ridge:.3g}. The larger it is, the smoother are the predictions.",
        "held": "The first {noun} explains {first} of the variance.",
        "held_together": "The {kept} kept explain {total} together.",
        "eigenvalues": "The first eigenvalue is {first} of the sum of all; the first {kept} are {total} together.",
        "eigenvalue": "The first eigenvalue is {first} of the sum of all.",
        "first_value": "The {what} of the first {noun} is {value}.",
        "stand_out": "By {criterion}, {count} {nouns} out.",
        "none_stands_out": "By {criterion}, no {noun} stands out.",
        "plain_parallel": "Plain parallel analysis, the grey band, would keep {count}.",
        "least_error": "Of {range}, the cross-validated error is smallest, {error}, {where}.",
        "least_errors": "Of {range}, the mean cross-validated error is smallest {where}.",
        "errors_at": "The model has {count}: {errors}.",
        "one_standard_error": "{count} within one standard error of it (the one-standard-error rule).",
        "first_pair": "The scores of the first pair correlate {value}.",
        "first_pair_ridge": "The scores of the first pair correlate {plain}. The regularised correlation is {value}: "
        "the fit maximises it, with the ridge added to the variances, and it is compared with rows paired at random.",
        "above_chance": "{count} of {total} canonical correlations, each by itself, {exceed} what the same correlation "
        "reaches in 95 % of random pairings of the rows. Criteria for their number test all that remain together.",
        "none_above_chance": "No canonical correlation exceeds what it reaches in 95 % of random pairings of the rows.",
        # Components
        "largest": "{label}: largest for {columns}.",
        "circle": "The nearer an arrow comes to the circle, the better the two {noun}s represent the column.",
        "arrows_show": "Arrows show for each column its {what}.",
        "supplementary_arrows": "Not used in the fit: {names}.",
        "supplementary_columns": "Correlations of the scores with columns that were not used in the fit.",
        "supplementary_rows": "Rows that were not used in the fit. cos2: share of the squared distance of the row from "
        "the mean that the {noun} holds.",
        "supplementary_scores": "Rows that were not used in the fit.",
        "contributions": "A contribution is the share of the {of} in the {noun}; cos2 is the share of its own "
        "variance, or squared distance from the mean, that the {noun} holds.",
        "factors_correlate": "The largest correlation is {value}, of {pair}.",
        "some_named": "The {count} longest arrows are named where there is room.",
        "contributors": "{above} of {total} {of} {contribute} more than the average of {share} (dashed line). "
        "The largest: {names}.",
        "contribute_alike": "All {total} {of} contribute equally.",
        "above_limit": "{above} of {total} columns {have} a {what} above {limit}. The largest: {names}.",
        "largest_columns": "The largest: {names}.",
        "excludes_zero": "The interval of {sure} of {total} columns excludes zero.",
        "bars_drawn": "The {count} largest are drawn.",
        "limits_by_draws": "Limits are {level} confidence intervals from {draws} bootstrap samples. A {noun} counts as "
        "recovered in a sample that has one with a cosine of {alike} or more to it.",
        "limits_by_rows": "Limits are {level} confidence intervals from the influence of the rows.",
        "bias_corrected": "A value outside its limits is biased. Bootstrap samples are biased in the same direction; "
        "the limits are corrected for that.",
        "depends_on": "Share of each column in the variation of the score from row to row; the largest first.",
        # Planes
        "contour": "Rows on one contour have the same score on {label}. The highest score, {value}, is near {xlabel} = "
        "{x}, {ylabel} = {y}.",
        "regions": "Each point of the plane has the colour of the class predicted there: {shares}.",
        "support": "The {count:,} rows with a ring are the support vectors. Only they determine the border.",
        "rebuilt": "Root mean squared error of the reconstruction: {errors}.",
        "rebuilt_lines": "{rows} drawn, solid as measured and dotted as reconstructed from {count}.",
        # Scores
        "points": "{n} by {xlabel} and {ylabel}.",
        "groups_differ": "The means of the groups differ along {axis}: lowest for {low}, highest for {high} "
        "(Games-Howell test, p {p}, corrected for {groups} groups and {axes} axes).",
        "v_tests": "v-test: how far the mean of a group lies from the mean of all rows, in standard deviations of the "
        "mean of as many rows drawn at random. Beyond 1.96 or -1.96 it differs at the 5 % level, by itself: of "
        "20 such numbers one lies there by chance.",
        "marks": "{count}: {what}.",
        "rows_named": "Rows are named where there is room; the pointer names all.",
        "groups_alike": "The means of the groups do not differ significantly along either axis.",
        "arrows": "Arrows are columns. The longest: {names}.",
        "ellipse": "The ellipse would hold {level} of new rows if rows were normally distributed.",
        "ellipses": "Each ellipse would hold {level} of the new rows of a group if they were normally distributed.",
        "map": "The rows by the first two principal components of the standardised columns, for orientation. The "
        "method does not use them.",
        "paired": "Each point is a row. The scores of the two views correlate {value}.",
        "paired_ridge": "With the ridge, the regularised correlation of the fit is {value}.",
        # Predictions
        "predicted": "On the dashed line predictions equal measurements. Root mean squared error {rmse}, bias {bias}, "
        "R2 {r2}.",
        "largest_errors": "The largest errors: {names}.",
        "merit_of_test": "For the {n:,} test rows, R2 of {name} is {r2} and the typical error ({error}) is {rmse}.",
        "right_of_test": "{right} of {n:,} test rows are predicted correctly.",
        "merit_of_fit": "R2 of {name} is {r2} for the rows of the fit.",
        "merit_of_new": "R2 of {name} is {r2} for these rows.",
        "right_of_fit": "{right} of {n:,} rows of the fit are predicted correctly.",
        "right_of_new": "{right} of {n:,} new rows are predicted correctly.",
        "right_of_some": "{right} of {n:,} rows are predicted correctly.",
        "partly_optimistic": "{known:,} of these {n:,} rows have the values of rows of the fit: errors of new rows are "
        "larger on average.",
        "optimistic": "The model was fitted to these rows: errors of new rows are larger on average.",
        "judge_by_left_out": "Judge the model by the cross-validated predictions.",
        "merit": "RMSE: typical error, in the unit of the target: RMSEC of rows of the fit, RMSECV of rows left out, "
        "RMSEP of new rows. SEP: standard deviation of the errors around their mean, the bias, with divisor n - 1 "
        "(where the bias is near zero it is slightly larger than RMSE, whose divisor is n). RPD: standard deviation of "
        "the target divided by SEP.",
        "confusion": "Rows are true classes, columns are predicted classes.",
        "clusters": "{count} of {least:,} to {most:,} rows.",
        "clusters_alike": "{count} of {most:,} rows each.",
        # Diagnostics
        "beyond": "{count} beyond a dashed limit. Of a large, normally distributed sample {alpha} of the rows exceed "
        "each limit. The farthest: {names}.",
        "none_beyond": "No row is beyond a dashed limit. Of a large, normally distributed sample {alpha} of the rows "
        "exceed each limit.",
        "limits": "Limits: {limits}.",
        "kmo": "KMO: how much of the correlation of a column is shared with several others (1 is best, below 0.5 is "
        "too little). Uniqueness: share of its variance that the factors do not explain.",
        "residuals": "No relative residual is above {worst}.",
        "angles": "The sine of the angle between the computed and the exact direction is {angle} or less for {which}.",
        "likelihood_rose": "The log-likelihood rose from {first} to {last} in {steps:,} steps.",
        "likelihood_flat": "The log-likelihood reached {last} in {steps:,} steps; it rose by {rise} since the first.",
        # Code
        "program": "This program fits the same model and writes this report.",
        "seeds": "Everything that is drawn at random has a fixed seed.",
        "program_of_other_rows": "This program writes this report of the model, which was fitted before to other rows.",
        "program_of_model": "This program writes this report of the model, which was fitted before.",
    }
)


def check(code: str, **values: object) -> Check:
    """A check by its code."""
    grade, text, remedy = CHECKS[code]
    return Check(grade, Sentence(text.format(**values), code), remedy.format(**values))


def check_of(finding: Finding, where: str) -> Check:
    """What was found in the data, with the code of the finding."""
    return Check(finding.severity, Sentence(f"{where}{full(finding.message)}", finding.code), finding.remedy)


def full(text: str) -> str:
    """Text as a sentence: a capital first, a full stop last.

    >>> full("ten folds")
    'Ten folds.'
    """
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def noted(note: Sentence) -> Sentence:
    """A note of a chart as a sentence."""
    return Sentence(full(note), note.code)


#: What each method does, by the name of its class. These sentences depend on no data.
METHOD_WORDS = Book({record.name: record.words for record in RECORDS})


def method_in_words(estimator: object) -> list[Sentence]:
    """A sentence or two about the method of an estimator."""
    record = record_of(estimator)
    return [] if record is None else [METHOD_WORDS(record.name)]
