"""Data frames in, as tables and to estimators: the same numbers, and names that are checked."""

import datetime

import numpy as np
import pyarrow as pa
import pytest

from gramian import PCA
from gramian.tables import TableError, as_table, read_table, write_scores

DATA = {
    "kind": ["p", "q", None],
    "a": [1.0, 2.5, 4.0],
    "n": [1, 2, 3],
    "day": [datetime.date(2020, 1, d) for d in (1, 2, 3)],
}


def frame_of(library, data):
    return pa.table(data) if library == "pyarrow" else pytest.importorskip(library).DataFrame(data)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_are_tables(library):
    table = as_table(frame_of(library, DATA), dates=["day"])
    assert table.columns == ("a", "n", "day")
    np.testing.assert_array_equal(table.values, [[1, 1, 18262], [2.5, 2, 18263], [4, 3, 18264]])
    assert table.labels == {"kind": ["p", "q", ""]}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_take_the_roles_of_files(library, tmp_path):
    frame = frame_of(library, {"i": [7, 8], "g": ["u", "v"], "x": [1.0, None]})
    table = as_table(frame, ids="i", categories=["g"], missing="keep")
    assert table.row_ids == ("7", "8")
    np.testing.assert_array_equal(table.values, [[1, 0, 1], [0, 1, np.nan]])
    with pytest.raises(TableError, match=r"the data frame: row 1 \(counted from 0\), column 'x': the value is missing"):
        as_table(frame)


def test_pandas_of_many_kinds():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            0: pd.array([1, None], dtype="Int64"),
            "c": pd.Categorical(["x", "y"]),
            "b": pd.array([True, False], dtype="boolean"),
        },
        index=["r1", "r2"],
    )
    table = as_table(frame, missing="keep")
    assert table.columns == ("0", "b")
    assert table.labels == {"c": ["x", "y"], "row": ["r1", "r2"]}
    with pytest.raises(TableError, match="two columns are named 'a'"):
        as_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TableError, match="the data frame cannot be read as a table"):
        as_table(pd.DataFrame({"a": [1, "x", object()]}))


def test_what_is_no_frame():
    np.testing.assert_array_equal(as_table(np.eye(2)).values, np.eye(2))
    with pytest.raises(TableError, match="list is no data frame"):
        as_table([1, 2])
    with pytest.raises(TableError, match=r"shape \(3,\)"):
        as_table(np.zeros(3))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_estimators_check_names_and_order_and_give_frames_back(library, rng):
    data = dict(zip("abc", rng.standard_normal((3, 20)), strict=True))
    frame = frame_of(library, data)
    model = PCA(2).set_output(transform=library).fit(frame)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    scores = model.transform(frame)
    assert type(scores).__module__.startswith(library)
    plain = np.column_stack(list(data.values()))
    np.testing.assert_allclose(np.asarray(scores), PCA(2).fit(plain).transform(plain), atol=1e-13)
    with pytest.raises(ValueError, match="in the same order"):
        model.transform(frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame_of(library, {"a": data["a"], "b": data["b"], "z": data["c"]}))


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow", "feather"])
def test_frames_through_files(tmp_path, rng, ending):
    scores = rng.standard_normal((30, 2)) * 10.0 ** rng.integers(-300, 300, (30, 2))
    labels = {"s": [f"tab\tand, comma {at}" for at in range(30)]}
    write_scores(tmp_path / f"t.{ending}", scores, ["u", "v"], labels)
    table = read_table(tmp_path / f"t.{ending}")
    np.testing.assert_array_equal(table.values, scores)
    assert table.labels == labels
