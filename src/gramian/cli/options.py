"""Options that several commands share, how their text is read, and the request that they make, checked before any work.

What is said of a method comes from its record in :mod:`gramian.registry`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from typer import Argument, BadParameter, Option

from gramian import kernels
from gramian.cli.outputs import DIALECT, UsageError
from gramian.config import parse_bytes
from gramian.kernels.text import takes_matrix
from gramian.models.classes import known_as
from gramian.registry import ARGUMENTS, METHODS, Record
from gramian.tables import Standardizer

#: What a command returns: the work, to be done under our rules for errors.
Job = Callable[[], None]
#: What a method needs -> what is said if it is not given.
NEEDS_TOLD = {
    "target": "needs a column to predict: --target NAME",
    "view": "needs a second view of the rows: --y-columns A,B or --y-table FILE",
    "label": "needs a text column to predict: --label NAME",
}


def method_named(name: str) -> Record:
    """The record of a method."""
    if name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(name, METHODS, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(METHODS)}."
    raise UsageError(f"--method {name} is not known. {hint}")


def methods_where(needs: str) -> list[str]:
    """Names of the methods that need nothing, a target, a label or a second view."""
    return [name for name, record in METHODS.items() if record.needs == needs]


def methods_that(wanted: Callable[[Record], object], last: str = "or") -> str:
    """Names of the methods of which something is true, for a sentence."""
    found = [name for name, record in METHODS.items() if wanted(record)]
    return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} {last} {found[-1]}"


def takers(option: str, last: str = "and") -> str:
    """Names of the methods that take an option, for a sentence."""
    return methods_that(lambda record: record.takes(option), last)


def method_table(groups: Mapping[str, Sequence[str]]) -> str:
    """Names of methods in groups, a line each, for a help text."""
    width = max(map(len, groups))
    return "\n".join(f"  {group:<{width}}  {', '.join(names)}" for group, names in groups.items())


def complete_method(incomplete: str) -> list[str]:
    """Complete the name of a method in a shell."""
    return [name for name in METHODS if name.startswith(incomplete)]


def complete_methods(incomplete: str) -> list[str]:
    """Complete the last of several names in a shell."""
    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in complete_method(last)]


TableFile = Annotated[str, Argument(metavar="TABLE", show_default=False, help="File to read; - is standard input.")]
ModelFile = Annotated[str, Argument(metavar="MODEL", show_default=False, help="Model file that gramian fit wrote.")]
Method = Annotated[
    str, Option(metavar="NAME", autocompletion=complete_method, help="What to fit; the names are above.")
]
Components = Annotated[
    str | None,
    Option(
        "-k",
        "--components",
        metavar="K",
        help="Components, clusters or neighbours: a number, a share of variance "
        f"({methods_that(lambda record: record.share, 'and')}), or auto (what gramian select decides; "
        f"{methods_that(lambda record: record.auto and not record.counted)}: enough to keep distances).",
    ),
]
Output = Annotated[
    str | None, Option("-o", "--output", metavar="FILE", help="CSV file to write; - is standard output.")
]
Scale = Annotated[
    bool | None,
    Option(
        "--scale/--no-scale",
        show_default=False,
        help="Divide columns by their standard deviations first. "
        f"{methods_that(lambda record: record.scales, 'and')} do so unless told not to.",
    ),
]
ColumnNames = Annotated[
    str | None,
    Option("--columns", "--x-columns", metavar="A,B", help="Numeric columns to use: names, ranges a:b, patterns x_*."),
]
Targets = Annotated[
    str | None, Option("--target", "--y-columns", metavar="A,B", help="Columns to predict, or of the second view.")
]
SecondTable = Annotated[
    str | None, Option(metavar="FILE", help="Table of targets, of labels or of the second view, row by row.")
]
Label = Annotated[str | None, Option(metavar="NAME", help="Column of labels, to predict or to keep beside the scores.")]
Ids = Annotated[str | None, Option(metavar="NAME", help="Column that names the rows.")]
Missing = Annotated[
    str | None, Option(metavar="em|drop", help="Missing values: impute them by the model, or drop their rows.")
]
DropMissing = Annotated[
    str | None, Option("--missing", metavar="drop", help="Drop rows that miss a value of the model's columns.")
]
Encode = Annotated[str | None, Option(metavar="A,B", help="Text columns to turn into indicator columns.")]
Dates = Annotated[str | None, Option(metavar="A,B", help="Columns of dates to turn into days.")]
Read = Annotated[
    list[str] | None,
    Option(metavar="WHAT=HOW", help=f"How the file is written, if detected wrongly; repeatable: {', '.join(DIALECT)}."),
]
Stream = Annotated[
    bool,
    Option(
        "--stream", help="Read the table block by block, as folders, patterns and tables larger than the memory are."
    ),
]
Scheduler = Annotated[
    str | None,
    Option(
        metavar="ADDRESS",
        help="Let the workers of a dask cluster read and fit: tcp://host:port, or local for this machine's processors.",
    ),
]
Kernel = Annotated[str | None, Option(metavar="TEXT", help='Kernel, such as "rbf(sigma=3)" or "2*linear".')]
Memory = Annotated[str | None, Option(metavar="SIZE", help="Memory beside the data, such as 2GB.")]
Threads = Annotated[int | None, Option(metavar="N", min=1, help="Worker threads.")]
Quiet = Annotated[bool, Option("--quiet", "-q", help="Print only warnings and errors.")]
Json = Annotated[bool, Option("--json", help="Print one JSON object instead of text.")]


def read_components(text: str | None) -> int | float | str | None:
    """Read ``-k``: a whole number, a fraction or auto."""
    if text is None or text == "auto":
        return text
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    raise BadParameter(f"-k {text} is neither a whole number nor a fraction such as 0.9, nor auto.")


def read_ridge(text: str | None) -> float | tuple[float, ...] | None:
    """Read ``--ridge``: a number, or two for two views."""
    if text is None:
        return None
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise BadParameter(f"--ridge {text} is neither a number nor two of them, such as 0.1,0.5.") from None
    return numbers[0] if len(numbers) == 1 else numbers


def read_dialect(words: list[str] | None) -> dict[str, Any]:
    """Read ``--read``: pairs such as decimal=, or header=no."""
    found: dict[str, Any] = {}
    for word in words or []:
        key, equals, value = word.partition("=")
        if key not in DIALECT or not equals or not value:
            raise BadParameter(f"--read {word} is not WHAT=HOW, with one of {', '.join(DIALECT)}.")
        if key == "header" and value not in ("yes", "no"):
            raise BadParameter(f"--read {word} must be --read header=yes or --read header=no.")
        found[key] = value == "yes" if key == "header" else "\t" if value == "tab" else value
    return found


def names(text: str | None) -> list[str] | None:
    """Read names separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",")]


