"""Plans of the linear methods of one table."""

from __future__ import annotations

import warnings
from typing import Any

from gramian.engine.tiles import rows_of_a_block, threads_for
from gramian.estimators import ICA, PCA, FactorAnalysis, ProbabilisticPCA, RandomProjection, Standardizer
from gramian.estimators.factor_checks import count_factors
from gramian.estimators.ica import is_long
from gramian.estimators.n_components import check_components, whole_number
from gramian.estimators.random_projection import DISTORTION_MAX_PAIRS
from gramian.forecasting import machine
from gramian.forecasting.plan import Job, Plan, plan
from gramian.forecasting.spectra import Matrix, eigenpairs, table
from gramian.operators import Outline
from gramian.operators.matrix import columns_of_a_block
from gramian.solvers.independence import ICA_START_ROWS, ICA_START_ROWS_PER_SOURCE
from gramian.spaces.linear import choose

#: Steps of factor analysis, of EM in closed moments, and of ICA (over a sample, then over all rows), on usual data.
FACTOR_STEPS, EM_STEPS, SAMPLE_STEPS, ICA_STEPS = 30, 200, 15, 8

#: Time of a symmetric matrix product as a part of a whole one: BLAS computes half of it, at two thirds of the rate.
HALF = 0.75


def moments_room(n: int, d: int) -> float:
    """Bytes of a pass of the moments engine: for each thread a block of rows and two d x d sums, and their merging."""
    block = min(n, rows_of_a_block(d))
    return 8.0 * (threads_for(-(-n // block)) * (block * d + 2 * d * d) + d * d)


def decompose(job: Job, k: int, solver: Any) -> Plan:
    """Leading k components of a table, by the route that :func:`gramian.spaces.linear.choose` takes."""
    n, d = job.n, job.d
    route, reason = choose(n, d, solver)
    side = min(n, d)
    visited = 8.0 * min(n, rows_of_a_block(d)) * d  # a block of centred rows
    if route == "svd":
        # The centred rows and LAPACK's copy, vectors of both sides, and what it works in.
        room = 16.0 * n * d + 12.0 * side * (n + d)
        time = lambda: n * d * side * machine.svd() + 24 * n * d * machine.touch()  # noqa: E731
        return Plan("svd", reason, "", room, time)
    if route == "covariance":
        found = eigenpairs(table(d, True, 0.0, lambda: n * machine.moments(d)), k, "auto")
        room = max(moments_room(n, d), found.bytes + 8.0 * d * d)
        return Plan("covariance", reason, found.products, room, found.seconds, found.typical)
    if route == "dual":
        block = min(d, columns_of_a_block(n))

        def made() -> float:
            # Sums over blocks of columns visit the matrix each time; means, range and squares visit the rows.
            visits = 24 * n * n * (d / block) + 10 * 8 * n * d
            return HALF * n * n * d * machine.multiply(0) + visits * machine.touch()

        found = eigenpairs(table(n, True, 0.0, made), k, "auto")
        room = max(16.0 * n * n + 8.0 * n * block, found.bytes, visited) + 8.0 * d * k * 3
        time = lambda: found.seconds() + 2 * n * d * k * machine.multiply(0)  # noqa: E731
        return Plan("dual", reason, found.products, room, time, found.typical)

    def product(vectors: float, dtype: str) -> float:
        return 2 * n * d * (vectors * machine.multiply() + 8 * machine.read())

    matrix = Matrix(Outline(side), False, 0.0, 0.0, lambda: 0.0, lambda: product(side, ""), product, lambda c: 0.0)
    found = eigenpairs(matrix, k, route)
    room = found.bytes + visited + 8.0 * (n + d) * (k + 10) * 2
    return Plan(found.solver, reason, found.products, room, found.seconds, found.typical)


@plan.register
def _(estimator: PCA, job: Job) -> Plan:
    limit = min(job.n, job.d)
    check_components(estimator.n_components, limit, f"min(n, d) = {limit} (n={job.n}, d={job.d})", auto=True)
    k = whole_number(estimator.n_components) or limit
    found = decompose(job, k, estimator.solver)
    room = job.copied + found.bytes + 8.0 * job.d * k * 3
    return Plan(found.route, found.reason, found.products, room, found.seconds, found.typical)


@plan.register
def _(estimator: ProbabilisticPCA, job: Job) -> Plan:
    n, d = job.n, job.d
    check_components(estimator.n_components, d, f"d = {d}", fractions=False, auto=True)
    k = whole_number(estimator.n_components) or d
    found = eigenpairs(table(d, True, 8.0 * d * d, lambda: n * machine.moments(d)), k, "auto")
    room = job.copied + max(moments_room(n, d), found.bytes + 16.0 * d * d)
    if estimator.method == "closed":
        return Plan("closed form", "one pass over the rows", found.products, room, found.seconds, found.typical)
    time = lambda: found.seconds() + EM_STEPS * d * k * (3 * d + 8 * k) * machine.multiply()  # noqa: E731
    return Plan("EM", "as asked", f"{EM_STEPS} steps", room, time, True)


@plan.register
def _(estimator: FactorAnalysis, job: Job) -> Plan:
    n, d = job.n, job.d
    count_factors(estimator.n_components, d)
    room = job.copied + max(moments_room(n, d), 8.0 * d * d * 12)

    def seconds() -> float:
        return n * machine.moments(d) + FACTOR_STEPS * (machine.spectrum(d) + 2e-4)

    return Plan("maximum likelihood", "one pass over the rows", f"Newton, {FACTOR_STEPS} steps", room, seconds, True)


@plan.register
def _(estimator: ICA, job: Job) -> Plan:
    n, d = job.n, job.d
    limit = min(n, d)
    check_components(estimator.n_components, limit, f"min(n, d) = {limit} (n={n}, d={d})", fractions=False)
    k = estimator.n_components or limit
    white = decompose(job, k, "covariance" if is_long(n, d) else "auto")
    sampled = max(ICA_START_ROWS, ICA_START_ROWS_PER_SOURCE * k)
    # White rows and picard's copy; then sources, scores, derivatives, and the next sources beside them.
    room = job.copied + max(white.bytes, 8.0 * n * k * 6)

    def seconds() -> float:
        entry = k * (machine.secant() + 4 * k * machine.multiply(0) + 16 * machine.touch())
        first = SAMPLE_STEPS * sampled * entry if n > 3 * sampled else ICA_STEPS * n * entry
        return white.seconds() + first + (ICA_STEPS + 2) * n * entry + 16 * n * k * machine.touch()

    reason = f"white by the {white.route} route"
    return Plan("picard on white rows", reason, f"{ICA_STEPS} steps", room, seconds, True)


@plan.register
def _(estimator: RandomProjection, job: Job) -> Plan:
    n, d = job.n, job.d
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit says it
        k, _ = estimator._how_many((n, d))
    density = estimator._density(d)
    pairs = min(DISTORTION_MAX_PAIRS, n * (n - 1) // 2)
    block = min(pairs, rows_of_a_block(d))
    # The directions, as they are drawn and as they are kept; a block of differences and its squares, and their scores.
    room = job.copied + 8.0 * k * d * density * 2 + 16.0 * block * d + 8.0 * k * (pairs + 2 * block)

    def seconds() -> float:
        drawn = k * d * density * (1.2e-8 + 24 * machine.touch())
        return drawn + pairs * d * (k * density * machine.multiply(0) + 40 * machine.touch())

    kind = "Gaussian entries" if estimator._is_gaussian else "random signs"
    return Plan(kind, f"density {density:.3g}", f"{k:,} directions of {d:,} columns", room, seconds)


@plan.register
def _(estimator: Standardizer, job: Job) -> Plan:
    block = min(job.n, rows_of_a_block(job.d))
    time = lambda: 8 * job.rows * machine.touch()  # noqa: E731
    return Plan("means and deviations", "block by block", "4 passes", job.copied + 24.0 * block * job.d, time)
