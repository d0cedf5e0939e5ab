"""The second view of a kernel method, and columns divided by their standard deviations."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.estimators.distances import underflows
from gramian.estimators.remote import Gate, block_columns
from gramian.estimators.two_blocks import read_targets
from gramian.kernels import Kernel
from gramian.operators.centering import column_means
from gramian.operators.matrix import column_scale
from gramian.operators.remote import Remote
from gramian.operators.remote_table import RemoteTable
from gramian.results import Array


def read_second(Y: Any, n: int, *, square: bool = False) -> Any:
    """Return the second view as n x q doubles, CSR if it is sparse; ``square`` asks for a symmetric Gram matrix."""
    rows = read_targets(Y, n, "Y").values
    if not square:
        return rows
    if rows.shape[1] != n:
        raise ValueError(
            f"kernel_y='precomputed' needs a square Gram matrix at fit, n x n; Y has shape {rows.shape}, X {n} rows. "
            "Give k(y_i, y_j) for all pairs of training rows."
        )
    narrow = np.dtype(getattr(Y, "dtype", np.float64)) == np.float32
    difference = abs(rows - rows.T).max()
    if difference > (1e-5 if narrow else 1e-8) * abs(rows).max():
        raise ValueError(
            f"kernel_y='precomputed' needs a symmetric matrix; Y differs from its transpose by up to {difference:.3g}. "
            "If that is rounding, use (K + K.T) / 2."
        )
    return rows


def read_second_table(Y: Any, X: Any, *, square: bool = False) -> Any:
    """Return the second view as rows, or as a remote table beside one."""
    if not isinstance(X, RemoteTable):
        return read_second(Y, X.shape[0], square=square)
    if not isinstance(Y, Remote):
        raise TypeError(f"X is a dask collection, and Y is a {type(Y).__name__}. Give both of one kind.")
    gate = Gate(Y.columns, own="Y")
    found = Y.total(partial(block_columns, refuse=gate), None, task="columns")
    if found.weight != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and Y has {found.weight:.0f}; they must have the same number.")
    return RemoteTable(Y, columns=found)


def check_underflow(kernel: Kernel, X: Any, name: str) -> None:
    """Refuse rows whose squares underflow: they would vary by rounding alone."""
    if (largest := underflows(kernel, X)) is not None:
        raise ValueError(
            f"the entries of {name} are {largest:.3g} at the most: their squares underflow. Multiply {name} by a "
            "constant, or use scale=True."
        )


def deviations(X: Any) -> Array:
    """Standard deviations of columns, divisor n - 1; 1 for a column without variance."""
    n = X.shape[0]
    if isinstance(X, RemoteTable):
        found = X.columns()
        return column_scale(np.sqrt(found.squares / (n - 1)), found.mean)
    if sp.issparse(X):
        largest = abs(X).max(axis=0).toarray().ravel().astype(np.float64)
        size = np.where(largest > 0, largest, 1.0)
        unit = divided(X, size)
        mean = column_means(unit)
        squares = np.asarray(unit.multiply(unit).sum(axis=0)).ravel() - n * mean**2
    else:
        rest = X.astype(np.float64) - column_means(X)
        largest = np.abs(X).max(axis=0).astype(np.float64)
        size = np.where(largest > 0, largest, 1.0)
        squares = np.square(rest / size).sum(axis=0)
    spread = np.sqrt(np.maximum(squares, 0.0) / (n - 1))
    return np.where(spread > n * np.finfo(np.float64).eps, spread * size, 1.0)


def divided(X: Any, scale: Array | None) -> Any:
    """Rows with their columns divided by a scale, if there is one."""
    if scale is None:
        return X
    return sp.csr_array(X.multiply(1 / scale)) if sp.issparse(X) else X / scale
