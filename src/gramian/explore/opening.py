"""Models to files in the working folder and back: arrays and a header, nothing that is executed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from gramian.estimators import Standardizer
from gramian.explore.choice import METHODS, Choice
from gramian.explore.datasets import Dataset
from gramian.explore.explorer import read_choice
from gramian.explore.fitting import Fit, spectrum_of
from gramian.explore.notes import heard
from gramian.models import load, save


def save_model(data: Dataset, choice: Choice, path: Path) -> str:
    """Fit what the code on the page fits, and save it; return a sentence."""
    model = choice.model(data)
    with heard():
        if choice.pair:
            x, y = data.views(choice.second)
            model.fit(x.values, y.values)
            model.target_names_in_ = np.array(y.columns, dtype=object)
            columns = x.columns
        else:
            model.fit(data.X)
            columns = data.table.columns
    steps = _steps(model)
    steps[0].feature_names_in_ = np.array(columns, dtype=object)
    save(model, path)
    return f"{path.name} is saved: {type(steps[-1]).__name__}, {path.stat().st_size / 1000:,.0f} kB."


def open_model(data: Dataset, path: Path, values: dict[str, Any]) -> tuple[Dataset, Fit, dict[str, Any]]:
    """Load a model and let it see a table; return the columns it sees, what it makes of them, and controls."""
    steps = _steps(load(path))
    estimator = steps[-1]
    method = next((key for key, row in METHODS.items() if type(estimator) is row.estimator), None)
    if method is None or (len(steps) > 1 and not isinstance(steps[0], Standardizer)):
        raise ValueError(f"{path.name} holds {type(estimator).__name__}, which is not among the methods of this page.")
    first = _names(steps[0], "feature_names_in_")
    second = _names(estimator, "target_names_in_") if METHODS[method].needs == "view" else ()
    data = _seen(data, first, second, int(steps[0].n_features_in_), path.name)
    values = {**values, "method": method, "second": list(second) or list(data.half())}
    values |= _controls(estimator, scaled=len(steps) > 1)
    choice = read_choice(data, values)
    return data, _applied(data, choice, steps, path.name), values


def _controls(estimator: Any, *, scaled: bool) -> dict[str, Any]:
    """Controls that say what a model is."""
    found: dict[str, Any] = {"scale": ["on"] if scaled or getattr(estimator, "scale", False) else []}
    if hasattr(estimator, "kernel_"):
        found["text"] = str(estimator.kernel_)
    ridge = np.max(getattr(estimator, "ridge", 0.0))
    found["ridge"] = round(math.log10(ridge), 1) if ridge > 0 else -4.0
    found["k"] = int(getattr(estimator, "_n_features_out", 2))
    return found


def _seen(data: Dataset, first: tuple[str, ...], second: tuple[str, ...], width: int, name: str) -> Dataset:
    """The columns of a table that a model was fitted to."""
    wanted, known = (*first, *second), data.table.columns
    missing = [column for column in wanted if column not in known]
    if missing:
        raise ValueError(f"{name} was fitted to a column {missing[0]!r}, which {data.title} has not.")
    if not first and width != len(known):
        raise ValueError(f"{name} takes {width:,} columns, {data.title} has {len(known):,}.")
    return data if not first or wanted == known else data.only(wanted)


def _applied(data: Dataset, choice: Choice, steps: list[Any], name: str) -> Fit:
    estimator = steps[-1]
    vars(steps[0]).pop("feature_names_in_", None)  # checked above; arrays have no names
    with heard() as notes:
        if choice.pair:
            x, y = (view.values for view in data.views(choice.second))
            first, second = (np.asarray(part, dtype=np.float32) for part in estimator.transform(x, y))
        else:
            rows = steps[0].transform(data.X) if len(steps) > 1 else data.X
            first, second = np.asarray(estimator.transform(rows), dtype=np.float32), None
        spectrum, measure = spectrum_of(data, choice, estimator)
    scaler = steps[0] if len(steps) > 1 else None
    return Fit(choice, estimator, first, second, spectrum, measure, 0.0, tuple(notes), name, scaler)


def _steps(model: Any) -> list[Any]:
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def _names(estimator: Any, attribute: str) -> tuple[str, ...]:
    return tuple(map(str, getattr(estimator, attribute, ())))
