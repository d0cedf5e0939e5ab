"""Nearest class mean in the feature space of a kernel."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from gramian.estimators.base import BaseEstimator, by_blocks, planned_fit
from gramian.estimators.kernel_checks import lengths, warn_of_negative
from gramian.estimators.kernel_rows import KernelArgument, KernelInput
from gramian.estimators.landmarks import LandmarksArgument, add_low_rank, inner_products, lost_trace
from gramian.estimators.plans_kernel import ROUTE_OF_MEANS, plan_kernel_prototypes
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.validation import Table, check_labels, validate
from gramian.operators.similarities import Similarities, feature_means, mapped_means
from gramian.results import Array, FitSummary


class KernelPrototypeClassifier(ClassifierMixin, KernelInput, BaseEstimator):
    r"""Class of the nearest class mean in the feature space of a kernel.

    Definition
    ----------
    .. math:: \|\phi(x) - m_c\|^2 = k(x, x) - \frac{2}{n_c} \sum_{i \in c} k(x, x_i)
              + \frac{1}{n_c^2} \sum_{i, j \in c} k(x_i, x_j)

    Of equally near means the first in ``classes_`` wins. With one class all rows are of it.

    Parameters
    ----------
    kernel : str, Kernel or callable
        Text such as ``"rbf(sigma=2)"``, an object of :mod:`gramian.kernels`, ``"precomputed"``, or a function of two
        blocks of rows. ``"rbf"`` is the Gaussian kernel with gamma = 1 / (d var X).
    landmarks : int, Landmarks, RandomFeatures or None
        Rows that stand for all: means of the features of low rank that they give. See
        :class:`gramian.Landmarks`. None is exact.

    Attributes
    ----------
    classes_ : (classes,) array
    kernel_ : Kernel
        The kernel with its parameters resolved.
    trace_error_ : float or None
        What landmarks leave of the trace of the kernel matrix, as a share of it.
    summary_ : FitSummary

    Cost
    ----
    One product of the Gram matrix with the class indicator, and n kernel values for each new row. The linear kernel
    keeps the class means alone. With m landmarks: n m kernel values, and m for each new row.

    References
    ----------
    Shawe-Taylor, Cristianini, Kernel Methods for Pattern Analysis, Cambridge University Press 2004, section 5.1.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from gramian import KernelPrototypeClassifier
    >>> X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    >>> KernelPrototypeClassifier(kernel="rbf(sigma=0.3)").fit(X, y).score(X, y)
    1.0
    """

    _plan = plan_kernel_prototypes

    def __init__(self, kernel: KernelArgument = "rbf", *, landmarks: LandmarksArgument = None) -> None:
        self.kernel = kernel
        self.landmarks = landmarks

    @planned_fit
    def fit(self, X: Table, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the class means.

        Parameters
        ----------
        X : (n, d) array, data frame or sparse matrix
            Rows; the Gram matrix (n, n) if the kernel is precomputed.
        y : (n,) array
            Labels.
        sample_weight : (n,) array, optional
            Frequencies: weighting a row equals repeating it.
        """
        clock = Clock()
        kernel, table, given = self._read(X, sample_weight)
        classes, codes = check_labels(y, table.shape[0])
        A = np.zeros((table.shape[0], len(classes)))
        A[np.arange(len(codes)), codes] = 1.0 if given is None else given
        present = A.any(axis=0)  # a class whose rows all have weight 0 is not there
        A, self.classes_ = A[:, present] / A[:, present].sum(axis=0), classes[present]
        origin, rows, features, inner = inner_products(self.landmarks, kernel, table, given)
        self.kernel_ = kernel
        if features is None:
            squares = None if kernel.linear else _squares(A, inner)  # linear: means are written down
            self.means_ = feature_means(kernel, rows, A, squares, origin)
        else:
            self.means_ = mapped_means(features, rows, A, _squares(A, inner), origin)
            self.trace_error_ = lost_trace(self.landmarks, features, rows, inner.diagonal(), given)[1]
        summary = self._describe(
            table.shape, clock, ROUTE_OF_MEANS if features is None and kernel.linear else inner.route
        )
        self.summary_ = add_low_rank(summary, self.landmarks, features, self.trace_error_)
        return self

    @by_blocks
    def distances(self, X: Table) -> Array:
        """Return the distances of rows to the class means in feature space, m x classes."""
        check_is_fitted(self)
        squares = self.means_.squared_distances(validate(self, X, reset=False))
        warn_of_negative(self.kernel_, squares < -1e-10 * np.abs(squares).max(), "class means")
        return lengths(squares)

    @by_blocks
    def decision_function(self, X: Table) -> Array:
        r"""Return :math:`m_c'\phi(x) - \|m_c\|^2/2`, but for a term that is the same for all classes.

        The larger, the nearer. For two classes the difference, second less first, (m,); otherwise (m, classes).
        """
        nearness = self._nearness(X)
        return nearness[:, 1] - nearness[:, 0] if len(self.classes_) == 2 else nearness

    @by_blocks
    def predict(self, X: Table) -> Array:
        """Return the class of each row."""
        nearness = self._nearness(X)
        return self.classes_[nearness.argmax(axis=1)]

    def _nearness(self, X: Table) -> Array:
        check_is_fitted(self)
        return self.means_.nearness(validate(self, X, reset=False))

    def _describe(self, shape: tuple[int, int], clock: Clock, route: str) -> FitSummary:
        kernel, k = str(self.kernel_), len(self.classes_)
        write = SummaryBuilder(self, shape, kernel, f"{k} class{'es' * (k > 1)}", kernel=kernel, n_classes=k)
        write.line("route", route, route=route, mean_squares=self.means_.squares)
        return write.work(clock, "1 product").done()


def _squares(A: Array, inner: Similarities) -> Array:
    """Squares of the means ``A'Phi(X)``."""
    return np.einsum("ij,ij->j", A, inner @ A)
