"""Nested validation: what is chosen inside each outer fold's training rows is judged on the rows left out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from gramian.estimators.calibration_metrics import merit
from gramian.estimators.pipelines import steps_of
from gramian.estimators.warnings import GramianWarning
from gramian.kernels.pairwise import median_width
from gramian.results import Array, Matrix

#: Folds inside the training rows, and rows among which parameters are tuned, at the most.
INNER_FOLDS, _TUNED_MAX_ROWS = 5, 1000
#: Widths of Gaussian kernels, in medians of the distances of rows; fewer where a candidate takes a fit for each fold.
RIDGE_WIDTHS, OTHER_WIDTHS = (0.25, 0.5, 1, 2, 4), (0.5, 1, 2)
PENALTIES = (1.0, 10.0, 100.0)
NEIGHBOURS_TRIED = (1, 3, 5, 9, 15, 25)
Choice = TypeVar("Choice")
Verdict = TypeVar("Verdict")
#: Training rows, and rows left out.
Fold = tuple[Array, Array]


def splits(model: BaseEstimator, y: Array | None, n: int, cv: int) -> list[Fold]:
    """Folds of every k-th row; of a classifier within each class."""
    order = np.argsort(y, kind="stable") if y is not None and is_classifier(model) else np.arange(n)
    return [(np.setdiff1d(np.arange(n), order[at::cv]), order[at::cv]) for at in range(cv)]


def nested_folds(
    folds: Sequence[Fold], choose: Callable[[Array | slice], Choice], judge: Callable[[Choice, Array, Array], Verdict]
) -> tuple[list[Choice], list[Verdict], Choice]:
    """Choose on the training rows of each fold and judge on its other rows; then choose on all rows."""
    choices, verdicts = [], []
    for train, test in folds:
        choices.append(choose(train))
        verdicts.append(judge(choices[-1], train, test))
    return choices, verdicts, choose(slice(None))


class Judged(NamedTuple):
    """Parameters with their figure inside some rows, the larger the better, and the ridges tried with them."""

    parameters: dict[str, Any]
    figure: float
    ridges: Sequence[float] = ()


def judged_inside(
    model: BaseEstimator,
    X: Matrix,
    y: Any,
    parameters: dict[str, Any],
    cv: int,
    judge: Callable[[Any, Matrix, Any], float],
    ridges: list[float] | None = None,
) -> Judged:
    """Judge parameters by leave-one-out over a path of ridges, in closed form, or else by the mean over folds."""
    each = clone(model).set_params(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # a candidate that is hard to fit speaks by its figure
        if hasattr(each, "path"):
            path = each.path(X, y, ridges)
            return Judged({**parameters, "ridge": path.best}, float(path.r2[path.best_index]), path.ridges)
        folds = splits(model, y, X.shape[0], cv)
        fits = ((clone(each).fit(X[train], part(y, train)), test) for train, test in folds)
        return Judged(parameters, float(np.mean([judge(fit, X[test], part(y, test)) for fit, test in fits])))


def part(y: Array | None, rows: Array | slice) -> Any:
    """Targets of some rows, if there are any."""
    return None if y is None else y[rows]


@dataclass(frozen=True)
class Found:
    """Parameters tuned on some rows, what each was chosen from, how, and a model that has them and is not fitted."""

    final: dict[str, Any]
    grids: dict[str, str]
    how: str = ""
    model: Any = None


@dataclass(frozen=True, kw_only=True)
class Tuned(Found):
    """What was tuned on all rows, what in each outer fold, and the predictions for rows that had no part in it.

    ``predictions`` of each row come from the procedure, tuning included, on the rows of the other outer folds.
    """

    predictions: Array
    chosen: dict[str, list[Any]]

    def __str__(self) -> str:
        """One line: what was chosen over the folds, from what, and how."""
        parts = [f"{name} {_range(self.chosen[name])} (of {grid})" for name, grid in self.grids.items()]
        return f"{', '.join(parts)}; {self.how}" if parts else "nothing"


def nested(model: BaseEstimator, X: Array, y: Array, folds: int, *, fixed: Iterable[str] = ()) -> Tuned:
    """Judge a regressor or classifier, tuning included, on rows left out in outer folds.

    Every number that a method has is tuned on the training rows of each outer fold alone: components of regressions
    on components and neighbours by inner folds, the ridge and kernel of kernel ridge by leave-one-out in closed form,
    kernel and penalty C of the support vector machine and the kernel of prototypes by inner folds. The parameters of
    least error are taken.

    ``model`` may be a pipeline; parameters named in ``fixed`` are not tuned. Why nested: see the reference of
    :func:`gramian.selection.select_kernel`.
    """
    fixed = set(fixed)
    kernels = _kernels(model, X) if hasattr(steps_of(model)[-1], "kernel") and "kernel" not in fixed else []
    outer = splits(model, y, len(X), folds)
    choices, guesses, final = nested_folds(
        outer,
        lambda rows: _tuned(model, X[rows], y[rows], fixed, kernels),
        lambda found, train, test: np.asarray(found.model.fit(X[train], y[train]).predict(X[test])),
    )
    kind = np.result_type(*guesses, y) if is_classifier(model) else float
    predictions = np.empty((len(X), *guesses[0].shape[1:]), dtype=kind)
    for (_, test), values in zip(outer, guesses, strict=True):
        predictions[test] = values
    chosen = {name: [each.final[name] for each in choices] for name in choices[0].final}
    return Tuned(**vars(final), predictions=predictions, chosen=chosen)


def error_of(model: BaseEstimator, measured: Array, guesses: Array) -> float:
    """Share of wrong classes, or the mean over targets of the root of the mean squared error."""
    if is_classifier(model):
        return float(np.mean(measured != guesses))
    columns = zip(measured.reshape(len(measured), -1).T, guesses.reshape(len(measured), -1).T, strict=True)
    return float(np.mean([merit(a, b, "left out").rmse for a, b in columns]))


def _before(model: BaseEstimator, X: Array) -> Any:
    """Rows as the last step sees them; of many, every k-th."""
    rows = X[:: -(-len(X) // _TUNED_MAX_ROWS)]
    for step in steps_of(model)[:-1]:
        rows = clone(step).fit_transform(rows)
    return rows


def _kernels(model: BaseEstimator, X: Array) -> list[str]:
    """Kernels to choose from, the same in all folds: widths come from the rows, never from y."""
    median = median_width(_before(model, X))
    steps = RIDGE_WIDTHS if hasattr(steps_of(model)[-1], "path") else OTHER_WIDTHS
    return ["linear", *(f"rbf(sigma={median * step:.3g})" for step in steps)]


def _tuned(model: BaseEstimator, X: Array, y: Array, fixed: set[str], kernels: list[str]) -> Found:
    """Tune the last step of a model on some rows."""
    model = clone(model)
    rows, target, last = _before(model, X), y[:: -(-len(X) // _TUNED_MAX_ROWS)], steps_of(model)[-1]
    search = _components if hasattr(last, "cross_validate") else _grid
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        found = search(last, rows, target, fixed, kernels)
    last.set_params(**found.final)
    return replace(found, model=model)


def _components(model: Any, X: Array, y: Array, fixed: set[str], kernels: list[str]) -> Found:
    """The number of components of least error over inner folds; all targets count alike."""
    if "n_components" in fixed:
        return Found({}, {})
    path = clone(model).set_params(n_components="auto").cross_validate(X, y, cv=min(INNER_FOLDS, len(X)))
    spread = np.var(y.reshape(len(y), -1), axis=0)
    relative = path.rmsecv[1:] ** 2 / np.where(spread > 0, spread, 1.0)
    best, most = 1 + int(np.argmin(np.mean(relative, axis=1))), len(path.rmsecv) - 1
    return Found({"n_components": best}, {"n_components": f"1 to {most}"}, f"{path.folds} inner folds")


def _grid(model: Any, X: Array, y: Array, fixed: set[str], kernels: list[str]) -> Found:
    """The best of all combinations of kernel and penalty, with its ridge, or of the numbers of neighbours."""
    counts = [k for k in NEIGHBOURS_TRIED if k <= len(X) - -(-len(X) // INNER_FOLDS)] or [1]
    # Neighbours keep their kernel: their order under a Gaussian one does not depend on its width.
    tried: dict[str, list[Any]] = (
        {"n_neighbors": counts} if hasattr(model, "n_neighbors") else {"kernel": kernels, "C": list(PENALTIES)}
    )
    values = {name: v for name, v in tried.items() if hasattr(model, name) and name not in fixed}
    ridged = hasattr(model, "path")
    if ridged:
        model.set_params(fit_intercept=True)
        values = values or {"kernel": [model.kernel]}
    if not values:
        return Found({}, {})

    def judge(fitted: Any, rows: Matrix, measured: Any) -> float:
        return -(error_of(model, measured, np.asarray(fitted.predict(rows))) ** (1 if is_classifier(model) else 2))

    cv, ridges = min(INNER_FOLDS, len(X)), [model.ridge] if "ridge" in fixed else None
    grid = [dict(zip(values, each, strict=True)) for each in product(*values.values())]
    found = [judged_inside(model, X, y, each, cv, judge, ridges) for each in grid]
    best = max(found, key=lambda each: each.figure).parameters
    grids = {
        name: ", ".join(str(each) if name == "kernel" else f"{each:g}" for each in v) for name, v in values.items()
    }
    if len(kernels := values.get("kernel", [])) > 2:  # from the narrowest to the widest
        grids["kernel"] = f"linear, {kernels[1]} to {kernels[-1]}"
    if ridged:
        every = np.concatenate([each.ridges for each in found])
        best, grids = {**best, "fit_intercept": True}, {**grids, "ridge": f"{every.min():.3g} to {every.max():.3g}"}
    best, grids = ({name: value for name, value in each.items() if name not in fixed} for each in (best, grids))
    return Found(best, grids, "leave-one-out" if ridged else f"{INNER_FOLDS} inner folds")


def _range(values: list[Any]) -> str:
    """What was chosen over the folds."""
    if all(isinstance(value, (int, float)) for value in values):
        low, high = min(values), max(values)
        return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    (first, times), *others = Counter(map(str, values)).most_common()
    return f"{first} in {times} of {len(values)} folds" if others else first
