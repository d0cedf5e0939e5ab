"""Rows that stand for all: drawn by randomly pivoted Cholesky, by k-means++, or uniformly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import DTypeLike

from gramian import lapack
from gramian.config import one_blas_thread
from gramian.engine.scatter import GrowingFactor
from gramian.engine.tiles import for_each, spans
from gramian.kernels import Kernel
from gramian.operators.features import FeatureMap
from gramian.operators.gram import Gram
from gramian.progress import track
from gramian.results import Array, Matrix

#: Rows visited by a thread at a time.
PIVOT_STRIP_ROWS = 2048
#: Rows to choose for each column from which on a prepared copy of the rows is small beside what is kept anyway.
PREPARED_MIN_PIVOTS_PER_COLUMN = 8
#: Rows proposed at a time: many enough for a quick matrix product, few enough that most are accepted.
PROPOSALS_PER_BLOCK = 128
#: Rows looked at to find out whether a kernel that may be indefinite is.
POSITIVITY_CHECK_ROWS = 500
#: Proposals rejected in a row before what is left counts as rounding.
MAX_REJECTED_BLOCKS = 20


def uniform(n: int, count: int, rng: np.random.Generator, weights: Array | None = None) -> Array:
    """Draw rows without replacement, in proportion to their weights."""
    if weights is None:
        return rng.choice(n, count, replace=False)
    return rng.choice(n, min(count, int((weights > 0).sum())), replace=False, p=weights / weights.sum())


class PivotedCholesky:
    """The matrix ``K - F'F`` of rows, with the Cholesky factor ``F = L^-1 K(Z, X)`` of chosen rows Z, which grows.

    ``count``: most rows that will be chosen. ``chosen``: rows so far. ``left`` (n,): the diagonal; exactly 0 at chosen
    rows. ``dtype``: precision of F, which takes ``n count`` numbers; a chosen row takes n kernel values and ``2 n``
    multiplications for each one before it.
    """

    def __init__(self, kernel: Kernel, X: Matrix, count: int) -> None:
        self.kernel, self.X, n = kernel, X, X.shape[0]
        self.dtype: np.dtype[Any] = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        self.factor = GrowingFactor(n, count, self.dtype)
        self.chosen, self.left = np.empty(0, dtype=np.intp), np.array(kernel.diagonal(X), dtype=np.float64)
        # Rows of few columns are prepared once for all; others as they are visited, so that there is no copy of them.
        prepared = PREPARED_MIN_PIVOTS_PER_COLUMN * X.shape[1] <= count

        def visited(chosen: Array, rows: slice, out: Array) -> Array:
            pairs = kernel.pairs(X[chosen], X[rows], self.dtype)
            return pairs.tile(slice(0, pairs.shape[0]), slice(0, pairs.shape[1]), out)

        self._values = kernel.pairs(X, X, self.dtype).tile if prepared else visited

    def among(self, rows: Array) -> Array:
        """The part of the matrix that belongs to some rows."""
        A = self.factor.columns(rows).astype(np.float64)
        return self.kernel.block(self.X[rows], self.X[rows]) - A @ A.T

    def choose(self, rows: Array, L: Array) -> None:
        """Take out more rows; L is the Cholesky factor of the part of the matrix that belongs to them."""
        inverse = scipy.linalg.solve_triangular(L, np.eye(len(rows)), lower=True, check_finite=False)
        inverse = np.ascontiguousarray(inverse, dtype=self.dtype)

        def values(columns: slice, out: Array) -> None:
            self._values(rows, columns, out)

        self.factor.extend(rows, inverse, values, self.left)
        self.chosen = np.concatenate([self.chosen, rows])
        self.left[self.chosen] = 0.0


def pivots(
    kernel: Kernel, X: Matrix, count: int, rng: np.random.Generator, weights: Array | None = None, *, tol: float = 0.0
) -> Array:
    r"""Draw at most ``count`` rows by randomly pivoted Cholesky.

    Each row is drawn with probability proportional to what those before leave of it,
    :math:`u_i = k(x_i, x_i) - k(x_i, Z) K(Z, Z)^{-1} k(Z, x_i)`. Rows are proposed in blocks from the u before the
    block, and a proposal is accepted with probability (u now) / (u then): the accepted ones have the distribution of
    rows drawn one by one (Epperly, Tropp, Webber, Embrace rejection: kernel matrix approximation by accelerated
    randomly pivoted Cholesky, SIAM Journal on Matrix Analysis and Applications 2025).

    Fewer than ``count`` come if the others are in their span, to rounding, or if these leave no more than the share
    ``tol`` of the trace. ``weights`` (n,): frequencies of the rows. Costs ``n count`` kernel values and numbers in
    memory, ``n count^2`` multiplications in matrix products.
    """
    n, rest, before = X.shape[0], PivotedCholesky(kernel, X, count), 0
    w, eps = np.ones(n) if weights is None else weights, float(np.finfo(rest.dtype).eps)
    floor = max(tol, n * eps) * float(w @ rest.left)
    rounding = 8 * eps * float(rest.left.max(initial=0.0))

    def chances() -> Array | None:
        return w * rest.left if len(rest.chosen) < count and w @ rest.left > floor else None

    def accept(drawn: Array, uniforms: Array) -> bool:
        nonlocal before
        accepted, L = _reject(rest.among(drawn), rest.left[drawn], uniforms, rounding, count - len(rest.chosen))
        if len(accepted):
            before = len(rest.chosen)
            rest.choose(drawn[accepted], L)
        return bool(len(accepted))

    _propose(chances, accept, count, rng)
    if tol and len(rest.chosen) and w @ rest.left <= floor:
        # What each row of the last block took, from the last: fewer may be enough.
        taken = rest.factor.squares(before, w)
        left = float(w @ rest.left) + np.append(np.cumsum(taken[::-1])[::-1], 0.0)
        return rest.chosen[: before + int(np.argmax(left <= floor))]
    # Where nothing is left of any row, any will do.
    return rest.chosen if len(rest.chosen) else np.zeros(1, dtype=np.intp)


def spread(kernel: Kernel, X: Matrix, count: int, rng: np.random.Generator, weights: Array | None = None) -> Array:
    """Draw rows as k-means++ draws seeds: in proportion to the squared distance in feature space to those before.

    Proposals are made in blocks and rejected as in :func:`pivots` (Arthur, Vassilvitskii, k-means++: the advantages of
    careful seeding, SODA 2007).
    """
    n = X.shape[0]
    w = np.ones(n) if weights is None else weights
    own = np.array(kernel.diagonal(X), dtype=np.float64)
    rounding = 64 * np.finfo(np.float64).eps * np.abs(own)
    chosen, apart = np.empty(0, dtype=np.intp), np.full(n, np.inf)

    def choose(rows: Array) -> None:
        nonlocal chosen
        _approach(kernel, X, rows, own, apart)
        chosen = np.concatenate([chosen, rows])

    def chances() -> Array | None:
        found = w * np.where(apart > rounding, apart, 0.0)
        return found if len(chosen) < count and found.any() else None

    def accept(drawn: Array, uniforms: Array) -> bool:
        D = own[drawn][:, None] + own[drawn] - 2 * kernel.block(X[drawn], X[drawn])
        now = apart[drawn].copy()
        accepted: list[int] = []
        for i in range(len(drawn)):
            needed = len(chosen) + len(accepted) < count
            if needed and now[i] > rounding[drawn[i]] and uniforms[i] * apart[drawn[i]] < now[i]:
                accepted.append(i)
                np.minimum(now, D[i], out=now)
                now[i] = 0.0
        if accepted:
            choose(drawn[accepted])
        return bool(accepted)

    choose(_draw(w, 1, rng))
    _propose(chances, accept, count, rng)
    return chosen


def _propose(
    chances: Callable[[], Array | None], accept: Callable[[Array, Array], bool], count: int, rng: np.random.Generator
) -> None:
    """Propose blocks of rows until there are no more chances, or block after block is rejected as a whole."""
    rejected, blocks = 0, -(-count // PROPOSALS_PER_BLOCK)
    with track("landmarks", expected=blocks) as tracker, one_blas_thread():
        while rejected < MAX_REJECTED_BLOCKS and (found := chances()) is not None:
            drawn = _draw(found, PROPOSALS_PER_BLOCK, rng)
            if accept(drawn, rng.random(len(drawn))):
                rejected = 0
                tracker.advance(blocks)
            else:
                rejected += 1


def centred_on_cells(kernel: Kernel, X: Matrix, Z: Matrix, weights: Array | None = None) -> Any:
    """Move each landmark to the mean of the rows that are nearest to it, if similarities fall with the distance.

    One step of Lloyd's iteration: on balanced clusters the trace error falls by 16 to 29 %, for the price of plain
    distances.
    """
    if sp.issparse(X) or not kernel.falls_with_distance:
        return Z
    mean = Z.mean(axis=0, dtype=np.float64).astype(Z.dtype)
    C, cells = Z - mean, np.empty(X.shape[0], dtype=np.intp)
    halves = np.einsum("ij,ij->i", C, C) / 2

    def find(rows: slice) -> None:
        np.argmax((X[rows] - mean) @ C.T - halves, axis=1, out=cells[rows])

    for_each(spans(X.shape[0], PIVOT_STRIP_ROWS), find)
    w = np.ones(X.shape[0]) if weights is None else weights
    member = sp.csr_array((w, (cells, np.arange(len(cells)))), shape=(len(Z), len(cells)))
    masses = np.bincount(cells, w, len(Z))[:, None]
    means = member @ (X - mean).astype(np.float64) / np.where(masses > 0, masses, 1.0) + mean
    return np.where(masses > 0, means, Z).astype(Z.dtype)


def landmark_map(kernel: Kernel, Z: Matrix, dtype: DTypeLike) -> FeatureMap:
    """Return the features that landmarks give, without those landmarks that are in the span of others to rounding.

    ``dtype`` is the precision in which rows will be mapped; it decides what is rounding.
    """
    W = Gram(kernel, Z).toarray()
    size = float(W.diagonal().max(initial=0.0))
    if not np.isfinite(W).all():
        raise ValueError(f"the kernel {kernel} overflows at the landmarks. Divide X by a constant, or standardise it.")
    check_positive(kernel, Z)
    if size <= 0:
        return FeatureMap(kernel, Z[:1], np.ones((1, 1)))  # nothing there: features that are all 0
    tol = float(np.finfo(dtype).eps) ** (2 / 3) * size
    factor, order, rank = lapack.pivoted_cholesky(W, tol)
    R = lapack.lower_inverse(np.tril(factor[:rank, :rank])).T
    return FeatureMap(kernel, Z[order[:rank]], np.ascontiguousarray(R))


def check_positive(kernel: Kernel, X: Matrix) -> None:
    """Refuse a kernel that has a negative eigenvalue among some of the rows."""
    if kernel.positive_definite:
        return
    some = X[:: -(-X.shape[0] // POSITIVITY_CHECK_ROWS)]
    values = lapack.eigvalsh(Gram(kernel, some).toarray())
    if values[0] < -1e-8 * np.abs(values).max():
        raise ValueError(
            f"landmarks need a positive definite kernel; among {some.shape[0]} rows {kernel} has an eigenvalue of "
            f"{values[0]:.3g}. Use landmarks=None, which takes indefinite kernels."
        )


def _draw(chances: Array, count: int, rng: np.random.Generator) -> Array:
    """Draw with replacement, by counting through the chances."""
    sums = np.cumsum(chances)
    return np.minimum(np.searchsorted(sums, rng.random(count) * sums[-1], side="right"), len(sums) - 1)


def _reject(core: Array, before: Array, uniforms: Array, rounding: float, most: int) -> tuple[Array, Array]:
    """Go through proposals one by one: accept in proportion to what is left of each, and take its part from the rest.

    Returns the places of the accepted ones and the Cholesky factor of the core restricted to them.
    """
    accepted, columns = np.empty(0, dtype=np.intp), np.empty(core.shape)
    for i, whole in enumerate(core.diagonal()):
        k = len(accepted)
        own = columns[i, :k]
        now = whole - own @ own
        if k < most and now > rounding and uniforms[i] * before[i] < now:
            columns[:, k] = (core[:, i] - columns[:, :k] @ own) / np.sqrt(now)
            accepted = np.append(accepted, i)
    return accepted, np.tril(columns[accepted, : len(accepted)])


def _approach(kernel: Kernel, X: Matrix, chosen: Array, own: Array, apart: Array) -> None:
    """Lower the squared distances of all rows to the nearest chosen one."""
    Z = X[chosen]

    def lower(rows: slice) -> None:
        found = own[rows] + (own[chosen][:, None] - 2 * kernel.block(Z, X[rows])).min(axis=0)
        apart[rows] = np.minimum(apart[rows], np.maximum(found, 0.0))

    for_each(spans(X.shape[0], PIVOT_STRIP_ROWS), lower)
    apart[chosen] = 0.0
