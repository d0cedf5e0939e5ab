"""What a user asks for, checked before any work, and the estimator and Python code that do it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn.pipeline import make_pipeline

from gramian import PCA, KernelPCA, kernels
from gramian.cli.errors import UsageError
from gramian.config import parse_bytes
from gramian.tables import Standardizer


@dataclass(frozen=True)
class Method:
    """A method of the command line: its estimator, the options only some methods take, its default for ``-k``."""

    estimator: type
    takes: frozenset[str]
    n_components: int | None = None


METHODS = {
    "pca": Method(PCA, frozenset({"scale", "whiten"})),
    "kernel-pca": Method(KernelPCA, frozenset({"kernel"}), n_components=2),
}


@dataclass(frozen=True)
class FitRequest:
    """Options of ``gramian fit``; ``None`` and False mean not given."""

    table: str
    method: str = "pca"
    kernel: str | None = None
    n_components: int | float | None = None
    output: str | None = None
    scale: bool = False
    whiten: bool = False
    solver: str | None = None
    seed: int | None = None
    columns: list[str] | None = None
    settings: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse options that do not go together or do not read."""
        for option in ("kernel", "whiten"):
            if getattr(self, option) and option not in METHODS[self.method].takes:
                friends = " or ".join(name for name, method in METHODS.items() if option in method.takes)
                raise UsageError(f"--{option} goes with --method {friends}, not with {self.method}.")
        try:
            if self.kernel is not None:
                kernels.parse(self.kernel)
            if "memory" in self.settings:
                parse_bytes(self.settings["memory"])
        except ValueError as error:
            raise UsageError(str(error)) from error

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the estimator that differ from its defaults."""
        method = METHODS[self.method]
        given = {
            "n_components": method.n_components if self.n_components is None else self.n_components,
            "kernel": self.kernel,
            "scale": (self.scale and "scale" in method.takes) or None,
            "whiten": self.whiten or None,
            "solver": self.solver,
            "random_state": self.seed,
        }
        return {name: value for name, value in given.items() if value is not None}

    @property
    def standardizes(self) -> bool:
        """Whether columns are scaled in a step before the estimator, because it has no such argument."""
        return self.scale and "scale" not in METHODS[self.method].takes

    def model(self) -> Any:
        """Return the estimator, in a pipeline if columns are scaled first."""
        estimator = METHODS[self.method].estimator(**self.arguments)
        return make_pipeline(Standardizer(), estimator) if self.standardizes else estimator

    def code(self) -> tuple[str, str]:
        """Return Python code that does the same: what to import and set, and the call."""
        name = METHODS[self.method].estimator.__name__
        model, imports = f"{name}({_listed(self.arguments)})", [name]
        reading = "read_table" if not self.standardizes else "Standardizer, read_table"
        first = f"from gramian.tables import {reading}"
        if self.standardizes:
            model = f"make_pipeline(Standardizer(), {model})"
            first += "; from sklearn.pipeline import make_pipeline"
        if self.settings:
            imports.append("config")
            first += f"; config({_listed(self.settings)})"
        table = repr(self.table) + (f", columns={self.columns!r}" if self.columns is not None else "")
        return (
            f"from gramian import {', '.join(imports)}; {first}",
            f"scores = {model}.fit_transform(read_table({table}).values)",
        )


def _listed(arguments: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
