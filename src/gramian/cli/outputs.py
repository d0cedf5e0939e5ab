"""What commands write: columns of scores or predictions, JSON, and the words for what was read and written."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator

from gramian.cli.options import last_step
from gramian.cli.terminal import UsageError, in_options
from gramian.operators import Rows
from gramian.operators.remote import from_dask
from gramian.operators.rows import SideBySide
from gramian.registry import record_of
from gramian.results import Array
from gramian.tables import Table, check_writable, write_rows, write_scores

#: Reasons shown for columns that were set aside; JSON has all of them.
REASONS_SHOWN = 3


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


def score_names(model: BaseEstimator) -> list[str]:
    """Names of the scores of a model."""
    return [str(name) for name in last_step(model).get_feature_names_out()]


def two_views(model: BaseEstimator) -> bool:
    """Whether a model has scores of two views."""
    record = record_of(last_step(model))
    return record is not None and record.needs == "view"


def clusters(model: BaseEstimator) -> bool:
    """Whether a model puts rows into clusters."""
    record = record_of(last_step(model))
    return record is not None and record.clusters


def scores(model: BaseEstimator, X: Array | Rows, Y: Array | Rows | None = None) -> Columns:
    """Scores of rows; of both views if the second is given."""
    names = score_names(model)
    if Y is None:
        return scored(model, model.transform(X))
    heads = [f"{view}_{name}" for view in "xy" for name in names]
    x, y = map(from_dask, model.transform(X, Y))
    return Columns("scores", SideBySide(x, y, heads) if isinstance(X, Rows) else np.hstack([x, y]), heads)


def scored(model: BaseEstimator, values: Array | Rows) -> Columns:
    """Scores that are there already."""
    what = "distances" if clusters(model) else "scores"
    values = from_dask(values)
    numbers = values if isinstance(values, Rows) else np.asarray(values, dtype=np.float64)
    return Columns(what, numbers, score_names(model))


def predictions(model: BaseEstimator, X: Array | Rows, targets: Sequence[str]) -> Columns:
    """Predictions of rows, named after what is predicted."""
    return predicted(from_dask(model.predict(X)), targets, cluster=clusters(model))


def predicted(values: Array | Rows, targets: Sequence[str], *, cluster: bool = False) -> Columns:
    """Predictions that are there already: clusters, labels or numbers."""
    if isinstance(values, Rows):
        if cluster:
            values.text = True  # numbers of clusters are names
            return Columns("clusters", values, ["cluster"])
        return Columns("predictions", values, _predicted_names(targets, values.n_features))
    nothing = np.empty((len(values), 0))
    if cluster:
        return Columns("clusters", nothing, [], {"cluster": [str(place) for place in values]})
    names = _predicted_names(targets, 1 if values.ndim == 1 else values.shape[1])
    if values.dtype.kind not in "biuf":
        return Columns("predictions", nothing, [], {names[0]: [str(label) for label in values]})
    return Columns("predictions", values.reshape(len(values), -1), names)


def _predicted_names(targets: Sequence[str], q: int) -> list[str]:
    known = list(targets) or (["y"] if q == 1 else [f"y{at}" for at in range(q)])
    return [f"predicted_{name}" for name in known]


def check_outputs(outputs: dict[str, str | None], inputs: list[str]) -> None:
    """Refuse outputs that cannot be written before the work, not after it."""
    named = {option: path for option, path in outputs.items() if path is not None}
    for option, path in named.items():
        if path == "-" and option == "--model":
            raise UsageError("--model needs a file; a model is not written to standard output.")
        check_writable(path)
        for source in inputs:
            if path != "-" and all(map(os.path.exists, (path, source))) and os.path.samefile(path, source):
                raise UsageError(f"{option} {path} is a file that is read. Choose another name.")
    real = [os.path.realpath(path) for path in named.values() if path != "-"]
    if len(set(real)) < len(real):
        raise UsageError(f"{' and '.join(named)} name the same file {real[0]}. Choose two.")


def dumps(facts: Mapping[str, object]) -> str:
    """Write JSON that every reader takes: what is no number becomes null."""
    return json.dumps(_finite(facts), allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and value - value != 0 else value


def written(path: str, rows: int, names: Sequence[str]) -> str:
    """Say what went where."""
    where = "standard output" if path == "-" else path
    return f"{where}: {rows:,} rows, columns {ends(names)}"


def remarks(table: Table) -> list[str]:
    """What was set aside of a table, and why; remedies are options."""
    return [in_options(remark) for remark in table.dropped]


def some(reasons: Sequence[str]) -> str:
    """Write the first few of many sentences."""
    reasons = [in_options(reason) for reason in reasons]
    more = len(reasons) - REASONS_SHOWN
    return "; ".join(reasons[:REASONS_SHOWN]) + (f"; and {more} more (--json lists them)" if more > 0 else "")


def ends(names: Sequence[str]) -> str:
    """Write the first and last of many names."""
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, ..., {names[-1]}"
