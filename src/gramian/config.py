"""Memory, threads and progress: settings, what machine, container and process leave, and the one place that pins BLAS.

``config(memory="2GB", threads=2)`` sets; in a ``with`` statement it also restores.
"""

from __future__ import annotations

import os
import re
import resource
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from threadpoolctl import ThreadpoolController

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
#: Multiplications up to which BLAS uses one thread by itself, and up to which one is quicker than several.
UNTHREADED_MAX_MULTIPLICATIONS, PINNED_MAX_MULTIPLICATIONS = 1e4, 2e8
#: Bytes that are taken without a look at what is free, which takes 0.2 ms: Python and its libraries take as many.
UNASKED_MAX_BYTES = 64 * 10**6

#: Variables by which those who start processes say how many threads each may have: joblib and dask set the first.
SHARES = ("OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
#: Names of limit, use and reclaimable part in the two versions of control groups.
MEMORY = {
    "unified": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
#: From here on a limit is none: the first version of control groups writes a number near 2^63.
UNLIMITED = 2**60
#: Where Linux shows control groups, and those of this process.
GROUPS, OWN = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


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


def within_budget(size: float) -> bool:
    """Whether a computation may use so many bytes beside the data; little is not asked for unless it is limited."""
    return is_little(size) or size <= memory_budget()


def is_little(size: float) -> bool:
    """Whether so many bytes are there in any case: no budget is set, and the process has no limits."""
    return size <= UNASKED_MAX_BYTES and _settings.memory is None and not list(left_by_limits())


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


def allowed(environment: Mapping[str, str]) -> tuple[int, ...]:
    """Numbers of threads that variables of an environment allow.

    >>> allowed({"OMP_NUM_THREADS": "3,2"}), allowed({"OMP_NUM_THREADS": "many"})
    ((3,), ())
    """
    told = (environment.get(name, "").split(",")[0].strip() for name in SHARES)
    return tuple(int(value) for value in told if value.isdecimal() and int(value) > 0)


#: As this process was started: a cluster that is made later writes variables for its workers here, too.
ALLOWED = allowed(os.environ)


def free_memory() -> int:
    """Bytes that can still be had: the least of what machine, control groups and limits of the process leave."""
    left = [_free_of_machine(), *left_by_limits()]
    left += [_free_of_group(*found) for found in memory_groups(GROUPS, OWN)]
    return max(0, min(left))


def processors() -> int:
    """Processors we may use: those we may run on, as far as the container and whoever started us allow."""
    return min([len(os.sched_getaffinity(0)), *_quotas(GROUPS, OWN), *ALLOWED])


def _free_of_machine() -> int:
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):  # also counts what caches would give back
            free = int(line.split()[1]) * 1024
    return free


def left_by_limits() -> Iterator[int]:
    """What ``ulimit -v`` and ``ulimit -d`` leave, where set: addresses, and memory that is ours to write."""
    for kind, place in ((resource.RLIMIT_AS, 0), (resource.RLIMIT_DATA, 5)):
        limit, _ = resource.getrlimit(kind)
        if limit == resource.RLIM_INFINITY:
            continue
        for line in _lines(Path("/proc/self/statm")):
            yield limit - int(line.split()[place]) * os.sysconf("SC_PAGE_SIZE")


def _free_of_group(limit: Path, use: Path, reclaimable: str) -> int:
    """What a group leaves; pages of files that were read count as used, and are given back when asked for."""
    most, used = _number(limit), _number(use)
    if most is None or used is None or most >= UNLIMITED:
        return UNLIMITED
    cached = (line.split() for line in _lines(limit.with_name("memory.stat")))
    return most - used + sum(int(size) for name, size in cached if name == reclaimable)


@cache
def memory_groups(groups: Path, own: Path) -> tuple[tuple[Path, Path, str], ...]:
    """Files of limit and use of our control group and those around it, with a name for what can be had back."""
    found = []
    for kind, folder in _folders(groups, own, "memory"):
        limit, use, reclaimable = MEMORY[kind]
        if (folder / limit).is_file():
            found.append((folder / limit, folder / use, reclaimable))
    return tuple(found)


@cache
def _quotas(groups: Path, own: Path) -> tuple[int, ...]:
    """Whole processors that quotas of time of our control group and those around it amount to."""
    found = []
    for kind, folder in _folders(groups, own, "cpu"):
        if kind == "unified":
            words = " ".join(_lines(folder / "cpu.max")).split()
        else:
            words = [*_lines(folder / "cpu.cfs_quota_us"), *_lines(folder / "cpu.cfs_period_us")]
        if len(words) == 2 and words[0].strip().isdecimal():  # "max" and -1 are no quota
            found.append(max(1, -(-int(words[0]) // int(words[1]))))
    return tuple(found)


def _folders(groups: Path, own: Path, controller: str) -> Iterator[tuple[str, Path]]:
    """Folders of our groups, the innermost first; in a container the mount itself may be ours, whatever it is named."""
    for line in _lines(own):
        number, names, place = line.rstrip("\n").split(":", 2)
        if number == "0":
            kind, mount = "unified", groups
        elif controller in names.split(","):
            kind, mount = controller, groups / controller
        else:
            continue
        inner = mount / place.strip("/")
        yield from ((kind, folder) for folder in (inner, *inner.parents) if folder.is_relative_to(mount))


def _number(path: Path) -> int | None:
    text = "".join(_lines(path)).strip()
    return int(text) if text.isdecimal() else None


def _lines(path: Path) -> list[str]:
    """Lines of a file of the system; none where there is no such file."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.readlines()
    except OSError:
        return []


# Limits of BLAS belong to the process: the first user sets them and the last one restores, whichever thread that is.
_pins = 0
_pinned: list[tuple[Any, int]] = []
_libraries: list[Any] | None = None


class one_blas_thread:
    """Hold BLAS to one thread: for small dense algebra, and below our own thread pool."""

    __slots__ = ()

    def __enter__(self) -> None:
        global _pins, _pinned, _libraries
        with _lock:
            if _pins == 0:
                # Found at first use, when NumPy's and SciPy's libraries are both loaded; looking for them is slow.
                _libraries = _blas_libraries() if _libraries is None else _libraries
                _pinned = [(library, count) for library in _libraries if (count := library.num_threads) != 1]
                for library, _ in _pinned:
                    _limit(library, 1)
            _pins += 1

    def __exit__(self, *error: object) -> None:
        global _pins
        with _lock:
            _pins -= 1
            if _pins == 0:
                for library, count in _pinned:
                    _limit(library, count)


def _blas_libraries() -> list[Any]:
    """Loaded libraries of BLAS whose number of threads is one for the whole process: OpenMP has one for each thread."""
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return [library for library in found if getattr(library, "threading_layer", "") != "openmp"]


def _limit(library: Any, count: int) -> None:
    """Set the threads of a library; 1 us."""
    library.set_num_threads(count)
    # In recent versions of threadpoolctl a limit belongs to the thread that set it, and calls of others do nothing.
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread()


def pinned_if_small(multiplications: float) -> AbstractContextManager[None]:
    """One BLAS thread for small problems: quicker, and the same bits whatever else the process does."""
    small = UNTHREADED_MAX_MULTIPLICATIONS < multiplications <= PINNED_MAX_MULTIPLICATIONS
    return one_blas_thread() if small else nullcontext()


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
    return threads in _pools or (threads == 1 and _libraries is not None)


def in_pool() -> bool:
    """Whether the present thread is one of our workers."""
    return threading.current_thread().name.startswith(WORKER)


def _forget_in_child() -> None:
    # After a fork the threads are gone and the lock may be held by one of them.
    global _lock, _pins
    _lock = threading.RLock()
    _pools.clear()
    _pins = 0


os.register_at_fork(after_in_child=_forget_in_child)
