"""Memory, threads and progress: the settings of the process, and the one place that pins BLAS.

``config(memory="2GB", threads=2)`` sets; in a ``with`` statement it also restores.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController

from gramian.surroundings import free_memory, left_by_limits, processors

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}


@dataclass(frozen=True)
class Progress:
    """How far a long computation has come.

    ``done`` and ``expected`` count Gram products, or rows when data stream through (``unit`` is "rows" then); fractions
    are parts of a product. ``expected`` is an estimate that may move, infinite where there is none.
    """

    task: str
    done: float
    expected: float
    seconds: float
    unit: str = ""

    @property
    def rate(self) -> float:
        """Units done in a second."""
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float:
        """Time left if the rest goes as fast as what is done; infinite before anything is."""
        return self.seconds * (self.expected - self.done) / self.done if self.done else float("inf")


@dataclass(frozen=True)
class Settings:
    """What is in force; ``None`` means found out when asked."""

    memory: int | None = None
    threads: int | None = None
    progress: Callable[[Progress], None] | None = None


_settings = Settings()
_lock = threading.RLock()


class config:
    """Set the memory budget, the number of threads, or a progress callback.

    Takes effect at once, for the whole process. As a context manager it restores what was before.

    Parameters
    ----------
    memory : int or str, optional
        Bytes that a computation may use beside the data: ``2_000_000_000``, ``"2GB"``, ``"512MiB"``.
        Until it is set: half of what is free when the question comes up, on the machine, in the container
        (control groups) and within the limits of the process (``ulimit -v``, ``ulimit -d``).
    threads : int, optional
        Worker threads. Until it is set: the processors this process may use, by its affinity, the quota of its
        container, and ``OMP_NUM_THREADS`` or ``LOKY_MAX_CPU_COUNT``, which joblib and dask set for their workers.
    progress : callable, optional
        Called now and then during long work, from the calling thread, with a ``Progress``: task, done, expected,
        seconds.

    Examples
    --------
    >>> import gramian
    >>> with gramian.config(memory="2GB", threads=1):
    ...     gramian.settings().memory
    2000000000
    """

    def __init__(
        self,
        *,
        memory: int | str | None = None,
        threads: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        global _settings
        changes: dict[str, Any] = {}
        if memory is not None:
            changes["memory"] = parse_bytes(memory)
        if threads is not None:
            if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
                raise ValueError(f"threads={threads!r} must be a whole number of 1 or more.")
            changes["threads"] = threads
        if progress is not None:
            changes["progress"] = progress
        with _lock:
            self._before = _settings
            _settings = replace(_settings, **changes)

    def __enter__(self) -> Settings:
        return _settings

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _settings
        with _lock:
            _settings = self._before


def settings() -> Settings:
    """Return the settings in force.

    Examples
    --------
    >>> import gramian
    >>> with gramian.config(threads=1):
    ...     gramian.settings().threads
    1
    """
    return _settings


def memory_budget() -> int:
    """Bytes a computation may use beside the data; never more than the limits of the process leave."""
    if _settings.memory is None:
        return free_memory() // 2
    return max(0, min([_settings.memory, *left_by_limits()]))


def thread_count() -> int:
    """Worker threads a computation may use."""
    if getattr(_here, "alone", False):
        return 1
    return _settings.threads if _settings.threads is not None else processors()


def parse_bytes(text: int | str) -> int:
    """Turn ``"2GB"``, ``"512 MiB"`` or a number into bytes.

    >>> parse_bytes("1.5GB")
    1500000000
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?(?:e\d+)?)\s*([a-z]*)\s*", str(text), re.IGNORECASE)
    unit = found and UNITS.get(found.group(2).upper())
    if isinstance(text, bool) or not found or not unit or float(found.group(1)) <= 0:
        raise ValueError(f"memory={text!r} is not a size. Use bytes or text such as '2GB' or '512MiB'.")
    return int(float(found.group(1)) * unit)


def format_bytes(size: float) -> str:
    """Write a size for people: three digits and a unit.

    >>> format_bytes(3_200_000_000)
    '3.2 GB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


# threadpoolctl's limits belong to the process: the first user sets them and the last one restores. It lets only the
# thread that set a limit lift it, and the last user may be another than the first: one thread does both for all.
_pins = 0
_pinned: Any = None
_controller: ThreadpoolController | None = None
_keeper: ThreadPoolExecutor | None = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread: for small dense algebra, and below our own thread pool."""
    global _pins, _pinned, _controller, _keeper
    with _lock:
        if _pins == 0:
            # Made at first use, when NumPy's and SciPy's libraries are both loaded; looking for them is slow.
            _controller = _controller or ThreadpoolController()
            _keeper = _keeper or ThreadPoolExecutor(1, thread_name_prefix="gramian-blas")
            _pinned = _keeper.submit(_controller.limit, limits=1, user_api="blas").result()
        _pins += 1
    try:
        yield
    finally:
        with _lock:
            _pins -= 1
            if _pins == 0 and _keeper is not None:
                _keeper.submit(_pinned.restore_original_limits).result()


def is_pinned() -> bool:
    """Whether somebody holds BLAS to one thread."""
    return _pins > 0


#: What holds for the present thread alone.
_here = threading.local()


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold the present thread to itself: no pool, and BLAS on one thread. For tasks of which a cluster runs many."""
    before = getattr(_here, "alone", False)
    _here.alone = True
    try:
        with one_blas_thread():
            yield
    finally:
        _here.alone = before


_pools: dict[int, ThreadPoolExecutor] = {}
WORKER = "gramian-worker"


def pool(threads: int) -> ThreadPoolExecutor:
    """Return the shared pool of that many worker threads."""
    with _lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix=WORKER)
        return _pools[threads]


def has_worked(threads: int) -> bool:
    """Whether so many threads have done work of ours in this process."""
    return threads in _pools or (threads == 1 and _controller is not None)


def in_pool() -> bool:
    """Whether the present thread is one of our workers."""
    return threading.current_thread().name.startswith(WORKER)


def _forget_in_child() -> None:
    # After a fork the threads are gone and the lock may be held by one of them.
    global _lock, _pins, _keeper
    _lock = threading.RLock()
    _pools.clear()
    _pins, _keeper = 0, None


os.register_at_fork(after_in_child=_forget_in_child)
