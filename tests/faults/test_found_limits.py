"""Limits of the machine, of containers and of the process are found, and the least of them counts."""

import os
import resource
import subprocess
import sys

import pytest

from gramian.config import config, memory_budget, thread_count

surroundings = sys.modules["gramian.config"]  # the name in the package is that of the class

GB = 10**9


@pytest.fixture
def container(tmp_path, monkeypatch):
    """Write the files of a container of which only the given ones exist; the group of this process is /a/b."""

    def write(own, **files):
        root = tmp_path / "groups"
        for name, text in files.items():
            path = root / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (tmp_path / "own").write_text(own)
        monkeypatch.setattr(surroundings, "GROUPS", root)
        monkeypatch.setattr(surroundings, "OWN", tmp_path / "own")

    return write


def test_the_second_version_of_control_groups(container):
    container(
        "0::/a/b\n",
        a__b__memory_dot_max="max\n",
        a__b__memory_dot_current="100\n",
        a__memory_dot_max=f"{GB}\n",
        a__memory_dot_current=f"{GB // 2}\n",
        a__memory_dot_stat=f"anon 5\ninactive_file {GB // 10}\n",
        a__cpu_dot_max="150000 100000\n",
        a__b__cpu_dot_max="max 100000\n",
    )
    assert surroundings.free_memory() == GB // 2 + GB // 10
    assert memory_budget() == (GB // 2 + GB // 10) // 2
    assert surroundings.processors() == min(2, len(os.sched_getaffinity(0)))


def test_the_first_version_of_control_groups(container):
    """The folder named in /proc is not there inside a container: the mount is."""
    container(
        "4:memory:/docker/1\n3:cpu,cpuacct:/docker/1\n",
        memory__memory_dot_limit_in_bytes=f"{GB}\n",
        memory__memory_dot_usage_in_bytes=f"{GB // 4}\n",
        memory__memory_dot_stat="total_inactive_file 1000\n",
        cpu__cpu_dot_cfs_quota_us="50000\n",
        cpu__cpu_dot_cfs_period_us="100000\n",
    )
    assert surroundings.free_memory() == GB - GB // 4 + 1000
    assert surroundings.processors() == 1


@pytest.mark.parametrize("own", ["", "0::/\n", "4:memory:/\n0::/x\n"], ids=["no groups", "second", "first"])
def test_no_limit_is_no_limit(container, own):
    container(own, memory__memory_dot_limit_in_bytes="9223372036854771712\n", memory__memory_dot_usage_in_bytes="1\n")
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < surroundings.free_memory() <= machine
    assert surroundings.processors() >= 1


def test_a_group_over_its_limit_leaves_nothing(container):
    container("0::/\n", memory_dot_max="10\n", memory_dot_current="20\n")
    assert surroundings.free_memory() == 0


@pytest.mark.parametrize(
    ("value", "most"), [("1", 1), ("1,2", 1), ("0", None), ("", None), ("many", None), ("999", None), ("-3", None)]
)
@pytest.mark.parametrize("name", surroundings.SHARES)
def test_threads_that_the_environment_allows(monkeypatch, name, value, most):
    monkeypatch.setattr(surroundings, "ALLOWED", ())
    free = surroundings.processors()
    monkeypatch.setattr(surroundings, "ALLOWED", surroundings.allowed({name: value}))
    assert surroundings.processors() == (most or free)
    assert thread_count() == (most or free)
    with config(threads=3):
        assert thread_count() == 3  # what is set counts


@pytest.mark.slow
def test_variables_count_as_the_process_was_started_with_them():
    code = (
        "import os, gramian; from gramian.config import thread_count; before = thread_count(); "
        "os.environ['OMP_NUM_THREADS'] = '7'; print(before, thread_count())"
    )
    started = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=started)
    assert done.stdout.split() == ["1", "1"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_the_budget_stays_within_the_limits_of_the_process(kind):
    code = (
        "import resource, gramian; from gramian.config import memory_budget; "
        f"resource.setrlimit(resource.{kind}, (1_500_000_000, -1)); print(memory_budget())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 100e6 < int(done.stdout) < 750e6
    assert resource.getrlimit(getattr(resource, kind))[0] == resource.RLIM_INFINITY
