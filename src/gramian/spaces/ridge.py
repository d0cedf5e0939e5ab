"""Ridge in a space: the weights, the dual coefficients or the weights of low-rank features as the unknown, and why."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from gramian import lapack
from gramian.config import format_bytes, memory_budget, within_budget
from gramian.engine.tiles import row_blocks
from gramian.kernels import Kernel
from gramian.operators import moments_of
from gramian.operators.centering import ProjectedGram, column_means
from gramian.operators.features import FeatureMap
from gramian.operators.gram import Anchored, Gram, gram_of
from gramian.operators.mapped_moments import MappedMoments
from gramian.projection import centred_product
from gramian.results import Array, Matrix, SolverTrace
from gramian.solvers.eigen import DENSE_LIMIT, null_tolerance
from gramian.solvers.linear_methods import OVERFLOW, LinearSolver, fits, from_spectrum, lengths, origin, spectrum
from gramian.solvers.linear_systems import LINEAR_SOLVERS, solve
from gramian.spaces.low_rank import pinned_if_narrow


@dataclass(frozen=True)
class KernelFunction(Anchored):
    r"""``f(x) = k(x)'a + t(x)'b`` with the unpenalised functions t of the kernel, or a constant.

    ``anchors``: training rows. ``coefficients`` (n, q): a. ``offsets`` (m, q): b; one row for a constant, as many as
    the kernel has unpenalised functions otherwise.
    """

    kernel: Kernel
    anchors: Any
    coefficients: Array
    offsets: Array

    def __call__(self, X: Matrix) -> Array:
        """Values at rows, m x q; kernel values are not kept."""
        smooth = self.similarities(X) @ self.coefficients
        T = self.kernel.polynomial(X)
        return smooth + (self.offsets if T is None else T @ self.offsets)

    def times(self, units: Array) -> KernelFunction:
        """The function, each column in another unit."""
        return replace(self, coefficients=self.coefficients * units, offsets=self.offsets * units)


@dataclass(frozen=True)
class LinearFunction:
    """``f(x) = w'(x - m) + b``."""

    weights: Array
    mean: Array
    offsets: Array

    def __call__(self, X: Matrix) -> Array:
        """Values at rows, m x q."""
        return centred_product(X, self.mean, self.weights) + self.offsets

    def times(self, units: Array) -> LinearFunction:
        """The function, each column in another unit."""
        return replace(self, weights=self.weights * units, offsets=self.offsets * units)


@dataclass(frozen=True)
class RidgeFit:
    """A function fitted by ridge, and its certificate.

    ``dual`` (n, q): coefficients a of the training rows. ``offsets`` (m, q): of what is not penalised. ``residuals``
    (q,): relative residuals of the linear system that was solved. ``left_out`` (n, q): leave-one-out residuals, if
    known. ``unknown``: why they are not. ``singular``, ``rank``, ``size``: whether the matrix is singular to rounding;
    its rank then, if known; its size. ``free``: rank of the unpenalised functions on the rows. ``n_negative``,
    ``most_negative``, ``counted``: negative eigenvalues of the kernel matrix, the size of the largest of them, and
    whether these are all.
    """

    function: KernelFunction | LinearFunction
    dual: Array
    offsets: Array
    residuals: Array
    trace: SolverTrace
    left_out: Array | None = None
    unknown: str = ""
    singular: bool = False
    rank: int | None = None
    size: int = 0
    free: int = 1
    n_negative: int = 0
    most_negative: float = 0.0
    counted: bool = True

    def times(self, units: Array) -> RidgeFit:
        """The fit to targets that many times as large."""
        left_out = None if self.left_out is None else self.left_out * units
        function, dual, offsets = self.function.times(units), self.dual * units, self.offsets * units
        return replace(self, function=function, dual=dual, offsets=offsets, left_out=left_out)


@dataclass(frozen=True)
class RidgeCurve:
    """Fits along a path of R ridges: dual coefficients and leave-one-out residuals (R, n, q), offsets (R, m, q)."""

    ridges: Array
    dual: Array
    offsets: Array
    left_out: Array

    def times(self, units: Array) -> RidgeCurve:
        """The fits to targets that many times as large."""
        return RidgeCurve(self.ridges, self.dual * units, self.offsets * units, self.left_out * units)


