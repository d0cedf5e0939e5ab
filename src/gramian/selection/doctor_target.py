"""Checks of a target beside the columns: missing, constant, given away, or with classes too small."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.results import Array
from gramian.selection.doctor_findings import Finding, at_rows, listed, plural, row_numbers
from gramian.selection.doctor_input import read
from gramian.selection.doctor_portrait import Portrait

#: Correlation from which a column says the same as the target.
SAME = 0.99999
#: Rows that a class needs to be in every one of five folds.
LEAST = 5


def check_target(y: Any, columns: list[Portrait], n: int) -> list[Finding]:
    """Look at numbers or labels to predict; (n,) or (n, q)."""
    cells = y if hasattr(y, "shape") else np.asarray(y)
    if len(cells) != n:
        message = f"y has {len(cells):,} entries for {plural(n, 'row')} of X."
        return [Finding("target_length", message, "Align them: one entry of y for each row.")]
    labels = np.asarray(cells)
    if labels.ndim == 1 and labels.dtype.kind in "OUSb" and not _numeric(labels):
        return _labels(labels)
    sheet = read(labels.reshape(n, -1))
    out = list(sheet.findings)
    for at in range(sheet.values.shape[1]):
        name = "y" if sheet.values.shape[1] == 1 else f"y[:, {at}]"
        out += _numbers(sheet.values[:, at], name, columns)
    return out


def _numeric(labels: Array) -> bool:
    try:
        labels.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return labels.dtype.kind == "O"


def _labels(labels: Array) -> list[Finding]:
    empty = np.array([label is None or label != label or str(label).strip() == "" for label in labels])
    out = [_missing("y", np.flatnonzero(empty))] if empty.any() else []
    classes, counts = np.unique(labels[~empty].astype(str), return_counts=True)
    if len(classes) == 1:
        message = f"y is constant: every row has the label {str(classes[0])!r}."
        return [*out, Finding("constant_target", message, "There is nothing to tell apart; check y.")]
    return out + _rare([repr(str(name)) for name in classes], counts)


def _numbers(y: Array, name: str, columns: list[Portrait]) -> list[Finding]:
    known = np.isfinite(y)
    out = [_missing(name, np.flatnonzero(~known))] if not known.all() else []
    values, counts = np.unique(y[known], return_counts=True)
    if len(values) == 1:
        message = f"{name} is constant: every row has {values[0]:.4g}."
        return [*out, Finding("constant_target", message, "There is nothing to predict; check y.")]
    if len(values) <= min(20, len(y) / 10) and (np.floor(values) == values).all():
        out += _rare([f"{value:.4g}" for value in values], counts)
    far = {c.name: 1 - abs(_correlation(c.values, y)) for c in columns if c.varies and not c.extreme}
    same = [column for column, lacks in far.items() if lacks < 1 - SAME]
    if same:
        most = max(far[column] for column in same)
        less = "" if most <= 16 * np.finfo(np.float64).eps else f", but for {most:.1g}"
        message = f"{listed([repr(column) for column in same])} says the same as {name}: a correlation of 1{less}."
        remedy = "Leave the column out unless it is known before the target is: otherwise the answer is given away."
        out.append(Finding("target_leak", message, remedy, tuple(same)))
    return out


def _missing(name: str, rows: Array) -> Finding:
    message = f"{name} misses {plural(len(rows), 'value')}, in {at_rows(rows)}."
    return Finding("target_missing", message, "Drop those rows, or predict them.", rows=row_numbers(rows))


def _rare(names: list[str], counts: Array) -> list[Finding]:
    rare = [f"{name} ({count:,})" for name, count in zip(names, counts, strict=True) if count < LEAST]
    if not rare:
        return []
    message = (
        f"{plural(len(rare), 'class').replace('classs', 'classes')} of y with fewer than {LEAST} rows: {listed(rare)}."
    )
    return [Finding("rare_class", message, "Join it with another, gather more rows, or leave it out.")]


def _correlation(x: Array, y: Array) -> float:
    both = np.isfinite(x) & np.isfinite(y)
    if both.sum() < 3:
        return 0.0
    a, b = x[both] - x[both].mean(), y[both] - y[both].mean()
    length = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / length if length > 0 else 0.0
