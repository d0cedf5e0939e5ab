"""Independent component analysis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from gramian import mixing
from gramian.config import pinned_if_small
from gramian.estimators.base import BaseEstimator, ProjectionTransformer, by_blocks, planned_fit
from gramian.estimators.column_vectors import ColumnVectors
from gramian.estimators.labels import component_names
from gramian.estimators.plans_linear import is_long, plan_ica
from gramian.estimators.summary import Clock, SummaryBuilder
from gramian.estimators.table_maker import Makers, TableMaker
from gramian.estimators.validation import Table, check_components, random_generator, validate
from gramian.estimators.warnings import ConvergenceWarning, RankWarning, SubGaussianWarning, warn
from gramian.lapack import orient
from gramian.projection import LinearProjection
from gramian.results import Array, FitSummary, Mix, Seed
from gramian.solvers.independence import GRADIENT_ROUNDING, Unmixing, log_density, unmix
from gramian.spaces import LinearBasis, LinearSpace
from gramian.spaces.linear import ILL_CONDITIONED_RATIO

#: Standard errors of a Gaussian's kurtosis below zero at which a source is called sub-Gaussian.
SUB_GAUSSIAN_STANDARD_ERRORS = 2.0


class ICA(ProjectionTransformer, DensityMixin, BaseEstimator):
    r"""Independent sources with heavy tails, of which the columns are mixtures.

    Definition
    ----------
    .. math:: x = \mu + A u, \quad p(u_j) = \frac{1}{\pi \cosh u_j};
              \qquad \max_W \; n \log |\det W| - \sum_{ij} \log \cosh\big(W (x_i - \mu)\big)_j

    with the mean of the rows as :math:`\mu`. Sources come at the scale that maximum likelihood gives them,
    :math:`E[u \tanh u] = 1`.

    Parameters
    ----------
    n_components : int or None
        Number :math:`K` of sources. None takes the rank of X. With fewer than d, the rows are first projected on
        their K directions of greatest variance.
    tol : float
        Largest entry of the relative gradient, :math:`E[\tanh(u) u'] - I`, at which the iteration stops.
    max_iter : int
        Steps at the most.
    random_state : int, Generator, RandomState or None
        Seed of the start. None is a fixed seed. The likelihood may have several maxima: try a few seeds.

    Attributes
    ----------
    components_ : (K, d) array
        Unmixing W: sources are ``(X - mean_) @ components_.T``. The entry of largest magnitude of each row is positive.
    mixing_ : (d, K) array
        A, the pseudo-inverse of W; columns in descending order of the variance they explain.
    mean_ : (d,) array
    explained_variance_ : (K,) array
        Squared length of each column of A times the mean square of its source.
    log_likelihood_ : float
        Total over the sample, in units of X. For K < d it is that of the rows projected on the span of W.
    gradient_norm_ : float
        Largest entry of the relative gradient at the end, measured on all rows.
    n_iter_ : int
        Steps over all rows.
    summary_ : FitSummary

    Cost
    ----
    Each step n K^2 multiplications and n K exponentials; memory for some six copies of the n x K white rows.
    Long tables start from the answer for a sample of rows, a hundred for each source.

    References
    ----------
    Ablin, Cardoso, Gramfort, Faster independent component analysis by preconditioning with Hessian approximations,
    IEEE Transactions on Signal Processing 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.estimators.ica import ICA
    >>> sources = np.random.default_rng(0).laplace(size=(2000, 2))
    >>> ica = ICA().fit(sources @ [[2.0, 1.0], [1.0, 1.0]])
    >>> (ica.mixing_ / ica.mixing_.max(axis=0)).round(1)
    array([[1. , 1. ],
           [0.5, 1. ]])
    """

    _plan = plan_ica
    _component_prefix = "IC"

    def __init__(
        self, n_components: int | None = None, *, tol: float = 1e-7, max_iter: int = 500, random_state: Seed = None
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    @planned_fit
    def fit(self, X: Table, y: object = None) -> Self:
        """Find the unmixing of greatest likelihood.

        Parameters
        ----------
        X : (n, d) array or data frame
            Rows.
        y : ignored
        """
        clock = Clock()
        X = validate(self, X, sparse=False, min_samples=2)
        with pinned_if_small(X.size * X.shape[1]):
            basis, rank = _components(X, self._check_parameters(X.shape))
            notes = self._rank_notes(rank, X.shape)
            basis = basis if rank == basis.rank else basis.truncate(rank)
            white = mixing.whiten(basis)
            Z = np.ascontiguousarray(basis.projection(white).scores(X).T)
            found = unmix(Z, random_generator(self.random_state), tol=self.tol, max_iter=self.max_iter)
            mix = Mix(forward=white.forward @ found.W.T, back=np.linalg.inv(found.W).T @ white.back)
            return self._keep(basis, mix, found, X, clock, notes)

    @by_blocks
    def transform(self, X: Table) -> Array:
        """Return the sources of rows, ``(X - mean_) @ components_.T``."""
        check_is_fitted(self)
        X = validate(self, X, reset=False, sparse=False)
        return self.projection_.scores(X).astype(X.dtype, copy=False)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return the rows ``mean_ + X @ mixing_.T`` that have the sources ``X``."""
        return self._inverse(X, "{k} sources")

    def score_samples(self, X: Table) -> Array:
        """Log-density of each row; for K < d, of its projection on the span of the components."""
        check_is_fitted(self)
        X = validate(self, X, reset=False, sparse=False)
        return log_density(self.projection_.scores(X)) + self._log_volume

    def score(self, X: Table, y: object = None) -> float:
        """Mean log-density of rows."""
        return float(self.score_samples(X).mean())

    def _tables(self, make: TableMaker) -> Makers:
        return super()._tables(make) | {
            "loadings": lambda: make.by_columns("loadings", self.mixing_, "columns are sources times these"),
            "weights": lambda: make.by_columns("weights", self.components_.T),
        }

    def _component_values(self) -> tuple[str, Array]:
        return "variance explained", self.explained_variance_

    def _column_vectors(self) -> ColumnVectors:
        A = self.mixing_.astype(np.float64)
        return ColumnVectors(A, "weight of the source", False, A, "weight of the source")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _check_parameters(self, shape: tuple[int, int]) -> int | None:
        least, (n, d) = min(shape), shape
        k = check_components(self.n_components, least, f"min(n, d) = {least} (n={n}, d={d})", fractions=False)
        if not self.tol > 0:
            raise ValueError(f"tol={self.tol!r} must be a positive number, such as 1e-7.")
        if self.max_iter < 1:
            raise ValueError(f"max_iter={self.max_iter!r} must be a whole number of 1 or more.")
        return k

    def _rank_notes(self, rank: int, shape: tuple[int, int]) -> list[str]:
        (n, d), wanted = shape, self.n_components or shape[1]
        if rank == 0:
            raise ValueError("X has zero variance: all rows are the same, and nothing is mixed in them.")
        if rank == wanted:
            return []
        note = f"X has rank {rank} (n={n}, d={d}): {rank} of {wanted} sources were fitted, on its span"
        warn(f"{note}. Use n_components={rank} or fewer.", RankWarning)
        return [note]

    def _keep(self, basis: LinearBasis, mix: Mix, found: Unmixing, X: Array, clock: Clock, notes: list[str]) -> Self:
        """Set the fitted attributes, sources in order and with their signs."""
        certificate = found.certificate
        raw = basis.projection(mix)
        with np.errstate(over="ignore", under="ignore"):
            explained = (raw.back**2).sum(axis=1) * certificate.variances
        if not ((explained > 0) & np.isfinite(explained)).all():
            raise ValueError("the variances of X leave the range of double precision. Multiply X by a constant.")
        order = np.argsort(-explained, kind="stable")
        signs = orient(raw.weights)[order]
        self.projection_ = LinearProjection(raw.mean, raw.weights[:, order] * signs, raw.back[order] * signs[:, None])
        self.components_ = self.projection_.weights.T.astype(X.dtype)
        self.mixing_ = self.projection_.back.T.astype(X.dtype)
        self.mean_ = basis.mean.astype(X.dtype)
        self.explained_variance_ = explained[order]
        # The determinant on orthonormal axes of the span: that of W, divided by what whitening divided by.
        whitening = np.log(basis.variances).sum() / 2 + np.log(basis.scale).sum()
        self._log_volume = float(np.linalg.slogdet(found.W)[1] - whitening)
        self.log_likelihood_ = certificate.log_density + len(X) * self._log_volume
        self.gradient_norm_, self.n_iter_ = certificate.gradient, found.steps
        self.summary_ = self._summarize(certificate.excess[order], X.shape, clock, notes)
        return self

    def _summarize(self, excess: Array, shape: tuple[int, int], clock: Clock, notes: list[str]) -> FitSummary:
        (n, d), k = shape, len(excess)
        converged = self.gradient_norm_ <= self.tol + GRADIENT_ROUNDING
        above = "" if converged else f", above tol={self.tol:g}"
        if not converged:
            warn(
                f"ICA stopped after {self.n_iter_} steps with a gradient of {self.gradient_norm_:.1e}{above}. "
                f"Raise max_iter={self.max_iter} or tol, or try another random_state.",
                ConvergenceWarning,
            )
        light = np.flatnonzero(excess < -SUB_GAUSSIAN_STANDARD_ERRORS * np.sqrt(24 / n))
        if len(light):
            every = component_names(self, k)
            names = ", ".join(every[j] for j in light[:10]) + (", ..." if len(light) > 10 else "")
            notes = [*notes, f"sub-Gaussian: {names}. The model has heavy tails and cannot tell such sources apart"]
            warn(f"{notes[-1]}.", SubGaussianWarning)
        likelihood = f"{self.log_likelihood_:.6g}"
        likelihood += "" if k == d else f", of the projection on {k} of {d} dimensions"
        write = SummaryBuilder.of_components(self, shape, k, noun="source")
        write.line("route", f"Newton on white rows, {self.n_iter_} steps", steps=self.n_iter_)
        write.line("likelihood", likelihood, log_likelihood=self.log_likelihood_).work(clock)
        write.line("certified", f"gradient {self.gradient_norm_:.1e}{above}", gradient_norm=self.gradient_norm_)
        return write.add(converged=converged, excess_kurtosis=excess, sub_gaussian=light).notes(notes).done()