#: Said where a row cannot be left out.
ROW_NEEDED = (
    "a row is the only one to determine an unpenalised coefficient or the ridge is 0: without it there is no fit to "
    "compare with"
)


def determined(left_out: Array) -> tuple[Array | None, str]:
    """Leave-one-out residuals, or why there are none."""
    return (left_out, "") if np.isfinite(left_out).all() else (None, ROW_NEEDED)


Found = TypeVar("Found", RidgeFit, RidgeCurve)


class RidgeSpace:
    """Rows, targets and weights of a ridge problem, in the form that is smaller.

    ``X``: n x d; for a precomputed kernel the Gram matrix. ``intercept``: whether a constant is unpenalised.
    ``solver``: "auto", "primal", or what :func:`gramian.solvers.linear_systems.solve` takes.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Matrix,
        Y: Array,
        weights: Array | None,
        *,
        intercept: bool,
        solver: str | LinearSolver = "auto",
    ) -> None:
        self.units = powers_of_two(Y)
        primal, reason = choose_form(kernel, X.shape, solver)
        self.form: PrimalRidge | DualRidge = (
            PrimalRidge(X, Y / self.units, weights, intercept=intercept, reason=reason)
            if primal
            else DualRidge(kernel, X, Y / self.units, weights, intercept=intercept, solver=solver)
        )

    def fit(self, ridge: float) -> RidgeFit:
        """Fit one ridge."""
        return _in_units(lambda: self.form.fit(ridge), self.units)

    def path(self, ridges: Array | None) -> RidgeCurve:
        """Fit a path of ridges (a usual one if None) from one eigendecomposition."""
        return _in_units(lambda: self.form.path(ridges), self.units)


def check_low_rank_solver(solver: str | LinearSolver) -> None:
    """Refuse a solver of systems as large as there are rows, where features of low rank stand for them."""
    if not isinstance(solver, str) or solver not in ("auto", "primal"):
        raise ValueError(f"solver={solver!r} is for the exact problem. With landmarks use solver='auto'.")


def from_moments(
    features: FeatureMap, moments: MappedMoments, ridge: float, units: Array | float = 1.0, *, intercept: bool
) -> RidgeFit:
    """Fit one ridge to features and to targets, in units of their own, that are known by their moments alone."""
    if not np.isfinite(moments.moments.scatter).all():
        raise ValueError("squares of features or y overflow. Divide X or y by a constant.")
    space = LowRankRidge(features, moments, intercept=intercept)
    return _in_units(lambda: space.fit(ridge), np.asarray(units))


def _in_units(find: Callable[[], Found], units: Array) -> Found:
    """What is found for targets in their units; coefficients may overflow where targets do not: a small ridge."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = find().times(units)
    if any(part is not None and np.isinf(part).any() for part in (found.dual, found.offsets, found.left_out)):
        raise ValueError("the coefficients overflow double precision. Divide y by a constant, or raise the ridge.")
    return found


def powers_of_two(Y: Array) -> Array:
    """A power of two near the size of each column: whatever the unit of the targets, squares stay in range."""
    largest = np.abs(Y).max(axis=0, initial=0.0)
    return np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))))


def choose_form(kernel: Kernel, shape: tuple[int, int], solver: str | LinearSolver) -> tuple[bool, str]:
    """Whether the weights are the smaller unknown, and the reason."""
    n, d = shape
    known = ("auto", "primal", *LINEAR_SOLVERS)
    if isinstance(solver, str) and solver not in known:
        raise ValueError(f"solver={solver!r} is not known. Use one of: {', '.join(known)}.")
    if isinstance(solver, str) and solver == "primal":
        if not kernel.linear:
            raise ValueError(f"solver='primal' is for the linear kernel, not for {kernel}. Use solver='auto'.")
        return True, "as asked"
    small = d < n and d <= DENSE_LIMIT and within_budget(3 * 8 * d**2)
    auto = isinstance(solver, str) and solver == "auto"
    return kernel.linear and auto and small, f"{d:,} weights are fewer than {n:,} dual coefficients"


