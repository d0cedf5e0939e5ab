"""The work behind ``gramian select``: read, and ask the criteria."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gramian.cli.bar import Bar
from gramian.cli.errors import UsageError
from gramian.cli.inputs import Inputs, gather
from gramian.cli.request import FitRequest
from gramian.config import config
from gramian.selection import HowMany, KernelChoice, how_many, select_kernel
from gramian.selection.components import METHODS as COUNTED
from gramian.selection.kernels import ESTIMATORS
from gramian.tables import Standardizer


@dataclass(frozen=True)
class Selected:
    """What was read, and what the criteria say."""

    request: FitRequest
    inputs: Inputs
    answer: HowMany | KernelChoice
    call: str


def select(request: FitRequest, seed: int | None = None, *, quiet: bool = False) -> Selected:
    """Read the table, and ask how many components there are, or which kernel is best."""
    request.check()
    if request.method not in (*COUNTED, *ESTIMATORS):
        known = ", ".join(dict.fromkeys((*COUNTED, *ESTIMATORS)))
        raise UsageError(f"--method {request.method} has nothing to select. Use one of {known}.")
    if request.missing == "em":
        raise UsageError("--missing em cannot be used here: criteria need complete rows. Use --missing drop.")
    with Bar(quiet=quiet) as bar, config(**request.settings, progress=bar):
        with bar.step("reading"):
            inputs = gather(request)
        X, y, options = _arguments(request, inputs, seed)
        with bar.step("selecting"):
            if request.method in COUNTED:
                answer: HowMany | KernelChoice = how_many(X, request.method, y=y, **options)
            else:
                answer = select_kernel(X, y, estimator=request.method, **options)
    return Selected(request, inputs, answer, _call(request, options))


def _arguments(request: FitRequest, inputs: Inputs, seed: int | None) -> tuple[Any, Any, dict[str, Any]]:
    """Rows, targets, and the options that the criteria know; columns are scaled first if they do not know that."""
    options: dict[str, Any] = {"random_state": seed}
    X = Standardizer().fit_transform(inputs.X) if request.standardizes else inputs.X
    if request.scale is not None and request.method in ("pca", "pls", "pcr", "cca"):
        options["scale"] = request.scale
    if request.method == "kernel-pca" and "kernel" in request.options:
        options["kernel"] = request.options["kernel"]
    elif "kernel" in request.options:
        raise UsageError(f"--kernel is what is to be selected for {request.method}. Leave it out.")
    if "ridge" in request.options:
        if request.method != "cca":
            raise UsageError(f"--ridge is what is to be selected for {request.method}. Leave it out.")
        options["ridge"] = request.options["ridge"]
    return X, inputs.y, {name: value for name, value in options.items() if value is not None}


def _call(request: FitRequest, options: dict[str, Any]) -> str:
    """The call in Python."""
    X = "Standardizer().fit_transform(X)" if request.standardizes else "X"
    words = "".join(f", {name}={value!r}" for name, value in options.items())
    if request.method in COUNTED:
        return f"how_many({X}, {request.method!r}{', y=y' if request.row.needs else ''}{words})"
    return f"select_kernel({X}, y, estimator={request.method!r}{words})"
