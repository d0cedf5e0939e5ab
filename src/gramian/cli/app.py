"""The commands together. Typer reads the arguments; the job they make runs outside it, under our rules for errors."""

from __future__ import annotations

import io
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

import typer

import gramian
from gramian.cli import apply, compare, demo, doctor, fit, report, select, show
from gramian.cli import options as o
from gramian.cli.outputs import finish, say

#: Typer's base of refused arguments; which module it lives in depends on the version, what stands below it does not.
Refused: type[Exception] = typer.BadParameter.__mro__[2]

EXPLORE_HELP = """Explore a table in the browser.

Choose method, kernel and parameters with sliders; scores, spectrum, loadings, predictions and reconstructions are
updated. Without a table the page has some for teaching, and takes an upload. It is served on this machine only, to
whoever has the address that is printed; models are saved in the current folder.

\b
Example:
  gramian explore
  gramian demo --output demo
  gramian explore demo/digits.csv
  gramian explore demo/wine.csv --port 8050 --no-browser
"""
app = typer.Typer(rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, 1 if it failed, 2 if misused, 130 if interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show must not end the work
    try:
        job = typer.main.get_command(app).main(args=arguments, prog_name="gramian", standalone_mode=False)
    except Refused as error:
        message = error.format_message().rstrip(".")  # type: ignore[attr-defined]
        say(f"error: {message}{'' if message.endswith('?') else '.'} See gramian --help.")
        return error.exit_code  # type: ignore[attr-defined]
    return finish(job) if callable(job) else job or 0


def _version(wanted: bool) -> None:
    if wanted:
        print(f"gramian {gramian.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True, help="Component analysis and kernel methods for tables of numbers.")
def top(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Print the help if no command is given."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@o.options(
    "table columns ids label encode read port browser",
    table=o.argument("TABLE", "File to read; tables for teaching if not given.", required=False),
    label=o.option(metavar="NAME", help="Column of numbers that are labels, such as classes."),
    port=o.option(
        kind=int, default=0, metavar="N", min=0, max=65535, help="Port of the page; any free one if not given."
    ),
    browser=o.option("--browser/--no-browser", kind=bool, default=True, help="Open the page in the browser."),
)
def explore(request: o.Request) -> None:
    """Serve the page until Ctrl-C."""
    from gramian.explore.server import serving  # dash is optional, and slow to import

    labels = None if request.label is None else [request.label]
    given = o.given(columns=request.columns, ids=request.ids, labels=labels, categories=request.encode)
    with serving(request.table or None, port=request.port, **given, **request.dialect) as served:
        print(served.address, flush=True)
        say("Press Ctrl-C to stop.")
        if request.browser:
            webbrowser.open(served.address)
        with suppress(KeyboardInterrupt):  # the way to end it, and no failure
            served.run()


app.command(help=fit.HELP)(fit.fit)
app.command(help=show.HELP)(show.show)
app.command(help=apply.TRANSFORM_HELP)(apply.transform)
app.command(help=apply.INVERSE_HELP)(apply.inverse)
app.command(help=apply.PREDICT_HELP)(apply.predict)
app.command(help=apply.SCORE_HELP)(apply.score)
app.command(help=select.HELP)(select.select)
app.command(help=compare.HELP)(compare.compare)
app.command(help=doctor.HELP)(doctor.doctor)
app.command(help=EXPLORE_HELP)(explore)
app.command(help=apply.INSPECT_HELP)(apply.inspect)
app.command(help=report.HELP)(report.report)
app.command(help=demo.HELP)(demo.demo)
