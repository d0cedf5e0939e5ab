"""From files to what an estimator takes: rows, and targets, a second view or labels beside them.

Tables are read into memory; or opened as streams, where that was asked for or they do not fit; or left to the workers
of a cluster.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian import rows
from gramian.cli.options import FitRequest, methods_that
from gramian.cli.terminal import UsageError, say
from gramian.operators import Rows
from gramian.results import Array
from gramian.tables import Table, TableError, read_table, read_views, remote_rows
from gramian.tables.row_streams import is_many, table_size
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


def reading(request: FitRequest) -> dict[str, Any]:
    """Arguments of the reader beside the columns."""
    given: dict[str, Any] = {}
    if request.encode is not None:
        given["categories"] = request.encode
    if request.dates is not None:
        given["dates"] = request.dates
    if request.label is not None:
        given["labels" if request.y_table is None else "y_labels"] = [request.label]
    if request.ids is not None:
        given["ids"] = request.ids
    if request.missing is not None:
        given["missing"] = "keep" if request.missing == "em" else "drop"
    return {**given, **request.dialect}


def gather(request: FitRequest) -> Inputs:
    """Read what a fit needs; where values are missing and the method can impute them, say so."""
    try:
        return _gather(request)
    except TableError as error:
        if not request.record.has("missing"):
            raise
        raise TableError(str(error).replace("Fill them, drop", "Impute them (missing='keep'), drop")) from error


def _gather(request: FitRequest) -> Inputs:
    given = reading(request)
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
        raise TableError(f"{table.source}: row {empty} (counted from 0) has no {name!r}. Fill it or drop the row.")
    return np.array(cells)


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


def too_large(name: str) -> bool:
    """Whether a table would take more memory than there is for it."""
    return os.path.isfile(name) and os.path.getsize(name) > SMALL_FILE_BYTES and table_size(name) > allowance()


def open_stream(request: FitRequest, opening: Callable[..., Rows] = rows) -> Inputs:
    """Open what a fit needs, to be read block by block; ``opening`` may leave the reading to workers."""
    if request.targets is None and request.y_table is None:
        return Inputs(as_table(opening(request.table, request.columns, **request.dialect)))
    if request.y_table is None:
        X = opening(request.table, request.columns, y_columns=request.targets, **request.dialect)
        y: Any = X.y
    else:
        X = opening(request.table, request.columns, **request.dialect)
        y = opening(request.y_table, request.targets, **request.dialect)
    if opening is remote_rows:
        y.single = request.record.needs == "target" and y.n_features == 1
    return Inputs(as_table(X), y, y.names)


def as_table(stream: Rows) -> Table:
    """Stand in for a table whose rows have not been read."""
    return Table(stream, stream.names, {}, (), stream.source)  # type: ignore[arg-type]


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
