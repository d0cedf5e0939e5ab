"""What commands write and say: columns of scores and predictions, JSON, progress, warnings, one line for a failure."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Self

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Display
from sklearn.base import BaseEstimator

from gramian import GramianWarning
from gramian.config import Progress, config
from gramian.construction import respelled, steps_of
from gramian.estimators.validation import from_dask
from gramian.operators import Rows
from gramian.operators.remote import ClusterError
from gramian.operators.rows import SideBySide
from gramian.registry import Record, record_of
from gramian.results import Array, duration, plural
from gramian.tables import Table, check_writable, write_rows, write_scores

if TYPE_CHECKING:
    from gramian.cli.options import Request

#: Shorter work gets no progress bar: it would only flicker.
BAR_DELAY_SECONDS = 1.0

#: Parameters of Python in messages -> options of the command line; those that are not here have their own name.
OPTION_NAMES = {
    "n_components": "-k",
    "n_clusters": "-k",
    "n_neighbors": "-k",
    "random_state": "--seed",
    "kernel_y": "--kernel-y",
    "categories": "--encode",
    "labels": "--label",
    "y_labels": "--label",
    "x_columns": "--columns",
    "y_columns": "--target",
}
#: How a file is written: said as ``--read decimal=,``.
DIALECT = ("separator", "decimal", "thousands", "encoding", "header", "sheet")
#: Values that have another name here; text columns are encoded by name.
OPTION_VALUES = {("missing", "keep"): "em", ("categories", "encode"): "NAME", ("dates", "encode"): "NAME"}
FAILED, MISUSED, INTERRUPTED = 1, 2, 130


class UsageError(ValueError):
    """Options that contradict each other or that no table could make right."""


def finish(job: Callable[[], None]) -> int:
    """Do a job and return the exit code."""
    try:
        with one_line_warnings():
            job()
            if sys.stdout is not None:  # it is, if the shell closed it
                sys.stdout.flush()
        return 0
    except BrokenPipeError:
        _leave_stdout()  # the reader has seen enough: no failure of ours
        return 0
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    except UsageError as error:
        say(f"error: {error}")
        return MISUSED
    except OSError as error:
        _leave_stdout()
        where = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        say(f"error: {where}{error.strerror or error}")
    except (ValueError, TypeError, ImportError, ClusterError) as error:
        say(f"error: {error}")
    except MemoryError as error:
        say(f"error: out of memory ({str(error) or 'the table or the result is too large'}). Set --memory lower.")
    except Exception as error:
        say(f"error: unexpected {type(error).__name__}: {error}. This is a bug of gramian; please report it.")
    return FAILED


def in_options(message: str) -> str:
    """Say parameters as options of the command line, where a message of the library names those of Python.

    >>> in_options("Use n_components=7 or fewer, or missing='drop'; say decimal=',' or labels=['my kind'].")
    "Use -k 7 or fewer, or --missing drop; say --read decimal=, or --label 'my kind'."
    """
    message = message.replace(
        'or impute them in memory: ProbabilisticPCA(missing="em")',
        "or have them dropped where the table is read whole: --missing drop",
    )
    message = re.sub(r"gramian\.config\(([^()]*)\)", r"\1", message)
    found = respelled(message.replace("solver='auto'", "no --solver"), _option)
    return re.sub(r"\((--[\w-]+), \1\)", r"(\1)", found)  # a message that names both


def _option(name: str, value: str) -> str:
    if name in DIALECT:
        return f"--read {name}={value}"
    option = OPTION_NAMES.get(name, f"--{name.replace('_', '-')}")
    if value in ("True", "False"):
        return option if value == "True" else f"--no{option[1:]}"
    value = OPTION_VALUES.get((name, value), value)
    quoted = value if re.fullmatch(r"[\w.,:*+-]*", value) else f"'{value}'"
    return f"{option} {quoted}".rstrip()


def say(message: str) -> None:
    """Write one line to standard error, whatever the message holds; parameters of Python are said as options."""
    print(in_options(" ".join(message.split())), file=sys.stderr, flush=True)


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Print each warning as one line, without the place in the code."""
    told = set[str]()

    def show(message: Warning | str, *where: object, **more: object) -> None:
        if str(message) not in told:  # several methods may read the same table, or miss the same thing
            told.add(str(message))
            say(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", GramianWarning)
        warnings.showwarning = show
        yield


def _leave_stdout() -> None:
    """Send what is still buffered nowhere, or Python would fail on it again at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # standard output is closed or no file
        return


@contextmanager
def working(request: Request) -> Iterator[Bar]:
    """A bar of the steps of a command, under the settings that were asked for."""
    with Bar(quiet=request.quiet or request.json) as bar, config(**request.settings, progress=bar):
        yield bar


def tell(request: Request, text: Callable[[], str], facts: Callable[[], Mapping[str, object]]) -> None:
    """Say what was done: in words for people, beside the output if that goes to standard output, or as JSON."""
    if request.json:
        print(dumps(facts()))
    elif not request.quiet:
        print(text(), file=sys.stderr if request.output == "-" else sys.stdout)


class Bar:
    """Draws the progress it is called with on standard error, if that is a terminal and the work takes long.

    Steps that report nothing get a bar without an end.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.wanted = not quiet and sys.stderr is not None and sys.stderr.isatty()
        self.start = time.monotonic()
        self.display: Display | None = None
        self.task = TaskID(0)
        self._lock = threading.Lock()

    def __call__(self, progress: Progress) -> None:
        if not self.wanted or time.monotonic() - self.start < BAR_DELAY_SECONDS:
            return
        known = progress.done and isfinite(progress.expected)
        left = f"about {duration(progress.seconds_left)} left" if known else ""
        if progress.unit and progress.done:
            left = f"{progress.rate:,.0f} {progress.unit}/s {left}"
        self._show(progress.task, progress.done, progress.expected if isfinite(progress.expected) else None, left)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Name what is being done, in case that it takes long and reports nothing."""
        if not self.wanted:
            yield
            return
        timer = threading.Timer(max(0.0, BAR_DELAY_SECONDS - (time.monotonic() - self.start)), self._show, [name])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _show(self, task: str, done: float | None = None, expected: float | None = None, left: str = "") -> None:
        with self._lock:
            if self.display is None:
                columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
                self.display = Display(*columns, console=Console(stderr=True), transient=True)
                self.task = self.display.add_task(task, total=expected, left=left)
                self.display.start()
            if done is None:
                self.display.reset(self.task, total=None, description=task, left=left)
            else:
                self.display.update(self.task, description=task, completed=done, total=expected, left=left)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if self.display is not None:
            self.display.stop()


#: Reasons shown for columns that were set aside; JSON has all of them.
REASONS_SHOWN = 3


@dataclass(frozen=True)
class Columns:
    """Numbers (n, k), in memory or as a stream, with names, and columns (a stream) of text beside them."""

    what: str
    numbers: Array | Rows
    names: list[str]
    text: dict[str, list[str]] = field(default_factory=dict)
    label: tuple[str, Rows] | None = None

    def write(self, path: str, labels: dict[str, list[str]]) -> tuple[list[str], int]:
        """Write the labels of the rows, then these columns; return the names of all, and the number of rows."""
        if isinstance(self.numbers, Rows):
            names = [*([self.label[0]] if self.label else []), *self.names]
            return names, write_rows(path, self.numbers, self.names, label=self.label)
        beside = {**labels, **self.text}
        write_scores(path, self.numbers, self.names, beside)
        return [*beside, *self.names], len(self.numbers)


def score_names(model: BaseEstimator) -> list[str]:
    """Names of the scores of a model."""
    return [str(name) for name in steps_of(model)[-1].get_feature_names_out()]


def record(model: BaseEstimator) -> Record:
    """What is known of a model, which is one of ours."""
    found = record_of(steps_of(model)[-1])
    assert found is not None
    return found


def scores(model: BaseEstimator, X: Array | Rows, Y: Array | Rows | None = None) -> Columns:
    """Scores of rows; of both views if the second is given."""
    names = score_names(model)
    if Y is None:
        return scored(model, model.transform(X))
    heads = [f"{view}_{name}" for view in "xy" for name in names]
    x, y = map(from_dask, model.transform(X, Y))
    return Columns("scores", SideBySide(x, y, heads) if isinstance(X, Rows) else np.hstack([x, y]), heads)


def scored(model: BaseEstimator, values: Array | Rows) -> Columns:
    """Scores that are there already."""
    what = "distances" if record(model).clusters else "scores"
    values = from_dask(values)
    numbers = values if isinstance(values, Rows) else np.asarray(values, dtype=np.float64)
    return Columns(what, numbers, score_names(model))


def predictions(model: BaseEstimator, X: Array | Rows, targets: Sequence[str]) -> Columns:
    """Predictions of rows, named after what is predicted."""
    return predicted(from_dask(model.predict(X)), targets, cluster=record(model).clusters)


def predicted(values: Array | Rows, targets: Sequence[str], *, cluster: bool = False) -> Columns:
    """Predictions that are there already: clusters, labels or numbers."""
    q = values.n_features if isinstance(values, Rows) else 1 if values.ndim == 1 else values.shape[1]
    known = list(targets) or (["y"] if q == 1 else [f"y{at}" for at in range(q)])
    what, names = ("clusters", ["cluster"]) if cluster else ("predictions", [f"predicted_{name}" for name in known])
    if isinstance(values, Rows):
        values.text = values.text or cluster  # numbers of clusters are names
        return Columns(what, values, names)
    if cluster or values.dtype.kind not in "biuf":
        return Columns(what, np.empty((len(values), 0)), [], {names[0]: [str(value) for value in values]})
    return Columns(what, values.reshape(len(values), -1), names)


def check_streams(request: Request) -> None:
    """Refuse two texts on one stream."""
    if request.json and request.output == "-":
        raise UsageError("--json and --output - both write to standard output. Name a file with -o.")


def check_outputs(request: Request, outputs: dict[str, str | None]) -> None:
    """Refuse outputs that cannot be written before the work, not after it."""
    named = {option: path for option, path in outputs.items() if path is not None}
    inputs = [request.table, request.y_table, None if "--model" in outputs else request.model_file]
    for option, path in named.items():
        if path == "-" and option == "--model":
            raise UsageError("--model needs a file; a model is not written to standard output.")
        check_writable(path)
        for source in filter(None, inputs):
            if path != "-" and all(map(os.path.exists, (path, source))) and os.path.samefile(path, source):
                raise UsageError(f"{option} {path} is a file that is read. Choose another name.")
    real = [os.path.realpath(path) for path in named.values() if path != "-"]
    if len(set(real)) < len(real):
        raise UsageError(f"{' and '.join(named)} name the same file {real[0]}. Choose two.")


def dumps(facts: Mapping[str, object]) -> str:
    """Write JSON that every reader takes: what is no number becomes null."""
    return json.dumps(_finite(facts), allow_nan=False)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and value - value != 0 else value


def written(path: str, rows: int, names: Sequence[str]) -> str:
    """Say what went where."""
    where = "standard output" if path == "-" else path
    return f"{where}: {plural(rows, 'row')}, {'column' if len(names) == 1 else 'columns'} {ends(names)}"


def remarks(table: Table) -> list[str]:
    """What was set aside of a table, and why; remedies are options."""
    return [in_options(remark) for remark in table.dropped]


def some(reasons: Sequence[str]) -> str:
    """Write the first few of many sentences."""
    reasons = [in_options(reason) for reason in reasons]
    more = len(reasons) - REASONS_SHOWN
    return "; ".join(reasons[:REASONS_SHOWN]) + (f"; and {more} more (--json lists them)" if more > 0 else "")


def ends(names: Sequence[str]) -> str:
    """Write the first and last of many names."""
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, ..., {names[-1]}"
