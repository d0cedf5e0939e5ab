"""Tables that are read as streams: when they are, and what takes the place of a table then."""

from __future__ import annotations

import os
from typing import Any

from gramian import rows
from gramian.cli.errors import UsageError
from gramian.cli.inputs import Inputs
from gramian.cli.loaded import Loaded
from gramian.cli.methods import friends
from gramian.cli.request import FitRequest, first_step
from gramian.operators import Rows
from gramian.tables import Table
from gramian.tables.row_streams import is_many, table_size
from gramian.tables.table import allowance

#: Smaller files are read into memory without asking how large their tables are.
SMALL = 16 * 10**6


def streams(request: FitRequest) -> bool:
    """Whether the table goes by as a stream: it was asked for, or there are many files, or one that does not fit."""
    asked = request.stream or any(is_many(name) for name in (request.table, request.y_table) if name)
    if not asked and not too_large(request.table):
        return False
    trouble = _trouble(request)
    if trouble and asked:
        what = "--stream" if request.stream else f"{request.table} is read as a stream, which"
        raise UsageError(f"{what} {trouble}")
    return not trouble


def _trouble(request: FitRequest) -> str:
    if not request.row.streams:
        return f"goes with --method {friends(lambda m: m.streams)}, not with {request.method}."
    if request.row.has("landmarks") and "landmarks" not in request.options:
        return f"goes with {request.method} through landmarks, rows that stand for all. Add --landmarks 1000, say."
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
    if request.n_components == "auto" and (request.row.needs or request.row.has("landmarks")):
        return "does not go with -k auto, which needs the whole table. Give a number."
    return "cannot read standard input. Name a file." if request.table == "-" else ""


def too_large(name: str) -> bool:
    """Whether a table would take more memory than there is for it."""
    return os.path.isfile(name) and os.path.getsize(name) > SMALL and table_size(name) > allowance()


def gather_stream(request: FitRequest) -> Inputs:
    """Open what a fit needs."""
    if request.targets is None and request.y_table is None:
        return Inputs(as_table(rows(request.table, request.columns, **request.dialect)))
    if request.y_table is None:
        X = rows(request.table, request.columns, y_columns=request.targets, **request.dialect)
        y: Any = X.y
    else:
        X = rows(request.table, request.columns, **request.dialect)
        y = rows(request.y_table, request.targets, **request.dialect)
    return Inputs(as_table(X), y, y.names)


def as_table(stream: Rows) -> Table:
    """Stand in for a table whose rows have not been read."""
    return Table(stream, stream.names, {}, (), stream.source)  # type: ignore[arg-type]


def open_for(model: Loaded, path: str, dialect: dict[str, Any]) -> Rows:
    """Rows of a table in the order of a model's columns."""
    stream = rows(path, model.columns, **dialect)
    width = first_step(model.model).n_features_in_
    if stream.n_features != width:
        raise UsageError(f"{path} has {stream.n_features:,} numeric columns; {model.path} takes {width:,}.")
    return stream
