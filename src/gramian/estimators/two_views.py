"""What methods of two views share: reading both, scores of either, and one view predicted from the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.config import pinned_if_small
from gramian.estimators.base import BaseEstimator, all_or_nothing, as_fitted, by_blocks, planned_fit
from gramian.estimators.column_vectors import ColumnVectors
from gramian.estimators.labels import NamedComponents
from gramian.estimators.plans_linear import plan_covariance_of_views
from gramian.estimators.result_tables import ResultTable
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.two_blocks import (
    BlockInput,
    Blocks,
    Filler,
    Scaled,
    complete_rows,
    doubled,
    gather,
    gather_more,
    is_settled,
    read_blocks,
)
from gramian.estimators.validation import Table, check_choice, check_components, read_targets
from gramian.estimators.warnings import RankWarning, warn
from gramian.projection import LinearProjection
from gramian.results import Array, percent
from gramian.solvers.deflation import canonical_partial_least_squares, covariance_directions


class TwoViews(BlockInput, NamedComponents, TransformerMixin, ABC):
    """Scores of rows of two views through ``x_projection_`` and ``y_projection_``."""

    x_projection_: LinearProjection
    y_projection_: LinearProjection
    filler_: Filler | None
    coef_: Array
    x_weights_: Array
    y_weights_: Array

    @planned_fit
    def fit(self, X: Table, y: Table | None = None, sample_weight: Table | None = None) -> Self:
        """Find the pairs of directions.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            One view.
        y : (n, q) array, data frame, sparse matrix or stream
            The other view of the same rows; not needed if the stream X has ``y_columns``.
        sample_weight : (n,) array, optional
            Frequencies: a row of weight 2 counts as two rows.
        """
        clock = Clock()
        rows = read_blocks(self, X, y, sample_weight, name="Y")
        with rows.pinned():
            return self._pair(gather(self, rows, name="Y"), clock)

    @all_or_nothing
    def partial_fit(self, X: Table, y: Table, sample_weight: Table | None = None) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` of all of them."""
        clock = Clock()
        blocks = gather_more(self, X, y, sample_weight, name="Y")
        return self if blocks is None else self._pair(blocks, clock)

    def _pair(self, blocks: Blocks, clock: Clock) -> Self:
        views = blocks.views.rows
        with pinned_if_small(views.size * min(views.shape)):
            return self._find(blocks, clock)

    @abstractmethod
    def _find(self, blocks: Blocks, clock: Clock) -> Self:
        """Find the pairs and set the fitted attributes."""

    @by_blocks
    def transform(self, X: Table, Y: Table | None = None) -> Any:
        """Return the scores of rows of X; with Y, a pair: those of X and those of Y."""
        check_is_fitted(self)
        X = complete_rows(self, X)
        scores = self.x_projection_.scores(X).astype(X.dtype, copy=False)
        return scores if Y is None else (scores, self._y_scores(Y, len(scores)))

    def fit_transform(
        self, X: Table, y: Table | None = None, sample_weight: Table | None = None
    ) -> tuple[Array, Array]:
        """Fit, and return the scores of both views."""
        return self.fit(X, y, sample_weight).transform(X, y)

    @by_blocks
    def predict(self, X: Table) -> Array:
        """Return Y as predicted from X through the components: least squares on the scores."""
        check_is_fitted(self)
        guesses = self.x_projection_.scores(complete_rows(self, X)) @ self.y_from_x_ + self.y_mean_
        return guesses[:, 0] if self._single else guesses

    def predict_x(self, Y: ArrayLike) -> Array:
        """Return X as predicted from Y through the components."""
        check_is_fitted(self)
        rows = self._second(Y, np.shape(Y)[0] if np.ndim(Y) else 1)
        return self.y_projection_.scores(rows) @ self.x_from_y_ + self.x_mean_

    def _y_scores(self, Y: Table, n: int) -> Array:
        return self.y_projection_.scores(self._second(Y, n))

    def _second(self, Y: Table, n: int) -> Any:
        """Check rows of the second view; impute what they lack under the model of the fit."""
        filler = None if as_fitted(self, "missing") is None else self.filler_
        rows, d = read_targets(Y, n, "Y", missing=filler is not None, fitted=True).values, len(self.y_mean_)
        if rows.shape[1] != d:
            raise ValueError(f"Y has {rows.shape[1]} columns, but {type(self).__name__} was fitted with {d} of them.")
        return filler.fill_second(rows) if filler is not None and np.isnan(rows).any() else rows

    def _keep_projections(self, scaled: Scaled, Wx: Array, Wy: Array) -> None:
        self.x_mean_, self.y_mean_ = scaled.x_mean, scaled.y_mean
        self.x_scale_, self.y_scale_ = scaled.x_scale, scaled.y_scale
        Tx, Ty = scaled.A @ Wx, scaled.B @ Wy
        ratio = scaled.y_unit / scaled.x_unit
        from_x, from_y = _least_squares(Tx), _least_squares(Ty)
        back_x, back_y = from_x @ scaled.A * scaled.x_scale, from_y @ scaled.B * scaled.y_scale
        self.x_projection_ = LinearProjection(scaled.x_mean, Wx / scaled.x_scale[:, None], back_x)
        self.y_projection_ = LinearProjection(scaled.y_mean, Wy / scaled.y_scale[:, None], back_y)
        self.y_from_x_ = from_x @ scaled.B * scaled.y_scale * ratio
        self.x_from_y_ = from_y @ scaled.A * scaled.x_scale / ratio
        self.coef_ = (self.x_projection_.weights @ self.y_from_x_).T
        self.intercept_ = scaled.y_mean - self.coef_ @ scaled.x_mean

    def _tables(self, make: TableMaker) -> Makers:
        found = {
            "weights": lambda: make.by_views("weights", self.x_weights_, self.y_weights_),
            "coefficients": lambda: make.by_targets("coefficients", self.coef_, "of Y from X, in original units"),
        }
        return super()._tables(make) | make.score_tables() | found

    @property
    def _n_features_out(self) -> int:
        return self.x_projection_.size


