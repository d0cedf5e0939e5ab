"""Kernel ridge regression, paths of ridges, and the summary of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base import BaseEstimator, all_or_nothing, by_blocks, planned_fit
from gramian.estimators.kernel_checks import warn_of_underflow
from gramian.estimators.kernel_rows import (
    AnyRows,
    KernelArgument,
    KernelInput,
    KernelRows,
    Seen,
    has_landmarks,
    keep_seen,
    next_rows,
    read_rows,
    seen_more,
    seen_of,
)
from gramian.estimators.labels import numbered
from gramian.estimators.landmarks import LandmarksArgument
from gramian.estimators.plans_kernel import plan_kernel_ridge
from gramian.estimators.result_tables import ResultTable
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.validation import Table, check_targets, check_weights, validate
from gramian.estimators.warnings import ConvergenceWarning, GramianWarning, IndefiniteKernelWarning, RankWarning, warn
from gramian.results import Array, FitSummary, at_most
from gramian.solvers.linear_methods import LinearSolver
from gramian.spaces.ridge import (
    NO_LEAVE_ONE_OUT,
    ROW_NEEDED,
    RidgeCurve,
    RidgeFit,
    RidgeSpace,
    check_low_rank_solver,
    from_moments,
)

#: Deviations of targets from their mean that are rounding, relative to the targets.
_TARGET_ROUNDING = 8 * float(np.finfo(np.float64).eps)


class KernelRidge(KernelInput, MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Least squares in the feature space of a kernel, with a ridge on the length of the function.

    Definition
    ----------
    .. math:: \min_f \sum_i w_i (y_i - f(x_i))^2 + \lambda \|f\|^2, \qquad
              f(x) = k(x)'a + b, \quad (K + \lambda W^{-1})\, a + b 1 = y, \quad 1'a = 0

    Without intercept (the default) b = 0 and nothing is asked of 1'a: :math:`a = (K + \lambda I)^{-1} y`. A thin plate
    spline leaves :math:`T = [1\; X]` unpenalised instead: :math:`f = k(x)'a + (1, x)'b` with :math:`T'a = 0`. (Inside
    sums, multiples and choices of columns it is taken as any other kernel, and is indefinite.)

    Parameters
    ----------
    ridge : float
        :math:`\lambda`, 0 or more. With 0 and a singular K: least squares of least norm, with a warning.
    kernel : str, Kernel or callable
        Text such as ``"rbf(sigma=2)"``, an object of :mod:`gramian.kernels`, ``"precomputed"``, or a function of two
        blocks of rows. ``"rbf"`` is the Gaussian kernel with gamma = 1 / (d var X).
    fit_intercept : bool
        Whether a constant is fitted that the ridge does not see: ridge in the centred feature space.
    landmarks : int, Landmarks, RandomFeatures or None
        Rows that stand for all: ridge on the features of low rank that they give, in one pass over the rows. See
        :class:`gramian.Landmarks`. None is exact.
    solver : str or solver object
        "auto"; "cholesky" (forms the matrix, n up to 10,000); "cg" (conjugate gradients, matrix-free); "minres" (the
        same for indefinite kernels); "primal" (d weights, linear kernel only); or an object such as
        ``gramian.solvers.conjugate.ConjugateGradients(tol=1e-4)``.

    Attributes
    ----------
    dual_coef_ : (n,) or (n, q) array
        a, zero for rows of weight zero. With landmarks one coefficient for each of them (each random feature).
    intercept_ : float or (q,) array
        b; for a thin plate spline its constant part.
    polynomial_coef_ : (d + 1,) or (d + 1, q) array
        b of a thin plate spline; absent otherwise.
    leave_one_out_ : (n,) or (n, q) array
        :math:`y_i - f_{-i}(x_i)`, with the fit to all rows but i (and all its weight), in closed form; absent where
        the inverse was not computed, as with landmarks.
    trace_error_ : float or None
        What landmarks leave of the trace of the kernel matrix, as a share of it.
    kernel_ : Kernel
        The kernel with its parameters resolved.
    summary_ : FitSummary
        What was done, and the certificate; prints as a short table.

    Cost
    ----
    Up to 3,000 rows n^3/3 multiplications, twice. Beyond, a product of n^2 kernel values an iteration and no matrix;
    the linear kernel with d < n one pass of n d^2. With m landmarks one pass of n m kernel values and up to 2 n m^2
    multiplications.

    References
    ----------
    Saunders, Gammerman, Vovk, Ridge regression learning algorithm in dual variables, ICML 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import KernelRidge
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = KernelRidge(0.01, kernel="rbf(sigma=1)").fit(X, np.sin(X[:, 0]))
    >>> round(float(model.predict([[1.5]])[0]), 3)
    0.997
    """

    _plan = plan_kernel_ridge
    _left_out_told = "RMSECV: each row left out alone"

    def __init__(
        self,
        ridge: float = 1.0,
        *,
        kernel: KernelArgument = "rbf",
        fit_intercept: bool = False,
        landmarks: LandmarksArgument = None,
        solver: str | LinearSolver = "auto",
    ) -> None:
        self.ridge = ridge
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.landmarks = landmarks
        self.solver = solver

    @planned_fit
    def fit(self, X: Table, y: Table | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the function.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            Rows; the Gram matrix (n, n) if the kernel is precomputed. A stream needs ``landmarks``, and is read once.
        y : (n,) or (n, q) array, or stream
            Targets; several share the work. Not needed if the stream X has ``y_columns``.
        sample_weight : (n,) array, optional
            Frequencies of the rows.
        """
        clock = Clock()
        self._check()
        self.kernel_, rows = read_rows(self, X, y, sample_weight, targets=True)
        if not self.kernel_.linear:  # its squares are taken in a unit of their own
            warn_of_underflow(self.kernel_, rows.first[0])
        if self.landmarks is None:
            fit, seen = self._space(rows).fit(float(self.ridge)), None
        else:
            units = rows.scale_targets()
            seen = seen_of(self, self.kernel_, rows)
            fit = self._from_moments(seen, units)
            seen = seen.each(lambda part: part.beside_times(units))
        n = seen.n if seen is not None and rows.streamed else rows.n_first
        return self._keep(fit, seen, n, clock, single=rows.single, streamed=rows.streamed)

    @available_if(has_landmarks)
    @all_or_nothing
    def partial_fit(self, X: Table, y: Table, sample_weight: ArrayLike | None = None) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` to the stream of them.

        The first call chooses the landmarks, and a width such as "scale", from its rows: give it a good sample. Only
        moments of the features and the targets are kept.
        """
        clock = Clock()
        self._check()
        table = next_rows(self, X)
        targets = check_targets(y, table.shape[0])
        weights = check_weights(sample_weight, table.shape[0], variance=False)
        seen = seen_more(self, KernelRows((table,), targets.values, weights))
        self.kernel_ = seen.kernels[0]
        return self._keep(self._from_moments(seen), seen, seen.n, clock, single=targets.single, streamed=True)

    def _from_moments(self, seen: Seen, units: Array | float = 1.0) -> RidgeFit:
        """Fit to moments in which the unit of the targets is ``units``."""
        return from_moments(seen.maps[0], seen.total, float(self.ridge), units, intercept=bool(self.fit_intercept))

    def _keep(
        self, fit: RidgeFit, seen: Seen | None, n: int, clock: Clock, *, single: bool, streamed: bool = False
    ) -> Self:
        def shaped(values: Array) -> Array:
            return values[:, 0] if single else values

        self.function_ = fit.function
        self.dual_coef_ = shaped(fit.dual)
        self.intercept_ = float(fit.offsets[0, 0]) if single else fit.offsets[0]
        self.__dict__.pop("polynomial_coef_", None)
        if len(fit.offsets) > 1:
            self.polynomial_coef_ = shaped(fit.offsets)
        self._left_out = None if fit.left_out is None else shaped(fit.left_out)
        self._unknown, self._single = fit.unknown, single
        self.summary_ = _summary(self, fit, n, clock)
        if seen is not None:
            keep_seen(self, seen, streamed=streamed)
        for text, category in _shortfalls(fit, float(self.ridge)):
            warn(text, category)
        return self

    @by_blocks
    def predict(self, X: Table) -> Array:
        """Return the values of the function at rows.

        Parameters
        ----------
        X : (m, d) array, data frame, sparse matrix or stream
            New rows; for a precomputed kernel their kernel values with the training rows, (m, n).

        Returns
        -------
        (m,) or (m, q) array
            Of a stream, a stream.
        """
        check_is_fitted(self)
        values = self.function_(validate(self, X, reset=False))
        return values[:, 0] if self._single else values

    def path(
        self, X: Table, y: Table, ridges: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> RidgePath:
        """Fit a path of ridges from one eigendecomposition, and judge each by leaving rows out.

        The estimator is not changed; its ``ridge`` and ``solver`` do not matter.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        ridges : (R,) array, optional
            By default thirty, spread over the spectrum of the kernel matrix.

        Returns
        -------
        RidgePath

        Examples
        --------
        >>> import numpy as np
        >>> from gramian import KernelRidge
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(0, 6, (80, 1))
        >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(80)
        >>> print(KernelRidge(kernel="rbf(sigma=1)").path(X, y, [0.01, 0.1, 1]))
               ridge         error        R2
                0.01       0.01021    0.9800
                 0.1      0.009848    0.9807  best
                   1       0.01182    0.9768
        """
        if self.landmarks is not None:
            raise ValueError(f"landmarks={self.landmarks!r}: {NO_LEAVE_ONE_OUT}.")
        checked = None if ridges is None else check_ridges(ridges)
        probe = KernelRidge(kernel=self.kernel, fit_intercept=self.fit_intercept)
        probe._check()
        probe.kernel_, rows = read_rows(probe, X, y, sample_weight, targets=True)
        return _judged(probe._space(rows).path(checked), rows)

    def _tables(self, make: TableMaker) -> Makers:
        known = getattr(self, "_left_out", None)
        found = {} if known is None else {"leave-one-out": lambda: self._left_out_table(make)}
        return super()._tables(make) | found

    def _left_out_table(self, make: TableMaker) -> ResultTable:
        values = self.leave_one_out_.reshape(len(self.leave_one_out_), -1)
        given = make.row_names if make.has_rows and make.n == len(values) else numbered("", len(values))
        heads = make.targets(values.shape[1])
        return ResultTable("leave-one-out", "row", given, dict(zip(heads, values.T, strict=True)))

    def _predictions_left_out(self, X: Table, y: Table) -> Array | None:
        left_out: Array | None = getattr(self, "_left_out", None)
        return None if left_out is None else np.asarray(y, dtype=np.float64).reshape(left_out.shape) - left_out

    def _space(self, rows: AnyRows) -> RidgeSpace:
        how: dict[str, Any] = {"intercept": bool(self.fit_intercept), "solver": self.solver}
        return RidgeSpace(self.kernel_, rows.first[0], rows.targets, rows.weights, **how)

    def _check(self) -> None:
        check_ridge(self.ridge)
        if not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise TypeError(f"fit_intercept={self.fit_intercept!r} must be True or False.")
        if self.landmarks is not None:
            check_low_rank_solver(self.solver)

    @property
    def leave_one_out_(self) -> Array:
        """Residual of each row under the fit without it, where it is known."""
        left_out: Array | None = getattr(self, "_left_out", None)
        if left_out is None:
            why = getattr(self, "_unknown", "the estimator is not fitted")
            raise AttributeError(f"leave_one_out_ is not known: {why}.")
        return left_out


@dataclass(frozen=True)
class RidgePath:
    """Fits along a path of ridges, and what leaving rows out says of them; prints as a table.

    Attributes
    ----------
    ridges : (R,) array
    errors : (R,) array
        Mean squared leave-one-out residual, over rows (by their weight) and targets.
    r2 : (R,) array
        ``1 - errors / variance`` of the targets; 0 if they are constant.
    leave_one_out : (R, n) or (R, n, q) array
        Residual of each row under the fit without it.
    dual_coef : (R, n) or (R, n, q) array
    intercept : (R,) or (R, q) array
    best : float
        The ridge of least error.
    best_index : int
        Its place.
    """

    ridges: Array
    errors: Array
    r2: Array
    leave_one_out: Array
    dual_coef: Array
    intercept: Array

    @property
    def best_index(self) -> int:
        """Place of the least error; the largest ridge of several."""
        return len(self.errors) - 1 - int(np.argmin(self.errors[::-1]))

    @property
    def best(self) -> float:
        """The ridge of least error."""
        return float(self.ridges[self.best_index])

    def __str__(self) -> str:
        lines = [f"{'ridge':>12}  {'error':>12}  {'R2':>8}"]
        for k, (ridge, error, r2) in enumerate(zip(self.ridges, self.errors, self.r2, strict=True)):
            lines.append(f"{ridge:>12.4g}  {error:>12.4g}  {r2:>8.4f}" + ("  best" if k == self.best_index else ""))
        return "\n".join(lines)


def _judged(curve: RidgeCurve, rows: AnyRows) -> RidgePath:
    Y, weights = rows.targets, rows.weights
    size = float(np.abs(Y).max())
    if size and not 1e-140 < size < 1e140:
        raise ValueError(f"y has entries of size {size:.3g}, whose squared errors leave double precision. Rescale y.")
    for ridge, left_out in zip(curve.ridges, curve.left_out, strict=True):
        if not np.isfinite(left_out).all():
            raise ValueError(f"leave-one-out residuals are not determined at ridge={ridge:.3g}: {ROW_NEEDED}.")
    errors = np.average(np.square(curve.left_out).mean(axis=2), axis=1, weights=weights)
    level = np.average(Y, axis=0, weights=weights)
    variance = float(np.average(np.square(Y - level).mean(axis=1), weights=weights))
    shape = (lambda A: A[..., 0]) if rows.single else (lambda A: A)
    return RidgePath(
        curve.ridges,
        errors,
        1 - errors / variance if variance > np.square(_TARGET_ROUNDING * size) else np.zeros_like(errors),
        shape(curve.left_out),
        shape(curve.dual),
        shape(curve.offsets[:, 0]),
    )


def check_ridge(ridge: object) -> float:
    """Refuse what is no ridge."""
    if isinstance(ridge, (bool, np.bool_)) or not isinstance(ridge, (int, float, np.integer, np.floating)):
        raise TypeError(f"ridge={ridge!r} must be a number, 0 or more.")
    if not 0 <= ridge < np.inf:
        raise ValueError(f"ridge={ridge!r} must be a finite number, 0 or more.")
    return float(ridge)


def check_ridges(ridges: ArrayLike) -> Array:
    """Refuse what is no list of ridges."""
    try:
        values = np.asarray(ridges, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"ridges={ridges!r} must be numbers, 0 or more.") from None
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(f"ridges={ridges!r} must be a list of one or more finite numbers, 0 or more.")
    return values


def _summary(estimator: KernelRidge, fit: RidgeFit, n: int, clock: Clock) -> FitSummary:
    kernel, ridge, q = str(estimator.kernel_), float(estimator.ridge), fit.dual.shape[1]
    worst, left_out = float(fit.residuals.max(initial=0.0)), None
    if fit.left_out is not None:
        size = np.abs(fit.left_out).max(initial=0.0) or 1.0  # squares of extreme units would overflow
        error = float(size * np.sqrt(np.square(fit.left_out / size).mean()))
        left_out = f"root mean squared leave-one-out residual {error:.4g}"
    certified = f"relative residual{'s' if q > 1 else ''} <= {at_most(worst)} in double precision"
    shape, targets = (n, estimator.n_features_in_), f"{q} targets" if q > 1 else ""
    write = SummaryBuilder(estimator, shape, kernel, targets, f"ridge {ridge:g}")
    write.add(targets=q, kernel=kernel, ridge=ridge).route(fit.trace).work(clock, fit.trace.products)
    write.line("certified", certified, residuals=fit.residuals, singular=fit.singular, rank=fit.rank)
    write.line("left out", left_out, n_negative=fit.n_negative, most_negative=fit.most_negative)
    return write.notes(text for text, _ in _shortfalls(fit, ridge)).done()


def _shortfalls(fit: RidgeFit, ridge: float) -> Iterator[tuple[str, type[GramianWarning]]]:
    """What a fit lacks: convergence, rank, a kernel that is positive."""
    if not fit.trace.converged:
        yield (
            f"the {fit.trace.solver} solver stopped early ({fit.trace.stopped}): relative residuals up to "
            f"{fit.residuals.max():.1e}. Raise the ridge, or allow it more iterations with a solver object.",
            ConvergenceWarning,
        )
    if fit.singular:
        rank = "" if fit.rank is None else f" of rank {fit.rank:,} (of {fit.size:,})"
        yield (
            f"ridge={ridge:g} leaves a singular matrix{rank}: least squares of least norm was fitted. Raise the ridge, "
            "or drop rows that repeat others.",
            RankWarning,
        )
    if fit.free < fit.offsets.shape[0]:
        yield (
            f"the {fit.offsets.shape[0]} functions that the kernel does not penalise are only {fit.free} on these "
            "rows: their coefficients of least norm were taken. Drop constant or repeated columns.",
            RankWarning,
        )
    if fit.n_negative:
        many = f"{fit.n_negative:,} negative eigenvalue{'s' if fit.n_negative > 1 else ''}"
        size = f", the largest of size {fit.most_negative:.3g}" if fit.most_negative else ""
        yield (
            f"the kernel matrix is indefinite: {'' if fit.counted else 'at least '}{many}{size}; the equations were "
            "solved, but their solution is a saddle point and minimises nothing.",
            IndefiniteKernelWarning,
        )
