"""What a fit of kernel k-means says: what it refuses, its summary, and its warnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gramian.estimators.base import Clock
from gramian.estimators.distances import check_count
from gramian.estimators.validation import check_choice
from gramian.estimators.warnings import ConvergenceWarning, IndefiniteKernelWarning, RankWarning, warn
from gramian.kernels.base import is_number
from gramian.results import Array, FitSummary
from gramian.solvers.clustering import Clusters

#: Why mini-batches may find fewer clusters than there are places, and what to do about it.
SAMPLED = "the sample that gives the start takes", " Use a larger batch_size if the rows take more."


@dataclass(frozen=True)
class Course:
    """How the rows of a stream were clustered, for the summary."""

    way: str
    route: str
    path: tuple[float, ...]
    steps: int
    work: str
    end: str


def summarise(
    model: Any, shape: tuple[int, int], clock: Clock, found: Clusters | Course, sizes: Array, *, way: str, route: str
) -> FitSummary:
    """Write what a fit did."""
    k, (n, d), word = len(sizes), shape, "certified" if way == "Lloyd" else "ended"
    negative = getattr(found, "n_negative", 0)
    title = type(model).__name__, str(model.kernel_), f"{n:,} x {d:,}", f"{k} cluster{'s' * (k > 1)}"
    lines = [
        ("route", f"{way} ({route})"),
        ("work", f"{found.steps} steps; {found.work}, {clock.seconds:.2g} s"),
        ("inertia", f"{model.inertia_:.10g}"),
        (word, found.end) if found.end else ("stopped", f"max_iter={model.max_iter} reached"),
    ]
    if negative:
        lines.append(("note", _negative(negative)))
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
        "sizes": sizes,
        "converged": bool(found.end),
        "n_negative": negative,
        "seconds": clock.seconds,
    }
    return FitSummary(title, tuple(lines), facts)


def warn_of(model: Any, found: Clusters | Course, k: int) -> None:
    """Say aloud what is less than was asked for."""
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
    if negative := getattr(found, "n_negative", 0):
        warn(_negative(negative), IndefiniteKernelWarning)


def _negative(count: int) -> str:
    return (
        f"the kernel is indefinite: {count:,} squared distances to means are negative; they rank as they are and read "
        "as distance 0, and the objective need not fall."
    )


def check_clustering(model: Any, n: int, present: int) -> None:
    """Refuse parameters of k-means that do not go together, or not with n rows, so many of them of positive weight."""
    check_count("n_clusters", model.n_clusters)
    check_count("n_init", model.n_init)
    check_count("max_iter", model.max_iter)
    if model.n_clusters > n:
        raise ValueError(
            f"n_clusters={model.n_clusters} is more than the number of rows, n_samples={n}. "
            f"Use n_clusters={n} or fewer."
        )
    if model.n_clusters > present:
        raise ValueError(
            f"n_clusters={model.n_clusters} is more than the rows of positive sample_weight, {present}. "
            f"Use n_clusters={present} or fewer."
        )
    if not is_number(model.tol) or not 0 <= model.tol < 1:
        raise ValueError(f"tol={model.tol!r} must be a number from 0 up to 1.")
    if isinstance(model.init, str):
        check_choice("init", model.init, ("k-means++", "random"))
    if model.batch_size is not None:
        check_count("batch_size", model.batch_size)
        if model.init != "k-means++" if isinstance(model.init, str) else True:
            raise ValueError("batch_size starts from a sample of its own. Use init='k-means++', or batch_size=None.")
