"""What methods of two views share: reading both, scores of either, and one view predicted from the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base import Clock
from gramian.estimators.base_estimator import all_or_nothing, as_fitted, planned_fit
from gramian.estimators.streams import by_blocks
from gramian.estimators.two_blocks import (
    BlockInput,
    Blocks,
    Filler,
    Scaled,
    complete_rows,
    gather,
    gather_more,
    read_targets,
)
from gramian.projection import LinearProjection
from gramian.results import Array
from gramian.solvers.dense import pinned_if_small


class TwoViews(BlockInput, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ABC):
    """Scores of rows of two views through ``x_projection_`` and ``y_projection_``."""

    x_projection_: LinearProjection
    y_projection_: LinearProjection
    filler_: Filler | None

    @planned_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the pairs of directions.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            One view.
        y : (n, q) array, data frame, sparse matrix or stream
            The other view of the same rows; not needed if the stream X has ``y_columns``.
        sample_weight : (n,) array, optional
            Frequencies: a row of weight 2 counts as two rows.

        Returns
        -------
        self
        """
        clock = Clock()
        return self._pair(gather(self, X, y, sample_weight, name="Y"), clock)

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` of all of them."""
        clock = Clock()
        blocks = gather_more(self, X, y, sample_weight, name="Y")
        return self if blocks is None else self._pair(blocks, clock)

    def _pair(self, blocks: Blocks, clock: Clock) -> Self:
        views = blocks.views.rows
        with pinned_if_small(views.size * min(views.shape)):
            return self._find(blocks, clock)

    @abstractmethod
    def _find(self, blocks: Blocks, clock: Clock) -> Self:
        """Find the pairs and set the fitted attributes."""

    @by_blocks
    def transform(self, X: Any, Y: Any = None) -> Any:
        """Return the scores of rows of X; with Y, a pair: those of X and those of Y."""
        check_is_fitted(self)
        X = complete_rows(self, X)
        scores = self.x_projection_.scores(X).astype(X.dtype, copy=False)
        return scores if Y is None else (scores, self._y_scores(Y, len(scores)))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> tuple[Array, Array]:
        """Fit, and return the scores of both views."""
        return self.fit(X, y, sample_weight).transform(X, y)

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Return Y as predicted from X through the components: least squares on the scores."""
        check_is_fitted(self)
        guesses = self.x_projection_.scores(complete_rows(self, X)) @ self.y_from_x_ + self.y_mean_
        return guesses[:, 0] if self._single else guesses

    def predict_x(self, Y: Any) -> Array:
        """Return X as predicted from Y through the components."""
        check_is_fitted(self)
        rows = self._second(Y, np.shape(Y)[0] if np.ndim(Y) else 1)
        return self.y_projection_.scores(rows) @ self.x_from_y_ + self.x_mean_

    def _y_scores(self, Y: Any, n: int) -> Array:
        return self.y_projection_.scores(self._second(Y, n))

    def _second(self, Y: Any, n: int) -> Any:
        """Check rows of the second view; expect what they lack under the model of the fit."""
        filler = None if as_fitted(self, "missing") is None else self.filler_
        rows, d = read_targets(Y, n, "Y", missing=filler is not None, fitted=True).values, len(self.y_mean_)
        if rows.shape[1] != d:
            raise ValueError(f"Y has {rows.shape[1]} columns, but {type(self).__name__} was fitted with {d} of them.")
        return filler.fill_second(rows) if filler is not None and np.isnan(rows).any() else rows

    def _keep_projections(self, scaled: Scaled, Wx: Array, Wy: Array) -> None:
        """Set projections and predictions from weights of scaled columns."""
        self.x_mean_, self.y_mean_ = scaled.x_mean, scaled.y_mean
        self.x_scale_, self.y_scale_ = scaled.x_scale, scaled.y_scale
        Tx, Ty = scaled.A @ Wx, scaled.B @ Wy
        ratio = scaled.y_unit / scaled.x_unit
        back_x, back_y = _on(Tx, scaled.A) * scaled.x_scale, _on(Ty, scaled.B) * scaled.y_scale
        self.x_projection_ = LinearProjection(scaled.x_mean, Wx / scaled.x_scale[:, None], back_x)
        self.y_projection_ = LinearProjection(scaled.y_mean, Wy / scaled.y_scale[:, None], back_y)
        self.y_from_x_ = _on(Tx, scaled.B) * scaled.y_scale * ratio
        self.x_from_y_ = _on(Ty, scaled.A) * scaled.x_scale / ratio
        self.coef_ = (self.x_projection_.weights @ self.y_from_x_).T
        self.intercept_ = scaled.y_mean - self.coef_ @ scaled.x_mean

    @property
    def _n_features_out(self) -> int:
        return self.x_projection_.size


def _on(T: Array, B: Array) -> Array:
    """Coefficients of B on scores T, of least norm."""
    return np.linalg.lstsq(T, B, rcond=None)[0]
