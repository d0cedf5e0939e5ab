"""Parquet and NumPy files, columns to choose, and paths that lead nowhere."""

import contextlib
import datetime
import decimal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from gramian.tables import Table, TableError, read_table


@pytest.fixture
def parquet(tmp_path):
    def write(columns, **options):
        pa.parquet.write_table(pa.table(columns), tmp_path / "t.parquet", **options)
        return tmp_path / "t.parquet"

    return write


@pytest.fixture
def npy(tmp_path):
    def write(array, **options):
        np.save(tmp_path / "t.npy", array, **options)
        return tmp_path / "t.npy"

    return write


def test_parquet_types(parquet):
    table = read_table(
        parquet(
            {
                "i": pa.array([1, 2**60], pa.int64()),
                "u": pa.array([1, 2**64 - 1], pa.uint64()),
                "f": pa.array([0.5, 1.5], pa.float32()),
                "b": [True, False],
                "d": pa.array([decimal.Decimal("1.25"), decimal.Decimal("2.50")]),
                "s": ["x", None],
                "c": pa.array(["p", "q"]).dictionary_encode(),
                "t": [datetime.date(2020, 1, 2), None],
                "l": [[1], [2]],
                "e": pa.array([None, None], pa.float64()),
            },
            row_group_size=1,
        )
    )
    assert table.columns == ("i", "u", "f", "b", "d")
    np.testing.assert_array_equal(table.values, [[1, 1, 0.5, 1, 1.25], [2.0**60, 2.0**64, 1.5, 0, 2.5]])
    assert table.labels == {"s": ["x", ""], "c": ["p", "q"], "t": ["2020-01-02", ""]}
    assert "column 'l' holds list<element: int64>, left out" in table.dropped
    assert "column 'e' is empty, left out" in table.dropped


def test_the_index_pandas_writes_is_a_label(tmp_path):
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"a": [1.0, 2.0]}, index=[7, 9]).to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert table.columns == ("a",)
    assert table.labels == {"row": ["7", "9"]}


@pytest.mark.parametrize("bad", [None, float("nan")])
def test_parquet_missing_values(parquet, bad):
    with pytest.raises(TableError, match=r"row 1 \(counted from 0\), column 'b': the value is missing"):
        read_table(parquet({"a": [1.0, 2.0], "b": [1.0, bad]}))


def test_missing_values_of_columns_not_chosen_do_not_matter(parquet):
    table = read_table(parquet({"a": [1.0, 2.0], "b": [1.0, None], "s": ["x", "y"]}), columns=["a"])
    np.testing.assert_array_equal(table.values, [[1], [2]])
    assert table.labels == {"s": ["x", "y"]}
    assert table.dropped[-1] == "1 of 2 numeric columns were not chosen"


def test_chosen_columns_come_in_the_order_asked(parquet):
    table = read_table(parquet({"a": [1, 2], "b": [3, 4], "c": [5, 6]}), columns=["c", "a"])
    assert table.columns == ("c", "a")
    np.testing.assert_array_equal(table.values, [[5, 1], [6, 2]])


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        (["lenght"], "there is no column 'lenght'. Did you mean 'length'?"),
        (["zzz"], "there is no column 'zzz'. The first columns are: length, kind."),
        (["kind"], "column 'kind' is text, kept as a label; it cannot be a feature"),
        (["length", "length"], "none twice"),
        ([], "at least one column"),
    ],
)
def test_wrong_choices(parquet, columns, complaint):
    with pytest.raises(TableError) as refusal:
        read_table(parquet({"length": [1, 2], "kind": ["x", "y"]}), columns)
    assert complaint in str(refusal.value)


def test_columns_as_one_text_is_a_type_error(parquet):
    with pytest.raises(TypeError, match=r"columns='ab' must be a list of names"):
        read_table(parquet({"a": [1], "b": [2]}), "ab")


@pytest.mark.parametrize("cut", [0, 4, 60, -1])
def test_damaged_parquet_is_one_line(parquet, cut):
    path = parquet({"a": np.arange(100.0)})
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(TableError, match="is not a readable Parquet file") as refusal:
        read_table(path)
    assert "\n" not in str(refusal.value)


def test_parquet_without_rows(parquet):
    with pytest.raises(TableError, match="no rows"):
        read_table(parquet({"a": pa.array([], pa.float64())}))


@pytest.mark.parametrize("dtype", [">f4", "f2", "i8", "u1", "?"])
def test_npy_types(npy, dtype):
    values = np.array([[0, 1], [1, 0], [1, 1]], dtype=dtype)
    table = read_table(npy(values))
    assert table.columns == ("x0", "x1")
    assert table.values.dtype == np.float64
    np.testing.assert_array_equal(table.values, values)


def test_npy_in_column_order(npy):
    values = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(read_table(npy(values)).values, values)


@pytest.mark.parametrize(
    ("array", "complaint"),
    [
        (np.arange(3.0), r"shape \(3,\)"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
        (np.zeros((2, 0)), r"shape \(2, 0\)"),
        (np.zeros((0, 2)), "no rows"),
        (np.array([["a", "b"]]), "dtype <U1"),
        (np.array([[1j]]), "dtype complex128"),
        (np.array([[1.0, np.nan]]), r"row 0 \(counted from 0\), column 'x1': the value is missing"),
    ],
)
def test_npy_refusals(npy, array, complaint):
    with pytest.raises(TableError, match=complaint):
        read_table(npy(array))


def test_npy_runs_no_code(npy):
    with pytest.raises(TableError, match="has dtype object; real numbers are expected"):
        read_table(npy(np.array([[object()]], dtype=object), allow_pickle=True))


def test_npy_that_promises_too_much_asks_for_no_memory(npy):
    path = npy(np.zeros((10, 10)))
    path.write_bytes(path.read_bytes().replace(b"(10, 10)", b"(999,99)"))
    with pytest.raises(TableError, match="is cut short: it is smaller than its shape"):
        read_table(path)


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"garbage", b"PK\x03\x04"])
def test_what_is_no_npy(tmp_path, content):
    (tmp_path / "t.npy").write_bytes(content)
    with pytest.raises(TableError, match=r"not a readable \.npy file"):
        read_table(tmp_path / "t.npy")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_damaged_files_are_refused_or_read_but_nothing_else(tmp_path, rng, npy, parquet, kind):
    path = npy(np.ones((3, 2))) if kind == "npy" else parquet({"a": [1.0, 2.0], "b": ["x", "y"]})
    whole = path.read_bytes()
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        with contextlib.suppress(TableError):  # any other error fails the test
            assert np.isfinite(read_table(path).values).all()


def test_paths_that_lead_nowhere(tmp_path):
    with pytest.raises(TableError, match=r"none\.csv: there is no such file"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    (tmp_path / "t.docx").touch()
    with pytest.raises(TableError, match=r"'\.docx' are not read\. Known: \.csv, .tsv, .txt, .parquet"):
        read_table(tmp_path / "t.docx")


def test_endings_may_be_in_capitals(tmp_path):
    (tmp_path / "T.CSV").write_text("1,2\n")
    assert isinstance(read_table(tmp_path / "T.CSV"), Table)


@pytest.mark.slow
def test_missing_pyarrow_says_what_to_install():
    code = "import sys; sys.modules['pyarrow'] = None; import gramian; import gramian.tables"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].endswith('gramian.tables needs pyarrow: pip install "gramian[io]"')
