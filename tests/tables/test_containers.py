"""Workbooks, zipped arrays, HDF5 and Arrow files: read, or refused before they cost anything."""

import contextlib
import datetime
import re
import subprocess
import sys
import time
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from gramian import config
from gramian.tables import TableError, read_table

MATRIX = np.array([[0.1, 2.0], [3.0, 1e300], [-4.0, 5.0]])


@pytest.fixture
def book(tmp_path):
    """Write an Excel file."""
    openpyxl = pytest.importorskip("openpyxl")

    def book(rows, others=()):
        workbook = openpyxl.Workbook()
        workbook.active.title = "First"
        for row in rows:
            workbook.active.append(row)
        for name in others:
            workbook.create_sheet(name).append(["z"])
            workbook[name].append([9])
        workbook.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    return book


@pytest.fixture
def hdf5(tmp_path):
    """Write an HDF5 file."""
    h5py = pytest.importorskip("h5py")

    def hdf5(**datasets):
        with h5py.File(tmp_path / "t.h5", "w") as file:
            for name, data in datasets.items():
                file.create_dataset(name, **data) if isinstance(data, dict) else file.create_dataset(name, data=data)
        return tmp_path / "t.h5"

    return hdf5


def refusal(path, **options):
    with pytest.raises(TableError) as raised:
        read_table(path, **options)
    assert len(str(raised.value).splitlines()) == 1
    return str(raised.value)


class TestExcel:
    def test_cells_of_all_kinds(self, book):
        day = datetime.datetime(2020, 1, 2, 12)
        rows = [["name", "x", "ok", "day", "n"], ["a", 0.1, True, day, 10**20], [], ["b", 3, False, None, 2]]
        table = read_table(book(rows))
        assert table.columns == ("x", "ok", "n")
        np.testing.assert_array_equal(table.values, [[0.1, 1, 1e20], [3, 0, 2]])
        assert table.labels == {"name": ["a", "b"], "day": ["2020-01-02 12:00:00", ""]}
        np.testing.assert_array_equal(
            read_table(book(rows), ["day"], dates="encode", missing="drop").values, [[18263.5]]
        )

    def test_places_are_rows_as_excel_counts_them(self, book):
        path = book([["x", "y"], [1, 2], [], [], [3, "#N/A"]])
        assert "t.xlsx: row 5, column 'y': the value is missing" in refusal(path)
        assert "column 'y' has text ('oops' in row 3)" in read_table(book([["x", "y"], [1, 2], [3, "oops"]])).dropped[0]

    def test_sheets(self, book):
        path = book([["x"], [1]], ["Second"])
        assert read_table(path).dropped == ("sheet 'First' was read; there are others: Second",)
        assert read_table(path, sheet="Second").columns == ("z",)
        assert "there is no sheet 'Zweite'. There are: First, Second" in refusal(path, sheet="Zweite")

    def test_numbers_stored_as_text(self, book):
        np.testing.assert_array_equal(read_table(book([["x"], ["1.5"], [2]])).values, [[1.5], [2]])
        commas = book([["x", "y"], ["1,5", 1], ["2", 2]])
        assert "row 2, column 'x': '1,5' has a decimal comma" in refusal(commas)
        np.testing.assert_array_equal(read_table(commas, decimal=",").values, [[1.5, 1], [2, 2]])

    def test_no_header_labels_and_ids(self, book):
        assert read_table(book([[1, 2], [3, 4]])).columns == ("x0", "x1")
        table = read_table(book([["i", "g", "x"], [1, 2, 3], [4, 5, 6]]), labels=["g"], ids="i")
        assert (table.row_ids, table.labels) == (("1", "4"), {"g": ["2", "5"]})

    def test_formulas_without_values(self, book):
        assert "column 'x' is empty, as are formulas" in read_table(book([["x", "y"], ["=1+1", 1]])).dropped[0]

    @pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)])
    def test_what_is_no_workbook(self, tmp_path, content):
        (tmp_path / "t.xlsx").write_bytes(content)
        assert "is not a readable Excel file" in refusal(tmp_path / "t.xlsx")

    def test_an_empty_sheet(self, book):
        assert "the sheet 'First' is empty" in refusal(book([]))

    def forge(self, tmp_path, rows, front=""):
        """Put rows of our own into a workbook."""
        source = tmp_path / "source.xlsx"
        pytest.importorskip("openpyxl").Workbook().save(source)
        space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        sheet = f'{front}<worksheet xmlns="{space}"><sheetData>{rows}</sheetData></worksheet>'
        with (
            zipfile.ZipFile(source) as old,
            zipfile.ZipFile(tmp_path / "forged.xlsx", "w", zipfile.ZIP_DEFLATED) as new,
        ):
            for name in old.namelist():
                new.writestr(name, sheet if name == "xl/worksheets/sheet1.xml" else old.read(name))
        return tmp_path / "forged.xlsx"

    @pytest.mark.slow
    def test_bombs_are_refused_soon(self, tmp_path):
        start = time.perf_counter()
        far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="99999999999"><c r="A99999999999"><v>1</v></c></row>'
        assert "cells beyond row 1,048,576" in refusal(self.forge(tmp_path, far))
        wide = "".join(f'<row r="{at}"><c r="XFD{at}"><v>1</v></c></row>' for at in range(1, 5000))
        assert "Delete what lies outside the table" in refusal(self.forge(tmp_path, wide))
        assert "grows more than 200-fold" in refusal(self.forge(tmp_path, " " * 10**8))
        entities = "".join(f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 10))
        front = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "{"x" * 100}">{entities}]>'
        laughs = '<row r="1"><c r="A1" t="inlineStr"><is><t>&a9;</t></is></c></row>'
        assert "is not a readable Excel file" in refusal(self.forge(tmp_path, laughs, front))
        assert time.perf_counter() - start < 30


