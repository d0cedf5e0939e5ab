"""A fit for which there is no room is refused before it begins: what it needs, what there is, and what would fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier

from gramian.config import format_bytes, settings
from gramian.forecasting.advice import advise, enough
from gramian.forecasting.forecast import planned
from gramian.forecasting.plan import Job, Plan
from gramian.operators import Rows
from gramian.operators.memory_limit import BUDGET, MemoryLimit, memory_limit
from gramian.operators.remote import is_stream

#: No plan takes more than this many bytes for each pair of rows and columns together, and this many beside.
EACH, BESIDE = 128, 10**8


def refuse_if_too_large(estimator: Any, X: Any = None, y: Any = None, *_: Any, **__: Any) -> None:
    """Raise ValueError if the fit would take more memory than there is.

    Sparse rows and those of a cluster, kernels that are functions, and what has no forecast are let through.
    """
    shape = (X.n_rows or 0, X.n_features) if isinstance(X, Rows) else getattr(X, "shape", ())
    if sp.issparse(X) or len(shape) != 2 or callable(getattr(estimator, "kernel", None)):
        return
    there = memory_limit()
    if EACH * float(sum(shape)) ** 2 + BESIDE <= there.bytes and not isinstance(X, Rows):
        return  # the usual case: no need to look closely
    job = _job(estimator, X, y)
    if job is None:
        return
    try:
        found = planned(estimator, job)
    except TypeError:
        return  # the fit says it better
    except ValueError:
        if enough(estimator, job, planned, there.bytes) is None:
            return  # it is not for memory that it is refused
        raise
    if found.bytes > there.bytes:
        raise ValueError(_refusal(estimator, job, found, there))


def _job(estimator: Any, X: Any, y: Any) -> Job | None:
    """Sizes of the data; None if they cannot be told at sight."""
    if isinstance(X, Rows):
        targets = X.y if y is None else y
        q = targets.n_features if isinstance(targets, Rows) else _targets(estimator, targets)
        n = X.n_rows or X.about
        return Job(n, X.n_features, q, stream=True, reader=X.reader) if n and is_stream(X) else None
    n, d = map(int, X.shape)
    dtype = getattr(X, "dtype", None)
    name = dtype.name if isinstance(dtype, np.dtype) else "object"
    return Job(n, d, _targets(estimator, y), name) if min(n, d) > 0 else None


def _targets(estimator: Any, y: Any) -> int:
    """Columns of the second view or of the targets; classes of a classifier."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if is_classifier(estimator):
        return len(set(np.ravel(y).tolist())) if len(shape) == 1 else 2
    return max(1, int(shape[1])) if len(shape) == 2 else 1


def _refusal(estimator: Any, job: Job, found: Plan, there: MemoryLimit) -> str:
    """One line: what is needed, what there is, what would fit."""
    remedies = list(advise(estimator, job, planned, there.bytes))
    if there.bound != BUDGET:
        remedies.append(f"{format_bytes(1.2 * found.bytes - there.bytes)} more")
    elif more := enough(estimator, job, planned, there.bytes):
        remedies.append(f"gramian.config(memory={format_bytes(more[0]).replace(' ', '')!r})")
    has = format_bytes(settings().memory or 0 if there.bound == BUDGET else there.bytes)
    name, needed = type(estimator).__name__, f"{format_bytes(found.bytes)} beside the data ({found.route})"
    return f"{name} needs {needed}; {there.bound} {has}. Use {', or '.join(remedies)}."
