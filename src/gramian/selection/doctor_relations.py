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
#: Own share below which correlations have lost it: what rounding of the moments leaves.
NOTHING = 1e-10
#: Own share below which the rows are asked for it, and columns that they are asked about at the most.
UNSURE, ASKED = 1e-6, 8
#: Columns up to which all are compared with all.
MOST = 2000


def check_relations(columns: list[Portrait], whole: Array, *, narrow: bool = False) -> tuple[list[Finding], list[str]]:
    """Look for columns that repeat others; ``whole`` are the rows without gaps. Also what was not looked at.

    ``narrow`` says that the numbers came in single precision, whose rounding is then theirs.
    """
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
    return findings + _collinear(kept, whole, float(np.finfo(np.float32 if narrow else np.float64).eps)), []


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

    ``own`` is the share of its variance that each dependent column has for itself; 0 where correlations do not tell.
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


def residual_share(A: Array, c: Array, b: Array, R: Array, lengths: Array, eps: float) -> float:
    """Share of the variance of a column that others do not explain, from the rows; 0 if it is rounding of entries.

    Parameters
    ----------
    A, c : (n, k) and (n,) arrays
        The other columns, and the column, as they were read.
    b : (k,) array
        Its coefficients, for unit deviations, that correlations gave.
    R, lengths : (k, k) and (k,) arrays
        Correlations of the others, and lengths of them centred.
    eps : float
        Rounding of an entry, relative.
    """
    mean, centre = A.mean(axis=0), c - c.mean()
    length = float(np.linalg.norm(centre))
    beta = b * length / lengths
    for _ in range(3):  # the residual shows what correlations lost of the coefficients: each step gains their digits
        rest = centre - (A - mean) @ beta
        rest -= rest.mean()
        beta += lapack.solve_positive(R, ((A - mean).T @ rest) / lengths) / lengths
    rest = centre - (A - mean) @ beta
    rest -= rest.mean()
    sizes = np.abs(c) + np.abs(A) @ np.abs(beta)  # of the terms; coefficients have the rounding of the middle rows
    rounding = (len(beta) + 4) * eps * (sizes + np.median(sizes))
    return 0.0 if (np.abs(rest) <= rounding).all() else float(np.linalg.norm(rest) / length) ** 2


def _but_for(own: float) -> str:
    """How nearly a column is a combination of others."""
    if own == 0:
        return "exactly"
    if own > UNSURE:
        return f"but for {percent(own)} of its variance"
    return f"to within {np.sqrt(own):.1g} of its standard deviation"


def _collinear(columns: list[Portrait], whole: Array, eps: float) -> list[Finding]:
    places = [c.at for c in columns]
    rows = np.ascontiguousarray(whole[:, places]) if len(places) < whole.shape[1] else whole
    moments = moments_of(rows)
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
    asked = np.argsort(found.own, kind="stable")[:ASKED]
    chosen, sides = seen[found.kept], R[np.ix_(found.kept, found.kept)]
    own, A = found.own[asked], rows[:, chosen] if found.own.min() < UNSURE else None
    for at, j in enumerate(asked):
        if A is not None and own[at] < UNSURE:
            c, b = rows[:, seen[found.dependent[j]]], found.coefficients[:, j]
            own[at] = residual_share(A, c, b, sides, lengths[chosen], eps)
    worst = int(asked[np.argmin(own)])
    weights = found.coefficients[:, worst]
    parts = [int(j) for j in np.argsort(-np.abs(weights)) if abs(weights[j]) > 0.05 * np.abs(weights).max()]
    others, column = [names[found.kept[j]] for j in parts], names[found.dependent[worst]]
    many = len(found.dependent)
    more = "" if many == 1 else f" {many:,} of {len(names):,} columns are such combinations."
    message = f"column {column!r} is a linear combination of {named(others)}, {_but_for(float(own.min()))}.{more}"
    remedy = "Leave one of them out, or use a method that does not mind: PCA, PLS, or a ridge."
    dependents = [names[j] for j in found.dependent[np.argsort(found.own, kind="stable")]]
    return [Finding("collinear_columns", message, remedy, tuple(dict.fromkeys([column, *dependents, *others])))]
