"""The work behind ``gramian fit``: read, fit, write."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.cli import columns
from gramian.cli.bar import Bar
from gramian.cli.columns import Columns
from gramian.cli.errors import UsageError, say
from gramian.cli.inputs import Inputs, gather
from gramian.cli.request import FitRequest, first_step, last_step
from gramian.config import config
from gramian.models import save
from gramian.results import Array
from gramian.tables import Table, check_writable, uneven_columns


@dataclass(frozen=True)
class Fitted:
    """What a fit gave: the rows it used, the fitted model, the columns it writes, and the names in the file."""

    request: FitRequest
    inputs: Inputs
    model: Any
    result: Columns | None
    written: list[str]

    @property
    def estimator(self) -> Any:
        """The estimator itself, without a step that scales columns."""
        return last_step(self.model)

    @property
    def table(self) -> Table:
        """The table as it was read."""
        return self.inputs.table

    @property
    def scores(self) -> Array:
        """Scores of the rows."""
        assert self.result is not None
        return self.result.numbers


def fit(request: FitRequest, *, quiet: bool = False) -> Fitted:
    """Read the tables, fit, and write scores and model if files are named."""
    request.check()
    check_outputs(
        {"--output": request.output, "--model": request.model_file}, [request.table, request.y_table or request.table]
    )
    with Bar(quiet=quiet) as bar, config(**request.settings, progress=bar):
        with bar.step("reading"):
            inputs = gather(request)
        _warn_of_units(request, inputs)
        model = request.model()
        with bar.step("fitting"):
            result = _run(model, request, inputs)
        name_columns(model, inputs)
        if request.model_file is not None:
            with bar.step("saving the model"):
                save(model, request.model_file)
        written: list[str] = []
        if request.output is not None and result is not None:
            with bar.step("writing"):
                written = result.write(request.output, inputs.table.labels)
    return Fitted(request, inputs, model, result, written)


def _run(model: Any, request: FitRequest, inputs: Inputs) -> Columns | None:
    """Fit, and return what goes to the output; what would only be thrown away is not computed."""
    X, y = inputs.X, inputs.y
    if request.row.needs == "view":
        return columns.scores(model.fit(X, y), X, y)
    if request.row.size == "n_clusters":
        distances = columns.scored(model, model.fit_transform(X))
        return Columns(
            "clusters", distances.numbers, distances.names, columns.predicted(last_step(model).labels_, (), cluster=True).text
        )
    if hasattr(request.row.estimator, "transform"):
        return columns.scored(model, model.fit_transform(*inputs.arguments))
    model.fit(X, y)
    return None if request.output is None else columns.predictions(model, X, inputs.targets)


def name_columns(model: Any, inputs: Inputs) -> None:
    """Put the names of columns where scikit-learn puts those of a data frame, and those of targets beside them."""
    first_step(model).feature_names_in_ = np.array(inputs.columns, dtype=object)
    if inputs.targets:
        last_step(model).target_names_in_ = np.array(inputs.targets, dtype=object)


def _warn_of_units(request: FitRequest, inputs: Inputs) -> None:
    if request.scaled or not request.row.units or request.options.get("kernel") == "precomputed":
        return
    uneven = "" if np.isnan(inputs.X).any() else uneven_columns(inputs.as_table())
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
                raise UsageError(f"{option} {path} is the table itself. Choose another name.")
    real = [os.path.realpath(path) for path in named.values() if path != "-"]
    if len(set(real)) < len(real):
        raise UsageError(f"{' and '.join(named)} name the same file {real[0]}. Choose two.")
