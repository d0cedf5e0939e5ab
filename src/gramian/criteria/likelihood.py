"""Criteria that fit models: evidence, information, tests of fit, and rows or blocks left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce

import numpy as np
from scipy.special import gammaln

from gramian import lapack
from gramian.adequacy import bartlett_sphericity, degrees_of_freedom, fit_indices, most_factors
from gramian.criteria.spectrum import Suggestion, Variances, run_length
from gramian.operators import Moments
from gramian.operators.moments import row_count
from gramian.results import Array
from gramian.solvers.factor import LEAST_UNIQUENESS, maximum_likelihood

__all__ = ["bi_cross_validation", "bic", "factor_fits", "held_out", "minka"]

#: Share of the largest variance below which noise is rounding of the moments; of folds, that were added, it is more.
_NO_NOISE_SHARE, _NO_NOISE_SHARE_OF_FOLDS = 1e-12, 1e-10
#: Components looked at, at the most.
_BLOCKS_MAX_COMPONENTS = 100
#: Fits after the best one before the search ends.
_FITS_AFTER_BEST = 2


def _candidates(found: Variances) -> tuple[Array, Array]:
    """Maximum-likelihood variances (divisor n) of all d directions, and the noise beside the first 0, 1, ... of them.

    Numbers of components end with the rank, beside which no noise is left, if columns are exact combinations of others;
    rows or columns that are too few always leave nothing beside as many components, and end before.
    """
    values = np.zeros(found.d)
    values[: len(found.leading())] = found.leading()
    values *= found.freedom / found.n
    rest = values[::-1].cumsum()[::-1]  # from the smallest on: sums of what is left do not cancel
    return values, _down_to_nothing(rest / np.arange(found.d, 0, -1), _NO_NOISE_SHARE * values[0])[: found.limit]


def _down_to_nothing(noise: Array, nothing: float) -> Array:
    """Noise beside 0, 1, ... components up to the first number that leaves none; ``nothing`` stands for that."""
    return np.maximum(noise[: run_length(noise > nothing) + 1], nothing)


def log_likelihoods(found: Variances) -> Array:
    """Total log-likelihood of probabilistic PCA with 0, 1, ... components."""
    values, noise = _candidates(found)
    k = np.arange(len(noise))
    with np.errstate(divide="ignore"):
        logs = _sums(np.log(values))[: len(noise)]
    return -0.5 * found.n * (found.d * np.log(2 * np.pi) + logs + (found.d - k) * np.log(noise) + found.d)


def bic(found: Variances) -> Suggestion:
    """Bayesian information criterion of probabilistic PCA (Schwarz, Annals of Statistics 1978)."""
    gains = log_likelihoods(found)
    k = np.arange(len(gains))
    parameters = found.d * k - k * (k - 1) / 2 + 1 + found.d
    return _best("BIC of probabilistic PCA", -2 * gains + parameters * np.log(found.n), "Schwarz 1978", found)


def minka(found: Variances) -> Suggestion:
    """Evidence of probabilistic PCA, by Laplace's approximation (Minka, NIPS 2000)."""
    return _best("evidence of probabilistic PCA", -log_evidence(found), "Minka 2000", found)