class TestZippedArrays:
    def test_the_matrix_and_names(self, tmp_path):
        path = tmp_path / "t.npz"
        np.savez(path, MATRIX)
        np.testing.assert_array_equal(read_table(path).values, MATRIX)
        np.savez_compressed(path, X=np.asfortranarray(MATRIX), y=MATRIX[:, 0], columns=np.array(["a", "b"]))
        table = read_table(path)
        assert table.columns == ("a", "b")
        np.testing.assert_array_equal(table.values, MATRIX)

    def test_several(self, tmp_path):
        np.savez(tmp_path / "t.npz", first=MATRIX, second=MATRIX + 1, third=MATRIX[0])
        assert "has the matrices 'first', 'second'; say which with sheet=" in refusal(tmp_path / "t.npz")
        np.testing.assert_array_equal(read_table(tmp_path / "t.npz", sheet="second").values, MATRIX + 1)
        assert "there is no matrix 'fourth'" in refusal(tmp_path / "t.npz", sheet="fourth")

    def test_nothing_is_unpickled(self, tmp_path):
        np.savez(tmp_path / "t.npz", X=np.array([[object()]], dtype=object))
        assert "holds objects" in refusal(tmp_path / "t.npz")
        np.savez(tmp_path / "t.npz", X=MATRIX, columns=np.array(["a", "b"], dtype=object))
        assert "plain text (.astype(str))" in refusal(tmp_path / "t.npz")

    @pytest.mark.parametrize(
        ("shape", "complaint"),
        [
            ("(100000000000, 1)", "not as large as the file says"),
            ("(9223372036854775807, 9223372036854775807)", "not as large as the file says"),
            ("(-1, 2)", "has no size"),
            ("(0, 1000000000000)", "Are rows and columns swapped?"),
            ("(0, 3)", "no rows"),
            ("(3,)", "not as large as the file says"),
        ],
    )
    def test_shapes_that_lie(self, tmp_path, shape, complaint):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".encode().ljust(117) + b"\n"
        with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
            archive.writestr("X.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
        assert complaint in refusal(tmp_path / "t.npz")

    def test_bombs(self, tmp_path):
        np.savez_compressed(tmp_path / "t.npz", X=np.zeros((10**7, 1)))
        assert "grows more than 200-fold" in refusal(tmp_path / "t.npz")
        with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
            for at in range(1100):
                archive.writestr(f"m{at}.npy", b"")
        assert "more than 1,000 members" in refusal(tmp_path / "t.npz")


class TestHDF5:
    def test_the_matrix_and_names(self, hdf5):
        h5py = pytest.importorskip("h5py")
        path = hdf5(**{"group/X": MATRIX.astype(">f8"), "y": MATRIX[:, 0]})
        np.testing.assert_array_equal(read_table(path).values, MATRIX)
        with h5py.File(path, "a") as file:
            file["group/X"].attrs["columns"] = ["a", "b"]
        assert read_table(path).columns == ("a", "b")

    def test_several(self, hdf5):
        path = hdf5(a=MATRIX, b=MATRIX + 1)
        assert "has the matrices 'a', 'b'; say which with sheet=" in refusal(path)
        np.testing.assert_array_equal(read_table(path, sheet="/b").values, MATRIX + 1)
        assert "there is no matrix 'c'. There are: a, b" in refusal(path, sheet="c")
        assert "has no matrix" in refusal(hdf5(v=MATRIX[0]))

    def test_records(self, hdf5):
        records = np.array([(1, b"x", 2.5), (2, b"y", 3.5)], dtype=[("i", "i4"), ("s", "S3"), ("f", "f8")])
        table = read_table(hdf5(r=records))
        assert table.columns == ("i", "f")
        assert table.labels == {"s": ["x", "y"]}

    def test_size_is_looked_at_first(self, hdf5):
        path = hdf5(X={"shape": (10**9, 1000), "dtype": "f4", "chunks": (1000, 1000), "compression": "gzip"})
        assert "the table would take 8 TB" in refusal(path)

    def test_what_is_no_hdf5(self, tmp_path):
        (tmp_path / "t.hdf5").write_bytes(b"a,b\n1,2\n")
        assert "is not a readable HDF5 file" in refusal(tmp_path / "t.hdf5")


class TestArrow:
    def test_files_and_streams(self, tmp_path):
        data = pa.table({"a": MATRIX[:, 0], "s": ["x", "y", None]})
        pa.feather.write_feather(data, tmp_path / "t.feather")
        for kind in (pa.ipc.new_file, pa.ipc.new_stream):
            with kind(tmp_path / "t.arrow", data.schema) as writer:
                writer.write_table(data)
            for path in (tmp_path / "t.arrow", tmp_path / "t.feather"):
                table = read_table(path)
                np.testing.assert_array_equal(table.values, MATRIX[:, :1])
                assert table.labels == {"s": ["x", "y", ""]}

    def test_moments_beyond_the_calendar(self, tmp_path):
        odd = pa.array([2**60, 0], pa.timestamp("us", "Nowhere/City"))
        pa.feather.write_feather(pa.table({"t": odd, "x": [1, 2]}), tmp_path / "t.feather")
        assert read_table(tmp_path / "t.feather").labels["t"][1].startswith("1970-01-01 00:00:00")

    def test_cut_short(self, tmp_path):
        pa.feather.write_feather(pa.table({"a": MATRIX[:, 0]}), tmp_path / "t.feather")
        whole = (tmp_path / "t.feather").read_bytes()
        for cut in (0, 3, len(whole) // 2, len(whole) - 1):
            (tmp_path / "t.feather").write_bytes(whole[:cut])
            assert "is not a readable Arrow file" in refusal(tmp_path / "t.feather")


@pytest.mark.slow
def test_a_parquet_file_of_one_repeated_value_is_not_trusted_with_all_memory(tmp_path):
    rows, name = 2_000_000, tmp_path / "t.parquet"
    columns = {f"c{at}": pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), [1.5]) for at in range(20)}
    pa.parquet.write_table(pa.table(columns), name)
    assert name.stat().st_size < 10**6
    with config(memory="1MB"):
        assert "the table would take 320 MB, the memory budget is 256 MB" in refusal(name)


