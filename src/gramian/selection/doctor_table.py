"""Tables as they come, with findings instead of refusals, and the few numbers of a column that its checks read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.config import format_bytes, memory_budget
from gramian.results import Array
from gramian.selection.doctor_findings import Finding, at_rows, listed, plural, row_numbers

#: Text that stands for nothing.
_BLANK_TEXT = ("", "na", "n/a", "nan", "null", "none", "<na>")
#: Rows that are sorted to see the shape of a column: more of them do not change its quartiles in the third digit.
SHAPE_SAMPLE_ROWS = 100_000
#: Ratio of a Gaussian's standard deviation to the distance of its quartiles from its median.
_GAUSSIAN_DEVIATION_TO_QUARTILE = 1.4826
#: A value is far if, of columns with exponential tails and as many rows, one in so many has one like it.
_FAR_IN_ONE_COLUMN_OF = 1000
#: Shape is judged from so many rows on; fewer say little of tails and of repeated values.
SHAPE_MIN_ROWS = 50
#: Sizes whose squares, summed over many rows, stay within double precision.
_SQUARABLE_RANGE = (1e-150, 1e150)


@dataclass(frozen=True)
class Sheet:
    """Numeric columns of a table, and what was found while it was read.

    ``values`` are in double precision, with NaN and infinities where there are some; ``unread`` counts entries of each
    column that are text, which are NaN among the values; ``narrow`` says that numbers came in single precision;
    ``width`` counts all columns, those without numbers included.
    """

    values: Array
    names: tuple[str, ...]
    unread: Array
    narrow: bool
    width: int
    findings: tuple[Finding, ...] = ()
    looked_at: tuple[str, ...] = ()


def read(X: Any) -> Sheet:
    """Take an array, a sparse matrix, a list of rows, a data frame or a mapping of columns."""
    told: tuple[str, ...] = ()
    if isinstance(X, Mapping):
        return _columns([str(name) for name in X], list(X.values()))
    if sp.issparse(X):
        X, told = _dense_sample(sp.csr_array(X))
    elif hasattr(X, "columns") and not callable(X.columns) and hasattr(X, "__getitem__"):
        names = list(X.columns)
        at = X.iloc if hasattr(X, "iloc") else None  # names of pandas may be repeated
        return _columns([str(n) for n in names], [at[:, j] if at is not None else X[n] for j, n in enumerate(names)])
    array = np.ma.filled(X.astype(np.float64), np.nan) if np.ma.isMaskedArray(X) else _array(X)
    if array.ndim != 2:
        raise ValueError(
            f"X has shape {array.shape}; rows and columns are expected. Reshape your data: X.reshape(-1, 1) if it is "
            "one column, X.reshape(1, -1) if it is one row."
        )
    if 0 in array.shape:
        raise ValueError(f"X has shape {array.shape}: there is nothing to look at. Give at least one row and column.")
    d = array.shape[1]
    names = [f"x{j}" for j in range(d)]
    if array.dtype.kind not in "biuf":
        return _columns(names, list(array.T))
    narrow, none = array.dtype in (np.float32, np.float16), np.zeros(d, dtype=int)
    return Sheet(array.astype(np.float64, copy=False), tuple(names), none, narrow, d, looked_at=told)


def _dense_sample(X: sp.csr_array) -> tuple[Array, tuple[str, ...]]:
    """As many of the rows as have room, and a sentence if not all have."""
    n, d = X.shape
    room = max(100, memory_budget() // 4 // (8 * max(1, d)))
    if n <= room:
        return X.toarray(), ()
    chosen = np.sort(np.random.default_rng(0).choice(n, room, replace=False))
    told = f"{room:,} of {n:,} rows: as a dense table all would take {format_bytes(8.0 * n * d)}"
    return X[chosen].toarray(), (told,)


def _array(X: Any) -> Array:
    try:
        array = np.asarray(X)
    except ValueError:
        raise ValueError("X has rows of different lengths. Give as many numbers in every row.") from None
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X has dtype {array.dtype}. Use X.real, X.imag or np.abs(X).")
    return array


def _columns(names: list[str], columns: list[Any]) -> Sheet:
    if not columns or not len(columns[0]):
        raise ValueError(f"X has {len(columns)} columns and no rows to look at. Give at least one row and column.")
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ValueError(f"columns of X have different lengths: {', '.join(map(str, sorted(lengths)))}.")
    findings: list[Finding] = []
    kept, unread, known = [], [], []
    for name, column in zip(names, columns, strict=True):
        values, text = _numbers(np.asarray(column))
        kinds = [repr(kind) for kind in dict.fromkeys(text.values())]
        if len(text) > np.count_nonzero(~np.isnan(values)):
            message = f"column {name!r} is text, with {plural(len(kinds), 'different value')}: {listed(kinds)}."
            remedy = "Leave it out, or make numbers of it: indicator columns of categories, days of dates."
            findings.append(Finding("text_column", message, remedy, (name,)))
            continue
        if text:
            message = f"column {name!r} has text among its numbers: {listed(kinds)}, in {at_rows([*text])}."
            remedy = "Correct those entries, or make them missing."
            findings.append(Finding("text_in_numbers", message, remedy, (name,), row_numbers([*text])))
        kept.append(values)
        unread.append(len(text))
        known.append(name)
    values = np.column_stack(kept) if kept else np.empty((len(columns[0]), 0))
    narrow = all(getattr(column, "dtype", None) == np.float32 for column in columns)
    return Sheet(values, tuple(known), np.array(unread, dtype=int), narrow, len(names), tuple(findings))


def _numbers(cells: Array) -> tuple[Array, dict[int, str]]:
    """Numbers of a column, NaN where there is none, and its cells that are text, by row."""
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64), {}
    values, text = np.full(len(cells), np.nan), {}
    for row, cell in enumerate(cells):
        if cells.dtype.kind in "mM":
            text[row] = str(cell)
        elif cell is not None and str(cell).strip().lower() not in _BLANK_TEXT:
            try:
                values[row] = float(cell)
            except (TypeError, ValueError):
                text[row] = str(cell)
    return values, text


class Portrait:
    """What is known of a column; extremes, mean and deviation of all rows, the rest of a sorted sample."""

    def __init__(self, name: str, at: int, values: Array, unread: int, narrow: bool) -> None:
        self.name, self.at, self.narrow = name, at, narrow  # ``at`` is its place in the table
        self.values, self.n = values, len(values)  # in the order of the rows, NaN and infinities included
        self.gaps = int(np.count_nonzero(np.isnan(values))) - unread  # missing entries; those of text are not
        self.infinite = np.flatnonzero(np.isinf(values))
        finite = values[np.isfinite(values)]
        self.empty = not len(finite)
        self.low, self.high = (np.nan, np.nan) if self.empty else (float(finite.min()), float(finite.max()))
        self.constant, self.varies = self.low == self.high, self.low < self.high
        self.unit = max(abs(self.low), abs(self.high)) or 1.0
        # Whether squares of its values leave double precision, or nearly.
        self.extreme = self.varies and not _SQUARABLE_RANGE[0] < self.unit < _SQUARABLE_RANGE[1]
        scaled = finite / self.unit  # squares of what is at most 1 do not overflow
        self.mean = np.nan if self.empty else float(scaled.mean()) * self.unit
        self.deviation = float(scaled.std(ddof=1)) * self.unit if len(finite) > 1 else 0.0
        self.whole = bool((np.floor(finite) == finite).all())
        # Of the finite values, so that a column that has some is never taken for an empty one.
        many = len(finite) > SHAPE_SAMPLE_ROWS
        seen = np.random.default_rng(0).choice(finite, SHAPE_SAMPLE_ROWS, replace=False) if many else finite
        self.order = np.sort(seen)
        self.runs = np.unique(self.order, return_counts=True)  # different values, and how often each comes
        self.distinct = len(self.runs[0])
        self.beside_measured = False  # whether a column of the table holds numbers that are not whole

    @cached_property
    def most_frequent(self) -> tuple[float, float]:
        """The value that comes most often, and its share of the finite values."""
        values, counts = self.runs
        best = float(values[np.argmax(counts)])
        return best, self.share_of(best)

    def share_of(self, value: float) -> float:
        """Share of the finite values, of all rows, that equal one."""
        return float(np.count_nonzero(self.values == value) / np.count_nonzero(np.isfinite(self.values)))

    @cached_property
    def median(self) -> float:
        """The middle value."""
        return float(np.median(self.order))

    @cached_property
    def spreads(self) -> tuple[float, float]:
        """Distances from the median to the lower and to the upper quartile, so that skewness is no fault.

        A quartile that equals the median gives way to the other one, and both to a Gaussian's by the deviation.
        """
        low, high = np.quantile(self.order, (0.25, 0.75))
        below, above = float(self.median - low), float(high - self.median)
        most = max(below, above) or self.deviation / _GAUSSIAN_DEVIATION_TO_QUARTILE
        return below or most, above or most

    @cached_property
    def far(self) -> Array:
        """Rows more than ``1.48 log(1000 n)`` times as far off the median as a quartile: 18.7 times if n = 300.

        The quartile is that on the same side, or the mean of both if that is farther: of few rows one may be near by
        chance.
        """
        half = sum(self.spreads) / 2
        below, above = (max(side, half) for side in self.spreads)
        limit = _GAUSSIAN_DEVIATION_TO_QUARTILE * np.log(_FAR_IN_ONE_COLUMN_OF * self.n)
        with np.errstate(invalid="ignore", over="ignore"):
            away = (self.values < self.median - limit * below) | (self.values > self.median + limit * above)
        return np.flatnonzero(away & np.isfinite(self.values))

    @cached_property
    def skewness(self) -> float:
        """Third standardised moment."""
        z = (self.order - self.order.mean()) / (self.order.std() or 1.0)
        return float(np.mean(z**3))

    @cached_property
    def tail_share(self) -> float:
        """Share of the sum of squares about the median that the largest hundredth of the values makes up."""
        squares = np.sort((self.order / self.unit - self.median / self.unit) ** 2)
        return float(squares[-max(1, int(np.ceil(0.01 * len(squares)))) :].sum() / (squares.sum() or 1.0))


def portraits(sheet: Sheet) -> list[Portrait]:
    """One portrait for each column of a sheet."""
    known = zip(sheet.names, np.ascontiguousarray(sheet.values.T), sheet.unread, strict=True)
    found = [Portrait(name, at, values, int(unread), sheet.narrow) for at, (name, values, unread) in enumerate(known)]
    measured = any(c.varies and not c.whole for c in found)
    for column in found:
        column.beside_measured = measured
    return found
