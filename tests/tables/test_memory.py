"""What a reader takes: twenty times the file and a constant at the most, also of tables with very many columns."""

import base64
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gramian.explore.datasets import MAX_PAGE_COLUMNS, from_upload
from gramian.tables import TableError, read_table

#: Bytes beside the table: arenas of Arrow's threads and of the allocator, whose number depends on the machine.
CONSTANT = 64 * 10**6
CODE = """
import sys, os
import pyarrow.csv, pyarrow.parquet, openpyxl, h5py
from gramian import rows
from gramian.tables import read_table
def memory(what):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(what)) * 1000
with open(sys.argv[1] + ".small.csv", "w") as file:
    file.write("a,b\\n1,2\\n3,4\\n")
rows(file.name).toarray(), read_table(file.name)
before = memory("VmRSS")
how = rows(sys.argv[1]).toarray if sys.argv[2] == "stream" else lambda: read_table(sys.argv[1]).values
print(*how().shape, memory("VmHWM") - before)
"""


def _text(n, d, fmt, word=0):
    cells = [[fmt.format(value) for value in row] for row in np.random.default_rng(0).uniform(1, 9, (n, d))]
    for row in cells:
        for at in range(0, d, word) if word else ():
            row[at] = "word"
    lines = [",".join(f"c{at}" for at in range(d)), *map(",".join, cells)]
    return ("\n".join(lines) + "\n").encode()


def _parquet(path, d):
    pq.write_table(pa.table({f"c{at}": np.arange(3.0) + at for at in range(d)}), path)


TABLES = {
    "wide.csv": lambda path: path.write_bytes(_text(5, 100_000, "{:.1f}")),
    "words.csv": lambda path: path.write_bytes(_text(5, 100_000, "{:.1f}", word=10)),
    "one row.csv": lambda path: path.write_bytes(_text(1, 100_000, "{:.0f}")),
    "tall.csv": lambda path: path.write_bytes(_text(400_000, 2, "{:.3f}")),
    "short cells.csv": lambda path: path.write_bytes(_text(100_000, 20, "{:.0f}")),
    "wide.parquet": lambda path: _parquet(path, 20_000),
    "wide.npy": lambda path: np.save(path, np.zeros((5, 100_000))),
}


def _grows(path, how):
    done = subprocess.run([sys.executable, "-c", CODE, str(path), how], capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_text_of_many_columns_takes_little_more_than_twenty_times_its_size(tmp_path):
    path = tmp_path / "wide.csv"
    TABLES["wide.csv"](path)
    assert _grows(path, "whole") <= 20 * path.stat().st_size + CONSTANT


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("how", ["whole", "stream"])
@pytest.mark.parametrize("name", TABLES)
def test_no_table_takes_much_more_than_twenty_times_its_size(tmp_path, name, how):
    path = tmp_path / name.replace(" ", "_")
    TABLES[name](path)
    assert _grows(path, how) <= 20 * path.stat().st_size + CONSTANT


def test_many_columns_of_text_are_read_as_few_are(tmp_path, monkeypatch):
    monkeypatch.setattr("gramian.tables.text.ARROW_MAX_COLUMNS", 3)
    odd = 'a,b,"c,d",e,f,g,h\n1,x,"3,5",true,,"two\nlines",7\n2,y,"4,5",false,,"",8\n'
    for text in (odd, "1,2,3,4,5\n6,,8,9,10\n", "a,b,c,d\r\n1,2,3,4\r\n\r\n5,6,7,8\r\n", "a;b;c;d\n1,5;2;3;x\n"):
        (tmp_path / "t.csv").write_bytes(text.encode())
        found = read_table(tmp_path / "t.csv", missing="as found")
        with monkeypatch.context() as few:
            few.setattr("gramian.tables.text.ARROW_MAX_COLUMNS", 1000)
            expected = read_table(tmp_path / "t.csv", missing="as found")
        assert (found.columns, found.labels, found.dropped) == (expected.columns, expected.labels, expected.dropped)
        np.testing.assert_array_equal(found.values, expected.values)
    (tmp_path / "t.csv").write_text("a,b,c,d\n1,2,3,4\n1,2,3\n")
    with pytest.raises(TableError, match="line 3 has 3 cells, line 1 has 4"):
        read_table(tmp_path / "t.csv")


def test_many_columns_of_parquet_are_read_as_few_are(tmp_path, monkeypatch):
    from gramian import rows

    columns = {"k": ["u", "v", "w"], **{f"c{at}": np.arange(3.0) * at for at in range(7)}, "t": [True, False, True]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=2)
    expected = read_table(tmp_path / "t.parquet")
    monkeypatch.setattr("gramian.tables.arrow.ARROW_MAX_COLUMNS", 3)
    found = read_table(tmp_path / "t.parquet")
    assert (found.columns, found.labels) == (expected.columns, expected.labels)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(rows(tmp_path / "t.parquet").toarray(), expected.values)


def _upload(path):
    data = base64.b64encode(path.read_bytes()).decode()
    return from_upload(path.name, f"data:application/octet-stream;base64,{data}")


@pytest.mark.parametrize("name", ["t.csv", "t.npy", "t.npz", "t.parquet"])
def test_an_upload_of_too_many_columns_is_refused_before_it_is_read(tmp_path, name, monkeypatch):
    monkeypatch.setattr("gramian.explore.datasets.MAX_PAGE_COLUMNS", 40)
    d, path = 41, tmp_path / name
    X = np.random.default_rng(0).standard_normal((4, d))
    for width in (d, d - 1):
        part = X[:, :width]
        if name == "t.csv":
            path.write_bytes(_text(4, width, "{:.1f}"))
        elif name == "t.npy":
            np.save(path, part)
        elif name == "t.npz":
            np.savez(path, X=part)
        else:
            pq.write_table(pa.table({f"c{at}": column for at, column in enumerate(part.T)}), path)
        if width == d:
            with pytest.raises(TableError, match=f"{name} has more than 40 columns. Are rows and columns swapped"):
                _upload(path)
        else:
            assert _upload(path).X.shape == (4, 40)
    assert MAX_PAGE_COLUMNS == 20_000
