"""Rows: their scores, alone and with the columns (a biplot); outliers; rows rebuilt from their components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from gramian.charts.base import Chart, NoChart, Rows, full_rows, last_step, like, need_rows, note, picked, refuse
from gramian.charts.columns import column_vectors, names_of
from gramian.charts.names import channels, label_of, noun_of
from gramian.charts.points import POINTS_MAX_ROWS, Colouring, Ellipse, Points, colouring, ellipses, thin
from gramian.estimators.base import as_fitted
from gramian.estimators.labels import column_names, row_names
from gramian.preimage import available
from gramian.registry import record_of
from gramian.results import Array, percent

__all__ = ["Biplot", "Marks", "Outliers", "Reconstructions", "Scores"]
__all__ += ["biplot", "from_scores", "outliers", "reconstructions", "scores"]


@dataclass(frozen=True)
class Marks:
    """Named places beside the rows: supplementary rows, or means of groups.

    Examples
    --------
    >>> from gramian import charts
    >>> charts.Marks("new rows", np.zeros((1, 2)), ("row 1",)).names
    ('row 1',)
    """

    what: str
    at: Array  #: (m, 2)
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Scores(Chart):
    """Rows as points of two or three components."""

    points: Points  #: What to draw: points, and a density if they are many
    names: tuple[str, ...] | None = None  #: Names of all rows
    ellipses: tuple[Ellipse, ...] = ()  #: One for each group, or one for all rows; none in space
    zlabel: str = ""  #: Name of the third axis; empty in the plane
    marks: tuple[Marks, ...] = ()  #: What else stands in the plane

    @property
    def colouring(self) -> Colouring:
        """What the points drawn one by one are coloured by."""
        return self.points.colouring


@dataclass(frozen=True, kw_only=True)
class Biplot(Scores):
    """Rows as points and columns as arrows in one plane."""

    columns: tuple[str, ...]  #: Names of the columns drawn, longest arrows first
    arrows: Array  #: (m, 2): their ends, in the units of the scores
    factor: float  #: What the coordinates of columns were multiplied by, so that both are seen
    left_out: int = 0  #: Columns with shorter arrows that are not drawn


def scores(
    estimator: BaseEstimator,
    X: Rows | None = None,
    *,
    components: Sequence[int] = (1, 2),
    colour: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    ellipses: float | None = 0.95,
    many: int = POINTS_MAX_ROWS,
) -> Scores:
    """Return scores of rows in the plane or in space (:class:`Scores`).

    Parameters
    ----------
    estimator : fitted estimator
        Anything with ``transform``; a pipeline too.
    X : (n, d) array, data frame or sparse matrix
        Rows. Without them the scores that a regression kept of its training rows.
    components : two or three ints
        Which, counted from 1.
    colour : (n,) array, optional
        A column to colour by: groups or numbers (see :func:`gramian.charts.colouring`).
    names : sequence of str, optional
        Names of the rows; the index of a data frame if that is text.
    ellipses : float or None
        Probability with which a new row of a group falls inside its ellipse, if rows are normal; None for no ellipses.
    many : int
        Rows from which on cells of a density stand for points.

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
    picks = picked(components, T.shape[1], (2, 3), noun_of(model))
    labels = [label_of(model, at) for at in picks]
    return _scores(T[:, picks], labels, colour, row_names(X, len(T), names), ellipses, many)


def from_scores(
    scores: ArrayLike,
    shares: ArrayLike | None = None,
    *,
    components: Sequence[int] = (1, 2),
    colour: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    ellipses: float | None = 0.95,
    many: int = POINTS_MAX_ROWS,
) -> Scores:
    """Return the same chart for scores that are there already, or for any points (:class:`Scores`).

    Parameters
    ----------
    scores : (n, k) array
        At least as many columns as are drawn.
    shares : (k,) array, optional
        Shares of the variance, for the names of the axes; ``explained_variance_ratio_`` is meant.
    components, colour, names, ellipses, many
        As for :func:`scores`.

    Examples
    --------
    >>> from gramian import charts
    >>> charts.from_scores([[0.0, 1.0], [2.0, 0.0], [4.0, 1.0]], [0.6, 0.3]).xlabel
    'component 1 (60 % of variance)'
    """
    T = np.asarray(scores, dtype=np.float64)
    if T.ndim != 2 or T.shape[1] < 2 or not np.isfinite(T).all():
        raise ValueError(f"scores has shape {T.shape}; a plane needs rows of at least two finite numbers.")
    picks = picked(components, T.shape[1], (2, 3))
    held = ["" if shares is None else f" ({percent(np.asarray(shares)[at])} of variance)" for at in picks]
    labels = [f"component {at + 1}{share}" for at, share in zip(picks, held, strict=True)]
    return _scores(T[:, picks], labels, colour, row_names(scores, len(T), names), ellipses, many)


