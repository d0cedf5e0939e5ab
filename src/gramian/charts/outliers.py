"""Rows that do not belong: far from the mean within the components, or far from the components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.charts.base import Chart, last_step, need_rows, refuse, row_names
from gramian.charts.colouring import colouring
from gramian.charts.notes import note
from gramian.charts.points import MANY, Points, thin
from gramian.results import Array


@dataclass(frozen=True, kw_only=True)
class Outliers(Chart):
    """Hotelling's T2 against the squared residual Q.

    Attributes
    ----------
    points : Points
        T2 and Q of each row.
    t2_limit, q_limit : float or None
        What a row of the same source passes with probability ``alpha``; None where it is not known.
    alpha : float
    beyond : (m,) array of int
        Rows beyond either limit, the farthest first.
    names : tuple of str or None
        Names of all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> X = load_iris().data
    >>> charts.outliers(PCA(2).fit(X), X).beyond[:3]
    array([100, 131, 136])
    """

    points: Points
    t2_limit: float | None
    q_limit: float | None
    alpha: float
    beyond: Array
    names: tuple[str, ...] | None = None


def outliers(
    estimator: Any,
    X: Any = None,
    *,
    alpha: float = 0.05,
    colour: Any = None,
    names: Sequence[Any] | None = None,
    many: int = MANY,
) -> Outliers:
    """Return T2 and Q of rows with their limits.

    Parameters
    ----------
    estimator : fitted PCA or regression on components
    X : (n, d) array, data frame or sparse matrix
        Rows, of the fit or new.
    alpha : float
        Share of rows of the same source that pass each limit.
    colour, names, many
        As for :func:`gramian.charts.scores`.

    Returns
    -------
    Outliers

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> X = load_iris().data
    >>> round(charts.outliers(PCA(2).fit(X), X).t2_limit, 2)
    6.2
    """
    model, rows = last_step(estimator, X)
    if not hasattr(model, "hotelling_t2"):
        raise refuse(model, "outliers", "Use PCA, PLSRegression or PrincipalComponentRegression.")
    rows = need_rows(rows, "outliers")
    t2, q = model.hotelling_t2(rows), model.q_residuals(rows)
    limits = [_limit(model.t2_limit, alpha), _limit(model.q_limit, alpha)]
    points = thin(np.column_stack([t2, q]), colouring(colour, len(t2)), many)
    notes = [points.note] if points.note else []
    notes += [note("no_limit", why=why) for _, why in limits if why]
    (t2_limit, _), (q_limit, _) = limits
    excess = np.maximum(_excess(t2, t2_limit), _excess(q, q_limit))
    order = np.argsort(-excess, kind="stable")
    return Outliers(
        title="Outliers",
        xlabel="Hotelling's T2 (distance within the components)",
        ylabel="Q (squared distance from the components)",
        notes=tuple(notes),
        points=points,
        t2_limit=t2_limit,
        q_limit=q_limit,
        alpha=alpha,
        beyond=order[excess[order] > 1],
        names=row_names(X, len(t2), names),
    )


def _limit(limit: Any, alpha: float) -> tuple[float | None, str]:
    """A limit, or why there is none."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1.")
    try:
        return float(limit(alpha)), ""
    except ValueError as error:
        return None, str(error)


def _excess(values: Array, limit: float | None) -> Array:
    """Values in units of their limit."""
    return np.zeros_like(values) if not limit else values / limit
