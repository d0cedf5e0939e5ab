"""The gate for targets: numbers to predict, labels to tell apart, and the kernel argument that comes with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from gramian.estimators.remote import read_table
from gramian.estimators.validation import check_weights, without_gaps
from gramian.kernels import Kernel, as_kernel, parse
from gramian.kernels.base import own_copy
from gramian.kernels.given import evaluated
from gramian.kernels.text import takes_matrix
from gramian.operators.column_sums import column_sums
from gramian.operators.remote import gathered
from gramian.operators.remote_table import RemoteTable
from gramian.results import Array, FitSummary


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


class KernelInput:
    """What estimators with a ``kernel`` argument share: reading rows at fit, and saying that they may be a Gram."""

    kernel: Any
    landmarks: Any
    #: What landmarks leave of the trace of the kernel matrix, as a share of it; None without them.
    trace_error_: float | None = None
    summary_: FitSummary
    _kernel_parameters: ClassVar[tuple[str, ...]] = ("kernel",)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of kernels as ``kernel__sigma``. A kernel given as text then becomes an object.

        A kernel that is an object is changed itself, as scikit-learn does it with every object in a parameter. Text is
        a value: ``get_params`` gives it as it is, and ``type(model)(**model.get_params())`` works.
        """
        for name in self._kernel_parameters:
            nested = {key.removeprefix(f"{name}__"): key for key in params if key.startswith(f"{name}__")}
            given = params.get(name, getattr(self, name))
            if nested and isinstance(given, str):
                params[name] = parse(given).set_params(**{key: params.pop(long) for key, long in nested.items()})
            elif nested and not hasattr(given, "set_params"):
                what = "is None, which stands for the kernel of X" if given is None else f"is the function {given!r}"
                raise ValueError(
                    f"{min(nested.values())} cannot be set: {name} {what}, and has no parameters of its own. Set "
                    f"{name} to a kernel first, as text such as 'rbf(sigma=2)' or as an object."
                )
        return super().set_params(**params)  # type: ignore[misc]

    def _read(self, X: Any, *, min_samples: int = 1) -> tuple[Kernel, Any]:
        """Return the kernel with its parameters resolved on checked training rows, and the rows."""
        kernel = own_kernel(self.kernel)
        X = read_table(self, X, min_samples=min_samples, kernel=kernel)
        return resolve_weighted(kernel, X, None), X

    def _read_weighted(self, X: Any, sample_weight: Any) -> tuple[Kernel, Any, Array | None]:
        """Return the kernel, resolved as if rows were repeated by their weights, the rows, and the weights."""
        kernel = own_kernel(self.kernel)
        X = read_table(self, X, kernel=kernel)
        weights = check_weights(sample_weight, X.shape[0], variance=False)
        return resolve_weighted(kernel, X, weights), X, weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = takes_matrix(self.kernel)
        tags.input_tags.sparse = True
        return tags


def own_kernel(kernel: Any) -> Kernel:
    """Return the kernel that an argument asks for as an object of the fit's own, which nobody else can change."""
    return own_copy(as_kernel(kernel))


def resolve_weighted(kernel: Kernel, X: Any, weights: Array | None) -> Kernel:
    """Return the kernel with its parameters resolved as if rows were repeated ``weights`` times.

    The width ``"scale"`` depends on the mean and the variance of each column alone: two rows that have those of the
    weighted rows give the same. ``"median"`` is that of the rows with a positive weight, each taken once.
    """
    if kernel.given:
        return evaluated(kernel.resolve(X))
    if isinstance(X, RemoteTable):
        return X.resolve(kernel, weights)
    if weights is None:
        return kernel.resolve(X)
    heavy = weights > 0
    rows, w = (X, weights) if heavy.all() else (X[heavy], weights[heavy])
    if (w == w[0]).all() or "median" in str(kernel):
        return kernel.resolve(rows)
    sums = column_sums(rows, w)
    deviation = np.sqrt(sums.squares / sums.weight)
    return kernel.resolve(np.stack([sums.mean - deviation, sums.mean + deviation]))
