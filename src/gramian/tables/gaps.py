"""Values that are missing: refused, dropped with their rows, or kept."""

from __future__ import annotations

import numpy as np

from gramian.results import Array
from gramian.tables.table import Column, Sheet, TableError

MISSING_RULES = ("refuse", "drop", "keep", "as found")
#: How a remark says that gaps are still there.
KEPT = "and were kept as such"


def treat_gaps(
    values: Array, features: list[Column], sheet: Sheet, source: str, rule: str
) -> tuple[Array | None, list[str]]:
    """Refuse, drop or keep rows with gaps: which rows to keep (all, if nothing), and what to say."""
    bad = ~np.isfinite(values)
    if rule == "as found" or not bad.any():
        return None, []
    gaps = np.isnan(values)
    fault = bad if rule == "refuse" else bad & ~gaps
    if fault.any():
        row, at = np.argwhere(fault)[0]
        what, remedy = "infinite", "Correct them, take those rows out, or choose other columns."
        if gaps[row, at]:
            what, remedy = "missing", "Fill them, drop those rows (missing='drop'), or choose other columns."
            fault = gaps
        raise TableError(
            f"{source}: {sheet.place(row)}, column {features[at].name!r}: the value is {what} "
            f"({int(fault.sum()):,} such values in all). {remedy}"
        )
    counts = gaps.sum(axis=0)
    most = sorted(np.flatnonzero(counts), key=lambda at: -counts[at])
    where = ", ".join(f"{features[at].name!r} ({counts[at]:,})" for at in most[:3]) + (", ..." if len(most) > 3 else "")
    if rule == "keep":
        return None, [f"{int(counts.sum()):,} values are missing {KEPT}: {where}"]
    whole = np.flatnonzero(~gaps.any(axis=1))
    if len(whole) == 0:
        raise TableError(
            f"{source}: every row misses a value, most often in {where}. Choose other columns, or keep gaps "
            "(missing='keep') for an estimator that takes them."
        )
    lost = len(values) - len(whole)
    return whole, [f"{lost:,} of {len(values):,} rows were dropped: values are missing in {where}"]
