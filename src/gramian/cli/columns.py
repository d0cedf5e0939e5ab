"""Columns for an output file: what a model says of rows, with names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.cli.request import last_step
from gramian.results import Array
from gramian.tables import write_scores


@dataclass(frozen=True)
class Columns:
    """Numbers (n, k) with names, and columns of text beside them."""

    what: str
    numbers: Array
    names: list[str]
    text: dict[str, list[str]] = field(default_factory=dict)

    def write(self, path: str, labels: dict[str, list[str]]) -> list[str]:
        """Write the labels of the rows, then these columns; return the names of all."""
        beside = {**labels, **self.text}
        write_scores(path, self.numbers, self.names, beside)
        return [*beside, *self.names]


def score_names(model: Any) -> list[str]:
    """Names of the scores of a model."""
    return [str(name) for name in last_step(model).get_feature_names_out()]


def two_views(model: Any) -> bool:
    """Whether a model has scores of two views."""
    return hasattr(last_step(model), "y_projection_")


def clusters(model: Any) -> bool:
    """Whether a model puts rows into clusters."""
    return hasattr(last_step(model), "n_clusters")


def scores(model: Any, X: Array, Y: Array | None = None) -> Columns:
    """Scores of rows; of both views if the second is given."""
    names = score_names(model)
    if Y is None:
        return scored(model, model.transform(X))
    both = np.hstack(model.transform(X, Y))
    return Columns("scores", both, [f"{view}_{name}" for view in "xy" for name in names])


def scored(model: Any, values: Array) -> Columns:
    """Scores that are there already."""
    what = "distances" if clusters(model) else "scores"
    return Columns(what, np.asarray(values, dtype=np.float64), score_names(model))


def predictions(model: Any, X: Array, targets: Sequence[str]) -> Columns:
    """Predictions of rows, named after what is predicted."""
    return predicted(model.predict(X), targets, cluster=clusters(model))


def predicted(values: Array, targets: Sequence[str], *, cluster: bool = False) -> Columns:
    """Predictions that are there already: clusters, labels or numbers."""
    if cluster:
        return Columns("clusters", np.empty((len(values), 0)), [], {"cluster": [str(place) for place in values]})
    q = 1 if values.ndim == 1 else values.shape[1]
    known = list(targets) or (["y"] if q == 1 else [f"y{at}" for at in range(q)])
    names = [f"predicted_{name}" for name in known]
    if values.dtype.kind not in "biuf":
        return Columns("predictions", np.empty((len(values), 0)), [], {names[0]: [str(label) for label in values]})
    return Columns("predictions", values.reshape(len(values), q), names)
