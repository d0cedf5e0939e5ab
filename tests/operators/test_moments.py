import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import gramian
from gramian.operators import Moments, moments_of


def two_pass(X, weights=None):
    w = np.ones(len(X)) if weights is None else weights
    mean = w @ X / w.sum()
    return mean, (X - mean).T @ (w[:, None] * (X - mean))


def assert_same(a: Moments, b: Moments, rtol=1e-10):
    size = np.abs(b.scatter).max()
    assert a.weight == pytest.approx(b.weight, rel=1e-12)
    assert_allclose(a.mean, b.mean, rtol=rtol, atol=rtol * np.abs(b.mean).max())
    assert_allclose(a.scatter, b.scatter, rtol=0, atol=rtol * size)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_one_pass_equals_two(rng, threads):
    X = rng.standard_normal((9000, 7)) * np.arange(1, 8) + 100
    mean, scatter = two_pass(X)
    with gramian.config(threads=threads):
        found = moments_of(X)
    assert found.weight == 9000
    assert_allclose(found.mean, mean, rtol=1e-13)
    assert_allclose(found.scatter, scatter, rtol=0, atol=1e-12 * np.abs(scatter).max())


def test_rows_far_from_the_origin_keep_their_digits(rng):
    X = rng.standard_normal((5000, 3))
    assert_allclose(moments_of(X + 1e9).scatter, moments_of((X + 1e9) - 1e9).scatter, rtol=1e-9, atol=1e-4)


def test_sorted_rows_keep_their_digits():
    X = np.linspace(0, 1e6, 10_000)[:, None]
    assert_allclose(moments_of(X).scatter, two_pass(X)[1], rtol=1e-13)


def test_weights_are_frequencies(rng):
    X, times = rng.standard_normal((3000, 4)), rng.integers(0, 4, 3000)
    assert_same(moments_of(X, times.astype(float)), moments_of(np.repeat(X, times, axis=0)), 1e-12)


def test_single_precision_is_summed_in_double(rng):
    X = (rng.standard_normal((20_000, 3)) + 1000).astype(np.float32)
    assert_same(moments_of(X), moments_of(X.astype(np.float64)), 1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_equals_dense(rng, weighted):
    X = sp.csr_array(np.where(rng.random((500, 20)) < 0.1, rng.random((500, 20)), 0.0))
    weights = rng.random(500) if weighted else None
    for rows in (X, X.astype(np.float32)):
        assert_same(moments_of(rows, weights), moments_of(rows.toarray(), weights), 1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 60), max_size=4), st.integers(0, 10**6))
def test_any_split_merges_to_the_whole(cuts, seed):
    X = np.random.default_rng(seed).standard_normal((60, 3)) * [1, 1e3, 1e-3] + [1e4, 0, 1]
    parts = [part for part in np.split(X, sorted(cuts)) if len(part)]
    merged = sum((moments_of(part) for part in parts[1:]), moments_of(parts[0]))
    whole = moments_of(X)
    assert_allclose(merged.mean, whole.mean, rtol=1e-12, atol=1e-12)
    scale = np.sqrt(np.diag(whole.scatter))
    assert_allclose(merged.scatter / np.outer(scale, scale), whole.scatter / np.outer(scale, scale), atol=1e-10)


def test_the_same_threads_give_the_same_bits(rng):
    X = rng.standard_normal((20_000, 5))
    assert np.array_equal(moments_of(X).scatter, moments_of(X).scatter)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_two_views_give_their_own_moments_and_the_cross_scatter(rng, storage, weighted):
    X, Y = rng.standard_normal((3000, 4)) + 7, rng.standard_normal((3000, 3)).astype(np.float32)
    weights = rng.random(3000) if weighted else None
    joint = moments_of(storage(X), weights, beside=storage(Y))
    first, second, cross = joint.views(4)
    assert_same(first, moments_of(X, weights), 1e-10)
    assert_same(second, moments_of(Y, weights), 1e-10)
    w = np.ones(3000) if weights is None else weights
    expected = (X - w @ X / w.sum()).T @ (w[:, None] * (Y - w @ Y / w.sum()))
    assert_allclose(cross, expected, atol=1e-9)
