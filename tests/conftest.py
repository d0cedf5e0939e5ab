"""One seed, read-only data: what every test starts from."""

import os
import signal
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

# Processes that tests start find the sources compiled, as those of an installed package are.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("PYTHONPYCACHEPREFIX", str(Path(tempfile.gettempdir(), f"gramian-tests-{os.getuid()}")))
# Shells make what they start in the background deaf to interrupts; tests of interrupts need ears.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _no_figures_left():
    """Close what pictures without axes of their own opened: pyplot keeps figures until it is told."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def rng():
    return np.random.default_rng(20260401)


@pytest.fixture
def table(rng):
    """200 x 10 rows with well separated variances, off the origin, that nobody may write to."""
    X = rng.standard_normal((200, 10)) * 1.6 ** -np.arange(10) @ np.linalg.qr(rng.standard_normal((10, 10)))[0] + 3.0
    X.setflags(write=False)
    return X


@pytest.fixture(scope="session")
def digits():
    X = load_digits().data
    X.setflags(write=False)
    return X
