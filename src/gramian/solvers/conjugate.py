"""Conjugate gradients for positive definite systems, and their preconditioners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.linalg

from gramian.config import memory_budget, one_blas_thread, within_budget
from gramian.engine.tiles import spans
from gramian.operators import Operator
from gramian.progress import Tracker, part_done, track
from gramian.results import Array
from gramian.solvers.dense import CholeskyFactor, NotPositive
from gramian.solvers.linear_methods import OVERFLOW, Found, lengths

#: Rank of the factor that preconditions: more columns cost more than the iterations they save.
PRECONDITIONER_RANK = 500
#: Largest matrix that is factored in single precision.
FLOAT32_FACTOR_MAX_ROWS = 12_000
#: A factorisation in single precision costs about as much as n / 100 products.
FACTOR_ROWS_PER_PRODUCT = 100
#: Factor by which residuals may fall in single precision before they are recomputed in double.
FLOAT32_RESIDUAL_DROP = 100
#: Iterations after which the largest eigenvalue of the preconditioned matrix predicts how many more are needed.
CG_TRIAL_ITERATIONS = 6


@dataclass(frozen=True)
class ConjugateGradients:
    r"""Solve ``(A + shift I) X = B`` for a positive semidefinite A that need not exist.

    Definition
    ----------
    .. math:: r = b - (A + \lambda I) x, \quad p \leftarrow M r + \beta p, \quad
              x \leftarrow x + \frac{r'Mr}{p'(A + \lambda I)p}\, p, \qquad M \approx (A + \lambda I)^{-1}

    Products run in single precision, where they cost half; after every two digits gained the residual is recomputed in
    double precision, and the last of these is the certificate. Every column of B has steps of its own and leaves when
    it has converged; all share the products.

    Parameters
    ----------
    tol : float
        Largest relative residual ``|b - (A + shift I) x| / |b|`` of each column, in double precision.
    rank : int, optional
        Rank of the randomly pivoted Cholesky factor that preconditions; 0 for none. By default 500, or less if that is
        more than an eighth of n or than the memory budget allows.
    max_iter : int
        Iterations before giving up; the residuals then say how far it came.
    factor : {"auto", True, False}
        Whether to precondition by a Cholesky factor of the whole matrix in single precision; "auto" does so where few
        iterations show that it pays, up to 12,000 rows.
    mixed : bool
        Use products in single precision.

    Cost
    ----
    A product an iteration; some 10 to 40 iterations where the spectrum decays; memory for ``rank + 6 q`` vectors.

    References
    ----------
    Diaz, Epperly, Frangella, Tropp, Webber, Robust, randomized preconditioning for kernel ridge regression, 2023.
    """

    tol: float = 1e-6
    rank: int | None = None
    max_iter: int = 500
    factor: bool | str = "auto"
    mixed: bool = True

    name: ClassVar[str] = "cg"

    def solve(
        self, operator: Operator, B: Array, shift: float, rng: np.random.Generator, null: Array | None = None
    ) -> Found:
        # Products have threads of their own: threads of BLAS beside them would compete for the same cores.
        with one_blas_thread(), track("linear system", expected=30) as tracker:
            run = Descent(operator, B, shift, self, tracker)
            if self.factor is True:
                run.descend(Factored(operator, shift, part_done), mixed=False)
                return run.found()
            run.descend(self._first(operator, shift, rng), mixed=self.mixed and operator.narrow_pays)
            if run.too_slow:
                run.descend(Factored(operator, shift, part_done), mixed=False)
        return run.found()

    def _first(self, operator: Operator, shift: float, rng: np.random.Generator) -> Preconditioner | None:
        n = operator.n
        usual = min(n // 8, PRECONDITIONER_RANK)
        rank = min(usual, memory_budget() // (24 * n)) if self.rank is None else min(self.rank, n)
        # A sketch of a matrix that may be indefinite is no factor of it.
        return LowRank(operator, shift, rank, rng) if rank > 0 and operator.positive and shift > 0 else None

    def may_factor(self, n: int) -> bool:
        """Whether a factor in single precision is allowed, and fits."""
        return self.factor == "auto" and n <= FLOAT32_FACTOR_MAX_ROWS and within_budget(6 * n**2)


@dataclass
class Descent:
    """The state of an iteration: solutions, residuals, and what was spent."""

    operator: Operator
    B: Array
    shift: float
    knobs: ConjugateGradients
    tracker: Tracker
    narrow: int = 0
    wide: int = 0
    iterations: int = 0
    stopped: str = ""
    too_slow: bool = False
    preconditioners: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        # Columns of length 1: squares then neither overflow nor vanish, whatever the unit of the targets.
        self.sizes = lengths(self.B)
        self.X = np.zeros_like(self.B)
        self.R = self.B / self.sizes
        self.true = lengths(self.R, zero=0.0)  # lengths of residuals when last computed in double precision
        self.open = np.flatnonzero(self.true > self.knobs.tol)

    def descend(self, M: Preconditioner | None, *, mixed: bool) -> None:
        """Iterate until every column is done, the iterations run out, or nothing is gained any more."""
        self.too_slow, self.stopped = False, ""
        if M is not None:
            self.preconditioners.append(M.name)
        product = self.operator.astype(np.float32) if mixed else self.operator
        steps, bends = [], []
        P = Z = self._precondition(M, self.open)
        rz = _dots(self.R[:, self.open], Z)
        while len(self.open):
            if self.iterations >= self.knobs.max_iter:
                self.stopped = f"max_iter={self.knobs.max_iter} reached"
                return
            at = self.open
            Q = (product @ P.astype(product.dtype, copy=False)).astype(np.float64, copy=False) + self.shift * P
            self._count(mixed)
            curvature = _dots(P, Q)
            if not mixed and not np.isfinite(curvature).all():
                raise ValueError(OVERFLOW)
            if not (curvature > 0).all():
                if mixed:
                    return self.descend(M, mixed=False)
                self.stopped = "the matrix is not positive definite"
                return
            step = rz / curvature
            self.X[:, at] += step * P
            before, self.R[:, at] = self.R[:, at], self.R[:, at] - step * Q
            if self._refresh(at, mixed):
                if mixed:  # single precision gains nothing more
                    return self.descend(M, mixed=False)
                self.stopped = "rounding allows no smaller residual"
                return
            kept = np.isin(at, self.open)
            at, P, before, rz = self.open, P[:, kept], before[:, kept], rz[kept]
            Z = self._precondition(M, at)
            # The Polak-Ribiere form of beta stays right when the residual was recomputed between two steps.
            bend = np.maximum(_dots(Z, self.R[:, at] - before) / rz, 0.0)
            steps.append(step[0])
            bends.append(bend[0] if len(bend) else 0.0)
            if len(steps) == CG_TRIAL_ITERATIONS and isinstance(M, LowRank) and self._slow(steps, bends):
                self.too_slow = True
                return
            rz, P = _dots(self.R[:, at], Z), Z + bend * P

    def _precondition(self, M: Preconditioner | None, at: Array) -> Array:
        return self.R[:, at].copy() if M is None else M @ self.R[:, at]

    def _count(self, mixed: bool) -> None:
        self.iterations += 1
        self.narrow, self.wide = self.narrow + mixed, self.wide + (not mixed)
        worst = float(lengths(self.R[:, self.open], zero=0.0).max(initial=0.0))
        rate = np.log(max(1 / max(worst, 1e-300), 1.0)) / self.iterations
        left = np.log(max(worst / self.knobs.tol, 1.0)) / rate if rate > 0 else 30.0
        self.tracker.advance(self.iterations + min(left, self.knobs.max_iter))

    def _refresh(self, at: Array, mixed: bool) -> bool:
        """Recompute residuals in double precision where that is due; return whether that showed no gain."""
        guess = lengths(self.R[:, at], zero=0.0)
        # Residuals updated in single precision are trusted for two digits, in double precision to the tolerance.
        trusted = self.true[at] / FLOAT32_RESIDUAL_DROP if mixed else 0.0
        if not (guess <= np.maximum(0.9 * self.knobs.tol, trusted)).any():
            return False
        X = self.X[:, at]
        self.R[:, at] = self.B[:, at] / self.sizes[at] - (self.operator @ X + self.shift * X)
        self.wide += 1
        was, now = self.true[at], lengths(self.R[:, at], zero=0.0)
        self.true[at] = now
        self.open = at[now > self.knobs.tol]
        due = (guess <= np.maximum(0.9 * self.knobs.tol, trusted)) & (now > self.knobs.tol)
        return bool((now[due] > 0.5 * was[due]).any())

    def _slow(self, steps: list[float], bends: list[float]) -> bool:
        """Whether the iterations still needed cost more than a factorisation in single precision."""
        if not self.knobs.may_factor(self.operator.n):
            return False
        # The coefficients hold the Lanczos matrix of the preconditioned system. In our scaling no eigenvalue is below
        # 1; the largest converges within a few iterations, the smallest only at the end.
        a, b = np.array(steps), np.array(bends[:-1])
        diagonal = 1 / a + np.concatenate([[0.0], b / a[:-1]])
        theta = scipy.linalg.eigvalsh_tridiagonal(diagonal, np.sqrt(b) / a[:-1]) / self.shift
        condition = theta[-1] / np.sqrt(max(theta[0], 1.0))
        needed = 0.5 * np.sqrt(max(condition, 1.0)) * np.log(2 / self.knobs.tol)
        return bool(needed * getattr(self.operator, "effort", 1.0) > self.operator.n / FACTOR_ROWS_PER_PRODUCT)

    def found(self) -> Found:
        """The solution, with the work and why the iteration stopped."""
        parts = [f"{self.narrow} products in float32"] if self.narrow else []
        parts.append(f"{self.wide} products in float64" if self.wide != 1 else "1 product in float64")
        how = f", preconditioned by {' then '.join(self.preconditioners)}" if self.preconditioners else ""
        return Found(
            self.X * self.sizes,
            products=", ".join(parts) + how,
            converged=not len(self.open),
            stopped=self.stopped,
            left=None if len(self.open) else self.R * self.sizes,
        )


def _dots(A: Array, B: Array) -> Array:
    return np.einsum("ij,ij->j", A, B)


class Preconditioner(Protocol):
    """A symmetric positive definite matrix near a multiple of ``(A + shift I)^-1``."""

    name: str

    def __matmul__(self, R: Array) -> Array: ...


class LowRank:
    r"""Randomly pivoted Cholesky factor with the ridge.

    .. math:: A \approx FF' = U \Sigma U', \qquad
              \lambda (FF' + \lambda I)^{-1} = I - U\, \mathrm{diag}\Big(\frac{\sigma}{\sigma + \lambda}\Big) U'

    What the factor leaves of A decides how many iterations are needed: about the square root of
    ``1 + |A - FF'| / lambda`` of them for each digit. It takes ``rank`` columns of A and ``2 n rank^2`` products.
    """

    def __init__(self, operator: Operator, shift: float, rank: int, rng: np.random.Generator) -> None:
        F = operator.sketch(rank, rng)
        values, Y = np.linalg.eigh(F.T @ F)
        top = values[-1] if len(values) else 0.0
        kept = values > 1e-12 * top
        sigma = values[kept]
        # The smallest eigenvalue of the preconditioner must stay well above the rounding of U.
        narrow = shift > 1e-5 * top
        self.U = np.empty((len(F), len(sigma)), dtype=np.float32) if narrow else F[:, : len(sigma)]
        for rows in spans(len(F)):  # in place where the precision allows it: F is the largest array here
            self.U[rows] = F[rows] @ (Y[:, kept] / np.sqrt(sigma))
        self.gains = sigma / (sigma + shift)
        self.name = f"a randomly pivoted Cholesky factor of rank {len(sigma)}"

    def __matmul__(self, R: Array) -> Array:
        T = (self.U.T @ R.astype(self.U.dtype, copy=False)).astype(np.float64) * self.gains[:, None]
        return R - self.U @ T.astype(self.U.dtype, copy=False)


class Factored:
    """Cholesky factor of the whole matrix in single precision.

    Half the memory and half the time of double precision; a few iterations restore the digits. Where rounding makes
    the matrix indefinite the shift is raised eightfold until it is not, which costs more iterations.
    """

    name = "a Cholesky factor in float32"

    def __init__(self, operator: Any, shift: float, progress: Callable[[float], None] | None = None) -> None:
        diagonal = operator.diagonal()
        unit = float(diagonal.max(initial=0.0)) or 1.0
        narrow = operator.astype(np.float32) if 1e-20 < unit < 1e20 else operator  # else out of range
        lift = max(shift, 4 * float(np.finfo(np.float32).eps) * unit)
        A = np.empty((operator.n, operator.n), dtype=np.float32)
        while True:
            for c in spans(operator.n, 2048):
                A[c.start :, c] = narrow.columns(c)[c.start :] / unit
            A[np.diag_indices(operator.n)] = (diagonal + lift) / unit
            try:
                self.factor = CholeskyFactor(A, progress)
                return
            except NotPositive:
                lift *= 8
                if not lift < operator.n * unit:
                    raise

    def __matmul__(self, R: Array) -> Array:
        # Unit size: a residual of 1e-50 would underflow in single precision.
        size = np.abs(R).max(axis=0)
        size[size == 0] = 1.0
        return self.factor.solve(R / size).astype(np.float64) * size
