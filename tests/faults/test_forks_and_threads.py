"""Processes that fork after a fit, fits that run side by side, and fits inside the workers of others.

The rule for threads: a fit uses one pool of ``config(threads=...)`` workers for the whole process, however many callers
there are, and BLAS is held to one thread below it. Unless it is set, the pool has as many workers as affinity, quota of
the container, OMP_NUM_THREADS and LOKY_MAX_CPU_COUNT allow; joblib (loky) and dask divide the processors among their
workers through the first of these variables. Workers of pytest-xdist are processes like any other: they get what the
environment says.
"""

import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone

import gramian
from gramian import PCA, FactorAnalysis, KernelKMeans, KernelPCA, KernelRidge, KernelSVC
from gramian.config import thread_count

from .processes import python

CHILD = """
X = np.random.default_rng(0).standard_normal((800, 10))
gramian.config(threads=2)
models = [PCA(3), KernelPCA(3), KernelRidge(), KernelPCA(3, landmarks=50), KernelKMeans(3, n_init=1)]

def fitted():
    return [model.fit(X, X[:, 0]) if hasattr(model, "dual_coef_") or "Ridge" in str(model) else model.fit(X)
            for model in models]

def answers():
    return [model.predict(X) if hasattr(model, "predict") else model.transform(X) for model in models]

fitted()
expected = answers()

def same(_=0):
    before = answers()
    fitted()
    return all(np.array_equal(a, b) and np.array_equal(a, c) for a, b, c in zip(expected, before, answers()))
"""

FORKED = """
signal.alarm(60)
pid = os.fork()
if pid == 0:
    signal.alarm(45)
    os._exit(0 if same() else 1)
print(os.waitpid(pid, 0)[1], same())
"""

POOLED = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map_async(same, range(4)).get(60), same())
"""

# A fork in the middle of another thread's fit: the child has neither its threads nor the locks they held.
DURING = """
stop = threading.Event()
other = KernelPCA(3, kernel="rbf(sigma=4)", solver="krylov")
Z = np.random.default_rng(1).standard_normal((2500, 10))
def for_ever():
    while not stop.is_set():
        other.fit(Z)
thread = threading.Thread(target=for_ever)
thread.start()
codes = []
for _ in range(5):
    time.sleep(0.03)
    pid = os.fork()
    if pid == 0:
        signal.alarm(40)
        os._exit(0 if np.array_equal(PCA(3).fit(X).transform(X), expected[0]) else 1)
    codes.append(os.waitpid(pid, 0)[1])
stop.set()
thread.join()
print(codes)
"""


@pytest.mark.slow
def test_a_fork_after_a_fit():
    assert python(CHILD + FORKED) == "0 True\n"


@pytest.mark.slow
def test_a_pool_of_forked_processes():
    assert python(CHILD + POOLED) == "[True, True, True, True] True\n"


@pytest.mark.slow
def test_forks_in_the_middle_of_a_fit():
    assert python(CHILD + DURING) == "[0, 0, 0, 0, 0]\n"


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(3).standard_normal((600, 12)) * np.linspace(3, 1, 12)


def answer(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gramian.GramianWarning)
        model = model.fit(X, np.where(X[:, 0] > 0, 1, 0)) if hasattr(model, "predict") else model.fit(X)
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def models():
    return [
        PCA(3),
        KernelPCA(3),
        KernelPCA(3, landmarks=40),
        KernelRidge(),
        KernelSVC(),
        KernelKMeans(3, n_init=2),
        FactorAnalysis(2),
        PCA(4, solver="svd"),
    ]


def side_by_side(models, X):
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda model: answer(model, X), models))


@pytest.mark.slow
def test_fits_side_by_side_give_the_bits_of_fits_in_turn(X):
    expected = [answer(model, X) for model in models()]
    found = side_by_side(models() + models()[::-1], X)
    for got, wanted in zip(found, expected + expected[::-1], strict=True):
        assert np.array_equal(got, wanted)


def test_a_large_factorisation_beside_other_fits_agrees_to_rounding(X):
    """LAPACK rounds by its number of threads, which is that of the process: one while another fit holds BLAS to one."""
    dense = KernelPCA(3, solver="dense")
    expected = answer(clone(dense), X)
    for got in side_by_side([clone(dense), KernelPCA(3, solver="krylov"), clone(dense), KernelSVC()], X)[:3:2]:
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-9)


def inside(X):
    """What a worker may use, how many of our threads its process has after a fit, and what comes out."""
    found = KernelPCA(3, kernel="rbf(sigma=3)", solver="krylov").fit(X).eigenvalues_
    return thread_count(), workers(), found


def workers():
    return sum(thread.name.startswith("gramian-worker") for thread in threading.enumerate())


@pytest.mark.slow
def test_workers_of_joblib_share_the_processors(X):
    free = len(os.sched_getaffinity(0))
    with parallel_config("loky", inner_max_num_threads=max(1, free // 2)):
        found = Parallel(n_jobs=2)(delayed(inside)(X) for _ in range(4))
    assert {allowed for allowed, _, _ in found} == {max(1, free // 2)}
    assert all(running <= allowed for allowed, running, _ in found)
    assert all(np.array_equal(values, found[0][2]) for _, _, values in found)


@pytest.mark.slow
def test_threads_of_joblib_share_one_pool(X):
    with gramian.config(threads=2):
        KernelPCA(3, solver="krylov").fit(X)
        before = workers()
        Parallel(n_jobs=6, backend="threading")(delayed(inside)(X) for _ in range(12))
        assert workers() == before  # six callers, and not one worker more


TASKS = """
if __name__ == "__main__":
    import distributed
    from gramian.config import thread_count
    with distributed.LocalCluster(2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        with distributed.Client(cluster) as client:
            print(client.gather([client.submit(thread_count, pure=False) for _ in range(4)]))
"""


@pytest.mark.slow
def test_tasks_of_dask_have_one_thread_each(tmp_path):
    (tmp_path / "tasks.py").write_text(TASKS)
    code = f"import runpy; runpy.run_path({str(tmp_path / 'tasks.py')!r}, run_name='__main__')"
    assert python(code, start="") == "[1, 1, 1, 1]\n"
