"""What is wrong with a table, before anything is fitted: columns, rows, a target, a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike

from gramian import lapack
from gramian.estimators.kernel_rows import KernelArgument
from gramian.kernels import Kernel, as_kernel
from gramian.kernels.given import evaluated, values
from gramian.operators import moments_of
from gramian.projection import LinearProjection
from gramian.results import Array, at_most
from gramian.selection.doctor_columns import (
    CODES_MAX_VALUES,
    TAIL_MAX_SHARE,
    check_columns,
    check_relations,
    clipped,
    few,
    number,
    sentinels,
)
from gramian.selection.doctor_findings import Diagnosis, Finding, at_rows, listed, ordered, plural, row_numbers
from gramian.selection.doctor_kernel import check_kernel
from gramian.selection.doctor_table import SHAPE_MIN_ROWS, SHAPE_SAMPLE_ROWS, Portrait, Sheet, portraits, read

#: Copies expected by chance below which a single one is no chance.
_CHANCE_COPIES = 1e-3
#: Share of copies, and times the number expected by chance, that are reported otherwise.
_COPIES_MIN_SHARE, _COPIES_MIN_RATIO = 0.01, 10
#: Odds of a Gaussian row, among all rows of a table, beyond which a row is far; and how many times as far as 99 % of
#: the rows it must be, for tables are not Gaussian.
_OUTLIER_ODDS, _OUTLIER_RATIO = 1e-9, 3.0
#: Share of the rows with one value from which a column has no spread to measure distances by.
_NO_SPREAD_SHARE = 0.5
#: Rows there must be for each column, so that their covariance can be trusted.
_COVARIANCE_MIN_ROWS_PER_COLUMN = 10
#: Covariances computed, each without the rows that were far by the one before, until they are the same rows.
_COVARIANCE_STEPS = 10
#: Correlation from which a column says the same as the target.
_LEAK_CORRELATION = 0.99999
#: Rows that a class needs to be in every one of five folds.
_CLASS_MIN_ROWS = 5


@np.errstate(all="ignore")  # of numbers that overflow there is a finding
def doctor(X: Any, kernel: KernelArgument | None = None, y: ArrayLike | None = None) -> Diagnosis:
    """Look for faults that make estimators refuse, fail or mislead.

    Constant, repeated, dependent and uneven columns; missing, infinite and stand-in values; text, identifiers and codes
    of categories; outliers, copies of rows, heavy tails, counts, limits of measurement and offsets that cost digits;
    targets that are constant or given away; kernels that see no row or every row as alike, or that are none. Nothing is
    changed, and little is refused: a fault is a finding.

    Parameters
    ----------
    X : (n, d) array, sparse matrix, list of rows, data frame or mapping of columns
        Text, NaN and infinities are welcome. The kernel matrix, if the kernel is precomputed.
    kernel : str, Kernel or callable, optional
        A kernel to look at on these rows.
    y : (n,) or (n, q) array, optional
        Numbers or labels to predict.

    Returns
    -------
    Diagnosis
        Findings with code, severity, message, remedy and columns, the gravest first; it prints as text, and is false if
        there are none.

    Cost
    ----
    Two passes over the rows, a sort of each column (of a sample of 100,000 rows, if there are more), d^3/3
    multiplications, and a kernel matrix of at most 1,000 rows. What was sampled is said.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import doctor
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> len(doctor(X))
    0
    >>> X[7, 1], X[:, 2] = np.nan, 5.0
    >>> print(doctor(X))
    Diagnosis  200 x 3   1 error, 1 warning
    error      1 column misses values: 'x1' (1 of 200).
               Use missing="em" where an estimator has it, drop those rows, or fill them.
    warning    1 column is constant: 'x2' (always 5).
               Leave it out: it can explain nothing.
    """
    measure = None if kernel is None else as_kernel(kernel)
    sheet = read(X)
    facts: dict[str, Any] = {}
    n, columns = len(sheet.values), portraits(sheet)
    seen: list[Finding | str] = [*sheet.findings, *sheet.looked_at]
    if measure is not None and measure.given:
        if sheet.values.shape[1] != n:
            raise ValueError(f"kernel='precomputed' needs a square matrix, n x n; X has shape {(n, sheet.width)}.")
        seen += [f for f in check_columns(columns) if f.code in ("missing_values", "infinite_values")]
    elif columns:
        seen += _table(sheet, columns)
    if y is not None:
        seen += check_target(y, columns, n)
    if measure is not None and columns:
        seen += _kernel(measure, sheet, columns, facts)
    findings = [finding for finding in seen if isinstance(finding, Finding)]
    looked_at = tuple(told for told in seen if isinstance(told, str))
    return Diagnosis(ordered(findings), (n, sheet.width), facts, looked_at)


def _table(sheet: Sheet, columns: list[Portrait]) -> Iterator[Finding | str]:
    """Checks of all columns and rows; a sentence says where a sample stood for all rows, or what was not looked at."""
    n = len(sheet.values)
    if n > SHAPE_SAMPLE_ROWS:
        yield f"{SHAPE_SAMPLE_ROWS:,} of {n:,} rows for quartiles, skewness, tails and repeated values"
    used = [column.at for column in columns if not column.empty]
    values = sheet.values if len(used) == len(columns) else sheet.values[:, used]
    rows = np.flatnonzero(np.isfinite(values).all(axis=1))
    yield from check_columns(columns)
    whole = sheet.values if len(rows) == n else sheet.values[rows]
    yield from check_relations(columns, whole, narrow=sheet.narrow)
    yield from _empty_rows(sheet.values)
    yield from _copies(sheet.values, columns)
    yield from _outliers(sheet.values, columns, rows)


def _kernel(kernel: Kernel, sheet: Sheet, columns: list[Portrait], facts: dict[str, Any]) -> Iterable[Finding | str]:
    if any(column.extreme for column in columns):
        return ["the kernel was not looked at: distances of these rows leave double precision"]
    complete = np.isfinite(sheet.values).all(axis=1)
    if complete.sum() < 2:
        return ["the kernel was not looked at: fewer than two rows have no gap"]
    rows = sheet.values if complete.all() else sheet.values[complete]
    if kernel.given:
        kernel, rows = evaluated(kernel), values(kernel, rows[:, complete])
    return check_kernel(kernel, rows, np.flatnonzero(complete), facts)


def _empty_rows(values: Array) -> Iterator[Finding]:
    rows = np.flatnonzero(np.isnan(values).all(axis=1))
    if values.shape[1] > 1 and 0 < len(rows) < len(values):
        have = "has" if len(rows) == 1 else "have"
        message = f"{plural(len(rows), 'row')} {have} no number at all: {at_rows(rows)}."
        yield Finding("empty_rows", message, "Take them out; often they end a file.", rows=row_numbers(rows))


def _copies(values: Array, columns: list[Portrait]) -> Iterator[Finding]:
    """Rows that equal an earlier one: more than coarse numbers make by chance, or many."""
    live, n = [c for c in columns if c.varies], len(values)
    # Column by column, so that equal rows have the same sum to the bit. Rows with gaps have none, and equal nothing.
    keys = np.zeros(n)
    with np.errstate(invalid="ignore"):
        for column, weight in zip(live, np.random.default_rng(0).uniform(1, 2, len(live)), strict=True):
            keys += column.values * (weight / column.unit)
    order = np.argsort(keys, kind="stable")
    close = np.flatnonzero(keys[order[1:]] == keys[order[:-1]]) if live else ()
    pairs = [
        (order[i], order[i + 1])
        for i in close
        if np.array_equal(values[order[i]], values[order[i + 1]], equal_nan=True)
    ]
    # If columns were independent, two rows would agree in all of them with this probability.
    agree = float(np.prod([np.sum((c.runs[1] / len(c.order)) ** 2) for c in live]))
    expected = n * (n - 1) / 2 * agree
    if expected > _CHANCE_COPIES and len(pairs) <= max(_COPIES_MIN_SHARE * n, _COPIES_MIN_RATIO * expected):
        return
    if pairs:
        copies = sorted((int(max(pair)), int(min(pair))) for pair in pairs)
        said = listed([f"{at_rows([copy])} repeats {at_rows([first])}" for copy, first in copies])
        are = "is a copy" if len(copies) == 1 else "are copies"
        message = f"{plural(len(copies), 'row')} {are} of others: {said}."
        remedy = (
            "Take copies out before cross-validation, or a model is tested on rows it has seen; or give them as "
            "weights."
        )
        yield Finding("duplicate_rows", message, remedy, rows=row_numbers([copy for copy, _ in copies]))


def _outliers(values: Array, columns: list[Portrait], whole: Array) -> Iterator[Finding]:
    """Rows far off in a column; then those far off in a combination of columns, seen by the others' covariance."""
    measured = [
        c
        for c in columns
        if c.varies and not c.extreme and c.distinct > CODES_MAX_VALUES and c.most_frequent[1] < _NO_SPREAD_SHARE
    ]
    single = [c for c in measured if 0 < len(c.far) <= few(c.n) and not sentinels(c)]
    rows = np.unique(np.concatenate([np.empty(0, dtype=int), *(c.far for c in single)]))
    if single:
        single.sort(key=lambda c: -_distance(c, c.far).max())
        said = listed([_describe(c) for c in single])
        message = f"{plural(len(rows), 'row')} far from the median of a column: {said}."
        names = tuple(c.name for c in single)
        remedy = "Correct or take out what is a mistake; otherwise use logarithms or ranks, or say that they decide."
        yield Finding("outliers", message, remedy, names, row_numbers(rows))
    plain = [c for c in measured if len(c.far) <= few(c.n) and c.tail_share < TAIL_MAX_SHARE]
    plain = [c for c in plain if not sentinels(c) and clipped(c) is None]
    rows, distances = _unusual(values, [c.at for c in plain], np.setdiff1d(whole, rows, assume_unique=True))
    if len(rows):
        most = f"Mahalanobis distance {distances[0]:.3g} in {at_rows(rows[:1])}, by the covariance of the other rows"
        message = (
            f"{plural(len(rows), 'row')} far from the others in a combination of {len(plain)} columns: "
            f"{at_rows(np.sort(rows))} ({most}, of which 99 % are below {at_most(distances[-1], 3)})."
        )
        remedy = "Look at them: no column alone shows it. Correct or take out what is a mistake."
        names = tuple(c.name for c in plain)
        yield Finding("outliers", message, remedy, names, row_numbers(np.sort(rows)))


