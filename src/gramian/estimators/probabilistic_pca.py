"""Probabilistic principal component analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from gramian.criteria import Suggestion
from gramian.estimators.base import (
    BaseEstimator,
    ProjectionTransformer,
    all_or_nothing,
    as_fitted,
    by_blocks,
    planned_fit,
)
from gramian.estimators.column_vectors import ColumnVectors, Reading
from gramian.estimators.fit_rows import FitRows, more_rows, read
from gramian.estimators.n_components import choose_from_moments
from gramian.estimators.plans_linear import plan_probabilistic_pca
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.validation import (
    Table,
    check_choice,
    check_components,
    check_squares,
    is_auto,
    random_generator,
    validate,
    whole_number,
)
from gramian.estimators.warnings import ConvergenceWarning, warn
from gramian.operators import Moments
from gramian.projection import LinearProjection
from gramian.results import Array, FitSummary, Seed, percent
from gramian.spaces import LinearSpace, MomentSpace, gaussian
from gramian.spaces.gaussian import Climb, Expectation, FactorModel, Isotropic, climb, expect, fit_missing, patterns
from gramian.spaces.linear import StreamSpace


class GaussianModel(ProjectionTransformer, DensityMixin):
    """What Gaussian models of rows share: densities, and missing entries that are imputed under the model."""

    _model: Isotropic | FactorModel

    def score_samples(self, X: Table) -> Array:
        """Log-density of each row; of its observed entries, if ``missing="em"``."""
        check_is_fitted(self)
        X = self._validate(X)
        return self._expected(X).log_density if self._imputes and np.isnan(X).any() else self._model.log_density(X)

    def score(self, X: Table, y: object = None) -> float:
        """Mean log-density of rows."""
        return float(self.score_samples(X).mean())

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return the mean row of given scores: ``W u + mu`` of causes, or factors, u."""
        check_is_fitted(self)
        return self.projection_.inverse(np.asarray(X, dtype=np.float64))

    @property
    def _imputes(self) -> bool:
        return as_fitted(self, "missing") is not None

    def _validate(self, X: Table) -> Any:
        return validate(self, X, reset=False, sparse=not self._imputes, missing=self._imputes)

    def _expected(self, X: Array) -> Expectation:
        """What the model expects of checked rows, given the entries that are not missing."""
        return expect(X.astype(np.float64), patterns(X), self._model.mean, self._model.covariance())

    def _complete(self, X: Table) -> Any:
        X = self._validate(X)
        missing = self._imputes and np.isnan(X).any()
        return self._expected(X).filled.astype(X.dtype, copy=False) if missing else X


