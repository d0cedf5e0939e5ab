"""Columns on one footing."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base import BaseEstimator, all_or_nothing, by_blocks, planned_fit
from gramian.estimators.fit_rows import read
from gramian.estimators.plans_linear import plan_standardizer
from gramian.estimators.result_tables import ResultTable
from gramian.estimators.summary import SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.validation import Table, check_weights, validate
from gramian.operators import Data
from gramian.operators.matrix import column_sums
from gramian.operators.moments import ColumnSums, has_variance, row_count
from gramian.results import Array


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
    Two passes over the data, one over a stream.

    Examples
    --------
    >>> from gramian import Standardizer
    >>> Standardizer().fit_transform([[1.0, 5.0], [3.0, 5.0]]).round(3).tolist()
    [[-0.707, 0.0], [0.707, 0.0]]
    """

    _plan = plan_standardizer

    @planned_fit
    def fit(self, X: Table, y: object = None, sample_weight: Table | None = None) -> Self:
        """Find means and standard deviations.

        Parameters
        ----------
        X : (n, d) array, data frame or stream (:func:`gramian.rows`)
            Rows.
        y : ignored
        sample_weight : (n,) array, optional
            Frequencies of the rows.
        """
        self.__dict__.pop("moments_", None)
        rows = read(self, X, sample_weight, sparse=False)
        if rows.X is None:
            return self._keep(rows.column_sums())
        data = Data(rows.X, scale=True, weights=rows.weights)
        self.mean_, self.scale_ = data.mean, data.scale
        with np.errstate(over="ignore"):
            squares = np.where(data.column_squares > 0, data.scale, 0) ** 2 * (data.weight - 1)
        if np.isfinite(squares).all():
            self.moments_ = ColumnSums(data.weight, data.mean, squares)  # so that partial_fit may go on from here
        return self._summarize(rows.shape[0], int((data.column_squares == 0).sum()))

    @all_or_nothing
    def partial_fit(self, X: Table, y: object = None, sample_weight: Table | None = None) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` of all of them."""
        seen: ColumnSums | None = getattr(self, "moments_", None)
        if seen is None and hasattr(self, "summary_"):
            raise ValueError("partial_fit cannot go on from this fit, of which no sums were kept. Clone the estimator.")
        X = validate(self, X, sparse=False, reset=seen is None, more=True)
        new = column_sums(X, check_weights(sample_weight, X.shape[0], variance=False))
        self.moments_ = total = new if seen is None else seen + new
        return self._keep(total) if has_variance(total.weight) else self

    def _keep(self, sums: ColumnSums) -> Self:
        if not np.isfinite(sums.squares).all():
            raise ValueError("squares of X leave double precision. Divide the columns by constants.")
        self.moments_, self.mean_, self.scale_ = sums, sums.mean, sums.scale
        return self._summarize(row_count(sums.weight), sums.constant)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "summary_")  # sums of a first row alone are no fit

    def _tables(self, make: TableMaker) -> Makers:
        columns = {"mean": self.mean_, "standard deviation": self.scale_}
        return super()._tables(make) | {"columns": lambda: ResultTable("columns", "column", make.columns, columns)}

    def _summarize(self, n: int, constant: int) -> Self:
        size = f"standard deviations {self.scale_.min():.3g} to {self.scale_.max():.3g}"
        note = f"{constant} constant, only centred" if constant else "none constant"
        write = SummaryBuilder(self, (n, len(self.mean_)), constant_columns=constant)
        self.summary_ = write.line("columns", f"{size}; {note}").done()
        return self

    @by_blocks
    def transform(self, X: Table) -> Array:
        """Return rows with the training means and deviations taken out."""
        check_is_fitted(self)
        X = validate(self, X, reset=False, sparse=False)
        return ((X - self.mean_) / self.scale_).astype(X.dtype, copy=False)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return standardised rows in their original units."""
        check_is_fitted(self)
        return np.asarray(X) * self.scale_ + self.mean_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
