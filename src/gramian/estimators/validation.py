"""The only gate for data, targets and common parameters. Every complaint is one line and names the remedy."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from gramian.config import format_bytes, memory_budget, one_blas_thread, within_budget
from gramian.kernels import Kernel
from gramian.kernels.given import values
from gramian.kernels.parsing import takes_matrix
from gramian.operators import Moments, Rows
from gramian.operators.gram import mirror
from gramian.operators.moments import ColumnSums, has_variance
from gramian.operators.remote import Remote
from gramian.results import Array, Matrix, Seed

#: Rows as users give them: arrays, nested lists, data frames and dask collections, sparse matrices, streams.
Table: TypeAlias = ArrayLike | sp.sparray | sp.spmatrix | Rows
#: A number of components, a share of the variance, "auto", or None for all there are.
ComponentCount: TypeAlias = int | float | str | None
#: Where classes of collections are; data frames of dask before 2025.1 are in the second.
DASK_PACKAGES = ("dask", "dask_expr")
#: Weights that sum to less leave squares of sums of squares, of rows of any usual size, within double precision.
MAX_TOTAL_WEIGHT = 1e100


#: Rows up to which a fit keeps a hash of each: 2 MB, in memory and in a model file. Of more, sums of entries are kept.
HASHED_MAX_ROWS = 2**18
#: Entries up to which rows are hashed whatever the method: 0.1 ms.
HASHED_ALWAYS_MAX_ENTRIES = 2**15
#: Entries hashed at a time: they stay in the second-level cache.
HASHED_ENTRIES = 2**16
#: Entries that are summed: 0.1 ms. Of a larger table, evenly spaced rows.
SUMMED_ENTRIES = 2**16
#: Entries up to which a sum takes less time than holding BLAS to one thread and a product: 0.03 ms.
SUMMED_MAX_ENTRIES = 2**18
#: Bits of the NaN of single precision: there are many, and all of them are a missing value.
NAN_BITS = np.uint32(0x7FC00000)


class Checked(np.ndarray):
    """Rows of a stream that have been through the gate of streams, and need not go through this one."""


def from_dask(given: Any) -> Any:
    """Return a collection of dask as :class:`Remote` rows, and anything else as it is."""
    if type(given).__module__.partition(".")[0] not in DASK_PACKAGES:
        return given
    from gramian.operators.dask_rows import rows_of

    return rows_of(given)


def is_stream(X: Any) -> TypeGuard[Rows]:
    """Whether rows come block by block through this process, rather than stay where they are."""
    return isinstance(X, Rows) and not isinstance(X, Remote)


def gathered(given: Any, name: str, who: str) -> Any:
    """Return remote rows in memory, if they fit the budget; anything else as it is."""
    if not isinstance(given, Remote):
        return given
    size = given.dtype.itemsize * sum(given.lengths) * given.n_features
    if not within_budget(2 * size):
        raise ValueError(
            f"{who} needs {name} in this process, {format_bytes(size)}; the memory budget is "
            f"{format_bytes(memory_budget())}. Use landmarks= if it has them, a sample, or gramian.config(memory=...)."
        )
    return given.whole()


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
    more: bool = False,
) -> Any:
    """Return ``X`` as float32 or float64 rows (CSR if sparse) without changing the caller's array.

    In ``fit`` (``reset``) the number and names of the features of the estimator are set, afterwards they are checked.
    ``gram`` is the kernel of the fit: one that takes a given matrix gets the Gram matrix that it makes of X; afterwards
    ``kernel_`` decides. NaN pass if ``missing``; ``finite=False`` leaves it to the caller to call :func:`check_finite`.
    ``more`` says that these rows are added to those of the fit.
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
    if not _goes_as_it_is(X, estimator, reset=reset):
        _refuse_what_reads_wrong(X, estimator)
        try:
            X = validate_data(
                estimator,
                X,
                reset=reset,
                accept_sparse="csr" if sparse else False,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=1,
            )
        except ValueError as error:
            if text := _first_text(X):
                raise ValueError(text) from error
            raise
    asked = X
    if given:
        X = values(kernel, X)
    if finite:
        check_finite(X, estimator, missing=missing, fitted=not reset)
    if X.shape[0] < min_samples:
        raise ValueError(
            f"X has {X.shape[0]} sample (shape={X.shape}); {type(estimator).__name__} needs at least "
            f"{min_samples} samples, one a row."
        )
    if (reset or more) and (given or not estimator._keeps_rows):
        remember(estimator, asked, more=not reset, singly=more or hasattr(type(estimator), "predict"))
    if given and reset:
        return check_gram(X)
    if isinstance(remote, Remote):
        mirror(X, remote)
    return X


