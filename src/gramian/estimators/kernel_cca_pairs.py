"""Canonical pairs of two kernel spaces: the search, and correlations on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from gramian import lapack, mixing
from gramian.config import format_bytes, memory_budget, pinned_if_small, within_budget
from gramian.estimators.cca import correlations
from gramian.kernels import Kernel
from gramian.lapack import orient
from gramian.operators.centering import Centred, Projected
from gramian.operators.features import FeatureMap
from gramian.operators.mapped_moments import MappedMoments, mapped_moments, part_moments
from gramian.projection import KernelProjection
from gramian.results import Array, Matrix, Mix, SolverTrace
from gramian.solvers.canonical import Canonical, CanonicalPairs
from gramian.solvers.eigen import DENSE_LIMIT, DENSE_RETRY_MAX_ROWS, LAPACK_QUICK_MAX_ROWS
from gramian.spaces import KernelSpace, SingularBasis
from gramian.spaces.kernel import ConditionalProjection, centred_projection
from gramian.spaces.low_rank import LowRankBasis, LowRankSpace, pinned_if_narrow, projection

#: Components of each space where neither all of them nor products with the whole matrices are possible.
DEFAULT_RANK = 200
#: Matrices of n x n that the dense route holds at once: two sets of vectors, their products, and LAPACK's room to work.
DENSE_ROUTE_MATRICES = 8
#: Rows up to which every fold is held out in turn; beyond, one of them is held out and the rest is fitted once.
ALL_FOLDS_MAX_ROWS = 5_000
#: Pairs whose held-out correlations are found: where all are asked for, most are noise.
HELD_OUT_MAX_PAIRS = 10
#: What the argument ``solver`` may be.
PAIR_SOLVERS = ("auto", "dense", "krylov")


@dataclass(frozen=True)
class KernelPairs:
    """Canonical pairs of two kernel spaces, in order; the X side decides the signs.

    ``values`` are canonical correlations, ``x`` and ``y`` projections of new rows, ``plain`` the correlations of the
    scores of training rows, of which those of X are ``x_scores`` where they are at hand. ``residuals`` certify the
    pairs, or the components of both spaces, ``bases``, where these were computed. ``cut`` says whether a rank was set
    that nobody had asked for.
    """

    values: Array
    x: KernelProjection | ConditionalProjection
    y: KernelProjection | ConditionalProjection
    plain: Array
    x_scores: Array | None
    residuals: Array
    trace: SolverTrace
    bases: tuple[SingularBasis, ...] = ()
    cut: bool = False


@dataclass(frozen=True)
class Search:
    """How pairs are to be found: the arguments of the estimator."""

    ridge: tuple[float, float]
    rank: int | None
    solver: str
    rng: np.random.Generator


def find_pairs(x: KernelSpace, y: KernelSpace, k: int | None, how: Search) -> KernelPairs:
    """Return the k leading pairs (all if None) by the route that suits size, ridges and kernels."""
    route, reason = choose_pairs_route(x.n, k, products_obstacle(x, y, how.ridge), how.rank, how.solver)
    dense = replace(how, solver="dense")
    if route == "products":
        pairs = _by_products(x, y, int(k or 1), how, reason)
        if how.solver == "auto" and not pairs.trace.converged and x.n <= DENSE_RETRY_MAX_ROWS and _fits(x.n):
            return _from_bases(x, y, k, dense, f"products did not settle: {pairs.trace.stopped}")
        return pairs
    if route == "rank":
        found = how.rank or min(x.n, max(DEFAULT_RANK, 2 * int(k or 1)))
        return _from_bases(x, y, k, replace(how, rank=found), reason, cut=how.rank is None)
    return _from_bases(x, y, k, dense, reason)


def choose_pairs_route(n: int, k: int | None, obstacle: str, rank: int | None, solver: str) -> tuple[str, str]:
    """Return a route ("dense", "products", "rank") for n rows, and the reason for it.

    ``obstacle`` says why products do not lead to the pairs, if they do not: see :func:`products_obstacle`.
    """
    if solver == "dense":
        if not _fits(n):
            raise ValueError(
                f"solver='dense' needs {format_bytes(DENSE_ROUTE_MATRICES * 8 * n**2)} for {n:,} rows (budget "
                f"{format_bytes(memory_budget())}, largest n {DENSE_LIMIT:,}). Use solver='auto' and an n_components."
            )
        return "dense", "as asked"
    if rank is not None:
        return "rank", f"{rank:,} components of each space, as asked"
    if solver == "krylov":
        if k is None:
            raise ValueError(
                "solver='krylov' finds leading pairs, not all. Say how many: n_components=5, for instance."
            )
        return ("rank", obstacle) if obstacle else ("products", "as asked")
    fits = _fits(n)
    if fits and n <= LAPACK_QUICK_MAX_ROWS:
        return "dense", f"{n:,} x {n:,} matrices are small"
    if k is None:
        if fits:
            return "dense", "all pairs were asked for"
        raise ValueError(
            f"n_components=None asks for all pairs of {n:,} rows, a dense problem of "
            f"{format_bytes(DENSE_ROUTE_MATRICES * 8 * n**2)}. Say how many you need, for instance n_components=5."
        )
    if fits and (obstacle or k > n // 10):
        return "dense", obstacle or f"{k:,} pairs of {n:,} rows are many"
    if obstacle:
        return "rank", obstacle
    if fits:
        return "products", f"for {k} pairs of {n:,} rows a few products are quicker than factorisations"
    return "products", f"matrix-free: the {n:,} x {n:,} matrices would take {format_bytes(8 * n**2)} each"


def products_obstacle(x: KernelSpace, y: KernelSpace, ridge: tuple[float, float]) -> str:
    """Why products with the whole matrices do not lead to the pairs; nothing if they do."""
    if min(ridge) <= 0:
        return "without a ridge only bases of both spaces tell what varies"
    for space, r in zip((x, y), ridge, strict=True):
        if not (space.kernel.positive_definite or space.kernel.properly_centred):
            return f"the kernel {space.kernel} is not known to be positive definite"
        if r < np.finfo(np.float64).eps * np.abs(space.kernel.diagonal(space.X)).max():
            return f"the ridge {r:.3g} is below the rounding of the kernel {space.kernel}"
    return ""


def _from_bases(
    x: KernelSpace, y: KernelSpace, k: int | None, how: Search, reason: str, cut: bool = False
) -> KernelPairs:
    """Singular bases of both spaces, then a small problem."""
    rank = how.rank
    a, b = (space.basis(None if rank is None else min(rank, space.n), how.solver, how.rng) for space in (x, y))
    with pinned_if_small(x.n * a.rank * b.rank):
        cross = lapack.interruptible(np.matmul, a.vectors.T, b.vectors)
        mix = mixing.correlate(a.singular, b.singular, cross, x.n, how.ridge)
        k = min(len(mix.values), k or len(mix.values))
        Tx, Ty = a.scores() @ mix.x[:, :k], b.scores() @ mix.y[:, :k]
    signs = orient(Tx) if k else np.ones(0)
    to_x, to_y = (
        basis.projection(Mix(forward=M[:, :k] * signs, back=(M[:, :k] * signs * (basis.variances + r)[:, None]).T))
        for basis, M, r in zip((a, b), (mix.x, mix.y), how.ridge, strict=True)
    )
    work = f"X: {a.trace.products}; Y: {b.trace.products}" if a.trace.products else ""
    found = mix.values[:k], to_x, to_y, _plain(Tx, Ty), Tx * signs
    return KernelPairs(*found, *_certified(a, b, reason, work), cut and max(a.rank, b.rank) == rank)


def _certified(
    a: SingularBasis, b: SingularBasis, reason: str, work: str
) -> tuple[Array, SolverTrace, tuple[SingularBasis, ...]]:
    """Residuals of the components of both spaces, how they were found, and the components."""
    stopped = "; ".join(filter(None, (a.trace.stopped, b.trace.stopped)))
    trace = SolverTrace(a.trace.solver, reason, work, a.trace.converged and b.trace.converged, stopped)
    return np.concatenate([a.residuals, b.residuals]), trace, (a, b)


def _by_products(x: KernelSpace, y: KernelSpace, k: int, how: Search, reason: str) -> KernelPairs:
    """All components of both spaces, from products with their matrices."""
    A, B = x.centred(), y.centred()
    root = np.sqrt(x.n - 1.0)
    # A ridge on variances of divisor n - 1 is n - 1 times as much on the kernel matrix.
    ridge = how.ridge[0] * root**2, how.ridge[1] * root**2
    found: CanonicalPairs = Canonical().solve(A, B, k, ridge, how.rng)
    signs = (orient(found.x_images) if len(found.values) else np.ones(0)) * root
    trace = SolverTrace(Canonical.name, reason, found.products, found.converged, found.stopped)
    x_side, y_side = _projection(x, A, found.x * signs), _projection(y, B, found.y * signs)
    plain = _plain(found.x_images, found.y_images)
    return KernelPairs(found.values, x_side, y_side, plain, found.x_images * signs, found.residuals, trace)


def _projection(
    space: KernelSpace, gram: Centred | Projected, coefficients: Array
) -> KernelProjection | ConditionalProjection:
    return centred_projection(space.kernel, space.kernel.anchors(space.X), gram.centring, coefficients, space.origin)


def _plain(T: Array, S: Array) -> Array:
    """Correlations of centred scores, pair by pair."""
    return np.clip(np.diag(correlations(T, S)), -1.0, 1.0)


def _fits(n: int) -> bool:
    return n <= DENSE_LIMIT and within_budget(DENSE_ROUTE_MATRICES * 8 * n**2)


@dataclass(frozen=True)
class ExactViews:
    """Rows of two views with their kernels, resolved on all rows, and parts of them that are held out in turn."""

    kernels: tuple[Kernel, Kernel]
    rows: tuple[Matrix, Matrix]
    parts: list[Array]

    def pairs(self, k: int | None, how: Search) -> KernelPairs:
        """Return the k leading pairs (all if None)."""
        x, y = map(KernelSpace, self.kernels, self.rows)
        return find_pairs(x, y, k, how)

    def held_out(self, k: int, how: Search) -> Array | None:
        r"""Return the correlations of the scores of rows that were held out; None if the others never vary.

        Definition
        ----------
        .. math:: r_k = \frac{\sum_f \sum_{i \in f} (t_{ik} - \bar t_{fk})(s_{ik} - \bar s_{fk})}
              {\sqrt{\sum_f \sum_{i \in f} (t_{ik} - \bar t_{fk})^2 \sum_f \sum_{i \in f} (s_{ik} - \bar s_{fk})^2}}

        with scores t and s of fold f from a fit to the other folds. Sums rather than means of correlations: a small
        fold then weighs little, and signs and sizes of the fits do not matter. A pair that a fit does not have adds
        nothing.
        """
        everything, fits, sums = np.arange(self.rows[0].shape[0]), 0, np.zeros((3, min(k, HELD_OUT_MAX_PAIRS)))
        for part in self.parts:
            rest = np.setdiff1d(everything, part)
            x, y = map(KernelSpace, self.kernels, self._some(rest, rest))
            if not (_varies(x) and _varies(y)):
                continue
            fits += 1
            pairs = find_pairs(x, y, sums.shape[1], how)
            X, Y = self._some(part, rest)
            T, S = pairs.x.scores(X), pairs.y.scores(Y)
            T, S = T - T.mean(axis=0), S - S.mean(axis=0)
            sums[:, : T.shape[1]] += [np.einsum("ij,ij->j", P, Q) for P, Q in ((T, S), (T, T), (S, S))]
        return np.clip(_ratio(*sums), -1.0, 1.0) if fits else None

    def _some(self, chosen: Array, training: Array) -> list[Matrix]:
        """Some rows of both views; of precomputed matrices, their similarities to the training rows."""
        views = zip(self.kernels, self.rows, strict=True)
        return [V[chosen][:, training] if kernel.given else V[chosen] for kernel, V in views]


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


class LowRankViews:
    """Two views of the same rows, mapped: moments of all rows, and of parts to be held out in turn.

    ``pieces`` are moments of ``parts`` parts that are held out in turn, and then of the rows that never are.
    """

    def __init__(self, maps: tuple[FeatureMap, ...], pieces: Sequence[MappedMoments], parts: int) -> None:
        self.maps, self.pieces = maps, list(pieces)
        self.parts = self.pieces[:parts]
        self.all = reduce(MappedMoments.__add__, self.pieces)

    def pairs(self, k: int | None, how: Search) -> KernelPairs:
        """Return the k leading pairs (all if None)."""
        return self._pairs(self.all, k, how)[0]

    def _pairs(self, moments: MappedMoments, k: int | None, how: Search) -> tuple[KernelPairs, tuple[Array, Array]]:
        """Return the k leading pairs (all if None), and the directions of both sides in the features."""
        spaces = [LowRankSpace(map, moments, view) for view, map in enumerate(self.maps)]
        a, b = (space.basis(how.rank, how.solver if how.rank else "auto", how.rng) for space in spaces)
        S = moments.moments.scatter[moments.part(0), moments.part(1)]
        with pinned_if_narrow(max(S.shape)):
            cross = (a.directions / a.singular).T @ S @ (b.directions / b.singular)
            mix = mixing.correlate(a.singular, b.singular, cross, moments.moments.weight, how.ridge)
        k = min(len(mix.values), k or len(mix.values))
        A, B = a.directions @ mix.x[:, :k], b.directions @ mix.y[:, :k]
        signs = orient(_anchored(a, A)) if k else np.ones(0)
        A, B = A * signs, B * signs
        x, y = (projection(basis.features, M, basis.mean) for basis, M in ((a, A), (b, B)))
        reason = f"{a.limit:,} and {b.limit:,} features stand for the kernels"
        plain = np.clip(_ratio(*_sums(moments, A, B)), -1.0, 1.0)
        certified = _certified(a, b, reason, "one pass for the moments")
        found = KernelPairs(mix.values[:k], x, y, plain, None, *certified)
        return found, (A, B)

    def held_out(self, k: int, how: Search) -> Array | None:
        """Return the correlations of the scores of parts that were held out: moments of the others give the fit.

        See :meth:`ExactViews.held_out`.
        """
        k, sums = min(k, HELD_OUT_MAX_PAIRS), np.zeros((3, min(k, HELD_OUT_MAX_PAIRS)))
        for at, part in enumerate(self.parts):
            rest = reduce(MappedMoments.__add__, self.pieces[:at] + self.pieces[at + 1 :])
            _, (A, B) = self._pairs(rest, k, how)
            sums[:, : A.shape[1]] += _sums(part, A, B)
        return np.clip(_ratio(*sums), -1.0, 1.0) if self.parts else None


def pieces_of(maps: tuple[FeatureMap, ...], views: tuple[Any, Any], parts: Sequence[Array]) -> list[MappedMoments]:
    """Moments of parts of rows, and of the rows that are in none of them."""
    if not parts:
        return [mapped_moments(maps, views)]
    rest = np.setdiff1d(np.arange(views[0].shape[0]), np.concatenate(parts))
    chosen = [part for part in (*parts, rest) if len(part)]
    return list(part_moments(maps, views, chosen))


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
