"""Randomised subspace iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gramian.operators import Operator
from gramian.progress import Tracker, track
from gramian.solvers.base import Raw, orthonormal


@dataclass(frozen=True)
class Randomized:
    r"""Multiply a random block until the wanted eigenpairs have settled.

    Definition
    ----------
    .. math:: Q \leftarrow \mathrm{orth}(A Q), \qquad Q'AQ = Y \Theta Y', \quad V = QY

    Parameters
    ----------
    tol : float
        Largest residual ``||A v - lambda v|| / lambda`` of the wanted pairs.
    oversampling : int
        Columns beyond the wanted ones.
    max_iter : int
        Products before giving up; the residuals then say how far it came.

    Cost
    ----
    One product of ``k + oversampling`` vectors per iteration; the error falls by ``lambda_{k+p} / lambda_k`` each time.
    """

    tol: float = 1e-8
    oversampling: int = 10
    max_iter: int = 300

    name: ClassVar[str] = "randomized"

    def solve(self, operator: Operator, k: int, rng: np.random.Generator) -> Raw:
        with track("eigenvectors", expected=20) as tracker:
            return self._iterate(operator, k, rng, tracker)

    def _iterate(self, operator: Operator, k: int, rng: np.random.Generator, tracker: Tracker) -> Raw:
        size = min(operator.n, k + self.oversampling)
        Q = orthonormal(rng.standard_normal((operator.n, size)))
        floor, shift = 50 * np.finfo(np.float64).eps, 0.0
        for products in range(1, self.max_iter + 1):
            W = operator @ Q
            theta, Y = np.linalg.eigh((Q.T @ W + W.T @ Q) / 2)
            V, image = Q @ Y, W @ Y
            wanted = slice(size - k, size)
            errors = np.linalg.norm(image[:, wanted] - V[:, wanted] * theta[wanted], axis=0)
            allowed = np.maximum(self.tol * np.abs(theta[wanted]), floor * np.abs(theta).max())
            tracker.advance(max(20, products + 1))
            if (errors <= allowed).all():
                break
            # Iteration finds the largest magnitudes; a shift keeps large negative values out of their way.
            shift = max(shift, -float(theta[0]))
            Q = orthonormal(image + shift * V)
        converged = bool((errors <= allowed).all())
        return Raw(
            theta,
            V,
            f"{products} products of {size} vectors",
            converged=converged,
            stopped="" if converged else f"max_iter={self.max_iter} reached",
            image=image,
        )
