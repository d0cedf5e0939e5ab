r"""Probabilistic PCA: a Gaussian whose covariance is a few directions and noise, the same in all others.

.. math:: x = W u + \mu + \varepsilon, \qquad C = WW' + \sigma^2 I

Everything is written in the eigenbasis of ``WW'``, where C is diagonal; so the noise may go to zero without a division.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.results import Array
from gramian.solvers.eigen import orient


@dataclass(frozen=True)
class Isotropic:
    """A Gaussian with covariance ``V diag(variances) V' + noise (I - VV')``.

    Attributes
    ----------
    mean : (d,) array
    directions : (d, k) array
        V, orthonormal.
    variances : (k,) array
        Along V, descending, each at least ``noise``.
    noise : float
        In all directions across V.
    """

    mean: Array
    directions: Array
    variances: Array
    noise: float

    @property
    def loadings(self) -> Array:
        """W, d x k: ``V (L - s2 I)^1/2``."""
        return self.directions * np.sqrt(np.maximum(self.variances - self.noise, 0.0))

    def covariance(self) -> Array:
        """C, d x d."""
        d = len(self.mean)
        return (self.directions * (self.variances - self.noise)) @ self.directions.T + self.noise * np.eye(d)

    def log_determinant(self) -> float:
        """``log |C|``."""
        rest = len(self.mean) - len(self.variances)
        return float(np.log(self.variances).sum() + (rest * np.log(self.noise) if rest else 0.0))

    def log_density(self, X: Array) -> Array:
        """Log-density of rows."""
        A = X - self.mean
        T = A @ self.directions
        squares = (T**2 / self.variances).sum(axis=1)
        if A.shape[1] > len(self.variances):
            across = A - T @ self.directions.T  # from the difference itself: |a|^2 - |t|^2 would cancel
            squares += (across**2).sum(axis=1) / self.noise
        return -0.5 * (A.shape[1] * np.log(2 * np.pi) + self.log_determinant() + squares)

    def posterior_weights(self) -> Array:
        """Matrix that takes centred rows to posterior means: ``V diag(sqrt(lam - s2) / lam)``, d x k."""
        return self.directions * (np.sqrt(np.maximum(self.variances - self.noise, 0.0)) / self.variances)

    def posterior_covariance(self) -> Array:
        """``s2 (W'W + s2 I)^-1``, k x k, the same for every row."""
        return np.diag(self.noise / self.variances)


def from_spectrum(mean: Array, directions: Array, values: Array, total: float) -> Isotropic:
    """Closed-form maximum likelihood from the leading eigenpairs of S and its trace."""
    d, k = directions.shape
    noise = max(0.0, total - float(values.sum())) / (d - k) if d > k else 0.0
    return Isotropic(mean, directions, np.maximum(values, noise), noise)


def from_loadings(mean: Array, W: Array, noise: float) -> Isotropic:
    """The same Gaussian from any W; a rotation of W changes nothing, so it is turned to its singular directions."""
    V, s, _ = np.linalg.svd(W, full_matrices=False)
    return Isotropic(mean, V * orient(V), s**2 + noise, noise)


def expectation_maximisation(S: Array, W: Array, noise: float) -> tuple[Array, float]:
    r"""One EM step, which needs no rows: their sums enter through S alone.

    Definition
    ----------
    .. math:: M = W'W + \sigma^2 I, \quad W^+ = S W (\sigma^2 I + M^{-1} W' S W)^{-1}, \quad
              \sigma^{2+} = \tfrac1d \mathrm{tr}(S - S W M^{-1} W^{+\prime})
    """
    k = W.shape[1]
    SW = S @ W
    M_inverse = np.linalg.inv(W.T @ W + noise * np.eye(k))
    following = SW @ np.linalg.inv(noise * np.eye(k) + M_inverse @ (W.T @ SW))
    return following, float((np.trace(S) - np.sum((SW @ M_inverse) * following)) / len(S))


def total_log_likelihood(model: Isotropic, S: Array, weight: float) -> float:
    """Log-likelihood of rows with covariance S (divisor: their weight) about the model's mean."""
    projected = np.einsum("ij,jk,ki->i", model.directions.T, S, model.directions)
    fit = float((projected / model.variances).sum())
    if len(S) > len(model.variances):
        fit += max(0.0, float(np.trace(S) - projected.sum())) / model.noise
    return float(-0.5 * weight * (len(S) * np.log(2 * np.pi) + model.log_determinant() + fit))
