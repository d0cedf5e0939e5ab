"""Where the rows lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian import charts
from gramian.estimators import PCA
from gramian.reports.contents import KEPT, Grid, Section
from gramian.reports.figures.planes import rebuilt_picture, regions_picture
from gramian.reports.figures.points import paired_picture, scores_picture
from gramian.reports.sections.asking import asked
from gramian.reports.sentences import say
from gramian.reports.subject import MANY, Subject
from gramian.results import Array

#: Columns from which on arrows would hide the points.
MOST_ARROWS = 15
#: Pairs of scores that are drawn.
PAIRS = 2


def scores(subject: Subject) -> Section | None:
    """Pictures and a table of scores; of methods without scores, a map of the rows."""
    if subject.X is None:
        return None
    if subject.two_views:
        return _paired(subject)
    if not hasattr(subject.model, "transform") or subject.name == "KernelKMeans":
        return _mapped(subject)
    if subject.name == "Standardizer":
        return None
    colours, parts = _colour(subject), []
    given = {"colour": colours, "names": subject.names, "many": MANY}
    few = len(subject.columns) <= MOST_ARROWS
    chart = asked(charts.biplot, subject.model, subject.X, **given) if few else None
    chart = chart or asked(charts.scores, subject.model, subject.X, **given)
    if chart is not None:
        title = "Rows and columns" if few and hasattr(chart, "arrows") else "Scores"
        fair = subject.colour is not None or not (subject.regresses or subject.classifies)
        parts.append(scores_picture(chart, title, compare=fair))
    strips = None if few else asked(charts.reconstructions, subject.model, subject.X, shape=_square(subject))
    parts += [] if strips is None else [rebuilt_picture(strips)]
    values = np.asarray(subject.model.transform(subject.X), dtype=np.float64)
    return Section("Scores", (), [*parts, _table(subject, values, _labels(subject, values.shape[1]))])


def _paired(subject: Subject) -> Section | None:
    if subject.y is None:
        return None
    first, second = subject.model.transform(subject.X, subject.y)
    given = {"colour": subject.colour, "names": subject.names, "many": MANY}
    found = [
        asked(charts.paired, subject.model, subject.X, subject.y, pair=k, **given)
        for k in range(min(PAIRS, first.shape[1]))
    ]
    counted = getattr(subject.estimator, "correlations_", None) if subject.of_the_fit else None
    parts = [
        paired_picture(chart, None if counted is None else float(counted[k]))
        for k, chart in enumerate(found)
        if chart is not None
    ]
    names = [f"{view}, pair {k + 1}" for view in "XY" for k in range(first.shape[1])]
    return Section("Scores", (), [*parts, _table(subject, np.hstack([first, second]), names)])


def _mapped(subject: Subject) -> Section | None:
    """Rows in the plane: regions of classes if there are two columns, else a map by principal components."""
    if getattr(getattr(subject.estimator, "kernel_", None), "given", False):
        return None
    classes = subject.classifies or subject.name == "KernelKMeans"
    if len(subject.columns) == 2 and classes:
        chart = asked(charts.regions, subject.model, subject.X, subject.y if subject.classifies else None, many=MANY)
        return None if chart is None else Section("The plane", (), [regions_picture(chart)])
    if sp.issparse(subject.X) or min(np.shape(subject.X)) < 2:
        return None
    table = np.asarray(subject.X, dtype=np.float64)
    plane = PCA(2, scale=True).fit(table)
    shown = _colour(subject)
    if subject.name == "KernelKMeans" and subject.predictions is not None:
        shown = np.array([f"cluster {place}" for place in subject.predictions])
    chart = asked(charts.scores, plane, table, colour=shown, names=subject.names, ellipses=None, many=MANY)
    if chart is None:
        return None
    # Clusters are made to differ: a test of their means along an axis would prove nothing.
    part = scores_picture(chart, "Map", compare=subject.name != "KernelKMeans")
    return Section("Map of the rows", [say("map")], [part])


def _colour(subject: Subject) -> Any:
    """What to colour by: what was asked for, else what is predicted."""
    if subject.colour is not None:
        return subject.colour
    if subject.y is None or subject.two_views:
        return None
    if np.ndim(subject.y) == 1:
        return subject.y
    return np.asarray(subject.y)[:, 0]


def _square(subject: Subject) -> tuple[int, int] | None:
    """Height and width of rows that look like square images: names without meaning, and a square number of columns."""
    side = int(np.sqrt(len(subject.columns)))
    pixels = all("pixel" in name or name == f"column {at + 1}" for at, name in enumerate(subject.columns))
    return (side, side) if pixels and side * side == len(subject.columns) else None


def _labels(subject: Subject, k: int) -> list[str]:
    return [f"{subject.noun} {at + 1}" for at in range(k)]


def _table(subject: Subject, values: Array, names: list[str]) -> Grid:
    rows = [[name, *row] for name, row in zip(subject.row_names[:KEPT], values[:KEPT].tolist(), strict=True)]
    return Grid("Table of scores", ["row", *names], rows, total=len(values), shown=10)
