import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import gramian
from gramian.operators import Moments, moments_of
from gramian.operators.matrix import column_ranges, column_sums
from gramian.operators.moments import Accumulator, ColumnRanges, ColumnSums, has_variance, row_count


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


def test_what_is_made_of_moments_is_what_is_made_of_rows(rng):
    X, w = rng.standard_normal((300, 4)) + 3, rng.random(300)
    found = moments_of(X, w)
    assert_allclose(found.about_origin(), X.T @ (w[:, None] * X), rtol=1e-12)
    assert_allclose(found.covariance(), np.cov(X.T, aweights=w, ddof=0), atol=1e-13)
    assert found.d == 4
    assert found.__sizeof__() == found.scatter.nbytes + found.pilot.nbytes + np.asarray(found.offset).nbytes


def test_a_mean_in_one_part_has_views_too():
    first, second, cross = Moments(2.0, np.array([1.0, 2.0, 3.0]), np.arange(9.0).reshape(3, 3)).views(1)
    assert (first.mean.tolist(), second.mean.tolist()) == ([1.0], [2.0, 3.0])
    assert (first.scatter.tolist(), second.scatter.tolist()) == ([[0.0]], [[4.0, 5.0], [7.0, 8.0]])
    assert cross.tolist() == [[1.0, 2.0]]
    assert first.weight == second.weight == 2.0


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_rows_without_weight_add_nothing(rng, storage):
    X = rng.standard_normal((50, 3)) + 9
    nothing, something = moments_of(storage(X), np.zeros(50)), moments_of(X)
    assert (nothing.weight, nothing.mean.shape, nothing.scatter.tolist()) == (0.0, (3,), np.zeros((3, 3)).tolist())
    assert nothing + something is something
    assert something + nothing is something


def test_a_sparse_view_may_stand_beside_a_dense_one(rng):
    X, Y = rng.standard_normal((80, 3)), rng.standard_normal((80, 2)) + 1
    assert_same(moments_of(X, beside=sp.csr_array(Y)), moments_of(np.hstack([X, Y])), 1e-13)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_a_single_row_is_its_own_mean(storage):
    found = moments_of(storage(np.array([[4.0, -2.0]])))
    assert (found.weight, found.mean.tolist(), found.scatter.tolist()) == (1.0, [4.0, -2.0], [[0.0, 0.0], [0.0, 0.0]])


@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("sizes", [[1] * 12, [1, 0, 700, 3], [5000, 1, 9000]])
def test_blocks_of_any_size_add_up(rng, shift, sizes):
    X, Y = rng.standard_normal((sum(sizes), 3)) + shift, rng.standard_normal((sum(sizes), 2)).astype(np.float32)
    w = rng.random(sum(sizes))
    for weights in (None, w):
        total = Accumulator(5)
        for part in np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1]):
            if len(part):
                assert total.add([X[part], Y[part]], None if weights is None else weights[part]) is True
        mean, scatter = two_pass(np.hstack([X, Y]), weights)
        found = total.moments()
        assert found.weight == pytest.approx(sum(sizes) if weights is None else w.sum(), rel=1e-13)
        assert_allclose(found.mean, mean, rtol=1e-12, atol=1e-12)
        assert_allclose(found.scatter, scatter, atol=1e-10 * max(1.0, np.abs(scatter).max()))


def test_sums_that_overflow_are_told(rng):
    total = Accumulator(1)
    assert total.add([np.full((10, 1), 1.0)]) is True
    assert total.add([np.full((10, 1), 1.7e308)]) is False


@pytest.mark.parametrize(("mean", "pilot"), [(0.9, 0.0), (1.0, 0.0), (1.1, 1.1), (-0.9, 0.0), (-1.1, -1.1), (9.0, 9.0)])
def test_rows_are_shifted_if_the_origin_is_over_a_deviation_away(mean, pilot):
    X = mean + np.array([[1.0], [-1.0]] * 50)
    for views in ([X], [X, np.zeros((100, 0))]):
        total = Accumulator(1)
        total.add(views)
        assert_allclose(total.moments().pilot, [pilot], rtol=1e-12)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("weights", [None, 1.0, 0.5])
