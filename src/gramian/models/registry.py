"""The classes a model file may name. Its names are looked up here and nowhere else; nothing is imported by name."""

from __future__ import annotations

import dataclasses
import types
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from gramian import adequacy, kernels, projection, results, solvers
from gramian.estimators import (
    kernel_kmeans_streams,
    kernel_streams,
    landmarks,
    random_projection,
    regression_path,
    targets,
    two_blocks,
)
from gramian.kernels import given, waves
from gramian.operators import feature_means, features, mapped_moments, moments
from gramian.registry import RECORDS
from gramian.solvers import factor, rotation
from gramian.spaces import gaussian, kernel, ridge_fit

#: Values that fitted estimators and their parameters hold. A new one joins here, with its shapes in ``checks.py``.
VALUES: tuple[type, ...] = (
    adequacy.SamplingAdequacy,
    moments.ColumnSums,
    kernel.ConditionalProjection,
    solvers.ConjugateGradients,
    solvers.Cholesky,
    factor.FactorSolution,
    gaussian.FactorModel,
    features.FeatureMap,
    gaussian.Isotropic,
    given.Evaluated,
    kernel_kmeans_streams.SeenMeans,
    kernel_streams.Seen,
    landmarks.Landmarks,
    landmarks.RandomFeatures,
    mapped_moments.MappedMoments,
    feature_means.FeatureMeans,
    moments.Moments,
    projection.KernelProjection,
    projection.LinearProjection,
    random_projection.Distortion,
    random_projection.RandomMap,
    regression_path.RegressionPath,
    solvers.MinimalResiduals,
    results.FitSummary,
    results.SolverTrace,
    ridge_fit.KernelFunction,
    ridge_fit.LinearFunction,
    rotation.Rotation,
    solvers.Dense,
    solvers.Krylov,
    solvers.Power,
    solvers.Randomized,
    targets.Targets,
    two_blocks.Filler,
    waves.Waves,
)


def name_of(cls: type) -> str:
    """Name of a class in a file: the part of the library and the class, so that it may move within its part.

    >>> name_of(projection.LinearProjection), name_of(kernels.RBF)
    ('projection.LinearProjection', 'kernels.RBF')
    """
    return f"{cls.__module__.split('.')[1]}.{cls.__qualname__}"


ESTIMATORS: tuple[type, ...] = tuple(record.estimator for record in RECORDS)
KERNELS = [cls for cls in vars(kernels).values() if isinstance(cls, type) and issubclass(cls, kernels.Kernel)]
#: All estimators of the registry, all public kernels but functions, and the values above.
CLASSES: dict[str, type] = {
    name_of(cls): cls
    for cls in (*ESTIMATORS, *KERNELS, *VALUES)
    if cls not in (kernels.Function, kernels.Kernel, kernels.MappedKernel)
}

NAMES = {cls: name for name, cls in CLASSES.items()}
#: The one class of others: what a method that needs scaled columns is put in.
PIPELINE = "sklearn.Pipeline"


def class_of(name: Any) -> type | None:
    """Class that a name in a file stands for."""
    if name == PIPELINE:
        from sklearn.pipeline import Pipeline  # most models do without, and need not wait for it

        return Pipeline
    return CLASSES.get(name) if isinstance(name, str) else None


def known_as(cls: type) -> str | None:
    """Name in a file of a class, if it has one."""
    if cls.__module__ == "sklearn.pipeline":
        return PIPELINE if class_of(PIPELINE) is cls else None
    return NAMES.get(cls)


def fields_of(cls: type) -> dict[str, bool] | None:
    """Fields of a dataclass, and whether each must be given; None for other classes."""
    if not dataclasses.is_dataclass(cls):
        return None
    missing = dataclasses.MISSING
    return {f.name: f.default is missing and f.default_factory is missing for f in dataclasses.fields(cls)}


@cache
def hints_of(cls: type) -> dict[str, Any]:
    """Declared types of the fields of a class."""
    return get_type_hints(cls)


def wrong_field(value: Any) -> str | None:
    """Name of the first field of a dataclass that is not of its declared type."""
    cls: Any = type(value)
    hints = hints_of(cls)
    return next((name for name in fields_of(cls) or () if not fits(getattr(value, name), hints[name])), None)


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type; where the type says more than can be told cheaply, it is believed.

    >>> fits(2, float), fits("2", float), fits((1, "a"), tuple[int, str]), fits(None, int | None), fits(True, int)
    (True, False, True, True, False)
    """
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
