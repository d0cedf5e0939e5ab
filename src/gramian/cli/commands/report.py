"""``gramian report``."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict
from typing import Annotated, Any

import typer

from gramian.cli import options as o
from gramian.cli.page import ReportRequest, Written
from gramian.cli.page import report as write_report
from gramian.cli.report import dumps
from gramian.reports.contents import GRADES
from gramian.results import FitSummary
from gramian.selection.doctor_findings import plural

HELP = """A report of a model: one HTML file that needs no network.

Checks in plain words first, then what was done, the choice of the number of components, components, scores,
predictions, diagnostics and the code, with pictures and tables. With a TABLE, the rows of the fit or new ones, there is
more to show; the columns of the model are found by their names.

\b
Example:
  gramian demo --output demo
  gramian fit demo/wine.csv -k 3 --scale --model wine.safetensors
  gramian report wine.safetensors demo/wine.csv -o wine.html
"""
MaybeTable = Annotated[
    str | None, typer.Argument(metavar="TABLE", show_default=False, help="Rows to report on; - is standard input.")
]
Out = Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="HTML file to write; - is standard output.")]


def report(
    model: o.ModelFile,
    table: MaybeTable = None,
    output: Out = "report.html",
    y_table: o.SecondTable = None,
    label: Annotated[str | None, typer.Option(metavar="NAME", help="Column of labels to colour rows by.")] = None,
    ids: o.Ids = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Heading of the page.")] = None,
    read: o.Read = None,
    quiet: o.Quiet = False,
    json: o.Json = False,
) -> o.Job:
    """Return the job of ``gramian report``."""
    request = ReportRequest(model, table, output, y_table, label, ids, title, o.read_dialect(read))

    def job() -> None:
        o.check_streams(json=json, output=output)
        written = write_report(request, quiet=quiet or json)
        if json:
            print(_json(written))
        elif not quiet:
            print(_text(written), file=sys.stderr if output == "-" else sys.stdout)

    return job


def _text(written: Written) -> str:
    lines = []
    if written.table is not None:
        n, d = written.table.values.shape
        lines.append(("table", f"{written.table.source}: {n:,} rows, {d:,} numeric columns"))
    grades = Counter(check.grade for check in written.page.checks)
    lines.append(
        ("checks", ", ".join(plural(grades[g], g) if g != "good" else f"{grades[g]} good" for g in GRADES if grades[g]))
    )
    lines += [(check.grade, check.text) for check in written.page.checks if check.grade in ("error", "warning")]
    kinds = _kinds(written)
    where = "standard output" if written.request.output == "-" else written.request.output
    what = f"{plural(kinds['picture'], 'picture')}, {plural(kinds['grid'], 'table')}"
    lines.append(("report", f"{where}: {what}, {written.size:,} bytes"))
    return str(FitSummary((written.loaded.name, written.loaded.path), tuple(lines)))


def _json(written: Written) -> str:
    kinds = _kinds(written)
    facts: dict[str, Any] = {
        "estimator": written.loaded.name,
        "model": written.loaded.path,
        "source": None if written.table is None else written.table.source,
        "n": None if written.table is None else len(written.table.values),
        "checks": [asdict(check) for check in written.page.checks],
        "sections": [section.title for section in written.page.sections],
        "pictures": kinds["picture"],
        "tables": kinds["grid"],
        "bytes": written.size,
        "files": [written.request.output],
    }
    return dumps(facts)


def _kinds(written: Written) -> Counter[str]:
    return Counter(part.kind for section in written.page.sections for part in section.parts)
