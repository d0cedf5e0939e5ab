"""Checks of single columns. A check is a question about a portrait; columns that answer alike share one finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from gramian.results import percent
from gramian.selection.doctor_findings import Finding, listed, plural, row_numbers
from gramian.selection.doctor_portrait import ENOUGH, Portrait

#: Rows up to this share may be outliers; more of them are a tail, or a group.
FEW = 0.01
#: A value this frequent leaves too few others for them to say anything: in ten folds some see one value only.
ALMOST_ALL = 0.99
#: Mean over deviation from which a table loses half of its digits to squares: eps (mean/deviation)^2 = 1e-6 in double
#: precision, 1e-3 in single.
OFFSET, NARROW_OFFSET = 1e5, 1e2
#: Different values up to which whole numbers may be codes of categories.
CODES = 12
#: Share of the squares that the largest hundredth of the values may make up. A Gaussian column has 0.08, an exponential
#: one 0.23, the exponential of a standard Gaussian 0.5: then those few rows are most of what a component follows.
TAIL = 0.4
#: Share of the rows at the very end of a column's range that looks like a limit of measurement.
LUMP = 0.05


@dataclass(frozen=True)
class Check:
    """A question about a column, and the sentence for those that answer it.

    ``ask`` gives what to say of the column in brackets, or None; ``one`` and ``many`` are the verb.
    ``remedies`` is what to do about several columns, where that is another sentence than for one.
    """

    code: str
    one: str
    many: str
    remedy: str
    ask: Callable[[Portrait], str | None]
    remedies: str = ""

    def findings(self, columns: Iterable[Portrait]) -> list[Finding]:
        """One finding for all columns that have the fault, or none."""
        answers = [(column, detail) for column in columns if (detail := self.ask(column)) is not None]
        if not answers:
            return []
        verb, remedy = (self.one, self.remedy) if len(answers) == 1 else (self.many, self.remedies or self.remedy)
        said = listed([f"{column.name!r} ({detail})" for column, detail in answers])
        rows = row_numbers(self._rows(answers[0][0]))
        names = tuple(column.name for column, _ in answers)
        return [Finding(self.code, f"{plural(len(answers), 'column')} {verb}: {said}.", remedy, names, rows)]

    def _rows(self, column: Portrait) -> np.ndarray:
        """Rows that an answer is about, of the first column that has the fault."""
        which = ROWS.get(self.code)
        return np.empty(0, dtype=int) if which is None else which(column)


def number(value: float) -> str:
    """A value for people.

    >>> number(-999.0), number(0.123456)
    ('-999', '0.1235')
    """
    return f"{value:.10g}" if float(value).is_integer() else f"{value:.4g}"


def _missing(c: Portrait) -> str | None:
    return None if not c.gaps or c.empty else f"{c.gaps:,} of {c.n:,}"


def _infinite(c: Portrait) -> str | None:
    return None if not len(c.infinite) else f"{len(c.infinite):,} of {c.n:,}"


def _empty(c: Portrait) -> str | None:
    return "every entry is missing" if c.empty else None


def _constant(c: Portrait) -> str | None:
    return f"always {number(c.low)}" if c.constant else None


def _nearly_constant(c: Portrait) -> str | None:
    if not c.varies or len(c.order) < ENOUGH:
        return None
    value, share = c.most_frequent
    return f"{number(value)} in {percent(share)} of the rows" if share >= ALMOST_ALL else None


def _extreme(c: Portrait) -> str | None:
    return f"from {c.low:.3g} to {c.high:.3g}" if c.extreme else None


def sentinel(c: Portrait) -> float | None:
    """A value that comes more than once at the end of the range, farther from the others than they are from each other.

    Numbers such as -999 that stand for missing ones look like this.
    """
    if not c.varies or c.distinct < 10:
        return None
    values, counts = c.runs
    for end, rest in ((0, values[1:]), (-1, values[:-1])):
        distance = abs(values[end] - (rest[0] if end == 0 else rest[-1]))
        if counts[end] >= 2 and distance > rest[-1] - rest[0]:
            return float(values[end])
    return None


def _sentinel(c: Portrait) -> str | None:
    value = sentinel(c)
    return None if value is None else f"{number(value)} in {plural(int((c.values == value).sum()), 'row')}"


def identifies(c: Portrait) -> str | None:
    """Whole numbers, all different, that count the rows or run one way through them."""
    if not c.varies or len(c.order) < 20 or not c.whole or c.distinct < len(c.order) or c.gaps:
        return None
    steps = np.diff(c.values)
    if c.high - c.low == c.n - 1:
        return f"counts from {number(c.low)} to {number(c.high)}"
    return "whole numbers that only rise" if (steps > 0).all() or (steps < 0).all() else None


def _counts(c: Portrait) -> str | None:
    """Whole numbers from 0 or 1 on with a long upper tail: their variance grows with their mean."""
    if not c.varies or len(c.order) < ENOUGH or not c.whole or c.low not in (0, 1) or c.distinct < 6:
        return None
    return f"0 to {number(c.high)}, skewness {c.skewness:.2g}" if c.skewness >= 1 else None


def _tail(c: Portrait) -> str | None:
    if not c.varies or len(c.order) < 2 * ENOUGH or c.distinct <= CODES or _counts(c) or sentinel(c) is not None:
        return None
    if c.most_frequent[1] >= ALMOST_ALL or 0 < len(c.far) <= few(c.n):
        return None
    share = c.tail_share()
    return f"{percent(share)} of the sum of squares" if share > TAIL else None


def clipped(c: Portrait) -> str | None:
    """Many rows at one end of the range of a column whose values otherwise hardly repeat."""
    if not c.varies or len(c.order) < ENOUGH or c.whole:
        return None
    values, counts = c.runs
    at = 0 if counts[0] >= counts[-1] else -1
    lump, inner = counts[at], np.delete(counts, at)
    if lump < LUMP * len(c.order) or lump < 5 * inner.max() or c.distinct < ENOUGH / 2:
        return None
    return f"{percent(lump / len(c.order))} of the rows are {number(values[at])}, its {'least' if at == 0 else 'most'}"


def _offset(c: Portrait) -> str | None:
    if not c.varies or c.deviation == 0:
        return None
    ratio = abs(c.mean) / c.deviation
    limit = NARROW_OFFSET if c.narrow else OFFSET
    return f"mean {c.mean:.3g}, standard deviation {c.deviation:.3g}" if ratio > limit else None


def few(n: int) -> int:
    """Rows that may be outliers rather than a tail."""
    return max(3, int(FEW * n))


#: Rows that a finding names beside its columns.
ROWS: dict[str, Callable[[Portrait], np.ndarray]] = {
    "infinite_values": lambda c: c.infinite,
    "missing_values": lambda c: np.flatnonzero(np.isnan(c.values)),
    "sentinel_value": lambda c: np.flatnonzero(c.values == sentinel(c)),
}

CHECKS = (
    Check("empty_column", "has no numbers", "have no numbers", "Leave such columns out.", _empty),
    Check(
        "missing_values",
        "misses values",
        "miss values",
        'Use missing="em" where an estimator has it, drop those rows, or fill them.',
        _missing,
    ),
    Check(
        "infinite_values",
        "has infinite values",
        "have infinite values",
        "Correct them, or make them missing; often they are a division by zero or the logarithm of zero.",
        _infinite,
    ),
    Check(
        "extreme_scale",
        "has squares outside double precision",
        "have squares outside double precision",
        "Change the unit: multiply by a power of ten that brings values near 1.",
        _extreme,
    ),
    Check(
        "constant_column",
        "is constant",
        "are constant",
        "Leave it out: it can explain nothing.",
        _constant,
        "Leave them out: they can explain nothing.",
    ),
    Check(
        "nearly_constant",
        "hardly varies",
        "hardly vary",
        "Leave it out unless the rare values are what you look for; a part of the rows may have none of them.",
        _nearly_constant,
        "Leave them out unless the rare values are what you look for; a part of the rows may have none of them.",
    ),
    Check(
        "sentinel_value",
        "repeats a value far from all others",
        "repeat a value far from all others",
        "If it stands for missing values, make them missing (NaN).",
        _sentinel,
        "If they stand for missing values, make them missing (NaN).",
    ),
    Check(
        "id_column",
        "looks like a row number or an identifier",
        "look like row numbers or identifiers",
        "Leave it out, or keep it as the name of the rows (ids=).",
        identifies,
        "Leave them out, or keep one as the name of the rows (ids=).",
    ),
    Check(
        "counts",
        "holds skewed counts",
        "hold skewed counts",
        "Take square roots or log(1 + x): otherwise the variance of counts grows with their mean.",
        _counts,
    ),
    Check(
        "heavy_tail",
        "has a heavy tail, where a hundredth of the rows decide",
        "have heavy tails, where a hundredth of the rows decide",
        "Take logarithms if all values are positive, or ranks; components follow variance, and those rows have it.",
        _tail,
    ),
    Check(
        "clipped",
        "looks cut off at one end",
        "look cut off at one end",
        "Ask whether that is a limit of measurement or a true zero; components take it for a cluster.",
        clipped,
    ),
    Check(
        "large_offset",
        "lies far from zero",
        "lie far from zero",
        "Subtract a constant near the mean before saving or squaring: digits of the variation are lost to it.",
        _offset,
    ),
)


def check_columns(columns: list[Portrait]) -> list[Finding]:
    """Put every question to every column, and those that need to see the others too."""
    out = [finding for check in CHECKS for finding in check.findings(columns)]
    return out + _category_codes(columns)


def _category_codes(columns: list[Portrait]) -> list[Finding]:
    """Few whole numbers beside columns that are measured, or codes with gaps between them."""
    measured = any(c.varies and not c.whole for c in columns)

    def ask(c: Portrait) -> str | None:
        if not c.varies or not c.whole or not 3 <= c.distinct <= CODES or len(c.order) < 10 * c.distinct:
            return None
        steps = np.diff(c.runs[0])
        if not (measured or len(set(steps.tolist())) > 1) or _counts(c) or c.most_frequent[1] >= ALMOST_ALL:
            return None
        return f"{c.distinct} values: {listed([number(value) for value in c.runs[0]])}"

    return Check(
        "category_codes",
        "may hold codes of categories",
        "may hold codes of categories",
        "If the numbers are names and not an order, make indicator columns of them.",
        ask,
    ).findings(columns)