def _goes_as_it_is(X: Table, estimator: BaseEstimator, *, reset: bool) -> bool:
    """Set the features of the estimator, or compare them, for an array that scikit-learn's checks would hand back.

    They take 0.1 ms, a quarter of a small fit. False leaves it to them: other types, names of columns, a refusal.
    """
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype not in (np.float64, np.float32) or 0 in X.shape:
        return False
    known = vars(estimator)
    if reset:
        known.pop("feature_names_in_", None)
        known["n_features_in_"] = X.shape[1]
    return known.get("n_features_in_") == X.shape[1] and "feature_names_in_" not in known


def remember(estimator: BaseEstimator, X: Matrix, *, more: bool = False, singly: bool = True) -> None:
    """Keep a hash of each row of a fit, or of ``more`` rows beside those that it has: see :mod:`.fitted_rows`.

    Errors of predictions ask for rows one by one. Of large tables that nothing is predicted from, sums of entries are
    kept: hashes take as long as the moments of 30 columns.
    """
    before = estimator.__dict__.pop("_rows_of_fit", None)
    if more and not is_hashed(before):
        return  # of the rows before nothing is known
    total, known = before if more else (0, np.empty(0, np.uint64))
    total += X.shape[0]
    if total <= HASHED_MAX_ROWS and (singly or np.prod(X.shape) <= HASHED_ALWAYS_MAX_ENTRIES):
        estimator._rows_of_fit = (total, np.concatenate([known, row_hashes(X)]) if len(known) else row_hashes(X))
    elif not more:
        estimator._rows_of_fit = sums_of_entries(X)


def remembered(estimator: BaseEstimator) -> Any:
    """What is kept of the rows of a fit, or is made of the rows themselves by a model that keeps them."""
    known = getattr(estimator, "_rows_of_fit", None)
    rows = getattr(estimator, "_anchors", None) if known is None and getattr(estimator, "_keeps_rows", False) else None
    if rows is None or not rows.shape[1]:  # a precomputed kernel leaves no columns
        return known
    return (rows.shape[0], row_hashes(rows)) if rows.shape[0] <= HASHED_MAX_ROWS else sums_of_entries(rows)


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
    out = np.empty(len(X), np.uint64)
    for at in range(0, len(X), step):  # einsum takes half the time of a matrix product of whole numbers
        np.einsum("ij,j->i", _bits(X[at : at + step]), factors, out=out[at : at + step])
    return out


def _bits(values: Array) -> Array:
    """The bits of numbers in single precision; of numbers outside its range, the leading half of the double ones."""
    with np.errstate(all="ignore"):
        try:
            with np.errstate(over="raise", under="raise"):
                narrow = np.add(values, 0, dtype=np.float32, casting="same_kind", order="C")  # -0 is 0
                usual = np.isfinite(np.vdot(narrow, narrow))
        except FloatingPointError:
            narrow, usual = np.add(values, 0, dtype=np.float32, casting="same_kind", order="C"), False
    bits = narrow.view(np.uint32)
    if not usual:
        bits[np.isnan(narrow)] = NAN_BITS
        if values.dtype == np.float64:
            outside = (np.isinf(narrow) | (narrow == 0)) & (values != 0)
            bits[outside] = (values[outside].view(np.uint64) >> np.uint64(32)).astype(np.uint32)
    return bits.astype(np.uint64)


@cache
def _factors(count: int) -> Array:
    """Odd numbers of 64 bits, one for each column: those of the generator splitmix64, the same everywhere."""
    z = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))) | np.uint64(1)


