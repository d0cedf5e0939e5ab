"""Whether a loaded estimator is one: shapes that belong together, numbers that are numbers, and an answer for a row."""

from __future__ import annotations

import copy
import dataclasses
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from gramian.estimators.base_estimator import as_fitted
from gramian.estimators.kernel_kmeans_streams import SeenMeans
from gramian.estimators.kernel_streams import Seen
from gramian.estimators.random_projection import RandomMap
from gramian.models.codec import state_of
from gramian.models.container import ModelError
from gramian.models.registry import CLASSES, PIPELINE, known_as
from gramian.results import Array

#: Shapes of the fields of a value; equal letters are equal numbers. A field that is None, or a number, is left alone.
SHAPES: dict[str, dict[str, str]] = {
    "adequacy.SamplingAdequacy": {"columns": "d"},
    "estimators.RandomMap": {"weights": "dk"},
    "estimators.SeenMeans": {"origin": "d", "means": "kr", "masses": "k"},
    "estimators.Targets": {"values": "nq"},
    "operators.ColumnSums": {"mean": "d", "squares": "d"},
    "operators.FeatureMap": {"anchors": "nw", "root": "nn"},
    "operators.FeatureMeans": {"anchors": "nw", "coefficients": "nk", "squares": "k", "origin": "w"},
    "operators.MappedMoments": {"traces": "v"},
    "operators.Moments": {"pilot": "d", "scatter": "dd", "offset": "d"},
    "projection.KernelProjection": {"anchors": "nw", "coefficients": "nk", "offset": "k", "mean": "n", "origin": "w"},
    "projection.LinearProjection": {"mean": "d", "weights": "dk", "back": "ke"},
    "solvers.FactorSolution": {"loadings": "dk", "uniquenesses": "d", "at_bound": "d"},
    "solvers.Rotation": {"loadings": "dk", "correlation": "kk", "matrix": "kk"},
    "spaces.ConditionalProjection": {"anchors": "nw", "coefficients": "nk", "trend": "pk", "shift": "p"},
    "spaces.FactorModel": {"mean": "d", "scale": "d"},
    "spaces.Isotropic": {"mean": "d", "directions": "dk", "variances": "k"},
    "spaces.KernelFunction": {"anchors": "nw", "coefficients": "nq", "offsets": "mq"},
    "spaces.LinearFunction": {"weights": "dq", "mean": "d"},
}
SHAPES_OF = {CLASSES[name]: shapes for name, shapes in SHAPES.items()}
#: Attributes that keep training rows, or something that does, and the attribute that says how wide they are.
KEEPERS = {
    "projection_": "n_features_in_",
    "x_projection_": "n_features_in_",
    "y_projection_": "n_features_y_in_",
    "function_": "n_features_in_",
    "means_": "n_features_in_",
    "_anchors": "n_features_in_",
}
#: What is asked about one row.
QUESTIONS = ("transform", "predict", "predict_proba", "decision_function", "score_samples")
#: Rows of training data that a question may see: the answer shall not take more memory than the model.
MOST_ANCHORS = 1000
#: Columns up to which a question is asked of sparse rows, which take no memory themselves, but answers may.
WIDEST = 2**21
#: Filters of warnings belong to the process: two threads that set and reset them in turn would leave them changed.
_FILTERS = threading.Lock()


def check(estimator: Any, answers: Any) -> None:
    """Refuse an estimator whose parts do not fit together, or that has no answer to questions it should answer."""
    for value in _parts(estimator):
        if type(value) in SHAPES_OF:
            _check_shapes(value)
        if known_as(type(value)) == PIPELINE:
            _check_steps(value)
        if isinstance(value, BaseEstimator):
            _check_widths(value)
        _check_counts(value)
    if not hasattr(last := steps_of(estimator)[-1], "summary_"):
        if not hasattr(last, "moments_"):
            raise ModelError(f"{type(last).__name__} is not fitted. Call fit first")
        return  # partial_fit has seen too few rows for an answer
    questions = ask(estimator)
    if not questions:
        return
    if not isinstance(answers, list) or not answers or not set(answers) <= set(QUESTIONS):
        raise ModelError("it does not say which questions the model answers")
    for name in answers:
        if questions[name]:
            raise ModelError(f"{name} fails for one row: {questions[name]}")


