"""``gramian compare``: several methods on one table, a line each."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from gramian import GramianWarning
from gramian.cli import options as o
from gramian.cli.fit import fit_inputs
from gramian.cli.inputs import Inputs, gather
from gramian.cli.options import Request
from gramian.cli.outputs import UsageError, dumps, in_options, remarks, say, some, working
from gramian.construction import steps_of
from gramian.registry import ARGUMENTS, record_of
from gramian.results import Array, duration, percent, plural, text_table
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
#: Outer folds: what a method needs -> parts into which rows are split to judge it.
OUTER_FOLDS = {"target": 10, "label": 5}


@o.options(
    "table methods components scale columns target y_table label missing encode dates read kernel ridge seed memory "
    "threads quiet json",
    methods=o.option(
        metavar="A,B",
        autocompletion=o.complete_methods,
        help="Methods; all that suit the other options if not given.",
    ),
    components=o.option(
        "-k",
        "--components",
        metavar="K",
        help="Components: a number, a share of variance, or auto: with --target or --label the number of least error "
        "in the inner folds, which may be more than the select command decides; otherwise as in the fit command.",
    ),
    ridge=o.option(metavar="R", help="Penalty of the methods that have one."),
)
def compare(request: Request) -> None:
    """Compare the methods that are named, or all that suit."""
    chosen = o.names(request.methods) or _methods_for(request)
    for option in request.options:
        if not any(o.method_named(name).takes(option) for name in chosen):
            raise UsageError(f"--{option} goes with none of {', '.join(chosen)}.")
    table, lines = compare_methods(request, chosen)
    facts = {"source": table.source, "dropped": remarks(table), "methods": [asdict(line) for line in lines]}
    print(dumps(facts) if request.json else _text(table, lines, quiet=request.quiet))
    if all(line.failed for line in lines):
        raise ValueError("no method could be fitted.")


def _methods_for(request: Request) -> list[str]:
    """Methods to compare if none are named: those that need what is given, but for clusters."""
    needs = "label" if request.label else "view" if request.y_table else "target" if request.targets else ""
    found = {name: o.method_named(name) for name in o.methods_where(needs)}
    imputing = {name: record for name, record in found.items() if record.has("missing")}
    chosen = imputing if request.missing == "em" and imputing else found
    return [name for name, record in chosen.items() if not record.clusters]


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


def compare_methods(request: Request, methods: list[str]) -> tuple[Table, list[Line]]:
    """Read the table once, and fit one method after the other."""
    asked = [_ask(request, name) for name in methods]
    with working(request) as bar:
        with bar.step("reading"):
            imputes = all(each.record.has("missing") for each in asked)
            tables = {each.record.needs: gather(each, imputes=imputes) for each in asked}
        lines = []
        for each in asked:
            with bar.step(each.method):
                lines.append(_line(each, tables[each.record.needs]))
    return tables[asked[0].record.needs].table, lines


def _ask(request: Request, name: str) -> Request:
    """One method out of the options of all: each takes those it knows, one that none knows is refused."""
    each = replace(request, method=name)
    known = {option: value for option, value in request.options.items() if each.record.takes(option)}
    size = request.n_components if each.record.size == "n_components" else None
    if size == "auto" and not each.record.auto:
        size = None
    each = replace(each, options=known, n_components=size)
    try:
        each.check()
    except UsageError as error:
        raise UsageError(str(error).replace("--method ", "--methods ")) from error
    return each


def _line(request: Request, inputs: Inputs) -> Line:
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


def _tune(request: Request, inputs: Inputs) -> Tuned:
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
    head = [f"{table.source}: {plural(n, 'row')}, {plural(d, 'column')}"]
    if table.dropped:
        head.append(f"set aside: {some(table.dropped)}")
    rows = [("method", "k", "time", "measure", ""), *map(_cells, found)]
    lines = [text_table(rows)]
    tuned = [(f"  {line.method}", line.tuned) for line in found if line.tuned]
    if tuned and not quiet:
        above = "; k above is tuned on all rows" if any(line.size is not None for line in found if line.tuned) else ""
        lines += [f"tuned by nested cross-validation (least error of inner folds{above}):", text_table(tuned)]
    return "\n".join([*([] if quiet else head), *lines])


def _cells(line: Line) -> tuple[str, ...]:
    if line.failed:
        return (line.method, "", "", "failed", line.failed)
    size = "" if line.size is None else str(line.size)
    return (line.method, size, duration(line.seconds), line.name, line.text)
