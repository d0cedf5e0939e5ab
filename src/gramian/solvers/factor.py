"""The factor model of a correlation matrix: a few common factors, and what is unique to each column."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gramian import lapack
from gramian.config import pinned_if_small
from gramian.lapack import orient
from gramian.operators.correlation import Correlation, Scaled
from gramian.progress import Tracker
from gramian.results import Array
from gramian.solvers.eigen import Subspace

#: Least uniqueness, as a share of the variance of its column; at zero the likelihood has no bound.
LEAST_UNIQUENESS = 0.005
#: Longest step in the logarithm of a uniqueness: the quadratic model is local.
MAX_LOG_STEP = 1.5
#: Further starts after a Heywood case, and the columns up to which they are tried.
HEYWOOD_RESTARTS, RESTART_MAX_COLUMNS = 8, 60
#: Distance, in the logarithm of a uniqueness, to a known solution at which a further start is on its way there.
SAME_MAX_LOG_DISTANCE = 0.1
#: Columns up to which second derivatives are exact: they take all eigenvectors and k products of d x d matrices.
EXACT_MAX_COLUMNS = 150
#: Beyond that: steps whose changes of the gradient correct the expected second derivatives.
REMEMBERED_STEPS = 10
#: Uniquenesses at the start there.
FIRST_UNIQUENESS = 0.5
#: Residual of the eigenpairs there, relative; blocks of vectors that are kept, and vectors beside those of the factors.
PAIRS_TOL, PAIRS_BLOCKS, PAIRS_EXTRA, PAIRS_MAX_PRODUCTS = 1e-12, 12, 3, 200
#: Residual, relative, and steps at the most of conjugate gradients with the expected second derivatives.
EXPECTED_TOL, EXPECTED_MAX_STEPS = 1e-10, 200
#: Longest step by exact second derivatives: farther off they lead to other minima than the expected ones, worse ones.
EXACT_MAX_STEP = 0.5
#: Least distance of the eigenvalue of a factor to those left out, by which exact second derivatives divide.
EXACT_MIN_GAP = 1e-3


@dataclass(frozen=True)
class FactorSolution:
    """Maximum-likelihood factors of a correlation matrix.

    ``loadings`` (d, k): L in canonical form: ``L' Psi^-1 L`` is diagonal and descends. ``uniquenesses`` (d,): diagonal
    of Psi. ``objective``: ``log |LL' + Psi| + tr (LL' + Psi)^-1 R``, finite also where R is singular. ``discrepancy``:
    ``objective - log |R| - d``: zero for a perfect fit, infinite where R is singular. ``at_bound`` (d,): columns whose
    uniqueness is held by its lower bound (Heywood cases).
    """

    loadings: Array
    uniquenesses: Array
    objective: float
    discrepancy: float
    converged: bool
    iterations: int
    at_bound: Array

    def implied(self) -> Array:
        """Correlation matrix of the model, ``LL' + Psi``."""
        return self.loadings @ self.loadings.T + np.diag(self.uniquenesses)


@dataclass(frozen=True)
class _Point:
    """The objective at given uniquenesses, with the best loadings for them.

    ``others``: the eigenvectors left out, and their values, if they were computed.
    """

    psi: Array
    vectors: Array
    excess: Array
    value: float
    gradient: Array
    others: tuple[Array, Array] | None = None


