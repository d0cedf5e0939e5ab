"""What is wrong with a table, before anything is fitted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gramian.kernels import Kernel, as_kernel
from gramian.kernels.given import evaluated, values
from gramian.selection.doctor_columns import check_columns
from gramian.selection.doctor_findings import Diagnosis, Finding, ordered
from gramian.selection.doctor_input import Sheet, read
from gramian.selection.doctor_kernel import check_kernel
from gramian.selection.doctor_portrait import SAMPLE, Portrait, portraits
from gramian.selection.doctor_relations import check_relations
from gramian.selection.doctor_rows import check_rows
from gramian.selection.doctor_target import check_target


@np.errstate(all="ignore")  # of numbers that overflow there is a finding
def doctor(X: Any, kernel: Any = None, y: Any = None) -> Diagnosis:
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
    n, columns = len(sheet.values), portraits(sheet)
    seen = Seen(list(sheet.findings), list(sheet.looked_at), {})
    if measure is not None and measure.given:
        if sheet.values.shape[1] != n:
            raise ValueError(f"kernel='precomputed' needs a square matrix, n x n; X has shape {(n, sheet.width)}.")
        seen.findings.extend([f for f in check_columns(columns) if f.code in ("missing_values", "infinite_values")])
    elif columns:
        _table(sheet, columns, seen)
    if y is not None:
        seen.findings.extend(check_target(y, columns, n))
    if measure is not None and columns:
        _kernel(measure, sheet, columns, seen)
    return Diagnosis(ordered(seen.findings), (n, sheet.width), seen.facts, tuple(seen.looked_at))


class Seen(NamedTuple):
    """What has been seen so far."""

    findings: list[Finding]
    looked_at: list[str]
    facts: dict[str, Any]


def _table(sheet: Sheet, columns: list[Portrait], seen: Seen) -> None:
    n = len(sheet.values)
    if n > SAMPLE:
        seen.looked_at.append(f"{SAMPLE:,} of {n:,} rows for medians, tails and repeated values")
    used = [column.at for column in columns if not column.empty]
    values = sheet.values if len(used) == len(columns) else sheet.values[:, used]
    rows = np.flatnonzero(np.isfinite(values).all(axis=1))
    related, untold = check_relations(
        columns, sheet.values if len(rows) == n else sheet.values[rows], narrow=sheet.narrow
    )
    seen.findings.extend([*check_columns(columns), *related, *check_rows(sheet.values, columns, rows)])
    seen.looked_at.extend(untold)


def _kernel(kernel: Kernel, sheet: Sheet, columns: list[Portrait], seen: Seen) -> None:
    if any(column.extreme for column in columns):
        seen.looked_at.append("the kernel was not looked at: distances of these rows leave double precision")
        return
    complete = np.isfinite(sheet.values).all(axis=1)
    if complete.sum() < 2:
        seen.looked_at.append("the kernel was not looked at: fewer than two rows have no gap")
        return
    rows = sheet.values if complete.all() else sheet.values[complete]
    if kernel.given:
        kernel, rows = evaluated(kernel), values(kernel, rows[:, complete])
    findings, facts, told = check_kernel(kernel, rows)
    seen.findings.extend(findings)
    seen.facts.update(facts)
    seen.looked_at.extend(told)
