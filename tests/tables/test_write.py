"""Scores in files: equal when read back, whole or not there."""

import os
import resource
import subprocess
import sys

import numpy as np
import pytest

from gramian.tables import atomic, check_writable, read_table, write_scores

NAMES = ["pca0", "pca1"]


@pytest.fixture
def scores(rng):
    return np.vstack([rng.standard_normal((50, 2)) * 10.0 ** rng.integers(-300, 300, (50, 2)), [[0.1, -0.0]]])


@pytest.mark.filterwarnings("ignore::gramian.tables.TableWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_read_back_equal(tmp_path, scores, dtype):
    with np.errstate(over="ignore"):
        scores = np.clip(scores, -1e30, 1e30).astype(dtype)
    labels = {"name, full": ['a "b", c', "two\nlines", "bare\rreturn", "é", "", *map(str, range(46))]}
    write_scores(tmp_path / "s.csv", scores, NAMES, labels)
    back = read_table(tmp_path / "s.csv")
    assert back.columns == ("pca0", "pca1")
    np.testing.assert_array_equal(back.values, scores)
    assert back.labels == labels


def test_the_file_is_plain(tmp_path):
    write_scores(tmp_path / "s.csv", np.array([[1.5, -2e-7]]), NAMES, {"kind": ["iris"]})
    assert (tmp_path / "s.csv").read_bytes() == b"kind,pca0,pca1\niris,1.5,-2e-07\n"


def test_standard_output(capsysbinary):
    write_scores("-", np.array([[1.0, 2.0]]), NAMES)
    assert capsysbinary.readouterr().out == b"pca0,pca1\n1.0,2.0\n"


@pytest.mark.parametrize(
    ("scores", "labels", "complaint"),
    [
        (np.zeros((2, 3)), {}, "2 names need 2 columns"),
        (np.zeros(2), {}, r"shape \(2,\)"),
        (np.zeros((2, 2)), {"a": ["x"]}, "'a' has 1 cells for 2 rows"),
        (np.zeros((2, 2)), {"pca0": ["x", "y"]}, r"\['pca0'\] repeat"),
    ],
)
def test_refusals_leave_no_file(tmp_path, scores, labels, complaint):
    with pytest.raises(ValueError, match=complaint):
        write_scores(tmp_path / "s.csv", scores, NAMES, labels)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_file(tmp_path, failure):
    path = tmp_path / "s.csv"
    path.write_text("old")

    def fail():
        with atomic(path) as file:
            file.write(b"half")
            raise failure

    with pytest.raises(failure):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["s.csv"]


def test_readers_see_the_old_file_until_the_end(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("old")
    with atomic(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"


@pytest.mark.slow
def test_a_full_disk_names_the_file_and_leaves_nothing(tmp_path):
    path = tmp_path / "s.csv"
    path.write_text("old")
    code = f"""
import resource, signal, sys
import numpy as np
from gramian.tables import write_scores
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
try:
    write_scores({str(path)!r}, np.random.default_rng(0).standard_normal((5000, 2)), ["a", "b"])
except OSError as error:
    print(error.filename, error.strerror)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == f"{path} File too large\n"
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["s.csv"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 10000


def test_modes_follow_the_old_file_or_the_umask(tmp_path):
    path = tmp_path / "s.csv"
    before = os.umask(0o027)
    try:
        write_scores(path, np.zeros((1, 2)), NAMES)
        assert path.stat().st_mode & 0o777 == 0o640
        path.chmod(0o604)
        write_scores(path, np.ones((1, 2)), NAMES)
        assert path.stat().st_mode & 0o777 == 0o604
    finally:
        os.umask(before)


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "link.csv").symlink_to("real.csv")
    write_scores(tmp_path / "link.csv", np.zeros((1, 2)), NAMES)
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text() == "pca0,pca1\n0.0,0.0\n"


def test_devices_are_written_not_replaced():
    write_scores("/dev/null", np.zeros((1, 2)), NAMES)
    assert not os.path.isfile("/dev/null")
    with pytest.raises(OSError, match="No space left") as failure:
        write_scores("/dev/full", np.zeros((1, 2)), NAMES)
    assert failure.value.filename == "/dev/full"


def test_what_cannot_be_written_is_known_before(tmp_path):
    check_writable("-")
    check_writable(tmp_path / "new.csv")
    assert os.listdir(tmp_path) == []
    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        check_writable(tmp_path / "none" / "s.csv")


def test_a_read_only_folder_is_refused_before(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path or mode != os.W_OK)  # root may write anywhere
    with pytest.raises(PermissionError):
        check_writable(tmp_path / "s.csv")


def test_one_column_of_words_with_nothing_in_it_reads_back(tmp_path):
    write_scores(tmp_path / "s.csv", np.empty((3, 0)), [], {"kind": ["", "a", ""]})
    assert (tmp_path / "s.csv").read_text() == 'kind\n""\na\n""\n'


@pytest.mark.parametrize("ending", ["xlsx", "npz", "h5"])
def test_endings_of_files_that_are_only_read_are_refused_before_and_after(tmp_path, ending):
    for write in (check_writable, lambda path: write_scores(path, np.zeros((1, 2)), NAMES)):
        with pytest.raises(ValueError, match=rf"scores are not written as \.{ending}\. Use one of: \.csv"):
            write(tmp_path / f"s.{ending}")
    assert os.listdir(tmp_path) == []
    check_writable(tmp_path / "model.safetensors")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_npy_keeps_the_numbers_as_they_are(tmp_path, scores, dtype):
    with np.errstate(over="ignore"):
        scores = np.clip(scores, -1e30, 1e30).astype(dtype)
    write_scores(tmp_path / "s.npy", scores, NAMES, {"kind": [""] * len(scores)})
    back = np.load(tmp_path / "s.npy")
    assert back.dtype == dtype
    np.testing.assert_array_equal(back, scores)


def test_the_same_scores_are_the_same_bytes(tmp_path, scores):
    for ending in ("csv", "tsv", "csv.gz", "parquet", "arrow", "npy"):
        paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
        for path in paths:
            write_scores(path, scores, NAMES)
        assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "npy", "csv.gz"])
def test_a_full_device_fails_cleanly_in_every_format(tmp_path, ending):
    path = tmp_path / f"s.{ending}"
    path.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_scores(path, np.zeros((5000, 2)), NAMES)
