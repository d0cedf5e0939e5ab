"""Whether groups of rows differ along an axis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.stats

from gramian.results import Array

#: Rows that a group needs: for smaller ones the Games-Howell test rejects too often.
LEAST = 5


@dataclass(frozen=True)
class Extremes:
    """The groups with the lowest and the highest mean, and how likely such a difference is if all means are equal."""

    low: int
    high: int
    groups: int
    p: float


def extremes(values: Array, codes: Array, groups: int) -> Extremes | None:
    r"""Compare the groups of lowest and highest mean; None if fewer than two have five rows.

    Definition
    ----------
    .. math:: q = (\bar t_a - \bar t_b) \Big/ \sqrt{\tfrac12 (s_a^2/n_a + s_b^2/n_b)}

    against the studentized range of all groups with Welch's degrees of freedom: the test of Games and Howell, which
    corrects for the number of groups and does not need equal variances.

    Parameters
    ----------
    values : (n,) array
        Scores.
    codes : (n,) array of int
        The group of each row.
    groups : int

    References
    ----------
    Games, Howell, Journal of Educational Statistics 1976.

    Examples
    --------
    >>> codes = np.repeat([0, 1], 6)
    >>> found = extremes(np.arange(12.0), codes, 2)
    >>> found.low, found.high, found.p < 0.05
    (0, 1, True)
    >>> extremes(np.tile(np.arange(6.0), 2), codes, 2).p > 0.9
    True
    """
    members = {at: values[codes == at] for at in range(groups)}
    known = {at: part for at, part in members.items() if len(part) >= LEAST}
    if len(known) < 2:
        return None
    means = {at: float(part.mean()) for at, part in known.items()}
    low, high = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
    parts = [float(known[at].var(ddof=1)) / len(known[at]) for at in (low, high)]
    freedom = [len(known[at]) - 1 for at in (low, high)]
    if sum(parts) == 0:
        return Extremes(low, high, len(known), 0.0 if means[high] > means[low] else 1.0)
    q = (means[high] - means[low]) / np.sqrt(sum(parts) / 2)
    df = sum(parts) ** 2 / sum(part**2 / f for part, f in zip(parts, freedom, strict=True))
    return Extremes(low, high, len(known), float(scipy.stats.studentized_range.sf(q, len(known), df)))
