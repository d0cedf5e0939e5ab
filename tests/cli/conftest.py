"""Tables to fit, and two ways to run the command: in this process, and as users do."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gramian.cli.app import run
from gramian.cli.demo import write_tables
from gramian.tables import write_scores

from .truths import OPTIONS, untrue

SCRIPT = Path(sys.executable).with_name("gramian")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in, with one table: 60 rows, four numeric columns and a text column."""
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(7).standard_normal((60, 4)) * [4, 2, 1, 0.5]
    write_scores("flowers.csv", values, list("abcd"), {"kind": [f"k{at % 3}" for at in range(60)]})
    return tmp_path


@pytest.fixture
def tables(here):
    """The tables of ``gramian demo``, in the folder to work in."""
    write_tables(here)
    return here


@pytest.fixture
def gramian(here, capsys):
    """Run a command in this process; gives exit code, standard output and standard error."""

    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        known = arguments and arguments[0] in OPTIONS and "--help" not in arguments
        assert not known or untrue(arguments[0], err + out) == []
        return code, out, err

    return call


@pytest.fixture
def shell(here):
    """Run the installed script."""

    def call(*arguments, **options):
        return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, timeout=120, **options)

    return call
