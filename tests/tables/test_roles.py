"""What columns are for: features, labels, ids; what is missing; categories and dates on request."""

import numpy as np
import pytest

from gramian.tables import TableError, find_columns, read_table, uneven_columns

MICE = "name,diet,sex,x_1,x_2,day\nann,lin,1,1.5,2,2020-01-02\nbob,sun,2,,3,2020-01-03\ncid,lin,1,4,5,2020-01-05\n"


@pytest.fixture
def read(tmp_path):
    def read(content=MICE, **options):
        (tmp_path / "t.csv").write_text(content)
        return read_table(tmp_path / "t.csv", **options)

    return read


def test_numbers_may_be_labels_as_they_stand_in_the_file(read):
    table = read("zip,x\n00501,1\n12345678901234567890,2\n", labels=["zip"])
    assert table.columns == ("x",)
    assert table.labels == {"zip": ["00501", "12345678901234567890"]}


def test_ids_name_rows(read):
    table = read(ids="name", missing="drop")
    assert table.row_ids == ("ann", "cid")
    assert table.ids == "name"
    assert list(table.annotations) == ["name", "diet", "day"]
    assert table.annotations["name"] == ["ann", "cid"]
    assert table.rows == (0, 2)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("n,x\na,1\na,2\n", "line 3, column 'n': the id 'a' is also that of line 2"),
        ("n,x\na,1\n,2\n", "line 3, column 'n': the id is missing"),
        ("m,x\na,1\n", "there is no column 'n'"),
    ],
)
def test_ids_are_there_and_differ(read, content, complaint):
    with pytest.raises(TableError) as refusal:
        read(content, ids="n")
    assert complaint in str(refusal.value)


def test_missing_values_are_refused_dropped_or_kept(read):
    with pytest.raises(TableError, match=r"line 3, column 'x_1': the value is missing .* \(missing='drop'\)"):
        read()
    dropped = read(missing="drop")
    np.testing.assert_array_equal(dropped.values, [[1, 1.5, 2], [1, 4, 5]])
    assert dropped.labels["name"] == ["ann", "cid"]
    assert dropped.dropped[-1] == "1 of 3 rows was dropped: values are missing in 'x_1' (1)"
    kept = read(missing="keep")
    np.testing.assert_array_equal(kept.values, [[1, 1.5, 2], [2, np.nan, 3], [1, 4, 5]])
    assert kept.dropped[-1] == "1 value missing, kept as such: 'x_1' (1)"
    assert read(missing="drop", columns=["x_2"]).rows is None


def test_infinite_values_are_refused_under_every_rule(read):
    for rule in ("refuse", "drop", "keep"):
        with pytest.raises(TableError, match=r"line 3, column 'a': the value is infinite"):
            read("a,b\n1,2\n1e999,3\n", missing=rule)


def test_rows_that_all_miss_something(read):
    with pytest.raises(TableError, match=r"every row misses a value, most often in 'a' \(2\), 'b' \(1\)"):
        read("a,b\nNA,1\nNA,2\n5,\n", missing="drop")
    with pytest.raises(ValueError, match=r"missing='fill' must be one of: refuse, drop, keep"):
        read(missing="fill")


def test_gaps_do_not_hide_uneven_columns(read):
    assert "differ by a factor of" in uneven_columns(read("a,b\n1,1e6\n2,5e6\n,7e6\n4,\n", missing="keep"))


