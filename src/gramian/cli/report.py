"""What a fit did, for people in a few lines and for machines as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gramian.cli.code import fit_code
from gramian.cli.errors import in_options
from gramian.cli.fit import Fitted
from gramian.cli.inputs import Inputs
from gramian.cli.request import FitRequest
from gramian.results import percent
from gramian.tables import Table

#: Reasons shown for columns that were set aside; JSON has all of them.
SHOWN = 3
COUNTED = {"n_components": "component", "n_clusters": "cluster", "n_neighbors": "neighbour"}


def as_text(fitted: Fitted) -> str:
    """Write about ten lines for people: the summary of the fit, and around it where things come from and went."""
    table, summary = fitted.table, fitted.estimator.summary_
    lines = [("table", source(fitted.request, fitted.inputs, fitted.n_rows))]
    if table.dropped:
        lines.append(("set aside", some(table.dropped)))
    chosen = _chosen(fitted)
    if chosen and not any(label == "chosen" for label, _ in summary.lines):
        lines.append(("chosen", chosen))
    lines += [*summary.lines, ("written", _files(fitted))]
    code = fit_code(fitted.request, fitted.inputs)
    lines += [("" if at else "Python", line) for at, line in enumerate(code)]
    return str(replace(summary, lines=tuple(lines)))


def as_json(fitted: Fitted) -> str:
    """Write the same, and the whole spectrum, as one JSON object."""
    table, request, inputs = fitted.table, fitted.request, fitted.inputs
    facts = {
        **fitted.estimator.summary_.to_dict(),
        "method": request.method,
        "chosen": _chosen(fitted),
        "source": table.source,
        **({"streamed": True} if inputs.streamed else {}),
        "columns": list(table.columns),
        "targets": list(inputs.targets),
        "labels": list(table.labels),
        "dropped": remarks(table),
        "files": [path for path in (request.output, request.model_file) if path is not None],
        "python": "\n".join(fit_code(request, inputs)),
    }
    return dumps(facts)


def dumps(facts: dict[str, Any]) -> str:
    """Write JSON that every reader takes: what is no number becomes null."""
    return json.dumps(_finite(facts), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and value - value != 0 else value


def source(request: FitRequest, inputs: Inputs, rows: int | None = None) -> str:
    """Say what was read from where."""
    n = len(inputs.X) if rows is None else rows
    text = f"{inputs.table.source}: {n:,} rows, {len(inputs.table.columns):,} columns"
    if inputs.streamed:
        text += ", streamed" if request.scheduler is None else f", read by the workers of {request.scheduler}"
    if not inputs.targets:
        return text
    if request.y_table is not None:
        return f"{text}; {request.y_table}: {_count(len(inputs.targets), 'column')}"
    what = {"label": "label", "target": "target", "view": "second view"}[request.row.needs]
    return f"{text}; {what} {ends(inputs.targets)}"


def _chosen(fitted: Fitted) -> str:
    """Say how many components there are, and why."""
    request = fitted.request
    if not request.row.size:
        return ""
    found = fitted.estimator.summary_.facts.get(request.row.size)
    many, asked = _count(found, COUNTED[request.row.size]), request.n_components
    if asked == "auto":
        decided = fitted.estimator.summary_.facts.get("chosen_by")
        if decided is not None:
            return f"{many}, by {decided}"
        return f"{many}, by cross-validation" if request.row.needs else f"{many}: enough to keep distances within eps"
    if asked is None:
        full = request.row.default is None and request.row.estimator().get_params()[request.row.size] is None
        return (
            f"{many}, all there are; -k asks for fewer" if full else f"{many}, the default; -k asks for another number"
        )
    if isinstance(asked, float):
        return f"{many}, the fewest that hold {percent(asked)} of the variance"
    return f"{many}, as asked" if found == asked else f"{many}; -k {asked} asked for more than there are"


def _files(fitted: Fitted) -> str:
    request, what, files = fitted.request, fitted.what, []
    if request.output is not None:
        files.append(f"{what} to {written(request.output, fitted.n_rows, fitted.written)}")
    if request.model_file is not None:
        files.append(f"model to {request.model_file}: {os.path.getsize(request.model_file):,} bytes")
    return "; ".join(files) or f"nothing; -o {what}.csv keeps the {what}, --model FILE the model"


def written(path: str, rows: int, names: Sequence[str]) -> str:
    """Say what went where."""
    where = "standard output" if path == "-" else path
    return f"{where}: {rows:,} rows, columns {ends(names)}"


def remarks(table: Table) -> list[str]:
    """What was set aside of a table, and why; remedies are options."""
    return [in_options(remark) for remark in table.dropped]


def some(reasons: Sequence[str]) -> str:
    """Write the first few of many sentences."""
    reasons = [in_options(reason) for reason in reasons]
    more = len(reasons) - SHOWN
    return "; ".join(reasons[:SHOWN]) + (f"; and {more} more (--json lists them)" if more > 0 else "")


def ends(names: Sequence[str]) -> str:
    """Write the first and last of many names."""
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, ..., {names[-1]}"


def _count(number: Any, word: str) -> str:
    return f"{number:,} {word}" + ("" if number == 1 else "s")
