"""Loadings of columns: arrows in a circle, lines over a spectrum, a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.charts.base import Chart, check_picks, last_step
from gramian.charts.columns import ColumnVectors, column_vectors
from gramian.charts.labels import label_of, noun_of, position_label, positions_of
from gramian.estimators.factor_text import order_of_loadings
from gramian.estimators.validation import check_choice
from gramian.results import Array


@dataclass(frozen=True, kw_only=True)
class Loadings(Chart):
    """Columns along components.

    Attributes
    ----------
    kind : {"arrows", "lines"}
    what : str
        What the values are.
    values : (p, m) array
        A number for each column and component shown; two components as arrows.
    columns : tuple of str
    labels : tuple of str
        Names of the components shown, with their shares.
    positions : (p,) array or None
        Places of columns on the axis, for lines.
    circle : bool
        Whether values are correlations, so that no arrow leaves the unit circle.
    second : int
        How many of the columns, the last ones, are of a second view.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA, charts
    >>> chart = charts.loadings(PCA(2, scale=True).fit(load_iris().data))
    >>> chart.kind, chart.circle
    ('arrows', True)
    """

    kind: str
    what: str
    values: Array
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    positions: Array | None = None
    circle: bool = False
    second: int = 0


@dataclass(frozen=True, kw_only=True)
class Heat(Chart):
    """Loadings as a table of colours.

    Attributes
    ----------
    what : str
        What the values are.
    values : (p, K) array
    columns : tuple of str
        Names of the rows of the picture.
    labels : tuple of str
        Names of the components, with their shares.
    communalities : (p,) array or None
        Share of each column's variance that the factors hold together.
    limit : float
        Largest magnitude, to set the scale of colours: 1 for correlations.
    cut : float
        Loadings below this are not worth a number.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import FactorAnalysis, charts
    >>> charts.heat(FactorAnalysis(3, rotation="varimax").fit(load_wine().data)).values.shape
    (13, 3)
    """

    what: str
    values: Array
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    communalities: Array | None
    limit: float
    cut: float


def loadings(
    estimator: Any,
    *,
    components: Sequence[int] | None = None,
    kind: str = "auto",
    names: Sequence[str] | None = None,
) -> Loadings:
    """Return loadings as arrows for few columns, as lines for channels of a spectrum.

    Parameters
    ----------
    estimator : fitted estimator
        PCA, ProbabilisticPCA, FactorAnalysis, ICA, a regression on components, CCA, PLSCanonical, PLSSVD.
    components : ints, optional
        Which, counted from 0: two for arrows, any number for lines; the first two, or three.
    kind : {"auto", "arrows", "lines"}
        "auto" draws lines where 20 or more columns have an order: names that differ in a rising number, or none.
    names : sequence of str, optional
        Names of the columns, of both views if there are two; those of the fit otherwise.

    Returns
    -------
    Loadings

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from gramian import PCA, charts
    >>> charts.loadings(PCA(3).fit(load_digits().data)).kind
    'lines'
    """
    check_choice("kind", kind, ("auto", "arrows", "lines"))
    model, _ = last_step(estimator)
    found = column_vectors(model, "loadings")
    columns = _named(found, names)
    places = None if found.second else positions_of(columns)
    lines = kind == "lines" or (kind == "auto" and places is not None)
    count, noun = found.values.shape[1], noun_of(model)
    if components is None:
        components = range(min(3, count)) if lines else (0, 1)
    sizes = tuple(range(1, count + 1)) if lines else (2,)
    picks = check_picks(components, count, sizes, noun)
    labels = tuple(label_of(model, at) for at in picks)
    if lines:
        places = np.arange(1.0, len(columns) + 1) if places is None else places
        return Loadings(
            title="Loadings",
            xlabel=position_label(columns) if positions_of(columns) is not None else "column",
            ylabel=found.weights_are,
            what=found.weights_are,
            kind="lines",
            values=found.weights[:, picks].astype(np.float64),
            columns=columns,
            labels=labels,
            positions=places,
            second=found.second,
        )
    return Loadings(
        title="Correlations of columns with scores" if found.correlations else "Loadings",
        xlabel=labels[0],
        ylabel=labels[1],
        kind="arrows",
        what=found.what,
        values=found.values[:, picks].astype(np.float64),
        columns=columns,
        labels=labels,
        circle=found.correlations,
        second=found.second,
    )


def heat(estimator: Any, *, sort: bool = True, cut: float = 0.3, names: Sequence[str] | None = None) -> Heat:
    """Return loadings as a table of colours, columns in the order of the component they load on most.

    Parameters
    ----------
    estimator : fitted estimator
        As for :func:`loadings`; FactorAnalysis is meant.
    sort : bool
        Columns by the component of their largest loading, then by its size; else as they come.
    cut : float
        Loadings of less than this get no number.
    names : sequence of str, optional
        Names of the columns.

    Returns
    -------
    Heat

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import FactorAnalysis, charts
    >>> chart = charts.heat(FactorAnalysis(3, rotation="varimax").fit(load_wine(as_frame=True).data))
    >>> chart.columns[0]
    'flavanoids'
    """
    model, _ = last_step(estimator)
    found = column_vectors(model, "heat")
    columns, values = _named(found, names), found.values.astype(np.float64)
    order = order_of_loadings(values) if sort else np.arange(len(values))
    common = getattr(model, "communalities_", None)
    largest = float(np.abs(values).max(initial=0.0))
    return Heat(
        title="Loadings",
        ylabel="",
        what=found.what,
        values=values[order],
        columns=tuple(columns[j] for j in order),
        labels=tuple(label_of(model, at) for at in range(values.shape[1])),
        communalities=None if common is None else np.asarray(common, dtype=np.float64)[order],
        limit=max(largest, 1.0) if found.correlations else largest or 1.0,
        cut=cut,
    )


def _named(found: ColumnVectors, names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return found.names
    if len(names) != len(found.names):
        raise ValueError(f"names has {len(names)} entries for {len(found.names)} columns.")
    return tuple(str(name) for name in names)
