"""Which columns a component of a kernel method depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from gramian.engine.product import to_dense
from gramian.estimators.base import BaseEstimator
from gramian.estimators.validation import Table, check_choice, random_generator, validate
from gramian.kernels import Kernel
from gramian.kernels.base import Form
from gramian.operators import CrossGram
from gramian.progress import track
from gramian.projection import KernelProjection
from gramian.results import Array, FitSummary, Matrix, Seed, percent
from gramian.selection.printing import Summarized

#: Rows at which slopes are taken; rows that are shuffled, and kernel values that they take, at the most.
_SLOPES_MAX_ROWS, _SHUFFLED_MAX_ROWS, _SHUFFLED_MAX_VALUES = 1000, 1000, 2e9
#: Columns that the text lists for a component.
_LISTED_COLUMNS = 4


@dataclass(frozen=True)
class ColumnImportance(Summarized):
    """What each component depends on.

    Attributes
    ----------
    shares : (d, K) array
        For each component, shares of the columns; they sum to 1.
    columns : tuple of str
    method : str
        "slopes" or "shuffled".
    rows : int
        Rows that were looked at.
    """

    shares: Array
    columns: tuple[str, ...]
    method: str
    rows: int

    def _summary(self) -> FitSummary:
        lines = [(str(k + 1), self.leading(k)) for k in range(self.shares.shape[1])]
        how = "mean squared slopes" if self.method == "slopes" else "columns shuffled"
        return FitSummary(("Columns", f"shares by component, {how}, {self.rows:,} rows"), tuple(lines))

    def leading(self, k: int) -> str:
        """The columns a component depends on most, with their shares."""
        order = np.argsort(-self.shares[:, k], kind="stable")[:_LISTED_COLUMNS]
        more = ", ..." if len(self.columns) > _LISTED_COLUMNS else ""
        return ", ".join(f"{self.columns[j]} {percent(self.shares[j, k])}" for j in order) + more


def column_importance(
    estimator: BaseEstimator, X: Table, *, method: str = "auto", random_state: Seed = 0
) -> ColumnImportance:
    r"""Say which columns the components of a fitted estimator depend on.

    Definition
    ----------
    .. math:: \text{slopes: } s_j^2\,\frac1m \sum_i \Bigl(\frac{\partial t_k}{\partial x_j}(x_i)\Bigr)^2, \qquad
              \text{shuffled: } \frac1m \sum_i \bigl(t_k(x_i) - t_k(\tilde x_i^{(j)})\bigr)^2

    as shares of their sums over the columns j, with the standard deviation :math:`s_j` of a column, and rows
    :math:`\tilde x^{(j)}` whose entry j comes from another row.

    Parameters
    ----------
    estimator : estimator with ``transform``
        Fitted; slopes need a :class:`gramian.KernelPCA` whose kernel is a smooth function of a distance or of a dot
        product.
    X : (n, d) array or sparse matrix
        Rows at which to look; a sample is taken of many.
    method : {"auto", "slopes", "shuffled"}
        "auto" takes slopes where the kernel has them. Slopes see what a small change does, shuffling a large one.
    random_state : int, Generator, RandomState or None
        Seed of the sample and of the shuffling.

    Returns
    -------
    ColumnImportance

    Cost
    ----
    Slopes: m n kernel values and m n d multiplications for each component. Shuffled: d m n kernel values.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import KernelPCA
    >>> from gramian.selection import column_importance
    >>> X = np.random.default_rng(0).standard_normal((200, 3)) * [3.0, 1.0, 0.1]
    >>> print(column_importance(KernelPCA(2, kernel="rbf(sigma=20)").fit(X), X))
    Columns  shares by component, mean squared slopes, 200 rows
    1        x0 over 99.99 %, x1 0.000722 %, x2 9.35e-07 %
    2        x1 99.7 %, x0 0.269 %, x2 9.05e-06 %
    """
    check_choice("method", method, ("auto", "slopes", "shuffled"))
    check_is_fitted(estimator)
    rows: Matrix = validate(estimator, X, reset=False)
    if getattr(getattr(estimator, "kernel_", None), "given", False):
        raise ValueError("kernel='precomputed' has no columns that a component could depend on. Use a kernel of rows.")
    return importance_of(estimator, rows, method, random_generator(random_state))


def importance_of(estimator: BaseEstimator, X: Matrix, method: str, rng: np.random.Generator) -> ColumnImportance:
    """The same for checked rows."""
    projection: Any = getattr(estimator, "projection_", None)
    smooth = None  # the form of a kernel whose slope is a kernel too
    if isinstance(projection, KernelProjection) and not sp.issparse(projection.anchors):
        form = projection.kernel.form
        smooth = form if form is not None and form.slope is not None else None
    if method == "slopes" and smooth is None:
        kernel = getattr(estimator, "kernel_", type(estimator).__name__)
        raise ValueError(f"method='slopes' needs a kernel with a derivative; {kernel} has none. Use method='shuffled'.")
    if smooth is not None and method != "shuffled":
        rows = _sample(X, _SLOPES_MAX_ROWS, rng)
        parts, used = _squared_slopes(projection, smooth, rows) * _variances(X)[:, None], "slopes"
    else:
        n = len(projection.coefficients) if isinstance(projection, KernelProjection) else 1
        rows = _sample(X, int(max(50, min(_SHUFFLED_MAX_ROWS, _SHUFFLED_MAX_VALUES / (n * X.shape[1])))), rng)
        parts, used = _shuffled(estimator, rows, rng), "shuffled"
    totals = parts.sum(axis=0)
    shares = np.divide(parts, totals, out=np.zeros_like(parts), where=totals > 0)
    return ColumnImportance(shares, columns_of(estimator), used, len(rows))


def columns_of(estimator: BaseEstimator) -> tuple[str, ...]:
    """Names of the columns of a fit, or their numbers."""
    names = getattr(estimator, "feature_names_in_", None)
    return tuple(map(str, names)) if names is not None else tuple(f"x{j}" for j in range(estimator.n_features_in_))


def _sample(X: Matrix, most: int, rng: np.random.Generator) -> Array:
    chosen = np.sort(rng.choice(X.shape[0], most, replace=False)) if X.shape[0] > most else slice(None)
    return np.asarray(to_dense(X[chosen]), dtype=np.float64)


def _variances(X: Matrix) -> Array:
    if isinstance(X, np.ndarray):
        return X.var(axis=0, dtype=np.float64)
    return np.maximum(np.asarray(X.multiply(X).mean(axis=0) - np.square(X.mean(axis=0))).ravel(), 0.0)


def _squared_slopes(projection: KernelProjection, f: Form, rows: Array) -> Array:
    """Mean squared derivatives of the scores by the columns, d x K."""
    slope: Kernel = f.weighted_slope()  # type: ignore[assignment]
    anchors = np.asarray(projection.anchors, dtype=np.float64)
    S = CrossGram(slope, rows, anchors)
    # d f(|x - a|^2) / dx = 2 f' (x - a), from a centre among the rows; d f(x'a) / dx = f' a.
    centre = anchors.mean(axis=0) if f.radial else np.zeros(anchors.shape[1])
    out = np.empty((anchors.shape[1], projection.size))
    with track("slopes", projection.size) as tracker:
        for k, weights in enumerate(projection.coefficients.T):
            found = S @ np.column_stack([weights, weights[:, None] * (anchors - centre)])
            slopes = found[:, 1:]
            if f.radial:
                slopes = 2 * (slopes - found[:, :1] * (rows - centre))
            out[:, k] = np.mean(slopes**2, axis=0)
            tracker.advance(projection.size)
    return out


def _shuffled(estimator: BaseEstimator, rows: Array, rng: np.random.Generator) -> Array:
    """Mean squared change of the scores if a column comes from other rows, d x K."""
    plain = estimator.projection_.scores(rows)
    parts = np.empty((rows.shape[1], plain.shape[1]))
    with track("shuffled columns", rows.shape[1]) as tracker:
        for j in range(rows.shape[1]):
            changed = rows.copy()
            changed[:, j] = rows[rng.permutation(len(rows)), j]
            parts[j] = np.mean((estimator.projection_.scores(changed) - plain) ** 2, axis=0)
            tracker.advance(rows.shape[1])
    return parts
