"""Block Krylov iteration with restarts: many vectors a product, few products."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gramian.config import format_bytes, memory_budget, one_blas_thread
from gramian.operators import Operator
from gramian.progress import Tracker, track
from gramian.results import Array
from gramian.solvers.base import Raw


@dataclass(frozen=True)
class Krylov:
    r"""Search the span of a block and its images for the leading eigenpairs.

    Definition
    ----------
    .. math:: Q = \mathrm{orth}[V, AV, A^2V, \dots], \qquad Q'AQ = Y \Theta Y', \quad v_k = Q y_k

    The search runs in single precision, where a product costs half; it is finished by products in double precision,
    the last of which is the certificate.

    Parameters
    ----------
    tol : float
        Largest residual ``||A v - lambda v|| / lambda`` of the wanted pairs, in double precision.
    extra : int
        Vectors in a block beyond the wanted ones.
    max_products : int
        Block products before giving up; the residuals then say how far it came.
    mixed : bool
        Search in single precision first.
    blocks : int
        Blocks kept before a restart; fewer if the memory budget asks for it.

    Cost
    ----
    Some 3 to 10 products of ``k + extra`` vectors for spectra that decay; memory for ``2 blocks (k + extra)`` vectors.
    """

    tol: float = 1e-6
    extra: int = 10
    max_products: int = 100
    mixed: bool = True
    blocks: int = 8

    name: ClassVar[str] = "krylov"

    def solve(self, operator: Operator, k: int, rng: np.random.Generator) -> Raw:
        size = min(operator.n, k + self.extra)
        blocks = self.affordable(operator.n, size)
        # Products run on threads of their own, which those of BLAS would disturb; the tall ones here are quick.
        with one_blas_thread():
            return self._solve(operator, k, size, blocks, rng)

    def _solve(self, operator: Operator, k: int, size: int, blocks: int, rng: np.random.Generator) -> Raw:
        start, block = leading(operator.sketch(4 * size, rng), size), size
        with track("eigenvectors", expected=5) as tracker:
            search = Subspace(k, blocks * size, tracker)
            narrow = 0
            if self.mixed and operator.narrow_pays:
                # A little more than asked for, so that one product in double precision confirms it. If that is likely
                # to be the last, the spare vectors stay at home.
                search.run(operator.astype(np.float32), start, 0.8 * self.tol, self.max_products - 1)
                size = min(size, k + 2) if search.converged else size
                narrow, start = search.products, search.vectors(size).astype(np.float64)
            search.run(operator, start, self.tol, self.max_products)
        theta, V, image = search.ritz(size)
        others = search.values()[size:]
        wide = search.products - narrow
        counts = f"{narrow} products in float32, {wide} in float64" if narrow else f"{wide} products"
        return Raw(
            theta,
            V,
            f"{counts}, {block} vectors each",
            converged=search.converged,
            stopped="" if search.converged else f"max_products={self.max_products} reached",
            image=image,
            others=others,
        )

    def affordable(self, n: int, size: int) -> int:
        """Blocks of vectors that fit the memory budget, with their images."""
        blocks = min(self.blocks, memory_budget() // (3 * 8 * n * size))
        if blocks < 3:
            raise ValueError(
                f"{size} vectors of {n:,} rows need at least {format_bytes(3 * 3 * 8 * n * size)}, over the budget of "
                f"{format_bytes(memory_budget())}. Ask for fewer components, or raise gramian.config(memory=...)."
            )
        return blocks


@dataclass
class Subspace:
    """An orthonormal basis Q that grows by blocks, with its image ``W = A Q`` and ``H = Q'AQ``."""

    k: int
    limit: int
    tracker: Tracker
    products: int = 0
    converged: bool = False
    worst: list[float] = field(default_factory=list)
    Q: Array = field(init=False)
    W: Array = field(init=False)

    def run(self, operator: Operator, block: Array, tol: float, max_products: int) -> None:
        """Multiply and extend until the k leading pairs are within ``tol``, stagnate, or products run out."""
        eps = float(np.finfo(operator.dtype).eps)
        self.Q = self.W = np.empty((operator.n, 0), dtype=operator.dtype)
        self.worst, self.converged = [], False
        block = orthonormalise(block.astype(operator.dtype), self.Q)
        while block.shape[1] and self.products < max_products:
            self.Q, self.W = np.hstack([self.Q, block]), np.hstack([self.W, operator @ block])
            self.products += 1
            theta, V, image = self.ritz(self.k)
            errors = np.linalg.norm((image - V * theta).astype(np.float64), axis=0)
            scale = np.abs(theta[0]) if len(theta) else 1.0
            floor = 2 * eps * scale
            self.worst.append(float((errors / np.maximum(np.abs(theta), floor)).max(initial=0.0)))
            self.tracker.advance(self._forecast(tol))
            if (errors <= np.maximum(tol * np.abs(theta), floor)).all():
                self.converged = True
                return
            if self._stagnates(eps):
                return
            # All residuals lie in what the last image adds to the whole basis: find it before the basis is cut.
            block = orthonormalise(self.W[:, -block.shape[1] :], self.Q)
            if self.Q.shape[1] + block.shape[1] > self.limit:
                _, self.Q, self.W = self.ritz(max(self.limit // 2, self.k))
        self.converged = not block.shape[1]  # nothing new to add: the span is invariant

    def ritz(self, count: int) -> tuple[Array, Array, Array]:
        """Leading Ritz values (descending), vectors, and their images."""
        H = (self.Q.T @ self.W).astype(np.float64)
        theta, Y = np.linalg.eigh((H + H.T) / 2)
        leading = np.argsort(-theta)[:count]
        Y = Y[:, leading].astype(self.Q.dtype)
        return theta[leading], self.Q @ Y, self.W @ Y

    def values(self) -> Array:
        """All Ritz values, descending."""
        H = (self.Q.T @ self.W).astype(np.float64)
        return np.linalg.eigvalsh((H + H.T) / 2)[::-1]

    def vectors(self, count: int) -> Array:
        """Leading Ritz vectors."""
        return self.ritz(count)[1]

    def _stagnates(self, eps: float) -> bool:
        # Single precision cannot see residuals below its own rounding: more products would only stir it.
        return eps > 1e-10 and len(self.worst) > 2 and self.worst[-1] < 1e-4 and self.worst[-1] > 0.5 * self.worst[-2]

    def _forecast(self, tol: float) -> float:
        """Products expected in all, from the rate of the last two."""
        if len(self.worst) < 2 or self.worst[-1] <= 0 or self.worst[-1] >= self.worst[-2]:
            return self.products + 4
        rate = np.log(self.worst[-2] / self.worst[-1])
        return self.products + max(1.0, float(np.log(max(self.worst[-1] / tol, 1.0)) / rate)) + 1


def leading(F: Array, count: int) -> Array:
    """Leading left singular vectors of a tall factor."""
    values, Y = np.linalg.eigh(F.T @ F)
    order = np.argsort(-values)[:count]
    return F @ Y[:, order] / np.sqrt(np.maximum(values[order], np.finfo(np.float64).tiny))


def orthonormalise(V: Array, Q: Array) -> Array:
    """Orthonormal basis of what the columns of ``V`` add to the span of ``Q``; nothing if they add nothing.

    Projected twice, scaled by the eigenvectors of V'V twice: only products of tall matrices, and columns that carry
    rounding alone drop out.
    """
    eps = float(np.finfo(V.dtype).eps)
    before = np.linalg.norm(V, axis=0)
    V = V - Q @ (Q.T @ V)
    after = np.linalg.norm(V, axis=0)
    kept = after > 20 * eps * before
    V = V[:, kept] / after[kept]
    for _ in range(2):
        V = V - Q @ (Q.T @ V)
        values, Y = np.linalg.eigh((V.T @ V).astype(np.float64))
        kept = values > 1e3 * eps * values.max(initial=0.0)
        V = V @ (Y[:, kept] / np.sqrt(values[kept])).astype(V.dtype)
    return V
