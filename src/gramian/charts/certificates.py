"""How a fit came to its answer: the likelihood of every step, and the residuals that certify a spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.charts.base import Chart, NoChart, last_step, refuse
from gramian.charts.labels import noun_of
from gramian.charts.notes import note
from gramian.results import Array


@dataclass(frozen=True, kw_only=True)
class Likelihood(Chart):
    """Log-likelihood at each step.

    Attributes
    ----------
    steps : (m,) array
        1, 2, ..., m.
    values : (m,) array
        They never fall.
    left : (m - 1,) array
        What was still to gain at each step but the last: never below the rounding of the last value.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import ProbabilisticPCA, charts
    >>> chart = charts.likelihood(ProbabilisticPCA(2, method="em").fit(load_iris().data))
    >>> bool((np.diff(chart.values) >= -1e-9).all())
    True
    """

    steps: Array
    values: Array
    left: Array


@dataclass(frozen=True, kw_only=True)
class Residuals(Chart):
    r"""The certificate of a spectrum.

    Attributes
    ----------
    numbers : (K,) array
        1, 2, ..., K.
    residuals : (K,) array
        :math:`\|A v - \lambda v\| / \lambda`, in double precision.
    gaps : (K,) array
        Distance of each eigenvalue to the nearest other one that is known, relative to it.
    angles : (K,) array
        Bound on the sine of the angle between the computed and a true direction, residual over gap, at most 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> bool((charts.residuals(PCA(3).fit(load_iris().data)).angles < 1e-10).all())
    True
    """

    numbers: Array
    residuals: Array
    gaps: Array
    angles: Array


def likelihood(estimator: Any) -> Likelihood:
    """Return the log-likelihood at every step of a fit by expectation and maximisation.

    Parameters
    ----------
    estimator : fitted ProbabilisticPCA or FactorAnalysis
        Fitted by steps: with ``method="em"``, or to rows with missing entries.

    Returns
    -------
    Likelihood

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


def residuals(estimator: Any) -> Residuals:
    """Return the residuals of the eigenpairs behind a fit, and what they say of the directions.

    Parameters
    ----------
    estimator : fitted PCA, KernelPCA or another that keeps residuals in its summary

    Returns
    -------
    Residuals

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
    gaps = _gaps(values)[: len(found)]  # directions of no variance have no residual
    angles = np.divide(found, gaps, out=np.ones_like(found), where=gaps > 0)
    return Residuals(
        title="Certificate",
        xlabel=noun_of(model),
        ylabel="relative size",
        notes=(note("last_gap"),),
        numbers=np.arange(1, len(found) + 1),
        residuals=found,
        gaps=gaps,
        angles=np.minimum(angles, 1.0),
    )


def _gaps(values: Array) -> Array:
    """Distance of each to its nearest neighbour, relative to itself; 1 for a single one."""
    if len(values) < 2:
        return np.ones(len(values))
    steps = np.abs(np.diff(values))
    nearest = np.minimum(np.append(np.inf, steps), np.append(steps, np.inf))
    return np.divide(nearest, values, out=np.zeros_like(values), where=values > 0)
