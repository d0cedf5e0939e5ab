"""What criteria look at and what they say, and the criteria that need variances of components alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from scipy.optimize import brentq

from gramian import lapack
from gramian.operators.moments import row_count
from gramian.results import Array, percent
from gramian.spaces import LinearBasis

__all__ = ["Suggestion", "Variances"]
__all__ += ["broken_stick", "gavish_donoho", "kaiser", "largest_gap", "variance_share", "velicer"]

#: Share of the variance that the oldest rule asks for.
_USUAL_SHARE = 0.9
#: Components taken out at the most: beyond, the criterion has long turned.
_PARTIALS_MAX_COMPONENTS = 50


@dataclass(frozen=True)
class Suggestion:
    """What one criterion says."""

    criterion: str
    k: int | None  #: components; None where it cannot say
    reference: str  #: author and year
    detail: str = ""  #: the figures behind it, or why there is no number


@dataclass(frozen=True)
class Variances:
    """Variances along components and columns, divisor n - 1; columns without variance are left out."""

    values: Array  #: (m,), along the leading components, descending; all of them for criteria that say so
    directions: Array  #: (d, m), as columns
    columns: Array  #: (d,); they sum to the total
    n: float  #: number of rows

    @classmethod
    def of(cls, basis: LinearBasis) -> Self:
        """Take them from a basis."""
        kept = basis.column_variances > 0
        return cls(basis.variances, basis.directions[kept], basis.column_variances[kept], basis.n)

    @classmethod
    def of_matrix(cls, C: Array, n: float) -> Self:
        """Take all of them from a covariance or correlation matrix."""
        kept = np.flatnonzero(np.diag(C) > 0)
        values, V = lapack.interruptible(np.linalg.eigh, C[np.ix_(kept, kept)])
        return cls(np.maximum(values[::-1], 0.0), V[:, ::-1], np.diag(C)[kept].copy(), n)

    @property
    def d(self) -> int:
        """Columns that vary."""
        return len(self.columns)

    @property
    def freedom(self) -> float:
        """Rows less one: degrees of freedom of a variance."""
        return self.n - 1

    @property
    def total(self) -> float:
        """Variance of all columns together."""
        return float(self.columns.sum())

    @property
    def limit(self) -> int:
        """Most components that could have a variance."""
        return min(self.d, row_count(self.n) - 1)

    def leading(self) -> Array:
        """Variances that could be there: no more than the limit."""
        return self.values[: self.limit]


def run_length(passed: Array) -> int:
    """How many hold before the first that does not."""
    return len(passed) if passed.all() else int(np.argmin(passed))


def variance_share(found: Variances, share: float = _USUAL_SHARE) -> Suggestion:
    """Fewest components that hold a share of the variance."""
    reached = np.cumsum(found.values) >= share * found.total * (1 - 1e-12)
    name, source = f"{percent(share)} of the variance", "Jolliffe 2002"
    if not reached.any():
        return Suggestion(name, None, source, f"the first {len(found.values)} components hold less")
    return Suggestion(name, int(np.argmax(reached)) + 1, source)


def kaiser(found: Variances) -> Suggestion:
    """Components with more variance than the average column: eigenvalues above 1, of a correlation matrix."""
    mean = found.total / found.d
    k = run_length(found.values > mean * (1 + 1e-9))
    return Suggestion("above the average variance", k, "Kaiser 1960", f"average {mean:.4g}")


def broken_stick(found: Variances) -> Suggestion:
    r"""Components whose shares are above those of a stick broken at random.

    .. math:: \lambda_k / \sum_j \lambda_j > \tfrac1p \sum_{i=k}^{p} \tfrac1i
    """
    p = found.limit
    expected = np.cumsum(1.0 / np.arange(p, 0, -1))[::-1] / p
    values = found.leading()
    k = run_length(values / found.total > expected[: len(values)] * (1 + 1e-9))
    return Suggestion("broken stick", k, "Frontier 1976")


def largest_gap(values: Array, source: str = "Cattell 1966", *, whole: bool = False) -> Suggestion:
    """The largest relative drop from one value to the next, in the first half of those there are.

    With ``whole`` the values are all there can be, and a fall to nothing is a gap too; without it they fade out.
    """
    floor = 1e-12 * values.max(initial=0.0)
    positive = np.maximum(values, floor) if whole and floor > 0 else values[values > floor]
    if len(positive) < 3:
        return Suggestion("largest gap", None, source, f"{len(positive)} values have no gap to speak of")
    seen = positive[: max(2, len(positive) // 2) + 1]
    drops = seen[:-1] / seen[1:]
    k = int(np.argmax(drops)) + 1
    return Suggestion("largest gap", k, source, f"a drop by the factor {drops[k - 1]:.3g}")


@lru_cache(maxsize=256)
def optimal_factor(beta: float) -> float:
    """The threshold in units of the median singular value, for a noise level that is not known."""
    known = np.sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + np.sqrt(beta**2 + 14 * beta + 1)))
    return float(known / np.sqrt(median_of_noise(beta)))


def median_of_noise(beta: float) -> float:
    """Median of the law of Marchenko and Pastur: variances of white noise, sides in the ratio ``beta <= 1``."""
    low, high = (1 - np.sqrt(beta)) ** 2, (1 + np.sqrt(beta)) ** 2
    middle, radius = (low + high) / 2, (high - low) / 2
    nodes, weights = np.polynomial.legendre.leggauss(200)

    def below(x: float) -> float:
        # x = middle + radius cos(angle) takes the square roots out of the integrand.
        start = np.arccos(np.clip((x - middle) / radius, -1, 1))
        angle = start + (np.pi - start) * (nodes + 1) / 2
        density = np.sin(angle) ** 2 / np.maximum(middle + radius * np.cos(angle), np.finfo(np.float64).tiny)
        return float((np.pi - start) / 2 * radius**2 * (weights @ density) / (2 * np.pi * beta))

    return float(brentq(lambda x: below(x) - 0.5, low, high, xtol=1e-12))


def gavish_donoho(found: Variances) -> Suggestion:
    """Components above the optimal threshold (Gavish, Donoho, IEEE Transactions on Information Theory 2014).

    The noise comes from the median, so all variances must be known.
    """
    name, source, p = "optimal threshold", "Gavish, Donoho 2014", found.limit
    if len(found.values) < p:
        return Suggestion(name, None, source, f"needs all {p:,} variances")
    sides = sorted((found.freedom, found.d))
    singular = np.sqrt(found.leading())
    threshold = optimal_factor(sides[0] / sides[1]) * float(np.median(singular))
    return Suggestion(name, run_length(singular > threshold), source, f"threshold {threshold**2:.4g}")


def average_partials(found: Variances) -> Array:
    """Mean squared partial correlation of two columns with the first 0, 1, ... components taken out."""
    V, values = found.directions, found.leading() / found.total  # squares of tiny variances would vanish
    C = (V * (found.values / found.total)) @ V.T
    averages = []
    for k in range(min(len(values), found.d - 1, _PARTIALS_MAX_COMPONENTS)):
        spread = np.diag(C)
        if (spread <= 1e-12 * found.columns / found.total).any():
            break
        inverse = 1 / spread
        averages.append((float(inverse @ np.square(C) @ inverse) - found.d) / (found.d * (found.d - 1)))
        C -= np.outer(values[k] * V[:, k], V[:, k])
    return np.array(averages)


def velicer(found: Variances) -> Suggestion:
    """The number of components that leaves the least partial correlation (Velicer, Psychometrika 1976)."""
    name, source = "minimum average partial", "Velicer 1976"
    if len(found.values) < found.limit or found.d < 2:
        return Suggestion(name, None, source, "needs all variances of two columns or more")
    averages = average_partials(found)
    k = int(np.argmin(averages))
    return Suggestion(name, k, source, f"mean squared partial correlation {averages[k]:.3g}")
