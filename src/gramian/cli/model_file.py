"""A model from a file, the rows of a table in the order of its columns, and ``gramian inspect``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian import models, rows
from gramian.cli import options as o
from gramian.cli.inputs import row_of
from gramian.cli.outputs import UsageError, dumps, ends, say
from gramian.construction import steps_of
from gramian.operators import Rows
from gramian.results import Array, FitSummary
from gramian.tables import Table, TableError, read_table
from gramian.tables.read import complete_rows

HELP = """Show what a model file contains.

Class, parameters, versions, columns, and the summary of the fit.

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale --model wine.safetensors
  gramian inspect wine.safetensors
"""


@dataclass(frozen=True)
class Loaded:
    """A model, the names of its columns if it knows them, of what it predicts, and how columns were encoded."""

    path: str
    model: BaseEstimator
    columns: tuple[str, ...] | None
    targets: tuple[str, ...]
    reading: dict[str, Any]

    @property
    def estimator(self) -> BaseEstimator:
        """The estimator itself, without a step that scales columns."""
        return steps_of(self.model)[-1]

    @property
    def name(self) -> str:
        """Name of its class."""
        return type(self.estimator).__name__

    @property
    def gaps(self) -> bool:
        """Whether missing values are imputed by the model."""
        return getattr(self.estimator, "missing", None) is not None

    def with_names(self) -> BaseEstimator:
        """The model with the names of its columns again."""
        if self.columns is not None:
            steps_of(self.model)[0].feature_names_in_ = np.array(self.columns, dtype=object)
        return self.model

    @property
    def width(self) -> int:
        """Number of columns it takes."""
        return int(steps_of(self.model)[0].n_features_in_)

    def names(self) -> list[str]:
        """Names of the columns, made up if the model does not know them."""
        return list(self.columns or [f"x{at}" for at in range(self.width)])


def load_model(path: str) -> Loaded:
    """Read a model; names of columns are kept beside it, since :func:`pick` checks them."""
    model = models.load(path)
    found = vars(steps_of(model)[0]).pop("feature_names_in_", None)
    estimator = steps_of(model)[-1]
    targets = tuple(map(str, getattr(estimator, "target_names_in_", ())))
    columns = None if found is None else tuple(map(str, found))
    encoded = {"categories": getattr(estimator, "categories_in_", None), "dates": getattr(estimator, "dates_in_", None)}
    reading = {name: value for name, value in encoded.items() if value is not None}
    return Loaded(path, model, columns, targets, reading)


def read_rows(
    path: str, loaded: Loaded, missing: str | None = None, needed: Sequence[str] = (), **reading: Any
) -> Table:
    """Read a table of which some columns go to a model; which, :func:`pick` says.

    With ``missing="drop"`` rows without a value of these columns, or of ``needed`` ones, are dropped.
    """
    table = read_table(path, **{"missing": "keep", **loaded.reading, **reading})
    return table if missing is None else complete_rows(table, {*(loaded.columns or table.columns), *needed})


def pick(table: Table, names: Sequence[str] | None, width: int, loaded: Loaded, *, told: bool = True) -> Array:
    """Return the columns of a table that a model needs, in its order; ``told`` if these are those of its rows."""
    if names is None:
        if table.values.shape[1] != width:
            raise TableError(
                f"{table.source} has {table.values.shape[1]:,} numeric columns; {loaded.path} takes {width:,} and does "
                "not know their names."
            )
        return _whole(table, table.values, table.columns, loaded)
    missing = [name for name in names if name not in table.columns]
    if missing:
        text = [name for name in missing if name in table.labels]
        why = f" (column {text[0]!r} is text)" if text else ""
        shown = ", ".join(map(repr, missing[:5])) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        raise TableError(f"{table.source} lacks {shown} of the {len(names):,} columns of {loaded.path}{why}.")
    places = [table.columns.index(name) for name in names]
    if told and places != sorted(places):
        say(f"note: columns of {table.source} were put in the order of {loaded.path}.")
    # In the order of rows in memory, as at the fit: then the same rows give the same bits.
    return _whole(table, np.ascontiguousarray(table.values[:, places]), names, loaded)


def _whole(table: Table, values: Array, names: Sequence[str], loaded: Loaded) -> Array:
    bad = np.isinf(values) if loaded.gaps else ~np.isfinite(values)
    if not bad.any():
        return values
    row, at = np.argwhere(bad)[0]
    raise TableError(
        f"{table.source}: {row_of(table, row)}, column {names[at]!r}: the value is missing "
        f"({int(bad.sum()):,} such values in all). Fill them, or leave such rows out with --missing drop."
    )


def open_for(loaded: Loaded, path: str, dialect: dict[str, Any]) -> Rows:
    """Rows of a table as a stream, in the order of a model's columns."""
    stream = rows(path, loaded.columns, **dialect)
    if stream.n_features != loaded.width:
        raise UsageError(f"{path} has {stream.n_features:,} numeric columns; {loaded.path} takes {loaded.width:,}.")
    return stream


def inspect(model: o.ModelFile, json: o.Json = False) -> o.Job:
    """Return the job of ``gramian inspect``."""

    def job() -> None:
        facts = _facts(model)
        print(dumps(facts) if json else _text(facts))

    return job


def _facts(path: str) -> dict[str, Any]:
    """Read the header, and load the model too: then it is known to be whole, and its parameters are."""
    card, loaded = models.inspect(path), load_model(path)
    return {
        "model": path,
        "estimator": loaded.name,
        "parameters": {name: _plain(value) for name, value in loaded.estimator.get_params(deep=False).items()},
        "scaled_first": loaded.model is not loaded.estimator,
        "versions": card.versions,
        "columns": None if loaded.columns is None else list(loaded.columns),
        "targets": list(loaded.targets),
        "arrays": {name: list(shape) for name, shape in card.arrays.items()},
        "bytes": card.bytes,
        "summary": card.summary,
    }


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _text(facts: dict[str, Any]) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())
    numbers = f"{len(facts['arrays']):,} arrays, {facts['bytes']:,} bytes"
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    lines = [("parameters", given), ("file", f"{numbers}, written by {versions}")]
    if facts["scaled_first"]:
        lines.append(("first", "columns are divided by their standard deviations"))
    if facts["columns"] is not None:
        lines.append(("columns", f"{len(facts['columns']):,}: {ends(facts['columns'])}"))
    if facts["targets"]:
        lines.append(("targets", ends(facts["targets"])))
    head = str(FitSummary((facts["estimator"], facts["model"]), tuple(lines)))
    return f"{head}\n\n{facts['summary']}"
