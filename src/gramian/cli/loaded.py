"""A model from a file, and the rows of a table in the order of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.cli.errors import say
from gramian.cli.request import first_step, last_step
from gramian.models import load
from gramian.results import Array
from gramian.tables import Table, TableError, read_table


@dataclass(frozen=True)
class Loaded:
    """A model, the names of its columns if it knows them, of what it predicts, and how columns were encoded."""

    path: str
    model: Any
    columns: tuple[str, ...] | None
    targets: tuple[str, ...]
    reading: dict[str, Any]

    @property
    def estimator(self) -> Any:
        """The estimator itself, without a step that scales columns."""
        return last_step(self.model)

    @property
    def name(self) -> str:
        """Name of its class."""
        return type(self.estimator).__name__

    @property
    def gaps(self) -> bool:
        """Whether missing values are imputed by the model."""
        return getattr(self.estimator, "missing", None) is not None

    def names(self) -> list[str]:
        """Names of the columns, made up if the model does not know them."""
        return list(self.columns or [f"x{at}" for at in range(first_step(self.model).n_features_in_)])


def load_model(path: str) -> Loaded:
    """Read a model; its column names are checked here, with better words than scikit-learn has."""
    model = load(path)
    found = vars(first_step(model)).pop("feature_names_in_", None)
    estimator = last_step(model)
    targets = tuple(map(str, getattr(estimator, "target_names_in_", ())))
    columns = None if found is None else tuple(map(str, found))
    encoded = {"categories": getattr(estimator, "categories_in_", None), "dates": getattr(estimator, "dates_in_", None)}
    reading = {name: value for name, value in encoded.items() if value is not None}
    return Loaded(path, model, columns, targets, reading)


def read_rows(path: str, loaded: Loaded, **reading: Any) -> Table:
    """Read a table of which some columns go to a model; which, :func:`pick` says."""
    return read_table(path, **{"missing": "keep", **loaded.reading, **reading})


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
        f"{table.source}: row {row + 1} below the header, column {names[at]!r}: the value is missing "
        f"({int(bad.sum()):,} such values in all). Fill them, or drop those rows."
    )
