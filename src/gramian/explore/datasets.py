"""What is explored: a table, how its rows are drawn, the code that makes it; tables for teaching."""

from __future__ import annotations

import base64
import binascii
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import (
    load_diabetes,
    load_digits,
    load_iris,
    load_linnerud,
    load_wine,
    make_circles,
    make_moons,
)

from gramian.construction import arguments
from gramian.estimators.labels import are_groups
from gramian.explore.notes import collected
from gramian.registry import Standardizer
from gramian.results import Array, plural
from gramian.tables import Table, TableError, split_table
from gramian.tables.assemble import DROP_LATER, Roles
from gramian.tables.read import FORMATS, complete_rows, load
from gramian.tables.table import Dialect

#: Bytes of a file that may be sent through the browser.
MAX_UPLOAD_BYTES = 32 * 10**6
#: Columns of a table in the page, which lists them by name.
MAX_PAGE_COLUMNS = 20_000
#: Columns from which rows are drawn as curves.
CURVE_MIN_COLUMNS = 25
#: Standard deviations of columns that differ more than so many times are put on one footing at first.
UNEVEN_SCALES = 5.0
#: Whole numbers of more values are no classes.
MAX_NUMBERED_CLASSES = 12
#: Columns that are offered for colours and classes.
MAX_LISTED_COLUMNS = 200


