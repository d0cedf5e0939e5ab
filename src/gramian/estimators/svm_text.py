"""What a fitted support vector machine says of itself: its summary, and its warnings."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.config import format_bytes
from gramian.estimators.base import Clock
from gramian.estimators.warnings import ConvergenceWarning, IndefiniteKernelWarning, warn
from gramian.operators.blocks import KernelBlocks
from gramian.results import FitSummary
from gramian.solvers.box_qp import DualSolution

#: Support vectors looked at to find out whether a kernel that may be indefinite is.
SAMPLE = 500


def most_negative(blocks: KernelBlocks, dual: DualSolution) -> float:
    """Size of the most negative eigenvalue among some support vectors; 0 if there is none beyond rounding."""
    support = np.flatnonzero(dual.coefficients.any(axis=1))
    if blocks.positive or not len(support):
        return 0.0
    some = support[:: -(-len(support) // SAMPLE)]
    values = np.linalg.eigvalsh(blocks.block(some, np.empty((len(some), len(some)))))
    return float(-values[0]) if values[0] < -1e-8 * np.abs(values).max() else 0.0


def warn_of(model: Any, dual: DualSolution) -> None:
    """Say aloud what the summary says of an answer that is less than was asked for."""
    if not dual.converged:
        warn(
            f"the search stopped early ({dual.stopped}): the KKT residual is {model.kkt_residual_:.1e}, "
            f"tol={model.tol:g}. Use a smaller C={model.C:g}, a larger tol, or standardise X.",
            ConvergenceWarning,
        )
    if model._negative:
        warn(
            f"the kernel matrix is indefinite: among the support vectors an eigenvalue of -{model._negative:.3g}; "
            "the answer meets the optimality conditions, but it need not be the only one that does.",
            IndefiniteKernelWarning,
        )


def write(model: Any, shape: tuple[int, int], dual: DualSolution, clock: Clock) -> FitSummary:
    """Write what a fit did."""
    (n, d), c, s = shape, len(model.classes_), len(model.support_)
    rounds = f"{dual.rounds} round" + ("s" if dual.rounds != 1 else "")
    if dual.largest:
        whole = format_bytes(8 * n * n)
        route = f"working sets of up to {dual.largest:,} rows (the kernel matrix would take {whole})"
        work = f"{dual.steps:,} coordinate steps in {rounds}, {clock.seconds:.3g} s"
    else:
        narrow = f"the linear kernel has {d:,} columns" if model.landmarks is None else "features of low rank"
        route = f"interior point method ({narrow}, fewer than rows)"
        work = f"{dual.steps} iterations, {clock.seconds:.3g} s"
    gap = float(np.max(model.duality_gap_))
    certified = f"KKT residual <= {model.kkt_residual_:.1e}, relative duality gap <= {gap:.1e}"
    lines = [("route", route), ("work", work), ("certified", certified)]
    if not dual.converged:
        lines.append(("stopped", dual.stopped))
    if model._negative:
        lines.append(("note", f"the kernel matrix is indefinite: an eigenvalue of -{model._negative:.3g}"))
    title = ("KernelSVC", str(model.kernel_), f"{n:,} x {d:,}", f"{c} classes", f"{s:,} support vectors")
    facts = {
        "estimator": "KernelSVC",
        "n": n,
        "d": d,
        "kernel": str(model.kernel_),
        "n_classes": c,
        "n_support": s,
        "route": route,
        "steps": dual.steps,
        "rounds": dual.rounds,
        "converged": dual.converged,
        "stopped": dual.stopped,
        "seconds": clock.seconds,
        "kkt_residual": model.kkt_residual_,
        "duality_gap": model.duality_gap_,
        "dual_objective": model.dual_objective_,
        "most_negative": model._negative,
    }
    return FitSummary(title, tuple(lines), facts)
