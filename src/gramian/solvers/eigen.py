"""Eigenpairs of symmetric operators: choice of the method, and order, sign, rank and certificate of its result.

Only this module sorts eigenvalues, fixes signs, cuts the null space and computes residuals.
"""

from __future__ import annotations

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.operators import Operator, Outline
from gramian.results import Array, SolverTrace, Spectrum
from gramian.solvers.eigen_methods import Dense, Krylov, Power, Randomized, Raw, Solver

EIGEN_SOLVERS: dict[str, type] = {solver.name: solver for solver in (Dense, Krylov, Power, Randomized)}
#: Largest matrix handed to LAPACK: beyond it memory and time are better spent on products.
DENSE_LIMIT = 10_000
#: Rows up to which LAPACK is as quick as any iteration.
LAPACK_QUICK_MAX_ROWS = 500
#: Rows up to which the whole spectrum takes a second or two.
WHOLE_SPECTRUM_MAX_ROWS = 2_000
#: Rows up to which a dense solution follows an iteration that did not converge.
DENSE_RETRY_MAX_ROWS = 4_000
#: Entries whose magnitudes differ by less, relatively, tie for the largest of their column.
SIGN_TIE = 1e-8
#: Squares of larger eigenvalues, which residuals are made of, would overflow.
MAX_EIGENVALUE = 1e150


def eigen(
    operator: Operator, k: int, solver: str | Solver = "auto", rng: np.random.Generator | None = None
) -> Spectrum:
    """Return the k largest eigenpairs of a symmetric operator that are positive.

    ``operator``: symmetric, n x n. ``k``: pairs wanted; fewer come back if the operator has fewer positive eigenvalues.
    ``solver``: "auto", "dense", "krylov", "power", "randomized", or an object such as ``Krylov(tol=1e-10)``. ``rng``:
    source of starting vectors.
    """
    chosen, reason = choose_eigen_solver(operator, k, solver)
    with np.errstate(over="ignore", invalid="ignore"):  # arrange raises if anything overflowed
        raw = chosen.solve(operator, min(k, operator.n), rng or np.random.default_rng(0))
    if solver == "auto" and not raw.converged and _fits(operator.n) and operator.n <= DENSE_RETRY_MAX_ROWS:
        reason = f"{chosen.name} did not settle in {raw.products}"
        chosen = Dense()
        raw = chosen.solve(operator, k, np.random.default_rng(0))
    return arrange(operator, raw, k, SolverTrace(chosen.name, reason, raw.products, raw.converged, raw.stopped))


def choose_eigen_solver(operator: Operator | Outline, k: int, solver: str | Solver) -> tuple[Solver, str]:
    """Return a solver and the reason for it."""
    n, size = operator.n, 8 * operator.n**2
    if not isinstance(solver, str):
        return solver, "as asked"
    if solver == "auto":
        fits = _fits(n)
        if fits and n <= LAPACK_QUICK_MAX_ROWS:
            return Dense(), f"a {n:,} x {n:,} matrix is small"
        if fits and k > n // 10:
            return Dense(), f"{k:,} of {n:,} components are many"
        if fits and n <= WHOLE_SPECTRUM_MAX_ROWS and not operator.positive:
            return Dense(), "the whole spectrum tells how indefinite the kernel is"
        if fits:
            return _krylov(operator), f"for {k} of {n:,} components a few products are quicker than a factorisation"
        over = f", the budget is {format_bytes(memory_budget())}" if 3 * size > memory_budget() else ""
        return _krylov(operator), f"matrix-free: the {n:,} x {n:,} matrix would take {format_bytes(size)}{over}"
    if solver not in EIGEN_SOLVERS:
        known = ", ".join(["auto", *EIGEN_SOLVERS])
        raise ValueError(f"solver={solver!r} is not known. Use one of: {known}.")
    if solver == "dense":
        _check_dense(n, size)
    return (_krylov(operator) if solver == "krylov" else EIGEN_SOLVERS[solver]()), "as asked"


def arrange(operator: Operator, raw: Raw, k: int, trace: SolverTrace) -> Spectrum:
    """Sort, cut the null space and what is negative, and certify what is left."""
    if not np.isfinite(raw.values).all() or np.abs(raw.values).max(initial=0.0) > MAX_EIGENVALUE:
        raise ValueError("the spectrum overflows double precision. Divide X by a constant, or standardise its columns.")
    order = np.argsort(-raw.values, kind="stable")
    values = raw.values[order]
    met = np.concatenate([values, raw.others])
    null = null_tolerance(operator.n, np.abs(met).max(initial=0.0))
    kept = order[: min(k, int((values > null).sum()))]
    negative = met[met < -null]
    if len(negative) and operator.positive:
        negative = negative[negative < -operator.rounding]
    V = np.ascontiguousarray(raw.vectors[:, kept])
    image = raw.image[:, kept] if raw.image is not None else operator @ V
    return Spectrum(
        values=raw.values[kept],
        vectors=V,
        residuals=residuals(image, V, raw.values[kept]),
        trace=trace,
        n_negative=len(negative),
        most_negative=float(-negative.min()) if len(negative) else 0.0,
        absolute_sum=float(np.abs(values).sum()) if raw.complete else None,
    )


def residuals(image: Array, vectors: Array, values: Array) -> Array:
    """Certificate ``||A v - lambda v|| / lambda`` of each pair."""
    return np.linalg.norm(image - vectors * values, axis=0) / np.where(values > 0, values, 1.0)


def null_tolerance(n: int, largest: float) -> float:
    """Below this an eigenvalue cannot be told from zero."""
    return n * np.finfo(np.float64).eps * largest


def orient(deciding: Array) -> Array:
    """Return the signs that make the entry of largest magnitude of each column positive.

    Entries within 1e-8 of the largest count as equal: the lowest index decides, so that rounding does not.
    """
    magnitude = np.abs(deciding)
    first = np.argmax(magnitude >= magnitude.max(axis=0) * (1 - SIGN_TIE), axis=0)
    return np.where(deciding[first, np.arange(deciding.shape[1])] < 0, -1.0, 1.0)


def _krylov(operator: Operator | Outline) -> Krylov:
    # Where single precision is no cheaper, a tolerance of 1e-10 costs one or two more products.
    return Krylov() if operator.narrow_pays else Krylov(tol=1e-10, mixed=False)


def _fits(n: int) -> bool:
    # Three times the matrix: itself, its eigenvectors, and LAPACK's work space.
    return n <= DENSE_LIMIT and 3 * 8 * n**2 <= memory_budget()


def _check_dense(n: int, size: int) -> None:
    if not _fits(n):
        raise ValueError(
            f"solver='dense' needs {format_bytes(3 * size)} for a {n:,} x {n:,} matrix (budget "
            f"{format_bytes(memory_budget())}, largest n {DENSE_LIMIT:,}). Use solver='auto', which forms no matrix."
        )
