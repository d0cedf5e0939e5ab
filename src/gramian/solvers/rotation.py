r"""Rotations of loadings towards simple structure: few large entries, many near zero.

Every rotation gives ``L T`` and a correlation matrix of the factors that keeps ``L L'``:

.. math:: \Lambda = L T, \qquad \Phi = (T'T)^{-1}, \qquad \Lambda \Phi \Lambda' = L L'
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gramian.config import one_blas_thread
from gramian.lapack import orient
from gramian.results import Array


@dataclass(frozen=True)
class Rotation:
    """Rotated loadings ``L T``, in order of their sums of squares, largest entries positive; the matrix T.

    ``correlation`` (k, k): of the factors; the identity for orthogonal rotations. ``criterion``: what was maximised
    (varimax, quartimax) or minimised (oblimin); for promax that of its varimax start.
    """

    loadings: Array
    correlation: Array
    matrix: Array
    criterion: float
    converged: bool


def varimax(loadings: Array, *, normalize: bool = True, tol: float = 1e-12, max_iter: int = 500) -> Rotation:
    r"""Rotate so that squared loadings vary as much as they can within each factor.

    .. math:: \max_{T'T = I} \; \sum_j \Big( \sum_i \lambda_{ij}^4 - \tfrac1d \big(\sum_i \lambda_{ij}^2\big)^2 \Big)

    ``normalize``: Kaiser's normalisation: rows of the loadings are scaled to length one while rotating, so that columns
    of the data count alike whatever their communalities. On, as in R's ``varimax``; ``factanal`` uses that. ``tol``:
    largest angle, in radians, at which to stop. ``max_iter``: sweeps over all pairs of factors at the most, of which
    about ten are usual (Kaiser, The varimax criterion for analytic rotation in factor analysis, Psychometrika 1958).

    Examples
    --------
    >>> import numpy as np
    >>> turned = np.array([[0.8, 0.0], [0.6, 0.0], [0.0, 0.7]]) @ np.array([[0.6, 0.8], [-0.8, 0.6]])
    >>> abs(varimax(turned).loadings.round(6))
    array([[0.8, 0. ],
           [0.6, 0. ],
           [0. , 0.7]])
    """
    return _orthomax(loadings, 1.0, normalize, tol, max_iter)


def quartimax(loadings: Array, *, normalize: bool = False, tol: float = 1e-12, max_iter: int = 500) -> Rotation:
    r"""Rotate so that fourth powers of the loadings sum to as much as they can: simple rows, one general factor.

    .. math:: \max_{T'T = I} \; \sum_{ij} \lambda_{ij}^4

    ``normalize``: Kaiser's normalisation (see :func:`varimax`). Off, as in R's GPArotation and psych; SPSS has it on.
    """
    return _orthomax(loadings, 0.0, normalize, tol, max_iter)


def promax(loadings: Array, *, power: float = 4.0, normalize: bool = True) -> Rotation:
    r"""Oblique rotation of a varimax solution towards powers of its loadings, so that small loadings become smaller.

    .. math:: T = T_v U D, \quad U = \arg\min \|\Lambda_v U - \Lambda_v |\Lambda_v|^{p-1}\|^2, \quad
              \mathrm{diag}\,(T'T)^{-1} = 1

    with powers taken entry by entry.

    ``power``: p of the target, 4 as in R's ``promax``. ``normalize``: Kaiser's normalisation of the varimax rotation
    :math:`T_v`. On, as in R's ``factanal``, which hands the rotated loadings to ``promax``; the target is made of
    loadings that are not normalised
    (Hendrickson, White, Promax: a quick method for rotation to oblique simple structure, British Journal of Statistical
    Psychology 1964).
    """
    if loadings.shape[1] < 2:
        return _arrange(loadings, np.eye(loadings.shape[1]), 0.0, True)
    start = varimax(loadings, normalize=normalize)
    A = start.loadings
    U = np.linalg.lstsq(A, A * np.abs(A) ** (power - 1), rcond=None)[0]
    if np.linalg.matrix_rank(U) < len(U):
        return start  # a factor without loadings has no target
    U = U * np.sqrt(np.diag(np.linalg.inv(U.T @ U)))
    return _arrange(loadings, start.matrix @ U, start.criterion, start.converged)


def oblimin(loadings: Array, *, normalize: bool = False, tol: float = 1e-9, max_iter: int = 5_000) -> Rotation:
    r"""Oblique rotation with the least overlap of squared loadings on different factors (direct oblimin, gamma 0).

    .. math:: \min_T \; \tfrac14 \sum_{j \ne l} \sum_i \lambda_{ij}^2 \lambda_{il}^2, \qquad
              \mathrm{diag}\,(T'T)^{-1} = 1

    by gradient projection from a quartimax rotation, some tens of steps (Jennrich, A simple general method for oblique
    rotation, Psychometrika 2002). With gamma 0 it is also called quartimin; other values are not offered.

    ``normalize``: Kaiser's normalisation (see :func:`varimax`). Off, as in R's GPArotation and psych; SPSS has it on.
    ``tol``: norm of the projected gradient, relative to the size of the criterion's terms, at which to stop.
    """
    k = loadings.shape[1]
    if k < 2:
        return _arrange(loadings, np.eye(k), 0.0, True)
    A = _scaled(loadings, normalize)
    start = quartimax(A)
    with one_blas_thread():
        T, value, converged = _project_gradient(start.loadings, tol, max_iter)
    return _arrange(loadings, start.matrix @ np.linalg.inv(T).T, value, converged)


ROTATIONS: dict[str, Callable[[Array], Rotation]] = {
    "varimax": varimax,
    "quartimax": quartimax,
    "promax": promax,
    "oblimin": oblimin,
}


def _scaled(loadings: Array, normalize: bool) -> Array:
    """Rows scaled to length one, if asked for; a row of zeros stays."""
    if not normalize:
        return loadings
    length = np.linalg.norm(loadings, axis=1, keepdims=True)
    return loadings / np.where(length > 0, length, 1.0)


def _arrange(loadings: Array, T: Array, criterion: float, converged: bool) -> Rotation:
    """Rotate, then order and sign the factors; their correlations follow."""
    rotated = loadings @ T
    order = np.argsort(-np.sum(rotated**2, axis=0), kind="stable") if len(T) > 1 else np.arange(len(T))
    T, rotated = T[:, order], rotated[:, order]
    signs = orient(rotated)
    T = T * signs
    inverse = np.linalg.inv(T)
    correlation = inverse @ inverse.T
    correlation[np.diag_indices_from(correlation)] = 1.0
    return Rotation(rotated * signs, (correlation + correlation.T) / 2, T, criterion, converged)


def _orthomax(loadings: Array, gamma: float, normalize: bool, tol: float, max_iter: int) -> Rotation:
    """Turn pairs of factors, each by its best angle, until no pair turns."""
    d, k = loadings.shape
    # Factors as rows, so that each is contiguous; the rotation is appended and turns with them.
    A = np.ascontiguousarray(np.hstack([_scaled(loadings, normalize).T, np.eye(k)]))
    converged = k < 2
    for _ in range(0 if converged else max_iter):
        largest = 0.0
        for i in range(k - 1):
            for j in range(i + 1, k):
                angle = _best_angle(A[i, :d], A[j, :d], gamma)
                largest = max(largest, abs(angle))
                if abs(angle) > tol:
                    c, s = math.cos(angle), math.sin(angle)
                    A[i], A[j] = c * A[i] + s * A[j], c * A[j] - s * A[i]
        if largest <= tol:
            converged = True
            break
    squares = A[:, :d] ** 2
    criterion = float(np.sum(squares**2) - gamma / d * np.sum(squares.sum(axis=1) ** 2))
    found = _arrange(loadings, A[:, d:].T, criterion, converged)
    return Rotation(found.loadings, np.eye(k), found.matrix, criterion, converged)


def _best_angle(x: Array, y: Array, gamma: float) -> float:
    """Angle of the plane rotation that is best for two factors: in closed form, from the fourth moments."""
    u, v = x * x - y * y, 2 * x * y
    a, b, uu, vv, d = u.sum(), v.sum(), u @ u, v @ v, len(x)
    across = 2 * (u @ v - gamma * a * b / d)
    along = uu - vv - gamma * (a * a - b * b) / d
    # Both are fourth moments; where they are rounding beside the squares of u and v, every angle is as good.
    return 0.25 * math.atan2(across, along) if math.hypot(across, along) > 1e-14 * (uu + vv) else 0.0


def _project_gradient(A: Array, tol: float, max_iter: int) -> tuple[Array, float, bool]:
    """Minimise over T with unit columns, where the pattern is ``A T'^-1`` and the factors correlate by ``T'T``."""
    T = np.eye(A.shape[1])
    value, gradient = _overlap(A, T)
    size = max(np.sum(np.sum(A**2, axis=1) ** 2), np.finfo(float).tiny)
    step = 1.0 / max(1.0, np.sqrt(size))

    def near() -> bool:
        """Whether what is left of the slope is the rounding of the criterion, whose changes can no longer be seen."""
        return bool(np.linalg.norm(gradient) <= 1e3 * tol * size)

    for _ in range(max_iter):
        slope = np.linalg.norm(gradient)
        if slope <= tol * size:
            return T, value, True
        for _ in range(60):
            trial = T - step * gradient
            trial /= np.linalg.norm(trial, axis=0)
            following, new_gradient = _overlap(A, trial)
            if following <= value - 0.5 * step * slope**2 * 1e-3:
                break
            step /= 2
        else:
            return T, value, near()
        # Barzilai and Borwein: the next step from the curvature met on this one.
        move, bend = trial - T, new_gradient - gradient
        curvature = float(np.sum(move * bend))
        step = float(np.sum(move**2)) / curvature if curvature > 0 else 2 * step
        T, value, gradient = trial, following, new_gradient
    return T, value, near()


def _overlap(A: Array, T: Array) -> tuple[float, Array]:
    """Quartimin criterion of the pattern ``A T'^-1``, and its gradient along the unit spheres of T's columns."""
    inverse = np.linalg.inv(T)
    pattern = A @ inverse.T
    squares = pattern**2
    others = squares.sum(axis=1, keepdims=True) - squares
    G = -(pattern.T @ (pattern * others) @ inverse).T
    return 0.25 * float(np.sum(squares * others)), G - T * np.sum(T * G, axis=0)