#: Corrections from the rows themselves: what squaring the table has cost in digits comes back with them.
PRIMAL_CORRECTIONS = 3


class PrimalRidge:
    r"""``sum w_i (y_i - v'x_i - b)^2 + ridge |v|^2``: the weights v are the unknown.

    .. math:: (X_c'WX_c + \lambda I)\, v = X_c'W y_c, \qquad a = W (y - Xv - b) / \lambda

    Without ``intercept`` nothing is centred.
    """

    def __init__(self, X: Matrix, Y: Array, weights: Array | None, *, intercept: bool, reason: str = "") -> None:
        self.X, self.Y, self.weights, self.d, self.reason = X, Y, weights, X.shape[1], reason
        beside = sp.csr_array(Y) if sp.issparse(X) else Y
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
            moments = moments_of(X, weights, beside=beside)
            first, second, _ = moments.views(self.d)
            squares = moments.scatter if intercept else moments.about_origin()
        self.total = moments.weight if intercept else np.inf
        self.mean = first.mean if intercept else np.zeros(self.d)
        self.level = second.mean if intercept else np.zeros(Y.shape[1])
        self.S, self.cross = squares[: self.d, : self.d], squares[: self.d, self.d :]
        if not (np.isfinite(self.S).all() and np.isfinite(self.cross).all()):
            raise ValueError("squares of X or y overflow. Divide X by a constant, or standardise its columns.")

    def fit(self, ridge: float) -> RidgeFit:
        """Fit one ridge."""
        H, deficient = self._root(ridge)
        leverage = np.einsum("ij,ij->i", *2 * (self._centred(H),))
        return self._finish(ridge, H, leverage, deficient)

    def path(self, ridges: Array | None) -> RidgeCurve:
        """Fit all ridges from one eigendecomposition."""
        values, V = lapack.eigh(self.S)
        values = np.maximum(values, 0.0)
        ridges = usual_ridges(values) if ridges is None else ridges
        squares, parts = np.square(self._centred(V)), []
        for ridge in map(float, ridges):
            root, leverage = V / np.sqrt(values + ridge), squares @ (1 / (values + ridge))
            fit = self._finish(ridge, root, leverage, False) if ridge > 0 else self.fit(ridge)
            left_out = np.full_like(self.Y, np.nan) if fit.left_out is None else fit.left_out
            parts.append((fit.dual, fit.offsets, left_out))
        return RidgeCurve(ridges, *map(np.stack, zip(*parts, strict=True)))

    def _root(self, ridge: float) -> tuple[Array, bool]:
        """H with ``HH' = (S + ridge I)^-1``, or a generalised inverse, and whether it is one.

        Columns are brought to one scale first: a large unit does not make the others look like rounding.
        """
        scale = self._scale(ridge)
        A = scale[:, None] * self.S * scale
        A[np.diag_indices(self.d)] += (np.sqrt(ridge) * scale) ** 2
        values, V = lapack.eigh(A)
        kept = values > max(self.X.shape) * np.finfo(np.float64).eps * values.max(initial=0.0)
        return scale[:, None] * V[:, kept] / np.sqrt(values[kept]), not kept.all()

    def _scale(self, ridge: float) -> Array:
        size = np.sqrt(np.maximum(self.S.diagonal(), 0.0) + ridge)
        return np.where(size > 0, 1 / np.where(size > 0, size, 1.0), 0.0)

    def _finish(self, ridge: float, H: Array, leverage: Array, deficient: bool) -> RidgeFit:
        weights, scale = H @ (H.T @ self.cross), self._scale(ridge)[:, None]
        for _ in range(PRIMAL_CORRECTIONS):
            weights = weights + H @ (H.T @ self._gradient(self._rest(weights), weights, ridge))
        if deficient:  # of all solutions the one of least norm, which lies in the span of the rows
            sizes = np.maximum(np.linalg.norm(H, axis=0), np.finfo(np.float64).tiny)
            Q = lapack.interruptible(np.linalg.qr, self.S @ (H / sizes))[0]
            weights = Q @ (Q.T @ weights)
        R = self._rest(weights)
        left = lengths(scale * self._gradient(R, weights, ridge), zero=0.0) / lengths(scale * self.cross)
        left_out, unknown = determined(self._left_out(R, leverage))
        return RidgeFit(
            LinearFunction(weights, self.mean, self.level),
            self._dual(R, weights, ridge, H),
            (self.level - self.mean @ weights)[None, :],
            left,
            SolverTrace("primal", self.reason, f"one pass for the moments, {PRIMAL_CORRECTIONS} for corrections"),
            left_out,
            unknown,
            singular=deficient,
            rank=H.shape[1] if deficient else None,
            size=self.d,
        )

    def _centred(self, M: Array) -> Array:
        """``Xc M``."""
        return centred_product(self.X, self.mean, M)

    def _rest(self, weights: Array) -> Array:
        return self.Y - self.level - self._centred(weights)

    def _gradient(self, R: Array, weights: Array, ridge: float) -> Array:
        """``Xc'W R - ridge v``, which vanishes at the solution."""
        R = R if self.weights is None else R * self.weights[:, None]
        if sp.issparse(self.X):
            return np.asarray(self.X.T @ R) - np.outer(self.mean, R.sum(axis=0)) - ridge * weights
        blocks = ((self.X[rows] - self.mean).T @ R[rows] for rows in row_blocks(*self.X.shape))
        return sum(blocks, -ridge * weights)

    def _left_out(self, R: Array, leverage: Array) -> Array:
        """``r_i / (1 - h_i)`` with the leverage h of a row and all its weight."""
        w = np.ones(len(R)) if self.weights is None else self.weights
        free = 1 - w * (leverage + 1 / self.total)
        known = free > 1e-10
        return np.where(known[:, None], R / np.where(known, free, 1.0)[:, None], np.nan)

    def _dual(self, R: Array, weights: Array, ridge: float, H: Array) -> Array:
        """Coefficients of the rows with ``Xc'a = v``: residuals over the ridge, or those of least norm."""
        w = 1.0 if self.weights is None else self.weights[:, None]
        return w * R / ridge if ridge > 0 else w * self._centred(H @ (H.T @ weights))


