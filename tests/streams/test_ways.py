"""A stream is its stack whichever way rows are given: frames in any order of columns, buffers that are filled again."""

import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from gramian import (
    CCA,
    PCA,
    FactorAnalysis,
    KernelKMeans,
    KernelPCA,
    KernelRidge,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
    RandomProjection,
    Standardizer,
    rows,
)
from gramian.tables import TableError

NAMES = list("abcd")
#: Each family: moments, a triangular factor, sums of columns, no data at all, landmarks, passes of k-means; two views.
ONE = [
    PCA(2),
    PCA(4, solver="svd"),
    ProbabilisticPCA(2),
    FactorAnalysis(1),
    Standardizer(),
    RandomProjection(2, random_state=0),
    KernelPCA(2, kernel="rbf(sigma=3)", landmarks=10),
    KernelKMeans(2, kernel="rbf(sigma=3)", landmarks=10, n_init=1),
    KernelKMeans(2, kernel="rbf(sigma=3)", landmarks=10, n_init=1, batch_size=60),
]
TWO = [PLSRegression(2), PrincipalComponentRegression(2), CCA(1), KernelRidge(kernel="rbf(sigma=3)", landmarks=10)]
FRAMES = {
    "pandas": lambda X, names: pd.DataFrame(X, columns=names),
    "polars": lambda X, names: pl.DataFrame(X, schema=names),
    "pyarrow table": lambda X, names: pa.table(dict(zip(names, X.T, strict=True))),
    "pyarrow batch": lambda X, names: pa.record_batch(dict(zip(names, X.T, strict=True))),
    "dask": lambda X, names: dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=2),
}


@pytest.fixture
def X(rng):
    return rng.standard_normal((180, 4)) * [4, 3, 2, 1] + [0, 5, 0, 1]


@pytest.fixture
def Y(X, rng):
    return X[:, :2] @ rng.standard_normal((2, 2)) + 0.1 * rng.standard_normal((180, 2))


def _same(found, expected):
    for name, value in vars(expected).items():
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind in "fi":
            # landmarks that fell on other rows would differ by far more than rounding does
            assert_allclose(getattr(found, name), value, rtol=1e-7, atol=1e-7, err_msg=name)


def _plain(buffer):
    return buffer


BUFFERS = {
    "rows": (lambda d: np.empty((60, d)), _plain),
    "columns first": (lambda d: np.empty((60, d), order="F"), _plain),
    "strided": (lambda d: np.empty((120, 2 * d))[::2, ::2], _plain),
    "turned": (lambda d: np.empty((60, d))[::-1], _plain),
    "single": (lambda d: np.empty((60, d), np.float32), _plain),
    "whole numbers": (lambda d: np.empty((60, d), np.int64), _plain),
    "read only view": (lambda d: np.empty((60, d)), lambda buffer: np.broadcast_to(buffer, buffer.shape)),
    "frame on a buffer": (lambda d: np.empty((60, d)), lambda buffer: pd.DataFrame(buffer, copy=False)),
    "memory view": (lambda d: np.empty((60, d)), memoryview),
}


def refilled(X, make, wrap, size=60):
    """A function whose iterators give one buffer again and again."""

    def blocks():
        buffer = make(X.shape[1])
        for start in range(0, len(X), size):
            buffer[:] = X[start : start + size]
            yield wrap(buffer)
        buffer[:] = 77

    return blocks


@pytest.mark.parametrize("kind", BUFFERS)
def test_a_buffer_that_is_filled_again_gives_the_rows_that_were_in_it(X, kind):
    make, wrap = BUFFERS[kind]
    expected = X.astype(make(1).dtype).astype(float)
    blocks = refilled(X, make, wrap)
    for block in (None, 1, 60, 100):
        assert_array_equal(rows(blocks, block=block).toarray(), expected)
        assert_array_equal(rows(blocks(), block=block).toarray(), expected)


