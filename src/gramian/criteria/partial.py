"""Velicer's minimum average partial."""

from __future__ import annotations

import numpy as np

from gramian.criteria.base import Suggestion, Variances
from gramian.results import Array

#: Components taken out at the most: beyond, the criterion has long turned.
MOST = 50


def average_partials(found: Variances) -> Array:
    """Mean squared partial correlation of two columns with the first 0, 1, ... components taken out."""
    V, values = found.directions, found.leading() / found.total  # squares of tiny variances would vanish
    C = (V * (found.values / found.total)) @ V.T
    averages = []
    for k in range(min(len(values), found.d - 1, MOST)):
        spread = np.diag(C)
        if (spread <= 1e-12 * found.columns / found.total).any():
            break
        inverse = 1 / spread
        averages.append((float(inverse @ np.square(C) @ inverse) - found.d) / (found.d * (found.d - 1)))
        C -= np.outer(values[k] * V[:, k], V[:, k])
    return np.array(averages)


def velicer(found: Variances) -> Suggestion:
    """The number of components that leaves the least partial correlation; needs all variances.

    References
    ----------
    Velicer, Determining the number of components from the matrix of partial correlations, Psychometrika 1976.
    """
    name, source = "minimum average partial", "Velicer 1976"
    if len(found.values) < found.limit or found.d < 2:
        return Suggestion(name, None, source, "needs all variances of two columns or more")
    averages = average_partials(found)
    k = int(np.argmin(averages))
    return Suggestion(name, k, source, f"mean squared partial correlation {averages[k]:.3g}")
