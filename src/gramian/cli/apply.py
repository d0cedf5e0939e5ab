"""The work behind the commands that take a model: transform, inverse, predict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian import rows
from gramian.cli import columns
from gramian.cli.bar import Bar
from gramian.cli.columns import Columns
from gramian.cli.errors import UsageError, say
from gramian.cli.fit import check_outputs
from gramian.cli.loaded import Loaded, load_model, pick, read_rows
from gramian.cli.request import first_step
from gramian.cli.streams import as_table, open_for, too_large
from gramian.config import config
from gramian.tables import Table, TableError, read_table
from gramian.tables.row_streams import is_many


@dataclass(frozen=True)
class Applied:
    """What a model made of a table."""

    loaded: Loaded
    table: Table
    result: Columns
    output: str
    written: list[str]
    n_rows: int


@dataclass(frozen=True)
class ApplyRequest:
    """What to do with which files."""

    verb: str
    model: str
    table: str
    output: str = "-"
    y_table: str | None = None
    ids: str | None = None
    stream: bool = False
    dialect: dict[str, Any] = field(default_factory=dict)


def apply(request: ApplyRequest, *, quiet: bool = False) -> Applied:
    """Load the model, read the table, do what the verb says, and write."""
    inputs = [request.model, request.table, *([request.y_table] if request.y_table else [])]
    check_outputs({"--output": request.output}, inputs)
    with Bar(quiet=quiet) as bar, config(progress=bar):
        with bar.step("loading the model"):
            loaded = load_model(request.model)
        check_verb(request.verb, loaded)
        with bar.step("reading"):
            streamed = _streams(request, loaded)
            table = as_table(open_for(loaded, request.table, request.dialect)) if streamed else _read(request, loaded)
        with bar.step(request.verb):
            result = (_stream if streamed else VERBS[request.verb])(request, loaded, table)
        with bar.step("writing"):
            written, n = result.write(request.output, table.annotations)
    return Applied(loaded, table, result, request.output, written, n)


def _streams(request: ApplyRequest, loaded: Loaded) -> bool:
    """Whether the table goes by as a stream."""
    many = is_many(request.table)
    if not (request.stream or many or too_large(request.table)):
        return False
    if (
        loaded.reading
        or request.ids is not None
        or request.table == "-"
        or request.verb not in ("transform", "predict")
    ):
        if not (request.stream or many):
            return False
        raise UsageError(
            f"{request.table} cannot be read as a stream: it goes with transform and predict of a model without "
            "encoded columns, of files, and without --ids."
        )
    return True


def _stream(request: ApplyRequest, loaded: Loaded, table: Table) -> Columns:
    """Scores or predictions as they come."""
    X: Any = table.values
    if request.verb == "predict":
        return columns.predictions(loaded.model, X, loaded.targets)
    if not columns.two_views(loaded.model) or not loaded.targets:
        return columns.scores(loaded.model, X)
    return columns.scores(loaded.model, X, rows(request.y_table or request.table, loaded.targets, **request.dialect))


def _read(request: ApplyRequest, loaded: Loaded) -> Table:
    if request.verb == "inverse":  # scores have no categories and no gaps
        return read_table(request.table, **request.dialect)
    return read_rows(request.table, loaded, ids=request.ids, **request.dialect)


def check_verb(verb: str, loaded: Loaded) -> None:
    """Refuse what a model cannot do, and say what it can."""
    if hasattr(loaded.model, CALLS[verb]):
        return
    can = " and ".join(f"gramian {name}" for name, call in CALLS.items() if hasattr(loaded.model, call))
    raise UsageError(f"{loaded.path} holds {loaded.name}, for which there is no {verb}; there is {can}.")


#: Command -> method of the model.
CALLS = {"transform": "transform", "inverse": "inverse_transform", "predict": "predict"}


def _transform(request: ApplyRequest, loaded: Loaded, table: Table) -> Columns:
    X = pick(table, loaded.columns, first_step(loaded.model).n_features_in_, loaded)
    if not columns.two_views(loaded.model):
        return columns.scores(loaded.model, X)
    second = table if request.y_table is None else read_rows(request.y_table, loaded, **request.dialect)
    if request.y_table is None and not set(loaded.targets) <= set(table.columns):
        say(
            f"note: {table.source} has no second view ({', '.join(loaded.targets[:3])} ...): scores of the first alone."
        )
        return columns.scores(loaded.model, X)
    Y = pick(second, loaded.targets or None, len(loaded.targets), loaded, told=False)
    if len(Y) != len(X):
        raise TableError(
            f"{table.source} has {len(X):,} rows and {second.source} has {len(Y):,}; they must be the same."
        )
    return columns.scores(loaded.model, X, Y)


def _inverse(request: ApplyRequest, loaded: Loaded, table: Table) -> Columns:
    names = columns.score_names(loaded.model)
    scores = pick(table, names, len(names), loaded)
    return Columns("rows", np.asarray(loaded.model.inverse_transform(scores)), loaded.names())


def _predict(request: ApplyRequest, loaded: Loaded, table: Table) -> Columns:
    X = pick(table, loaded.columns, first_step(loaded.model).n_features_in_, loaded)
    return columns.predictions(loaded.model, X, loaded.targets)


VERBS: dict[str, Callable[[ApplyRequest, Loaded, Table], Columns]] = {
    "transform": _transform,
    "inverse": _inverse,
    "predict": _predict,
}
