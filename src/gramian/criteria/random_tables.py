"""Parallel analysis: what random tables, and tables with shuffled columns, show without any structure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gramian import lapack
from gramian.criteria.spectrum import Suggestion, Variances, largest_gap, run_length
from gramian.engine.product import to_dense
from gramian.engine.tiles import Meter, run, share, threads_for
from gramian.kernels import Kernel
from gramian.results import Array, Matrix
from gramian.spaces import KernelSpace

__all__ = ["horn", "horn_factors", "kernel_criteria"]

#: Random tables, and the quantile of theirs that a component must pass.
RANDOM_TABLES, _TABLES_QUANTILE = 100, 0.95
_COMMON_VARIANCE = "parallel analysis of common variance"
#: Rows of a kernel matrix looked at, and tables with shuffled columns.
KERNEL_SAMPLE_ROWS, SHUFFLED_TABLES = 500, 40
SHUFFLED = "shuffled columns"


def random_scatter(columns: Array, freedom: float, rng: np.random.Generator) -> Array:
    """Covariance matrix of normal rows with uncorrelated columns, drawn without the rows: Bartlett's decomposition."""
    d, whole = len(columns), int(np.floor(freedom))
    m = min(d, whole)
    L = np.tril(rng.standard_normal((d, m)), -1)
    L[np.arange(m), np.arange(m)] = np.sqrt(rng.chisquare(freedom - np.arange(m)))
    L *= np.sqrt(columns / freedom)[:, None]
    return L @ L.T


def each(one: Callable[[int], Array], count: int) -> Array:
    """Rows ``one(0), one(1), ...`` of an array, made by all threads."""
    found: list[Any] = [None] * count

    def work(chosen: Sequence[int], meter: Meter) -> None:
        for at in chosen:
            found[at] = one(at)
            meter.tick()

    run(work, share(count, threads_for(count)))
    return np.array(found)


def correlation_of(C: Array) -> Array:
    """Correlation matrix of a covariance matrix."""
    size = np.sqrt(np.diag(C))
    R = C / np.outer(size, size)
    R[np.diag_indices_from(R)] = 1.0
    return R


def descending(C: Array) -> Array:
    """Eigenvalues, the largest first."""
    return lapack.eigvalsh(C)[::-1]


def reduced(R: Array) -> Array:
    """Eigenvalues of a correlation matrix with squared multiple correlations on its diagonal, the largest first."""
    return descending(R - np.diag(1 / np.diag(lapack.interruptible(np.linalg.inv, R))))


def random_variances(
    columns: Array,
    freedom: float,
    *,
    correlation: bool,
    seed: int,
    tables: int = RANDOM_TABLES,
    of: Callable[..., Array] = descending,
) -> Array:
    """Variances of the components of random tables, a row each; with :func:`reduced`, common variances."""
    seeds = np.random.default_rng(seed).spawn(tables)

    def one(at: int) -> Array:
        C = random_scatter(columns, freedom, seeds[at])
        return of(correlation_of(C) if correlation else C)

    return each(one, tables)


def component_limits(columns: Array, freedom: float, **tables: Any) -> Array:
    """What the k-th variance of a random table passes once in twenty."""
    return np.quantile(random_variances(columns, freedom, **tables), _TABLES_QUANTILE, axis=0)


def horn(found: Variances, *, correlation: bool, seed: int = 0, limits: Array | None = None) -> Suggestion:
    """Components with more variance than in 95 % of random tables; the scale is that of the analysis.

    ``limits`` are those of :func:`component_limits`, if they are known. References: Horn, Psychometrika 1965; Buja,
    Eyuboglu, Multivariate Behavioral Research 1992.
    """
    if limits is None:
        columns = np.ones(found.d) if correlation else found.columns
        limits = component_limits(columns, found.freedom, correlation=correlation, seed=seed)
    values = found.leading()
    k = run_length(values > limits[: len(values)])
    following = f", next {values[k]:.4g} of {limits[k]:.4g}" if k < len(values) else ""
    return Suggestion("parallel analysis", k, "Horn 1965", f"{RANDOM_TABLES} random tables{following}")


def horn_factors(R: Array, n: float, *, seed: int = 0, limits: Array | None = None) -> Suggestion:
    """Factors with more common variance than in 95 % of random tables.

    Reference: Humphreys, Ilgen, Educational and Psychological Measurement 1969.
    """
    if n - 1 <= len(R) or lapack.eigvalsh(R)[0] <= 1e-10:
        return Suggestion(_COMMON_VARIANCE, None, "Humphreys, Ilgen 1969", "the correlation matrix is singular")
    if limits is None:
        limits = component_limits(np.ones(len(R)), n - 1, correlation=True, seed=seed, of=reduced)
    values = reduced(R)
    k = run_length((values > limits) & (values > 0))
    return Suggestion(_COMMON_VARIANCE, k, "Humphreys, Ilgen 1969", f"{RANDOM_TABLES} random tables")


def kernel_criteria(kernel: Kernel, X: Matrix, seed: int = 0) -> tuple[Suggestion, Suggestion]:
    """What shuffled columns say, and the largest gap; both of a sample of at most 500 rows.

    The parameters of the kernel are resolved; X is the Gram matrix of a precomputed one. Reference: Jorgensen, Hansen,
    IEEE Transactions on Neural Networks and Learning Systems 2012.
    """
    rng = np.random.default_rng(seed)
    n, given = X.shape[0], kernel.given
    A = sample(kernel, X, rng)
    values = centred_values(kernel, A)
    gap, source = largest_gap(values), "Jorgensen, Hansen 2012"
    if given or A.shape[1] < 2:
        why = "a precomputed kernel has no columns to shuffle" if given else "one column cannot be shuffled apart"
        return Suggestion(SHUFFLED, None, source, why), gap
    limits = np.quantile(shuffled_values(kernel, A, rng), _TABLES_QUANTILE, axis=0)
    k = run_length((values > limits) & (values > 1e-10 * values[0]))
    seen = f"{SHUFFLED_TABLES} tables" + (f" of {KERNEL_SAMPLE_ROWS} rows" if n > KERNEL_SAMPLE_ROWS else "")
    if k < len(values):
        seen += f", next {values[k]:.4g} of {limits[k]:.4g}"
    return Suggestion(SHUFFLED, k, source, seen), gap


def sample(kernel: Kernel, X: Matrix, rng: np.random.Generator) -> Array:
    """At most 500 rows, dense."""
    n = X.shape[0]
    rows = np.sort(rng.choice(n, KERNEL_SAMPLE_ROWS, replace=False)) if n > KERNEL_SAMPLE_ROWS else np.arange(n)
    return np.asarray(to_dense(X[rows][:, rows] if kernel.given else X[rows]), dtype=np.float64)


def centred_values(kernel: Kernel, A: Array) -> Array:
    """Eigenvalues of the centred Gram matrix, the largest first; the mean takes one away."""
    gram = KernelSpace(kernel, A).centred()
    return descending(gram.toarray())[: min(gram.limit, len(A) - 1)]


def shuffled_values(kernel: Kernel, A: Array, rng: np.random.Generator) -> Array:
    """Eigenvalues of tables with every column in an order of its own, a row each."""
    seeds = rng.spawn(SHUFFLED_TABLES)
    return each(lambda at: centred_values(kernel, seeds[at].permuted(A, axis=0)), SHUFFLED_TABLES)