def given(**options: object) -> dict[str, Any]:
    """Options that were given."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


def check_streams(*, json: bool, output: str | None) -> None:
    """Refuse two texts on one stream."""
    if json and output == "-":
        raise UsageError("--json and --output - both write to standard output. Name a file with -o.")


def check_drop(missing: str | None, y_table: str | None) -> str | None:
    """Return what a command that applies a model was told of missing values, or refuse it."""
    if missing not in (None, "drop"):
        raise BadParameter(f"--missing {missing} is not known here. Use --missing drop to leave rows out.")
    if missing and y_table is not None:
        raise BadParameter("--missing drop does not go with --y-table. Put both into one table.")
    return missing


@dataclass(frozen=True)
class FitRequest:
    """Options of ``gramian fit``; ``None`` means not given.

    ``options`` are those that only some methods take, by their names in :data:`gramian.registry.ARGUMENTS`.
    """

    table: str
    method: str = "pca"
    n_components: int | float | str | None = None
    output: str | None = None
    model_file: str | None = None
    scale: bool | None = None
    missing: str | None = None
    columns: list[str] | None = None
    targets: list[str] | None = None
    y_table: str | None = None
    label: str | None = None
    ids: str | None = None
    encode: list[str] | None = None
    dates: list[str] | None = None
    stream: bool = False
    scheduler: str | None = None
    dialect: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def record(self) -> Record:
        """What is known of the method asked for."""
        return method_named(self.method)

    def check(self) -> None:
        """Refuse options that do not go together or cannot be read."""
        for option in [*self.options, *(["k"] if self.n_components is not None else [])]:
            if not self.record.takes(option):
                shown = "-k" if option == "k" else f"--{option}"
                raise UsageError(f"{shown} goes with --method {takers(option, 'or')}, not with {self.method}.")
        if self.n_components == "auto" and not self.record.auto:
            auto = methods_that(lambda record: record.auto)
            raise UsageError(f"-k auto goes with --method {auto}, not with {self.method}.")
        self._check_needs()
        self._check_missing()
        if self.scale and self.precomputed:
            raise UsageError("--scale would change a precomputed kernel matrix. Leave it out.")
        if self.model_file is not None and self.standardizes and known_as(Standardizer) is None:
            raise UsageError(
                f"--model cannot keep the scaling of {self.method}. Leave out --scale or --model, or scale the table."
            )
        check_readable(*(self.options.get(name) for name in ("kernel", "kernel-y")), memory=self.settings.get("memory"))

    def _check_needs(self) -> None:
        needs = self.record.needs
        given = {"target": self.targets or self.y_table, "view": self.targets or self.y_table, "label": self.label}
        if needs and not given[needs]:
            raise UsageError(f"--method {self.method} {NEEDS_TOLD[needs]}.")
        if self.record.takes("target"):
            if self.label is not None and self.y_table is not None:
                raise UsageError(
                    f"--label is not needed: {self.method} keeps the text columns of both tables as labels."
                )
            return
        if self.targets is not None:
            raise UsageError(f"--target goes with --method {takers('target', 'or')}, not with {self.method}.")
        if self.y_table is not None and self.label is None:
            raise UsageError(f"--y-table goes with --label NAME, or with --method {takers('target', 'or')}.")

    def _check_missing(self) -> None:
        if self.missing not in (None, "em", "drop"):
            raise UsageError(f"--missing {self.missing} is not known. Use em (impute them) or drop (leave rows out).")
        if self.missing == "em" and not self.record.has("missing"):
            able = methods_that(lambda record: record.has("missing"))
            raise UsageError(f"--missing em goes with --method {able}, not with {self.method}; --missing drop does.")

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the estimator that differ from its defaults."""
        given = {ARGUMENTS[option]: value for option, value in self.options.items()}
        size = self.record.default if self.n_components is None else self.n_components
        given = ({self.record.size: size} if self.record.size else {}) | given
        if self.scale is not None and self.record.has("scale"):
            given["scale"] = self.scale
        if self.missing == "em":
            given["missing"] = "em"
        return {name: value for name, value in given.items() if value is not None}

    @property
    def precomputed(self) -> bool:
        """Whether the table is a matrix of kernel values."""
        return "kernel" in self.options and takes_matrix(self.options["kernel"])

    @property
    def standardizes(self) -> bool:
        """Whether columns are scaled in a step before the estimator, because it has no such argument."""
        return bool(self.scale) and not self.record.has("scale")

    def model(self) -> BaseEstimator:
        """Return the estimator, in a pipeline if columns are scaled first."""
        estimator = self.record.estimator(**self.arguments)
        return make_pipeline(Standardizer(), estimator) if self.standardizes else estimator

    @property
    def scaled(self) -> bool:
        """Whether the method sees columns divided by their standard deviations."""
        return self.record.scales if self.scale is None else self.scale


