"""Loops for the vector unit give what NumPy gives, at every size they are used for."""

import numpy as np
import pytest

from gramian.engine import product, vector_loops
from gramian.kernels import RBF, Matern
from gramian.operators import Gram

DTYPES = [np.dtype(np.float32), np.dtype(np.float64)]
none = vector_loops.vector_loops(DTYPES[0]) is None
pytestmark = pytest.mark.skipif(none, reason="this processor has no registers of 32 bytes")
precisions = pytest.mark.parametrize("dtype", DTYPES, ids=str)


def every_precision(test):
    """In each precision, with registers of each size."""
    return precisions(pytest.mark.usefixtures("bits")(test))


@pytest.fixture(params=[1, 2])
def k(request, bits, dtype):
    """Vectors that fill registers."""
    return request.param * vector_loops.vector_loops(dtype).lanes


def numbers(dtype, *shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def exactly(A, B):
    return A.astype(np.longdouble) @ B.astype(np.longdouble)


def assert_near(found, exact, size, eps):
    """Sums of some hundred products, each of them rounded."""
    assert (np.abs(found - exact) <= 8 * eps * (np.abs(size) + np.abs(exact))).all()


@every_precision
@pytest.mark.parametrize(("n", "m", "d"), [(8, 32, 1), (9, 33, 2), (15, 63, 5), (64, 96, 22), (100, 1000, 128)])
def test_powers_of_two_of_a_product(n, m, d, dtype):
    left, right = numbers(dtype, n + 3, d)[3:], numbers(dtype, d, m + 5, seed=1)[:, 5:]
    out = np.full((n + 1, m + 2), 7, dtype=dtype)
    vector_loops.vector_loops(dtype).powers_of_two(left, right, out[:n, :m])
    error = np.abs(out[:n, :m] / np.exp2(exactly(left, right)) - 1)
    eps = np.finfo(dtype).eps
    rounding = d * eps / 2 * exactly(np.abs(left), np.abs(right))  # the bound for a sum of d products
    assert (error <= eps + np.log(2) * rounding).all()
    assert (out[n:] == 7).all()
    assert (out[:, m:] == 7).all()


@every_precision
def test_powers_of_two_are_right_to_the_last_place_and_zero_below_the_normal_range(dtype):
    loops, limits = vector_loops.vector_loops(dtype), np.finfo(dtype)
    x = np.linspace(limits.minexp, limits.maxexp - 1, 2**16, dtype=dtype).reshape(8, -1)
    out = loops.powers_of_two(np.eye(8, dtype=dtype), x, np.empty_like(x))
    assert np.abs(out / np.exp2(x.astype(np.longdouble)) - 1).max() <= limits.eps
    ones = np.ones((8, 1), dtype=dtype)
    for low, power in ((limits.minexp - 0.01, 0.0), (-np.inf, 0.0), (np.nan, np.nan), (0.0, 1.0)):
        out = loops.powers_of_two(ones, np.full((1, 32), low, dtype=dtype), np.full((8, 32), 7, dtype=dtype))
        assert np.array_equal(out, np.full((8, 32), power), equal_nan=True)


@every_precision
@pytest.mark.parametrize(("n", "m"), [(8, 1), (16, 37), (512, 384)])
def test_both_products(n, m, dtype, k):
    tile, V, U = numbers(dtype, n, m), numbers(dtype, m, k, seed=1), numbers(dtype, n, k, seed=2)
    out, back = numbers(dtype, n, k, seed=3), numbers(dtype, m, k, seed=4)
    got, got_back = out.copy(), back.copy()
    vector_loops.vector_loops(dtype).both_products(tile, V, U, got, got_back)
    eps = np.finfo(dtype).eps
    assert_near(got, out + exactly(tile, V), np.abs(tile) @ np.abs(V) + np.abs(out), eps)
    assert_near(got_back, back + exactly(tile.T, U), np.abs(tile.T) @ np.abs(U) + np.abs(back), eps)


@every_precision
@pytest.mark.parametrize(("n", "m"), [(8, 32), (24, 256), (16, 288), (64, 800)])
def test_products_with_powers_that_are_never_stored(n, m, dtype, k):
    left, right = numbers(dtype, n, 6) / 4, numbers(dtype, 6, m + 9, seed=1)[:, 9:] / 4
    V, U, out, back = numbers(dtype, m, k), numbers(dtype, n, k), np.zeros((n, k), dtype), np.zeros((m, k), dtype)
    vector_loops.vector_loops(dtype).powers_times(left, right, V, U, out, back)
    tile, eps = np.exp2(exactly(left, right)), np.finfo(dtype).eps
    assert_near(out, exactly(tile, V), tile @ np.abs(V), eps)
    assert_near(back, exactly(tile.T, U), tile.T @ np.abs(U), eps)


@every_precision
@pytest.mark.parametrize(("n", "m"), [(8, 32), (24, 1000)])
def test_directions_taken_out_of_powers_that_are_never_stored(n, m, dtype, k):
    left, right = numbers(dtype, n, 6) / 4, numbers(dtype, 6, m + 9, seed=1)[:, 9:] / 4
    U, back, own = numbers(dtype, m, k) / m, numbers(dtype, k, m, seed=2), numbers(dtype, n, k, seed=3)
    got, out = own.copy(), np.full((n, m + 3), 7, dtype=dtype)
    vector_loops.vector_loops(dtype).powers_less(left, right, U, back, got, out[:, :m])
    C, eps = np.exp2(exactly(left, right)), np.finfo(dtype).eps
    a, size = own + exactly(C, U), np.abs(own) + C @ np.abs(U)
    assert_near(got, a, size, eps)
    assert_near(out[:, :m], C - exactly(a, back), C + size @ np.abs(back), eps)
    assert (out[:, m:] == 7).all()


@every_precision
@pytest.mark.parametrize("kernel", [RBF(gamma=0.3), Matern(length_scale=1.0, nu=1.5)])
@pytest.mark.parametrize("k", [3, 10, 16, 20, 32, 40])
def test_products_are_those_of_plain_numpy(kernel, k, dtype, monkeypatch):
    monkeypatch.setitem(product.LOOPS_MIN_PAIRS, dtype, 1)
    X, V = numbers(float, 1500, 4), numbers(dtype, 1500, k)  # one block that loops take, and one that is ragged
    compiled = Gram(kernel, X, dtype) @ V
    assert np.array_equal(Gram(kernel, X, dtype) @ V, compiled)
    monkeypatch.setattr(vector_loops, "_loops", lambda dtype: None)
    plain = Gram(kernel, X, dtype) @ V
    assert compiled.shape == plain.shape == V.shape
    assert np.abs(compiled - plain).max() <= 50 * np.finfo(dtype).eps * np.abs(plain).max()


def test_small_problems_in_double_precision_do_not_wait_for_a_compiler():
    few = numbers(float, 100, 2)
    assert RBF(gamma=1.0).pairs(few, few, np.float64).factors is None
    assert RBF(gamma=1.0).pairs(few, few, np.float32).factors is not None


@every_precision
def test_they_make_powers_of_two_also_where_numpy_is_slow_at_them(dtype, monkeypatch):
    monkeypatch.setitem(product.LOOPS_MIN_PAIRS, dtype, 1)
    X, V = numbers(float, 1500, 4), numbers(dtype, 1500, 16)  # edges of tiles are NumPy's exponentials
    exact = RBF(gamma=0.3).block(X, X) @ V
    monkeypatch.setattr(product, "exponent_base", lambda dtype: (1.0, np.exp))
    assert RBF(gamma=0.3).pairs(X, X, dtype).factors is not None
    assert np.abs(Gram(RBF(gamma=0.3), X, dtype) @ V - exact).max() <= 50 * np.finfo(dtype).eps * np.abs(exact).max()


@pytest.mark.parametrize("bits", [512, 256, 128])
def test_registers_of_another_size_can_be_asked_for(bits, monkeypatch):
    monkeypatch.setenv("GRAMIAN_REGISTER_BITS", str(bits))
    vector_loops._loops.cache_clear()
    try:
        assert vector_loops.vector_loops(DTYPES[1]).lanes == bits // 64
    finally:
        vector_loops._loops.cache_clear()


def unknown():
    raise RuntimeError("failed to get host cpu features.")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("llvmlite.binding.get_host_cpu_features", dict),
        ("llvmlite.binding.get_host_cpu_features", unknown),
        ("gramian.engine.vector_loops.left_by_limits", lambda: [2**28]),
    ],
    ids=["narrow registers", "unknown processor", "no room for a compiler"],
)
def test_there_may_be_no_loops(name, value, monkeypatch):
    monkeypatch.setattr(name, value)
    vector_loops._loops.cache_clear()
    try:
        single = numbers(np.float32, 40, 16)
        pairs = RBF(gamma=1.0).pairs(single, single, np.float32)
        assert vector_loops.vector_loops(DTYPES[0]) is None
        assert pairs.factors is None
        assert product.two_products(pairs, single, 16)[1].func is product.TwoProducts
    finally:
        vector_loops._loops.cache_clear()