@pytest.mark.parametrize("kind", ["xlsx", "npz", "h5", "feather", "arrow", "parquet"])
def test_damaged_files_are_refused_or_read_but_nothing_else(tmp_path, rng, kind, book, hdf5):
    path = tmp_path / f"t.{kind}"
    data = pa.table({"a": MATRIX[:, 0], "s": ["x", "y", "z"], "d": pa.array(["p", "q", "p"]).dictionary_encode()})
    if kind == "xlsx":
        book([["n", "x"], ["a", 1], ["b", 2]])
    elif kind == "npz":
        np.savez_compressed(path, X=MATRIX, columns=np.array(["a", "b"]))
    elif kind == "h5":
        hdf5(X={"data": MATRIX, "compression": "gzip"})
    elif kind == "parquet":
        pa.parquet.write_table(data, path)
    elif kind == "feather":
        pa.feather.write_feather(data, path)
    else:
        with pa.ipc.new_stream(path, data.schema) as writer:
            writer.write_table(data)
    whole = path.read_bytes()
    for attempt in range(120):
        damaged = bytearray(whole)
        for _ in range(1 + attempt % 4):
            damaged[rng.integers(len(whole))] = rng.integers(256)
        path.write_bytes(damaged if attempt % 3 else damaged[: rng.integers(len(whole))])
        with contextlib.suppress(TableError):  # any other error fails the test
            assert np.isfinite(read_table(path).values).all()


@pytest.mark.parametrize(
    ("ending", "library"), [pytest.param("xlsx", "openpyxl", marks=pytest.mark.slow), ("h5", "h5py")]
)
def test_missing_libraries_say_what_to_install(tmp_path, ending, library):
    path = tmp_path / f"t.{ending}"
    path.touch()
    code = (
        f"import sys; sys.modules[{library!r}] = None; from gramian.tables import read_table; read_table({str(path)!r})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert re.search(rf"need {library}: pip install 'gramian\[io\]'\.$", done.stderr.strip())
