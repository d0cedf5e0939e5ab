"""What the controls say: a method, its kernel and its parameters, the estimator they stand for, and its code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from sklearn.pipeline import make_pipeline

from gramian import registry
from gramian.construction import construction, imports
from gramian.explore.datasets import Dataset
from gramian.kernels import Kernel
from gramian.kernels.base import REGISTRY
from gramian.kernels.pairwise import median_width
from gramian.registry import Standardizer

#: Components that the scree plot shows, and from which the cut chooses.
MAX_COMPONENTS = 20
#: Components of kernel CCA, whose cost grows with each pair.
MAX_KERNEL_PAIRS = 6
#: Rows up to which kernels are exact unless told otherwise, and landmarks beyond.
EXACT_ROWS, FIT_LANDMARKS = 10_000, 500

#: Tables of which distances and spectra are kept.
CACHED_TABLES = 8

#: Methods of the page.
METHODS = {name: record for name, record in registry.METHODS.items() if record.explored}


def kernels_listed() -> dict[str, type[Kernel]]:
    """Kernels of the page, by name."""
    return {name: cls for name, cls in REGISTRY.items() if cls.listed}


#: Controls of a fit, in the order in which callbacks take them, and what they say first; a table has advice on some.
CONTROLS: dict[str, Any] = {
    **{"method": "pca", "second": [], "scale": False, "kernel": "rbf", "width": 0.0, "degree": 3},
    **{"text": "", "ridge": -2.0, "k": 2, "exact": False},
}
#: Controls of the view.
LOOKS: dict[str, Any] = {"x": 0, "y": 1, "z": 2, "space": False, "colour": "one", "rows-as": "bars"}


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
        return FIT_LANDMARKS if self.row.has("kernel") and not self.exact and len(data.X) > EXACT_ROWS else None

    def arguments(self, data: Dataset, k: int | None = None) -> dict[str, Any]:
        """Arguments of the estimator; ``k`` components in place of those chosen."""
        given: dict[str, Any] = {"n_components": self.k if k is None else k}
        if self.row.has("scale") and self.scale:
            given["scale"] = True
        if self.row.has("kernel"):
            given |= dict(zip(("kernel", "kernel_y"), self.kernels(data), strict=False))
            if (landmarks := self.landmarks(data)) is not None:
                given["landmarks"] = landmarks
        if self.pair and (self.ridge or self.row.has("kernel")):
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


def most_components(data: Dataset, choice: Choice) -> int:
    """Components to choose from."""
    n, d = data.X.shape
    if choice.pair:
        q = len(choice.second)
        return min(MAX_KERNEL_PAIRS, n - 1) if choice.row.has("kernel") else min(q, d - q)
    if choice.row.has("kernel"):
        return min(MAX_COMPONENTS, n - 1)
    if choice.row.counted == "factors":  # as many as leave degrees of freedom
        return max(1, min(MAX_COMPONENTS, int((2 * d + 1 - (8 * d + 1) ** 0.5) / 2)))
    if hasattr(choice.row.estimator, "score_samples") and not choice.row.projects:  # rows have noise along one at least
        return max(1, min(MAX_COMPONENTS, d - 1, n - 1))
    return min(MAX_COMPONENTS, d, n - 1)


def read_choice(data: Dataset, values: dict[str, Any]) -> Choice:
    """What the controls say, whatever was sent: bounded, and of the right kind."""
    known = set(data.table.columns)
    given = values.get("second")
    names = given if isinstance(given, list) else []
    second = tuple(name for name in names if isinstance(name, str) and name in known)
    method, kernel = str(values.get("method")), str(values.get("kernel"))
    plain = Choice()
    exponent = _number(values.get("ridge"), -4, 2, -4)
    choice = Choice(
        method=method if method in METHODS else plain.method,
        kernel=kernel if kernel in kernels_listed() else plain.kernel,
        width=_number(values.get("width"), -20, 20, 0.0),
        degree=int(_number(values.get("degree"), 1, 20, 3)),
        text=str(values.get("text") or "")[:500].strip(),
        scale=bool(values.get("scale")),
        ridge=0.0 if exponent <= -4 else float(f"{10**exponent:.3g}"),
        second=second if 0 < len(second) < len(known) else data.half(),
        exact=bool(values.get("exact")),
    )
    most = most_components(data, choice)
    return replace(choice, k=int(_number(values.get("k"), 1, most, 2)))


def _number(value: object, low: float, high: float, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return max(low, min(high, default))
    return float(max(low, min(high, value)))


@lru_cache(CACHED_TABLES)
def _median(data: Dataset, columns: tuple[str, ...], *, scaled: bool) -> float:
    X = data.scaled if scaled else data.X
    if columns != data.table.columns:
        X = X[:, [data.table.columns.index(name) for name in columns]]
    return median_width(X)


def code_for(data: Dataset, choice: Choice, opened: str = "") -> str:
    """Return a program that makes the model and the scores on the screen; ``opened`` is a file that holds the model.

    >>> from gramian.explore.datasets import preset
    >>> print(code_for(preset("rings"), Choice("pca", 2)))
    from sklearn.datasets import make_circles
    X, inner = make_circles(600, factor=0.35, noise=0.07, random_state=0)
    from gramian import PCA
    model = PCA(n_components=2).fit(X)
    scores = model.transform(X)
    """
    lines = [*data.code, *_reading_rows(data, choice)]
    rows = "X, Y" if choice.pair else "X"
    scored = f"{'x_scores, y_scores' if choice.pair else 'scores'} = model.transform({rows})"
    if opened:
        return "\n".join([*lines, "from gramian import load", f"model = load({opened!r})", scored])
    model = choice.model(data)
    made = construction(model, choice.arguments(data))
    return "\n".join([*lines, *imports(made), f"model = {made}.fit({rows})", scored])


def _reading_rows(data: Dataset, choice: Choice) -> list[str]:
    if not choice.pair:
        return ["X = table.values"] if data.file else []
    if data.file:
        return [
            "from gramian.tables import split_table",
            f"x, y = split_table(table, y_columns={list(choice.second)!r})",
            "X, Y = x.values, y.values",
        ]
    x, y = data.views(choice.second)
    places = [[data.table.columns.index(name) for name in view.columns] for view in (x, y)]
    return [f"X, Y = X[:, {places[0]}], X[:, {places[1]}]"]
