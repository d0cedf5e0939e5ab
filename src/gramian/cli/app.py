"""Commands and options. Typer reads the arguments; the job they make runs outside it, under our rules for errors."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Annotated

import typer

import gramian
from gramian.cli.errors import UsageError, finish, say
from gramian.cli.fit import fit as fit_table
from gramian.cli.report import as_json, as_text
from gramian.cli.request import FitRequest

Job = Callable[[], None]
#: Typer's base of refused arguments; which module it lives in depends on the version, what stands below it does not.
Refused: type[Exception] = typer.BadParameter.__mro__[2]

app = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


class MethodName(StrEnum):
    """Methods of ``gramian fit``."""

    pca = "pca"
    kernel_pca = "kernel-pca"


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code: 0, 1 if it failed, 2 if misused, 130 if interrupted."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a name that the terminal cannot show must not end the work
    try:
        job = typer.main.get_command(app).main(args=arguments, prog_name="gramian", standalone_mode=False)
    except Refused as error:
        say(f"error: {error.format_message().rstrip('.')}. See gramian --help.")  # type: ignore[attr-defined]
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


FIT_HELP = """Fit a table and write the scores.

TABLE ends in .csv, .tsv, .txt, .parquet or .npy; - reads CSV from standard input. Numeric columns are used; text
columns are labels and go to the scores file unchanged.

\b
Example:
  gramian demo --output demo
  gramian fit demo/digits.csv --method kernel-pca --kernel "rbf(sigma=25)" -k 2 -o scores.csv
"""


@app.command(help=FIT_HELP)
def fit(
    table: Annotated[str, typer.Argument(metavar="TABLE", show_default=False, help="File to read.")],
    method: Annotated[MethodName, typer.Option(help="What to fit.")] = MethodName.pca,
    kernel: Annotated[
        str | None, typer.Option(metavar="TEXT", help='Kernel of kernel-pca, such as "rbf(sigma=3)" or "2*linear".')
    ] = None,
    components: Annotated[
        str | None,
        typer.Option(
            "-k", "--components", metavar="K", help="A number, or a share of variance. pca: all, kernel-pca: 2."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="CSV file for the scores; - is standard output."),
    ] = None,
    scale: Annotated[bool, typer.Option("--scale", help="Divide columns by their standard deviations first.")] = False,
    whiten: Annotated[bool, typer.Option("--whiten", help="Give scores unit variance (pca).")] = False,
    solver: Annotated[str | None, typer.Option(metavar="NAME", help="Solver; chosen by itself if not given.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of iterative solvers.")] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B", help="Numeric columns to use, separated by commas.")
    ] = None,
    memory: Annotated[str | None, typer.Option(metavar="SIZE", help="Memory beside the data, such as 2GB.")] = None,
    threads: Annotated[int | None, typer.Option(metavar="N", min=1, help="Worker threads.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
) -> Job:
    """Return the job of ``gramian fit``."""
    request = FitRequest(
        table=table,
        method=method.value,
        kernel=kernel,
        n_components=_components(components),
        output=output,
        scale=scale,
        whiten=whiten,
        solver=solver,
        seed=seed,
        columns=None if columns is None else [name.strip() for name in columns.split(",")],
        settings={name: value for name, value in (("memory", memory), ("threads", threads)) if value is not None},
    )

    def job() -> None:
        if json and output == "-":
            raise UsageError("--json and --output - both write to standard output. Name a file for the scores.")
        fitted = fit_table(request, quiet=quiet or json)
        if json:
            print(as_json(fitted))
        elif not quiet:
            print(as_text(fitted), file=sys.stderr if output == "-" else sys.stdout)

    return job


@app.command(help="Analyse scikit-learn's digits; draw three pictures.")
def demo(
    output: Annotated[str, typer.Option("-o", "--output", metavar="FOLDER", help="Folder to write to.")] = "demo",
) -> Job:
    """Return the job of ``gramian demo``."""

    def job() -> None:
        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it speaks up where no cache can be written
        from gramian.cli.demo import demo  # matplotlib is optional

        demo(output)

    return job


def _components(text: str | None) -> int | float | None:
    """Read ``-k``: a whole number or a fraction."""
    for read in (int, float):
        try:
            return None if text is None else read(text)
        except ValueError:
            continue
    raise typer.BadParameter(f"-k {text} is neither a whole number nor a fraction such as 0.9.")
