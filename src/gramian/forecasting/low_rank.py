"""The plan of any kernel method that is cut to low rank by landmarks."""

from __future__ import annotations

from copy import copy
from typing import Any

from gramian.config import thread_count
from gramian.estimators import KernelKMeans, KernelSVC
from gramian.estimators.landmarks import DEFAULT_LANDMARKS, LANDMARK_SAMPLE_MIN_ROWS, ROWS_PER_LANDMARK
from gramian.forecasting import machine
from gramian.forecasting.kernels import prepared
from gramian.forecasting.plan import Job, Plan, plan
from gramian.operators.mapped_moments import rows_summed


def landmarks_of(estimator: Any) -> int | None:
    """Number of landmarks or random features asked for; None if there are none."""
    given = getattr(estimator, "landmarks", None)
    if given is None or isinstance(given, int):
        return given
    return int(getattr(given, "n_landmarks", None) or getattr(given, "n_features", None) or DEFAULT_LANDMARKS)


def low_rank(estimator: Any, job: Job, m: int) -> Plan:
    """One pass over the rows in the features of m landmarks, then a problem of that size."""
    n, d, (kernel, _) = job.n, job.d, prepared(estimator, job)
    m = min(m, n)
    random = hasattr(estimator.landmarks, "n_features")
    drawn = 0 if random else min(n, max(LANDMARK_SAMPLE_MIN_ROWS, ROWS_PER_LANDMARK * m))
    factor = 8.0 * drawn * (m + d + 128) + drawn * machine.held(kernel, d)
    single_pass = thread_count() * 8.0 * (2 * rows_summed(n, m) * m + 2 * m * m) + 8.0 * m * m * 8
    room = job.copied + max(factor, single_pass) + 8.0 * n * job.q * 2

    def seconds() -> float:
        rate, one = machine.tiles(kernel, d), machine.multiply()
        found = rate.cross(drawn, m) + drawn * m * m * one / thread_count()
        seen = rate.cross(n, m) + n * m * m * 1.5 * one / thread_count()
        return found + seen + 2 * machine.spectrum(m) + room * machine.touch()

    work, reason = f"one pass over {n:,} rows with {m:,} features", f"{m:,} features stand for {n:,} rows"
    if not isinstance(estimator, (KernelSVC, KernelKMeans)):
        return Plan("low rank", reason, work, room, seconds)
    # Rows are mapped once, kept, and taken for rows of the linear kernel.
    changed = copy(estimator)
    changed.kernel, changed.landmarks = "linear", None
    rest = plan(changed, Job(n, m, job.q))
    kept = 8.0 * n * m + max(room, rest.bytes)
    time = lambda: seconds() + rest.seconds()  # noqa: E731
    return Plan(rest.route, reason, f"{work}, then {rest.products}", kept, time, rest.typical)
