"""What is wrong with a stream is said in one line with its place, and leaves everything as it was."""

import os
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.base import clone

import gramian
from gramian import (
    CCA,
    ICA,
    PCA,
    FactorAnalysis,
    KernelPCA,
    PLSRegression,
    ProbabilisticPCA,
    RandomProjection,
    Standardizer,
    rows,
)
from gramian.tables import TableError, write_rows

NAMES = list("abcd")


@pytest.fixture
def X(rng):
    return rng.standard_normal((2000, 4)) @ rng.standard_normal((4, 4))


def refusal(call, kind=ValueError):
    with pytest.raises(kind) as failure:
        call()
    message = str(failure.value)
    assert "\n" not in message
    return message


def _parquet(path, X):
    pq.write_table(pa.table(dict(zip(NAMES, X.T, strict=True))), path, row_group_size=300)


def _text(path, X):
    path.write_text("a,b,c,d\n" + "".join(",".join(map(repr, row.tolist())) + "\n" for row in X))


def _arrow(path, X):
    table = pa.table(dict(zip(NAMES, X.T, strict=True)))
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=300)


PLACES = {
    "a.npy": (lambda path, X: np.save(path, X), r"a.npy: row 1000 \(counted from 0\), column 2"),
    "a.parquet": (_parquet, r"a.parquet: row group 3, row 100 \(counted from 0\), column 'c'"),
    "a.arrow": (_arrow, r"a.arrow: record batch 3, row 100 \(counted from 0\), column 'c'"),
    "a.csv": (_text, "a.csv: line 1002, column 'c'"),
}


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize(
    "estimator", [PCA(2), ProbabilisticPCA(2), FactorAnalysis(1), Standardizer(), PLSRegression(2)], ids=str
)
def test_a_gap_half_way_is_named_and_a_fitted_model_stays(tmp_path, X, name, estimator):
    write, place = PLACES[name]
    fitted = clone(estimator).fit(X[:, :3], X[:, 3]) if "PLS" in str(estimator) else clone(estimator).fit(X[:, :3])
    before = dict(vars(fitted))
    broken = X.copy()
    broken[1000, 2] = np.nan
    write(tmp_path / name, broken)
    names = ["x0", "x1", "x2", "x3"] if name == "a.npy" else NAMES
    with_y = {"y_columns": names[3:]} if "PLS" in str(estimator) else {}
    stream = rows(tmp_path / name, names[:3], block=250, **with_y)
    with pytest.raises(ValueError, match=f"contains NaN: .*{place}. Drop those rows"):
        fitted.fit(stream)
    assert vars(fitted) == before
    with pytest.raises(ValueError, match=place):
        fitted.transform(stream).toarray()


def test_a_gap_in_the_second_of_two_streams_is_named(X):
    Y = X.copy()
    Y[7, 1] = np.inf
    message = refusal(lambda: CCA().fit(rows(X), rows(Y, NAMES)))
    assert message.startswith("Input Y contains infinity: the array: row 7 (counted from 0), column 'b'.")
    assert "missing='em' needs the rows in memory" in refusal(lambda: CCA(missing="em").fit(rows(X), rows(Y, NAMES)))