def biplot(
    estimator: BaseEstimator,
    X: Rows | None = None,
    *,
    components: Sequence[int] = (1, 2),
    colour: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    ellipses: float | None = None,
    many: int = POINTS_MAX_ROWS,
    most: int = 25,
) -> Biplot:
    """Return scores of rows with arrows for the columns (:class:`Biplot`).

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
    model, _ = last_step(estimator)
    vectors = column_vectors(model, "biplot")
    picks = picked(components, vectors.values.shape[1], (2,), noun_of(model))
    plain = scores(estimator, X, components=components, colour=colour, names=names, ellipses=ellipses, many=many)
    called, points = names_of(vectors, model), plain.points
    ends = (vectors.values if vectors.second else vectors.weights)[:, picks].astype(np.float64)
    if as_fitted(model, "whiten"):
        ends = ends * np.sqrt(model.explained_variance_[picks])
    lengths = np.linalg.norm(ends, axis=1)
    order = np.argsort(-lengths, kind="stable")[:most]
    longest = float(lengths.max(initial=0.0))
    reach = np.linalg.norm(points.at, axis=1).max(initial=0.0) or 1.0
    if points.density is not None:
        reach = np.abs(points.corners).max(axis=0).min()
    factor = 0.9 * float(reach) / longest if longest > 0 else 1.0
    return Biplot(
        **{**vars(plain), "title": "Rows and columns"},
        columns=tuple(called[j] for j in order),
        arrows=factor * ends[order],
        factor=factor,
        left_out=len(lengths) - len(order),
    )


def _scores(
    T: Array, labels: list[str], colour: ArrayLike | None, names: tuple[str, ...] | None, level: float | None, many: int
) -> Scores:
    at = np.asarray(T, dtype=np.float64)
    colours = colouring(colour, len(at))
    points = thin(at, colours, many)
    found = ellipses(at, colours, level) if level is not None and len(labels) == 2 else ()
    axes: dict[str, Any] = dict(zip(("xlabel", "ylabel", "zlabel"), labels, strict=False))
    return Scores(title="Scores", **axes, points=points, names=names, ellipses=found, notes=points.notes)


def scores_of(model: BaseEstimator, X: Rows | None) -> Array:
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


@dataclass(frozen=True, kw_only=True)
class Outliers(Chart):
    """Hotelling's T2 against the squared residual Q."""

    points: Points  #: T2 and Q of each row
    t2_limit: float | None  #: What a row of the same source passes with probability ``alpha``; None if not known
    q_limit: float | None  #: The same for Q
    alpha: float
    beyond: Array  #: (m,): rows beyond either limit, the farthest first
    names: tuple[str, ...] | None = None  #: Names of all rows