def _distance(column: Portrait, rows: Array) -> Array:
    """Distances from the median, in those of the quartile on the same side."""
    away, (below, above) = column.values[rows] - column.median, column.spreads
    return np.where(away < 0, -away / below, away / above)


def _describe(column: Portrait) -> str:
    distances = _distance(column, column.far)
    at = column.far[np.argmax(distances)]
    more = "" if len(column.far) == 1 else f" and {len(column.far) - 1} more"
    value, (low, high) = column.values[at], np.quantile(column.order, (0.25, 0.75))
    lower = low < column.median if value < column.median else not high > column.median
    quartile = f"lower quartile, {number(low)}" if lower else f"upper quartile, {number(high)}"
    return (
        f"{column.name!r} = {number(value)} in {at_rows([at])}{more} ({distances.max():.0f} times as far from the "
        f"median, {number(column.median)}, as the {quartile})"
    )


def _unusual(values: Array, places: list[int], rows: Array) -> tuple[Array, Array]:
    """Rows whose distance, by the covariance of the others, a Gaussian table of this size would hardly have.

    The farthest first, with their Mahalanobis distances; the last distance is what 99 % of the other rows are below.
    """
    none = np.empty(0, dtype=int), np.empty(0)
    k = len(places)
    if k < 2 or len(rows) < max(SHAPE_MIN_ROWS, _COVARIANCE_MIN_ROWS_PER_COLUMN * k):
        return none
    limit = float(scipy.stats.chi2.isf(_OUTLIER_ODDS / len(rows), k))
    A = values if (len(rows), k) == values.shape else values[rows][:, places]
    inside = np.ones(len(rows), dtype=bool)
    for _ in range(_COVARIANCE_STEPS):  # an outlier in the covariance hides itself and others
        moments = moments_of(A if inside.all() else A[inside])
        C = moments.scatter / (moments.weight - 1)
        scale = np.sqrt(np.diag(C))
        if not scale.all():
            return none
        sizes, vectors = lapack.eigh(C / np.outer(scale, scale))
        kept = sizes > 1e-10 * sizes[-1]
        whitening = vectors[:, kept] / np.sqrt(sizes[kept]) / scale[:, None]
        scores = LinearProjection(moments.mean, whitening, whitening.T).scores(A)
        squares = np.einsum("ij,ij->i", scores, scores)
        before, inside = inside, squares <= max(limit, _OUTLIER_RATIO**2 * np.quantile(squares, 0.99))
        if inside.sum() <= len(rows) - few(len(rows)):
            return none  # a group of rows, not outliers
        if (inside == before).all():
            far = np.flatnonzero(~inside)
            far = far[np.argsort(-squares[far], kind="stable")]
            return rows[far], np.sqrt(np.append(squares[far], np.quantile(squares[inside], 0.99)))
    return none


