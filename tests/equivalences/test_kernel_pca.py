import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.decomposition import KernelPCA as SklearnKernelPCA

import gramian
from gramian import KernelPCA
from gramian.kernels import RBF, parse
from gramian.operators import Centred, CrossGram, Gram
from gramian.solvers import Krylov

KERNELS = [
    "rbf",
    "laplacian",
    "laplacian(norm=l2)",
    "matern",
    "rational_quadratic",
    "linear",
    "polynomial(scale=0.1)",
    "cosine",
    "2*rbf + linear[0:3]",
    "rbf*polynomial(degree=2, scale=0.1)",
]


def aligned(A, B):
    return A * np.sign(np.sum(A * B, axis=0))


@pytest.mark.parametrize("kernel", KERNELS)
def test_matrix_free_equals_dense(table, kernel):
    dense = KernelPCA(4, kernel=kernel, solver="dense").fit(table)
    free = KernelPCA(4, kernel=kernel, solver=Krylov(tol=1e-11)).fit(table)
    assert_allclose(free.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
    size = np.abs(dense.transform(table)).max()
    assert_allclose(free.transform(table), dense.transform(table), atol=1e-8 * size)


@pytest.mark.parametrize("kernel", [*KERNELS, "sigmoid(scale=0.01)", "thin_plate_spline"])
def test_products_do_not_depend_on_tiles_threads_or_storage(rng, monkeypatch, kernel):
    X, V = rng.standard_normal((101, 5)), rng.standard_normal((101, 3))
    resolved = parse(kernel).resolve(X)
    whole = resolved.block(X, X) @ V
    atol = 1e-11 * np.abs(resolved.block(X, X)).sum(axis=1).max()
    for side in (7, 64, 100, 1000):
        monkeypatch.setattr("gramian.engine.tiles.SIDE", side)
        for threads in (1, 2, 3):
            with gramian.config(threads=threads):
                assert_allclose(Gram(resolved, X) @ V, whole, rtol=0, atol=atol)
                assert_allclose(CrossGram(resolved, X, X) @ V, whole, rtol=0, atol=atol)
                assert_allclose(Gram(resolved, sp.csr_array(X)) @ V, whole, rtol=0, atol=100 * atol)
                assert_allclose(Gram(resolved, X).toarray() @ V, whole, rtol=0, atol=atol)


def test_the_same_threads_give_the_same_bits(digits):
    first, second = (KernelPCA(5, kernel="rbf(sigma=25)", solver=Krylov(tol=1e-6)).fit(digits) for _ in range(2))
    assert np.array_equal(first.eigenvalues_, second.eigenvalues_)
    assert np.array_equal(first.transform(digits), second.transform(digits))


@pytest.mark.parametrize("solver", ["auto", "dense", "krylov", "randomized"])
def test_agrees_with_scikit_learn(digits, solver):
    # Up to 584 rows are factored on one thread; more would wait for the threads of other tests.
    ours = KernelPCA(6, kernel=RBF(gamma=1e-3), solver=solver).fit(digits[:550])
    theirs = SklearnKernelPCA(6, kernel="rbf", gamma=1e-3, eigen_solver="arpack", tol=1e-14).fit(digits[:550])
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    expected = theirs.transform(digits[900:])
    assert_allclose(aligned(ours.transform(digits[900:]), expected), expected, atol=1e-6)


def test_power_iteration_agrees_too(table):
    power, dense = (KernelPCA(2, kernel="rbf(sigma=4)", solver=s).fit(table) for s in ("power", "dense"))
    assert_allclose(power.transform(table), dense.transform(table), atol=1e-6)


def test_training_scores_are_the_projection_of_the_training_rows(table):
    for kernel in ("rbf", "polynomial(scale=0.1)", "sigmoid(scale=0.001)"):
        model = KernelPCA(3, kernel=kernel)
        if kernel.startswith("sigmoid"):
            with pytest.warns(gramian.IndefiniteKernelWarning):
                scores = model.fit_transform(table)
        else:
            scores = model.fit_transform(table)
        assert_allclose(model.transform(table), scores, atol=1e-8 * np.abs(scores).max())


def test_precomputed_and_callable_equal_the_kernel_itself(table):
    X, new = table[:150], table[150:]
    kernel = RBF(sigma=2.0)
    direct = KernelPCA(3, kernel=kernel).fit(X)
    given = KernelPCA(3, kernel="precomputed").fit(kernel(X))
    called = KernelPCA(3, kernel=lambda A, B: kernel.block(A, B)).fit(X)
    assert_allclose(given.transform(kernel(new, X)), direct.transform(new), atol=1e-8)
    assert_allclose(called.transform(new), direct.transform(new), atol=1e-8)
    assert_allclose(given.explained_variance_ratio_, direct.explained_variance_ratio_, rtol=1e-9)


def test_shares_are_parts_of_the_trace(table):
    model = KernelPCA(kernel="rbf(sigma=3)").fit(table)
    assert_allclose(model.explained_variance_ratio_.sum(), 1, rtol=1e-10)
    K = RBF(sigma=3.0)(table)
    H = np.eye(200) - 1 / 200
    assert_allclose(model.eigenvalues_[0] / np.trace(H @ K @ H), model.explained_variance_ratio_[0], rtol=1e-10)


def test_a_fraction_takes_the_fewest_components_that_reach_it(table):
    whole = np.cumsum(KernelPCA(kernel="rbf(sigma=3)").fit(table).explained_variance_ratio_)
    kept = len(KernelPCA(0.8, kernel="rbf(sigma=3)").fit(table).eigenvalues_)
    assert whole[kept - 1] >= 0.8 > whole[kept - 2]


@pytest.mark.parametrize("kernel", ["sigmoid(scale=0.01, constant=-1)", "thin_plate_spline"])
def test_an_indefinite_kernel_keeps_the_positive_part_and_says_so(table, kernel):
    """A40."""
    with pytest.warns(gramian.IndefiniteKernelWarning, match="negative eigenvalue"):
        model = KernelPCA(kernel=kernel).fit(table)
    K = parse(kernel)(table)
    H = np.eye(200) - 1 / 200
    values = np.linalg.eigvalsh(H @ K @ H)
    cut = 200 * np.finfo(float).eps * np.abs(values).max()
    assert model.summary_.facts["n_negative"] == pytest.approx((values < -cut).sum(), abs=3)
    assert model.summary_.facts["most_negative"] == pytest.approx(-values.min(), rel=1e-8)
    assert_allclose(model.explained_variance_ratio_[:3], values[::-1][:3] / np.abs(values).sum(), rtol=1e-6)
    assert np.isfinite(model.transform(table * 10)).all()
    with pytest.warns(gramian.IndefiniteKernelWarning):
        free = KernelPCA(2, kernel=kernel, solver=Krylov(tol=1e-10)).fit(table)
    assert_allclose(free.eigenvalues_, values[::-1][:2], rtol=1e-8)
    assert not hasattr(free, "explained_variance_ratio_")


def test_the_centred_operator_needs_one_product_for_its_means(table, monkeypatch):
    calls = []
    product = Gram.__matmul__
    monkeypatch.setattr(Gram, "__matmul__", lambda self, V: calls.append(V.shape) or product(self, V))
    operator = Centred(Gram(RBF(sigma=2.0), table))
    operator @ np.ones((200, 2))
    operator.centring, operator.trace()
    assert calls == [(200, 3)]


def test_slow_spectra_converge_or_say_that_they_did_not(rng):
    X = rng.standard_normal((600, 30))
    with pytest.warns(gramian.ConvergenceWarning, match="residuals up to"):
        model = KernelPCA(5, kernel="rbf(gamma=0.2)", solver=Krylov(tol=1e-9, max_products=3)).fit(X)
    assert not model.summary_.facts["converged"]
    assert model.summary_.facts["residuals"].max() > 1e-9
    assert "stopped" in str(model.summary_)
