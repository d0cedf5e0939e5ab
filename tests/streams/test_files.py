"""Rows of files: the same numbers whatever holds them, in any blocks, in bounded memory."""

import gzip
import subprocess
import sys
import threading

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import gramian
from gramian import PCA, rows
from gramian.tables import read_table, write_rows, write_scores

NAMES = list("abcde")


@pytest.fixture
def X(rng):
    return rng.standard_normal((3000, 5)) * [5, 4, 3, 2, 1] + 7


def _numpy(path, X):
    np.save(path, X)


def _fortran(path, X):
    np.save(path, np.asfortranarray(X))


def _parquet(path, X):
    pq.write_table(pa.table({"kind": ["q"] * len(X), **dict(zip(NAMES, X.T, strict=True))}), path, row_group_size=700)


def _stream(path, X):
    table = pa.table(dict(zip(NAMES, X.T, strict=True)))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)


def _hdf5(path, X):
    with h5py.File(path, "w") as file:
        file["deep/X"] = X
        file["deep/X"].attrs["columns"] = NAMES


def _records(path, X):
    table = np.zeros(len(X), dtype=[("kind", "S3"), *((name, "f8") for name in NAMES)])
    for name, column in zip(NAMES, X.T, strict=True):
        table[name] = column
    with h5py.File(path, "w") as file:
        file["table"] = table


def _text(path, X):
    write_scores(path, X, NAMES, {"kind": ['two\nlines, "quoted"'] * len(X)})


def _commas(path, X):
    lines = [";".join(repr(float(v)).replace(".", ",") for v in row) for row in X]
    path.write_text("\r\n".join([";".join(NAMES), *lines]))


def _wide(path, X):
    write_scores(path, X, NAMES, {"ключ": ["é"] * len(X)})
    path.write_bytes(path.read_text(encoding="utf-8").encode("utf-16"))


def _headless(path, X):
    path.write_bytes(gzip.compress("".join(",".join(map(repr, row.tolist())) + "\n" for row in X).encode()))


WRITERS = {
    "a.npy": _numpy,
    "fortran.npy": _fortran,
    "big_endian.npy": lambda path, X: np.save(path, X.astype(">f8")),
    "a.parquet": _parquet,
    "a.arrow": _text,
    "stream.arrow": _stream,
    "a.h5": _hdf5,
    "records.hdf5": _records,
    "a.csv": _text,
    "a.tsv": _text,
    "commas.csv": _commas,
    "wide.csv": _wide,
    "headless.csv.gz": _headless,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same_rows_as_the_reader_of_tables(tmp_path, X, name):
    WRITERS[name](tmp_path / name, X)
    stream = rows(tmp_path / name, block=700)
    np.testing.assert_array_equal(stream.toarray(), X)
    table = read_table(tmp_path / name)
    assert (stream.columns or tuple(f"x{at}" for at in range(5))) == table.columns
    chosen = [table.columns[3], f"{table.columns[0]}:{table.columns[1]}"]
    np.testing.assert_array_equal(rows(tmp_path / name, chosen).toarray(), X[:, [3, 0, 1]])
    assert stream.n_rows in (None, 3000)


def test_text_in_small_chunks_is_the_same_text(tmp_path, X, monkeypatch):
    _text(tmp_path / "a.csv", X)
    monkeypatch.setattr("gramian.tables.text_blocks.TEXT_BLOCK_BYTES", 997)
    np.testing.assert_array_equal(rows(tmp_path / "a.csv").toarray(), X)


@pytest.mark.parametrize("name", ["a.npy", "a.parquet", "a.csv"])
def test_a_folder_and_a_pattern_are_their_files_by_name(tmp_path, X, name):
    kind = name.partition(".")[2]
    for at in range(3):
        WRITERS[name](tmp_path / f"part{at}.{kind}", X[1000 * at : 1000 * at + 1000])
    for source in (tmp_path, tmp_path / f"part*.{kind}"):
        np.testing.assert_array_equal(rows(source).toarray(), X)


def test_zarr_arrays(tmp_path, X):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    zarr.save(str(tmp_path / "a.zarr"), X)
    np.testing.assert_array_equal(rows(tmp_path / "a.zarr").toarray(), X)


@pytest.mark.parametrize("name", ["a.npy", "a.parquet", "a.h5"])
def test_single_precision_stays(tmp_path, X, name):
    WRITERS[name](tmp_path / name, X.astype(np.float32))
    block = next(rows(tmp_path / name).blocks())
    assert block.dtype == np.float32
    assert PCA(2).fit(rows(tmp_path / name)).components_.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, bool])
