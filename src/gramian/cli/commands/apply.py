"""``gramian transform``, ``inverse``, ``predict`` and ``score``: what one does with a model."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from gramian.cli import options as o
from gramian.cli.apply import Applied, ApplyRequest
from gramian.cli.apply import apply as apply_model
from gramian.cli.figures import Figures, ScoreRequest
from gramian.cli.figures import score as score_model
from gramian.cli.report import dumps, remarks, written
from gramian.operators import Rows
from gramian.results import FitSummary

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
