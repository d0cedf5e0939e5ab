"""Two views of the same rows, from one table or two."""

import numpy as np
import pytest

from gramian.tables import TableError, as_table, match_rows, read_views, split_table

BOTH = "id,x_1,x_2,fat,note\na,1,2,3,u\nb,4,,6,v\nc,7,8,9,w\n"


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return write


def test_one_file_with_both(write):
    x, y = read_views(write("t.csv", BOTH), x_columns=["x_*"], y_columns=["fat"], ids="id", missing="drop")
    np.testing.assert_array_equal(x.values, [[1, 2], [7, 8]])
    np.testing.assert_array_equal(y.values, [[3], [9]])
    assert x.row_ids == y.row_ids == ("a", "c")
    assert x.labels == y.labels == {"note": ["u", "w"]}


def test_what_one_view_leaves_the_other_has(write):
    x, y = read_views(write("t.csv", BOTH), y_columns=["fat"], missing="keep")
    assert (x.columns, y.columns) == (("x_1", "x_2"), ("fat",))
    assert x.values.flags.c_contiguous


@pytest.mark.parametrize(
    ("x", "y", "complaint"),
    [
        (None, None, "say x_columns or y_columns"),
        (["a", "b"], ["b"], "column 'b' is in both views"),
        (["a", "b", "c"], None, "the view y has no columns"),
        (["a"], ["z"], "there is no column 'z'"),
    ],
)
def test_views_that_are_none(x, y, complaint):
    table = as_table({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    with pytest.raises(TableError) as refusal:
        split_table(table, x, y)
    assert complaint in str(refusal.value)


def test_columns_in_neither_view_are_said():
    x, y = split_table(as_table({"a": [1, 2], "b": [3, 4], "c": [5, 6]}), ["a"], ["b"])
    assert x.dropped == y.dropped == ("1 of 3 numeric columns are in neither view",)


def test_two_files_are_matched_by_ids(write):
    first, second = write("x.csv", "id,a\nu,1\nv,2\nw,3\n"), write("y.csv", "id,b\nw,30\nu,10\nv,20\n")
    x, y = read_views(first, second, ids="id")
    assert x.row_ids == y.row_ids == ("u", "v", "w")
    np.testing.assert_array_equal(y.values[:, 0], 10 * x.values[:, 0])
    assert "rows were put in the order of" in y.dropped[-1]
    assert y.rows == (1, 2, 0)


def test_two_files_lose_rows_together(write):
    first, second = write("x.csv", "a\n1\nNA\n3\n4\n"), write("y.csv", "b,s\n10,p\n20,q\nNA,r\n40,t\n")
    x, y = read_views(first, second, missing="drop")
    np.testing.assert_array_equal(x.values, [[1], [4]])
    np.testing.assert_array_equal(y.values, [[10], [40]])
    assert y.labels == {"s": ["p", "t"]}
    assert x.rows == y.rows == (0, 3)
    assert x.dropped == ("2 of 4 rows were dropped: values are missing in one view or the other",)
    with pytest.raises(TableError, match=r"x\.csv: line 3, column 'a': the value is missing"):
        read_views(first, second)


def test_labels_from_a_second_file(write):
    first, second = write("x.csv", "a\n1\nNA\n3\n"), write("y.csv", "kind,size\np,1\nq,2\nr,3\n")
    x, y = read_views(first, second, y_labels=["kind"], missing="drop")
    assert (x.values.tolist(), y.labels, y.values.shape) == ([[1], [3]], {"kind": ["p", "r"]}, (2, 0))
    x, y = read_views(first, second, y_columns=["size"], y_labels=["kind"], missing="keep")
    assert (y.values.tolist(), y.labels) == ([[1], [2], [3]], {"kind": ["p", "q", "r"]})
    with pytest.raises(TableError, match=r"y_labels=\['kind'\] needs a second file"):
        read_views(second, y_labels=["kind"])


def test_different_rows_are_refused():
    two, three = as_table({"a": [1, 2]}, source="x"), as_table({"a": [1, 2, 3]}, source="y")
    with pytest.raises(TableError, match=r"x and y have 2 and 3 rows; two views need the same.*ids="):
        match_rows(two, three)
    u = as_table({"i": ["p", "q"], "a": [1, 2]}, ids="i", source="x")
    v = as_table({"i": ["p", "r"], "a": [1, 2]}, ids="i", source="y")
    with pytest.raises(TableError, match=r"'q' is only in x \(1 such rows\)"):
        match_rows(u, v)
    both_gone = as_table({"a": [None, 1.0]}, missing="keep"), as_table({"b": [1.0, None]}, missing="keep")
    assert np.isnan(both_gone[0].values[0, 0])
