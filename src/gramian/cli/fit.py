"""The work behind ``gramian fit``: read, fit, write."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from gramian.cli.bar import Bar
from gramian.cli.errors import UsageError, say
from gramian.cli.request import FitRequest
from gramian.config import config
from gramian.results import Array
from gramian.tables import Table, check_writable, read_table, uneven_columns, write_scores


@dataclass(frozen=True)
class Fitted:
    """What a fit gave: the table it used, the fitted estimator, the scores and their names."""

    request: FitRequest
    table: Table
    estimator: Any
    scores: Array
    names: list[str]


def fit(request: FitRequest, *, quiet: bool = False) -> Fitted:
    """Read the table, fit, and write the scores if a file is named."""
    request.check()
    if request.output is not None:
        _check_output(request.output, request.table)
    table = read_table(request.table, request.columns)
    uneven = "" if request.scale or request.kernel == "precomputed" else uneven_columns(table)
    if uneven:
        say(f"warning: {uneven}; --scale puts all columns on one footing.")
    model = request.model()
    with Bar(quiet=quiet) as bar, config(**request.settings, progress=bar):
        scores = model.fit_transform(table.values)
    estimator = model[-1] if request.standardizes else model
    names = [str(name) for name in estimator.get_feature_names_out()]
    if request.output is not None:
        write_scores(request.output, scores, names, table.labels)
    return Fitted(request, table, estimator, scores, names)


def _check_output(output: str, table: str) -> None:
    """Refuse an output that cannot be written before the work, not after it."""
    check_writable(output)
    if output != "-" and all(map(os.path.exists, (output, table))) and os.path.samefile(output, table):
        raise UsageError(f"--output {output} is the table itself. Choose another name.")
