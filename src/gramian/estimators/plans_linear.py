"""What fits of the linear methods cost, of one table and of two blocks of columns, and how they choose their routes."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from gramian.config import thread_count
from gramian.costs import machine
from gramian.costs.plan import Job, Matrix, Plan, eigenpairs, moments_bytes, table
from gramian.engine.tiles import rows_of_a_block
from gramian.estimators.factor_checks import are_wide, count_factors
from gramian.estimators.validation import check_components, is_auto, whole_number
from gramian.operators import Outline
from gramian.operators.compressed import few_products, triangle_at_once
from gramian.operators.matrix import columns_of_a_block
from gramian.operators.rows import block_rows
from gramian.solvers.eigen import LAPACK_QUICK_MAX_ROWS, Solver
from gramian.solvers.factor import EXACT_MAX_COLUMNS, PAIRS_BLOCKS, PAIRS_EXTRA
from gramian.solvers.independence import ICA_START_ROWS, ICA_START_ROWS_PER_SOURCE
from gramian.spaces.linear import choose

if TYPE_CHECKING:
    from gramian.estimators.cca import CCA
    from gramian.estimators.component_regression import PLSRegression, PrincipalComponentRegression
    from gramian.estimators.factor_analysis import FactorAnalysis
    from gramian.estimators.ica import ICA
    from gramian.estimators.pca import PCA
    from gramian.estimators.probabilistic_pca import ProbabilisticPCA
    from gramian.estimators.random_projection import RandomProjection
    from gramian.estimators.standardizer import Standardizer
    from gramian.estimators.two_blocks import BlockInput
    from gramian.estimators.two_views import CovarianceOfViews

E = TypeVar("E")

#: Components up to which regressions are validated.
AUTO_MAX_COMPONENTS = 30
#: Bytes of compressed folds that are worked on together.
SOLVED_TOGETHER_BYTES = 2**25
#: Bytes of predictions, and of coefficients, of all folds that are kept.
KEPT_BYTES = 2**28
#: Rows whose distances a random projection is judged by, 1,953 pairs.
MEASURED_ROWS = 63
#: Products of a step of factor analysis with the vectors that become the leading eigenvectors of many columns.
_FACTOR_PRODUCTS = 5
#: Steps of factor analysis, of EM in closed moments, and of ICA (over a sample, then over all rows), on usual data.
_FACTOR_STEPS, _EM_STEPS, _ICA_SAMPLE_STEPS, _ICA_STEPS = 30, 200, 12, 5
#: Time of a symmetric matrix product as a part of a whole one: BLAS computes half of it, at two thirds of the rate.
_SYMMETRIC_PRODUCT_SHARE = 0.75
#: Blocks of a stream in memory: one that is read and one that is worked on.
STREAM_BLOCKS = 2
#: What compressed rows come from.
_COMPRESSED_FROM = {
    "moments": "one pass over the rows",
    "rows": "centred rows, few of them or few products with them",
    "triangular": "orthogonal triangulation of centred rows",
}


def is_long(n: int, d: int) -> bool:
    """Whether a table is so long that ICA tries one pass over it first."""
    return n > 10 * d and d <= LAPACK_QUICK_MAX_ROWS


def in_memory(plan: Callable[[E, Job], Plan]) -> Callable[[E, Job], Plan]:
    """Refuse streams: the method needs its rows in memory."""

    @functools.wraps(plan)
    def planned(estimator: E, job: Job) -> Plan:
        if job.stream:
            raise ValueError(f"{type(estimator).__name__} needs its rows in memory, and cannot fit a stream.")
        return plan(estimator, job)

    return planned


def by_moments(plan: Callable[[E, Job], Plan]) -> Callable[[E, Job], Plan]:
    """Let the plan for rows in memory serve streams: one pass for the moments, and nothing grows with the rows."""

    @functools.wraps(plan)
    def planned(estimator: E, job: Job) -> Plan:
        if not job.stream:
            return plan(estimator, job)
        width = job.d + (job.q if hasattr(estimator, "predict") else 0)
        block = min(job.n, block_rows(width))
        model: Any = copy(estimator)
        if getattr(model, "solver", None) == "auto":
            model.solver = "covariance"  # the one route for a stream
        few = replace(job, n=min(job.n, max(block, 4 * (job.d + job.q))), dtype="float64")
        whole, part = plan(model, replace(job, dtype="float64")), plan(model, few)
        held = job.reader + STREAM_BLOCKS * 8.0 * block * width
        return replace(whole, reason="one pass over the rows", bytes=held + part.bytes)

    return planned


def decompose(job: Job, k: int, solver: str | Solver) -> Plan:
    """Leading k components of a table, by the route that :func:`gramian.spaces.linear.choose` takes."""
    n, d = job.n, job.d
    route, reason = choose(n, d, k, solver)
    side = min(n, d)
    visited = 8.0 * min(n, rows_of_a_block(d)) * d  # a block of centred rows
    if route == "svd":
        # The centred rows and LAPACK's copy, vectors of both sides, and what it works in.
        room = 16.0 * n * d + 12.0 * side * (n + d)
        time = lambda: n * d * side * machine.svd() + 24 * n * d * machine.touch()  # noqa: E731
        return Plan("svd", reason, "", room, time)
    if route == "covariance":
        found = eigenpairs(table(d, True, 0.0, lambda: n * machine.moments(d)), k, "auto")
        room = max(moments_bytes(n, d), found.bytes + 8.0 * d * d)
        return Plan("covariance", reason, found.products, room, found.seconds, found.typical)
    if route == "dual":
        block = min(d, columns_of_a_block(n))

        def made() -> float:
            # Sums over blocks of columns visit the matrix each time; means, range and squares visit the rows.
            visits = 24 * n * n * (d / block) + 10 * 8 * n * d
            return _SYMMETRIC_PRODUCT_SHARE * n * n * d * machine.multiply(0) + visits * machine.touch()

        found = eigenpairs(table(n, True, 0.0, made), k, "auto")
        room = max(16.0 * n * n + 8.0 * n * block, found.bytes, visited) + 8.0 * d * k * 3
        time = lambda: found.seconds() + 2 * n * d * k * machine.multiply(0)  # noqa: E731
        return Plan("dual", reason, found.products, room, time, found.typical)

    def product(vectors: float, dtype: str) -> float:
        return 2 * n * d * (vectors * machine.multiply() + 8 * machine.read())

    matrix = Matrix(Outline(side), False, 0.0, 0.0, lambda: 0.0, lambda: product(side, ""), product, lambda c: 0.0)
    found = eigenpairs(matrix, k, route)
    room = found.bytes + visited + 8.0 * (n + d) * (k + 10) * 2
    return Plan(found.route, reason, found.products, room, found.seconds, found.typical)


@by_moments
def plan_pca(estimator: PCA, job: Job) -> Plan:
    """Leading components of the table."""
    limit = min(job.n, job.d)
    why = f"min(n, d) = {limit} (n={job.n}, d={job.d})"
    k = check_components(estimator.n_components, limit, why, auto=True) or limit
    found = decompose(job, k, estimator.solver)
    room = job.copied + found.bytes + 8.0 * job.d * k * 3
    return replace(found, bytes=room)


@by_moments
def plan_probabilistic_pca(estimator: ProbabilisticPCA, job: Job) -> Plan:
    """Components of the covariance matrix; EM steps if they are asked for."""
    n, d = job.n, job.d
    k = check_components(estimator.n_components, d, f"d = {d}", fractions=False, auto=True) or d
    if n < d and estimator.method == "closed" and not is_auto(estimator.n_components):
        found = decompose(job, min(n, k), "auto")
        return replace(found, bytes=job.copied + found.bytes + 8.0 * d * k * 3)
    found = eigenpairs(table(d, True, 8.0 * d * d, lambda: n * machine.moments(d)), k, "auto")
    room = job.copied + max(moments_bytes(n, d), found.bytes + 16.0 * d * d)
    if estimator.method == "closed":
        return Plan("closed form", "one pass over the rows", found.products, room, found.seconds, found.typical)
    time = lambda: found.seconds() + _EM_STEPS * d * k * (3 * d + 8 * k) * machine.multiply()  # noqa: E731
    return Plan("EM", "as asked", f"{_EM_STEPS} steps", room, time, True)


@by_moments
def plan_factor_analysis(estimator: FactorAnalysis, job: Job) -> Plan:
    """Newton steps on the correlations, of few rows without their matrix."""
    n, d = job.n, job.d
    vectors = count_factors(estimator.n_components, d) + PAIRS_EXTRA
    wide = not job.stream and are_wide(n, d, estimator.n_components)
    matrix = 0.0 if wide else max(moments_bytes(n, d), 8.0 * d * d * 12)
    room = job.copied + (8.0 * n * (4 * d + 2 * n) + 8.0 * d * 2 * vectors * PAIRS_BLOCKS if wide else matrix)

    def seconds() -> float:
        if d <= EXACT_MAX_COLUMNS:
            return n * machine.moments(d) + _FACTOR_STEPS * (machine.spectrum(d) + 2e-4)
        entries = 2 * n * d if wide else d * d
        product = entries * (vectors * machine.multiply() + 8 * machine.read())
        first = 24 * n * d * machine.touch() if wide else n * machine.moments(d) + d**3 * machine.multiply(0)
        return first + _FACTOR_STEPS * (_FACTOR_PRODUCTS * product + 1e-3)

    reason = "centred rows, fewer of them than columns" if wide else "one pass over the rows"
    work = f"{'Newton' if d <= EXACT_MAX_COLUMNS else 'quasi-Newton'}, {_FACTOR_STEPS} steps"
    return Plan("maximum likelihood", reason, work, room, seconds, True)


@in_memory
def plan_ica(estimator: ICA, job: Job) -> Plan:
    """Whitening, then steps over all rows."""
    n, d = job.n, job.d
    limit = min(n, d)
    why = f"min(n, d) = {limit} (n={n}, d={d})"
    k = check_components(estimator.n_components, limit, why, fractions=False) or limit
    white = decompose(job, k, "covariance" if is_long(n, d) else "auto")
    sampled = max(ICA_START_ROWS, ICA_START_ROWS_PER_SOURCE * k)
    # White rows; then sources, slopes, products with both, and the next sources beside them.
    room = job.copied + max(white.bytes, 8.0 * n * k * 6)

    def seconds() -> float:
        entry = k * (machine.secant() + 7 * k * machine.multiply(0) + 16 * machine.touch())
        first = _ICA_SAMPLE_STEPS * sampled * entry if n > 3 * sampled else _ICA_STEPS * n * entry
        return white.seconds() + first + (_ICA_STEPS + 2) * n * entry + 16 * n * k * machine.touch()

    reason = f"white by the {white.route} route"
    return Plan("Newton on white rows", reason, f"{_ICA_STEPS} steps", room, seconds, True)


@by_moments
def plan_random_projection(estimator: RandomProjection, job: Job) -> Plan:
    """Random directions, and distances of some pairs of rows."""
    n, d = job.n, job.d
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit says it
        k, _ = estimator._how_many((n, d))
    density = estimator._density(d)
    # The directions, as they are drawn and as they are kept; the rows that are measured when somebody asks, and scores.
    room = job.copied + 8.0 * k * d * density * 2 + 8.0 * min(n, MEASURED_ROWS) * (d + 2 * k)

    def seconds() -> float:
        return k * d * density * (1.2e-8 + 24 * machine.touch()) + 8 * n * d * machine.touch()

    kind = "Gaussian entries" if estimator._is_gaussian else "random signs"
    return Plan(kind, f"density {density:.3g}", f"{k:,} directions of {d:,} columns", room, seconds)


@by_moments
def plan_standardizer(estimator: Standardizer, job: Job) -> Plan:
    """Passes for means and deviations."""
    block = min(job.n, rows_of_a_block(job.d))
    time = lambda: 8 * job.rows * machine.touch()  # noqa: E731
    return Plan("means and deviations", "block by block", "4 passes", job.copied + 24.0 * block * job.d, time)


def compressed(estimator: BlockInput, job: Job) -> tuple[str, int, Plan]:
    """Route, rows after compression, and the plan of the compression."""
    n, columns = job.n, job.d + job.q
    few = not job.stream and few_products(n, columns, estimator._products(job.d))
    if few or (not job.stream and estimator._inverts and triangle_at_once(n, columns)):
        route = "rows" if few else "triangular"
        work = 0.0 if few else n * columns * columns * machine.multiply() * 4
        time = lambda: 6 * 8 * n * columns * machine.touch() + work  # noqa: E731
        room = job.copied + 8.0 * n * columns * 4
        return route, n if few else columns, Plan(route, _COMPRESSED_FROM[route], "", room, time)
    room = job.copied + max(moments_bytes(n, columns), 8.0 * columns * columns * 5)
    time = lambda: n * machine.moments(columns) + columns**3 / 3 * machine.multiply() * 2  # noqa: E731
    return "moments", columns, Plan("moments", _COMPRESSED_FROM["moments"], "", room, time)


@by_moments
def plan_pls_regression(estimator: PLSRegression, job: Job) -> Plan:
    """Components one after the other."""
    return _regression(estimator, job, lambda r, k: r * job.d * 4 * k * machine.read())


@by_moments
def plan_principal_component_regression(estimator: PrincipalComponentRegression, job: Job) -> Plan:
    """A singular value decomposition."""
    return _regression(estimator, job, lambda r, k: r * job.d * min(r, job.d) * machine.svd())


def _regression(
    estimator: PLSRegression | PrincipalComponentRegression, job: Job, solve: Callable[[int, int], float]
) -> Plan:
    """Compressed rows, and the seconds of ``solve`` for k components of r of them, once or for every fold too."""
    n, d, q = job.n, job.d, job.q
    route, r, first = compressed(estimator, job)
    limit = max(1, min(d, n - 1))
    auto = isinstance(estimator.n_components, str)
    k = min(limit, AUTO_MAX_COMPONENTS) if auto else min(limit, int(estimator.n_components or limit))
    table = 8.0 * r * (d + q)
    scores = 16.0 * n * k + 8.0 * n * q
    room = max(first.bytes, job.copied + table + max(table * 4 + 8.0 * min(r, d) * d * 3, scores))

    def seconds() -> float:
        left = 2 * r * d * min(r, d) * machine.multiply()
        projected = n * k * (d * machine.multiply(0) + 16 * machine.touch())
        return first.seconds() + solve(r, k) + left + projected

    if not auto:
        return Plan(route, first.reason, f"{k} components", room, seconds)
    folds = min(int(estimator.cv), n) if isinstance(estimator.cv, int) else 10
    together = min(folds, max(1.0, SOLVED_TOGETHER_BYTES // table + 1))
    predictions = 8.0 * k * n * q if 8 * k * n * q <= KEPT_BYTES else 0.0
    coefficients = 8.0 * folds * k * q * d if 8 * folds * k * q * d <= KEPT_BYTES else 0.0
    test = 8.0 * (n / folds) * k * q * 3 * thread_count()
    stack = together * (table * 4 + 8.0 * d * k * (4 + 2 * q)) + 8.0 * min(folds, 8) * (d + q) ** 2 * 2
    room = max(first.bytes, job.copied + table + predictions + coefficients + max(stack, test, table * 4, scores))

    def validated() -> float:
        outside = folds * (solve(r, k) + (d + q) ** 3 / 3 * machine.multiply() * 2 + 3 * table * machine.touch() * 4)
        tested = n * d * k * q * machine.multiply(0) + 8 * n * k * q * 4 * machine.touch()
        return seconds() + n * machine.moments(d + q) + solve(r, k) + outside + tested

    return Plan(route, first.reason, f"up to {k} components, {folds} folds", room, validated)


@by_moments
def plan_cca(estimator: CCA, job: Job) -> Plan:
    """Singular value decompositions of both views and between them."""
    d, q = job.d, job.q

    def solve(r: int, k: int) -> float:
        return r * (d * min(r, d) + q * min(r, q)) * machine.svd() + 4 * r * k * k * machine.svd()

    return _two_views(estimator, job, solve)


@by_moments
def plan_covariance_of_views(estimator: CovarianceOfViews, job: Job) -> Plan:
    """The covariance between the views and its singular vectors, once or for each pair."""
    d, q = job.d, job.q

    def solve(r: int, k: int) -> float:
        return (k if estimator._deflates else 1) * d * q * (min(d, q) * machine.svd() + r * machine.multiply())

    return _two_views(estimator, job, solve)


def _two_views(estimator: CCA | CovarianceOfViews, job: Job, solve: Callable[[int, int], float]) -> Plan:
    d, q = job.d, job.q
    route, r, first = compressed(estimator, job)
    k = min(d, q, r, whole_number(estimator.n_components) or min(d, q))
    room = max(first.bytes, job.copied + 8.0 * r * (d + q) * 9)
    time = lambda: first.seconds() + solve(r, k) + 8 * r * (d + q) * k * machine.multiply()  # noqa: E731
    return Plan(route, first.reason, f"{k} pair{'s' * (k > 1)}", room, time)
