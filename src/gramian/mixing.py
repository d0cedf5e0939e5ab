"""How the methods differ: small matrices to the right of V, as functions of the basis alone.

Nothing here knows data, kernels or scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.lapack import interruptible
from gramian.results import Array, Mix
from gramian.spaces import SingularBasis


def whiten(basis: SingularBasis) -> Mix:
    """Unit variance along every component: diag(lam^-1/2); a component without variance stays at zero."""
    deviations = basis.singular / np.sqrt(basis.n - 1)
    inverse = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
    return Mix(forward=np.diag(inverse), back=np.diag(deviations))


@dataclass(frozen=True)
class Correlated:
    """Canonical directions of two bases: what to put to the right of each V, and the canonical values."""

    x: Array
    y: Array
    values: Array


def correlate(x: Array, y: Array, cross: Array, n: float, ridge: tuple[float, float]) -> Correlated:
    r"""Canonical directions: shrink each basis to unit (ridged) variance, then the SVD of what they have in common.

    Definition
    ----------
    .. math:: D = (s^2/(n-1) + \text{ridge})^{-1/2}, \qquad
              D_x s_x U_x'U_y s_y D_y/(n-1) = A\,\mathrm{diag}(\rho)\,B', \qquad \text{mixes } D_x A,\ D_y B

    with the singular values s of the two bases, x (a,) and y (b,), all positive; ``cross`` (a, b) is ``U_x'U_y``, and n
    counts the rows.
    """
    Dx, Dy = (1 / np.sqrt(s**2 / (n - 1) + r) for s, r in zip((x, y), ridge, strict=True))
    M = (Dx * x)[:, None] * cross * (Dy * y) / (n - 1)
    A, values, Bt = interruptible(np.linalg.svd, M, full_matrices=False)
    return Correlated(Dx[:, None] * A, Dy[:, None] * Bt.T, np.clip(values, 0.0, 1.0))