@dataclass(frozen=True)
class _Likelihood:
    """The objective of k factors of a correlation matrix."""

    R: Correlation
    k: int

    @cached_property
    def search(self) -> Subspace | None:
        """Where the leading eigenvectors of many columns are looked for, beginning with those found last."""
        blocks = PAIRS_BLOCKS * (self.k + PAIRS_EXTRA)
        return Subspace(self.k, blocks, Tracker("factors", 1.0)) if self.R.d > EXACT_MAX_COLUMNS else None

    def at(self, psi: Array) -> _Point:
        """The objective and its gradient in the logarithms, and the eigenpairs that both come from."""
        root, others = np.sqrt(psi), None
        if self.search is None:
            values, vectors = lapack.eigh(self.R.R / (root[:, None] * root))
            others = vectors[:, : -self.k], values[: -self.k]
            values, vectors = values[: -self.k - 1 : -1], vectors[:, : -self.k - 1 : -1]
        else:
            values, vectors = self._leading(self.search, self.R.scaled(root))
        # A factor with theta below one would need a negative variance: it is left at zero.
        excess, ratio = np.maximum(values - 1.0, 0.0), self.R.diagonal / psi
        value = np.log(psi).sum() + np.log1p(excess).sum() - excess.sum() + ratio.sum()
        gradient = (vectors**2) @ excess + 1.0 - ratio
        return _Point(psi, vectors, excess, float(value), gradient, others)

    def _leading(self, search: Subspace, scaled: Scaled) -> tuple[Array, Array]:
        size = self.k + PAIRS_EXTRA
        first = search.ritz(size)[1] if search.products else np.random.default_rng(0).normal(size=(scaled.n, size))
        search.run(scaled, first, PAIRS_TOL, search.products + PAIRS_MAX_PRODUCTS)
        values, vectors, _, _ = search.ritz(self.k)
        lacking = self.k - len(values)  # R may have fewer eigenvalues that are not zero
        return np.pad(values, (0, lacking)), np.pad(scaled.of_columns(vectors, values), ((0, 0), (0, lacking)))

    def start(self) -> Array:
        """``(1 - k / 2d) / (R^-1)_ii``, a share of the variance that others do not explain; a half of many columns."""
        d = self.R.d
        if d > EXACT_MAX_COLUMNS:
            return np.full(d, FIRST_UNIQUENESS)
        values, vectors = lapack.eigh(self.R.R)
        # A singular R has no inverse: its eigenvalues are raised to at least 1e-3.
        return (1 - 0.5 * self.k / d) / np.sum(vectors**2 / np.maximum(values, 1e-3), axis=1)


def maximum_likelihood(
    R: Array | Correlation,
    k: int,
    *,
    start: Array | None = None,
    lower: float | Array = LEAST_UNIQUENESS,
    tol: float = 1e-12,
    max_iter: int = 500,
) -> FactorSolution:
    r"""Find the k factors under which a correlation matrix is most likely.

    Definition
    ----------
    .. math:: \min_{\Psi} \; \sum_i \log \psi_i + \sum_{m \le k} \log \theta_m + \sum_{m > k} (\theta_m - 1),
              \qquad \Psi^{-1/2} R \Psi^{-1/2} = \Omega \Theta \Omega', \quad
              L = \Psi^{1/2} \Omega_k (\Theta_k - I)^{1/2}

    Newton's method in :math:`\log \psi`, steps cut to the bounds and halved until the objective falls. Second
    derivatives are exact near the end, and before it the expected ones, :math:`(I - \Omega_k \Omega_k')_{ij}^2`. Of
    more than 150 columns only the k leading eigenpairs are made, starting from those of the last step, and the expected
    derivatives are corrected by how the gradient changed in the last ten steps (limited-memory BFGS). A solution at a
    bound is often not the only one: then a few more starts are tried, from a fixed seed, and the best end is kept.

    ``R`` (d, d): correlation matrix; it may be singular. ``k``: number of factors. ``start`` (d,): uniquenesses to
    begin with. The objective never rises above theirs. ``lower``: least uniquenesses. ``tol``: largest entry of the
    projected gradient at which to stop. ``max_iter``: steps at the most.

    Cost
    ----
    Up to 150 columns the eigenvectors of a d x d matrix and one d x d Cholesky factorisation per step, ten steps as a
    rule. Beyond, some five products of R with k + 3 vectors per step, twenty steps as a rule.

    References
    ----------
    Joreskog, Some contributions to maximum likelihood factor analysis, Psychometrika 1967.

    Examples
    --------
    >>> import numpy as np
    >>> found = maximum_likelihood(np.array([[1, 0.72, 0.63], [0.72, 1, 0.56], [0.63, 0.56, 1]]), 1)
    >>> found.loadings.round(6).ravel()
    array([0.9, 0.8, 0.7])
    """
    model = _Likelihood(Correlation.of(R), k)
    d = model.R.d
    low = np.broadcast_to(np.asarray(lower, dtype=np.float64), (d,))
    with pinned_if_small(d**3 if model.search is None else d**2 * (k + PAIRS_EXTRA)):
        found = _minimise(model, model.start() if start is None else start, low, tol, max_iter)
        if start is None and found.at_bound.any() and d <= RESTART_MAX_COLUMNS:
            for first in np.random.default_rng(0).uniform(2 * LEAST_UNIQUENESS, 1.0, (HEYWOOD_RESTARTS, d)):
                other = _minimise(model, first, low, tol, max_iter, known=found)
                found = other if other.objective < found.objective - 1e-9 else found
    return found