class TestCategories:
    def test_all_of_them(self, read):
        table = read(categories="encode", labels=["name"], columns=["diet=lin", "diet=sun", "x_2"])
        np.testing.assert_array_equal(table.values, [[1, 0, 2], [0, 1, 3], [1, 0, 5]])
        assert table.levels == {"diet": ("lin", "sun")}
        assert "column 'diet' was encoded as 2 indicator columns" in table.dropped
        assert list(table.labels) == ["name", "day"]

    def test_one_of_them_also_numbers(self, read):
        table = read(categories=["sex"], columns=["sex=1", "sex=2"])
        np.testing.assert_array_equal(table.values, [[1, 0], [0, 1], [1, 0]])

    def test_fixed_levels_give_the_same_columns_for_other_rows(self, read):
        table = read("diet,x\nsun,1\n", categories={"diet": ["lin", "sun"]})
        assert table.columns == ("diet=lin", "diet=sun", "x")
        with pytest.raises(TableError, match=r"line 2, column 'diet': 'fish' is none of its categories, lin, sun"):
            read("diet,x\nfish,1\n", categories={"diet": ["lin", "sun"]})

    def test_missing_categories_are_missing_values(self, read):
        text = "diet,x\nsun,1\nNA,2\nlin,3\n"
        with pytest.raises(TableError, match=r"line 3, column 'diet=lin': the value is missing"):
            read(text, categories="encode")
        assert read(text, categories="encode", missing="drop").rows == (0, 2)

    def test_refusals(self, read):
        names = "\n".join(f"n{at},{at}" for at in range(1001))
        with pytest.raises(TableError, match=r"column 'n' has 1,001 different values, too many"):
            read(f"n,x\n{names}\n", categories="encode")
        with pytest.raises(TableError, match=r"there is no column 'diät', which categories= names"):
            read(categories=["diät"])
        with pytest.raises(TableError, match=r"categories='guess' must be"):
            read(categories="guess")
        with pytest.raises(TableError, match=r"columns 1 and 3 are both named 'a=x'"):
            read("a=x,a,b\n1,x,2\n", categories="encode")


class TestDates:
    def test_days_on_request(self, read):
        text = "day,time,x\n1970-01-02,06:00,1\n2020-01-03,18:00,2\n"
        table = read(text, dates="encode")
        np.testing.assert_array_equal(table.values, [[1, 0.25, 1], [18264, 0.75, 2]])
        assert read(text, dates=["day"]).columns == ("day", "x")
        assert read(text).labels["time"] == ["06:00", "18:00"]

    def test_moments_and_gaps(self, read):
        table = read("t,x\n1970-01-01T12:00:00Z,1\n,2\n", dates="encode", missing="keep")
        np.testing.assert_array_equal(table.values, [[0.5, 1], [np.nan, 2]])

    def test_a_date_is_no_feature_by_itself(self, read):
        with pytest.raises(TableError, match=r"column 'day' is a date.*cannot be a feature unless dates=\['day'\]"):
            read(columns=["day"])
        with pytest.raises(TableError, match=r"column 'diet' is text.*; dates= cannot encode it"):
            read(dates=["diet"])


class TestNames:
    KNOWN = ("fat", "x_1", "x_2", "a:b", "b*", "x_10", "X_3")

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (["x_2", "fat"], ["x_2", "fat"]),
            (["x_1:a:b"], ["x_1", "x_2", "a:b"]),
            (["a:b"], ["a:b"]),
            (["b*"], ["b*"]),
            (["x_*"], ["x_1", "x_2", "x_10"]),
            (["x_?", "x_*"], ["x_1", "x_2", "x_10"]),
            ([":x_2"], ["fat", "x_1", "x_2"]),
            (["b*:"], ["b*", "x_10", "X_3"]),
            (["[xX]_[13]"], ["x_1", "X_3"]),
        ],
    )
    def test_names_ranges_and_patterns(self, wanted, found):
        assert find_columns(self.KNOWN, wanted) == found

    @pytest.mark.parametrize(
        ("wanted", "complaint"),
        [
            ("fatt", "there is no column 'fatt'. Did you mean 'fat'?"),
            ("z*", "no column fits 'z*'"),
            ("x_2:fat", "'x_2' comes after 'fat'"),
            ("x_1:nope", "there is no column 'x_1:nope'"),
        ],
    )
    def test_what_means_nothing(self, wanted, complaint):
        with pytest.raises(TableError) as refusal:
            find_columns(self.KNOWN, [wanted])
        assert complaint in str(refusal.value)

    def test_ranges_choose_the_numbers_among_them(self, read):
        assert read(columns=["diet:x_2"], missing="keep").columns == ("sex", "x_1", "x_2")
        assert read(columns=["x_2", "x_*"], missing="keep").columns == ("x_2", "x_1")
        with pytest.raises(TableError, match="column 'name' is text"):
            read(columns=["name:diet"])
