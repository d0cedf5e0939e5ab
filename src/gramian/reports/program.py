"""Python that fits the same again, from a fitted estimator."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.kernels import Kernel


def arguments(words: Sequence[Any] = (), **named: Any) -> str:
    """Write arguments as they stand in a call; those that are None are left out.

    >>> arguments(["wine.csv"], columns=["a", "b"], ids=None)
    "'wine.csv', columns=['a', 'b']"
    """
    given = (f"{name}={value!r}" for name, value in named.items() if value is not None)
    return ", ".join([*map(repr, words), *given])


def construction(estimator: Any) -> str:
    """Write the call that makes an estimator: parameters that differ from their defaults.

    >>> from gramian import KernelPCA, kernels
    >>> construction(KernelPCA(2, kernel=kernels.RBF(sigma=3.0)))
    "KernelPCA(n_components=2, kernel='rbf(sigma=3)')"
    """
    if hasattr(estimator, "steps"):
        return f"make_pipeline({', '.join(construction(step) for _, step in estimator.steps)})"
    defaults = inspect.signature(type(estimator)).parameters
    given = {name: getattr(estimator, name) for name in defaults}
    shown = (f"{name}={_written(value)}" for name, value in given.items() if not _same(value, defaults[name].default))
    return f"{type(estimator).__name__}({', '.join(shown)})"


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, (str, int, float, bool)) and bool(value == default))


def _written(value: Any) -> str:
    if isinstance(value, Kernel):
        return repr(str(value))
    if isinstance(value, np.ndarray):
        return "..."
    if callable(value):
        return getattr(value, "__name__", "...")
    return repr(value)


def program(model: Any, *, source: Sequence[str] = (), with_y: bool = False, path: str = "report.html") -> str:
    """Write a program that reads, fits and reports.

    Parameters
    ----------
    model : estimator or pipeline
        What was fitted.
    source : sequence of str
        Lines that make ``X`` (and ``y``); a comment stands in their place if there are none.
    with_y : bool
        Whether the fit takes ``y``.
    """
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    names = sorted({type(step).__name__ for step in steps} | {"report"})
    imports = [f"from gramian import {', '.join(names)}"]
    if hasattr(model, "steps"):
        imports.append("from sklearn.pipeline import make_pipeline")
    reader = sorted({name for name in ("read_table", "read_views") if any(f"{name}(" in line for line in source)})
    if reader:
        imports.append(f"from gramian.tables import {', '.join(reader)}")
    rows = "X, y" if with_y else "X"
    lines = list(source) or [f"# {rows}: the rows of the fit{', and what goes with them' if with_y else ''}"]
    fit = f"model = {construction(model)}.fit({rows})"
    return "\n".join(
        [*sorted(imports), "", *lines, fit, "print(" + _summary(model) + ")", f"report(model, {path!r}, {rows})"]
    )


def _summary(model: Any) -> str:
    return "model[-1].summary_" if hasattr(model, "steps") else "model.summary_"
