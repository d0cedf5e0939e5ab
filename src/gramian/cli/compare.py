"""The work behind ``gramian compare``: several methods on one table, a line each."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian import GramianWarning
from gramian.cli.bar import Bar
from gramian.cli.errors import UsageError, in_options, say
from gramian.cli.fit import fit_inputs
from gramian.cli.inputs import Inputs, gather
from gramian.cli.methods import ARGUMENTS, METHODS
from gramian.cli.request import FitRequest, last_step
from gramian.config import config
from gramian.results import percent
from gramian.selection.tuning import Tuned, error_of, nested
from gramian.tables import Table

#: Outer folds: what a method needs -> parts into which rows are split to judge it.
FOLDS = {"target": 10, "label": 5}


@dataclass(frozen=True)
class Line:
    """What one method gave: its size, its seconds, a figure with its name, or why it failed; and what was tuned."""

    method: str
    size: int | None = None
    seconds: float = 0.0
    name: str = ""
    figure: float | None = None
    text: str = ""
    failed: str = ""
    tuned: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """All lines, in the order of the methods asked for."""

    table: Table
    lines: list[Line]


def methods_for(request: FitRequest) -> list[str]:
    """Methods to compare if none are named: those that need what is given."""
    needs = "label" if request.label else "view" if request.y_table else "target" if request.targets else ""
    return [name for name, method in METHODS.items() if method.needs == needs and method.size != "n_clusters"]


def compare(request: FitRequest, methods: list[str], *, quiet: bool = False) -> Comparison:
    """Read the table once, and fit one method after the other."""
    asked = [_ask(request, name) for name in methods]
    with Bar(quiet=quiet) as bar, config(**request.settings, progress=bar):
        with bar.step("reading"):
            tables = {each.row.needs: gather(each) for each in asked}
        lines = []
        for each in asked:
            with bar.step(each.method):
                lines.append(_line(each, tables[each.row.needs]))
    return Comparison(tables[asked[0].row.needs].table, lines)


def _ask(request: FitRequest, name: str) -> FitRequest:
    """One method out of the options of all: each takes those it knows, one that none knows is refused."""
    each = replace(request, method=name)
    known = {option: value for option, value in request.options.items() if each.row.takes(option)}
    size = request.n_components if each.row.size == "n_components" else None
    if size == "auto" and not each.row.auto:
        size = None
    each = replace(each, options=known, n_components=size)
    each.check()
    return each


def _line(request: FitRequest, inputs: Inputs) -> Line:
    tuned: Tuned | None = None
    figure: float | None
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", GramianWarning)
            start = time.perf_counter()
            if request.row.needs in FOLDS:
                tuned = _tune(request, inputs)
                estimator = last_step(tuned.model.fit(inputs.X, inputs.y))
                name, figure, text = _left_out(tuned, inputs.y)
            else:
                estimator = fit_inputs(request, inputs).estimator
                name, figure, text = _figure(estimator)
            seconds = time.perf_counter() - start
    except (ValueError, TypeError, np.linalg.LinAlgError) as error:
        return Line(request.method, failed=in_options(" ".join(str(error).split())))
    for message in dict.fromkeys(str(warning.message) for warning in heard):
        say(f"warning: {request.method}: {message}")
    size = estimator.summary_.facts.get("n_components")
    if tuned is None:
        return Line(request.method, size, seconds, name, figure, text)
    facts = {
        each: {"grid": grid, "chosen": tuned.chosen[each], "all_rows": tuned.final[each]}
        for each, grid in tuned.grids.items()
    }
    return Line(request.method, size, seconds, name, figure, text, tuned=str(tuned), parameters=facts)


def _tune(request: FitRequest, inputs: Inputs) -> Tuned:
    """Tune what the options leave open, in each outer fold and on all rows."""
    asked = request.n_components not in (None, "auto")
    fixed = {ARGUMENTS[option] for option in request.options} | ({request.row.size} if asked else set())
    folds = min(FOLDS[request.row.needs], len(inputs.X))
    return nested(request.model(), inputs.X, inputs.y, folds, fixed=fixed)


def _left_out(tuned: Tuned, y: Any) -> tuple[str, float, str]:
    """The error or accuracy of rows left out, with its name and how it reads."""
    error, folds = error_of(tuned.model, y, tuned.predictions), len(next(iter(tuned.chosen.values()), ()))
    if is_classifier(tuned.model):
        return "accuracy", 1 - error, f"{1 - error:.4f} in {FOLDS['label']} folds"
    return "RMSECV", error, f"{error:.4g} in {folds or min(FOLDS['target'], len(y))} folds"


def _figure(estimator: Any) -> tuple[str, float | None, str]:
    """The figure by which a method is judged, with its name and how it reads."""
    facts = estimator.summary_.facts
    for name, read in FIGURES.items():
        if facts.get(name) is not None:
            label, value, text = read(facts[name])
            partial = facts["estimator"] == "ICA" and facts["n_components"] < facts["d"]
            return label, value, f"{text}, of the projection alone" if partial else text
    return "", None, "no figure"


FIGURES: dict[str, Callable[[Any], tuple[str, float, str]]] = {
    "log_likelihood": lambda value: ("log-likelihood", float(value), f"{value:.6g}"),
    "share_of_variance": lambda value: ("variance", float(value), percent(value)),
    "held_out_correlations": lambda value: ("held-out correlation", float(value[0]), f"{value[0]:.4f}"),
    "score_correlations": lambda value: ("correlation", float(value[0]), f"{value[0]:.4f}"),
    "distortion": lambda value: ("distortion", float(value["mean"]), f"mean {value['mean']:.3g}"),
}


def check_methods(request: FitRequest, methods: list[str]) -> None:
    """Refuse an option that none of the methods takes."""
    for option in request.options:
        if not any(replace(request, method=name).row.takes(option) for name in methods):
            raise UsageError(f"--{option} goes with none of {', '.join(methods)}.")
