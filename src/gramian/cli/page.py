"""The work behind ``gramian report``: load a model, read rows if there are any, write the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from gramian.cli.bar import Bar
from gramian.cli.columns import clusters, two_views
from gramian.cli.errors import UsageError, say
from gramian.cli.fit import check_outputs
from gramian.cli.inputs import labels_of
from gramian.cli.loaded import Loaded, load_model, pick, read_rows
from gramian.cli.request import first_step
from gramian.config import config
from gramian.reports.contents import Page
from gramian.reports.subject import Subject
from gramian.reports.writing import page_of, tabled, write_page
from gramian.results import Array
from gramian.tables import Table, match_rows, read_table
from gramian.tables.calls import arguments

#: Text columns of more values than this name rows, and colour nothing.
MOST_GROUPS = 30


@dataclass(frozen=True)
class ReportRequest:
    """Which model, which table, where the page goes, and what rows are coloured by."""

    model: str
    table: str | None = None
    output: str = "report.html"
    y_table: str | None = None
    label: str | None = None
    ids: str | None = None
    title: str | None = None
    dialect: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Written:
    """A page that was written, and where from."""

    request: ReportRequest
    loaded: Loaded
    table: Table | None
    page: Page
    size: int


def report(request: ReportRequest, *, quiet: bool = False) -> Written:
    """Load the model, read the rows, and write the page."""
    check_outputs(
        {"--output": request.output}, [path for path in (request.model, request.table, request.y_table) if path]
    )
    for option, value in (("--label", request.label), ("--ids", request.ids), ("--y-table", request.y_table)):
        if value is not None and request.table is None:
            raise UsageError(f"{option} goes with a table: gramian report {request.model} TABLE.")
    with Bar(quiet=quiet) as bar, config(progress=bar):
        with bar.step("loading the model"):
            loaded = load_model(request.model)
        table = None
        to: dict[str, Any] = {
            "file": request.model,
            "path": request.output,
            "title": request.title or f"{loaded.name}: {request.model}",
        }
        subject = Subject(_named(loaded), **to)
        if request.table is not None:
            with bar.step("reading"):
                table, subject = _with_rows(request, loaded, to)
        with bar.step("reporting"):
            page = page_of(subject)
            size = write_page(page, request.output)
    return Written(request, loaded, table, page, size)


def _named(loaded: Loaded) -> Any:
    """The model with the names of its columns again, which the commands keep beside it."""
    if loaded.columns is not None:
        first_step(loaded.model).feature_names_in_ = np.array(loaded.columns, dtype=object)
    return loaded.model


def _with_rows(request: ReportRequest, loaded: Loaded, to: dict[str, Any]) -> tuple[Table, Subject]:
    classes = is_classifier(loaded.estimator)
    labels = [name for name in (request.label, *(loaded.targets if classes else ())) if name is not None]
    here = labels if request.y_table is None else [name for name in labels if name == request.label]
    table = read_rows(str(request.table), loaded, labels=here, ids=request.ids, **request.dialect)
    second = table
    if request.y_table is not None:
        beside = read_table(
            request.y_table,
            () if classes else None,
            labels=loaded.targets if classes else (),
            ids=request.ids,
            missing="keep" if loaded.gaps else "refuse",
            **request.dialect,
        )
        table, second = match_rows(table, beside)
    X = pick(table, loaded.columns, first_step(loaded.model).n_features_in_, loaded)
    y = _truth(loaded, second, classes=classes)
    call = _call(request, loaded, table, y, here, classes=classes)
    colour = _colour(request, table, classes)
    x = replace(table, values=X, columns=tuple(loaded.columns or table.columns), call=call)
    if y is None or (classes and request.y_table is None):
        return table, tabled(_named(loaded), x, y, colour=colour, **to)
    values = second.values if classes else np.reshape(y, (len(X), -1))
    second = replace(second, values=values, columns=() if classes else tuple(loaded.targets), call=call)
    return table, replace(tabled(_named(loaded), x, y, colour=colour, **to), second=second)


def _truth(loaded: Loaded, table: Table, *, classes: bool) -> Any:
    """Targets, labels or the second view, if the table has them."""
    names = loaded.targets
    if not names or clusters(loaded.model):
        return None
    known = table.labels if classes else table.columns
    if not set(names) <= set(known):
        say(f"note: {table.source} has no {', '.join(names[:3])}: the report shows no predictions beside what is true.")
        return None
    if classes:
        return labels_of(table, names[0])
    Y = pick(table, names, len(names), loaded, told=False)
    return Y[:, 0] if len(names) == 1 and not two_views(loaded.model) else Y


def _colour(request: ReportRequest, table: Table, classes: bool) -> Any:
    """The column of labels that was asked for, else the first that holds groups."""
    if request.label is not None:
        return labels_of(table, request.label)
    groups = (cells for cells in table.labels.values() if 1 < len(set(cells)) <= MOST_GROUPS)
    return None if classes else next((np.array(cells) for cells in groups), None)


def _call(
    request: ReportRequest, loaded: Loaded, table: Table, y: Array | None, labels: Sequence[str], *, classes: bool
) -> str:
    """The call of Python that reads the same rows."""
    given = {
        "labels": list(labels) or None,
        "ids": request.ids,
        "missing": "keep" if loaded.gaps else None,
        **loaded.reading,
        **request.dialect,
    }
    chosen, targets = _chosen(loaded.columns, table), list(loaded.targets)
    read = f"read_table({arguments([request.table], columns=chosen, **given)})"
    if y is None or (classes and request.y_table is None):
        return read
    if request.y_table is None:
        return f"read_views({arguments([request.table], x_columns=chosen, y_columns=targets, **given)})"
    wanted = {"columns": [] if classes else targets, "labels": targets if classes else None}
    beside = {"ids": request.ids, "missing": given["missing"], **request.dialect}
    return f"match_rows({read}, read_table({arguments([request.y_table], **wanted, **beside)}))"


def _chosen(columns: Sequence[str] | None, table: Table) -> list[str] | None:
    """How to name the columns of a model: not at all if they are all, from the first to the last if they follow."""
    if columns is None or tuple(columns) == table.columns:
        return None
    if len(columns) > 1 and not any(set(":*?[,") & set(name) for name in columns):
        start = table.columns.index(columns[0])
        if table.columns[start : start + len(columns)] == tuple(columns):
            return [f"{columns[0]}:{columns[-1]}"]
    return list(columns)