#: Said where leave-one-out residuals were not computed.
NO_INVERSE = (
    "the {} solver does not compute the inverse that leave-one-out residuals need. Use solver='cholesky' (n up to "
    "10,000), the method path, or cross-validation"
)


class DualRidge:
    r"""``sum w_i (y_i - f(x_i))^2 + ridge |f|^2`` over functions ``f = k(x)'a + t(x)'b`` with b unpenalised.

    .. math:: (K + \lambda W^{-1}) a + T b = y, \qquad T'a = 0

    With :math:`a = W^{1/2} u` and P the projection orthogonal to :math:`W^{1/2} T` this is
    :math:`(P W^{1/2} K W^{1/2} P + \lambda I)\, u = P W^{1/2} y`, symmetric, and positive if K is (conditionally).
    Rows of weight 0 have no coefficient.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Matrix,
        Y: Array,
        weights: Array | None,
        *,
        intercept: bool,
        solver: str | LinearSolver = "auto",
    ) -> None:
        self.kernel, self.X, self.Y, self.solver = kernel, X, Y, solver
        self.used = np.ones(len(Y), dtype=bool) if weights is None else weights > 0
        self.roots = None if weights is None else np.sqrt(weights[self.used])
        rows = X if self.used.all() else X[self.used]
        if kernel.given and not self.used.all():
            rows = rows[:, self.used]
        self.mean: Array | None = None
        if kernel.linear and intercept and not sp.issparse(X):
            # Nothing changes but the rounding: far from the origin products keep no digit of what is left beside 1.
            self.mean = column_means(rows, None if weights is None else weights[self.used])
            rows = rows - self.mean
        T = kernel.polynomial(rows)
        positive = kernel.positive_definite or T is not None
        if T is None and intercept:
            T = np.ones((rows.shape[0], 1))
        self.T = T
        self.null = None if T is None else self._orthonormal(self._weigh(T))
        if positive and not np.isfinite(kernel.diagonal(rows)).all():
            raise ValueError(OVERFLOW)
        gram = gram_of(kernel, rows)
        effort = (
            _effort(rows) if isinstance(gram, Gram) else 1.0
        )  # to read a matrix takes as long as tiles of 20 columns
        self.operator = ProjectedGram(gram, self.roots, self.null, positive=positive, effort=effort)
        self.B = self._freed(self._weigh(Y[self.used]))

    def _weigh(self, V: Array) -> Array:
        return V if self.roots is None else V * self.roots[:, None]

    def _orthonormal(self, C: Array) -> Array:
        """Orthonormal basis of the unpenalised functions; what leads back to their coefficients is kept."""
        sizes = lengths(C)
        U, s, Vt = np.linalg.svd(C / sizes, full_matrices=False)
        kept = s > max(C.shape) * np.finfo(np.float64).eps * s[0]
        self._back = (Vt[kept] / s[kept, None]).T / sizes[:, None]
        return U[:, kept]

    def _freed(self, V: Array) -> Array:
        B = self.operator.free(V)
        # What rounding leaves of targets that the unpenalised functions fit exactly is no target.
        B[:, lengths(B, zero=0.0) <= 64 * np.finfo(np.float64).eps * lengths(V)] = 0.0
        return B

    def fit(self, ridge: float) -> RidgeFit:
        """Fit one ridge."""
        found = solve(self.operator, self.B, ridge, self.solver, null=self.null)
        dual, offsets, function = self._read(found.solution)
        left_out, unknown = None, NO_INVERSE.format(found.trace.solver)
        if found.deleted is not None:
            left_out, unknown = determined(self._left_out(found.deleted, function))
        return RidgeFit(
            function,
            dual,
            offsets,
            found.residuals,
            found.trace,
            left_out,
            unknown,
            singular=found.singular,
            rank=found.rank,
            size=self.operator.n - self.operator.null.shape[1],
            free=1 if self.null is None else self.null.shape[1],
            n_negative=found.n_negative,
            most_negative=found.most_negative,
            counted=found.counted,
        )

    def path(self, ridges: Array | None) -> RidgeCurve:
        """Fit all ridges from one eigendecomposition."""
        n = self.operator.n
        if n > DENSE_LIMIT or not fits(n, 3):
            raise ValueError(
                f"a path of ridges needs all eigenvectors of the {n:,} x {n:,} kernel matrix, "
                f"{format_bytes(24 * n**2)} (budget {format_bytes(memory_budget())}, largest n {DENSE_LIMIT:,}). "
                "Use fewer rows, or cross-validate the ridge."
            )
        values, V = spectrum(self.operator, self.null)
        squares = np.square(V)
        ridges = usual_ridges(values) if ridges is None else ridges
        parts, size = [], origin(self.operator)
        for ridge in ridges:
            found = from_spectrum(values, V, self.B, float(ridge), size, squares)
            dual, offsets, function = self._read(found.solution)
            assert found.deleted is not None  # for the type checker, squares were given
            parts.append((dual, offsets, self._left_out(found.deleted, function)))
        return RidgeCurve(ridges, *map(np.stack, zip(*parts, strict=True)))

    def _read(self, U: Array) -> tuple[Array, Array, KernelFunction | LinearFunction]:
        """Coefficients a of all rows, b, and the function they make."""
        dual, offsets = self._coefficients(U)
        if not self.kernel.linear:
            return dual, offsets, KernelFunction(self.kernel, self.kernel.anchors(self.X), dual, offsets)
        if self.mean is None:  # the weights say it all
            weights = np.asarray(self.X.T @ dual)
            return dual, offsets, LinearFunction(weights, np.zeros(len(weights)), offsets[0])
        weights = np.zeros((self.X.shape[1], dual.shape[1]))
        for rows in row_blocks(*self.X.shape):
            weights += (self.X[rows] - self.mean).T @ dual[rows]
        return dual, offsets - self.mean @ weights, LinearFunction(weights, self.mean, offsets[0])

    def _coefficients(self, U: Array) -> tuple[Array, Array]:
        """Coefficients a of all rows, and b."""
        dual = np.zeros_like(self.Y)
        dual[self.used] = self._weigh(U)
        if self.null is None:
            return dual, np.zeros((1, self.Y.shape[1]))
        rest = self.null.T @ self._weigh(self.Y[self.used]) - self.operator.shadow.T @ U
        return dual, self._back @ rest

    def _left_out(self, deleted: Array, function: KernelFunction | LinearFunction) -> Array:
        out = np.empty_like(self.Y)
        out[self.used] = deleted if self.roots is None else deleted / self.roots[:, None]
        if not self.used.all():  # rows that are not in the fit need not be left out of it
            out[~self.used] = self.Y[~self.used] - function(self.X[~self.used])
        return out


def _effort(X: Matrix) -> float:
    """What a product with tiles of that many columns costs, as measured: 1 for 20 columns, 9 for 784."""
    entries = getattr(X, "nnz", np.inf)  # of a CSR matrix
    return (75 + min(X.shape[1], 10 * entries / X.shape[0])) / 95


def usual_ridges(values: Array) -> Array:
    """Thirty ridges around the spectrum: from 1e-6 times its mean to ten times its largest value."""
    positive = np.maximum(values, 0.0)
    mean, top = float(positive.mean()) if len(values) else 0.0, float(positive.max(initial=0.0))
    return np.geomspace(1e-6 * mean, 10 * top, 30) if mean > 0 else np.geomspace(1e-6, 10, 30)


#: Why leave-one-out residuals are not there.
NO_LEAVE_ONE_OUT = "with landmarks the rows are seen once and not again. Use landmarks=None, or cross-validation"
#: Ridges larger than this part of the trace are as a rule far above the rounding of sums, in single precision too:
#: nothing is singular then, and no eigenvalues are needed to see it.
SAFE_RIDGE_PER_TRACE = 1e-6


class LowRankRidge:
    r"""``sum w_i (y_i - v'f(x_i) - b)^2 + ridge |v|^2`` from the moments of features and of targets beside them.

    .. math:: (F_c'WF_c + \lambda I)\, v = F_c'W y_c, \qquad f(x) = k(x, Z)\, R v + b

    Without ``intercept`` nothing is centred.
    """

    def __init__(self, features: FeatureMap, moments: MappedMoments, *, intercept: bool) -> None:
        self.features, r = features, features.size
        found = moments.moments
        squares, mean = (found.scatter, found.mean) if intercept else (found.about_origin(), np.zeros(found.d))
        self.S, self.cross = squares[:r, :r], squares[:r, r:]
        self.mean, self.level = mean[:r], mean[r:]
        if not (np.isfinite(self.S).all() and np.isfinite(self.cross).all()):
            raise ValueError("squares of features or y overflow. Divide X by a constant, or standardise its columns.")

    def fit(self, ridge: float) -> RidgeFit:
        """Fit one ridge."""
        r = len(self.S)
        with pinned_if_narrow(r):
            weights, rank = self._solve(ridge)
        rest = self.cross - self.S @ weights - ridge * weights
        dual, offsets = self.features.lift(weights), (self.level - self.mean @ weights)[None, :]
        return RidgeFit(
            KernelFunction(self.features.kernel, self.features.anchors, dual, offsets),
            dual,
            offsets,
            lengths(rest, zero=0.0) / lengths(self.cross),
            SolverTrace("primal", f"{r:,} features stand for the rows", "one pass for the moments of the features"),
            None,
            NO_LEAVE_ONE_OUT,
            singular=rank < r,
            rank=rank,
            size=r,
        )

    def _solve(self, ridge: float) -> tuple[Array, int]:
        """Weights, and the number of directions that are not rounding."""
        if ridge > SAFE_RIDGE_PER_TRACE * float(np.trace(self.S)):
            shifted = self.S + ridge * np.eye(len(self.S))
            with suppress(scipy.linalg.LinAlgError):  # where rounding is larger all the same, eigenvalues are cut below
                return lapack.solve_positive(shifted, self.cross), len(self.S)
        values, V = lapack.eigh(self.S)
        values = np.maximum(values, 0.0) + ridge
        kept = values > null_tolerance(len(self.S), values.max(initial=0.0))
        return (V[:, kept] / values[kept]) @ (V[:, kept].T @ self.cross), int(kept.sum())
