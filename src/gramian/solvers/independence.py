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
from gramian.operators.tiles import row_blocks
from gramian.results import Array

#: Rows that are enough to start from, and rows for each source: their answer is a few steps from that of all.
SAMPLE, EACH = 4_000, 100
#: Gradient at which the answer of a sample is as good as a sample can be.
ROUGH = 1e-2
#: Numbers so few that handing out products of them takes longer than the products.
LITTLE = 1_000_000
#: Factors of at most 2 whose product is far from overflow; one logarithm then serves them all.
GROUP = 512
#: What rounding leaves in a gradient: an iteration is not blamed for it.
ROUNDING = 1e-12


class HyperbolicSecant:
    """The density in the shape that picard asks for."""

    def log_lik(self, y: Array) -> float:
        """Mean of ``log cosh y + log 2``, which is minus the log-density up to a constant."""
        size = np.abs(y)
        total = float(size.sum())
        size *= -2.0
        with np.errstate(under="ignore"):  # picard may ask for errors
            np.exp(size, out=size)
        size += 1.0
        whole = len(size) // GROUP * GROUP
        groups = np.multiply.reduce(size[:whole].reshape(-1, GROUP), axis=1)
        return (total + float(np.log(groups).sum()) + float(np.log(size[whole:]).sum())) / len(y)

    def score_and_der(self, Y: Array) -> tuple[Array, Array]:
        """``tanh y`` and its derivative."""
        score = np.tanh(Y)
        derivative = np.square(score)
        return score, np.subtract(1.0, derivative, out=derivative)


@dataclass(frozen=True)
class Certificate:
    """What is true of an unmixing matrix W, measured on all rows.

    Attributes
    ----------
    log_density : float
        Total of ``sum_j log p(y_j)`` with ``y = W z``.
    gradient : float
        Largest entry of ``|E[tanh(y) y'] - I|``, the gradient for a relative change of W.
    variances : (k,) array
        Mean squares of the sources.
    excess : (k,) array
        Their excess kurtosis: negative below a Gaussian.
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
    """Return the unmixing matrix of greatest likelihood.

    Parameters
    ----------
    Z : (k, n) array
        White rows, one in a column.
    rng : Generator
        Source of the first rotation and of the sample.
    tol : float
        Largest entry of the relative gradient at which to stop.
    max_iter : int
        Steps at the most.
    """
    k, n = Z.shape
    start, R = np.linalg.qr(rng.standard_normal((k, k)))
    start *= np.sign(np.diag(R))  # makes every rotation as likely as any other
    enough = max(SAMPLE, EACH * k)
    if n > 3 * enough:
        few = np.ascontiguousarray(Z[:, np.sort(rng.choice(n, enough, replace=False))])
        better, _ = _climb(few, start, ROUGH, 100)
        # A sample that misses what is rare has no greatest likelihood, and its answer leads nowhere.
        start = better if certify(better, few).gradient <= ROUGH else start
    W, steps = _climb(Z, start, tol, max_iter)
    return Unmixing(W, steps, certify(W, Z))


def _climb(Z: Array, start: Array, tol: float, max_iter: int) -> tuple[Array, int]:
    """Preconditioned L-BFGS from a start; who calls measures where it ended."""
    from picard import picard  # it brings a good part of scikit-learn along: only those who unmix wait for it

    with warnings.catch_warnings(), one_blas_thread() if Z.size < LITTLE else nullcontext():
        warnings.simplefilter("ignore", UserWarning)  # it warns of what the certificate says
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
