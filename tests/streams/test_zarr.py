"""Zarr arrays stream as other files do: by chunks, by groups, in both formats, and with the same refusals."""

import json
import os

import numpy as np
import pytest

from gramian import PCA, KernelPCA, rows
from gramian.tables import TableError

zarr = pytest.importorskip("zarr", reason="zarr is not installed")


@pytest.fixture
def X(rng):
    return rng.standard_normal((500, 4)) @ rng.standard_normal((4, 4))


def put(path, values, **how):
    """Write an array in chunks of a hundred rows."""
    made = zarr.create_array(str(path), shape=values.shape, dtype=values.dtype, chunks=(100, *values.shape[1:]), **how)
    made[:] = values
    return made


def refusal(call):
    with pytest.raises(TableError) as failure:
        call()
    message = str(failure.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("form", [2, 3])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", ">f8"])
def test_an_array_streams(tmp_path, X, form, dtype):
    values = (10 * X).astype(dtype)
    put(tmp_path / "a.zarr", values, zarr_format=form)
    stream = rows(tmp_path / "a.zarr", block=70)
    assert (stream.n_rows, stream.n_features, stream.columns) == (500, 4, None)
    np.testing.assert_array_equal(stream.toarray(), values)
    assert stream.toarray().dtype == (np.float32 if dtype == "float32" else np.float64)
    np.testing.assert_array_equal(rows(tmp_path / "a.zarr", ["x3", "x1"]).toarray(), values[:, [3, 1]])
    expected = PCA(2).fit(values.astype(float))
    np.testing.assert_allclose(PCA(2).fit(stream).explained_variance_, expected.explained_variance_, rtol=1e-6)
    model = KernelPCA(2, kernel="rbf(sigma=20)", landmarks=20).fit(stream)
    assert model.transform(stream).toarray().shape == (500, 2)


def test_a_group_of_one_matrix_or_of_several(tmp_path, X):
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="w")
    group.create_array("first", data=X)
    group.create_array("weights", data=X[:, 0])
    np.testing.assert_array_equal(rows(tmp_path / "a.zarr").toarray(), X)  # the only one with rows and columns
    group.create_array("second", data=2 * X)
    assert "has the matrices 'first', 'second'; say which with sheet=" in refusal(lambda: rows(tmp_path / "a.zarr"))
    np.testing.assert_array_equal(rows(tmp_path / "a.zarr", sheet="second").toarray(), 2 * X)
    assert "there is no matrix 'third'. There are: first, second" in refusal(
        lambda: rows(tmp_path / "a.zarr", sheet="third")
    )


def test_a_folder_of_arrays_is_their_rows_one_after_the_other(tmp_path, X):
    for at in range(3):
        put(tmp_path / f"part-{at}.zarr", X + at)
    np.testing.assert_array_equal(rows(tmp_path).toarray(), np.vstack([X, X + 1, X + 2]))


def test_a_damaged_chunk_is_named_by_its_rows(tmp_path, X):
    put(tmp_path / "a.zarr", X)
    (tmp_path / "a.zarr" / "c" / "3" / "0").write_bytes(b"no chunk")
    stream = rows(tmp_path / "a.zarr", block=100)
    assert "a.zarr: rows 300 to 400 cannot be read" in refusal(lambda: PCA(1).fit(stream))


def test_an_array_that_changes_is_noticed(tmp_path, X):
    made = put(tmp_path / "a.zarr", X)
    stream = rows(tmp_path / "a.zarr", block=100)
    PCA(1).fit(stream)
    made[450] = 7.0
    os.utime(tmp_path / "a.zarr" / "c" / "4" / "0", ns=(1, 2**62))
    assert "a.zarr changed while it was read" in refusal(lambda: PCA(1).fit(stream))


def test_a_gap_is_named(tmp_path, X):
    X[333, 2] = np.nan
    put(tmp_path / "a.zarr", X)
    with pytest.raises(ValueError, match=r"contains NaN: .*a.zarr: row 333 \(counted from 0\), column 2"):
        KernelPCA(1, landmarks=5).fit(rows(tmp_path / "a.zarr", block=100))


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (np.zeros(5), "has shape (5,)"),
        (np.zeros((5, 2, 2)), "has shape (5, 2, 2)"),
        (np.zeros((5, 2), complex), "has dtype complex128"),
        (np.zeros((5, 2), "U3"), "real numbers are expected"),
    ],
)
def test_what_is_no_matrix_of_numbers_is_refused(tmp_path, values, told):
    put(tmp_path / "a.zarr", values, zarr_format=2)
    assert told in refusal(lambda: rows(tmp_path / "a.zarr"))


def test_what_is_no_zarr_array_is_refused(tmp_path):
    folder = tmp_path / "a.zarr"
    folder.mkdir()
    assert "a.zarr is not a readable Zarr array" in refusal(lambda: rows(folder))
    (folder / "zarr.json").write_text("{")
    assert "a.zarr is not a readable Zarr array" in refusal(lambda: rows(folder))
    told = {"zarr_format": 3, "node_type": "array", "shape": [10**12, 10**12], "data_type": "float64"}
    (folder / "zarr.json").write_text(json.dumps(told))
    assert "a.zarr is not a readable Zarr array" in refusal(lambda: rows(folder))
    assert "no such file" in refusal(lambda: rows(tmp_path / "b.zarr"))
