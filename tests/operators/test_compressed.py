"""Few rows with the moments of many: exact, additive, and honest about constant columns and extreme units."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from gramian.operators import complements, compress, moments_of
from gramian.operators.compressed import from_moments, from_rows, near_moments
from gramian.operators.moments import Moments


def scatter(views):
    return views.rows.T @ views.rows * np.outer(views.units, views.units)


def direct(Z, w=None):
    w = np.ones(len(Z)) if w is None else w
    mean = w @ Z / w.sum()
    return mean, (Z - mean).T @ ((Z - mean) * w[:, None])


@pytest.fixture
def views(table, rng):
    return table[:, :7], np.c_[table[:, 7:], rng.standard_normal((200, 1))]


@pytest.mark.parametrize("n", [200, 8])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
def test_mean_and_scatter(views, rng, n, weighted, kind):
    X, Y = views[0][:n], views[1][:n]
    w = rng.integers(0, 3, n) + 0.5 if weighted else None
    mean, wanted = direct(np.hstack([X, Y]), w)
    for found in (compress(kind(X), Y, w), from_rows(kind(X), kind(Y), w)):
        assert_allclose(found.mean, mean, rtol=1e-12)
        assert_allclose(scatter(found), wanted, atol=1e-11 * wanted.max())
        assert found.weight == (n if w is None else w.sum())
        assert len(found.rows) <= max(11, n if n <= 11 else 11)
        assert found.d == 7
        assert_allclose(found.deviations() * found.units, np.sqrt(np.diag(wanted) / (found.weight - 1)), rtol=1e-9)


def test_routes(views, rng):
    X, Y = views
    assert compress(X, Y).route == "moments"
    assert compress(X[:9], Y[:9]).route == "rows"
    near = np.c_[X, X[:, :1] + 1e-6 * rng.standard_normal((200, 1))]
    assert compress(near, Y).route == "triangular"


def test_no_digits_are_lost_where_columns_nearly_repeat(rng):
    X = rng.standard_normal((100, 3))
    X = np.c_[X, X[:, 0] + 1e-9 * rng.standard_normal(100)]
    s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    found = compress(X, rng.standard_normal((100, 1)))
    assert_allclose(np.linalg.svd(found.rows[:, :4], compute_uv=False), s, rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e9, -1e-9, 1 / 3])
@pytest.mark.parametrize("n", [150, 8])
def test_constant_columns_vanish(views, value, n):
    X = views[0][:n].copy()
    X[:, 2] = value
    for found in (compress(X, views[1][:n]), from_rows(X, views[1][:n])):
        assert not found.rows[:, 2].any()
        assert found.deviations()[2] == 1
        assert_allclose(found.mean[2], value, rtol=1e-15)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e-170, 1e-150, 1e-80, 1e80, 1e150, 1e200, 1e300])
@pytest.mark.parametrize("n", [200, 8])
def test_extreme_units(views, size, n):
    X, Y = views[0][:n], views[1][:n]
    plain, found = from_rows(X, Y), compress(X * size, Y)
    ratio = found.deviations() * (found.units / np.repeat([size, 1.0], [7, 4]))
    assert_allclose(ratio, plain.deviations(), rtol=1e-10)
    C, D = (scaled.T @ scaled for scaled in (v.rows / v.deviations() for v in (found, plain)))
    assert_allclose(C, D, atol=1e-9 * n)


class TestSums:
    def test_two_parts(self, views):
        X, Y = views
        _, wanted = direct(np.hstack(views))
        for cut in (1, 2, 60, 199):
            total = from_rows(X[:cut], Y[:cut]) + from_rows(X[cut:], Y[cut:])
            assert total.weight == 200
            assert_allclose(total.mean, np.hstack(views).mean(axis=0), rtol=1e-12)
            assert_allclose(scatter(total), wanted, atol=1e-11 * wanted.max())
            assert len(total.rows) <= 11

    def test_parts_that_weigh_less_than_a_row(self, views):
        X, Y, w = views[0][:12], views[1][:12], np.full(12, 0.1)
        _, wanted = direct(np.hstack([X, Y]), w)
        total = from_rows(X[:6], Y[:6], w[:6]) + from_rows(X[6:], Y[6:], w[6:])
        assert_allclose(scatter(total), wanted, atol=1e-11 * wanted.max())

    def test_parts_without_weight(self, views):
        X, Y, w = views[0][:12], views[1][:12], np.repeat([0.0, 1.0], 6)
        _, wanted = direct(np.hstack([X, Y])[6:])
        total = from_rows(X[:6], Y[:6], w[:6]) + from_rows(X[6:], Y[6:], w[6:])
        assert_allclose(scatter(total), wanted, atol=1e-11 * wanted.max())

    def test_parts_in_different_units(self, views):
        X, Y = views[0].copy(), views[1]
        X[:100] *= 1e100
        total = from_rows(X[:100], Y[:100]) + from_rows(X[100:], Y[100:])
        whole = from_rows(X, Y)
        assert_allclose(total.deviations() * total.units, whole.deviations() * whole.units, rtol=1e-10)

    @pytest.mark.parametrize("count", [2, 3, 7, 10])
    def test_complements(self, views, count):
        X, Y = views
        parts = np.array_split(np.arange(200), count)
        sums = complements([from_rows(X[p], Y[p]) for p in parts])
        moments = complements([moments_of(X[p], beside=Y[p]) for p in parts])
        for part, rows, found in zip(parts, sums, moments, strict=True):
            others = np.setdiff1d(np.arange(200), part)
            mean, wanted = direct(np.hstack(views)[others])
            assert_allclose(scatter(rows), wanted, atol=1e-11 * wanted.max())
            assert_allclose(found.scatter, wanted, atol=1e-11 * wanted.max())
            assert_allclose(found.mean, mean, rtol=1e-12)
            assert found.weight == rows.weight == len(others)

    def test_no_rows_add_nothing(self, views):
        some, none = from_rows(*views), from_rows(*(view[:0] for view in views))
        assert some + none is some
        assert none + some is some


class TestFromMoments:
    def test_careful_refuses_what_squares_do_not_hold(self, views, rng):
        X, Y = views
        near = np.c_[X, X[:, :1] + 1e-7 * rng.standard_normal((200, 1))]
        assert from_moments(moments_of(near, beside=Y), 8, careful=True) is None
        assert from_moments(moments_of(X * 1e-120, beside=Y), 7, careful=True) is None
        assert from_moments(moments_of(X * 1e-200, beside=Y), 7, careful=True) is None
        assert from_moments(moments_of(X * 1e200, beside=Y), 7, careful=True) is None

    @pytest.mark.parametrize("shift", [0.0, 2.0, 1e3])
    def test_a_singular_scatter_keeps_its_rank(self, shift):
        """Rounding of the sums is no direction: pieces of a table of rank 5 have rank 5."""
        for seed in range(20):
            rng = np.random.default_rng(seed)
            X = (rng.standard_normal((60, 5)) + shift) @ rng.standard_normal((5, 6))
            total = moments_of(X[:20]) + moments_of(X[20:40]) + moments_of(X[40:])
            rows = from_moments(total, 6).rows
            assert np.linalg.matrix_rank(rows / np.linalg.norm(rows, axis=0)) == 5, seed

    @pytest.mark.parametrize("careful", [False, True])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_it_has_the_moments_it_is_made_of(self, views, rng, careful, weighted):
        Z, w = np.hstack(views) * np.logspace(-9, 9, 11) + 3, rng.random(200) if weighted else None
        found = from_moments(moments_of(Z, w), 7, careful=careful)
        mean, wanted = direct(Z, w)
        size = np.sqrt(np.diag(wanted))
        assert_allclose(scatter(found) / size / size[:, None], wanted / size / size[:, None], atol=1e-9)
        assert_allclose(found.mean, mean, rtol=1e-12)
        assert (found.d, found.weight, found.route) == (7, 200 if w is None else w.sum(), "moments")
        assert found.units.tolist() == [1.0] * 11

    @pytest.mark.parametrize("make", [from_moments, lambda m, d: near_moments(m, d, lambda columns: True)])
    def test_constant_columns_have_no_part(self, views, make):
        Z = np.hstack(views)
        Z[:, 3], Z[:, 8] = 1e6, 0.0
        found, (_, wanted) = make(moments_of(Z), 7), direct(Z)
        assert not found.rows[:, [3, 8]].any()
        assert_allclose(scatter(found), wanted, atol=1e-9 * wanted.max())

    @pytest.mark.parametrize("weight", [0.5, 1.0])
    def test_less_than_two_rows_have_moments_too(self, weight):
        """As folds of weighted rows may: then there is no divisor w - 1."""
        moments = Moments(weight, np.array([1.0, 2.0]), np.array([[4.0, 1.0], [1.0, 9.0]]))
        for found in (from_moments(moments, 1), near_moments(moments, 1, lambda columns: True)):
            assert_allclose(scatter(found), moments.scatter, rtol=1e-14)


class TestNearMoments:
    """Rows with the moments of others up to rounding, also where columns depend on others."""

    @pytest.mark.parametrize("weighted", [False, True])
    @pytest.mark.parametrize("unit", [1e-20, 1.0, 1e20])
    def test_columns_that_depend_on_others(self, views, rng, weighted, unit):
        Z = np.hstack(views)
        Z = np.c_[Z, Z[:, 0] - 2 * Z[:, 1], Z[:, 4]] * unit
        w = rng.random(200) if weighted else None
        found, (mean, wanted) = near_moments(moments_of(Z, w), 7, lambda columns: False), direct(Z, w)
        assert_allclose(scatter(found), wanted, atol=1e-12 * wanted.max())
        assert_allclose(found.mean, mean, rtol=1e-12)
        assert 11 <= len(found.rows) <= 13
        assert (found.d, found.weight, found.route) == (7, 200 if w is None else w.sum(), "moments")
        assert found.units.tolist() == [1.0] * 13

    @pytest.mark.parametrize("unit", [1e-40, 1e40, 1e-170, 1e170])
    def test_what_squares_may_have_lost_is_refused(self, views, unit):
        Z = np.hstack(views)
        Z[:, 2] = 1.0 + (Z[:, 2] * unit if unit > 1 else 0.0)
        Z[:, 5] *= unit
        assert near_moments(moments_of(Z), 7, lambda columns: False) is None

    def test_columns_of_zeros_are_asked_for(self, views):
        Z, asked = np.hstack(views), []
        Z[:, [2, 6]] = 0.0
        Z[:, 4] = 1e-9  # its mean tells that it is constant
        assert near_moments(moments_of(Z), 7, lambda columns: asked.append(columns.tolist())) is None
        assert asked == [[2, 6]]
        assert not near_moments(moments_of(Z), 7, lambda columns: True).rows[:, [2, 4, 6]].any()

    def test_a_mean_that_is_not_finite_is_refused(self):
        for mean in (np.inf, np.nan):
            moments = Moments(9.0, np.array([0.0, mean]), np.eye(2))
            assert near_moments(moments, 1, lambda columns: True) is None


@pytest.mark.parametrize("kind", [np.array, sp.csr_array])
@pytest.mark.parametrize("size", [1e-31, 1e31, -1e-31, -1e31])
def test_extreme_columns_have_units_that_are_powers_of_two(views, kind, size):
    X = views[0].copy()
    X[:, 3] *= size
    found, plain = from_rows(kind(X)), from_rows(kind(views[0]))
    assert found.units[[0, 1, 2, 4, 5, 6]].tolist() == [1.0] * 6
    largest = np.abs(X[:, 3]).max()
    assert largest < found.units[3] <= 2 * largest
    assert np.frexp(found.units[3])[0] == 0.5
    assert_allclose(found.mean / plain.mean, np.where(np.arange(7) == 3, size, 1.0), rtol=1e-12)
    whole = scatter(plain) * np.outer(*[np.where(np.arange(7) == 3, size, 1.0)] * 2)
    lengths = np.sqrt(np.diag(whole))
    assert_allclose(scatter(found) / np.outer(lengths, lengths), whole / np.outer(lengths, lengths), atol=1e-11)


class TestFromRows:
    @pytest.mark.parametrize("kind", [np.array, sp.csr_array])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_many_blocks_of_one_view(self, rng, kind, weighted):
        X, w = rng.standard_normal((5000, 3)) + [0, 4, 0], rng.random(5000) if weighted else None
        found, (mean, wanted) = from_rows(kind(X), None, w), direct(X, w)
        assert_allclose(scatter(found), wanted, atol=1e-11 * wanted.max())
        assert_allclose(found.mean, mean, rtol=1e-11, atol=1e-13)
        assert (found.rows.shape, found.d, found.route) == ((3, 3), 3, "triangular")

    def test_no_rows(self, views):
        for found in (from_rows(views[0][:0]), from_rows(views[0], None, np.zeros(200))):
            assert (found.rows.shape, found.d, found.weight) == ((0, 7), 7, 0.0)
            assert found.mean.tolist() == [0.0] * 7
            assert found.units.tolist() == [1.0] * 7


@pytest.mark.parametrize(("own", "kept"), [(0.008, False), (0.0125, True)])
def test_a_column_must_keep_a_hundredth_of_its_deviation_beside_the_others(rng, own, kept):
    """Of its variance 1e-4: a Cholesky factor of the scatter is trusted from there on."""
    Q = np.linalg.qr(rng.standard_normal((200, 3)) - 0.0)[0]
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0]
    X = np.c_[Q[:, 0], Q[:, 0] + own * Q[:, 1]]
    assert (from_moments(moments_of(X, beside=Q[:, 2:]), 2, careful=True) is not None) is kept


@pytest.mark.parametrize(
    ("unit", "kept"), [(5e-31, False), (2e-30, True), (1e-16, True), (1e16, True), (5e29, True), (2e30, False)]
)
def test_variances_must_be_squares_of_numbers_that_can_be_squared_again(rng, unit, kept):
    X = rng.standard_normal((300, 2))
    X = unit * (X - X.mean(axis=0)) / X.std(axis=0)
    assert (from_moments(moments_of(X), 1, careful=True) is not None) is kept
    assert (near_moments(moments_of(X), 1, lambda columns: False) is not None) is kept
