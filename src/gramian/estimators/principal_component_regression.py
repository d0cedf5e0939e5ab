"""Principal component regression."""

from __future__ import annotations

from typing import Any

from gramian.estimators.base_estimator import BaseEstimator
from gramian.estimators.plans_linear import plan_principal_component_regression
from gramian.estimators.regression import ComponentRegressor
from gramian.estimators.two_blocks import Blocks, Scaled
from gramian.estimators.validation import check_choice
from gramian.results import Array
from gramian.solvers.deflation import Factors, principal_components


class PrincipalComponentRegression(ComponentRegressor, BaseEstimator):
    r"""Least squares on the leading principal components of the regressors.

    Definition
    ----------
    .. math:: D'D v_i = \lambda_i v_i, \quad a_i = (D v_i)'t / \lambda_i; \qquad
              \hat y = \bar y + \sum_{i \le K} a_i v_i'd, \quad \text{residual } t't - \sum a_i^2 \lambda_i

    with D and t the centred (and scaled) X and y.

    Parameters
    ----------
    n_components : int, None or "auto"
        Number :math:`K`. None takes all: least squares, of least norm if columns are collinear. ``"auto"`` takes the
        fewest whose cross-validated error is within one standard error of the least.
    order : {"variance", "contribution"}
        Which components come first: those of greatest variance, or those that account for most of y. The latter fit
        better and generalise worse, since they are chosen by the y they are to predict.
    scale : bool
        Divide the columns of X by their standard deviations.
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
        Scores of the training rows; absent after ``partial_fit``, which keeps no rows.
    x_weights_, x_rotations_, x_loadings_ : (d, K) arrays
        All three are the directions :math:`v_i`, in scaled units.
    y_loadings_ : (q, K) array
        :math:`a_i`.
    vip_, selectivity_ratio_, x_explained_, y_explained_, n_components_, path_
        As for :class:`PLSRegression`.
    summary_ : FitSummary

    Cost
    ----
    One pass over the rows, ``n (d + q)^2 / 2`` multiplications, then a d x d singular value decomposition.

    References
    ----------
    Jolliffe, A note on the use of principal components in regression, Applied Statistics 1982.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from gramian import PrincipalComponentRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = PrincipalComponentRegression(5).fit(X, y)
    >>> round(model.score(X, y), 3)
    0.5
    """

    _plan = plan_principal_component_regression

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        order: str = "variance",
        scale: bool = True,
        missing: str | None = None,
        cv: Any = 10,
    ) -> None:
        self.n_components = n_components
        self.order = order
        self.scale = scale
        self.missing = missing
        self.cv = cv

    def _solve(self, A: Array, B: Array, k: int, blur: Array) -> Factors:
        check_choice("order", self.order, ("variance", "contribution"))
        return principal_components(A, B, k, blur, self.order)

    def _notes(self, found: int, blocks: Blocks, scaled: Scaled) -> list[str]:
        notes = super()._notes(found, blocks, scaled)
        if self.order == "contribution":
            notes.append("components were chosen by the y they predict: the fit is better than it will be on new rows.")
        return notes

    def _scaling(self) -> tuple[bool, bool]:
        check_choice("scale", self.scale, (True, False))
        return bool(self.scale), False
