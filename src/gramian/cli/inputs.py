"""From files to what an estimator takes: in memory, as streams or on the workers of a cluster; the same in Python.

Also a model from a file, and the rows of a table in the order of its columns.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from gramian import models, rows
from gramian.cli import options as o
from gramian.cli import outputs
from gramian.cli.options import Request, methods_that
from gramian.cli.outputs import UsageError, say
from gramian.construction import arguments, construction, imports, steps_of
from gramian.estimators.base import as_fitted
from gramian.operators import Rows
from gramian.registry import Record
from gramian.results import Array, plural
from gramian.tables import Table, TableError, match_rows, read_table, read_views, remote_rows
from gramian.tables.read import complete_rows, place_in_file
from gramian.tables.row_streams import table_size
from gramian.tables.table import allowance

#: Smaller files are read into memory without asking how large their tables are.
SMALL_FILE_BYTES = 16 * 10**6


@dataclass(frozen=True)
class Inputs:
    """The table of rows, with the labels and remarks of all files; targets, labels or the second view; their names."""

    table: Table
    y: Any = None
    targets: tuple[str, ...] = ()

    @property
    def X(self) -> Any:
        return self.table.values

    @property
    def streamed(self) -> bool:
        return isinstance(self.X, Rows)

    @property
    def arguments(self) -> tuple[Any, ...]:
        return (self.X,) if self.y is None else (self.X, self.y)


#: Value of ``--missing`` -> argument of the reader.
MISSING = {None: None, "em": "keep", "drop": "drop"}


def gather(request: Request, *, imputes: bool | None = None) -> Inputs:
    """Read what a fit needs; where values are missing and ``--missing em`` would be taken, say so.

    ``imputes``: whether it would; what the method can do if not given.
    """
    try:
        return _gather(request)
    except TableError as error:
        if not (request.record.has("missing") if imputes is None else imputes):
            raise
        raise TableError(str(error).replace("Fill them, drop", "Impute them (missing='keep'), drop")) from error


def _gather(request: Request) -> Inputs:
    given = request.dialect | o.given(
        categories=request.encode, dates=request.dates, ids=request.ids, missing=MISSING[request.missing]
    )
    if request.label is not None:
        given["labels" if request.y_table is None else "y_labels"] = [request.label]
    if request.targets is None and request.y_table is None:
        return _labelled(request, read_table(request.table, request.columns, **given))
    x, y = read_views(request.table, request.y_table, x_columns=request.columns, y_columns=request.targets, **given)
    remarks = (*x.dropped, *(remark for remark in y.dropped if remark not in x.dropped))
    table = replace(x, labels={**y.labels, **x.labels}, dropped=remarks)
    if not request.record.takes("target"):
        return _labelled(request, table)
    # One target is a vector, as its predictions are; a view stays a matrix.
    single = request.record.needs == "target" and len(y.columns) == 1
    return Inputs(table, y.values[:, 0] if single else y.values, y.columns)


def _labelled(request: Request, table: Table) -> Inputs:
    if request.record.needs != "label":
        return Inputs(table)
    return Inputs(table, labels_of(table, str(request.label)), (str(request.label),))


def labels_of(table: Table, name: str) -> Array:
    """Labels to predict, as an array of text."""
    if name not in table.labels:
        known = ", ".join(table.labels) or "none"
        raise TableError(f"{table.source}: there is no column of labels {name!r}; text columns are: {known}.")
    cells = table.labels[name]
    empty = next((at for at, cell in enumerate(cells) if not cell), None)
    if empty is not None:
        raise TableError(f"{table.source}: {row_of(table, empty)} has no {name!r}. Fill it or drop the row.")
    return np.array(cells)


def row_of(table: Table, at: int) -> str:
    """How the command line names a row of a table: by its id, or by its number in the file, counted from 1."""
    return f"row {table.row_names[at]}{' below the header' if table.row_ids is None else ''}"


def streams(request: Request) -> bool:
    """Whether the table is read as a stream: it was asked for, or there are many files, or one that does not fit."""
    asked = request.stream or any(is_many(name) for name in (request.table, request.y_table) if name)
    if not asked and not too_large(request.table):
        return False
    if not request.record.streams:
        able = methods_that(lambda record: record.streams)
        trouble = f"goes with --method {able}, not with {request.method}."
    elif request.record.has("landmarks") and "landmarks" not in request.options:
        trouble = f"goes with {request.method} only if landmarks stand for the rows. Add --landmarks 1000, for example."
    else:
        trouble = needs_whole_table(request)
    if trouble and asked:
        what = "--stream" if request.stream else f"{request.table} is read as a stream, which"
        raise UsageError(f"{what} {trouble}")
    return not trouble


def needs_whole_table(request: Request) -> str:
    """Say what of a request needs the whole table here; nothing if nothing does."""
    for option in ("label", "ids", "encode", "dates", "missing"):
        if getattr(request, option) is not None:
            return f"does not go with --{option}, which needs the whole table. Leave one of them out."
    if request.n_components == "auto" and (request.record.needs or request.record.has("landmarks")):
        return "does not go with -k auto, which needs the whole table. Give a number."
    return "cannot read standard input. Name a file." if request.table == "-" else ""


def is_many(name: str) -> bool:
    """Whether a name means a folder or a pattern rather than one file."""
    return os.path.isdir(name) or (glob.has_magic(name) and not os.path.exists(name))


def too_large(name: str) -> bool:
    """Whether a table would take more memory than there is for it."""
    return os.path.isfile(name) and os.path.getsize(name) > SMALL_FILE_BYTES and table_size(name) > allowance()


def open_stream(request: Request, opening: Callable[..., Rows] = rows) -> Inputs:
    """Open what a fit needs, to be read block by block; ``opening`` may leave the reading to workers."""
    two, files = request.y_table is not None, [(request.table, request.columns), (request.y_table, request.targets)]
    more = {**({} if two else {"y_columns": request.targets}), **request.dialect}
    found = [opening(name, columns, **more) for name, columns in files[: 1 + two]]
    calls = [f"{opening.__name__}({arguments([name], columns=names, **more)})" for name, names in files[: 1 + two]]
    y: Any = found[-1] if two else None if request.targets is None else found[0].y
    table = as_table(found[0], "; y = ".join(calls))
    if y is None:
        return Inputs(table)
    if opening is remote_rows:
        y.single = request.record.needs == "target" and y.n_features == 1
    return Inputs(table, y, y.names)


def as_table(stream: Rows, call: str = "") -> Table:
    """Stand in for a table whose rows have not been read."""
    return Table(stream, stream.names, {}, (), stream.source, call=call)  # type: ignore[arg-type]


@contextmanager
def workers(request: Request) -> Iterator[None]:
    """Connect to the scheduler that was asked for, if one was, and say where its dashboard is."""
    if request.scheduler is None:
        yield
        return
    trouble = needs_whole_table(request)
    if trouble:
        raise UsageError(f"--scheduler {trouble}")
    try:
        from gramian.operators.dask_tasks import connected
    except ImportError as error:
        raise UsageError("--scheduler needs dask. Install it: pip install 'gramian[dask]'.") from error
    with connected(request.scheduler) as dashboard:
        if not (request.quiet or request.json):
            say(f"dashboard: {dashboard}")
        yield


@dataclass(frozen=True)
class Loaded:
    """A model, the names of its columns if it knows them, of what it predicts, and how columns were encoded."""

    path: str
    model: BaseEstimator
    columns: tuple[str, ...] | None
    targets: tuple[str, ...]
    reading: dict[str, Any]
    dialect: dict[str, Any]

    @property
    def estimator(self) -> BaseEstimator:
        return steps_of(self.model)[-1]

    @property
    def record(self) -> Record:
        return outputs.record(self.model)

    @property
    def name(self) -> str:
        return type(self.estimator).__name__

    @property
    def classifies(self) -> bool:
        return is_classifier(self.estimator)

    @property
    def gaps(self) -> bool:
        """Whether missing values are imputed by the model."""
        return as_fitted(self.estimator, "missing") is not None

    @property
    def width(self) -> int:
        return int(steps_of(self.model)[0].n_features_in_)

    def names(self) -> list[str]:
        """Names of the columns, made up if the model does not know them."""
        return list(self.columns or [f"x{at}" for at in range(self.width)])


def load_model(request: Request) -> Loaded:
    """Read the model; names of columns are kept beside it, since :func:`pick` checks them."""
    path = str(request.model_file)
    model = models.load(path)
    found = vars(steps_of(model)[0]).pop("feature_names_in_", None)
    estimator = steps_of(model)[-1]
    targets = tuple(map(str, getattr(estimator, "target_names_in_", ())))
    columns = None if found is None else tuple(map(str, found))
    encoded = {"categories": getattr(estimator, "categories_in_", None), "dates": getattr(estimator, "dates_in_", None)}
    reading = {name: value for name, value in encoded.items() if value is not None}
    return Loaded(path, model, columns, targets, reading, request.dialect)


def read_rows(request: Request, loaded: Loaded, needed: Sequence[str] = (), **reading: Any) -> Table:
    """Read the table, of which some columns go to a model; which, :func:`pick` says.

    With ``--missing drop`` rows without a value of these columns, or of ``needed`` ones, are dropped.
    """
    with columns_of_a_model():
        table = read_table(request.table, **{"missing": "keep", **loaded.reading, **reading, **request.dialect})
    return table if request.missing is None else complete_rows(table, {*(loaded.columns or table.columns), *needed})


def read_with_truth(request: Request, loaded: Loaded) -> tuple[Table, Table, list[str]]:
    """Rows, the table of what is true of them (another one if it was given), and the labels taken from the first."""
    classes = loaded.classifies
    labels = [name for name in dict.fromkeys((request.label, *(loaded.targets if classes else ()))) if name is not None]
    here = labels if request.y_table is None else [name for name in labels if name == request.label]
    table = read_rows(request, loaded, () if classes else loaded.targets, labels=here, ids=request.ids)
    second = table
    if request.y_table is not None:
        beside = read_table(
            request.y_table,
            () if classes else None,
            labels=loaded.targets if classes else (),
            ids=request.ids,
            missing="keep" if loaded.gaps else "refuse",
            **request.dialect,
        )
        table, second = match_rows(table, beside)
    return table, second, here


def truth_in(loaded: Loaded, table: Table, without: str) -> Array | None:
    """Targets, labels or the second view, if the table has them; if not, say what cannot be done without."""
    names = loaded.targets
    if not names or loaded.record.clusters:
        return None
    known = table.labels if loaded.classifies else table.columns
    if not set(names) <= set(known):
        say(f"note: {table.source} has no {', '.join(names[:3])}: {without}.")
        return None
    if loaded.classifies:
        return labels_of(table, names[0])
    Y = pick(table, names, len(names), loaded, told=False)
    return Y[:, 0] if len(names) == 1 and loaded.record.needs != "view" else Y


def pick(
    table: Table,
    names: Sequence[str] | None,
    width: int,
    loaded: Loaded,
    *,
    told: bool = True,
    drops: bool = True,
) -> Array:
    """Return the columns of a table that a model needs, in its order.

    ``told``: these are the columns of its rows. ``drops``: the command can leave out rows that miss a value.
    """
    if names is None:
        if table.values.shape[1] != width:
            raise TableError(
                f"{table.source} has {table.values.shape[1]:,} numeric columns; {loaded.path} takes {width:,} and does "
                "not know their names."
            )
        return _whole(table, table.values, table.columns, loaded, drops=drops)
    missing = [name for name in names if name not in table.columns]
    if missing:
        text = [name for name in missing if name in table.labels]
        why = f" (column {text[0]!r} is text)" if text else ""
        shown = ", ".join(map(repr, missing[:5])) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        second = "" if told else " Give them with --y-table FILE."
        raise TableError(f"{table.source} lacks {shown} of the {len(names):,} columns of {loaded.path}{why}.{second}")
    places = [table.columns.index(name) for name in names]
    if told and places != sorted(places):
        say(f"note: columns of {table.source} were put in the order of {loaded.path}.")
    # In the order of rows in memory, as at the fit: then the same rows give the same bits.
    return _whole(table, np.ascontiguousarray(table.values[:, places]), names, loaded, drops=drops)


def _whole(table: Table, values: Array, names: Sequence[str], loaded: Loaded, *, drops: bool) -> Array:
    infinite = np.isinf(values)
    bad = infinite if loaded.gaps else ~np.isfinite(values)
    if not bad.any():
        return values
    row, at = np.argwhere(bad)[0]
    if infinite[row, at]:
        what, alike, remedy = "infinite", infinite, "Correct them, or take those rows out."
    else:
        way = "leave such rows out with --missing drop" if drops else "take those rows out"
        what, alike, remedy = "missing", bad & ~infinite, f"Fill them, or {way}."
    raise TableError(
        f"{table.source}: {_place_of(table, int(row), loaded)}, column {names[at]!r}: the value is {what} "
        f"({plural(int(alike.sum()), 'such value')} in all). {remedy}"
    )


def _place_of(table: Table, at: int, loaded: Loaded) -> str:
    """Where a row stands in the file of a table, as the refusals of a fit name it: the file is read again for it."""
    if table.row_ids is not None or not os.path.isfile(table.source):
        return row_of(table, at)
    try:
        return place_in_file(table.source, at if table.rows is None else table.rows[at], **loaded.dialect)
    except (TableError, OSError, IndexError):  # the file has changed since
        return row_of(table, at)


@contextmanager
def columns_of_a_model() -> Iterator[None]:
    """Leave out of refusals what only a fit can do: choose other columns, encode text, turn dates into days."""
    try:
        yield
    except TableError as error:
        told = re.sub(r" unless (categories|dates)=\[.*\] (encodes|makes days of) it", "", str(error))
        told = re.sub(
            r"(, take|, drop) those rows( out| \(.*\)), or choose other columns", ", or take those rows out", told
        )
        raise TableError(told) from error


def open_for(loaded: Loaded, request: Request) -> Rows:
    """Rows of a table as a stream, in the order of a model's columns."""
    with columns_of_a_model():
        stream = rows(request.table, loaded.columns, **request.dialect)
    if stream.n_features != loaded.width:
        told = f"{request.table} has {stream.n_features:,} numeric columns"
        raise UsageError(f"{told}; {loaded.path} takes {loaded.width:,}.")
    return stream


