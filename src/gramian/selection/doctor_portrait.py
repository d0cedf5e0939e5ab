"""One column at a time: the few numbers that all checks of columns read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gramian.results import Array
from gramian.selection.doctor_input import Sheet

#: Rows that are sorted to see the shape of a column: more of them do not change its quartiles in the third digit.
SAMPLE = 100_000
#: Ratio of a Gaussian's standard deviation to its median distance from the median.
GAUSSIAN = 1.4826
#: A value is far if, of columns with exponential tails and as many rows, one in so many has one like it.
COLUMNS_IN = 1000
#: Shape is judged from so many rows on; fewer say little of tails and of repeated values.
ENOUGH = 50
#: Sizes whose squares, summed over many rows, stay within double precision.
SQUARABLE = (1e-150, 1e150)


@dataclass(frozen=True)
class Portrait:
    """What is known of a column; extremes, mean and deviation of all rows, the rest of a sorted sample.

    Attributes
    ----------
    name : str
    at : int
        Its place in the table.
    values : (n,) array
        The column, in the order of the rows; NaN and infinities included.
    unread : int
        Entries that were text.
    order : (m,) array
        Finite values, sorted: all, or those of the sample.
    low, high, mean, deviation : float
        Of the finite values; zero deviation if there are fewer than two.
    narrow : bool
        Whether it came in single precision.
    """

    name: str
    at: int
    values: Array
    unread: int
    order: Array
    low: float
    high: float
    mean: float
    deviation: float
    narrow: bool

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.values)

    @cached_property
    def gaps(self) -> int:
        """Missing entries."""
        return int(np.count_nonzero(np.isnan(self.values))) - self.unread

    @cached_property
    def infinite(self) -> Array:
        """Rows with an infinity."""
        return np.flatnonzero(np.isinf(self.values))

    @property
    def empty(self) -> bool:
        """Whether there is no number at all."""
        return len(self.order) == 0

    @property
    def constant(self) -> bool:
        """Whether all numbers are equal."""
        return not self.empty and self.low == self.high

    @property
    def varies(self) -> bool:
        """Whether there is something to see."""
        return not self.empty and self.low < self.high

    @property
    def extreme(self) -> bool:
        """Whether squares of its values leave double precision, or nearly."""
        largest = max(abs(self.low), abs(self.high))
        return self.varies and not SQUARABLE[0] < largest < SQUARABLE[1]

    @cached_property
    def whole(self) -> bool:
        """Whether all values are whole numbers."""
        return bool((np.floor(self.order) == self.order).all())

    @cached_property
    def runs(self) -> tuple[Array, Array]:
        """Different values, and how often each comes."""
        return np.unique(self.order, return_counts=True)

    @property
    def distinct(self) -> int:
        """Number of different values."""
        return len(self.runs[0])

    @cached_property
    def most_frequent(self) -> tuple[float, float]:
        """The value that comes most often, and its share of the rows."""
        values, counts = self.runs
        best = int(np.argmax(counts))
        return float(values[best]), float(counts[best] / len(self.order))

    @cached_property
    def median(self) -> float:
        """The middle value."""
        return float(np.median(self.order))

    @cached_property
    def spreads(self) -> tuple[float, float]:
        """Robust deviations below and above the median, each from its own half, so that skewness is no fault."""
        middle = self.median
        sides = [middle - self.order[self.order <= middle], self.order[self.order >= middle] - middle]
        found = [GAUSSIAN * float(np.median(side)) for side in sides]
        most = max(found) or self.deviation  # more than half of the values may be equal
        return found[0] or most, found[1] or most

    @cached_property
    def far(self) -> Array:
        """Rows whose value is more than ``log(1000 n)`` robust deviations off the median: 12.6 if n = 300."""
        below, above = self.spreads
        limit = np.log(COLUMNS_IN * self.n)
        with np.errstate(invalid="ignore", over="ignore"):
            away = (self.values < self.median - limit * below) | (self.values > self.median + limit * above)
        return np.flatnonzero(away & np.isfinite(self.values))

    @cached_property
    def skewness(self) -> float:
        """Third standardised moment."""
        z = (self.order - self.order.mean()) / (self.order.std() or 1.0)
        return float(np.mean(z**3))

    def tail_share(self, cut: float = 0.01) -> float:
        """Share of the sum of squares about the median that the largest hundredth of the values makes up."""
        squares = np.sort((self.order / self._unit - self.median / self._unit) ** 2)
        return float(squares[-max(1, int(np.ceil(cut * len(squares)))) :].sum() / (squares.sum() or 1.0))

    @property
    def _unit(self) -> float:
        return max(abs(self.low), abs(self.high)) or 1.0


def portraits(sheet: Sheet) -> list[Portrait]:
    """One portrait for each column of a sheet."""
    n = len(sheet.values)
    rows = np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False)) if n > SAMPLE else slice(None)
    out = []
    for at, name in enumerate(sheet.names):
        values = np.ascontiguousarray(sheet.values[:, at])
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (np.nan, np.nan)
        unit = max(abs(low), abs(high)) or 1.0
        scaled = finite / unit  # squares of what is at most 1 do not overflow
        mean = float(scaled.mean()) * unit if len(finite) else np.nan
        deviation = float(scaled.std(ddof=1)) * unit if len(finite) > 1 else 0.0
        seen = values[rows]
        out.append(
            Portrait(
                name=name,
                at=at,
                values=values,
                unread=int(sheet.unread[at]),
                order=np.sort(seen[np.isfinite(seen)]),
                low=low,
                high=high,
                mean=mean,
                deviation=deviation,
                narrow=sheet.narrow,
            )
        )
    return out
