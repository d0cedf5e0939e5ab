"""``gramian fit``: read, fit, write, and say what was found and how; or say what the fit would cost."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian.cli import options as o
from gramian.cli import outputs
from gramian.cli.findings import SCREEN_LINES, findings, laid_out, line_width, shown_tables
from gramian.cli.inputs import Inputs, fit_code, gather, open_stream, streams, workers
from gramian.cli.options import Request
from gramian.cli.outputs import Columns
from gramian.config import format_bytes
from gramian.construction import steps_of
from gramian.estimators.left_out import CLASS_FOLDS, FOLDS_MAX_ROWS, NUMBER_FOLDS
from gramian.estimators.result_tables import ResultTables
from gramian.estimators.table_maker import tables_of
from gramian.estimators.validation import from_dask
from gramian.forecasting import forecast
from gramian.models import save
from gramian.operators import Rows
from gramian.results import Array, duration, percent, plural
from gramian.tables import Table, named, remote_rows, uneven_columns

#: What a method needs -> how the help says so.
HELP_GROUPS = {"": "of a table", "target": "with --target", "label": "with --label", "view": "with --y-columns"}
#: Seconds that leaving rows out may take unless it is asked for.
CV_MAX_SECONDS = 10
HELP = f"""Fit a table; print what was found, write scores and the model.

What is printed first is what the method is for: eigenvalues, shares of variance and the largest loadings; correlations
of pairs; errors of predictions; accuracy and the confusion matrix; sizes and means of clusters. The command show has
the tables whole.

TABLE ends in .csv, .tsv, .txt, .parquet, .npy or another ending that is read; - reads CSV from standard input. Numeric
columns are used; text columns are labels and go to the output unchanged. A folder or a pattern of files, and a table
that is larger than the memory, is read block by block by the methods that need its rows only once; text columns are not
kept then. With --scheduler the workers of a dask cluster read the files, one each at a time, and add up what a fit
needs.

Predictions are judged on rows left out, in 5 folds of classes and 10 of numbers, if that is expected to take no more
than {CV_MAX_SECONDS} seconds (as many times the seconds of the fit as there are folds) and there are no more than
{FOLDS_MAX_ROWS:,} rows (pls, pcr, kernel-ridge: any number). --cv does it in any case, --no-cv never; the output says
what was done.

\b
Methods:
{o.method_table({what: o.methods_where(needs=needs) for needs, what in HELP_GROUPS.items()})}

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale -o scores.csv --model wine.safetensors
  gramian fit demo/digits.csv --method kernel-pca --dry-run
  gramian fit demo/digits.csv --method kernel-pca --kernel "rbf(sigma=25)" -k 2 -o digits.csv
  gramian fit demo/diabetes.csv --method pls --target progression -k auto --model pls.safetensors
  gramian fit demo/linnerud.csv --method cca --y-columns Weight,Waist,Pulse -o pairs.csv
  gramian fit demo/iris.csv --method kernel-svm --label species -o species.csv