@pytest.mark.parametrize("estimator", ONE, ids=str)
def test_every_family_sees_the_rows_of_a_refilled_buffer(X, estimator):
    blocks = refilled(X, *BUFFERS["rows"])
    apart = lambda: (X[at : at + 60] for at in range(0, 180, 60))  # noqa: E731
    for block in (None, 60):
        expected = clone(estimator).fit(rows(apart, block=block))
        found = clone(estimator).fit(rows(blocks, block=block))
        _same(found, expected)
        if hasattr(estimator, "transform"):
            scores = found.transform(rows(blocks, block=block)).toarray()
            assert_allclose(scores, expected.transform(X), atol=1e-7)


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("estimator", TWO, ids=str)
def test_both_views_may_be_refilled_buffers(X, Y, estimator, once):
    x, y = refilled(X, *BUFFERS["rows"]), refilled(Y, lambda d: np.empty((45, d)), _plain, 45)
    expected = clone(estimator).fit(rows(X, block=60), rows(Y, block=45))
    _same(clone(estimator).fit(rows(x() if once else x, block=60), rows(y() if once else y, block=45)), expected)


@pytest.mark.parametrize("estimator", [e for e in (*ONE, *TWO) if hasattr(e, "partial_fit")], ids=str)
def test_partial_fit_of_a_refilled_buffer(X, Y, estimator):
    found, expected = clone(estimator), clone(estimator)
    two = any(estimator is other for other in TWO)
    x, y = np.empty((60, 4)), np.empty((60, 2))
    for start in range(0, 180, 60):
        part = slice(start, start + 60)
        x[:], y[:] = X[part], Y[part]
        found.partial_fit(x, *[y] * two)
        expected.partial_fit(X[part].copy(), *[Y[part].copy()] * two)
    x[:], y[:] = 77, 77
    _same(found, expected)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_are_stacked_by_the_names_of_their_columns(X, kind):
    make = FRAMES[kind]
    orders = [[0, 1, 2, 3], [3, 1, 0, 2], [1, 0, 2, 3]]

    def blocks():
        return (make(X[60 * at : 60 * at + 60, o], [NAMES[j] for j in o]) for at, o in enumerate(orders))

    for stream in (rows(blocks), rows(blocks()), rows(blocks, block=50)):
        assert stream.columns == tuple(NAMES)
        assert_array_equal(stream.toarray(), X)
    chosen = rows(blocks, list("dcba"))
    assert chosen.columns == tuple("dcba")
    assert_array_equal(chosen.toarray(), X[:, ::-1])
    target = rows(blocks, list("acbd"), y_columns=["d"])
    assert_array_equal(target.y.toarray(), X[:, 3:])
    assert_array_equal(target.toarray(), X[:, [0, 2, 1]])
    whole = rows(make(X[:, orders[1]], [NAMES[j] for j in orders[1]]), NAMES)
    assert_array_equal(whole.toarray(), X)
    assert rows(make(X, NAMES)).columns == tuple(NAMES)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_other_columns_are_refused_by_name(X, kind):
    make = FRAMES[kind]
    for other in (list("abcz"), list("abc"), list("abcde")):
        wide = np.column_stack([X, X[:, 0]])[:, : len(other)]
        stream = rows(lambda: iter([make(X, NAMES), make(wide, other)]))  # noqa: B023
        with pytest.raises(ValueError, match="block 1") as refusal:
            stream.toarray()
        odd = min(set(other) ^ set(NAMES))
        assert repr(odd) in str(refusal.value)


def test_labels_of_frames_that_are_no_text_are_matched_too(X):
    frames = [pd.DataFrame(X[:90]), pd.DataFrame(X[90:])[[2, 0, 1, 3]]]
    stream = rows(lambda: iter(frames))
    assert stream.columns is None
    assert_array_equal(stream.toarray(), X)
    with pytest.raises(ValueError, match="block 1"):
        rows(iter([pd.DataFrame(X, columns=NAMES), pd.DataFrame(X)])).toarray()


def test_arrays_among_frames_are_taken_as_they_stand(X):
    frames = [X[:60], pd.DataFrame(X[60:120], columns=NAMES), pd.DataFrame(X[120:], columns=NAMES)[list("bacd")]]
    assert_array_equal(rows(iter(frames)).toarray(), X)
    assert_array_equal(rows(iter(frames[1:])).toarray(), X[60:])
    # names that frames do not have name their columns in the order in which they stand
    renamed = rows(iter(frames[1:]), list("wxyz"))
    assert renamed.columns == tuple("wxyz")
    assert_array_equal(renamed.toarray(), X[60:])


