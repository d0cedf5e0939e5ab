r"""The edge of noise: the largest variance that columns without any correlation would show.

Random matrix theory knows it from the variances :math:`t_j` of the columns alone, so nothing has to be permuted. With
N = n - 1 and :math:`u` in :math:`(0, 1/\max t)`,

.. math:: z(u) = \frac1u + \frac1N \sum_j \frac{t_j}{1 - t_j u}, \qquad \text{edge} = \min_u z(u) = z(c), \qquad
          s = \frac{1}{N^{2/3} c} \Big(1 + \frac1N \sum_j \Big(\frac{t_j c}{1 - t_j c}\Big)^3\Big)^{1/3}

and the largest variance of noise is about edge + s T, where T has the law of Tracy and Widom.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from gramian.criteria.spectrum import Suggestion, Variances, run_length
from gramian.results import Array
from gramian.spaces import LinearSpace, MomentSpace
from gramian.spaces.linear import StreamSpace

__all__ = ["deflated", "deterministic", "stands_out"]

#: Quantiles of the law of Tracy and Widom for real data (Johnstone, Annals of Statistics 2001): chance above -> value.
_TRACY_WIDOM = {0.1: 0.4501, 0.05: 0.9793, 0.01: 2.0234}
#: Chance at which a component counts.
_CHANCE_LEVEL = 0.05
#: Least weight of a column: components that hold nearly all of it leave too little to be judged by.
_COLUMN_MIN_WEIGHT = 0.05
#: Components looked at first.
DEFLATED_FIRST_COMPONENTS = 64
DEFLATED = "deflated parallel analysis"


class Edge(NamedTuple):
    """Where the variances of noise end, and the scale of the chance about it."""

    place: float
    spread: float

    def quantile(self, level: float) -> float:
        """What noise passes with the chance ``level``."""
        return self.place + self.spread * _TRACY_WIDOM[level]


def noise_edge(columns: Array, freedom: float, weights: Array | None = None) -> Edge:
    """Edge of the variances of uncorrelated columns; a weight below one is for a column that is only partly there."""
    unit = float(columns.max())
    t, w = columns / unit, np.ones(len(columns)) if weights is None else weights

    def slope(u: float) -> float:
        return float(u * u * np.sum(w * (t / (1 - t * u)) ** 2) / freedom - 1)

    end = 1 - 1e-9
    c = brentq(slope, 0.0, end, xtol=1e-14) if slope(end) > 0 else end
    steep = t * c / (1 - t * c)
    place = (1 + (w * steep).sum() / freedom) / c
    spread = (1 + (w * steep**3).sum() / freedom) ** (1 / 3) / c / freedom ** (2 / 3)
    return Edge(unit * float(place), unit * float(spread))


def deterministic(found: Variances) -> Suggestion:
    """Components above the edge of uncorrelated columns as varied as these (Dobriban, Owen, JRSS B 2019)."""
    edge = noise_edge(found.columns, found.freedom)
    k = run_length(found.leading() > edge.place)
    return Suggestion("deterministic parallel analysis", k, "Dobriban, Owen 2019", f"edge {edge.place:.4g}")


def deflated(found: Variances, level: float = _CHANCE_LEVEL) -> Suggestion:
    r"""Take components out one by one, as long as the next is beyond what the noise that is left would show by chance.

    .. math:: p_j = 1 - \sum_{i \le k} v_{ij}^2, \qquad
              t_j \propto \Big(c_{jj} - \sum_{i \le k} \lambda_i v_{ij}^2\Big) / p_j, \qquad
              \sum_j p_j t_j = (d - k) \hat\sigma^2

    are the weights and variances of the noise in the columns after k components; they are drawn to their mean by as
    much as chance has driven them apart, and give the edge that component k + 1 must pass. Components also hold some of
    the noise: :math:`\hat\sigma^2` gives it back.

    References: Dobriban, Owen 2019 (deflation); Kritchman, Nadler, Chemometrics and Intelligent Laboratory Systems 2008
    (the noise given back); El Karoui, Annals of Probability 2007 (the chance).
    """
    source = "Dobriban, Owen 2019; Kritchman, Nadler 2008"
    if found.d == 0:
        return Suggestion(DEFLATED, 0, source, "zero variance")
    values, most = found.leading(), min(len(found.values), found.limit - 1)
    left, weights, k = found.columns.copy(), np.ones(found.d), 0
    limit = _chance(left, weights, found.freedom, level)
    while k < most and values[k] > limit:
        part = found.directions[:, k] ** 2
        left, weights = np.maximum(left - values[k] * part, 0.0), np.maximum(weights - part, _COLUMN_MIN_WEIGHT)
        k += 1
        noise = noise_variance(values[:k], found.total, found.d, found.freedom)
        t = left / weights
        if not (weights @ t > 1e-12 * found.total and noise > 0):
            break  # nothing is left: all that could be found was
        limit = _chance(t * (noise * (found.d - k) / (weights @ t)), weights, found.freedom, level)
    detail = f"edge {limit:.4g}" + (f", next {values[k]:.4g}" if k < len(values) else "")
    return Suggestion(DEFLATED, k, source, detail)


def stands_out(space: LinearSpace | MomentSpace | StreamSpace) -> Suggestion:
    """Count components by :func:`deflated`, in columns of one size.

    Noise of its own in every column is noise in any units, so the number does not depend on them; in columns of one
    size none can hide the others. A few components are looked at, and more while all of them stand out.
    """
    columns = space.standardized()
    asked = min(DEFLATED_FIRST_COMPONENTS, columns.limit)
    while True:
        said = deflated(Variances.of(columns.basis(asked)))
        if asked == columns.limit or said.k is None or said.k < asked:
            return said
        asked = min(4 * asked, columns.limit)


def _chance(t: Array, weights: Array, freedom: float, level: float) -> float:
    """What the largest variance of noise passes with the chance ``level``."""
    mean = float(np.average(t, weights=weights))
    spread = float(np.average((t - mean) ** 2, weights=weights))
    # A variance of N degrees of freedom is off by 2 t^2 / N: that much of the spread says nothing of the columns.
    by_chance = 2 * float(np.average(t**2, weights=weights)) / freedom
    if spread > 0:
        t = mean + (t - mean) * max(0.0, 1 - by_chance / spread)
    return noise_edge(t, freedom, weights).quantile(level)


def noise_variance(values: Array, total: float, d: int, freedom: float) -> float:
    r"""Variance of the noise beside leading components, without the noise that they hold.

    .. math:: \hat\sigma^2 = \frac{1}{d-k} \Big(\mathrm{tr}\,C - \sum_{i \le k} \ell_i\Big), \qquad
              \lambda_i = \ell_i \Big(1 + \frac{d - k}{N} \frac{\hat\sigma^2}{\ell_i - \hat\sigma^2}\Big)
    """
    k = len(values)
    noise = plain = max(total - float(values.sum()), 0.0) / (d - k)
    for _ in range(50):  # a contraction: it settles in a few steps
        half = (values + noise - noise * (d - k) / freedom) / 2
        true = half + np.sqrt(np.maximum(half**2 - values * noise, 0.0))
        following = max(plain, (total - float(np.minimum(true, values).sum())) / (d - k))
        if abs(following - noise) <= 1e-10 * noise:
            break
        noise = following
    return noise