def request_of(options: Mapping[str, Any]) -> FitRequest:
    """The request that the options of a command make, by the names of its parameters."""
    found = {name: options[name] for name in _PLAIN & options.keys()}
    lists = {"columns": "columns", "target": "targets", "encode": "encode", "dates": "dates"}
    found |= {name: names(options.get(option)) for option, name in lists.items()}
    special = {option: options.get(option.replace("-", "_").lower()) for option in ARGUMENTS}
    return FitRequest(
        **found,
        n_components=read_components(options.get("components")),
        model_file=options.get("model"),
        dialect=read_dialect(options["read"]),
        options=given(**{**special, "ridge": read_ridge(options.get("ridge"))}),
        settings=given(memory=options["memory"], threads=options["threads"]),
    )


#: Parameters of commands that a request takes as they are.
_PLAIN = {"table", "method", "output", "scale", "missing", "y_table", "label", "ids", "stream", "scheduler"}


def check_readable(*kernel_texts: str | None, memory: str | None) -> None:
    """Refuse a kernel or a size of memory that cannot be read, before any table is."""
    try:
        for text in kernel_texts:
            if text not in (None, "precomputed"):
                kernels.parse(str(text))
        if memory is not None:
            parse_bytes(memory)
    except ValueError as error:
        raise UsageError(str(error)) from error