def test_other_numbers_become_doubles(tmp_path, X, dtype):
    np.save(tmp_path / "a.npy", (X > 7).astype(dtype))
    np.testing.assert_array_equal(rows(tmp_path / "a.npy").toarray(), (X > 7).astype(float))


def test_blocks_follow_the_memory_budget(tmp_path, X):
    np.save(tmp_path / "a.npy", X)
    with gramian.config(memory="64kB"):
        assert max(map(len, rows(tmp_path / "a.npy").blocks())) == 64_000 // 16 // 40
    assert [len(block) for block in rows(tmp_path / "a.npy", block=1600).blocks()] == [1600, 1400]


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow", "npy"])
def test_what_is_written_as_it_comes_reads_back_equal(tmp_path, X, ending):
    np.save(tmp_path / "a.npy", X)
    model = PCA(2).fit(X)
    scores = model.transform(rows(tmp_path / "a.npy", block=500))
    assert write_rows(tmp_path / f"s.{ending}", scores) == 3000
    back = read_table(tmp_path / f"s.{ending}")
    np.testing.assert_array_equal(back.values, scores.toarray())
    assert back.columns == ("x0", "x1") if ending == "npy" else ("PC1", "PC2")
    write_scores(tmp_path / f"w.{ending}", scores.toarray(), ["PC1", "PC2"])
    if ending not in ("parquet", "arrow"):  # these keep the blocks
        assert (tmp_path / f"s.{ending}").read_bytes() == (tmp_path / f"w.{ending}").read_bytes()


def test_npy_of_unknown_length_is_whole(tmp_path, X):
    write_rows(tmp_path / "s.npy", rows(iter([X[:10], X[10:]])))
    np.testing.assert_array_equal(np.load(tmp_path / "s.npy"), X)


def test_no_reader_is_left_behind_when_a_stream_is_left_early(tmp_path, X):
    np.save(tmp_path / "a.npy", X)
    blocks = rows(tmp_path / "a.npy", block=500).blocks()
    next(blocks)
    assert any(thread.name == "gramian-reader" for thread in threading.enumerate())
    blocks.close()
    assert not any(thread.name == "gramian-reader" for thread in threading.enumerate())


LEFT = """
import time
from gramian.operators.rows import read_ahead
def items():
    try:
        yield 1
        time.sleep(0.3)
        yield 2
    finally:
        print("closed")
held = read_ahead(items())
next(held)
raise SystemExit(3)
"""


def test_the_end_of_a_process_waits_for_the_reader():
    """Python ends daemon threads where they stand; within Arrow that aborts the process, 1 of 30 times."""
    done = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (3, "closed\n", "")


@pytest.mark.slow
def test_memory_stays_near_the_blocks(tmp_path):
    code = f"""
import numpy as np
import gramian
from gramian import PCA, rows
path = {str(tmp_path / "a.npy")!r}
with open(path, "wb") as file:  # 160 MB
    np.lib.format.write_array_header_1_0(file, {{"descr": "<f8", "fortran_order": False, "shape": (400_000, 50)}})
    for at in range(10):
        np.random.default_rng(at).standard_normal((40_000, 50)).tofile(file)
def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) / 1000
PCA(2).fit(np.random.default_rng(0).standard_normal((5000, 50)))
before = peak()
with gramian.config(memory="40MB"):
    PCA(2).fit(rows(path))
print(peak() - before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    assert float(done.stdout) < 40