def sums_of_entries(X: Any) -> tuple[int, int, float, float]:
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


def is_hashed(kept: Any) -> bool:
    """Whether a fit has kept the hashes of its rows."""
    return isinstance(kept, tuple) and len(kept) == 2 and isinstance(kept[1], np.ndarray) and kept[1].dtype == np.uint64


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


def _first_text(X: Table) -> str:
    """Which column has text that is no number, and what to do; nothing if none has."""
    names = getattr(X, "columns", None)
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2:
        return ""
    for at, column in enumerate(cells.T):
        for row, cell in enumerate(column):
            if isinstance(cell, (str, bytes)):
                try:
                    float(cell)
                except ValueError:
                    name = at if names is None else repr(list(names)[at])
                    text = f"could not convert string to float: column {name} of X has text, first {cell!r}"
                    remedy = "Leave the column out, or turn it into numbers"
                    if names is not None:
                        remedy += ": as_table(X, categories='encode') of gramian.tables makes indicator columns"
                    return f"{text} in row {row} (counted from 0). {remedy}."
    return ""


def check_finite(
    X: Matrix, estimator: BaseEstimator, *, name: str = "X", missing: bool = False, fitted: bool = False
) -> None:
    """Refuse NaN (unless ``missing``) and infinities, naming the first place and what to do.

    ``fitted`` says that these are new rows, for which the estimator will not be fitted again.
    """
    entries: Any = X.data if sp.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(_one_number(entries)) or np.isfinite(entries).all():  # the first is quicker and rarely wrong
            return
    bad = np.isinf(entries) if missing else ~np.isfinite(entries)
    if not bad.any():
        return
    what = "infinity" if name == "X" else "infinity or a value too large for dtype('float64')"
    what = "NaN" if not missing and np.isnan(entries).any() else what
    row, column = (X.nonzero()[k][bad][0] for k in (0, 1)) if sp.issparse(X) else np.argwhere(bad)[0]
    names = getattr(estimator, "feature_names_in_", None) if name == "X" else None
    place = repr(names[column]) if names is not None and column < len(names) else column
    remedy = "Drop those rows, or put numbers in their place."
    if what == "NaN":
        remedy = without_gaps(X, estimator, name=name, fitted=fitted)
    count = f"{int(bad.sum()):,} of {entries.size:,} entries, first in row {row} (counted from 0), column {place}"
    raise ValueError(f"Input {name} contains {what} ({count}). {remedy}")


def _one_number(entries: Array) -> float:
    """A number that is not finite if any entry is not; of many the sum of squares, in half the time of their sum."""
    whole = entries.flags.c_contiguous or entries.flags.f_contiguous
    if entries.size <= SUMMED_MAX_ENTRIES or not whole:
        return float(entries.sum())
    values = entries.ravel(order="K")
    with one_blas_thread():  # on a busy machine BLAS's threads wait for each other for longer than one takes
        return float(np.dot(values, values))


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


def check_gram(K: Matrix, name: str = "X", argument: str = "kernel", *, narrow: bool | None = None) -> Matrix:
    """Refuse a precomputed matrix that is not a symmetric square one; ``narrow`` ones came in single precision."""
    x = name.lower()
    if K.shape[0] != K.shape[1]:
        beside = "" if name == "X" else f", X {K.shape[0]} rows"
        raise ValueError(
            f"{argument}='precomputed' needs a square Gram matrix at fit, n x n; {name} has shape {K.shape}{beside}. "
            f"Give k({x}_i, {x}_j) for all pairs of training rows."
        )
    rtol = 1e-5 if (K.dtype == np.float32 if narrow is None else narrow) else 1e-8
    difference = abs(K - K.T).max()
    if difference > rtol * abs(K).max():
        raise ValueError(
            f"{argument}='precomputed' needs a symmetric matrix; {name} differs from its transpose by up to "
            f"{difference:.3g}. If that is rounding, use (K + K.T) / 2."
        )
    return K


