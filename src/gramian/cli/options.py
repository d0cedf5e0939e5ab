"""Options that several commands share, how their text is read, and the request that they make, checked before any work.

What is said of a method comes from its record in :mod:`gramian.registry`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import Parameter, Signature
from typing import Annotated, Any

from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from typer import Argument, BadParameter, Option

from gramian import kernels
from gramian.cli.outputs import DIALECT, UsageError
from gramian.config import parse_bytes
from gramian.kernels.parsing import takes_matrix
from gramian.registry import ARGUMENTS, METHODS, Record
from gramian.tables import Standardizer

#: What a command returns: the work, to be done under our rules for errors.
Job = Callable[[], None]
#: Type of a parameter, with what typer is told of it, and its default.
Declared = tuple[Any, Any]
OUTPUT_HELP = "CSV file to write; - is standard output."
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


def argument(metavar: str, help: str, *, required: bool = True) -> Declared:
    """A word without a name that a command takes."""
    kind: Any = str if required else str | None
    default = Parameter.empty if required else None
    return Annotated[kind, Argument(metavar=metavar, show_default=False, help=help)], default


def option(*flags: str, kind: Any = str | None, default: Any = None, **more: Any) -> Declared:
    """An option of a command; without ``flags`` its name is that of the parameter."""
    return Annotated[kind, Option(*flags, **more)], default


def flag(names: str, help: str) -> Declared:
    """An option that is given or not."""
    return option(*names.split(), kind=bool, default=False, help=help)


#: Parameter -> option of all commands that have it.
OPTIONS: dict[str, Declared] = {
    "table": argument("TABLE", "File to read; - is standard input."),
    "model_file": argument("MODEL", "Model file that gramian fit wrote."),
    "method": option(
        kind=str,
        default="pca",
        metavar="NAME",
        autocompletion=complete_method,
        help="What to fit; the names are above.",
    ),
    "components": option(
        "-k",
        "--components",
        metavar="K",
        help="Components, clusters or neighbours: a number, a share of variance "
        f"({methods_that(lambda record: record.share, 'and')}), or auto (what gramian select decides; "
        f"{methods_that(lambda record: record.auto and not record.counted)}: enough to keep distances).",
    ),
    "output": option("-o", "--output", metavar="FILE", help=OUTPUT_HELP),
    "scale": option(
        "--scale/--no-scale",
        kind=bool | None,
        show_default=False,
        help="Divide columns by their standard deviations first. "
        f"{methods_that(lambda record: record.scales, 'and')} do so unless told not to.",
    ),
    "columns": option(
        "--columns", "--x-columns", metavar="A,B", help="Numeric columns to use: names, ranges a:b, patterns x_*."
    ),
    "target": option("--target", "--y-columns", metavar="A,B", help="Columns to predict, or of the second view."),
    "y_table": option(metavar="FILE", help="Table of targets, of labels or of the second view, row by row."),
    "label": option(metavar="NAME", help="Column of labels, to predict or to keep beside the scores."),
    "ids": option(metavar="NAME", help="Column that names the rows."),
    "test": option(metavar="TABLE", help="Rows that were not used in the fit, with what is to be predicted of them."),
    "supplementary": option(
        kind=list[str] | None,
        metavar="A,B|FILE",
        help="Columns of the table, or a table of further rows, that were not used in the fit: shown beside it. "
        "Repeatable.",
    ),
    "missing": option(metavar="em|drop", help="Missing values: impute them by the model, or drop their rows."),
    "drop": option("--missing", metavar="drop", help="Drop rows that miss a value of the model's columns."),
    "encode": option(metavar="A,B", help="Text columns to turn into indicator columns."),
    "dates": option(metavar="A,B", help="Columns of dates to turn into days."),
    "read": option(
        kind=list[str] | None,
        metavar="WHAT=HOW",
        help=f"How the file is written, if detected wrongly; repeatable: {', '.join(DIALECT)}.",
    ),
    "stream": flag(
        "--stream", "Read the table block by block, as folders, patterns and tables larger than the memory are."
    ),
    "scheduler": option(
        metavar="ADDRESS",
        help="Let the workers of a dask cluster read and fit: tcp://host:port, or local for this machine's processors.",
    ),
    "kernel": option(metavar="TEXT", help='Kernel, such as "rbf(sigma=3)" or "2*linear".'),
    "seed": option(kind=int | None, metavar="N", help="Seed of iterative solvers."),
    "memory": option(metavar="SIZE", help="Memory beside the data, such as 2GB."),
    "threads": option(kind=int | None, metavar="N", min=1, help="Worker threads."),
    "quiet": flag("--quiet -q", "Print only warnings and errors."),
    "json": flag("--json", "Print one JSON object instead of text."),
}


def options(names: str, **own: Declared) -> Callable[[Callable[[Request], None]], Callable[..., Job]]:
    """Make a command of a function that takes the request which options of these names make.

    Typer reads the names in the order given; ``own`` declares those that are not in :data:`OPTIONS`, or differ there.
    """
    known = {**OPTIONS, **own}
    parameters = [
        Parameter(name, Parameter.KEYWORD_ONLY, annotation=known[name][0], default=known[name][1])
        for name in names.split()
    ]

    def declare(work: Callable[[Request], None]) -> Callable[..., Job]:
        def command(**values: Any) -> Job:
            request = request_of(values)
            return lambda: work(request)

        command.__name__ = work.__name__
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return command

    return declare


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


def read_numbers(text: str | None) -> list[int] | None:
    """Read whole numbers from 1 on, and ranges of them, separated by commas."""
    if text is None:
        return None
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not (first.isdigit() and (last or first).isdigit()) or int(first) < 1:
            raise BadParameter(f"--components {text} must be numbers counted from 1, such as 1,2 or 1-3.")
        found += range(int(first), int(last or first) + 1)
    return found


def names(text: str | None) -> list[str] | None:
    """Read names separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",")]


