"""What a fit warns of. Each warning says what was done; the summary says it again."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import sklearn
import sklearn.exceptions

#: Frames of these packages are not the place a user wants to be pointed to.
LIBRARY_FOLDERS = tuple(str(Path(file).parent) for file in (sklearn.__file__, str(Path(__file__).parent)))


class GramianWarning(UserWarning):
    """Parent of all warnings of this library.

    Examples
    --------
    >>> import warnings
    >>> from gramian import GramianWarning, PLSRegression
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", GramianWarning)
    ...     PLSRegression(5).fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 3.0]).n_components_
    1
    """


class RankWarning(GramianWarning):
    """The data have fewer dimensions than components were asked for.

    Examples
    --------
    >>> import warnings
    >>> from gramian import PLSRegression
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = PLSRegression(5).fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 3.0])
    >>> caught[0].category.__name__, model.n_components_
    ('RankWarning', 1)
    """


class IndefiniteKernelWarning(GramianWarning):
    """The kernel matrix has negative eigenvalues; the message says what was done about them.

    Examples
    --------
    >>> import warnings
    >>> from gramian import KernelPCA
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = KernelPCA(1, kernel="sigmoid(constant=-1)").fit([[0.0], [1.0], [2.0], [-1.0]])
    >>> caught[0].category.__name__
    'IndefiniteKernelWarning'
    """


class ConvergenceWarning(GramianWarning, sklearn.exceptions.ConvergenceWarning):
    """An iteration stopped before it reached its tolerance; the residuals say how far it came.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import load_iris
    >>> from gramian import ProbabilisticPCA
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = ProbabilisticPCA(2, method="em", max_iter=3).fit(load_iris().data)
    >>> caught[0].category.__name__
    'ConvergenceWarning'
    """


class HeywoodWarning(GramianWarning):
    """A column has next to no variance of its own: its uniqueness is held by the bound.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from gramian import FactorAnalysis
    >>> R = np.array([[1.0, 0.9, 0.8], [0.9, 1.0, 0.5], [0.8, 0.5, 1.0]])
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = FactorAnalysis(1).fit_correlation(R, 100)
    >>> caught[0].category.__name__, float(model.uniquenesses_.min().round(3))
    ('HeywoodWarning', 0.005)
    """


class SubGaussianWarning(GramianWarning):
    """A source has lighter tails than a Gaussian; the model of heavy tails does not separate such sources.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from gramian import ICA
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = ICA().fit(X)
    >>> caught[0].category.__name__
    'SubGaussianWarning'
    """


def warn(message: str, category: type[GramianWarning]) -> None:
    """Warn, pointing at the caller's line rather than at one of ours."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(LIBRARY_FOLDERS):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
