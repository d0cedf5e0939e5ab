"""What fits of kernel methods cost that landmarks or random features cut to low rank, in memory and of streams."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import TypeVar

from gramian.config import memory_budget, thread_count
from gramian.costs import machine
from gramian.costs.plan import Job, Plan, prepared
from gramian.estimators.kernel_input import KernelInput
from gramian.estimators.kernel_rows import FIRST_ROWS_BUDGET_DIVISOR, require_landmarks
from gramian.estimators.landmarks import DEFAULT_LANDMARKS, LANDMARK_SAMPLE_MIN_ROWS, ROWS_PER_LANDMARK
from gramian.estimators.plans_linear import STREAM_BLOCKS
from gramian.operators.mapped_moments import rows_summed
from gramian.operators.rows import block_rows

K = TypeVar("K", bound=KernelInput)


def landmarks_of(estimator: KernelInput) -> int:
    """Number of landmarks or random features asked for; 0 if there are none."""
    given = estimator.landmarks
    if given is None or isinstance(given, int):
        return given or 0
    return int(getattr(given, "n_landmarks", None) or getattr(given, "n_features", None) or DEFAULT_LANDMARKS)


def one_pass(estimator: KernelInput, job: Job) -> Plan:
    """One pass over the rows in the features of m landmarks, then a problem of that size."""
    n, d, (kernel, _) = job.n, job.d, prepared(estimator.kernel, job)
    m = min(landmarks_of(estimator), n)
    random = hasattr(estimator.landmarks, "n_features")
    drawn = 0 if random else min(n, max(LANDMARK_SAMPLE_MIN_ROWS, ROWS_PER_LANDMARK * m))
    factor = 8.0 * drawn * (m + d + 128) + drawn * machine.held(kernel, d)
    sums = thread_count() * 8.0 * (2 * rows_summed(n, m) * m + 2 * m * m) + 8.0 * m * m * 8
    room = job.copied + max(factor, sums) + 8.0 * n * job.q * 2

    def seconds() -> float:
        rate, one = machine.tiles(kernel, d), machine.multiply()
        chosen = rate.cross(drawn, m) + drawn * m * m * one / thread_count()
        summed = rate.cross(n, m) + n * m * m * 1.5 * one / thread_count()
        return chosen + summed + 2 * machine.spectrum(m) + room * machine.touch()

    work, reason = f"one pass over {n:,} rows with {m:,} features", f"{m:,} features stand for {n:,} rows"
    return Plan("low rank", reason, work, room, seconds)


def on_mapped_rows(estimator: K, job: Job, plan: Callable[[K, Job], Plan]) -> Plan:
    """Rows are mapped once, kept, and taken for rows of the linear kernel."""
    mapped = one_pass(estimator, job)
    m = min(landmarks_of(estimator), job.n)
    linear = copy(estimator)
    linear.kernel, linear.landmarks = "linear", None
    rest = plan(linear, Job(job.n, m, job.q))
    kept = 8.0 * job.n * m + max(mapped.bytes, rest.bytes)
    time = lambda: mapped.seconds() + rest.seconds()  # noqa: E731
    return Plan(rest.route, mapped.reason, f"{mapped.products}, then {rest.products}", kept, time, rest.typical)


def of_stream(
    estimator: KernelInput,
    job: Job,
    start: Callable[[Job], Plan],
    *,
    width: int,
    sums: int = 1,
    views: int = 1,
    targets: int = 0,
) -> tuple[Plan, Plan, int]:
    """Landmarks of the first rows, then one pass: its plan, that of ``start`` with the first rows, and their number.

    Parameters
    ----------
    start : callable
        What is planned for the first rows, which are in memory.
    width : int
        Columns that are read.
    sums : int
        Sets of rows whose moments are kept apart.
    views, targets : int
        Feature maps, and columns of targets, whose moments are summed.
    """
    require_landmarks(estimator)
    block = min(job.n, block_rows(width))
    m = landmarks_of(estimator)
    wanted = min(ROWS_PER_LANDMARK * m, memory_budget() // (FIRST_ROWS_BUDGET_DIVISOR * 8 * width))
    first = min(job.n, max(block, wanted))
    begun = start(replace(job, n=first, dtype="float64", stream=False))
    size = views * min(m, job.n) + targets
    summed = 8.0 * thread_count() * ((1 + sums) * size**2 + 2 * rows_summed(job.n, size) * size) + 8.0 * 6 * size**2
    held = job.reader + STREAM_BLOCKS * 8.0 * block * width + max(0.0, 8.0 * (first - block) * width)
    held_out = 2 * 8.0 * block * width if sums > 1 else 0.0  # rows that are held out, and the others
    whole = one_pass(estimator, replace(job, dtype="float64", stream=False))
    reason = f"{m:,} features stand for {job.n:,} rows"
    work = f"one pass over {job.n:,} rows with {m:,} features"
    return replace(whole, reason=reason, products=work, bytes=held + held_out + max(begun.bytes, summed)), begun, first
