"""Centring held against its definition, H = I - 11'/n, and its relative beside polynomials, Q = I - TT^+."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from gramian import config
from gramian.kernels import parse
from gramian.operators import Dense, Gram
from gramian.operators.centering import (
    Centred,
    KernelCentring,
    Outline,
    PolynomialCentring,
    Polynomials,
    Projected,
    ProjectedGram,
    best_origin,
    centre_columns,
    column_means,
    from_best_origin,
    moved,
    pivoted_factor,
    uncentred,
)
from gramian.solvers.eigen import choose_eigen_solver

N = 11


class Counted(Dense):
    """A matrix that counts the vectors it was multiplied with."""

    vectors = 0

    def __matmul__(self, V):
        self.vectors += V.shape[1]
        return super().__matmul__(V)


@pytest.fixture
def K(rng):
    A = rng.standard_normal((N, N)) + 1
    return A @ A.T


@pytest.fixture
def H():
    return np.eye(N) - 1 / N


@pytest.fixture
def T(rng):
    return np.column_stack([np.ones(N), rng.standard_normal((N, 2)) * [1, 30] + [5, -40]])


def away(T):
    return np.eye(len(T)) - T @ np.linalg.pinv(T)


class TestMeans:
    @pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_they_are_those_of_the_columns(self, rng, storage, weighted):
        X, weights = rng.standard_normal((5000, 3)) + [0, 5, -9], rng.random(5000) + 0.1
        found = column_means(storage(X), weights if weighted else None)
        assert found.dtype == np.float64
        assert_allclose(found, np.average(X, axis=0, weights=weights if weighted else None), rtol=1e-12, atol=1e-15)

    def test_they_do_not_overflow_where_sums_would(self):
        assert_allclose(column_means(np.full((4000, 2), 1.5e308)), [1.5e308] * 2, rtol=1e-12)

    @pytest.mark.parametrize("n", [3, 49, 1000, 5003])
    @pytest.mark.parametrize("value", [0.1, 1e8 / 3, -1e-200])
    def test_a_constant_column_has_its_value_to_the_bit(self, n, value):
        assert column_means(np.full((n, 2), value)).tolist() == [value, value]

    def test_single_precision_is_summed_in_double(self, rng):
        X = (rng.standard_normal((3000, 2)) + 1000).astype(np.float32)
        assert_allclose(column_means(X), X.astype(np.float64).mean(axis=0), rtol=1e-14)


class TestDense:
    @pytest.mark.parametrize("threads", [1, 2])
    @pytest.mark.parametrize("n", [256, 257, 700])
    def test_products_by_parts_are_those_of_the_matrix(self, rng, n, threads):
        A, V = rng.standard_normal((n, n)), rng.standard_normal((n, 3))
        A = A + A.T
        with config(threads=threads):
            found = Dense(A, positive=False) @ V
        assert_allclose(found, A @ V, atol=1e-11)
        assert (Dense(A.astype(np.float32), positive=False) @ V.astype(np.float32)).dtype == np.float32

    def test_an_outline_is_chosen_for_as_a_matrix_that_exists(self):
        for n, k in ((50, 3), (4000, 3), (4000, 800)):
            matrix = Dense(np.broadcast_to(0.0, (n, n)), positive=True)
            assert Outline(n).positive
            assert choose_eigen_solver(Outline(n), k, "auto") == choose_eigen_solver(matrix, k, "auto")

    def test_an_indefinite_matrix_is_sketched_at_random(self, rng):
        sketch = Dense(np.diag([1.0, -1.0, 2.0]), positive=False).sketch(5, rng)
        assert np.linalg.matrix_rank(sketch) == 3
        assert sketch.shape == (3, 3)


class TestPivotedFactor:
    def test_more_columns_than_rows_are_all_of_them(self, K):
        some, every = (Dense(K, positive=True).sketch(rank, np.random.default_rng(0)) for rank in (N, 3 * N))
        assert_allclose(some, every, atol=0)

    def test_rows_that_repeat_others_add_nothing(self, K, rng):
        twice = np.tile(K, (2, 2))
        F = pivoted_factor(Dense(twice, positive=True), 2 * N, rng)
        assert F.shape[1] == N
        assert_allclose(F @ F.T, twice, atol=1e-8 * K.max())

    @pytest.mark.parametrize("unit", [1e-14, 1e14])
    def test_the_unit_does_not_matter(self, K, rng, unit):
        F = pivoted_factor(Dense(unit * K, positive=True), N, rng)
        assert_allclose(F @ F.T, unit * K, atol=1e-8 * unit * K.max())

    def test_pivots_go_where_most_is_left(self, rng):
        """Blocks of equal rows, of sizes 1e6 and 1e3, and a diagonal of 1: two columns leave no more than that."""
        A = np.eye(100)
        A[:50, :50] += 1e6
        A[50:, 50:] += 1e3
        F = pivoted_factor(Dense(A, positive=True), 20, rng, block=2)
        assert F.shape == (100, 20)
        assert np.trace(A - F @ F.T) < 120

    def test_a_row_is_no_pivot_twice(self, rng):
        """Three rows have nearly all of the trace; once they are chosen others follow."""
        A = np.diag([1e6] * 3 + [1.0] * 97)
        F = pivoted_factor(Dense(A, positive=True), 20, rng)
        assert F.shape[1] == np.count_nonzero((F @ F.T).diagonal()) == 20


class TestOrigin:
    @pytest.mark.parametrize("weighted", [False, True])
    def test_rows_of_the_linear_kernel_are_seen_from_their_mean(self, rng, weighted):
        X, weights = rng.standard_normal((20, 3)) + 1e6, rng.random(20) if weighted else None
        rows, origin = from_best_origin(parse("linear"), X, weights)
        assert_allclose(origin, np.average(X, axis=0, weights=weights), rtol=1e-12)
        assert_allclose(rows, X - origin, atol=0)

    def test_every_row_counts_once_where_no_weights_are_given(self, rng):
        X = rng.standard_normal((20, 3))
        for origin in (best_origin(parse("linear"), X), from_best_origin(parse("linear"), X)[1]):
            assert_allclose(origin, X.mean(axis=0), rtol=1e-12)

    def test_rows_of_an_older_sparse_matrix_become_an_array(self, rng):
        X = rng.standard_normal((20, 3))
        seen = moved(sp.csr_matrix(X), np.ones(3))
        assert type(seen) is np.ndarray
        assert_allclose(seen, X - 1, rtol=1e-14)

    @pytest.mark.parametrize("storage", [sp.csr_array, sp.csr_matrix])
    def test_others_stay_where_they_are(self, rng, storage):
        X = rng.standard_normal((20, 3))
        for kernel, rows in (("rbf", X), ("linear", storage(X))):
            seen, origin = from_best_origin(parse(kernel), rows)
            assert seen is rows
            assert origin is None


class TestKernelCentring:
    def test_the_training_matrix_becomes_hkh_in_place(self, K, H):
        centring, expected = KernelCentring(K.mean(axis=1)), H @ K @ H
        assert centring.trace(K.diagonal()) == pytest.approx(np.trace(expected), rel=1e-13)
        assert centring.apply(K) is K
        assert_allclose(K, expected, atol=1e-12)

    def test_folding_moves_the_centring_of_new_rows_into_the_coefficients(self, K, H, rng):
        new, A = rng.standard_normal((4, N)), rng.standard_normal((N, 3))
        B, b = KernelCentring(K.mean(axis=1)).fold(A)
        assert_allclose(new @ B + b, (new - K.mean(axis=1)) @ H @ A, atol=1e-12)

    def test_scores_lead_back_to_sums_over_the_training_rows(self, rng):
        B, scores, mean = rng.standard_normal((N, 2)), rng.standard_normal((5, 2)), rng.random(N)
        weights, coordinates = uncentred(B, scores)
        assert_allclose(coordinates @ weights.T, scores @ B.T + 1 / N, atol=1e-14)
        weights, coordinates = uncentred(B, scores, mean)
        assert_allclose(coordinates @ weights.T, scores @ B.T + mean, atol=1e-14)


class TestCentred:
    @pytest.mark.parametrize("columns", [1, 3])
    def test_the_means_are_one_vector_of_the_first_product(self, K, H, rng, columns):
        inner, V = Counted(K, positive=True), rng.standard_normal((N, columns))
        centred = Centred(inner)
        for vectors in (columns + 1, 2 * columns + 1):
            assert_allclose(centred @ V, H @ K @ H @ V, atol=1e-11)
            assert inner.vectors == vectors
        assert_allclose(centred.centring.means, K.mean(axis=1), rtol=1e-12)
        assert inner.vectors == 2 * columns + 1

    def test_means_asked_for_first_cost_one_vector_once(self, K):
        inner = Counted(K, positive=True)
        centred = Centred(inner)
        assert_allclose(centred.centring.means, K.mean(axis=1), rtol=1e-12)
        assert_allclose(centred.centring.means, K.mean(axis=1), rtol=1e-12)
        assert inner.vectors == 1
        assert Centred(inner, centred.centring.means).centring.means is centred.centring.means

    def test_matrix_trace_and_sketch_agree(self, K, H, rng):
        inner = Counted(K, positive=True)
        centred = Centred(inner)
        assert_allclose(centred.toarray(), H @ K @ H, atol=1e-11)
        assert centred.trace() == pytest.approx(np.trace(H @ K @ H), rel=1e-12)
        assert inner.vectors == 0  # the means came with the matrix
        assert (centred.n, centred.limit, centred.positive) == (N, N, True)
        F = centred.sketch(N, rng)
        assert_allclose(F @ F.T, H @ K @ H, atol=1e-9)

    def test_another_precision_finds_its_own_means(self, K, rng):
        centred = Centred(Dense(K, positive=True))
        assert centred.astype(np.float64) is centred
        assert centred.centring.means.dtype == np.float64
        narrow = centred.astype(np.float32)
        assert narrow.dtype == np.float32
        assert (narrow @ rng.standard_normal((N, 2)).astype(np.float32)).dtype == np.float32
        assert not np.array_equal(narrow.centring.means, centred.centring.means)
        assert_allclose(narrow.centring.means, centred.centring.means, rtol=1e-5)

    def test_columns_are_centred_each_by_itself(self, rng, H):
        V = rng.standard_normal((N, 4))
        assert_allclose(centre_columns(V), H @ V, atol=1e-15)


class TestPolynomials:
    def test_basis_and_inverse_are_the_pseudo_inverse(self, T):
        found = Polynomials.of(T)
        assert_allclose(found.shift, [0, *T[:, 1:].mean(axis=0)], rtol=1e-14)
        assert_allclose(found.basis.T @ found.basis, np.eye(3), atol=1e-13)
        assert_allclose((T - found.shift) @ found.inverse, found.basis, atol=1e-12)
        assert_allclose(found.inverse @ found.basis.T, np.linalg.pinv(T - found.shift), atol=1e-12)

    def test_functions_that_repeat_others_drop_out(self, T, rng):
        more = np.column_stack([T, 3 * T[:, 1] - T[:, 2], np.full(N, 7.0)])
        found = Polynomials.of(more)
        assert found.basis.shape == (N, 3)
        assert_allclose(found.basis @ found.basis.T, T @ np.linalg.pinv(T), atol=1e-12)
        assert_allclose((more - found.shift) @ found.inverse, found.basis, atol=1e-12)

    @pytest.mark.parametrize("unit", [1e-12, 1e12])
    def test_no_function_drops_out_for_its_unit(self, T, unit):
        found = Polynomials.of(T * [1, 1, unit])
        assert found.basis.shape == (N, 3)
        assert_allclose(found.basis @ found.basis.T, T @ np.linalg.pinv(T), atol=1e-12)

    def test_what_is_free_of_them_is_orthogonal_to_all(self, T, rng):
        V = rng.standard_normal((N, 4))
        assert_allclose(Polynomials.of(T).free(V), away(T) @ V, atol=1e-13)
        assert Polynomials.of(T).free(V.astype(np.float32)).dtype == np.float32

    def test_folding_moves_the_centring_of_new_rows_into_the_coefficients(self, K, T, rng):
        polynomials, A = Polynomials.of(T), rng.standard_normal((N, 2))
        new, t = rng.standard_normal((4, N)), np.column_stack([np.ones(4), rng.standard_normal((4, 2))])
        B, D = PolynomialCentring(polynomials, K @ polynomials.basis).fold(A)
        # With T shifted the constant is as it was, and the span is the same.
        shifted = np.linalg.pinv(T - polynomials.shift)
        rows = (new - (t - polynomials.shift) @ shifted @ K) @ away(T)
        assert_allclose(new @ B + (t - polynomials.shift) @ D, rows @ A, atol=1e-10)


class TestProjectedGram:
    """``P S K S P`` against the same made of whole matrices."""

    @pytest.fixture(params=["none", "weights", "mean", "polynomials"])
    def parts(self, request, rng, T):
        roots = None if request.param == "none" else np.sqrt(rng.random(N) + 0.2)
        if request.param == "mean":
            return roots, (roots / np.linalg.norm(roots))[:, None]
        return roots, np.linalg.qr(roots[:, None] * T)[0] if request.param == "polynomials" else None

    @staticmethod
    def whole(A, roots, null):
        S = np.eye(N) if roots is None else np.diag(roots)
        P = np.eye(N) if null is None else np.eye(N) - null @ null.T
        return P @ S @ A @ S @ P

    @pytest.fixture(params=[True, False], ids=["positive", "indefinite"])
    def inner(self, request, K):
        return Counted(K if request.param else K - 3 * np.eye(N), positive=request.param)

    def test_it_is_what_its_formula_says_by_every_door(self, inner, parts, rng):
        made = ProjectedGram(inner, *parts, positive=inner.positive)
        expected, V = self.whole(inner.A, *parts), rng.standard_normal((N, 2))
        assert (made.n, made.dtype, made.effort) == (N, np.float64, 1.0)
        assert_allclose(made @ V, expected @ V, atol=1e-11)
        assert_allclose(made.diagonal(), expected.diagonal(), atol=1e-11)
        assert_allclose(made.columns(np.array([7, 2])), expected[:, [7, 2]], atol=1e-11)
        assert_allclose(made.toarray(), expected, atol=1e-11)
        F = made.sketch(N, rng)
        if inner.positive:
            assert_allclose(F @ F.T, expected, atol=1e-8)
        else:
            assert np.linalg.matrix_rank(F) == N

    def test_what_is_projected_out_costs_one_product_or_comes_with_the_matrix(self, inner, parts, rng):
        null = parts[1]
        made, count = ProjectedGram(inner, *parts, positive=False), 0 if null is None else null.shape[1]
        for _ in range(2):
            made.diagonal()
            assert inner.vectors == count
        whole = ProjectedGram(inner, *parts, positive=False)
        whole.toarray()
        narrow = whole.astype(np.float32)
        expected = self.whole(inner.A, *parts)
        assert_allclose(whole.columns(np.array([4])), expected[:, [4]], atol=1e-11)
        assert_allclose(narrow.columns(np.array([4])), expected[:, [4]], atol=1e-5 * np.abs(inner.A).max() * N)
        assert inner.vectors == count

    def test_precision_changes_only_if_it_differs(self, inner, parts, rng):
        made, V = ProjectedGram(inner, *parts, positive=False, effort=7.0), rng.standard_normal((N, 2))
        assert made.astype(np.float64) is made
        narrow = made.astype(np.float32)
        product = narrow @ V.astype(np.float32)
        assert (narrow.dtype, narrow.effort, product.dtype) == (np.float32, 7.0, np.float32)
        made.diagonal()
        assert made.astype(np.float32).shadow is made.shadow
        assert_allclose(product, made @ V, atol=1e-5 * np.abs(inner.A).max() * N)

    def test_its_origin_is_the_size_of_the_entries_before_the_projection(self, inner, parts):
        roots, null = parts
        weights = np.ones(N) if roots is None else roots**2
        if null is None:
            size = 0.0
        elif inner.positive:
            size = (weights * inner.A.diagonal()).max()
        else:
            size = weights.max() * np.abs(inner.A[0]).max()
        assert ProjectedGram(inner, *parts, positive=True).origin == pytest.approx(size, rel=1e-14)

    def test_an_unweighted_one_has_the_origin_of_its_matrix(self, K):
        null = np.full((N, 1), N**-0.5)
        assert ProjectedGram(Dense(K, positive=True), None, null, positive=True).origin == K.diagonal().max()

    def test_single_precision_pays_for_tiles_of_a_positive_kernel(self, rng):
        X = rng.standard_normal((30, 2))
        for text, pays in (("rbf(sigma=1)", True), ("thin_plate_spline", False)):
            assert ProjectedGram(Gram(parse(text), X), None, None, positive=True).narrow_pays is pays
        assert ProjectedGram(Dense(np.eye(3), positive=True), None, None, positive=True).narrow_pays is False


class TestProjected:
    @pytest.fixture
    def projected(self, K, T):
        return Projected(Counted(K, positive=False), Polynomials.of(T))

    def test_it_is_qkq_by_every_door(self, projected, K, T, rng):
        expected, V = away(T) @ K @ away(T), rng.standard_normal((N, 2))
        assert_allclose(projected @ V, expected @ V, atol=1e-10)
        assert_allclose(projected.toarray(), expected, atol=1e-10)
        assert_allclose(projected.diagonal(), expected.diagonal(), atol=1e-10)
        assert_allclose(projected.columns(np.array([7, 2])), expected[:, [7, 2]], atol=1e-10)
        assert projected.trace() == pytest.approx(np.trace(expected), rel=1e-11)
        F = projected.sketch(N + 5, rng)
        assert_allclose(F @ F.T, expected, atol=1e-8)
        assert projected.sketch(2, rng).shape == (N, 2)
        assert (projected.n, projected.limit, projected.positive) == (N, N - 3, True)
        assert not projected.vanishes()

    def test_the_diagonal_is_in_the_units_of_the_matrix(self, K, T):
        projected = Projected(Dense(1e-6 * K, positive=True), Polynomials.of(T))
        assert_allclose(projected.diagonal(), 1e-6 * (away(T) @ K @ away(T)).diagonal(), atol=1e-16)

    def test_the_image_costs_its_product_once(self, projected, K):
        for _ in range(2):
            assert_allclose(projected.centring.image, K @ projected.polynomials.basis, atol=1e-11)
        assert projected.inner.vectors == 3

    def test_the_image_comes_with_the_matrix(self, projected, K):
        projected.toarray()
        assert_allclose(projected.centring.image, K @ projected.polynomials.basis, atol=1e-11)
        assert projected.inner.vectors == 0

    def test_precision_changes_only_if_it_differs(self, projected, K, rng):
        assert projected.astype(np.float64) is projected
        narrow = projected.astype(np.float32)
        assert narrow.dtype == np.float32
        assert narrow.centring.image.dtype == np.float64
        V = rng.standard_normal((N, 2))
        assert_allclose(narrow @ V.astype(np.float32), projected @ V, atol=1e-5 * np.abs(K).max() * N)

    def test_a_matrix_of_polynomials_alone_vanishes(self, T):
        matrix = 1e8 * T @ np.diag([1.0, 2.0, 0.01]) @ T.T
        projected = Projected(Dense(matrix, positive=True), Polynomials.of(T))
        assert projected.vanishes()
        assert (projected.diagonal() >= 0).all()

    def test_no_more_rows_than_functions_vanish(self, K, T):
        few = slice(0, 3)
        projected = Projected(Dense(K[few, few], positive=True), Polynomials.of(T[few]))
        assert projected.limit == 0
        assert projected.vanishes()

    def test_a_large_part_beside_leaves_no_trace_in_the_matrix(self, K, T):
        large = K + 1e12 * T @ T.T
        polynomials = Polynomials.of(T)
        found = Projected(Dense((large + large.T) / 2, positive=True), polynomials).toarray()
        # Entries of 1e15 are rounded to 0.1; once more through Q, polynomials in what is left are far below that.
        assert np.abs(polynomials.basis.T @ found).max() < 1e-10 * np.abs(K).max()


def test_what_counts_as_rounding_is_ten_roundings_of_each_entry_before_centring(K):
    A = K.copy()
    A[3, 3] = -2 * np.abs(K).max()
    assert_allclose(Centred(Dense(A, positive=False)).rounding, 10 * N * 2.0**-52 * 2 * np.abs(K).max(), rtol=1e-12)
    assert Centred(Dense(np.zeros((N, N)), positive=True)).rounding == 0.0
    assert Dense(K, positive=True).rounding == 0.0