def log_evidence(found: Variances) -> Array:
    r"""Log-evidence of 0, 1, ... components, but for a constant.

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
    k, d = int(np.argmin(costs)), found.d
    nothing_left = found.values[k:].sum() <= _NO_NOISE_SHARE * d * found.total
    detail = f"nothing is left beside {k} of {d}: columns are combinations of others" if nothing_left else ""
    return Suggestion(name, k, source, detail)


def held_out(folds: Sequence[Moments], scale: Array) -> Suggestion:
    """The number of components under which rows left out are most likely; everything comes from moments of folds."""
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
        noise = _down_to_nothing(np.cumsum(values[::-1])[::-1][k] / (d - k), _NO_NOISE_SHARE_OF_FOLDS * values[0])
        k, n = k[: len(noise)], fold.weight
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = _sums(np.log(values))[k]
            fits = _sums(across / values)[k]
        rests = np.cumsum(across[::-1])[::-1][k]
        totals.append(-0.5 * (n * (d * np.log(2 * np.pi) + logs + (d - k) * np.log(noise)) + fits + rests / noise))
    shortest = min(map(len, totals))
    return np.sum([total[:shortest] for total in totals], axis=0) / sum(fold.weight for fold in folds)


def bi_cross_validation(folds: Sequence[Moments], scale: Array) -> Suggestion:
    """The number of components that predicts left-out blocks best (Owen, Perry, Annals of Applied Statistics 2009)."""
    errors = block_errors(folds, scale)
    name, source = "bi-cross-validation", "Owen, Perry 2009"
    if len(errors) < 2:
        return Suggestion(name, None, source, "too few rows or columns for blocks")
    k = int(np.argmin(errors))
    return Suggestion(name, k, source, f"2 x 2 blocks, relative error {errors[k]:.4g}")


def block_errors(folds: Sequence[Moments], scale: Array) -> Array:
    r"""Squared error of left-out blocks, relative to that of the mean, with 0, 1, ... components.

    .. math:: X = \begin{pmatrix} A & B \\ C & D \end{pmatrix}, \qquad \hat A_k = B D_k^+ C

    where A is left out. :math:`D_k^+ C = V_k S_k^{-2} V_k' D'C`, so moments of the two halves of the rows are enough.
    """
    kept = np.flatnonzero(scale > 0)
    halves = [reduce(Moments.__add__, part) for part in (folds[0::2], folds[1::2]) if len(part)]
    if len(halves) < 2 or len(kept) < 4:
        return np.empty(0)
    mean = reduce(Moments.__add__, halves).mean
    unit = np.outer(scale, scale)
    squares = [half.scatter + half.weight * np.outer(half.mean - mean, half.mean - mean) for half in halves]
    squares = [np.divide(M, unit, out=np.zeros_like(M), where=unit > 0) for M in squares]
    # Neighbours in the order of their variances go to different blocks: both then have large and small columns.
    sizes = np.diag(squares[0] + squares[1])[kept]
    order = kept[np.argsort(-np.round(sizes / sizes.max(), 6), kind="stable")]
    blocks = order[0::2], order[1::2]
    rows = int(min(half.weight for half in halves))
    most = min(_BLOCKS_MAX_COMPONENTS, rows - 1, *(len(block) for block in blocks))
    if most < 1:
        return np.empty(0)
    total = np.zeros(most + 1)
    for out, seen in ((squares[0], squares[1]), (squares[1], squares[0])):
        for h, rest in (blocks, blocks[::-1]):
            values, V = lapack.interruptible(np.linalg.eigh, seen[np.ix_(rest, rest)])
            values, V = values[::-1][:most], V[:, ::-1][:, :most]
            V = V * (values > 1e-12 * values[0])  # directions that are not there predict nothing
            Q = V.T @ seen[np.ix_(rest, h)] / np.maximum(values, 1e-12 * values[0])[:, None]
            G = V.T @ out[np.ix_(rest, rest)] @ V
            # |A - B V_k Q_k|^2 = |A|^2 - 2 tr A'B V_k Q_k + tr Q_k'(V_k'B'B V_k)Q_k, summed up as k grows
            linear = np.einsum("ij,ij->i", V.T @ out[np.ix_(rest, h)], Q)
            square = G * (Q @ Q.T)
            grown = np.array([square[: k + 1, : k + 1].sum() for k in range(most)])
            total += np.trace(out[np.ix_(h, h)]) + np.concatenate([[0.0], grown - 2 * np.cumsum(linear)])
    return total / total[0] if total[0] > 0 else total


def factor_fits(R: Array, n: float) -> tuple[Suggestion, Suggestion]:
    """Bayesian information criterion, and the first number of factors that a likelihood-ratio test does not refuse.

    Reference: Lawley, Proceedings of the Royal Society of Edinburgh 1940.
    """
    cost, test = partial(Suggestion, "BIC of factor analysis"), partial(Suggestion, "likelihood-ratio test")
    sources = "Schwarz 1978", "Lawley 1940"
    if n - 1 <= len(R) or lapack.eigvalsh(R)[0] <= 1e-10:
        why = "the correlation matrix is singular"
        return cost(None, sources[0], why), test(None, sources[1], why)
    costs: list[float] = []
    accepted: int | None = None
    for value, p in factor_costs(R, n):
        costs.append(value)
        if accepted is None and p is not None and p > 0.05:
            accepted = len(costs) - 1
        best = int(np.argmin(costs))
        if len(costs) - 1 - best >= _FITS_AFTER_BEST and accepted is not None:
            break
    tested = "first with p > 0.05" if accepted is not None else f"all up to {len(costs) - 1} are refused"
    return cost(best, sources[0], f"0 to {len(costs) - 1} factors fitted"), test(accepted, sources[1], tested)


def factor_costs(R: Array, n: float) -> Iterator[tuple[float, float | None]]:
    """BIC but for a constant, and p of the test of fit, of 0, 1, ... factors."""
    d, own = len(R), 1 / np.diag(lapack.interruptible(np.linalg.inv, R))
    most = most_factors(d)
    for k in range(most + 1 if degrees_of_freedom(d, most) >= 0 else most):
        parameters = d * (k + 1) - k * (k - 1) / 2
        if k == 0:
            yield n * d + parameters * np.log(n), bartlett_sphericity(R, n)["p"]
            continue
        # From Joreskog's start alone: a likelihood that is near the best is near enough to compare numbers of factors.
        found = maximum_likelihood(
            R, k, start=np.clip((1 - k / (2 * d)) * own, LEAST_UNIQUENESS, 1.0), tol=1e-7, max_iter=100
        )
        p = fit_indices(R, found.implied(), n, k)["p"]
        yield n * found.objective + parameters * np.log(n), p if isinstance(p, float) else None
