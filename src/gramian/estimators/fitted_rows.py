"""Whether rows are those that an estimator was fitted to, so that errors of calibration are not taken for others.

A fit keeps a hash of each of its rows, 8 bytes. The entries are rounded to single precision first, so that rows are
known again as float32, in a sparse matrix, in another order, or after they were written to a file and read.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from gramian.operators import Rows
from gramian.results import Array, Matrix

#: Rows up to which a fit keeps a hash of each: 2 MB, in memory and in a model file. Of more, sums of entries are kept.
HASHED_MAX_ROWS = 2**18
#: Entries hashed at a time: they stay in the second-level cache.
HASHED_ENTRIES = 2**16
#: Entries that are summed: 0.1 ms. Of a larger table, evenly spaced rows.
SUMMED_ENTRIES = 2**16
#: Agreement of sums, relative to the sum of magnitudes: single precision keeps 6e-8 of every entry.
SUMS_RELATIVE_TOLERANCE = 1e-6
#: Bits of the NaN of single precision: there are many, and all of them are a missing value.
NAN_BITS = np.uint32(0x7FC00000)


def remember(estimator: BaseEstimator, X: ArrayLike | Matrix, *, more: bool = False) -> None:
    """Keep hashes of the rows of a fit, or of ``more`` rows beside those that it has."""
    n, before = np.shape(X)[0], estimator.__dict__.pop("_rows_of_fit", None)
    if more and not _hashed(before):
        return  # of the rows before nothing is known
    total, known = before if more else (0, np.empty(0, np.uint64))
    if total + n <= HASHED_MAX_ROWS:
        estimator._rows_of_fit = (total + n, _distinct(np.concatenate([known, row_hashes(X)])))
    elif not more:
        estimator._rows_of_fit = _sums(X)


def name_targets(estimator: BaseEstimator, y: Any) -> None:
    """Keep the names of the targets, or of the columns of the second view, if all are text, as those of X are kept."""
    names = getattr(y, "columns", None)
    if names is None and getattr(y, "name", None) is not None and np.ndim(y) == 1:
        names = [y.name]
    if names is None or not len(names) or not all(isinstance(name, str) for name in names):
        return
    if hasattr(estimator, "y_projection_") or is_regressor(estimator) or is_classifier(estimator):
        estimator.target_names_in_ = np.array(names, dtype=object)


def of_the_fit(model: BaseEstimator, X: Any) -> bool:
    """Whether rows are all of those of the fit, in any order.

    Of a fit to more than 262,144 rows they are told by their number and sums of some entries. Fits to streams, and
    models saved by early versions, keep the number alone.
    """
    kept, X = _kept(model, X)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if not isinstance(kept, tuple):
        return bool(n == kept)
    if n != kept[0] or isinstance(X, Rows):
        return False
    if _hashed(kept):
        return np.array_equal(_distinct(row_hashes(X)), kept[1])
    found = _sums(X)
    return bool(
        found[:2] == kept[:2]
        and np.allclose(found[2:], kept[2:], rtol=0, atol=SUMS_RELATIVE_TOLERANCE * max(kept[3], 1e-300))
    )


def rows_of_the_fit(model: BaseEstimator, X: Any) -> Array | None:
    """Of each row, whether a row of the fit has its values; None where the fit has kept too little to tell."""
    kept, X = _kept(model, X)
    if isinstance(kept, tuple) and not isinstance(X, Rows):
        if _hashed(kept):
            return np.isin(row_hashes(X), kept[1])
        if of_the_fit(model, X):
            return np.ones(np.shape(X)[0], dtype=bool)
    return None


def role(model: BaseEstimator, X: ArrayLike | Matrix) -> str:
    """Which rows these are, for figures of merit: "fit", "new", "mixed", or nothing if that is not known."""
    known = rows_of_the_fit(model, X)
    if known is None:
        return ""
    return "fit" if known.all() else "mixed" if known.any() else "new"


def row_hashes(X: Any) -> Array:
    """A hash of the entries of each row, in single precision: sums of products with odd numbers, modulo 2^64.

    Entries of zero add nothing, so that a sparse matrix has the hashes of the same rows in full.

    >>> row_hashes(np.array([[1.0, 0.1]])) == row_hashes(np.array([[1.0, 0.1]], dtype=np.float32))
    array([ True])
    """
    if sp.issparse(X):
        X = sp.csr_array(X)
        products = _bits(X.data) * _factors(X.shape[1])[X.indices]
        ends = np.concatenate([np.zeros(1, np.uint64), np.cumsum(products, dtype=np.uint64)])[X.indptr]
        return ends[1:] - ends[:-1]
    X = np.asarray(X)
    X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    factors = _factors(X.shape[1])
    step = max(HASHED_ENTRIES // max(X.shape[1], 1), 1)
    blocks = [_bits(X[at : at + step]) @ factors for at in range(0, len(X), step)]
    return np.concatenate([np.empty(0, np.uint64), *blocks])


def _distinct(hashes: Array) -> Array:
    """Every hash once, in order: 16 ms of 262,144, a tenth of what ``np.unique`` takes."""
    found = np.sort(hashes)
    return found[np.append(True, found[1:] != found[:-1])] if len(found) else found


def _bits(values: Array) -> Array:
    """The bits of numbers in single precision; of numbers outside its range, the leading half of the double ones."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        narrow = np.ascontiguousarray(values, dtype=np.float32) + np.float32(0)  # -0 is 0
    bits = narrow.view(np.uint32)
    total = float(np.abs(narrow).sum())
    if not np.isfinite(total):
        bits[np.isnan(narrow)] = NAN_BITS
    if values.dtype == np.float64:
        outside = (np.isinf(narrow) | (narrow == 0)) & (values != 0)
        if outside.any():
            bits[outside] = (values[outside].view(np.uint64) >> np.uint64(32)).astype(np.uint32)
    return bits.astype(np.uint64)


def _factors(count: int) -> Array:
    """Odd numbers of 64 bits, one for each column: those of the generator splitmix64, the same everywhere."""
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)


def _hashed(kept: Any) -> bool:
    return isinstance(kept, tuple) and len(kept) == 2 and isinstance(kept[1], np.ndarray) and kept[1].dtype == np.uint64


def _kept(model: BaseEstimator, X: Any) -> tuple[Any, Any]:
    """What is known of the rows of a fit, and the rows as that step of a pipeline sees them that knows it.

    It is a number and hashes, or sums, or the number alone; None of estimators of others.
    """
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    first = next((at for at, step in enumerate(steps) if getattr(step, "_rows_of_fit", None) is not None), None)
    if first is not None:
        for step in steps[:first]:
            X = step.transform(X)
        return tuple(steps[first]._rows_of_fit), _in_order(steps[first], X)
    n = getattr(getattr(steps[-1], "summary_", None), "facts", {}).get("n")
    return None if n is None else round(n), X


def _in_order(step: BaseEstimator, X: Any) -> Any:
    """A data frame with its columns in the order of the fit."""
    names, given = getattr(step, "feature_names_in_", None), getattr(X, "columns", None)
    if names is None or given is None or list(names) == list(given) or set(names) != set(given):
        return X
    return X[list(names)]


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
