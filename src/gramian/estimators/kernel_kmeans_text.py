"""What a fit of kernel k-means says of itself: its summary, and its warnings."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.estimators.base import Clock
from gramian.estimators.warnings import ConvergenceWarning, IndefiniteKernelWarning, RankWarning, warn
from gramian.results import FitSummary
from gramian.solvers.clustering import Clusters

#: Why mini-batches may find fewer clusters than there are places, and what to do about it.
SAMPLED = "the sample that gives the start takes", " Use a larger batch_size if the rows take more."


def summarise(model: Any, shape: tuple[int, int], clock: Clock, found: Clusters, route: str) -> FitSummary:
    """Write what a fit did."""
    k, (n, d) = len(found.squares), shape
    way, word = ("Lloyd", "certified") if model.batch_size is None else ("mini-batches", "ended")
    title = type(model).__name__, str(model.kernel_), f"{n:,} x {d:,}", f"{k} cluster{'s' * (k > 1)}"
    lines = [
        ("route", f"{way} ({route})"),
        ("work", f"{found.steps} steps; {found.work}, {clock.seconds:.2g} s"),
        ("inertia", f"{model.inertia_:.10g}"),
        (word, found.end) if found.end else ("stopped", f"max_iter={model.max_iter} reached"),
    ]
    if found.n_negative:
        lines.append(("note", _negative(found.n_negative)))
    facts = {
        "estimator": title[0],
        "kernel": title[1],
        "n": n,
        "d": d,
        "n_clusters": k,
        "solver": way,
        "steps": found.steps,
        "work": found.work,
        "inertia": model.inertia_,
        "sizes": np.bincount(model.labels_, minlength=k),
        "converged": bool(found.end),
        "n_negative": found.n_negative,
        "seconds": clock.seconds,
    }
    return FitSummary(title, tuple(lines), facts)


def warn_of(model: Any, found: Clusters) -> None:
    """Say aloud what is less than was asked for."""
    k = len(found.squares)
    if k < model.n_clusters:
        who, remedy = ("the rows take", "") if model.batch_size is None else SAMPLED
        warn(
            f"n_clusters={model.n_clusters}, but {who} only {k} different places in feature space: "
            f"{k} clusters were kept.{remedy}",
            RankWarning,
        )
    if not found.end:
        what, remedy = ("Lloyd's iteration", "it, or tol") if model.batch_size is None else ("the batches", "it")
        warn(f"{what} stopped at max_iter={model.max_iter}; raise {remedy}.", ConvergenceWarning)
    if found.n_negative:
        warn(_negative(found.n_negative), IndefiniteKernelWarning)


def _negative(count: int) -> str:
    return (
        f"the kernel is indefinite: {count:,} squared distances to means are negative; they rank as they are and read "
        "as distance 0, and the objective need not fall."
    )
