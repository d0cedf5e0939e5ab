"""Pre-images: the three methods against each other, against PCA, and against brute force."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import gramian
from gramian import PCA, KernelPCA
from gramian.kernels import Polynomial, parse
from gramian.preimage import available, preimage

RADIAL = [
    "rbf(sigma=2)",
    "rational_quadratic(length_scale=2, alpha=0.7)",
    "matern(length_scale=3, nu=1.5)",
    "matern(length_scale=3, nu=2.5)",
    "matern(length_scale=3, nu=1.2)",
    "matern(length_scale=3, nu=inf)",
    "2*rbf(sigma=2) + matern(length_scale=3, nu=2.5)",
    "rbf(sigma=3)*rational_quadratic(length_scale=2)",
    "rbf(sigma=4)**3",
]
DOT = [
    "linear",
    "polynomial(degree=2, scale=0.3)",
    "polynomial(degree=3, scale=0.2)",
    "linear**3",
    "3*polynomial(degree=1)",
]
KINKED = ["laplacian(gamma=0.3, norm=l2)", "matern(length_scale=3, nu=0.5)"]
FREE = ["laplacian", "cosine", "rbf(sigma=2) + linear", "rbf(sigma=2)[0:3]"]


def weights_of(model, scores):
    """Weights on the training rows of the points with these scores, written out."""
    n = len(model.projection_.coefficients)
    return scores @ model.projection_.coefficients.T + 1 / n


class TestForms:
    @pytest.mark.parametrize("text", [*RADIAL, *DOT, *KINKED])
    def test_the_scalar_function_is_the_kernel(self, rng, text):
        kernel, X, Y = parse(text), rng.standard_normal((7, 3)), rng.standard_normal((9, 3))
        f = kernel.form
        m = ((X[:, None] - Y) ** 2).sum(axis=2) if f.radial else X @ Y.T
        assert_allclose(f.value(m), kernel.block(X, Y), rtol=1e-10)

    @pytest.mark.parametrize("text", [*RADIAL, *DOT])
    def test_the_slope_is_the_derivative(self, rng, text):
        kernel, X, Y = parse(text), rng.standard_normal((7, 3)), rng.standard_normal((9, 3))
        f = kernel.form
        m = ((X[:, None] - Y) ** 2).sum(axis=2) if f.radial else X @ Y.T
        step = 1e-5 * np.abs(m)
        derivative = (f.value(m + step) - f.value(m - step)) / (2 * step)
        assert_allclose(f.rate * f.slope.block(X, Y), -derivative if f.radial else derivative, rtol=1e-6)

    @pytest.mark.parametrize("text", [*RADIAL, *KINKED, "linear", "polynomial(degree=3, scale=0.2)"])
    def test_the_inverse_gives_the_measure_back(self, rng, text):
        f = parse(text).form
        m = rng.uniform(0, 9, (4, 5)) if f.radial else rng.uniform(-9, 9, (4, 5))
        assert_allclose(f.invert(f.value(m), 50.0), m, rtol=1e-8, atol=1e-8)

    def test_what_a_kernel_allows(self):
        for text in [*RADIAL, "linear", "polynomial(degree=3)"]:
            assert available(parse(text)) == ("fixed_point", "distance", "learned")
        assert available(parse("polynomial(degree=2)")) == ("fixed_point", "learned")
        for text in KINKED:
            assert available(parse(text)) == ("distance", "learned")
        for text in FREE:
            assert available(parse(text)) == ("learned",)
        for text in ["sigmoid", "thin_plate_spline", "precomputed", "polynomial(degree=3, constant=-1)"]:
            assert available(parse(text)) == ()


@pytest.mark.parametrize("k", [1, 3, 10])
@pytest.mark.parametrize("method", [None, "auto", "fixed_point"])
def test_the_linear_kernel_gives_the_inverse_of_pca(table, k, method):
    model, pca = KernelPCA(k, kernel="linear", preimage=method).fit(table), PCA(k).fit(table)
    expected = pca.inverse_transform(pca.transform(table))
    found = model.reconstruct(model.transform(table))
    assert_allclose(found.points, expected, rtol=1e-10)
    assert found.residuals.max() < 1e-5
    assert_allclose(model.inverse_transform(model.transform(table)), expected, rtol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("text", [*RADIAL[:4], *KINKED[:1], "polynomial(degree=3, scale=0.1)"])
def test_with_all_components_training_rows_come_back(table, text):
    kernel = parse(text)
    model = KernelPCA(kernel=kernel).fit(table)
    scores = model.transform(table)
    for method in ("auto", *available(kernel)):
        found = model.set_params(preimage=method).reconstruct(scores)
        assert_allclose(found.points, table, atol=1e-4 if method == "learned" else 1e-7)
        assert found.fallbacks == 0


@pytest.mark.parametrize("text", [*RADIAL[:4], *DOT[:3], *KINKED[:1], *FREE])
def test_residuals_are_distances_in_feature_space_and_auto_has_the_smallest(table, text):
    model = KernelPCA(3, kernel=text).fit(table)
    scores = model.transform(table[:40] + 0.3)
    C, kernel = weights_of(model, scores), model.kernel_
    squares = np.einsum("ij,jk,ik->i", C, kernel(table), C)
    smallest = np.inf
    for method in (*available(kernel), "auto"):
        found = preimage(kernel, table, C.T, method=method)
        cross = np.einsum("ij,ij->i", kernel.block(found.points, table), C)
        honest = np.maximum(kernel.diagonal(found.points) - 2 * cross + squares, 0)
        assert_allclose(found.residuals**2, honest, atol=1e-12 * (1 + squares.max()), rtol=1e-9)
        assert set(found.methods) <= {method, *available(kernel), "nearest"}
        assert (found.residuals <= smallest + 1e-6).all() or method != "auto"
        smallest = np.minimum(smallest, found.residuals)


def test_residuals_are_those_of_explicit_features(table):
    kernel = Polynomial(degree=2, scale=0.2)
    model = KernelPCA(4, kernel=kernel).fit(table)
    found = model.reconstruct(scores := model.transform(table[:30] + 0.1))
    P = weights_of(model, scores) @ kernel.feature_map(table)
    assert_allclose(found.residuals, np.linalg.norm(kernel.feature_map(found.points) - P, axis=1), rtol=1e-6)


def test_points_have_the_scores_they_were_made_of(table):
    model = KernelPCA(4, kernel="rbf(sigma=2)").fit(table)
    scores = model.transform(table[:20] + 0.2)
    P = weights_of(model, scores) @ model.kernel_(table)  # <P, phi(x_j)>
    assert_allclose(P @ model.projection_.coefficients + model.projection_.offset, scores, atol=1e-10)


@pytest.mark.parametrize("text", [*RADIAL[:2], RADIAL[3], *DOT[1:3]])
def test_the_fixed_point_is_one(table, text):
    model = KernelPCA(4, kernel=text, preimage="fixed_point").fit(table)
    scores = model.transform(table[:30] + 0.2)
    Z, C, f = model.inverse_transform(scores), weights_of(model, scores), model.kernel_.form
    W = C * f.slope.block(Z, table)
    denominator = W.sum(axis=1) if f.radial else f.slope.diagonal(Z)
    assert_allclose(W @ table / denominator[:, None], Z, atol=1e-5)


@pytest.mark.slow
def test_neither_memory_nor_threads_nor_company_change_a_point(table):
    model = KernelPCA(4, kernel="rbf(sigma=2)").fit(table)
    scores = model.transform(table + 0.2)
    whole = model.inverse_transform(scores)
    assert np.array_equal(model.inverse_transform(scores), whole)
    assert_allclose(model.inverse_transform(scores[17:18]), whole[17:18], atol=1e-6)
    for memory, threads in (("100kB", 2), ("1MB", 1)):
        with gramian.config(memory=memory, threads=threads):
            assert_allclose(model.inverse_transform(scores), whole, atol=1e-6)


@pytest.mark.parametrize("method", ["auto", "fixed_point", "distance", "learned"])
def test_sparse_rows_give_the_same(table, method):
    X = np.where(np.abs(table - 3) > 0.4, table, 0.0)
    dense = KernelPCA(4, kernel="rbf(sigma=3)", preimage=method).fit(X)
    sparse = KernelPCA(4, kernel="rbf(sigma=3)", preimage=method).fit(sp.csr_array(X))
    scores = dense.transform(X[:30])
    assert_allclose(sparse.inverse_transform(scores), dense.inverse_transform(scores), atol=1e-5)


def test_single_precision_goes_through(table):
    model = KernelPCA(4, kernel="rbf(sigma=2)").fit(table.astype(np.float32))
    scores = model.transform(table.astype(np.float32))
    rows = model.inverse_transform(scores)
    assert rows.dtype == np.float32
    assert_allclose(rows, KernelPCA(4, kernel="rbf(sigma=2)").fit(table).inverse_transform(scores), atol=1e-3)


class TestFarPoints:
    @pytest.mark.parametrize("k", [2, 10, None])
    @pytest.mark.parametrize("method", ["auto", "fixed_point", "distance", "learned"])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_rows_that_resemble_nothing_fall_back_and_say_so(self, table, k, method, dtype):
        """A56, B60."""
        X = table.astype(dtype)
        model = KernelPCA(k, kernel="rbf(sigma=0.5)", preimage=method).fit(X)
        scores = model.transform(np.vstack([X[:2] + 1e4, X[:3]]))
        with pytest.warns(gramian.GramianWarning, match="2 of 5 points have no pre-image"):
            rows = model.inverse_transform(scores)
        assert all((rows[i] == X).all(axis=1).any() for i in range(2))
        found = model.reconstruct(scores)
        assert found.fell_back.tolist() == [True, True, False, False, False]
        assert found.methods[:2].tolist() == ["nearest", "nearest"]
        assert np.isfinite(found.points).all()
        assert np.isfinite(found.residuals).all()

    @pytest.mark.parametrize("method", ["auto", "fixed_point", "distance", "learned"])
    def test_the_origin_and_what_points_away_have_no_pre_image(self, table, method):
        away = np.column_stack([np.zeros(200), -np.eye(200)[3], np.eye(200)[3]])
        found = preimage("rbf(sigma=0.1)", table, away, method=method)
        assert found.fell_back.tolist() == [True, True, False]
        assert np.isfinite(found.points).all()

    def test_a_faint_point_is_placed_all_the_same(self, table):
        found = preimage("rbf(sigma=0.1)", table, 1e-3 * np.eye(200)[:, 3:4])
        assert not found.fallbacks
        assert_allclose(found.points, table[3:4], atol=1e-6)

    def test_a_narrow_kernel_underflows_without_nan(self, table):
        """B60."""
        model = KernelPCA(5, kernel="rbf(gamma=1e300)").fit(table)
        assert np.isfinite(model.reconstruct(model.transform(table)).points).all()

    def test_huge_scores_stay_finite_or_are_refused(self, table):
        model = KernelPCA(2, kernel="rbf(sigma=2)").fit(table)
        assert np.isfinite(model.reconstruct(np.array([[1e100, 0.0], [-1e20, 1e20], [0.0, 0.0]])).points).all()
        with pytest.raises(ValueError, match="overflow"):
            model.reconstruct(np.array([[1e300, 0.0]]))

    def test_rows_that_overflow_the_kernel_fall_back(self, table):
        model = KernelPCA(2, kernel="polynomial(degree=3)", preimage="learned").fit(table)
        found = model.reconstruct(np.array([[1e120, 0.0], [0.1, 0.0]]))
        assert found.fell_back.tolist() == [True, False]

    def test_large_units_do_not_look_far(self, table):
        for size in (1.0, 1e150):
            model = KernelPCA(3).fit(table * size)
            assert not model.reconstruct(model.transform(table * size)).fallbacks

    def test_the_mean_is_not_far(self, rng):
        X = rng.standard_normal((50, 2))
        X = np.vstack([X, -X])  # odd components do not see the mean: its scores are those of a far row
        assert not KernelPCA(1, kernel="rbf(sigma=2)").fit(X).reconstruct(np.zeros((1, 1))).fell_back.any()


@pytest.fixture(scope="module")
def noisy_digits(digits):
    rng = np.random.default_rng(0)
    order = rng.permutation(len(digits))
    train, clean = digits[order[:700]], digits[order[700:850]]
    return train, clean, rng.standard_normal(clean.shape)


@pytest.mark.parametrize(("k", "noise"), [(16, 0.25), (32, 0.25), (32, 0.5)])
def test_kernel_pca_takes_noise_off_digits_better_than_pca(noisy_digits, k, noise):
    train, clean, normal = noisy_digits
    noisy = clean + noise * 16 * normal

    def error(model):
        return np.mean((model.inverse_transform(model.transform(noisy)) - clean) ** 2)

    curved = error(KernelPCA(k, kernel="rbf(sigma=40)").fit(train))
    assert curved < 0.9 * error(PCA(k).fit(train))
    assert curved < 0.5 * np.mean((noisy - clean) ** 2)


def test_the_fixed_point_reports_progress(table):
    model, seen = KernelPCA(3, kernel="rbf(sigma=2)", preimage="fixed_point").fit(table), []
    with gramian.config(progress=seen.append, memory="100kB", threads=2):
        model.inverse_transform(model.transform(table))
    assert {progress.task for progress in seen} == {"pre-images"}
