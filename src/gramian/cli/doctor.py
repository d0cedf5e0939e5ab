"""``gramian doctor``: what is wrong with a table."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.cli import options as o
from gramian.cli.options import Request
from gramian.cli.outputs import in_options, remarks, some, tell
from gramian.config import config
from gramian.selection import Diagnosis
from gramian.selection import doctor as examine
from gramian.selection.doctor_findings import rows_called
from gramian.tables import Table, TableError, TableWarning, find_columns, read_table

HELP = """Check a table for problems before anything is fitted.

Each finding has a remedy, the most severe first: errors make methods fail, warnings make results misleading, notes are
worth knowing. Missing, infinite and placeholder values (such as -999) are reported, not refused. With --kernel, the
kernel is checked on these rows too; with --target or --label, what is to be predicted.

\b
Example:
  gramian demo --output demo
  gramian doctor demo/wine.csv --kernel "rbf(sigma=1)"
  gramian doctor demo/diabetes.csv --target progression --json
"""


@o.options("table kernel columns target label ids encode dates read memory threads json")
def doctor(request: Request) -> None:
    """Read the table as it is found, look for faults, and print them."""
    o.check_readable(request.options.get("kernel"), memory=request.settings.get("memory"))
    with config(**request.settings):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)  # it is among the findings
            labels = [request.label] if request.label else ()
            given = request.dialect | o.given(ids=request.ids, categories=request.encode, dates=request.dates)
            table = read_table(request.table, labels=labels, missing="as found", **given)
        with rows_called(table.row_names):
            found = _examine(table, request)
    head = f"{table.source}: set aside: {some(table.dropped)}\n" if table.dropped else ""
    names_rows = table.row_ids is None and any(re.search(r"\brows? \d", finding.message) for finding in found)
    foot = "\nrows       are counted from 1, without the header" if names_rows else ""
    facts = {"source": table.source, "dropped": remarks(table), **found.to_dict()}
    for finding in facts["findings"]:  # rows as the messages name them
        names = [table.row_names[at] for at in finding["rows"]]
        finding["rows"] = names if table.row_ids is not None else [int(name) for name in names]
    tell(request, lambda: f"{head}{found}{foot}", lambda: facts)


def _examine(table: Table, request: Request) -> Diagnosis:
    label, targets, columns = request.label, request.targets, request.columns
    numbers = dict(zip(table.columns, table.values.T, strict=True))
    every: dict[str, Any] = {**numbers, **{name: text for name, text in table.labels.items() if name != label}}
    wanted = [] if targets is None else find_columns([*every], targets, table.source)
    chosen = [*every] if columns is None else find_columns([*every], columns, table.source)
    X = {name: every[name] for name in chosen if name not in wanted}
    if not X:
        raise TableError(f"{table.source}: no column is left beside the target. Choose fewer targets, or more columns.")
    y: Any = None
    if label is not None:
        y = np.array(table.labels[label], dtype=object)
    elif wanted:
        y = np.column_stack([np.asarray(every[name]) for name in wanted])
    found = examine(X, request.options.get("kernel"), y)
    # Text is set aside as labels by every command, and said to be: no fault unless it stands among numbers.
    findings = tuple(replace(f, remedy=in_options(f.remedy)) for f in found if f.code != "text_column")
    n, d = found.shape
    return replace(found, findings=findings, shape=(n, d - (len(found) - len(findings))))