def objective(R: Array | Correlation, loadings: Array, psi: Array) -> float:
    """``log |LL' + Psi| + tr (LL' + Psi)^-1 R`` at any loadings and uniquenesses."""
    weighted = loadings / psi[:, None]
    M = np.eye(loadings.shape[1]) + loadings.T @ weighted
    explained = np.sum(weighted * (R @ np.linalg.solve(M, weighted.T).T))
    return float(np.log(psi).sum() + np.linalg.slogdet(M)[1] + np.sum(Correlation.of(R).diagonal / psi) - explained)


def _minimise(
    model: _Likelihood, start: Array, low: Array, tol: float, max_iter: int, known: FactorSolution | None = None
) -> FactorSolution:
    """Newton's method from one start; it ends at a known solution if it comes near it."""
    high = np.maximum(model.R.diagonal, low)
    point, pairs = model.at(np.clip(start, low, high)), list[tuple[Array, Array]]()
    converged, iterations = False, 0
    while iterations < max_iter:
        # A start that was rescaled may miss its bound by a rounding.
        held = (point.psi <= low * (1 + 1e-12)) & (point.gradient > 0)
        free = ~held & ~((point.psi >= high * (1 - 1e-12)) & (point.gradient < 0))
        slope = np.abs(point.gradient[free]).max(initial=0.0)
        following = _descend(model, point, free, low, high, pairs) if slope > tol else None
        if following is None:
            # No step gains more than rounding: the gradient cannot be made smaller either.
            converged = bool(slope <= max(tol, 1e-5))
            break
        if following.others is None:
            pairs.append((np.log(following.psi / point.psi), following.gradient - point.gradient))
            del pairs[:-REMEMBERED_STEPS]
        point, iterations = following, iterations + 1
        if known is not None and np.abs(np.log(point.psi / known.uniquenesses)).max() <= SAME_MAX_LOG_DISTANCE:
            return known
    L = np.sqrt(point.psi)[:, None] * point.vectors * np.sqrt(point.excess)
    known_log = model.R.log_determinant
    return FactorSolution(
        loadings=L * orient(L),
        uniquenesses=point.psi,
        objective=point.value,
        discrepancy=float("inf") if known_log is None else max(0.0, point.value - known_log - model.R.d),
        converged=converged,
        iterations=iterations,
        at_bound=point.psi <= low * (1 + 1e-9),
    )


def _descend(
    model: _Likelihood, point: _Point, free: Array, low: Array, high: Array, pairs: list[tuple[Array, Array]]
) -> _Point | None:
    """One Newton step on the free uniquenesses; None if nothing better is found."""
    slope = np.abs(point.gradient[free]).max()
    step = _newton(point, free, pairs)
    for _ in range(model.R.d):
        # A step cut at the bounds need not descend: coordinates that it would push outwards are held.
        blocked = ((point.psi <= low * (1 + 1e-12)) & (step < 0)) | ((point.psi >= high * (1 - 1e-12)) & (step > 0))
        if not (free & blocked).any() or (free & ~blocked).sum() == 0:
            break
        free = free & ~blocked
        step = _newton(point, free, pairs)
    step *= min(1.0, MAX_LOG_STEP / np.abs(step).max())
    # Gains below this are rounding; there a step is accepted if it lowers the gradient.
    noise = 1e-13 * max(1.0, abs(point.value), float(np.sum(1 / point.psi)))
    for halving in range(40):
        psi = np.clip(point.psi * np.exp(0.5**halving * step), low, high)
        expected = float(point.gradient @ np.log(psi / point.psi))
        trial = model.at(psi)
        if abs(expected) < noise and trial.value <= point.value + noise:
            return trial if np.abs(trial.gradient[free]).max() < 0.9 * slope else None
        if expected < 0 and trial.value <= point.value + 1e-4 * expected:
            return trial
    return None


