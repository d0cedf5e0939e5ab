"""A ridge map from the feature space to rows, learned from the training rows themselves."""

from __future__ import annotations

import numpy as np

from gramian.lapack import interruptible
from gramian.operators.centering import centre_columns, column_means
from gramian.preimage.points import FeaturePoints, dense
from gramian.results import Array
from gramian.solvers.dense import pinned_if_small

#: Ridges tried, relative to the largest eigenvalue; the leave-one-out error decides.
RIDGES = 10.0 ** np.arange(-12, 1)
#: Training rows, evenly spread, whose errors decide.
JUDGES = 2_000


def learned(points: FeaturePoints) -> Array:
    r"""Rows by the linear map of the feature space that gives the training rows back best.

    Definition
    ----------
    .. math:: \hat x = \bar x + W'(z - \bar z), \qquad
              W = \arg\min \|X_c - Z_c W\|^2 + \rho \|W\|^2

    with z the coordinates of a point in an orthonormal basis of the span of the directions. The ridge :math:`\rho`
    with the smallest leave-one-out error is taken.

    Cost
    ----
    ``n q (q + d)`` multiplications and an eigenproblem of size q.

    References
    ----------
    Bakir, Weston, Schoelkopf, Learning to find pre-images, NIPS 2004.
    """
    X, basis = points.anchors, _orthonormal(points.metric)
    F, mean = points.images @ basis, column_means(points.anchors)
    with pinned_if_small(F.shape[0] * F.shape[1] ** 2):
        Fc = centre_columns(F)
        g, Q = interruptible(np.linalg.eigh, Fc.T @ Fc)
        Z, g = Fc @ Q, np.maximum(g, 0)
        T = np.asarray((X.T @ Z).T)  # Z'X is Z'Xc, for the columns of Z sum to zero
        judges = np.linspace(0, points.n - 1, min(points.n, JUDGES)).astype(int)
        ridge = _best_ridge(Z[judges], g, T, dense(X[judges]) - mean, points.n)
        new = (points.coordinates @ (points.metric @ basis) - F.mean(axis=0)) @ Q
        return mean + new @ (T / (g + ridge)[:, None])


def _orthonormal(metric: Array) -> Array:
    """Coefficients of an orthonormal basis of the span: ``E'ME = I``, without the null space of ``M``."""
    values, vectors = interruptible(np.linalg.eigh, metric)
    kept = values > len(values) * np.finfo(np.float64).eps * np.abs(values).max(initial=0.0)
    return vectors[:, kept] / np.sqrt(values[kept])


def _best_ridge(Z: Array, g: Array, T: Array, Xc: Array, n: int) -> float:
    """The ridge with the smallest leave-one-out error: one eigenproblem serves all of them."""
    largest = max(float(g.max(initial=0.0)), float(np.finfo(np.float64).tiny))
    errors = []
    for ridge in RIDGES * largest:
        share = 1 / (g + ridge)
        leverage = np.minimum(1 / n + Z**2 @ share, 1 - 1e-9)
        misfit = Xc - Z @ (share[:, None] * T)
        errors.append(np.mean(np.sum(misfit**2, axis=1) / (1 - leverage) ** 2))
    return float(RIDGES[int(np.argmin(errors))] * largest)
