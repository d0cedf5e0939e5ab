"""``gramian compare``: several methods on one table, a line each."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from typer import Option

from gramian import GramianWarning
from gramian.cli import options as o
from gramian.cli.fit import fit_inputs
from gramian.cli.inputs import Inputs, gather
from gramian.cli.options import FitRequest
from gramian.cli.outputs import Bar, UsageError, dumps, in_options, remarks, say, some
from gramian.config import config
from gramian.construction import steps_of
from gramian.registry import ARGUMENTS, record_of
from gramian.results import Array, percent
from gramian.selection.tuning import Tuned, error_of, nested
from gramian.tables import Table

HELP = """Compare several methods on one table.

Each line has the number of components, the seconds and a measure: the share of variance, the log-likelihood, the
correlation of the first pair, or (with --target or --label) the cross-validated error or accuracy. Options go to the
methods that take them. With --target or --label every method is tuned by nested cross-validation: number of components
or neighbours, ridge, kernel and penalty C, except those that an option sets.

\b
Example:
  gramian demo --output demo
  gramian compare demo/wine.csv --methods pca,kernel-pca,ica,factor-analysis -k 3 --scale
  gramian compare demo/diabetes.csv --target progression -k auto
"""
Components = Annotated[
    str | None,
    Option(
        "-k",
        "--components",
        metavar="K",
        help="Components: a number, a share of variance, or auto: with --target or --label the number of least error "
        "in the inner folds, which may be more than the select command decides; otherwise as in the fit command.",
    ),
]
#: Outer folds: what a method needs -> parts into which rows are split to judge it.
OUTER_FOLDS = {"target": 10, "label": 5}


def compare(
    table: o.TableFile,
    methods: Annotated[
        str | None,
        Option(
            metavar="A,B",
            autocompletion=o.complete_methods,
            help="Methods; all that suit the other options if not given.",
        ),
    ] = None,
    components: Components = None,
    scale: o.Scale = None,
    columns: o.ColumnNames = None,
    target: o.Targets = None,
    y_table: o.SecondTable = None,
    label: o.Label = None,
    missing: o.Missing = None,
    read: o.Read = None,
    kernel: o.Kernel = None,
    ridge: Annotated[str | None, Option(metavar="R", help="Penalty of the methods that have one.")] = None,
    seed: Annotated[int | None, Option(metavar="N", help="Seed of iterative solvers.")] = None,
    memory: o.Memory = None,
    threads: o.Threads = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> o.Job:
    """Return the job of ``gramian compare``."""
    request = o.request_of(locals())

    def job() -> None:
        chosen = o.names(methods) or _methods_for(request)
        _check(request, chosen)
        found, lines = compare_methods(request, chosen, quiet=quiet or json)
        print(_json(found, lines) if json else _text(found, lines, quiet=quiet))
        if all(line.failed for line in lines):
            raise ValueError("no method could be fitted.")

    return job


def _methods_for(request: FitRequest) -> list[str]:
    """Methods to compare if none are named: those that need what is given, but for clusters."""
    needs = "label" if request.label else "view" if request.y_table else "target" if request.targets else ""
    return [name for name in o.methods_where(needs) if not o.method_named(name).clusters]


def _check(request: FitRequest, methods: list[str]) -> None:
    """Refuse an option that none of the methods takes."""
    for option in request.options:
        if not any(o.method_named(name).takes(option) for name in methods):
            raise UsageError(f"--{option} goes with none of {', '.join(methods)}.")


@dataclass(frozen=True)
class Line:
    """What one method gave: its size, its seconds, a measure with its name, or why it failed; and what was tuned."""

    method: str
    size: int | None = None
    seconds: float = 0.0
    name: str = ""
    figure: float | None = None
    text: str = ""
    failed: str = ""
    tuned: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)


def compare_methods(request: FitRequest, methods: list[str], *, quiet: bool = False) -> tuple[Table, list[Line]]:
    """Read the table once, and fit one method after the other."""
    asked = [_ask(request, name) for name in methods]
    with Bar(quiet=quiet) as bar, config(**request.settings, progress=bar):
        with bar.step("reading"):
            tables = {each.record.needs: gather(each) for each in asked}
        lines = []
        for each in asked:
            with bar.step(each.method):
                lines.append(_line(each, tables[each.record.needs]))
    return tables[asked[0].record.needs].table, lines


def _ask(request: FitRequest, name: str) -> FitRequest:
    """One method out of the options of all: each takes those it knows, one that none knows is refused."""
    each = replace(request, method=name)
    known = {option: value for option, value in request.options.items() if each.record.takes(option)}
    size = request.n_components if each.record.size == "n_components" else None
    if size == "auto" and not each.record.auto:
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
            if request.record.needs in OUTER_FOLDS:
                tuned = _tune(request, inputs)
                estimator = steps_of(tuned.model.fit(inputs.X, inputs.y))[-1]
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
    fixed = {ARGUMENTS[option] for option in request.options} | ({request.record.size} if asked else set())
    folds = min(OUTER_FOLDS[request.record.needs], len(inputs.X))
    return nested(request.model(), inputs.X, inputs.y, folds, fixed=fixed)


def _left_out(tuned: Tuned, y: Array) -> tuple[str, float, str]:
    """The error or accuracy of rows left out, with its name and how it reads."""
    error, folds = error_of(tuned.model, y, tuned.predictions), len(next(iter(tuned.chosen.values()), ()))
    if is_classifier(tuned.model):
        return "accuracy", 1 - error, f"{1 - error:.4f} in {OUTER_FOLDS['label']} folds"
    return "RMSECV", error, f"{error:.4g} in {folds or min(OUTER_FOLDS['target'], len(y))} folds"


def _figure(estimator: BaseEstimator) -> tuple[str, float | None, str]:
    """The measure by which a method is judged: its name, its value and its text."""
    facts = estimator.summary_.facts
    for name, read in MEASURES.items():
        if facts.get(name) is not None:
            label, value, text = read(facts[name])
            record = record_of(estimator)
            partial = record is not None and record.projects and facts["n_components"] < facts["d"]
            return label, value, f"{text}, of the projection alone" if partial else text
    return "", None, "no measure"


MEASURES: dict[str, Callable[[Any], tuple[str, float, str]]] = {
    "log_likelihood": lambda value: ("log-likelihood", float(value), f"{value:.6g}"),
    "share_of_variance": lambda value: ("variance", float(value), percent(value)),
    "held_out_correlations": lambda value: ("held-out correlation", float(value[0]), f"{value[0]:.4f}"),
    "score_correlations": lambda value: ("correlation", float(value[0]), f"{value[0]:.4f}"),
    "distortion": lambda value: ("distortion", float(value["mean"]), f"mean {value['mean']:.3g}"),
}


def _text(table: Table, found: list[Line], *, quiet: bool) -> str:
    n, d = table.values.shape
    head = [f"{table.source}: {n:,} rows, {d:,} columns"]
    if table.dropped:
        head.append(f"set aside: {some(table.dropped)}")
    rows = [("method", "k", "seconds", "measure", ""), *map(_cells, found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    tuned = [(line.method, line.tuned) for line in found if line.tuned]
    if tuned and not quiet:
        width = max(len(method) for method, _ in tuned)
        lines += ["tuned by nested cross-validation (least error of inner folds; k above is tuned on all rows):"]
        lines += [f"  {method:<{width}}  {text}" for method, text in tuned]
    return "\n".join([*([] if quiet else head), *lines])


def _cells(line: Line) -> tuple[str, ...]:
    if line.failed:
        return (line.method, "", "", "failed", line.failed)
    size = "" if line.size is None else str(line.size)
    return (line.method, size, f"{line.seconds:.2g}", line.name, line.text)


def _json(table: Table, found: list[Line]) -> str:
    lines: list[dict[str, Any]] = [asdict(line) for line in found]
    return dumps({"source": table.source, "dropped": remarks(table), "methods": lines})
