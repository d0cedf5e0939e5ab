"""What is explored: a table, how its rows are drawn, the code that makes it; tables for teaching."""

from __future__ import annotations

import base64
import binascii
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import count
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, load_linnerud, make_circles, make_moons

from gramian.construction import arguments
from gramian.registry import Standardizer
from gramian.results import Array, plural
from gramian.tables import Table, TableError, split_table
from gramian.tables.assemble import Roles
from gramian.tables.read import FORMATS, load
from gramian.tables.table import Dialect

#: Bytes of a file that may be sent through the browser.
MAX_UPLOAD_BYTES = 32 * 10**6
#: Columns of a table in the page, which lists them by name.
MAX_PAGE_COLUMNS = 20_000
#: Columns from which rows are drawn as curves.
CURVE_MIN_COLUMNS = 25


_serials = count()


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table to explore.

    ``key`` is its name in the list of the page; ``lines`` of Python make ``X``, unless it comes from a ``file`` that is
    read with the arguments ``reading``; ``advice`` is the first values of the controls, ``serial`` unlike any other.
    """

    key: str
    title: str
    table: Table
    lines: tuple[str, ...] = ()
    file: str = ""
    reading: dict[str, object] = field(default_factory=dict)
    advice: dict[str, object] = field(default_factory=dict)
    serial: int = field(default_factory=_serials.__next__)

    @property
    def X(self) -> Array:
        return self.table.values

    @property
    def code(self) -> tuple[str, ...]:
        """Lines of Python that make ``table`` if it comes from a file, else ``X``."""
        if not self.file:
            return self.lines
        return "from gramian.tables import read_table", f"table = read_table({arguments([self.file], **self.reading)})"

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
        """What rows are called: their ids, or a text column in which all differ, or their numbers."""
        if self.table.row_ids is not None:
            return list(self.table.row_ids)
        for cells in self.table.labels.values():
            if len(set(cells)) == len(cells):
                return list(cells)
        return [str(at) for at in range(len(self.X))]

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """Text columns that put rows into groups."""
        return {name: cells for name, cells in self.table.labels.items() if len(set(cells)) <= min(40, len(cells) - 1)}

    @cached_property
    def rows_as(self) -> str:
        """How a row is drawn: "image", "curve", "plane" or "bars"."""
        d = self.X.shape[1]
        side = round(d**0.5)
        if d == 2:
            return "plane"
        alike = len({re.sub(r"\d+", "", name) for name in self.table.columns}) == 1
        if alike and side**2 == d and "pix" in self.table.columns[0].lower():
            return "image"
        return "curve" if alike and d >= CURVE_MIN_COLUMNS else "bars"

    def only(self, names: tuple[str, ...]) -> Dataset:
        """The same rows with some of the columns, in the order given."""
        places = [self.table.columns.index(name) for name in names]
        table = replace(self.table, values=np.ascontiguousarray(self.X[:, places]), columns=tuple(names))
        lines, reading = (*self.lines, f"X = X[:, {places}]"), {**self.reading, "columns": names}
        return replace(self, table=table, lines=lines, reading=reading, serial=next(_serials))

    def half(self) -> tuple[str, ...]:
        """Columns of the second view before a choice: the latter half."""
        return self.table.columns[(len(self.table.columns) + 1) // 2 :]


def open_table(path: str) -> Dataset:
    """Read a table; rows with missing values are left out, and the table says so."""
    return _from_file("table", Path(path).name, path, _load(path))


def from_upload(name: str, contents: str) -> Dataset:
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
        raise TableError(
            f"{name} is larger than {MAX_UPLOAD_BYTES // 10**6} MB. Start gramian explore with it instead."
        )
    try:
        data = base64.b64decode(body, validate=True)
    except binascii.Error as error:
        raise TableError(f"{name} arrived damaged ({error}). Upload it again.") from error
    with tempfile.TemporaryDirectory(prefix="gramian-") as folder:
        path = Path(folder, f"upload{ending}")
        path.write_bytes(data)
        try:
            table = replace(_load(path), source=name)
        except TableError as error:
            raise TableError(str(error).replace(str(path), name)) from None
    return _from_file("upload", name, name, table)


def _load(path: str | Path) -> Table:
    return load(path, Roles(missing="drop"), Dialect(most=MAX_PAGE_COLUMNS))


def _from_file(key: str, title: str, file: str, table: Table) -> Dataset:
    n, d = table.values.shape
    if n < 3:
        raise TableError(f"{table.source} has {plural(n, 'row')}; at least three are needed.")
    if not np.ptp(table.values, axis=0).any():
        raise TableError(f"{table.source}: all {n:,} rows are the same in {d} columns. There is nothing to analyse.")
    # Unequal units are put on one footing; pixels and spectra have one unit.
    spread = table.values.std(axis=0)
    spread = spread[spread > 0]
    reading: dict[str, object] = {} if table.rows is None else {"missing": "drop"}
    advice: dict[str, object] = {"scale": bool(spread.max() > 5 * spread.min())}
    return Dataset(key, title, table, (), file, reading, advice)


#: A table for teaching: its title, numbers, names of columns, labels, and code that makes the numbers.
Made = tuple[str, Array, list[str], dict[str, list[str]], str]


def _curve() -> Made:
    t = np.linspace(-2.1, 0.8, 120)
    code = "import numpy as np\nt = np.linspace(-2.1, 0.8, 120)\nX = np.column_stack([t, 2 * t**2 + t**3])"
    return "A cubic curve", np.column_stack([t, 2 * t**2 + t**3]), ["x", "y"], _thirds(120), code


def _ellipse() -> Made:
    a = 2 * np.pi * np.arange(200) / 200
    code = "import numpy as np\na = 2 * np.pi * np.arange(200) / 200\nX = np.column_stack([np.cos(a), np.sin(a) / 2])"
    return "An ellipse", np.column_stack([np.cos(a), np.sin(a) / 2]), ["x", "y"], _thirds(200), code


def _rings() -> Made:
    X, inner = make_circles(600, factor=0.35, noise=0.07, random_state=0)
    labels = {"ring": ["inner" if at else "outer" for at in inner]}
    code = (
        "from sklearn.datasets import make_circles\n"
        "X, inner = make_circles(600, factor=0.35, noise=0.07, random_state=0)"
    )
    return "Two rings", X, ["x", "y"], labels, code


def _moons() -> Made:
    X, lower = make_moons(600, noise=0.08, random_state=0)
    labels = {"moon": ["lower" if at else "upper" for at in lower]}
    code = "from sklearn.datasets import make_moons\nX, lower = make_moons(600, noise=0.08, random_state=0)"
    return "Two moons", X, ["x", "y"], labels, code


def _digits() -> Made:
    digits = load_digits()
    labels = {"digit": [str(digit) for digit in digits.target]}
    code = "from sklearn.datasets import load_digits\nX = load_digits().data"
    return "Handwritten digits", digits.data, list(digits.feature_names), labels, code


def _men() -> Made:
    men = load_linnerud()
    values, names = np.hstack([men.data, men.target]), [*men.feature_names, *men.target_names]
    code = (
        "import numpy as np\nfrom sklearn.datasets import load_linnerud\nX = np.hstack(load_linnerud(return_X_y=True))"
    )
    return "Exercises and bodies (two views)", values, names, {}, code


def _thirds(n: int) -> dict[str, list[str]]:
    words = ("start", "middle", "end")
    return {"part": [words[3 * at // n] for at in range(n)]}


#: Name -> maker, and what the controls show first.
PRESETS: dict[str, tuple[Callable[[], Made], dict[str, object]]] = {
    "curve": (_curve, {"method": "kernel-pca", "kernel": "polynomial", "degree": 3, "width": 0.0}),
    "ellipse": (_ellipse, {"method": "kernel-pca", "kernel": "polynomial", "degree": 2, "width": 0.0}),
    "rings": (_rings, {"method": "kernel-pca", "kernel": "rbf", "width": -1.6}),
    "moons": (_moons, {"method": "kernel-pca", "kernel": "rbf", "width": -2.6}),
    "digits": (_digits, {"method": "kernel-pca", "kernel": "rbf", "width": -0.9, "k": 10}),
    "exercises": (_men, {"method": "cca"}),
}


@cache
def preset(name: str) -> Dataset:
    """Return a table for teaching.

    >>> preset("rings").X.shape, preset("digits").rows_as
    ((600, 2), 'image')
    """
    make, advice = PRESETS[name]
    title, values, names, labels, code = make()
    table = Table(np.ascontiguousarray(values, dtype=np.float64), tuple(names), labels, (), title)
    return Dataset(name, title, table, tuple(code.splitlines()), advice=advice)
