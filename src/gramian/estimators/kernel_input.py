"""The ``kernel`` argument of an estimator, resolved on the training rows; what its similarities and distances lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from gramian.estimators.fit_rows import read_table
from gramian.estimators.validation import Table, check_weights, validate
from gramian.estimators.warnings import IndefiniteKernelWarning, RankWarning, warn
from gramian.kernels import Kernel, as_kernel, parse
from gramian.kernels.base import own_copy
from gramian.kernels.given import evaluated
from gramian.kernels.text import takes_matrix
from gramian.operators.moments import column_sums
from gramian.operators.remote import Remote, RemoteTable, largest_entry
from gramian.results import Array, FitSummary, Matrix

#: Entries below this have squares of which double precision keeps few digits, or none.
SQUARES_UNDERFLOW_BELOW = 1e-150
#: A kernel as text, as an object, or as a function of two blocks of rows.
KernelArgument: TypeAlias = str | Kernel | Callable[..., Array]
#: Checked rows: in memory, or on a cluster.
CheckedRows: TypeAlias = Matrix | RemoteTable


class KernelInput:
    """What estimators with a ``kernel`` argument share: reading rows at fit, and saying that they may be a Gram."""

    kernel: KernelArgument
    landmarks: Any
    n_features_in_: int
    #: What landmarks leave of the trace of the kernel matrix, as a share of it; None without them.
    trace_error_: Any = None
    #: What ``partial_fit`` goes on from, where that is known.
    seen_: Any
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

    def _read(
        self, X: Table, sample_weight: ArrayLike | None = None, *, min_samples: int = 1
    ) -> tuple[Kernel, Any, Array | None]:
        """Return the kernel, resolved as if rows were repeated by their weights, the checked rows, and the weights."""
        kernel = own_kernel(self.kernel)
        rows = self._table(X, kernel, min_samples)
        weights = check_weights(sample_weight, rows.shape[0], variance=False)
        return resolve_weighted(kernel, rows, weights), rows, weights

    def _table(self, X: Table, kernel: Kernel, min_samples: int = 1) -> Any:
        """Check the training rows of a new fit: in memory, or on a cluster if landmarks stand for them."""
        self.trace_error_ = None
        vars(self).pop("seen_", None)
        if isinstance(X, Remote):
            return read_table(self, X, kernel=kernel, min_samples=min_samples)
        return validate(self, X, gram=kernel, min_samples=min_samples)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = takes_matrix(self.kernel)
        tags.input_tags.sparse = True
        return tags


def own_kernel(kernel: KernelArgument) -> Kernel:
    """Return the kernel that an argument asks for as an object of the fit's own, which nobody else can change."""
    return parse(kernel) if isinstance(kernel, str) else own_copy(as_kernel(kernel))


def resolve_weighted(kernel: Kernel, X: CheckedRows, weights: Array | None) -> Kernel:
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
    if (w == w[0]).all() or kernel.needs_rows:
        return kernel.resolve(rows)
    sums = column_sums(rows, w)
    deviation = np.sqrt(sums.squares / sums.weight)
    return kernel.resolve(np.stack([sums.mean - deviation, sums.mean + deviation]))


def check_count(name: str, value: object) -> None:
    """Refuse what is not a whole number of 1 or more."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}={value!r} must be a whole number of 1 or more.")
    if value < 1:
        raise ValueError(f"{name}={value} must be a whole number of 1 or more.")


def check_similarities(kernel: Kernel, diagonal: Array, total: float = 1.0) -> None:
    """Refuse similarities that overflow, or whose sum over rows of a total weight does: distances would be NaN."""
    largest = np.finfo(np.float64).max / 8 / max(total, 1.0)
    if not np.isfinite(diagonal).all() or np.abs(diagonal).max(initial=0) > largest:
        raise ValueError(
            f"the kernel {kernel} overflows on these rows. Divide X by a constant, or standardise its columns."
        )


def underflows(kernel: Kernel, X: CheckedRows) -> float | None:
    """Return the size of the largest entry if all are so small that rows which differ look alike to the kernel."""
    if kernel.given:
        return None
    largest = largest_entry(X)
    return largest if 0 < largest < SQUARES_UNDERFLOW_BELOW else None


def warn_of_underflow(kernel: Kernel, X: CheckedRows) -> None:
    """Say that rows look alike because their squares underflow."""
    if (largest := underflows(kernel, X)) is not None:
        warn(
            f"the entries of X are {largest:.3g} at the most: their squares underflow, and rows that differ look "
            "alike. Multiply X by a constant.",
            RankWarning,
        )


def warn_of_negative(kernel: Kernel, negative: Array, what: str) -> None:
    """Warn of negative squared distances to something, which kernels that are not positive definite have."""
    if not kernel.positive_definite and (count := int(negative.sum())):
        warn(
            f"the kernel is indefinite: {count:,} squared distances to {what} are negative; they rank as they are and "
            "read as distance 0.",
            IndefiniteKernelWarning,
        )


def lengths(squares: Array) -> Array:
    """Distances from squared ones; those below zero, which rounding and indefinite kernels have, read as 0."""
    return np.sqrt(np.maximum(squares, 0.0))