def steps_of(estimator: Any) -> list[Any]:
    """Estimators of a pipeline; an estimator itself is one of one step."""
    return [step for _, step in estimator.steps] if known_as(type(estimator)) == PIPELINE else [estimator]


def _check_steps(pipeline: Any) -> None:
    for step in pipeline.steps:
        if not isinstance(step, tuple) or len(step) != 2 or not isinstance(step[0], str) or not is_estimator(step[1]):
            raise ModelError("a pipeline is made of named estimators of gramian")
    if not pipeline.steps or pipeline.memory is not None:  # a cache on disk holds code
        raise ModelError("a pipeline needs steps and can have no memory. Use set_params(memory=None)")


def _check_widths(estimator: Any) -> None:
    """Refuse training rows that are not as wide as new rows will be: compiled loops over columns do not look."""
    for name, width in KEEPERS.items():
        rows, d = kept_rows(estimator, name), getattr(estimator, width, None)
        if rows is not None and (len(rows.shape) != 2 or rows.shape[1] != d):
            raise ModelError(f"{name} keeps rows of shape {rows.shape}, {width} is {d!r}")
    _check_seen(estimator, getattr(estimator, "seen_", None))


def _check_seen(estimator: Any, seen: Any) -> None:
    """Refuse what ``partial_fit`` would go on from if it does not belong to rows of that width."""
    maps = seen.maps if isinstance(seen, Seen) else (seen.features,) if isinstance(seen, SeenMeans) else ()
    widths = [getattr(estimator, name, None) for name in ("n_features_in_", "n_features_y_in_")]
    for features, d in zip(maps, widths, strict=False):
        if features.anchors.shape[1] != d:
            raise ModelError(f"seen_ keeps landmarks of shape {features.anchors.shape}, for rows of width {d!r}")
    wide = sum(features.size for features in maps)
    sizes = [sum(part.sizes) for part in seen.parts] if isinstance(seen, Seen) else []
    sizes += [seen.means.shape[1]] if isinstance(seen, SeenMeans) else []
    if maps and (not sizes or set(sizes) != {wide}):
        raise ModelError(f"seen_ keeps sums that are not those of its {wide} features")


def kept_rows(estimator: Any, name: str) -> Any:
    """Training rows that an attribute keeps; None if it keeps none, or rows of a precomputed kernel."""
    holder = getattr(estimator, name, None)
    kernel = getattr(holder, "kernel", getattr(estimator, "kernel_", None))
    rows = getattr(holder, "anchors", holder)
    return rows if hasattr(rows, "shape") and not getattr(kernel, "given", False) else None


def _check_counts(value: Any) -> None:
    """Refuse numbers by which a few bytes would ask for any amount of memory."""
    if isinstance(value, RandomMap) and sp.issparse(value.weights) and value.size > max(value.weights.nnz, 1000):
        raise ModelError(f"RandomMap.weights has {value.size} columns and next to nothing in them")
    codes = getattr(value, "_codes", None)
    if codes is not None and not (codes.dtype.kind in "iu" and _within(codes, len(value.classes_))):
        raise ModelError("the labels it keeps are not among its classes")


def answered(estimator: Any) -> list[str]:
    """Questions that a fitted estimator answers for one row."""
    return [name for name, failure in ask(estimator).items() if not failure]


def ask(estimator: Any) -> dict[str, str]:
    """Ask about one row; return what failed, an empty text for what did not. Very wide sparse models are not asked."""
    try:
        thin, row = _thin(estimator), _row(steps_of(estimator)[0])
        if sp.issparse(row) and row.shape[1] > WIDEST:
            return {}
    except Exception as error:  # whatever a damaged model raises, it is refused
        return dict.fromkeys(QUESTIONS, one_line(error))
    found = {}
    for name in QUESTIONS:
        try:
            if not hasattr(thin, name):
                found[name] = "there is no such method"
                continue
            with _FILTERS, warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                answer = getattr(thin, name)(row)
            found[name] = _wrong(answer)
        except Exception as error:
            found[name] = one_line(error)
    return found


