"""Programs in Python: estimators as the calls that make them, and what fits a model and writes its report."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from gramian import kernels, solvers
from gramian.estimators.landmarks import Landmarks, RandomFeatures
from gramian.kernels import Kernel
from gramian.registry import RECORDS
from gramian.reports.subject import Subject, label_of
from gramian.results import Array

#: Entries of an array that are written out; a larger one is left to whoever runs the program.
MOST_ENTRIES = 100
#: Functions of :mod:`gramian.tables` that the call of a table may name.
READERS = ("match_rows", "named", "read_table", "read_views")
#: Where the classes of parameters are imported from.
HOMES = {cls: "gramian" for cls in (*(record.estimator for record in RECORDS), Landmarks, RandomFeatures)}
HOMES |= {cls: "gramian.solvers" for cls in (vars(solvers)[name] for name in solvers.__all__) if isinstance(cls, type)}


def construction(estimator: Any, shown: Iterable[str] = ()) -> str:
    """Write the call that makes an estimator: parameters that differ from their defaults, and those to be shown.

    What cannot be written, such as a function or a large array, stands there by the name of its parameter.

    >>> from gramian import KernelPCA, Landmarks, kernels
    >>> construction(KernelPCA(2, kernel=kernels.RBF(sigma=3.0), landmarks=Landmarks(20)))
    "KernelPCA(n_components=2, kernel='rbf(sigma=3)', landmarks=Landmarks(n_landmarks=20))"
    """
    if hasattr(estimator, "steps"):
        return f"make_pipeline({', '.join(construction(step, shown) for _, step in estimator.steps)})"
    texts = (f"{name}={_written(name, value)}" for name, value in _given(estimator, shown))
    return f"{type(estimator).__name__}({', '.join(texts)})"


def imports(model: Any, *more: str) -> list[str]:
    """Lines that import what :func:`construction` names, and more names of ``gramian``."""
    found: dict[str, set[str]] = {"gramian": set(more)}
    values = [*_steps(model), *(value for step in _steps(model) for value in _parts(step))]
    for value in values:
        home = HOMES.get(type(value))
        if home is not None:
            found.setdefault(home, set()).add(type(value).__name__)
    lines = [f"from {home} import {', '.join(sorted(names))}" for home, names in found.items() if names]
    if hasattr(model, "steps"):
        lines.append("from sklearn.pipeline import make_pipeline")
    if any(isinstance(value, np.ndarray) for value in values):
        lines.insert(0, "import numpy as np")
    return lines


def program(subject: Subject) -> str:
    """Write a program that reads, fits (or loads the model, where the rows are not those of the fit) and reports."""
    model, refits = subject.model, subject.refits
    lines, x, y = _reading(subject)
    if not refits and subject.file:
        lines.append(f"model = load({subject.file!r})")
    elif not refits:
        lines.append("# model: the fitted estimator")
    else:
        weights = _weights(model)
        lines += [f"# {name}: as it was given to the fit" for name in unwritten(model)]
        lines += ["# weights: those of the rows in the fit"] if weights else []
        values = [f"{x}.values" if subject.table is not None else x]
        if subject.takes_y:
            values.append(_target(subject, y))
        fitted = f"{construction(model)}.fit({', '.join([*values, *weights])})"
        if subject.classifies and subject.second is not None:  # so that the report knows which labels of y are meant
            fitted = f"named({fitted}, {x}, {label_of(subject.estimator, subject.second)!r})"
        lines.append(f"model = {fitted}")
    lines.append(f"print({'model[-1]' if hasattr(model, 'steps') else 'model'}.summary_)")
    given = ["model", repr(subject.path), *([x] if x else []), *([y] if y else [])]
    colour = "" if subject.colour is None else _colour(subject, x)
    given += [f"colour={colour}"] if colour else []
    given += ["names=names"] if subject.names is not None and not subject.named_by_table else []
    given += [f"title={subject.title!r}"] if subject.title else []
    more = ["load"] if not refits and subject.file else []
    found = imports(model, "report") if refits else [f"from gramian import {', '.join([*more, 'report'])}"]
    readers = [name for name in READERS if any(f"{name}(" in line for line in lines)]
    found += [f"from gramian.tables import {', '.join(readers)}"] if readers else []
    ordered = sorted(found, key=lambda line: (not line.startswith("import"), line))
    return "\n".join([*ordered, "", *lines, f"report({', '.join(given)})"])


def unwritten(model: Any) -> list[str]:
    """Names of the parameters that :func:`construction` cannot write."""
    return [name for step in _steps(model) for name, value in _given(step) if not _writable(value)]


def _steps(model: Any) -> list[Any]:
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def _given(estimator: Any, shown: Iterable[str] = ()) -> Iterator[tuple[str, Any]]:
    """Parameters that differ from their defaults, and those to be shown."""
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        value = getattr(estimator, name)
        if name in shown or not _same(value, parameter.default):
            yield name, value


def _parts(estimator: Any) -> Iterator[Any]:
    """Values of the parameters, and of what these are made of."""
    for _, value in _given(estimator):
        if _writable(value):
            yield value
            yield from _parts(value) if is_dataclass(value) and not isinstance(value, Kernel) else ()


def _same(value: Any, default: Any) -> bool:
    plain = (str, int, float, bool, tuple)
    return value is default or (isinstance(value, plain) and isinstance(default, plain) and bool(value == default))


def _writable(value: Any) -> bool:
    if isinstance(value, Kernel):
        return _reads(value)
    if isinstance(value, np.ndarray):
        return value.size <= MOST_ENTRIES and value.dtype.kind in "biufU"
    if isinstance(value, Mapping):
        return all(_writable(part) for pair in value.items() for part in pair)
    if isinstance(value, (tuple, list)):
        return all(map(_writable, value))
    if is_dataclass(value) and type(value) in HOMES:
        return all(_writable(getattr(value, each.name)) for each in fields(value) if each.init)
    return value is None or isinstance(value, (str, int, float, bool, np.generic))


def _reads(kernel: Kernel) -> bool:
    """Whether the text of a kernel reads as the kernel."""
    try:
        return kernels.parse(str(kernel)) == kernel
    except ValueError:
        return False


def _written(name: str, value: Any) -> str:
    if not _writable(value):
        return name
    if isinstance(value, Kernel):
        return repr(str(value))
    if isinstance(value, np.ndarray):
        return f"np.array({value.tolist()!r})"
    if isinstance(value, np.generic):
        return _written(name, value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_written('', key)}: {_written('', part)}" for key, part in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        parts = ", ".join(_written("", part) for part in value)
        return f"[{parts}]" if isinstance(value, list) else f"({parts}{',' if len(value) == 1 else ''})"
    return construction(value) if is_dataclass(value) else repr(value)


def _weights(model: Any) -> list[str]:
    """The argument of ``fit`` for weights, if the fit had any."""
    if not getattr(_steps(model)[-1], "_weighted", False):
        return []
    prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    return [f"{prefix}sample_weight=weights"]


def _reading(subject: Subject) -> tuple[list[str], str, str]:
    """Lines that make the rows, and how rows and targets are called in the program."""
    table, second = subject.table, subject.second
    if subject.X is None:
        return [], "", ""
    if table is None:
        named = ["X", *(["y"] if subject.y is not None else [])]
        named += [name for name in ("colour", "names") if getattr(subject, name) is not None]
        of = "the rows of the fit" if subject.of_the_fit else "the rows of the report"
        comment = f"# {', '.join(named)}: {of}{', and what goes with them' if len(named) > 1 else ''}"
        return [comment], "X", "y" if subject.y is not None else ""
    if second is None:
        lines, known = (
            [f"table = {table.call}" if table.call else "# table: the rows, as gramian.tables reads them"],
            {"table": table},
        )
    elif table.call and table.call == second.call:
        lines, known = [f"x, y = {table.call}"], {"x": table, "y": second}
    else:
        known = {"x": table, "y": second}
        lines = [
            f"{name} = {each.call}" if each.call else f"# {name}: a table, as gramian.tables reads it"
            for name, each in known.items()
        ]
    x = next(iter(known))
    if subject.y is None:
        return lines, x, ""
    if second is not None:
        return lines, x, "y"
    label = _label(subject.y, known)
    if label:
        return lines, x, label
    return [*lines, "# y: what goes with the rows"], x, "y"


def _label(values: Any, known: Mapping[str, Any]) -> str:
    """The column of labels that holds some values, as an expression."""
    for variable, table in known.items():
        for name, cells in table.labels.items():
            if len(cells) == len(values) and list(map(str, np.asarray(values).ravel())) == list(cells):
                return f"{variable}.labels[{name!r}]"
    return ""


def _target(subject: Subject, y: str) -> str:
    """What ``fit`` takes of the targets."""
    if subject.second is None or y != "y":
        return y
    if subject.classifies:
        return f"y.labels[{label_of(subject.estimator, subject.second)!r}]"
    values: Array = np.asarray(subject.y)
    return "y.values[:, 0]" if values.ndim == 1 else "y.values"


def _colour(subject: Subject, x: str) -> str:
    if subject.table is None:
        return "colour"
    known = {x: subject.table, **({"y": subject.second} if subject.second is not None else {})}
    return _label(subject.colour, known) or "colour"
