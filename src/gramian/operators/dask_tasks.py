"""Tasks of dask, run and watched: progress, interrupts, and errors that say what to do."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import dask
import numpy as np
from dask import threaded
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.core import get_dependencies
from dask.optimization import cull

from gramian.config import settings, thread_count
from gramian.operators.remote import ClusterError
from gramian.operators.rows import as_block
from gramian.progress import Tracker
from gramian.results import Array

if TYPE_CHECKING:
    from distributed import Client

#: Seconds between two looks at the tasks: at first, and for long work.
POLL_SECONDS = 2e-3, 5e-2
#: Seconds between two questions to the scheduler, and how long its answer may take.
STATUS_SECONDS = 0.5
#: Batches submitted at a time.
BATCHES_IN_FLIGHT = 2
#: States of a task that is still to be done.
UNFINISHED_STATES = frozenset({"waiting", "queued", "no-worker", "processing"})


def client_of() -> Any:
    """The client of the cluster in use, or None: dask's own threads do the work then."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "gather") else None


class Graph:
    """Tasks by name, added to those of a collection. What a lost worker held is made again from it.

    ``*sources``: graphs of collections.
    """

    def __init__(self, *sources: dict[Any, Any]) -> None:
        known = (item for source in sources for item in source.items())
        self.tasks: dict[Any, Any] = {key: task for key, task in known if type(task).__name__ != "Future"}
        self.token, self.count = uuid4().hex, 0

    def add(self, name: str, function: Callable[..., Any], *args: object) -> Hashable:
        """Add a task, and return its key; keys among the arguments, and in lists, stand for their results."""
        key = f"{name.replace(' ', '_')}-{self.token}", self.count
        self.tasks[key], self.count = (function, *args), self.count + 1
        return key

    def constant(self, value: object) -> Hashable:
        """Add a value that many tasks use: it is sent once, and is not lost with a worker."""
        return self.add("constant", Box(value))


@dataclass(frozen=True)
class Box:
    """A value that dask shall not look into."""

    value: Any

    def __call__(self) -> Any:
        return self.value


def run_tasks(graph: Graph, keys: list[Any], task: str, steps: Sequence[Any] = ()) -> list[Any]:
    """Return the results of tasks, in their order.

    ``keys``: tasks whose results are wanted. ``task``: what is done, for progress and messages. ``steps``: tasks that
    progress counts, if not those.
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
    """Yield the results of batches of tasks, in their order; the next is submitted while one is awaited."""
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
            if len(waiting) == BATCHES_IN_FLIGHT:
                yield _awaited(client, waiting, report)
        while waiting:
            yield _awaited(client, waiting, report)
    except BaseException as failure:
        if client.status == "running":
            client.cancel([future for futures in waiting for future in futures], force=True)
        advice = _explained(failure, client, task)
        if advice is None:
            raise
        raise ClusterError(advice) from failure


def _here(graph: Graph, keys: list[Any]) -> list[Any]:
    """Results by dask's own threads, or whatever else is set."""
    get = get_scheduler() or threaded.get
    return list(get(cull(graph.tasks, keys)[0], keys))


def _awaited(client: Client, waiting: list[list[Any]], report: Callable[[Any], None] | None) -> list[Any]:
    _watch(client, waiting[0], report)
    found = list(client.gather(waiting[0]))
    waiting.pop(0)
    return found


def _watch(client: Client, futures: list[Any], report: Callable[[Any], None] | None) -> None:
    """Wait for all, or for the first that fails; the main thread sleeps, so that an interrupt wakes it."""
    start = asked = time.perf_counter()
    while True:
        states = [future.status for future in futures]
        if all(state == "finished" for state in states):
            return
        for future, state in zip(futures, states, strict=True):
            if state in ("error", "cancelled"):
                future.result(timeout=STATUS_SECONDS)
        now = time.perf_counter()
        if report and settings().progress and now - asked >= STATUS_SECONDS:
            asked = now
            report(client)
        time.sleep(min(max(POLL_SECONDS[0], 0.05 * (now - start)), POLL_SECONDS[1]))


def _report(keys: list[Any], tracker: Tracker, client: Client) -> None:
    """Tasks behind us, as the scheduler sees it; if it does not answer at once the futures will say why."""
    states: dict[Any, str] = {}
    with suppress(OSError, TimeoutError):
        states = client.sync(client.scheduler.get_task_status, keys=keys, callback_timeout=STATUS_SECONDS)
    tracker.reach(max(sum(state not in UNFINISHED_STATES for state in states.values()), tracker.done), len(keys))


