"""How fast this machine is: the library's own building blocks, timed once on little data.

Every rate is measured when first asked for, in a few hundredths of a second, and kept for the process. Rates are those
of the moment: a machine that is busy now is forecast as busy.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
import scipy.linalg

from gramian.config import PINNED_MAX_MULTIPLICATIONS, one_blas_thread, thread_count
from gramian.engine.product import Pairs
from gramian.kernels import Kernel
from gramian.operators import Dense, Gram, moments_of
from gramian.operators.similarities import ThinProducts
from gramian.results import Array
from gramian.solvers.clustering import Run
from gramian.solvers.dense import CholeskyFactor
from gramian.solvers.independence import log_cosh

#: Seconds for which a building block is repeated, and runs at the most; the median counts.
_TIMED_SECONDS, _TIMED_MAX_RUNS = 0.08, 7
#: What seconds are read from.
clock = time.perf_counter
#: Columns up to which rates are measured as they are; beyond, they are extended along the last stretch.
_TIMED_MAX_COLUMNS = 4096
#: Rows of the sample: a few tiles for each thread.
_TIMED_ROWS = 2048
#: Part of an eigendecomposition that reads a matrix again and again, as this many multiplications an entry: between
#: 500 and 3,000 rows it takes the time per n^3 from 2.5 to 1.
_EIGH_SQUARE_TERM = 900
#: Part of a Cholesky factor in which threads wait for a panel, as this many multiplications an entry: from 1,500 to
#: 5,000 rows the time per n^3 falls from 2.7 to 1.
_CHOLESKY_SQUARE_TERM = 6800

Arguments = ParamSpec("Arguments")
_rates: dict[tuple[Any, ...], float] = {}


def once(rate: Callable[Arguments, float]) -> Callable[Arguments, float]:
    """Measure a rate when first asked for, and again only if the number of threads has changed."""

    @wraps(rate)
    def known(*args: Arguments.args, **kwargs: Arguments.kwargs) -> float:
        key = rate.__name__, args, tuple(kwargs.items()), thread_count()
        if key not in _rates:
            _rates[key] = rate(*args, **kwargs)
        return _rates[key]

    return known


@dataclass(frozen=True)
class Tiles:
    """Seconds on all threads together for a kernel value, and to multiply it with one number."""

    value: float
    use: float

    def product(self, n: int, vectors: float) -> float:
        """Seconds of a symmetric product: each value serves twice."""
        return n * n * (self.value / 2 + vectors * self.use)

    def cross(self, n: float, m: float, vectors: float = 0.0) -> float:
        """Seconds of a product between n and m rows."""
        return n * m * (self.value + vectors * self.use)


_tiles: dict[tuple[Any, ...], Tiles] = {}


def tiles(kernel: Kernel, d: int, dtype: str = "float64", *, pairs: float = 0.0) -> Tiles:
    """Rates of a kernel on so many pairs of rows of d columns."""
    rows, large = _TIMED_ROWS, kernel.compiled_from(d)
    if large is not None and pairs >= large:
        # Made in another way, so quick that starting counts.
        rows = max(_TIMED_ROWS, math.isqrt(large - 1) + 1)
    key = str(kernel), getattr(kernel, "function", None), d, dtype, rows, thread_count()
    if key not in _tiles:
        _tiles[key] = _measured_tiles(kernel, d, dtype, rows if d <= 1024 else rows // 2)
    return _tiles[key]


def _measured_tiles(kernel: Kernel, d: int, dtype: str, rows: int) -> Tiles:
    if d > _TIMED_MAX_COLUMNS and not kernel.given:
        half = _TIMED_MAX_COLUMNS // 2
        near, far = (_measured_tiles(kernel, width, dtype, rows) for width in (half, 2 * half))
        return Tiles(far.value + (d - 2 * half) * max(far.value - near.value, 0.0) / half, far.use)
    X = sample(kernel, d, rows)
    gram = Gram(kernel, X, dtype)
    few, many = np.ones((gram.n, 4), dtype=dtype), np.ones((gram.n, 24), dtype=dtype)
    short, long = seconds(lambda: gram @ few), seconds(lambda: gram @ many)
    use = max(long - short, 0.0) / 20
    return Tiles(2 * max(short - 4 * use, 0.2 * short) / gram.n**2, use / gram.n**2)


def sample(kernel: Kernel, d: int, rows: int) -> Array:
    """Rows to try a kernel on; a Gram matrix if it takes one."""
    if kernel.given:
        X = np.random.default_rng(0).standard_normal((rows, 8))
        return X @ X.T
    return np.random.default_rng(0).standard_normal((rows, d))


def held(kernel: Kernel, d: int, dtype: str = "float64") -> float:
    """Bytes for each row that a kernel keeps of prepared rows; counted, not timed."""
    X = sample(kernel, d, 8)
    return _bytes(kernel.pairs(X, X, np.dtype(dtype)), {id(X)}) / len(X)


def _bytes(part: object, seen: set[int]) -> int:
    """Bytes of all arrays that belong to prepared pairs, each counted once."""
    if id(part) in seen:
        return 0
    seen.add(id(part))
    if isinstance(part, np.ndarray):
        return part.nbytes if part.base is None or id(part.base) not in seen else 0
    if isinstance(part, (list, tuple)):
        return sum(_bytes(inner, seen) for inner in part)
    return sum(_bytes(inner, seen) for inner in vars(part).values()) if isinstance(part, Pairs) else 0


def spectrum(n: int) -> float:
    """Seconds of all eigenpairs of an n x n matrix, of a small one on one thread as the solver has it."""
    if n**3 <= PINNED_MAX_MULTIPLICATIONS:
        return n**3 * _eigh(512, 0, alone=True)
    return (n**3 + _EIGH_SQUARE_TERM * n**2) * _eigh(1024, _EIGH_SQUARE_TERM, alone=False)


@once
def _eigh(n: int, square_term: int, alone: bool) -> float:
    """Seconds per ``n^3 + square_term n^2``."""
    A = _symmetric(n)
    spent = seconds(lambda: scipy.linalg.eigh(A.copy(), driver="evd", overwrite_a=True, check_finite=False), alone)
    return spent / (n**3 + square_term * n**2)


def factor(n: int) -> float:
    """Seconds of a Cholesky factor of an n x n matrix by tiles."""
    return (n**3 + _CHOLESKY_SQUARE_TERM * n**2) * _factor()


@once
def _factor() -> float:
    n = 2048
    A = _symmetric(n) + 4 * n * np.eye(n)
    return seconds(lambda: CholeskyFactor(A.copy()), alone=True) / (n**3 + _CHOLESKY_SQUARE_TERM * n**2)


@once
def svd() -> float:
    """Seconds per n d min(n, d) of a singular value decomposition, on one thread."""
    A = _symmetric(512)[:, :256]
    return seconds(lambda: scipy.linalg.svd(A, full_matrices=False, check_finite=False), alone=True) / (A.size * 256)


@once
def multiply(threads: int = 1) -> float:
    """Seconds for a multiplication and addition inside large matrix products, on one BLAS thread or (0) on all."""
    A = _symmetric(768)
    return seconds(lambda: A @ A, alone=threads != 0) / 768**3


@once
def read() -> float:
    """Seconds per byte to multiply a kept matrix that is larger than the caches."""
    kept = Dense(np.ones((2500, 2500)), positive=True)
    V = np.ones((2500, 12))
    return seconds(lambda: kept @ V) / kept.A.nbytes


@once
def touch() -> float:
    """Seconds per byte of memory used for the first time."""
    return seconds(lambda: np.ones(4 * 10**6)) / 32e6


@once
def moments(d: int) -> float:
    """Seconds for a row of d columns in one pass of the moments engine."""
    if d > _TIMED_ROWS:
        return moments(_TIMED_ROWS) * (d / _TIMED_ROWS) ** 2
    X = np.random.default_rng(0).standard_normal((max(_TIMED_ROWS, min(2 * 10**6 // d, 10**5)), d))
    return seconds(lambda: moments_of(X)) / len(X)


@once
def secant() -> float:
    """Seconds for an entry in a step of independent components: the density's slope, and one likelihood."""
    Y = np.random.default_rng(0).standard_normal((8, 30_000))

    def run() -> None:
        np.square(np.tanh(Y))
        log_cosh(Y)

    return seconds(run) / Y.size


@once
def step() -> float:
    """Seconds for a row and a cluster in a step of k-means, products aside."""
    n, k = 4096, 8
    rows = ThinProducts(np.random.default_rng(0).standard_normal((n, k)))
    start, diagonal = np.arange(n) % k, rows.diagonal()

    def run() -> None:
        state = Run(rows, np.ones(n), k, 0.0, start.copy())
        state.F = rows.X
        state.step(diagonal)

    return seconds(run) / (n * k)


def _symmetric(n: int) -> Array:
    A = np.random.default_rng(0).standard_normal((n, n))
    return A + A.T


def seconds(run: Callable[[], Any], alone: bool = False) -> float:
    """Median seconds of a few runs after a first one that does not count; ``alone`` on one BLAS thread."""
    spent: list[float] = []
    with one_blas_thread() if alone else nullcontext():
        run()
        while not spent or (sum(spent) < _TIMED_SECONDS and len(spent) < _TIMED_MAX_RUNS):
            start = clock()
            run()
            spent.append(clock() - start)
    return statistics.median(spent)
