"""Scree: what each component holds, what chance would hold, and what the criteria say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.charts.base import Chart, last_step, refuse
from gramian.charts.labels import noun_of, shares_of
from gramian.charts.notes import note
from gramian.charts.spectra import Spectra, spectra
from gramian.criteria import Suggestion
from gramian.results import Array
from gramian.selection.answer import HowMany

#: Components shown at the most.
MOST = 30


@dataclass(frozen=True, kw_only=True)
class Scree(Chart):
    """Variances of components in order, beside those of tables without structure.

    Attributes
    ----------
    values : (m,) array
        Variance of each component; beyond ``kept`` those that the fit left out, if rows were given.
    shares : (m,) array or None
        The same as shares of the total.
    kept : int
        Components of the fit.
    low, middle, high : (m,) arrays or None
        5 %, 50 % and 95 % quantiles of the variances of random tables: the band of parallel analysis.
    suggestions : tuple of Suggestion
        What each criterion says (``criterion``, ``k``, ``reference``, ``detail``).
    recommended : int or None
        What the deciding criterion says.
    decided_by : str
        Its name.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import PCA, charts
    >>> chart = charts.scree(PCA(scale=True).fit(load_wine().data))
    >>> round(float(chart.cumulative[-1]), 6)
    1.0
    """

    values: Array
    shares: Array | None
    kept: int
    low: Array | None = None
    middle: Array | None = None
    high: Array | None = None
    suggestions: tuple[Suggestion, ...] = ()
    recommended: int | None = None
    decided_by: str = ""

    @property
    def numbers(self) -> Array:
        """1, 2, ..., m."""
        return np.arange(1, len(self.values) + 1)

    @property
    def cumulative(self) -> Array | None:
        """Shares of the first k components together."""
        return None if self.shares is None else np.cumsum(self.shares)


def scree(estimator: Any, X: Any = None, *, most: int = MOST, random_state: Any = None) -> Scree:
    """Return the variances of the components and, with rows, the band of parallel analysis and all suggestions.

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

    Returns
    -------
    Scree

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
    return _chart(estimator, found, int(most))


def _chart(estimator: Any, found: Spectra, most: int) -> Scree:
    values = found.values[:most]
    shown = len(values)
    said: HowMany | None = found.said
    band = [None] * 3 if found.drawn is None else list(_padded(_band(found.drawn), shown))
    shares = values / found.total if found.total else shares_of(estimator)
    notes = [found.note] if found.note else []
    if len(found.values) > most:
        notes.append(note("first_only", shown=most, total=len(found.values)))
    return Scree(
        title="Eigenvalues of the correlation matrix"
        if found.what.startswith("eigenvalue")
        else f"What each {noun_of(estimator)} holds",
        xlabel=noun_of(estimator),
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
    )


def _band(drawn: Array) -> Array:
    return np.quantile(drawn, [0.05, 0.5, 0.95], axis=0)


def _padded(band: Array, shown: int) -> Array:
    """The band for the components shown; NaN where random tables have fewer."""
    out = np.full((3, shown), np.nan)
    out[:, : band.shape[1]] = band[:, :shown]
    return out
