"""The work behind ``gramian fit``: read, fit, write."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gramian.cli import columns
from gramian.cli.bar import Bar
from gramian.cli.cluster import gather_remote, workers
from gramian.cli.columns import Columns
from gramian.cli.errors import UsageError, say
from gramian.cli.inputs import Inputs, gather
from gramian.cli.request import FitRequest, last_step
from gramian.cli.streams import gather_stream, streams
from gramian.config import config
from gramian.kernels.text import takes_matrix
from gramian.models import save
from gramian.operators import Rows
from gramian.operators.remote import from_dask
from gramian.results import Array
from gramian.tables import Table, check_writable, named, uneven_columns

#: Rows looked at to see whether columns differ by orders; of longer tables every so-manyth row.
MOST_ROWS = 100_000


@dataclass(frozen=True)
class Fitted:
    """What a fit gave: the rows it used, the fitted model, the columns it writes, and the names in the file."""

    request: FitRequest
    inputs: Inputs
    model: Any
    result: Columns | None
    written: list[str] = field(default_factory=list)

    @property
    def estimator(self) -> Any:
        """The estimator itself, without a step that scales columns."""
        return last_step(self.model)

    @property
    def table(self) -> Table:
        """The table as it was read."""
        return self.inputs.table

    @property
    def n_rows(self) -> int:
        """Number of rows that were fitted."""
        return int(self.estimator.summary_.facts["n"]) if self.inputs.streamed else len(self.inputs.X)

    @property
    def scores(self) -> Array | Rows:
        """Scores of the rows."""
        return columns.scores(self.model, self.inputs.X).numbers if self.result is None else self.result.numbers

    @property
    def what(self) -> str:
        """What goes, or would go, to the output."""
        if self.result is not None:
            return self.result.what
        if columns.clusters(self.model):
            return "clusters"
        return "scores" if hasattr(self.estimator, "transform") else "predictions"


def fit(request: FitRequest, *, quiet: bool = False) -> Fitted:
    """Read the tables, fit, and write scores and model if files are named."""
    request.check()
    check_outputs(
        {"--output": request.output, "--model": request.model_file}, [request.table, request.y_table or request.table]
    )
    with Bar(quiet=quiet) as bar, config(**request.settings, progress=bar), workers(request, quiet=quiet):
        with bar.step("reading"):
            inputs = _gather(request)
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


def _gather(request: FitRequest) -> Inputs:
    if request.scheduler is not None:
        return gather_remote(request)
    return gather_stream(request) if streams(request) else gather(request)


def fit_inputs(request: FitRequest, inputs: Inputs) -> Fitted:
    """Fit what was read; write nothing."""
    model = request.model()
    result = _run(model, request, inputs)
    return Fitted(request, inputs, model, result)


def _run(model: Any, request: FitRequest, inputs: Inputs) -> Columns | None:
    """Fit, and return what goes to the output; what nobody asked for is not computed."""
    X, y = inputs.X, inputs.y
    if request.output is None:
        model.fit(*inputs.arguments)
        return None
    if request.row.needs == "view":
        return columns.scores(model.fit(X, y), X, y)
    if not hasattr(request.row.estimator, "transform"):
        return columns.predictions(model.fit(X, y), X, inputs.targets)
    scored = columns.scored(model, model.fit_transform(*inputs.arguments))
    if not columns.clusters(model):
        return scored
    if inputs.streamed:
        return replace(scored, what="clusters", label=("cluster", from_dask(model.predict(X))))
    return replace(scored, what="clusters", text=columns.predicted(last_step(model).labels_, (), cluster=True).text)


def _warn_of_units(request: FitRequest, inputs: Inputs) -> None:
    if inputs.streamed or request.scaled or not request.row.units or takes_matrix(request.options.get("kernel")):
        return
    sample = inputs.X[:: max(1, len(inputs.X) // MOST_ROWS)]
    gaps = request.missing == "em" and np.isnan(sample).any()
    uneven = "" if gaps else uneven_columns(replace(inputs.table, values=sample))
    if uneven:
        say(f"warning: {uneven}; --scale puts all columns on one footing.")


def check_outputs(outputs: dict[str, str | None], inputs: list[str]) -> None:
    """Refuse outputs that cannot be written before the work, not after it."""
    named = {option: path for option, path in outputs.items() if path is not None}
    for option, path in named.items():
        if path == "-" and option == "--model":
            raise UsageError("--model needs a file; a model is not written to standard output.")
        check_writable(path)
        for source in inputs:
            if path != "-" and all(map(os.path.exists, (path, source))) and os.path.samefile(path, source):
                raise UsageError(f"{option} {path} is a file that is read. Choose another name.")
    real = [os.path.realpath(path) for path in named.values() if path != "-"]
    if len(set(real)) < len(real):
        raise UsageError(f"{' and '.join(named)} name the same file {real[0]}. Choose two.")
