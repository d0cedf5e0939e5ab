"""What the machine, its container and the limits of the process leave to us: memory and processors.

::

    machine ---+
    container -+--> the least of them
    process ---+
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

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
