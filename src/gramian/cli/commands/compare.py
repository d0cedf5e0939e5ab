"""``gramian compare``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from gramian.cli import options as o
from gramian.cli.compare import Comparison, Line, check_methods, methods_for
from gramian.cli.compare import compare as compare_methods
from gramian.cli.report import dumps, remarks, some
from gramian.cli.request import FitRequest

HELP = """Several methods on one table, a line each.

A line has components, seconds and a figure: the share of variance, the log-likelihood, the correlation of the first
pair, or (with --target or --label) the cross-validated error or accuracy. Options go to the methods that take them.
With --target or --label every method is tuned, inside the rows outside each fold: number of components or neighbours,
ridge, kernel, penalty C, but for what an option sets.

\b
Example:
  gramian demo --output demo
  gramian compare demo/wine.csv --methods pca,kernel-pca,ica,factor-analysis -k 3 --scale
  gramian compare demo/diabetes.csv --target progression -k auto
"""


def compare(
    table: o.TableFile,
    methods: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            autocompletion=o.complete_methods,
            help="Methods; all that suit the other options if not given.",
        ),
    ] = None,
    components: o.Components = None,
    scale: o.Scale = None,
    columns: o.ColumnNames = None,
    target: o.Targets = None,
    y_table: o.SecondTable = None,
    label: o.Label = None,
    missing: o.Missing = None,
    read: o.Read = None,
    kernel: o.Kernel = None,
    ridge: Annotated[str | None, typer.Option(metavar="R", help="Penalty of the methods that have one.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of iterative solvers.")] = None,
    memory: o.Memory = None,
    threads: o.Threads = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> o.Job:
    """Return the job of ``gramian compare``."""
    request = FitRequest(
        table=table,
        n_components=o.read_components(components),
        scale=scale,
        missing=missing,
        columns=o.names(columns),
        targets=o.names(target),
        y_table=y_table,
        label=label,
        dialect=o.read_dialect(read),
        options=o.given(kernel=kernel, ridge=o.read_ridge(ridge), seed=seed),
        settings=o.given(memory=memory, threads=threads),
    )

    def job() -> None:
        chosen = o.names(methods) or methods_for(request)
        check_methods(request, chosen)
        found = compare_methods(request, chosen, quiet=quiet or json)
        print(_json(found) if json else _text(found, quiet=quiet))
        if all(line.failed for line in found.lines):
            raise ValueError("no method could be fitted.")

    return job


def _text(found: Comparison, *, quiet: bool) -> str:
    n, d = found.table.values.shape
    head = [f"{found.table.source}: {n:,} rows, {d:,} columns"]
    if found.table.dropped:
        head.append(f"set aside: {some(found.table.dropped)}")
    rows = [("method", "k", "seconds", "figure", ""), *map(_cells, found.lines)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    tuned = [(line.method, line.tuned) for line in found.lines if line.tuned]
    if tuned and not quiet:
        width = max(len(method) for method, _ in tuned)
        lines += ["tuned on the rows outside each fold, by least error:"]
        lines += [f"  {method:<{width}}  {text}" for method, text in tuned]
    return "\n".join([*([] if quiet else head), *lines])


def _cells(line: Line) -> tuple[str, ...]:
    if line.failed:
        return (line.method, "", "", "failed", line.failed)
    size = "" if line.size is None else str(line.size)
    return (line.method, size, f"{line.seconds:.2g}", line.name, line.text)


def _json(found: Comparison) -> str:
    lines: list[dict[str, Any]] = [asdict(line) for line in found.lines]
    return dumps({"source": found.table.source, "dropped": remarks(found.table), "methods": lines})
