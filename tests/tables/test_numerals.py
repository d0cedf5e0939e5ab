"""One decimal mark for a file; thousands separators only if named; what is doubtful is refused with its place."""

import numpy as np
import pytest

from gramian.tables import TableError, read_table
from gramian.tables.numerals import is_number, is_numeral, proves_comma
from gramian.tables.records import end_of_records, guess_delimiter


@pytest.fixture
def read(tmp_path):
    def read(content, **options):
        (tmp_path / "t.csv").write_text(content)
        return read_table(tmp_path / "t.csv", **options)

    return read


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("a;b\n1,5;2,5\n3;-4e2\n", [[1.5, 2.5], [3, -400]]),
        ("1,5;2,5\n3,5;4,5\n", [[1.5, 2.5], [3.5, 4.5]]),
        ("a\tb\n0,123\t2\n1,234\t3\n", [[0.123, 2], [1.234, 3]]),
        ('a,b\n"1,5","2,5"\n3,4\n', [[1.5, 2.5], [3, 4]]),
        ("a;b\n" + "1;2\n" * 200 + "1,5;2\n", [*[[1, 2]] * 200, [1.5, 2]]),
    ],
)
def test_decimal_commas_are_found_and_said(read, content, values):
    table = read(content)
    np.testing.assert_array_equal(table.values, values)
    assert table.dropped == ("numbers have a decimal comma",)


def test_decimal_commas_may_miss_values(read):
    table = read("a;b\n1,5;NA\n;2\n", missing="keep")
    np.testing.assert_array_equal(table.values, [[1.5, np.nan], [np.nan, 2]])


def test_words_that_look_like_decimal_commas_change_nothing(read):
    table = read("note;x\n1,5;2.5\nseven;3.5\n")
    np.testing.assert_array_equal(table.values, [[2.5], [3.5]])
    assert table.labels == {"note": ["1,5", "seven"]}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (
            "a;b\n1;2\n1,234;2\n",
            "line 3, column 'a': '1,234' may be a decimal comma or a thousands separator; say decimal",
        ),
        (
            'a,b\n"1,234.5",2\n',
            "line 2, column 'a': '1,234.5' has a thousands separator; take those out, or say thousands=','",
        ),
        ("a;b\n1.234,5;2\n", "'1.234,5' has a thousands separator; take those out, or say thousands='.'"),
        ("a;b\n1 234;2\n", "say thousands=' '"),
        ("a;b\n1'234;2\n", 'say thousands="\'"'),
        (
            "a;b\n1,5;2.5\n",
            "line 2, column 'b': '2.5' has a decimal point, but numbers of this file have decimal commas",
        ),
    ],
)
def test_doubtful_numbers_are_refused_with_their_place(read, content, complaint):
    with pytest.raises(TableError) as refusal:
        read(content)
    assert complaint in str(refusal.value)
    assert "keeps the column as text" in str(refusal.value)


def test_doubtful_columns_that_nobody_wants_do_no_harm(read):
    content = "a;b\n1,234;2\n"
    assert read(content, columns=["b"]).labels == {"a": ["1,234"]}
    assert read(content, labels=["a"]).columns == ("b",)
    with pytest.raises(TableError, match="may be a decimal comma"):
        read(content, columns=["a"])


@pytest.mark.parametrize(
    ("content", "options", "values"),
    [
        ("a;b\n1,234;2\n", {"decimal": ","}, [[1.234, 2]]),
        ("a;b\n1,234;2\n", {"thousands": ","}, [[1234, 2]]),
        ('a,b\n"1,234,567.5",2.5\n-3,NA\n', {"thousands": ","}, [[1234567.5, 2.5], [-3, np.nan]]),
        ("a;b\n1.234,5;2,5\n2.000;1\n", {"thousands": "."}, [[1234.5, 2.5], [2000, 1]]),
        ("a;b\n1 234,5;2\n2\u00a0000;1\n", {"thousands": " ", "decimal": ","}, [[1234.5, 2], [2000, 1]]),
        ("a;b\n1'234.5;2\n", {"thousands": "'"}, [[1234.5, 2]]),
    ],
)
def test_marks_may_be_said(read, content, options, values):
    np.testing.assert_array_equal(read(content, missing="keep", **options).values, values)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"decimal": "x"}, "decimal='x' must be"),
        ({"thousands": "x"}, "thousands='x' must be one of"),
        ({"decimal": ",", "thousands": ","}, "thousands=',' must be one of"),
    ],
)
def test_marks_that_make_no_sense(read, options, complaint):
    with pytest.raises(TableError) as refusal:
        read("a;b\n1;2\n", **options)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize("number", ["１", "٣", "−1", "1_000", "1e", "+-1", "0b1"])
def test_what_only_looks_like_a_number_is_text(read, number):
    assert read(f"a,b\n{number},1\n2,3\n").labels == {"a": [number, "2"]}


@pytest.mark.parametrize(
    ("test", "yes", "no"),
    [
        (is_number, ["1", " -2.5e3 ", "nan"], ["", "1_000", "0x1F", "1,5"]),
        (is_numeral, ["1,5", "1.234,5", "1'234", "1 234"], ["12,34,5", "3-4"]),
        (proves_comma, ["1,5", "1.234,5", "0,123"], ["1,234", "1.5"]),
    ],
)
def test_what_a_cell_reads_as(test, yes, no):
    assert all(map(test, yes))
    assert not any(map(test, no))


def test_records_end_outside_of_quotes_and_the_first_lines_say_what_separates_cells():
    assert end_of_records(b'1,5" pipe\n2,"a\nb', ",") == 10
    texts = (b'"Miller, Ann";1,5;2', b"a,b", b"a", b"mm|in,kg\n1,2")
    assert [guess_delimiter(data, "") for data in texts] == [";", ",", ",", ","]
