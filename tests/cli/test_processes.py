"""The installed script as a process: pipes, signals, terminals, bare environments."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import gramian
from gramian.tables import read_table

from .conftest import SCRIPT


@pytest.mark.slow
def test_version(shell):
    assert shell("--version").stdout == f"gramian {gramian.__version__}\n"


@pytest.mark.slow
def test_a_pipe_in_and_plain_text_out(shell):
    done = shell("fit", "-", "-k", "2", "--json", input="a;b;c\n1;2;4\n3;5;1\n0;1;1\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["source"] == "standard input"


@pytest.mark.slow
def test_no_colours_and_no_wrapping_when_piped(shell, here):
    long = "a_name_that_is_far_longer_than_any_terminal_is_wide_" * 4
    (here / f"{long}.csv").write_text("a,b\n1,2\n3,5\n")
    done = shell("fit", f"{long}.csv", env={**os.environ, "COLUMNS": "40", "FORCE_COLOR": "1"})
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert f"read_table('{long}.csv').values)" in done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_a_failure_of_the_module_in_a_bare_environment_is_one_line(here):
    command = [sys.executable, "-m", "gramian", "fit", "none.csv"]
    done = subprocess.run(command, capture_output=True, text=True, env={"HOME": "/nonexistent", "PATH": ""})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: none.csv: there is no such file.\n"


@pytest.mark.slow
def test_a_closed_pipe_ends_quietly(here):
    """F13."""
    np.save("long.npy", np.random.default_rng(0).standard_normal((20_000, 5)))
    done = subprocess.run(
        f"{SCRIPT} fit long.npy -o - -q | head -1", shell=True, capture_output=True, text=True, executable="/bin/bash"
    )
    assert done.stdout == "PC1,PC2,PC3,PC4,PC5\n"
    assert done.stderr == ""


@pytest.mark.slow
def test_a_pipe_that_is_closed_from_the_start(here):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([SCRIPT, "fit", "flowers.csv", "-o", "s.csv"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")
    assert read_table("s.csv").values.shape == (60, 4)


@pytest.mark.slow
def test_standard_output_and_error_may_be_closed(here):
    done = subprocess.run(f"{SCRIPT} fit flowers.csv -o s.csv >&- 2>&-", shell=True)
    assert done.returncode == 0
    assert read_table("s.csv").values.shape == (60, 4)


@pytest.mark.slow
def test_a_full_disk_behind_standard_output(here):
    with open("/dev/full", "w") as full:
        done = subprocess.run([SCRIPT, "fit", "flowers.csv"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "error: No space left on device\n"


@pytest.mark.parametrize(
    "package", ["typer", *(pytest.param(name, marks=pytest.mark.slow) for name in ("rich", "pyarrow"))]
)
def test_a_missing_package_says_what_to_install(here, package):
    extra = "io" if package == "pyarrow" else "cli"
    code = f"import sys; sys.modules[{package!r}] = None; from gramian.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert line.endswith(f'needs {package}: pip install "gramian[{extra}]"')


@pytest.mark.slow
def test_an_interrupt_ends_with_130_and_one_line(here):
    """F6."""
    rows = "".join(f"{a},{b},{c}\n" for a, b, c in np.random.default_rng(0).standard_normal((9000, 3)).tolist())
    command = [SCRIPT, "fit", "-", "--method", "kernel-pca", "--solver", "power", "-k", "200", "-o", "s.csv"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        process.stdin.write(rows.encode())  # more than a pipe holds: it returns when the command reads, modules loaded
        process.stdin.close()
        time.sleep(1.0)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        assert process.wait(20) == 130
        assert time.monotonic() - start < 5
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"interrupted\n")
    assert os.listdir() == ["flowers.csv"]


@pytest.mark.slow
def test_a_bar_at_a_terminal_that_an_interrupt_clears(here):
    np.save("x.npy", np.random.default_rng(0).standard_normal((30_000, 20)))
    terminal, end = pty.openpty()
    command = [SCRIPT, "fit", "x.npy", "--method", "kernel-pca", "-k", "50"]
    process = subprocess.Popen(command, stderr=end, stdout=subprocess.DEVNULL)
    os.close(end)
    shown, interrupted = b"", False
    while chunk := _read(terminal):
        shown += chunk
        if b" left" in shown and not interrupted:
            process.send_signal(signal.SIGINT)
            interrupted = True
    os.close(terminal)
    assert process.wait(60) == 130
    assert re.search(rb"about [\d.]+ (s|min|h|days)( \d+ (s|min))? left", shown)
    assert shown.endswith(b"interrupted\r\n")


def _read(terminal):
    try:  # a Linux terminal ends with an error when its last writer has gone
        return os.read(terminal, 4096)
    except OSError:
        return b""