def score_correlations(Tx: Array, Ty: Array) -> Array:
    """Correlations of centred scores of both views, pair by pair."""
    products = [np.einsum("rk,rk->k", S, T) for S, T in ((Tx, Ty), (Tx, Tx), (Ty, Ty))]
    return np.asarray(products[0] / (np.sqrt(products[1]) * np.sqrt(products[2])))


def _least_squares(T: Array) -> Array:
    """What gives coefficients of least norm on scores T from the columns that they are to account for."""
    U, values, Vt = np.linalg.svd(T, full_matrices=False)
    kept = values > max(T.shape) * np.finfo(np.float64).eps * values.max(initial=0.0)
    return (Vt[kept].T / values[kept]) @ U[:, kept].T


class CovarianceOfViews(TwoViews, BaseEstimator):
    """Fitting shared by the two methods below, which differ in what they take out before the next pair."""

    _plan = plan_covariance_of_views
    _takes_products = True
    _component_prefix = "LV"
    _deflates = False  #: whether the views are freed of a pair before the next, each of which takes a decomposition

    def __init__(self, n_components: int | None = 2, *, scale: bool = True, missing: str | None = None) -> None:
        self.n_components = n_components
        self.scale = scale
        self.missing = missing

    @abstractmethod
    def _directions(self, A: Array, B: Array, k: int) -> tuple[Array, ...]:
        """Weights and rotations of both sides, and the covariances of the pairs."""

    def _tables(self, make: TableMaker) -> Makers:
        return super()._tables(make) | {
            "covariances": lambda: self._pairs(make),
            "loadings": lambda: make.by_views("loadings", self.x_loadings_, self.y_loadings_),
            "rotations": lambda: make.by_views("rotations", self.x_rotations_, self.y_rotations_),
        }

    def _pairs(self, make: TableMaker) -> ResultTable:
        known = self.summary_.facts["score_correlations"]
        return make.by_components("covariances", {"covariance": self.covariances_, "correlation": known})

    def _column_vectors(self) -> ColumnVectors:
        weights = np.vstack([self.x_weights_, self.y_weights_])
        return ColumnVectors(weights, "weight", False, weights, "weight", len(self.y_weights_))

    def _resolved(self, scaled: Scaled, k: int) -> tuple[Array, ...] | None:
        """The pairs of views that may have lost digits; None if fewer than k, or than ten digits, are left."""
        answers = []
        for A, B in zip(*doubled(scaled), strict=True):
            found = self._directions(A, B, k)
            if len(found[-1]) < k:
                return None
            both = np.hstack([A, B])
            try:  # the normal equations would show more rounding than there is, and never less
                fits = [np.linalg.solve(T.T @ T, T.T @ both).T for T in (A @ found[2], B @ found[3])]
            except np.linalg.LinAlgError:
                return None
            answers.append((*found, *fits))
        return answers[0][:5] if is_settled(*answers) else None

    def _find(self, blocks: Blocks, clock: Clock) -> Self:
        check_choice("scale", self.scale, (True, False))
        asked = check_components(self.n_components, 10**9, "there can be", fractions=False)
        scaled = blocks.scaled(bool(self.scale), bool(self.scale))
        limit = min(scaled.A.shape[1], scaled.B.shape[1], blocks.limit)
        k = min(asked or limit, limit)
        found = self._resolved(scaled, k) if blocks.exact is not None else None
        if found is None:
            if blocks.exact is not None:
                blocks = blocks.settled()
                scaled = blocks.scaled(bool(self.scale), bool(self.scale))
            found = self._directions(scaled.A, scaled.B, k)
        Wx, Wy, Rx, Ry, covariances = found
        if not len(covariances):
            raise ValueError("X and Y have zero covariance: there is nothing to find. Check both for constant columns.")
        self.x_weights_, self.y_weights_ = Wx, Wy
        self.x_rotations_, self.y_rotations_ = Rx, Ry
        with np.errstate(over="ignore", under="ignore"):
            self.covariances_ = covariances / (scaled.weight - 1) * scaled.x_unit * scaled.y_unit
        if not np.isfinite(self.covariances_).all() or not self.covariances_.all():
            raise ValueError("covariances of X and Y leave double precision. Use scale=True, or divide by constants.")
        self._keep_projections(scaled, Rx, Ry)
        self.x_loadings_ = self.x_projection_.back.T / scaled.x_scale[:, None]
        self.y_loadings_ = self.y_projection_.back.T / scaled.y_scale[:, None]
        self._keep_blocks(blocks, (bool(self.scale), bool(self.scale)))
        self.summary_ = self._describe(blocks, scaled, clock)
        return self

    def _describe(self, blocks: Blocks, scaled: Scaled, clock: Clock) -> Any:
        k, notes = len(self.covariances_), []
        if self.n_components is not None and k < self.n_components:
            notes.append(f"X and Y covary in {k} directions: {k} of {self.n_components} pairs were kept.")
            warn(f"{notes[-1]} Use n_components={k} or fewer.", RankWarning)
        Tx, Ty = scaled.A @ self.x_rotations_, scaled.B @ self.y_rotations_
        correlation = score_correlations(Tx, Ty)
        Z = (scaled.A.T @ scaled.B) / (scaled.weight - 1)
        share = float(np.sum((self.covariances_ / scaled.x_unit / scaled.y_unit) ** 2) / np.sum(Z**2))
        route = blocks.views.route
        write = SummaryBuilder.of_components(self, blocks.shape, k, noun="pair", detail=f"q = {len(self.y_mean_)}")
        covariances = ", ".join(f"{value:.4g}" for value in self.covariances_[:5])
        write.line("covariances", covariances, covariances=self.covariances_)
        write.line("correlations", ", ".join(f"{value:.4f}" for value in correlation[:5]))
        write.line("shared", f"{percent(min(share, 1.0))} of the squared covariance between the views")
        write.line("route", route, route=route, score_correlations=correlation).work(clock)
        return write.missing(blocks.gaps, "imputed under a Gaussian model of both views").notes(notes).done()