def test_a_truncated_parquet_file(tmp_path, X):
    _parquet(tmp_path / "a.parquet", X)
    data = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(data[: len(data) // 2])
    assert "a.parquet is not a readable Parquet file" in refusal(lambda: rows(tmp_path / "a.parquet"), TableError)


def test_a_damaged_row_group_is_named(tmp_path, X):
    _parquet(tmp_path / "a.parquet", X)
    place = pq.ParquetFile(tmp_path / "a.parquet").metadata.row_group(4).column(0).dictionary_page_offset
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    data[place : place + 40] = b"\xff" * 40
    (tmp_path / "a.parquet").write_bytes(data)
    assert "a.parquet: row group 4 cannot be read" in refusal(
        lambda: PCA(1).fit(rows(tmp_path / "a.parquet")), TableError
    )


def test_a_column_that_turns_to_text_half_way(tmp_path, X, monkeypatch):
    monkeypatch.setattr("gramian.tables.text_blocks.FIRST_BLOCK_BYTES", 5000)
    monkeypatch.setattr("gramian.tables.text_blocks.TEXT_BLOCK_BYTES", 5000)
    _text(tmp_path / "a.csv", X)
    lines = (tmp_path / "a.csv").read_text().splitlines()
    lines[1500] = "1,2,three,4"
    (tmp_path / "a.csv").write_text("\n".join(lines))
    message = refusal(lambda: PCA(1).fit(rows(tmp_path / "a.csv")), TableError)
    assert "a.csv: column 'c' has text ('three' in line 1501), and is numbers in the lines before." in message
    lines[1500] = "1,2,4"
    (tmp_path / "a.csv").write_text("\n".join(lines))
    assert "line 1501 has 3 cells" in refusal(lambda: PCA(1).fit(rows(tmp_path / "a.csv")), TableError)


def test_a_block_of_another_width(X):
    message = refusal(lambda: PCA(1).fit(rows(iter([X[:1000], X[1000:, :3]]))))
    assert "the iterator of blocks: block 1 has 3 columns, those before it have 4." in message


def test_files_of_a_folder_with_other_columns(tmp_path, X):
    _parquet(tmp_path / "a.parquet", X)
    pq.write_table(pa.table({"a": X[:, 0], "z": X[:, 1]}), tmp_path / "b.parquet")
    assert "b.parquet and" in (message := refusal(lambda: rows(tmp_path), TableError))
    assert "'b' is in one of them only" in message
    assert "b.parquet: there is no column 'b'" in refusal(lambda: rows(tmp_path, ["a", "b"]), TableError)
    np.save(tmp_path / "c.npy", X)
    assert "several kinds, .npy, .parquet" in refusal(lambda: rows(tmp_path), TableError)


@pytest.mark.parametrize("name", ["a.npy", "a.parquet", "a.csv"])
def test_a_file_that_changes_between_two_passes_or_in_one_is_noticed(tmp_path, X, name):
    """F15."""
    path = tmp_path / name
    PLACES[name][0](path, X)
    stream = rows(path, block=100)
    PCA(1).fit(stream)
    os.utime(path, ns=(1, 1))
    assert f"{name} changed while it was read (it was written to)" in refusal(lambda: PCA(1).fit(stream), TableError)
    stream = rows(path, block=100)
    blocks = stream.blocks()
    next(blocks)
    with open(path, "ab") as file:
        file.write(b"1,2,3,4\n" * 10)
    assert "changed while it was read" in refusal(lambda: list(blocks), TableError)


def test_a_file_that_shrinks_under_the_reader(tmp_path, rng):
    """F15."""
    np.save(tmp_path / "a.npy", rng.standard_normal((200_000, 8)))
    stream = rows(tmp_path / "a.npy", block=20_000)
    blocks = stream.blocks()
    next(blocks)
    os.truncate(tmp_path / "a.npy", 2_000_000)
    assert "a.npy changed while it was read (12,800,128 bytes before, 2,000,000 now)" in refusal(
        lambda: list(blocks), TableError
    )


def test_an_array_file_that_is_cut_short(tmp_path, X):
    np.save(tmp_path / "a.npy", X)
    os.truncate(tmp_path / "a.npy", 5000)
    assert "a.npy is cut short" in refusal(lambda: rows(tmp_path / "a.npy"), TableError)


def test_streams_out_of_step(X):
    message = refusal(lambda: CCA().fit(rows(X[:, :2]), rows(iter([X[:1500, 2:]]))))
    assert message.endswith("the iterator of blocks ends after 1,500, the array goes on.")


def test_what_needs_the_rows_again_reads_again_or_says_so(rng):
    X = rng.standard_normal((500, 6)) * 10.0 ** -np.arange(6)  # variances from 1 to 1e-10
    Y = X[:, [0]] + rng.standard_normal((500, 1))
    cut = [X[:100], X[100:]]
    expected = PCA(solver="svd").fit(X)
    again = PCA().fit(rows(lambda: iter(cut)))
    assert again.summary_.facts["solver"] == "svd"
    np.testing.assert_allclose(again.explained_variance_, expected.explained_variance_, rtol=1e-12)
    once = PCA().fit(rows(iter(cut)))  # the first block shows that digits are at stake
    np.testing.assert_allclose(once.explained_variance_, expected.explained_variance_, rtol=1e-12)
    flat = np.column_stack([X[:, 0], X[:, 0] + 1e-7 * X[:, 1]])
    model = PLSRegression(2).fit(rows(lambda: iter([flat])), rows(Y))
    np.testing.assert_allclose(model.coef_, PLSRegression(2).fit(flat, Y).coef_, rtol=1e-6)


def test_one_pass_that_turns_out_too_little_is_refused(rng):
    first = rng.standard_normal((50_000, 3))
    huge = np.hstack([1e6 * rng.standard_normal((50_000, 1))] * 3) + 1e-3 * first
    other = rng.standard_normal((100_000, 2))
    message = refusal(lambda: PCA().fit(rows(iter([first, huge * 1e3]))))
    assert "can be read only once. Give a function that returns a new iterator, or a file." in message
    assert PCA(solver="covariance").fit(rows(iter([first, huge * 1e3]))).n_samples_ == 100_000
    assert "only once" in refusal(lambda: CCA().fit(rows(iter([first, huge * 1e3])), rows(other)))


def test_what_cannot_stream_says_so(X):
    assert "ICA needs its rows in memory" in refusal(lambda: ICA(2).fit(rows(X)))
    assert "KernelPCA takes through landmarks. Set landmarks=1000" in refusal(lambda: KernelPCA(2).fit(rows(X)))
    assert "solver='power' needs the rows" in refusal(lambda: PCA(1, solver="power").fit(rows(X)))
    assert "cross-validation needs the rows" in refusal(lambda: PLSRegression("auto").fit(rows(X), rows(X[:, :1])))
    assert "sample_weight goes with rows in memory" in refusal(lambda: PCA(1).fit(rows(X), sample_weight=np.ones(9)))
    assert "give a second stream, or y_columns=" in refusal(lambda: CCA().fit(rows(X)))
    unknown = rows(iter([X]))
    assert "depends on the number of rows" in refusal(lambda: RandomProjection("auto").fit(unknown))


def test_an_iterator_is_read_once(X):
    stream = rows(iter([X]))
    model = PCA(1).fit(stream)
    assert "which can be read only once" in refusal(lambda: model.transform(stream).toarray())


@pytest.mark.parametrize(
    ("call", "kind", "told"),
    [
        (lambda: rows(iter([])), ValueError, "is empty: there are no rows"),
        (lambda: rows(3), TypeError, "source is a int"),
        (lambda: rows("none.csv"), TableError, "none.csv: there is no such file"),
        (lambda: rows("none*.csv"), TableError, "there are no files that end in"),
        (lambda: rows(np.zeros((3, 2)), block=0), ValueError, "block=0 must be"),
        (lambda: rows(np.zeros((3, 2)), "a"), TypeError, r"columns='a' must be a list"),
        (lambda: rows(np.zeros((3, 2)), ["a"]), ValueError, "columns names 1 columns; the array has 2"),
        (lambda: rows(np.zeros((3, 2)), separator=";"), TypeError, "separator= says how a file is written"),
        (lambda: rows(np.array([["a"]])), ValueError, "real numbers are expected"),
        (lambda: PCA(1).fit(rows(np.zeros((1, 2)))), ValueError, "X has 1 sample"),
        (lambda: rows(np.zeros((4, 2)), ["a", "b"], y_columns=["a"]), ValueError, "must be the last columns"),
    ],
)
def test_refusals(tmp_path, monkeypatch, call, kind, told):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind, match=told):
        call()


def test_other_columns_at_transform_are_refused(X):
    model = PCA(1).fit(rows(X, NAMES))
    assert "4 features" in refusal(lambda: model.transform(rows(X[:, :3])))
    assert "feature names should match" in refusal(lambda: model.transform(rows(X, NAMES[::-1])))


def test_too_many_columns_for_the_budget_are_refused_before_they_are_read():
    with gramian.config(memory="1MB"):
        message = refusal(lambda: PCA(1).fit(rows(np.zeros((10, 1000)))))
    assert re.search(r"PCA needs 24\.\d MB .*; the memory budget is 1 MB\. Use at most [78]\d\d columns, or ", message)


@pytest.mark.slow
def test_a_full_disk_leaves_the_old_file(tmp_path):
    paths = [tmp_path / f"s.{ending}" for ending in ("csv", "parquet", "arrow", "npy", "csv.gz")]
    for path in paths:
        path.write_text("old")
    code = f"""
import resource, signal
import numpy as np
from gramian import PCA, rows
from gramian.tables import write_rows
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
X = np.random.default_rng(0).standard_normal((5000, 4))
for path in {list(map(str, paths))!r}:
    try:
        write_rows(path, PCA(2).fit(X).transform(rows(X, block=500)))
    except OSError as error:
        print(error.filename, error.strerror)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "".join(f"{path} File too large\n" for path in paths)
    assert {path.read_text() for path in paths} == {"old"}
    assert sorted(os.listdir(tmp_path)) == sorted(path.name for path in paths)


def test_a_gap_while_scores_are_written_leaves_the_old_file(tmp_path, X):
    model, broken = PCA(2).fit(X), X.copy()
    broken[1900, 0] = np.nan
    (tmp_path / "s.csv").write_text("old")
    message = refusal(lambda: write_rows(tmp_path / "s.csv", model.transform(rows(broken, block=100))))
    assert "row 1900" in message
    assert (tmp_path / "s.csv").read_text() == "old"
    assert os.listdir(tmp_path) == ["s.csv"]
