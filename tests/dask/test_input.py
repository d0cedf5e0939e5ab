"""Input that is odd or wrong, as a dask collection: one line that names what and where. No cluster is needed."""

import subprocess
import sys

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from gramian import PCA, KernelCCA, KernelKMeans, KernelPCA, KernelRidge, Landmarks, PLSRegression, Standardizer

LOW = {"landmarks": Landmarks(5), "kernel": "rbf(sigma=2)"}


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((60, 4)) * [4, 3, 2, 1]


def far(X, chunks=(20, 2)):
    return da.from_array(X, chunks=chunks)


def frame(**columns):
    return dd.from_pandas(pd.DataFrame(columns), npartitions=2)


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (PCA(2), "block 2, row 45 (counted from 0), column 1"),
        (Standardizer(), "block 2, row 45 (counted from 0), column 1"),
        (KernelPCA(2, **LOW), "block 2, row 45 (counted from 0), column 1"),
        (KernelPCA(2), "row 45 (counted from 0), column 1"),
    ],
    ids=["moments", "columns", "landmarks", "exact"],
)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_gaps_are_named(X, model, place, bad):
    X[45, 1] = bad
    what = "NaN" if np.isnan(bad) else "infinity"
    with pytest.raises(ValueError, match=f"X contains {what}") as caught:
        model.fit(far(X))
    assert place in str(caught.value)
    assert "\n" not in str(caught.value)


def test_gaps_of_new_rows_come_when_they_are_asked_for(X):
    model, Z = PCA(2).fit(X), X.copy()
    Z[45, 1] = np.nan
    scores = model.transform(far(Z))
    with pytest.raises(ValueError, match="X contains NaN: row 5 of a block"):
        scores.compute()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda X: far(X.astype(complex)), "dtype complex128; real numbers"),
        (lambda X: da.zeros((3, 3, 3)), r"shape \(3, 3, 3\)"),
        (lambda X: da.from_array(np.array([["a", "b"]] * 3), chunks=2), "real numbers are expected"),
        (lambda X: far(X[:1], (1, 4)), "1 sample"),
        (lambda X: far(X[:0], (1, 4)), "no rows|0 sample"),
        (lambda X: frame(a=[1.0, 2, 3], kind=["u", "v", "w"]), "column 'kind' .* no numbers"),
    ],
)
@pytest.mark.parametrize("model", [PCA(1), KernelPCA(1, **LOW)], ids=["moments", "landmarks"])
def test_refusals(X, model, given, message):
    with pytest.raises(ValueError, match=message):
        model.fit(given(X))


def test_rows_that_do_not_match(X):
    with pytest.raises(ValueError, match="X has 60 rows and what goes with it 50"):
        PLSRegression(1).fit(far(X), far(X[:50, 0], 20))
    with pytest.raises(ValueError, match="60 rows and y has 50"):
        KernelRidge(**LOW).fit(far(X), far(X[:50, 0], 20))
    with pytest.raises(ValueError, match="X has 60 rows and Y has 50"):
        KernelCCA(1, **LOW).fit(far(X), far(X[:50, :2], 20))
    with pytest.raises(TypeError, match="Give both of one kind"):
        KernelCCA(1, **LOW).fit(far(X), X[:, :2])


@pytest.mark.parametrize(
    "weights", [np.full(60, -1.0), np.full(60, np.nan), np.zeros(60)], ids=["below", "nan", "zero"]
)
def test_weights_are_frequencies(X, weights):
    with pytest.raises(ValueError, match="sample_weight"):
        PCA(2).fit(far(X), sample_weight=far(weights, 20))


def test_other_columns_than_at_fit(X):
    model = PCA(2).fit(far(X))
    with pytest.raises(ValueError, match="3 features, but PCA is expecting 4"):
        model.transform(far(X[:, :3]))


def test_what_needs_rows_here_says_so(X):
    with pytest.raises(ValueError, match="cross-validation needs the rows in memory"):
        PLSRegression("auto").fit(far(X), far(X[:, 0], 20))


@pytest.mark.slow
def test_chunks_of_one_row_and_without_rows(X):
    for chunks in ((1, 4), ((0, 60, 0), (4,)), ((30, 0, 0, 30), (1, 3))):
        np.testing.assert_allclose(PCA(2).fit(far(X, chunks)).explained_variance_, PCA(2).fit(X).explained_variance_)
        labels = KernelKMeans(2, n_init=1, **LOW).fit(far(X, chunks)).labels_
        assert np.array_equal(labels, KernelKMeans(2, n_init=1, **LOW).fit(X).labels_)
        assert PCA(2).fit(X).transform(far(X, chunks)).compute().shape == (60, 2)


def test_nullable_columns(X):
    table = frame(a=pd.array([1, 2, 3, 5], dtype="Int64"), b=pd.array([1.5, 2, 4, 4], dtype="Float64"))
    np.testing.assert_allclose(PCA(1).fit(table).mean_, [2.75, 2.875])
    gap = frame(a=pd.array([1, None, 3, 5], dtype="Int64"), b=[1.0, 2, 3, 4])
    with pytest.raises(ValueError, match=r"NaN: the dask data frame: block 0, row 1 .* column 'a'"):
        PCA(1).fit(gap)


def test_the_input_is_not_changed(X):
    before = X.copy()
    PCA(2).fit(far(X)).transform(far(X)).compute()
    KernelPCA(2, **LOW).fit(far(X))
    assert np.array_equal(X, before)


@pytest.mark.slow
def test_dask_is_not_loaded_until_it_is_needed():
    code = "import sys, gramian, numpy; gramian.PCA(1).fit(numpy.eye(3)); print('dask' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("model", [PCA(2), Standardizer()], ids=["moments", "columns"])
@pytest.mark.parametrize("total", [0.5, 1.0, 1 + 1e-12, 1.5])
def test_weights_that_are_shares(X, model, total):
    with pytest.raises(ValueError, match=r"a variance needs at least 2\. If these are shares, multiply them"):
        model.fit(far(X), sample_weight=far(np.full(60, total / 60), 20))
    model.fit(far(X), sample_weight=far(np.full(60, 2 / 60), 20))
