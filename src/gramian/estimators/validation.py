"""The only gate for data and common parameters. Every complaint is one line and names the remedy."""

from __future__ import annotations

import reprlib
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from gramian.estimators import fitted_rows
from gramian.kernels import Kernel
from gramian.kernels.given import values
from gramian.kernels.text import takes_matrix
from gramian.operators import Moments, Rows
from gramian.operators.moments import has_variance
from gramian.operators.remote import Remote, from_dask, gathered, mirror
from gramian.results import Array, Matrix

#: Rows as users give them: arrays, nested lists, data frames and dask collections, sparse matrices, streams.
Table: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix | Rows
#: Weights that sum to less leave squares of sums of squares, of rows of any usual size, within double precision.
MAX_TOTAL_WEIGHT = 1e100


class Checked(np.ndarray):
    """Rows of a stream that have been through the gate of streams, and need not go through this one."""


def validate(
    estimator: BaseEstimator,
    X: Table,
    *,
    reset: bool = True,
    sparse: bool = True,
    min_samples: int = 1,
    gram: Kernel | None = None,
    missing: bool = False,
    finite: bool = True,
) -> Any:
    """Return ``X`` as float32 or float64 rows (CSR if sparse) without changing the caller's array.

    In ``fit`` (``reset``) the number and names of the features of the estimator are set, afterwards they are checked.
    ``gram`` is the kernel of the fit: one that takes a given matrix gets the Gram matrix that it makes of X; afterwards
    ``kernel_`` decides. NaN pass if ``missing``; ``finite=False`` leaves it to the caller to call :func:`check_finite`.
    """
    kernel: Any = gram if reset else getattr(estimator, "kernel_", None)
    given = kernel is not None and kernel.given
    if isinstance(X, Checked):
        X = X.view(np.ndarray)
        if given:
            X = values(kernel, X)
            check_finite(X, estimator)
        return X
    remote = X = from_dask(X)
    if isinstance(X, Remote):
        X = gathered(X, "X", type(estimator).__name__)
    if isinstance(X, Rows):
        raise ValueError(
            f"X is a stream, and {type(estimator).__name__} needs its rows in memory. Give rows.toarray() if they fit, "
            "or a sample of them."
        )
    _refuse_what_reads_wrong(X, estimator)
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr" if sparse else False,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=1,
    )
    if given:
        X = values(kernel, X)
    if finite:
        check_finite(X, estimator, missing=missing, fitted=not reset)
    if X.shape[0] < min_samples:
        raise ValueError(
            f"X has {X.shape[0]} sample (shape={X.shape}); {type(estimator).__name__} needs at least "
            f"{min_samples} samples, one a row."
        )
    if reset:
        fitted_rows.remember(estimator, X)
    if given and reset:
        return _check_gram(X)
    if isinstance(remote, Remote):
        mirror(X, remote)
    return X


