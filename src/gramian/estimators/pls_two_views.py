"""Partial least squares of two views on an equal footing."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from gramian.estimators.base import Clock, describe
from gramian.estimators.base_estimator import BaseEstimator
from gramian.estimators.plans_linear import plan_pls_canonical, plan_pls_svd
from gramian.estimators.two_blocks import Blocks, Scaled
from gramian.estimators.two_views import TwoViews
from gramian.estimators.validation import check_choice, check_components
from gramian.estimators.warnings import RankWarning, warn
from gramian.results import Array, percent
from gramian.solvers.deflation import canonical_partial_least_squares, covariance_directions


class CovarianceOfViews(TwoViews, BaseEstimator):
    """Fitting shared by the two methods below, which differ in what they take out before the next pair."""

    def __init__(self, n_components: int | None = 2, *, scale: bool = True, missing: str | None = None) -> None:
        self.n_components = n_components
        self.scale = scale
        self.missing = missing

    @abstractmethod
    def _directions(self, A: Array, B: Array, k: int) -> tuple[Array, ...]:
        """Weights and rotations of both sides, and the covariances of the pairs."""

    def _find(self, blocks: Blocks, clock: Clock) -> Self:
        check_choice("scale", self.scale, (True, False))
        check_components(self.n_components, 10**9, "there can be", fractions=False)
        scaled = blocks.scaled(bool(self.scale), bool(self.scale))
        limit = min(scaled.A.shape[1], scaled.B.shape[1], blocks.limit)
        k = limit if self.n_components is None else min(int(self.n_components), limit)
        Wx, Wy, Rx, Ry, covariances = self._directions(scaled.A, scaled.B, k)
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
        self.n_samples_, self._single, self.filler_ = scaled.weight, blocks.single, blocks.filler
        self.moments_ = getattr(self, "moments_", None) if blocks.X is None else blocks.moments()
        self.summary_ = self._describe(blocks, scaled, clock)
        return self

    def _describe(self, blocks: Blocks, scaled: Scaled, clock: Clock) -> Any:
        k, notes = len(self.covariances_), []
        if self.n_components is not None and k < self.n_components:
            notes.append(f"X and Y covary in {k} directions: {k} of {self.n_components} pairs were kept.")
            warn(f"{notes[-1]} Use n_components={k} or fewer.", RankWarning)
        Tx, Ty = scaled.A @ self.x_rotations_, scaled.B @ self.y_rotations_
        correlation = np.einsum("rk,rk->k", Tx, Ty) / (np.linalg.norm(Tx, axis=0) * np.linalg.norm(Ty, axis=0))
        Z = (scaled.A.T @ scaled.B) / (scaled.weight - 1)
        share = float(np.sum((self.covariances_ / scaled.x_unit / scaled.y_unit) ** 2) / np.sum(Z**2))
        lines = [
            ("covariances", ", ".join(f"{value:.4g}" for value in self.covariances_[:5])),
            ("correlations", ", ".join(f"{value:.4f}" for value in correlation[:5])),
            ("shared", f"{percent(min(share, 1.0))} of the squared covariance between the views"),
            ("route", blocks.views.route),
            ("work", f"{clock.seconds:.2g} s"),
        ]
        if blocks.gaps:
            lines.append(("missing", f"{blocks.gaps:,} entries expected under a Gaussian model of both views"))
        lines += [("note", note) for note in notes]
        facts = {
            "covariances": self.covariances_,
            "score_correlations": correlation,
            "route": blocks.views.route,
            "n_missing": blocks.gaps,
            "seconds": clock.seconds,
            "notes": notes,
        }
        return describe(self, blocks.shape, k, lines, detail=f"q = {len(self.y_mean_)}", facts=facts)


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
        What to do with NaN: refuse, or expect them under a Gaussian model of both views.

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

    _plan = plan_pls_canonical

    def _directions(self, A: Array, B: Array, k: int) -> tuple[Array, ...]:
        return canonical_partial_least_squares(A, B, k)


class PLSSVD(CovarianceOfViews):
    r"""Singular vectors of the covariance between two views: nothing is taken out between pairs.

    Definition
    ----------
    .. math:: X'Y = W \Delta C', \qquad \text{scores } XW,\ YC

    Parameters
    ----------
    n_components : int or None
        Pairs; None takes all there are.
    scale : bool
        Divide columns by their standard deviations.
    missing : None or "em"
        What to do with NaN: refuse, or expect them under a Gaussian model of both views.

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

    _plan = plan_pls_svd

    def _directions(self, A: Array, B: Array, k: int) -> tuple[Array, ...]:
        W, C, covariances = covariance_directions(A, B, k)
        return W, C, W, C, covariances
