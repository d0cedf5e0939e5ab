"""Python written out: estimators as the calls that make them, and their imports; messages that name its parameters."""

from __future__ import annotations

import ast
import inspect
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian import kernels, solvers
from gramian.estimators.pipelines import steps_of as steps_of
from gramian.kernels import Kernel
from gramian.registry import RECORDS

#: Entries of an array that are written out; a larger one is left to whoever runs the program.
WRITTEN_MAX_ENTRIES = 100
#: Where what a program calls is imported from.
HOMES = {
    **{record.name: "gramian" for record in RECORDS},
    **{name: "gramian.solvers" for name in solvers.__all__},
    **dict.fromkeys(("Landmarks", "RandomFeatures", "config", "load", "report", "rows", "save"), "gramian"),
    **dict.fromkeys(("how_many", "select_kernel"), "gramian.selection"),
    **dict.fromkeys(("match_rows", "named", "read_table", "read_views", "remote_rows"), "gramian.tables"),
    "make_pipeline": "sklearn.pipeline",
}


def arguments(words: Sequence[Any] = (), **named: Any) -> str:
    """Write arguments as they stand in a call; those that are None are left out.

    >>> arguments(["wine.csv"], columns=("a", "b"), ids=None)
    "'wine.csv', columns=['a', 'b']"
    """
    given = (f"{name}={as_written(value)!r}" for name, value in named.items() if value is not None)
    return ", ".join([*(repr(as_written(word)) for word in words), *given])


def as_written(value: Any) -> Any:
    """The value as text of Python tells it: paths as text, sequences as lists."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return {key: as_written(part) for key, part in value.items()}
    return list(value) if isinstance(value, (tuple, set, frozenset)) else value


def construction(estimator: BaseEstimator, shown: Iterable[str] = ()) -> str:
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


def imports(program: str) -> list[str]:
    """Lines that import what a program calls.

    >>> imports("scores = make_pipeline(Standardizer(), PCA(2)).fit_transform(read_table('wine.csv').values)")[1:]
    ['from gramian.tables import read_table', 'from sklearn.pipeline import make_pipeline']
    """
    names = {node.id for node in ast.walk(ast.parse(program)) if isinstance(node, ast.Name)}
    found: dict[str, list[str]] = {}
    for name in sorted(names & HOMES.keys()):
        found.setdefault(HOMES[name], []).append(name)
    lines = [f"from {home} import {', '.join(named)}" for home, named in sorted(found.items())]
    return ["import numpy as np", *lines] if "np" in names else lines


def unwritten(model: BaseEstimator) -> list[str]:
    """Names of the parameters that :func:`construction` cannot write."""
    return [name for step in steps_of(model) for name, value in _given(step) if not _writable(value)]


def _given(estimator: BaseEstimator, shown: Iterable[str] = ()) -> Iterator[tuple[str, object]]:
    """Parameters that differ from their defaults, and those to be shown."""
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        value = getattr(estimator, name)
        if name in shown or not _same(value, parameter.default):
            yield name, value


def _same(value: object, default: object) -> bool:
    plain = (str, int, float, bool, tuple)
    return value is default or (isinstance(value, plain) and isinstance(default, plain) and bool(value == default))


def _writable(value: object) -> bool:
    if isinstance(value, Kernel):
        return _reads(value)
    if isinstance(value, np.ndarray):
        return value.size <= WRITTEN_MAX_ENTRIES and value.dtype.kind in "biufU"
    if isinstance(value, Mapping):
        return all(_writable(part) for pair in value.items() for part in pair)
    if isinstance(value, (tuple, list)):
        return all(map(_writable, value))
    if is_dataclass(value) and type(value).__name__ in HOMES:
        return all(_writable(getattr(value, each.name)) for each in fields(value) if each.init)
    return value is None or isinstance(value, (str, int, float, bool, np.generic))


def _reads(kernel: Kernel) -> bool:
    """Whether the text of a kernel reads as the kernel."""
    try:
        return kernels.parse(str(kernel)) == kernel
    except ValueError:
        return False


def _written(name: str, value: object) -> str:
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


#: Parameters of readers and estimators that messages name as Python does.
MESSAGE_PARAMETERS = (
    *("n_components", "n_clusters", "n_neighbors", "kernel", "kernel_y", "landmarks", "ridge", "C", "solver"),
    *("rotation", "preimage", "random_state", "scale", "whiten", "missing", "memory", "threads", "columns"),
    *("x_columns", "y_columns", "labels", "y_labels", "ids", "categories", "dates", "separator", "decimal"),
    *("thousands", "encoding", "header", "sheet"),
)
_VALUE = r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)|-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|True|False|None|\.\.\."
SPELLING = re.compile(rf"(?<![\w=-])(?<!--read )(?P<name>{'|'.join(MESSAGE_PARAMETERS)})=(?P<value>{_VALUE})?")


def respelled(message: str, say: Callable[[str, str], str]) -> str:
    """Say parameters that a message spells ``name=value`` in other words: ``say`` gets name and value, as text.

    >>> respelled("Use n_components=7 or fewer.", lambda name, value: f"{value} components")
    'Use 7 components or fewer.'
    """
    message = re.sub(r"\bshape=(?=\()", "shape ", re.sub(r"\bn_samples ?= ?(\d+)", r"\1 rows", message))
    return SPELLING.sub(lambda found: say(found["name"], _bare(found["value"] or "")), message)


def _bare(value: str) -> str:
    """A value without the signs of Python: text without quotes, sequences with commas."""
    if value.startswith(("'", '"', "[", "(")):
        parts = re.findall(r"'([^']*)'|\"([^\"]*)\"|([^\s,\[\]()'\"]+)", value)
        return ",".join(next(filter(None, part), "") for part in parts) if value[0] in "[(" else value[1:-1]
    return "" if value in ("None", "...") else value
