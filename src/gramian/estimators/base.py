"""After-fit behaviour shared by estimators that project: transform, inverse, names of the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.streams import by_blocks
from gramian.estimators.validation import Table, validate
from gramian.results import Array, Seed


class ProjectionTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Scores of new rows through the fitted ``projection_``."""

    projection_: Any

    @by_blocks
    def transform(self, X: Table) -> Array:
        """Return the scores of rows.

        Parameters
        ----------
        X : (m, d) array, data frame, sparse matrix or stream
            New rows.

        Returns
        -------
        (m, k) array
            float32 for float32 rows, float64 otherwise; computed in double precision. Of a stream, a stream.
        """
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        return self.projection_.scores(X).astype(X.dtype, copy=False)

    def _inverse(self, X: ArrayLike, what: str) -> Array:
        """Rows that have the scores ``X``, in their precision; ``what`` names the scores in a message."""
        check_is_fitted(self)
        scores, k = np.asarray(X), self.projection_.size
        if scores.ndim != 2 or scores.shape[1] != k:
            raise ValueError(f"X has shape {scores.shape}; {what.format(k=k)}, m x {k}, are expected.")
        rows = self.projection_.inverse(scores)
        return rows.astype(scores.dtype if scores.dtype == np.float32 else np.float64, copy=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "projection_")  # moments of a first row alone are no fit

    @property
    def _n_features_out(self) -> int:
        return self.projection_.size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags


def random_generator(random_state: Seed) -> np.random.Generator:
    """Take scikit-learn's ways of giving a seed; None means a fixed one: the same data give the same bits."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(0 if random_state is None else random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state={random_state!r} must be a whole number of 0 or more, a random generator, or None."
        ) from None