def check_squares(moments: Moments | ColumnSums) -> None:
    """Refuse rows whose squares leave the range of double precision: variances would be infinite, or nothing."""
    squares = moments.squares
    if not np.isfinite(squares).all():
        raise ValueError("squares of X overflow double precision. Divide X by a constant, or standardise its columns.")
    tiny, largest = np.finfo(np.float64).tiny, float(squares.max())
    with np.errstate(under="ignore"):
        vanished = largest == 0 and moments.mean.any() and np.abs(moments.mean).max() ** 2 < tiny
    if 0 < largest < tiny or vanished:
        raise ValueError("squares of X underflow double precision. Multiply X by a constant, or its columns.")


def check_weights(weights: Table | None, n: int, *, variance: bool = True) -> Array | None:
    """Return weights of n rows as frequencies in double precision, or None if there are none.

    ``variance``: they are all there are, and a variance is made of them; see :func:`check_total_weight`.
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


def random_generator(random_state: Seed) -> np.random.Generator:
    """Take scikit-learn's ways of giving a seed; None means a fixed one: the same data give the same bits."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(0 if random_state is None else random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state={random_state!r} must be a whole number of 0 or more, a random generator, or None."
        ) from None


def is_auto(n_components: ComponentCount) -> bool:
    """Whether the number of components is left to the criteria."""
    return isinstance(n_components, str) and n_components == "auto"


def check_components(
    n_components: ComponentCount, limit: int, what: str, *, fractions: bool = True, auto: bool = False
) -> int | None:
    """Refuse a number of components that is no number, out of range, or more than ``limit``; return the whole number.

    None if all are asked for, or a share of the variance, or a criterion decides.
    """
    if n_components is None or (auto and is_auto(n_components)):
        return None
    words = ["a whole number of 1 or more", *(["a fraction between 0 and 1"] if fractions else [])]
    allowed = ", ".join([*words, *(["'auto'"] if auto else []), "or None"])
    if isinstance(n_components, (bool, np.bool_)) or not isinstance(n_components, (int, float, np.number)):
        raise TypeError(f"n_components={n_components!r} must be {allowed}.")
    if isinstance(n_components, (int, np.integer)):
        if n_components < 1:
            raise ValueError(f"n_components={n_components} must be {allowed}.")
        if n_components > limit:
            raise ValueError(f"n_components={n_components} is more than {what}. Use n_components={limit} or fewer.")
        return int(n_components)
    if not fractions or not 0 < n_components < 1:
        raise ValueError(f"n_components={n_components!r} must be {allowed}.")
    return None


def share_of_variance(n_components: ComponentCount) -> float | None:
    """The share of the variance that ``n_components`` asks for, if it is one."""
    if n_components is None or isinstance(n_components, str) or n_components >= 1:
        return None
    return float(n_components)


def whole_number(n_components: ComponentCount) -> int | None:
    """Components to ask a space for: all of them if a share of the variance, or a criterion, decides."""
    return None if n_components is None or isinstance(n_components, str) or n_components < 1 else int(n_components)


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
    """Return targets, called ``name``, beside n rows as n x q doubles.

    ``missing``, ``estimator`` and ``fitted`` are those of :func:`check_finite`.
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
    values = Y.reshape(n, -1)
    check_finite(values, estimator, name=name, missing=missing, fitted=fitted)
    return Targets(values, single=Y.ndim == 1)


def check_labels(y: Any, n: int, *, least: int = 1) -> tuple[Array, Array]:
    """Return the classes, sorted, and for each row the place of its class among them.

    Labels may be numbers, strings or booleans and keep their type; ``least`` classes are needed.
    """
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None.")
    y = gathered(y, "y", "a fit")
    if not (type(y) is np.ndarray and y.ndim == 1):  # such labels come back as they are, after 0.1 ms
        y = column_or_1d(y, warn=True)
    if len(y) != n:
        raise ValueError(f"X has {n} rows and y has {len(y)} labels; they must have the same number. Align them first.")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("Input y contains NaN or infinity. Drop the rows without a label.")
    if y.dtype.kind not in "biuSU":  # those are classes, and asking takes 0.3 ms
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
