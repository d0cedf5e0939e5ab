r"""The threshold for singular values that loses least.

References
----------
Gavish, Donoho, The optimal hard threshold for singular values is 4/sqrt(3), IEEE Transactions on Information
Theory 2014.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from gramian.criteria.base import Suggestion, Variances, run_length


@lru_cache(maxsize=256)
def optimal_factor(beta: float) -> float:
    """The threshold in units of the median singular value, for a noise level that is not known.

    >>> round(optimal_factor(1.0), 4), round(optimal_factor(0.5), 4)
    (2.8584, 2.1712)
    """
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
    """Components above the optimal threshold; the noise comes from the median, so all variances must be known."""
    name, source, p = "optimal threshold", "Gavish, Donoho 2014", found.limit
    if len(found.values) < p:
        return Suggestion(name, None, source, f"needs all {p:,} variances")
    sides = sorted((found.freedom, found.d))
    singular = np.sqrt(found.leading())
    threshold = optimal_factor(sides[0] / sides[1]) * float(np.median(singular))
    return Suggestion(name, run_length(singular > threshold), source, f"threshold {threshold**2:.4g}")
