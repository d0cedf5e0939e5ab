"""Folders, names, locales and environments that are not as one would like them."""

import os
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from gramian.tables import read_table

from .conftest import SCRIPT

FIT = ["fit", "flowers.csv", "-k", "2", "--model", "m.st"]


def run(*arguments, **options):
    return subprocess.run([SCRIPT, *arguments], capture_output=True, timeout=120, **options)


@pytest.mark.slow
def test_a_bare_environment_is_enough(here):
    """F16: no HOME, no cache, no PATH, no network."""
    bare = {"HOME": "/nonexistent", "PATH": "", "XDG_CACHE_HOME": "/nonexistent", "NUMBA_CACHE_DIR": "/nonexistent"}
    for command in (
        [*FIT, "-o", "s.csv", "-q"],
        ["transform", "m.st", "flowers.csv", "-o", "t.csv", "-q"],
        ["fit", "flowers.csv", "--method", "kernel-svm", "--label", "kind", "-o", "p.csv", "-q"],
    ):
        done = run(*command, env=bare)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (here / "s.csv").read_bytes() == (here / "t.csv").read_bytes()


@pytest.mark.slow
def test_locale_time_zone_hash_seed_and_threads_change_nothing(here):
    """F14."""
    found = []
    for more in (
        {},
        {"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "1"},
        {"LC_ALL": "C", "PYTHONHASHSEED": "2"},
    ):
        done = run(*FIT, "-o", "s.csv", "--json", env={**os.environ, **more})
        assert (done.returncode, done.stderr) == (0, b"")
        kept = load_file(here / "m.st")  # without the header, which has the seconds of the fit in words
        found.append(((here / "s.csv").read_bytes(), {key: values.tobytes() for key, values in kept.items()}))
    assert found[0] == found[1] == found[2]
    run(*FIT, "-o", "one.csv", "-q", env={**os.environ, "OMP_NUM_THREADS": "1"})
    np.testing.assert_allclose(read_table("one.csv").values, read_table("s.csv").values, rtol=0, atol=1e-10)


@pytest.mark.slow
def test_a_link_stays_a_link(here):
    (here / "real.csv").write_text("old")
    (here / "link.csv").symlink_to("real.csv")
    assert run(*FIT, "-o", "link.csv", "-q").returncode == 0
    assert (here / "link.csv").is_symlink()
    assert read_table("real.csv").columns == ("PC1", "PC2")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux alone")
def test_a_name_that_is_not_utf_8(here):
    name = b"caf\xe9.csv"
    os.rename(b"flowers.csv", name)
    done = run(b"fit", name, b"-o", b"s\xe9.csv", b"--model", b"m\xe9.st")
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"caf\\udce9.csv: 60 rows" in done.stdout
    assert {b"s\xe9.csv", b"m\xe9.st"} <= set(os.listdir(b"."))
    done = run(b"transform", b"m\xe9.st", name, b"--json", b"-o", b"t.csv")
    assert (done.returncode, done.stderr) == (0, b"")
    done = run(b"transform", b"m\xe9.st", b"\xff.csv")
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_folder_that_may_not_be_written(here):
    (here / "locked").mkdir(mode=0o500)
    done = run(*FIT, "-o", "locked/s.csv")
    assert (done.returncode, done.stderr) == (1, b"error: locked/s.csv: writing is not permitted\n")


@pytest.mark.slow
def test_a_disk_that_is_full_keeps_the_old_files(here):
    (here / "m.st").write_bytes(b"old")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); sys.dont_write_bytecode = True; "
        "from gramian.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code, *FIT, "-q"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: m.st: File too large\n"
    assert sorted(os.listdir()) == ["flowers.csv", "m.st"]
    assert (here / "m.st").read_bytes() == b"old"


@pytest.mark.slow
def test_shells_can_complete_methods(here):
    bash = {"_GRAMIAN_COMPLETE": "complete_bash", "COMP_WORDS": "gramian fit --method kernel-k", "COMP_CWORD": "3"}
    done = run(env={**os.environ, **bash})
    assert done.stdout.decode().split() == ["kernel-kmeans", "kernel-knn", "kernel-knn-regression"]
    # Which shell it is, the parent process would say; under make that is none that can complete.
    done = run("--show-completion", "bash", env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"})
    assert done.returncode == 0
    assert b"_gramian_completion" in done.stdout


@pytest.mark.slow
def test_help_loads_nothing_heavy():
    code = "import sys, gramian.cli.app; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"matplotlib", "numba", "onnx", "openpyxl", "h5py", "polars"} & set(done.stdout.split())


@pytest.mark.slow
def test_a_fit_loads_no_pictures(here):
    code = (
        "import sys; from gramian.cli.app import run; "
        "assert run(['fit', 't.csv', '-o', 's.csv', '--model', 'm.st', '-q']) == 0; print(*sys.modules)"
    )
    (here / "t.csv").write_text("a,b\n1,2\n3,5\n4,4\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    packages = {".".join(name.split(".")[:2]) for name in done.stdout.split()}
    assert not {"gramian.charts", "gramian.plots", "gramian.reports", "gramian.explore"} & packages
