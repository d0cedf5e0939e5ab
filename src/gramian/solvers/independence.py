r"""Unmixing of greatest likelihood when sources have the density :math:`1 / (\pi \cosh u)`.

::

    white rows --> start (a rotation, improved on a sample) --> picard --> W --> certificate at W
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from gramian.config import one_blas_thread
from gramian.engine.tiles import row_blocks
from gramian.results import Array

#: Rows of the sample that gives the start: in all, and for each source.
ICA_START_ROWS, ICA_START_ROWS_PER_SOURCE = 4_000, 100
#: Gradient at which the fit to the sample stops: its sampling error is of that size.
ICA_START_GRADIENT = 1e-2
#: Numbers up to which products on several threads cost more than on one.
PINNED_MAX_ENTRIES = 1_000_000
#: Factors of at most 2 that share one logarithm: their product, at most 2^512, is far from overflow.
FACTORS_PER_LOGARITHM = 512
#: Rounding of the gradient, allowed beyond the tolerance.
GRADIENT_ROUNDING = 1e-12


class HyperbolicSecant:
    """The density with the methods that picard calls."""

    def log_lik(self, y: Array) -> float:
        """Mean of ``log cosh y + log 2``, which is minus the log-density up to a constant."""
        size = np.abs(y)
        total = float(size.sum())
        size *= -2.0
        with np.errstate(under="ignore"):  # the caller may have set underflow to raise
            np.exp(size, out=size)
        size += 1.0
        whole = len(size) // FACTORS_PER_LOGARITHM * FACTORS_PER_LOGARITHM
        groups = np.multiply.reduce(size[:whole].reshape(-1, FACTORS_PER_LOGARITHM), axis=1)
        return (total + float(np.log(groups).sum()) + float(np.log(size[whole:]).sum())) / len(y)

    def score_and_der(self, Y: Array) -> tuple[Array, Array]:
        """``tanh y`` and its derivative."""
        score = np.tanh(Y)
        derivative = np.square(score)
        return score, np.subtract(1.0, derivative, out=derivative)


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
    """Preconditioned L-BFGS from a start; the caller certifies the result."""
    from picard import picard  # imports a large part of scikit-learn, so only when ICA runs

    with warnings.catch_warnings(), one_blas_thread() if Z.size < PINNED_MAX_ENTRIES else nullcontext():
        warnings.simplefilter("ignore", UserWarning)  # the certificate reports a gradient above the tolerance
        _, W, _, steps = picard(
            Z,
            fun=HyperbolicSecant(),
            ortho=False,
            extended=False,
            whiten=False,
            centering=False,
            check_fun=False,
            w_init=start,
            tol=tol,
            max_iter=max_iter,
            return_n_iter=True,
        )
    return W, int(steps)
