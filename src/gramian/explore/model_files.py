"""Models to files in the working folder and back: arrays and a header, nothing that is executed."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian.construction import steps_of
from gramian.explore.choice import METHODS, Choice, read_choice
from gramian.explore.datasets import Dataset
from gramian.explore.fitting import Fit, applied
from gramian.explore.notes import collected
from gramian.models import load, save
from gramian.registry import Record, Standardizer
from gramian.tables import named

ENDING = ".safetensors"


class PathError(ValueError):
    """A name that leads out of the folder, or is none."""


def inside(folder: Path, name: object) -> Path:
    """Return the path of a model file in a folder.

    Names are relative, in letters, digits, blanks and ``._-``, with ``/`` between folders that exist; they may not lead
    out, not even through a link, and end in .safetensors.

    >>> inside(Path("."), "model.safetensors").name
    'model.safetensors'
    >>> inside(Path("."), "../m.safetensors")
    Traceback (most recent call last):
    gramian.explore.model_files.PathError: '../m.safetensors' leads out of the working folder. Give a name inside it.
    """
    if not isinstance(name, str) or not name.strip():
        raise PathError("Give the model a name, such as model.safetensors.")
    shown = repr(name[:80])
    if not re.fullmatch(r"[\w.\- /]{1,200}", name):
        raise PathError(f"{shown} is not a valid file name here. Use letters, digits, blanks and ._-/ only.")
    parts = name.split("/")
    if any(part in ("", ".", "..") or part != part.strip() for part in parts):
        raise PathError(f"{shown} leads out of the working folder. Give a name inside it.")
    if any(part.startswith(".") for part in parts) or not name.endswith(ENDING):
        raise PathError(f"{shown} is not a model file. Give a name that ends in {ENDING}.")
    root = folder.resolve()
    path = root.joinpath(*parts)
    if not path.resolve().is_relative_to(root) or path.is_symlink():
        raise PathError(f"{shown} leads out of the working folder through a link. Give a name inside it.")
    if not path.parent.is_dir():
        raise PathError(f"{shown}: there is no such folder.")
    return path


def models_in(folder: Path) -> list[str]:
    """Names of the model files in a folder, the first hundred."""
    found = sorted(path.name for path in folder.glob(f"*{ENDING}") if path.is_file() and not path.is_symlink())
    return [name for name in found if re.fullmatch(r"[\w.\- ]{1,200}", name) and not name.startswith(".")][:100]


def save_model(data: Dataset, choice: Choice, path: Path) -> str:
    """Fit what the code on the page fits, and save it; return a sentence."""
    model = choice.model(data)
    X, y = choice.inputs(data)
    with collected():
        model.fit(X) if y is None else model.fit(X, y)
    names = [name for name in data.table.columns if name not in choice.taken]
    save(named(model, names, choice.taken), path)
    return f"{path.name} is saved: {type(steps_of(model)[-1]).__name__}, {path.stat().st_size / 1000:,.0f} kB."


def open_model(data: Dataset, path: Path, values: dict[str, Any]) -> tuple[Dataset, Fit, dict[str, Any]]:
    """Load a model and let it see a table; return the columns it sees, what it makes of them, and controls."""
    model = load(path)
    steps = steps_of(model)
    estimator = steps[-1]
    method = next((key for key, row in METHODS.items() if type(estimator) is row.estimator), None)
    if method is None or (len(steps) > 1 and not isinstance(steps[0], Standardizer)):
        raise ValueError(f"{path.name} holds {type(estimator).__name__}, which is not among the methods of this page.")
    needs = METHODS[method].needs
    first, second = _names(steps[0], "feature_names_in_"), _names(estimator, "target_names_in_")
    taken = tuple(name for name in second if name not in data.table.labels)
    data = _seen(data, first, taken if needs else (), int(steps[0].n_features_in_), path.name)
    values = {**values, "method": method, "second": list(second) if needs == "view" else list(data.half())}
    values |= {needs: second[0]} if needs in ("target", "label") and second else {}
    values |= _controls_of(estimator, METHODS[method], scaled=len(steps) > 1)
    choice = read_choice(data, values)
    vars(steps[0]).pop("feature_names_in_", None)  # checked above; arrays have no names
    with collected() as notes:
        found = applied(data, choice, model)
    return data, replace(found, notes=tuple(notes), source=path.name), values


def _controls_of(estimator: BaseEstimator, row: Record, *, scaled: bool) -> dict[str, Any]:
    """Controls that say what a model is."""
    found: dict[str, Any] = {"scale": ["on"] if scaled or getattr(estimator, "scale", False) else []}
    if hasattr(estimator, "kernel_"):
        found["text"] = str(estimator.kernel_)
    ridge = np.max(getattr(estimator, "ridge", 0.0))
    found["ridge"] = round(math.log10(ridge), 1) if ridge > 0 else -4.0
    found["C"] = math.log10(getattr(estimator, "C", 1.0))
    found["rotation"] = getattr(estimator, "rotation", None) or ""
    count = getattr(estimator, "_n_features_out", None) or getattr(estimator, row.size or "size", None)
    found["k"] = int(count or 2)
    return found


def _seen(data: Dataset, first: tuple[str, ...], second: tuple[str, ...], width: int, name: str) -> Dataset:
    """The columns of a table that a model was fitted to."""
    wanted, known = (*first, *second), data.table.columns
    missing = [column for column in wanted if column not in known]
    if missing:
        raise ValueError(f"{name} was fitted to a column {missing[0]!r}, which {data.title} does not have.")
    if not first and width != len(known):
        raise ValueError(f"{name} takes {width:,} columns, {data.title} has {len(known):,}.")
    return data.only(wanted) if first else data.opened


def _names(estimator: BaseEstimator, attribute: str) -> tuple[str, ...]:
    return tuple(map(str, getattr(estimator, attribute, ())))
