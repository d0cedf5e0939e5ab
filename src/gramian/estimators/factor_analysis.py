"""Factor analysis by maximum likelihood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.adequacy import INDEX_WORDS, bartlett_sphericity, factor_fit, kmo
from gramian.criteria import Suggestion
from gramian.estimators import factor_checks as checks
from gramian.estimators.base import BaseEstimator, all_or_nothing, by_blocks, planned_fit
from gramian.estimators.column_vectors import ColumnVectors, Reading
from gramian.estimators.diagnostics import ratios
from gramian.estimators.fit_rows import FitRows, more_rows, read
from gramian.estimators.labels import column_names
from gramian.estimators.plans_linear import plan_factor_analysis
from gramian.estimators.probabilistic_pca import GaussianModel, ProbabilisticPCA
from gramian.estimators.result_tables import ResultTable
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.validation import Table, check_choice, check_squares, validate
from gramian.operators import Moments, moments_of
from gramian.operators.correlation import Correlation, correlation, wide_correlation
from gramian.projection import LinearProjection
from gramian.results import Array, FitSummary, percent
from gramian.solvers.factor import EXACT_MAX_COLUMNS, FactorSolution
from gramian.solvers.rotation import ROTATIONS
from gramian.spaces.gaussian import (
    Climb,
    FactorModel,
    check_observed,
    fit_factors,
    fit_factors_missing,
)

#: Index of fit -> what it is called in the table that has all of them.
MORE_INDEX_WORDS = {
    "srmr_corrected": "SRMR, for degrees of freedom",
    "discrepancy": "discrepancy",
    "likelihood_ratio": "chi-square, uncorrected",
    "null_chi_square": "chi-square of no factors",
    "null_df": "degrees of freedom of no factors",
}


class FactorAnalysis(GaussianModel, BaseEstimator):
    r"""Explain correlations by a few common factors, with noise of its own in every column.

    Definition
    ----------
    .. math:: x = \mu + D (L u + \varepsilon), \quad u \sim N(0, \Phi), \quad \varepsilon \sim N(0, \Psi)
              \text{ with } \Psi \text{ diagonal}; \qquad \mathrm{Cov}(x) = D (L \Phi L' + \Psi) D

    with standard deviations D (divisor n). Scores are posterior means :math:`E[u \mid x]` (Thomson's regression).

    Parameters
    ----------
    n_components : int or "auto"
        Number of factors. Degrees of freedom :math:`((d-k)^2 - d - k)/2` must not be negative; one factor of fewer than
        three columns is fitted all the same, with a warning: many models fit alike. "auto" takes as many as stand out
        of the noise of the correlation matrix (see :func:`gramian.selection.how_many`).
    rotation : None, "varimax", "quartimax", "promax" or "oblimin"
        Towards simple structure. The last two let factors correlate. Rows of the loadings are scaled to length one
        while rotating, Kaiser's normalisation in "varimax" and in the varimax that "promax" starts from, and are left
        as they are in "quartimax", "oblimin" and the target of "promax", its loadings to the power 4. "oblimin" has
        gamma 0 (quartimin). These are the defaults of R's ``varimax``, ``promax`` and GPArotation.
    missing : None or "em"
        What to do with NaN: refuse, or impute them under the model and fit again until the likelihood converges.
    tol : float
        Relative gain of the likelihood at which the iteration over missing entries stops.
    max_iter : int
        Its steps at the most.

    Attributes
    ----------
    loadings_ : (d, k) array
        L in correlation metric, rotated; factors by descending sums of squares (unrotated: canonical order), the entry
        of largest magnitude of each positive.
    uniquenesses_, communalities_ : (d,) array
        Shares of variance that are a column's own (at least 0.005) and that are common.
    factor_correlation_ : (k, k) array
        :math:`\Phi`; the identity for orthogonal factors.
    rotation_matrix_ : (k, k) array
        T, which takes unrotated loadings to rotated ones.
    fit_indices_ : dict
        Chi-square, RMSEA and the like (see :func:`gramian.adequacy.fit_indices`); None where not defined. With missing
        entries the model is compared with the correlations that EM finds without a model, as if all n rows were
        complete; ``likelihood_ratio`` alone is that of what was observed.
    log_likelihood_ : float
        Total over the sample, of what was observed, in original units.
    log_likelihood_path_ : (steps,) array
        The same at each step over missing entries; it never falls.
    mean_, scale_, noise_variance_ : (d,) array
        Means, standard deviations (divisor n) and uniquenesses, in original units.
    kmo_, sphericity_ : SamplingAdequacy or None, dict or None
        Kaiser's measure of sampling adequacy, Bartlett's test that no columns are correlated.
    n_iter_ : int
    summary_ : FitSummary

    Cost
    ----
    One pass over the rows, then about ten eigenproblems of size d; of more than 150 columns about a hundred products of
    their correlations with k + 3 vectors, of rows fewer than those columns without a d x d matrix. With missing entries
    one pass and one factorisation per pattern and step.

    References
    ----------
    Joreskog, Some contributions to maximum likelihood factor analysis, Psychometrika 1967.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import FactorAnalysis
    >>> model = FactorAnalysis(n_components=3, rotation="varimax").fit(load_wine().data)
    >>> round(model.log_likelihood_, 2), model.fit_indices_["df"]
    (-3414.14, 42)
    """

    _plan = plan_factor_analysis
    _component_prefix = "Factor"

    _model: FactorModel
    _kept_parameters = ("missing",)

    def __init__(
        self,
        n_components: int | str = 1,
        *,
        rotation: str | None = None,
        missing: str | None = None,
        tol: float = 1e-10,
        max_iter: int = 1_000,
    ) -> None:
        self.n_components = n_components
        self.rotation = rotation
        self.missing = missing
        self.tol = tol
        self.max_iter = max_iter

    @planned_fit
    def fit(self, X: Table, y: object = None, sample_weight: Table | None = None) -> Self:
        """Find the factors under which the rows are most likely.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            Rows; NaN where missing, if ``missing="em"``.
        y : ignored
        sample_weight : (n,) array, optional
            Frequencies of the rows.
        """
        clock = Clock()
        check_choice("rotation", self.rotation, (None, *ROTATIONS))
        rows = read(self, X, sample_weight)
        checks.count_factors(self.n_components, rows.d)
        self.moments_ = None
        if rows.gaps:
            return self._fit_missing(rows, clock)
        if rows.X is not None and checks.are_wide(rows.X.shape[0], rows.d, self.n_components):
            sums, R = wide_correlation(rows.X, rows.weights)
            checks.refuse_constant(sums, self._names())
            found = fit_factors(sums.mean, np.sqrt(sums.squares / sums.weight), R, sums.weight, int(self.n_components))
            return self._keep(found, R, sums.weight, rows.dtype, clock)
        self.moments_ = rows.moments  # so that partial_fit may go on from here
        checks.refuse_constant(rows.moments, self._names())
        return self._fit_moments(rows.moments, rows.dtype, clock)

    def _fit_missing(self, rows: FitRows, clock: Clock) -> Self:
        X, weights = rows.X.astype(np.float64), rows.weights
        check_observed(X)
        checks.refuse_constant(moments_of(np.where(np.isnan(X), np.nanmean(X, axis=0), X), weights), self._names())
        filler = ProbabilisticPCA(None, missing="em")
        k, said = checks.choose_factors(self.n_components, rows.d, lambda: filler.fit_expectation(X, weights).moments)
        found, beside = fit_factors_missing(X, weights, k, tol=self.tol, max_iter=self.max_iter)
        n = float(len(X) if weights is None else weights.sum())
        self._keep(found, None if beside is None else beside.R, n, rows.dtype, clock, rows.gaps, said)
        if beside is not None:
            self.fit_indices_["likelihood_ratio"] = max(0.0, 2 * (beside.log_likelihood - self.log_likelihood_))
        return self

    @all_or_nothing
    def partial_fit(self, X: Table, y: object = None, sample_weight: Table | None = None) -> Self:
        """Add rows; the result is that of one ``fit`` of all, once rows outnumber columns and none is constant."""
        clock = Clock()
        self._check_words()
        rows = more_rows(self, X, sample_weight)
        checks.count_factors(self.n_components, rows.d)
        check_squares(rows.moments)
        early = rows.moments.weight <= rows.d + 1
        if early or len(checks.constant_columns(rows.moments)):
            return self
        return self._fit_moments(rows.moments, rows.dtype, clock)

    @all_or_nothing
    def fit_correlation(self, R: Table, n: float) -> Self:
        """Find the factors of a published correlation (or covariance) matrix of n rows.

        Means are taken as zero and standard deviations from the diagonal: one for correlations.
        """
        clock = Clock()
        C = checks.check_correlation(validate(self, R, sparse=False))
        self.__dict__.pop("_rows_of_fit", None)  # those of R are no rows of data
        self.moments_ = None
        self._check_words()
        if not n > 1:
            raise ValueError(f"n={n!r} must be the number of rows behind the matrix, more than 1.")
        checks.count_factors(self.n_components, len(C))
        return self._fit_moments(Moments(float(n), np.zeros(len(C)), C * float(n)), np.dtype(np.float64), clock)

    @by_blocks
    def transform(self, X: Table) -> Array:
        """Return factor scores by regression; missing entries are imputed by the model first."""
        return self.scores(X)

    def scores(self, X: Table, method: str = "regression") -> Array:
        r"""Return factor scores.

        Definition
        ----------
        .. math:: \text{regression: } \Phi L'(L \Phi L' + \Psi)^{-1} z, \qquad
                  \text{bartlett: } (L'\Psi^{-1}L)^{-1} L'\Psi^{-1} z

        of standardised rows z: the expected factors, which are shrunk, or unbiased ones, which vary more.
        """
        check_is_fitted(self)
        check_choice("method", method, ("regression", "bartlett"))
        X = self._complete(X)
        if method == "regression":
            return self.projection_.scores(X).astype(X.dtype, copy=False)
        L, root = self._rotation.loadings, np.sqrt(self._model.factors.uniquenesses)[:, None]
        weights = np.linalg.pinv(L / root).T / root / self._model.scale[:, None]
        return LinearProjection(self._model.mean, weights, L.T).scores(X).astype(X.dtype, copy=False)

    def get_covariance(self) -> Array:
        """Return the covariance ``D (L Phi L' + Psi) D`` of the model."""
        check_is_fitted(self)
        return self._model.covariance()

    def loadings_table(self, cut: float = 0.3, sort: bool = True) -> str:
        """Write the loadings for people: by factor, those below ``cut`` blank, with sums of squares and shares."""
        check_is_fitted(self)
        turned, psi = self._rotation, self._model.factors.uniquenesses
        return loadings_table(turned.loadings, psi, turned.correlation, self._names(), cut=cut, sort=sort)

    def _tables(self, make: TableMaker) -> Makers:
        return super()._tables(make) | {
            "loadings": lambda: make.by_columns(
                "loadings", self.loadings_, "columns are factors times these, plus noise"
            ),
            "structure": lambda: make.by_columns(
                "structure", self.loadings_ @ self.factor_correlation_, "correlation with the factor"
            ),
            "communalities": lambda: self._communalities(make),
            "factor-correlations": lambda: self._correlations_table(make),
            "fit-indices": self._index_table,
        }

    def _communalities(self, make: TableMaker) -> ResultTable:
        """What factors and a column's own noise explain of it, and how many factors it loads on (Hofmann)."""
        squares = self.loadings_.astype(np.float64) ** 2
        fourth = (squares**2).sum(axis=1)
        columns = {
            "communality": self.communalities_,
            "uniqueness": self.uniquenesses_,
            "complexity": ratios(squares.sum(axis=1) ** 2, fourth),
        }
        if self.kmo_ is not None:
            columns["KMO"] = self.kmo_.columns
        return ResultTable("communalities", "column", make.columns, columns)

    def _correlations_table(self, make: TableMaker) -> ResultTable:
        names = make.components(len(self.factor_correlation_))
        return make.by_components("factor-correlations", dict(zip(names, self.factor_correlation_, strict=True)))

    def _index_table(self) -> ResultTable:
        words = INDEX_WORDS | MORE_INDEX_WORDS
        found: dict[str, Any] = {words.get(name, name): value for name, value in self.fit_indices_.items()}
        interval = found.pop("rmsea_interval", None) or (None, None)
        found |= {"RMSEA, 90 % from": interval[0], "RMSEA, 90 % to": interval[1]}
        found["KMO"] = None if self.kmo_ is None else self.kmo_.overall
        values = np.array([np.nan if value is None else float(value) for value in found.values()])
        return ResultTable("fit-indices", "index", tuple(found), {"value": values}, formats={"value": ".4g"})

    def _column_vectors(self) -> ColumnVectors:
        L = self.loadings_.astype(np.float64)
        upright = bool(np.allclose(self.factor_correlation_, np.eye(L.shape[1])))
        return ColumnVectors(L, "loading", upright, L, "loading")

    def _reading(self) -> Reading:
        L = self.loadings_.astype(np.float64)
        what, sums = sums_of_squares(L, self.factor_correlation_)
        return Reading(sums, "positive", what, L, "loadings", free=self.rotation is None and L.shape[1] > 1)

    def _component_values(self) -> tuple[str, Array]:
        L = self.loadings_.astype(np.float64)
        return "sum of squared loadings", sums_of_squares(L, self.factor_correlation_)[1]

    def _component_shares(self) -> Array:
        L = self.loadings_.astype(np.float64)
        return sums_of_squares(L, self.factor_correlation_)[1] / len(L)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing is not None
        tags.input_tags.sparse = self.missing is None
        return tags

    def _check_words(self) -> None:
        check_choice("missing", self.missing, (None, "em"))
        check_choice("rotation", self.rotation, (None, *ROTATIONS))

    def _names(self) -> list[str]:
        return list(column_names(self, self.n_features_in_))

    def _fit_moments(self, moments: Moments, dtype: np.dtype, clock: Clock) -> Self:
        k, said = checks.choose_factors(self.n_components, moments.d, lambda: moments)
        scale, R = correlation(moments)
        found = fit_factors(moments.mean, scale, R, moments.weight, k)
        return self._keep(found, R, moments.weight, dtype, clock, said=said)

    def _keep(
        self,
        found: Climb[FactorModel],
        R: Correlation | None,
        n: float,
        dtype: np.dtype,
        clock: Clock,
        gaps: int = 0,
        said: Suggestion | None = None,
    ) -> Self:
        model, factors = found.state, found.state.factors
        turned = checks.turn(factors.loadings, self.rotation)
        self._model, self._rotation = model, turned
        weights = model.regression_weights() @ np.linalg.inv(turned.matrix).T / model.scale[:, None]
        self.projection_ = LinearProjection(model.mean, weights, (turned.loadings * model.scale[:, None]).T)
        self.loadings_ = turned.loadings.astype(dtype)
        self.uniquenesses_ = factors.uniquenesses.astype(dtype)
        self.communalities_ = np.sum(factors.loadings**2, axis=1).astype(dtype)
        self.factor_correlation_, self.rotation_matrix_ = turned.correlation, turned.matrix
        self.mean_, self.scale_ = model.mean.astype(dtype), model.scale.astype(dtype)
        self.noise_variance_ = (factors.uniquenesses * model.scale**2).astype(dtype)
        self.log_likelihood_path_ = np.array(found.path)
        self.log_likelihood_ = found.path[-1]
        self.fit_indices_ = factor_fit(R, factors.loadings, factors.uniquenesses, n)
        self.kmo_ = None if R is None else kmo(R)
        self.sphericity_ = None if R is None else bartlett_sphericity(R, n)
        notes = checks.warn_of(found, n, self._names())
        self.n_iter_ = max(1, len(found.path) if gaps else factors.iterations)
        settled = found.converged and factors.converged and turned.converged
        self.summary_ = self._summarize(factors, n, clock, gaps, said, notes, converged=settled)
        return self

    def _summarize(
        self,
        factors: FactorSolution,
        n: float,
        clock: Clock,
        gaps: int,
        said: Suggestion | None,
        notes: Sequence[str],
        *,
        converged: bool,
    ) -> FitSummary:
        (d, k), steps, total = factors.loadings.shape, self.n_iter_, self.log_likelihood_
        method = "quasi-Newton" if d > EXACT_MAX_COLUMNS else "Newton"
        route = f"EM over missing entries, {steps} steps" if gaps else f"{method}, {steps} steps"
        turned = f", {self.rotation}" if self.rotation else ""
        share = float(np.sum(factors.loadings**2) / d)
        write = SummaryBuilder.of_components(self, (round(n), d), k, noun="factor", share=share).chosen(said)
        write.line("route", f"maximum likelihood ({route}){turned}", rotation=self.rotation)
        write.lines += _fit_lines(self.fit_indices_)
        write.line("likelihood", f"{total:.6g}", log_likelihood=total, steps=steps, converged=converged).work(clock)
        write.missing(gaps, f"imputed by the model ({percent(gaps / (n * d))})")
        write.add(fit_indices=self.fit_indices_, heywood=np.flatnonzero(factors.at_bound))
        return write.notes(notes).done()


def sums_of_squares(loadings: Array, correlation: Array) -> tuple[str, Array]:
    """Sums of squared loadings by factor, and what they are called.

    Those of correlated factors are the diagonal of ``Phi L'L``, so that they add up to the communalities.

    >>> sums_of_squares(np.array([[0.6, 0.0], [0.0, 0.8]]), np.array([[1.0, 0.5], [0.5, 1.0]]))[0]
    'sum of squared loadings (with factor correlations)'
    """
    oblique = len(correlation) > 1 and not np.allclose(correlation, np.eye(len(correlation)))
    sums = np.einsum("jl,il,ij->j", correlation, loadings, loadings)
    return f"sum of squared loadings{' (with factor correlations)' if oblique else ''}", sums


def loadings_table(
    loadings: Array, uniquenesses: Array, correlation: Array, names: Sequence[str], *, cut: float, sort: bool
) -> str:
    """Write loadings, communalities and uniquenesses row by row, then sums of squares and shares of variance."""
    d, k = loadings.shape
    common = np.einsum("ij,jl,il->i", loadings, correlation, loadings)
    _, sums = sums_of_squares(loadings, correlation)
    rows = order_of_loadings(loadings) if sort else np.arange(d)
    heads = [f"factor {j + 1}" for j in range(k)]
    labels = [names[int(i)] for i in rows]
    foot = ("sum of squares", "share of variance", "cumulative")
    width = max(map(len, [*labels, *foot]))

    def line(label: str, cells: Sequence[str]) -> str:
        return (f"{label:<{width}}" + "".join(f"{cell:>11}" for cell in cells)).rstrip()

    lines = [line("", [*heads, "common", "unique"])]
    for label, i in zip(labels, rows, strict=True):
        cells = [f"{value:.3f}" if abs(value) >= cut else "" for value in loadings[i]]
        lines.append(line(label, [*cells, f"{common[i]:.3f}", f"{uniquenesses[i]:.3f}"]))
    lines.append("")
    for label, values in zip(foot, (sums, sums / d, np.cumsum(sums) / d), strict=True):
        lines.append(line(label, [f"{value:.3f}" for value in values]))
    if k > 1 and not np.allclose(correlation, np.eye(k)):
        lines += ["", line("correlations", heads)]
        lines += [line(head, [f"{v:.3f}" for v in row]) for head, row in zip(heads, correlation, strict=True)]
        lines += ["", "Sums of squares include the correlations of the factors."]
    return "\n".join(lines)


def order_of_loadings(loadings: Array) -> Array:
    """Rows by the factor they load on most, then by how much."""
    size = np.abs(loadings)
    return np.lexsort((-size.max(axis=1), size.argmax(axis=1)))


def _fit_lines(indices: Mapping[str, Any]) -> list[tuple[str, str]]:
    df = indices["df"]
    if indices["chi_square"] is None:
        first = (
            "no degrees of freedom" if df < 0 else "not defined: the correlation matrix is singular, or rows are few"
        )
    else:
        p = indices["p"]
        first = f"{indices['chi_square']:.6g}, {df} degrees of freedom" + ("" if p is None else f", p = {p:.3g}")
    lines = [("chi-square", first)]
    if indices["rmsea"] is not None:
        low, high = indices["rmsea_interval"]
        known = [f"RMSEA {indices['rmsea']:.3f} [{low:.3f}, {high:.3f}]"]
        known += [f"{name.upper()} {indices[name]:.3f}" for name in ("tli", "cfi", "srmr") if indices[name] is not None]
        lines.append(("fit", ", ".join(known)))
    elif indices["srmr"] is not None:
        lines.append(("fit", f"SRMR {indices['srmr']:.3f}"))
    return lines