def fit_code(request: Request, inputs: Inputs) -> list[str]:
    """Return lines of Python: what to import and set, how to read, and the fit."""
    lines, x, y, known = _reading(request, inputs)
    lines.append(_fitting(request, x, f"{x}, {y}" if y else x, streamed=inputs.streamed))
    if request.model_file is not None:
        lines[-1] += f"; save(named({', '.join(['model', *known])}), {request.model_file!r})"
    return _with_imports(request, lines)


def select_code(request: Request, inputs: Inputs, call: str) -> list[str]:
    """Return lines of Python: what to import and set, how to read, and the question."""
    lines, x, y, _ = _reading(request, inputs)
    taken = f"X = {x}" if inputs.y is None else f"X, y = {x}, {y}"
    return _with_imports(request, [*lines, taken, f"print({call})"])


def _with_imports(request: Request, lines: list[str]) -> list[str]:
    """The lines, and before them one that imports what they call and sets what was asked for."""
    settings = [f"config({arguments(**request.settings)})"] if request.settings else []
    first = [*imports("\n".join([*settings, *lines])), *settings]
    if request.scheduler is not None:
        address = "" if request.scheduler == "local" else repr(request.scheduler)
        first.append(f"from dask.distributed import Client; client = Client({address})")
    return ["; ".join(first), *lines]


