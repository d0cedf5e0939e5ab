"""``gramian transform``, ``inverse``, ``predict`` and ``score``: what one does with a model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import is_classifier
from sklearn.metrics import confusion_matrix

from gramian import rows
from gramian.cli import options as o
from gramian.cli import outputs
from gramian.cli.inputs import as_table, labels_of, too_large
from gramian.cli.model_file import Loaded, load_model, open_for, pick, read_rows
from gramian.cli.outputs import Columns, check_outputs, dumps, remarks, written
from gramian.cli.terminal import Bar, UsageError, say
from gramian.config import config
from gramian.estimators.calibration_metrics import merit
from gramian.estimators.fitted_rows import role
from gramian.operators import Rows
from gramian.results import Array, FitSummary
from gramian.tables import Table, TableError, match_rows, read_table
from gramian.tables.row_streams import is_many

TRANSFORM_HELP = """Scores of the rows of a table by a model.

Columns are found by their names, in any order. Without -o the scores go to standard output.

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale --model wine.safetensors
  gramian transform wine.safetensors demo/wine.csv -o scores.csv
"""
INVERSE_HELP = """Rows that belong to scores: the way back.

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale -o scores.csv --model wine.safetensors
  gramian inverse wine.safetensors scores.csv -o approximation.csv
"""
PREDICT_HELP = """Predictions for the rows of a table.

Numbers, labels or clusters, whatever the model was fitted to predict.

\b
Example:
  gramian demo --output demo
  gramian fit demo/diabetes.csv --method pls --target progression -k auto --model pls.safetensors
  gramian predict pls.safetensors demo/diabetes.csv -o predictions.csv
"""
SCORE_HELP = """How well a model does on the rows of a table.

Regression: errors, bias, R2 of each target; the errors of rows of the fit are called RMSEC, of new rows RMSEP. Labels:
accuracy. Two views: correlations. Densities: log-likelihood.

\b
Example:
  gramian demo --output demo
  gramian fit demo/iris.csv --method kernel-svm --label species --model svm.safetensors
  gramian score svm.safetensors demo/iris.csv
