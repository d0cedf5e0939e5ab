"""What the controls say: a method, its kernel and its parameters, and the estimator they stand for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sklearn.pipeline import make_pipeline

from gramian import registry
from gramian.estimators import Standardizer
from gramian.explore.datasets import Dataset
from gramian.kernels import Kernel
from gramian.kernels.base import REGISTRY
from gramian.kernels.widths import median_width

#: Components that the scree plot shows, and from which the cut chooses.
MOST = 20
#: Rows up to which kernels are exact unless told otherwise, and landmarks beyond.
EXACT_ROWS, LANDMARKS = 10_000, 500


#: Methods of the page.
METHODS = {name: record for name, record in registry.METHODS.items() if record.explored}


def kernels_listed() -> dict[str, type[Kernel]]:
    """Kernels of the page, by name."""
    return {name: cls for name, cls in REGISTRY.items() if cls.listed}


@dataclass(frozen=True)
class Choice:
    """What to fit. ``width`` is a power of two times the median distance; ``text`` a kernel written by hand."""

    method: str = "pca"
    k: int = 2
    kernel: str = "rbf"
    width: float = 0.0
    degree: int = 3
    text: str = ""
    scale: bool = False
    ridge: float = 0.0
    second: tuple[str, ...] = ()
    exact: bool = False

    @property
    def row(self) -> registry.Record:
        """The method."""
        return METHODS[self.method]

    @property
    def pair(self) -> bool:
        """Whether the method has two views."""
        return self.row.needs == "view"

    @property
    def key(self) -> Choice:
        """The same for all choices that have one fit: the cut of nested components is no part of it."""
        plain = replace(self, k=0) if self.row.nested else self
        if not self.row.has("kernel"):
            plain = replace(plain, kernel="", width=0.0, degree=0, text="", exact=False)
        return plain if self.pair else replace(plain, ridge=0.0, second=())

    def kernels(self, data: Dataset) -> list[str]:
        """Text of the kernel of each view; widths that follow the data are resolved."""
        if self.text:
            return [self.text] * (2 if self.pair else 1)
        views = [view.columns for view in data.views(self.second)] if self.pair else [data.table.columns]
        return [self._kernel(_median(data, columns, scaled=self.scale)) for columns in views]

    def _kernel(self, median: float) -> str:
        made = kernels_listed()[self.kernel].from_sliders(median * 2.0**self.width, self.degree)
        numbers = {key: value for key, value in made.get_params(deep=False).items() if isinstance(value, float)}
        return str(made.set_params(**{key: float(f"{value:.4g}") for key, value in numbers.items()}))

    def landmarks(self, data: Dataset) -> int | None:
        """Landmarks of a kernel method; None is exact."""
        return LANDMARKS if self.row.has("kernel") and not self.exact and len(data.X) > EXACT_ROWS else None

    def arguments(self, data: Dataset, k: int | None = None) -> dict[str, Any]:
        """Arguments of the estimator; ``k`` components in place of those chosen."""
        given: dict[str, Any] = {"n_components": self.k if k is None else k}
        if self.row.has("scale") and self.scale:
            given["scale"] = True
        if self.row.has("kernel"):
            given |= dict(zip(("kernel", "kernel_y"), self.kernels(data), strict=False))
            if (landmarks := self.landmarks(data)) is not None:
                given["landmarks"] = landmarks
        if self.pair and (self.ridge or self.method == "kernel-cca"):
            given["ridge"] = self.ridge
        return given

    @property
    def standardizes(self) -> bool:
        """Whether columns are scaled in a step before the estimator."""
        return self.scale and not self.row.has("scale")

    def model(self, data: Dataset) -> Any:
        """The estimator, in a pipeline if columns are scaled first."""
        estimator = self.row.estimator(**self.arguments(data))
        return make_pipeline(Standardizer(), estimator) if self.standardizes else estimator


def _median(data: Dataset, columns: tuple[str, ...], *, scaled: bool) -> float:
    """Median distance of rows in some columns, found once for each table."""
    known: dict[Any, float] = data.__dict__.setdefault("_medians", {})
    if (columns, scaled) not in known:
        X = data.scaled if scaled else data.X
        if columns != data.table.columns:
            X = X[:, [data.table.columns.index(name) for name in columns]]
        known[columns, scaled] = median_width(X)
    return known[columns, scaled]
