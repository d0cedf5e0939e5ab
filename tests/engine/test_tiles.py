import multiprocessing
import os
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import threadpoolctl

import gramian
from gramian.config import Progress, format_bytes, one_blas_thread, parse_bytes
from gramian.engine.tiles import share
from gramian.kernels import RBF, Function, Precomputed
from gramian.operators import CrossGram, Gram
from gramian.operators.centering import Dense, pivoted_factor
from gramian.operators.gram import KEPT_GRAM_MIN_COLUMNS, worth_keeping
from gramian.solvers import Krylov, eigen


def blas_threads():
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


def test_settings_apply_at_once_and_restore():
    before = gramian.settings()
    with gramian.config(memory="2GB", threads=1) as inside:
        assert (inside.memory, inside.threads) == (2 * 10**9, 1)
        with gramian.config(threads=3):
            assert gramian.settings().memory == 2 * 10**9
    assert gramian.settings() == before


@pytest.mark.parametrize("bad", ["lots", "-1GB", "0", 0, "3 parsecs", True])
def test_sizes_that_are_none(bad):
    with pytest.raises(ValueError, match="memory="):
        gramian.config(memory=bad)


@pytest.mark.parametrize("bad", [0, -2, 1.5, True, "two"])
def test_thread_counts_that_are_none(bad):
    with pytest.raises(ValueError, match="threads="):
        gramian.config(threads=bad)


def test_sizes_read_and_write():
    assert parse_bytes("512MiB") == 2**29
    assert parse_bytes("1.5 gb") == 1_500_000_000
    assert [format_bytes(size) for size in (12, 3.2e9, 999_600, 8e13)] == ["12 B", "3.2 GB", "1 MB", "80 TB"]


def test_blas_is_pinned_by_reference_count():
    free = blas_threads()
    with one_blas_thread():
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == free


def test_the_pin_holds_while_threads_come_and_go():
    free = blas_threads()
    inside = []

    def work(_):
        with one_blas_thread():
            time.sleep(0.002)
            inside.append(frozenset(blas_threads()))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(60)))
    assert set(inside) == {frozenset({1})}
    assert blas_threads() == free


def test_shares_are_disjoint_complete_and_even():
    for count, threads in [(1, 4), (7, 2), (100, 3)]:
        hands = share(count, threads)
        assert sorted(panel for hand in hands for panel in hand) == list(range(count))
        cost = [sum(count - panel for panel in hand) for hand in hands]
        assert max(cost) - min(cost) <= count


def test_an_error_in_one_tile_reaches_the_caller_and_stops_the_rest():
    calls = []

    def fails(A, B):
        calls.append(len(A))
        if len(calls) > 3:
            raise ZeroDivisionError("tile four")
        return A @ B.T

    with gramian.config(threads=2), pytest.raises(ZeroDivisionError, match="tile four"):
        Gram(Function(fails), np.ones((20_000, 1))) @ np.ones((20_000, 1))
    assert len(calls) < 20


@pytest.mark.slow
def test_an_interrupt_stops_the_work_within_two_seconds():
    X = np.random.default_rng(0).standard_normal((30_000, 50))
    operator = Gram(RBF(sigma=5.0), X)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), 2)).start()
    start = time.perf_counter()
    with gramian.config(threads=2), pytest.raises(KeyboardInterrupt):
        [operator @ X for _ in range(100)]
    assert time.perf_counter() - start < 2.5
    assert blas_threads() != {1} or os.cpu_count() == 1


def test_progress_counts_products_and_ends_complete():
    seen: list[Progress] = []
    X = np.random.default_rng(0).standard_normal((3000, 5))
    with gramian.config(progress=seen.append):
        found = eigen(Gram(RBF(sigma=2.0), X), 3, Krylov())
    assert found.trace.converged
    assert [step.done for step in seen] == sorted(step.done for step in seen)
    assert seen[-1].done >= 2
    assert all(step.expected >= step.done > 0 for step in seen if step.done >= 1)
    assert np.isfinite(seen[-1].seconds_left)


def test_memory_that_does_not_hold_three_blocks_is_refused():
    with gramian.config(memory="1MB"), pytest.raises(ValueError, match="Ask for fewer components"):
        eigen(Gram(RBF(sigma=2.0), np.random.default_rng(0).standard_normal((5000, 3))), 10, "krylov")


def test_the_pivoted_factor_is_exact_at_full_rank_and_good_before(rng):
    X = rng.standard_normal((300, 3))
    gram = Gram(RBF(sigma=1.5), X)
    K = gram.toarray()
    F = pivoted_factor(gram, 300, rng)
    assert np.abs(K - F @ F.T).max() < 1e-8
    F = pivoted_factor(gram, 40, rng)
    values = np.linalg.eigvalsh(K)[::-1]
    assert np.trace(K - F @ F.T) < 4 * values[20:].sum()
    assert np.linalg.eigvalsh(K - F @ F.T).min() > -1e-9


def test_a_kept_gram_is_the_same_operator(rng):
    X = rng.standard_normal((400, 3))
    gram = Gram(RBF(sigma=1.0), X)
    with gramian.config(memory="8GB"):
        kept = gram.kept()
    with gramian.config(memory="1MB"):
        assert gram.kept() is gram
    V = rng.standard_normal((400, 2))
    np.testing.assert_allclose(kept @ V, gram @ V, atol=1e-11)


def test_a_kernel_that_uses_the_library_itself_does_not_hang(rng):
    inner = RBF(sigma=1.0)
    X = rng.standard_normal((1500, 2))
    nested = Function(lambda A, B: CrossGram(inner, A, B).toarray())
    with gramian.config(threads=2):
        product = Gram(nested, X) @ X
    np.testing.assert_allclose(product, Gram(inner, X) @ X, atol=1e-10)


def test_threads_that_fit_at_once_do_not_disturb_each_other(rng):
    tables = [rng.standard_normal((1200, 3)) for _ in range(4)]
    alone = [gramian.KernelPCA(3, solver="krylov").fit_transform(X) for X in tables]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda X: gramian.KernelPCA(3, solver="krylov").fit_transform(X), tables))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_a_forked_child_can_still_multiply(rng):
    X = rng.standard_normal((1500, 2))
    operator = Gram(RBF(sigma=1.0), X)
    with gramian.config(threads=2):
        expected = operator @ X
        child = multiprocessing.get_context("fork").Process(
            target=lambda: os._exit(not np.allclose(operator @ X, expected))
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 dislikes forks of threaded processes
            child.start()
        child.join(60)
    assert child.exitcode == 0


def test_a_gram_matrix_of_wide_rows_is_kept_wherever_it_fits(rng, monkeypatch):
    """To make an entry of many columns again takes longer than to read it; one that is given is there already."""
    monkeypatch.setattr("gramian.operators.gram.KEPT_GRAM_MAX_BYTES", 0)
    n = 40
    wide = rng.standard_normal((n, KEPT_GRAM_MIN_COLUMNS))
    gram, K = Gram(RBF(gamma=1e-3), wide), wide @ wide.T
    assert isinstance(gram.kept(), Dense)
    np.testing.assert_allclose(gram.kept().toarray(), gram @ np.eye(n), rtol=1e-12)
    for other in (Gram(RBF(gamma=1.0), wide[:, :9]), Gram(Precomputed(), np.tile(K, (7, 7)))):
        assert other.kept() is other
    with gramian.config(memory=3 * 8 * n * n):
        assert gram.kept() is gram
    assert not worth_keeping(RBF(gamma=1.0), n, KEPT_GRAM_MIN_COLUMNS - 1)
