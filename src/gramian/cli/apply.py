"""``gramian transform``, ``inverse``, ``predict``, ``score`` and ``inspect``: what one does with a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from gramian import models, rows
from gramian.cli import inputs, outputs
from gramian.cli import options as o
from gramian.cli.inputs import Loaded
from gramian.cli.options import Request
from gramian.estimators.base import as_fitted, as_it_was_fitted
from gramian.estimators.calibration_metrics import confusion, merit
from gramian.estimators.fitted_rows import role, rows_of_the_fit
from gramian.operators import Rows
from gramian.results import Array, FitSummary, plural
from gramian.tables import Table, TableError, match_rows, read_table

TRANSFORM_HELP = """Compute the scores of the rows of a table with a model.

Columns are matched by their names, in any order. Without -o the scores go to standard output.

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale --model wine.safetensors
  gramian transform wine.safetensors demo/wine.csv -o scores.csv
"""
INVERSE_HELP = """Reconstruct rows from their scores.

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale -o scores.csv --model wine.safetensors
  gramian inverse wine.safetensors scores.csv -o approximation.csv
"""
PREDICT_HELP = """Predict the rows of a table with a model.

Numbers, labels or clusters, whatever the model was fitted to predict.

\b
Example:
  gramian demo --output demo
  gramian fit demo/diabetes.csv --method pls --target progression -k auto --model pls.safetensors
  gramian predict pls.safetensors demo/diabetes.csv -o predictions.csv
"""
SCORE_HELP = """Measure how well a model does on the rows of a table.

Regression: errors, bias, R2 of each target; the errors of rows of the fit are called RMSEC, of new rows RMSEP. Labels:
accuracy. Two views: correlations. Densities: log-likelihood. Rows with the values of a row of the fit count as rows of
the fit; a table that has both is measured in two parts.

\b
Example:
  gramian demo --output demo
  gramian fit demo/iris.csv --method kernel-svm --label species --model svm.safetensors
  gramian score svm.safetensors demo/iris.csv
"""
INSPECT_HELP = """Show what a model file contains.

Class, parameters, versions, columns, and the summary of the fit.

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale --model wine.safetensors
  gramian inspect wine.safetensors
