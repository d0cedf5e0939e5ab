"""Symmetric linear systems: choice of the method, and the certificate of its result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.operators import Operator, Outline
from gramian.results import Array, SolverTrace
from gramian.solvers.conjugate import ConjugateGradients
from gramian.solvers.dense import NotPositive
from gramian.solvers.eigen import DENSE_LIMIT
from gramian.solvers.linear_methods import (
    ACCEPTED_RESIDUAL,
    OVERFLOW,
    SPECTRUM_LIMIT,
    Cholesky,
    Found,
    LinearSolution,
    LinearSolver,
    MinimalResiduals,
    fits,
    lengths,
)

LINEAR_SOLVERS: dict[str, type] = {solver.name: solver for solver in (Cholesky, ConjugateGradients, MinimalResiduals)}
#: Rows up to which a factorisation takes about a second; it also gives the leave-one-out residuals.
CHOLESKY_QUICK_MAX_ROWS = 3_000


def solve(
    operator: Operator,
    B: Array,
    shift: float,
    solver: str | LinearSolver = "auto",
    rng: np.random.Generator | None = None,
    *,
    null: Array | None = None,
) -> LinearSolution:
    """Solve ``(A + shift I) X = B`` for a symmetric A, all right sides (n, q) at once.

    ``shift``: 0 or more. ``solver``: "auto", "cholesky", "cg", "minres", or an object such as
    ``ConjugateGradients(tol=1e-4)``. ``null`` (n, m): orthonormal columns known to be orthogonal to A and to B.
    """
    chosen, reason = choose_linear_solver(operator, shift, solver)
    with np.errstate(over="ignore", invalid="ignore"):  # certify raises if anything overflowed
        try:
            found = chosen.solve(operator, B, shift, rng or np.random.default_rng(0), null)
            indefinite = not found.converged and found.stopped == "the matrix is not positive definite"
        except NotPositive:
            indefinite = True
        if indefinite:
            reason = f"{chosen.name} found the matrix not to be positive definite"
            chosen = MinimalResiduals(getattr(chosen, "tol", MinimalResiduals.tol))
            found = chosen.solve(operator, B, shift, rng or np.random.default_rng(0), null)
        limit = max(ACCEPTED_RESIDUAL, getattr(chosen, "tol", 0.0))
        return certify(operator, B, shift, found, chosen.name, reason, null, limit)


def choose_linear_solver(
    operator: Operator | Outline, shift: float, solver: str | LinearSolver
) -> tuple[LinearSolver, str]:
    """Return a solver and the reason for it."""
    n = operator.n
    if not isinstance(solver, str):
        if not callable(getattr(solver, "solve", None)):
            raise TypeError(
                f"solver={solver!r} is neither one of {', '.join(['auto', *LINEAR_SOLVERS])}, nor a solver object."
            )
        return solver, "as asked"
    if solver == "auto":
        return _auto(operator, shift)
    if solver not in LINEAR_SOLVERS:
        raise ValueError(f"solver={solver!r} is not known. Use one of: {', '.join(['auto', *LINEAR_SOLVERS])}.")
    if solver == "cholesky" and not (n <= DENSE_LIMIT and fits(n, 1)):
        raise ValueError(
            f"solver='cholesky' needs {format_bytes(8 * n**2)} for a {n:,} x {n:,} matrix (budget "
            f"{format_bytes(memory_budget())}, largest n {DENSE_LIMIT:,}). Use solver='auto', which forms no matrix."
        )
    return LINEAR_SOLVERS[solver](), "as asked"


def _auto(operator: Operator | Outline, shift: float) -> tuple[LinearSolver, str]:
    n = operator.n
    if n <= CHOLESKY_QUICK_MAX_ROWS and fits(n):
        return Cholesky(), f"a {n:,} x {n:,} matrix is small"
    if shift == 0 and n <= SPECTRUM_LIMIT and fits(n, 3):
        return Cholesky(), "without a ridge the matrix may be singular"
    if not operator.positive and n <= DENSE_LIMIT and fits(n):
        return Cholesky(inverse=False), "the kernel is not known to be positive definite"
    size = f"the {n:,} x {n:,} matrix would take {format_bytes(8 * n**2)}"
    if not operator.positive or shift == 0:
        why = "the matrix may be singular" if operator.positive else "the kernel is not known to be positive definite"
        return MinimalResiduals(), f"matrix-free: {size}, and {why}"
    if fits(n) and n <= DENSE_LIMIT:
        return ConjugateGradients(), f"for {n:,} rows products are quicker than a factorisation"
    over = "" if fits(n) else f", the budget is {format_bytes(memory_budget())}"
    return ConjugateGradients(), f"matrix-free: {size}{over}"


def certify(
    operator: Operator, B: Array, shift: float, found: Found, name: str, reason: str, null: Array | None, limit: float
) -> LinearSolution:
    """Compute the residuals of a solution in double precision; above ``limit`` it has not converged."""
    X, (name, reason) = found.solution, found.instead or (name, reason)
    R = found.left
    if null is not None:  # remove what rounding added in the null space, from the residual too
        stray = null @ (null.T @ X)
        X, R = X - stray, None if R is None else R + shift * stray
    R = B - (operator @ X + shift * X) if R is None else R
    if not np.isfinite(R).all():
        raise ValueError(OVERFLOW)
    residuals = lengths(R, zero=0.0) / lengths(B)
    converged, stopped = found.converged, found.stopped
    if converged and not found.singular and residuals.max(initial=0.0) > limit:
        converged, stopped = False, "rounding allows no smaller residual"
    if found.singular:  # least squares: the residual of the normal equations must vanish
        residuals = lengths(operator @ R + shift * R, zero=0.0) / lengths(B) / (found.largest or 1.0)
    rank = found.rank if found.singular else None
    found = replace(found, solution=X, rank=rank, converged=converged, stopped=stopped)
    if operator.positive:  # negative eigenvalues are rounding
        found = replace(found, n_negative=0, most_negative=0.0)
    trace = SolverTrace(name, reason, found.products, converged, stopped)
    return LinearSolution(**vars(found), residuals=residuals, trace=trace)
