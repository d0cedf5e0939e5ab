"""Coordinates of columns along components, as pictures draw them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator

from gramian.results import Array


@dataclass(frozen=True)
class ColumnVectors:
    """A row of numbers for each column."""

    values: Array  #: (p, K): coordinates of columns; those of a second view after those of the first
    what: str  #: What the numbers are
    correlations: bool  #: Whether they are correlations of columns with scores, which lie in the unit circle
    #: (p, K): what gives, or rebuilds, a row: the numbers to draw as lines over the channels of a spectrum
    weights: Array
    weights_are: str
    second: int = 0  #: How many of the p columns are of a second view


def vectors_of_directions(estimator: BaseEstimator) -> ColumnVectors | None:
    """Coordinates of columns from ``components_``, as estimators of other libraries have them too."""
    W = getattr(estimator, "components_", None)
    if W is None or not isinstance(W, np.ndarray):
        return None
    variances = getattr(estimator, "explained_variance_", None)
    values = W.T if variances is None else W.T * np.sqrt(variances)
    return ColumnVectors(values, "weight" if variances is None else "loading", False, W.T, "weight")
