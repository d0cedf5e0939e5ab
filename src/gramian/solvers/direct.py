"""Dense linear systems: a Cholesky factor where there is one, the whole spectrum where there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from gramian import lapack
from gramian.config import memory_budget, one_blas_thread
from gramian.operators import Operator
from gramian.operators.tiles import spans
from gramian.progress import part_done, track
from gramian.results import Array
from gramian.solvers.cholesky import CholeskyFactor, NotPositive
from gramian.solvers.dense import pinned_if_small
from gramian.solvers.systems import OVERFLOW, Found, lengths, negligible, origin

#: Largest matrix whose whole spectrum is computed for a linear system.
SPECTRUM_LIMIT = 4_000
#: Up to here negative eigenvalues are counted.
COUNTABLE = 2_000
#: Relative residual beyond which a factor holds little but rounding.
ROUGH = 1e-3
EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Cholesky:
    r"""Form the matrix and factor it: ``A + shift I = LL'``.

    Where that fails, because A is indefinite or singular to rounding, the eigenvalues decide: the solution is that of
    least squares, of least norm, and up to 4,000 rows.

    Parameters
    ----------
    inverse : bool
        Whether to compute the diagonal of the inverse, which says what leaving a row out would do.

    Cost
    ----
    ``n^3 / 3`` multiplications and additions, once more for what leaving a row out would do; ``8 n^2`` bytes.
    """

    inverse: bool = True

    name: ClassVar[str] = "cholesky"

    def solve(
        self, operator: Operator, B: Array, shift: float, rng: np.random.Generator, null: Array | None = None
    ) -> Found:
        with track("factorisation", expected=2) as tracker:
            A, level = _lifted(operator, null)
            try:
                A[np.diag_indices(operator.n)] += shift
                least = operator.n * EPS * np.maximum(A.diagonal(), origin(operator))
                with one_blas_thread():
                    factor = CholeskyFactor(A, part_done)
                    if (factor.pivots() <= least).any():
                        raise NotPositive("a pivot is no more than rounding")
                    tracker.advance(2)
                    X = factor.solve(B)
                    # Once more with what is left: the rounding of the tiles does not add up.
                    X += factor.solve(B - (operator @ X + shift * X))
                    left = B - (operator @ X + shift * X)
                    if operator.n <= SPECTRUM_LIMIT and (lengths(left, zero=0.0) > ROUGH * lengths(B)).any():
                        raise NotPositive("the factor is mostly rounding")
                    inverse = factor.inverse_diagonal() if self.inverse else None
            except NotPositive:
                return _by_spectrum(operator, B, shift, null)
        share = np.ones(operator.n)
        if null is not None and inverse is not None:
            known = np.einsum("ij,ij->i", null, null)
            share -= known
            inverse -= known / (level + shift)
        deleted = None if inverse is None else _deleted(X, inverse, share)
        number, size = (0, 0.0) if operator.positive else _negative(operator, shift)
        counted = not number or size > 0
        return Found(X, deleted=deleted, left=left, n_negative=number, most_negative=size, counted=counted)


def _lifted(operator: Operator, null: Array | None, level: float | None = None) -> tuple[Array, float]:
    """The matrix with a level given to its known null space: that of its diagonal, so that nothing cancels."""
    A = operator.toarray()
    if level is None:
        level = float(np.abs(A.diagonal()).mean()) or 1.0
    if not np.isfinite(A.sum()):
        raise ValueError(OVERFLOW)
    if null is not None:
        for rows in spans(len(A)):
            A[rows] += level * (null[rows] @ null.T)
    return A, level


def _by_spectrum(operator: Operator, B: Array, shift: float, null: Array | None) -> Found:
    """Least squares of least norm, from all eigenvalues."""
    if operator.n > SPECTRUM_LIMIT:
        raise NotPositive(f"the {operator.n:,} x {operator.n:,} matrix is not positive definite")
    values, V = spectrum(operator, null)
    found = from_spectrum(values, V, B, shift, origin(operator))
    return replace(
        found, instead=("eigenvalues", "there is no Cholesky factor: the matrix is not positive definite to rounding")
    )


def from_spectrum(
    values: Array, V: Array, B: Array, shift: float, size: float = 0.0, squares: Array | None = None
) -> Found:
    """Solve from all eigenpairs.

    ``size`` is that of numbers whose rounding the values hold, if larger than they are; ``squares`` may hold the
    squared eigenvectors for several shifts.
    """
    n = len(V)
    squares = np.square(V) if squares is None else squares
    total = values + shift
    largest = max(float(np.abs(total).max(initial=0.0)), size)
    kept = np.abs(total) > n * EPS * max(largest, float(np.abs(values).max(initial=0.0)))
    inverse = np.where(kept, 1 / np.where(kept, total, 1.0), 0.0)
    with pinned_if_small(n**2 * B.shape[1]):
        C = V.T @ B
        X = V @ (C * inverse[:, None])
        deleted = _deleted(X, squares @ inverse, squares.sum(axis=1))
        if not kept.all():
            # Row i as the ridge goes to zero: what lies in the null space decides where there is any.
            share = squares[:, ~kept].sum(axis=1)[:, None]
            rest = V[:, ~kept] @ C[~kept]
            deleted = np.where(share > 1e-8, rest / np.where(share > 1e-8, share, 1.0), deleted)
    negative = values[values < -negligible(n, max(float(np.abs(values).max(initial=0.0)), size), shift)]
    return Found(
        X,
        deleted=deleted,
        singular=not kept.all(),
        rank=int(kept.sum()),
        largest=largest,
        n_negative=len(negative),
        most_negative=float(-negative.min(initial=0.0)),
    )


def spectrum(operator: Operator, null: Array | None) -> tuple[Array, Array]:
    """All eigenpairs of a symmetric operator, ascending, without those of a known null space."""
    m = 0 if null is None else null.shape[1]
    A, _ = _lifted(operator, None)
    largest = float(np.abs(A).sum(axis=1).max())
    if null is not None:
        # Below all others and all rounding, so that the first m eigenvectors are those of the null space alone.
        below = -2 * max(largest, origin(operator)) or -1.0
        for rows in spans(len(A)):
            A[rows] += below * (null[rows] @ null.T)
    with pinned_if_small(operator.n**3):
        values, V = lapack.eigh(A.T, overwrite=True)
    return values[m:] if largest else np.zeros(len(V) - m), V[:, m:]


def _negative(operator: Operator, shift: float) -> tuple[int, float]:
    """How many eigenvalues of A are negative, and the size of the largest of them; 1 and 0 if only that some are."""
    A = operator.toarray()
    size = origin(operator)
    A[np.diag_indices(operator.n)] += negligible(operator.n, max(float(np.abs(A).sum(axis=1).max()), size), shift)
    try:
        with one_blas_thread():
            CholeskyFactor(A, part_done)
        return 0, 0.0
    except NotPositive:
        if operator.n > COUNTABLE:
            return 1, 0.0
    with pinned_if_small(operator.n**3):
        values = lapack.eigvalsh(operator.toarray())
    negative = values[values < -negligible(operator.n, max(float(np.abs(values).max()), size), shift)]
    return len(negative), float(-negative.min(initial=0.0))


def _deleted(X: Array, inverse: Array, share: Array) -> Array:
    """``x_i / (M^-1)_ii``; NaN where a row lies in the null space, with no share outside, and cannot be spared."""
    known = (share > 1e-10) & (inverse != 0)
    return np.where(known[:, None], X / np.where(known, inverse, 1.0)[:, None], np.nan)


def fits(n: int, copies: int = 2) -> bool:
    """Whether dense matrices of that size fit the memory budget."""
    return copies * 8 * n**2 <= memory_budget()
