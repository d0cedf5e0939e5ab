"""The classes that a model file may name, and whether what it holds is one of them.

Names in a file are looked up here and nowhere else; nothing is imported by name. What was read is an estimator if its
fields have their declared types, shapes belong together, numbers are numbers, and one row gets an answer.
"""

from __future__ import annotations

import copy
import dataclasses
import sys
import threading
import types
import warnings
from collections.abc import Iterator
from functools import cache, cached_property
from inspect import getattr_static
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from gramian import kernels
from gramian.construction import steps_of
from gramian.estimators.base import ComputesOnRead, as_fitted
from gramian.estimators.kernel_kmeans_stream import SeenMeans
from gramian.estimators.kernel_rows import Seen
from gramian.estimators.random_projection import RandomMap
from gramian.registry import RECORDS


class ModelError(ValueError):
    """A file that does not hold a model of this library, or a model that cannot be put in a file; one line says why.

    Examples
    --------
    >>> import os, tempfile
    >>> from gramian.models import ModelError, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "torn.safetensors")
    ...     with open(path, "wb") as file:
    ...         _ = file.write(b"not a model")
    ...     try:
    ...         load(path)
    ...     except ModelError as error:
    ...         print("refused")
    refused
    """


#: Shapes of fields of values that fitted estimators hold, by the name of the class in a file: equal letters are equal
#: numbers. A field that is None, or a number, is not checked.
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
#: All values that fitted estimators and their parameters hold. A new one joins here.
VALUES = (
    *SHAPES,
    *("estimators.Distortion", "estimators.Filler", "estimators.Landmarks", "estimators.RandomFeatures"),
    *("estimators.RegressionPath", "estimators.Seen", "kernels.Evaluated", "kernels.Waves"),
    *("results.FitSummary", "results.SolverTrace", "solvers.Cholesky", "solvers.ConjugateGradients", "solvers.Dense"),
    *("solvers.Krylov", "solvers.MinimalResiduals", "solvers.Power", "solvers.Randomized"),
)
#: The one class of others: what a method that needs scaled columns is put in.
PIPELINE = "sklearn.Pipeline"


def _declared() -> dict[str, type]:
    """Classes of values by their names in files, which they keep when they move to another module.

    All of them are loaded with the estimators that hold them. Of classes with the same name that in the part of the
    library that the name in the file says is meant.
    """
    loaded = [(name, module) for name, module in sys.modules.items() if name.startswith("gramian.")]
    known = {
        c for name, module in loaded for c in vars(module).values() if isinstance(c, type) and c.__module__ == name
    }
    found = {}
    for name in VALUES:
        part, _, title = name.partition(".")
        alike = [cls for cls in known if cls.__qualname__ == title]
        meant = [cls for cls in alike if cls.__module__.split(".")[1] == part] or alike
        if len(meant) != 1:
            raise TypeError(f"{name} should be one class, and is {meant}.")
        found[name] = meant[0]
    return found


KERNELS = [cls for cls in vars(kernels).values() if isinstance(cls, type) and issubclass(cls, kernels.Kernel)]
#: All estimators of the registry, all public kernels but functions, and the values above.
CLASSES: dict[str, type] = {
    **{f"estimators.{record.name}": record.estimator for record in RECORDS},
    **{
        f"kernels.{cls.__qualname__}": cls
        for cls in KERNELS
        if cls not in (kernels.Function, kernels.Kernel, kernels.MappedKernel)
    },
    **_declared(),
}
FILE_NAMES = {cls: name for name, cls in CLASSES.items()}
SHAPES_OF = {CLASSES[name]: shapes for name, shapes in SHAPES.items()}


def class_of(name: object) -> type | None:
    """Class that a name in a file stands for."""
    if name == PIPELINE:
        from sklearn.pipeline import Pipeline  # most models do without, and need not wait for it

        return Pipeline
    return CLASSES.get(name) if isinstance(name, str) else None


def known_as(cls: type) -> str | None:
    """Name in a file of a class, if it has one."""
    if cls.__module__ == "sklearn.pipeline":
        return PIPELINE if class_of(PIPELINE) is cls else None
    return FILE_NAMES.get(cls)


def fields_of(cls: type) -> dict[str, bool] | None:
    """Fields of a dataclass, and whether each must be given; None for other classes."""
    if not dataclasses.is_dataclass(cls):
        return None
    missing = dataclasses.MISSING
    return {f.name: f.default is missing and f.default_factory is missing for f in dataclasses.fields(cls)}


#: Declared types of the fields of a class.
hints_of = cache(get_type_hints)


def wrong_field(value: object) -> str | None:
    """Name of the first field of a dataclass that is not of its declared type."""
    cls: Any = type(value)
    hints = hints_of(cls)
    return next((name for name in fields_of(cls) or () if not fits(getattr(value, name), hints[name])), None)


