"""Python code that does what a command did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.cli.inputs import Inputs, reading
from gramian.cli.request import FitRequest
from gramian.reports.program import arguments


def fit_code(request: FitRequest, inputs: Inputs) -> list[str]:
    """Return lines of Python: what to import and set, how to read, and the fit."""
    rows, lines = _reading(request, inputs)
    lines += _fitting(request, rows)
    if request.model_file is not None:
        lines[-1] += f"; save(model, {request.model_file!r})"
    return ["; ".join(_imports(request, "\n".join(lines))), *lines]


def select_code(request: FitRequest, inputs: Inputs, call: str) -> list[str]:
    """Return lines of Python: what to import and set, how to read, and the question."""
    rows, lines = _reading(request, inputs)
    if not lines:
        lines = [f"X = {rows}"]
    names = [*(["Standardizer"] if request.standardizes else []), *(["config"] if request.settings else [])]
    found = [f"from gramian import {', '.join(names)}"] if names else []
    found.append(f"from gramian.selection import {call.partition('(')[0]}")
    return ["; ".join([*found, *_reader(request, "\n".join(lines))]), *lines, f"print({call})"]


def _imports(request: FitRequest, body: str) -> list[str]:
    names = [request.row.estimator.__name__]
    names += [*(["Standardizer"] if request.standardizes else []), *(["config"] if request.settings else [])]
    if request.model_file is not None:
        names.append("save")
    reader, *settings = _reader(request, body)
    pipeline = ["from sklearn.pipeline import make_pipeline"] if request.standardizes else []
    if request.scheduler is not None:
        address = "" if request.scheduler == "local" else repr(request.scheduler)
        cluster = [f"from dask.distributed import Client; client = Client({address})"]
        names_of = f"from gramian import {', '.join(names)}"
        return [names_of, "from gramian.tables import remote_rows", *pipeline, *settings, *cluster]
    if "rows(" in body:
        return [f"from gramian import {', '.join([*names, 'rows'])}", *pipeline, *settings]
    return [f"from gramian import {', '.join(names)}", reader, *pipeline, *settings]


def _reader(request: FitRequest, body: str) -> list[str]:
    """Import what reads tables, and set what is set."""
    reader = "read_views" if "read_views" in body else "read_table"
    settings = [f"config({arguments(**request.settings)})"] if request.settings else []
    return [f"from gramian.tables import {reader}", *settings]


def _reading(request: FitRequest, inputs: Inputs) -> tuple[str, list[str]]:
    """Expression for the arguments of ``fit``, and the lines that make them."""
    given, chosen = reading(request), request.columns
    if inputs.streamed:
        open_with = "rows" if request.scheduler is None else "remote_rows"
        if request.y_table is None:
            read = _call(open_with, [request.table], columns=chosen, y_columns=request.targets, **given)
            return (read, []) if request.targets is None else ("X, X.y", [f"X = {read}"])
        return "X, y", [
            f"X = {_call(open_with, [request.table], columns=chosen, **given)}; "
            f"y = {_call(open_with, [request.y_table], columns=request.targets, **given)}"
        ]
    if request.targets is None and request.y_table is None:
        read = f"read_table({arguments([request.table], columns=chosen, **given)})"
        if request.row.needs != "label":
            return f"{read}.values", []
        return "X, y", [f"table = {read}; X, y = table.values, table.labels[{request.label!r}]"]
    files = [request.table] if request.y_table is None else [request.table, request.y_table]
    read = f"read_views({arguments(files, x_columns=chosen, y_columns=request.targets, **given)})"
    if not request.row.takes("target"):
        return ("X, y" if request.row.needs else "X"), [f"x, y = {read}; X, y = x.values, y.labels[{request.label!r}]"]
    column = "[:, 0]" if np.ndim(inputs.y) == 1 else ""
    return "X, y", [f"x, y = {read}; X, y = x.values, y.values{column}"]


def _fitting(request: FitRequest, rows: str) -> list[str]:
    model = f"{request.row.estimator.__name__}({arguments(**request.arguments)})"
    if request.standardizes:
        model = f"make_pipeline(Standardizer(), {model})"
    last = "model[-1]" if request.standardizes else "model"
    if request.row.size == "n_clusters":
        labels = f"model.predict({rows})" if rows.startswith("rows(") else f"{last}.labels_"
        return [f"model = {model}; distances = model.fit_transform({rows}); clusters = {labels}"]
    if request.row.needs == "view":
        return [f"model = {model}.fit({rows}); x_scores, y_scores = model.transform({rows})"]
    if not hasattr(request.row.estimator, "transform"):
        return [f"model = {model}.fit({rows}); predictions = model.predict(X)"]
    if request.model_file is None:
        return [f"scores = {model}.fit_transform({rows})"]
    return [f"model = {model}; scores = model.fit_transform({rows})"]


def _call(name: str, words: Sequence[Any], **named: Any) -> str:
    return f"{name}({arguments(words, **named)})"
