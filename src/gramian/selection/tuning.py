"""Nested validation: parameters are tuned inside each outer fold's training rows, and judged on the rows left out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier

from gramian.estimators.calibration_metrics import merit
from gramian.estimators.component_regression import ComponentRegressor
from gramian.estimators.warnings import GramianWarning
from gramian.kernels.pairwise import median_width
from gramian.registry import (
    KernelKNNClassifier,
    KernelKNNRegressor,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelSVC,
)
from gramian.results import Array
from gramian.selection.kernels import folds_of

#: Folds inside the training rows, and rows among which parameters are tuned, at the most.
INNER_FOLDS, _TUNED_MAX_ROWS = 5, 1000
#: Widths of Gaussian kernels, in medians of the distances of rows; fewer where a candidate takes a fit for each fold.
RIDGE_WIDTHS, OTHER_WIDTHS = (0.25, 0.5, 1, 2, 4), (0.5, 1, 2)
PENALTIES = (1.0, 10.0, 100.0)
NEIGHBOURS = (1, 3, 5, 9, 15, 25)


@dataclass(frozen=True)
class Tuned:
    """What was tuned, and the predictions for rows that had no part in it.

    ``predictions`` of each row come from the procedure, tuning included, on the rows of the other outer folds;
    ``model`` is tuned on all rows and not fitted; ``grids`` says what each parameter was chosen from, ``chosen`` what
    in each outer fold, ``final`` what on all rows, ``how`` how candidates were compared.
    """

    predictions: Array
    model: BaseEstimator
    grids: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, list[Any]] = field(default_factory=dict)
    final: dict[str, Any] = field(default_factory=dict)
    how: str = ""

    def __str__(self) -> str:
        """One line: what was chosen over the folds, from what, and how."""
        if not self.grids:
            return "nothing"
        parts = [f"{name} {_range(self.chosen[name])} (of {grid})" for name, grid in self.grids.items()]
        return f"{', '.join(parts)}; {self.how}"


def nested(model: BaseEstimator, X: Array, y: Array, folds: int, *, fixed: Iterable[str] = ()) -> Tuned:
    """Judge a regressor or classifier, tuning included, on rows left out in outer folds.

    Every number that a method has is tuned on the training rows of each outer fold alone: components of regressions
    on components and neighbours by inner folds, the ridge and kernel of kernel ridge by leave-one-out in closed form,
    kernel and penalty C of the support vector machine and the kernel of prototypes by inner folds. The parameters of
    least error are taken.

    Parameters
    ----------
    model : regressor or classifier, or a pipeline that ends in one
    X : (n, d) array
    y : (n,) or (n, q) array
        Targets or labels.
    folds : int
        Outer folds: every k-th row, of labelled rows within each class.
    fixed : names of parameters
        Those that are not tuned.

    Returns
    -------
    Tuned

    References
    ----------
    Cawley, Talbot, On over-fitting in model selection and subsequent selection bias in performance evaluation, Journal
    of Machine Learning Research 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import KernelKNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> found = nested(KernelKNNClassifier(), X, y, 5)
    >>> found.grids, found.predictions.shape
    ({'n_neighbors': '1, 3, 5, 9, 15, 25'}, (150,))
    """
    fixed, labels = set(fixed), is_classifier(model)
    predictions: Array | None = None
    chosen: dict[str, list[Any]] = {}
    kernels = _kernels(model, X) if hasattr(_last(model), "kernel") and "kernel" not in fixed else []
    for test in folds_of(y if labels else None, len(X), folds):
        train = np.setdiff1d(np.arange(len(X)), test)
        tuned, found, _, _ = _tuned(model, X[train], y[train], fixed, kernels)
        for name, value in found.items():
            chosen.setdefault(name, []).append(value)
        guesses = np.asarray(tuned.fit(X[train], y[train]).predict(X[test]))
        if predictions is None:
            predictions = np.empty((len(X), *guesses.shape[1:]), dtype=np.result_type(guesses, y) if labels else float)
        predictions[test] = guesses
    tuned, final, grids, how = _tuned(model, X, y, fixed, kernels)
    assert predictions is not None
    return Tuned(predictions, tuned, grids, chosen, final, how)


def error_of(model: BaseEstimator, measured: Array, guesses: Array) -> float:
    """Share of wrong classes, or the mean over targets of the root of the mean squared error."""
    if is_classifier(model):
        return float(np.mean(measured != guesses))
    columns = zip(measured.reshape(len(measured), -1).T, guesses.reshape(len(measured), -1).T, strict=True)
    return float(np.mean([merit(a, b, "left out").rmse for a, b in columns]))


def _last(model: BaseEstimator) -> Any:
    return model[-1] if hasattr(model, "steps") else model


def _before(model: BaseEstimator, X: Array) -> Any:
    """Rows as the last step sees them; of many, every k-th."""
    rows = X[:: -(-len(X) // _TUNED_MAX_ROWS)]
    for _, step in model.steps[:-1] if hasattr(model, "steps") else ():
        rows = clone(step).fit_transform(rows)
    return rows


def _kernels(model: BaseEstimator, X: Array) -> list[str]:
    """Kernels to choose from, the same in all folds: widths come from the rows, never from y."""
    median = median_width(_before(model, X))
    steps = RIDGE_WIDTHS if isinstance(_last(model), KernelRidge) else OTHER_WIDTHS
    return ["linear", *(f"rbf(sigma={median * step:.3g})" for step in steps)]


def _tuned(
    model: BaseEstimator, X: Array, y: Array, fixed: set[str], kernels: list[str]
) -> tuple[Any, dict[str, Any], dict[str, str], str]:
    """The model with its parameters set for some rows; what was chosen, from what, and how."""
    model = clone(model)
    rows, target, last = _before(model, X), y[:: -(-len(X) // _TUNED_MAX_ROWS)], _last(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # a candidate that is hard to fit speaks by its error
        found, grids, how = _search(last, rows, target, fixed, kernels)
    last.set_params(**found)
    return model, found, grids, how


def _search(
    model: BaseEstimator, X: Array, y: Array, fixed: set[str], kernels: list[str]
) -> tuple[dict[str, Any], dict[str, str], str]:
    if isinstance(model, ComponentRegressor):
        if "n_components" in fixed:
            return {}, {}, ""
        path = clone(model).set_params(n_components="auto").cross_validate(X, y, cv=min(INNER_FOLDS, len(X)))
        most = len(path.rmsecv) - 1
        best = 1 + int(np.argmin(np.mean(path.rmsecv[1:] ** 2 / _spread(y), axis=1)))
        return {"n_components": best}, {"n_components": f"1 to {most}"}, f"{path.folds} inner folds"
    if isinstance(model, KernelRidge):
        return _ridges(model, X, y, kernels or [model.kernel], fixed)
    grids: dict[str, str] = {}
    values: dict[str, list[Any]] = {}
    if isinstance(model, (KernelSVC, KernelPrototypeClassifier)) and "kernel" not in fixed:
        grids["kernel"], values["kernel"] = _told(kernels), list(kernels)
    if isinstance(model, KernelSVC) and "C" not in fixed:
        grids["C"], values["C"] = ", ".join(f"{C:g}" for C in PENALTIES), list(PENALTIES)
    if isinstance(model, (KernelKNNClassifier, KernelKNNRegressor)) and "n_neighbors" not in fixed:
        counts = [k for k in NEIGHBOURS if k <= len(X) - -(-len(X) // INNER_FOLDS)] or [1]
        grids["n_neighbors"], values["n_neighbors"] = ", ".join(map(str, counts)), counts
    if not values:
        return {}, {}, ""
    return _by_folds(model, X, y, values), grids, f"{INNER_FOLDS} inner folds"


def _ridges(
    model: KernelRidge, X: Array, y: Array, kernels: list[Any], fixed: set[str]
) -> tuple[dict[str, Any], dict[str, str], str]:
    """Kernel and ridge of least leave-one-out error, all ridges of a kernel from one decomposition."""
    best: tuple[float, dict[str, Any]] = (np.inf, {})
    low, high = np.inf, 0.0
    for kernel in kernels:
        probe = clone(model).set_params(kernel=kernel, fit_intercept=True)
        path = probe.path(X, y, ridges=[model.ridge]) if "ridge" in fixed else probe.path(X, y)
        low, high = min(low, float(path.ridges.min())), max(high, float(path.ridges.max()))
        error = float(path.errors[path.best_index])
        if error < best[0]:
            best = error, {"kernel": kernel, "ridge": path.best}
    found = {name: value for name, value in best[1].items() if name not in fixed} | {"fit_intercept": True}
    grids = {"kernel": _told(kernels), "ridge": f"{low:.0e} to {high:.0e}"}
    return found, {name: grid for name, grid in grids.items() if name not in fixed}, "leave-one-out"


def _by_folds(model: BaseEstimator, X: Array, y: Array, values: dict[str, list[Any]]) -> dict[str, Any]:
    folds = list(_splits(y if is_classifier(model) else None, len(X)))
    errors = []
    grid = [dict(zip(values, each, strict=True)) for each in product(*values.values())]
    for parameters in grid:
        each = [
            error_of(
                model,
                y[test],
                np.asarray(clone(model).set_params(**parameters).fit(X[train], y[train]).predict(X[test])),
            )
            for train, test in folds
        ]
        errors.append(float(np.mean(np.square(each) if not is_classifier(model) else each)))
    return grid[int(np.argmin(errors))]


def _splits(labels: Array | None, n: int) -> Iterator[tuple[Array, Array]]:
    for test in folds_of(labels, n, min(INNER_FOLDS, n)):
        yield np.setdiff1d(np.arange(n), test), test


def _told(kernels: list[Any]) -> str:
    """Kernels for a sentence, from the narrowest to the widest."""
    return f"linear, {kernels[1]} to {kernels[-1]}" if len(kernels) > 2 else ", ".join(map(str, kernels))


def _spread(y: Array) -> Array:
    """Variances of the targets, so that all of them count alike."""
    spread = np.atleast_1d(np.var(y.reshape(len(y), -1), axis=0))
    return np.where(spread > 0, spread, 1.0)


def _range(values: list[Any]) -> str:
    """What was chosen over the folds."""
    if all(isinstance(value, (int, float)) for value in values):
        low, high = min(values), max(values)
        return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"
    (first, times), *others = Counter(map(str, values)).most_common()
    return f"{first} in {times} of {len(values)} folds" if others else first
