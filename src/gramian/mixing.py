"""How the methods differ: small matrices to the right of V, as functions of the basis alone.

Nothing here knows data, kernels or scikit-learn.
"""

from __future__ import annotations

import numpy as np

from gramian.results import Mix
from gramian.spaces import SingularBasis


def identity(basis: SingularBasis) -> Mix:
    """Scores as they are: I."""
    return Mix(forward=np.eye(basis.rank), back=np.eye(basis.rank))


def whiten(basis: SingularBasis) -> Mix:
    """Unit variance along every component: diag(lam^-1/2); a component without variance stays at zero."""
    deviations = basis.singular / np.sqrt(basis.n - 1)
    inverse = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
    return Mix(forward=np.diag(inverse), back=np.diag(deviations))
