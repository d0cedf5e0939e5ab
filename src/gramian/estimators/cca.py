"""Canonical correlation analysis."""

from __future__ import annotations

from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import RegressorMixin

from gramian import mixing
from gramian.criteria import Suggestion
from gramian.estimators.base import BaseEstimator, as_fitted
from gramian.estimators.cca_tests import CanonicalTests, choose_pairs
from gramian.estimators.column_vectors import ColumnVectors, Reading
from gramian.estimators.n_components import at_least_one
from gramian.estimators.plans_linear import plan_cca
from gramian.estimators.result_tables import P_VALUE, ResultTable
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.two_blocks import Blocks, Scaled, complete_rows
from gramian.estimators.two_views import TwoViews, score_correlations
from gramian.estimators.validation import ComponentCount, Table, check_choice, check_components
from gramian.estimators.warnings import RankWarning, warn
from gramian.lapack import interruptible, left_svd, lower_inverse, orient
from gramian.operators.moments import row_count
from gramian.results import Array, percent

#: A ridge for both views, or one for each.
Ridge: TypeAlias = float | tuple[float, float] | list[float]


class CCA(TwoViews, CanonicalTests, RegressorMixin, BaseEstimator):
    r"""Pairs of directions, one in each of two views of the same rows, whose scores correlate most.

    Definition
    ----------
    .. math:: \max_{w, v} w'S_{12}v \quad \text{subject to} \quad
              w'(S_{11} + \text{ridge}\,I)w = v'(S_{22} + \text{ridge}\,I)v = 1

    with covariances of divisor n - 1. With ridge = 0, no invertible map of either view changes the correlations.

    Parameters
    ----------
    n_components : int, "auto" or None
        Pairs. "auto" takes those that are more than chance (a permutation test; Wilks' where rows are very many and
        ridge = 0); None
        takes as many as the smaller rank; fewer come out, with a warning, if there are no more.
    ridge : float or pair of floats
        Added to the variances of both views (or of X and of Y). (A shrinkage c elsewhere is our ridge = c/(1-c).)
    scale : bool
        Divide columns by their standard deviations first; it changes nothing but the size of the weights if ridge = 0.
    missing : None or "em"
        What to do with NaN in X and Y: refuse, or impute them under a Gaussian model of both views.

    Attributes
    ----------
    correlations_ : (K,) array
        The values of the maximum above. With a ridge they are regularised correlations: the ridge is added to the
        variances, and they are smaller than the correlations of the scores.
    score_correlations_ : (K,) array
        Plain correlations of the scores of the training rows; the same if ridge = 0.
    x_weights_, y_weights_ : (d, K), (q, K) arrays
        Columns w and v in original units: scores are centred rows times these.
    x_structure_, y_structure_ : (d, K), (q, K) arrays
        Structure correlations: of each column with the scores of its own view.
    x_cross_structure_, y_cross_structure_ : (d, K), (q, K) arrays
        Correlations of each column with the scores of the other view.
    x_redundancy_, y_redundancy_ : (K,) arrays
        Share of the variance of the (standardised) columns of a view that a score of the other view accounts for.
    rank_ : pair of ints
        Ranks of the two views.
    coef_ : (q, d) array
        Of the prediction of Y from X through the components; ``intercept_`` (q,).
    summary_ : FitSummary

    Cost
    ----
    One pass over the rows, ``n (d + q)^2 / 2`` multiplications, then three small singular value decompositions.

    References
    ----------
    Hotelling, Relations between two sets of variates, Biometrika 1936.

    Examples
    --------
    >>> from sklearn.datasets import load_linnerud
    >>> from gramian import CCA
    >>> X, Y = load_linnerud(return_X_y=True)
    >>> CCA().fit(X, Y).correlations_.round(3)
    array([0.796, 0.201, 0.073])
    """

    _plan = plan_cca
    _inverts = True
    _component_prefix = "CC"

    _kept_parameters = ("missing", "ridge")

    def __init__(
        self,
        n_components: ComponentCount = None,
        *,
        ridge: Ridge = 0.0,
        scale: bool = False,
        missing: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.ridge = ridge
        self.scale = scale
        self.missing = missing

    def _find(self, blocks: Blocks, clock: Clock) -> Self:
        check_choice("scale", self.scale, (True, False))
        ridge = check_ridge(self.ridge)
        asked = check_components(self.n_components, 10**9, "there can be", fractions=False, auto=True)
        # Without a ridge units do not matter, except to rounding: there columns of one length are best.
        by_length = tuple(bool(self.scale or not r) for r in ridge)
        scaled = blocks.scaled(by_length[0], by_length[1])
        # A ridge is in original units; extreme data are worked on in others.
        ridges = ridge[0] / scaled.x_unit / scaled.x_unit, ridge[1] / scaled.y_unit / scaled.y_unit
        if not np.isfinite(ridges).all():
            raise ValueError(
                f"ridge={self.ridge!r} is beyond double precision in units of the variances of the views. Lower it, or "
                "multiply the views by a constant."
            )
        pairs = None if any(ridge) else _of_triangle(scaled)
        Wx, Wy, values, ranks = _ridged(scaled, ridges) if pairs is None else pairs
        said = None
        if self.n_components == "auto":
            said = choose_pairs(blocks, values, ranks, ridge, scale=self.scale)
            k = at_least_one(said, len(values))
        else:
            k = min(len(values), asked or len(values))
        signs = orient(Wx[:, :k] / scaled.x_scale[:, None])
        self.correlations_, self.all_correlations_ = values[:k], values
        self.rank_ = ranks
        return self._keep(blocks, scaled, Wx[:, :k] * signs, Wy[:, :k] * signs, said, clock)

    def _tables(self, make: TableMaker) -> Makers:
        cross = self.x_cross_structure_, self.y_cross_structure_
        found = {
            "correlations": lambda: self._pairs(make),
            "loadings": lambda: make.by_views(
                "loadings", self.x_structure_, self.y_structure_, "correlation with the score of its own view"
            ),
            "cross-loadings": lambda: make.by_views("cross-loadings", *cross),
            "redundancy": lambda: make.by_components(
                "redundancy", {"share of Y from X": self.y_redundancy_, "share of X from Y": self.x_redundancy_}
            ),
        }
        if self._testable:
            found["test"] = lambda: self._test_table(make)
        return super()._tables(make) | found

    def _pairs(self, make: TableMaker) -> ResultTable:
        regularised = self.correlations_ if any(check_ridge(as_fitted(self, "ridge"))) else None
        plain = self.score_correlations_
        columns = {"correlation": plain, "squared": plain**2, "regularised": regularised}
        return make.by_components("correlations", columns)

    @property
    def _testable(self) -> bool:
        """Whether Wilks' test is defined: no ridge, and more rows than the ranks of both views."""
        return not any(check_ridge(as_fitted(self, "ridge"))) and row_count(self.n_samples_) > sum(self.rank_) + 1

    def _test_table(self, make: TableMaker) -> ResultTable:
        test, k = self.wilks_test(), len(self.correlations_)
        columns = {"Wilks": test.wilks, "F": test.statistic, "df1": test.df1, "df2": test.df2, "p": test.p_values}
        note = "of this correlation and all later ones"
        found = {name: None if part is None else part[:k] for name, part in columns.items()}
        return make.by_components("test", found, note, {"p": P_VALUE})

    def _column_vectors(self) -> ColumnVectors:
        values = np.vstack([self.x_structure_, self.y_structure_])
        weights = np.vstack([self.x_weights_, self.y_weights_])
        what = "correlation with the score of its own view"
        return ColumnVectors(values, what, True, weights, "weight", len(self.y_weights_))

    def _reading(self) -> Reading:
        both = np.vstack([self.x_structure_, self.y_structure_])
        what = "regularised correlation" if any(check_ridge(as_fitted(self, "ridge"))) else "correlation"
        found = (self.correlations_, "correlation", what, both, "structure correlations")
        return Reading(*found, bounded=True, second=len(self.y_structure_), spans=False, ordered=True)

    def _both(self, X: Table, Y: Table) -> tuple[Any, Any]:
        X = complete_rows(self, X)
        return X, self._second(Y, X.shape[0])

    def _keep(
        self, blocks: Blocks, scaled: Scaled, Wx: Array, Wy: Array, said: Suggestion | None, clock: Clock
    ) -> Self:
        self._keep_projections(scaled, Wx / scaled.x_unit, Wy / scaled.y_unit)
        self.x_weights_, self.y_weights_ = self.x_projection_.weights, self.y_projection_.weights
        Tx, Ty, d, k = scaled.A @ Wx, scaled.B @ Wy, len(Wx), Wx.shape[1]
        all_of_them = correlations(np.hstack((scaled.A, scaled.B)), np.hstack((Tx, Ty)))
        own, other = np.ascontiguousarray(all_of_them[:, :k]), np.ascontiguousarray(all_of_them[:, k:])
        self.x_structure_, self.y_structure_ = own[:d], other[d:]
        self.x_cross_structure_, self.y_cross_structure_ = other[:d], own[d:]
        self.x_redundancy_ = (self.x_cross_structure_**2).mean(axis=0)
        self.y_redundancy_ = (self.y_cross_structure_**2).mean(axis=0)
        self.score_correlations_ = np.clip(score_correlations(Tx, Ty), -1.0, 1.0)
        self._keep_blocks(blocks, (bool(self.scale), bool(self.scale)))
        self.summary_ = self._describe(blocks, said, clock)
        return self

    def _describe(self, blocks: Blocks, said: Suggestion | None, clock: Clock) -> Any:
        notes, k, (a, b) = [], len(self.correlations_), self.rank_
        spare = a + b - (row_count(self.n_samples_) - 1)
        if spare > 0 and not np.any(self.ridge):
            notes.append(
                f"the ranks {a} and {b} leave no room in {blocks.shape[0]} rows: correlations are 1 by construction."
            )
            warn(f"{notes[-1]} Use ridge=0.1, for example, or fewer columns.", RankWarning)
        if not isinstance(self.n_components, str | None) and self.n_components > k:
            notes.append(f"the smaller rank is {k}: {k} of {self.n_components} pairs were kept.")
            warn(f"{notes[-1]} Use n_components={k} or fewer.", RankWarning)
        redundancy = f"{percent(float(self.y_redundancy_.sum()))} of Y from X"
        route = blocks.views.route
        detail = f"q = {len(self.y_mean_)}"
        write = SummaryBuilder.of_components(self, blocks.shape, k, noun="pair", detail=detail).chosen(said)
        write.lines += correlation_lines(self.correlations_, self.score_correlations_, check_ridge(self.ridge))
        write.add(correlations=self.correlations_, score_correlations=self.score_correlations_, ranks=self.rank_)
        write.line("redundancy", f"{redundancy}, {percent(float(self.x_redundancy_.sum()))} of X from Y")
        write.line("route", f"{route}, ranks {a} and {b}", route=route).work(clock)
        return write.missing(blocks.gaps, "imputed under a Gaussian model of both views").notes(notes).done()


#: Weights of all pairs of both sides, their correlations, and the ranks of the views.
Pairs: TypeAlias = tuple[Array, Array, Array, tuple[int, int]]


def _ridged(scaled: Scaled, ridges: tuple[float, float]) -> Pairs:
    """Canonical pairs from the singular vectors of each view, of whatever rank."""
    x, y = left_svd(scaled.A, scaled.x_blur), left_svd(scaled.B, scaled.y_blur)
    if not len(x.values) or not len(y.values):
        raise ValueError(f"{'X' if not len(x.values) else 'Y'} has zero variance: there is nothing to correlate.")
    mix = mixing.correlate(x.values, y.values, x.vectors.T @ y.vectors, scaled.weight, ridges)
    return x.directions @ mix.x, y.directions @ mix.y, mix.values, (len(x.values), len(y.values))


def _of_triangle(scaled: Scaled) -> Pairs | None:
    """The same of a triangular factor of both views of full rank, a third of the time; None if it is not one.

    Scores of X are orthonormal as they are then: the leading rows. Those of Y take one more factorisation.
    """
    (n, d), q = scaled.A.shape, scaled.B.shape[1]
    R = scaled.A[:d]
    if n != d + q or not R.diagonal().all() or scaled.A[d:].any() or np.tril(R, -1).any():
        return None
    Q, S = interruptible(np.linalg.qr, scaled.B)
    if not S.diagonal().all():
        return None
    inverses = [lower_inverse(M.T).T for M in (R, S)]
    for M, inverse, blur in zip((R, S), inverses, (scaled.x_blur, scaled.y_blur), strict=True):
        condition = np.sqrt(np.vdot(M, M) * np.vdot(inverse, inverse))  # of Frobenius norms: an upper bound
        if not condition * 10 * blur * n * np.finfo(np.float64).eps < 1:  # the rank is not full, see left_svd
            return None
    U, values, Vt = interruptible(np.linalg.svd, Q[:d], full_matrices=False)
    size = np.sqrt(scaled.weight - 1)
    return inverses[0] @ U * size, inverses[1] @ Vt.T * size, np.clip(values, 0.0, 1.0), (d, q)


def check_ridge(ridge: Ridge) -> tuple[float, float]:
    """Return the ridges of both views; refuse what is no number of 0 or more."""
    pair = tuple(ridge) if isinstance(ridge, (tuple, list)) else (ridge, ridge)
    good = len(pair) == 2 and all(
        isinstance(r, (int, float, np.number)) and not isinstance(r, bool) and 0 <= r < np.inf for r in pair
    )
    if not good:
        raise ValueError(f"ridge={ridge!r} must be a number of 0 or more, or a pair of such numbers.")
    return float(pair[0]), float(pair[1])


def correlation_lines(values: Array, plain: Array, ridge: tuple[float, float]) -> list[tuple[str, str]]:
    """Lines of a summary: correlations of the scores, and what a ridge makes of them if there is one."""
    if not any(ridge):
        return [("correlations", shown(values))]
    return [
        ("correlations", f"{shown(plain)} (of the scores of the rows of the fit)"),
        ("regularised", f"{shown(values)} (what the fit maximises: the ridge is added to the variances)"),
    ]


def shown(values: Array) -> str:
    """The first five of some correlations."""
    return ", ".join(f"{value:.4f}" for value in values[:5]) + (", ..." if len(values) > 5 else "")


def correlations(A: Array, T: Array) -> Array:
    """Correlations of the columns of A with those of T, both centred; 0 for a constant column."""
    lengths = np.outer(*(np.sqrt(np.einsum("ij,ij->j", M, M)) for M in (A, T)))
    return np.divide(A.T @ T, lengths, out=np.zeros_like(lengths), where=lengths > 0)
