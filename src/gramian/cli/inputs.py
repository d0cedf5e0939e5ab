"""From files to what an estimator takes: in memory, as streams or on the workers of a cluster; the same in Python."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian import rows
from gramian.cli import options as o
from gramian.cli.options import FitRequest, methods_that
from gramian.cli.outputs import UsageError, say
from gramian.construction import arguments, construction, imports
from gramian.operators import Rows
from gramian.results import Array
from gramian.tables import Table, TableError, read_table, read_views, remote_rows
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
        """The rows, or the stream of them."""
        return self.table.values

    @property
    def streamed(self) -> bool:
        """Whether the rows are not in memory."""
        return isinstance(self.X, Rows)

    @property
    def arguments(self) -> tuple[Any, ...]:
        """What ``fit`` is called with."""
        return (self.X,) if self.y is None else (self.X, self.y)


#: Value of ``--missing`` -> argument of the reader.
MISSING = {None: None, "em": "keep", "drop": "drop"}


def gather(request: FitRequest) -> Inputs:
    """Read what a fit needs; where values are missing and the method can impute them, say so."""
    try:
        return _gather(request)
    except TableError as error:
        if not request.record.has("missing"):
            raise
        raise TableError(str(error).replace("Fill them, drop", "Impute them (missing='keep'), drop")) from error


def _gather(request: FitRequest) -> Inputs:
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


def _labelled(request: FitRequest, table: Table) -> Inputs:
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
    """How the command line names a row of a table: by its id, or by its number in the file, counted from 1.

    >>> row_of(Table(np.zeros((2, 1)), ("x",), {}, (), "t.csv", rows=(0, 6)), 1)
    'row 7 below the header'
    """
    return f"row {table.row_names[at]}{' below the header' if table.row_ids is None else ''}"


def streams(request: FitRequest) -> bool:
    """Whether the table is read as a stream: it was asked for, or there are many files, or one that does not fit."""
    asked = request.stream or any(is_many(name) for name in (request.table, request.y_table) if name)
    if not asked and not too_large(request.table):
        return False
    trouble = _trouble(request)
    if trouble and asked:
        what = "--stream" if request.stream else f"{request.table} is read as a stream, which"
        raise UsageError(f"{what} {trouble}")
    return not trouble


def _trouble(request: FitRequest) -> str:
    if not request.record.streams:
        return f"goes with --method {methods_that(lambda record: record.streams)}, not with {request.method}."
    if request.record.has("landmarks") and "landmarks" not in request.options:
        return f"goes with {request.method} only if landmarks stand for the rows. Add --landmarks 1000, for example."
    return needs_whole_table(request)


def needs_whole_table(request: FitRequest) -> str:
    """Say what of a request needs the whole table here; nothing if nothing does."""
    given = {
        "--label": request.label,
        "--ids": request.ids,
        "--encode": request.encode,
        "--dates": request.dates,
        "--missing": request.missing,
    }
    for option, value in given.items():
        if value is not None:
            return f"does not go with {option}, which needs the whole table. Leave one of them out."
    if request.n_components == "auto" and (request.record.needs or request.record.has("landmarks")):
        return "does not go with -k auto, which needs the whole table. Give a number."
    return "cannot read standard input. Name a file." if request.table == "-" else ""


def is_many(name: str) -> bool:
    """Whether a name means a folder or a pattern rather than one file."""
    return os.path.isdir(name) or (glob.has_magic(name) and not os.path.exists(name))


def too_large(name: str) -> bool:
    """Whether a table would take more memory than there is for it."""
    return os.path.isfile(name) and os.path.getsize(name) > SMALL_FILE_BYTES and table_size(name) > allowance()


def open_stream(request: FitRequest, opening: Callable[..., Rows] = rows) -> Inputs:
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
def workers(request: FitRequest, *, quiet: bool) -> Iterator[None]:
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
        if not quiet:
            say(f"dashboard: {dashboard}")
        yield


@dataclass(frozen=True)
class Reading:
    """Arguments of ``fit`` in the code, lines that make them, and the tables for :func:`gramian.tables.named`."""

    x: str
    y: str = ""
    lines: Sequence[str] = ()
    table: str = ""
    beside: str = ""

    @property
    def rows(self) -> str:
        """Both arguments."""
        return f"{self.x}, {self.y}" if self.y else self.x


def fit_code(request: FitRequest, inputs: Inputs) -> list[str]:
    """Return lines of Python: what to import and set, how to read, and the fit."""
    read = _reading(request, inputs)
    lines = [*read.lines, _fitting(request, read, streamed=inputs.streamed)]
    if request.model_file is not None:
        known = ", ".join(part for part in ("model", read.table, read.beside) if part)
        lines[-1] += f"; save(named({known}), {request.model_file!r})"
    return _with_imports(request, lines)


def select_code(request: FitRequest, inputs: Inputs, call: str) -> list[str]:
    """Return lines of Python: what to import and set, how to read, and the question."""
    read = _reading(request, inputs)
    named = "X" if inputs.y is None else "X, y"
    return _with_imports(request, [*read.lines, f"{named} = {read.rows}", f"print({call})"])


def _with_imports(request: FitRequest, lines: list[str]) -> list[str]:
    """The lines, and before them one that imports what they call and sets what was asked for."""
    settings = [f"config({arguments(**request.settings)})"] if request.settings else []
    first = [*imports("\n".join([*settings, *lines])), *settings]
    if request.scheduler is not None:
        address = "" if request.scheduler == "local" else repr(request.scheduler)
        first.append(f"from dask.distributed import Client; client = Client({address})")
    return ["; ".join(first), *lines]


def _reading(request: FitRequest, inputs: Inputs) -> Reading:
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
        return Reading(call + x.removeprefix(table))
    return Reading(x, y, [f"{table if streamed or not two else 'x, y'} = {call}"], table, beside)


def _fitting(request: FitRequest, read: Reading, *, streamed: bool) -> str:
    model, rows = construction(request.model(), request.arguments), read.rows
    if request.record.clusters:
        last = "model[-1]" if request.standardizes else "model"
        labels = f"model.predict({rows})" if streamed else f"{last}.labels_"
        return f"model = {model}; distances = model.fit_transform({rows}); clusters = {labels}"
    if request.record.needs == "view":
        return f"model = {model}.fit({rows}); x_scores, y_scores = model.transform({rows})"
    if not hasattr(request.record.estimator, "transform"):
        return f"model = {model}.fit({rows}); predictions = model.predict({read.x})"
    if request.model_file is None:
        return f"scores = {model}.fit_transform({rows})"
    return f"model = {model}; scores = model.fit_transform({rows})"