def test_repeated_names_are_taken_in_one_order_only(X):
    twice = ["a", "b", "a", "d"]
    same = [pd.DataFrame(X[:90], columns=twice), pd.DataFrame(X[90:], columns=twice)]
    assert_array_equal(rows(iter(same)).toarray(), X)
    with pytest.raises(ValueError, match="'a'"):
        rows(iter([same[0], same[1].iloc[:, [1, 0, 2, 3]]])).toarray()


@pytest.mark.parametrize("estimator", [PCA(2), KernelPCA(2, landmarks=10), Standardizer()], ids=str)
def test_an_estimator_sees_frames_in_the_order_of_the_first(X, estimator):
    frames = [pd.DataFrame(X[:90], columns=NAMES), pd.DataFrame(X[90:], columns=NAMES)[list("dcab")]]
    found = clone(estimator).fit(rows(lambda: iter(frames)))
    _same(found, clone(estimator).fit(rows(lambda: iter([X[:90], X[90:]]))))
    assert list(found.feature_names_in_) == NAMES
    assert_allclose(found.transform(rows(lambda: iter(frames))).toarray(), found.transform(pd.concat(frames)))
    with pytest.raises(ValueError, match="feature names should match"):
        found.transform(rows(iter(frames[1:])))


@pytest.mark.parametrize("estimator", [e for e in (*ONE, *TWO) if hasattr(e, "partial_fit")], ids=str)
def test_partial_fit_refuses_frames_in_another_order(X, Y, estimator):
    y = [Y[:90]] * any(estimator is other for other in TWO)
    model = clone(estimator).partial_fit(pd.DataFrame(X[:90], columns=NAMES), *y)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(pd.DataFrame(X[90:], columns=NAMES)[list("dcab")], *y)


def test_sparse_blocks_are_refused_by_name(X):
    for make in (sp.csr_matrix, sp.csr_array, sp.coo_array):
        with pytest.raises((TypeError, ValueError), match="sparse"):
            rows(iter([make(X)])).toarray()
        with pytest.raises((TypeError, ValueError), match="sparse"):
            rows(make(X))


def _csv(path, X, names):
    pd.DataFrame(X, columns=names).to_csv(path, index=False)


def _parquet(path, X, names):
    pq.write_table(FRAMES["pyarrow table"](X, names), path)


def _arrow(path, X, names):
    table = FRAMES["pyarrow table"](X, names)
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table)


@pytest.mark.parametrize(("ending", "write"), [("csv", _csv), ("tsv", _csv), ("parquet", _parquet), ("arrow", _arrow)])
def test_files_of_a_folder_are_stacked_by_the_names_of_their_columns(tmp_path, X, ending, write):
    for at, order in enumerate([[0, 1, 2, 3], [3, 1, 0, 2], [1, 0, 2, 3]]):
        part = X[60 * at : 60 * at + 60, order]
        path = tmp_path / f"{at}.{ending}"
        write(path, part, [NAMES[j] for j in order])
        if ending == "tsv":
            path.write_text(path.read_text().replace(",", "\t"))
    for columns in (None, NAMES, ["a:d"], ["[a-d]"]):
        stream = rows(tmp_path, columns)
        assert stream.columns == tuple(NAMES)
        assert_array_equal(stream.toarray(), X)


def test_a_pattern_that_means_other_columns_in_another_file_is_refused(tmp_path, X):
    _csv(tmp_path / "0.csv", X, ["x_1", "x_2", "x_3", "b"])
    _csv(tmp_path / "1.csv", X, ["x_1", "x_2", "x_4", "b"])
    with pytest.raises(TableError, match=r"1\.csv: there is no column 'x_3'"):
        rows(tmp_path, ["x_*"])
    assert_array_equal(rows(tmp_path, ["x_1", "b"]).toarray(), np.vstack([X, X])[:, [0, 3]])


def test_lists_and_arrays_are_themselves(X):
    for given in (X, X.tolist(), tuple(map(tuple, X)), np.asfortranarray(X), X.astype(object)):
        assert_array_equal(rows(given, block=7).toarray(), X)
