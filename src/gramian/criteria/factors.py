"""Criteria of factor analysis, which compare fits with 0, 1, ... factors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gramian import lapack
from gramian.adequacy import bartlett_sphericity, degrees_of_freedom, fit_indices, most_factors
from gramian.criteria.base import Suggestion
from gramian.results import Array
from gramian.solvers.factor import LEAST_UNIQUENESS, maximum_likelihood

#: Fits after the best one before the search ends.
PATIENCE = 2


def factor_fits(R: Array, n: float) -> tuple[Suggestion, Suggestion]:
    """Bayesian information criterion, and the first number of factors that a likelihood-ratio test does not refuse.

    References
    ----------
    Schwarz, Estimating the dimension of a model, Annals of Statistics 1978; Lawley, The estimation of factor loadings
    by the method of maximum likelihood, Proceedings of the Royal Society of Edinburgh 1940.
    """
    names = ("BIC of factor analysis", "Schwarz 1978"), ("likelihood-ratio test", "Lawley 1940")
    d = len(R)
    if n - 1 <= d or lapack.eigvalsh(R)[0] <= 1e-10:
        why = "the correlation matrix is singular"
        return Suggestion(names[0][0], None, names[0][1], why), Suggestion(names[1][0], None, names[1][1], why)
    costs: list[float] = []
    accepted: int | None = None
    for cost, p in _search(R, n):
        costs.append(cost)
        if accepted is None and p is not None and p > 0.05:
            accepted = len(costs) - 1
        best = int(np.argmin(costs))
        if len(costs) - 1 - best >= PATIENCE and accepted is not None:
            break
    tested = "first with p > 0.05" if accepted is not None else f"all up to {len(costs) - 1} are refused"
    return (
        Suggestion(names[0][0], best, names[0][1], f"0 to {len(costs) - 1} factors fitted"),
        Suggestion(names[1][0], accepted, names[1][1], tested),
    )


def _search(R: Array, n: float) -> Iterator[tuple[float, float | None]]:
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
