"""What pictures and bootstrap draws read from a fit: coordinates of columns, values and entries of components."""

from __future__ import annotations

from dataclasses import dataclass, field

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


@dataclass(frozen=True)
class Reading:
    """Numbers of a fit that a draw gives too.

    ``values`` has one number of this ``kind`` (see :data:`gramian.selection.trust_bootstrap.SCALES`) for each
    component, ``what`` says what they are; ``vectors`` are the entries of the components, called ``entries`` if there
    are any, of which the last ``second`` are of a second view. Entries may be ``bounded`` by -1 and 1. If the
    components are ``free``, any rotation says the same, and all are turned together. ``spans``: the vectors are a basis
    of what the components span. ``ordered``: values that are nearly equal leave their components undetermined.
    ``of_columns``: values are variances of linear components of the columns, so that the influence of each row on them
    is known.
    """

    values: Array
    kind: str
    what: str
    vectors: Array = field(default_factory=lambda: np.empty((0, 0)))
    entries: str = ""
    bounded: bool = False
    free: bool = False
    second: int = 0
    spans: bool = True
    ordered: bool = False
    of_columns: bool = False
