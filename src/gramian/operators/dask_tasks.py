"""Tasks of dask, run and watched: progress, interrupts, and errors that say what to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

import dask
from dask import threaded
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.optimization import cull

from gramian.config import settings
from gramian.operators.remote import ClusterError
from gramian.progress import Tracker

#: Seconds between two looks at the tasks: at first, and for long work.
PAUSE = 2e-3, 5e-2
#: Seconds between two questions to the scheduler, and how long its answer may take.
ASK = 0.5
#: Batches on their way at a time.
AHEAD = 2
#: States of a task that is still to be done.
OPEN = frozenset({"waiting", "queued", "no-worker", "processing"})


def client_of() -> Any:
    """The client of the cluster in use, or None: dask's own threads do the work then."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "gather") else None


class Graph:
    """Tasks by name, added to those of a collection. What a lost worker takes along is made again from it.

    Parameters
    ----------
    *sources : dict
        Graphs of collections.
    """

    def __init__(self, *sources: dict[Any, Any]) -> None:
        known = (item for source in sources for item in source.items())
        self.tasks: dict[Any, Any] = {key: task for key, task in known if type(task).__name__ != "Future"}
        self.token, self.count = uuid4().hex, 0

    def add(self, name: str, function: Callable[..., Any], *args: Any) -> Any:
        """Add a task, and return its key; keys among the arguments, and in lists, stand for their results."""
        key = f"{name.replace(' ', '_')}-{self.token}", self.count
        self.tasks[key], self.count = (function, *args), self.count + 1
        return key

    def constant(self, value: Any) -> Any:
        """Add something that goes along with many tasks: it travels once, and cannot be lost."""
        return self.add("constant", Box(value))


@dataclass(frozen=True)
class Box:
    """A value that dask shall not look into."""

    value: Any

    def __call__(self) -> Any:
        """Return it."""
        return self.value


def run_tasks(graph: Graph, keys: list[Any], task: str, steps: Sequence[Any] = ()) -> list[Any]:
    """Return the results of tasks, in their order.

    Parameters
    ----------
    graph : Graph
    keys : list
        Tasks whose results are wanted.
    task : str
        What is done, for progress and messages.
    steps : sequence of keys
        Tasks that progress counts, if not those.
    """
    counted = list(steps or keys)
    tracker = Tracker(task, len(counted), "tasks")
    if client_of() is None:
        with _Counter(set(counted), tracker):
            return _here(graph, keys)
    return next(run_batches([(graph, keys)], task, partial(_report, counted, tracker)))


def run_batches(
    batches: Iterable[tuple[Graph, list[Any]]], task: str, report: Callable[[Any], None] | None = None
) -> Iterator[list[Any]]:
    """Yield the results of batches of tasks, in their order; the next is on its way while one is awaited."""
    client = client_of()
    if client is None:
        for graph, keys in batches:
            yield _here(graph, keys)
        return
    waiting: list[list[Any]] = []
    try:
        for graph, keys in batches:
            # Vectors that go along with tasks are no mistake to warn of.
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
                waiting.append(client.get(cull(graph.tasks, keys)[0], keys, sync=False))
            if len(waiting) == AHEAD:
                yield _awaited(client, waiting, report)
        while waiting:
            yield _awaited(client, waiting, report)
    except BaseException as failure:
        _cancel(client, [future for futures in waiting for future in futures])
        advice = _explained(failure, client, task)
        if advice is None:
            raise
        raise ClusterError(advice) from failure


def _here(graph: Graph, keys: list[Any]) -> list[Any]:
    """Results by dask's own threads, or whatever else is set."""
    get = get_scheduler() or threaded.get
    return list(get(cull(graph.tasks, keys)[0], keys))


def _awaited(client: Any, waiting: list[list[Any]], report: Callable[[Any], None] | None) -> list[Any]:
    _watch(client, waiting[0], report)
    found = list(client.gather(waiting[0]))
    waiting.pop(0)
    return found


def _watch(client: Any, futures: list[Any], report: Callable[[Any], None] | None) -> None:
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
        if report and settings().progress and now - asked >= ASK:
            asked = now
            report(client)
        time.sleep(min(max(PAUSE[0], 0.05 * (now - start)), PAUSE[1]))


def _report(keys: list[Any], tracker: Tracker, client: Any) -> None:
    tracker.reach(max(_done(client, keys), tracker.done), len(keys))


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
        count = 1 + int(getattr(failure, "allowed_failures", 3))
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
