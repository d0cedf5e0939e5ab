"""Kernel methods on a cluster: the numbers of one machine, whatever the chunks."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import gramian
from gramian import (
    KernelCCA,
    KernelKMeans,
    KernelKNNClassifier,
    KernelKNNRegressor,
    KernelPCA,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelSVC,
    Landmarks,
    RandomFeatures,
)
from gramian.kernels import RBF, Linear, Polynomial
from gramian.operators import Gram
from gramian.operators.dask_rows import DaskRows, rows_of
from gramian.solvers import Krylov
from gramian.solvers.conjugate import ConjugateGradients

CHUNKS = {"one": (500, 4), "uneven": ((1, 299, 0, 150, 50), (4,)), "grid": ((200, 300), (1, 3))}
LOW = {"landmarks": Landmarks(40, random_state=3)}
ANY = [LOW, {"landmarks": Landmarks(tol=0.01)}, {"landmarks": RandomFeatures(60)}, {}]
ids = ["landmarks", "tol", "waves", "exact"]


def rarely(values):
    """The first of them always, the others among the slow tests."""
    first, *others = values
    return [first, *(pytest.param(value, marks=pytest.mark.slow) for value in others)]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.standard_normal((100, 4)) + 3 * rng.standard_normal(4) for _ in range(5)])


@pytest.fixture(scope="module")
def y(X):
    return np.sin(X[:, 0]) + X[:, 1]


@pytest.fixture(params=rarely(CHUNKS.values()), ids=CHUNKS)
def far(request, X):
    return da.from_array(X, chunks=request.param)


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


@pytest.mark.slow
@pytest.mark.parametrize("how", ANY, ids=ids)
def test_kernel_pca(client, same, X, far, how):
    model = KernelPCA(3, **how)
    here, there = clone(model).fit(X), clone(model).fit(far)
    same(there, here, 1e-8)
    close(there.transform(far).compute(), here.transform(X))
    if here.trace_error_ is not None:
        assert there.trace_error_ == pytest.approx(here.trace_error_, rel=1e-6)
    assert isinstance(clone(model).fit_transform(far), da.Array)


@pytest.mark.parametrize("how", ANY, ids=ids)
def test_kernel_ridge(client, same, X, y, far, how):
    # A width given as a number: one that is found on the rows differs by rounding, which may reorder the landmarks.
    model = KernelRidge(0.1, kernel="rbf(sigma=3)", fit_intercept=True, **how)
    w = np.random.default_rng(1).integers(0, 3, 500).astype(float)
    here = clone(model).fit(X, y, sample_weight=w)
    there = clone(model).fit(far, da.from_array(y, chunks=170), sample_weight=da.from_array(w, chunks=90))
    same(there, here, 1e-7 if how else 1e-8)
    assert there.predict(far).shape == (500,)
    close(there.predict(far).compute(), here.predict(X))


@pytest.mark.parametrize("how", ANY, ids=ids)
def test_kernel_kmeans(client, same, X, far, how):
    model = KernelKMeans(4, n_init=3, **how)
    here, there = clone(model).fit(X), clone(model).fit(far)
    assert np.array_equal(there.labels_, here.labels_)
    close(there.inertia_, here.inertia_)
    assert np.array_equal(there.predict(far).compute(), here.predict(X))
    close(there.transform(far).compute(), here.transform(X))


@pytest.mark.slow
@pytest.mark.parametrize("model", [KernelSVC, KernelPrototypeClassifier, KernelKNNClassifier])
@pytest.mark.parametrize("how", ANY, ids=ids)
def test_classifiers(client, X, y, how, model):
    far = da.from_array(X, chunks=((1, 299, 0, 200), (1, 3)))
    labels = np.array(["low", "high"])[(y > y.mean()).astype(int)]
    here = model(**how).fit(X, labels)
    there = model(**how).fit(far, da.from_array(labels, chunks=170))
    assert np.array_equal(there.classes_, here.classes_)
    assert np.array_equal(there.predict(far).compute(), here.predict(X))
    codes = (y > y.mean()).astype(int)
    assert model(**how).fit(far, da.from_array(codes, chunks=90)).classes_.dtype == codes.dtype


def test_neighbours_of_targets(client, X, y, far):
    here, there = KernelKNNRegressor(3).fit(X, y), KernelKNNRegressor(3).fit(far, da.from_array(y, chunks=100))
    close(there.predict(far).compute(), here.predict(X))


@pytest.mark.slow
@pytest.mark.parametrize("how", rarely([LOW, {**LOW, "scale": True}, {**LOW, "folds": None}, {}]), ids=str)
def test_kernel_cca(client, same, X, y, far, how):
    Y = np.column_stack([y, y**2])
    model = KernelCCA(2, **how)
    far_Y = da.from_array(Y, chunks=(130, 1))
    here, there = clone(model).fit(X, Y), clone(model).fit(far, far_Y)
    same(there, here, 1e-8)
    for found, expected in zip(there.transform(far, far_Y), here.transform(X, Y), strict=True):
        close(found.compute(), expected)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", rarely(["linear", "rbf(sigma=median)", "2*rbf[0:2] + polynomial(degree=2)"]))
@pytest.mark.parametrize("model", [KernelPCA(2), KernelKMeans(3, n_init=1)], ids=repr)
def test_kernels(client, X, model, kernel):
    far = da.from_array(X, chunks=(130, 2))
    model = clone(model).set_params(kernel=kernel, landmarks=Landmarks(30))
    here, there = clone(model).fit(X), clone(model).fit(far)
    assert str(there.kernel_).partition("(")[0] == str(here.kernel_).partition("(")[0]
    close(there.transform(far).compute(), here.transform(X))


@pytest.mark.slow
def test_data_frames_with_landmarks(client, same, X, y):
    frame = pd.DataFrame(X, columns=list("abcd"))
    far = dd.from_pandas(frame, npartitions=3)
    model = KernelRidge(0.1, kernel="rbf(sigma=3)", **LOW)
    here = clone(model).fit(frame, y)
    there = clone(model).fit(far, dd.from_pandas(pd.Series(y), npartitions=3))
    same(there, here, 1e-7)
    assert list(there.feature_names_in_) == list("abcd")
    close(there.predict(far).compute(), here.predict(frame))


@pytest.fixture
def products(monkeypatch):
    """No matrix is kept, blocks are small, and the products that went to the cluster are counted."""
    counted = []
    monkeypatch.setattr("gramian.operators.gram.KEPT_GRAM_MAX_BYTES", 0)
    monkeypatch.setattr("gramian.operators.dask_rows.GRAM_BLOCK_MIN_ROWS", 110)
    monkeypatch.setattr("gramian.operators.dask_rows.GRAM_BLOCKS_PER_SQUARE", 3)
    made = DaskRows.gram_product
    monkeypatch.setattr(DaskRows, "gram_product", lambda *args: counted.append(1) or made(*args))
    return counted


@pytest.mark.slow
@pytest.mark.parametrize("kernel", rarely([RBF(sigma=2.0), Polynomial(degree=2), Linear()]), ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gram_products_over_pairs_of_blocks(client, products, X, far, kernel, dtype):
    V = np.random.default_rng(0).standard_normal((500, 3)).astype(dtype)
    found = rows_of(far).gram_product(kernel, V)
    expected = Gram(kernel, X, dtype) @ V
    assert found.dtype == dtype
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, atol=(1e-12 if dtype == np.float64 else 1e-5) * scale)
    assert np.array_equal(rows_of(far).gram_product(kernel, V), found)


@pytest.mark.slow
def test_exact_kernel_pca_by_products(client, same, products, X):
    far = da.from_array(X, chunks=((1, 299, 0, 200), (1, 3)))
    model = KernelPCA(3, kernel="rbf(sigma=3)", solver=Krylov(tol=1e-10, mixed=False))
    here = clone(model).fit(X)
    assert not products
    there = clone(model).fit(far)
    assert products
    same(there, here, 1e-8)
    close(there.transform(far).compute(), here.transform(X))
    assert type(there.projection_.anchors) is np.ndarray


@pytest.mark.slow
def test_exact_kernel_ridge_by_products(client, same, products, X, y):
    far = da.from_array(X, chunks=((1, 299, 0, 200), (1, 3)))
    solver = ConjugateGradients(tol=1e-11, mixed=False, factor=False)
    model = KernelRidge(20.0, kernel="rbf(sigma=3)", solver=solver)
    here, there = clone(model).fit(X, y), clone(model).fit(far, da.from_array(y, chunks=170))
    assert products
    same(there, here, 1e-8)


@pytest.mark.slow
def test_exact_clusters_and_pairs_by_products(client, same, products, X, y):
    far = da.from_array(X, chunks=(170, 2))
    here, there = KernelKMeans(3, n_init=2).fit(X), KernelKMeans(3, n_init=2).fit(far)
    assert np.array_equal(there.labels_, here.labels_)
    first = len(products)
    model = KernelCCA(1, solver="krylov", folds=None)
    Y = np.column_stack([y, y**2])
    here, there = clone(model).fit(X, Y), clone(model).fit(far, da.from_array(Y, chunks=(99, 2)))
    np.testing.assert_allclose(there.correlations_, here.correlations_, rtol=1e-8)
    assert len(products) > first > 0


@pytest.mark.slow
def test_rows_that_do_not_fit_are_not_gathered(client, X):
    far = da.from_array(X, chunks=(100, 4))
    match = r"KernelSVC needs X in this process, 16 kB.*landmarks="
    with gramian.config(memory="10kB"), pytest.raises(ValueError, match=match):
        KernelSVC().fit(far, X[:, 0] > 0)
