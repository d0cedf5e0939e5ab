"""Python code that does what a command did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.cli.inputs import Inputs, reading
from gramian.cli.options import FitRequest
from gramian.construction import construction, imports
from gramian.tables.calls import arguments


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
    given, chosen, label = reading(request), request.columns, repr(request.label)
    if inputs.streamed:
        return _streaming(request, given)
    classes = request.record.needs == "label"
    if request.targets is None and request.y_table is None:
        read = f"read_table({arguments([request.table], columns=chosen, **given)})"
        if classes:
            return Reading("table.values", f"table.labels[{label}]", [f"table = {read}"], "table", label)
        if request.model_file is None:
            return Reading(f"{read}.values")
        return Reading("table.values", "", [f"table = {read}"], "table")
    files = [request.table] if request.y_table is None else [request.table, request.y_table]
    lines = [f"x, y = read_views({arguments(files, x_columns=chosen, y_columns=request.targets, **given)})"]
    if classes:
        return Reading("x.values", f"y.labels[{label}]", lines, "x", label)
    if not request.record.takes("target"):
        return Reading("x.values", "", lines, "x")
    return Reading("x.values", f"y.values{'[:, 0]' if np.ndim(inputs.y) == 1 else ''}", lines, "x", "y")


def _streaming(request: FitRequest, given: dict[str, Any]) -> Reading:
    opening = "rows" if request.scheduler is None else "remote_rows"
    more = {} if request.y_table is not None else {"y_columns": request.targets}
    x = f"{opening}({arguments([request.table], columns=request.columns, **more, **given)})"
    if request.y_table is not None:
        y = f"{opening}({arguments([request.y_table], columns=request.targets, **given)})"
        return Reading("X", "y", [f"X = {x}; y = {y}"], "X", "y")
    if request.targets is not None:
        return Reading("X", "X.y", [f"X = {x}"], "X", "X.y")
    return Reading(x) if request.model_file is None else Reading("X", "", [f"X = {x}"], "X")


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
