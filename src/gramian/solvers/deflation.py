r"""Components for regression by deflation, for a stack of problems: the folds of a cross-validation, or one fit.

Arrays have a first axis over problems. Rows of zeros change nothing, so problems with fewer rows are padded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from gramian import lapack
from gramian.config import one_blas_thread
from gramian.lapack import orient
from gramian.results import Array

#: The least positive number: what is divided by it and is zero stays so.
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Factors:
    r"""Components of A (r x d) that predict B (r x q), for each of g problems.

    Definition
    ----------
    .. math:: t_k = A r_k, \quad p_k = A't_k / t_k't_k, \quad q_k = B't_k / t_k't_k, \qquad
              \hat B = A \sum_k r_k q_k'

    with orthogonal scores :math:`t_k`.

    ``weights``, ``rotations``, ``x_loadings`` (g, d, k): unit directions :math:`w_k`, the :math:`r_k` that give scores
    from A itself, and :math:`p_k`. ``y_loadings``: (g, q, k). ``squares`` (g, k): :math:`t_k't_k`; 0 for a component
    that was not found.
    """

    weights: Array
    rotations: Array
    x_loadings: Array
    y_loadings: Array
    squares: Array

    @cached_property
    def found(self) -> Array:
        """Number of components found in each problem."""
        return (self.squares > 0).sum(axis=1)

    def path(self) -> Array:
        """Coefficients (g, k, d, q) of A for 1, 2, ... components."""
        terms = np.einsum("gdk,gqk->gkdq", self.rotations, self.y_loadings)
        return np.cumsum(terms, axis=1, out=terms)

    def truncate(self, k: int) -> Factors:
        """The first k components."""
        return Factors(*(part[..., :k] for part in self.parts()))

    def problem(self, g: int) -> Factors:
        """One of the problems, as a stack of one."""
        return Factors(*(part[g : g + 1] for part in self.parts()))

    def single(self) -> Factors:
        """The first problem, its components up to the last that was found, without the axis over problems."""
        k = max(int(self.found[0]), 1)
        return Factors(*(part[0, ..., :k] for part in self.parts()))

    def parts(self) -> tuple[Array, ...]:
        """All arrays, in the order above."""
        return self.weights, self.rotations, self.x_loadings, self.y_loadings, self.squares


def partial_least_squares(A: Array, B: Array, k: int, blur: Array) -> Factors:
    r"""Directions of greatest covariance with B, one after the other (PLS1 and PLS2).

    Definition
    ----------
    .. math:: w = \text{leading left singular vector of } A'B, \quad t = A w, \quad A \leftarrow (I - t t'/t't) A

    until k are found or ``A'B = 0`` (to rounding, coarser by ``blur`` for each problem). A is not changed: its
    deflation is carried by the rotations, and scores are orthogonalised against all before them, which keeps late
    components as exact as early ones.

    Cost
    ----
    ``4 r d k`` multiplications for each problem.
    """
    g, n, d = A.shape
    q, limit = B.shape[2], _limit(A, B) * blur
    (W, R, P), U, Q = np.zeros((3, g, k, d)), np.zeros((g, k, n)), np.zeros((g, k, q))
    lengths = np.zeros((g, k))
    At, alive = A.transpose(0, 2, 1), np.ones(g, dtype=bool)
    with one_blas_thread():
        Z = At @ B
        for a in range(k):
            w, size = _leading(Z)
            alive &= size > limit
            r = w - _transposed(R[:, :a], _times(P[:, :a], w)) if a else w
            t = _times(A, r)
            for _ in range(2 if a else 0):  # twice removes the rounding of the first pass
                t -= _transposed(U[:, :a], _times(U[:, :a], t))
            length = np.sqrt(np.einsum("gr,gr->g", t, t))
            alive &= length > 0
            if not alive.all():
                if not alive.any():
                    break
                w, r, t = (np.where(alive[:, None], part, 0.0) for part in (w, r, t))
                length[~alive] = 1.0
            u = np.divide(t, length[:, None], out=U[:, a])
            p, c = _times(At, u), _transposed(B, u)
            Z -= p[:, :, None] * c[:, None, :]
            W[:, a], P[:, a], Q[:, a], lengths[:, a] = w, p, c, length * alive
            np.divide(r, length[:, None], out=R[:, a])  # by their length here, so that P and Q need not be divided yet
    # The rest is for all components at once: signs, and what is divided by the lengths of the scores.
    signs = orient(W.reshape(-1, d).T).reshape(g, 1, k)
    inverse = signs / np.where(lengths > 0, lengths, 1.0)[:, None]
    factors = zip((W, R, P, Q), (signs, signs * lengths[:, None], inverse, inverse), strict=True)
    W, R, P, Q = (np.multiply(part.transpose(0, 2, 1), factor, order="C") for part, factor in factors)
    return Factors(W, R, P, Q, lengths**2)


def principal_components(A: Array, B: Array, k: int, blur: Array, order: str = "variance") -> Factors:
    r"""Principal components of A, and the regression of B on them.

    Definition
    ----------
    .. math:: A = U S V', \qquad t_i = A v_i, \quad q_i = B'u_i / s_i

    in the order of the variances :math:`s_i^2`, or (``"contribution"``) of the squares of B they account for.

    Cost
    ----
    A singular value decomposition, about ``6 r d^2`` multiplications for each problem.
    """
    with one_blas_thread():
        parts = [_principal(a, b, k, float(c), order) for a, b, c in zip(A, B, blur, strict=True)]
    V, Q, squares = (np.stack(part) for part in zip(*parts, strict=True))
    return Factors(V, V, V, Q, squares)


def _principal(A: Array, B: Array, k: int, blur: float, order: str) -> tuple[Array, Array, Array]:
    found = lapack.left_svd(A, blur)
    s, V = found.values, found.directions
    image = found.vectors.T @ B
    chosen = np.arange(len(s))
    if order == "contribution":
        chosen = np.argsort(-(image**2).sum(axis=1), kind="stable")
    chosen = chosen[:k]
    W, Q, squares = np.zeros((A.shape[1], k)), np.zeros((B.shape[1], k)), np.zeros(k)
    signs = orient(V[:, chosen]) if len(chosen) else np.ones(0)
    W[:, : len(chosen)] = V[:, chosen] * signs
    Q[:, : len(chosen)] = (image[chosen] / s[chosen, None]).T * signs
    squares[: len(chosen)] = s[chosen] ** 2
    return W, Q, squares


def _leading(Z: Array) -> tuple[Array, Array]:
    """Unit left singular vectors of the largest singular value, and that value."""
    if Z.shape[2] == 1:
        size = np.sqrt(np.einsum("gdq,gdq->g", Z, Z))
        return Z[:, :, 0] / np.maximum(size, TINY)[:, None], size
    largest = np.abs(Z).max(axis=(1, 2))
    Z = Z / np.where(largest > 0, largest, 1.0)[:, None, None]  # squares of squares must stay in range
    if Z.shape[2] <= Z.shape[1]:
        left = _times(Z, np.linalg.eigh(Z.transpose(0, 2, 1) @ Z)[1][:, :, -1])
    else:
        top = np.linalg.eigh(Z @ Z.transpose(0, 2, 1))[1][:, :, -1]
        left = _times(Z, _transposed(Z, top))
        size = np.sqrt(np.einsum("gd,gd->g", left, left))
        left = top * np.where(size > 0, np.sqrt(size), 0.0)[:, None]
    size = np.sqrt(np.einsum("gd,gd->g", left, left))
    return left / np.maximum(size, TINY)[:, None], size * largest


def _limit(A: Array, B: Array) -> Array:
    """Size below which A'B cannot be told from zero."""
    lengths = [np.sqrt([np.vdot(m, m) for m in M]) for M in (A, B)]  # no copy, which numpy.linalg.norm makes
    return max(A.shape[1:]) * np.finfo(np.float64).eps * lengths[0] * lengths[1]