_serials = count()


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table to explore.

    ``key`` is what the page calls it; ``lines`` of Python make ``X``, unless it comes from a ``file`` that is read with
    the arguments ``reading``; ``classes`` is Python for the groups. ``advice`` is the first values of the controls,
    ``notes`` is what the reader left out and may have been meant otherwise, ``serial`` unlike any other. As it is
    opened it has all rows; rows with gaps are left out of some of its columns.
    """

    key: str
    title: str
    table: Table
    lines: tuple[str, ...] = ()
    file: str = ""
    reading: dict[str, object] = field(default_factory=dict)
    advice: dict[str, object] = field(default_factory=dict)
    classes: str = ""
    notes: tuple[str, ...] = ()
    serial: int = field(default_factory=_serials.__next__)

    @property
    def X(self) -> Array:
        return self.table.values

    def code(self, **more: object) -> list[str]:
        """Lines of Python that make ``table`` if it comes from a file, read with ``more`` arguments; else ``X``."""
        if not self.file:
            return list(self.lines)
        call = f"read_table({arguments([self.file], **{**self.reading, **more})})"
        return ["from gramian.tables import read_table", f"table = {call}"]

    @property
    def labelled(self) -> list[str]:
        """Columns that were read as text because they were named."""
        found: Any = self.reading.get("labels", ())
        return list(found)

    @cached_property
    def standardizer(self) -> Standardizer:
        return Standardizer().fit(self.X)

    @cached_property
    def scaled(self) -> Array:
        return self.standardizer.transform(self.X)

    def views(self, second: tuple[str, ...]) -> tuple[Table, Table]:
        return split_table(self.table, y_columns=list(second))

    @cached_property
    def names(self) -> list[str]:
        """What rows are called: their ids, or a text column in which all differ, or their numbers in the file."""
        differing = (cells for cells in self.table.labels.values() if len(set(cells)) == len(cells))
        return list(self.table.row_names if self.table.row_ids is not None else next(differing, self.table.row_names))

    @property
    def row_word(self) -> str:
        """What stands before the name of a row that is a number."""
        return "row " if self.names[0] == self.table.row_names[0] and self.table.row_ids is None else ""

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """Text columns that put rows into groups."""
        labels = self.table.labels.items()
        return {name: cells for name, cells in labels if are_groups(cells)}

    @cached_property
    def labels(self) -> dict[str, list[str]]:
        """Columns of classes to predict: groups, or whole numbers of few values if there are no groups."""
        found = {}
        columns = () if self.groups else zip(self.table.columns, self.X.T[:MAX_LISTED_COLUMNS], strict=False)
        for name, values in columns:
            kinds = np.unique(values)
            if 1 < len(kinds) <= min(MAX_NUMBERED_CLASSES, len(values) // 2) and (kinds % 1 == 0).all():
                found[name] = [f"{value:.0f}" for value in values]
        return self.groups or found

    @cached_property
    def alike(self) -> bool:
        """Whether columns differ in a number only, as pixels and channels do, which have one unit."""
        return len({re.sub(r"\d+", "", name) for name in self.table.columns}) == 1

    @cached_property
    def rows_as(self) -> str:
        """How a row is drawn: "image", "curve", "plane" or "bars"."""
        d = self.X.shape[1]
        if d == 2:
            return "plane"
        if self.alike and round(d**0.5) ** 2 == d and "pix" in self.table.columns[0].lower():
            return "image"
        return "curve" if self.alike and d >= CURVE_MIN_COLUMNS else "bars"

    @property
    def uneven(self) -> bool:
        """Whether columns of unequal units should be divided by their standard deviations at first."""
        spread = self.X.std(axis=0)
        spread = spread[spread > 0]
        one_unit = self.rows_as in ("image", "curve") or not len(spread)
        return not one_unit and bool(spread.max() > UNEVEN_SCALES * spread.min())

    def only(self, names: Sequence[str]) -> Dataset:
        """Some of the columns, in the order given, and the rows that have a value in each of them."""
        places = [self.table.columns.index(name) for name in names]
        lines, reading = self.lines, self.reading
        if tuple(names) != self.table.columns:
            lines, reading = (*lines, f"X = X[:, {places}]"), {**reading, "columns": tuple(names)}
        table = replace(self.table, values=np.ascontiguousarray(self.X[:, places]), columns=tuple(names))
        if np.isnan(table.values).any(axis=1).all():
            raise TableError(f"{table.source}: every row misses a value of these columns. Choose fewer columns.")
        table = complete_rows(table, names)
        if len(table.values) < len(self.X):
            reading = {**reading, "missing": "drop"}
        return replace(self, table=table, lines=lines, reading=reading, serial=next(_serials))

    def without(self, name: str) -> Dataset:
        """The same without a column, if it has that."""
        return _without(self, name) if name in self.table.columns else self

    @cached_property
    def opened(self) -> Dataset:
        """The columns to begin with: all, but for those with the most gaps if these take half of the rows."""
        gaps = np.isnan(self.X)
        order = np.argsort(gaps.sum(axis=0), kind="stable")
        lost = np.logical_or.accumulate(gaps[:, order], axis=1).sum(axis=0)
        count = max(np.count_nonzero(2 * lost <= len(gaps)), min(2, len(order)))
        return self.only([self.table.columns[at] for at in np.sort(order[:count])])

    def half(self) -> tuple[str, ...]:
        """Columns of the second view before a choice: the latter half."""
        return self.table.columns[(len(self.table.columns) + 1) // 2 :]


@lru_cache(16)
def _without(data: Dataset, name: str) -> Dataset:
    return data.only([other for other in data.table.columns if other != name])


def open_table(path: str, **reading: Any) -> Dataset:
    """Read a table; ``reading`` are arguments of :func:`gramian.tables.read_table`."""
    return _from_file("table", Path(path).name, path, _load(path, **reading), reading)


def from_upload(name: str, contents: str, **reading: Any) -> Dataset:
    """Read a table that came through the browser: a data address with the bytes in base 64.

    >>> text = base64.b64encode(b"a,b,kind\\n1,2,x\\n3,4,y\\n5,7,y\\n").decode()
    >>> from_upload("small.csv", f"data:text/csv;base64,{text}").table.columns
    ('a', 'b')
    """
    name = re.sub(r"[^\w.\- ]", "_", Path(name).name)[-80:] or "table"
    ending = Path(name).suffix.lower()
    if ending not in FORMATS:
        raise TableError(
            f"{name}: files that end in {ending or 'nothing'!r} are not read. Known: {', '.join(FORMATS)}."
        )
    head, comma, body = contents.partition(",")
    if not comma or not head.startswith("data:") or len(body) > MAX_UPLOAD_BYTES * 4 // 3 + 4:
        raise TableError(f"{name} is larger than {MAX_UPLOAD_BYTES // 10**6} MB. Start gramian explore with it.")
    try:
        data = base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise TableError(f"{name} arrived damaged ({error}). Upload it again.") from error
    with tempfile.TemporaryDirectory(prefix="gramian-") as folder:
        path = Path(folder, f"upload{ending}")
        path.write_bytes(data)
        try:
            with collected() as notes:
                table = replace(_load(path, **reading), source=name)
        except TableError as error:
            raise TableError(str(error).replace(str(path), name)) from None
    found = _from_file(f"upload:{name}", name, name, table, reading)
    return replace(found, notes=tuple(note.replace(str(path), name) for note in notes))


def _load(path: str | Path, **reading: Any) -> Table:
    sorted_by = {name: reading.pop(name) for name in ("columns", "ids", "labels", "categories") if name in reading}
    roles = Roles(**sorted_by, missing=DROP_LATER)
    return load(path, roles, Dialect(**reading, as_text=roles.as_text, most=MAX_PAGE_COLUMNS))


def _from_file(key: str, title: str, file: str, table: Table, reading: dict[str, object]) -> Dataset:
    found = Dataset(key, title, table, (), file, reading)
    n, d = found.opened.X.shape
    if n < 3:
        raise TableError(f"{table.source} has {plural(n, 'row')} without gaps; at least three are needed.")
    if not np.ptp(found.opened.X, axis=0).any():
        raise TableError(f"{table.source}: all {n:,} rows are the same in {d} columns. There is nothing to analyse.")
    return found


#: Groups of points along a curve.
THIRDS = "y = np.array(['start', 'middle', 'end'])[3 * np.arange(len(X)) // len(X)]"


class Lesson(NamedTuple):
    """A table for teaching: ``code`` makes its numbers as ``X``, ``classes`` its groups as ``y``."""

    title: str
    words: str
    values: Array
    columns: Sequence[str]
    labels: dict[str, list[str]]
    code: str
    classes: str = ""


def _curve() -> Lesson:
    t = np.linspace(-2.1, 0.8, 120)
    return Lesson(
        "A cubic curve",
        "Points on a curve. One component of PCA is a straight line; one of a cubic kernel follows the curve.",
        np.column_stack([t, 2 * t**2 + t**3]),
        ["x", "y"],
        _thirds(120),
        "import numpy as np\nt = np.linspace(-2.1, 0.8, 120)\nX = np.column_stack([t, 2 * t**2 + t**3])",
        THIRDS,
    )


def _ellipse() -> Lesson:
    a = 2 * np.pi * np.arange(200) / 200
    return Lesson(
        "An ellipse",
        "Points on an ellipse, for kernels of degree two: squares of the columns say where on it a point lies.",
        np.column_stack([np.cos(a), np.sin(a) / 2]),
        ["x", "y"],
        _thirds(200),
        "import numpy as np\na = 2 * np.pi * np.arange(200) / 200\nX = np.column_stack([np.cos(a), np.sin(a) / 2])",
        THIRDS,
    )


def _rings() -> Lesson:
    X, inner = make_circles(600, factor=0.35, noise=0.07, random_state=0)
    return Lesson(
        "Two rings",
        "One ring around the other. No straight line separates them; a Gaussian kernel does.",
        X,
        ["x", "y"],
        {"ring": np.where(inner, "inner", "outer").tolist()},
        "from sklearn.datasets import make_circles\n"
        "X, inner = make_circles(600, factor=0.35, noise=0.07, random_state=0)",
        "y = np.where(inner, 'inner', 'outer')",
    )


def _moons() -> Lesson:
    X, lower = make_moons(600, noise=0.08, random_state=0)
    return Lesson(
        "Two moons",
        "Two half moons, each reaching into the other. A narrow kernel separates them.",
        X,
        ["x", "y"],
        {"moon": np.where(lower, "lower", "upper").tolist()},
        "from sklearn.datasets import make_moons\nX, lower = make_moons(600, noise=0.08, random_state=0)",
        "y = np.where(lower, 'lower', 'upper')",
    )


def _digits() -> Lesson:
    digits = load_digits()
    return Lesson(
        "Handwritten digits",
        "Pictures of 8 x 8 pixels. Rows are shown as pictures, and so is what components rebuild of them.",
        digits.data,
        list(digits.feature_names),
        {"digit": digits.target.astype(str).tolist()},
        "from sklearn.datasets import load_digits\nX = load_digits().data",
        "y = load_digits().target.astype(str)",
    )


def _exercises() -> Lesson:
    men = load_linnerud()
    return Lesson(
        "Exercises and bodies (two views)",
        "Three exercises and three measures of the body of 20 men: two views of the same rows.",
        np.hstack([men.data, men.target]),
        [*men.feature_names, *men.target_names],
        {},
        "import numpy as np\nfrom sklearn.datasets import load_linnerud\nX = np.hstack(load_linnerud(return_X_y=True))",
    )


def _flowers() -> Lesson:
    flowers = load_iris()
    return Lesson(
        "Flowers (iris)",
        "Four lengths of flowers of three species: components, or a rule that tells the species.",
        flowers.data,
        [name.removesuffix(" (cm)") for name in flowers.feature_names],
        {"species": flowers.target_names[flowers.target].tolist()},
        "from sklearn.datasets import load_iris\nflowers = load_iris()\nX = flowers.data",
        "y = flowers.target_names[flowers.target]",
    )


def _wines() -> Lesson:
    wines = load_wine()
    return Lesson(
        "Wines",
        "Thirteen measurements in different units. Without scaling, the column of the largest numbers decides.",
        wines.data,
        list(wines.feature_names),
        {"cultivar": wines.target_names[wines.target].tolist()},
        "from sklearn.datasets import load_wine\nwines = load_wine()\nX = wines.data",
        "y = wines.target_names[wines.target]",
    )


def _patients() -> Lesson:
    patients = load_diabetes(scaled=False)
    return Lesson(
        "Patients (diabetes)",
        "Ten measurements, and the progression of the disease a year later: a number to predict.",
        np.column_stack([patients.data, patients.target]),
        [*patients.feature_names, "progression"],
        {},
        "import numpy as np\nfrom sklearn.datasets import load_diabetes\n"
        "X = np.column_stack(load_diabetes(return_X_y=True, scaled=False))",
    )


def _thirds(n: int) -> dict[str, list[str]]:
    words = ("start", "middle", "end")
    return {"part": [words[3 * at // n] for at in range(n)]}


#: Name -> maker, and what the controls show first.
PRESETS: dict[str, tuple[Callable[[], Lesson], dict[str, object]]] = {
    "flowers": (_flowers, {"biplot": True}),
    "wines": (_wines, {"biplot": True}),
    "digits": (_digits, {"method": "kernel-pca", "width": -0.9, "k": 10}),
    "rings": (_rings, {"method": "kernel-pca", "width": -1.6}),
    "moons": (_moons, {"method": "kernel-pca", "width": -2.6}),
    "curve": (_curve, {"method": "kernel-pca", "kernel": "polynomial", "degree": 3}),
    "ellipse": (_ellipse, {"method": "kernel-pca", "kernel": "polynomial", "degree": 2}),
    "exercises": (_exercises, {"method": "cca"}),
    "patients": (_patients, {"method": "pls"}),
}


@cache
def lesson(name: str) -> Lesson:
    """Make a table for teaching."""
    return PRESETS[name][0]()


@cache
def preset(name: str) -> Dataset:
    """Return a table for teaching.

    >>> preset("rings").X.shape, preset("digits").rows_as
    ((600, 2), 'image')
    """
    made = lesson(name)
    values = np.ascontiguousarray(made.values, dtype=np.float64)
    table = Table(values, tuple(made.columns), made.labels, (), made.title)
    advice = PRESETS[name][1]
    return Dataset(name, made.title, table, tuple(made.code.splitlines()), advice=advice, classes=made.classes)
