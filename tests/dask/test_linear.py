"""The linear family on a cluster: the numbers of one machine, whatever the chunks."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from gramian import (
    CCA,
    ICA,
    PCA,
    PLSSVD,
    FactorAnalysis,
    PLSCanonical,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
    RandomProjection,
    Standardizer,
)
from gramian.operators.dask_rows import rows_of

CHUNKS = {
    "one": (600, 7),
    "rows": (100, 7),
    "uneven": ((1, 299, 0, 250, 50), (7,)),
    "columns": (170, (3, 4)),
    "grid": ((200, 400), (1, 5, 1)),
}
ONE_VIEW = [
    PCA(4),
    PCA(0.9, scale=True),
    PCA("auto"),
    PCA(3, whiten=True, center=False),
    PCA(7, solver="svd"),
    ProbabilisticPCA(2),
    FactorAnalysis(2),
    ICA(3),
    Standardizer(),
    RandomProjection(3, random_state=1),
]
WEIGHTED = [PCA(3), PCA(3, solver="svd"), ProbabilisticPCA(2), FactorAnalysis(2), Standardizer()]
TWO_VIEWS = [
    PrincipalComponentRegression(3),
    PLSRegression(2),
    CCA(2),
    PLSCanonical(2),
    PLSSVD(2),
]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.laplace(size=(600, 3)) @ rng.standard_normal((3, 7)) + rng.laplace(size=(600, 7)) + 10 * np.arange(7)


@pytest.fixture(scope="module")
def Y(X):
    rng = np.random.default_rng(1)
    return X @ rng.standard_normal((7, 3)) + rng.standard_normal((600, 3))


@pytest.mark.slow
@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_pca_does_not_depend_on_the_chunks(client, same, X, chunks):
    far = da.from_array(X, chunks=chunks)
    here, there = PCA(4).fit(X), PCA(4).fit(far)
    same(there, here)
    scores = there.transform(far)
    assert isinstance(scores, da.Array)
    assert scores.chunks == (far.chunks[0], (4,))
    np.testing.assert_allclose(scores.compute(), here.transform(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", ONE_VIEW, ids=repr)
def test_one_view(client, same, X, model):
    far = da.from_array(X, chunks=((250, 0, 349, 1), (3, 4)))
    here, there = clone(model).fit(X), clone(model).fit(far)
    same(there, here)
    np.testing.assert_allclose(there.transform(far).compute(), here.transform(X), rtol=1e-9, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("other", [(200, 3), ((1, 599), (1, 2)), "same"], ids=str)
@pytest.mark.parametrize("model", TWO_VIEWS, ids=repr)
def test_two_views(client, same, X, Y, model, other):
    far_X = da.from_array(X, chunks=((250, 0, 350), (3, 4)))
    far_Y = da.from_array(Y, chunks=(far_X.chunks[0], 3) if other == "same" else other)
    here, there = clone(model).fit(X, Y), clone(model).fit(far_X, far_Y)
    same(there, here)
    np.testing.assert_allclose(there.predict(far_X).compute(), here.predict(X), rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(there.transform(far_X).compute(), here.transform(X), rtol=1e-9, atol=1e-8)


def test_both_views_are_transformed(client, X, Y):
    far_X, far_Y = da.from_array(X, chunks=(200, 7)), da.from_array(Y, chunks=(600, 2))
    here, there = CCA(2).fit(X, Y), CCA(2).fit(far_X, far_Y)
    for found, expected in zip(there.transform(far_X, far_Y), here.transform(X, Y), strict=True):
        np.testing.assert_allclose(found.compute(), expected, rtol=1e-9, atol=1e-9)


def test_one_target_is_one_dimension(client, same, X, Y):
    far = da.from_array(X, chunks=(250, 7))
    here = PLSRegression(2).fit(X, Y[:, 0])
    for y in (da.from_array(Y[:, 0], chunks=100), Y[:, 0]):
        there = PLSRegression(2).fit(far, y)
        same(there, here)
        assert there.predict(far).shape == (600,)
        np.testing.assert_allclose(there.predict(far).compute(), here.predict(X), rtol=1e-9)


@pytest.mark.parametrize("model", WEIGHTED, ids=repr)
def test_weights(client, same, X, model):
    w = np.random.default_rng(2).integers(0, 4, 600).astype(float)
    here = clone(model).fit(X, sample_weight=w)
    far = da.from_array(X, chunks=(250, 7))
    same(clone(model).fit(far, sample_weight=da.from_array(w, chunks=70)), here)
    same(clone(model).fit(far, sample_weight=w), here)


def test_weights_of_two_views(client, same, X, Y):
    w = np.random.default_rng(2).integers(0, 4, 600).astype(float)
    here = PLSRegression(2).fit(X, Y, sample_weight=w)
    far = da.from_array(X, chunks=(250, 7)), da.from_array(Y, chunks=(100, 3))
    same(PLSRegression(2).fit(*far, sample_weight=da.from_array(w, chunks=70)), here)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool])
def test_dtypes(client, same, X, dtype):
    values = (X.mean(axis=0) < X) if dtype is bool else np.abs(X).astype(dtype)
    far = da.from_array(values, chunks=(250, (3, 4)))
    here, there = PCA(3).fit(values), PCA(3).fit(far)
    same(there, here, 1e-5 if dtype is np.float32 else 1e-9)
    assert there.transform(far).dtype == here.transform(values).dtype
    assert there.transform(far).compute().dtype == here.transform(values).dtype


@pytest.mark.slow
def test_data_frames(client, same, X, Y):
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    far = dd.from_pandas(frame, npartitions=3)
    here, there = PCA(3).fit(frame), PCA(3).fit(far)
    same(there, here)
    assert list(there.feature_names_in_) == list("abcdefg")
    np.testing.assert_allclose(there.transform(far).compute(), here.transform(frame), rtol=1e-9, atol=1e-9)
    target = dd.from_pandas(pd.Series(Y[:, 0]), npartitions=3)
    same(PLSRegression(2).fit(far, target), PLSRegression(2).fit(frame, Y[:, 0]))
    uneven = dd.from_pandas(pd.Series(Y[:, 0]), npartitions=2)
    same(PLSRegression(2).fit(far, uneven), PLSRegression(2).fit(frame, Y[:, 0]))
    with pytest.raises(ValueError, match="feature names"):
        there.transform(far[list("bacdefg")])


def test_unknown_chunks(client, same, X):
    far = da.from_array(X, chunks=(250, 7))
    far = far[far[:, 0] > -1e9]
    there = PCA(3).fit(far)
    same(there, PCA(3).fit(X))
    np.testing.assert_allclose(there.transform(far).compute(), there.transform(X), rtol=1e-9, atol=1e-9)


def test_the_same_input_gives_the_same_bits(client, X):
    far = da.from_array(X, chunks=(37, 7))
    first, second = PCA(3).fit(far), PCA(3).fit(far)
    assert np.array_equal(first.components_, second.components_)
    assert np.array_equal(first.moments_.scatter, second.moments_.scatter)


def test_digits_that_squares_would_lose_come_back(client, same):
    X = np.random.default_rng(3).standard_normal((500, 5)) * 10.0 ** -np.arange(0, 15, 3)
    there = PCA().fit(da.from_array(X, chunks=(90, 2)))
    assert there.summary_.facts["solver"] == "svd"
    np.testing.assert_allclose(there.explained_variance_, PCA(solver="svd").fit(X).explained_variance_, rtol=1e-9)


def test_a_pipeline_stays_lazy(client, X):
    model = make_pipeline(Standardizer(), PCA(2))
    far = da.from_array(X, chunks=(100, 7))
    found = clone(model).fit(far).transform(far)
    np.testing.assert_allclose(found.compute(), clone(model).fit(X).transform(X), rtol=1e-9, atol=1e-9)


def test_without_a_cluster_threads_do_the_work(same, X):
    same(PCA(3).fit(da.from_array(X, chunks=(100, 7))), PCA(3).fit(X))


def test_what_a_cluster_holds_is_used_as_it_is(client, same, X, Y):
    far, beside = da.from_array(X, chunks=(100, (3, 4))).persist(), da.from_array(Y, chunks=(200, 3)).persist()
    same(PLSRegression(2).fit(far, beside), PLSRegression(2).fit(X, Y))
    np.testing.assert_allclose(PCA(2).fit(X).transform(far).compute(), PCA(2).fit(X).transform(X), atol=1e-9)


def test_what_chunks_share_is_made_once_and_goes_along(client, same, X):
    far = da.from_array(X, chunks=(100, 7))
    same(PCA(3).fit(far - far.mean(axis=0)), PCA(3).fit(X - X.mean(axis=0)))
    assert [chunk[1] for row in rows_of(far).parts for chunk in row] == [[]] * 6


@pytest.mark.slow
def test_rows_do_not_travel_between_workers(client):
    def sent(dask_worker):
        return dask_worker.transfer_outgoing_bytes_total

    far = da.random.default_rng(0).standard_normal((200_000, 20), chunks=(10_000, 20))  # 1.6 MB each
    PCA(2).fit(far)
    before = sum(client.run(sent).values())
    PCA(2).fit(far)
    blocks, size = 20, 8 * (20**2 + 2 * 20)
    assert 0 < sum(client.run(sent).values()) - before <= size * (blocks * 4 / 3 + 1)
