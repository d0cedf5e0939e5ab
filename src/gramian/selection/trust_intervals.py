"""Intervals from draws: estimates, their standard errors, and limits on the scale where draws are symmetric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special
import scipy.stats

from gramian.results import Array

#: Share of the estimate below which a draw counts as that share.
LEAST = 1e-6
Scale = Callable[[Array], Array]
#: Kind of number -> scale on which it varies evenly, and the way back.
SCALES: dict[str, tuple[Scale, Scale]] = {
    "positive": (np.log, np.exp),
    "share": (lambda x: scipy.special.logit(np.clip(x, 1e-12, 1 - 1e-12)), scipy.special.expit),
    "correlation": (lambda x: np.arctanh(np.clip(x, -1 + 1e-12, 1 - 1e-12)), np.tanh),
    "signed": (lambda x: x, lambda x: x),
}


@dataclass(frozen=True)
class Band:
    """Estimates with standard errors and limits, arrays of one shape."""

    estimate: Array
    error: Array
    low: Array
    high: Array

    def differs_from_zero(self) -> Array:
        """Whether zero is outside the limits."""
        return (self.low > 0) | (self.high < 0)

    def to_dict(self) -> dict[str, Any]:
        """The same as lists."""
        return {name: np.asarray(getattr(self, name)).tolist() for name in ("estimate", "error", "low", "high")}


def band(estimate: Array, draws: Array, kind: str, level: float) -> Band:
    r"""Limits from bootstrap draws.

    Definition
    ----------
    .. math:: g^{-1}\bigl(g(\hat\theta) - b \pm z\,s\bigr), \qquad b = \bar g^* - g(\hat\theta), \quad
              s = \mathrm{sd}(g^*)

    with g the logarithm of what is positive, the logit of a share, Fisher's transform of a correlation. The bias b is
    taken off those: leading eigenvalues and correlations are too large in every draw. Entries of a direction are
    aligned to the estimate, and have none to take off.

    Parameters
    ----------
    estimate : array
    draws : (B, ...) array
    kind : str
        One of :data:`SCALES`.
    level : float
        Probability that the limits are to hold the truth with.
    """
    forth, back = SCALES[kind]
    if kind == "positive":  # a draw may lack what only a few rows have; a component without variance has no logarithm
        nothing = estimate <= 0
        estimate, draws = np.where(nothing, 0.0, estimate), np.where(nothing, 0.0, draws)
        floor = np.where(nothing, 1.0, LEAST * estimate)
        found = _band(np.maximum(estimate, floor), np.maximum(draws, floor), forth, back, kind, level)
        return Band(
            estimate, draws.std(axis=0, ddof=1), *(np.where(nothing, 0.0, end) for end in (found.low, found.high))
        )
    return _band(estimate, draws, forth, back, kind, level)


def _band(estimate: Array, draws: Array, forth: Scale, back: Scale, kind: str, level: float) -> Band:
    at, moved = forth(estimate), forth(draws)
    half = scipy.stats.norm.isf((1 - level) / 2) * moved.std(axis=0, ddof=1)
    middle = at if kind == "signed" else 2 * at - moved.mean(axis=0)
    return Band(estimate, draws.std(axis=0, ddof=1), back(middle - half), back(middle + half))


def band_from_error(estimate: Array, error: Array, level: float) -> Band:
    """Limits of positive numbers from their standard errors, symmetric as logarithms."""
    relative = np.divide(error, estimate, out=np.zeros_like(error), where=estimate > 0)
    factor = np.exp(scipy.stats.norm.isf((1 - level) / 2) * relative)
    return Band(estimate, error, estimate / factor, estimate * factor)
