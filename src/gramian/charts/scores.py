"""Scores of rows, alone and with the columns (a biplot)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.charts.base import Chart, NoChart, check_picks, last_step, need_rows, row_names
from gramian.charts.colouring import Colouring, colouring
from gramian.charts.columns import column_vectors
from gramian.charts.labels import label_of, noun_of
from gramian.charts.points import MANY, Ellipse, Points, ellipses, thin
from gramian.results import Array, percent


@dataclass(frozen=True, kw_only=True)
class Scores(Chart):
    """Rows as points of two or three components.

    Attributes
    ----------
    points : Points
        What to draw: points, and a density if they are many.
    names : tuple of str or None
        Names of all rows.
    ellipses : tuple of Ellipse
        One for each group, or one for all rows; none in space.
    zlabel : str
        Name of the third axis; empty in the plane.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> X, y = load_iris(return_X_y=True)
    >>> charts.scores(PCA(3).fit(X), X, components=(0, 1, 2), colour=y).zlabel
    'component 3 (1.71 % of variance)'
    """

    points: Points
    names: tuple[str, ...] | None = None
    ellipses: tuple[Ellipse, ...] = ()
    zlabel: str = ""

    @property
    def colouring(self) -> Colouring:
        """What the points drawn one by one are coloured by."""
        return self.points.colouring


@dataclass(frozen=True, kw_only=True)
class Biplot(Scores):
    """Rows as points and columns as arrows in one plane.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns drawn, longest arrows first.
    arrows : (m, 2) array
        Their ends, in the units of the scores.
    factor : float
        What the coordinates of columns were multiplied by, so that both are seen.
    left_out : int
        Columns with shorter arrows that are not drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> X = load_iris().data
    >>> len(charts.biplot(PCA(2).fit(X), X).arrows)
    4
    """

    columns: tuple[str, ...]
    arrows: Array
    factor: float
    left_out: int = 0


def scores(
    estimator: Any,
    X: Any = None,
    *,
    components: Sequence[int] = (0, 1),
    colour: Any = None,
    names: Sequence[Any] | None = None,
    ellipses: float | None = 0.95,
    many: int = MANY,
) -> Scores:
    """Return scores of rows in the plane or in space.

    Parameters
    ----------
    estimator : fitted estimator
        Anything with ``transform``; a pipeline too.
    X : (n, d) array, data frame or sparse matrix
        Rows. Without them the scores that a regression kept of its training rows.
    components : two or three ints
        Which, counted from 0.
    colour : (n,) array, optional
        A column to colour by: groups or numbers (see :func:`gramian.charts.colouring`).
    names : sequence of str, optional
        Names of the rows; the index of a data frame if that is text.
    ellipses : float or None
        Probability with which a new row of a group falls inside its ellipse, if rows are normal; None for no ellipses.
    many : int
        Rows from which on cells of a density stand for points.

    Returns
    -------
    Scores

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> X, y = load_iris(return_X_y=True)
    >>> chart = charts.scores(PCA(2).fit(X), X, colour=y)
    >>> chart.xlabel, len(chart.ellipses)
    ('component 1 (92.5 % of variance)', 3)
    """
    model, rows = last_step(estimator, X)
    T = scores_of(model, rows)
    picks = check_picks(components, T.shape[1], (2, 3), noun_of(model))
    labels = [label_of(model, at) for at in picks]
    return Scores(**_fields(T[:, picks], labels, colour, row_names(X, len(T), names), ellipses, many))


def from_scores(
    scores: Any,
    shares: Any = None,
    *,
    components: Sequence[int] = (0, 1),
    colour: Any = None,
    names: Sequence[Any] | None = None,
    ellipses: float | None = 0.95,
    many: int = MANY,
) -> Scores:
    """Return the same chart for scores that are there already, or for any points.

    Parameters
    ----------
    scores : (n, k) array
        At least as many columns as are drawn.
    shares : (k,) array, optional
        Shares of the variance, for the names of the axes; ``explained_variance_ratio_`` is meant.
    components, colour, names, ellipses, many
        As for :func:`scores`.

    Returns
    -------
    Scores

    Examples
    --------
    >>> from gramian import charts
    >>> charts.from_scores([[0.0, 1.0], [2.0, 0.0], [4.0, 1.0]], [0.6, 0.3]).xlabel
    'component 1 (60 % of variance)'
    """
    T = np.asarray(scores, dtype=np.float64)
    if T.ndim != 2 or T.shape[1] < 2 or not np.isfinite(T).all():
        raise ValueError(f"scores has shape {T.shape}; a plane needs rows of at least two finite numbers.")
    picks = check_picks(components, T.shape[1], (2, 3))
    held = ["" if shares is None else f" ({percent(shares[at])} of variance)" for at in picks]
    labels = [f"component {at + 1}{share}" for at, share in zip(picks, held, strict=True)]
    return Scores(**_fields(T[:, picks], labels, colour, row_names(scores, len(T), names), ellipses, many))


def biplot(
    estimator: Any,
    X: Any = None,
    *,
    components: Sequence[int] = (0, 1),
    colour: Any = None,
    names: Sequence[Any] | None = None,
    ellipses: float | None = None,
    many: int = MANY,
    most: int = 25,
) -> Biplot:
    """Return scores of rows with arrows for the columns.

    Arrows are what rebuilds a row from its scores, times one factor so that the longest reaches nearly as far as the
    points do. The inner product of a point and an arrow, over that factor, is the (scaled) entry of the row in that
    column, as far as two components hold it. Two views have correlations with the scores for arrows.

    Parameters
    ----------
    estimator : fitted estimator
        One with loadings: PCA, ProbabilisticPCA, FactorAnalysis, ICA, a regression on components, CCA.
    X, components, colour, names, ellipses, many
        As for :func:`scores`; two components.
    most : int
        Columns drawn at the most, by the length of their arrows.

    Returns
    -------
    Biplot

    References
    ----------
    Gabriel, The biplot graphic display of matrices with application to principal component analysis, Biometrika 1971.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> X = load_iris(as_frame=True).data
    >>> charts.biplot(PCA(2).fit(X), X).columns[0]
    'petal length (cm)'
    """
    model, rows = last_step(estimator, X)
    vectors = column_vectors(model, "biplot")
    T = scores_of(model, rows)
    picks = check_picks(components, T.shape[1], (2,), noun_of(model))
    labels = [label_of(model, at) for at in picks]
    fields = _fields(T[:, picks], labels, colour, row_names(X, len(T), names), ellipses, many)
    ends = (vectors.values if vectors.second else vectors.weights)[:, picks].astype(np.float64)
    if getattr(model, "whiten", False):
        ends = ends * np.sqrt(model.explained_variance_[picks])
    lengths = np.linalg.norm(ends, axis=1)
    order = np.argsort(-lengths, kind="stable")[:most]
    longest, reach = float(lengths.max(initial=0.0)), _reach(fields["points"])
    factor = 0.9 * reach / longest if longest > 0 else 1.0
    fields["title"] = "Rows and columns"
    return Biplot(
        **fields,
        columns=tuple(vectors.names[j] for j in order),
        arrows=factor * ends[order],
        factor=factor,
        left_out=len(lengths) - len(order),
    )


def _fields(
    T: Array, labels: list[str], colour: Any, names: tuple[str, ...] | None, level: float | None, many: int
) -> dict[str, Any]:
    """What all charts of scores hold."""
    at = np.asarray(T, dtype=np.float64)
    colours = colouring(colour, len(at))
    points = thin(at, colours, many)
    return {
        "title": "Scores",
        "xlabel": labels[0],
        "ylabel": labels[1],
        "zlabel": labels[2] if len(labels) == 3 else "",
        "notes": tuple(note for note in (points.note,) if note),
        "points": points,
        "names": names,
        "ellipses": ellipses(at, colours, level) if level is not None and len(labels) == 2 else (),
    }


def scores_of(model: Any, X: Any) -> Array:
    """Scores of rows, or those that the fit kept."""
    kept = getattr(model, "x_scores_", None)
    if X is None and kept is not None:
        return kept
    if not hasattr(model, "transform"):
        raise NoChart(
            f"{type(model).__name__} has no scores: it has no transform. Use charts.regions or charts.predicted."
        )
    T = model.transform(need_rows(X, "scores"))
    return np.asarray(T[0] if isinstance(T, tuple) else T)


def _reach(points: Points) -> float:
    """How far the points reach from the origin."""
    at = points.at[:, :2]
    if points.density is not None:
        corners = [points.density.x[[0, -1]], points.density.y[[0, -1]]]
        return float(min(np.abs(corner).max() for corner in corners))
    return float(np.linalg.norm(at, axis=1).max(initial=0.0)) or 1.0
