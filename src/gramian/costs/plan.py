"""What plans are made of: the size of a job, the plan itself, and costs of matrices, eigenpairs and moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gramian.config import thread_count
from gramian.costs import machine
from gramian.engine.tiles import SIDE, rows_of_a_block, threads_for
from gramian.kernels import Kernel, as_kernel
from gramian.kernels.given import Evaluated, evaluated
from gramian.operators import Outline
from gramian.operators.gram import Gram, worth_keeping
from gramian.results import Array
from gramian.solvers.eigen import Krylov, Solver, choose_eigen_solver

#: Products of a block Krylov method on usual data: in single precision, then in double; in double precision alone.
_KRYLOV_FLOAT32_PRODUCTS, _KRYLOV_FLOAT64_PRODUCTS, _KRYLOV_FLOAT64_ALONE = 5, 1, 40


@dataclass(frozen=True)
class Job:
    """Sizes of the data: n rows of d columns, q targets (columns of a second view, classes), and their type.

    ``stream`` says that the rows stream by, ``reader`` how many bytes reading them takes beside the blocks, ``scaled``
    that a Standardizer comes first.
    """

    n: int
    d: int
    q: int = 1
    dtype: str = "float64"
    stream: bool = False
    reader: int = 0
    scaled: bool = False

    @property
    def copied(self) -> int:
        """Bytes of the copy that is made of rows which are neither single nor double precision."""
        return 0 if np.dtype(self.dtype) in (np.float32, np.float64) else 8 * self.n * self.d

    @property
    def rows(self) -> int:
        """Bytes of the rows once they are floats."""
        narrow = np.dtype(self.dtype) == np.float32
        return (4 if narrow else 8) * self.n * self.d


@dataclass(frozen=True)
class Plan:
    """What an estimator would do: ``route`` and ``reason`` as in the summary of the fit, the work in words, the cost.

    ``bytes`` is the peak of the memory above the data. ``seconds()`` times the building blocks. ``typical`` says that
    the data decide how many steps it takes, so that the numbers are those of usual data.
    """

    route: str
    reason: str
    products: str
    bytes: float
    seconds: Callable[[], float]
    typical: bool = False


@dataclass(frozen=True)
class Matrix:
    """A symmetric matrix that is not formed yet.

    ``kept`` says whether it is formed at once; ``held`` and ``narrow`` are bytes in double precision, and what single
    precision adds; ``made`` and ``whole`` are seconds to prepare it and to write it out as a new array, ``product`` of
    a product with so many vectors in a precision, ``columns`` of so many columns.
    """

    outline: Outline
    kept: bool
    held: float
    narrow: float
    made: Callable[[], float]
    whole: Callable[[], float]
    product: Callable[[float, str], float]
    columns: Callable[[float], float]


def resolved(kernel: str | Kernel | Callable[..., Array], d: int) -> Kernel:
    """The kernel, with parameters given as words replaced by numbers from a few rows of d columns: any will do."""
    found = as_kernel(kernel)
    number = found.resolve(machine.sample(found, d, 8))
    return evaluated(number) if number.given else number


def prepared(given: str | Kernel | Callable[..., Array], job: Job) -> tuple[Kernel, float]:
    """The kernel, and bytes of what is made of the rows on the way in: a copy to keep, and checks of a Gram matrix."""
    kernel = resolved(given, job.d)
    if not kernel.given:
        return kernel, job.copied + job.rows
    if job.n != job.d:
        raise ValueError(f"kernel='precomputed' needs a square Gram matrix; n={job.n} and d={job.d} differ.")
    return kernel, job.copied + (job.rows if isinstance(kernel, Evaluated) else 0)


def gram(kernel: Kernel, n: int, d: int) -> Matrix:
    """The Gram matrix of a kernel as estimators hold it: kept if it is small, else tiles."""
    positive = kernel.positive_definite or kernel.properly_centred

    def written() -> float:
        return machine.tiles(kernel, d, pairs=n * n).cross(n, n / 2) + 8 * n * n * machine.touch()

    if worth_keeping(kernel, n, d):
        return table(n, positive, n * machine.held(kernel, d), written)
    return Matrix(
        Outline(n, positive, narrow_pays=Gram.narrow_pays),
        False,
        n * machine.held(kernel, d),
        n * machine.held(kernel, d, "float32"),
        lambda: 0.0,
        written,
        lambda vectors, dtype: machine.tiles(kernel, d, dtype, pairs=n * n).product(n, vectors),
        lambda count: machine.tiles(kernel, d, pairs=n * count).cross(n, count),
    )


def moments_bytes(n: int, d: int) -> float:
    """Bytes of a pass that sums moments: for each thread a block of rows and two d x d sums, and their merging."""
    block = min(n, rows_of_a_block(d))
    return 8.0 * (threads_for(-(-n // block)) * (block * d + 2 * d * d) + d * d)


def tile_buffers(n: int) -> float:
    """Bytes of the tiles that threads work on."""
    return 8.0 * threads_for(-(-n // SIDE)) * min(n, SIDE) ** 2


def table(n: int, positive: bool, beside: float, made: Callable[[], float]) -> Matrix:
    """A matrix that is formed, with what is held beside it."""
    return Matrix(
        Outline(n, positive),
        True,
        8.0 * n * n + beside,
        0.0,
        made,
        lambda: 16 * n * n * machine.touch(),
        lambda vectors, dtype: 8 * n * n * machine.read() * max(1.0, vectors / 12),
        lambda count: 8 * n * count * machine.touch(),
    )


def eigenpairs(matrix: Matrix, k: int, solver: str | Solver) -> Plan:
    """Leading k eigenpairs of a matrix, by the solver that :func:`gramian.solvers.eigen.choose_eigen_solver` takes."""
    n = matrix.outline.n
    k = min(k, n)
    chosen, reason = choose_eigen_solver(matrix.outline, k, solver)
    if chosen.name == "dense":
        # The matrix, LAPACK's two to work in, then eigenvectors, their images and copies of both.
        room = matrix.held + max(24.0 * n * n, 8.0 * n * n + 32.0 * n * k)
        time = lambda: matrix.made() + matrix.whole() + machine.spectrum(n) + 24 * n * n * machine.touch()  # noqa: E731
        return Plan("dense", reason, "", room, time, False)
    if isinstance(chosen, Krylov):
        return _krylov(matrix, k, chosen, reason)
    vectors = 1 if chosen.name == "power" else k + getattr(chosen, "oversampling", 10)
    count = 60 * k if chosen.name == "power" else 40
    room = matrix.held + 8.0 * n * (6 * vectors + 4 * k)
    work = f"{count} products of {vectors} vector{'s' * (vectors > 1)}"
    time = lambda: matrix.made() + count * matrix.product(vectors, "float64")  # noqa: E731
    return Plan(chosen.name, reason, work, room, time, True)


def _krylov(matrix: Matrix, k: int, chosen: Krylov, reason: str) -> Plan:
    n, threads = matrix.outline.n, thread_count()
    size = min(n, k + chosen.extra)
    blocks = chosen.affordable(n, size)
    mixed = chosen.mixed and matrix.outline.narrow_pays
    narrow, wide = (_KRYLOV_FLOAT32_PRODUCTS, _KRYLOV_FLOAT64_PRODUCTS) if mixed else (0, _KRYLOV_FLOAT64_ALONE)
    searched, width = narrow or wide, 4.0 if mixed else 8.0
    stored = min(searched + 2, blocks)  # more than usual: memory is better forecast too high than too low
    # Basis and images, the old ones beside the new; the start; sums of each thread, and copies of a block.
    search = width * n * size * (2 * (2 * stored - 1) + threads + 3) + 8.0 * n * size
    sketch = 8.0 * n * (4 * size + 3 * min(32, size))
    tiles = tile_buffers(n) * width / 8 if matrix.narrow else 0.0
    room = matrix.held + max(search + matrix.narrow + tiles, sketch)

    def seconds() -> float:
        one = machine.multiply()
        products = narrow * matrix.product(size, "float32") + wide * matrix.product(size, "float64")
        # Orthonormalising and Ritz vectors: tall products with all that is stored, about eight in a round.
        tall = n * size * size * 4 * stored * stored * one * (0.5 if mixed else 1.0)
        start = matrix.columns(4 * size) + n * (4 * size) ** 2 * one
        return matrix.made() + start + products + tall + search * machine.touch()

    counts = f"{narrow} products in float32, {wide} in float64" if narrow else f"{wide} products"
    return Plan("krylov", reason, f"{counts}, {size} vectors each", room, seconds, True)
