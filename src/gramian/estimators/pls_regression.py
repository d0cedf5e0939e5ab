"""Partial least squares regression."""

from __future__ import annotations

from typing import Any

from gramian.estimators.base_estimator import BaseEstimator
from gramian.estimators.plans_linear import plan_pls_regression
from gramian.estimators.regression import ComponentRegressor
from gramian.estimators.validation import check_choice
from gramian.results import Array
from gramian.solvers.deflation import Factors, partial_least_squares


class PLSRegression(ComponentRegressor, BaseEstimator):
    r"""Regression on the directions of X that covary most with the targets (PLS1 and PLS2).

    Definition
    ----------
    .. math:: w = \text{leading eigenvector of } D'TT'D, \quad t = D w, \quad D \leftarrow (I - t t'/t't)\,D; \qquad
              \hat y = \bar y + \sum_k r_k q_k'(x - \bar x)

    with D and T the centred (and scaled) X and Y.

    Parameters
    ----------
    n_components : int, None or "auto"
        Number :math:`K`. None takes all there are (least squares); ``"auto"`` the fewest whose cross-validated error is
        within one standard error of the least. Fewer come out, with a warning, if nothing is left to find.
    scale : bool or "x"
        Divide the columns of X and Y by their standard deviations; ``"x"``: of X only.
    missing : None or "em"
        What to do with NaN in X and y: refuse, or expect them under a Gaussian model of both.
    cv : int or splitter
        Folds for ``"auto"`` and :meth:`cross_validate`; a number takes every so-manyth row.

    Attributes
    ----------
    coef_ : (q, d) array
        Coefficients in original units.
    intercept_ : (q,) array
    x_scores_ : (n, K) array
        Scores of the training rows, X times rotations; absent after ``partial_fit``, which keeps no rows.
    x_weights_, x_rotations_, x_loadings_ : (d, K) arrays
        Unit weights :math:`w_k`; rotations :math:`r_k` that give scores; loadings :math:`p_k`; in scaled units.
    y_loadings_ : (q, K) array
    vip_ : (d,) array
        Importance of each column in the projection.
    selectivity_ratio_ : (q, d) array
    x_explained_, y_explained_ : (K,) arrays
        Shares of the squares of X and of Y that each component accounts for.
    n_components_ : int
        Components found.
    path_ : RegressionPath or None
        Cross-validated errors, for ``"auto"``.
    summary_ : FitSummary

    Cost
    ----
    One pass over the rows, ``n (d + q)^2 / 2`` multiplications, then ``4 d^2 K``. Cross-validation costs little more.

    References
    ----------
    Wold, Martens, Wold, The multivariate calibration problem in chemistry solved by the PLS method, 1983.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gramian import PLSRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PLSRegression("auto").fit(X, y)
    >>> model.n_components_, round(model.score(X, y), 3)
    (2, 0.508)
    """

    _plan = plan_pls_regression

    def __init__(
        self, n_components: int | str | None = 2, *, scale: bool | str = True, missing: str | None = None, cv: Any = 10
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.missing = missing
        self.cv = cv

    def _solve(self, A: Array, B: Array, k: int, blur: Array) -> Factors:
        return partial_least_squares(A, B, k, blur)

    def _scaling(self) -> tuple[bool, bool]:
        check_choice("scale", self.scale, (True, False, "x"))
        return bool(self.scale), not isinstance(self.scale, str) and bool(self.scale)
