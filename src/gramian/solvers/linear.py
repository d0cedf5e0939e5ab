"""The front door to every symmetric linear system: who solves, and what its certificate is."""

from __future__ import annotations

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.operators import Operator, Outline
from gramian.results import Array, SolverTrace
from gramian.solvers.cholesky import NotPositive
from gramian.solvers.conjugate import ConjugateGradients
from gramian.solvers.direct import SPECTRUM_LIMIT, Cholesky, fits
from gramian.solvers.eigen import DENSE_LIMIT
from gramian.solvers.residuals import MinimalResiduals
from gramian.solvers.systems import ENOUGH, OVERFLOW, Found, LinearSolution, LinearSolver, lengths

SOLVERS: dict[str, type] = {solver.name: solver for solver in (Cholesky, ConjugateGradients, MinimalResiduals)}
#: Up to here a factorisation takes about a second, and says what leaving a row out would do.
SMALL = 3_000


def solve(
    operator: Operator,
    B: Array,
    shift: float,
    solver: str | LinearSolver = "auto",
    rng: np.random.Generator | None = None,
    *,
    null: Array | None = None,
) -> LinearSolution:
    """Solve ``(A + shift I) X = B``.

    Parameters
    ----------
    operator : Operator
        A, symmetric, n x n.
    B : (n, q) array
        Right sides; all share the products.
    shift : float
        0 or more.
    solver : str or solver object
        "auto", "cholesky", "cg", "minres", or an object such as ``ConjugateGradients(tol=1e-4)``.
    rng : Generator, optional
        Source of random pivots.
    null : (n, m) array, optional
        Orthonormal columns known to be orthogonal to A and to B.

    Returns
    -------
    LinearSolution
    """
    chosen, reason = choose(operator, shift, solver)
    with np.errstate(over="ignore", invalid="ignore"):  # certify looks for what overflowed, and says so
        try:
            found = chosen.solve(operator, B, shift, rng or np.random.default_rng(0), null)
            indefinite = not found.converged and found.stopped == "the matrix is not positive definite"
        except NotPositive:
            indefinite = True
        if indefinite:
            reason = f"{chosen.name} found the matrix not to be positive definite"
            chosen = MinimalResiduals(getattr(chosen, "tol", MinimalResiduals.tol))
            found = chosen.solve(operator, B, shift, rng or np.random.default_rng(0), null)
        limit = max(ENOUGH, getattr(chosen, "tol", 0.0))
        return certify(operator, B, shift, found, chosen.name, reason, null, limit)


def choose(operator: Operator | Outline, shift: float, solver: str | LinearSolver) -> tuple[LinearSolver, str]:
    """Return a solver and the reason for it."""
    n = operator.n
    if not isinstance(solver, str):
        if not callable(getattr(solver, "solve", None)):
            raise TypeError(
                f"solver={solver!r} is neither one of {', '.join(['auto', *SOLVERS])}, nor a solver object."
            )
        return solver, "as asked"
    if solver == "auto":
        return _auto(operator, shift)
    if solver not in SOLVERS:
        raise ValueError(f"solver={solver!r} is not known. Use one of: {', '.join(['auto', *SOLVERS])}.")
    if solver == "cholesky" and not (n <= DENSE_LIMIT and fits(n, 1)):
        raise ValueError(
            f"solver='cholesky' needs {format_bytes(8 * n**2)} for a {n:,} x {n:,} matrix (budget "
            f"{format_bytes(memory_budget())}, largest n {DENSE_LIMIT:,}). Use solver='auto', which forms no matrix."
        )
    return SOLVERS[solver](), "as asked"


def _auto(operator: Operator | Outline, shift: float) -> tuple[LinearSolver, str]:
    n = operator.n
    if n <= SMALL and fits(n):
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
    """Judge a solution by its residuals in double precision, whoever found it; above ``limit`` they are a shortfall."""
    X, (name, reason) = found.solution, found.instead or (name, reason)
    R = found.left
    if null is not None:  # what rounding has let in goes out again, from the residual too
        stray = null @ (null.T @ X)
        X, R = X - stray, None if R is None else R + shift * stray
    R = B - (operator @ X + shift * X) if R is None else R
    if not np.isfinite(R).all():
        raise ValueError(OVERFLOW)
    residuals = lengths(R, zero=0.0) / lengths(B)
    converged, stopped = found.converged, found.stopped
    if converged and not found.singular and residuals.max(initial=0.0) > limit:
        converged, stopped = False, "rounding allows no smaller residual"
    if found.singular:  # least squares: what is left need not vanish, but A must not see it
        residuals = lengths(operator @ R + shift * R, zero=0.0) / lengths(B) / (found.largest or 1.0)
    return LinearSolution(
        solution=X,
        residuals=residuals,
        trace=SolverTrace(name, reason, found.products, converged, stopped),
        deleted=found.deleted,
        singular=found.singular,
        rank=found.rank if found.singular else None,
        n_negative=0 if operator.positive else found.n_negative,  # of what is positive, a negative value is rounding
        most_negative=0.0 if operator.positive else found.most_negative,
        counted=found.counted,
    )
