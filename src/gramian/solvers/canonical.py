"""Leading canonical pairs of two positive matrices with ridges, by products alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gramian.config import format_bytes, memory_budget, one_blas_thread
from gramian.progress import track
from gramian.results import Array
from gramian.solvers.canonical_side import Block, Matrix, Side

#: Columns of the factors that stand in for the inverses, at the most.
RANK = 200
#: Blocks of search directions kept before a restart.
BLOCKS = 8
#: Products after which a small ridge is to blame, and the matrices are factorised if they are not too large.
TRIAL = 20
FACTOR_LIMIT = 10_000
#: Residuals above this are not put down to rounding.
FLOOR = 1e-6
#: Residuals that have grown by this factor since they were least have rounding to thank for it.
DIVERGED = 1e3


@dataclass(frozen=True)
class CanonicalPairs:
    """Pairs as they were found, values descending.

    Attributes
    ----------
    values : (k,) array
    x, y : (n, k) arrays
        Coefficients a and b.
    x_images, y_images : (n, k) arrays
        ``A a`` and ``B b``.
    residuals : (k,) array
        Bounds on ``||Tv - rho u||`` and ``||T'u - rho v||``, the larger of the two.
    products : str
        The work.
    converged : bool
    stopped : str
        Why it stopped if it did not converge.
    """

    values: Array
    x: Array
    y: Array
    x_images: Array
    y_images: Array
    residuals: Array
    products: str
    converged: bool
    stopped: str


@dataclass(frozen=True)
class Canonical:
    r"""Block Davidson iteration: search both sides at once, and correct each by what it lacks.

    Definition
    ----------
    .. math:: \max\ a'AB\,b \quad \text{subject to} \quad a'A(A + \alpha I)a = b'B(B + \beta I)b = 1

    Stationary where :math:`Bb = \rho (A + \alpha I) a` and :math:`Aa = \rho (B + \beta I) b`, the singular triples of
    :math:`T = [A(A + \alpha I)^{-1}]^{1/2} [B(B + \beta I)^{-1}]^{1/2}`. What an equation lacks, times a low-rank
    stand-in for the inverse, is the next direction to search.

    Parameters
    ----------
    tol : float
        Largest ``||Tv - rho u||`` of the wanted pairs. The norm of T is at most 1: this is in units of correlations.
    extra : int
        Pairs searched beyond the wanted ones.
    max_products : int
        Block products with each matrix before giving up.

    Cost
    ----
    Some 5 to 20 products of ``k + extra`` vectors with each matrix; memory for ``4 BLOCKS (k + extra)`` vectors and two
    factors of ``RANK`` columns. For small ridges two Cholesky factorisations and their memory, if n is at most
    ``FACTOR_LIMIT``; more products beyond.

    References
    ----------
    Morgan, Scott, Generalizations of Davidson's method, SIAM Journal on Scientific and Statistical Computing 1986.
    """

    tol: float = 1e-8
    extra: int = 5
    max_products: int = 100

    name: ClassVar[str] = "krylov"

    def solve(
        self, A: Matrix, B: Matrix, k: int, shifts: tuple[float, float], rng: np.random.Generator
    ) -> CanonicalPairs:
        """Return the k leading pairs, or as many as the smaller rank. Shifts must be positive."""
        size = min(A.n, k + self.extra)
        blocks, rank = affordable(A.n, size)
        # Products run on threads of their own, which those of BLAS would disturb.
        with one_blas_thread(), track("canonical pairs", expected=10) as tracker:
            x, y = (Side(K, shift, rank, rng) for K, shift in zip((A, B), shifts, strict=True))
            a, b = _start(x, y, size)
            x.begin(a)
            y.begin(b)
            fresh, stopped, best = True, "", np.inf
            while True:
                values, p, q = _ritz(x, y, size)
                dx, dy = x.correction(p, q, values), y.correction(q, p, values)
                errors, rounding = np.maximum(dx.errors, dy.errors)[:k], np.maximum(dx.rounding, dy.rounding)[:k]
                tracker.advance(x.products + 3)
                converged = bool((errors <= np.clip(rounding, self.tol, max(self.tol, FLOOR))).all())
                if converged and fresh:
                    break
                if errors.max(initial=0.0) > DIVERGED * best:
                    stopped = "rounding allows no smaller residual"
                    break
                best = min(best, errors.max(initial=0.0))
                if x.products >= self.max_products:
                    stopped = f"max_products={self.max_products} reached"
                    break
                if converged:
                    # Images that are sums of images collect rounding: the answer must stand on products of its own.
                    x.begin(p.vectors)
                    y.begin(q.vectors)
                    fresh = True
                    continue
                if max(x.width, y.width) + size > blocks * size:
                    _, x.known, y.known = _ritz(x, y, blocks * size // 2)
                if x.products == TRIAL and A.n <= FACTOR_LIMIT and 4 * 8 * A.n**2 <= memory_budget():
                    x.sharpen()
                    y.sharpen()
                fresh = False
                if x.add(dx.block) + y.add(dy.block) == 0:
                    converged = bool((errors <= FLOOR).all())
                    stopped = "" if converged else "rounding allows no smaller residual"
                    break
        return CanonicalPairs(
            np.clip(values[:k], 0.0, 1.0),
            p.vectors[:, :k],
            q.vectors[:, :k],
            p.images[:, :k],
            q.images[:, :k],
            errors,
            f"{x.products} products with each matrix, {size} vectors each",
            converged,
            stopped,
        )


def _start(x: Side, y: Side, size: int) -> tuple[Array, Array]:
    """Leading pairs of the two low-rank factors in the place of the matrices."""
    (Ux, gx), (Uy, gy) = ((side.factor.U, side.factor.gains) for side in (x, y))
    A, _, Bt = np.linalg.svd(np.sqrt(gx)[:, None] * (Ux.T @ Uy).astype(np.float64) * np.sqrt(gy), full_matrices=False)
    # With gains g = s/(s + shift): coefficients A / sqrt(s (s + shift)), up to a factor.
    return Ux @ (((1 - gx) / np.sqrt(gx))[:, None] * A[:, :size]), Uy @ (
        ((1 - gy) / np.sqrt(gy))[:, None] * Bt[:size].T
    )


def _ritz(x: Side, y: Side, count: int) -> tuple[Array, Block, Block]:
    """Leading canonical pairs of what both sides know."""
    A, values, Bt = np.linalg.svd(x.known.images.T @ y.known.images, full_matrices=False)
    return values[:count], x.known @ A[:, :count], y.known @ Bt[:count].T


def affordable(n: int, size: int) -> tuple[int, int]:
    """Blocks of directions and columns of factors that fit the memory budget."""
    budget = memory_budget()
    blocks = min(BLOCKS, budget // 2 // (8 * 8 * n * size))
    if blocks < 3:
        raise ValueError(
            f"{size} pairs of vectors of {n:,} rows need {format_bytes(2 * 3 * 8 * 8 * n * size)}, over the budget of "
            f"{format_bytes(budget)}. Ask for fewer components, or raise gramian.config(memory=...)."
        )
    return blocks, max(size, min(RANK, n // 8, budget // 4 // (32 * n)))
