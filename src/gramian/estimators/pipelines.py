"""Pipelines: an estimator behind steps that change its rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def steps_of(model: Any) -> list[Any]:
    """The steps of a pipeline, or the estimator alone."""
    return [step for _, step in model.steps] if hasattr(model, "steps") else [model]


def transformed(steps: Iterable[Any], X: Any) -> Any:
    """Rows as they come out of fitted steps."""
    for step in steps:
        X = step.transform(X)
    return X
