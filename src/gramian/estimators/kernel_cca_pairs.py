"""Canonical pairs of two kernel spaces, exact or of low rank, and their correlations on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from gramian import lapack, mixing
from gramian.estimators.cca import correlations
from gramian.estimators.plans_kernel import (
    ALL_FOLDS_MAX_ROWS,
    PAIRS_USUAL_RANK,
    pairs_fit_dense,
    pairs_obstacle,
    pairs_route,
)
from gramian.kernels import Kernel
from gramian.operators.centering import Projected
from gramian.operators.features import FeatureMap
from gramian.operators.mapped_moments import MappedMoments, mapped_moments, part_moments
from gramian.operators.remote import RemoteTable
from gramian.projection import KernelProjection
from gramian.results import Array, Mix, SolverTrace
from gramian.solvers.canonical import Canonical, CanonicalPairs
from gramian.solvers.dense import pinned_if_small
from gramian.solvers.eigen import DENSE_RETRY_MAX_ROWS, orient
from gramian.spaces import KernelSpace, SingularBasis
from gramian.spaces.kernel import ConditionalProjection
from gramian.spaces.low_rank import LowRankBasis, LowRankSpace, pinned_if_narrow, projection

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


#: Pairs that are looked at: where all are asked for, most are noise.
MOST = 10


def held_out_correlations(
    X: Any,
    Y: Any,
    kernels: tuple[Kernel, Kernel],
    k: int,
    parts: list[Array],
    **how: Any,
) -> Array | None:
    r"""Return the correlations of the scores of rows that were held out; None if the others never vary.

    Definition
    ----------
    .. math:: r_k = \frac{\sum_f \sum_{i \in f} (t_{ik} - \bar t_{fk})(s_{ik} - \bar s_{fk})}
              {\sqrt{\sum_f \sum_{i \in f} (t_{ik} - \bar t_{fk})^2 \sum_f \sum_{i \in f} (s_{ik} - \bar s_{fk})^2}}

    with scores t and s of fold f from a fit to the other folds. Sums rather than means of correlations: a small fold
    then weighs little, and signs and sizes of the fits do not matter. A pair that a fit does not have adds nothing.

    Parameters
    ----------
    X, Y : rows
        Of both views; Gram matrices if a kernel is precomputed.
    kernels : pair of Kernels
        Resolved on all rows.
    k : int
        Pairs.
    parts : list of arrays
        Rows to hold out in turn.
    how
        Arguments of :func:`find_pairs`.
    """
    n, k, fits = X.shape[0], min(k, MOST), 0
    cross, x_squares, y_squares = np.zeros((3, k))
    for part in parts:
        rest = np.setdiff1d(np.arange(n), part)
        x, y = (KernelSpace(kernel, _rows(kernel, V, rest, rest)) for kernel, V in zip(kernels, (X, Y), strict=True))
        if not (_varies(x) and _varies(y)):
            continue
        fits += 1
        pairs = find_pairs(x, y, k, **how)
        found = len(pairs.values)
        if found:
            T, S = (
                to.scores(_rows(kernel, V, part, rest))
                for kernel, V, to in zip(kernels, (X, Y), (pairs.x, pairs.y), strict=True)
            )
            T, S = T - T.mean(axis=0), S - S.mean(axis=0)
            cross[:found] += np.einsum("ij,ij->j", T, S)
            x_squares[:found] += np.einsum("ij,ij->j", T, T)
            y_squares[:found] += np.einsum("ij,ij->j", S, S)
    if not fits:
        return None
    sizes = np.sqrt(x_squares) * np.sqrt(y_squares)
    return np.clip(np.divide(cross, sizes, out=np.zeros(k), where=sizes > 0), -1.0, 1.0)


def partition(n: int, folds: int | None, rng: np.random.Generator) -> tuple[list[Array], str]:
    """Return random parts of the rows to hold out, and what that is called; none if there are too few rows."""
    count = min(folds or 0, n // 3)
    if count < 2:
        return [], ""
    parts = np.array_split(rng.permutation(n), count)
    return (parts, f"{count} folds") if n <= ALL_FOLDS_MAX_ROWS else (parts[:1], f"one part of {count} held out")


def _varies(space: KernelSpace) -> bool:
    """Whether there are more rows that differ than functions the kernel leaves unpenalised."""
    functions = space.kernel.polynomial(space.X) if space.kernel.properly_centred else None
    return functions is None or len(np.unique(functions, axis=0)) > np.linalg.matrix_rank(functions)


def _rows(kernel: Kernel, X: Any, chosen: Array, training: Array) -> Any:
    """Some rows; of a precomputed matrix, their similarities to the training rows."""
    return X[chosen][:, training] if kernel.given else X[chosen]


class LowRankViews:
    """Two views of the same rows, mapped: moments of all rows, and of parts to be held out in turn.

    Parameters
    ----------
    maps : pair of FeatureMap
    pieces : sequence of MappedMoments
        Of parts that are held out in turn, and of the rows that never are.
    parts : int
        How many of them are held out.
    """

    def __init__(self, maps: tuple[FeatureMap, ...], pieces: Sequence[MappedMoments], parts: int) -> None:
        self.maps, self.pieces = maps, list(pieces)
        self.parts = self.pieces[:parts]
        self.all = reduce(MappedMoments.__add__, self.pieces)

    def pairs(
        self,
        moments: MappedMoments,
        k: int | None,
        ridge: tuple[float, float],
        *,
        rank: int | None,
        solver: str,
        rng: Any,
    ) -> tuple[KernelPairs, tuple[Array, Array]]:
        """Return the k leading pairs (all if None), and the directions of both sides in the features."""
        spaces = [LowRankSpace(map, moments, view) for view, map in enumerate(self.maps)]
        a, b = (space.basis(rank, solver if rank else "auto", rng) for space in spaces)
        S = moments.moments.scatter[moments.part(0), moments.part(1)]
        with pinned_if_narrow(max(S.shape)):
            cross = (a.directions / a.singular).T @ S @ (b.directions / b.singular)
            mix = mixing.correlate(a.singular, b.singular, cross, moments.moments.weight, ridge)
        k = min(len(mix.values), k or len(mix.values))
        A, B = a.directions @ mix.x[:, :k], b.directions @ mix.y[:, :k]
        signs = orient(_anchored(a, A)) if k else np.ones(0)
        A, B = A * signs, B * signs
        x, y = (projection(basis.features, M, basis.mean) for basis, M in ((a, A), (b, B)))
        reason = f"{a.limit:,} and {b.limit:,} features stand for the kernels"
        stopped = "; ".join(filter(None, (a.trace.stopped, b.trace.stopped)))
        trace = SolverTrace(
            a.trace.solver, reason, "one pass for the moments", a.trace.converged and b.trace.converged, stopped
        )
        plain = np.clip(_ratio(*_sums(moments, A, B)), -1.0, 1.0)
        residuals = np.concatenate([a.residuals, b.residuals])
        found = KernelPairs(mix.values[:k], x, y, plain, None, residuals, trace, (a, b))
        return found, (A, B)

    def held_out(self, k: int, **how: Any) -> Array | None:
        """Return the correlations of the scores of parts that were held out: moments of the others give the fit.

        See :func:`gramian.estimators.kernel_cca_pairs.held_out_correlations`.
        """
        k, sums = min(k, MOST), np.zeros((3, min(k, MOST)))
        for at, part in enumerate(self.parts):
            rest = reduce(MappedMoments.__add__, self.pieces[:at] + self.pieces[at + 1 :])
            _, (A, B) = self.pairs(rest, k, **how)
            sums[:, : A.shape[1]] += _sums(part, A, B)
        return np.clip(_ratio(*sums), -1.0, 1.0) if self.parts else None


def pieces_of(maps: tuple[FeatureMap, ...], views: tuple[Any, Any], parts: Sequence[Array]) -> list[MappedMoments]:
    """Moments of parts of rows, and of the rows that are in none of them."""
    if not parts:
        return [mapped_moments(maps, views)]
    rest = np.setdiff1d(np.arange(views[0].shape[0]), np.concatenate(parts))
    if isinstance(views[0], RemoteTable):
        return list(part_moments(maps, views, [part for part in (*parts, rest) if len(part)]))
    return [mapped_moments(maps, [V[part] for V in views]) for part in (*parts, rest) if len(part)]


def _anchored(basis: LowRankBasis, A: Array) -> Array:
    """Scores of the landmarks, which decide the signs; random features have none."""
    features = basis.features
    return features.features(features.anchors) @ A - basis.mean @ A if features.from_points else A


def _sums(moments: MappedMoments, A: Array, B: Array) -> Array:
    """Sums of products and of squares of centred scores, pair by pair."""
    S, x, y = moments.moments.scatter, moments.part(0), moments.part(1)
    return np.stack(
        [np.einsum("ik,ik->k", P, M @ Q) for P, M, Q in ((A, S[x, y], B), (A, S[x, x], A), (B, S[y, y], B))]
    )


def _ratio(cross: Array, x: Array, y: Array) -> Array:
    sizes = np.sqrt(np.maximum(x, 0.0)) * np.sqrt(np.maximum(y, 0.0))
    return np.divide(cross, sizes, out=np.zeros_like(cross), where=sizes > 0)
