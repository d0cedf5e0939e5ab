"""Ridge in a space: which of its two forms, and why."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.config import memory_budget
from gramian.kernels import Kernel
from gramian.operators.features import FeatureMap
from gramian.operators.mapped_moments import MappedMoments, mapped_moments
from gramian.results import Array
from gramian.solvers.eigen import DENSE_LIMIT
from gramian.solvers.linear import LINEAR_SOLVERS
from gramian.solvers.linear_methods import LinearSolver
from gramian.spaces.low_rank import LowRankRidge
from gramian.spaces.ridge_dual import DualRidge
from gramian.spaces.ridge_primal import PrimalRidge
from gramian.spaces.ridge_values import RidgeCurve, RidgeFit


class RidgeSpace:
    """Rows, targets and weights of a ridge problem, in the form that is smaller.

    Parameters
    ----------
    kernel : Kernel
        With resolved parameters.
    X : rows
        n x d; for a precomputed kernel the Gram matrix.
    Y : (n, q) array
    weights : (n,) array, optional
        Frequencies.
    intercept : bool
        Whether a constant is unpenalised.
    solver : str or solver object
        "auto", "primal", or what :func:`gramian.solvers.linear.solve` takes.
    features : FeatureMap, optional
        Features of low rank that stand for those of the kernel.
    """

    def __init__(
        self,
        kernel: Kernel,
        X: Any,
        Y: Array,
        weights: Array | None,
        *,
        intercept: bool,
        solver: str | LinearSolver = "auto",
        features: FeatureMap | None = None,
    ) -> None:
        self.kernel, self.solver, self.features = kernel, solver, features
        self.units = _units(Y)
        Y = Y / self.units
        self.primal: PrimalRidge | None = None
        self.dual: DualRidge | None = None
        self.low_rank: LowRankRidge | None = None
        self.moments: MappedMoments | None = None
        if features is not None:
            check_low_rank_solver(solver)
            self.moments = mapped_moments([features], [X], weights, beside=Y)
            self.low_rank = LowRankRidge(features, self.moments, intercept=intercept)
            return
        primal, self.reason = choose(kernel, X.shape, solver)
        if primal:
            self.primal = PrimalRidge(X, Y, weights, intercept=intercept)
        else:
            self.dual = DualRidge(kernel, X, Y, weights, intercept=intercept)

    def fit(self, ridge: float, rng: np.random.Generator | None = None) -> RidgeFit:
        """Fit one ridge."""
        with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused below
            if self.low_rank is not None:
                fit = self.low_rank.fit(ridge).times(self.units)
            elif self.primal is not None:
                fit = self.primal.fit(ridge, self.reason).times(self.units)
            else:
                assert self.dual is not None  # for the type checker, one of the three is there
                fit = self.dual.fit(ridge, self.solver, rng).times(self.units)
        _refuse_overflow(fit.dual, fit.offsets, fit.left_out)
        return fit

    def original_moments(self) -> MappedMoments | None:
        """Moments of the features and of the targets in their own units, if features stand for the rows."""
        return None if self.moments is None else self.moments.beside_times(self.units)

    def path(self, ridges: Array | None) -> RidgeCurve:
        """Fit a path of ridges (a usual one if None) from one eigendecomposition."""
        form = self.primal or self.dual
        assert form is not None  # for the type checker, landmarks were refused before
        with np.errstate(over="ignore", invalid="ignore"):
            curve = form.path(ridges).times(self.units)
        _refuse_overflow(curve.dual, curve.offsets, curve.left_out)
        return curve


def check_low_rank_solver(solver: str | LinearSolver) -> None:
    """Refuse a solver of systems as large as there are rows, where features of low rank stand for them."""
    if not isinstance(solver, str) or solver not in ("auto", "primal"):
        raise ValueError(f"solver={solver!r} is for the exact problem. With landmarks use solver='auto'.")


def from_moments(features: FeatureMap, moments: MappedMoments, ridge: float, *, intercept: bool) -> RidgeFit:
    """Fit one ridge to features and targets that are known by their moments alone."""
    if not np.isfinite(moments.moments.scatter).all():
        raise ValueError("squares of features or y overflow. Divide X or y by a constant.")
    fit = LowRankRidge(features, moments, intercept=intercept).fit(ridge)
    _refuse_overflow(fit.dual, fit.offsets)
    return fit


def _refuse_overflow(*parts: Array | None) -> None:
    """Coefficients may leave the range of doubles where targets do not: a small ridge, and a large unit."""
    if any(part is not None and np.isinf(part).any() for part in parts):
        raise ValueError("the coefficients overflow double precision. Divide y by a constant, or raise the ridge.")


def _units(Y: Array) -> Array:
    """A power of two near the size of each column: whatever the unit of the targets, squares stay in range."""
    largest = np.abs(Y).max(axis=0, initial=0.0)
    return np.exp2(np.floor(np.log2(np.where(largest > 0, largest, 1.0))))


def choose(kernel: Kernel, shape: tuple[int, int], solver: str | LinearSolver) -> tuple[bool, str]:
    """Whether the weights are the smaller unknown, and the reason."""
    n, d = shape
    linear = kernel.name == "linear"
    if isinstance(solver, str) and solver not in ("auto", "primal", *LINEAR_SOLVERS):
        raise ValueError(
            f"solver={solver!r} is not known. Use one of: {', '.join(['auto', 'primal', *LINEAR_SOLVERS])}."
        )
    if isinstance(solver, str) and solver == "primal":
        if not linear:
            raise ValueError(f"solver='primal' is for the linear kernel, not for {kernel}. Use solver='auto'.")
        return True, "as asked"
    small = d < n and d <= DENSE_LIMIT and 3 * 8 * d**2 <= memory_budget()
    auto = isinstance(solver, str) and solver == "auto"
    return linear and auto and small, f"{d:,} weights are fewer than {n:,} dual coefficients"
