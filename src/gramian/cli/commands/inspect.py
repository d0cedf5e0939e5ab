"""``gramian inspect``."""

from __future__ import annotations

from typing import Any

from gramian import models
from gramian.cli import options as o
from gramian.cli.loaded import load_model
from gramian.cli.report import dumps, ends
from gramian.results import FitSummary

HELP = """What a model file holds.

Class, parameters, versions, columns, and the summary of the fit.

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale --model wine.safetensors
  gramian inspect wine.safetensors
"""


def inspect(model: o.ModelFile, json: o.Json = False) -> o.Job:
    """Return the job of ``gramian inspect``."""

    def job() -> None:
        facts = _facts(model)
        print(dumps(facts) if json else _text(facts))

    return job


def _facts(path: str) -> dict[str, Any]:
    """Read the header, and load the model too: then it is known to be whole, and its parameters are."""
    card, loaded = models.inspect(path), load_model(path)
    return {
        "model": path,
        "estimator": loaded.name,
        "parameters": {name: _plain(value) for name, value in loaded.estimator.get_params(deep=False).items()},
        "scaled_first": loaded.model is not loaded.estimator,
        "versions": card.versions,
        "columns": None if loaded.columns is None else list(loaded.columns),
        "targets": list(loaded.targets),
        "arrays": {name: list(shape) for name, shape in card.arrays.items()},
        "bytes": card.bytes,
        "summary": card.summary,
    }


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _text(facts: dict[str, Any]) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())
    numbers = f"{len(facts['arrays']):,} arrays, {facts['bytes']:,} bytes"
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    lines = [("parameters", given), ("file", f"{numbers}, written by {versions}")]
    if facts["scaled_first"]:
        lines.append(("first", "columns are divided by their standard deviations"))
    if facts["columns"] is not None:
        lines.append(("columns", f"{len(facts['columns']):,}: {ends(facts['columns'])}"))
    if facts["targets"]:
        lines.append(("targets", ends(facts["targets"])))
    head = str(FitSummary((facts["estimator"], facts["model"]), tuple(lines)))
    return f"{head}\n\n{facts['summary']}"
