"""What a user asks for, checked before any work, and the estimator that does it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn.pipeline import make_pipeline

from gramian import kernels
from gramian.cli.errors import UsageError
from gramian.cli.methods import ARGUMENTS, Method, check_option, friends, method_named
from gramian.config import parse_bytes
from gramian.kernels.text import takes_matrix
from gramian.models.classes import known_as
from gramian.tables import Standardizer

NEEDS = {
    "target": "needs a column to predict: --target NAME",
    "view": "needs a second view of the rows: --y-columns A,B or --y-table FILE",
    "label": "needs a text column to predict: --label NAME",
}


@dataclass(frozen=True)
class FitRequest:
    """Options of ``gramian fit``; ``None`` means not given.

    ``options`` are those that only some methods take, by their names in :data:`gramian.cli.methods.ARGUMENTS`.
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
    def row(self) -> Method:
        """The method asked for."""
        return method_named(self.method)

    def check(self) -> None:
        """Refuse options that do not go together or do not read."""
        for option in self.options:
            check_option(self.method, option)
        if self.n_components is not None:
            check_option(self.method, "k")
        if self.n_components == "auto" and not self.row.auto:
            raise UsageError(f"-k auto goes with --method {friends(lambda m: m.auto)}, not with {self.method}.")
        self._check_needs()
        self._check_missing()
        if self.scale and takes_matrix(self.options.get("kernel")):
            raise UsageError("--scale would change a precomputed kernel matrix. Leave it out.")
        if self.model_file is not None and self.standardizes and known_as(Standardizer) is None:
            raise UsageError(
                f"--model cannot keep the scaling of {self.method}. Leave out --scale or --model, or scale the table."
            )
        try:
            for option in ("kernel", "kernel-y"):
                if self.options.get(option, "precomputed") != "precomputed":
                    kernels.parse(self.options[option])
            if "memory" in self.settings:
                parse_bytes(self.settings["memory"])
        except ValueError as error:
            raise UsageError(str(error)) from error

    def _check_needs(self) -> None:
        needs = self.row.needs
        given = {"target": self.targets or self.y_table, "view": self.targets or self.y_table, "label": self.label}
        if needs and not given[needs]:
            raise UsageError(f"--method {self.method} {NEEDS[needs]}.")
        if self.row.takes("target"):
            if self.label is not None and self.y_table is not None:
                raise UsageError(
                    f"--label is not needed: {self.method} keeps the text columns of both tables as labels."
                )
            return
        takers = friends(lambda m: m.takes("target"))
        if self.targets is not None:
            raise UsageError(f"--target goes with --method {takers}, not with {self.method}.")
        if self.y_table is not None and self.label is None:
            raise UsageError(f"--y-table goes with --label NAME, or with --method {takers}.")

    def _check_missing(self) -> None:
        if self.missing not in (None, "em", "drop"):
            raise UsageError(f"--missing {self.missing} is not known. Use em (expect them) or drop (leave rows out).")
        if self.missing == "em" and not self.row.has("missing"):
            takers = friends(lambda m: m.has("missing"))
            raise UsageError(f"--missing em goes with --method {takers}, not with {self.method}; --missing drop does.")

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of the estimator that differ from its defaults."""
        given = {ARGUMENTS[option]: value for option, value in self.options.items()}
        size = self.row.default if self.n_components is None else self.n_components
        given = ({self.row.size: size} if self.row.size else {}) | given
        if self.scale is not None and self.row.has("scale"):
            given["scale"] = self.scale
        if self.missing == "em":
            given["missing"] = "em"
        return {name: value for name, value in given.items() if value is not None}

    @property
    def standardizes(self) -> bool:
        """Whether columns are scaled in a step before the estimator, because it has no such argument."""
        return bool(self.scale) and not self.row.has("scale")

    def model(self) -> Any:
        """Return the estimator, in a pipeline if columns are scaled first."""
        estimator = self.row.estimator(**self.arguments)
        return make_pipeline(Standardizer(), estimator) if self.standardizes else estimator

    @property
    def scaled(self) -> bool:
        """Whether the method sees columns of one size."""
        default = self.row.has("scale") and getattr(self.row.estimator(), "scale", False)
        return bool(default) if self.scale is None else self.scale


def last_step(model: Any) -> Any:
    """Return the estimator at the end of a pipeline, or the estimator itself."""
    return model[-1] if hasattr(model, "steps") else model


def first_step(model: Any) -> Any:
    """Return what sees the columns of a table first."""
    return model[0] if hasattr(model, "steps") else model
