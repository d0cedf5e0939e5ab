"""Text as it comes: encodings, marks, quotes, packing, files that are no text. Read right or refused in one line."""

import gzip
import io
import os
import sys
import time

import numpy as np
import pytest

from gramian import config
from gramian.tables import TableError, read_table


@pytest.fixture
def read(tmp_path):
    """Write bytes or text to a file and read it back as a table."""

    def read(content, name="t.csv", **options):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_table(tmp_path / name, **options)

    return read


@pytest.fixture
def refused(read, tmp_path):
    """Return the one line that refuses a file."""

    def refused(content, name="t.csv", **options):
        with pytest.raises(TableError) as refusal:
            read(content, name, **options)
        message = str(refusal.value)
        assert message.startswith(str(tmp_path / name))
        assert len(message.splitlines()) == 1
        return message.removeprefix(str(tmp_path / name))

    return refused


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
def test_encodings_are_found_out(read, encoding):
    table = read("größe,b\n1,2\nx,3\n".encode(encoding))
    assert table.labels == {"größe": ["1", "x"]}
    np.testing.assert_array_equal(table.values, [[2], [3]])
    told = {"utf-8": 0, "utf-8-sig": 0}.get(encoding, 1)
    assert sum("the text is" in remark for remark in table.dropped) == told


def test_an_encoding_may_be_said(read, refused):
    data = "prix €,b\n1,2\n".encode("cp1252")
    assert read(data).columns == ("prix €", "b")
    assert read(data, encoding="latin-1").columns == ("prix \x80", "b")
    assert "is not utf-8 text" in refused(data, encoding="utf-8")
    with pytest.raises(TableError, match=r"encoding='klingon' is not known"):
        read(data, encoding="klingon")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"a,b\n1,2\n3,\x004\n", ": line 3 has NUL bytes"),
        (bytes(range(256)) * 4, "has NUL bytes"),
        (b"\x89PNG\r\n\x1a\n\xff\x01\x02", "line 1 is not text in any known encoding"),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "is not utf-16-le text"),
        (b"PAR1....", "looks like a Parquet file; it should end in .parquet"),
        (b"\x93NUMPY\x01\x00", "looks like a NumPy file"),
        (b"PK\x03\x04....", "looks like a zip file; it should end in .xlsx"),
        (b"\x89HDF\r\n\x1a\n", "looks like an HDF5 file"),
        (b"\xd0\xcf\x11\xe0", "an old Excel file; save it as .xlsx"),
        (b"%PDF-1.7", "a PDF file"),
    ],
)
def test_what_is_no_text_is_named(refused, content, complaint):
    assert complaint in refused(content)


@pytest.mark.parametrize(
    "content", ["a b\n1 2\n3  4\n", " 1.0e+00   2.0e+00\n 3.0e+00   4.0e+00 \n", "a|b\n1|2\n3|4\n"]
)
def test_blanks_and_bars_between_cells(read, content):
    np.testing.assert_array_equal(read(content, "t.txt").values, [[1, 2], [3, 4]])


def test_a_bar_in_a_name_splits_nothing(read):
    assert read("P(A|B)\n0.5\n0.25\n").columns == ("P(A|B)",)
    assert read("mm;inch,kg\n1,2\n").columns == ("mm;inch", "kg")


def test_a_separator_may_be_said(read):
    assert read("a,b;c\n1,2;3\n", separator=",").columns == ("a",)
    assert read('"first name" x\n"A B" 1\n', separator=" ").labels == {"first name": ["A B"]}
    with pytest.raises(TableError, match=r"separator='::' must be one character"):
        read("a,b\n1,2\n", separator="::")


def test_a_header_may_be_said(read):
    assert read("1,2\n3,4\n", header=True).columns == ("1", "2")
    np.testing.assert_array_equal(read("1,x\n3,y\n", header=False).values, [[1], [3]])


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_of_nothing_but_blanks_do_not_count(read, refused, newline):
    lines = ["", "a,b", "", "1,2", "   ", "3,4", " "]
    np.testing.assert_array_equal(read(newline.join(lines)).values, [[1, 2], [3, 4]])
    assert "line 6 has 1 cells, line 2 has 2" in refused(newline.join([*lines[:5], "9"]))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('a,b\n"1,2\n3,4\n', ": line 2 has a quote that never ends"),
        ('a,b\n1,2\n3,"4\n', ": line 3 has a quote that never ends"),
        ('"a,b\n1,2\n', ": line 1 has a quote that never ends"),
    ],
)
def test_quotes_that_never_end(refused, content, complaint):
    assert complaint in refused(content)


def test_quotes_in_and_after_cells(read):
    table = read('n,x\na"b,1\n"c"d,2\n"e""f",3\n"",4\n')
    assert table.labels == {"n": ['a"b', "cd", 'e"f', ""]}