class ProbabilisticPCA(GaussianModel, BaseEstimator):
    r"""PCA as a model of how rows come about: a few causes, and the same noise in every column.

    Definition
    ----------
    .. math:: x = W u + \mu + \varepsilon, \quad u \sim N(0, I_K), \quad \varepsilon \sim N(0, \sigma^2 I);
              \qquad \sigma^2 = \tfrac{1}{d-K} \sum_{k>K} \lambda_k, \quad W = V_K (\Lambda_K - \sigma^2 I)^{1/2}

    with the eigenvalues of S (divisor n). Scores are posterior means :math:`E[u \mid x]`.

    Parameters
    ----------
    n_components : int, "auto" or None
        Number :math:`K` of causes. "auto" takes as many as stand out of the noise (see
        :func:`gramian.selection.how_many`), None as many as leave a positive noise variance.
    method : {"closed", "em"}
        The formula above, or expectation-maximisation, which climbs to the same likelihood.
    missing : None or "em"
        What to do with NaN: refuse, or impute them under the model and fit again until the likelihood converges.
    tol : float
        Relative gain of the likelihood at which an iteration stops.
    max_iter : int
        Steps at the most.
    random_state : int, Generator, RandomState or None
        Seed of the start of EM and of ``sample``. None is a fixed seed.

    Attributes
    ----------
    loadings_ : (d, K) array
        W; columns are orthogonal, and the entry of largest magnitude of each is positive.
    mean_ : (d,) array
    noise_variance_ : float
        :math:`\sigma^2`.
    log_likelihood_ : float
        Total over the sample, of what was observed.
    log_likelihood_path_ : (n_iter_,) array
        The same at each step of an iteration; it never falls.
    n_iter_ : int
        Steps; 1 for the closed form.
    summary_ : FitSummary

    Cost
    ----
    One pass over the rows, then d x d. With missing entries one pass and one factorisation per pattern and step.

    References
    ----------
    Tipping, Bishop, Probabilistic principal component analysis, Journal of the Royal Statistical Society B 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import ProbabilisticPCA
    >>> model = ProbabilisticPCA(n_components=2).fit(load_iris().data)
    >>> round(model.noise_variance_, 4), round(model.log_likelihood_, 2)
    (0.0507, -404.96)
    """

    _plan = plan_probabilistic_pca

    _model: Isotropic
    _kept_parameters = ("missing", "random_state")

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        method: str = "closed",
        missing: str | None = None,
        tol: float = 1e-10,
        max_iter: int = 10_000,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.method = method
        self.missing = missing
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @planned_fit
    def fit(self, X: Table, y: object = None, sample_weight: Table | None = None) -> Self:
        """Find the model of greatest likelihood.

        Parameters
        ----------
        X : (n, d) array, data frame, sparse matrix or stream (:func:`gramian.rows`)
            Rows; NaN where missing, if ``missing="em"``.
        y : ignored
        sample_weight : (n,) array, optional
            Frequencies of the rows.
        """
        clock = Clock()
        check_choice("method", self.method, ("closed", "em"))
        rows = read(self, X, sample_weight)
        if rows.gaps:
            k, said = self._asked(rows.d, lambda: self._complete_moments(rows.X, rows.weights))
            found = self._expect(rows.X, rows.weights, k)[0]
        else:
            k, said = self._asked(rows.d, lambda: rows.moments)
            if self._is_wide(rows):
                found = self._closed(rows.space(center=True, scale=False), rows.d, k)
            else:
                found = self._maximise(rows.moments, k)
        self.moments_ = None if rows.gaps else rows.kept()  # so that partial_fit may go on from here
        return self._keep(found, rows.dtype, rows.shape, clock, rows.gaps, said)

    @all_or_nothing
    def fit_expectation(self, X: Array, weights: Array | None = None) -> Expectation:
        """Fit to checked rows with missing entries, and return what is expected of them under the model."""
        found, expected = self._expect(X, weights, whole_number(self.n_components))
        self._keep(found, X.dtype, X.shape, Clock(), int(np.isnan(X).sum()))
        return expected

    def fill(self, X: Array) -> Array:
        """Return checked rows with their missing entries imputed under the fitted model."""
        return self._expected(X).filled.astype(X.dtype, copy=False)

    def impute(self, X: Table) -> Array:
        """Return rows with their missing entries imputed: expected under the fitted model, given the others.

        Parameters
        ----------
        X : (m, d) array or data frame
            Rows; NaN where missing, if ``missing="em"``.

        Returns
        -------
        (m, d) array

        Examples
        --------
        >>> import numpy as np
        >>> from gramian import ProbabilisticPCA
        >>> X = np.array([[1.0, 2.0], [2.0, 4.1], [3.0, 5.9], [4.0, np.nan], [5.0, 10.0]])
        >>> ProbabilisticPCA(1, missing="em").fit(X).impute(X)[3].round(1)
        array([4., 8.])
        """
        check_is_fitted(self)
        return self._complete(X)

    def _complete_moments(self, X: Array, weights: Array | None) -> Moments:
        """Moments with missing entries imputed under a model with all components there can be."""
        probe = ProbabilisticPCA(None, missing="em", tol=self.tol, max_iter=self.max_iter)
        return probe.fit_expectation(X, weights).moments

    def _asked(self, d: int, moments: Callable[[], Moments]) -> tuple[Any, Suggestion | None]:
        asked = check_components(self.n_components, d, f"d = {d}", fractions=False, auto=True)
        if self.n_components != "auto":
            return asked, None
        known = moments()
        rank = int((MomentSpace(known).basis(None).singular > 0).sum())
        return choose_from_moments(known, max(1, rank - 1))  # something must be left for the noise

    def _expect(self, X: Array, weights: Array | None, k: int | None) -> tuple[Climb[Isotropic], Expectation]:
        return fit_missing(
            X.astype(np.float64),
            weights,
            lambda moments: self._maximise(moments, k).state,
            lambda model: (model.mean, model.covariance()),
            tol=self.tol,
            max_iter=self.max_iter,
        )

    @all_or_nothing
    def partial_fit(self, X: Table, y: object = None, sample_weight: Table | None = None) -> Self:
        """Add rows to those seen so far; the result is that of one ``fit`` of all of them."""
        clock = Clock()
        rows = more_rows(self, X, sample_weight)
        asked = check_components(self.n_components, rows.d, f"d = {rows.d}", fractions=False, auto=True)
        if rows.shape[0] <= max(2, (asked or 0) + 1):
            return self
        k, said = self._asked(rows.d, lambda: rows.moments)
        return self._keep(self._maximise(rows.moments, k), rows.dtype, rows.shape, clock, said=said)

    def posterior(self, X: Table) -> tuple[Array, Array]:
        """Posterior means (m, K) of the causes of each row, and their covariance (K, K), the same for every row."""
        return np.asarray(self.projection_.scores(self._complete(X))), self._model.posterior_covariance()

    @by_blocks
    def transform(self, X: Table) -> Array:
        """Return posterior means of the causes; missing entries are imputed by the model first."""
        check_is_fitted(self)
        X = self._complete(X)
        return self.projection_.scores(X).astype(X.dtype, copy=False)

    def sample(self, n_samples: int = 1, random_state: Seed = None) -> Array:
        """Draw rows from the model."""
        check_is_fitted(self)
        rng = random_generator(as_fitted(self, "random_state") if random_state is None else random_state)
        u = rng.standard_normal((n_samples, self.loadings_.shape[1]))
        noise = rng.standard_normal((n_samples, len(self.mean_)))
        return self._model.mean + u @ self._model.loadings.T + np.sqrt(self.noise_variance_) * noise

    def _tables(self, make: TableMaker) -> Makers:
        what = "columns are scores of unit variance times these, plus noise"
        loadings = {"loadings": lambda: make.by_columns("loadings", self.loadings_, what)}
        return super()._tables(make) | loadings

    def _column_vectors(self) -> ColumnVectors:
        W = self.loadings_.astype(np.float64)
        values = W / np.sqrt(np.sum(W**2, axis=1) + float(self.noise_variance_))[:, None]
        return ColumnVectors(values, "correlation with the cause", True, W, "loading")

    def _component_values(self) -> tuple[str, Array]:
        variances = np.sum(self.loadings_.astype(np.float64) ** 2, axis=0) + float(self.noise_variance_)
        return "eigenvalue", variances

    def _reading(self) -> Reading:
        W, values = self.loadings_.astype(np.float64), self._component_values()[1]
        return Reading(values, "positive", "variance", W, "loadings", ordered=True, of_columns=True)

    def _component_shares(self) -> Array:
        # Columns of W are orthogonal: with the noise along them, their squares are the variances of the model.
        squares = np.sum(self.loadings_.astype(np.float64) ** 2, axis=0)
        noise = float(self.noise_variance_)
        return (squares + noise) / (squares.sum() + len(self.loadings_) * noise)

    def get_covariance(self) -> Array:
        """Return the covariance ``WW' + s2 I`` of the model."""
        check_is_fitted(self)
        return self._model.covariance()

    def _is_wide(self, rows: FitRows) -> bool:
        """Whether fewer rows than columns are there, and nothing but their components is asked for."""
        few = rows.X is not None and rows.X.shape[0] < rows.d
        return few and self.method == "closed" and not is_auto(self.n_components)

    def _maximise(self, moments: Moments, asked: int | None) -> Climb[Isotropic]:
        """Return the model of greatest likelihood for given moments."""
        check_squares(moments)
        closed = self._closed(MomentSpace(moments), moments.d, asked)
        return closed if self.method == "closed" else self._climb(moments, len(closed.state.variances))

    def _closed(self, space: LinearSpace | MomentSpace | StreamSpace, d: int, asked: int | None) -> Climb[Isotropic]:
        """Return the model of greatest likelihood for d centred columns."""
        basis = space.basis(check_components(asked, d, f"d = {d}", fractions=False))
        values, total = basis.eigenvalues / basis.n, basis.total_variance * (basis.n - 1) / basis.n
        rank = int((values > 0).sum()) if asked is None else basis.rank
        k = max(1, min(rank - 1, d - 1)) if asked is None else asked
        closed = gaussian.from_spectrum(basis.mean, basis.directions[:, :k], values[:k], total)
        if not (closed.variances > 0).all() or (k < d and closed.noise <= 1e-14 * values[0]):
            raise ValueError(
                f"zero variance is left for the noise of n_components={k}: X has no more dimensions than that. "
                "Use fewer components, or drop columns that repeat others."
            )
        return Climb(closed, (gaussian.isotropic_log_likelihood(closed, values[:k], total, basis.n),), True)

    def _climb(self, moments: Moments, k: int) -> Climb[Isotropic]:
        S, d = moments.covariance(), moments.d
        total = float(np.trace(S))
        size = total / d
        start = random_generator(self.random_state).standard_normal((d, k)) * np.sqrt(size)

        def step(state: tuple[Array, float]) -> tuple[float, tuple[Array, float]]:
            model = gaussian.from_loadings(moments.mean, *state)
            following = gaussian.expectation_maximisation(S, *state)
            along = np.einsum("ij,jk,ki->i", model.directions.T, S, model.directions)
            return gaussian.isotropic_log_likelihood(model, along, total, moments.weight), following

        found = climb(step, (start, float(size)), tol=self.tol, max_iter=self.max_iter)
        model = gaussian.from_loadings(moments.mean, *found.state)
        return Climb(model, found.path, found.converged, found.stopped)

    def _keep(
        self,
        found: Climb[Isotropic],
        dtype: np.dtype,
        shape: tuple[int, int],
        clock: Clock,
        gaps: int = 0,
        said: Suggestion | None = None,
    ) -> Self:
        model = self._model = found.state
        if not found.converged:
            warn(f"EM stopped early ({found.stopped}). Raise max_iter, or tol={self.tol}.", ConvergenceWarning)
        self.projection_ = LinearProjection(model.mean, model.posterior_weights(), model.loadings.T)
        self.loadings_ = model.loadings.astype(dtype)
        self.mean_ = model.mean.astype(dtype)
        self.noise_variance_ = model.noise
        self.log_likelihood_path_ = np.array(found.path)
        self.log_likelihood_ = found.path[-1]
        self.n_iter_ = len(found.path)
        self.summary_ = self._summarize(found, shape, clock, gaps, said)
        return self

    def _summarize(
        self, found: Climb[Isotropic], shape: tuple[int, int], clock: Clock, gaps: int, said: Suggestion | None
    ) -> FitSummary:
        model, likelihood, steps = found.state, found.path[-1], len(found.path)
        k, d = len(model.variances), shape[1]
        share = float(model.variances.sum() / (model.variances.sum() + model.noise * (d - k)))
        route, text = "closed form" if steps == 1 else f"EM, {steps} steps", f"noise variance {model.noise:.3g}"
        write = SummaryBuilder.of_components(self, shape, k, share=share).chosen(said)
        write.line("route", route, steps=steps, converged=found.converged)
        write.line("likelihood", f"{likelihood:.6g}, {text}", log_likelihood=likelihood, noise_variance=model.noise)
        return write.work(clock).missing(gaps, f"imputed by the model ({percent(gaps / (shape[0] * d))})").done()
