"""Delimited text: what is read, and what is refused with which line."""

import io
import sys

import numpy as np
import pytest

from gramian.tables import TableError, TableWarning, read_table


@pytest.fixture
def read(tmp_path):
    """Write bytes or text to a file and read it back as a table."""

    def read(content, name="t.csv", columns=None):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(path, columns)

    return read


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("final", ["", "end"])
def test_delimiters_and_line_endings_give_the_same_table(read, delimiter, newline, final):
    lines = [delimiter.join(row) for row in (["a", "b"], ["1", "2.5"], ["-3e2", "4"])]
    table = read(newline.join(lines) + (newline if final else ""))
    assert table.columns == ("a", "b")
    assert table.values.dtype == np.float64
    np.testing.assert_array_equal(table.values, [[1, 2.5], [-300, 4]])
    assert table.labels == {}
    assert table.dropped == ()


def test_numbers_in_the_first_line_are_data(read):
    table = read("1,2\n3,4\n")
    assert table.columns == ("x0", "x1")
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4]])


def test_one_row_without_header(read):
    np.testing.assert_array_equal(read("1,2").values, [[1, 2]])


def test_text_columns_become_labels_as_they_stand(read):
    table = read('name,x,day,time\n"Müller, A.",1,2020-01-02,12:30\n"said ""yes""\nand left",2,2020-01-03,13:45\n')
    assert table.columns == ("x",)
    assert table.labels == {
        "name": ["Müller, A.", 'said "yes"\nand left'],
        "day": ["2020-01-02", "2020-01-03"],
        "time": ["12:30", "13:45"],
    }
    assert table.dropped[0] == "column 'name' is text, kept as a label"


def test_a_stray_word_is_named(read):
    with pytest.warns(TableWarning, match="column 'b' is not used: 'oops' in line 4 is no number, but 2 of 3"):
        table = read("a,b\n1,2\n\n3,oops\n4,5\n")
    assert table.columns == ("a",)
    assert table.dropped == ("column 'b' has text ('oops' in line 4), kept as a label",)


def test_a_header_that_may_be_data_is_pointed_out(read):
    table = read("5.1,3.5,setosa\n4.9,3.0,setosa\n")
    assert table.dropped[0] == "line 1 was read as the header, though 2 of its 3 cells are numbers"


def test_quotes_hide_delimiters_of_the_first_line(read):
    assert read('"a;b",c\n1,2\n').columns == ("a;b", "c")


def test_tsv_splits_at_tabs_only(read):
    assert read("a, b\n1\n2\n", "t.tsv").columns == ("a, b",)


def test_byte_order_mark_is_no_part_of_the_first_name(read):
    assert read(b"\xef\xbb\xbfa,b\n1,2\n").columns == ("a", "b")
    np.testing.assert_array_equal(read(b"\xef\xbb\xbf1,2\n").values, [[1, 2]])


def test_names_are_trimmed_and_numbers_may_have_spaces(read):
    table = read("a, b\n1, 2\n 3 ,4\n")
    assert table.columns == ("a", "b")
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4]])


def test_the_index_of_a_data_frame_is_a_label(read):
    table = read(",a\n0,5\n1,6\n2,9\n")
    assert table.columns == ("a",)
    assert table.labels == {"row": ["0", "1", "2"]}
    assert table.dropped == ("column 'row' only counts the rows, kept as a label",)


def test_an_unnamed_column_that_does_not_count_is_a_feature(read):
    assert read(",a\n0,5\n7,6\n").columns == ("x0", "a")


def test_an_empty_column_is_left_out_and_said(read):
    table = read("a,b,\n1,2,\n3,4,\n")
    assert table.columns == ("a", "b")
    assert table.dropped == ("column 'x2' is empty, left out",)


def test_true_and_false_count_as_one_and_zero(read):
    np.testing.assert_array_equal(read("a\ntrue\nfalse\n").values, [[1], [0]])


def test_whole_numbers_beyond_64_bits(read):
    assert read("a\n123456789012345678901234567890\n1\n").values[0, 0] == 123456789012345678901234567890.0


@pytest.mark.slow
def test_rows_longer_than_a_parser_block(read):
    width = 60_000
    text = ",".join(f"c{at}" for at in range(width)) + "\n" + ",".join(["1.2500000000000000"] * width) + "\n"
    assert read(text).values.shape == (1, width)


def test_a_long_cell_is_read(read):
    long = "a" * 200_000
    assert read(f"name,x\n{long},1\nb,2\n").labels == {"name": [long, "b"]}


def test_types_do_not_depend_on_the_first_rows(read):
    assert read("a,b\n1,2\n3,4.5\n").values[1, 1] == 4.5
    assert read("a,b\n1,true\n3,false\n").columns == ("a", "b")
    table = read("a,b,c\n1,2,2020-01-01\n3,x,2020-01-02\n")
    assert table.columns == ("a",)
    assert table.labels == {"b": ["2", "x"], "c": ["2020-01-01", "2020-01-02"]}


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a;b\n1;2\n")))
    table = read_table("-")
    assert table.source == "standard input"
    assert table.columns == ("a", "b")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "t.csv is empty"),
        ("\n \n", "t.csv is empty"),
        ("a,b\n", "t.csv: there are no rows below the column names"),
        ("a,b\n\n", "there are no rows"),
        ("a,b\n1,2\n3\n", "t.csv: line 3 has 1 cells, line 1 has 2"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4 has 3 cells, line 1 has 2"),
        ("1,2\n3\n", "line 2 has 1 cells"),
        ('a,b\n"x\ny",2\n3\n', "line 4 has 1 cells"),
        ("a,b\n1,2\n3,\n", "t.csv: line 3, column 'b': the value is missing (1 such value in all)"),
        ("1,2\n,4\nNA,5\n", "line 2, column 'x0': the value is missing (2 such"),
        ('n,b\n"x\ny",2\nz,nan\n', "line 4, column 'b': the value is missing"),
        ("a\n1\n1e999\n", "line 3, column 'a': the value is infinite"),
        ("a,b\nx,y\nz,w\n", "t.csv: there is no numeric column"),
        ("a,b,a\n1,2,3\n", "t.csv: columns 1 and 3 are both named 'a'"),
    ],
)
def test_refusals_name_the_place(read, tmp_path, content, complaint):
    with pytest.raises(TableError) as refusal:
        read(content)
    message = str(refusal.value)
    assert complaint in message
    assert message.startswith(str(tmp_path / "t.csv"))
    assert "\n" not in message


def test_a_long_quoted_cell_of_the_header_is_read(read):
    long = "a" * 200_000
    assert read(f'"{long}",b\n1,2\n').columns == (long, "b")
