"""Python in a process of its own, with what it prints; and what processes of these tests start from."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

START = """
import os, resource, signal, sys, threading, time, warnings
import numpy as np
import gramian
from gramian import *
warnings.simplefilter("ignore", gramian.GramianWarning)
"""


def python(code, *arguments, start=START, options=(), timeout=120, **environment):
    """Run code after ``start``; what it printed, or a failed test with what it complained of."""
    done = subprocess.run(
        [sys.executable, *options, "-c", start + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