class PLSCanonical(RegressorMixin, CovarianceOfViews):
    r"""Pairs of directions of greatest covariance; each view is freed of its own score before the next pair.

    Definition
    ----------
    .. math:: (w, c) = \text{leading singular pair of } X'Y, \quad t = Xw, \; u = Yc, \quad
              X \leftarrow (I - tt'/t't)X, \; Y \leftarrow (I - uu'/u'u)Y

    Parameters
    ----------
    n_components : int or None
        Pairs; None takes all there are.
    scale : bool
        Divide columns by their standard deviations.
    missing : None or "em"
        What to do with NaN: refuse, or impute them under a Gaussian model of both views.

    Attributes
    ----------
    x_weights_, y_weights_ : (d, K), (q, K) arrays
        Unit vectors w and c, in scaled units.
    x_rotations_, y_rotations_ : (d, K), (q, K) arrays
        What gives scores from the views themselves.
    x_loadings_, y_loadings_ : (d, K), (q, K) arrays
    covariances_ : (K,) array
        Covariance of each pair of scores when it was found, divisor n - 1.
    coef_, intercept_ : (q, d), (q,) arrays
        Of the prediction of Y from X.
    summary_ : FitSummary

    Cost
    ----
    One pass over the rows, then K singular value decompositions of d x q.

    References
    ----------
    Wegelin, A survey of partial least squares methods, with emphasis on the two-block case, 2000.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from gramian import PLSCanonical
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> PLSCanonical(1).fit(X, Y).covariances_.round(3)
    array([1.128])
    """

    _deflates = True

    def _directions(self, A: Array, B: Array, k: int) -> tuple[Array, ...]:
        return canonical_partial_least_squares(A, B, k)


class PLSSVD(CovarianceOfViews):
    r"""Singular vectors of the covariance between two views: nothing is taken out between pairs.

    Definition
    ----------
    .. math:: X'Y = W \Delta C', \qquad \text{scores } XW,\ YC

    Parameters
    ----------
    n_components, scale, missing
        As for :class:`PLSCanonical`.

    Attributes
    ----------
    x_weights_, y_weights_ : (d, K), (q, K) arrays
        Singular vectors, in scaled units; the same as ``x_rotations_`` and ``y_rotations_``.
    covariances_ : (K,) array
        Covariance of each pair of scores, divisor n - 1.
    summary_ : FitSummary

    Cost
    ----
    One pass over the rows, then one singular value decomposition of d x q.

    References
    ----------
    Bookstein, Sampson, Streissguth, Barr, Measuring "dose" and "response" with multivariate data using partial least
    squares techniques, 1990.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from gramian import PLSSVD
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> PLSSVD(1).fit(X, Y).covariances_.round(3)
    array([1.128])
    """

    def _directions(self, A: Array, B: Array, k: int) -> tuple[Array, ...]:
        W, C, covariances = covariance_directions(A, B, k)
        return W, C, W, C, covariances
