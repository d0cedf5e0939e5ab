"""What a fit warns of. Each warning says what was done; the summary says it again."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import sklearn
import sklearn.exceptions

#: Frames of these packages are not the place a user wants to be pointed to.
INSIDE = tuple(str(Path(file).parent) for file in (sklearn.__file__, str(Path(__file__).parent)))


class GramianWarning(UserWarning):
    """Parent of all warnings of this library."""


class RankWarning(GramianWarning):
    """The data have fewer dimensions than components were asked for."""


class IndefiniteKernelWarning(GramianWarning):
    """The kernel matrix has negative eigenvalues; the message says what was done about them."""


class ConvergenceWarning(GramianWarning, sklearn.exceptions.ConvergenceWarning):
    """An iteration stopped before it reached its tolerance; the residuals say how far it came."""


class HeywoodWarning(GramianWarning):
    """A column has next to no variance of its own: its uniqueness is held by the bound."""


class SubGaussianWarning(GramianWarning):
    """A source has lighter tails than a Gaussian; the model of heavy tails does not separate such sources."""


def warn(message: str, category: type[GramianWarning]) -> None:
    """Warn, pointing at the caller's line rather than at one of ours."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
