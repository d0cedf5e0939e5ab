"""What regressions on components share: fitting, predictions, scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramian.config import pinned_if_small
from gramian.estimators.base import BaseEstimator, all_or_nothing, by_blocks, on_read, planned_fit
from gramian.estimators.calibration_metrics import ERROR_SUFFIXES, ROLE_WORDS
from gramian.estimators.column_vectors import ColumnVectors, Reading
from gramian.estimators.diagnostics import RegressionDiagnostics
from gramian.estimators.fitted_rows import as_in_the_fit, role
from gramian.estimators.labels import NamedComponents
from gramian.estimators.plans_linear import (
    AUTO_MAX_COMPONENTS,
    plan_pls_regression,
    plan_principal_component_regression,
)
from gramian.estimators.regression_path import Folds, RegressionPath, cross_validated
from gramian.estimators.result_tables import ResultTable
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.two_blocks import (
    BlockInput,
    Blocks,
    Kept,
    Scaled,
    complete_rows,
    doubled,
    gather,
    gather_more,
    is_settled,
    read_blocks,
)
from gramian.estimators.validation import ComponentCount, Table, check_choice, check_components
from gramian.estimators.warnings import RankWarning, warn
from gramian.projection import LinearProjection
from gramian.results import Array, percent
from gramian.solvers.deflation import Factors, partial_least_squares, principal_components


def _not_automatic(estimator: BaseEstimator) -> bool:
    """Whether ``partial_fit`` makes sense: choosing a number of components needs all rows at once."""
    if isinstance(estimator.n_components, str) and estimator.n_components == "auto":
        raise AttributeError("n_components='auto' needs all rows at once. Give a number to use partial_fit.")
    return True


class ComponentRegressor(RegressionDiagnostics, BlockInput, NamedComponents, TransformerMixin, RegressorMixin, ABC):
    """Regressions on components ``t = A r`` of centred (and scaled) rows A; how they are found is ``_solve``."""

    n_components: ComponentCount
    cv: Folds
    projection_: LinearProjection
    path_: RegressionPath | None
    _left_out_told = "RMSECV: rows left out in the folds of cv"

    @planned_fit
    def fit(self, X: Table, y: Table | None = None, sample_weight: Table | None = None) -> Self:
        """Find the components and the coefficients.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            Rows; NaN where missing, if ``missing="em"``.
        y : (n,) or (n, q) array, or stream
            Targets; not needed if the stream X has ``y_columns``.
        sample_weight : (n,) array, optional
            Frequencies: a row of weight 2 counts as two rows.
        """
        clock = Clock()
        rows = read_blocks(self, X, y, sample_weight)
        with rows.pinned():
            return self._regress(gather(self, rows), clock)

    @available_if(_not_automatic)
    @all_or_nothing
    def partial_fit(self, X: Table, y: Table, sample_weight: Table | None = None) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` of all of them."""
        clock = Clock()
        blocks = gather_more(self, X, y, sample_weight)
        return self if blocks is None else self._regress(blocks, clock)

    @by_blocks
    def predict(self, X: Table) -> Array:
        """Return predictions of the targets, (m,) if they came as one dimension, else (m, q)."""
        check_is_fitted(self)
        X = complete_rows(self, X)
        guesses = self.predictor_.scores(X) + self.y_mean_
        return guesses[:, 0] if self._single else guesses

    @by_blocks
    def transform(self, X: Table, y: Table | None = None) -> Array:
        """Return the scores of rows, (m, K); y is not looked at."""
        check_is_fitted(self)
        X = complete_rows(self, X)
        return self.projection_.scores(X).astype(X.dtype, copy=False)

    def fit_transform(self, X: Table, y: Table | None = None, sample_weight: Table | None = None) -> Array:
        """Fit, and return the scores of the rows."""
        return self.fit(X, y, sample_weight).transform(X)

    def cross_validate(
        self, X: Table, y: Table, *, cv: Folds | None = None, sample_weight: Table | None = None
    ) -> RegressionPath:
        """Cross-validate every number of components up to ``n_components`` in one run; nothing fitted changes.

        Parameters
        ----------
        X : (n, d) array, data frame or sparse matrix
        y : (n,) or (n, q) array
        cv : int or splitter, optional
            Folds; the estimator's ``cv`` if not given. A number takes every k-th row (interleaved), so that sorted
            rows do no harm. Give a splitter of scikit-learn where rows belong together.
        sample_weight : (n,) array, optional
            Frequencies of the rows.

        Returns
        -------
        RegressionPath
            Errors with their standard errors for each target, the recommended number, jackknife intervals; prints as a
            table.
        """
        probe = type(self)(**self.get_params())
        blocks = gather(probe, read_blocks(probe, X, y, sample_weight)).settled()
        return probe._path(blocks, blocks.scaled(*probe._scaling()), self.cv if cv is None else cv)[0]

    @abstractmethod
    def _solve(self, A: Array, B: Array, k: int, blur: Array) -> Factors:
        """Find up to k components of a stack of problems."""

    @abstractmethod
    def _scaling(self) -> tuple[bool, bool]:
        """Whether the columns of X, and those of y, are divided by their standard deviations."""

    def _path(self, blocks: Blocks, scaled: Scaled, cv: Folds) -> tuple[RegressionPath, Factors]:
        """Errors of every number of components, and the components of all rows."""
        if blocks.X is None:
            raise ValueError(
                "cross-validation needs the rows in memory, and X is a stream. Give n_components as a number, or "
                "cross-validate on a sample of the rows."
            )
        if blocks.gaps:
            raise ValueError(
                "cross-validation needs complete rows: an expectation of missing entries would see the rows left out. "
                "Fill or drop them first, or give n_components as a number."
            )
        factors = self._factors(scaled, self._asked(blocks, longest=AUTO_MAX_COMPONENTS))
        return cross_validated(blocks, scaled, factors, self._solve, self._scaling(), cv), factors

    def _factors(self, scaled: Scaled, k: int) -> Factors:
        with pinned_if_small(scaled.A.size * min(scaled.A.shape)):
            return self._solve(scaled.A[None], scaled.B[None], k, np.array([scaled.x_blur]))

    def _resolved(self, scaled: Scaled, k: int) -> Factors | None:
        """The components of views that may have lost digits; None if fewer than k, or than ten digits, are left."""
        A, B = doubled(scaled)
        with pinned_if_small(scaled.A.size * min(scaled.A.shape)):
            both = self._solve(A, B, k, np.full(2, scaled.x_blur))
        found, other = both.problem(0), both.problem(1)
        if found.squares.shape[1] < k or (found.found < k).any() or (other.found < k).any():
            return None
        return found if is_settled(*([part[0] for part in f.parts()] for f in (found, other))) else None

    def _asked(self, blocks: Blocks, longest: int | None = None) -> int:
        if self.n_components is None or self.n_components == "auto":
            return blocks.limit if longest is None else min(blocks.limit, longest)
        asked = check_components(self.n_components, 10**9, "there can be", fractions=False)
        return min(asked or blocks.limit, blocks.limit)

    def _regress(self, blocks: Blocks, clock: Clock) -> Self:
        """Choose the number of components, find them, and set the fitted attributes."""
        self.path_ = None
        if isinstance(self.n_components, str):
            if self.n_components != "auto":
                raise ValueError(f"n_components={self.n_components!r} must be a whole number, None or 'auto'.")
            blocks = blocks.settled()  # folds have fewer digits than the whole
            scaled = blocks.scaled(*self._scaling())
            self.path_, factors = self._path(blocks, scaled, self.cv)
            factors = factors.truncate(max(self.path_.recommended, 1))
            if self.path_.recommended == 0:
                warn("no number of components predicts y better than its mean does: 1 was fitted.", RankWarning)
        else:
            k, scaled = self._asked(blocks), blocks.scaled(*self._scaling())
            known = self._resolved(scaled, k) if blocks.exact is not None and k < blocks.limit else None
            if known is None and blocks.exact is not None:
                blocks = blocks.settled()
                scaled = blocks.scaled(*self._scaling())
            factors = self._factors(scaled, k) if known is None else known
        found = int(factors.found[0])
        with pinned_if_small(scaled.A.size * min(scaled.A.shape)):
            self._keep(factors.single(), found, blocks, scaled, clock)
        return self

    def _keep(self, f: Factors, found: int, blocks: Blocks, scaled: Scaled, clock: Clock) -> None:
        coefficients, unit = f.rotations @ f.y_loadings.T, scaled.x_unit
        x_total, y_total = float(np.vdot(scaled.A, scaled.A)), float(np.vdot(scaled.B, scaled.B))
        y_squares = f.squares * (f.y_loadings**2).sum(axis=0)
        self.x_explained_ = _share(f.squares * (f.x_loadings**2).sum(axis=0), x_total)
        self.y_explained_ = _share(y_squares, y_total)
        self.vip_ = variable_importance(f.weights, y_squares)
        self.x_weights_, self.x_rotations_, self.x_loadings_ = f.weights, f.rotations, f.x_loadings
        self.y_loadings_ = f.y_loadings * (scaled.y_unit / unit)
        with np.errstate(over="ignore", under="ignore"):
            self.score_squares_ = f.squares * unit * unit
        self.coef_, self.intercept_ = scaled.original(coefficients)
        self.x_mean_, self.y_mean_ = scaled.x_mean, scaled.y_mean
        self.x_scale_, self.y_scale_ = scaled.x_scale, scaled.y_scale
        rotations = f.rotations / scaled.x_scale[:, None]
        self.projection_ = LinearProjection(scaled.x_mean, rotations, f.x_loadings.T * scaled.x_scale)
        self.predictor_ = LinearProjection(scaled.x_mean, self.coef_.T, np.zeros((len(self.coef_), 0)))
        self.n_components_ = found
        self._keep_blocks(blocks, self._scaling())
        self.__dict__.pop("x_scores_", None)  # rows that came piece by piece were not kept
        if blocks.X is not None:
            known = blocks.views.route == "rows" and blocks.weights is None
            self.x_scores_ = scaled.A @ f.rotations * unit if known else self.projection_.scores(blocks.X)
        self.summary_ = self._describe(found, blocks, scaled, clock)

    @on_read
    def selectivity_ratio_(self, kept: Kept) -> Array:
        """Variance that the predictions explain over what they leave, targets x features."""
        return selectivity_ratio(kept.scaled().A, self.x_rotations_ @ self.y_loadings_.T)

    @on_read
    def residual_moments_(self, kept: Kept) -> tuple[float, float]:
        """Sum, and sum of squares, of the variances of (scaled) X that the components leave."""
        scaled = kept.scaled()
        E = scaled.A - scaled.A @ self.x_rotations_ @ self.x_loadings_.T
        small = E @ E.T if E.shape[0] <= E.shape[1] else E.T @ E
        unit, divisor = scaled.x_unit * scaled.x_unit, scaled.weight - 1
        with np.errstate(over="ignore", under="ignore"):
            return float(np.trace(small)) / divisor * unit, float((small**2).sum()) / divisor**2 * unit * unit

    def _describe(self, found: int, blocks: Blocks, scaled: Scaled, clock: Clock) -> Any:
        k = max(found, 1)
        routes = {
            "moments": "one pass over the rows",
            "rows": "centred rows (few of them, or few products with them)",
            "triangular": "orthogonal triangulation (columns nearly dependent)",
        }
        explained = percent(float(self.x_explained_.sum())), percent(float(self.y_explained_.sum()))
        write = SummaryBuilder.of_components(self, blocks.shape, k)
        write.line("route", routes[blocks.views.route], route=blocks.views.route)
        write.line("explained", f"{explained[0]} of X, {explained[1]} of y").work(clock)
        write.add(x_explained=self.x_explained_, y_explained=self.y_explained_, rmsecv=None)
        if (path := self.path_) is not None:
            errors = zip(path.rmsecv[k], path.standard_error[k], strict=True)
            write.line("chosen", path.reason(k))
            text = ", ".join(f"{error:.4g} +- {doubt:.2g}" for error, doubt in errors)
            write.line("RMSECV", text, rmsecv=path.rmsecv)
        write.missing(blocks.gaps, "imputed under a Gaussian model of both blocks")
        return write.notes(self._notes(found, blocks, scaled)).done()

    def _notes(self, found: int, blocks: Blocks, scaled: Scaled) -> list[str]:
        asked = self.n_components
        constant = not scaled.B.any()
        if found == 0 or constant:
            cause = "y has zero variance" if constant else "X and y have zero covariance"
            note = f"{cause}: every prediction is the mean of y."
            warn(f"{note} Check y{'' if constant else ' and X'}.", RankWarning)
            return [note]
        wanted = blocks.limit if asked is None else asked
        if not isinstance(wanted, str) and found < wanted:
            note = f"nothing is left to find after {found} of {wanted} components: {found} were kept."
            warn(f"{note} Use n_components={found} or fewer.", RankWarning)
            return [note]
        return []

    def _tables(self, make: TableMaker) -> Makers:
        found = {
            "loadings": lambda: make.by_columns("loadings", self.x_loadings_, "of scaled columns on scores"),
            "weights": lambda: make.by_columns("weights", self.x_weights_, "unit vectors"),
            "rotations": lambda: make.by_columns("rotations", self.x_rotations_),
            "y-loadings": lambda: self._target_loadings(make),
            "coefficients": lambda: make.by_targets("coefficients", self.coef_, "in original units"),
            "vip": lambda: ResultTable(
                "vip", "column", make.columns, {"VIP": self.vip_}, "above 1 counts as important"
            ),
            "selectivity-ratio": lambda: make.by_targets("selectivity-ratio", self.selectivity_ratio_),
        }
        if not make.has_rows and hasattr(self, "x_scores_"):
            every = replace(make, X=self.x_scores_)
            found["scores"] = lambda: every.by_rows("scores", self.x_scores_)
        if self.path_ is not None or make.has_targets:
            found["path"] = lambda: self._path_table(make)
        return super()._tables(make) | make.score_tables() | found

    def _target_loadings(self, make: TableMaker) -> ResultTable:
        names, targets = make.components(self.y_loadings_.shape[1]), make.targets(len(self.y_loadings_))
        places = {name: at + 1 for at, name in enumerate(names)}
        return ResultTable(
            "y-loadings", "target", targets, dict(zip(names, self.y_loadings_.T, strict=True)), components=places
        )

    def _eigenvalues(self, make: TableMaker) -> ResultTable:
        x, y = self.x_explained_, self.y_explained_
        columns = {"share of X": x, "cumulative share of X": x.cumsum(), "share of y": y}
        return make.by_components("eigenvalues", {**columns, "cumulative share of y": y.cumsum()})

    def _component_values(self) -> tuple[str, Array]:
        return "share of X", self.x_explained_

    def _path_table(self, make: TableMaker) -> ResultTable:
        """Errors for each number of components: of rows left out, and of the rows given."""
        path, k = self.path_, len(self.x_explained_)
        kind = role(make.model, make.X) if make.has_targets else ""
        if (
            path is None
            and make.refits is not False
            and make.has_targets
            and as_in_the_fit(make.model, make.X)
            and not np.isnan(np.asarray(make.rows, dtype=np.float64)).any()
        ):
            path = self.cross_validate(make.rows, make.y)
        columns, names = {}, make.targets(len(self.y_loadings_))
        # Components beyond those that were kept have errors of rows left out, and no others.
        steps = k + 1 if path is None else len(path.rmsecv)
        given = self._errors_by_size(make) if make.has_targets else None
        for at, target in enumerate(names):
            of = "" if len(names) == 1 else f" of {target}"
            if given is not None:
                column = np.full(steps, np.nan)
                column[: k + 1] = given[:steps, at]
                columns[f"RMSE{ERROR_SUFFIXES[kind]}{of}"] = column
            if path is not None:
                columns |= {f"RMSECV{of}": path.rmsecv[:, at], f"+-{of}": path.standard_error[:, at]}
                columns[f"R2 of rows left out{of}"] = path.r2[:, at]
        note = "" if path is None else f"{path.folds} folds; {path.reason(path.recommended)}"
        note = note or (f"of {ROLE_WORDS[kind]}" if given is not None else "")
        return ResultTable("path", "components", tuple(map(str, range(steps))), columns, note)

    def _errors_by_size(self, make: TableMaker) -> Array:
        """Root mean squared errors of rows, predicted from the first 0, 1, ..., K components: (K + 1, q)."""
        T = self.transform(make.rows).astype(np.float64)
        measured = np.asarray(make.y, dtype=np.float64).reshape(len(T), -1)
        left, errors = measured - self.y_mean_, []
        for at in range(T.shape[1] + 1):
            errors.append(np.sqrt((left**2).mean(axis=0)))
            if at < T.shape[1]:
                left = left - np.outer(T[:, at], self.y_loadings_[:, at] * self.y_scale_)
        return np.array(errors)

    def _column_vectors(self) -> ColumnVectors:
        P = self.x_loadings_
        if not self._scaling()[0]:
            return ColumnVectors(P, "loading", False, P, "loading")
        # Scaled columns have unit variance: loadings times the spread of a score are correlations.
        values = P * np.sqrt(self.score_squares_ / (self.n_samples_ - 1))
        varies = np.any(P != 0, axis=1)[:, None]
        return ColumnVectors(np.where(varies, values, 0.0), "correlation with the component", True, P, "loading")

    def _reading(self) -> Reading:
        return Reading(self.y_explained_, "share", "share of y", self.x_weights_, "weights", bounded=True)

    def _predictions_left_out(self, X: Table, y: Table) -> Array | None:
        probe = type(self)(**{**self.get_params(), "n_components": self.n_components_})
        predictions = probe.cross_validate(X, y).predictions
        return None if predictions is None else predictions[self.n_components_ - 1]

    def _component_shares(self) -> Array:
        return self.x_explained_

    @property
    def _n_features_out(self) -> int:
        return self.projection_.size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a few components are not meant to fit every table well
        return tags


