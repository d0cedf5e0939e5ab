"""Tables for teaching: the curves, rings, moons and digits of the lectures."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from sklearn.datasets import load_digits, load_linnerud, make_circles, make_moons

from gramian.explore.datasets import Dataset
from gramian.results import Array
from gramian.tables import Table


def _make(title: str, values: Array, names: list[str], labels: dict[str, list[str]], code: str) -> Dataset:
    table = Table(np.ascontiguousarray(values, dtype=np.float64), tuple(names), labels, (), title)
    return Dataset("", title, table, tuple(code.strip().splitlines()))


def _curve() -> Dataset:
    t = np.linspace(-2.1, 0.8, 120)
    code = "import numpy as np\nt = np.linspace(-2.1, 0.8, 120)\nX = np.column_stack([t, 2 * t**2 + t**3])"
    return _make("A cubic curve", np.column_stack([t, 2 * t**2 + t**3]), ["x", "y"], _thirds(120), code)


def _ellipse() -> Dataset:
    a = 2 * np.pi * np.arange(200) / 200
    code = "import numpy as np\na = 2 * np.pi * np.arange(200) / 200\nX = np.column_stack([np.cos(a), np.sin(a) / 2])"
    return _make("An ellipse", np.column_stack([np.cos(a), np.sin(a) / 2]), ["x", "y"], _thirds(200), code)


def _rings() -> Dataset:
    X, inner = make_circles(600, factor=0.35, noise=0.07, random_state=0)
    labels = {"ring": ["inner" if at else "outer" for at in inner]}
    code = (
        "from sklearn.datasets import make_circles\n"
        "X, inner = make_circles(600, factor=0.35, noise=0.07, random_state=0)"
    )
    return _make("Two rings", X, ["x", "y"], labels, code)


def _moons() -> Dataset:
    X, lower = make_moons(600, noise=0.08, random_state=0)
    labels = {"moon": ["lower" if at else "upper" for at in lower]}
    code = "from sklearn.datasets import make_moons\nX, lower = make_moons(600, noise=0.08, random_state=0)"
    return _make("Two moons", X, ["x", "y"], labels, code)


def _digits() -> Dataset:
    digits = load_digits()
    labels = {"digit": [str(digit) for digit in digits.target]}
    code = "from sklearn.datasets import load_digits\nX = load_digits().data"
    return _make("Handwritten digits", digits.data, list(digits.feature_names), labels, code)


def _men() -> Dataset:
    men = load_linnerud()
    values, names = np.hstack([men.data, men.target]), [*men.feature_names, *men.target_names]
    code = (
        "import numpy as np\nfrom sklearn.datasets import load_linnerud\nX = np.hstack(load_linnerud(return_X_y=True))"
    )
    return _make("Exercises and bodies (two views)", values, names, {}, code)


def _thirds(n: int) -> dict[str, list[str]]:
    words = ("start", "middle", "end")
    return {"part": [words[3 * at // n] for at in range(n)]}


#: Name -> maker, and what the controls show first.
PRESETS: dict[str, tuple[Callable[[], Dataset], dict[str, object]]] = {
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
    made = make()
    return Dataset(name, made.title, made.table, made.code, advice)
