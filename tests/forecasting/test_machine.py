"""Rates of this machine, and a fit inside the memory that was forecast."""

import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import gramian as g
from gramian.costs import machine
from gramian.kernels import as_kernel, parse


@pytest.mark.parametrize("rate", [machine.svd, machine.multiply, machine.touch])
def test_rates_are_measured_once(rate, monkeypatch):
    monkeypatch.setattr(machine, "_rates", {})
    first = rate()
    monkeypatch.setattr(machine, "seconds", lambda run, alone=False: pytest.fail("measured twice"))
    assert 0 < first < 1e-5
    assert rate() == first


@pytest.mark.parametrize("rate", [pytest.param(machine.spectrum, marks=pytest.mark.slow), machine.factor])
def test_factorisations_grow_like_cubes_in_the_end(rate):
    assert rate(100) > 0
    assert 7 < rate(200_000) / rate(100_000) < 8
    assert 4 < rate(4_000) / rate(2_000) < 8


def test_rates_belong_to_a_number_of_threads(monkeypatch):
    monkeypatch.setattr(machine, "_rates", {})
    with g.config(threads=1):
        machine.touch()
    monkeypatch.setattr(machine, "seconds", lambda run, alone=False: 32.0)
    with g.config(threads=2):
        assert machine.touch() == 1e-6


@pytest.mark.parametrize(
    "text", ["rbf(sigma=2)", "linear", "2*rbf(sigma=1) + polynomial(degree=2)", "laplacian(gamma=1)"]
)
def test_tiles_of_a_kernel_are_timed_and_counted(text):
    kernel = parse(text)
    rate = machine.tiles(kernel, 10)
    assert rate.value > 0
    assert rate.use >= 0
    assert rate.product(100, 5) < rate.product(200, 5)
    assert rate.product(100, 5) <= rate.cross(100, 100, 5)
    assert machine.held(kernel, 100) >= machine.held(kernel, 10) >= 0
    assert machine.held(kernel, 10, "float32") > 0


def test_prepared_rows_are_counted_to_the_byte():
    rows = machine.held(as_kernel("rbf(sigma=3)"), 20)
    assert rows == 2 * 8 * 22  # both sides of the product, each with two columns for the norms


#: A process that reports its address space when the data are there, then fits with that much and a fifth more.
LIMITED = """
import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads that wait for each other take minutes on a busy machine
import resource, sys, numpy as np
import gramian as g

def used():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

X = np.random.default_rng(0).standard_normal(({n}, {d}))
y = np.sin(X[:, 0])
model = {model}
type(model)(**model.get_params()).fit(X[:600], y[:600])
g.config(memory="2GB")
needed = g.forecast(model, {n}, {d}).bytes
limit = used() + int({share} * needed)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
model.fit(X, y)
print(model.summary_.facts["solver"], needed)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="address spaces are limited on Linux")
@pytest.mark.parametrize("model", ["g.KernelRidge(1.0, solver='cholesky')", "g.KernelPCA(5, solver='dense')"])
def test_a_fit_passes_in_a_fifth_more_than_was_forecast(model):
    """F11."""
    code = textwrap.dedent(LIMITED).format(n=1_500, d=5, model=model, share=1.2)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="address spaces are limited on Linux")
def test_with_less_than_half_of_what_was_forecast_a_fit_is_refused():
    code = textwrap.dedent(LIMITED).format(n=1_500, d=5, model="g.KernelPCA(5, solver='dense')", share=0.4)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert re.fullmatch(r"ValueError: .* needs .* Use solver='auto', .*", done.stderr.splitlines()[-1])


def test_a_forecast_follows_from_measured_rates(monkeypatch):
    """Twice as slow a machine takes twice as long."""
    totals = []
    for pace in (1.0, 2.0):
        monkeypatch.setattr(machine, "_rates", {})
        monkeypatch.setattr(machine, "_tiles", {})
        monkeypatch.setattr(machine, "seconds", lambda run, alone=False, pace=pace: pace * 1e-2)
        totals.append(g.forecast(g.KernelPCA(3), 20_000, 10).seconds)
    np.testing.assert_allclose(totals[1], 2 * totals[0])
