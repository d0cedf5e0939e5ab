"""Kernel ridge regression."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base import Clock
from gramian.estimators.base_estimator import BaseEstimator, all_or_nothing, planned_fit
from gramian.estimators.distances import warn_of_underflow
from gramian.estimators.kernel_streams import (
    Seen,
    add_first_rows,
    has_landmarks,
    keep_seen,
    next_rows,
    second_stream,
    seen_more,
    seen_of,
)
from gramian.estimators.low_rank import add_low_rank, left_by, low_rank
from gramian.estimators.plans_kernel import plan_kernel_ridge
from gramian.estimators.ridge_path import RidgePath, check_ridge, check_ridges, summarise_path
from gramian.estimators.ridge_text import summarise_ridge, warn_of_ridge
from gramian.estimators.streams import by_blocks
from gramian.estimators.targets import KernelInput, Targets, check_targets
from gramian.estimators.validation import check_weights, validate
from gramian.operators.features import FeatureMap
from gramian.operators.remote import is_stream
from gramian.results import Array
from gramian.spaces.low_rank import UNKNOWN
from gramian.spaces.ridge import RidgeSpace, check_low_rank_solver, from_moments
from gramian.spaces.ridge_values import RidgeFit


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

    def __init__(
        self,
        ridge: float = 1.0,
        *,
        kernel: Any = "rbf",
        fit_intercept: bool = False,
        landmarks: Any = None,
        solver: Any = "auto",
    ) -> None:
        self.ridge = ridge
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.landmarks = landmarks
        self.solver = solver

    @planned_fit
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the function.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            Rows; the Gram matrix (n, n) if the kernel is precomputed. A stream needs ``landmarks``, and is read once.
        y : (n,) or (n, q) array, or stream
            Targets; several share the work. Not needed if the stream X has ``y_columns``.
        sample_weight : (n,) array, optional
            Frequencies of the rows.

        Returns
        -------
        self
        """
        clock = Clock()
        ridge = check_ridge(self.ridge)
        if is_stream(X):
            self._check_low_rank()
            seen = seen_of(self, X, second_stream(X, y), sample_weight)
            return self._fit_seen(seen, clock, single=seen.parts[0].moments.d == seen.maps[0].size + 1)
        space, targets, _ = self._space(X, y, sample_weight)
        keep_seen(self, (self.kernel_,), (space.features,), space.original_moments())
        return self._keep(space.fit(ridge), len(targets.values), space.features, clock, single=targets.single)

    @available_if(has_landmarks)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` to the stream of them.

        The first call chooses the landmarks, and a width such as "scale", from its rows: give it a good sample. Only
        moments of the features and the targets are kept.

        Parameters
        ----------
        X : (n, d) array, data frame or sparse matrix
            More rows.
        y : (n,) or (n, q) array
            Their targets.
        sample_weight : (n,) array, optional
            Frequencies of these rows.

        Returns
        -------
        self
        """
        clock = Clock()
        check_ridge(self.ridge)
        self._check_low_rank()
        X = next_rows(self, X)
        targets = check_targets(y, X.shape[0])
        weights = check_weights(sample_weight, X.shape[0], variance=False)
        return self._fit_seen(seen_more(self, X, targets.values, weights), clock, single=targets.single)

    def _fit_seen(self, seen: Seen, clock: Clock, *, single: bool) -> Self:
        """The function from the moments of all rows and targets so far."""
        (self.kernel_,), (features,), moments = seen.kernels, seen.maps, seen.total
        fit = from_moments(features, moments, float(self.ridge), intercept=bool(self.fit_intercept))
        self.trace_error_ = left_by(self.landmarks, features, moments.trace_error())
        self._keep(fit, seen.n, features, clock, single=single)
        self.seen_, self.summary_ = seen, add_first_rows(self, self.summary_, seen.first, seen.n)
        return self

    def _keep(self, fit: RidgeFit, n: int, features: FeatureMap | None, clock: Clock, *, single: bool) -> Self:
        """Set the fitted attributes."""

        def shaped(values: Array) -> Array:
            return values[:, 0] if single else values

        self.function_ = fit.function
        self.dual_coef_ = shaped(fit.dual)
        self.intercept_ = float(fit.offsets[0, 0]) if single else fit.offsets[0]
        self.__dict__.pop("polynomial_coef_", None)
        if len(fit.offsets) > 1:
            self.polynomial_coef_ = shaped(fit.offsets)
        self._left_out = None if fit.left_out is None else shaped(fit.left_out)
        self._unknown = fit.unknown
        self._single = single
        summary = summarise_ridge(self, fit, n, clock.seconds)
        self.summary_ = add_low_rank(summary, self.landmarks, features, self.trace_error_)
        warn_of_ridge(fit, float(self.ridge))
        return self

    @by_blocks
    def predict(self, X: Any) -> Array:
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
        X = validate(self, X, reset=False)
        values = self.function_(X)
        return values[:, 0] if self._single else values

    def path(self, X: Any, y: Any, ridges: Any = None, sample_weight: Any = None) -> RidgePath:
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
            raise ValueError(f"landmarks={self.landmarks!r}: {UNKNOWN}.")
        checked = None if ridges is None else check_ridges(ridges)
        probe = KernelRidge(kernel=self.kernel, fit_intercept=self.fit_intercept)
        space, targets, weights = probe._space(X, y, sample_weight)
        return summarise_path(space.path(checked), targets.values, weights, single=targets.single)

    def _space(self, X: Any, y: Any, sample_weight: Any) -> tuple[RidgeSpace, Targets, Array | None]:
        """Check everything, and return the problem."""
        self._check_intercept()
        self.kernel_, X, weights = self._read_weighted(X, sample_weight)
        if self.kernel_.name != "linear":  # its squares are taken in a unit of their own
            warn_of_underflow(self.kernel_, X)
        targets = check_targets(y, X.shape[0])
        features = low_rank(self.landmarks, self.kernel_, X, weights)
        how: dict[str, Any] = {"intercept": bool(self.fit_intercept), "solver": self.solver, "features": features}
        space = RidgeSpace(self.kernel_, X, targets.values, weights, **how)
        self.trace_error_ = None
        if features is not None and space.moments is not None:
            self.trace_error_ = left_by(self.landmarks, features, space.moments.trace_error())
        return space, targets, weights

    def _check_intercept(self) -> None:
        if not isinstance(self.fit_intercept, (bool, np.bool_)):
            raise TypeError(f"fit_intercept={self.fit_intercept!r} must be True or False.")

    def _check_low_rank(self) -> None:
        self._check_intercept()
        check_low_rank_solver(self.solver)

    @property
    def leave_one_out_(self) -> Array:
        """Residual of each row under the fit without it, where it is known."""
        left_out: Array | None = getattr(self, "_left_out", None)
        if left_out is None:
            why = getattr(self, "_unknown", "the estimator is not fitted")
            raise AttributeError(f"leave_one_out_ is not known: {why}.")
        return left_out
