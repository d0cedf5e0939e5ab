"""Routes and relatives that must agree."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA as SklearnPCA

from gramian import PCA, KernelPCA
from gramian.kernels import Polynomial

ROUTES = ["covariance", "svd", "dual", "power", "krylov", "randomized"]


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("route", ROUTES)
def test_the_routes_agree(table, route, scale):
    reference = PCA(4, solver="svd", scale=scale).fit(table)
    other = PCA(4, solver=route, scale=scale).fit(table)
    assert_allclose(other.explained_variance_, reference.explained_variance_, rtol=1e-10)
    assert_allclose(other.components_, reference.components_, atol=1e-7)
    assert_allclose(other.transform(table), reference.transform(table), atol=1e-6)


@pytest.mark.parametrize("route", ROUTES)
def test_the_routes_agree_when_columns_outnumber_rows(table, route):
    wide = table.T
    reference = PCA(3, solver="svd").fit(wide)
    other = PCA(3, solver=route).fit(wide)
    assert_allclose(other.explained_variance_, reference.explained_variance_, rtol=1e-10)
    assert_allclose(other.components_, reference.components_, atol=1e-7)


@pytest.mark.parametrize("route", ["auto", "svd", "dual"])
def test_a_few_wide_rows_need_no_square_of_their_columns(rng, route):
    X = rng.standard_normal((3, 3000))
    tracemalloc.start()
    try:
        PCA(2, solver=route).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100 * X.nbytes  # the square is 1000 times the table


def test_agrees_with_scikit_learn(digits):
    ours, theirs = PCA(10).fit(digits), SklearnPCA(10).fit(digits)
    assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-10)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-10)
    assert_allclose(ours.singular_values_, theirs.singular_values_, rtol=1e-10)
    assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-8)
    assert_allclose(np.abs(ours.components_), np.abs(theirs.components_), atol=1e-8)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("route", ["covariance", "dual", "power", "krylov", "auto"])
def test_sparse_equals_dense(rng, route, scale):
    X = sp.csr_array(np.where(rng.random((120, 30)) < 0.2, rng.random((120, 30)), 0.0))
    dense, sparse = (PCA(3, solver=route, scale=scale).fit(Z) for Z in (X.toarray(), X))
    assert_allclose(sparse.explained_variance_, dense.explained_variance_, rtol=1e-9)
    assert_allclose(sparse.components_, dense.components_, atol=1e-6)
    assert_allclose(sparse.transform(X), dense.transform(X.toarray()), atol=1e-6)


@pytest.mark.parametrize("shape", [(20, 50), (120, 30)], ids=["wide", "tall"])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("route", ["covariance", "dual", "power", "krylov", "auto"])
def test_sparse_rows_far_from_the_origin_equal_dense_ones(rng, route, scale, shape):
    X = rng.standard_normal(shape) * np.linspace(3, 1, shape[1]) + 1e6
    dense, sparse = (PCA(3, solver=route, scale=scale).fit(Z) for Z in (X, sp.csr_array(X)))
    assert_allclose(sparse.explained_variance_, dense.explained_variance_, rtol=1e-9)
    assert_allclose(sparse.mean_, dense.mean_, rtol=1e-15)


def test_kernel_pca_with_the_linear_kernel_is_pca(table):
    pca, kernel = PCA(5).fit(table), KernelPCA(5, kernel="linear").fit(table)
    signs = np.sign(np.sum(pca.transform(table) * kernel.transform(table), axis=0))
    assert_allclose(kernel.eigenvalues_, pca.explained_variance_ * (len(table) - 1), rtol=1e-10)
    assert_allclose(kernel.transform(table) * signs, pca.transform(table), atol=1e-8)
    assert_allclose(kernel.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-10)
    new = table[:20] * 1.5 - 1
    assert_allclose(kernel.transform(new) * signs, pca.transform(new), atol=1e-8)


@pytest.mark.parametrize("constant", [0.0, 1.0])
def test_explicit_polynomial_features_and_pca_are_polynomial_kernel_pca(table, constant):
    X = table[:, :4] / 3
    kernel = Polynomial(degree=3, scale=0.5, constant=constant)
    explicit = PCA(6).fit(kernel.feature_map(X))
    implicit = KernelPCA(6, kernel=kernel).fit(X)
    assert_allclose(implicit.eigenvalues_, explicit.explained_variance_ * (len(X) - 1), rtol=1e-9)
    new = X[:30] + 0.1
    expected = explicit.transform(kernel.feature_map(new))
    signs = np.sign(np.sum(expected * implicit.transform(new), axis=0))
    assert_allclose(implicit.transform(new) * signs, expected, atol=1e-8 * np.abs(expected).max())


def test_whitened_scores_have_the_identity_as_covariance(table):
    pca = PCA(whiten=True).fit(table)
    assert_allclose(np.cov(pca.transform(table).T), np.eye(10), atol=1e-10)
    assert_allclose(pca.inverse_transform(pca.transform(table)), table, atol=1e-9)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_the_inverse_returns_the_projection_onto_the_components(table, scale, whiten):
    pca = PCA(4, scale=scale, whiten=whiten).fit(table)
    back = pca.inverse_transform(pca.transform(table))
    A = (table - pca.mean_) / pca.scale_
    assert_allclose(back, A @ pca.components_.T @ pca.components_ * pca.scale_ + pca.mean_, atol=1e-10)


@pytest.mark.parametrize("scale", [False, True])
def test_reconstruction_error_is_the_variance_left_out(table, scale):
    pca, n = PCA(3, scale=scale).fit(table), len(table)
    everything = PCA(scale=scale).fit(table).explained_variance_
    assert_allclose(pca.reconstruction_error(), (n - 1) / n * everything[3:].sum(), rtol=1e-9)
    assert_allclose(pca.reconstruction_error(), pca.reconstruction_error(table), rtol=1e-9)
    assert_allclose(pca.reconstruction_error(centred=False), pca.reconstruction_error(table, centred=False), rtol=1e-9)
    assert pca.reconstruction_error(centred=False) > pca.reconstruction_error()


def test_a_fraction_takes_the_fewest_components_that_reach_it(digits):
    whole = np.cumsum(PCA().fit(digits).explained_variance_ratio_)
    kept = len(PCA(0.9).fit(digits).components_)
    assert whole[kept - 1] >= 0.9 > whole[kept - 2]


def test_float32_is_kept_and_computed_in_double(table):
    narrow, wide = PCA(3).fit(table.astype(np.float32)), PCA(3).fit(table)
    assert narrow.transform(table.astype(np.float32)).dtype == np.float32
    assert narrow.components_.dtype == np.float32
    assert narrow.inverse_transform(narrow.transform(table.astype(np.float32))).dtype == np.float32
    assert_allclose(narrow.explained_variance_, wide.explained_variance_, rtol=1e-6)


def test_signs_make_the_largest_entry_positive(digits):
    W = PCA(20).fit(digits).components_
    assert (W[np.arange(20), np.abs(W).argmax(axis=1)] > 0).all()
    scores = KernelPCA(5, kernel="rbf(sigma=25)").fit_transform(digits)
    assert (scores[np.abs(scores).argmax(axis=0), np.arange(5)] > 0).all()


def test_auto_tells_its_route(rng):
    graded = rng.standard_normal((4_000, 20)) * 10.0 ** -np.linspace(0, 7, 20)
    for X, n_components, route, why in [
        (graded[:100], None, "svd", "small"),
        (graded + rng.standard_normal(graded.shape), None, "covariance", "20 columns, fewer than 4,000 rows"),
        (graded, None, "covariance", "11 of small variance from the rows"),
        (graded, 0.999, "covariance", "20 columns, fewer than 4,000 rows"),
        (graded, 3, "covariance", "20 columns, fewer than 4,000 rows"),
    ]:
        facts = PCA(n_components).fit(X).summary_.facts
        assert facts["solver"] == route
        assert facts["reason"].endswith(why if route == "covariance" else "is small")


@pytest.mark.parametrize("decades", [0, 3, 5, 7, 8, 11])
@pytest.mark.parametrize(("n", "d"), [(1_500, 40), (200, 200), (150, 151), (60, 700)])
@pytest.mark.parametrize("asked", [None, 0.5, 1])
def test_auto_keeps_the_digits_of_the_svd_whatever_the_spectrum(n, d, decades, asked):
    """Errors of singular values and of directions are some hundred roundings of the largest value, as those of SVD."""
    rng = np.random.default_rng(decades)
    rank = min(n - 1, d)
    U = rng.standard_normal((n, rank))
    U, V = np.linalg.qr(U - U.mean(axis=0))[0], np.linalg.qr(rng.standard_normal((d, rank)))[0]
    s = 10.0 ** -np.linspace(0, decades, rank)
    pca = PCA(int(asked * rank) if asked else None).fit((U * s) @ V.T + 1)
    assert pca.summary_.facts["solver"] != "svd"
    k = min(rank, len(pca.components_))
    gate = 400 * np.finfo(float).eps
    assert_allclose(pca.singular_values_[:k], s[:k], rtol=0, atol=gate)
    assert_allclose(pca.components_ @ pca.components_.T, np.eye(len(pca.components_)), atol=1e-9)
    W = pca.components_[:k]
    lengths = np.linalg.norm((W @ V) * s, axis=1)  # of the rows along each direction
    assert_allclose(lengths, s[:k], rtol=0, atol=gate)


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_many_rows_of_extreme_size_take_the_careful_route(rng, size):
    X = rng.standard_normal((40_000, 60)) * np.linspace(1, 2, 60)
    assert_allclose(
        np.sqrt(PCA(3).fit(X * size).explained_variance_) / size, np.sqrt(PCA(3).fit(X).explained_variance_)
    )
