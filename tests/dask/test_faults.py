"""What a cluster may do to a fit: workers that die, tasks that kill, a scheduler that goes, an interrupt."""

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, nullcontext

import dask.array as da
import distributed
import numpy as np
import pytest
from sklearn.base import clone

import gramian
from gramian import PCA, KernelPCA, KernelRidge, Landmarks

pytestmark = pytest.mark.slow  # clusters of processes that die take their time
MODELS = {
    "moments": PCA(3),
    "landmarks": KernelPCA(2, kernel="rbf(sigma=5)", landmarks=Landmarks(20)),
    "products": KernelRidge(50.0, kernel="rbf(sigma=5)", solver="cg"),
}


#: Each way to fit, one worker killed or all of them; a cluster for each round of the latter takes its time.
CASES = [("moments", 1, 20), ("moments", 2, 8), *((name, victims, 2) for name in MODELS for victims in (1, 2))]


def slowly(block):
    """The block, after a while in which its worker may die."""
    time.sleep(0.1)
    return block


def deadly(block):
    """End the process that looks at the block."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(autouse=True)
def ends():
    """A test that hangs fails: that nothing hangs is what these tests are about."""

    def late(number, frame):
        raise TimeoutError("this test takes longer than ten minutes")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(600)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((600, 5)) * [5, 4, 3, 2, 1]


def ready(client):
    """Wait for both workers, and until their nannies know that they are there: one that dies before is not replaced."""
    try:
        client.wait_for_workers(2, timeout=20)
    except TimeoutError:
        client.restart(timeout=60)
    time.sleep(1)


def far(X, function=slowly):
    return da.from_array(X, chunks=(60, 5)).map_blocks(function, dtype=float, meta=np.empty((0, 5)))


@contextmanager
def fresh():
    """A cluster of two workers of its own."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", memory_limit="2GB"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def after(seconds, pids, struck=None, *, sign=signal.SIGKILL):
    """Send a signal to processes in a while, and note which."""

    def strike():
        time.sleep(seconds)
        for pid in pids:
            os.kill(pid, sign)
            if struck is not None:
                struck.append(pid)

    thread = threading.Thread(target=strike)
    thread.start()
    return thread


@pytest.mark.parametrize(("name", "victims", "rounds"), CASES)
def test_workers_that_die_change_nothing(client, X, monkeypatch, name, victims, rounds):
    """F1: one worker is killed in the middle of a fit; F2: all of them are."""
    monkeypatch.setattr("gramian.operators.gram.KEPT_GRAM_MAX_BYTES", 0)
    monkeypatch.setattr("gramian.operators.dask_rows.GRAM_BLOCK_MIN_ROWS", 200)
    y, rng = np.sin(X[:, 0]), np.random.default_rng(victims)
    ask = (lambda model: model.predict(X)) if name == "products" else (lambda model: model.transform(X))
    expected = ask(clone(MODELS[name]).fit(far(X), y))
    struck = []
    for _ in range(rounds):
        # Of two nannies that lose their workers at once now and then one does not recover: each round has new ones.
        with nullcontext(client) if victims == 1 else fresh() as here:
            ready(here)
            pids = list(here.run(os.getpid).values())[:victims]
            thread = after(rng.uniform(0.05, 0.4), pids, struck)
            found = ask(clone(MODELS[name]).fit(far(X), y))
            thread.join()
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert len(struck) == rounds * victims  # they did die


def test_nothing_is_scattered(client, X, monkeypatch):
    """F4: data that only one worker holds would be lost with it."""

    def refused(*args, **kwargs):
        raise AssertionError("scattered data are lost with their worker")

    monkeypatch.setattr(distributed.Client, "scatter", refused)
    monkeypatch.setattr("gramian.operators.gram.KEPT_GRAM_MAX_BYTES", 0)
    for name, model in MODELS.items():
        here, there = clone(model).fit(X, X[:, 0]), clone(model).fit(da.from_array(X, chunks=(300, 5)), X[:, 0])
        ask = "predict" if name == "products" else "transform"
        np.testing.assert_allclose(getattr(there, ask)(X), getattr(here, ask)(X), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("allowed", [1, 3])
def test_a_task_that_kills_is_named(client, X, allowed):
    """F3: a task that always kills its worker."""
    client.run_on_scheduler(lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", allowed))
    model = PCA(2).fit(X)
    before = model.components_.copy()
    match = rf"^moments: one task ended {allowed + 1} workers.*smaller chunks"
    with pytest.raises(RuntimeError, match=match) as caught:
        model.fit(far(X, deadly))
    assert "\n" not in str(caught.value)
    assert np.array_equal(model.components_, before)
    ready(client)


def test_an_error_in_a_block_is_the_error(client, X):
    Z = X.copy()
    Z[333, 2] = np.nan
    with pytest.raises(ValueError, match=r"X contains NaN: the dask array: block 5, row 333 .*column 2\. Drop"):
        PCA(2).fit(da.from_array(Z, chunks=(60, 5)))


def test_an_interrupt_cancels_the_tasks(client, X):
    model = PCA(2).fit(X)
    before = model.components_.copy()
    # While it waits for its blocks: Python drops an interrupt that arrives as weak references of the graph are cleared.
    thread, start = after(1.0, [os.getpid()], sign=signal.SIGINT), time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        model.fit(da.concatenate([far(X)] * 20))
    assert time.perf_counter() - start < 5  # after a second, on a machine that may be busy
    thread.join()
    assert np.array_equal(model.components_, before)
    for _ in range(100):
        left = client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
        if not left:
            break
        time.sleep(0.1)
    assert not left


def test_progress_counts_tasks(client, X):
    seen = []
    with gramian.config(progress=seen.append):
        PCA(2).fit(da.concatenate([far(X)] * 2))
    assert {said.unit for said in seen} == {"tasks"}
    assert {said.task for said in seen} == {"moments"}
    assert [said.done for said in seen] == sorted(said.done for said in seen)
    assert max(said.done for said in seen) <= seen[-1].expected == 20


def test_a_scheduler_that_goes_is_an_error_not_a_hang(tmp_path, X):
    """F5: the scheduler is killed."""
    file = str(tmp_path / "scheduler.json")
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run = [sys.executable, "-m"]
    scheduler = subprocess.Popen(
        [*run, "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file], **quiet
    )
    worker = subprocess.Popen(
        [*run, "distributed.cli.dask_worker", "--scheduler-file", file, "--no-dashboard", "--no-nanny"], **quiet
    )
    try:
        for _ in range(300):
            if os.path.exists(file):
                break
            time.sleep(0.1)
        client = distributed.Client(scheduler_file=file, timeout=10)
        client.wait_for_workers(1, timeout=60)
        PCA(2).fit(da.from_array(X, chunks=(300, 5)))  # the worker has imported all it needs
        client._timeout = 2
        thread, start = after(0.5, [scheduler.pid]), time.perf_counter()
        with pytest.raises(RuntimeError, match=r"connection to the scheduler at tcp://.* was lost\. Check") as caught:
            PCA(2).fit(da.concatenate([far(X)] * 20))
        assert time.perf_counter() - start < 20
        assert "\n" not in str(caught.value)
        thread.join()
        client.close(timeout=2)
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