def _refuse_what_reads_wrong(X: Table, estimator: BaseEstimator) -> None:
    """Refuse input that NumPy would take and misread."""
    if np.ma.isMaskedArray(X):
        raise ValueError("X is a masked array, whose mask would be lost. Fill it with X.filled(value) or drop rows.")
    dtype = getattr(X, "dtype", None)
    if getattr(dtype, "kind", "") == "c":
        raise ValueError(f"Complex data not supported: X has dtype {dtype}. Use X.real, X.imag or np.abs(X).")
    shape = np.shape(X) if isinstance(X, (list, tuple)) else getattr(X, "shape", (0, 0))
    if len(shape) not in (0, 2):
        raise ValueError(
            f"X has shape {shape}, {type(estimator).__name__} expects rows and columns. Reshape your data: "
            "X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        )


def check_finite(
    X: Matrix, estimator: BaseEstimator, *, name: str = "X", missing: bool = False, fitted: bool = False
) -> None:
    """Refuse NaN (unless ``missing``) and infinities, naming the first place and what to do.

    ``fitted`` says that these are new rows, for which the estimator will not be fitted again.
    """
    entries: Any = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(entries.sum()) or np.isfinite(entries).all():  # the sum is quicker and rarely wrong
            return
    bad = np.isinf(entries) if missing else ~np.isfinite(entries)
    if not bad.any():
        return
    what = "NaN" if not missing and np.isnan(entries).any() else "infinity"
    row, column = (X.nonzero()[k][bad][0] for k in (0, 1)) if sp.issparse(X) else np.argwhere(bad)[0]
    names = getattr(estimator, "feature_names_in_", None) if name == "X" else None
    place = repr(names[column]) if names is not None and column < len(names) else column
    remedy = "Drop those rows, or put numbers in their place."
    if what == "NaN":
        remedy = without_gaps(X, estimator, name=name, fitted=fitted)
    count = f"{int(bad.sum()):,} of {entries.size:,} entries, first in row {row}, column {place}"
    raise ValueError(f"Input {name} contains {what} ({count}). {remedy}")


def without_gaps(X: Matrix, estimator: BaseEstimator | None = None, *, name: str = "X", fitted: bool = False) -> str:
    """What to do about NaN: the estimator's own ``missing="em"`` if it has that, or imputation beforehand."""
    if takes_matrix(getattr(estimator, "kernel", None)):
        return "Compare all pairs of rows, or drop the rows and columns of those that cannot be compared."
    whole = f"{name}.toarray()" if sp.issparse(X) else name
    if not fitted and getattr(estimator, "missing", "none") is None:
        dense = f" with {whole}" if sp.issparse(X) else ""
        return f'Use {type(estimator).__name__}(missing="em"){dense}, which imputes them, or drop those rows.'
    if np.ndim(X) == 2 and X.shape[1] == 1:
        return f"Drop those rows: {name} has one column, and no other to impute it from."
    known = f"{name}_train" if fitted else whole
    how = " from the rows of the fit" if fitted else ""
    return f'Impute them{how}, ProbabilisticPCA(missing="em").fit({known}).impute({whole}), or drop those rows.'


def _check_gram(K: Matrix) -> Matrix:
    """Refuse a precomputed matrix that is not a symmetric square one."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(
            f"kernel='precomputed' needs a square Gram matrix at fit, n x n; X has shape {K.shape}. "
            "Give k(x_i, x_j) for all pairs of training rows."
        )
    rtol = 1e-5 if K.dtype == np.float32 else 1e-8
    difference = abs(K - K.T).max()
    if difference > rtol * abs(K).max():
        raise ValueError(
            f"kernel='precomputed' needs a symmetric matrix; X differs from its transpose by up to {difference:.3g}. "
            "If that is rounding, use (K + K.T) / 2."
        )
    return K


def check_squares(moments: Moments) -> None:
    """Refuse rows whose squares leave the range of double precision: variances would be infinite, or nothing."""
    squares = np.diag(moments.scatter)
    if not np.isfinite(squares).all():
        raise ValueError("squares of X overflow double precision. Divide X by a constant, or standardise its columns.")
    tiny, largest = np.finfo(np.float64).tiny, float(squares.max())
    with np.errstate(under="ignore"):
        vanished = largest == 0 and moments.mean.any() and np.abs(moments.mean).max() ** 2 < tiny
    if 0 < largest < tiny or vanished:
        raise ValueError("squares of X underflow double precision. Multiply X by a constant, or its columns.")


def check_weights(weights: Table | None, n: int, *, variance: bool = True) -> Array | None:
    """Return sample weights as frequencies in double precision, or None if there are none.

    Parameters
    ----------
    weights : array, number or None
    n : int
        Number of rows.
    variance : bool
        The weights are all there are, and a variance is made of them; see :func:`check_total_weight`.
    """
    if weights is None:
        return None
    try:
        w = np.asarray(gathered(weights, "sample_weight", "a fit"), dtype=np.float64)
    except (TypeError, ValueError):
        shown = reprlib.repr(weights)
        raise ValueError(f"sample_weight={shown} must be numbers, one for each of the {n} rows.") from None
    if w.ndim == 0:
        w = np.full(n, float(w))
    if w.shape != (n,):
        raise ValueError(f"sample_weight has shape {w.shape}; one weight for each of the {n} rows is expected.")
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValueError("sample_weight has negative or non-finite entries. Weights are frequencies, 0 or more.")
    with np.errstate(over="ignore"):
        check_total_weight(float(w.sum()), variance=variance)
    return w


def check_total_weight(total: float, *, variance: bool = True) -> None:
    """Refuse weights that count no rows, fewer than the two rows of a variance, or more than can be counted.

    A variance divides by the sum of the weights less one. Shares, which sum to 1 but for rounding, would be divided by
    that rounding, and shares of few digits by little more: so the border is where the divisor is 1, that of two rows.
    Methods without a variance (``variance=False``) take weights in any unit.
    """
    if total > 0 and (has_variance(total) and total < MAX_TOTAL_WEIGHT if variance else total < np.inf):
        return
    if total >= 2:
        raise ValueError(
            f"sample_weight sums to {total:.3g}; weights are frequencies: their sum counts rows, and sums of squares "
            f"would overflow. Divide them by a constant, so that they sum to less than {MAX_TOTAL_WEIGHT:.0e}."
        )
    if not total:
        raise ValueError("sample_weight has only zero weights. Give a positive weight to the rows that count.")
    raise ValueError(
        f"sample_weight sums to {total:.7g}; weights are frequencies: their sum counts rows, and a variance needs at "
        "least 2. If these are shares, multiply them by the number of rows."
    )


def check_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Refuse a word that is not among the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not known. Use one of: {', '.join(map(repr, choices))}.")