def _reading(request: Request, inputs: Inputs) -> tuple[list[str], str, str, list[str]]:
    """Lines that read the tables, arguments X and y of ``fit``, and what :func:`gramian.tables.named` is told."""
    call, streamed, label = inputs.table.call, inputs.streamed, repr(request.label)
    two = request.targets is not None or request.y_table is not None
    table = "X" if streamed else "x" if two else "table"
    x, y, beside = table if streamed else f"{table}.values", "", ""
    if streamed and two:
        y = beside = "X.y" if request.y_table is None else "y"
    elif request.record.needs == "label":
        y, beside = f"{'y' if two else table}.labels[{label}]", label
    elif two and request.record.takes("target"):
        y, beside = f"y.values{'[:, 0]' if np.ndim(inputs.y) == 1 else ''}", "y"
    elif not two and request.model_file is None:
        return [], call + x.removeprefix(table), "", []
    read = f"{table if streamed or not two else 'x, y'} = {call}"
    return [read], x, y, [table, beside] if beside else [table]


def _fitting(request: Request, x: str, rows: str, *, streamed: bool) -> str:
    model = construction(request.model(), request.arguments)
    if request.record.clusters:
        last = "model[-1]" if request.standardizes else "model"
        labels = f"model.predict({rows})" if streamed else f"{last}.labels_"
        return f"model = {model}; distances = model.fit_transform({rows}); clusters = {labels}"
    if request.record.needs == "view":
        return f"model = {model}.fit({rows}); x_scores, y_scores = model.transform({rows})"
    if not hasattr(request.record.estimator, "transform"):
        return f"model = {model}.fit({rows}); predictions = model.predict({x})"
    if request.model_file is None:
        return f"scores = {model}.fit_transform({rows})"
    return f"model = {model}; scores = model.fit_transform({rows})"