def test_hexadecimal_octal_and_formulas_are_text(read):
    table = read("h,o,f,g,x\n0x1F,0o17,=1+1,,017\n0x20,0o20,3,0x2,020\n")
    assert table.columns == ("x",)
    np.testing.assert_array_equal(table.values, [[17], [20]])
    assert table.labels["h"] == ["0x1F", "0x20"]
    assert table.labels["g"] == ["", "0x2"]
    assert "column 'f' has text ('=1+1' in line 2), kept as a label" in table.dropped


@pytest.mark.filterwarnings("ignore::gramian.tables.TableWarning")
@pytest.mark.parametrize("cells", [["NA"], ["?"], ["-"], ["."], ["#DIV/0!"], ["null"], ["None"], ["nan"], ["<NA>"]])
def test_signs_of_missing_values(read, refused, cells):
    text = f"a,b\n1,2\n{cells[0]},3\n"
    assert "line 3, column 'a': the value is missing (1 such" in refused(text)
    np.testing.assert_array_equal(read(text, missing="keep").values, [[1, 2], [np.nan, 3]])


@pytest.mark.slow
def test_many_columns_are_read_or_refused_in_seconds(read, refused):
    width = 100_000
    header, row = ",".join(f"c{at}" for at in range(width)), ",".join(["1.5"] * width)
    start = time.perf_counter()
    assert read(f"{header}\n{row}\n{row}\n").values.shape == (2, width)
    assert "line 3 has 99,999 cells, line 1 has 100,000" in refused(f"{header}\n{row}\n{row[:-4]}\n")
    assert time.perf_counter() - start < 60


def test_places_after_a_long_cell_are_named(refused):
    long = "a" * 200_000
    message = refused(f'name,x\n"{long}\n{long}",1\nb,\n')
    assert ": line 4, column 'x': the value is missing" in message
    assert len(refused(f"{long},{long}\n1,2\n")) < 1500


def test_a_long_row_among_short_ones(read):
    long = "b" * 3_000_000  # more than the block that Arrow parses at a time
    table = read("n,x\n" + "a,1\n" * 5 + f"{long},2\n")
    assert table.labels["n"][-1] == long


def test_names_with_line_ends_stay_in_one_line(refused):
    assert "there is no column 'z'. The first columns are: a b, c" in refused('"a\nb",c\n1,2\n', columns=["z"])


class TestPacked:
    def test_good(self, read):
        for data in (gzip.compress(b"a,b\n1,2\n"), gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n") + b"\0" * 100):
            np.testing.assert_array_equal(read(data, "t.csv.gz").values, [[1, 2]])
        assert read(gzip.compress(b"a\tb\n1\t2\n"), "t.tsv.gz").columns == ("a", "b")

    @pytest.mark.parametrize("cut", [3, 12, 40, -1])
    def test_cut_short(self, refused, cut):
        packed = gzip.compress("".join(f"{at},{at * 7919 % 1000}\n" for at in range(1000)).encode())
        assert "is cut short" in refused(packed[:cut], "t.csv.gz")

    def test_damaged(self, refused):
        packed = gzip.compress(b"a,b\n1,2\n")
        assert "not a readable gzip file" in refused(packed[:-8] + bytes(8), "t.csv.gz")
        assert "not a readable gzip file" in refused(packed + b"junk", "t.csv.gz")

    @pytest.mark.slow
    def test_bombs(self, refused, monkeypatch):
        start = time.perf_counter()
        assert "grows more than 200-fold" in refused(gzip.compress(bytes(10**8)), "t.csv.gz")
        monkeypatch.setattr("gramian.tables.table.ALWAYS_READ_BYTES", 10**6)
        noise = np.random.default_rng(0).integers(48, 58, 2 * 10**6, dtype=np.uint8).tobytes()
        with config(memory="1MB"):
            assert "the memory budget is 1 MB" in refused(gzip.compress(noise, 1), "t.csv.gz")
            assert "the text would take 2 MB" in refused(noise)
        assert time.perf_counter() - start < 20

    def test_other_kinds_are_not_packed(self, tmp_path):
        (tmp_path / "t.npy.gz").touch()
        with pytest.raises(TableError, match=r"files that end in '\.gz' are not read"):
            read_table(tmp_path / "t.npy.gz")


def test_standard_input_may_be_packed(monkeypatch):
    packed = gzip.compress(b"a;b\n1,5;2\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    np.testing.assert_array_equal(read_table("-").values, [[1.5, 2]])


def test_a_file_that_cannot_be_opened_is_one_line(tmp_path):
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(TableError, match=r"loop\.csv"):
        read_table(os.fspath(tmp_path / "loop.csv"))
