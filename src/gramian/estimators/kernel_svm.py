"""Support vector classification in the feature space of a kernel."""

from __future__ import annotations

from typing import Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gramian.config import format_bytes, memory_budget
from gramian.estimators.base import BaseEstimator, by_blocks, planned_fit
from gramian.estimators.kernel_checks import check_similarities, warn_of_underflow
from gramian.estimators.kernel_rows import KernelArgument, KernelInput
from gramian.estimators.landmarks import LandmarksArgument, add_low_rank, low_rank, mapped_rows
from gramian.estimators.plans_kernel import is_narrow, plan_kernel_svc
from gramian.estimators.result_tables import ResultTable
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.validation import Table, check_labels, validate
from gramian.estimators.warnings import ConvergenceWarning, IndefiniteKernelWarning, warn
from gramian.kernels import Kernel, Linear
from gramian.operators.gram import KernelBlocks
from gramian.operators.nearest import Sized, resolve_ties
from gramian.projection import KernelProjection
from gramian.results import Array, FitSummary, Matrix, at_most
from gramian.solvers.box_qp import DualSolution, box_dual, narrow_dual

#: Support vectors whose eigenvalues tell whether a kernel that may be indefinite is.
_EIGENVALUE_SAMPLE_ROWS = 500


class KernelSVC(KernelInput, ClassifierMixin, BaseEstimator):
    r"""Support vector classifier without offset; several classes one against the rest.

    Definition
    ----------
    .. math:: \max_a \sum_i a_i - \tfrac12 \sum_{ij} a_i a_j y_i y_j k(x_i, x_j), \quad 0 \le a_i \le C_i, \qquad
              f(x) = \sum_i a_i y_i k(x, x_i)

    Parameters
    ----------
    C : float
        Bound :math:`C` of the coefficients: the price of a margin violated. ``sample_weight`` and ``class_weight``
        multiply it.
    kernel : str, Kernel or callable
        Text such as ``"rbf(sigma=2)"``, an object of :mod:`gramian.kernels`, ``"precomputed"``, or a function of two
        blocks of rows. ``"rbf"`` is the Gaussian kernel with gamma = 1 / (d var X).
    bias : bool
        Add 1 to the kernel: an offset that is penalised like every other weight.
    class_weight : dict, "balanced" or None
        Factor of ``C`` for each class; "balanced" makes classes count the same whatever their sizes.
    landmarks : int, Landmarks, RandomFeatures or None
        Rows that stand for all: a linear classifier of the features of low rank that they give. See
        :class:`gramian.Landmarks`. None is exact.
    tol : float
        Largest violation of the optimality conditions, checked in double precision.

    Attributes
    ----------
    support_ : (s,) array
        Rows with a coefficient that is not zero, for some class.
    dual_coef_ : (1 or classes, s) array
        :math:`a_i y_i`.
    intercept_ : (1 or classes,) array
        :math:`\sum_i a_i y_i` with ``bias``, zero without.
    classes_ : (classes,) array
        Labels, sorted; of two, the second is the positive one.
    dual_objective_ : float or (classes,) array
        Value of the maximum.
    duality_gap_ : float or (classes,) array
        Primal minus dual objective, relative to the primal one.
    kkt_residual_ : float
        Largest violation of the optimality conditions.
    n_iter_ : int
        Steps of two coordinates each (iterations of the interior point method for the linear kernel).
    kernel_ : Kernel
        The kernel with its parameters resolved.
    trace_error_ : float or None
        What landmarks leave of the trace of the kernel matrix, as a share of it.
    summary_ : FitSummary
        What was done, and the certificate; prints as a short table.

    Cost
    ----
    Between n s and n^2 kernel values a few times over; memory for the block of the rows worked on, within the budget of
    :class:`gramian.config`. The linear kernel with d < n columns takes n d^2 an iteration and no kernel values. With m
    landmarks rows are mapped once and kept, n m numbers, and are then rows of a linear kernel.

    References
    ----------
    Steinwart, Hush, Scovel, Training SVMs without offset, Journal of Machine Learning Research 2011.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from gramian import KernelSVC
    >>> X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    >>> KernelSVC(C=10, kernel="rbf(sigma=0.5)").fit(X, y).score(X, y)
    1.0
    """

    _plan = plan_kernel_svc

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: KernelArgument = "rbf",
        bias: bool = False,
        class_weight: dict[object, float] | str | None = None,
        landmarks: LandmarksArgument = None,
        tol: float = 1e-3,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.bias = bias
        self.class_weight = class_weight
        self.landmarks = landmarks
        self.tol = tol

    @planned_fit
    def fit(self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the support vectors.

        Parameters
        ----------
        X : (n, d) array, data frame or sparse matrix
            Rows; the Gram matrix (n, n) if the kernel is precomputed.
        y : (n,) array
            Labels: numbers, strings or booleans.
        sample_weight : (n,) array, optional
            Factors of ``C``; a row of weight zero is left out.
        """
        clock = Clock()
        self._check_parameters()
        self.kernel_, table, weights = self._read(X, sample_weight)
        warn_of_underflow(self.kernel_, table)
        used = np.arange(table.shape[0]) if weights is None else np.flatnonzero(weights)
        self.classes_, codes = _present(*check_labels(y, table.shape[0], least=2), used)
        rows, signs = _restrict(self.kernel_, table, used), _signs(codes, len(self.classes_))
        weights = None if weights is None else weights[used]
        bounds = self._bounds(codes, np.ones(len(used)) if weights is None else weights)
        features, kernel = low_rank(self.landmarks, self.kernel_, rows, weights), self.kernel_
        if features is not None:  # from here on, rows of a linear kernel
            kernel, (rows, self.trace_error_) = Linear(), mapped_rows(self.landmarks, features, rows, weights, copies=3)
        check_similarities(kernel, kernel.diagonal(rows), total=len(used))
        dual = self._solve(kernel, rows, signs, np.repeat(bounds[:, None], signs.shape[1], axis=1))
        found = np.flatnonzero(dual.coefficients.any(axis=1))
        self.support_ = used[found]
        self.dual_coef_ = np.ascontiguousarray(dual.coefficients[found].T)
        self.intercept_ = float(self.bias) * self.dual_coef_.sum(axis=1)
        if features is None:
            anchors, lifted = self.kernel_.anchors(table[self.support_]), self.dual_coef_.T
            self.projection_ = KernelProjection(self.kernel_, anchors, lifted, self.intercept_)
        else:
            lifted = features.lift(rows.T @ dual.coefficients)
            self.projection_ = KernelProjection(features.kernel, features.anchors, lifted, self.intercept_)
        self._certify(dual, signs, bounds)
        self._negative = _most_negative(KernelBlocks(kernel, rows, float(self.bias)), found)
        _warn_of(self, dual)
        summary = _summary(self, table.shape, dual, clock)
        self.summary_ = add_low_rank(summary, self.landmarks, features, self.trace_error_)
        return self

    @by_blocks
    def decision_function(self, X: Table) -> Array:
        """Return :math:`f(x)`: (m,) for two classes, positive for the second; (m, classes) for more.

        Values that differ from the largest (of two classes: from 0) by rounding only are set to it.
        """
        check_is_fitted(self)
        rows = validate(self, X, reset=False)
        rows = rows[:, self.support_] if self.kernel_.given else rows
        values = resolve_ties(rows, self._values(rows), self._values)
        return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values

    @by_blocks
    def predict(self, X: Table) -> Array:
        """Return the label of each row; between equals, the first class."""
        values = self.decision_function(X)
        return self.classes_[(values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)]

    def _tables(self, make: TableMaker) -> Makers:
        names = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        heads = [f"for {name}" for name in names]
        rows = make.row_names if make.has_rows and make.n > max(self.support_, default=0) else None
        index = tuple(f"row {at + 1}" if rows is None else rows[at] for at in self.support_)
        columns = dict(zip(heads, self.dual_coef_, strict=True))
        note = "positive: a row of that class"
        return super()._tables(make) | {"support": lambda: ResultTable("support", "row", index, columns, note)}

    def _values(self, X: Matrix) -> Sized:
        """Values of the classes, m x classes, and the sizes of the terms they sum; the first of two has 0."""
        if not len(self.support_):
            return np.zeros((X.shape[0], len(self.classes_))), np.zeros(X.shape[0])
        values, sizes = self.projection_.sized(X)
        return (np.hstack([np.zeros_like(values), values]) if len(self.classes_) == 2 else values), sizes

    def _check_parameters(self) -> None:
        for name in ("C", "tol"):
            value = getattr(self, name)
            if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
                raise TypeError(f"{name}={value!r} must be a positive number.")
            if not 0 < value < np.inf:
                raise ValueError(f"{name}={value!r} must be a positive, finite number.")
        if not isinstance(self.bias, (bool, np.bool_)):
            raise TypeError(f"bias={self.bias!r} must be True or False.")

    def _bounds(self, codes: Array, weights: Array) -> Array:
        return float(self.C) * weights * self._class_factors(codes, weights)[codes]

    def _class_factors(self, codes: Array, weights: Array) -> Array:
        classes, given = self.classes_, self.class_weight
        if given is None:
            return np.ones(len(classes))
        if isinstance(given, str) and given == "balanced":
            sizes = np.bincount(codes, weights, minlength=len(classes))
            return sizes.sum() / (len(classes) * sizes)
        if not isinstance(given, dict):
            raise ValueError(f"class_weight={given!r} must be a dict of factors, 'balanced' or None.")
        known = classes.tolist()
        for label, factor in given.items():
            if label not in known:
                raise ValueError(f"class_weight names {label!r}, which is not a class. Classes: {known}.")
            if not (isinstance(factor, (int, float, np.number)) and 0 < factor < np.inf):
                raise ValueError(f"class_weight[{label!r}]={factor!r} must be a positive number.")
        return np.array([float(given.get(label, 1.0)) for label in known])

    def _solve(self, kernel: Kernel, X: Matrix, signs: Array, bounds: Array) -> DualSolution:
        if is_narrow(kernel, X.shape, bool(self.bias)):
            return narrow_dual(_features(X, bool(self.bias)), signs, bounds, tol=self.tol)
        return box_dual(KernelBlocks(kernel, X, float(self.bias)), signs, bounds, tol=self.tol)

    def _certify(self, dual: DualSolution, signs: Array, bounds: Array) -> None:
        b, scores = dual.coefficients, dual.gradient + signs
        norms = (b * scores).sum(axis=0)
        objective = np.abs(b).sum(axis=0) - 0.5 * norms
        primal = 0.5 * norms + (bounds[:, None] * np.maximum(0.0, 1 - signs * scores)).sum(axis=0)
        gap = (primal - objective) / np.maximum(np.abs(primal), np.finfo(float).tiny)
        single = len(objective) == 1
        self.dual_objective_ = float(objective[0]) if single else objective
        self.duality_gap_ = float(gap[0]) if single else gap
        self.kkt_residual_ = float(dual.violation.max())
        self.n_iter_ = dual.steps


def _signs(codes: Array, count: int) -> Array:
    """+1 for the class of a column and -1 for the rest; one column, the second class against the first, for two."""
    columns = np.array([1]) if count == 2 else np.arange(count)
    return np.where(codes[:, None] == columns, 1.0, -1.0)


def _present(classes: Array, codes: Array, used: Array) -> tuple[Array, Array]:
    there, codes = np.unique(codes[used], return_inverse=True)
    if len(there) < 2:
        raise ValueError(
            f"only one class, {classes[there[0]]!r}, has rows of positive sample_weight; at least 2 are needed."
        )
    return classes[there], codes.ravel()


def _restrict(kernel: Kernel, X: Matrix, used: Array) -> Matrix:
    if len(used) == X.shape[0]:
        return X
    return X[used][:, used] if kernel.given else X[used]


def _features(X: Matrix, bias: bool) -> Matrix:
    """Rows in double precision, with a column of ones for the bias; dense if they take an eighth of the budget."""
    if isinstance(X, sp.sparray | sp.spmatrix) and 8 * X.shape[0] * X.shape[1] <= memory_budget() // 8:
        X = X.toarray()
    Z: Matrix = (sp.csr_array(X) if sp.issparse(X) else X).astype(np.float64, copy=False)
    if not bias:
        return Z
    ones = np.ones((Z.shape[0], 1))
    return sp.csr_array(sp.hstack([Z, ones])) if sp.issparse(Z) else np.hstack([Z, ones])


def _most_negative(blocks: KernelBlocks, support: Array) -> float:
    """Size of the most negative eigenvalue among some support vectors; 0 if there is none beyond rounding."""
    if blocks.positive or not len(support):
        return 0.0
    some = support[:: -(-len(support) // _EIGENVALUE_SAMPLE_ROWS)]
    values = np.linalg.eigvalsh(blocks.block(some, np.empty((len(some), len(some)))))
    return float(-values[0]) if values[0] < -1e-8 * np.abs(values).max() else 0.0


def _warn_of(model: KernelSVC, dual: DualSolution) -> None:
    if not dual.converged:
        warn(
            f"the search stopped early ({dual.stopped}): the KKT residual is {model.kkt_residual_:.1e}, "
            f"tol={model.tol:g}. Use a smaller C={model.C:g}, a larger tol, or standardise X.",
            ConvergenceWarning,
        )
    if model._negative:
        warn(
            f"the kernel matrix is indefinite: among the support vectors an eigenvalue of -{model._negative:.3g}; "
            "the answer meets the optimality conditions, but it need not be the only one that does.",
            IndefiniteKernelWarning,
        )


def _summary(model: KernelSVC, shape: tuple[int, int], dual: DualSolution, clock: Clock) -> FitSummary:
    (n, d), c, s, seconds = shape, len(model.classes_), len(model.support_), clock.seconds
    if dual.largest:
        route = f"working sets of up to {dual.largest:,} rows (the kernel matrix would take {format_bytes(8 * n * n)})"
        work = f"{dual.steps:,} coordinate steps in {dual.rounds} round{'s' * (dual.rounds != 1)}, {seconds:.3g} s"
    else:
        narrow = f"the linear kernel has {d:,} columns" if model.landmarks is None else "features of low rank"
        route = f"interior point method ({narrow}, fewer than rows)"
        work = f"{dual.steps} iterations, {seconds:.3g} s"
    kernel, gap = str(model.kernel_), float(np.max(model.duality_gap_))
    certified = f"KKT residual <= {at_most(model.kkt_residual_)}, relative duality gap <= {at_most(gap)}"
    note = f"the kernel matrix is indefinite: an eigenvalue of -{model._negative:.3g}" if model._negative else None
    write = SummaryBuilder(model, shape, kernel, f"{c} classes", f"{s:,} support vectors")
    write.add(kernel=kernel, n_classes=c, n_support=s).line("route", route, route=route)
    write.line("work", work, steps=dual.steps, rounds=dual.rounds, seconds=seconds)
    write.line("certified", certified, kkt_residual=model.kkt_residual_, duality_gap=model.duality_gap_)
    write.line("stopped", None if dual.converged else dual.stopped, converged=dual.converged, stopped=dual.stopped)
    write.line("note", note, dual_objective=model.dual_objective_, most_negative=model._negative)
    return write.done()