def outliers(
    estimator: BaseEstimator,
    X: Rows | None = None,
    *,
    alpha: float = 0.05,
    colour: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    many: int = POINTS_MAX_ROWS,
) -> Outliers:
    """Return T2 and Q of rows with their limits (:class:`Outliers`).

    Parameters
    ----------
    estimator : fitted PCA or regression on components
    X : (n, d) array, data frame or sparse matrix
        Rows, of the fit or new.
    alpha : float
        Share of rows of the same source that pass each limit.
    colour, names, many
        As for :func:`gramian.charts.scores`.

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
    if not 0 < alpha < 1:
        raise ValueError(f"alpha={alpha!r} must be between 0 and 1.")
    distances = np.column_stack([model.hotelling_t2(rows), model.q_residuals(rows)])
    points = thin(distances, colouring(colour, len(distances)), many)
    notes = [*points.notes]
    limits: list[float | None] = []
    for limit in (model.t2_limit, model.q_limit):
        try:
            limits.append(float(limit(alpha)))
        except ValueError as error:
            limits.append(None)
            notes.append(note("no_limit", why=str(error)))
    excess = (distances / [limit or np.inf for limit in limits]).max(axis=1)  # in units of the limits
    order = np.argsort(-excess, kind="stable")
    return Outliers(
        title="Outliers",
        xlabel="Hotelling's T2 (distance within the components)",
        ylabel="Q (squared distance from the components)",
        notes=tuple(notes),
        points=points,
        t2_limit=limits[0],
        q_limit=limits[1],
        alpha=alpha,
        beyond=order[excess[order] > 1],
        names=row_names(X, len(distances), names),
    )


@dataclass(frozen=True, kw_only=True)
class Reconstructions(Chart):
    """A strip of rows for each number of components."""

    rows: Array  #: (m,): which rows: their places in X
    counts: tuple[int, ...]  #: Numbers of components, rising
    originals: Array  #: (m, d)
    rebuilt: Array  #: (len(counts), m, d)
    errors: Array  #: (len(counts),): root of the mean squared difference from the originals shown
    shape: tuple[int, int] | None  #: Height and width of a row as a picture; None to draw rows as lines
    positions: Array  #: (d,): places of the columns, for lines

    @property
    def mosaic(self) -> Array:
        """Rows as pictures side by side, strips below each other, with lines of NaN between them."""
        assert self.shape is not None
        strips = np.concatenate([self.originals[None], self.rebuilt])
        count, m = strips.shape[:2]
        height, width = self.shape
        padded = np.full((count, m, height + 1, width + 1), np.nan)
        padded[:, :, :height, :width] = strips.reshape(count, m, height, width)
        return padded.transpose(0, 2, 1, 3).reshape(count * (height + 1), m * (width + 1))[:-1, :-1]

    @property
    def middles(self) -> tuple[Array, Array]:
        """Middles of the pictures of the mosaic: across, and down."""
        assert self.shape is not None
        across, down = (np.arange(count) + 0.5 for count in (len(self.rows), len(self.counts) + 1))
        return across * (self.shape[1] + 1) - 1, down * (self.shape[0] + 1) - 1


def reconstructions(
    estimator: BaseEstimator,
    X: Rows | None = None,
    *,
    rows: Sequence[int] | None = None,
    counts: Sequence[int] | None = None,
    shape: tuple[int, int] | None = None,
) -> Reconstructions:
    """Return rows, and what growing numbers of components rebuild of them (:class:`Reconstructions`).

    Parameters
    ----------
    estimator : fitted estimator
        With ``inverse_transform``. PCA and kernel PCA (through pre-images) give every number of components up to those
        of the fit, others only all of them.
    X : (n, d) array or data frame
        Rows.
    rows : ints, optional
        Which of them, counted from 1; eight spread over the table by default.
    counts : ints, optional
        Numbers of components; four spread evenly on a logarithmic scale by default.
    shape : pair of ints, optional
        Height and width, if rows are pictures.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramian import PCA, charts
    >>> X = load_digits().data
    >>> charts.reconstructions(PCA(16).fit(X), X, shape=(8, 8)).counts
    (1, 3, 6, 16)
    """
    model, X = last_step(estimator, X)
    if not hasattr(model, "inverse_transform"):
        raise NoChart(f"{type(model).__name__} gives no reconstructions chart: it has no inverse_transform. Use PCA.")
    kernel = getattr(model, "kernel_", None)
    if kernel is not None and not available(kernel):
        raise refuse(model, "reconstructions", f"The kernel {kernel} has no pre-images; use a positive definite one.")
    table = full_rows(X, "reconstructions")
    n, d = table.shape
    chosen = np.unique(np.linspace(0, n - 1, min(n, 8)).astype(int))
    if rows is not None:
        chosen = np.array(picked(rows, n, range(1, n + 1), "row", "rows"))
    originals = table[chosen]
    if shape is not None and int(np.prod(shape)) != d:
        raise ValueError(f"shape={shape!r} has {int(np.prod(shape))} pixels; the rows have {d} columns.")
    T = np.asarray(model.transform(like(X, originals)))
    numbers = _counts(model, counts, T.shape[1])
    kept = [np.where(np.arange(T.shape[1]) < k, T, 0.0) for k in numbers]
    rebuilt = np.stack([np.asarray(model.inverse_transform(part), dtype=np.float64) for part in kept])
    places, xlabel = channels(column_names(model, d))
    return Reconstructions(
        title="Rows and what their components rebuild",
        xlabel=xlabel,
        rows=chosen,
        counts=numbers,
        originals=originals,
        rebuilt=rebuilt,
        errors=np.sqrt(((rebuilt - originals) ** 2).mean(axis=(1, 2))),
        shape=None if shape is None else (int(shape[0]), int(shape[1])),
        positions=np.arange(1.0, d + 1) if places is None else places,
    )


def _counts(model: BaseEstimator, counts: Sequence[int] | None, k: int) -> tuple[int, ...]:
    record = record_of(model)
    nested = type(model).__name__ == "PCA" if record is None else record.nested
    if counts is None:
        return tuple(int(at) for at in np.unique(np.geomspace(1, k, 4).round())) if nested else (k,)
    found = tuple(sorted({int(at) for at in counts}))
    if not found or found[0] < 1 or found[-1] > k:
        raise ValueError(f"counts={counts!r} must be numbers of components, from 1 to {k}.")
    if not nested and found != (k,):
        raise ValueError(f"{type(model).__name__} rebuilds rows from all {k} components only. Leave counts out.")
    return found