@pytest.mark.parametrize(
    ("rows", "aside", "begins"),
    [(9, 2.82, False), (9, 2.835, True), (36, 2.23, False), (36, 2.24, True), (2000, 2.0, False), (2000, 2.01, True)],
)
def test_rows_two_deviations_aside_begin_a_new_group_and_few_rows_a_little_further(rows, aside, begins, weights, side):
    with gramian.config(threads=1):
        total = Accumulator(1)
        for X in (np.array([[1.0], [-1.0]] * 500), np.full((rows, 1), side * aside)):
            total.add([X], None if weights is None else np.full(len(X), weights))
    assert len(total.hands[0].finished) == begins


def test_rounding_begins_no_row_and_a_begun_row_counts():
    given = {7.0: 7, 6.2: 7, 6.999: 7, 7 + 4e-15: 7, 7 * (1 + 9e-7): 7, 7 * (1 + 2e-6): 8, 7 * (1 - 2e-6): 7, 1e-9: 1}
    assert {weight: row_count(weight) for weight in given} == given


def test_a_variance_wants_two_rows_up_to_rounding():
    given = {0.0: False, 1.0: False, 1.99: False, 2 * (1 - 2e-6): False, 2 * (1 - 9e-7): True, 2.0: True, 3.0: True}
    assert {weight: has_variance(weight) for weight in given} == given


class TestColumnSums:
    @pytest.fixture
    def X(self, rng):
        X = rng.standard_normal((200, 5)) * [1, 1e3, 1e-3, 1, 1] + [0, 5, -9, 0, 0]
        X[:, 3], X[:, 4] = 0.0, 1e9
        return X

    def assert_of(self, sums, X, w=None):
        w = np.ones(len(X)) if w is None else w
        mean = X[0] + w @ (X - X[0]) / w.sum()
        assert sums.weight == pytest.approx(w.sum(), rel=1e-13)
        assert_allclose(sums.mean, mean, rtol=1e-12, atol=1e-15)
        assert_allclose(sums.squares, w @ (X - mean) ** 2, rtol=1e-10, atol=1e-20)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_parts_add_up_to_the_whole(self, X, rng, weighted):
        w = rng.random(200) if weighted else None
        self.assert_of(column_sums(X, w), X, w)
        for cut in (0, 1, 70, 200):
            first, second = (column_ranges(X[p], None if w is None else w[p]) for p in (slice(cut), slice(cut, None)))
            for both in (first + second, second + first):
                self.assert_of(both, X, w)
                assert type(both) is ColumnRanges
                assert both.largest == np.abs(X).max()

    def test_deviations_and_constant_columns(self, X):
        sums = column_sums(X)
        assert_allclose(sums.scale, [*X[:, :3].std(axis=0, ddof=1), 1, 1], rtol=1e-10)
        assert sums.constant == 2
        assert column_sums(X[:, :3]).constant == 0

    def test_rows_without_weight_add_nothing(self, X):
        empty, zero = column_ranges(X[:0]), column_ranges(X[:9], np.zeros(9))
        for nothing in (empty, zero):
            assert (nothing.weight, nothing.largest, nothing.mean.tolist()) == (0.0, 0.0, [0.0] * 5)
            assert nothing.squares.tolist() == [0.0] * 5
        some = column_sums(X)
        assert some + ColumnSums(0.0, np.ones(5), np.ones(5)) is some

    @pytest.mark.parametrize("sign", [1, -1])
    def test_the_largest_entry_is_the_largest_size(self, X, sign):
        assert column_ranges(sign * np.abs(X)).largest == np.abs(X).max()
        without = column_sums(X)  # knows of no largest entry
        assert (column_ranges(X[:, :]) + without).largest == np.abs(X).max()

    def test_sums_beyond_double_precision_are_infinite(self):
        far = np.array([[1e200], [-1e200], [1e200]])
        assert np.isinf(column_sums(far).squares).all()
        assert np.isinf((column_sums(far) + column_sums(-far)).squares).all()
