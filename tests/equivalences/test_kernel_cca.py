"""Kernel CCA is CCA of features, by whatever route."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose

import gramian
from gramian import KernelCCA
from gramian.estimators.cca import CCA
from gramian.estimators.kernel_cca_pairs import Search, find_pairs
from gramian.estimators.warnings import RankWarning
from gramian.kernels import RBF, Polynomial
from gramian.kernels.dot_product import monomials
from gramian.operators import Centred, Dense
from gramian.solvers.canonical import Canonical
from gramian.spaces import KernelSpace


def views(rng, n, d=6, q=4):
    """Two views of two causes, off the origin, read-only."""
    Z = rng.standard_normal((n, 2))
    X = np.tanh(Z @ rng.standard_normal((2, d))) + 0.3 * rng.standard_normal((n, d)) + 2.0
    Y = np.sin(Z @ rng.standard_normal((2, q))) + 0.3 * rng.standard_normal((n, q)) - 1.0
    X.setflags(write=False)
    Y.setflags(write=False)
    return X, Y


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def same_up_to_sign(found, expected, **tolerance):
    signs = np.sign(np.sum(found[0] * expected[0], axis=0))
    for ours, theirs in zip(found, expected, strict=True):
        assert_allclose(ours * signs, theirs, **tolerance)


@pytest.mark.parametrize("solver", ["dense", "krylov"])
@pytest.mark.parametrize("ridge", [0.3, (0.05, 2.0)], ids=str)
@pytest.mark.parametrize("scale", [False, True])
def test_the_linear_kernel_is_cca(rng, solver, ridge, scale):
    X, Y = views(rng, 150)
    train, new = slice(0, 120), slice(120, None)
    linear = CCA(3, ridge=ridge, scale=scale).fit(X[train], Y[train])
    kernel = KernelCCA(3, ridge=ridge, scale=scale, kernel="linear", solver=solver).fit(X[train], Y[train])
    assert_allclose(kernel.correlations_, linear.correlations_, rtol=1e-9)
    assert_allclose(kernel.score_correlations_, linear.score_correlations_, rtol=1e-7)
    for rows in (train, new):
        same_up_to_sign(kernel.transform(X[rows], Y[rows]), linear.transform(X[rows], Y[rows]), atol=1e-6)


def test_all_pairs_of_the_linear_kernel_without_a_ridge(rng):
    X, Y = views(rng, 100)
    kernel = KernelCCA(kernel="linear", ridge=0).fit(X, Y)
    linear = CCA().fit(X, Y)
    assert_allclose(kernel.correlations_, linear.correlations_, rtol=1e-9)
    same_up_to_sign(kernel.transform(X, Y), linear.transform(X, Y), atol=1e-8)


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_a_linear_kernel_on_one_side_and_explicit_features_on_the_other(rng, solver):
    X, Y = views(rng, 120, d=3)
    kernel = Polynomial(degree=2)
    features = monomials(X, 2, 1.0, 1.0)
    expected = CCA(3, ridge=0.5).fit(features[:90], Y[:90])
    found = KernelCCA(3, ridge=0.5, kernel=kernel, kernel_y="linear", solver=solver).fit(X[:90], Y[:90])
    assert_allclose(found.correlations_, expected.correlations_, rtol=1e-9)
    same_up_to_sign(found.transform(X[90:], Y[90:]), expected.transform(features[90:], Y[90:]), atol=1e-6)


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_the_definition_as_a_generalised_eigenproblem(rng, solver):
    X, Y = views(rng, 60)
    n, ridge = 60, (0.02, 0.1)
    model = KernelCCA(4, ridge=ridge, kernel="rbf(sigma=2)", kernel_y="laplacian(gamma=0.3)", solver=solver).fit(X, Y)
    Kx, Ky = centred(model.kernel_(X)), centred(model.kernel_y_(Y))
    # Of the sum of both scores, on the range of the centred matrices.
    Z = scipy.linalg.null_space(np.ones((1, n)))
    A = scipy.linalg.block_diag(*(Z.T @ (K @ K / (n - 1) + r * K) @ Z for K, r in zip((Kx, Ky), ridge, strict=True)))
    C = np.zeros_like(A)
    C[: n - 1, n - 1 :] = Z.T @ Kx @ Ky @ Z / (n - 1)
    values = scipy.linalg.eigh(C + C.T, A, eigvals_only=True)[::-1]
    assert_allclose(model.correlations_, values[:4], rtol=1e-7)
    T, S = model.transform(X, Y)
    assert_allclose(T.mean(axis=0), 0, atol=1e-9)
    assert_allclose(T.T @ S / (n - 1), np.diag(model.correlations_), atol=1e-7)


@pytest.mark.parametrize(
    "ridge", [pytest.param(0.2, marks=pytest.mark.slow), 1e-2, pytest.param(1e-4, marks=pytest.mark.slow)]
)
def test_products_find_what_factorisations_find(rng, ridge):
    X, Y = views(rng, 700)
    dense, krylov = (
        KernelCCA(4, ridge=ridge, kernel="rbf(sigma=2)", solver=solver, folds=None).fit(X, Y)
        for solver in ("dense", "krylov")
    )
    assert krylov.summary_.facts["residuals"].max() <= Canonical.tol
    assert_allclose(krylov.correlations_, dense.correlations_, rtol=1e-11)
    assert_allclose(krylov.transform(X[::7]), dense.transform(X[::7]), atol=2e-6)
    assert KernelCCA(4, ridge=ridge, folds=None).fit(X, Y).summary_.facts["solver"] == "krylov"


def test_the_certificate_bounds_the_residual_of_the_singular_triples(rng):
    A, B = (centred(R @ R.T) / 80 for R in (rng.standard_normal((80, 80)) for _ in range(2)))
    shifts, tol = (0.5, 0.1), 1e-5
    operators = (Centred(Dense(K, positive=True)) for K in (A, B))
    found = Canonical(tol=tol).solve(*operators, 5, shifts, rng)
    assert found.converged
    (lam, Q), (mu, P) = np.linalg.eigh(A), np.linalg.eigh(B)
    lam, mu = np.maximum(lam, 0), np.maximum(mu, 0)
    T = Q * np.sqrt(lam / (lam + shifts[0])) @ Q.T @ (P * np.sqrt(mu / (mu + shifts[1])) @ P.T)
    assert_allclose(found.values, np.linalg.svd(T, compute_uv=False)[:5], atol=1e-9)
    U = Q * np.sqrt(lam * (lam + shifts[0])) @ Q.T @ found.x
    V = P * np.sqrt(mu * (mu + shifts[1])) @ P.T @ found.y
    true = np.maximum(*(np.linalg.norm(R, axis=0) for R in (T @ V - U * found.values, T.T @ U - V * found.values)))
    assert (true <= found.residuals * 1.001 + 1e-13).all()
    assert found.residuals.max() <= tol


@pytest.mark.parametrize("d", [3, 40, 150])
def test_products_with_singular_matrices(rng, d):
    """Linear kernels: what K does not see of a residual must neither stop the iteration nor stain its answer."""
    X = rng.standard_normal((400, d)) * 0.97 ** np.arange(d)
    Y = X @ rng.standard_normal((d, 30)) / np.sqrt(d) + rng.standard_normal((400, 30))
    for ridge in (1.0, 1e-2):
        linear = CCA(3, ridge=ridge).fit(X, Y)
        kernel = KernelCCA(3, ridge=ridge, kernel="linear", solver="krylov", folds=None).fit(X, Y)
        assert_allclose(kernel.correlations_, linear.correlations_, rtol=1e-9)
        same_up_to_sign(kernel.transform(X, Y), linear.transform(X, Y), atol=1e-5)


def test_more_pairs_than_the_rank(rng):
    X, Y = views(rng, 200)
    with pytest.warns(RankWarning, match="smaller rank is 4"):
        model = KernelCCA(9, ridge=0.1, kernel="linear", solver="krylov", folds=None).fit(X, Y)
    assert_allclose(model.correlations_, CCA(ridge=0.1).fit(X, Y).correlations_, rtol=1e-9)


@pytest.mark.slow
def test_a_rank_searches_the_leading_components_of_both_spaces(rng):
    X, Y = views(rng, 200)
    model = KernelCCA(3, ridge=0, rank=15, kernel="rbf(sigma=2)").fit(X, Y)
    U, V = (np.linalg.eigh(centred(model.kernel_(M)))[1][:, -15:] for M in (X, Y))
    assert_allclose(model.correlations_, np.linalg.svd(U.T @ V, compute_uv=False)[:3], rtol=1e-8)
    by_krylov = KernelCCA(3, ridge=0, rank=15, kernel="rbf(sigma=2)", solver="krylov").fit(X, Y)
    assert_allclose(by_krylov.correlations_, model.correlations_, rtol=1e-6)
    everything = KernelCCA(3, ridge=0.1, rank=199, kernel="rbf(sigma=2)").fit(X, Y)
    assert_allclose(everything.correlations_, KernelCCA(3, ridge=0.1, kernel="rbf(sigma=2)").fit(X, Y).correlations_)


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 520])
def test_precomputed_matrices_and_functions_are_kernels_too(rng, n):
    X, Y = views(rng, n + 20)
    kernel = RBF(sigma=2.0)
    plain = KernelCCA(2, kernel=kernel).fit(X[:n], Y[:n])
    Kx, Ky = kernel(X, X[:n]), kernel(Y, Y[:n])
    given = KernelCCA(2, kernel="precomputed", kernel_y="precomputed").fit(Kx[:n], Ky[:n])
    called = KernelCCA(2, kernel=lambda A, B: kernel.block(A, B), kernel_y="precomputed").fit(X[:n], Ky[:n])
    expected = plain.transform(X[n:], Y[n:])
    for model, rows in ((given, (Kx[n:], Ky[n:])), (called, (X[n:], Ky[n:]))):
        assert_allclose(model.correlations_, plain.correlations_, rtol=1e-9)
        assert_allclose(model.held_out_correlations_, plain.held_out_correlations_, rtol=1e-6)
        for ours, theirs in zip(model.transform(*rows), expected, strict=True):
            assert_allclose(ours, theirs, atol=1e-6)


def test_sparse_views_give_the_same(rng):
    X, Y = (np.where(np.abs(V) > 0.8, V, 0.0) for V in views(rng, 100))
    dense = KernelCCA(2, scale=True).fit(X, Y)
    sparse = KernelCCA(2, scale=True).fit(sp.csr_array(X), sp.csc_array(Y))
    assert_allclose(sparse.correlations_, dense.correlations_, rtol=1e-9)
    for ours, theirs in zip(sparse.transform(sp.csr_array(X), sp.csr_array(Y)), dense.transform(X, Y), strict=True):
        assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.slow
def test_small_memory_changes_nothing(rng):
    X, Y = views(rng, 2_000)
    plain = KernelCCA(2, ridge=0.1, folds=None).fit(X, Y)
    with gramian.config(memory="20MB"):
        tight = KernelCCA(2, ridge=0.1, folds=None).fit(X, Y)
    assert "matrix-free" in tight.summary_.facts["reason"]
    assert_allclose(tight.correlations_, plain.correlations_, rtol=1e-9)
    assert_allclose(tight.transform(X[:50]), plain.transform(X[:50]), atol=1e-6)


def test_the_thin_plate_spline_beside_its_polynomials(rng):
    X, Y = views(rng, 80, d=2, q=2)
    kernel = "thin_plate_spline(centring=proper)"
    dense, krylov = (KernelCCA(2, ridge=0.1, kernel=kernel, solver=solver).fit(X, Y) for solver in ("dense", "krylov"))
    assert_allclose(krylov.correlations_, dense.correlations_, rtol=1e-9)
    assert_allclose(krylov.transform(X), dense.transform(X), atol=1e-6)


def test_the_training_score_of_largest_size_is_positive_on_the_x_side(rng):
    X, Y = views(rng, 90)
    model = KernelCCA(5)
    T = model.fit_transform(X, Y)
    assert (T[np.abs(T).argmax(axis=0), range(5)] > 0).all()
    assert (np.sum(T * model.transform(X, Y)[1], axis=0) > 0).all()
    assert_allclose(model.transform(X), T, atol=1e-10)


def test_swapping_the_views_swaps_the_scores(rng):
    X, Y = views(rng, 90)
    one = KernelCCA(2, ridge=(0.1, 0.2), kernel="rbf", kernel_y="linear").fit(X, Y)
    other = KernelCCA(2, ridge=(0.2, 0.1), kernel="linear", kernel_y="rbf").fit(Y, X)
    assert_allclose(one.correlations_, other.correlations_, rtol=1e-10)
    same_up_to_sign(other.transform(Y, X)[::-1], one.transform(X, Y), atol=1e-9)


def test_held_out_correlations_are_those_of_fits_to_the_other_folds(rng):
    X, Y = views(rng, 61)
    model = KernelCCA(3, ridge=0.05, kernel="rbf(sigma=2)", folds=4, random_state=7).fit(X, Y)
    sums = np.zeros((3, 3))
    for part in np.array_split(np.random.default_rng(7).permutation(61), 4):
        rest = np.setdiff1d(np.arange(61), part)
        T, S = (
            KernelCCA(3, ridge=0.05, kernel="rbf(sigma=2)", folds=None)
            .fit(X[rest], Y[rest])
            .transform(X[part], Y[part])
        )
        T, S = T - T.mean(axis=0), S - S.mean(axis=0)
        sums += [(T * S).sum(axis=0), (T * T).sum(axis=0), (S * S).sum(axis=0)]
    assert_allclose(model.held_out_correlations_, sums[0] / np.sqrt(sums[1] * sums[2]), rtol=1e-9)


@pytest.mark.slow
def test_held_out_correlations_tell_noise_from_structure(rng):
    X, Y = views(rng, 300)
    related, shuffled = KernelCCA(1).fit(X, Y), KernelCCA(1).fit(X, Y[rng.permutation(300)])
    assert related.held_out_correlations_[0] > 0.8
    assert abs(shuffled.held_out_correlations_[0]) < 0.25 < shuffled.score_correlations_[0]
    assert "held out" in str(related.summary_)


def test_without_ridge_or_rank_correlations_are_one_by_construction(rng):
    X, Y = views(rng, 40)
    with pytest.warns(RankWarning, match="1 by construction"):
        model = KernelCCA(3, ridge=0, folds=None).fit(X, Y)
    assert_allclose(model.correlations_, 1, atol=1e-8)
    assert model.correlations_.max() <= 1


def test_identical_views_correlate_as_far_as_the_ridge_allows(rng):
    X, _ = views(rng, 80)
    model = KernelCCA(3, ridge=0.1, kernel="rbf(sigma=2)").fit(X, X)
    lam = np.linalg.eigvalsh(centred(model.kernel_(X)))[::-1][:3] / 79
    assert_allclose(model.correlations_, lam / (lam + 0.1), rtol=1e-9)


@pytest.mark.slow
def test_repeats_give_the_same_bits(rng):
    X, Y = views(rng, 600)
    first, second = (KernelCCA(2).fit(X, Y) for _ in range(2))
    assert first.transform(X).tobytes() == second.transform(X).tobytes()
    assert first.held_out_correlations_.tobytes() == second.held_out_correlations_.tobytes()


def test_the_route_can_be_asked_for_and_is_said(rng):
    X, Y = views(rng, 520)
    assert KernelCCA(2, folds=None).fit(X, Y).summary_.facts["solver"] == "krylov"
    assert KernelCCA(100, folds=None).fit(X, Y).summary_.facts["solver"] == "dense"
    space = KernelSpace(RBF(sigma=2.0), X[:30])
    pairs = find_pairs(space, space, None, Search((0.1, 0.1), None, "auto", rng))
    assert len(pairs.values) == 29
