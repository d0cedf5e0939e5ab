"""Options that several commands share, and how their text is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from gramian.cli.errors import UsageError
from gramian.cli.methods import METHODS

#: What a command returns: the work, to be done under our rules for errors.
Job = Callable[[], None]
DIALECT = ("separator", "decimal", "thousands", "encoding", "header", "sheet")


def complete_method(incomplete: str) -> list[str]:
    """Complete the name of a method in a shell."""
    return [name for name in METHODS if name.startswith(incomplete)]


def complete_methods(incomplete: str) -> list[str]:
    """Complete the last of several names in a shell."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in complete_method(last)]


TableFile = Annotated[
    str, typer.Argument(metavar="TABLE", show_default=False, help="File to read; - is standard input.")
]
ModelFile = Annotated[
    str, typer.Argument(metavar="MODEL", show_default=False, help="Model file that gramian fit wrote.")
]
Method = Annotated[
    str, typer.Option(metavar="NAME", autocompletion=complete_method, help="What to fit; the names are above.")
]
Components = Annotated[
    str | None,
    typer.Option(
        "-k",
        "--components",
        metavar="K",
        help="Components, clusters or neighbours: a number, a share of variance (pca, kernel-pca), or auto (what "
        "gramian select decides; random-projection: enough to keep distances).",
    ),
]
Output = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="CSV file to write; - is standard output.")
]
Scale = Annotated[
    bool | None,
    typer.Option(
        "--scale/--no-scale",
        show_default=False,
        help="Divide columns by their standard deviations first. pls, pcr, pls-canonical and pls-svd do so unless told "
        "not to.",
    ),
]
ColumnNames = Annotated[
    str | None,
    typer.Option(
        "--columns", "--x-columns", metavar="A,B", help="Numeric columns to use: names, ranges a:b, patterns x_*."
    ),
]
Targets = Annotated[
    str | None,
    typer.Option("--target", "--y-columns", metavar="A,B", help="Columns to predict, or of the second view."),
]
SecondTable = Annotated[
    str | None,
    typer.Option("--y-table", metavar="FILE", help="Table of targets, of labels or of the second view, row by row."),
]
Label = Annotated[
    str | None, typer.Option(metavar="NAME", help="Column of labels, to predict or to keep beside the scores.")
]
Ids = Annotated[str | None, typer.Option("--ids", metavar="NAME", help="Column that names the rows.")]
Missing = Annotated[
    str | None, typer.Option(metavar="em|drop", help="Missing values: expect them under the model, or drop their rows.")
]
Encode = Annotated[
    str | None, typer.Option("--encode", metavar="A,B", help="Text columns to turn into indicator columns.")
]
Dates = Annotated[str | None, typer.Option("--dates", metavar="A,B", help="Dates to turn into days.")]
Read = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="WHAT=HOW",
        help="How the file is written, if what is found out is wrong: separator, decimal, thousands, encoding, header, "
        "sheet. May be repeated.",
    ),
]
Stream = Annotated[
    bool,
    typer.Option(
        "--stream", help="Read the table block by block, as folders, patterns and tables larger than the memory are."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let the workers of a dask cluster read and fit: tcp://host:port, or local for this machine's processors.",
    ),
]
Kernel = Annotated[str | None, typer.Option(metavar="TEXT", help='Kernel, such as "rbf(sigma=3)" or "2*linear".')]
Memory = Annotated[str | None, typer.Option(metavar="SIZE", help="Memory beside the data, such as 2GB.")]
Threads = Annotated[int | None, typer.Option(metavar="N", min=1, help="Worker threads.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def read_components(text: str | None) -> int | float | str | None:
    """Read ``-k``: a whole number, a fraction or auto."""
    if text is None or text == "auto":
        return text
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    raise typer.BadParameter(f"-k {text} is neither a whole number nor a fraction such as 0.9, nor auto.")


def read_ridge(text: str | None) -> float | tuple[float, ...] | None:
    """Read ``--ridge``: a number, or two for two views."""
    if text is None:
        return None
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"--ridge {text} is neither a number nor two of them, such as 0.1,0.5.") from None
    return numbers[0] if len(numbers) == 1 else numbers


def read_dialect(words: list[str] | None) -> dict[str, Any]:
    """Read ``--read``: pairs such as decimal=, or header=no."""
    found: dict[str, Any] = {}
    for word in words or []:
        key, equals, value = word.partition("=")
        if key not in DIALECT or not equals or not value:
            raise typer.BadParameter(f"--read {word} is not WHAT=HOW, with one of {', '.join(DIALECT)}.")
        if key == "header" and value not in ("yes", "no"):
            raise typer.BadParameter(f"--read {word} must be --read header=yes or --read header=no.")
        found[key] = value == "yes" if key == "header" else "\t" if value == "tab" else value
    return found


def names(text: str | None) -> list[str] | None:
    """Read names separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",")]


def given(**options: Any) -> dict[str, Any]:
    """Options that were given."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


def check_streams(*, json: bool, output: str | None) -> None:
    """Refuse two texts on one stream."""
    if json and output == "-":
        raise UsageError("--json and --output - both write to standard output. Name a file with -o.")