def given(**options: object) -> dict[str, Any]:
    """Options that were given."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


def check_drop(missing: str | None, y_table: str | None) -> str | None:
    """Return what a command that applies a model was told of missing values, or refuse it."""
    if missing not in (None, "drop"):
        raise BadParameter(f"--missing {missing} is not known here. Use --missing drop to leave rows out.")
    if missing and y_table is not None:
        raise BadParameter("--missing drop does not go with --y-table. Put both into one table.")
    return missing


@dataclass(frozen=True)
class Request:
    """What a command is asked for; ``None`` means not given.

    ``options`` are those that only some methods take, by their names in :data:`gramian.registry.ARGUMENTS`.
    """

    table: str = ""
    model_file: str | None = None
    method: str = "pca"
    methods: str | None = None
    n_components: int | float | str | None = None
    output: str | None = None
    scale: bool | None = None
    missing: str | None = None
    columns: list[str] | None = None
    targets: list[str] | None = None
    y_table: str | None = None
    label: str | None = None
    ids: str | None = None
    test: str | None = None
    supplementary: list[str] | None = None
    encode: list[str] | None = None
    dates: list[str] | None = None
    stream: bool = False
    scheduler: str | None = None
    dialect: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    criteria_seed: int | None = None
    title: str | None = None
    port: int = 0
    browser: bool = True
    dry_run: bool = False
    cv: bool | None = None
    shown: str | None = None
    picked: list[int] | None = None
    sort: bool = False
    cut: float | None = None
    top: int | None = None
    quiet: bool = False
    json: bool = False

    @property
    def record(self) -> Record:
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
        if self.missing not in (None, "em", "drop"):
            raise UsageError(f"--missing {self.missing} is not known. Use em (impute them) or drop (leave rows out).")
        if self.missing == "em" and not self.record.has("missing"):
            able = methods_that(lambda record: record.has("missing"))
            raise UsageError(f"--missing em goes with --method {able}, not with {self.method}; --missing drop does.")
        if self.scale and self.precomputed:
            raise UsageError("--scale would change a precomputed kernel matrix. Leave it out.")
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


def request_of(values: Mapping[str, Any]) -> Request:
    """The request that the options of a command make, by the names of its parameters."""
    known = {each.name for each in fields(Request)}
    special = {option: values.get(option.replace("-", "_").lower()) for option in ARGUMENTS}
    found = {name: value for name, value in values.items() if name in known and value is not None}
    found |= {name: names(values.get(name)) for name in ("columns", "encode", "dates")}
    found["picked"] = read_numbers(values.get("picked"))
    if "drop" in values:
        found["missing"] = check_drop(values["drop"], values.get("y_table"))
    return Request(
        **found,
        n_components=read_components(values.get("components")),
        targets=names(values.get("target")),
        dialect=read_dialect(values.get("read")),
        options=given(**{**special, "ridge": read_ridge(values.get("ridge"))}),
        settings=given(memory=values.get("memory"), threads=values.get("threads")),
    )


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
