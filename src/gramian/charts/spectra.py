"""Over the components: the scree with its random tables, the certificate of eigenpairs, the path of the likelihood."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np
from sklearn.base import BaseEstimator

from gramian.charts.base import Chart, NoChart, Rows, last_step, note, refuse
from gramian.charts.names import noun_of, shares_of
from gramian.criteria import Suggestion, Variances
from gramian.criteria.random_tables import random_variances, sample, shuffled_values
from gramian.estimators.base import as_fitted
from gramian.estimators.component_regression import ComponentRegressor
from gramian.estimators.factor_analysis import sums_of_squares
from gramian.estimators.validation import random_generator, validate
from gramian.operators import moments_of
from gramian.registry import PCA, FactorAnalysis, KernelPCA, ProbabilisticPCA
from gramian.results import Array, Seed, Sentence
from gramian.selection import HowMany, how_many
from gramian.selection.how_many import MATRIX_CRITERIA_MAX_COLUMNS
from gramian.spaces import MomentSpace

__all__ = ["Likelihood", "Residuals", "Scree", "likelihood", "residuals", "scree"]


@dataclass(frozen=True)
class Spectra:
    """What a scree picture is made of: variances, what they are, how many the fit kept, and what chance gives."""

    values: Array
    what: str
    kept: int
    total: float | None = None
    drawn: Array | None = None
    said: HowMany | None = None
    note: Sentence | None = None
    of_correlations: bool = False


@singledispatch
def spectra(estimator: BaseEstimator, X: Rows | None, random_state: Seed) -> Spectra | None:
    """Variances of the components of a fitted estimator, with random tables beside them if there are rows."""
    variances = getattr(estimator, "explained_variance_", None)
    shares = shares_of(estimator)
    if variances is None:
        return None if shares is None else Spectra(shares, "share of variance", len(shares), 1.0)
    values = np.asarray(variances, dtype=np.float64)
    total = None if shares is None or not shares[0] > 0 else float(values[0] / shares[0])
    return Spectra(values, "variance", len(values), total)


@spectra.register
def _(estimator: ComponentRegressor, X: Rows | None, random_state: Seed) -> Spectra:
    return Spectra(estimator.x_explained_, "share of the variance of X", len(estimator.x_explained_), 1.0)


@spectra.register
def _(estimator: PCA, X: Rows | None, random_state: Seed) -> Spectra:
    values = estimator.explained_variance_.astype(np.float64)
    total = float(estimator.feature_variance_.sum()) or None
    scale = bool(as_fitted(estimator, "scale"))
    what = "variance (correlation matrix)" if scale else "variance"
    if X is None or not as_fitted(estimator, "center"):
        why = None if X is None else note("not_centred")
        return Spectra(values, what, len(values), total, note=why)
    return _linear(X, what, len(values), scale, "pca", random_state)


@spectra.register
def _(estimator: ProbabilisticPCA, X: Rows | None, random_state: Seed) -> Spectra:
    k = estimator.loadings_.shape[1]
    if X is not None:
        return _linear(X, "variance", k, False, "probabilistic-pca", random_state)
    values = np.sum(estimator.loadings_.astype(np.float64) ** 2, axis=0) + float(estimator.noise_variance_)
    total = values.sum() + (len(estimator.loadings_) - k) * float(estimator.noise_variance_)
    return Spectra(values, "variance", k, float(total))


@spectra.register
def _(estimator: FactorAnalysis, X: Rows | None, random_state: Seed) -> Spectra:
    d, k = estimator.loadings_.shape
    if X is not None:
        found = _linear(X, "eigenvalue of the correlation matrix", k, True, "factor-analysis", random_state)
        return replace(found, of_correlations=True)
    what, sums = sums_of_squares(estimator.loadings_.astype(np.float64), estimator.factor_correlation_)
    return Spectra(sums, what, k, float(d))


@spectra.register
def _(estimator: KernelPCA, X: Rows | None, random_state: Seed) -> Spectra:
    n = int(estimator.summary_.facts["n"])
    values = estimator.eigenvalues_.astype(np.float64) / n
    shares = shares_of(estimator)
    total = None if shares is None or not len(shares) else float(values[0] / shares[0])
    found = Spectra(values, "variance in feature space", len(values), total)
    if X is None:
        return found
    said = how_many(X, "kernel-pca", kernel=estimator.kernel_, random_state=random_state)
    rng = np.random.default_rng(_seed(random_state))
    A = sample(estimator.kernel_, validate(estimator, X, reset=False), rng)
    if estimator.kernel_.given or A.shape[1] < 2:
        return replace(found, said=said, note=note("no_columns"))
    return replace(found, said=said, drawn=shuffled_values(estimator.kernel_, A, rng) / len(A))


def _linear(X: Rows | None, what: str, kept: int, correlation: bool, method: str, random_state: Seed) -> Spectra:
    """All variances of a table, and those of tables of uncorrelated columns with the same variances."""
    options = {"scale": correlation} if method == "pca" else {}
    said = how_many(X, method, random_state=random_state, **options)
    rows = validate(PCA(), X, min_samples=4)
    if rows.shape[1] > MATRIX_CRITERIA_MAX_COLUMNS:
        model = PCA(kept, scale=correlation).fit(rows)
        total = float(model.feature_variance_.sum())
        why = note("wide", columns=rows.shape[1], most=MATRIX_CRITERIA_MAX_COLUMNS)
        return Spectra(model.explained_variance_, what, kept, total, said=said, note=why)
    found = Variances.of(MomentSpace(moments_of(rows), scale=correlation).basis(None))
    columns = np.ones(found.d) if correlation else found.columns
    seed = _seed(random_state)
    drawn = random_variances(columns, found.freedom, correlation=correlation, seed=seed)
    return Spectra(found.leading(), what, kept, found.total, drawn, said)


def _seed(random_state: Seed) -> int:
    """The seed that :func:`gramian.selection.how_many` makes of it."""
    return int(random_generator(random_state).integers(2**31))


#: Components shown at the most.
SCREE_MAX_COMPONENTS = 30


@dataclass(frozen=True, kw_only=True)
class Scree(Chart):
    """Variances of components in order, beside those of tables without structure."""

    values: Array  #: (m,): variance of each component; beyond ``kept`` those that the fit left out, if rows were given
    shares: Array | None  #: (m,): the same as shares of the total
    kept: int  #: Components of the fit
    low: Array | None = None  #: (m,): 5 % quantiles of the variances of random tables: the band of parallel analysis
    middle: Array | None = None  #: (m,): 50 % quantiles
    high: Array | None = None  #: (m,): 95 % quantiles
    #: What each criterion says (``criterion``, ``k``, ``reference``, ``detail``)
    suggestions: tuple[Suggestion, ...] = ()
    recommended: int | None = None  #: What the deciding criterion says
    decided_by: str = ""  #: Its name
    #: Whether values are eigenvalues of the correlation matrix of all columns, of which factors explain a part
    of_correlations: bool = False

    @property
    def numbers(self) -> Array:
        """1, 2, ..., m."""
        return np.arange(1, len(self.values) + 1)

    @property
    def cumulative(self) -> Array | None:
        """Shares of the first k components together."""
        return None if self.shares is None else np.cumsum(self.shares)


def scree(
    estimator: BaseEstimator, X: Rows | None = None, *, most: int = SCREE_MAX_COMPONENTS, random_state: Seed = None
) -> Scree:
    """Return variances of components; with rows, the band of parallel analysis and all suggestions (:class:`Scree`).

    Parameters
    ----------
    estimator : fitted estimator
        PCA, ProbabilisticPCA, FactorAnalysis, KernelPCA, ICA, a regression on components, or anything that has
        ``explained_variance_`` or ``explained_variance_ratio_``.
    X : (n, d) array, data frame or sparse matrix, optional
        Rows of the fit. With them components that were left out are shown too, and the criteria of
        :func:`gramian.selection.how_many` are asked.
    most : int
        Components to show at the most.
    random_state : int, Generator, RandomState or None
        Seed of the random tables. None is a fixed seed.

    Cost
    ----
    Without rows nothing; with them that of :func:`gramian.selection.how_many` and 100 random d x d matrices.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import PCA, charts
    >>> X = load_wine().data
    >>> chart = charts.scree(PCA(2, scale=True).fit(X), X)
    >>> chart.kept, chart.recommended, len(chart.values)
    (2, 3, 13)
    """
    if not isinstance(most, (int, np.integer)) or most < 1:
        raise ValueError(f"most={most!r} must be a whole number of 1 or more.")
    estimator, X = last_step(estimator, X)
    found = spectra(estimator, X, random_state)
    if found is None:
        raise refuse(estimator, "scree", "Use an estimator with variances of components, such as PCA or KernelPCA.")
    values, said, noun = found.values[: int(most)], found.said, noun_of(estimator)
    shown = len(values)
    band: list[Array | None] = [None] * 3
    if found.drawn is not None:  # NaN where random tables have fewer components
        quantiles = np.full((3, shown), np.nan)
        quantiles[:, : found.drawn.shape[1]] = np.quantile(found.drawn[:, :shown], [0.05, 0.5, 0.95], axis=0)
        band = list(quantiles)
    shares = values / found.total if found.total else shares_of(estimator)
    notes = [found.note] if found.note else []
    if len(found.values) > most:
        notes.append(note("first_only", shown=int(most), total=len(found.values)))
    return Scree(
        title="Eigenvalues of the correlation matrix" if found.of_correlations else f"What each {noun} holds",
        xlabel=noun,
        ylabel=found.what,
        notes=tuple(notes),
        values=values,
        shares=None if shares is None else shares[:shown],
        kept=min(found.kept, shown),
        low=band[0],
        middle=band[1],
        high=band[2],
        suggestions=() if said is None else tuple(line for line in said.table if line.k is not None),
        recommended=None if said is None else said.recommended,
        decided_by="" if said is None else said.decided_by,
        of_correlations=found.of_correlations,
    )


@dataclass(frozen=True, kw_only=True)
class Likelihood(Chart):
    """Log-likelihood at each step."""

    steps: Array  #: (m,): 1, 2, ..., m
    values: Array  #: (m,): they never fall
    #: (m - 1,): what was still to gain at each step but the last: never below the rounding of the last value
    left: Array


@dataclass(frozen=True, kw_only=True)
class Residuals(Chart):
    r"""The certificate of a spectrum."""

    numbers: Array  #: (K,): 1, 2, ..., K
    residuals: Array  #: (K,): :math:`\|A v - \lambda v\| / \lambda`, in double precision
    #: (K,): distance of each eigenvalue to the nearest other one, relative to it; of the last at least, by the variance
    #: that is left, or NaN where that says nothing
    gaps: Array
    #: (K,): bound on the sine of the angle between the computed and the true direction, residual over gap, at most 1
    angles: Array


def likelihood(estimator: BaseEstimator) -> Likelihood:
    """Return the log-likelihood at every step of a fit by expectation and maximisation (:class:`Likelihood`).

    Parameters
    ----------
    estimator : fitted ProbabilisticPCA or FactorAnalysis
        Fitted by steps: with ``method="em"``, or to rows with missing entries.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import ProbabilisticPCA, charts
    >>> charts.likelihood(ProbabilisticPCA(2, method="em").fit(load_iris().data)).ylabel
    'log-likelihood'
    """
    model, _ = last_step(estimator)
    path = getattr(model, "log_likelihood_path_", None)
    if path is None:
        raise refuse(model, "likelihood", "Use ProbabilisticPCA or FactorAnalysis.")
    values = np.asarray(path, dtype=np.float64)
    if len(values) < 2:
        raise NoChart(
            "this fit took one step: there is no path of likelihoods. Use method='em', or rows with missing entries."
        )
    floor = np.finfo(np.float64).eps * max(abs(float(values[-1])), 1.0)
    return Likelihood(
        title="Log-likelihood of every step",
        xlabel="step",
        ylabel="log-likelihood",
        steps=np.arange(1, len(values) + 1),
        values=values,
        left=np.maximum(values[-1] - values[:-1], floor),
    )


def residuals(estimator: BaseEstimator) -> Residuals:
    """Return the residuals of the eigenpairs behind a fit, and what they say of the directions (:class:`Residuals`).

    Parameters
    ----------
    estimator : fitted PCA, KernelPCA or another that keeps residuals in its summary

    References
    ----------
    Davis, Kahan, The rotation of eigenvectors by a perturbation, SIAM Journal on Numerical Analysis 1970.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import KernelPCA, charts
    >>> charts.residuals(KernelPCA(3).fit(load_iris().data)).ylabel
    'relative size'
    """
    model, _ = last_step(estimator)
    facts = getattr(getattr(model, "summary_", None), "facts", {})
    if facts.get("residuals") is None or facts.get("eigenvalues") is None:
        raise refuse(model, "residuals", "Use PCA or KernelPCA, which certify their eigenpairs.")
    values, found = (np.asarray(facts[name], dtype=np.float64) for name in ("eigenvalues", "residuals"))
    share, definite = facts.get("share_of_variance"), not facts.get("n_negative")
    # No eigenvalue that was not kept is larger than what is left of the variance.
    left = max(values.sum() * (1 / share - 1), 0.0) if share and definite else np.inf
    after = values[-1] - left if left < values[-1] else np.nan
    steps = np.concatenate([[np.inf], np.abs(np.diff(values)), [after]])
    nearest = np.minimum(steps[1:], steps[:-1])
    gaps = np.divide(nearest, values, out=np.zeros_like(values), where=values > 0)
    gaps = gaps[: len(found)]  # directions of no variance have no residual
    angles = np.divide(found, gaps, out=np.ones_like(found), where=~(gaps <= 0))
    return Residuals(
        title="Certificate",
        xlabel=noun_of(model),
        ylabel="relative size",
        notes=(note("last_gap"),) if np.isnan(gaps).any() else (),
        numbers=np.arange(1, len(found) + 1),
        residuals=found,
        gaps=gaps,
        angles=np.minimum(angles, 1.0),
    )
