"""From two kernel spaces to canonical pairs: which route, and what it found. Nothing here warns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian import lapack, mixing
from gramian.estimators.cca import correlations
from gramian.estimators.plans_kernel import PAIRS_USUAL_RANK, pairs_fit_dense, pairs_obstacle, pairs_route
from gramian.operators.centering import Projected
from gramian.projection import KernelProjection
from gramian.results import Array, Mix, SolverTrace
from gramian.solvers.canonical import Canonical, CanonicalPairs
from gramian.solvers.dense import pinned_if_small
from gramian.solvers.eigen import DENSE_RETRY_MAX_ROWS, orient
from gramian.spaces import KernelSpace, SingularBasis
from gramian.spaces.conditional import ConditionalProjection

#: What the argument ``solver`` may be.
SOLVERS = ("auto", "dense", "krylov")


@dataclass(frozen=True)
class KernelPairs:
    """Canonical pairs of two kernel spaces, in order; the X side decides the signs.

    Attributes
    ----------
    values : (k,) array
        Canonical correlations.
    x, y : projections
        Of new rows.
    plain : (k,) array
        Correlations of the scores of the training rows.
    x_scores : (n, k) array or None
        Of the training rows, where they are at hand.
    residuals : array
        Certificate: of the pairs, or of the components of both spaces.
    trace : SolverTrace
    bases : pair of bases, or empty
        Of the two spaces, where they were computed.
    cut : bool
        Whether a rank was set that nobody had asked for.
    """

    values: Array
    x: Any
    y: Any
    plain: Array
    x_scores: Array | None
    residuals: Array
    trace: SolverTrace
    bases: tuple[SingularBasis, ...] = ()
    cut: bool = False


def find_pairs(
    x: KernelSpace,
    y: KernelSpace,
    k: int | None,
    ridge: tuple[float, float],
    *,
    rank: int | None,
    solver: str,
    rng: np.random.Generator,
) -> KernelPairs:
    """Return the k leading pairs (all if None) by the route that suits size, ridges and kernels."""
    route, reason = pairs_route(x.n, k, pairs_obstacle(x, y, ridge), rank, solver)
    if route == "products":
        pairs = _by_products(x, y, int(k or 1), ridge, reason, rng)
        if solver == "auto" and not pairs.trace.converged and x.n <= DENSE_RETRY_MAX_ROWS and pairs_fit_dense(x.n):
            return _from_bases(x, y, k, ridge, None, "dense", f"products did not settle: {pairs.trace.stopped}", rng)
        return pairs
    if route == "rank":
        found = rank or min(x.n, max(PAIRS_USUAL_RANK, 2 * int(k or 1)))
        return _from_bases(x, y, k, ridge, found, solver, reason, rng, cut=rank is None)
    return _from_bases(x, y, k, ridge, rank, "dense", reason, rng)


def _from_bases(
    x: KernelSpace,
    y: KernelSpace,
    k: int | None,
    ridge: tuple[float, float],
    rank: int | None,
    solver: str,
    reason: str,
    rng: np.random.Generator,
    cut: bool = False,
) -> KernelPairs:
    """Singular bases of both spaces, then a small problem."""
    a, b = (space.basis(None if rank is None else min(rank, space.n), solver, rng) for space in (x, y))
    with pinned_if_small(x.n * a.rank * b.rank):
        mix = mixing.correlate(
            a.singular, b.singular, lapack.interruptible(np.matmul, a.vectors.T, b.vectors), x.n, ridge
        )
        k = min(len(mix.values), k or len(mix.values))
        Tx, Ty = a.scores() @ mix.x[:, :k], b.scores() @ mix.y[:, :k]
    signs = orient(Tx) if k else np.ones(0)
    to_x, to_y = (
        basis.projection(Mix(forward=M[:, :k] * signs, back=(M[:, :k] * signs * (basis.variances + r)[:, None]).T))
        for basis, M, r in zip((a, b), (mix.x, mix.y), ridge, strict=True)
    )
    name, stopped = a.trace.solver, "; ".join(filter(None, (a.trace.stopped, b.trace.stopped)))
    work = f"X: {a.trace.products}; Y: {b.trace.products}" if a.trace.products else ""
    trace = SolverTrace(name, reason, work, a.trace.converged and b.trace.converged, stopped)
    residuals = np.concatenate([a.residuals, b.residuals])
    return KernelPairs(
        mix.values[:k],
        to_x,
        to_y,
        _plain(Tx, Ty),
        Tx * signs,
        residuals,
        trace,
        (a, b),
        cut and max(a.rank, b.rank) == rank,
    )


def _by_products(
    x: KernelSpace, y: KernelSpace, k: int, ridge: tuple[float, float], reason: str, rng: np.random.Generator
) -> KernelPairs:
    """All components of both spaces, from products with their matrices."""
    A, B = x.centred(), y.centred()
    root = np.sqrt(x.n - 1.0)
    # A ridge on variances of divisor n - 1 is n - 1 times as much on the kernel matrix.
    found: CanonicalPairs = Canonical().solve(A, B, k, (ridge[0] * root**2, ridge[1] * root**2), rng)
    signs = (orient(found.x_images) if len(found.values) else np.ones(0)) * root
    trace = SolverTrace(Canonical.name, reason, found.products, found.converged, found.stopped)
    return KernelPairs(
        found.values,
        _projection(x, A, found.x * signs),
        _projection(y, B, found.y * signs),
        _plain(found.x_images, found.y_images),
        found.x_images * signs,
        found.residuals,
        trace,
    )


def _projection(space: KernelSpace, gram: Any, coefficients: Array) -> KernelProjection | ConditionalProjection:
    anchors = space.kernel.anchors(space.X)
    folded, offset = gram.centring.fold(coefficients)
    if isinstance(gram, Projected):
        shift = gram.centring.polynomials.shift
        return ConditionalProjection(space.kernel, anchors, folded, offset, shift)
    return KernelProjection(space.kernel, anchors, folded, offset, origin=space.origin)


def _plain(T: Array, S: Array) -> Array:
    """Correlations of centred scores, pair by pair."""
    return np.clip(np.diag(correlations(T, S)), -1.0, 1.0)
