r"""Unmixing of greatest likelihood when sources have the density :math:`1 / (\pi \cosh u)`.

::

    white rows --> start (a rotation, improved on a sample) --> Newton steps --> W --> certificate at W

For a relative change E of W, sources y = Wz become y + Ey, and minus the mean log-likelihood changes by

    <G, E> + <E, H(E)> / 2,    G = E[psi(y) y'] - I,    H(E) = E[(psi'(y) * Ey) y'] + E',    psi = tanh

H is never formed: conjugate gradients solve ``H(E) = -G`` by products with the sources, from the blocks of 2 x 2
numbers that are left of H if sources are independent (Ablin, Cardoso, Gramfort, Faster ICA by preconditioning with
Hessian approximations, IEEE Transactions on Signal Processing 2018). A step costs one ``tanh`` and one ``exp`` of each
source and half a dozen products; quasi-Newton steps cost the same and are two to four times as many.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg.lapack

from gramian.config import pinned_if_small
from gramian.engine.tiles import row_blocks
from gramian.results import Array

#: Rows of the sample that gives the start: in all, and for each source.
ICA_START_ROWS, ICA_START_ROWS_PER_SOURCE = 4_000, 100
#: Gradient at which the fit to the sample stops: its sampling error is of that size.
ICA_START_GRADIENT = 1e-2
#: Factors of at most 2 that share one logarithm: their product, at most 2^512, is far from overflow.
FACTORS_PER_LOGARITHM = 512
#: Share of the fall expected of a step that it must bring, and how often it is halved if it does not.
SUFFICIENT_DECREASE, MOST_HALVINGS = 1e-4, 30
#: Falls of the loss below this share of it are not seen in double precision.
LOSS_ROUNDING = 1e-11
#: Least curvature of the blocks that precondition; curvature, of a direction of length 1, that counts as none.
LEAST_CURVATURE, NEGLIGIBLE_CURVATURE = 1e-2, 1e-3
#: Squared residual of the first Newton systems, relative to their right-hand side, and products for one at the most.
FIRST_PRECISION, MOST_PRODUCTS = 1e-2, 30
#: Rounding of the gradient, allowed beyond the tolerance.
GRADIENT_ROUNDING = 1e-12


@dataclass(frozen=True)
class Certificate:
    """Total log-density ``sum_j log p(y_j)`` of ``y = W z`` over all rows, and what W does to them.

    ``gradient``: largest entry of ``|E[tanh(y) y'] - I|``, the gradient for a relative change of W. ``variances``,
    ``excess`` (k,): mean squares of the sources, and their excess kurtosis: negative below a Gaussian.
    """

    log_density: float
    gradient: float
    variances: Array
    excess: Array


@dataclass(frozen=True)
class Unmixing:
    """The matrix W found for white rows, steps taken over all rows, and its certificate."""

    W: Array
    steps: int
    certificate: Certificate


def log_density(Y: Array) -> Array:
    """Sum over the columns of ``-log(pi cosh y)``."""
    size = np.abs(Y)
    return -(size + np.log1p(np.exp(-2.0 * size))).sum(axis=1) - Y.shape[1] * np.log(np.pi / 2)


def certify(W: Array, Z: Array) -> Certificate:
    """Measure W on white rows Z (k x n)."""
    k, n = Z.shape
    total, second, fourth, G = 0.0, np.zeros(k), np.zeros(k), np.zeros((k, k))
    for rows in row_blocks(n, k):
        Y = Z[:, rows].T @ W.T
        squares = np.square(Y)
        total += float(log_density(Y).sum())
        G += np.tanh(Y).T @ Y
        second += squares.sum(axis=0)
        fourth += np.square(squares, out=squares).sum(axis=0)
    gradient = float(np.abs(G / n - np.eye(k)).max())
    return Certificate(total, gradient, second / n, n * fourth / second**2 - 3.0)


def unmix(Z: Array, rng: np.random.Generator, *, tol: float, max_iter: int) -> Unmixing:
    """Return the unmixing matrix of greatest likelihood for white rows Z (k, n).

    ``tol`` is the largest entry of the relative gradient at which to stop.
    """
    k, n = Z.shape
    start, R = np.linalg.qr(rng.standard_normal((k, k)))
    start *= np.sign(np.diag(R))  # makes every rotation as likely as any other
    enough = max(ICA_START_ROWS, ICA_START_ROWS_PER_SOURCE * k)
    if n > 3 * enough:
        few = np.ascontiguousarray(Z[:, np.sort(rng.choice(n, enough, replace=False))])
        better, _ = _climb(few, start, ICA_START_GRADIENT, 100)
        # The likelihood of a sample may have no maximum; then the random rotation stays the start.
        start = better if certify(better, few).gradient <= ICA_START_GRADIENT else start
    W, steps = _climb(Z, start, tol, max_iter)
    return Unmixing(W, steps, certify(W, Z))


def _climb(Z: Array, start: Array, tol: float, max_iter: int) -> tuple[Array, int]:
    """Newton steps from a start to a gradient of ``tol``; the caller certifies the result."""
    k, n = Z.shape
    # The caller may have set underflow of exponentials to raise.
    with pinned_if_small(k * Z.size), np.errstate(under="ignore"):
        W, Y, unit = start, start @ Z, np.eye(k)
        loss = _loss(W, Y)
        for step in range(max_iter):
            slope = np.tanh(Y)
            G = slope @ Y.T / n - unit
            if np.abs(G).max() < tol:
                return W, step
            np.subtract(1.0, np.square(slope, out=slope), out=slope)
            E = _direction(G, Y, slope)
            fall = float(np.vdot(G, E))
            if fall >= 0:
                E, fall = -G, -float(np.vdot(G, G))
            for _ in range(MOST_HALVINGS):
                change = unit + E
                W_new, Y_new = change @ W, change @ Y
                loss_new = _loss(W_new, Y_new)
                # Differences of losses below their rounding say nothing; the step is a Newton step of that size.
                if loss_new <= loss + SUFFICIENT_DECREASE * fall or -fall < LOSS_ROUNDING * max(1.0, abs(loss)):
                    break
                E, fall = E / 2, fall / 2
            W, Y, loss = W_new, Y_new, loss_new
    return W, max_iter


def _loss(W: Array, Y: Array) -> float:
    """Minus the mean log-likelihood of sources ``Y = W Z``, up to a constant."""
    return log_cosh(Y) / Y.shape[1] - log_determinant(W)


def log_determinant(W: Array) -> float:
    """Logarithm of the magnitude of the determinant, in a third of the time of NumPy's for small matrices."""
    factor, _, _ = scipy.linalg.lapack.dgetrf(W)
    with np.errstate(divide="ignore"):
        return float(np.log(np.abs(factor.diagonal())).sum())


def log_cosh(Y: Array) -> float:
    """Sum of ``log(2 cosh y)`` over all entries."""
    size = np.abs(Y).ravel()
    total = float(size.sum())
    size *= -2.0
    np.exp(size, out=size)
    size += 1.0
    whole = len(size) // FACTORS_PER_LOGARITHM * FACTORS_PER_LOGARITHM
    if whole:
        groups = np.multiply.reduce(size[:whole].reshape(-1, FACTORS_PER_LOGARITHM), axis=1)
        total += float(np.log(groups).sum())
    return total + float(np.log(size[whole:]).sum())


def _direction(G: Array, Y: Array, slope: Array) -> Array:
    """Solve ``H(E) = -G`` by conjugate gradients, as exactly as the size of G deserves."""
    k, n = Y.shape
    h = slope @ np.square(Y).T / n
    # E_ij and E_ji meet in [[h_ij, 1], [1, h_ji]]; its smaller eigenvalue is raised where sources are nearly Gaussian.
    least, difference = h + h.T, h - h.T
    least -= np.sqrt(difference * difference + 4)
    raised = h + np.maximum(LEAST_CURVATURE - least / 2, 0)
    det = raised * raised.T - 1
    det.flat[:: k + 1] = 1
    # The inverses of all of them; E_ii meets itself alone.
    here, across = raised.T / det, 1 / det
    here.flat[:: k + 1], across.flat[:: k + 1] = 1 / (1 + h.diagonal()), 0

    def solved(R: Array) -> Array:
        return here * R - across * R.T

    E, R = np.zeros(G.shape), -G
    Q = P = solved(R)
    size = float(np.vdot(R, Q))
    enough = size * min(FIRST_PRECISION, float(np.abs(G).max()))
    for step in range(MOST_PRODUCTS):
        HP = (slope * (P @ Y)) @ Y.T / n + P.T
        curvature = float(np.vdot(P, HP))
        if curvature <= NEGLIGIBLE_CURVATURE * float(np.vdot(P, P)):  # H is not positive here: go as far as it is
            return E if step else P
        length = size / curvature
        E, R = E + length * P, R - length * HP
        Q = solved(R)
        size, before = float(np.vdot(R, Q)), size
        if size <= enough:
            break
        P = Q + size / before * P
    return E
