"""Plans of kernel ridge, by each of its routes."""

from __future__ import annotations

from gramian.config import memory_budget, thread_count
from gramian.estimators import KernelRidge
from gramian.forecasting import machine
from gramian.forecasting.kernels import prepared
from gramian.forecasting.plan import Job, Plan, plan
from gramian.forecasting.spectra import Matrix, gram
from gramian.operators import Outline
from gramian.solvers.conjugate import PRECONDITIONER_RANK, ConjugateGradients
from gramian.solvers.dense import CHOLESKY_TILE
from gramian.solvers.linear import choose_linear_solver as choose_solver
from gramian.solvers.linear_methods import Cholesky
from gramian.spaces.ridge import PRIMAL_CORRECTIONS
from gramian.spaces.ridge import choose_form as choose_form

#: Products of conjugate gradients on usual data, in single and in double precision; of minimal residuals.
SEARCH, CONFIRM, MINIMAL = 9, 3, 60


@plan.register
def _(estimator: KernelRidge, job: Job) -> Plan:
    n, d, (kernel, copy) = job.n, job.d, prepared(estimator, job)
    primal, reason = choose_form(kernel, (n, d), estimator.solver)
    if primal:
        return _primal(job, reason)
    matrix = gram(kernel, n, d)
    unpenalised = kernel.polynomial(machine.sample(kernel, min(d, 8), 4)) is not None
    positive = kernel.positive_definite or unpenalised
    # A kernel that is positive only beside its polynomials would lose too much in single precision.
    narrow = matrix.outline.narrow_pays and kernel.positive_definite
    outline = Outline(n, positive, narrow_pays=narrow)
    solver, reason = choose_solver(outline, float(estimator.ridge), estimator.solver)
    rows = copy + matrix.held + 8.0 * n * job.q * 4 + (8.0 * n * d if kernel.linear else 0.0)
    if isinstance(solver, Cholesky):
        return _cholesky(job, matrix, rows, reason, twice=solver.inverse)
    if isinstance(solver, ConjugateGradients):
        return _conjugate(job, matrix, rows, solver, reason, narrow=narrow)
    time = lambda: MINIMAL * matrix.product(job.q, "float64")  # noqa: E731
    room = rows + 8.0 * n * job.q * (9 + thread_count())
    return Plan(solver.name, reason, f"{MINIMAL} products in float64", room, time, True)


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
    search, confirm = (SEARCH, CONFIRM) if narrow else (0, SEARCH + 1)

    def seconds() -> float:
        sketch = matrix.columns(rank) + 2.5 * n * rank**2 * machine.multiply() + 12 * n * rank * machine.touch()
        products = search * matrix.product(q, "float32") + confirm * matrix.product(q, "float64")
        return sketch + products + (search + confirm) * 2 * n * rank * q * 4 * machine.read()

    counts = f"{search} products in float32, {confirm} in float64" if search else f"{confirm} products in float64"
    how = f", preconditioned by a factor of rank {rank}" if rank else ""
    return Plan(solver.name, reason, counts + how, room, seconds, True)