def _share(parts: Array, total: float) -> Array:
    return parts / total if total > 0 else np.zeros_like(parts)


def variable_importance(weights: Array, y_squares: Array) -> Array:
    r"""Importance of each column in the projection (VIP); its mean square is 1, above 1 counts as important.

    Definition
    ----------
    .. math:: \mathrm{VIP}_j = \Big(d \sum_k w_{jk}^2 c_k \Big/ \sum_k c_k\Big)^{1/2}, \qquad
              c_k = \text{squares of y that component k accounts for}

    References
    ----------
    Wold, Sjoestroem, Eriksson, PLS-regression: a basic tool of chemometrics, 2001.
    """
    total = y_squares.sum()
    return np.sqrt(len(weights) * (weights**2 @ y_squares) / total) if total > 0 else np.zeros(len(weights))


def selectivity_ratio(A: Array, coefficients: Array) -> Array:
    r"""Variance of each column that the prediction of a target explains, over what it leaves; targets x features.

    Definition
    ----------
    .. math:: t = A b, \quad p = A't/t't, \qquad
              \mathrm{SR}_j = \frac{p_j^2\, t't}{\|a_j\|^2 - p_j^2\, t't}

    Infinite for a column that is the prediction itself.

    References
    ----------
    Kvalheim, Interpretation of partial least squares regression models by means of target projection, 2010.
    """
    T = A @ coefficients
    lengths = np.einsum("rq,rq->q", T, T)
    explained = (T.T @ A) ** 2 / np.where(lengths > 0, lengths, 1.0)[:, None]
    total = np.einsum("rd,rd->d", A, A)
    left = np.maximum(total - explained, 0.0)
    left[left <= 1e-14 * total] = 0.0
    ratio = np.divide(explained, left, out=np.full_like(left, np.inf), where=left > 0)
    return np.where(explained > 0, ratio, 0.0)


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
        What to do with NaN in X and y: refuse, or impute them under a Gaussian model of both.
    cv : int or splitter
        Folds for ``"auto"`` and :meth:`cross_validate`; a number takes every k-th row.

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
    _takes_products = True
    _component_prefix = "LV"

    def __init__(
        self,
        n_components: int | str | None = 2,
        *,
        scale: bool | str = True,
        missing: str | None = None,
        cv: Folds = 10,
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
    missing, cv
        As for :class:`PLSRegression`.

    Attributes
    ----------
    x_weights_, x_rotations_, x_loadings_ : (d, K) arrays
        All three are the directions :math:`v_i`, in scaled units.
    y_loadings_ : (q, K) array
        :math:`a_i`.
    coef_, intercept_, x_scores_, vip_, selectivity_ratio_, x_explained_, y_explained_, n_components_, path_
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
        cv: Folds = 10,
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