def check_target(y: ArrayLike, columns: list[Portrait], n: int) -> Iterator[Finding]:
    """Look at numbers or labels to predict; (n,) or (n, q)."""
    labels = np.asarray(y)
    if len(labels) != n:
        message = f"y has {len(labels):,} entries for {plural(n, 'row')} of X."
        yield Finding("target_length", message, "Align them: one entry of y for each row.")
    elif labels.ndim == 1 and labels.dtype.kind in "OUSb" and not _numeric(labels):
        known = np.array([label is not None and label == label and str(label).strip() != "" for label in labels])
        classes, counts = np.unique(labels[known].astype(str), return_counts=True)
        yield from _classes("y", known, [repr(str(name)) for name in classes], counts, "label", "tell apart")
    else:
        labels = labels.reshape(n, -1)
        width = labels.shape[1]
        sheet = read({"y" if width == 1 else f"y[:, {at}]": labels[:, at] for at in range(width)})
        yield from sheet.findings
        for name, column in zip(sheet.names, sheet.values.T, strict=True):
            yield from _numbers(column, name, columns)


def _numeric(labels: Array) -> bool:
    try:
        labels.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return labels.dtype.kind == "O"


def _numbers(y: Array, name: str, columns: list[Portrait]) -> Iterator[Finding]:
    known = np.isfinite(y)
    classes, counts = np.unique(y[known], return_counts=True)
    coded = len(classes) <= min(20, len(y) / 10) and (np.floor(classes) == classes).all()
    counted = counts if coded else ()  # otherwise there are no classes that could be rare
    yield from _classes(name, known, [number(value) for value in classes], counted, "value", "predict")
    if len(classes) == 1:
        return
    found = {c.name: _correlation(c.values, y) for c in columns if c.varies and not c.extreme}
    same = [column for column, r in found.items() if abs(r) > _LEAK_CORRELATION]
    if same:
        said = [f"{column!r} says the same as {name}: a correlation of {_nearly_one(found[column])}" for column in same]
        remedy = "Leave the column out unless it is known before the target is: otherwise the answer is given away."
        yield Finding("target_leak", f"{listed(said)}.", remedy, tuple(same))


