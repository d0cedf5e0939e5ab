"""What fits of the kernel methods cost, exact or cut to low rank, and how they choose their routes."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from sklearn.base import is_classifier

from gramian.config import memory_budget, thread_count
from gramian.costs import machine
from gramian.costs.plan import Job, Matrix, Plan, eigenpairs, gram, prepared, resolved, tile_buffers
from gramian.engine.tiles import threads_for
from gramian.estimators.cca import check_ridge
from gramian.estimators.kernel_cca_pairs import ALL_FOLDS_MAX_ROWS, DEFAULT_RANK, choose_pairs_route, products_obstacle
from gramian.estimators.kernel_rows import FIRST_ROWS_BUDGET_DIVISOR, KernelInput, require_landmarks
from gramian.estimators.landmarks import DEFAULT_LANDMARKS, LANDMARK_SAMPLE_MIN_ROWS, ROWS_PER_LANDMARK
from gramian.estimators.plans_linear import STREAM_BLOCKS, in_memory
from gramian.estimators.validation import check_components
from gramian.kernels import Kernel
from gramian.kernels.given import Evaluated
from gramian.operators import Outline
from gramian.operators.mapped_moments import rows_summed
from gramian.operators.rows import block_rows
from gramian.operators.similarities import KeptGram, ThinProducts, way_of_holding
from gramian.solvers.box_qp import FIRST_WORKING_SET, FLOAT64_MAX_ROWS, LEAST_WORKING_SET, first_working_set
from gramian.solvers.canonical import affordable
from gramian.solvers.clustering import SCORE_STARTS, START_BLOCK_ROWS, START_LANDMARKS
from gramian.solvers.conjugate import PRECONDITIONER_RANK, ConjugateGradients
from gramian.solvers.dense import CHOLESKY_TILE
from gramian.solvers.linear_methods import Cholesky
from gramian.solvers.linear_systems import choose_linear_solver
from gramian.spaces import KernelSpace
from gramian.spaces.kernel import check_rank
from gramian.spaces.ridge import PRIMAL_CORRECTIONS, choose_form

if TYPE_CHECKING:
    from gramian.estimators.kernel_cca import KernelCCA
    from gramian.estimators.kernel_kmeans import KernelKMeans
    from gramian.estimators.kernel_neighbours import KernelKNNClassifier, KernelKNNRegressor
    from gramian.estimators.kernel_pca import KernelPCA
    from gramian.estimators.kernel_prototypes import KernelPrototypeClassifier
    from gramian.estimators.kernel_ridge import KernelRidge
    from gramian.estimators.kernel_svm import KernelSVC

K = TypeVar("K", bound=KernelInput)

#: Columns up to which a support vector machine of the linear kernel is solved by way of a d x d matrix.
INTERIOR_POINT_MAX_COLUMNS = 2000
#: A tree serves rows of few columns; with more it visits nearly all of them anyway.
TREE_MAX_COLUMNS, TREE_MIN_ROWS = 5, 1000
#: How prototypes of the linear kernel are found, in words.
ROUTE_OF_MEANS = "means of the rows of each class"
#: How neighbours are found, in words.
SEARCH_WAYS = {
    "tree": "a tree (few columns, and the kernel falls with the distance)",
    "plain": "plain distances (the kernel falls with them), in tiles",
    "tiles": "tiles of kernel values",
}

#: Components that a criterion finds in usual data.
_USUAL_COMPONENTS = 10
#: Products with each matrix that canonical pairs of usual kernels take.
_PAIRS_PRODUCTS = 10
#: Steps of k-means on usual data, and the share of rows that move in all of them together.
_KMEANS_STEPS, _KMEANS_MOVED = 40, 2.0
#: Iterations of the interior point method.
_INTERIOR_POINT_STEPS = 30
#: Products of conjugate gradients on usual data, in single and in double precision; of minimal residuals.
_CG_FLOAT32_PRODUCTS, _CG_FLOAT64_PRODUCTS, _MINRES_PRODUCTS = 9, 3, 60


def is_narrow(kernel: Kernel, shape: tuple[int, int], bias: bool) -> bool:
    """Whether the weights of a support vector machine are so few that the dual is solved by way of them."""
    n, d = shape
    return kernel.linear and d + bias < min(n, INTERIOR_POINT_MAX_COLUMNS)


def way_of_search(kernel: Kernel, n: int, d: int, *, sparse: bool = False) -> str:
    """Return how neighbours among n rows of d columns are found: a key of :data:`SEARCH_WAYS`."""
    if not kernel.keeps_neighbours:
        return "tiles"
    return "tree" if not sparse and d <= TREE_MAX_COLUMNS and n >= TREE_MIN_ROWS else "plain"


def landmarks_of(estimator: KernelInput) -> int:
    """Number of landmarks or random features asked for; 0 if there are none."""
    given = estimator.landmarks
    if given is None or isinstance(given, int):
        return given or 0
    return int(getattr(given, "n_landmarks", None) or getattr(given, "n_features", None) or DEFAULT_LANDMARKS)


def one_pass(estimator: KernelInput, job: Job) -> Plan:
    """One pass over the rows in the features of m landmarks, then a problem of that size."""
    n, d, (kernel, _) = job.n, job.d, prepared(estimator.kernel, job)
    m = min(landmarks_of(estimator), n)
    random = hasattr(estimator.landmarks, "n_features")
    drawn = 0 if random else min(n, max(LANDMARK_SAMPLE_MIN_ROWS, ROWS_PER_LANDMARK * m))
    factor = 8.0 * drawn * (m + d + 128) + drawn * machine.held(kernel, d)
    sums = thread_count() * 8.0 * (2 * rows_summed(n, m) * m + 2 * m * m) + 8.0 * m * m * 8
    room = job.copied + max(factor, sums) + 8.0 * n * job.q * 2

    def seconds() -> float:
        rate, one = machine.tiles(kernel, d), machine.multiply()
        chosen = rate.cross(drawn, m) + drawn * m * m * one / thread_count()
        summed = rate.cross(n, m) + n * m * m * 1.5 * one / thread_count()
        return chosen + summed + 2 * machine.spectrum(m) + room * machine.touch()

    work, reason = f"one pass over {n:,} rows with {m:,} features", f"{m:,} features stand for {n:,} rows"
    return Plan("low rank", reason, work, room, seconds)


def on_mapped_rows(estimator: K, job: Job, plan: Callable[[K, Job], Plan]) -> Plan:
    """Rows are mapped once, kept, and taken for rows of the linear kernel."""
    mapped = one_pass(estimator, job)
    m = min(landmarks_of(estimator), job.n)
    linear = copy(estimator)
    linear.kernel, linear.landmarks = "linear", None
    rest = plan(linear, Job(job.n, m, job.q))
    kept = 8.0 * job.n * m + max(mapped.bytes, rest.bytes)
    time = lambda: mapped.seconds() + rest.seconds()  # noqa: E731
    return Plan(rest.route, mapped.reason, f"{mapped.products}, then {rest.products}", kept, time, rest.typical)


def of_stream(
    estimator: KernelInput,
    job: Job,
    start: Callable[[Job], Plan],
    *,
    width: int,
    sums: int = 1,
    views: int = 1,
    targets: int = 0,
) -> tuple[Plan, Plan, int]:
    """Landmarks of the first rows, then one pass: its plan, that of ``start`` with the first rows, and their number.

    ``width`` columns are read; moments of ``sums`` sets of rows, each of ``views`` feature maps and ``targets`` columns
    of targets, are kept apart.
    """
    require_landmarks(estimator)
    block = min(job.n, block_rows(width))
    m = landmarks_of(estimator)
    wanted = min(ROWS_PER_LANDMARK * m, memory_budget() // (FIRST_ROWS_BUDGET_DIVISOR * 8 * width))
    first = min(job.n, max(block, wanted))
    begun = start(replace(job, n=first, dtype="float64", stream=False))
    size = views * min(m, job.n) + targets
    summed = 8.0 * thread_count() * ((1 + sums) * size**2 + 2 * rows_summed(job.n, size) * size) + 8.0 * 6 * size**2
    held = job.reader + STREAM_BLOCKS * 8.0 * block * width + max(0.0, 8.0 * (first - block) * width)
    held_out = 2 * 8.0 * block * width if sums > 1 else 0.0  # rows that are held out, and the others
    whole = one_pass(estimator, replace(job, dtype="float64", stream=False))
    reason = f"{m:,} features stand for {job.n:,} rows"
    work = f"one pass over {job.n:,} rows with {m:,} features"
    return replace(whole, reason=reason, products=work, bytes=held + held_out + max(begun.bytes, summed)), begun, first


def plan_kernel_pca(estimator: KernelPCA, job: Job) -> Plan:
    """Leading eigenpairs of the Gram matrix."""
    if job.stream:
        return of_stream(estimator, job, partial(one_pass, estimator), width=job.d)[0]
    if landmarks_of(estimator):
        return one_pass(estimator, job)
    n, (kernel, copy) = job.n, prepared(estimator.kernel, job)
    asked = check_components(estimator.n_components, n, f"the number of rows, {n}", auto=True)
    rank = min(n, _USUAL_COMPONENTS) if estimator.n_components == "auto" else asked
    check_rank(rank, n)
    found = eigenpairs(gram(kernel, n, job.d), rank or n, estimator.solver)
    room = copy + found.bytes + 24.0 * n * (rank or n) * (rank is None)
    return replace(found, bytes=room)


def plan_kernel_cca(estimator: KernelCCA, job: Job) -> Plan:
    """Leading pairs from products with both Gram matrices, or from bases of both spaces."""
    if job.stream:
        sums = 1 if estimator.folds is None else 2
        width = job.d + job.q
        found, _, _ = of_stream(estimator, job, partial(one_pass, estimator), width=width, sums=sums, views=2)
        return replace(found, seconds=lambda: 4 * found.seconds())
    if landmarks_of(estimator):
        return one_pass(estimator, job)
    n, k, (kernel, copy) = job.n, estimator.n_components, prepared(estimator.kernel, job)
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
        return Plan(bases[0].route, reason, work, room, dense, bases[0].typical)
    size = min(n, int(k or 1) + 5)
    blocks, rank = affordable(n, size)
    known = 4 * 8.0 * n * size * (2 * min(_PAIRS_PRODUCTS, blocks) - 1)
    room = rows + sum(side.held for side in sides) + 2 * 8.0 * n * rank + max(known, 3 * 8.0 * n * rank)
    room += 0.0 if all(side.kept for side in sides) else tile_buffers(n)

    def seconds() -> float:
        sketch = sum(side.made() + side.columns(rank) for side in sides)
        sketch += 2 * n * rank**2 * (machine.multiply() + machine.svd())
        products = _PAIRS_PRODUCTS * sum(side.product(size, "float64") for side in sides)
        tall = 2 * _PAIRS_PRODUCTS * n * size * (8 * size * blocks + 4 * rank) * machine.multiply()
        return (1 + folds) * (sketch + products + tall)

    work = f"{_PAIRS_PRODUCTS} products with each matrix, {size} vectors each"
    return Plan("krylov", reason, work, room, seconds, True)


@in_memory
def plan_kernel_svc(estimator: KernelSVC, job: Job) -> Plan:
    """An interior point method for few weights, else working sets."""
    if landmarks_of(estimator):
        return on_mapped_rows(estimator, job, plan_kernel_svc)
    n, d, (kernel, _) = job.n, job.d, prepared(estimator.kernel, job)
    problems = job.q if job.q > 2 else 1
    states = 8.0 * n * problems * 12
    if is_narrow(kernel, (n, d), bool(estimator.bias)):
        width = d + bool(estimator.bias)
        room = job.copied + states + threads_for(problems) * 8.0 * n * (2 * width + 12)
        each = n * width * (width + 8)
        work = f"{_INTERIOR_POINT_STEPS} iterations"
        time = lambda: problems * _INTERIOR_POINT_STEPS * each * machine.multiply() * 1.5  # noqa: E731
        return Plan("interior point method", "the linear kernel has fewer columns than rows", work, room, time, True)
    limit = max(int(np.sqrt(memory_budget() / (4 * (1 + threads_for(problems))))), LEAST_WORKING_SET)
    wide = n <= FLOAT64_MAX_ROWS
    size = min(n, first_working_set(n), limit)
    rounds = 1 if size == n else int(4 + n / FIRST_WORKING_SET)
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


def plan_kernel_kmeans(estimator: KernelKMeans, job: Job) -> Plan:
    """Steps over all rows from several starts, or mini-batches."""
    if job.stream:
        return _kmeans_of_stream(estimator, job)
    if landmarks_of(estimator):
        return on_mapped_rows(estimator, job, plan_kernel_kmeans)
    n, d, (kernel, copy) = job.n, job.d, prepared(estimator.kernel, job)
    k, starts = int(estimator.n_clusters), int(estimator.n_init) if isinstance(estimator.init, str) else 1
    held = way_of_holding(kernel, n, d)
    if estimator.batch_size is not None:
        size = min(n, int(estimator.batch_size))
        drawn = min(n, (4 + _KMEANS_STEPS) * size)
        time = lambda: machine.tiles(kernel, d, pairs=n * drawn).cross(n + _KMEANS_STEPS * size, drawn, k)  # noqa: E731
        room = copy + 8.0 * n * k * 4 + 2 * n * machine.held(kernel, d) + 8.0 * (4 * size) * k * starts * 4
        return Plan("mini-batches", held.route, f"{_KMEANS_STEPS} batches of {size:,} rows", room, time, True)
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
        book = n * k * (runs + 20 * bool(chosen)) * _KMEANS_STEPS * machine.step()
        if held is ThinProducts:
            return n * d * (columns + 2 * k * runs * _KMEANS_STEPS) * machine.multiply() * 2 + book
        if held is KeptGram:
            made = machine.tiles(kernel, d, pairs=n * n).cross(n, n / 2) + 8 * n * n * machine.touch()
            return made + 8 * n * n * machine.read() * k * runs / 12 * (1 + _KMEANS_MOVED) + book
        rate = machine.tiles(kernel, d)
        prepared_again = _KMEANS_STEPS * n * 2 * machine.held(kernel, d) * machine.touch()
        moved = rate.cross(n, _KMEANS_MOVED * n, k * runs / 2) + prepared_again
        return rate.product(n, k * runs) + moved + rate.cross(n, columns) + book

    work = (
        f"{runs} start{'s' * (runs > 1)}, 1 product with all rows and {_KMEANS_MOVED:g} in parts, {_KMEANS_STEPS} steps"
    )
    return Plan("Lloyd", held.route, work, room + copies, seconds, True)


def _kmeans_of_stream(estimator: KernelKMeans, job: Job) -> Plan:
    """The first rows are clustered; then a pass for each step, or one pass of mini-batches."""
    at_first = copy(estimator)
    at_first.batch_size = None
    whole, start, first = of_stream(
        estimator, job, lambda few: on_mapped_rows(at_first, few, plan_kernel_kmeans), width=job.d
    )
    online = estimator.batch_size is not None
    passes = 1 if online else min(_KMEANS_STEPS, int(estimator.max_iter))
    work = (
        f"the first {first:,} rows, then {passes} pass{'es' * (passes > 1)} with {landmarks_of(estimator):,} features"
    )
    time = lambda: start.seconds() + passes * whole.seconds()  # noqa: E731
    return Plan("online" if online else "Lloyd", whole.reason, work, whole.bytes, time, True)


@in_memory
def plan_kernel_knn(estimator: KernelKNNClassifier | KernelKNNRegressor, job: Job) -> Plan:
    """The rows are kept."""
    if landmarks_of(estimator):
        return one_pass(estimator, job)
    kernel, copy = prepared(estimator.kernel, job)
    way = way_of_search(kernel, job.n, job.d)
    # Labels are sorted on the way; a tree is made when it is first asked.
    room = copy + 8.0 * job.n * (10 if is_classifier(estimator) else 3 + job.q)
    seconds = lambda: 4 * job.rows * machine.touch()  # noqa: E731

    return Plan(way, SEARCH_WAYS[way], "the rows are kept; each new row is compared with them", room, seconds)


@in_memory
def plan_kernel_prototypes(estimator: KernelPrototypeClassifier, job: Job) -> Plan:
    """One product with the matrix of the classes."""
    if landmarks_of(estimator):
        return one_pass(estimator, job)
    n, d, classes, (kernel, copy) = job.n, job.d, max(job.q, 2), prepared(estimator.kernel, job)
    held = way_of_holding(kernel, n, d)
    vectors = 8.0 * n * classes * (4 + thread_count())
    if held is ThinProducts:
        time = lambda: 2 * n * d * classes * machine.multiply() + 4 * job.rows * machine.touch()  # noqa: E731
        return Plan(ROUTE_OF_MEANS, "", "1 product", job.copied + 8.0 * n * (d + 4 * classes), time)
    matrix = gram(kernel, n, d)
    time = lambda: matrix.made() + matrix.product(classes, "float64")  # noqa: E731
    return Plan(held.route, "", "1 product", copy + matrix.held + vectors + tile_buffers(n), time)


def plan_kernel_ridge(estimator: KernelRidge, job: Job) -> Plan:
    """Weights of the columns, a factor of the Gram matrix, or products with it."""
    if job.stream:
        width = job.d + job.q
        return of_stream(estimator, job, partial(one_pass, estimator), width=width, targets=job.q)[0]
    if landmarks_of(estimator):
        return one_pass(estimator, job)
    n, d, (kernel, copy) = job.n, job.d, prepared(estimator.kernel, job)
    primal, reason = choose_form(kernel, (n, d), estimator.solver)
    if primal:
        return _primal(job, reason)
    matrix = gram(kernel, n, d)
    unpenalised = kernel.polynomial(machine.sample(kernel, min(d, 8), 4)) is not None
    positive = kernel.positive_definite or unpenalised
    # A kernel that is positive only beside its polynomials would lose too much in single precision.
    narrow = matrix.outline.narrow_pays and kernel.positive_definite
    outline = Outline(n, positive, narrow_pays=narrow)
    solver, reason = choose_linear_solver(outline, float(estimator.ridge), estimator.solver)
    rows = copy + matrix.held + 8.0 * n * job.q * 4 + (8.0 * n * d if kernel.linear else 0.0)
    if isinstance(solver, Cholesky):
        return _cholesky(job, matrix, rows, reason, twice=solver.inverse)
    if isinstance(solver, ConjugateGradients):
        return _conjugate(job, matrix, rows, solver, reason, narrow=narrow)
    time = lambda: _MINRES_PRODUCTS * matrix.product(job.q, "float64")  # noqa: E731
    room = rows + 8.0 * n * job.q * (9 + thread_count())
    return Plan(solver.name, reason, f"{_MINRES_PRODUCTS} products in float64", room, time, True)


def _primal(job: Job, reason: str) -> Plan:
    n, d, q = job.n, job.d, job.q
    # Rows in the metric of the fit, block by block and then as one: leverages need them all.
    room = job.copied + 16.0 * n * d + 8.0 * n * q * 8 + 8.0 * d * d * (6 + 2 * thread_count())

    def seconds() -> float:
        passes = (2 * PRIMAL_CORRECTIONS + 3) * n * d * (machine.multiply(0) * q + 8 * machine.touch() / 4)
        leverage = n * d * d * machine.multiply(0) + 16 * n * d * machine.touch()
        return n * machine.moments(d + q) + machine.spectrum(d) + passes + leverage

    return Plan("primal", reason, f"one pass for the moments, {PRIMAL_CORRECTIONS} for corrections", room, seconds)


def _cholesky(job: Job, matrix: Matrix, rows: float, reason: str, *, twice: bool) -> Plan:
    n = job.n
    room = rows + 8.0 * n * n + (2 * thread_count() * 8.0 * n * CHOLESKY_TILE if twice else 8.0 * n * n)

    def seconds() -> float:
        # The second factorisation is the diagonal of the inverse, or the search for negative eigenvalues.
        factored = 2 * machine.factor(n) + 8 * n * n * machine.touch()
        return matrix.made() + matrix.whole() + factored + 2 * matrix.product(job.q, "float64")

    return Plan("cholesky", reason, "", room, seconds)


def _conjugate(job: Job, matrix: Matrix, rows: float, solver: ConjugateGradients, reason: str, *, narrow: bool) -> Plan:
    n, q = job.n, job.q
    usual = min(n // 8, PRECONDITIONER_RANK, memory_budget() // (24 * n))
    rank = (usual if solver.rank is None else min(solver.rank, n)) if matrix.outline.positive else 0
    # The factor, its copy in single precision, and a block of its columns on the way.
    room = rows + matrix.narrow + 12.0 * n * rank + 8.0 * n * 3 * min(32, rank) + 8.0 * n * q * (8 + thread_count())
    search, confirm = (_CG_FLOAT32_PRODUCTS, _CG_FLOAT64_PRODUCTS) if narrow else (0, _CG_FLOAT32_PRODUCTS + 1)

    def seconds() -> float:
        sketch = matrix.columns(rank) + 2.5 * n * rank**2 * machine.multiply() + 12 * n * rank * machine.touch()
        products = search * matrix.product(q, "float32") + confirm * matrix.product(q, "float64")
        return sketch + products + (search + confirm) * 2 * n * rank * q * 4 * machine.read()

    counts = f"{search} products in float32, {confirm} in float64" if search else f"{confirm} products in float64"
    how = f", preconditioned by a factor of rank {rank}" if rank else ""
    return Plan(solver.name, reason, counts + how, room, seconds, True)