def _components(X: Array, k: int | None) -> tuple[LinearBasis, int]:
    """Leading components and how many of them are more than rounding.

    With all of them the units of columns do not matter, so they are divided out first: units may be far apart.
    """
    if k is None or k == X.shape[1]:
        basis = _spectrum(LinearSpace(X, scale=True), k)
        if _rank(basis, X.dtype) == X.shape[1]:
            return basis, X.shape[1]
    basis = _spectrum(LinearSpace(X), k)
    return basis, _rank(basis, X.dtype)


def _spectrum(space: LinearSpace, k: int | None) -> LinearBasis:
    """One pass over long tables; a direct route if their variances span too much for it."""
    if is_long(space.n, space.d):
        basis = space.basis(k, "covariance")
        if basis.eigenvalues[-1] > ILL_CONDITIONED_RATIO * basis.eigenvalues[0]:
            return basis
    return space.basis(k)


def _rank(basis: LinearBasis, dtype: np.dtype) -> int:
    """Directions before the last whose deviation is more than the rounding of the columns it is made of."""
    sizes = (basis.mean / basis.scale) ** 2 + (basis.directions**2 * basis.variances).sum(axis=1)
    rounding = 4 * np.finfo(dtype).eps * np.sqrt(sizes @ basis.directions**2)
    return int(np.flatnonzero(np.sqrt(basis.variances) > rounding).max(initial=-1)) + 1
