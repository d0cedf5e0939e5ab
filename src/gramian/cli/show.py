"""``gramian show``: tables of a fitted model, on the screen, as CSV or as JSON."""

from __future__ import annotations

import difflib
import os
from dataclasses import replace

import numpy as np

from gramian.cli import options as o
from gramian.cli import outputs
from gramian.cli.findings import line_width
from gramian.cli.inputs import Loaded, load_model, pick, read_with_truth, truth_in
from gramian.cli.options import Request
from gramian.estimators.result_tables import OF_ROWS, OF_TARGETS, TABLES, ResultTable, ResultTables
from gramian.estimators.table_maker import TableMaker
from gramian.files import atomic
from gramian.results import text_table

HELP = """Show a table of results of a model.

Without NAME: what tables there are. Some are of the rows of a data table TABLE (scores, contributions of rows,
outliers, predictions) or compare predictions with it (errors, confusion); its further columns of numbers are correlated
with the scores (supplementary), and a text column puts its rows into groups (groups). Components are counted from 1.

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale --model wine.safetensors
  gramian show wine.safetensors
  gramian show wine.safetensors loadings --sort --cut 0.3
  gramian show wine.safetensors scores demo/wine.csv --components 1,2 -o scores.csv
  gramian show wine.safetensors groups demo/wine.csv
"""


@o.options(
    "model_file shown table output picked sort cut top y_table label ids drop read json",
    shown=o.argument("NAME", "Table to show; without it, what there is.", required=False),
    table=o.argument("TABLE", "Rows, for tables of rows; - is standard input.", required=False),
    picked=o.option("--components", metavar="1,2", help="Components to show, counted from 1: 1,2 or 1-3."),
    sort=o.flag("--sort", "Sort rows by the component of their largest number, then by its size."),
    cut=o.option(kind=float | None, metavar="C", help="Leave out numbers of less than this size."),
    top=o.option(kind=int | None, metavar="N", min=1, help="Show the first N rows only."),
    label=o.option(metavar="NAME", help="Column of labels, to compare with or to group rows by."),
)
def show(request: Request) -> None:
    """Load the model, read rows if there are any, and print or write the table."""
    request = _named(request)
    if request.shown is None and request.output is not None:
        raise outputs.UsageError("-o needs the name of a table: gramian show MODEL NAME -o FILE.")
    outputs.check_streams(request)
    outputs.check_outputs(request, {"--output": request.output})
    loaded = load_model(request)
    tables = (_with_rows(request, loaded) if request.table else _maker(loaded)).tables()
    if request.shown is None:
        print(
            outputs.dumps({name: TABLES[name] for name in tables}) if request.json else _list(request, loaded, tables)
        )
        return
    table = _arranged(request, _found(request, loaded, tables))
    if request.output is not None:
        _write(request.output, table)
    if request.json:
        print(outputs.dumps({"model": loaded.path, "table": table.name, "note": table.note, **table.to_dict()}))
    elif request.output is None:
        print(f"{table.words}{f': {table.note}' if table.note else ''}\n\n{table.text(line_width())}")


def _named(request: Request) -> Request:
    """A data table in the place of a name is one."""
    known = request.shown is None or request.shown in TABLES or request.table
    return (
        request
        if known or not os.path.exists(str(request.shown))
        else replace(request, table=str(request.shown), shown=None)
    )


def _maker(loaded: Loaded) -> TableMaker:
    return TableMaker(loaded.model, named_columns=loaded.columns, named_targets=loaded.targets or None)


def _with_rows(request: Request, loaded: Loaded) -> TableMaker:
    """What tables are made of, with the rows of a data table, what is true of them, and its further columns."""
    table, second, _ = read_with_truth(request, loaded)
    X = pick(table, loaded.columns, loaded.width, loaded)
    y = truth_in(loaded, second, "there are no tables that compare with them")
    used = {*(loaded.columns or table.columns), *loaded.targets}
    beside = {name: table.values[:, at] for at, name in enumerate(table.columns) if name not in used}
    chosen = [request.label] if request.label is not None else list(table.labels)
    beside |= {name: np.array(table.labels[name], dtype=object) for name in chosen if name not in loaded.targets}
    return replace(_maker(loaded), X=X, y=y, named_rows=table.row_names, beside=beside)


def _list(request: Request, loaded: Loaded, tables: ResultTables) -> str:
    """What there is, and what there would be with rows, and with what is true of them."""
    rows = np.empty((0, loaded.width))
    beside = {"a column": np.empty(0), "a label": np.array(["a", "b", "a"])}
    truth = replace(_maker(loaded), X=rows, y=np.empty((0, len(loaded.targets))), beside=beside).tables()
    told = {name: "" if name in tables else "with TABLE" for name in (*tables, *([] if request.table else truth))}
    return text_table([(name, told[name], words) for name, words in TABLES.items() if name in told])


def _found(request: Request, loaded: Loaded, tables: ResultTables) -> ResultTable:
    name = str(request.shown)
    if name in tables:
        found: ResultTable = tables[name]
        return found
    of_rows = name in (*OF_ROWS, *OF_TARGETS, "supplementary", "groups")
    if of_rows and not request.table:
        raise outputs.UsageError(f"{name} needs rows: gramian show {loaded.path} {name} TABLE.")
    near = difflib.get_close_matches(name, tables, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(tables)}."
    raise outputs.UsageError(f"{loaded.path} holds {loaded.name}, which has no table {name!r} here. {hint}")


def _arranged(request: Request, table: ResultTable) -> ResultTable:
    """The table as it was asked for."""
    if request.picked is not None:
        try:
            table = table.pick(request.picked)
        except ValueError as error:
            raise outputs.UsageError(str(error).replace("components=", "--components ")) from error
    if request.sort:
        table = table.sorted()
    if request.cut is not None:
        table = table.cut(request.cut)
    return table if request.top is None else table.head(request.top)


def _write(path: str, table: ResultTable) -> None:
    text = table.to_csv()
    if path == "-":
        print(text, end="")
        return
    with atomic(path) as file:
        file.write(text.encode())
