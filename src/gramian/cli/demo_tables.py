"""Tables that ``gramian demo`` writes, so that every command has something to work on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_linnerud, load_wine

from gramian.tables import write_scores

#: File -> what is in it.
TABLES = {
    "digits.csv": "handwritten digits, 64 pixels, with the digit",
    "iris.csv": "flowers, 4 lengths, with the species",
    "wine.csv": "wines, 13 measurements in different units, with the cultivar",
    "diabetes.csv": "patients, 10 measurements and the progression of their disease",
    "linnerud.csv": "men, 3 exercises and 3 measures of the body",
}


def write_tables(folder: Path) -> None:
    """Write all tables."""
    write_digits(folder / "digits.csv")
    iris, wine = load_iris(), load_wine()
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in iris.feature_names]
    _write(folder / "iris.csv", iris.data, names, {"species": iris.target_names[iris.target].tolist()})
    names = [name.replace("/", "_") for name in wine.feature_names]
    _write(folder / "wine.csv", wine.data, names, {"cultivar": wine.target_names[wine.target].tolist()})
    patients = load_diabetes(scaled=False)
    both = np.column_stack([patients.data, patients.target])
    _write(folder / "diabetes.csv", both, [*patients.feature_names, "progression"])
    men = load_linnerud()
    _write(folder / "linnerud.csv", np.hstack([men.data, men.target]), [*men.feature_names, *men.target_names])


def write_digits(path: Path) -> None:
    """Write scikit-learn's digits as a table: 64 pixels and the digit as text, so that it is a label."""
    digits = load_digits()
    _write(path, digits.data, digits.feature_names, {"digit": [f"d{digit}" for digit in digits.target]})


def _write(path: Path, values: Any, names: Any, labels: dict[str, list[str]] | None = None) -> None:
    write_scores(path, values, [str(name) for name in names], labels)