def _explained(failure: BaseException, client: Client, task: str) -> str | None:
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

    def _posttask(self, key: Hashable, result: object, dsk: object, state: object, worker: object) -> None:
        self.count += key in self.keys
        self.tracker.reach(self.count, len(self.keys))


#: The owner of a task that more than one chunk needs.
SHARED_BY_CHUNKS = object()
#: A chunk in a graph: how it is made (None if it is the one thing given), and keys of what it is made from.
Chunk = list[Any]


@dataclass(frozen=True)
class Recipe:
    """Tasks that lead to one chunk and to no other; ``given`` are names of what comes from outside."""

    tasks: dict[Any, Any]
    key: Any
    given: tuple[Any, ...]

    def made(self, values: list[Any]) -> Any:
        """The chunk, made in this thread."""
        outside = {name: (Box(value),) for name, value in zip(self.given, values, strict=True)}
        return dask.get({**self.tasks, **outside}, self.key)


def fused(graph: dict[Any, Any], parts: list[list[Any]]) -> list[list[Chunk]]:
    """Return chunks with all tasks that serve no other chunk; what several share, or a cluster holds, stays outside.

    A scheduler may run a task on another worker than the one before it. Where a chunk is made inside the task that uses
    it, there is nothing to send.
    """
    owner: dict[Any, Any] = {}
    needs: dict[Any, set[Any]] = {}
    for key in (key for row in parts for key in row):
        stack = [key]
        while stack:
            node = stack.pop()
            if node in owner and owner[node] in (key, SHARED_BY_CHUNKS):
                continue
            owner[node] = SHARED_BY_CHUNKS if node in owner else key
            if node not in needs:
                needs[node] = set() if _held(graph, node) else get_dependencies(graph, node)
            stack += needs[node]
    return [[_chunk(graph, owner, needs, key) for key in row] for row in parts]


def _chunk(graph: dict[Any, Any], owner: dict[Any, Any], needs: dict[Any, set[Any]], key: Hashable) -> Chunk:
    if owner[key] is SHARED_BY_CHUNKS or _held(graph, key):
        return [None, [_link(graph, key)]]
    tasks, given, stack = {}, [], [key]
    while stack:
        node = stack.pop()
        if node in tasks or node in given:
            continue
        if owner[node] is SHARED_BY_CHUNKS or _held(graph, node):
            given.append(node)
        else:
            tasks[node] = graph[node]
            stack += needs[node]
    return [Recipe(tasks, key, tuple(given)), [_link(graph, node) for node in given]]


def _link(graph: dict[Any, Any], node: Hashable) -> Any:
    """What stands for a node among the arguments of a task: its key, or what the cluster holds."""
    return graph[node] if _held(graph, node) else node


def _held(graph: dict[Any, Any], node: Hashable) -> bool:
    """Whether a node is a result that a cluster holds already, as after ``persist``."""
    return type(graph[node]).__name__ == "Future"


def chunk_of(chunk: Chunk) -> Any:
    """A chunk, once what it is made from is there."""
    recipe, values = chunk
    return values[0] if recipe is None else recipe.made(values)


def count_of(chunk: Chunk) -> int:
    """Rows of a chunk."""
    return len(chunk_of(chunk))


def values_of(pieces: list[Any]) -> Array:
    """Rows from chunks: beside each other, then cut, then one below the other."""
    rows = []
    for chunks, part in pieces:
        values = [as_block(_as_array(chunk_of(chunk))) for chunk in chunks]
        whole = values[0] if len(values) == 1 else np.hstack(values)
        rows.append(whole if part is None else whole[part[0] : part[1]])
    return rows[0] if len(rows) == 1 else np.concatenate(rows)


def _as_array(chunk: Any) -> Any:
    """A chunk as an array; pandas has dtypes with gaps of their own."""
    if not hasattr(chunk, "to_numpy"):
        return chunk
    narrow = chunk.to_numpy().dtype == np.float32
    return chunk.to_numpy(dtype=np.float32 if narrow else np.float64, na_value=np.nan)


#: Seconds that a scheduler may take to answer.
SCHEDULER_TIMEOUT_SECONDS = 10


@contextmanager
def connected(scheduler: str) -> Iterator[str]:
    """Connect to a scheduler and give the address of its dashboard; "local" starts a worker for each processor."""
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters comes back as an error of the fit
    if scheduler != "local":
        try:
            client = Client(scheduler, timeout=SCHEDULER_TIMEOUT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise ValueError(
                f"no scheduler answers at {scheduler}. Give the address that `dask scheduler` prints, such as "
                "tcp://10.0.0.1:8786, or local."
            ) from error
        with client:
            yield client.dashboard_link
        return
    with (
        LocalCluster(n_workers=thread_count(), threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        yield client.dashboard_link