def fits(value: object, hint: object) -> bool:
    """Whether a value is of a type; where the type says more than can be told cheaply, it is believed."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        return any(fits(value, part) for part in inner)
    if kind in (float, int):  # a user may say 3.0 where 3 is meant
        number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        return number and (kind is float or not isinstance(value, (float, np.floating)) or value.is_integer())
    if kind is bool:
        return isinstance(value, (bool, np.bool_))
    if kind is tuple and isinstance(value, tuple) and inner:
        if inner[-1] is Ellipsis:
            return all(fits(part, inner[0]) for part in value)
        return len(value) == len(inner) and all(map(fits, value, inner))
    if kind is Any or not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True
    return isinstance(value, kind)


def state_of(value: object) -> dict[str, Any]:
    """What is kept of an object: the fields of a dataclass, else its attributes without what can be computed again."""
    fields = fields_of(type(value))
    if fields is not None:
        return {key: getattr(value, key) for key in fields}
    if isinstance(value, ComputesOnRead):
        value._complete()
    state = vars(value)
    computed = {key for key in state if isinstance(getattr_static(type(value), key, None), cached_property)}
    passing = {"_skl_callbacks"}  # who watches a fit is no part of it
    return {key: part for key, part in state.items() if key not in computed | passing}


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
MAX_ASKED_ANCHORS = 1000
#: Columns up to which a question is asked of sparse rows, which take no memory themselves, but answers may.
MAX_ASKED_COLUMNS = 2**21
#: Filters of warnings belong to the process: two threads that set and reset them in turn would leave them changed.
_FILTERS = threading.Lock()


def check(estimator: BaseEstimator, answers: object) -> None:
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


def _check_steps(pipeline: BaseEstimator) -> None:
    for step in pipeline.steps:
        if not isinstance(step, tuple) or len(step) != 2 or not isinstance(step[0], str) or not is_estimator(step[1]):
            raise ModelError("a pipeline is made of named estimators of gramian")
    if not pipeline.steps or pipeline.memory is not None:  # a cache on disk holds code
        raise ModelError("a pipeline needs steps and can have no memory. Use set_params(memory=None)")


def _check_widths(estimator: BaseEstimator) -> None:
    """Refuse training rows that are not as wide as new rows will be: compiled loops over columns do not look."""
    for name, width in KEEPERS.items():
        rows, d = kept_rows(estimator, name), getattr(estimator, width, None)
        if rows is not None and (len(rows.shape) != 2 or rows.shape[1] != d):
            raise ModelError(f"{name} keeps rows of shape {rows.shape}, {width} is {d!r}")
    _check_seen(estimator, getattr(estimator, "seen_", None))


def _check_seen(estimator: BaseEstimator, seen: object) -> None:
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


def kept_rows(estimator: BaseEstimator, name: str) -> Any:
    """Training rows that an attribute keeps; None if it keeps none, or rows of a precomputed kernel."""
    holder = getattr(estimator, name, None)
    kernel = getattr(holder, "kernel", getattr(estimator, "kernel_", None))
    rows = getattr(holder, "anchors", holder)
    return rows if hasattr(rows, "shape") and not getattr(kernel, "given", False) else None


def _check_counts(value: object) -> None:
    """Refuse numbers by which a few bytes would ask for any amount of memory."""
    if isinstance(value, RandomMap) and sp.issparse(value.weights) and value.size > max(value.weights.nnz, 1000):
        raise ModelError(f"RandomMap.weights has {value.size} columns and next to nothing in them")
    codes = getattr(value, "_codes", None)
    if codes is not None and not (
        codes.dtype.kind in "iu" and np.isin(codes, np.arange(len(getattr(value, "classes_", ())))).all()
    ):
        raise ModelError("the labels it keeps are not among its classes")


def answered(estimator: BaseEstimator) -> list[str]:
    """Questions that a fitted estimator answers for one row."""
    return [name for name, failure in ask(estimator).items() if not failure]


def ask(estimator: BaseEstimator) -> dict[str, str]:
    """Ask about one row; return what failed, an empty text for what did not. Very wide sparse models are not asked."""
    try:
        thin, row = _thin(estimator), _row(steps_of(estimator)[0])
        if sp.issparse(row) and row.shape[1] > MAX_ASKED_COLUMNS:
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


def _wrong(answer: ArrayLike) -> str:
    values = np.asarray(answer)
    if values.dtype.kind == "O" and values.ndim:
        return ""  # labels of mixed kinds
    if values.ndim not in (1, 2) or values.shape[0] != 1:
        return f"the answer has shape {values.shape}"
    return "" if values.dtype.kind != "f" or np.isfinite(values).all() else "the answer holds NaN or infinity"


def one_line(error: Exception) -> str:
    """Kind and message of an error on one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _parts(value: object, depth: int = 0) -> Iterator[Any]:
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


def _check_shapes(value: object) -> None:
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


def _row(estimator: BaseEstimator) -> Any:
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
    if d > MAX_ASKED_COLUMNS and wide.shape[0] != d:
        raise ModelError(f"n_features_in_ is {d}, more than anything in it")
    return np.zeros((1, d))


def _thin(estimator: BaseEstimator) -> Any:
    """A copy that keeps the first training rows only, so that a question costs little."""
    thin = copy.copy(estimator)
    vars(thin).pop("_sklearn_output_config", None)  # data frames may not be known here
    if known_as(type(estimator)) == PIPELINE:
        thin.steps = [(name, _thin(step)) for name, step in estimator.steps]
        return thin
    for name, value in vars(estimator).items():
        rows = getattr(value, "anchors", None)
        if type(value) in SHAPES_OF and rows is not None and rows.shape[0] > MAX_ASKED_ANCHORS and rows.shape[1]:
            part: Any = slice(0, MAX_ASKED_ANCHORS)
            cut = {"anchors": rows[part], "coefficients": value.coefficients[part]}
            setattr(thin, name, dataclasses.replace(value, **cut))
    rows = getattr(estimator, "_anchors", None)  # of nearest neighbours, of which there must be enough
    if (
        rows is not None
        and rows.shape[1]
        and rows.shape[0] > (most := max(MAX_ASKED_ANCHORS, as_fitted(estimator, "n_neighbors")))
    ):
        vars(thin).update(_anchors=rows[:most], _diagonal=estimator._diagonal[:most])
        for made in ("_tree", "_mapped", "_prepared"):
            vars(thin).pop(made, None)
    return thin


def is_estimator(value: object) -> bool:
    """Whether a value is an estimator that a file may hold."""
    return isinstance(value, BaseEstimator) and known_as(type(value)) is not None
