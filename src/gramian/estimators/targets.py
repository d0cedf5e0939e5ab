"""The gate for targets: numbers to predict, and labels to tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from gramian.estimators.validation import check_finite, without_gaps
from gramian.operators.remote import gathered
from gramian.results import Array


@dataclass(frozen=True)
class Targets:
    """Numbers to predict, always n x q in double precision, and how they came."""

    values: Array
    single: bool

    def shaped(self, predictions: Array) -> Array:
        """Predictions (m, q) in the shape the targets came in: (m,) for a single one."""
        return predictions[:, 0] if self.single else predictions


def check_targets(
    y: Any, n: int, *, name: str = "y", missing: bool = False, estimator: Any = None, fitted: bool = False
) -> Targets:
    """Return targets as n x q doubles.

    Parameters
    ----------
    y : (n,) or (n, q) array, data frame or series
    n : int
        Rows of X.
    name : str
        What the argument is called, for messages.
    missing : bool
        NaN are missing entries, and welcome.
    estimator : estimator, optional
        Whose ``missing`` option a message names.
    fitted : bool
        These come with new rows, for which the estimator will not be fitted again.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    y = gathered(y, name, "a fit")
    if np.ma.isMaskedArray(y):
        raise ValueError(f"{name} is a masked array, whose mask would be lost. Fill it or drop rows.")
    values = y.toarray() if sp.issparse(y) else np.asarray(y)
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} has dtype {values.dtype}. Use its real part.")
    try:
        Y = values.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} holds values that are not numbers (dtype {values.dtype}).") from None
    if Y.ndim == 0:
        raise ValueError(f"{name}={y!r} is a single number; one for each of the {n} rows of X is expected.")
    if Y.ndim not in (1, 2) or (Y.ndim == 2 and Y.shape[1] == 0):
        raise ValueError(f"{name} has shape {Y.shape}; one target, or one column for each, is expected.")
    if len(Y) != n:
        raise ValueError(f"X has {n} rows and {name} has {len(Y)}; they must have the same number. Align them first.")
    with np.errstate(over="ignore", invalid="ignore"):
        sound = bool(np.isfinite(Y.sum()))  # the sum is quicker and rarely lies
    if not sound and (bad := np.isinf(Y) if missing else ~np.isfinite(Y)).any():
        gap = bool(np.isnan(Y[bad]).any())
        what = "NaN" if gap else "infinity or a value too large for dtype('float64')."
        row = np.argwhere(bad)[0][0]
        raise ValueError(
            f"Input {name} contains {what} ({int(bad.sum()):,} of {Y.size:,} entries, first in row {row}). "
            + (
                without_gaps(Y.reshape(n, -1), estimator, name=name, fitted=fitted)
                if gap
                else "Drop those rows, or put numbers in their place."
            )
        )
    return Targets(Y.reshape(n, -1), single=Y.ndim == 1)


def check_labels(y: Any, n: int, *, least: int = 1) -> tuple[Array, Array]:
    """Return the classes, sorted, and for each row the place of its class among them.

    Labels may be numbers, strings or booleans and keep their type; ``least`` classes are needed.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    y = column_or_1d(gathered(y, "y", "a fit"), warn=True)
    if len(y) != n:
        raise ValueError(f"X has {n} rows and y has {len(y)} labels; they must have the same number. Align them first.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity. Drop the rows without a label.")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < least:
        raise ValueError(
            f"y has only one class, {classes.tolist()[0]!r}; at least {least} are needed to tell rows apart."
        )
    return classes, codes.ravel()


def read_targets(
    Y: Any, n: int, name: str, estimator: Any = None, *, missing: bool = False, fitted: bool = False
) -> Targets:
    """Check the second block; a sparse second view (``name="Y"``) keeps its zeros."""
    if not (sp.issparse(Y) and name == "Y" and not missing):
        return check_targets(Y, n, name=name, missing=missing, estimator=estimator, fitted=fitted)
    if Y.shape[0] != n:
        raise ValueError(f"X has {n} rows and {name} has {Y.shape[0]}; they must have the same number.")
    rows = Y.tocsr().astype(np.float64)
    check_finite(rows, estimator, name=name, fitted=fitted)
    return Targets(rows, single=False)
