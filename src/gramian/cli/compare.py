"""The work behind ``gramian compare``: several methods on one table, a line each."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, cross_val_predict, cross_val_score

from gramian import GramianWarning
from gramian.cli.bar import Bar
from gramian.cli.errors import UsageError, say
from gramian.cli.fit import Fitted, fit_inputs
from gramian.cli.inputs import Inputs, gather
from gramian.cli.methods import METHODS
from gramian.cli.request import FitRequest
from gramian.config import config
from gramian.estimators.merit import merit
from gramian.results import percent
from gramian.tables import Table

#: Parts into which rows are split to judge a classifier.
FOLDS = 5
#: The same for a regression; what the regressions on components take by default.
REGRESSION_FOLDS = 10


@dataclass(frozen=True)
class Line:
    """What one method gave: its size, its seconds, a figure with its name, or why it failed."""

    method: str
    size: int | None = None
    seconds: float = 0.0
    name: str = ""
    figure: float | None = None
    text: str = ""
    failed: str = ""


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
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always", GramianWarning)
            start = time.perf_counter()
            fitted = fit_inputs(request, inputs)
            seconds = time.perf_counter() - start
            name, figure, text = _figure(fitted)
    except (ValueError, TypeError, np.linalg.LinAlgError) as error:
        return Line(request.method, failed=" ".join(str(error).split()))
    for message in dict.fromkeys(str(warning.message) for warning in heard):
        say(f"warning: {request.method}: {message}")
    return Line(request.method, fitted.estimator.summary_.facts.get("n_components"), seconds, name, figure, text)


def _figure(fitted: Fitted) -> tuple[str, float | None, str]:
    """The figure by which a method is judged, with its name and how it reads."""
    facts = fitted.estimator.summary_.facts
    needs = fitted.request.row.needs
    if needs == "target":
        return _error_of_prediction(fitted)
    if needs == "label":
        accuracy = float(np.mean(cross_val_score(clone(fitted.model), fitted.inputs.X, fitted.inputs.y, cv=FOLDS)))
        return "accuracy", accuracy, f"{accuracy:.4f} in {FOLDS} folds"
    for name, read in FIGURES.items():
        if facts.get(name) is not None:
            label, value, text = read(facts[name])
            partial = facts["estimator"] == "ICA" and facts["n_components"] < facts["d"]
            return label, value, f"{text}, of the projection alone" if partial else text
    return "", None, "no figure"


def _error_of_prediction(fitted: Fitted) -> tuple[str, float, str]:
    estimator, X, y = fitted.estimator, fitted.inputs.X, fitted.inputs.y
    if hasattr(estimator, "cross_validate"):
        path = estimator.cross_validate(X, y)
        error = float(np.mean(path.rmsecv[estimator.n_components_]))
        return "RMSECV", error, f"{error:.4g} in {path.folds} folds"
    folds = min(REGRESSION_FOLDS, len(X))
    # Every so-manyth row, as the regressions on components do: sorted rows do no harm, and figures can be compared.
    place = np.arange(len(X)) % folds
    guesses = cross_val_predict(clone(fitted.model), X, y, cv=PredefinedSplit(place))
    columns = zip(y.reshape(len(y), -1).T, guesses.reshape(len(y), -1).T, strict=True)
    error = float(np.mean([merit(measured, guess).rmse for measured, guess in columns]))
    return "RMSECV", error, f"{error:.4g} in {folds} folds"


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
