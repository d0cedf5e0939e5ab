"""Checks of columns, one at a time and against each other. Columns that answer a question alike share one finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gramian import lapack
from gramian.adequacy import uneven_scales
from gramian.config import one_blas_thread
from gramian.operators import moments_of
from gramian.results import Array, at_most, percent
from gramian.selection.doctor_findings import Finding, listed, named, plural, row_numbers
from gramian.selection.doctor_table import SHAPE_MIN_ROWS, Portrait

#: Rows up to this share may be outliers; more of them are a tail, or a group.
_OUTLIERS_MAX_SHARE = 0.01
#: A value this frequent leaves too few others for them to say anything: in ten folds some see one value only.
_NEARLY_CONSTANT_SHARE = 0.99
#: Mean over deviation from which a table loses half of its digits to squares: eps (mean/deviation)^2 = 1e-6 in double
#: precision, 1e-3 in single.
_MAX_OFFSET, _MAX_OFFSET_FLOAT32 = 1e5, 1e2
#: Different values up to which whole numbers may be codes of categories.
CODES_MAX_VALUES = 12
#: Share of the squares that the largest hundredth of the values may make up. A Gaussian column has 0.08, an exponential
#: one 0.23, the exponential of a standard Gaussian 0.5: then those few rows are most of what a component follows.
TAIL_MAX_SHARE = 0.4
#: Share of the rows at the very end of a column's range that looks like a limit of measurement.
_CLIPPED_MIN_SHARE = 0.05
#: Share of its variance that a column must have for itself. Below it, a coefficient in a regression is thirty times as
#: uncertain as that of a column on its own (a variance inflation of 1,000).
_OWN_MIN_SHARE = 1e-3
#: Own share below which correlations have lost it: what rounding of the moments leaves.
_OWN_SHARE_ROUNDING = 1e-10
#: Own share below which the rows are asked for it, and columns that they are asked about at the most.
_ROWS_ASKED_BELOW_SHARE, _ROWS_ASKED_MAX_COLUMNS = 1e-6, 8
#: Numbers that stand for missing values in questionnaires.
_USUAL_CODES = frozenset(
    sign * code for sign in (1.0, -1.0) for code in (9, 77, 88, 97, 98, 99, 777, 888, 997, 998, 999, 9999, 99999)
)
#: Different values from which a column is measured, so that one that repeats far from the others is no answer.
_REPEATED_MIN_VALUES = 10
#: Weight of a column, for unit deviations, that is rounding: with a thousandth of its variance for itself a column gets
#: its weight to 1e-13.
_WEIGHT_ROUNDING = 1e-8
#: Findings of a column whose deviation comes from few of its values.
_FEW_ROWS_DECIDE = ("sentinel_value", "heavy_tail")
#: Columns up to which all are compared with all.
_DEPENDENCE_MAX_COLUMNS = 2000


Question = Callable[[Portrait], str | None]
#: Questions about a column, each with the words of its finding and the rows to name.
_CHECKS: list[tuple[Question, tuple[str, ...], Callable[[Portrait], Array] | None]] = []


def _check(
    *words: str, rows: Callable[[Portrait], Array] | None = None, least: int | None = None
) -> Callable[[Question], Question]:
    """Put a question to every column; given ``least``, to those that vary and have so many values.

    It answers with what to say of the column in brackets, or None. The words are the code, the verb for one column and
    for several, the remedy, and the remedy for several columns where that is another sentence.
    """

    def add(ask: Question) -> Question:
        def asked(c: Portrait) -> str | None:
            return ask(c) if least is None or (c.varies and len(c.order) >= least) else None

        _CHECKS.append((asked, words, rows))
        return asked

    return add


def check_columns(columns: list[Portrait]) -> Iterator[Finding]:
    """Put every question to every column: one finding for all columns that have a fault, with their rows."""
    for ask, (code, one, many, remedy, *remedies), rows in _CHECKS:
        answers = [(column, detail) for column in columns if (detail := ask(column)) is not None]
        if answers:
            verb, remedy = (one, remedy) if len(answers) == 1 else (many, remedies[0] if remedies else remedy)
            said = listed([f"{column.name!r} ({detail})" for column, detail in answers])
            where = [] if rows is None else [rows(column) for column, _ in answers]
            at = row_numbers(np.unique(np.concatenate(where))) if where else ()
            names = tuple(column.name for column, _ in answers)
            yield Finding(code, f"{plural(len(answers), 'column')} {verb}: {said}.", remedy, names, at)


def number(value: float) -> str:
    """A value for people: ``-999``, ``0.1235``."""
    return f"{value:.10g}" if float(value).is_integer() else f"{value:.4g}"


@_check("empty_column", "has no numbers", "have no numbers", "Leave such columns out.")
def _empty(c: Portrait) -> str | None:
    if not c.empty:
        return None
    return "no entry is finite" if len(c.infinite) else "every entry is missing"


@_check(
    *("missing_values", "misses values", "miss values"),
    'Use missing="em" where an estimator has it, drop those rows, or fill them.',
    rows=lambda c: np.flatnonzero(np.isnan(c.values)),
)
def _missing(c: Portrait) -> str | None:
    return None if not c.gaps or c.empty else f"{c.gaps:,} of {c.n:,}"


@_check(
    *("infinite_values", "has infinite values", "have infinite values"),
    "Correct them, or make them missing; often they are a division by zero or the logarithm of zero.",
    rows=lambda c: c.infinite,
)
def _infinite(c: Portrait) -> str | None:
    return None if not len(c.infinite) else f"{len(c.infinite):,} of {c.n:,}"


@_check(
    *("extreme_scale", "has squares outside double precision", "have squares outside double precision"),
    "Change the unit: multiply by a power of ten that brings values near 1.",
)
def _extreme(c: Portrait) -> str | None:
    return f"from {c.low:.3g} to {c.high:.3g}" if c.extreme else None


@_check(
    *("constant_column", "is constant", "are constant"),
    *("Leave it out: it can explain nothing.", "Leave them out: they can explain nothing."),
)
def _constant(c: Portrait) -> str | None:
    return f"always {number(c.low)}" if c.constant else None


@_check(
    *("nearly_constant", "hardly varies", "hardly vary"),
    "Leave it out unless the rare values are what you look for; a part of the rows may have none of them.",
    "Leave them out unless the rare values are what you look for; a part of the rows may have none of them.",
    least=SHAPE_MIN_ROWS,
)
def _nearly_constant(c: Portrait) -> str | None:
    value, share = c.most_frequent
    return f"{number(value)} in {percent(share)} of its values" if share >= _NEARLY_CONSTANT_SHARE else None


def sentinels(c: Portrait) -> tuple[float, ...]:
    """Values at the ends of the range that are farther from all others than those are from each other.

    Numbers that stand for missing ones look like this: a value that repeats in a column of many, or one of the usual
    codes beside few answers. Up to three may stand side by side, such as 97, 98 and 99.
    """
    if not c.varies:
        return ()
    (values, counts), found = c.runs, []
    if (values[0], values[-1]) != (c.low, c.high):
        return ()  # the sample lacks an end of the range
    while (end := _detached(values, counts, c.distinct)) is not None:
        found += values[end].tolist()
        values, counts = np.delete(values, end), np.delete(counts, end)
    return tuple(sorted(found))


def _detached(values: Array, counts: Array, distinct: int) -> slice | None:
    """Where in sorted values the stand-ins are, at one end."""
    for size in range(1, min(3, len(values) - 2) + 1):
        last = len(values) - size
        for end, rest, gap in (
            (slice(0, size), values[size:], values[size] - values[size - 1]),
            (slice(last, None), values[:last], values[last] - values[last - 1]),
        ):
            span = rest[-1] - rest[0]
            usual = (
                distinct <= CODES_MAX_VALUES
                and _USUAL_CODES.issuperset(values[end].tolist())
                and (rest[0] in (0, 1) or np.abs(values[end]).min() > 9)  # 5, 6, 9 are answers
            )
            if usual and gap >= span and gap > 2 * np.diff(rest).max():
                return end
            if distinct >= _REPEATED_MIN_VALUES and (counts[end] >= 2).all() and gap > span:
                return end
    return None


@_check(
    "sentinel_value",
    "has values far from its others, like codes of missing values",
    "have values far from their others, like codes of missing values",
    "If they stand for missing values, make them missing (NaN).",
    rows=lambda c: np.flatnonzero(np.isin(c.values, sentinels(c))),
)
def _sentinel(c: Portrait) -> str | None:
    codes = sentinels(c)
    if not codes:
        return None
    others = c.runs[0][~np.isin(c.runs[0], codes)]
    often = [f"{number(code)} in {plural(int((c.values == code).sum()), 'row')}" for code in codes]
    return f"{', '.join(often)}; the others are {number(others[0])} to {number(others[-1])}"


@_check(
    *("id_column", "looks like a row number or an identifier", "look like row numbers or identifiers"),
    "Leave it out, or keep it as the name of the rows (ids=).",
    "Leave them out, or keep one as the name of the rows (ids=).",
    least=20,
)
def identifies(c: Portrait) -> str | None:
    """Whole numbers, all different, that count the rows or run one way through them."""
    if not c.whole or c.distinct < len(c.order) or c.gaps:
        return None
    if c.high - c.low == c.n - 1 and len(np.unique(c.values)) == c.n:
        return f"counts from {number(c.low)} to {number(c.high)}"
    steps = np.diff(c.values)
    if (steps > 0).all():
        return "whole numbers that only rise"
    return "whole numbers that only fall" if (steps < 0).all() else None


@_check(
    *("counts", "holds skewed counts", "hold skewed counts"),
    "Take square roots or log(1 + x): otherwise the variance of counts grows with their mean.",
    least=SHAPE_MIN_ROWS,
)
def _counts(c: Portrait) -> str | None:
    """Whole numbers from 0 or 1 on with a long upper tail: their variance grows with their mean."""
    if not c.whole or c.low not in (0, 1) or c.distinct < 6 or sentinels(c) or c.skewness < 1:
        return None
    return f"{number(c.low)} to {number(c.high)}, skewness {c.skewness:.2g}"


@_check(
    "heavy_tail",
    "has a heavy tail, where a hundredth of the rows decide",
    "have heavy tails, where a hundredth of the rows decide",
    "Take logarithms if all values are positive, or ranks; components follow variance, and those rows have it.",
    least=2 * SHAPE_MIN_ROWS,
)
def _tail(c: Portrait) -> str | None:
    if c.distinct <= CODES_MAX_VALUES or _counts(c) or sentinels(c):
        return None
    if c.most_frequent[1] >= _NEARLY_CONSTANT_SHARE or 0 < len(c.far) <= few(c.n):
        return None
    said = f"{percent(c.tail_share)} of the sum of squares about the median"
    return said if c.tail_share > TAIL_MAX_SHARE else None


@_check(
    *("clipped", "looks cut off at one end", "look cut off at one end"),
    "Ask whether that is a limit of measurement or a true zero; components take it for a cluster.",
    least=SHAPE_MIN_ROWS,
)
def clipped(c: Portrait) -> str | None:
    """Many rows at one end of the range of a column whose values otherwise hardly repeat."""
    if c.whole or sentinels(c):
        return None
    values, counts = c.runs
    at = 0 if counts[0] >= counts[-1] else -1
    lump, inner = counts[at], np.delete(counts, at)
    if lump < _CLIPPED_MIN_SHARE * len(c.order) or lump < 5 * inner.max() or c.distinct < SHAPE_MIN_ROWS / 2:
        return None
    if values[at] not in (c.low, c.high):
        return None  # the end of the sample only
    share, end = c.share_of(values[at]), "least" if at == 0 else "largest"
    return f"{percent(share)} of its values equal the {end}, {number(values[at])}"


@_check(
    *("large_offset", "lies far from zero", "lie far from zero"),
    "Subtract a constant near the mean before saving or squaring: digits of the variation are lost to it.",
    least=1,
)
def _offset(c: Portrait) -> str | None:
    if c.deviation == 0:
        return None
    ratio, limit = abs(c.mean) / c.deviation, _MAX_OFFSET_FLOAT32 if c.narrow else _MAX_OFFSET
    return f"mean {c.mean:.3g}, standard deviation {c.deviation:.3g}" if ratio > limit else None


def few(n: int) -> int:
    """Rows that may be outliers rather than a tail."""
    return max(3, int(_OUTLIERS_MAX_SHARE * n))


@_check(
    *("category_codes", "may hold codes of categories", "may hold codes of categories"),
    "If the numbers are names and not an order, make indicator columns of them.",
    least=30,
)
def _codes(c: Portrait) -> str | None:
    """Few whole numbers beside columns that are measured, or codes with gaps between them."""
    if not c.whole or not 3 <= c.distinct <= CODES_MAX_VALUES or len(c.order) < 10 * c.distinct:
        return None
    # Stand-ins are no category; without them the others can be judged.
    if sentinels(c) or _counts(c) or c.most_frequent[1] >= _NEARLY_CONSTANT_SHARE:
        return None
    uneven = len(set(np.diff(c.runs[0]).tolist())) > 1
    told = f"{c.distinct} values: {listed([number(value) for value in c.runs[0]])}"
    return told if c.beside_measured or uneven else None


def check_relations(columns: list[Portrait], whole: Array, *, narrow: bool) -> Iterator[Finding | str]:
    """Look for columns that repeat others; ``whole`` are the rows without gaps. A sentence says what was not looked at.

    ``narrow`` says that the numbers came in single precision, whose rounding is then theirs.
    """
    live = [c for c in columns if c.varies and not c.extreme]
    pairs = _duplicates(live)
    if pairs:
        said = listed([f"{copy!r} repeats {original!r}" for copy, original in pairs])
        names = tuple(dict.fromkeys(name for pair in pairs for name in pair))
        copies = "is a copy" if len(pairs) == 1 else "are copies"
        message = f"{plural(len(pairs), 'column')} {copies} of others: {said}."
        remedy = "Leave the copies out: they count twice in every distance and every component."
        yield Finding("duplicate_columns", message, remedy, names)
    yield from _uneven([c for c in live if c.deviation > 0 and identifies(c) is None])
    rows, d = columns[0].n, len(columns)
    kept = [c for c in live if c.name not in dict(pairs)]
    if rows <= d:
        remedy = (
            "Use methods that shrink or project first (PCA, PLS, a ridge), and few components; or gather more rows."
        )
        said = f"there are {plural(rows, 'row')} for {plural(d, 'column')}: the columns cannot be independent."
        yield Finding("few_rows", said, remedy)
    elif len(kept) > _DEPENDENCE_MAX_COLUMNS:
        yield f"dependence of columns was not looked for: {len(kept):,} are more than {_DEPENDENCE_MAX_COLUMNS:,}"
    elif len(whole) > 2 * len(kept):
        yield from _collinear(kept, whole, float(np.finfo(np.float32 if narrow else np.float64).eps))
    elif len(kept) > 1:
        yield f"dependence of columns was not looked for: {plural(len(whole), 'row')} without gaps are too few"


def _duplicates(columns: list[Portrait]) -> list[tuple[str, str]]:
    """Columns with the numbers of an earlier one in every row, and its name; found by a random sum of their entries."""
    sums: dict[float, list[Portrait]] = {}
    pairs = []
    for column in columns:
        weights = np.random.default_rng(0).uniform(1, 2, column.n)
        key = float(weights @ np.where(np.isfinite(column.values), column.values, 0.0))
        twin = next((c for c in sums.get(key, []) if np.array_equal(c.values, column.values, equal_nan=True)), None)
        if twin is None:
            sums.setdefault(key, []).append(column)
        else:
            pairs.append((column.name, twin.name))
    return pairs


def _uneven(columns: list[Portrait]) -> Iterator[Finding]:
    if len(columns) < 2:
        return
    found = uneven_scales(np.array([c.deviation for c in columns]))
    if found is None:
        return
    low, high = columns[found.low], columns[found.high]
    message = (
        f"standard deviations differ by a factor of {found.ratio:,.0f}, from {low.deviation:.3g} ({low.name!r}) to "
        f"{high.deviation:.3g} ({high.name!r}): the largest decide distances and components."
    )
    if found.share is not None:
        if len(high.far) or any(words[0] in _FEW_ROWS_DECIDE and ask(high) for ask, words, _ in _CHECKS):
            return  # its deviation is that of a few values, which are found by themselves
        message = (
            f"column {high.name!r} has {percent(found.share)} of the variance of all {len(columns):,} columns: it "
            "decides distances and the first component."
        )
    remedy = "Standardise columns (scale=True, --scale), or bring them to one unit."
    yield Finding("uneven_scales", message, remedy, (high.name, low.name))


def dependence(R: Array) -> tuple[Array, Array, Array, Array]:
    """Choose columns one by one, always the one that those before explain least, until little is left of any.

    The chosen columns, the others, the coefficients of these (chosen x others) for unit deviations, and the share of
    its variance that each of these has for itself: 0 where correlations do not tell.
    """
    with one_blas_thread():
        _, order, rank = lapack.pivoted_cholesky(R, _OWN_MIN_SHARE)
        kept, dependent = order[:rank], np.sort(order[rank:])
        between = R[np.ix_(kept, dependent)]
        B = lapack.solve_positive(R[np.ix_(kept, kept)], between)
    own = 1 - np.sum(between * B, axis=0)
    return kept, dependent, B, np.where(own < _OWN_SHARE_ROUNDING, 0.0, own)


def residual_share(A: Array, c: Array, b: Array, R: Array, lengths: Array, eps: float) -> float:
    """Share of the variance of column c that columns A do not explain, from the rows; 0 if it is rounding of entries.

    ``b`` are coefficients from correlations R, for unit deviations; ``eps`` is the relative rounding of an entry.
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
    if own > _ROWS_ASKED_BELOW_SHARE:
        return f"but for {percent(own)} of its variance"
    return f"to within {at_most(np.sqrt(own), 1)} of its standard deviation"


