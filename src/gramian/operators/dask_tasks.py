"""Tasks of dask, run and watched: progress, interrupts, and errors that say what to do."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import dask
from dask.base import get_scheduler
from dask.callbacks import Callback

from gramian.config import settings
from gramian.progress import Tracker

#: Seconds between two looks at the tasks: at first, and for long work.
PAUSE = 2e-3, 5e-2
#: Seconds between two questions to the scheduler, and how long its answer may take.
ASK = 0.5
#: States of a task that is still to be done.
OPEN = frozenset({"waiting", "queued", "no-worker", "processing"})


def client_of() -> Any:
    """The client of the cluster in use, or None: dask's own threads do the work then."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "gather") else None


def run_tasks(tasks: list[Any], task: str, steps: Sequence[Any] = ()) -> list[Any]:
    """Return the results of delayed objects, in their order.

    Parameters
    ----------
    tasks : list of Delayed
    task : str
        What is done, for progress and messages.
    steps : sequence of Delayed
        What they need and progress counts, if not themselves.
    """
    keys = [step.key for step in steps or tasks]
    tracker = Tracker(task, len(keys), "tasks")
    client = client_of()
    if client is None:
        with _Counter(set(keys), tracker):
            return list(dask.compute(*tasks))
    futures: list[Any] = []
    try:
        # Vectors that go along with tasks are no mistake to warn of.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            futures = client.compute(tasks)
        _watch(client, futures, keys, tracker)
        return list(client.gather(futures))
    except BaseException as failure:
        _cancel(client, futures)
        advice = _explained(failure, client, task)
        if advice is None:
            raise
        raise RuntimeError(advice) from failure


def _watch(client: Any, futures: list[Any], keys: list[Any], tracker: Tracker) -> None:
    """Wait for all, or for the first that fails; the main thread sleeps, so that an interrupt wakes it."""
    start = asked = time.perf_counter()
    while True:
        states = [future.status for future in futures]
        if all(state == "finished" for state in states):
            return
        for future, state in zip(futures, states, strict=True):
            if state in ("error", "cancelled"):
                future.result(timeout=ASK)
        now = time.perf_counter()
        if settings().progress and now - asked >= ASK:
            asked = now
            tracker.reach(max(_done(client, keys), tracker.done), len(keys))
        time.sleep(min(max(PAUSE[0], 0.05 * (now - start)), PAUSE[1]))


def _done(client: Any, keys: list[Any]) -> int:
    """Tasks behind us, as the scheduler sees it; none if it does not answer at once, for the futures will say why."""
    try:
        states = client.sync(client.scheduler.get_task_status, keys=keys, callback_timeout=ASK)
    except (OSError, TimeoutError):
        return 0
    return sum(state not in OPEN for state in states.values())


def _cancel(client: Any, futures: list[Any]) -> None:
    if client.status == "running":
        client.cancel(futures, force=True)


def _explained(failure: BaseException, client: Any, task: str) -> str | None:
    """One line that says what to do, where the cluster failed and not the work."""
    kind = type(failure).__name__
    if kind == "KilledWorker":
        count = 1 + int(dask.config.get("distributed.scheduler.allowed-failures"))
        return (
            f"{task}: one task ended {count} workers, one after the other, most likely by the memory it took. Use "
            "smaller chunks (X.rechunk), or workers with more memory."
        )
    lost = isinstance(failure, (OSError, TimeoutError)) or kind in ("FutureCancelledError", "CancelledError")
    if lost or client.status != "running":
        address = getattr(client.scheduler, "address", "its address")
        return (
            f"{task}: the connection to the scheduler at {address} was lost. Check that it runs, connect a new "
            "dask.distributed.Client, and fit again."
        )
    return None


class _Counter(Callback):
    """Counts finished tasks of dask's own threads."""

    def __init__(self, keys: set[Any], tracker: Tracker) -> None:
        super().__init__()
        self.keys, self.tracker, self.count = keys, tracker, 0

    def _posttask(self, key: Any, result: Any, dsk: Any, state: Any, worker: Any) -> None:
        self.count += key in self.keys
        self.tracker.reach(self.count, len(self.keys))
