"""``gramian select``."""

from __future__ import annotations

from typing import Annotated

import typer

from gramian.cli import options as o
from gramian.cli.code import select_code
from gramian.cli.report import dumps, remarks, some, source
from gramian.cli.request import FitRequest
from gramian.cli.select import Selected
from gramian.cli.select import select as select_for

HELP = """How many components, or which kernel: all criteria side by side.

A star marks the criterion that decides; -k auto of gramian fit asks the same one. kernel-ridge and kernel-svm compare
kernels, and say what the choice is worth on rows that had no part in it.

\b
Methods:
  how many components  pca, probabilistic-pca, factor-analysis, kernel-pca, pls, pcr, cca
  which kernel         kernel-ridge, kernel-svm

\b
Example:
  gramian demo --output demo
  gramian select demo/wine.csv --scale
  gramian select demo/wine.csv --method factor-analysis
  gramian select demo/diabetes.csv --method pls --target progression
  gramian select demo/linnerud.csv --method cca --y-columns Weight,Waist,Pulse --ridge 0.1
  gramian select demo/iris.csv --method kernel-svm --label species
"""


def select(
    table: o.TableFile,
    method: o.Method = "pca",
    scale: o.Scale = None,
    columns: o.ColumnNames = None,
    target: o.Targets = None,
    y_table: o.SecondTable = None,
    label: o.Label = None,
    ids: o.Ids = None,
    missing: o.Missing = None,
    encode: o.Encode = None,
    dates: o.Dates = None,
    read: o.Read = None,
    kernel: o.Kernel = None,
    ridge: Annotated[str | None, typer.Option(metavar="R", help="Penalty of cca; R,S for two views.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of random tables, shuffles and folds.")] = None,
    memory: o.Memory = None,
    threads: o.Threads = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> o.Job:
    """Return the job of ``gramian select``."""
    request = FitRequest(
        table=table,
        method=method,
        scale=scale,
        missing=missing,
        columns=o.names(columns),
        targets=o.names(target),
        y_table=y_table,
        label=label,
        ids=ids,
        encode=o.names(encode),
        dates=o.names(dates),
        dialect=o.read_dialect(read),
        options=o.given(kernel=kernel, ridge=o.read_ridge(ridge)),
        settings=o.given(memory=memory, threads=threads),
    )

    def job() -> None:
        found = select_for(request, seed, quiet=quiet or json)
        print(_json(found) if json else _text(found, quiet=quiet))

    return job


def _text(found: Selected, *, quiet: bool) -> str:
    if quiet:
        return str(found.answer)
    table = found.inputs.table
    head = [source(found.request, found.inputs)]
    if table.dropped:
        head.append(f"set aside: {some(table.dropped)}")
    code = select_code(found.request, found.inputs, found.call)
    return "\n".join([*head, "", str(found.answer), "", *code])


def _json(found: Selected) -> str:
    table = found.inputs.table
    python = "\n".join(select_code(found.request, found.inputs, found.call))
    facts = {"source": table.source, "dropped": remarks(table), "method": found.request.method, "python": python}
    return dumps({**found.answer.to_dict(), **facts})