"""
Out = Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="CSV file to write; - is standard output.")]
#: Targets whose errors are shown; JSON has all of them.
TARGETS_SHOWN = 6


def transform(
    model: o.ModelFile,
    table: o.TableFile,
    output: Out = "-",
    y_table: o.SecondTable = None,
    ids: o.Ids = None,
    read: o.Read = None,
    stream: o.Stream = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> o.Job:
    """Return the job of ``gramian transform``."""
    request = ApplyRequest("transform", model, table, output, y_table, ids, stream, o.read_dialect(read))
    return _job(request, quiet=quiet, json=json)


def inverse(
    model: o.ModelFile,
    scores: Annotated[str, typer.Argument(metavar="SCORES", show_default=False, help="File of scores to read.")],
    output: Out = "-",
    read: o.Read = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> o.Job:
    """Return the job of ``gramian inverse``."""
    return _job(ApplyRequest("inverse", model, scores, output, dialect=o.read_dialect(read)), quiet=quiet, json=json)


def predict(
    model: o.ModelFile,
    table: o.TableFile,
    output: Out = "-",
    ids: o.Ids = None,
    read: o.Read = None,
    stream: o.Stream = False,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> o.Job:
    """Return the job of ``gramian predict``."""
    request = ApplyRequest("predict", model, table, output, None, ids, stream, o.read_dialect(read))
    return _job(request, quiet=quiet, json=json)


def score(
    model: o.ModelFile,
    table: o.TableFile,
    target: o.Targets = None,
    y_table: o.SecondTable = None,
    read: o.Read = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> o.Job:
    """Return the job of ``gramian score``."""
    request = ScoreRequest(model, table, y_table, o.names(target), o.read_dialect(read))

    def job() -> None:
        figures = score_model(request, quiet=quiet or json)
        print(_figures_json(figures) if json else _figures_text(figures, quiet=quiet))

    return job


def _job(request: ApplyRequest, *, quiet: bool, json: bool) -> o.Job:
    def job() -> None:
        o.check_streams(json=json, output=request.output)
        applied = apply_model(request, quiet=quiet or json)
        if json:
            print(_json(applied))
        elif not quiet:
            print(_text(applied), file=sys.stderr if request.output == "-" else sys.stdout)

    return job


@dataclass(frozen=True)
class Applied:
    """What a model made of a table."""

    loaded: Loaded
    table: Table
    result: Columns
    output: str
    written: list[str]
    n_rows: int


@dataclass(frozen=True)
class ApplyRequest:
    """What to do with which files."""

    verb: str
    model: str
    table: str
    output: str = "-"
    y_table: str | None = None
    ids: str | None = None
    stream: bool = False
    dialect: dict[str, Any] = field(default_factory=dict)


def apply_model(request: ApplyRequest, *, quiet: bool = False) -> Applied:
    """Load the model, read the table, do what the verb says, and write."""
    inputs = [request.model, request.table, *([request.y_table] if request.y_table else [])]
    check_outputs({"--output": request.output}, inputs)
    with Bar(quiet=quiet) as bar, config(progress=bar):
        with bar.step("loading the model"):
            loaded = load_model(request.model)
        check_verb(request.verb, loaded)
        with bar.step("reading"):
            streamed = _streams(request, loaded)
            table = as_table(open_for(loaded, request.table, request.dialect)) if streamed else _read(request, loaded)
        with bar.step(request.verb):
            result = (_stream if streamed else VERBS[request.verb])(request, loaded, table)
        with bar.step("writing"):
            written, n = result.write(request.output, table.annotations)
    return Applied(loaded, table, result, request.output, written, n)


def _streams(request: ApplyRequest, loaded: Loaded) -> bool:
    """Whether the table goes by as a stream."""
    many = is_many(request.table)
    if not (request.stream or many or too_large(request.table)):
        return False
    if (
        loaded.reading
        or request.ids is not None
        or request.table == "-"
        or request.verb not in ("transform", "predict")
    ):
        if not (request.stream or many):
            return False
        raise UsageError(
            f"{request.table} cannot be read as a stream: it goes with transform and predict of a model without "
            "encoded columns, of files, and without --ids."
        )
    return True


def _stream(request: ApplyRequest, loaded: Loaded, table: Table) -> Columns:
    """Scores or predictions as they come."""
    X: Any = table.values
    if request.verb == "predict":
        return outputs.predictions(loaded.model, X, loaded.targets)
    if not outputs.two_views(loaded.model) or not loaded.targets:
        return outputs.scores(loaded.model, X)
    return outputs.scores(loaded.model, X, rows(request.y_table or request.table, loaded.targets, **request.dialect))


def _read(request: ApplyRequest, loaded: Loaded) -> Table:
    if request.verb == "inverse":  # scores have no categories and no gaps
        return read_table(request.table, **request.dialect)
    return read_rows(request.table, loaded, ids=request.ids, **request.dialect)


def check_verb(verb: str, loaded: Loaded) -> None:
    """Refuse what a model cannot do, and say what it can."""
    if hasattr(loaded.model, CALLS[verb]):
        return
    can = " and ".join(f"gramian {name}" for name, call in CALLS.items() if hasattr(loaded.model, call))
    raise UsageError(f"{loaded.path} holds {loaded.name}, for which there is no {verb}; there is {can}.")


#: Command -> method of the model.
CALLS = {"transform": "transform", "inverse": "inverse_transform", "predict": "predict"}


def _transform(request: ApplyRequest, loaded: Loaded, table: Table) -> Columns:
    X = pick(table, loaded.columns, loaded.width, loaded)
    if not outputs.two_views(loaded.model):
        return outputs.scores(loaded.model, X)
    second = table if request.y_table is None else read_rows(request.y_table, loaded, **request.dialect)
    if request.y_table is None and not set(loaded.targets) <= set(table.columns):
        say(
            f"note: {table.source} has no second view ({', '.join(loaded.targets[:3])} ...): scores of the first alone."
        )
        return outputs.scores(loaded.model, X)
    Y = pick(second, loaded.targets or None, len(loaded.targets), loaded, told=False)
    if len(Y) != len(X):
        raise TableError(
            f"{table.source} has {len(X):,} rows and {second.source} has {len(Y):,}; they must be the same."
        )
    return outputs.scores(loaded.model, X, Y)


def _inverse(request: ApplyRequest, loaded: Loaded, table: Table) -> Columns:
    names = outputs.score_names(loaded.model)
    scores = pick(table, names, len(names), loaded)
    return Columns("rows", np.asarray(loaded.model.inverse_transform(scores)), loaded.names())


def _predict(request: ApplyRequest, loaded: Loaded, table: Table) -> Columns:
    X = pick(table, loaded.columns, loaded.width, loaded)
    return outputs.predictions(loaded.model, X, loaded.targets)


VERBS: dict[str, Callable[[ApplyRequest, Loaded, Table], Columns]] = {
    "transform": _transform,
    "inverse": _inverse,
    "predict": _predict,
}


@dataclass(frozen=True)
class ScoreRequest:
    """Which model, which table, and where the truth is."""

    model: str
    table: str
    y_table: str | None = None
    targets: list[str] | None = None
    dialect: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figures:
    """Figures of a model on a table: lines for people, facts for machines."""

    loaded: Loaded
    table: Table
    lines: list[tuple[str, str]]
    facts: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.table.values)


def score_model(request: ScoreRequest, *, quiet: bool = False) -> Figures:
    """Load the model, read the table, and compare what the model says with what is there."""
    with Bar(quiet=quiet) as bar, config(progress=bar):
        with bar.step("loading the model"):
            loaded = load_model(request.model)
        names = tuple(request.targets or loaded.targets)
        with bar.step("reading"):
            table, second = _read_truth(request, loaded, names if is_classifier(loaded.estimator) else ())
        X = pick(table, loaded.columns, loaded.width, loaded)
        with bar.step("scoring"):
            whose = role(loaded.model, X)
            lines, facts = _figures(loaded, X, second, names, whose)
    said = "those of the fit: expect larger errors of new ones" if whose == "fit" else "new ones, not those of the fit"
    return Figures(loaded, table, [("rows", said), *lines], {"rows": whose, **facts})


def _read_truth(request: ScoreRequest, loaded: Loaded, labels: tuple[str, ...]) -> tuple[Table, Table]:
    """Rows, and the truth about them, from the same table or from another."""
    if request.y_table is None:
        table = read_rows(request.table, loaded, labels=labels, **request.dialect)
        return table, table
    table = read_rows(request.table, loaded, **request.dialect)
    truth = read_table(request.y_table, () if labels else None, labels=labels, **request.dialect)
    return match_rows(table, truth)


def _figures(
    loaded: Loaded, X: Array, second: Table, names: tuple[str, ...], whose: str
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    model, estimator = loaded.model, loaded.estimator
    if is_classifier(estimator):
        return _accuracy(loaded, X, labels_of(second, _one(names, loaded)), whose)
    if outputs.two_views(model):
        return _pairs(loaded, X, pick(second, names, len(names), loaded, told=False), names, whose)
    if hasattr(model, "predict") and not outputs.clusters(model):
        if not names:
            raise UsageError(f"{loaded.path} does not know the name of its target: --target NAME.")
        return _merits(model.predict(X), pick(second, names, len(names), loaded, told=False), names, whose)
    if outputs.clusters(model):
        inertia = -float(model.score(X))
        return [("inertia", f"{inertia:.6g}")], {"inertia": inertia}
    if hasattr(estimator, "score_samples"):
        mean = float(model.score(X))
        return [("log-likelihood", f"{mean:.6g} for a row, {mean * len(X):.6g} in all")], {
            "log_likelihood_per_row": mean
        }
    if hasattr(estimator, "reconstruction_error"):
        error = float(model.reconstruction_error(X))
        units = ", in standard deviations of the columns" if estimator.scale else ""
        return [("reconstruction", f"mean squared distance {error:.6g}{units}")], {"reconstruction_error": error}
    raise UsageError(
        f"{loaded.path} holds {loaded.name}, which gives no figure of its own. Compare its scores instead."
    )


def _merits(
    guesses: Array, measured: Array, names: tuple[str, ...], whose: str
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    found = [merit(a, b, whose) for a, b in zip(measured.T, guesses.reshape(len(guesses), -1).T, strict=True)]
    facts = {"targets": {name: asdict(each) for name, each in zip(names, found, strict=True)}}
    lines = [(name, str(each)) for name, each in zip(names, found, strict=True)]
    if len(lines) > TARGETS_SHOWN:
        lines[TARGETS_SHOWN:] = [("", f"and {len(lines) - TARGETS_SHOWN} more targets (--json lists them)")]
    return lines, facts


def _accuracy(loaded: Loaded, X: Array, truth: Array, whose: str) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    guesses = np.asarray(loaded.model.predict(X)).astype(str)
    classes = sorted({*truth, *guesses})
    counts = confusion_matrix(truth, guesses, labels=classes)
    share = float(np.mean(guesses == truth))
    right = int(np.trace(counts))
    lines = [
        ("accuracy", f"{share:.4f}: {right:,} of {len(truth):,} {'rows of the fit' if whose == 'fit' else 'new rows'}")
    ]
    for at, name in enumerate(classes):
        wrong = [f"{counts[at, j]:,} taken for {classes[j]}" for j in np.flatnonzero(counts[at]) if j != at]
        lines.append((str(name), ", ".join([f"{counts[at, at]:,} of {counts[at].sum():,} right", *wrong])))
    return lines, {"accuracy": share, "classes": [str(name) for name in classes], "confusion": counts.tolist()}


def _pairs(
    loaded: Loaded, X: Array, Y: Array, names: tuple[str, ...], whose: str
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    first, second = loaded.model.transform(X, Y)
    found = [float(np.corrcoef(a, b)[0, 1]) for a, b in zip(first.T, second.T, strict=True)]
    lines, facts = [("correlations", ", ".join(f"{each:.4f}" for each in found))], {"correlations": found}
    if hasattr(loaded.model, "predict"):
        more, merits = _merits(loaded.model.predict(X), Y, names, whose)
        return lines + more, {**facts, **merits}
    return lines, facts


def _one(names: tuple[str, ...], loaded: Loaded) -> str:
    if len(names) != 1:
        raise UsageError(f"{loaded.path} needs the column of labels: --target NAME.")
    return names[0]


def _head(found: Applied | Figures) -> tuple[tuple[str, ...], list[tuple[str, str]]]:
    n, d = found.n_rows, len(found.table.columns)
    how = ", streamed" if isinstance(found.table.values, Rows) else ""
    return (found.loaded.name, found.loaded.path), [
        ("table", f"{found.table.source}: {n:,} rows, {d:,} numeric columns{how}")
    ]


def _text(applied: Applied) -> str:
    title, lines = _head(applied)
    lines.append((applied.result.what, written(applied.output, applied.n_rows, applied.written)))
    return str(FitSummary(title, tuple(lines)))


def _json(applied: Applied) -> str:
    return dumps(
        {
            "estimator": applied.loaded.name,
            "model": applied.loaded.path,
            "source": applied.table.source,
            "n": applied.n_rows,
            "columns": applied.written,
            "dropped": remarks(applied.table),
            "files": [applied.output],
        }
    )


def _figures_text(figures: Figures, *, quiet: bool) -> str:
    title, lines = _head(figures)
    if quiet:
        return "\n".join(f"{label} {text}" for label, text in figures.lines)
    return str(FitSummary(title, (*lines, *figures.lines)))


def _figures_json(figures: Figures) -> str:
    known = {"estimator": figures.loaded.name, "model": figures.loaded.path, "source": figures.table.source}
    return dumps({**known, "n": len(figures.table.values), **figures.facts})
