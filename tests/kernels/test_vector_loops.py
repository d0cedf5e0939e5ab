"""Loops for the vector unit give what NumPy gives, at every size they are used for."""

import numpy as np
import pytest

from gramian.kernels import RBF, Matern, vector_loops
from gramian.operators import Gram, narrow

loops = vector_loops.vector_loops()
needed = pytest.mark.skipif(loops is None, reason="this processor has no registers of sixteen numbers")
EPS = float(np.finfo(np.float32).eps)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@needed
@pytest.mark.parametrize(("n", "m", "d"), [(8, 32, 1), (9, 33, 2), (15, 63, 5), (64, 96, 22), (100, 1000, 128)])
def test_powers_of_two_of_a_product(n, m, d):
    left, right = numbers(n + 3, d)[3:], numbers(d, m + 5, seed=1)[:, 5:]
    out = np.full((n + 1, m + 2), 7, dtype=np.float32)
    loops.powers_of_two(left, right, out[:n, :m])
    exponents = left.astype(float) @ right
    error = np.abs(out[:n, :m] / np.exp2(exponents) - 1)
    rounding = d * EPS / 2 * (np.abs(left).astype(float) @ np.abs(right))  # the bound for a sum of d products
    assert (error <= EPS + np.log(2) * rounding).all()
    assert (out[n:] == 7).all()
    assert (out[:, m:] == 7).all()


@needed
def test_powers_of_two_are_right_to_the_last_place_and_zero_below_the_normal_range():
    x = np.linspace(-126, 127, 2**16, dtype=np.float32).reshape(8, -1)
    one = np.eye(8, dtype=np.float32)
    out = loops.powers_of_two(one, x, np.empty_like(x))
    exact = np.exp2(x.astype(float))
    assert np.abs(out / exact - 1).max() <= EPS
    low = np.full((1, 32), -126.01, dtype=np.float32)
    assert (loops.powers_of_two(np.ones((8, 1), dtype=np.float32), low, np.ones((8, 32), dtype=np.float32)) == 0).all()
    for odd in (-np.inf, np.nan):
        low[:] = odd
        out = loops.powers_of_two(np.ones((8, 1), dtype=np.float32), low, np.ones((8, 32), dtype=np.float32))
        assert np.array_equal(out, np.full((8, 32), 0 if odd < 0 else np.nan), equal_nan=True)


@needed
@pytest.mark.parametrize("k", [16, 32])
@pytest.mark.parametrize(("n", "m"), [(8, 1), (16, 37), (512, 384)])
def test_both_products(n, m, k):
    tile, V, U = numbers(n, m), numbers(m, k, seed=1), numbers(n, k, seed=2)
    out, back = numbers(n, k, seed=3), numbers(m, k, seed=4)
    got, got_back = out.copy(), back.copy()
    loops.both_products(tile, V, U, got, got_back)
    size = np.abs(tile).astype(float)
    for found, start, A, B, most in (
        (got, out, tile, V, size @ np.abs(V)),
        (got_back, back, tile.T, U, size.T @ np.abs(U)),
    ):
        exact = start + A.astype(float) @ B
        assert (np.abs(found - exact) <= 4 * EPS * (most + np.abs(start))).all()


@needed
@pytest.mark.parametrize("k", [16, 32])
@pytest.mark.parametrize(("n", "m"), [(8, 32), (24, 256), (16, 288), (64, 800)])
def test_products_with_powers_that_are_never_stored(n, m, k):
    left, right, V, U = numbers(n, 6) / 4, numbers(6, m + 9, seed=1)[:, 9:] / 4, numbers(m, k), numbers(n, k)
    out, back = np.zeros((n, k), dtype=np.float32), np.zeros((m, k), dtype=np.float32)
    loops.powers_times(left, right, V, U, out, back)
    tile = np.exp2(left.astype(float) @ right)
    np.testing.assert_allclose(out, tile @ V, atol=20 * EPS * float((tile @ np.abs(V)).max()))
    np.testing.assert_allclose(back, tile.T @ U, atol=20 * EPS * float((tile.T @ np.abs(U)).max()))


@needed
@pytest.mark.parametrize("k", [16, 32])
@pytest.mark.parametrize(("n", "m"), [(8, 32), (16, 37), (128, 1000)])
def test_directions_taken_out(n, m, k):
    C, U, back, own = numbers(n, m), numbers(m, k, seed=1), numbers(k, m, seed=2) / m, numbers(n, k, seed=3)
    got, out = own.copy(), np.full((n, m + 3), 7, dtype=np.float32)
    loops.take_out(C, U, back, got, out[:, :m])
    a = own + C.astype(float) @ U
    np.testing.assert_allclose(got, a, atol=10 * EPS * float((np.abs(C) @ np.abs(U)).max()))
    left = C - a @ back
    np.testing.assert_allclose(out[:, :m], left, atol=40 * EPS * float((1 + np.abs(a) @ np.abs(back)).max()))
    assert (out[:, m:] == 7).all()


@needed
@pytest.mark.parametrize("k", [16, 32])
@pytest.mark.parametrize(("n", "m"), [(8, 32), (24, 1000)])
def test_directions_taken_out_of_powers_that_are_never_stored(n, m, k):
    left, right = numbers(n, 6) / 4, numbers(6, m + 9, seed=1)[:, 9:] / 4
    U, back, own = numbers(m, k) / m, numbers(k, m, seed=2), numbers(n, k, seed=3)
    got, out = own.copy(), np.empty((n, m), dtype=np.float32)
    loops.powers_less(left, right, U, back, got, out)
    C = np.exp2(left.astype(float) @ right)
    a = own + C @ U
    np.testing.assert_allclose(got, a, atol=20 * EPS * float((np.abs(own) + C @ np.abs(U)).max()))
    np.testing.assert_allclose(out, C - a @ back, atol=40 * EPS * float((C + np.abs(a) @ np.abs(back)).max()))


@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Matern(length_scale=1.0, nu=1.5)])
@pytest.mark.parametrize("k", [3, 10, 16, 20, 32, 40])
def test_products_are_those_of_plain_numpy(kernel, k, monkeypatch):
    X, V = numbers(1500, 4).astype(float), numbers(1500, k)  # two whole blocks at the most, and one that is not
    with_loops = Gram(kernel, X, np.float32) @ V
    monkeypatch.setattr(vector_loops, "_loops", lambda: None)
    plain = Gram(kernel, X, np.float32) @ V
    exact = Gram(kernel, X) @ V.astype(float)
    for found in (with_loops, plain):
        assert found.shape == V.shape
        assert np.abs(found - exact).max() <= 50 * EPS * np.abs(exact).max()


def test_a_processor_without_wide_registers_goes_without_loops(monkeypatch):
    monkeypatch.setattr("gramian.kernels.loops.has_wide_registers", lambda: False)
    vector_loops._loops.cache_clear()
    try:
        assert vector_loops.vector_loops() is None
        assert RBF(gamma=1.0).pairs(numbers(40, 2), numbers(40, 2), np.float32).factors is None
        assert narrow.two_products(RBF(gamma=1.0).pairs(*[numbers(40, 2)] * 2, np.float32), numbers(40, 16), 2)[
            1
        ].func is (narrow.TwoProducts)
    finally:
        vector_loops._loops.cache_clear()
