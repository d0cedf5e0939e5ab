"""What the controls say: a method, its kernel and its parameters, the estimator they stand for, and its code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline

from gramian import registry
from gramian.construction import construction, imports
from gramian.explore.datasets import Dataset
from gramian.kernels import Kernel
from gramian.kernels.base import REGISTRY
from gramian.kernels.pairwise import median_width
from gramian.registry import Standardizer
from gramian.results import Array
from gramian.solvers.rotation import ROTATIONS

#: Components that the scree plot shows, and from which the cut chooses; clusters or neighbours to choose from.
MAX_COMPONENTS = 20
#: Components of kernel CCA, whose cost grows with each pair.
MAX_KERNEL_PAIRS = 6
#: Rows up to which kernels are exact unless told otherwise, and landmarks beyond.
EXACT_ROWS, FIT_LANDMARKS = 10_000, 500

#: Tables of which distances and spectra are kept.
CACHED_TABLES = 8

#: Methods of the page.
METHODS = registry.METHODS
#: What is chosen with -k on the command line -> what the page calls it.
SIZES = {"n_components": "{noun}s kept", "n_clusters": "clusters", "n_neighbors": "neighbours", "": ""}


def kernels_listed() -> dict[str, type[Kernel]]:
    """Kernels of the page, by name."""
    return {name: cls for name, cls in REGISTRY.items() if cls.listed}


#: Controls of a fit, in the order in which callbacks take them, and what they say first; a table has advice on some.
CONTROLS: dict[str, Any] = {
    **{"method": "pca", "second": [], "target": "", "label": "", "scale": False, "kernel": "rbf", "width": 0.0},
    **{"degree": 3, "text": "", "ridge": -2.0, "C": 0.0, "rotation": "", "k": 2, "exact": False},
}
#: Controls of the view; axes are counted from one.
LOOKS: dict[str, Any] = {
    **{"x": 1, "y": 2, "z": 3, "space": False, "biplot": False, "named": False, "colour": "one", "rows-as": "bars"},
}
#: Controls that are ticked or not.
TICKS = ("scale", "exact", "space", "biplot", "named")


@dataclass(frozen=True)
class Choice:
    """What to fit. ``width`` is a power of two times the median distance; ``text`` a kernel written by hand.

    ``second`` are columns of the second view, ``target`` the column to predict: numbers, or the name of classes.
    """

    method: str = "pca"
    k: int = 2
    kernel: str = "rbf"
    width: float = 0.0
    degree: int = 3
    text: str = ""
    scale: bool = False
    ridge: float = 0.0
    C: float = 1.0
    rotation: str = ""
    second: tuple[str, ...] = ()
    target: str = ""
    exact: bool = False

    @property
    def row(self) -> registry.Record:
        return METHODS[self.method]

    @property
    def pair(self) -> bool:
        """Whether the method has two views."""
        return self.row.needs == "view"

    @property
    def predicts(self) -> bool:
        """Whether the method predicts a column."""
        return self.row.needs in ("target", "label")

    @property
    def taken(self) -> tuple[str, ...]:
        """Columns that are those of the second view, or predicted."""
        return self.second if self.pair else (self.target,) if self.predicts else ()

    @property
    def maps(self) -> bool:
        """Whether rows are drawn on a map of the columns, since the method has no scores."""
        return self.row.clusters or not hasattr(self.row.estimator, "transform")

    @property
    def key(self) -> Choice:
        """The same for all choices that have one fit: the cut of nested components is no part of it."""
        row = self.row
        used = {name: row.has(name) for name in ("ridge", "C", "rotation")}
        used |= {"scale": True, "second": self.pair, "target": self.predicts, "k": bool(row.size) and not row.nested}
        used |= dict.fromkeys(("kernel", "width", "degree", "text", "exact"), row.has("kernel"))
        return Choice(self.method, **{name: getattr(self, name) for name, wanted in used.items() if wanted})

    def seen(self, data: Dataset) -> Dataset:
        """The columns that the method sees, without the one that is predicted."""
        return data.without(self.target) if self.predicts else data

    def inputs(self, data: Dataset) -> tuple[Array, Any]:
        """Rows, and what is given beside them: the second view, numbers or classes to predict, or None."""
        if self.pair:
            first, second = data.views(self.second)
            return first.values, second.values
        if not self.predicts:
            return data.X, None
        if not self.target:
            what = "classes" if self.row.needs == "label" else "numbers"
            raise ValueError(f"{self.row.title} predicts a column of {what}, and {data.title} has none for that.")
        if self.row.needs == "target":
            return self.seen(data).X, data.X[:, data.table.columns.index(self.target)]
        classes = np.array(data.labels[self.target])
        if (empty := np.count_nonzero(classes == "")) or len(set(classes.tolist())) < 2:
            why = f"is empty in {empty:,} rows" if empty else "is the same in all rows"
            raise ValueError(f"{self.target} {why}. Choose another column of classes.")
        return self.seen(data).X, classes

    def kernels(self, data: Dataset) -> list[str]:
        """Text of the kernel of each view; widths that follow the data are resolved."""
        if self.text:
            return [self.text] * (2 if self.pair else 1)
        seen = self.seen(data)
        views = [view.columns for view in data.views(self.second)] if self.pair else [seen.table.columns]
        return [self._kernel(_median(seen, columns, scaled=self.scale)) for columns in views]

    def _kernel(self, median: float) -> str:
        made = kernels_listed()[self.kernel].from_sliders(median * 2.0**self.width, self.degree)
        numbers = {key: value for key, value in made.get_params(deep=False).items() if isinstance(value, float)}
        return str(made.set_params(**{key: float(f"{value:.4g}") for key, value in numbers.items()}))

    def landmarks(self, data: Dataset) -> int | None:
        """Landmarks of a kernel method; None is exact."""
        return FIT_LANDMARKS if self.row.has("kernel") and not self.exact and len(data.X) > EXACT_ROWS else None

    def arguments(self, data: Dataset, k: int | None = None) -> dict[str, Any]:
        """Arguments of the estimator; ``k`` components in place of those chosen."""
        row = self.row
        given: dict[str, Any] = {row.size: self.k if k is None else k} if row.size else {}
        if row.has("scale") and self.scale != row.scales:
            given["scale"] = self.scale
        if row.has("kernel"):
            given |= dict(zip(("kernel", "kernel_y"), self.kernels(data), strict=False))
            if (landmarks := self.landmarks(data)) is not None:
                given["landmarks"] = landmarks
        if row.has("ridge") and (self.ridge or row.has("kernel")):
            given["ridge"] = self.ridge
        if row.has("C"):
            given["C"] = self.C
        if row.has("rotation") and self.rotation:
            given["rotation"] = self.rotation
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
    """Components, clusters or neighbours to choose from."""
    n, d = choice.seen(data).X.shape
    row = choice.row
    if choice.pair:
        q = len(choice.second)
        return min(MAX_KERNEL_PAIRS, n - 1) if row.has("kernel") else min(q, d - q, MAX_COMPONENTS)
    if row.has("kernel"):
        return min(MAX_COMPONENTS, n - 1) if row.size else 1
    if row.counted == "factors":  # as many as leave degrees of freedom
        return max(1, min(MAX_COMPONENTS, int((2 * d + 1 - (8 * d + 1) ** 0.5) / 2)))
    if hasattr(row.estimator, "score_samples") and not row.projects:  # rows have noise along one at least
        return max(1, min(MAX_COMPONENTS, d - 1, n - 1))
    if choice.predicts:  # a tenth of the rows is left out
        return max(1, min(MAX_COMPONENTS, d, n - n // 10 - 2))
    return min(MAX_COMPONENTS, d, n - 1)


def read_choice(data: Dataset, values: dict[str, Any]) -> Choice:
    """What the controls say, whatever was sent: bounded, and of the right kind."""
    known = set(data.table.columns)
    given = values.get("second")
    names = given if isinstance(given, list) else []
    second = tuple(name for name in names if isinstance(name, str) and name in known)
    method, kernel, rotation = (str(values.get(name)) for name in ("method", "kernel", "rotation"))
    plain = Choice()
    choice = Choice(
        method=method if method in METHODS else plain.method,
        kernel=kernel if kernel in kernels_listed() else plain.kernel,
        width=_number(values.get("width"), -20, 20, 0.0),
        degree=int(_number(values.get("degree"), 1, 20, 3)),
        text=str(values.get("text") or "")[:500].strip(),
        scale=bool(values.get("scale")),
        ridge=_power(values.get("ridge"), 2, 0.0),
        C=_power(values.get("C"), 4, 1e-2),
        rotation=rotation if rotation in ROTATIONS else plain.rotation,
        second=second if 0 < len(second) < len(known) else data.half(),
        exact=bool(values.get("exact")),
    )
    options = targets(data, choice.row)
    if choice.predicts:
        wanted = values.get(choice.row.needs)
        last = options[-1:] if choice.row.needs == "target" else options[:1]
        choice = replace(choice, target=wanted if isinstance(wanted, str) and wanted in options else "".join(last))
    most = most_components(data, choice)
    return replace(choice, k=int(_number(values.get("k"), 1, most, 2)))


def targets(data: Dataset, row: registry.Record) -> list[str]:
    """Columns that a method may predict; none if that leaves no other."""
    if row.needs == "target":
        return list(data.table.columns) if len(data.table.columns) > 1 else []
    return list(data.labels) if row.needs == "label" else []


def _power(exponent: object, high: float, least: float) -> float:
    """Ten to a power; ``least`` at the lower end of the slider."""
    found = _number(exponent, -4, high, -4)
    return least if found <= -4 else float(f"{10**found:.3g}")


def _number(value: object, low: float, high: float, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return max(low, min(high, default))
    return float(max(low, min(high, value)))


@lru_cache(CACHED_TABLES)
def _median(data: Dataset, columns: tuple[str, ...], *, scaled: bool) -> float:
    X = data.scaled if scaled else data.X
    if columns != data.table.columns:  # those of one of two views
        X = X[:, [data.table.columns.index(name) for name in columns]]
    return median_width(X)


def code_for(data: Dataset, choice: Choice, opened: str = "") -> str:
    """Return a program that makes the model, and the scores or predictions; ``opened`` is a file that holds the model.

    >>> from gramian.explore.datasets import preset
    >>> print(code_for(preset("rings"), Choice("pca", 2)))
    from sklearn.datasets import make_circles
    X, inner = make_circles(600, factor=0.35, noise=0.07, random_state=0)
    from gramian import PCA
    model = PCA(n_components=2).fit(X)
    scores = model.transform(X)
    """
    given = "X" if choice.row.needs == "" else "X, Y" if choice.pair else "X, y"
    if choice.maps:
        used = f"{'clusters' if choice.row.clusters else 'predictions'} = model.predict(X)"
    elif choice.pair:
        used = "x_scores, y_scores = model.transform(X, Y)"
    else:
        used = "scores = model.transform(X)"
    if opened:
        return "\n".join([*_reading_rows(data, choice), "from gramian import load", f"model = load({opened!r})", used])
    made = construction(choice.model(data), choice.arguments(data))
    return "\n".join([*_reading_rows(data, choice), *imports(made), f"model = {made}.fit({given})", used])


def _reading_rows(data: Dataset, choice: Choice) -> list[str]:
    """Lines that make X, and Y or y."""
    if choice.row.needs == "label" and choice.target not in data.groups:
        if data.file:
            return [*data.code(labels=[*data.labelled, choice.target]), *_labelled(choice)]
    elif choice.row.needs == "label":
        return [*data.code(), *(_labelled(choice) if data.file else ["import numpy as np", data.classes])]
    elif not choice.row.needs:
        return [*data.code(), *(["X = table.values"] if data.file else [])]
    if data.file:
        y = "Y = x.values, y.values" if choice.pair else "y = x.values, y.values[:, 0]"
        split = f"x, y = split_table(table, y_columns={list(choice.taken)!r})"
        return [*data.code(), "from gramian.tables import split_table", split, f"X, {y}"]
    places = [data.table.columns.index(name) for name in choice.taken]
    words = ".astype(int).astype(str)" if choice.row.needs == "label" else ""
    others = [at for at, name in enumerate(data.table.columns) if name not in choice.taken]
    y = f"Y = X[:, {others}], X[:, {places}]" if choice.pair else f"y = X[:, {others}], X[:, {places[0]}]{words}"
    return [*data.code(), f"X, {y}"]


def _labelled(choice: Choice) -> list[str]:
    return ["import numpy as np", f"X, y = table.values, np.array(table.labels[{choice.target!r}])"]