def in_panels(sums, panels, size):
    """The upper triangle that lies in panels of columns, each with the rows down to its end."""
    out, at = np.zeros((panels * size, panels * size), sums.dtype), 0
    for panel in range(panels):
        rows = (panel + 1) * size
        out[:rows, panel * size : rows] = sums[at : at + rows * size].reshape(rows, size)
        at += rows * size
    assert at == len(sums)
    return np.triu(out)


@every_precision
@pytest.mark.parametrize(("n", "panels"), [(1, 1), (7, 2), (128, 1), (129, 3), (400, 2)])
def test_a_scatter_in_panels(n, panels, dtype):
    loops = vector_loops.vector_loops(dtype)
    size = loops.panel
    A, sums = numbers(dtype, n, panels * size + 3)[:, :-3], numbers(dtype, size**2 * panels * (panels + 1) // 2, seed=1)
    before = in_panels(sums, panels, size)
    loops.scatter(A, sums)
    exact, bound = np.triu(exactly(A.T, A)), np.triu(np.abs(A.T) @ np.abs(A)) + np.abs(before)
    assert_near(in_panels(sums, panels, size), before + exact, bound, np.finfo(dtype).eps)


@every_precision
@pytest.mark.parametrize(("n", "more"), [(8, 1), (128, 47), (264, 60)])
def test_a_scatter_of_powers_that_are_never_stored(n, more, dtype, k):
    loops = vector_loops.vector_loops(dtype)
    size = loops.panel
    panels = 2 + more // size
    m = panels * size
    left, right = numbers(dtype, n, 6) / 4, numbers(dtype, 6, m, seed=1) / 4
    U, back, own = numbers(dtype, m, k) / m, numbers(dtype, k, m, seed=2), numbers(dtype, n, k, seed=3)
    beside, sums = numbers(dtype, n, more, seed=4), np.zeros(size**2 * panels * (panels + 1) // 2, dtype)
    written = np.empty((n, m), dtype)
    loops.powers_less(left, right, U, back, own.copy(), written)
    written[:, m - more :] = beside
    loops.powers_scatter(left, right, U, back, own, beside, sums)
    bound = np.triu(np.abs(written.T) @ np.abs(written))
    assert_near(in_panels(sums, panels, size), np.triu(exactly(written.T, written)), bound, np.finfo(dtype).eps)


@every_precision
@pytest.mark.parametrize(("n", "at", "panels"), [(8, 1, 1), (13, 64, 2), (100, 300, 3)])
def test_elimination(n, at, panels, dtype):
    loops = vector_loops.vector_loops(dtype)
    tile, own = numbers(dtype, n, panels * loops.panel + 5)[:, :-5], np.zeros((8 * -(-n // 8), at), dtype)
    own[:n] = numbers(dtype, n, at, seed=1)
    inverse, F = np.tril(numbers(dtype, n, n, seed=2)), numbers(dtype, panels, at + n + 3, loops.panel, seed=3)
    before = F.copy()
    loops.eliminate(tile, own, inverse, F, at)
    for p in range(panels):
        columns = tile[:, p * loops.panel : (p + 1) * loops.panel]
        exact = exactly(inverse, columns - exactly(own[:n], before[p, :at]))
        size = np.abs(inverse) @ (np.abs(columns) + np.abs(own[:n]) @ np.abs(before[p, :at]))
        assert_near(F[p, at : at + n], exact, size, np.finfo(dtype).eps)
    assert np.array_equal(F[:, :at], before[:, :at])
    assert np.array_equal(F[:, at + n :], before[:, at + n :])
