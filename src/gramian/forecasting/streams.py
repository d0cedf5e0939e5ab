"""Plans of fits to rows that stream by: the memory is that of blocks, whatever the number of rows."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

from gramian.config import memory_budget, thread_count
from gramian.estimators import ICA, KernelCCA, KernelKMeans, KernelPCA, KernelRidge
from gramian.estimators.kernel_streams import FIRST_ROWS_BUDGET_DIVISOR, require_landmarks
from gramian.estimators.landmarks import ROWS_PER_LANDMARK
from gramian.forecasting.kernels import STEPS
from gramian.forecasting.low_rank import landmarks_of, low_rank
from gramian.forecasting.plan import Job, Plan, plan
from gramian.operators.mapped_moments import rows_summed
from gramian.operators.rows import block_rows

#: Kernel methods that stream, through landmarks.
KERNEL_METHODS = (KernelPCA, KernelRidge, KernelCCA, KernelKMeans)
#: Blocks in memory: one that is read and one that is worked on.
BLOCKS = 2


def streamed(estimator: Any, job: Job) -> Plan:
    """What an estimator would do with a stream of that size."""
    kernel = hasattr(estimator, "landmarks")
    if isinstance(estimator, ICA) or (kernel and not isinstance(estimator, KERNEL_METHODS)):
        raise ValueError(f"{type(estimator).__name__} needs its rows in memory, and cannot fit a stream.")
    width = job.d + (job.q if _has_targets(estimator) else 0)
    block = min(job.n, block_rows(width))
    held = job.reader + BLOCKS * 8.0 * block * width
    if not kernel:
        return _linear(estimator, job, block, held)
    require_landmarks(estimator)
    return _kernel(estimator, job, block, held, width)


def _has_targets(estimator: Any) -> bool:
    return isinstance(estimator, KernelCCA) or (
        hasattr(estimator, "predict") and not isinstance(estimator, KernelKMeans)
    )


def _linear(estimator: Any, job: Job, block: int, held: float) -> Plan:
    """One pass for the moments; nothing grows with the number of rows."""
    model = copy(estimator)
    if getattr(model, "solver", None) == "auto":
        model.solver = "covariance"  # of a stream there is nothing else at first
    few = replace(job, n=min(job.n, max(block, 4 * (job.d + job.q))), dtype="float64")
    whole, part = plan(model, replace(job, dtype="float64")), plan(model, few)
    return replace(whole, reason="one pass over the rows", bytes=held + part.bytes)


def _kernel(estimator: Any, job: Job, block: int, held: float, width: int) -> Plan:
    """Landmarks of the first rows, then one pass (k-means: a pass for each step)."""
    m = int(landmarks_of(estimator) or 0)
    wanted = min(ROWS_PER_LANDMARK * m, memory_budget() // (FIRST_ROWS_BUDGET_DIVISOR * 8 * width))
    first = min(job.n, max(block, wanted))
    known = max(0.0, 8.0 * (first - block) * width)
    at_first = copy(estimator)
    if isinstance(estimator, KernelKMeans):
        at_first.batch_size = None
    start = low_rank(at_first, replace(job, n=first, dtype="float64"), m)
    whole = low_rank(_without_rows(estimator), replace(job, dtype="float64"), m)
    views = 2 if isinstance(estimator, KernelCCA) else 1
    size = views * min(m, job.n) + (job.q if isinstance(estimator, KernelRidge) else 0)
    sets = 2 if isinstance(estimator, KernelCCA) and estimator.folds is not None else 1
    rows = rows_summed(job.n, size)
    sums = 8.0 * thread_count() * ((1 + sets) * size**2 + 2 * rows * size) + 8.0 * 6 * size**2
    chosen = 2 * 8.0 * block * width if sets > 1 else 0.0  # rows that are held out, and the others
    room = held + known + chosen + max(start.bytes, sums)
    work, reason = f"one pass over {job.n:,} rows with {m:,} features", f"{m:,} features stand for {job.n:,} rows"
    if not isinstance(estimator, KernelKMeans):
        seconds = whole.seconds if views == 1 else lambda: 4 * whole.seconds()
        return Plan("low rank", reason, work, room, seconds)
    passes = 1 if estimator.batch_size is not None else min(STEPS, int(estimator.max_iter))
    time = lambda: start.seconds() + passes * whole.seconds()  # noqa: E731
    way = "Lloyd" if estimator.batch_size is None else "online"
    work = f"the first {first:,} rows, then {passes} pass{'es' * (passes > 1)} with {m:,} features"
    return Plan(way, reason, work, room, time, True)


def _without_rows(estimator: Any) -> Any:
    """Kernel PCA with the same landmarks: one pass, and no clusters of rows that are kept."""
    if not isinstance(estimator, KernelKMeans):
        return estimator
    return KernelPCA(kernel=estimator.kernel, landmarks=estimator.landmarks)