def _collinear(columns: list[Portrait], whole: Array, eps: float) -> Iterator[Finding]:
    places = [c.at for c in columns]
    rows = np.ascontiguousarray(whole[:, places]) if len(places) < whole.shape[1] else whole
    moments = moments_of(rows)
    lengths = np.sqrt(np.diag(moments.scatter))
    seen = np.flatnonzero(lengths > 0)  # rows with gaps may hold all that varies
    if len(seen) < 2:
        return
    R = moments.scatter[np.ix_(seen, seen)] / np.outer(lengths[seen], lengths[seen])
    np.fill_diagonal(R, 1.0)  # or the last bits of the BLAS choose the first column, and with it all others
    kept, dependent, coefficients, shares = dependence(R)
    if not len(dependent):
        return
    names = [columns[j].name for j in seen]
    asked = np.argsort(shares, kind="stable")[:_ROWS_ASKED_MAX_COLUMNS]
    chosen, sides = seen[kept], R[np.ix_(kept, kept)]
    own, A = shares[asked], rows[:, chosen] if shares.min() < _ROWS_ASKED_BELOW_SHARE else None
    for at, j in enumerate(asked):
        if A is not None and own[at] < _ROWS_ASKED_BELOW_SHARE:
            c, b = rows[:, seen[dependent[j]]], coefficients[:, j]
            own[at] = residual_share(A, c, b, sides, lengths[chosen], eps)
    worst = int(asked[np.argmin(own)])
    weights = coefficients[:, worst]
    # Leave out columns whose weights, added up, would change what is said by less than a tenth.
    order = np.argsort(np.abs(weights))
    tiny = np.cumsum(np.abs(weights[order])) <= max(0.1 * np.sqrt(own.min()), _WEIGHT_ROUNDING)
    parts = [int(j) for j in order[~tiny][::-1]]
    others, column = [names[kept[j]] for j in parts], names[dependent[worst]]
    many = len(dependent)
    more = "" if many == 1 else f" {many:,} of {len(names):,} columns are such combinations."
    message = f"column {column!r} is a linear combination of {named(others)}, {_but_for(float(own.min()))}.{more}"
    remedy = "Leave one of them out, or use a method that does not mind: PCA, PLS, or a ridge."
    dependents = [names[j] for j in dependent[np.argsort(shares, kind="stable")]]
    yield Finding("collinear_columns", message, remedy, tuple(dict.fromkeys([column, *dependents, *others])))
