"""Plans of the kernel methods that look for components, classes and neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.config import memory_budget, thread_count
from gramian.engine.tiles import threads_for
from gramian.estimators import (
    KernelCCA,
    KernelKMeans,
    KernelKNNClassifier,
    KernelKNNRegressor,
    KernelPCA,
    KernelPrototypeClassifier,
    KernelSVC,
)
from gramian.estimators.cca import check_ridge
from gramian.estimators.kernel_cca_pairs import ALL_FOLDS_MAX_ROWS, DEFAULT_RANK, choose_pairs_route, products_obstacle
from gramian.estimators.kernel_neighbours import SEARCH_WAYS, way_of_search
from gramian.estimators.kernel_svm import is_narrow
from gramian.estimators.n_components import check_components, is_auto, whole_number
from gramian.forecasting import machine
from gramian.forecasting.plan import Job, Plan, plan
from gramian.forecasting.spectra import eigenpairs, gram, tile_buffers
from gramian.kernels import Kernel, as_kernel
from gramian.kernels.given import Evaluated, evaluated
from gramian.operators.similarities import KeptGram, ThinProducts, way_of_holding
from gramian.solvers.box_qp import FIRST_WORKING_SET, FLOAT64_MAX_ROWS, LEAST_WORKING_SET
from gramian.solvers.canonical import affordable
from gramian.solvers.clustering import SCORE_STARTS, START_BLOCK_ROWS, START_LANDMARKS
from gramian.spaces import KernelSpace
from gramian.spaces.kernel import check_rank

#: Components that a criterion finds in usual data.
FEW = 10
#: Products with each matrix that canonical pairs of usual kernels take.
PAIRS = 10
#: Steps of k-means on usual data, and the share of rows that move in all of them together.
STEPS, MOVED = 40, 2.0
#: Iterations of the interior point method.
INTERIOR = 30


def resolved(kernel: Any, d: int) -> Kernel:
    """The kernel, its words made numbers on a few rows of d columns: any numbers will do."""
    found = as_kernel(kernel)
    number = found.resolve(machine.sample(found, d, 8))
    return evaluated(number) if number.given else number


def prepared(estimator: Any, job: Job) -> tuple[Kernel, float]:
    """The kernel, and bytes of what is made of the rows on the way in: a copy to keep, and checks of a Gram matrix."""
    kernel = resolved(estimator.kernel, job.d)
    if not kernel.given:
        return kernel, job.copied + job.rows
    if job.n != job.d:
        raise ValueError(f"kernel='precomputed' needs a square Gram matrix; n={job.n} and d={job.d} differ.")
    return kernel, job.copied + (job.rows if isinstance(kernel, Evaluated) else 0)


@plan.register
def _(estimator: KernelPCA, job: Job) -> Plan:
    n, (kernel, copy) = job.n, prepared(estimator, job)
    check_components(estimator.n_components, n, f"the number of rows, {n}", auto=True)
    rank = min(n, FEW) if is_auto(estimator.n_components) else whole_number(estimator.n_components)
    check_rank(rank, n)
    found = eigenpairs(gram(kernel, n, job.d), rank or n, estimator.solver)
    room = copy + found.bytes + 24.0 * n * (rank or n) * (rank is None)
    return Plan(found.solver, found.reason, found.products, room, found.seconds, found.typical)


@plan.register
def _(estimator: KernelCCA, job: Job) -> Plan:
    n, k, (kernel, copy) = job.n, estimator.n_components, prepared(estimator, job)
    given = estimator.kernel if estimator.kernel_y is None else estimator.kernel_y
    other = resolved(given, job.q)
    widths = job.d, job.n if other.given else job.q
    x, y = (KernelSpace(K, machine.sample(K, d, 8)) for K, d in zip((kernel, other), widths, strict=True))
    route, reason = choose_pairs_route(
        n, k, products_obstacle(x, y, check_ridge(estimator.ridge)), estimator.rank, estimator.solver
    )
    sides = [gram(K, n, d) for K, d in zip((kernel, other), widths, strict=True)]
    parts = min(estimator.folds or 0, n // 3)
    folds = 0.0 if parts < 2 else (parts if n <= ALL_FOLDS_MAX_ROWS else 1) * (1 - 1 / parts) ** 2
    rows = copy + 8.0 * n * job.q + (8.0 * n * n if isinstance(other, Evaluated) else 0.0)
    if route != "products":
        rank = n if route == "dense" else min(n, estimator.rank or max(DEFAULT_RANK, 2 * (k or 1)))
        bases = [eigenpairs(side, rank, "dense" if route == "dense" else estimator.solver) for side in sides]
        room = rows + max(basis.bytes for basis in bases) + 8.0 * n * rank * 5 + 8.0 * rank * rank * 4

        def dense() -> float:
            small = n * rank * rank * machine.multiply(0) + rank**3 * machine.svd()
            return (1 + folds) * (sum(basis.seconds() for basis in bases) + small)

        work = "; ".join(f"{name}: {basis.products}" for name, basis in zip("XY", bases, strict=True) if basis.products)
        return Plan(bases[0].solver, reason, work, room, dense, bases[0].typical)
    size = min(n, int(k or 1) + 5)
    blocks, rank = affordable(n, size)
    known = 4 * 8.0 * n * size * (2 * min(PAIRS, blocks) - 1)
    room = rows + sum(side.held for side in sides) + 2 * 8.0 * n * rank + max(known, 3 * 8.0 * n * rank)
    room += 0.0 if all(side.kept for side in sides) else tile_buffers(n)

    def seconds() -> float:
        sketch = sum(side.made() + side.columns(rank) for side in sides)
        sketch += 2 * n * rank**2 * (machine.multiply() + machine.svd())
        products = PAIRS * sum(side.product(size, "float64") for side in sides)
        tall = 2 * PAIRS * n * size * (8 * size * blocks + 4 * rank) * machine.multiply()
        return (1 + folds) * (sketch + products + tall)

    work = f"{PAIRS} products with each matrix, {size} vectors each"
    return Plan("krylov", reason, work, room, seconds, True)


@plan.register
def _(estimator: KernelSVC, job: Job) -> Plan:
    n, d, (kernel, _) = job.n, job.d, prepared(estimator, job)
    problems = job.q if job.q > 2 else 1
    states = 8.0 * n * problems * 12
    if is_narrow(kernel, (n, d), bool(estimator.bias)):
        width = d + bool(estimator.bias)
        room = job.copied + states + threads_for(problems) * 8.0 * n * (2 * width + 12)
        each = n * width * (width + 8)
        work = f"{INTERIOR} iterations"
        time = lambda: problems * INTERIOR * each * machine.multiply() * 1.5  # noqa: E731
        return Plan("interior point method", "the linear kernel has fewer columns than rows", work, room, time, True)
    limit = max(int(np.sqrt(memory_budget() / (4 * (1 + threads_for(problems))))), LEAST_WORKING_SET)
    wide = n <= FLOAT64_MAX_ROWS
    size = min(n, max(FIRST_WORKING_SET, n // 8), limit)
    rounds = 1 if wide else int(4 + n / FIRST_WORKING_SET)
    dtype = "float64" if wide else "float32"
    width = np.dtype(dtype).itemsize
    block = width * size**2 * (1 + 0.5 * threads_for(problems))
    room = job.copied + job.rows + block + states + 2 * n * machine.held(kernel, d, dtype)

    def seconds() -> float:
        rate, last = machine.tiles(kernel, d, dtype), machine.tiles(kernel, d, pairs=n * n / 3)
        # Columns that changed are a third of a working set; at the end all that matter, in double precision.
        rest = 0.0 if wide else rate.cross(n, size / 3, problems)
        steps = problems * n * size * 8 * machine.read()
        return rounds * (rate.cross(size, size / 2) + rest) + last.cross(n, n / 3, problems) + steps

    reason = f"of up to {size:,} rows; the kernel matrix would take {8 * n * n / 1e6:,.0f} MB"
    work = f"{rounds} round{'s' * (rounds > 1)}, {n:,} coordinate steps"
    return Plan("working sets", reason, work, room, seconds, True)


@plan.register
def _(estimator: KernelKMeans, job: Job) -> Plan:
    n, d, (kernel, copy) = job.n, job.d, prepared(estimator, job)
    k, starts = int(estimator.n_clusters), int(estimator.n_init) if isinstance(estimator.init, str) else 1
    held = way_of_holding(kernel, n)
    if estimator.batch_size is not None:
        size = min(n, int(estimator.batch_size))
        drawn = min(n, (4 + STEPS) * size)
        time = lambda: machine.tiles(kernel, d, pairs=n * drawn).cross(n + STEPS * size, drawn, k)  # noqa: E731
        room = copy + 8.0 * n * k * 4 + 2 * n * machine.held(kernel, d) + 8.0 * (4 * size) * k * starts * 4
        return Plan("mini-batches", held.route, f"{STEPS} batches of {size:,} rows", room, time, True)
    smart = isinstance(estimator.init, str) and estimator.init == "k-means++"
    runs = starts + (smart and starts > 1 and kernel.positive_definite)
    together = max(1, min(runs, memory_budget() // (64 * n * k)))
    trials = 2 + int(np.log(k))
    matrix = 0.0 if held is ThinProducts else n * machine.held(kernel, d) + (8.0 * n * n if held is KeptGram else 0.0)
    descent = 8.0 * n * k * (together * (4 + (thread_count() if held is not KeptGram else 1)) + 6)
    chosen = min(n, START_LANDMARKS + 4 * k) if runs > starts else 0  # rows that stand for all, to find components from
    block = 8.0 * chosen * (min(n, START_BLOCK_ROWS) * (3 if held is KeptGram else 2) + 4 * chosen)
    # Scores on those components are clustered from starts of their own.
    scored = 8.0 * n * k * (6 * max(1, min(SCORE_STARTS, memory_budget() // (64 * n * k))) + 6) if chosen else 0.0
    seeds = max(8.0 * n * min(starts, together) * trials * 4, block, scored)
    room = copy + matrix + max(descent, seeds)
    copies = 8.0 * n * d if held is ThinProducts else 0.0

    def seconds() -> float:
        columns = k * starts * trials * smart + 2 * chosen
        # A step judges and moves every row; components of a sample are clustered from ten starts, for longer.
        book = n * k * (runs + 20 * bool(chosen)) * STEPS * machine.step()
        if held is ThinProducts:
            return n * d * (columns + 2 * k * runs * STEPS) * machine.multiply() * 2 + book
        if held is KeptGram:
            made = machine.tiles(kernel, d, pairs=n * n).cross(n, n / 2) + 8 * n * n * machine.touch()
            return made + 8 * n * n * machine.read() * k * runs / 12 * (1 + MOVED) + book
        rate = machine.tiles(kernel, d)
        prepared_again = STEPS * n * 2 * machine.held(kernel, d) * machine.touch()
        moved = rate.cross(n, MOVED * n, k * runs / 2) + prepared_again
        return rate.product(n, k * runs) + moved + rate.cross(n, columns) + book

    work = f"{runs} start{'s' * (runs > 1)}, 1 product with all rows and {MOVED:g} in parts, {STEPS} steps"
    return Plan("Lloyd", held.route, work, room + copies, seconds, True)


@plan.register(KernelKNNClassifier)
@plan.register(KernelKNNRegressor)
def _(estimator: Any, job: Job) -> Plan:
    kernel, copy = prepared(estimator, job)
    way = way_of_search(kernel, job.n, job.d)
    # Labels are sorted on the way; a tree is made when it is first asked.
    room = copy + 8.0 * job.n * (10 if isinstance(estimator, KernelKNNClassifier) else 3 + job.q)
    seconds = lambda: 4 * job.rows * machine.touch()  # noqa: E731

    return Plan(way, SEARCH_WAYS[way], "the rows are kept; each new row is compared with them", room, seconds)


@plan.register
def _(estimator: KernelPrototypeClassifier, job: Job) -> Plan:
    n, d, classes, (kernel, copy) = job.n, job.d, max(job.q, 2), prepared(estimator, job)
    held = way_of_holding(kernel, n)
    vectors = 8.0 * n * classes * (4 + thread_count())
    if held is ThinProducts:
        time = lambda: 4 * n * d * classes * machine.multiply() + 4 * job.rows * machine.touch()  # noqa: E731
        return Plan(held.route, "", "1 product", job.copied + 8.0 * n * (d + 4 * classes), time)
    matrix = gram(kernel, n, d)
    time = lambda: matrix.made() + matrix.product(classes, "float64")  # noqa: E731
    return Plan(held.route, "", "1 product", copy + matrix.held + vectors + tile_buffers(n), time)
