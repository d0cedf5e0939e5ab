"""The work behind ``gramian score``: how well a model does on the rows of a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import confusion_matrix

from gramian.cli import columns
from gramian.cli.bar import Bar
from gramian.cli.errors import UsageError
from gramian.cli.inputs import labels_of
from gramian.cli.loaded import Loaded, load_model, pick, read_rows
from gramian.cli.request import first_step
from gramian.config import config
from gramian.estimators.calibration_metrics import merit
from gramian.estimators.fitted_rows import role
from gramian.results import Array
from gramian.tables import Table, match_rows, read_table

#: Targets shown; JSON has all of them.
SHOWN = 6


@dataclass(frozen=True)
class ScoreRequest:
    """Which model, which table, and where the truth is."""

    model: str
    table: str
    y_table: str | None = None
    targets: list[str] | None = None
    dialect: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figures:
    """Figures of a model on a table: lines for people, facts for machines."""

    loaded: Loaded
    table: Table
    lines: list[tuple[str, str]]
    facts: dict[str, Any]

    @property
    def n_rows(self) -> int:
        """Number of rows of the table."""
        return len(self.table.values)


def score(request: ScoreRequest, *, quiet: bool = False) -> Figures:
    """Load the model, read the table, and compare what the model says with what is there."""
    with Bar(quiet=quiet) as bar, config(progress=bar):
        with bar.step("loading the model"):
            loaded = load_model(request.model)
        names = tuple(request.targets or loaded.targets)
        with bar.step("reading"):
            table, second = _read(request, loaded, names if is_classifier(loaded.estimator) else ())
        X = pick(table, loaded.columns, first_step(loaded.model).n_features_in_, loaded)
        with bar.step("scoring"):
            whose = role(loaded.model, X)
            lines, facts = _figures(loaded, X, second, names, whose)
    said = "those of the fit: expect larger errors of new ones" if whose == "fit" else "new ones, not those of the fit"
    return Figures(loaded, table, [("rows", said), *lines], {"rows": whose, **facts})


def _read(request: ScoreRequest, loaded: Loaded, labels: tuple[str, ...]) -> tuple[Table, Table]:
    """Rows, and the truth about them, from the same table or from another."""
    if request.y_table is None:
        table = read_rows(request.table, loaded, labels=labels, **request.dialect)
        return table, table
    table = read_rows(request.table, loaded, **request.dialect)
    truth = read_table(request.y_table, () if labels else None, labels=labels, **request.dialect)
    return match_rows(table, truth)


def _figures(
    loaded: Loaded, X: Array, second: Table, names: tuple[str, ...], whose: str
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    model, estimator = loaded.model, loaded.estimator
    if is_classifier(estimator):
        return _accuracy(loaded, X, labels_of(second, _one(names, loaded)), whose)
    if columns.two_views(model):
        return _pairs(loaded, X, pick(second, names, len(names), loaded, told=False), names, whose)
    if hasattr(model, "predict") and not columns.clusters(model):
        if not names:
            raise UsageError(f"{loaded.path} does not know the name of its target: --target NAME.")
        return _merits(model.predict(X), pick(second, names, len(names), loaded, told=False), names, whose)
    if columns.clusters(model):
        inertia = -float(model.score(X))
        return [("inertia", f"{inertia:.6g}")], {"inertia": inertia}
    if hasattr(estimator, "score_samples"):
        mean = float(model.score(X))
        return [("log-likelihood", f"{mean:.6g} for a row, {mean * len(X):.6g} in all")], {
            "log_likelihood_per_row": mean
        }
    if hasattr(estimator, "reconstruction_error"):
        error = float(model.reconstruction_error(X))
        units = ", in standard deviations of the columns" if estimator.scale else ""
        return [("reconstruction", f"mean squared distance {error:.6g}{units}")], {"reconstruction_error": error}
    raise UsageError(
        f"{loaded.path} holds {loaded.name}, which gives no figure of its own. Compare its scores instead."
    )


def _merits(
    guesses: Array, measured: Array, names: tuple[str, ...], whose: str
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    found = [merit(a, b, whose) for a, b in zip(measured.T, guesses.reshape(len(guesses), -1).T, strict=True)]
    facts = {"targets": {name: asdict(each) for name, each in zip(names, found, strict=True)}}
    lines = [(name, str(each)) for name, each in zip(names, found, strict=True)]
    more = [("", f"and {len(lines) - SHOWN} more targets (--json lists them)")] if len(lines) > SHOWN else []
    return [*lines[:SHOWN], *more], facts


def _accuracy(loaded: Loaded, X: Array, truth: Array, whose: str) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    guesses = np.asarray(loaded.model.predict(X)).astype(str)
    classes = sorted({*truth, *guesses})
    counts = confusion_matrix(truth, guesses, labels=classes)
    share = float(np.mean(guesses == truth))
    right = int(np.trace(counts))
    lines = [
        ("accuracy", f"{share:.4f}: {right:,} of {len(truth):,} {'rows of the fit' if whose == 'fit' else 'new rows'}")
    ]
    for at, name in enumerate(classes):
        wrong = [f"{counts[at, j]:,} taken for {classes[j]}" for j in np.flatnonzero(counts[at]) if j != at]
        lines.append((str(name), ", ".join([f"{counts[at, at]:,} of {counts[at].sum():,} right", *wrong])))
    return lines, {"accuracy": share, "classes": [str(name) for name in classes], "confusion": counts.tolist()}


def _pairs(
    loaded: Loaded, X: Array, Y: Array, names: tuple[str, ...], whose: str
) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    first, second = loaded.model.transform(X, Y)
    found = [float(np.corrcoef(a, b)[0, 1]) for a, b in zip(first.T, second.T, strict=True)]
    lines, facts = [("correlations", ", ".join(f"{each:.4f}" for each in found))], {"correlations": found}
    if hasattr(loaded.model, "predict"):
        more, merits = _merits(loaded.model.predict(X), Y, names, whose)
        return lines + more, {**facts, **merits}
    return lines, facts


def _one(names: tuple[str, ...], loaded: Loaded) -> str:
    if len(names) != 1:
        raise UsageError(f"{loaded.path} needs the column of labels: --target NAME.")
    return names[0]
