"""What columns have to do with each other: their spread, and how to even it out."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.operators import Data
from gramian.results import Array
from gramian.tables.table import Table

#: Standard deviations this many times apart are units that differ, not columns that matter more.
UNEVEN = 1000


def uneven_columns(table: Table, factor: float = UNEVEN) -> str:
    """Say by how much the standard deviations of columns differ, if by more than ``factor``; else nothing."""
    data = Data(table.values)
    deviations = np.sqrt(data.column_squares / max(data.n - 1, 1))
    varying = np.flatnonzero(deviations * data.unit > 10 * np.finfo(np.float64).eps * np.abs(data.mean))
    if len(varying) == 0:
        return ""
    low, high = (varying[pick(deviations[varying])] for pick in (np.argmin, np.argmax))
    ratio = deviations[high] / deviations[low]
    if ratio <= factor:
        return ""
    return (
        f"standard deviations of columns differ by a factor of {ratio:,.0f} "
        f"(from {table.columns[low]!r} to {table.columns[high]!r}), so the largest decide the result"
    )


class Standardizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    r"""Columns with mean zero and standard deviation one, by the rule of ``PCA(scale=True)``.

    Definition
    ----------
    .. math:: z_j = (x_j - \mu_j) / s_j, \qquad s_j^2 = \tfrac{1}{n-1} \sum_i (x_{ij} - \mu_j)^2

    The divisor is n - 1 (scikit-learn's ``StandardScaler`` has n). Constant columns are only centred.

    Attributes
    ----------
    mean_, scale_ : (d,) arrays
        What is subtracted from and divided out of the columns.

    Cost
    ----
    Two passes over the data.

    Examples
    --------
    >>> from gramian.tables import Standardizer
    >>> Standardizer().fit_transform([[1.0, 5.0], [3.0, 5.0]]).round(3).tolist()
    [[-0.707, 0.0], [0.707, 0.0]]
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find means and standard deviations.

        Parameters
        ----------
        X : (n, d) array
            Rows.
        y : ignored

        Returns
        -------
        self
        """
        data = Data(validate_data(self, X, dtype=np.float64), scale=True)
        self.mean_, self.scale_ = data.mean, data.scale
        return self

    def transform(self, X: Any) -> Array:
        """Return rows with the training means and deviations taken out."""
        check_is_fitted(self)
        return (validate_data(self, X, reset=False, dtype=np.float64) - self.mean_) / self.scale_