def _within(codes: Array, count: int) -> bool:
    return bool(codes.min(initial=0) >= 0 and codes.max(initial=0) < count)


def _wrong(answer: Any) -> str:
    values = np.asarray(answer)
    if values.dtype.kind == "O" and values.ndim:
        return ""  # labels of mixed kinds
    if values.ndim not in (1, 2) or values.shape[0] != 1:
        return f"the answer has shape {values.shape}"
    return "" if values.dtype.kind != "f" or np.isfinite(values).all() else "the answer holds NaN or infinity"


def one_line(error: Exception) -> str:
    """Kind and message of an error on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _parts(value: Any, depth: int = 0) -> Iterator[Any]:
    """All objects of the library within a value, itself included."""
    if depth > 40:
        return
    if known_as(type(value)):
        yield value
        value = state_of(value)
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from _parts(part, depth + 1)


def _check_shapes(value: Any) -> None:
    sides: dict[str, int] = {}
    for field, letters in SHAPES_OF[type(value)].items():
        array = getattr(value, field)
        if not isinstance(array, np.ndarray) and not sp.issparse(array):
            continue
        numbers = array.data if sp.issparse(array) else array
        if numbers.dtype.kind not in "fiub" or (numbers.dtype.kind == "f" and not np.isfinite(numbers).all()):
            raise ModelError(f"{type(value).__name__}.{field} holds what is not a finite number")
        expected = tuple(sides.setdefault(letter, side) for letter, side in zip(letters, array.shape, strict=False))
        if len(array.shape) != len(letters) or expected != array.shape:
            raise ModelError(f"{type(value).__name__}.{field} has shape {array.shape}, which does not fit the others")


def _row(estimator: Any) -> Any:
    """A row to ask about: a training row or their mean if they were kept, else zeros."""
    d = estimator.n_features_in_
    if type(d) is not int or d < 1:
        raise ModelError(f"n_features_in_={d!r} is no number of columns")
    for name, width in KEEPERS.items():
        rows = kept_rows(estimator, name)
        if width == "n_features_in_" and rows is not None and rows.shape[0]:
            return rows[:1]
    for name in ("mean_", "x_mean_"):
        mean = getattr(estimator, name, None)
        if isinstance(mean, np.ndarray) and mean.shape == (d,):
            return mean[None]
    wide = getattr(getattr(estimator, "projection_", None), "weights", np.empty(0))
    if d > WIDEST and wide.shape[0] != d:
        raise ModelError(f"n_features_in_ is {d}, more than anything in it")
    return np.zeros((1, d))


def _thin(estimator: Any) -> Any:
    """A copy that keeps the first training rows only, so that a question costs little."""
    thin = copy.copy(estimator)
    vars(thin).pop("_sklearn_output_config", None)  # data frames may not be known here
    if known_as(type(estimator)) == PIPELINE:
        thin.steps = [(name, _thin(step)) for name, step in estimator.steps]
        return thin
    for name, value in vars(estimator).items():
        rows = getattr(value, "anchors", None)
        if type(value) in SHAPES_OF and rows is not None and rows.shape[0] > MOST_ANCHORS and rows.shape[1]:
            part: Any = slice(0, MOST_ANCHORS)
            cut = {"anchors": rows[part], "coefficients": value.coefficients[part]}
            setattr(thin, name, dataclasses.replace(value, **cut))
    rows = getattr(estimator, "_anchors", None)  # of nearest neighbours, of which there must be enough
    if (
        rows is not None
        and rows.shape[1]
        and rows.shape[0] > (most := max(MOST_ANCHORS, as_fitted(estimator, "n_neighbors")))
    ):
        vars(thin).update(_anchors=rows[:most], _diagonal=estimator._diagonal[:most])
        for made in ("_tree", "_mapped"):
            vars(thin).pop(made, None)
    return thin


def is_estimator(value: Any) -> bool:
    """Whether a value is an estimator that a file may hold."""
    return isinstance(value, BaseEstimator) and known_as(type(value)) is not None