def _classes(
    target: str, known: Array, names: list[str], counts: Iterable[int], what: str, done: str
) -> Iterator[Finding]:
    """Entries of a target that are missing, and its different values: one alone, or some in few rows."""
    rows = np.flatnonzero(~known)
    if len(rows):
        message = f"{target} has no finite value or label in {plural(len(rows), 'row')}: {at_rows(rows)}."
        yield Finding("target_missing", message, "Drop those rows, or predict them.", rows=row_numbers(rows))
    rare = [f"{name} ({count:,})" for name, count in zip(names, counts, strict=False) if count < _CLASS_MIN_ROWS]
    if len(names) == 1:
        message = f"{target} is constant: every {what}{' that is known' if len(rows) else ''} is {names[0]}."
        yield Finding("constant_target", message, f"There is nothing to {done}; check y.")
    elif rare:
        count = plural(len(rare), "class").replace("classs", "classes")
        message = f"{count} of {target} with fewer than {_CLASS_MIN_ROWS} rows: {listed(rare)}."
        yield Finding("rare_class", message, "Join it with another, gather more rows, or leave it out.")


def _nearly_one(r: float) -> str:
    """A correlation that differs from 1 or -1 by what digits would hide: ``1, but for 8e-06``."""
    less = 1 - abs(r)
    return f"{np.sign(r):.0f}{'' if less <= 16 * np.finfo(np.float64).eps else f', but for {less:.1g}'}"


def _correlation(x: Array, y: Array) -> float:
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < 3:
        return 0.0
    a, b = x[both] - x[both].mean(), y[both] - y[both].mean()
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / length if length > 0 else 0.0
