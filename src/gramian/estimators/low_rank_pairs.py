"""Canonical pairs of two feature spaces of low rank, from the moments of mapped rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from gramian import mixing
from gramian.estimators.kernel_folds import MOST
from gramian.estimators.kernel_pairs import KernelPairs
from gramian.operators.features import FeatureMap
from gramian.operators.mapped_moments import MappedMoments, mapped_moments, part_moments
from gramian.operators.remote_table import RemoteTable
from gramian.results import Array, SolverTrace
from gramian.solvers.eigen import orient
from gramian.spaces.low_rank import LowRankBasis, LowRankSpace, pinned_if_narrow, projection


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

        See :func:`gramian.estimators.kernel_folds.held_out_correlations`.
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
