"""Ridge in the feature space of a kernel: n coefficients, one for each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.config import format_bytes, memory_budget
from gramian.engine.tiles import row_blocks
from gramian.kernels import Kernel
from gramian.operators.centering import column_means
from gramian.operators.gram import gram_of
from gramian.operators.reduced import Reduced
from gramian.results import Array
from gramian.solvers.eigen import DENSE_LIMIT
from gramian.solvers.linear import solve
from gramian.solvers.linear_methods import OVERFLOW, LinearSolver, fits, from_spectrum, lengths, origin, spectrum
from gramian.spaces.ridge_values import KernelFunction, LinearFunction, RidgeCurve, RidgeFit, determined

#: Said where leave-one-out residuals were not computed.
NO_INVERSE = (
    "the {} solver does not compute the inverse that leave-one-out residuals need. Use solver='cholesky' (n up to "
    "10,000), the method path, or cross-validation"
)


class DualRidge:
    r"""``sum w_i (y_i - f(x_i))^2 + ridge |f|^2`` over functions ``f = k(x)'a + t(x)'b`` with b unpenalised.

    Definition
    ----------
    .. math:: (K + \lambda W^{-1}) a + T b = y, \qquad T'a = 0

    With :math:`a = W^{1/2} u` and P the projection orthogonal to :math:`W^{1/2} T` this is
    :math:`(P W^{1/2} K W^{1/2} P + \lambda I)\, u = P W^{1/2} y`, symmetric, and positive if K is (conditionally).

    Parameters
    ----------
    kernel : Kernel
        With resolved parameters.
    X : rows
        n x d; for a precomputed kernel the Gram matrix.
    Y : (n, q) array
    weights : (n,) array, optional
        Frequencies; rows of weight 0 have no coefficient.
    intercept : bool
        Whether a constant is unpenalised.
    """

    def __init__(self, kernel: Kernel, X: Any, Y: Array, weights: Array | None, *, intercept: bool) -> None:
        self.kernel, self.X, self.Y = kernel, X, Y
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
        gram, effort = gram_of(kernel, rows).kept(), _effort(rows)
        self.operator = Reduced(gram, self.roots, self.null, positive=positive, effort=effort)
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

    def fit(self, ridge: float, solver: str | LinearSolver, rng: np.random.Generator | None = None) -> RidgeFit:
        """Fit one ridge."""
        found = solve(self.operator, self.B, ridge, solver, rng, null=self.null)
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
            size=self.operator.n - (0 if self.null is None else self.null.shape[1]),
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
        duals, constants, left_out, size = [], [], [], origin(self.operator)
        for ridge in ridges:
            found = from_spectrum(values, V, self.B, float(ridge), size, squares)
            dual, offsets, function = self._read(found.solution)
            duals.append(dual)
            constants.append(offsets)
            assert found.deleted is not None  # for the type checker, squares were given
            left_out.append(self._left_out(found.deleted, function))
        return RidgeCurve(ridges, np.stack(duals), np.stack(constants), np.stack(left_out))

    def _read(self, U: Array) -> tuple[Array, Array, KernelFunction | LinearFunction]:
        """Coefficients a of all rows, b, and the function they make."""
        dual, offsets = self._coefficients(U)
        if not self.kernel.linear:
            return dual, offsets, KernelFunction(self.kernel, self.kernel.anchors(self.X), dual, offsets)
        if self.mean is None:  # the weights say it all
            weights = np.asarray(self.X.T @ dual)
            return dual, offsets, LinearFunction(weights, np.zeros(len(weights)), offsets[0])
        weights = sum((self.X[rows] - self.mean).T @ dual[rows] for rows in row_blocks(*self.X.shape))
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


def _effort(X: Any) -> float:
    """What a product with tiles of that many columns costs, as measured: 1 for 20 columns, 9 for 784."""
    d = min(X.shape[1], 10 * X.nnz / X.shape[0]) if sp.issparse(X) else X.shape[1]
    return (75 + d) / 95


def usual_ridges(values: Array) -> Array:
    """Thirty ridges around the spectrum: from 1e-6 times its mean to ten times its largest value."""
    positive = np.maximum(values, 0.0)
    mean, top = float(positive.mean()) if len(values) else 0.0, float(positive.max(initial=0.0))
    return np.geomspace(1e-6 * mean, 10 * top, 30) if mean > 0 else np.geomspace(1e-6, 10, 30)
