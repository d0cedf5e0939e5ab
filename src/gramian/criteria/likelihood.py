"""Criteria of probabilistic PCA: evidence, information, and the likelihood of rows left out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from scipy.special import gammaln

from gramian import lapack
from gramian.criteria.base import Suggestion, Variances, run_length
from gramian.operators import Moments
from gramian.operators.moments import row_count
from gramian.results import Array

#: Share of the largest variance below which noise is rounding of the moments; of folds, that were added, it is more.
NOTHING, NOTHING_OF_FOLDS = 1e-12, 1e-10


def _candidates(found: Variances) -> tuple[Array, Array]:
    """Maximum-likelihood variances (divisor n) of all d directions, and the noise beside the first 0, 1, ... of them.

    Numbers of components end with the rank, beside which no noise is left, if columns are exact combinations of others;
    rows or columns that are too few always leave nothing beside as many components, and end before.
    """
    values = np.zeros(found.d)
    values[: len(found.leading())] = found.leading()
    values *= found.freedom / found.n
    rest = values[::-1].cumsum()[::-1]  # from the smallest on: sums of what is left do not cancel
    return values, _down_to_nothing(rest / np.arange(found.d, 0, -1), NOTHING * values[0])[: found.limit]


def _down_to_nothing(noise: Array, nothing: float) -> Array:
    """Noise beside 0, 1, ... components up to the first number that leaves none; ``nothing`` stands for that."""
    return np.maximum(noise[: run_length(noise > nothing) + 1], nothing)


def log_likelihoods(found: Variances) -> Array:
    """Total log-likelihood of probabilistic PCA with 0, 1, ... components, from all variances."""
    values, noise = _candidates(found)
    k = np.arange(len(noise))
    with np.errstate(divide="ignore"):
        logs = _sums(np.log(values))[: len(noise)]
    return -0.5 * found.n * (found.d * np.log(2 * np.pi) + logs + (found.d - k) * np.log(noise) + found.d)


def bic(found: Variances) -> Suggestion:
    """Bayesian information criterion of probabilistic PCA.

    References
    ----------
    Schwarz, Estimating the dimension of a model, Annals of Statistics 1978.
    """
    gains = log_likelihoods(found)
    k = np.arange(len(gains))
    parameters = found.d * k - k * (k - 1) / 2 + 1 + found.d
    return _best("BIC of probabilistic PCA", -2 * gains + parameters * np.log(found.n), "Schwarz 1978", found)


def minka(found: Variances) -> Suggestion:
    r"""Evidence of probabilistic PCA, by Laplace's approximation.

    References
    ----------
    Minka, Automatic choice of dimensionality for PCA, NIPS 2000.
    """
    return _best("evidence of probabilistic PCA", -log_evidence(found), "Minka 2000", found)


def log_evidence(found: Variances) -> Array:
    r"""Log-evidence of 0, 1, ... components, but for a constant.

    Definition
    ----------
    .. math:: \log p(U) - \tfrac n2 \sum_{j \le k} \log \lambda_j - \tfrac{n (d-k)}{2} \log v
              + \tfrac{m + k}{2} \log 2 \pi - \tfrac12 \log |A| - \tfrac k2 \log n, \qquad
              |A| = \prod_{i \le k} \prod_{j > i} n (\hat\lambda_j^{-1} - \hat\lambda_i^{-1}) (\lambda_i - \lambda_j)

    with the noise v in the place of :math:`\hat\lambda_j` for j > k. Where variances are equal their directions are not
    determined, and there is no evidence for a cut among them.
    """
    values, noise = _candidates(found)
    n, d, most = found.n, found.d, len(noise)
    k = np.arange(most)
    half = (d - np.arange(most - 1)) / 2
    prior = _sums(gammaln(half) - half * np.log(np.pi) - np.log(2))
    m = d * k - k * (k + 1) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(values)
        fit = -0.5 * n * (_sums(logs[: most - 1]) + (d - k) * np.log(noise))
        gaps = np.triu(np.log(values[:, None] - values), 1)[: most - 1]  # log(lam_i - lam_j), i < j
        # (1/lam_j - 1/lam_i)(lam_i - lam_j) = (lam_i - lam_j)^2 / (lam_i lam_j)
        within = np.triu(2 * gaps[:, : most - 1] - logs[: most - 1, None] - logs[: most - 1], 1)
        inner = _sums(within.sum(axis=0))
        later = np.cumsum(gaps[:, ::-1], axis=1)[:, ::-1]  # sums over j >= column
        outer = np.array([later[:at, at].sum() for at in range(most)])
        excess = np.array([np.log(1 / noise[at] - 1 / values[:at]).sum() for at in range(most)])
        curvature = inner + outer + (d - k) * excess + m * np.log(n)
        evidence = prior + fit + 0.5 * (m + k) * np.log(2 * np.pi) - 0.5 * curvature - 0.5 * k * np.log(n)
    return np.where(np.isfinite(evidence), evidence, -np.inf)


def _sums(terms: Array) -> Array:
    """Sums of the first 0, 1, ... terms."""
    return np.concatenate([[0.0], np.cumsum(terms)])


def _best(name: str, costs: Array, source: str, found: Variances) -> Suggestion:
    if len(found.values) < found.limit:
        return Suggestion(name, None, source, f"needs all {found.limit:,} variances")
    k = int(np.argmin(costs))
    return Suggestion(name, k, source, _left_beside(k, len(found.columns), found.values[k:].sum() / found.total))


def _left_beside(k: int, d: int, share: float) -> str:
    """What to know of an answer that leaves no noise."""
    return f"nothing is left beside {k} of {d}: columns are combinations of others" if share <= NOTHING * d else ""


def held_out(folds: Sequence[Moments], scale: Array) -> Suggestion:
    """The number of components under which rows left out are most likely; everything comes from moments of folds.

    References
    ----------
    Tipping, Bishop, Probabilistic principal component analysis, Journal of the Royal Statistical Society B 1999.
    """
    totals = held_out_log_likelihoods(folds, scale)
    name, source = "likelihood of rows left out", "Tipping, Bishop 1999"
    if not len(totals):
        return Suggestion(name, None, source, "too few rows")
    k = int(np.argmax(totals))
    return Suggestion(name, k, source, f"{len(folds)} folds, {totals[k]:.4g} a row")


def held_out_log_likelihoods(folds: Sequence[Moments], scale: Array) -> Array:
    """Mean log-likelihood of rows under models of the other folds, with 0, 1, ... components."""
    kept = scale > 0
    unit, d = scale[kept], int(kept.sum())
    totals: list[Array] = []
    for at, fold in enumerate(folds):
        rest = reduce(Moments.__add__, [*folds[:at], *folds[at + 1 :]])
        C = rest.scatter[np.ix_(kept, kept)] / np.outer(unit, unit) / rest.weight
        values, V = lapack.interruptible(np.linalg.eigh, C)
        values, V = np.maximum(values[::-1], 0.0), V[:, ::-1]
        shift = (fold.mean - rest.mean)[kept] / unit
        S = fold.scatter[np.ix_(kept, kept)] / np.outer(unit, unit) + fold.weight * np.outer(shift, shift)
        across = np.einsum("ij,ij->j", V, S @ V)
        k = np.arange(min(d, row_count(rest.weight) - 1))
        noise = _down_to_nothing(np.cumsum(values[::-1])[::-1][k] / (d - k), NOTHING_OF_FOLDS * values[0])
        k, n = k[: len(noise)], fold.weight
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = _sums(np.log(values))[k]
            fits = _sums(across / values)[k]
        rests = np.cumsum(across[::-1])[::-1][k]
        totals.append(-0.5 * (n * (d * np.log(2 * np.pi) + logs + (d - k) * np.log(noise)) + fits + rests / noise))
    shortest = min(map(len, totals))
    return np.sum([total[:shortest] for total in totals], axis=0) / sum(fold.weight for fold in folds)
