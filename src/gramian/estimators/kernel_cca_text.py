"""What a fit of kernel CCA says of itself: its summary, and its warnings."""

from __future__ import annotations

from typing import Any

from gramian.estimators.base import Clock, describe
from gramian.estimators.cca import correlation_lines, shown
from gramian.estimators.kernel_pairs import KernelPairs
from gramian.estimators.warnings import ConvergenceWarning, GramianWarning, IndefiniteKernelWarning, RankWarning, warn
from gramian.results import FitSummary


def summarize_pairs(
    estimator: Any, shape: tuple[int, int], pairs: KernelPairs, ridge: tuple[float, float], held: str, clock: Clock
) -> FitSummary:
    """Write what was found and how; warn of what is less than was asked for."""
    found = _lacking(pairs, shape[0], ridge, estimator.n_components)
    for said, remedy, kind in found:
        warn(f"{said} {remedy}".strip(), kind)
    notes, trace, kernels = [said for said, _, _ in found], pairs.trace, (estimator.kernel_, estimator.kernel_y_)
    lines = correlation_lines(estimator.correlations_, estimator.score_correlations_, ridge)
    if estimator.held_out_correlations_ is not None:
        lines.append(("held out", f"{shown(estimator.held_out_correlations_)} ({held})"))
    of = "components of both spaces" if pairs.bases else "pairs"
    lines += [
        ("route", f"{trace.solver} ({trace.reason})"),
        ("work", ", ".join(part for part in (trace.products, f"{clock.seconds:.2g} s") if part)),
        ("certified", f"residuals of {of} <= {pairs.residuals.max(initial=0.0):.1e}"),
    ]
    lines += [("note", note) for note in notes]
    facts = {
        "kernel": str(kernels[0]),
        "kernel_y": str(kernels[1]),
        "ridge": ridge,
        "correlations": estimator.correlations_,
        "score_correlations": estimator.score_correlations_,
        "held_out_correlations": estimator.held_out_correlations_,
        "held_out": held or None,
        "ranks": [basis.rank for basis in pairs.bases] or None,
        "solver": trace.solver,
        "reason": trace.reason,
        "products": trace.products,
        "converged": trace.converged,
        "residuals": pairs.residuals,
        "n_negative": [basis.n_negative for basis in pairs.bases] or None,
        "seconds": clock.seconds,
        "notes": notes,
    }
    both = ", ".join(dict.fromkeys(map(str, kernels)))
    detail = f"{both}   q = {estimator.n_features_y_in_}"
    return describe(estimator, shape, len(pairs.values), lines, detail=detail, facts=facts)


def _lacking(
    pairs: KernelPairs, n: int, ridge: tuple[float, float], asked: int | None
) -> list[tuple[str, str, type[GramianWarning]]]:
    """What is less than was asked for, what to do about it, and which warning that is."""
    found: list[tuple[str, str, type[GramianWarning]]] = []
    k, ranks, trace = len(pairs.values), [basis.rank for basis in pairs.bases], pairs.trace
    if not any(ridge) and sum(ranks) > n - 1:
        said = f"the ranks {ranks[0]} and {ranks[1]} leave no room in {n} rows: correlations are 1 by construction."
        found.append((said, "Use ridge > 0, or a rank well below the number of rows.", RankWarning))
    if asked is not None and asked > k:
        said = f"the smaller rank is {k}: {k} of {asked} pairs were kept."
        found.append((said, f"Use n_components={k} or fewer.", RankWarning))
    if pairs.cut:
        said = f"only the {max(ranks)} leading components of each space were searched: {trace.reason}."
        found.append((said, "Set rank, or use a positive definite kernel and ridge > 0.", RankWarning))
    for name, basis in zip("XY", pairs.bases, strict=False):
        if basis.n_negative:
            least, word = (
                "" if basis.shares is not None else "at least ",
                "value" if basis.n_negative == 1 else "values",
            )
            said = f"the kernel matrix of {name} is indefinite: {least}{basis.n_negative} negative eigen{word}, the "
            said += f"largest of size {basis.most_negative:.3g}; only positive ones were kept."
            found.append((said, "", IndefiniteKernelWarning))
    if not trace.converged:
        said = f"the iteration stopped early ({trace.stopped}): residuals up to {pairs.residuals.max(initial=0.0):.1e}."
        found.append((said, "Use a larger ridge, fewer components, or a rank.", ConvergenceWarning))
    return found
