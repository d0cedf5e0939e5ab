"""Ctrl-C during a factorisation by LAPACK: the main thread returns at once, and the factorisation has the same bits."""

import ast
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import scipy.linalg

from gramian import lapack

from .processes import ROOT, START

RNG = np.random.default_rng(0)
A = RNG.standard_normal((40, 40))
S = A @ A.T
L = np.tril(S)
CASES = {
    "eigh": (lambda: lapack.eigh(S), lambda: scipy.linalg.eigh(S, driver="evd")),
    "largest": (lambda: lapack.largest_eigenpairs(S, 3), lambda: scipy.linalg.eigh(S, subset_by_index=(37, 39))),
    "svd": (lambda: lapack.svd(A), lambda: scipy.linalg.svd(A, full_matrices=False)),
    "tall svd": (lambda: lapack.svd(A[:, :9]), lambda: scipy.linalg.svd(A[:, :9], full_matrices=False)),
    "wide svd": (lambda: lapack.svd(A[:9]), lambda: scipy.linalg.svd(A[:9], full_matrices=False)),
    "cholesky": (lambda: [lapack.cholesky(S)], lambda: [scipy.linalg.cholesky(S)]),
    "lower cholesky": (lambda: [lapack.cholesky(S, lower=True)], lambda: [scipy.linalg.cholesky(S, lower=True)]),
    "pivoted": (
        lambda: lapack.pivoted_cholesky(S, 1e-3)[::2],
        lambda: scipy.linalg.lapack.dpstrf(S, tol=1e-3, lower=1)[::2],
    ),
    "lower inverse": (lambda: [lapack.lower_inverse(L)], lambda: scipy.linalg.lapack.dtrtri(L, lower=1)[:1]),
}


@pytest.mark.parametrize("name", CASES)
def test_long_calls_have_the_bits_of_short_ones(name, monkeypatch):
    ours, theirs = CASES[name]
    monkeypatch.setattr(lapack, "LONG", 1.0)
    found, expected = ours(), theirs()
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_failures_of_long_calls_are_errors_of_the_caller(monkeypatch):
    monkeypatch.setattr(lapack, "LONG", 1.0)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        lapack.cholesky(-S)
    with pytest.raises(np.linalg.LinAlgError):
        lapack.solve_positive(-S, A)
    assert np.allclose(lapack.solve_positive(S, A), np.linalg.solve(S, A))
    with pytest.raises(ValueError, match="mismatch"):
        lapack.interruptible(np.matmul, A, A[:3])


def test_the_main_thread_returns_while_the_call_goes_on(monkeypatch):
    """The thread keeps its arrays and ends by itself; other threads, which get no signals, make no further ones."""
    monkeypatch.setattr(lapack, "LONG", 1.0)
    left = []
    monkeypatch.setattr(lapack, "_end_without_blas", lambda: left.append(True))  # which would end pytest's process
    go_on, finished = threading.Event(), threading.Event()

    def long(matrix):
        go_on.wait(10)
        finished.set()

    threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        lapack.interruptible(long, A)
    assert time.monotonic() - start < 2
    assert not finished.is_set()
    assert left == [True]
    go_on.set()
    assert finished.wait(5)
    names = []
    there = threading.Thread(target=lapack.interruptible, args=(lambda _: names.append(threading.current_thread()), A))
    there.start()
    there.join()
    assert names == [there]


#: Modules whose matrices are small whatever the data, or part of a loop over small ones, and why.
SMALL = {
    "selection/trust_result.py": "as many columns as components",
    "charts/points.py": "two columns",
    "estimators/cca_tests.py": "in worker threads, one for each permutation",
    "estimators/factor_analysis.py": "as many as factors",
    "estimators/ica.py": "as many as components",
    "estimators/kernel_cca_pairs.py": "the functions of a null space",
    "estimators/kernel_svm.py": "a sample of rows",
    "estimators/two_views.py": "as many columns as components",
    "explore/fitting.py": "128 landmarks",
    "costs/machine.py": "times small problems",
    "operators/centering.py": "the functions of a null space; pivots of a block",
    "operators/mapped_moments.py": "as many columns as components",
    "operators/landmark_rows.py": "a block of columns",
    "estimators/fit_memory.py": "512 rows",
    "preimage.py": "neighbours of a point",
    "selection/trust.py": "as many columns as components",
    "solvers/box_qp.py": "a working set; triangular solutions with one right-hand side",
    "solvers/canonical.py": "as many as kept directions, or a block of vectors",
    "solvers/clustering.py": "as many as clusters",
    "solvers/conjugate.py": "as many as steps, or as pivots",
    "solvers/deflation.py": "as many as components, or the fewer of targets and columns, for one direction each",
    "solvers/dense.py": "tiles",
    "solvers/eigen.py": "a block of vectors",
    "solvers/factor.py": "as many as factors",
    "solvers/independence.py": "as many as components",
    "solvers/interior_point.py": "triangular solutions with one right-hand side",
    "solvers/linear_methods.py": "as many as steps",
    "solvers/rotation.py": "as many as factors",
    "spaces/gaussian.py": "as many as components or factors; triangular solutions, one for each pattern",
    "spaces/ridge.py": "the functions of a null space",
    "testing.py": "samples of some tens of rows",
}


#: What takes no time.
QUICK = ("norm", "LinAlgError")


def test_factorisations_that_may_be_long_go_through_one_module():
    direct = set()
    for path in (ROOT / "src" / "gramian").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            called = re.match(
                r"(?:np|scipy)\.linalg\.(\w+)", ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            )
            if called and called[1] not in QUICK:
                direct.add(path.relative_to(ROOT / "src" / "gramian").as_posix())
    assert direct - {"lapack.py"} == set(SMALL)


INTERRUPTED = """
def strike():
    while not any(thread.name == "gramian-lapack" for thread in threading.enumerate()):
        time.sleep(0.02)
    time.sleep(0.3)
    print(time.monotonic(), flush=True)
    os.kill(os.getpid(), signal.SIGINT)

from gramian.cli import main
threading.Thread(target=strike, daemon=True).start()
sys.argv[1:] = "fit x.npy --method kernel-pca --solver dense -k 9 -q".split()
main()
"""


@pytest.mark.slow
def test_the_command_line_ends_with_130_during_a_factorisation(tmp_path):
    """F6: no wait for LAPACK, and none for its thread at the end of the process."""
    np.save(tmp_path / "x.npy", RNG.standard_normal((6000, 5)))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", START + INTERRUPTED], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    late = time.monotonic() - float(done.stdout)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")
    assert late < 2
