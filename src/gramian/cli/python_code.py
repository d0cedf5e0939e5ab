"""Python code that does what a command did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.cli.inputs import Inputs, reading
from gramian.cli.options import FitRequest
from gramian.construction import construction, imports
from gramian.tables.calls import arguments

#: Functions of :mod:`gramian.tables` that the code may call.
FROM_TABLES = ("named", "read_table", "read_views", "remote_rows")


@dataclass(frozen=True)
class Reading:
    """Lines that read, and how the code calls what it read.

    Attributes
    ----------
    rows : str
        Arguments of ``fit``.
    lines : list of str
        What makes them.
    table, beside : str
        The table, and that of targets or their name, for :func:`gramian.tables.named`.
    """

    rows: str
    lines: list[str]
    table: str
    beside: str = ""


def fit_code(request: FitRequest, inputs: Inputs) -> list[str]:
    """Return lines of Python: what to import and set, how to read, and the fit."""
    read = _reading(request, inputs)
    lines = [*read.lines, _fitting(request, read.rows)]
    if request.model_file is not None:
        known = ", ".join(part for part in ("model", read.table, read.beside) if part)
        lines[-1] += f"; save(named({known}), {request.model_file!r})"
    return ["; ".join(_imports(request, lines)), *lines]


def select_code(request: FitRequest, inputs: Inputs, call: str) -> list[str]:
    """Return lines of Python: what to import and set, how to read, and the question."""
    read = _reading(request, inputs)
    lines = [*read.lines, f"{'X, y' if ', ' in read.rows.partition('(')[0] else 'X'} = {read.rows}"]
    names = [*(["Standardizer"] if request.standardizes else []), *(["config"] if request.settings else [])]
    found = [f"from gramian import {', '.join(names)}"] if names else []
    found.append(f"from gramian.selection import {call.partition('(')[0]}")
    return ["; ".join([*found, *_readers(lines), *_settings(request)]), *lines, f"print({call})"]


def _imports(request: FitRequest, lines: list[str]) -> list[str]:
    more = [
        name for name in ("config", "rows", "save") if any(f"{name}(" in line.replace("_rows(", "(") for line in lines)
    ]
    more += ["config"] if request.settings else []
    own, *others = imports(request.model(), *more)
    cluster = []
    if request.scheduler is not None:
        address = "" if request.scheduler == "local" else repr(request.scheduler)
        cluster = [f"from dask.distributed import Client; client = Client({address})"]
    return [own, *_readers(lines), *others, *_settings(request), *cluster]


def _readers(lines: list[str]) -> list[str]:
    names = [name for name in FROM_TABLES if any(f"{name}(" in line for line in lines)]
    return [f"from gramian.tables import {', '.join(names)}"] if names else []


def _settings(request: FitRequest) -> list[str]:
    return [f"config({arguments(**request.settings)})"] if request.settings else []


def _reading(request: FitRequest, inputs: Inputs) -> Reading:
    given, chosen = reading(request), request.columns
    if inputs.streamed:
        return _streaming(request, given)
    if request.targets is None and request.y_table is None:
        read = f"read_table({arguments([request.table], columns=chosen, **given)})"
        if request.record.needs == "label":
            return Reading(
                f"table.values, table.labels[{request.label!r}]", [f"table = {read}"], "table", repr(request.label)
            )
        if request.model_file is None:
            return Reading(f"{read}.values", [], "")
        return Reading("table.values", [f"table = {read}"], "table")
    files = [request.table] if request.y_table is None else [request.table, request.y_table]
    read = f"x, y = read_views({arguments(files, x_columns=chosen, y_columns=request.targets, **given)})"
    if not request.record.takes("target"):
        labels = f"y.labels[{request.label!r}]"
        classes = bool(request.record.needs)
        return Reading(
            f"x.values, {labels}" if classes else "x.values", [read], "x", repr(request.label) if classes else ""
        )
    column = "[:, 0]" if np.ndim(inputs.y) == 1 else ""
    return Reading(f"x.values, y.values{column}", [read], "x", "y")


def _streaming(request: FitRequest, given: dict[str, Any]) -> Reading:
    opening = "rows" if request.scheduler is None else "remote_rows"

    def opened(name: str, columns: list[str] | None, **more: Any) -> str:
        return f"{opening}({arguments([name], columns=columns, **more, **given)})"

    if request.y_table is not None:
        x, y = opened(request.table, request.columns), opened(request.y_table, request.targets)
        return Reading("X, y", [f"X = {x}; y = {y}"], "X", "y")
    x = opened(request.table, request.columns, y_columns=request.targets)
    if request.targets is not None:
        return Reading("X, X.y", [f"X = {x}"], "X", "X.y")
    return Reading(x, [], "") if request.model_file is None else Reading("X", [f"X = {x}"], "X")


def _fitting(request: FitRequest, rows: str) -> str:
    model = construction(request.model(), request.arguments)
    last = "model[-1]" if request.standardizes else "model"
    X = rows.partition(", ")[0]
    if request.record.size == "n_clusters":
        streamed = rows == "X" or rows.startswith(("rows(", "remote_rows("))
        labels = f"model.predict({rows})" if streamed else f"{last}.labels_"
        return f"model = {model}; distances = model.fit_transform({rows}); clusters = {labels}"
    if request.record.needs == "view":
        return f"model = {model}.fit({rows}); x_scores, y_scores = model.transform({rows})"
    if not hasattr(request.record.estimator, "transform"):
        return f"model = {model}.fit({rows}); predictions = model.predict({X})"
    if request.model_file is None:
        return f"scores = {model}.fit_transform({rows})"
    return f"model = {model}; scores = model.fit_transform({rows})"
