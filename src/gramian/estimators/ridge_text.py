"""What a kernel ridge fit says of itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.estimators.warnings import ConvergenceWarning, GramianWarning, IndefiniteKernelWarning, RankWarning, warn
from gramian.results import FitSummary
from gramian.spaces.ridge_values import RidgeFit


def summarise_ridge(estimator: Any, fit: RidgeFit, n: int, seconds: float) -> FitSummary:
    """Write what was done, the certificate, and what fell short."""
    name, d, q = type(estimator).__name__, estimator.n_features_in_, fit.dual.shape[1]
    kernel, ridge, trace = str(estimator.kernel_), float(estimator.ridge), fit.trace
    notes = [text for text, _ in shortfalls(fit, ridge)]
    worst = float(fit.residuals.max(initial=0.0))
    lines = [
        ("route", f"{trace.solver} ({trace.reason})"),
        ("work", ", ".join(part for part in (trace.products, f"{seconds:.2g} s") if part)),
        ("certified", f"relative residual{'s' if q > 1 else ''} <= {worst:.1e} in double precision"),
    ]
    if fit.left_out is not None:
        size = np.abs(fit.left_out).max(initial=0.0) or 1.0  # squares of extreme units would overflow
        error = float(size * np.sqrt(np.square(fit.left_out / size).mean()))
        lines.append(("left out", f"root mean squared leave-one-out residual {error:.4g}"))
    lines += [("note", note) for note in notes]
    facts = {
        "estimator": name,
        "n": n,
        "d": d,
        "targets": q,
        "kernel": kernel,
        "ridge": ridge,
        "solver": trace.solver,
        "reason": trace.reason,
        "products": trace.products,
        "converged": trace.converged,
        "residuals": fit.residuals,
        "singular": fit.singular,
        "rank": fit.rank,
        "n_negative": fit.n_negative,
        "most_negative": fit.most_negative,
        "seconds": seconds,
        "notes": notes,
    }
    title = [name, kernel, f"{n:,} x {d:,}", f"{q} targets" if q > 1 else "", f"ridge {ridge:g}"]
    return FitSummary(tuple(part for part in title if part), tuple(lines), facts)


def warn_of_ridge(fit: RidgeFit, ridge: float) -> None:
    """Say aloud what the summary says of a fit that is less than was asked for."""
    for text, category in shortfalls(fit, ridge):
        warn(text, category)


def shortfalls(fit: RidgeFit, ridge: float) -> list[tuple[str, type[GramianWarning]]]:
    """What a fit lacks: convergence, rank, a kernel that is positive."""
    found: list[tuple[str, type[GramianWarning]]] = []
    if not fit.trace.converged:
        text = (
            f"the {fit.trace.solver} solver stopped early ({fit.trace.stopped}): relative residuals up to "
            f"{fit.residuals.max():.1e}. Raise the ridge, or allow it more iterations with a solver object."
        )
        found.append((text, ConvergenceWarning))
    if fit.singular:
        rank = "" if fit.rank is None else f" of rank {fit.rank:,} (of {fit.size:,})"
        text = (
            f"ridge={ridge:g} leaves a singular matrix{rank}: least squares of least norm was fitted. Raise the ridge, "
            "or drop rows that repeat others."
        )
        found.append((text, RankWarning))
    if fit.free < fit.offsets.shape[0]:
        text = (
            f"the {fit.offsets.shape[0]} functions that the kernel does not penalise are only {fit.free} on these "
            "rows: their coefficients of least norm were taken. Drop constant or repeated columns."
        )
        found.append((text, RankWarning))
    if fit.n_negative:
        many = f"{fit.n_negative:,} negative eigenvalue{'s' if fit.n_negative > 1 else ''}"
        size = f", the largest of size {fit.most_negative:.3g}" if fit.most_negative else ""
        text = (
            f"the kernel matrix is indefinite: {'' if fit.counted else 'at least '}{many}{size}; the equations were "
            "solved, but their solution is a saddle point and minimises nothing."
        )
        found.append((text, IndefiniteKernelWarning))
    return found
