"""``gramian report``: load a model, read rows if there are any, and write the page."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.cli import options as o
from gramian.cli import outputs
from gramian.cli.inputs import Loaded, labels_of, load_model, pick, read_rows, read_with_truth, truth_in
from gramian.cli.options import Request
from gramian.construction import arguments, steps_of
from gramian.estimators.labels import are_groups
from gramian.results import Array, FitSummary, plural
from gramian.tables import Table, find_columns

if TYPE_CHECKING:
    from gramian.reports.contents import Page
    from gramian.reports.subject import Beside

HELP = """Write a report of a model: one HTML file that works offline.

Checks in plain words come first, then what was done, the number of components, components, scores, predictions,
diagnostics and the code, with figures and tables. With a TABLE, the rows of the fit or new ones, there is more to show;
the columns of the model are matched by their names.

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale --model wine.safetensors
  gramian report wine.safetensors demo/wine.csv -o wine.html
  gramian fit demo/wine.csv -k 3 --scale --columns alcohol:hue --model part.safetensors
  gramian report part.safetensors demo/wine.csv --supplementary proline
"""
#: What is said where a table has no targets.
WITHOUT_TRUTH = "the report cannot compare predictions with them"


@o.options(
    "model_file table output y_table label ids test supplementary drop title read quiet json",
    table=o.argument("TABLE", "Rows to report on; - is standard input.", required=False),
    output=o.option(
        "-o",
        "--output",
        kind=str,
        default="report.html",
        metavar="FILE",
        help="HTML file to write; - is standard output.",
    ),
    label=o.option(metavar="NAME", help="Column of labels to colour rows by."),
    title=o.option(metavar="TEXT", help="Heading of the page."),
)
def report(request: Request) -> None:
    """Load the model, read the rows, write the page, and say so."""
    outputs.check_streams(request)
    outputs.check_outputs(request, {"--output": request.output})
    for option in ("label", "ids", "test", "supplementary", "missing", "y_table"):
        if getattr(request, option) is not None and not request.table:
            told = f"--{option.replace('_', '-')} goes with a table"
            raise outputs.UsageError(f"{told}: gramian report {request.model_file} TABLE.")
    # Pictures are slow to import, and no other command needs them.
    from gramian.reports.writing import Subject, page_of, tabled, write_page

    table: Table | None = None
    with outputs.working(request) as bar:
        with bar.step("loading the model"):
            loaded = load_model(request)
        to: dict[str, Any] = {"file": loaded.path, "path": request.output, "title": request.title}
        if loaded.columns is not None:
            steps_of(loaded.model)[0].feature_names_in_ = np.array(loaded.columns, dtype=object)
        subject = Subject(loaded.model, **to)
        if request.table:
            with bar.step("reading"):
                table, x, y, second, colour = _read(request, loaded)
            subject = tabled(loaded.model, x, y, colour=colour, **to, **_beside(request, loaded, table))
            subject = subject if second is None else replace(subject, second=second)
        with bar.step("reporting"):
            page = page_of(subject)
            size = write_page(page, str(request.output))
    done = request, loaded, table, page, size
    outputs.tell(request, lambda: _text(*done), lambda: _facts(*done))


def _read(request: Request, loaded: Loaded) -> tuple[Table, Table, Array | None, Table | None, Array | None]:
    """The table; its columns that the model takes; targets or labels, and their table; a column to colour by."""
    classes, (table, second, here) = loaded.classifies, read_with_truth(request, loaded)
    X = pick(table, loaded.columns, loaded.width, loaded)
    y = truth_in(loaded, second, WITHOUT_TRUTH)
    call = _call(request, loaded, table, y, here)
    x = replace(table, values=X, columns=tuple(loaded.columns or table.columns), call=call)
    colour = _colour(request, table, loaded)
    if y is None or (classes and request.y_table is None):
        return table, x, y, None, colour
    values = second.values if classes else np.reshape(y, (len(X), -1))
    second = replace(second, values=values, columns=() if classes else tuple(loaded.targets), call=call)
    return table, x, y, second, colour


def _beside(request: Request, loaded: Loaded, table: Table) -> dict[str, Any]:
    """Test rows, and supplementary rows and columns, as a report takes them."""
    found: dict[str, Any] = {}
    if request.test is not None:
        found["test"] = _other_rows(request, loaded, request.test, truth=True)
    files = [word for word in request.supplementary or [] if os.path.isfile(word)]
    if len(files) > 1:
        raise outputs.UsageError(f"--supplementary names {len(files)} files. Put the rows into one.")
    if files:
        found["further"] = _other_rows(request, loaded, files[0])
    words = [name for word in request.supplementary or [] if word not in files for name in o.names(word) or []]
    return found | (_other_columns(request, loaded, table, words) if words else {})


def _other_rows(request: Request, loaded: Loaded, path: str, *, truth: bool = False) -> Beside:
    """Rows of another file; with ``truth`` also what is to be predicted of them, which it must have."""
    from gramian.reports.writing import beside

    labels = list(loaded.targets) if truth and loaded.classifies else []
    known = replace(request, table=path, missing=None)
    table = read_rows(known, loaded, labels=labels, ids=request.ids)
    X = pick(table, loaded.columns, loaded.width, loaded, drops=False)
    y = truth_in(loaded, table, WITHOUT_TRUTH) if truth else None
    if truth and y is None:
        remedy = "" if loaded.targets else f" {loaded.name} predicts nothing; use --supplementary {path}."
        raise outputs.UsageError(f"--test {path}: there is nothing to compare predictions with.{remedy}")
    call = _call(known, loaded, table, y, labels)
    return beside(loaded.model, replace(table, values=X, columns=tuple(loaded.columns or table.columns)), y, call)


def _other_columns(request: Request, loaded: Loaded, table: Table, words: Sequence[str]) -> dict[str, Any]:
    """Columns of the table that were not used in the fit, and Python that reads them."""
    from gramian.reports.writing import columns_of

    if request.missing is not None:
        raise outputs.UsageError("--missing drop does not go with columns of --supplementary. Leave one of them out.")
    names = find_columns([*table.columns, *table.labels], words, table.source)
    used = [name for name in names if name in loaded.names()]
    if used:
        raise outputs.UsageError(f"--supplementary {used[0]}: the model was fitted to that column. Leave it out.")
    numbers, texts = [name for name in names if name in table.columns], [name for name in names if name in table.labels]
    given = {"ids": request.ids, "missing": "keep", **request.dialect}
    call = f"read_table({arguments([request.table], columns=numbers, labels=texts or None, **given)})"
    return columns_of((replace(table, call=call), [*numbers, *texts]))


def _colour(request: Request, table: Table, loaded: Loaded) -> Array | None:
    """The column of labels that was asked for, else the first that holds groups."""
    if request.label is not None:
        return labels_of(table, request.label)
    groups = (cells for cells in table.labels.values() if are_groups(cells))
    return None if loaded.classifies else next((np.array(cells) for cells in groups), None)


def _call(request: Request, loaded: Loaded, table: Table, y: Array | None, labels: Sequence[str]) -> str:
    given = {
        "labels": list(labels) or None,
        "ids": request.ids,
        "missing": request.missing or ("keep" if loaded.gaps else None),
        **loaded.reading,
        **request.dialect,
    }
    chosen, targets = _chosen(loaded.columns, table), list(loaded.targets)
    read = f"read_table({arguments([request.table], columns=chosen, **given)})"
    if y is None or (loaded.classifies and request.y_table is None):
        return read
    if request.y_table is None:
        return f"read_views({arguments([request.table], x_columns=chosen, y_columns=targets, **given)})"
    wanted = {"columns": [], "labels": targets} if loaded.classifies else {"columns": targets}
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


def _text(request: Request, loaded: Loaded, table: Table | None, page: Page, size: int) -> str:
    lines = []
    if table is not None:
        n, d = table.values.shape
        lines.append(("table", f"{table.source}: {plural(n, 'row')}, {plural(d, 'numeric column')}"))
    grades = Counter(check.grade for check in page.checks)  # in the order of the checks, the gravest first
    lines.append(("checks", ", ".join(f"{n} good" if g == "good" else plural(n, g) for g, n in grades.items())))
    lines += [(check.grade, check.text) for check in page.checks if check.grade in ("error", "warning")]
    where = "standard output" if request.output == "-" else request.output
    kinds = _kinds(page)
    what = f"{plural(kinds['picture'], 'picture')}, {plural(kinds['grid'], 'table')}"
    lines.append(("report", f"{where}: {what}, {size:,} bytes"))
    return str(FitSummary((loaded.name, loaded.path), tuple(lines)))


def _facts(request: Request, loaded: Loaded, table: Table | None, page: Page, size: int) -> dict[str, Any]:
    kinds = _kinds(page)
    return {
        "estimator": loaded.name,
        "model": loaded.path,
        "source": None if table is None else table.source,
        "n": None if table is None else len(table.values),
        "checks": [asdict(check) for check in page.checks],
        "sections": [section.title for section in page.sections],
        "pictures": kinds["picture"],
        "tables": kinds["grid"],
        "bytes": size,
        "files": [request.output],
    }


def _kinds(page: Page) -> Counter[str]:
    return Counter(part.kind for section in page.sections for part in section.parts)
