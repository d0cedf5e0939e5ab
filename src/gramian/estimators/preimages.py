"""The way back from kernel scores to rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base_estimator import as_fitted
from gramian.estimators.warnings import GramianWarning, warn
from gramian.kernels import Kernel
from gramian.kernels.waves import Waves
from gramian.operators.centering import uncentred
from gramian.preimage import PreImage, check_method, preimage
from gramian.preimage.search import numbers
from gramian.results import Array


class PreImages:
    """Rows for scores of kernel components, and how near in feature space they come."""

    preimage: str | None
    kernel_: Kernel
    projection_: Any
    eigenvalues_: Array

    def inverse_transform(self, X: Any) -> Array:
        """Return rows whose features are near the points with the scores ``X``.

        Most points of a feature space are the features of no row; :meth:`reconstruct` also says how near these come.

        Parameters
        ----------
        X : (m, k) array
            Scores.

        Returns
        -------
        (m, d) array
            float32 for float32 scores, float64 otherwise. Where no row is near (scores of a row that resembles no
            training row), the nearest training row, with a warning.
        """
        found = self.reconstruct(X)
        if found.fallbacks:
            warn(
                f"{found.fallbacks} of {len(found.points)} points have no pre-image: they resemble no training row. "
                "Their nearest training rows in feature space stand in.",
                GramianWarning,
            )
        return found.points.astype(np.float32 if _is_narrow(X) else np.float64, copy=False)

    def reconstruct(self, X: Any) -> PreImage:
        r"""Find rows for scores, and say how near in feature space they come.

        Definition
        ----------
        .. math:: P = \bar\phi + \sum_k t_k v_k, \qquad x = \arg\min_x \|\phi(x) - P\|

        Parameters
        ----------
        X : (m, k) array
            Scores t.

        Returns
        -------
        PreImage
            Rows ``points``, distances ``residuals``, the ``methods`` that found them, and how many ``fallbacks``.
        """
        check_is_fitted(self)
        scores, k = numbers(X, "X"), len(self.eigenvalues_)
        if scores.ndim != 2 or scores.shape[1] != k:
            raise ValueError(f"X has shape {scores.shape}; scores of {k} components, m x {k}, are expected.")
        method = as_fitted(self, "preimage") or "auto"
        self._check_preimage(self.kernel_, method, random=isinstance(self.projection_.kernel, Waves))
        mean = getattr(self.projection_, "mean", None)
        weights, coordinates = uncentred(self.projection_.coefficients, scores, mean)
        far = self._resembles_nothing(scores, narrow=_is_narrow(X))
        found = preimage(
            self.kernel_, self.projection_.anchors, weights, coordinates=coordinates, method=method, far=far
        )
        origin = getattr(self.projection_, "origin", None)
        return found if origin is None else replace(found, points=found.points + origin)

    def _check_preimage(self, kernel: Kernel, method: str, *, random: bool) -> None:
        if random:
            raise ValueError(
                f"preimage={method!r}: random features have no pre-images, for no rows stand behind them. Use "
                "Landmarks."
            )
        check_method(kernel, method)

    def _resembles_nothing(self, scores: Array, *, narrow: bool) -> Array:
        """Whether scores are those of a row with no similarity to any training row: what is left is the offset."""
        offset = self.projection_.offset
        size = np.abs(offset).max()
        if size <= 1e-6 * np.sqrt(self.eigenvalues_[0] / len(self.projection_.coefficients)):
            return np.zeros(len(scores), dtype=bool)  # the mean has these scores too
        precision = np.finfo(np.float32 if narrow else np.float64).eps ** 0.5
        return (np.abs(scores - offset) <= precision * size).all(axis=1)


def _is_narrow(scores: Any) -> bool:
    """Whether scores are in single precision."""
    return bool((scores if hasattr(scores, "dtype") else np.asarray(scores)).dtype == np.float32)