"""
#: Command -> method of the model.
CALLS = {"transform": "transform", "inverse": "inverse_transform", "predict": "predict"}
#: Targets whose errors are shown; JSON has all of them.
TARGETS_SHOWN = 6
#: Which rows a table holds -> what is said of them, and of those of one kind.
ROWS_TOLD = {
    "": "not known whether of the fit: the model keeps no hashes of its rows",
    "fit": "all of the fit: errors of new rows are larger on average",
    "mixed": "some of the fit, some new: measured apart",
    "new": "new: none has the values of a row of the fit",
}
PART_TOLD = {"fit": "have the values of a row of the fit", "new": "are new"}
#: What was measured: lines for people, facts for machines.
Measures = tuple[list[tuple[str, str]], dict[str, Any]]


OUTPUT = o.option("-o", "--output", kind=str, default="-", metavar="FILE", help=o.OUTPUT_HELP)


@o.options("model_file table output y_table ids drop read stream quiet json", output=OUTPUT)
def transform(request: Request) -> None:
    """Write scores."""
    _apply("transform", request)


@o.options(
    "model_file table output read quiet json", table=o.argument("SCORES", "File of scores to read."), output=OUTPUT
)
def inverse(request: Request) -> None:
    """Write rows of which only scores are known."""
    _apply("inverse", request)


@o.options("model_file table output ids drop read stream quiet json", output=OUTPUT)
def predict(request: Request) -> None:
    """Write predictions."""
    _apply("predict", request)


def _apply(verb: str, request: Request) -> None:
    """Load the model, read the table, do what the verb says, write, and say so."""
    outputs.check_streams(request)
    outputs.check_outputs(request, {"--output": request.output})
    with outputs.working(request) as bar:
        with bar.step("loading the model"):
            loaded = inputs.load_model(request)
        if not hasattr(loaded.model, CALLS[verb]):
            can = " and ".join(f"gramian {name}" for name, call in CALLS.items() if hasattr(loaded.model, call))
            raise outputs.UsageError(
                f"{loaded.path} holds {loaded.name}, for which there is no {verb}; there is {can}."
            )
        with bar.step("reading"):
            if _streams(verb, request, loaded):
                table = inputs.as_table(inputs.open_for(loaded, request))
            elif verb == "inverse":  # scores have no categories and no missing values
                with inputs.columns_of_a_model():
                    table = read_table(request.table, **request.dialect)
            else:
                needed = loaded.targets if loaded.record.needs == "view" else ()
                table = inputs.read_rows(request, loaded, needed, ids=request.ids)
        with bar.step(verb):
            result = _result(verb, request, loaded, table)
        with bar.step("writing"):
            to = str(request.output)
            names, n = result.write(to, table.annotations)
    lines = [*_table_lines(table, n), (result.what, outputs.written(to, n, names))]
    facts = {"n": n, "columns": names, "dropped": outputs.remarks(table), "files": [to]}
    outputs.tell(request, lambda: _text(loaded, lines), lambda: {**_known(loaded, table), **facts})


def _known(loaded: Loaded, table: Table) -> dict[str, Any]:
    return {"estimator": loaded.name, "model": loaded.path, "source": table.source}


def _table_lines(table: Table, n: int) -> list[tuple[str, str]]:
    how = ", streamed" if isinstance(table.values, Rows) else ""
    lines = [("table", f"{table.source}: {plural(n, 'row')}, {plural(len(table.columns), 'numeric column')}{how}")]
    return lines if table.rows is None else [*lines, ("set aside", table.dropped[-1])]


def _text(loaded: Loaded, lines: Sequence[tuple[str, str]]) -> str:
    return str(FitSummary((loaded.name, loaded.path), tuple(lines)))


def _streams(verb: str, request: Request, loaded: Loaded) -> bool:
    asked = request.stream or inputs.is_many(request.table)
    if not asked and not inputs.too_large(request.table):
        return False
    needs_whole = (loaded.reading, request.ids, request.missing, request.table == "-", verb == "inverse")
    if any(needs_whole) and asked:
        raise outputs.UsageError(
            f"{request.table} cannot be read as a stream: it goes with transform and predict of a model without "
            "encoded columns, of files, and without --ids and --missing."
        )
    return not any(needs_whole)


def _result(verb: str, request: Request, loaded: Loaded, table: Table) -> outputs.Columns:
    """What the model makes of the table."""
    model = loaded.model
    if verb == "inverse":
        names = outputs.score_names(model)
        scores = inputs.pick(table, names, len(names), loaded)
        return outputs.Columns("rows", np.asarray(model.inverse_transform(scores)), loaded.names())
    streamed = isinstance(table.values, Rows)
    X = table.values if streamed else inputs.pick(table, loaded.columns, loaded.width, loaded)
    if verb == "predict":
        return outputs.predictions(model, X, loaded.targets)
    if loaded.record.needs != "view":
        return outputs.scores(model, X)
    if not streamed:
        return outputs.scores(model, X, _second_view(request, loaded, table))
    second = rows(request.y_table or request.table, loaded.targets, **request.dialect) if loaded.targets else None
    return outputs.scores(model, X, second)


def _second_view(request: Request, loaded: Loaded, table: Table) -> Array | None:
    if request.y_table is None and not set(loaded.targets) <= set(table.columns):
        missing = ", ".join(loaded.targets[:3])
        outputs.say(f"note: {table.source} has no second view ({missing} ...): scores of the first alone.")
        return None
    second = table if request.y_table is None else inputs.read_rows(replace(request, table=request.y_table), loaded)
    Y = inputs.pick(
        second, loaded.targets or None, len(loaded.targets), loaded, told=False, drops=request.y_table is None
    )
    if len(Y) != len(table.values):
        raise TableError(
            f"{table.source} has {len(table.values):,} rows and {second.source} has {len(Y):,}; they must be the same."
        )
    return Y


@o.options("model_file table target y_table drop read quiet json")
def score(request: Request) -> None:
    """Load the model, read the table, compare what the model says with what is there, and print it."""
    with outputs.working(request) as bar:
        with bar.step("loading the model"):
            loaded = inputs.load_model(request)
        names = tuple(request.targets or loaded.targets)
        with bar.step("reading"):
            table, truth = _read_truth(request, loaded, names)
        X, y = inputs.pick(table, loaded.columns, loaded.width, loaded), _truth(loaded, truth, names)
        with bar.step("scoring"):
            whose = role(loaded.model, X)
            lines, facts = _measures(loaded, X, y, names, whose)
            if whose == "mixed":
                lines, facts["parts"] = _parts(loaded, X, y, names)
    n = len(table.values)
    lines = [("rows", ROWS_TOLD[whose]), *lines]
    if request.quiet and not request.json:
        print("\n".join(f"{label} {text}" for label, text in lines))
    text = _text(loaded, [*_table_lines(table, n), *lines])
    outputs.tell(request, lambda: text, lambda: {**_known(loaded, table), "n": n, "rows": whose, **facts})


def _read_truth(request: Request, loaded: Loaded, names: tuple[str, ...]) -> tuple[Table, Table]:
    """Rows, and the truth about them, from the same table or from another."""
    labels = names if loaded.classifies else ()
    if request.y_table is None:
        table = inputs.read_rows(request, loaded, names, labels=labels)
        return table, table
    table = inputs.read_rows(request, loaded)
    truth = read_table(request.y_table, () if labels else None, labels=labels, **request.dialect)
    return match_rows(table, truth)


def _truth(loaded: Loaded, truth: Table, names: tuple[str, ...]) -> Array | None:
    """Labels, targets or the second view to compare with; None of models that need nothing beside the rows."""
    model = loaded.model
    if loaded.classifies:
        if len(names) != 1:
            raise outputs.UsageError(f"{loaded.path} needs the column of labels: --target NAME.")
        return inputs.labels_of(truth, names[0])
    if loaded.record.needs == "view" or (hasattr(model, "predict") and not loaded.record.clusters):
        if not names:
            raise outputs.UsageError(f"{loaded.path} does not know the name of its target: --target NAME.")
        return inputs.pick(truth, names, len(names), loaded, told=False)
    return None


def _parts(loaded: Loaded, X: Array, y: Array | None, names: tuple[str, ...]) -> Measures:
    """Measures of the rows of the fit, and of the new ones."""
    known = np.asarray(rows_of_the_fit(loaded.model, X))
    lines: list[tuple[str, str]] = []
    facts = {}
    for whose, some in (("fit", known), ("new", ~known)):
        count = int(some.sum())
        found, facts[whose] = _measures(loaded, X[some], None if y is None else y[some], names, whose)
        facts[whose]["n"] = count
        lines += [("", f"{count:,} of {len(X):,} rows {PART_TOLD[whose]}"), *found]
    return lines, facts


def _measures(loaded: Loaded, X: Array, y: Array | None, names: tuple[str, ...], whose: str) -> Measures:
    model, estimator = loaded.model, loaded.estimator
    if y is not None:
        if loaded.classifies:
            return _accuracy(loaded, X, y, whose)
        if loaded.record.needs == "view":
            return _correlations(loaded, X, y, names, whose)
        return _errors(model.predict(X), y, names, whose)
    if loaded.record.clusters:
        inertia = -float(model.score(X))
        return [("inertia", f"{inertia:.6g}")], {"inertia": inertia}
    if hasattr(estimator, "score_samples"):
        mean = float(model.score(X))
        text = f"{mean:.6g} for a row, {mean * len(X):.6g} in all"
        return [("log-likelihood", text)], {"log_likelihood_per_row": mean}
    if hasattr(estimator, "reconstruction_error"):
        error = float(model.reconstruction_error(X))
        units = ", in standard deviations of the columns" if as_fitted(estimator, "scale") else ""
        return [("reconstruction", f"mean squared distance {error:.6g}{units}")], {"reconstruction_error": error}
    raise outputs.UsageError(
        f"{loaded.path} holds {loaded.name}, which has no measure of its own. Compare its scores instead."
    )


def _errors(guesses: Array, measured: Array, names: tuple[str, ...], whose: str) -> Measures:
    found = [merit(a, b, whose) for a, b in zip(measured.T, guesses.reshape(len(guesses), -1).T, strict=True)]
    facts = {"targets": {name: asdict(each) for name, each in zip(names, found, strict=True)}}
    lines = [(name, str(each)) for name, each in zip(names, found, strict=True)]
    if len(lines) > TARGETS_SHOWN:
        lines[TARGETS_SHOWN:] = [("", f"and {len(lines) - TARGETS_SHOWN} more targets (--json lists them)")]
    return lines, facts


def _accuracy(loaded: Loaded, X: Array, truth: Array, whose: str) -> Measures:
    guesses = np.asarray(loaded.model.predict(X)).astype(str)
    classes = sorted({*truth, *guesses})
    counts = confusion(truth, guesses, classes)
    share, right = float(np.mean(guesses == truth)), int(np.trace(counts))
    of = {"fit": "rows of the fit", "new": "new rows"}.get(whose, "rows")
    lines = [("accuracy", f"{share:.4f}: {right:,} of {len(truth):,} {of}")]
    for at, name in enumerate(classes):
        wrong = [f"{counts[at, j]:,} predicted as {classes[j]}" for j in np.flatnonzero(counts[at]) if j != at]
        lines.append((str(name), ", ".join([f"{counts[at, at]:,} of {counts[at].sum():,} correct", *wrong])))
    return lines, {"accuracy": share, "classes": [str(name) for name in classes], "confusion": counts.tolist()}


def _correlations(loaded: Loaded, X: Array, Y: Array, names: tuple[str, ...], whose: str) -> Measures:
    first, second = loaded.model.transform(X, Y)
    with np.errstate(invalid="ignore", divide="ignore"):  # scores that are all the same have no correlation
        ok = len(X) > 1
        found = [float(np.corrcoef(a, b)[0, 1]) if ok else np.nan for a, b in zip(first.T, second.T, strict=True)]
    lines, facts = [("correlations", ", ".join(f"{each:.4f}" for each in found))], {"correlations": found}
    if not hasattr(loaded.model, "predict"):
        return lines, facts
    more, errors = _errors(loaded.model.predict(X), Y, names, whose)
    return lines + more, {**facts, **errors}


@o.options("model_file json")
def inspect(request: Request) -> None:
    """Read the header, and load the model too: then it is known to be whole, and its parameters are."""
    card, loaded = models.inspect(str(request.model_file)), inputs.load_model(request)
    facts = {
        "model": loaded.path,
        "estimator": loaded.name,
        "parameters": {
            name: _plain(value) for name, value in as_it_was_fitted(loaded.estimator).get_params(deep=False).items()
        },
        "scaled_first": loaded.model is not loaded.estimator,
        "versions": card.versions,
        "columns": None if loaded.columns is None else list(loaded.columns),
        "targets": list(loaded.targets),
        "arrays": {name: list(shape) for name, shape in card.arrays.items()},
        "bytes": card.bytes,
        "summary": card.summary,
    }
    outputs.tell(request, lambda: _inspected(facts), lambda: facts)


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _inspected(facts: dict[str, Any]) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())
    numbers = f"{len(facts['arrays']):,} arrays, {facts['bytes']:,} bytes"
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    lines = [("parameters", given), ("file", f"{numbers}, written by {versions}")]
    if facts["scaled_first"]:
        lines.append(("first", "columns are divided by their standard deviations"))
    if facts["columns"] is not None:
        lines.append(("columns", f"{len(facts['columns']):,}: {outputs.ends(facts['columns'])}"))
    if facts["targets"]:
        lines.append(("targets", outputs.ends(facts["targets"])))
    head = str(FitSummary((facts["estimator"], facts["model"]), tuple(lines)))
    return f"{head}\n\n{facts['summary']}"
