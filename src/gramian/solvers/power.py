"""Power iteration with peeling: one component after the other, the way it is taught."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gramian.operators import Operator
from gramian.progress import Tracker, track
from gramian.results import Array
from gramian.solvers.base import Raw


@dataclass(frozen=True)
class Power:
    r"""Multiply and normalise until nothing changes; peel the component off; begin again.

    Definition
    ----------
    .. math:: v \leftarrow (I - PP') A v / \|\cdot\|, \qquad P = \text{what has been found}

    Parameters
    ----------
    tol : float
        Residual ``||A v - lambda v|| / lambda`` at which a component is taken.
    max_iter : int
        Products per component before it is taken as it is.

    Cost
    ----
    ``log(tol) / log(lambda_2 / lambda_1)`` products of one vector per component: slow for close eigenvalues.
    """

    tol: float = 1e-10
    max_iter: int = 10_000

    name: ClassVar[str] = "power"

    def solve(self, operator: Operator, k: int, rng: np.random.Generator) -> Raw:
        with track("components", expected=k) as tracker:
            return self._peel_off(operator, k, rng, tracker)

    def _peel_off(self, operator: Operator, k: int, rng: np.random.Generator, tracker: Tracker) -> Raw:
        n, eps = operator.n, np.finfo(np.float64).eps
        found: list[tuple[float, Array]] = []
        largest, products, converged = 0.0, 0, True
        while sum(value > 0 for value, _ in found) < k and len(found) < n:
            P = np.column_stack([v for _, v in found]) if found else np.empty((n, 0))
            v = _peel(rng.standard_normal(n), P)
            v /= np.linalg.norm(v)
            for _ in range(self.max_iter):
                w = _peel((operator @ v[:, None])[:, 0], P)
                products += 1
                value, length = float(v @ w), float(np.linalg.norm(w))
                largest = max(largest, length)
                if length <= n * eps * largest:  # only the null space is left
                    return _raw(found, n, products, converged, "the rest is null space")
                if np.linalg.norm(w - value * v) <= max(self.tol * abs(value), 50 * eps * largest):
                    break
                v = w / length
            else:
                converged = False
            found.append((value, v))
            tracker.advance(k)
        return _raw(found, n, products, converged, "" if converged else f"max_iter={self.max_iter} reached")


def _peel(v: Array, P: Array) -> Array:
    """Remove what lies along the columns of ``P``; twice, because once leaves rounding behind."""
    for _ in range(2):
        v = v - P @ (P.T @ v)
    return v


def _raw(found: list[tuple[float, Array]], n: int, products: int, converged: bool, stopped: str) -> Raw:
    values = np.array([value for value, _ in found])
    vectors = np.column_stack([v / np.linalg.norm(v) for _, v in found]) if found else np.empty((n, 0))
    return Raw(values, vectors, f"{products} products of one vector", converged=converged, stopped=stopped)
