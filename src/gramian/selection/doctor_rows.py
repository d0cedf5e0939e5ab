"""Checks of rows: copies, empty ones, and rows far from all others."""

from __future__ import annotations

import numpy as np
import scipy.stats

from gramian import lapack
from gramian.operators import moments_of
from gramian.projection import LinearProjection
from gramian.results import Array
from gramian.selection.doctor_columns import CODES, TAIL, clipped, few, number, sentinel
from gramian.selection.doctor_findings import Finding, at_rows, listed, plural, row_numbers
from gramian.selection.doctor_portrait import ENOUGH, Portrait

#: Copies expected by chance below which a single one is no chance.
CHANCE = 1e-3
#: Share of copies, and times the number expected by chance, that are reported otherwise.
MANY, TIMES = 0.01, 10
#: Odds of a Gaussian row, among all rows of a table, beyond which a row is far; and how many times as far as 99 % of
#: the rows it must be, for tables are not Gaussian.
ODDS, APART = 1e-9, 3.0
#: Share of the rows with one value from which a column has no spread to measure distances by.
HALF = 0.5
#: Rows there must be for each column, so that their covariance can be trusted.
ROWS_EACH = 10


def check_rows(values: Array, columns: list[Portrait], whole: Array) -> list[Finding]:
    """Look for rows that are copies, that have no number, or that are unlike all others.

    Parameters
    ----------
    values : (n, d) array
        All rows.
    columns : list of Portrait
    whole : (m,) array
        Places of the rows without gaps.
    """
    return [*_empty(values), *_duplicates(values, columns), *_outliers(values, columns, whole)]


def _empty(values: Array) -> list[Finding]:
    rows = np.flatnonzero(np.isnan(values).all(axis=1)) if values.shape[1] > 1 else np.empty(0, dtype=int)
    if not len(rows) or len(rows) == len(values):
        return []
    message = f"{plural(len(rows), 'row')} {'has' if len(rows) == 1 else 'have'} no number at all: {at_rows(rows)}."
    return [Finding("empty_rows", message, "Take them out; often they end a file.", rows=row_numbers(rows))]


def _duplicates(values: Array, columns: list[Portrait]) -> list[Finding]:
    """Rows that equal an earlier one: more than coarse numbers make by chance, or many."""
    live = [c for c in columns if c.varies]
    n = len(values)
    if not live or n < 2:
        return []
    # Column by column, so that equal rows have the same sum to the bit. Rows with gaps have none, and equal nothing.
    keys = np.zeros(n)
    with np.errstate(invalid="ignore"):
        for column, weight in zip(live, np.random.default_rng(0).uniform(1, 2, len(live)), strict=True):
            keys += column.values * (weight / max(abs(column.low), abs(column.high)))
    order = np.argsort(keys, kind="stable")
    close = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    pairs = [(order[i], order[i + 1]) for i in close if np.array_equal(values[order[i]], values[order[i + 1]])]
    if not pairs:
        return []
    # If columns were independent, two rows would agree in all of them with this probability.
    agree = float(np.prod([np.sum((c.runs[1] / len(c.order)) ** 2) for c in live]))
    expected = n * (n - 1) / 2 * agree
    if expected > CHANCE and len(pairs) <= max(MANY * n, TIMES * expected):
        return []
    copies = sorted((int(max(pair)), int(min(pair))) for pair in pairs)
    said = listed([f"row {copy} repeats row {first}" for copy, first in copies])
    message = f"{plural(len(copies), 'row')} {'is a copy' if len(copies) == 1 else 'are copies'} of others: {said}."
    remedy = (
        "Take copies out before cross-validation, or a model is tested on rows it has seen; or give them as weights."
    )
    return [Finding("duplicate_rows", message, remedy, rows=row_numbers([copy for copy, _ in copies]))]


def _outliers(values: Array, columns: list[Portrait], whole: Array) -> list[Finding]:
    """Rows far off in a column; then those far off in a combination of columns, seen by the others' covariance."""
    findings = []
    measured = [c for c in columns if c.varies and not c.extreme and c.distinct > CODES and c.most_frequent[1] < HALF]
    single = [c for c in measured if 0 < len(c.far) <= few(c.n) and sentinel(c) is None]
    rows = np.unique(np.concatenate([np.empty(0, dtype=int), *(c.far for c in single)]))
    if single:
        single.sort(key=lambda c: -_distance(c, c.far).max())
        said = listed([_describe(c) for c in single])
        message = f"{plural(len(rows), 'row')} far from all others in one column: {said}."
        names = tuple(c.name for c in single)
        remedy = "Correct or take out what is a mistake; otherwise use logarithms or ranks, or say that they decide."
        findings.append(Finding("outliers", message, remedy, names, row_numbers(rows)))
    plain = [c for c in measured if len(c.far) <= few(c.n) and c.tail_share() < TAIL]
    plain = [c for c in plain if sentinel(c) is None and clipped(c) is None]
    rows = _unusual(values, [c.at for c in plain], np.setdiff1d(whole, rows, assume_unique=True))
    if len(rows):
        message = f"{plural(len(rows), 'row')} unlike all others in a combination of columns: {at_rows(rows)}."
        remedy = "Look at them: no column alone shows it. Correct or take out what is a mistake."
        findings.append(Finding("outliers", message, remedy, rows=row_numbers(rows)))
    return findings


def _distance(column: Portrait, rows: Array) -> Array:
    """Robust deviations from the median."""
    away, (below, above) = column.values[rows] - column.median, column.spreads
    return np.where(away < 0, -away / below, away / above)


def _describe(column: Portrait) -> str:
    distances = _distance(column, column.far)
    at = column.far[np.argmax(distances)]
    more = "" if len(column.far) == 1 else f" and {len(column.far) - 1} more"
    return f"{column.name!r} = {number(column.values[at])} in row {at}{more} ({distances.max():.0f} deviations off)"


def _unusual(values: Array, places: list[int], rows: Array) -> Array:
    """Rows whose distance, by the covariance of the others, a Gaussian table of this size would hardly have."""
    k = len(places)
    if k < 2 or len(rows) < max(ENOUGH, ROWS_EACH * k):
        return np.empty(0, dtype=int)
    limit = float(scipy.stats.chi2.isf(ODDS / len(rows), k))
    A = values if (len(rows), k) == values.shape else values[rows][:, places]
    inside = np.ones(len(rows), dtype=bool)
    for _ in range(3):  # an outlier in the covariance hides itself and others
        moments = moments_of(A if inside.all() else A[inside])
        C = moments.scatter / (moments.weight - 1)
        scale = np.sqrt(np.diag(C))
        if not scale.all():
            return np.empty(0, dtype=int)
        sizes, vectors = lapack.eigh(C / np.outer(scale, scale))
        kept = sizes > 1e-10 * sizes[-1]
        whitening = vectors[:, kept] / np.sqrt(sizes[kept]) / scale[:, None]
        scores = LinearProjection(moments.mean, whitening, whitening.T).scores(A)
        squares = np.einsum("ij,ij->i", scores, scores)
        before, inside = inside, squares <= max(limit, APART**2 * np.quantile(squares, 0.99))
        if inside.sum() <= len(rows) - few(len(rows)):
            return np.empty(0, dtype=int)  # a group of rows, not outliers
        if (inside == before).all():
            break
    return rows[~inside]
