"""Whether rows are those that an estimator was fitted to, so that errors of calibration are not taken for others."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from gramian.results import Matrix

#: Entries that are summed: 0.1 ms. Of a larger table, evenly spaced rows.
SUMMED_ENTRIES = 2**16
#: Agreement of sums, relative to the sum of magnitudes: single precision keeps 6e-8 of every entry.
SUMS_RELATIVE_TOLERANCE = 1e-6


def remember(estimator: BaseEstimator, X: ArrayLike | Matrix) -> None:
    """Keep the sums of the rows of a fit."""
    estimator._rows_of_fit = _sums(X)


def forget(estimator: BaseEstimator, *, weighted: bool = False) -> None:
    """Begin a fit whose rows are not known yet, and note whether they have weights."""
    estimator.__dict__.pop("_rows_of_fit", None)
    estimator.__dict__.pop("_weighted", None)
    if weighted:
        estimator._weighted = True


def name_targets(estimator: BaseEstimator, y: Any) -> None:
    """Keep the names of the targets, or of the columns of the second view, if all are text, as those of X are kept."""
    names = getattr(y, "columns", None)
    if names is None and getattr(y, "name", None) is not None and np.ndim(y) == 1:
        names = [y.name]
    estimator.__dict__.pop("target_names_in_", None)
    used = hasattr(estimator, "y_projection_") or is_regressor(estimator) or is_classifier(estimator)
    if names is not None and used and len(names) and all(isinstance(name, str) for name in names):
        estimator.target_names_in_ = np.array(names, dtype=object)


def of_the_fit(model: BaseEstimator, X: Any) -> bool:
    """Whether rows are those of the fit, in any order.

    They are told by their number and sums of their entries; of tables of more than 65,536 entries only some rows
    are summed, and their order matters. Fits to streams, and models saved by earlier versions, keep the number alone.
    """
    kept, n = _kept(model), X.shape[0] if hasattr(X, "shape") else len(X)
    if not isinstance(kept, tuple):
        return bool(n == kept)
    if n != kept[0]:
        return False
    found = _sums(X)
    return bool(
        found[:2] == kept[:2]
        and np.allclose(found[2:], kept[2:], rtol=0, atol=SUMS_RELATIVE_TOLERANCE * max(kept[3], 1e-300))
    )


def role(model: BaseEstimator, X: ArrayLike | Matrix) -> str:
    """Which rows these are, for figures of merit: "fit", "new", or nothing if that is not known."""
    if _kept(model) is None:
        return ""
    return "fit" if of_the_fit(model, X) else "new"


def _kept(model: BaseEstimator) -> Any:
    """What is known of the rows of a fit: their sums, or at least their number; None of estimators of others."""
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    kept = getattr(steps[0], "_rows_of_fit", None)
    if kept is not None:
        return tuple(kept)
    n = getattr(getattr(steps[-1], "summary_", None), "facts", {}).get("n")
    return None if n is None else round(n)


def _sums(X: Any) -> tuple[int, int, float, float]:
    """Rows, columns, the sum of all entries that are there, and of their magnitudes."""
    n, d = X.shape if hasattr(X, "shape") else np.shape(X)
    every = -(-n * d // SUMMED_ENTRIES)
    some = X[::every] if every > 1 and (sp.issparse(X) or isinstance(X, np.ndarray)) else X
    values = np.asarray(some.data if sp.issparse(some) else some, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        total, size = float(values.sum()), float(np.abs(values).sum())
        if np.isnan(total):
            total, size = float(np.nansum(values)), float(np.nansum(np.abs(values)))
    return int(n), int(d), total, size
