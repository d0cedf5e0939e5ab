"""Columns for an output file: what a model says of rows, with names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.cli.request import last_step
from gramian.operators import Rows
from gramian.operators.remote import from_dask
from gramian.operators.rows import SideBySide
from gramian.results import Array
from gramian.tables import write_rows, write_scores


@dataclass(frozen=True)
class Columns:
    """Numbers (n, k), in memory or as a stream, with names, and columns (a stream) of text beside them."""

    what: str
    numbers: Array | Rows
    names: list[str]
    text: dict[str, list[str]] = field(default_factory=dict)
    label: tuple[str, Rows] | None = None

    def write(self, path: str, labels: dict[str, list[str]]) -> tuple[list[str], int]:
        """Write the labels of the rows, then these columns; return the names of all, and the number of rows."""
        if isinstance(self.numbers, Rows):
            names = [*([self.label[0]] if self.label else []), *self.names]
            return names, write_rows(path, self.numbers, self.names, label=self.label)
        beside = {**labels, **self.text}
        write_scores(path, self.numbers, self.names, beside)
        return [*beside, *self.names], len(self.numbers)


def score_names(model: Any) -> list[str]:
    """Names of the scores of a model."""
    return [str(name) for name in last_step(model).get_feature_names_out()]


def two_views(model: Any) -> bool:
    """Whether a model has scores of two views."""
    return hasattr(last_step(model), "y_projection_")


def clusters(model: Any) -> bool:
    """Whether a model puts rows into clusters."""
    return hasattr(last_step(model), "n_clusters")


def scores(model: Any, X: Any, Y: Any = None) -> Columns:
    """Scores of rows; of both views if the second is given."""
    names = score_names(model)
    if Y is None:
        return scored(model, model.transform(X))
    heads = [f"{view}_{name}" for view in "xy" for name in names]
    x, y = map(from_dask, model.transform(X, Y))
    return Columns("scores", SideBySide(x, y, heads) if isinstance(X, Rows) else np.hstack([x, y]), heads)


def scored(model: Any, values: Any) -> Columns:
    """Scores that are there already."""
    what = "distances" if clusters(model) else "scores"
    values = from_dask(values)
    numbers = values if isinstance(values, Rows) else np.asarray(values, dtype=np.float64)
    return Columns(what, numbers, score_names(model))


def predictions(model: Any, X: Any, targets: Sequence[str]) -> Columns:
    """Predictions of rows, named after what is predicted."""
    return predicted(from_dask(model.predict(X)), targets, cluster=clusters(model))


def predicted(values: Any, targets: Sequence[str], *, cluster: bool = False) -> Columns:
    """Predictions that are there already: clusters, labels or numbers."""
    if cluster and isinstance(values, Rows):
        values.text = True  # numbers of clusters are names
        return Columns("clusters", values, ["cluster"])
    if cluster:
        return Columns("clusters", np.empty((len(values), 0)), [], {"cluster": [str(place) for place in values]})
    streamed = isinstance(values, Rows)
    q = values.n_features if streamed else 1 if values.ndim == 1 else values.shape[1]
    known = list(targets) or (["y"] if q == 1 else [f"y{at}" for at in range(q)])
    names = [f"predicted_{name}" for name in known]
    if streamed:
        return Columns("predictions", values, names)
    if values.dtype.kind not in "biuf":
        return Columns("predictions", np.empty((len(values), 0)), [], {names[0]: [str(label) for label in values]})
    return Columns("predictions", values.reshape(len(values), q), names)
