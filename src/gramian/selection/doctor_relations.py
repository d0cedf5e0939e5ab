"""Checks of columns against each other: copies, sums of others, units that differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian import lapack
from gramian.config import one_blas_thread
from gramian.operators import moments_of
from gramian.results import Array, percent
from gramian.selection.doctor_columns import identifies
from gramian.selection.doctor_findings import Finding, listed, named, plural
from gramian.selection.doctor_portrait import Portrait

#: Standard deviations this many times apart are units that differ, not columns that matter more.
UNEVEN = 1000
#: Share of its variance that a column must have for itself. Below it, a coefficient in a regression is thirty times as
#: uncertain as that of a column on its own (a variance inflation of 1,000).
OWN = 1e-3
#: Own share below which a column is another way to write the others: what rounding of the moments leaves.
NOTHING = 1e-10
#: Columns up to which all are compared with all.
MOST = 2000


def check_relations(columns: list[Portrait], whole: Array) -> tuple[list[Finding], list[str]]:
    """Look for columns that repeat others; ``whole`` are the rows without gaps. Also what was not looked at."""
    live = [c for c in columns if c.varies and not c.extreme]
    findings, copies = _duplicates(live)
    findings += _uneven([c for c in live if identifies(c) is None])
    rows, d = len(columns[0].values) if columns else 0, len(columns)
    if rows <= d:
        remedy = (
            "Use methods that shrink or project first (PCA, PLS, a ridge), and few components; or gather more rows."
        )
        said = f"there are {plural(rows, 'row')} for {plural(d, 'column')}: the columns cannot be independent."
        return [*findings, Finding("few_rows", said, remedy)], []
    kept = [c for c in live if c.name not in copies]
    if len(kept) > MOST:
        return findings, [f"dependence of columns was not looked for: {len(kept):,} are more than {MOST:,}"]
    if len(whole) <= 2 * len(kept):
        told = f"dependence of columns was not looked for: {plural(len(whole), 'row')} without gaps are too few"
        return findings, [told] if len(kept) > 1 else []
    return findings + _collinear(kept, whole), []


def _duplicates(columns: list[Portrait]) -> tuple[list[Finding], set[str]]:
    """Columns with the same numbers in every row, found by a random sum of their entries."""
    if len(columns) < 2:
        return [], set()
    weights = np.random.default_rng(0).uniform(1, 2, columns[0].n)
    sums: dict[float, list[Portrait]] = {}
    pairs = []
    for column in columns:
        whole = np.isfinite(column.values)
        key = float(weights @ (column.values if whole.all() else np.where(whole, column.values, 0.0)))
        twin = next((c for c in sums.get(key, []) if np.array_equal(c.values, column.values, equal_nan=True)), None)
        if twin is None:
            sums.setdefault(key, []).append(column)
        else:
            pairs.append((column.name, twin.name))
    if not pairs:
        return [], set()
    said = listed([f"{copy!r} repeats {original!r}" for copy, original in pairs])
    names = tuple(dict.fromkeys(name for pair in pairs for name in pair))
    message = f"{plural(len(pairs), 'column')} {'is a copy' if len(pairs) == 1 else 'are copies'} of others: {said}."
    remedy = "Leave the copies out: they count twice in every distance and every component."
    return [Finding("duplicate_columns", message, remedy, names)], {copy for copy, _ in pairs}


def _uneven(columns: list[Portrait]) -> list[Finding]:
    spread = [c for c in columns if c.deviation > 0]
    if len(spread) < 2:
        return []
    low, high = min(spread, key=lambda c: c.deviation), max(spread, key=lambda c: c.deviation)
    ratio = high.deviation / low.deviation
    if ratio <= UNEVEN:
        return []
    message = (
        f"standard deviations differ by a factor of {ratio:,.0f}, from {low.deviation:.3g} ({low.name!r}) to "
        f"{high.deviation:.3g} ({high.name!r}): the largest decide distances and components."
    )
    remedy = "Standardise columns (scale=True, --scale), or bring them to one unit."
    return [Finding("uneven_scales", message, remedy, (high.name, low.name))]


@dataclass(frozen=True)
class Dependence:
    """Columns that others explain: ``kept`` are those others, ``coefficients`` (kept x dependent) for unit deviations.

    ``own`` is the share of its variance that each dependent column has for itself.
    """

    kept: Array
    dependent: Array
    coefficients: Array
    own: Array


def dependence(R: Array) -> Dependence:
    """Choose columns one by one, always the one that those before explain least, until little is left of any.

    Parameters
    ----------
    R : (d, d) array
        Correlations.

    Cost
    ----
    ``d^3 / 3`` multiplications.

    Examples
    --------
    >>> found = dependence(np.array([[1.0, 0.0, 0.6], [0.0, 1.0, 0.8], [0.6, 0.8, 1.0]]))
    >>> found.dependent.tolist(), found.own.round(12).tolist()
    ([2], [0.0])
    """
    with one_blas_thread():
        _, order, rank = lapack.pivoted_cholesky(R, OWN)
        kept, dependent = order[:rank], np.sort(order[rank:])
        between = R[np.ix_(kept, dependent)]
        B = lapack.solve_positive(R[np.ix_(kept, kept)], between)
    own = 1 - np.sum(between * B, axis=0)
    return Dependence(kept, dependent, B, np.where(own < NOTHING, 0.0, own))


def _collinear(columns: list[Portrait], whole: Array) -> list[Finding]:
    places = [c.at for c in columns]
    moments = moments_of(np.ascontiguousarray(whole[:, places]) if len(places) < whole.shape[1] else whole)
    lengths = np.sqrt(np.diag(moments.scatter))
    seen = np.flatnonzero(lengths > 0)  # rows with gaps may hold all that varies
    if len(seen) < 2:
        return []
    R = moments.scatter[np.ix_(seen, seen)] / np.outer(lengths[seen], lengths[seen])
    np.fill_diagonal(R, 1.0)  # or the last bits of the BLAS choose the first column, and with it all others
    found = dependence(R)
    if not len(found.dependent):
        return []
    names = [columns[j].name for j in seen]
    worst = int(np.argmin(found.own))
    weights = found.coefficients[:, worst]
    parts = [int(j) for j in np.argsort(-np.abs(weights)) if abs(weights[j]) > 0.05 * np.abs(weights).max()]
    others, column = [names[found.kept[j]] for j in parts], names[found.dependent[worst]]
    own = float(found.own[worst])
    exact = "exactly" if own == 0 else f"but for {percent(own)} of its variance"
    many = len(found.dependent)
    more = "" if many == 1 else f" {many:,} of {len(names):,} columns are such combinations."
    message = f"column {column!r} is a linear combination of {named(others)}, {exact}.{more}"
    remedy = "Leave one of them out, or use a method that does not mind: PCA, PLS, or a ridge."
    dependents = [names[j] for j in found.dependent[np.argsort(found.own, kind="stable")]]
    return [Finding("collinear_columns", message, remedy, tuple(dict.fromkeys([column, *dependents, *others])))]