"""
#: Rows looked at to see whether columns are on very different scales; of longer tables every k-th row.
SCALE_CHECK_MAX_ROWS = 100_000
#: Argument that ``-k`` sets -> what it counts, if that has no name of its own.
SIZE_NOUNS = {"n_clusters": "cluster", "n_neighbors": "neighbour"}


@o.options(
    "table method components output model_file scale columns target y_table label ids missing encode dates read "
    "stream scheduler kernel kernel_y landmarks preimage whiten rotation ridge c solver cv seed memory threads "
    "dry_run quiet json",
    model_file=o.option("--model", metavar="FILE", help="File for the fitted model (.safetensors)."),
    kernel_y=o.option(metavar="TEXT", help="Kernel of the second view."),
    landmarks=o.option(kind=int | None, metavar="N", help="Landmarks that approximate the kernel."),
    preimage=o.option(
        metavar="NAME", help=f"How gramian inverse reconstructs rows of {o.takers('preimage')}, such as auto."
    ),
    whiten=o.flag("--whiten", f"Give scores unit variance ({o.takers('whiten')})."),
    rotation=o.option(metavar="NAME", help="Rotation of factors: varimax, oblimin ..."),
    ridge=o.option(metavar="R", help=f"Penalty of {o.takers('ridge')}; R,S for two views."),
    c=o.option("--C", kind=float | None, metavar="C", help=f"Penalty C of {o.takers('C')}."),
    solver=o.option(metavar="NAME", help="Solver; chosen automatically if not given."),
    cv=o.option(
        "--cv/--no-cv",
        kind=bool | None,
        show_default=False,
        help="Judge predictions on rows left out; if that takes seconds, unless told.",
    ),
    dry_run=o.flag("--dry-run", "Say what the fit would cost; fit and write nothing."),
)
def fit(request: Request) -> None:
    """Fit, write, and say what was done; or say what it would cost."""
    outputs.check_streams(request)
    if request.dry_run:
        print_forecast(request)
        return
    fitted = fit_table(request)
    outputs.tell(request, lambda: as_text(fitted), lambda: as_json(fitted))


@dataclass(frozen=True)
class Fitted:
    """What a fit gave: the rows it used, the fitted model, the columns it writes, and the names in the file."""

    request: Request
    inputs: Inputs
    model: BaseEstimator
    result: Columns | None
    seconds: float = 0.0
    written: list[str] = field(default_factory=list)

    @property
    def estimator(self) -> BaseEstimator:
        """The estimator itself, without a step that scales columns."""
        return steps_of(self.model)[-1]

    @property
    def table(self) -> Table:
        return self.inputs.table

    @property
    def n_rows(self) -> int:
        return int(self.estimator.summary_.facts["n"]) if self.inputs.streamed else len(self.inputs.X)

    @property
    def scores(self) -> Array | Rows:
        return outputs.scores(self.model, self.inputs.X).numbers if self.result is None else self.result.numbers

    @property
    def what(self) -> str:
        """What goes, or would go, to the output."""
        if self.result is not None:
            return self.result.what
        if outputs.record(self.model).clusters:
            return "clusters"
        return "scores" if hasattr(self.estimator, "transform") else "predictions"

    @property
    def predicts(self) -> bool:
        """Whether predictions can be judged on rows left out."""
        return self.request.record.needs in ("target", "label") and not self.inputs.streamed

    @cached_property
    def expected(self) -> float:
        """Seconds that leaving rows out would take."""
        return self.seconds * (CLASS_FOLDS if self.request.record.needs == "label" else NUMBER_FOLDS)

    @cached_property
    def tables(self) -> ResultTables:
        """Tables of what was found; those of rows where there is time for them."""
        table, quick = self.table, self.expected <= CV_MAX_SECONDS
        names: dict[str, Any] = {"columns": table.columns, "targets": self.inputs.targets or None}
        if self.inputs.streamed or not (quick or self.predicts):
            return tables_of(self.model, frames="plain", **names)
        vars(steps_of(self.model)[0]).pop("feature_names_in_", None)  # the rows are an array, and have none
        beside = {name: np.array(cells) for name, cells in table.labels.items()}
        refits = self.request.cv if self.request.cv is not None else None if quick else False
        names |= {"rows": table.row_names, "beside": beside, "refits": refits}
        return tables_of(self.model, self.inputs.X, self.inputs.y, frames="plain", **names)


def fit_table(request: Request) -> Fitted:
    """Read the tables, fit, and write scores and model if files are named."""
    request.check()
    outputs.check_outputs(request, {"--output": request.output, "--model": request.model_file})
    with outputs.working(request) as bar, workers(request):
        with bar.step("reading"):
            inputs = open_stream(request, remote_rows) if request.scheduler is not None else _read(request)
        _warn_of_units(request, inputs)
        with bar.step("fitting"):
            fitted = fit_inputs(request, inputs)
        if request.model_file is not None:
            named(fitted.model, inputs.table, inputs.targets)
            with bar.step("saving the model"):
                save(fitted.model, request.model_file)
        written: list[str] = []
        if request.output is not None and fitted.result is not None:
            with bar.step("writing"):
                written, _ = fitted.result.write(request.output, inputs.table.annotations)
    return replace(fitted, written=written)


def _read(request: Request) -> Inputs:
    return open_stream(request) if streams(request) else gather(request)


def fit_inputs(request: Request, inputs: Inputs) -> Fitted:
    """Fit what was read, and make what goes to the output; what nobody asked for is not computed."""
    model, X, y, result = request.model(), inputs.X, inputs.y, None
    start = time.perf_counter()
    if request.output is None:
        model.fit(*inputs.arguments)
    elif request.record.needs == "view":
        result = outputs.scores(model.fit(X, y), X, y)
    elif not hasattr(request.record.estimator, "transform"):
        result = outputs.predictions(model.fit(X, y), X, inputs.targets)
    else:
        result = outputs.scored(model, model.fit_transform(*inputs.arguments))
        if request.record.clusters and inputs.streamed:
            result = replace(result, what="clusters", label=("cluster", from_dask(model.predict(X))))
        elif request.record.clusters:
            clusters = outputs.predicted(steps_of(model)[-1].labels_, (), cluster=True)
            result = replace(result, what="clusters", text=clusters.text)
    return Fitted(request, inputs, model, result, time.perf_counter() - start)


def _warn_of_units(request: Request, inputs: Inputs) -> None:
    if inputs.streamed or request.scaled or not request.record.units or request.precomputed:
        return
    sample = inputs.X[:: max(1, len(inputs.X) // SCALE_CHECK_MAX_ROWS)]
    gaps = request.missing == "em" and np.isnan(sample).any()
    uneven = "" if gaps else uneven_columns(replace(inputs.table, values=sample))
    if uneven:
        outputs.say(f"warning: {uneven}; --scale divides each column by its standard deviation.")


def print_forecast(request: Request) -> None:
    """Print what a fit would cost; of a stream only its size is read. Fail with the advice if it would not fit."""
    request.check()
    with outputs.working(request) as bar:
        with bar.step("reading"):
            inputs = _read(request)
        X = inputs.X
        # Of text that is read as a stream, the number of rows follows from the size of the files.
        shape = (max(1, X.n_rows or X.about or 1), X.n_features) if inputs.streamed else X.shape
        kind = {"stream": X} if inputs.streamed else {"dtype": X.dtype}
        q = 1 if inputs.y is None else len(inputs.targets)
        if request.record.needs == "label":
            q = len(np.unique(inputs.y))
        found = forecast(request.model(), *shape, q=q, **kind)
    if request.json:
        print(found.to_json())
    elif not request.quiet:
        print(outputs.in_options(str(found)))
    if not found.fits:
        what = "with its blocks of rows" if found.stream else "beside the data"
        text = f"the fit needs {format_bytes(found.bytes)} {what}, over the budget of {format_bytes(found.budget)}"
        raise ValueError(f"{text}. Would fit: {'; '.join(found.advice)}" if found.advice else text)


#: Lines of a summary that say how a fit was computed; those whose numbers stand in the tables above them.
HOW = ("route", "work", "certified")
IN_TABLES = {
    "correlations": {"correlations", "covariances"},
    "regularised": {"correlations"},
    "held out": {"correlations"},
    "covariances": {"covariances"},
    "redundancy": {"redundancy"},
    "explained": {"eigenvalues"},
    "RMSECV": {"path"},
    "left out": {"errors"},
    "distortion": {"distortion"},
}


def as_text(fitted: Fitted) -> str:
    """Write a screen for people: what was found, then how, and where things come from and went."""
    table, summary = fitted.table, fitted.estimator.summary_
    lines = [("table", source(fitted.request, fitted.inputs, fitted.n_rows))]
    if table.dropped:
        lines.append(("set aside", outputs.some(table.dropped)))
    chosen = _chosen(fitted)
    if chosen and not any(label == "chosen" for label, _ in summary.lines):
        lines.append(("chosen", chosen))
    shown = set(shown_tables(fitted.tables))
    lines += [line for line in summary.lines if line[0] not in HOW and not IN_TABLES.get(line[0], set()) & shown]
    lines += [("left out", text)] if (text := _not_left_out(fitted)) else []
    lines += [("computed", "; ".join(text for label, text in summary.lines if label in HOW))]
    lines += [("written", _files(fitted))]
    code = fit_code(fitted.request, fitted.inputs)
    width, side = line_width(), 2 + max(len(label) for label, _ in lines)
    below = [laid_out(f"{label:<{side}}{text}", width, side) for label, text in lines]
    below += [f"{'' if at else 'Python':<{side}}{line}" for at, line in enumerate(code)]
    found = findings(fitted.tables, width, SCREEN_LINES - 3 - len(below))
    title = re.sub(r"\d\.\d{6,}(e-?\d+)?", lambda number: f"{float(number.group()):.5g}", "   ".join(summary.title))
    return "\n".join([title, *(["", found, ""] if found else []), *below])


def _not_left_out(fitted: Fitted) -> str:
    """Say why predictions were not judged on rows left out, if they were not."""
    tables, request = fitted.tables, fitted.request
    path = tables["path"].columns if "path" in tables else {}
    errors = tables["errors"].note if "errors" in tables and not path else ""
    if not fitted.predicts or "cross-validation" in tables or any("CV" in name for name in path) or errors:
        return ""
    if request.cv is not None:
        return (
            "no rows, as asked"
            if not request.cv
            else "no rows: too few of them, or of a class, or a kernel matrix was given"
        )
    if fitted.expected > CV_MAX_SECONDS:
        return f"no rows, which would take about {duration(fitted.expected)}; --cv does it"
    many = f"more than {FOLDS_MAX_ROWS:,}; --cv does it" if len(fitted.inputs.X) > FOLDS_MAX_ROWS else "--cv says why"
    return f"no rows: {many}"


def as_json(fitted: Fitted) -> dict[str, Any]:
    """The same, and the whole spectrum, for one JSON object."""
    table, request, inputs = fitted.table, fitted.request, fitted.inputs
    return {
        **fitted.estimator.summary_.to_dict(),
        "method": request.method,
        "chosen": _chosen(fitted),
        "source": table.source,
        **({"streamed": True} if inputs.streamed else {}),
        "columns": list(table.columns),
        "targets": list(inputs.targets),
        "labels": list(table.labels),
        "dropped": outputs.remarks(table),
        "files": [path for path in (request.output, request.model_file) if path is not None],
        "tables": {name: fitted.tables[name].to_dict() for name in shown_tables(fitted.tables)},
        "left_out": _not_left_out(fitted),
        "python": "\n".join(fit_code(request, inputs)),
    }


def source(request: Request, inputs: Inputs, rows: int | None = None) -> str:
    """Say what was read from where."""
    n = len(inputs.X) if rows is None else rows
    text = f"{inputs.table.source}: {plural(n, 'row')}, {plural(len(inputs.table.columns), 'column')}"
    if inputs.streamed:
        text += ", streamed" if request.scheduler is None else f", read by the workers of {request.scheduler}"
    if not inputs.targets:
        return text
    if request.y_table is not None:
        return f"{text}; {request.y_table}: {plural(len(inputs.targets), 'column')}"
    what = {"label": "label", "target": "target", "view": "second view"}[request.record.needs]
    return f"{text}; {what} {outputs.ends(inputs.targets)}"


def _chosen(fitted: Fitted) -> str:
    """Say how many components there are, and why."""
    record, asked, facts = fitted.request.record, fitted.request.n_components, fitted.estimator.summary_.facts
    if not record.size:
        return ""
    found: Any = facts.get(record.size)
    many = plural(found, SIZE_NOUNS.get(record.size, record.noun))
    if asked == "auto":
        if facts.get("chosen_by") is not None:
            return f"{many}, by {facts['chosen_by']}"
        return f"{many}, by cross-validation" if record.needs else f"{many}: enough to keep distances within eps"
    if asked is None:
        full = record.default is None and record.estimator().get_params()[record.size] is None
        return f"{many}, {'all there are; -k asks for fewer' if full else 'the default; -k asks for another number'}"
    if isinstance(asked, float):
        return f"{many}, the fewest that explain {percent(asked)} of the variance"
    return f"{many}, as asked" if found == asked else f"{many}; -k {asked} asked for more than there are"


def _files(fitted: Fitted) -> str:
    request, what, files = fitted.request, fitted.what, []
    if request.output is not None:
        files.append(f"{what} to {outputs.written(request.output, fitted.n_rows, fitted.written)}")
    if request.model_file is not None:
        size = os.path.getsize(request.model_file)
        files.append(
            f"model to {request.model_file}: {size:,} bytes; gramian show {request.model_file} lists its tables"
        )
    return "; ".join(files) or f"nothing; -o {what}.csv keeps the {what}, --model FILE the model"