def _newton(point: _Point, free: Array, pairs: list[tuple[Array, Array]]) -> Array:
    """Newton step in the logarithms of the free uniquenesses: by exact second derivatives where that makes it short."""
    V, g, step = point.vectors[free][:, point.excess > 0], point.gradient[free], np.zeros(len(free))
    if point.others is None:
        step[free] = -_corrected(V, g, [(s[free], y[free]) for s, y in pairs])
        return step
    if (point.excess > EXACT_MIN_GAP + point.others[1].max(initial=0.0) - 1).all():
        with suppress(np.linalg.LinAlgError):  # not positive definite
            step[free] = -lapack.solve_positive(_second_derivatives(point, free), g)
            if np.abs(step).max() <= EXACT_MAX_STEP:
                return step
    H = (np.eye(len(V)) - V @ V.T) ** 2
    H.flat[:: len(H) + 1] += 1e-10 + 1e-8 * np.abs(g)
    step[free] = -lapack.solve_positive(H, g)
    return step


def _corrected(V: Array, g: Array, pairs: list[tuple[Array, Array]]) -> Array:
    """``H^-1 g``: the expected second derivatives, corrected by pairs of steps and changes of the gradient (L-BFGS)."""
    q, used = g.copy(), []
    for s, y in reversed(pairs):
        if (curvature := s @ y) > 0:  # that of a whole step may come from coordinates that are held now
            used.append((s, y, curvature, part := (s @ q) / curvature))
            q -= part * y
    q = _solve_expected(V, q)
    for s, y, curvature, part in reversed(used):
        q += (part - (y @ q) / curvature) * s
    return q


def _solve_expected(V: Array, b: Array) -> Array:
    """Solve ``H x = b`` with the expected second derivatives ``(I - VV')_ij^2``, by conjugate gradients.

    They are ``diag(1 - 2 (VV')_ii) + UU'`` with the products of any two columns of V as columns of U.
    """
    first, second = np.triu_indices(V.shape[1])
    U = V[:, first] * V[:, second] * np.where(first == second, 1.0, np.sqrt(2.0))
    diagonal = 1 + 1e-10 - 2 * np.sum(V**2, axis=1)
    x, r = np.zeros_like(b), b
    p, size = r, r @ r
    for _ in range(EXPECTED_MAX_STEPS):
        image = diagonal * p + U @ (U.T @ p)
        if (curvature := p @ image) <= 0:
            break
        x, r = x + (size / curvature) * p, r - (size / curvature) * image
        before, size = size, r @ r
        if size <= EXPECTED_TOL**2 * (b @ b):
            break
        p = r + (size / before) * p
    return x


def _second_derivatives(point: _Point, free: Array) -> Array:
    r"""Second derivatives in the logarithms of the free uniquenesses.

    Definition
    ----------
    .. math:: H = P \circ Q + \sum_{l \le k < m} \frac{(1 - \theta_m)(\theta_l + \theta_m)}{\theta_l - \theta_m}
              (\omega_l \omega_l') \circ (\omega_m \omega_m'), \qquad
              P = \sum_{m > k} \omega_m \omega_m', \quad Q = \sum_{m > k} \theta_m \omega_m \omega_m'
    """
    assert point.others is not None
    V, (W, theta) = point.vectors[free], (point.others[0][free], point.others[1])
    H = (W @ W.T) * ((W * theta) @ W.T)
    for v, large in zip(V.T, 1 + point.excess, strict=True):
        H += v[:, None] * v * ((W * ((1 - theta) * (large + theta) / (large - theta))) @ W.T)
    return H
