"""The factor model of a correlation matrix: a few common factors, and what is unique to each column."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from gramian import lapack
from gramian.config import pinned_if_small
from gramian.lapack import orient
from gramian.results import Array

#: Least uniqueness, as a share of the variance of its column; at zero the likelihood has no bound.
LEAST_UNIQUENESS = 0.005
#: Longest step in the logarithm of a uniqueness: the quadratic model is local.
MAX_LOG_STEP = 1.5
#: Further starts after a Heywood case, and the columns up to which they are tried.
HEYWOOD_RESTARTS, RESTART_MAX_COLUMNS = 8, 60
#: Distance, in the logarithm of a uniqueness, to a known solution at which a further start is on its way there.
SAME_MAX_LOG_DISTANCE = 0.1
#: Columns up to which second derivatives are exact: they take all eigenvectors and k products of d x d matrices.
EXACT_MAX_COLUMNS = 2_000
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


def maximum_likelihood(
    R: Array,
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
    derivatives are exact near the end (up to 2,000 columns), and before it the expected ones,
    :math:`(I - \Omega_k \Omega_k')_{ij}^2`. A solution at a bound is often not the only one:
    then a few more starts are tried, from a fixed seed, and the best end is kept.

    ``R`` (d, d): correlation matrix; it may be singular. ``k``: number of factors. ``start`` (d,): uniquenesses to
    begin with. The objective never rises above theirs. ``lower``: least uniquenesses. ``tol``: largest entry of the
    projected gradient at which to stop. ``max_iter``: steps at the most.

    Cost
    ----
    Eigenvectors of a d x d matrix and one d x d Cholesky factorisation per step; ten steps as a rule.

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
    low = np.broadcast_to(np.asarray(lower, dtype=np.float64), (len(R),))
    with pinned_if_small(len(R) ** 3):
        found = _minimise(R, k, _guess(R, k) if start is None else start, low, tol, max_iter)
        if start is None and found.at_bound.any() and len(R) <= RESTART_MAX_COLUMNS:
            for first in np.random.default_rng(0).uniform(2 * LEAST_UNIQUENESS, 1.0, (HEYWOOD_RESTARTS, len(R))):
                other = _minimise(R, k, first, low, tol, max_iter, known=found)
                found = other if other.objective < found.objective - 1e-9 else found
    return found


def objective(R: Array, loadings: Array, psi: Array) -> float:
    """``log |LL' + Psi| + tr (LL' + Psi)^-1 R`` at any loadings and uniquenesses."""
    weighted = loadings / psi[:, None]
    M = np.eye(loadings.shape[1]) + loadings.T @ weighted
    explained = np.sum(weighted * (R @ np.linalg.solve(M, weighted.T).T))
    return float(np.log(psi).sum() + np.linalg.slogdet(M)[1] + np.sum(np.diag(R) / psi) - explained)


def _minimise(
    R: Array, k: int, start: Array, low: Array, tol: float, max_iter: int, known: FactorSolution | None = None
) -> FactorSolution:
    """Newton's method from one start; it ends at a known solution if it comes near it."""
    d, high = len(R), np.maximum(np.diag(R), low)
    point = _evaluate(R, k, np.clip(start, low, high))
    converged, iterations = False, 0
    while iterations < max_iter:
        # A start that was rescaled may miss its bound by a rounding.
        held = (point.psi <= low * (1 + 1e-12)) & (point.gradient > 0)
        free = ~held & ~((point.psi >= high * (1 - 1e-12)) & (point.gradient < 0))
        slope = np.abs(point.gradient[free]).max(initial=0.0)
        following = _descend(R, k, point, free, low, high) if slope > tol else None
        if following is None:
            # No step gains more than rounding: the gradient cannot be made smaller either.
            converged = bool(slope <= max(tol, 1e-5))
            break
        point, iterations = following, iterations + 1
        if known is not None and np.abs(np.log(point.psi / known.uniquenesses)).max() <= SAME_MAX_LOG_DISTANCE:
            return known
    L = np.sqrt(point.psi)[:, None] * point.vectors * np.sqrt(point.excess)
    values = lapack.eigvalsh(R)
    whole = values[0] > d * np.finfo(np.float64).eps * values[-1]  # below that an eigenvalue is rounding
    return FactorSolution(
        loadings=L * orient(L),
        uniquenesses=point.psi,
        objective=point.value,
        discrepancy=max(0.0, point.value - float(np.log(values).sum()) - d) if whole else float("inf"),
        converged=converged,
        iterations=iterations,
        at_bound=point.psi <= low * (1 + 1e-9),
    )


