"""How many components of a kernel matrix? Compare with tables whose columns are shuffled apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian import lapack
from gramian.criteria.base import Suggestion, run_length
from gramian.criteria.parallel import each
from gramian.criteria.rules import largest_gap
from gramian.kernels import Kernel
from gramian.results import Array
from gramian.solvers.dense import pinned_if_small
from gramian.spaces import KernelSpace

#: Rows looked at, shuffled tables, and the quantile of theirs that a component must pass.
ROWS, TABLES, QUANTILE = 500, 40, 0.95
SHUFFLED = "shuffled columns"


def kernel_criteria(kernel: Kernel, X: Any, seed: int = 0) -> tuple[Suggestion, Suggestion]:
    """What shuffled columns say, and the largest gap; both of a sample of at most 500 rows.

    Parameters
    ----------
    kernel : Kernel
        With its parameters resolved.
    X : rows
        Dense or CSR; the Gram matrix of a precomputed kernel, which has no columns to shuffle.

    References
    ----------
    Jorgensen, Hansen, Model selection for Gaussian kernel PCA denoising, IEEE Transactions on Neural Networks and
    Learning Systems 2012.
    """
    rng = np.random.default_rng(seed)
    n, given = X.shape[0], kernel.given
    A = sample(kernel, X, rng)
    values = centred_values(kernel, A)
    gap, source = largest_gap(values), "Jorgensen, Hansen 2012"
    if given or A.shape[1] < 2:
        why = "a precomputed kernel has no columns to shuffle" if given else "one column cannot be shuffled apart"
        return Suggestion(SHUFFLED, None, source, why), gap
    limits = np.quantile(shuffled_values(kernel, A, rng), QUANTILE, axis=0)
    k = run_length((values > limits) & (values > 1e-10 * values[0]))
    seen = f"{TABLES} tables" + (f" of {ROWS} rows" if n > ROWS else "")
    if k < len(values):
        seen += f", next {values[k]:.4g} of {limits[k]:.4g}"
    return Suggestion(SHUFFLED, k, source, seen), gap


def sample(kernel: Kernel, X: Any, rng: np.random.Generator) -> Array:
    """At most 500 rows, dense."""
    n = X.shape[0]
    rows = np.sort(rng.choice(n, ROWS, replace=False)) if n > ROWS else np.arange(n)
    A = X[rows][:, rows] if kernel.given else X[rows]
    return A.toarray() if sp.issparse(A) else np.asarray(A, dtype=np.float64)


def centred_values(kernel: Kernel, A: Array) -> Array:
    """Eigenvalues of the centred Gram matrix, the largest first; the mean takes one away."""
    gram = KernelSpace(kernel, A).centred()
    with pinned_if_small(len(A) ** 3):
        return lapack.eigvalsh(gram.toarray())[::-1][: min(gram.limit, len(A) - 1)]


def shuffled_values(kernel: Kernel, A: Array, rng: np.random.Generator) -> Array:
    """Eigenvalues of tables with every column in an order of its own, a row each."""
    seeds = rng.spawn(TABLES)

    def one(at: int) -> Array:
        return centred_values(kernel, seeds[at].permuted(A, axis=0))

    return each(one, TABLES)