def _times(M: Array, v: Array) -> Array:
    return (M @ v[:, :, None])[:, :, 0]


def _transposed(M: Array, v: Array) -> Array:
    return (v[:, None, :] @ M)[:, 0, :]


def covariance_directions(A: Array, B: Array, k: int) -> tuple[Array, Array, Array]:
    """Leading singular vectors of ``A'B`` with values above rounding, oriented by the first side, and the values."""
    with one_blas_thread():
        W, values, Ct = lapack.svd(A.T @ B)
    kept = values[:k] > _limit(A[None], B[None])[0]
    W, C = W[:, :k][:, kept], Ct[:k][kept].T
    signs = orient(W) if W.shape[1] else np.ones(0)
    return W * signs, C * signs, values[:k][kept]


def canonical_partial_least_squares(A: Array, B: Array, k: int) -> tuple[Array, Array, Array, Array, Array]:
    """Pairs of directions of greatest covariance, each side deflated by its own score before the next.

    Returns ``weights, weights, rotations, rotations, covariances``: Of A, of B, of A, of B, and ``w'A'B c`` of each
    pair when it was found.
    """
    sides, limit = [np.array(M, order="C") for M in (A, B)], _limit(A[None], B[None])[0]
    weights: list[list[Array]] = [[], []]
    loadings: list[list[Array]] = [[], []]
    values: list[float] = []
    for _ in range(k):
        w, c, value = covariance_directions(sides[0], sides[1], 1)
        if not len(value) or value[0] <= limit:
            break
        values.append(float(value[0]))
        for side, (M, v) in enumerate(zip(sides, (w[:, 0], c[:, 0]), strict=True)):
            t = M @ v
            p = M.T @ t / (t @ t)
            scipy.linalg.blas.dger(-1.0, p, t, a=M.T, overwrite_a=True)  # M -= t p' without a second matrix
            weights[side].append(v)
            loadings[side].append(p)
    if not values:
        none_x, none_y = np.zeros((A.shape[1], 0)), np.zeros((B.shape[1], 0))
        return none_x, none_y, none_x, none_y, np.zeros(0)
    W, P = [np.column_stack(w) for w in weights], [np.column_stack(p) for p in loadings]
    # Scores come from the views themselves by R = W (P'W)^-1, which carries the deflation.
    R = [w @ np.linalg.inv(p.T @ w) for w, p in zip(W, P, strict=True)]
    return W[0], W[1], R[0], R[1], np.array(values)