def _guess(R: Array, k: int) -> Array:
    """Start ``(1 - k / 2d) / (R^-1)_ii``: a share of the variance of each column that the others do not explain."""
    d = len(R)
    values, vectors = lapack.interruptible(np.linalg.eigh, R)
    # A singular R has no inverse: its eigenvalues are raised to at least 1e-3.
    inverse = np.sum(vectors**2 / np.maximum(values, 1e-3), axis=1)
    return (1 - 0.5 * k / d) / inverse


def _evaluate(R: Array, k: int, psi: Array) -> _Point:
    root = np.sqrt(psi)
    scaled, exact = R / (root[:, None] * root), len(R) <= EXACT_MAX_COLUMNS
    values, vectors = lapack.eigh(scaled) if exact else lapack.largest_eigenpairs(scaled, k)
    if len(values) < k:  # LAPACK's routine for a part of the spectrum may drop values that coincide
        values, vectors = lapack.eigh(scaled)
    others = (vectors[:, :-k], values[:-k]) if exact else None
    values, vectors = values[: -k - 1 : -1], vectors[:, : -k - 1 : -1]
    # A factor with theta below one would need a negative variance: it is left at zero.
    excess = np.maximum(values - 1.0, 0.0)
    ratio = np.diag(R) / psi
    value = np.log(psi).sum() + np.log1p(excess).sum() - excess.sum() + ratio.sum()
    gradient = (vectors**2) @ excess + 1.0 - ratio
    return _Point(psi, vectors, excess, float(value), gradient, others)


def _descend(R: Array, k: int, point: _Point, free: Array, low: Array, high: Array) -> _Point | None:
    """One Newton step on the free uniquenesses; None if nothing better is found."""
    slope = np.abs(point.gradient[free]).max()
    step = _newton(point, free)
    for _ in range(len(R)):
        # A step cut at the bounds need not descend: coordinates that it would push outwards are held.
        blocked = ((point.psi <= low * (1 + 1e-12)) & (step < 0)) | ((point.psi >= high * (1 - 1e-12)) & (step > 0))
        if not (free & blocked).any() or (free & ~blocked).sum() == 0:
            break
        free = free & ~blocked
        step = _newton(point, free)
    step *= min(1.0, MAX_LOG_STEP / np.abs(step).max())
    # Gains below this are rounding; there a step is accepted if it lowers the gradient.
    noise = 1e-13 * max(1.0, abs(point.value), float(np.sum(1 / point.psi)))
    for halving in range(40):
        psi = np.clip(point.psi * np.exp(0.5**halving * step), low, high)
        expected = float(point.gradient @ np.log(psi / point.psi))
        trial = _evaluate(R, k, psi)
        if abs(expected) < noise and trial.value <= point.value + noise:
            return trial if np.abs(trial.gradient[free]).max() < 0.9 * slope else None
        if expected < 0 and trial.value <= point.value + 1e-4 * expected:
            return trial
    return None


def _newton(point: _Point, free: Array) -> Array:
    """Newton step in the logarithms of the free uniquenesses: by exact second derivatives where that makes it short."""
    V, g, step = point.vectors[free][:, point.excess > 0], point.gradient[free], np.zeros(len(free))
    if point.others is not None and (point.excess > EXACT_MIN_GAP + point.others[1].max(initial=0.0) - 1).all():
        with suppress(np.linalg.LinAlgError):  # not positive definite
            step[free] = -lapack.solve_positive(_second_derivatives(point, free), g)
            if np.abs(step).max() <= EXACT_MAX_STEP:
                return step
    H = (np.eye(len(V)) - V @ V.T) ** 2
    H.flat[:: len(H) + 1] += 1e-10 + 1e-8 * np.abs(g)
    step[free] = -lapack.solve_positive(H, g)
    return step


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
