"""Columns on one footing."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.foundation import BaseEstimator
from gramian.estimators.validation import all_or_nothing, check_weights, validate
from gramian.operators import Data
from gramian.results import Array, FitSummary


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
    summary_ : FitSummary

    Cost
    ----
    Two passes over the data.

    Examples
    --------
    >>> from gramian import Standardizer
    >>> Standardizer().fit_transform([[1.0, 5.0], [3.0, 5.0]]).round(3).tolist()
    [[-0.707, 0.0], [0.707, 0.0]]
    """

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find means and standard deviations.

        Parameters
        ----------
        X : (n, d) array or data frame
            Rows.
        y : ignored
        sample_weight : (n,) array, optional
            Frequencies of the rows.

        Returns
        -------
        self
        """
        X = validate(self, X, sparse=False, min_samples=2)
        data = Data(X, scale=True, weights=check_weights(sample_weight, X.shape[0]))
        self.mean_, self.scale_ = data.mean, data.scale
        constant = int((data.column_squares == 0).sum())
        facts = {"estimator": "Standardizer", "n": X.shape[0], "d": X.shape[1], "constant_columns": constant}
        size = f"standard deviations {self.scale_.min():.3g} to {self.scale_.max():.3g}"
        note = f"{constant} constant, only centred" if constant else "none constant"
        title = ("Standardizer", f"{X.shape[0]:,} x {X.shape[1]:,}")
        self.summary_ = FitSummary(title, (("columns", f"{size}; {note}"),), facts)
        return self

    def transform(self, X: Any) -> Array:
        """Return rows with the training means and deviations taken out."""
        check_is_fitted(self)
        X = validate(self, X, reset=False, sparse=False)
        return ((X - self.mean_) / self.scale_).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Array:
        """Return standardised rows in their original units."""
        check_is_fitted(self)
        return np.asarray(X) * self.scale_ + self.mean_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
